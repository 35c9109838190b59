/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Classification offload: rules of a policy are put into a port's hardware, which marks the packets
 * that match, so that workers need not classify them.
 *
 * The policy stays the truth. Hardware holds those of its rules that it takes and that are hit
 * most; a packet without a mark, or with a mark that stands for nothing any more, is classified in
 * software. Whatever is installed, evicted, refused or lost, each packet gets the class that the
 * policy gives it, as long as the port marks as its rules say, and is counted once, by the node that
 * classifies it:
 *
 * - A mark is never 0, is compared in full, and carries a generation. One that was taken back is
 *   not given out again before workers have left it and @ref hy_offload_params.settle_us is over.
 * - A marked packet is held to the *residue* of its rule: the rules before it which it overlaps,
 *   and which hardware does not have, does not put first, or may overlook.
 * - Where a port cannot tell fragments, which have no ports, those that carry the mark of a rule for
 *   ports are classified in software.
 * - A random sample of marked packets is classified again in software. What differs is recorded,
 *   and if it happens too often the port's marks are distrusted. Until then, packets that are
 *   not in the sample keep the class of a wrong mark.
 * - Of the packets without a valid mark some are looked at. If most of those that rules in hardware
 *   match come without a mark, or if packets name another port than the one that received them, the
 *   port's rules are taken back, and software classifies.
 *
 * Control plane: for one policy, its commits and the functions below are called by one thread at a
 * time. A program may have flow rules of its own on the port, which are left alone; they must not
 * MARK, for their marks would be taken for the policy's. Functions return 0 or a negative errno.
 */
#ifndef HY_OFFLOAD_H
#define HY_OFFLOAD_H

#include <stdio.h>

#include <hy_flow.h>
#include <hy_mark.h>
#include <hy_policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct hy_hal;
struct hy_offload;

/** How a port is used. What is 0 has the default in brackets. */
struct hy_offload_params {
	/** Who takes the rules; outlives the offload. [hy_flow_rte_of() its port] */
	const struct hy_flow_provider *provider;
	/** How they look. [the driver of the port's driver name] */
	const struct hy_flow_driver *driver;
	uint32_t max_rules;    /**< In hardware at once, to 2^20. [16,384; less if marks are few] */
	uint32_t sample_every; /**< One of so many marked packets is checked, to 2^31. [1,024] */
	/**
	 * Mismatches before a port's marks are distrusted, and bursts with packets that name
	 * another port. [8]
	 */
	uint32_t demote_after;
	/**
	 * The longest time that a packet may lie in a receive queue between its mark and the worker,
	 * in microseconds. [100,000]
	 */
	uint32_t settle_us;
	uint32_t age_us; /**< How often hits are compared, in microseconds. [1,000,000] */
	uint32_t batch;  /**< Rules installed, and evicted, by a poll at most. [256] */
	/** Rules with a longer residue stay in software; 32,767 and more are alike. [16] */
	uint32_t max_residue;
};

/**
 * Begins to offload a policy to a port. Probes what the port takes; nothing is installed before
 * hy_offload_poll().
 *
 * @param policy Has a QSBR variable; outlives the offload.
 * @param port Its number; to be started for most drivers, or they refuse all rules.
 * @param[out] offload Belongs to the caller, until hy_offload_destroy().
 * @return 0; -ENODEV no such port; -ENOTSUP the port takes no rule that marks, see @p reason;
 * -EEXIST it has an offload already; -EINVAL params; -ENOMEM.
 * @param[out] reason Why not, of @p size bytes.
 */
int hy_offload_create(struct hy_policy *policy, uint16_t port,
	const struct hy_offload_params *params, struct hy_offload **offload, char *reason,
	size_t size);

/**
 * Takes the port's marks from workers, waits up to a second until they have left them, and removes
 * the rules from the port, unless it is gone. NULL is allowed.
 */
void hy_offload_destroy(struct hy_offload *offload);

/**
 * Does what is due: destroys rules that workers have left, installs such as are hit most, evicts
 * such as are hit least where the table is full, judges the port's marks. Never waits for workers.
 * To be called a few times a second, and more often while much is to be installed.
 *
 * @return What was installed, evicted, destroyed: 0 means that all is settled.
 */
uint32_t hy_offload_poll(struct hy_offload *offload);

/**
 * The port is about to be stopped or reset: from now on software classifies. To be called before,
 * since a driver may keep rules over a stop, or free their handles.
 *
 * @param answers Whether the port takes calls still: its rules are removed. False if it is broken,
 * and to be reset: they are forgotten, as the reset takes them.
 */
void hy_offload_down(struct hy_offload *offload, bool answers);

