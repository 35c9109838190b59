/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A simulated flow engine: a table of rte_flow rules that marks, counts and drops packets as a NIC
 * would, for boxes without one.
 *
 * It takes rules in rte_flow's own types, and refuses what the driver of its *profile* would
 * refuse. The matcher shares no code with the software classifiers, so that the one can be held
 * against the other.
 *
 * Two ways lead packets through an engine: hy_flow_sim_attach() puts one behind the receive queues
 * of any port, and hy_flow_sim_rx() serves drivers that call it themselves.
 *
 * Thread context: rules are changed by control threads, packets pass on workers, all at once. A
 * burst sees the table before a change or after it, never between. Functions return 0 or a
 * negative errno, also left in rte_errno; @p error may be NULL, and says what is accepted.
 */
#ifndef HY_FLOW_SIM_H
#define HY_FLOW_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct hy_flow_provider;
struct hy_flow_sim;
struct rte_eth_rss_conf;
struct rte_mbuf;

/**
 * What is wrong with the marks of an engine, as with NICs and drivers that were met. Zeroed, nothing
 * is. The rules, and what they count and drop, are as they should be.
 */
struct hy_flow_sim_faults {
	uint32_t no_marks;   /**< Not 0: no mark arrives. */
	uint32_t mark_every; /**< Of so many marks about one arrives; 0: each one does. */
	uint32_t mark_until; /**< After so many marks no more arrive; 0: there is no such end. */
	uint32_t lie_every;  /**< Of so many marks about one is another rule's; 0: none is. */
	uint32_t port_add;   /**< Added to the number of the port in each packet. */
};

/** What to simulate. Zeroed, it is a generic engine without faults. */
struct hy_flow_sim_params {
	/**
	 * "generic", "cnxk", "cnxk_wide", "mlx5", "mlx5_guest", "mlx5_hws", "ice", "i40e" or "iavf";
	 * NULL: generic. cnxk matches the fields of Linux's key extraction profile, cnxk_wide all that
	 * are simulated.
	 */
	const char *profile;
	uint32_t table_size; /**< Rules it holds; 0: as many as the profile's hardware. */
	uint32_t mark_max;   /**< Largest mark it takes; 0: the profile's. */
	bool lose_rules;     /**< Forgets its rules at hy_flow_sim_stop(), whatever the profile. */
	struct hy_flow_sim_faults faults; /**< As hy_flow_sim_fault() sets them. */
};

/** What an engine did so far. */
struct hy_flow_sim_stats {
	uint32_t rules;   /**< In the table now. */
	uint32_t marking; /**< Of those, with MARK or FLAG. */
	/**
	 * That those match by, of all groups. A packet is looked up once for each; with mlx5, whose
	 * matchers are a chain, once for each mask at each priority.
	 */
	uint32_t masks;
	uint64_t created;  /**< Rules that it took. */
	uint64_t refused;  /**< Rules that it did not take, for whatever reason. */
	uint64_t lost;     /**< Rules that a stop took away. */
	uint64_t packets;  /**< That passed. */
	uint64_t marked;   /**< Of those, with a mark. */
	uint64_t dropped;  /**< Of those, freed because a rule says so. */
	uint64_t missed;   /**< Of those, freed because no rule of a group but 0 matched. */
	uint64_t lied;     /**< Of those marked, with a wrong mark. */
	uint64_t withheld; /**< Packets whose mark a fault kept back. */
};

/**
 * @param profile As in hy_flow_sim_params.
 * @return The largest mark_max that is accepted with it; 0: there is no such profile. Any thread.
 */
uint32_t hy_flow_sim_mark_max(const char *profile);

/**
 * Makes an engine. It is stopped.
 *
 * @param[out] sim Belongs to the caller, until hy_flow_sim_destroy().
 * @return 0; -EINVAL no such profile, or mark_max beyond hy_flow_sim_mark_max(); -ENOMEM.
 */
int hy_flow_sim_create(const struct hy_flow_sim_params *params, struct hy_flow_sim **sim);

/** Frees it with its rules: no packets may pass any more. NULL is allowed. */
void hy_flow_sim_destroy(struct hy_flow_sim *sim);

/** Name of its profile. */
const char *hy_flow_sim_profile(const struct hy_flow_sim *sim);

/**
 * Says how its port is configured, against which QUEUE and RSS are checked. Before that, it has one
 * queue and no RSS.
 *
 * @param rss The port's, if rxmode.mq_mode is RTE_ETH_MQ_RX_RSS; NULL: no RSS. A key has 40 bytes.
 */
void hy_flow_sim_configure(struct hy_flow_sim *sim, uint16_t nb_rx_queues,
	const struct rte_eth_rss_conf *rss);

/** Its port starts. Some drivers take rules only from then on. Harmless if it runs. */
void hy_flow_sim_start(struct hy_flow_sim *sim);

