/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Classification offload: installs rules of a policy in a port's hardware, which marks matching
 * packets, so that workers need not classify them.
 *
 * The policy is authoritative. Hardware holds those of its rules that it supports and that are hit
 * most. Packets without a mark, or with a mark of no current rule, are classified in software.
 * Whatever is installed, evicted, refused or lost, each packet gets the class that the policy gives
 * it, as long as the port marks according to its rules. The node that classifies a packet counts
 * it, once:
 *
 * - A mark is never 0, is compared in full, and contains a generation. A mark that was withdrawn is
 *   not used again before workers have left it and @ref hy_offload_params.settle_us has passed.
 * - A marked packet is compared with the *residue* of its rule: the overlapping rules before it
 *   that hardware does not have, does not prefer, or may miss.
 * - If a port cannot distinguish fragments, which have no ports, marked fragments of a rule for
 *   ports are classified in software.
 * - A random sample of marked packets is classified again in software. Differences are recorded,
 *   and if there are too many, the port's marks are distrusted. Until then, packets that are not in
 *   the sample keep the class of a wrong mark.
 * - A port whose rules are in a group (mlx5) marks packets to its default MAC address only, unless
 *   it is promiscuous. So an offload does not change which packets a port accepts.
 * - Some of the packets without a valid mark are examined. If most packets that rules in hardware
 *   match arrive without a mark, or if packets name another port than the one that received them,
 *   the port's rules are removed, and software classifies.
 *
 * Control plane: only one thread at a time may commit a policy or call the functions below for it.
 * A program may have its own flow rules on the port, which are left alone; they must not MARK,
 * since their marks would be taken for the policy's. Functions return 0 or a negative errno.
 */
#pragma once

#include <stdio.h>

#include <hy_flow.h>
#include <hy_mark.h>
#include <hy_policy.h>

HY_API_BEGIN

struct hy_hal;
struct hy_offload;

/** Parameters of an offload. 0 or NULL selects the default in brackets. */
struct hy_offload_params {
	/** Takes the rules; outlives the offload. [hy_flow_rte_of() its port] */
	const struct hy_flow_provider *provider;
	/** Defines the form of rules. [the flow driver for the port's driver] */
	const struct hy_flow_driver *driver;
	uint32_t
		max_rules; /**< Most rules in hardware, to 2^20. [16,384; fewer if marks are few] */
	uint32_t sample_every; /**< Mean gap between checked packets, to 2^31. [1,024] */
	/**
	 * Number of mismatches, and of bursts with packets that name another port, after which a
	 * port's marks are distrusted. [8]
	 */
	uint32_t demote_after;
	/**
	 * The longest time that a marked packet may wait in a receive queue, in microseconds.
	 * [100,000]
	 */
	uint32_t settle_us;
	uint32_t age_us; /**< Interval between comparisons of hits, in microseconds. [1,000,000] */
	uint32_t batch;  /**< Most rules that a poll asks the port for, and evicts. [256] */
	/** Longest residue of rules in hardware; 16,383 is the maximum. [16] */
	uint32_t max_residue;
	/**
	 * Of an access list: packets of its rules with HY_RULE_CLASSIFY are marked for a node that
	 * reads their class off the mark. Otherwise rules that permit packets mark them only where
	 * one that drops packets needs it.
	 */
	bool classes;
};

/**
 * Begins to offload a policy to a port. Probes what the port takes. hy_offload_poll() installs
 * rules.
 *
 * @param policy Has a QSBR variable; outlives the offload.
 * @param port Must be started for most drivers: they refuse all rules before.
 * @param[out] offload Belongs to the caller, until hy_offload_destroy().
 * @return 0; -ENODEV no such port; -ENOTSUP the port takes no rule that marks, or its driver may reset
 * it without an event, see @p reason;
 * -EEXIST the port has an offload; -EINVAL params; -ENOMEM.
 * @param[out] reason The reason for an error, in @p size bytes.
 */