/**
 * The port runs (again): limits are probed again, and hy_offload_poll() installs.
 *
 * @return 0; -ENOTSUP it takes no rule that marks any more; -ENODEV it is gone.
 */
int hy_offload_up(struct hy_offload *offload);

/** The port was removed: as hy_offload_down(), and no function of the provider is called again. */
void hy_offload_gone(struct hy_offload *offload);

/**
 * Tells the HAL what the port's flow engine is good for, by the capabilities flow_mark and
 * flow_priority: variants that read marks are selected from then on, or, once the offload is
 * demoted, no more. hy_offload_follow() says it for you, whenever it changes.
 *
 * @return 0, or what hy_hal_capability_set() does.
 */
int hy_offload_declare(struct hy_offload *offload, struct hy_hal *hal);

/**
 * Has an offload follow its port: hy_hal_poll() calls hy_offload_down(), hy_offload_up() and
 * hy_offload_gone() when the port is so. The HAL is told what hy_offload_declare() tells it: now,
 * when the port comes up, and when hy_offload_poll() demotes it. hy_offload_destroy() takes it back.
 * Whenever that is another thing than before, hy_hal_poll() selects again.
 *
 * @param hal Must outlive the offload; used by the thread that calls hy_offload_poll().
 * @return 0; -EEXIST it follows already; -ENODEV the HAL does not know the port; -ENOMEM.
 */
int hy_offload_follow(struct hy_offload *offload, struct hy_hal *hal);

/** In which state an offload is. */
enum hy_offload_state {
	HY_OFFLOAD_UP,      /**< Installs, and its marks are believed. */
	HY_OFFLOAD_DOWN,    /**< The port does not run. */
	HY_OFFLOAD_GONE,    /**< The port was removed. */
	HY_OFFLOAD_DEMOTED, /**< Its marks were wrong or did not arrive: it gets no rules any more. */
};

/** How it stands. */
struct hy_offload_stats {
	uint16_t port;                /**< Whose. */
	enum hy_offload_state state;  /**< And how that is. */
	struct hy_flow_limits limits; /**< What the port takes. */
	uint32_t hw_rules;            /**< Rules whose marks workers believe. */
	uint32_t sw_rules;            /**< All others. */
	uint32_t room;                /**< Most rules in hardware at once. */
	uint32_t leaving;             /**< Rules in hardware that are being taken back. */
	bool full;                    /**< The port refused a rule for want of room. */
	uint64_t installed;           /**< Rules created so far. */
	uint64_t evicted;             /**< Removed for such as were hit more. */
	uint64_t lost;                /**< Forgotten because the port stopped or was removed. */
	uint64_t failed;              /**< Removals that the port refused: it goes on marking. */
	uint64_t marked;              /**< Packets that hardware classified, */
	uint64_t unmarked;            /**< those without a mark, */
	uint64_t stale;               /**< those whose mark was of no rule, */
	uint64_t fragments; /**< and marked fragments, which software classified for their ports. */
	uint64_t residue;   /**< Marked ones that were held to rules of software. */
	uint64_t sampled;   /**< Marked ones that were classified again. */
	uint64_t mismatches; /**< Of those, found wrong. */
	uint64_t looked;     /**< Packets without a valid mark that were looked at: of those, */
	uint64_t missing;    /**< hardware should have marked these, */
	uint64_t garbled;    /**< and these, whose mark stood for nothing. */
	uint64_t foreign;    /**< Bursts with a packet that named another port. */
	char demoted[128];   /**< In state HY_OFFLOAD_DEMOTED why, in words; else "". */
};

/** Reads how it stands. Any thread. */
void hy_offload_stats(struct hy_offload *offload, struct hy_offload_stats *stats);

/** @return Why a rule is not in hardware, in words; NULL: it is, or there is no such rule. */
const char *hy_offload_reason(struct hy_offload *offload, uint32_t rule_id);

/**
 * Takes the oldest mismatch that was recorded and not yet taken. Each worker keeps up to 63.
 *
 * @return 0; -ENOENT there is none.
 */
int hy_offload_mismatch(struct hy_offload *offload, struct hy_mark_mismatch *mismatch);

/** @return The offload of a port; NULL: none. */
struct hy_offload *hy_offload_of(uint16_t port);

/**
 * @name Output, also as telemetry /halyard/offload[,PORT]. Any thread. Return 0, or why
 * it could not be written.
 * @{
 */
/** For people. */
int hy_offload_print(struct hy_offload *offload, FILE *out);
/** {"port", "state", "driver", …, "refused": [{"reason", "rules"}]} */
int hy_offload_json(struct hy_offload *offload, FILE *out);
/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