/** Its port stops: unless the profile keeps them, all rules are gone; their handles are invalid. */
void hy_flow_sim_stop(struct hy_flow_sim *sim);

/**
 * Whether a rule is one that the profile's driver knows: like those, it does not look at what
 * other rules there are, nor at the room, nor whether the port runs.
 *
 * @return 0; -ENOTSUP; -EINVAL.
 */
int hy_flow_sim_check(struct hy_flow_sim *sim, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions,
	struct rte_flow_error *error);

/**
 * Adds a rule. Where several match a packet, the one of lowest priority wins, then the oldest.
 *
 * QUEUE and RSS do not move packets: see hy_flow_sim_queue().
 *
 * @param[out] flow Its handle, until it is removed, flushed or lost.
 * @return 0; -ENOTSUP what the simulator does not know; -ENOTSUP or -EINVAL the profile's driver
 * would refuse it; -ENODEV it takes no rules while stopped; -EINVAL other rules there do not go with
 * it; -ENOMEM; -ENOSPC cnxk has no group of queues left for RSS. Where the pattern is there already:
 * generic and ice -EEXIST, i40e and iavf -EINVAL. Where the table is full: generic -ENOSPC, cnxk
 * -EIO, mlx5 -ENOMEM, ice and iavf -EINVAL, i40e -ENOBUFS.
 */
int hy_flow_sim_add(struct hy_flow_sim *sim, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions, void **flow,
	struct rte_flow_error *error);

/** Removes a rule. @return 0; -ENOENT no such rule. */
int hy_flow_sim_remove(struct hy_flow_sim *sim, void *flow, struct rte_flow_error *error);

/**
 * Reads the counter of a rule with action COUNT, and clears it if count->reset.
 *
 * @return 0; -ENOENT no such rule; -EINVAL it does not count.
 */
int hy_flow_sim_count(struct hy_flow_sim *sim, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error);

/** Removes all rules. */
void hy_flow_sim_flush(struct hy_flow_sim *sim);

/**
 * Leads a received burst through the engine: packets that a rule marks get RTE_MBUF_F_RX_FDIR,
 * RTE_MBUF_F_RX_FDIR_ID and hash.fdir.hi; others keep what they have. Packets that a rule drops, or
 * that jumped to a group none of whose rules matches them (mlx5), are freed and left out. Looks at
 * the first segment only.
 *
 * @return Packets left, in order.
 */
uint16_t hy_flow_sim_rx(struct hy_flow_sim *sim, struct rte_mbuf **pkts, uint16_t n);

/**
 * By which receive queue the NIC gives a packet out: that of a rule's QUEUE, one of a rule's RSS by a
 * hash as its driver takes it, else one of the port's RSS. hy_flow_sim_rx() leaves a packet in the
 * queue by which it came. Of IPv6 no hash is made.
 *
 * @return The queue; -ENOENT the packet is dropped.
 */
int hy_flow_sim_queue(struct hy_flow_sim *sim, const struct rte_mbuf *pkt);

/** Whether marks get into packets; they do unless this said no. Rules count and drop anyway. */
void hy_flow_sim_deliver(struct hy_flow_sim *sim, bool marks);

/**
 * @name For tests
 * @{
 */
/** Replaces the faults of an engine; marks are counted for mark_until from now on. */
void hy_flow_sim_fault(struct hy_flow_sim *sim, const struct hy_flow_sim_faults *faults);
/** The @p nth rule from now on (1 is the next one) is refused with @p err, negative; 0: none. */
void hy_flow_sim_fail(struct hy_flow_sim *sim, uint32_t nth, int err);
/** What it did. */
void hy_flow_sim_stats(struct hy_flow_sim *sim, struct hy_flow_sim_stats *stats);
/** @} */

/**
 * @name Behind any port
 * @{
 */
/**
 * Puts a new engine, which is started, behind the receive queues of a port by means of receive
 * callbacks. Packets that an event device takes from the port by itself do not pass it.
 *
 * @param port Configured: its queues must be there. Workers may poll it already.
 * @return 0; -ENODEV no such port, or no queues; -EEXIST it has one; -ENOTSUP DPDK was built
 * without receive callbacks; else as hy_flow_sim_create().
 */
int hy_flow_sim_attach(uint16_t port, const struct hy_flow_sim_params *params);

/** Takes it away. No worker may poll the port: it may still be within the callback. */
void hy_flow_sim_detach(uint16_t port);

/** @return The engine behind a port, valid until hy_flow_sim_detach(); NULL: none. */
struct hy_flow_sim *hy_flow_sim_of(uint16_t port);

/** The rules of the engines behind ports, as hy_flow.h asks for them; -ENODEV for other ports. */
extern const struct hy_flow_provider hy_flow_simulator;
/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