int hy_offload_create(struct hy_policy *policy, uint16_t port,
	const struct hy_offload_params *params, struct hy_offload **offload, char *reason,
	size_t size);

/**
 * Withdraws the port's marks from workers, waits up to a second until they have left them, and
 * removes the rules from the port, unless it is gone. NULL is allowed.
 *
 * This waits until the port has removed each rule; after hy_offload_closing(), for one second more.
 */
void hy_offload_destroy(struct hy_offload *offload);

/**
 * Says that the port is closed once the offload is destroyed: rules that it has not removed within a
 * second are left to its driver. Before hy_offload_destroy(), by the same thread.
 */
void hy_offload_closing(struct hy_offload *offload);

/**
 * Does the pending work: destroys rules that workers have left, installs the most hit rules, evicts
 * the least hit ones if the table is full, and checks the port's marks. Never waits for workers.
 * Call it a few times a second, and more often while many rules are to be installed. If the port has
 * begun to treat VLAN tags differently, or rules spread packets over queues and its RSS types or
 * key have changed, first removes all rules and probes the port again; if that fails, packets are
 * classified in software until hy_offload_up().
 *
 * A port that answers late gets no more calls in a poll after 20 ms, which its calls must have taken, but at
 * least one for a counter, one to remove and one to install; the next poll goes on. Where many rules are
 * asked for at once, so is one group of them. A commit of the policy waits until the port has removed the rules that
 * drop packets and that the new policy does not have.
 *
 * @return The number of rules installed, evicted and destroyed, or 1 if some are left to be tried; 0:
 * nothing was pending.
 */
uint32_t hy_offload_poll(struct hy_offload *offload);

/**
 * Switches to software because the port is about to be stopped or reset. Call it before: a driver
 * may keep rules over a stop, or free their handles.
 *
 * @param answers True: the port accepts calls, and its rules are removed. False: the port is broken
 * and will be reset; its rules are forgotten, since the reset deletes them.
 */
void hy_offload_down(struct hy_offload *offload, bool answers);

/**
 * As hy_offload_down(), when the port's driver recovers it (RTE_ETH_EVENT_ERR_RECOVERING), and so
 * takes no calls. The driver may restore the rules. hy_offload_up() removes them if the port
 * advertises RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP; otherwise their marks are not used again until a
 * reset, since their handles may be invalid.
 */
void hy_offload_recovers(struct hy_offload *offload);

/**
 * Resumes when the port runs again: probes its limits again. hy_offload_poll() installs rules.
 *
 * @return 0; -ENOTSUP the port takes no rule that marks any more; -ENODEV the port is gone.
 */
int hy_offload_up(struct hy_offload *offload);

/** As hy_offload_down(), when the port was removed: the provider is not called any more. */
void hy_offload_gone(struct hy_offload *offload);

/**
 * Sets the HAL's capabilities flow_mark and flow_priority to what the port's flow engine can do.
 * From then on, variants that read marks can be selected or, once the offload is demoted, cannot.
 * hy_offload_follow() does this on every change.
 *
 * @return 0, or the errors of hy_hal_capability_set().
 */
int hy_offload_declare(struct hy_offload *offload, struct hy_hal *hal);

/**
 * Makes an offload follow its port: hy_hal_poll() then calls hy_offload_down(),
 * hy_offload_recovers(), hy_offload_up() and hy_offload_gone() when the port changes its state. Calls hy_offload_declare() now, when the port
 * comes up, and when hy_offload_poll() demotes the port; hy_offload_destroy() withdraws the
 * capabilities. On each change of a capability, hy_hal_poll() selects again.
 *
 * @param hal Must outlive the offload; used by the thread that calls hy_offload_poll().
 * @return 0; -EEXIST it already follows a HAL; -ENODEV the HAL does not know the port; -ENOMEM.
 */
int hy_offload_follow(struct hy_offload *offload, struct hy_hal *hal);

/**
 * Reads the counters of all rules that drop packets, or of as many as the port tells in 250 ms; the next
 * call goes on. hy_offload_poll() reads a part of them each time: call this before counts are reported, by
 * the thread that calls hy_offload_poll().
 */
void hy_offload_read(struct hy_offload *offload);

/** The state of an offload. */
enum hy_offload_state {
	HY_OFFLOAD_UP,      /**< Installs rules, and trusts the port's marks. */
	HY_OFFLOAD_DOWN,    /**< The port does not run. */
	HY_OFFLOAD_GONE,    /**< The port was removed. */
	HY_OFFLOAD_DEMOTED, /**< The port's marks were wrong or missing: it gets no more rules. */
};

/** State and counters of an offload. */
struct hy_offload_stats {
	uint16_t port;                /**< Its port. */
	enum hy_offload_state state;  /**< Its state. */
	struct hy_flow_limits limits; /**< What the port takes. */
	uint32_t hw_rules;            /**< Rules in hardware whose marks are used. */
	uint32_t sw_rules;            /**< All other rules. */
	uint32_t room;                /**< Most rules in hardware. */
	uint32_t leaving;             /**< Rules in hardware that are being removed. */
	bool full;                    /**< The port refused a rule for lack of room. */
	uint64_t installed;           /**< Rules created so far. */
	uint64_t evicted;             /**< Rules removed in favour of rules that are hit more. */
	uint64_t lost;     /**< Rules forgotten because the port stopped or was removed. */
	uint64_t failed;   /**< Removals that the port refused: it keeps marking. */
	uint64_t marked;   /**< Packets that hardware classified. */
	uint64_t unmarked; /**< Packets without a mark. */
	uint64_t stale;    /**< Packets with a mark of no current rule. */
	uint64_t
		fragments; /**< Marked fragments that software classified because of their ports. */
	uint64_t residue;  /**< Marked packets that were compared with rules of software. */
	uint64_t sampled;  /**< Marked packets that were classified again. */
	uint64_t mismatches; /**< Sampled packets whose mark was wrong. */
	uint64_t looked;     /**< Packets without a valid mark that were examined. */
	uint64_t missing;    /**< Examined packets without a mark that should have had one. */
	/** Examined packets with an invalid mark that should have had another, without those that a
	 * rule marked which the port did not remove. */
	uint64_t garbled;
	uint64_t foreign;    /**< Bursts with a packet that named another port. */
	uint32_t drop_rules; /**< Of those in hardware, rules that drop packets there. */
	uint64_t dropped;    /**< Packets that they dropped, as the port counted them. */
	uint64_t leaked;     /**< Of those examined, packets that they should have dropped. */
	char demoted[128];   /**< In state HY_OFFLOAD_DEMOTED, the reason as text; else "". */
};

/** Reads state and counters. Any thread. */
void hy_offload_stats(struct hy_offload *offload, struct hy_offload_stats *stats);

/** @return Why a rule is not in hardware, as text; NULL: it is, or there is no such rule. */
const char *hy_offload_reason(struct hy_offload *offload, uint32_t rule_id);

/**
 * Takes the oldest recorded mismatch. Each worker keeps up to 63.
 *
 * @return 0; -ENOENT there is none.
 */
int hy_offload_mismatch(struct hy_offload *offload, struct hy_mark_mismatch *mismatch);

/** @return The offload of a port; NULL: none. */
struct hy_offload *hy_offload_of(uint16_t port);

/**
 * @name Output; telemetry has it as /halyard/offload[,PORT]. Any thread. Return 0, or a negative
 * errno if it could not be written.
 * @{
 */
/** As text. */
int hy_offload_print(struct hy_offload *offload, FILE *out);
/** {"port", "state", "driver", …, "refused": [{"reason", "rules"}]} */
int hy_offload_json(struct hy_offload *offload, FILE *out);
/** @} */

HY_API_END
