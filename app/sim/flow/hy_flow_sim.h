/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A simulated flow engine: a table of rte_flow rules that marks, counts and drops packets like a
 * NIC, for machines without one.
 *
 * It takes rules in rte_flow's types, and refuses what the driver of its *profile* would refuse.
 * The matcher shares no code with the software classifiers, so that each can be tested against the
 * other.
 *
 * Packets pass through an engine in two ways: hy_flow_sim_attach() puts one behind the receive
 * queues of any port, and a driver may call hy_flow_sim_rx() itself.
 *
 * Thread context: control threads change rules while workers pass packets. A burst sees the table
 * before a change or after it, never in between. Functions return 0 or a negative errno, and set
 * rte_errno; @p error may be NULL, and says what is accepted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include <hy_api.h>

HY_API_BEGIN

struct hy_flow_provider;
struct hy_flow_sim;
struct rte_eth_rss_conf;
struct rte_ether_addr;
struct rte_mbuf;

/**
 * Faults of an engine, as seen in real NICs and drivers. Zeroed: none. Those of marks do not affect
 * counting and dropping.
 */
struct hy_flow_sim_faults {
	uint32_t no_marks;   /**< Not 0: no mark arrives. */
	uint32_t mark_every; /**< About one of so many marks arrives; 0: all do. */
	uint32_t mark_until; /**< No mark arrives after so many; 0: no such limit. */
	uint32_t lie_every;  /**< About one of so many marks is another rule's; 0: none is. */
	uint32_t port_add;   /**< Added to the port number in each packet. */
	uint32_t leak_every; /**< About one of so many dropped packets arrives, though counted. */
	/**
	 * Counters are as they were when they were last read from the device, once in so many
	 * microseconds; 0: as they are. mlx5's driver reads them once a second (mlx5_flow.c,
	 * MLX5_POOL_QUERY_FREQ_US).
	 */
	uint32_t counts_every_us;
	uint32_t slow_us; /**< Time to add or remove a rule, or to read a counter. */
};

/** What to simulate. Zeroed: a generic engine without faults. */
struct hy_flow_sim_params {
	/**
	 * "generic", "cnxk", "cnxk_wide", "cnxk_ip6", "mlx5", "mlx5_guest", "mlx5_hws", "ice",
	 * "i40e" or "iavf"; NULL: generic. cnxk matches the fields of Linux's key extraction
	 * profile, cnxk_wide all simulated fields but the addresses of IPv6, which cnxk_ip6 has.
	 */
	const char *profile;
	uint32_t table_size; /**< Most rules; 0: as many as the profile's hardware. */
	uint32_t mark_max;   /**< Largest mark; 0: the profile's. */
	uint32_t counters;   /**< Most rules with COUNT; 0: as many as the profile's hardware. */
	bool lose_rules;     /**< Loses its rules at hy_flow_sim_stop(), whatever the profile. */
	struct hy_flow_sim_faults faults; /**< As hy_flow_sim_fault() sets them. */
};

/** Counters of an engine. */
struct hy_flow_sim_stats {
	uint32_t rules;   /**< In the table now. */
	uint32_t marking; /**< Rules with MARK or FLAG in the table now. */
	/**
	 * Different masks of the rules, in all groups. A packet is looked up once for each; with
	 * mlx5, whose matchers form a chain, once for each mask at each priority.
	 */
	uint32_t masks;
	uint64_t created;  /**< Rules accepted. */
	uint64_t refused;  /**< Rules refused, for any reason. */
	uint64_t lost;     /**< Rules lost at a stop. */
	uint64_t packets;  /**< Packets that passed. */
	uint64_t marked;   /**< Packets that got a mark. */
	uint64_t dropped;  /**< Packets freed because of a rule. */
	uint64_t missed;   /**< Packets freed because no rule of a group other than 0 matched. */
	uint64_t filtered; /**< Packets freed because they are for another MAC address. */
	uint64_t leaked;   /**< Packets delivered that a rule dropped. */
	uint64_t lied;     /**< Packets that got a wrong mark. */
	uint64_t withheld; /**< Packets whose mark a fault suppressed. */
};

/**
 * @param profile As in hy_flow_sim_params.
 * @return The largest mark_max accepted with it; 0: no such profile. Any thread.
 */
uint32_t hy_flow_sim_mark_max(const char *profile);

/**
 * Creates an engine, which is stopped.
 *
 * @param[out] sim Belongs to the caller, until hy_flow_sim_destroy().
 * @return 0; -EINVAL no such profile, or mark_max beyond hy_flow_sim_mark_max(); -ENOMEM.
 */
int hy_flow_sim_create(const struct hy_flow_sim_params *params, struct hy_flow_sim **sim);

/** Frees an engine and its rules. No packets may pass any more. NULL is allowed. */
void hy_flow_sim_destroy(struct hy_flow_sim *sim);

/** @return The name of an engine's profile. */
const char *hy_flow_sim_profile(const struct hy_flow_sim *sim);

/**
 * Sets the configuration of the engine's port, against which QUEUE and RSS are checked. Initially,
 * it has one queue and no RSS.
 *
 * @param rss The port's, if rxmode.mq_mode is RTE_ETH_MQ_RX_RSS; NULL: no RSS. A key has 40 bytes.
 */
void hy_flow_sim_configure(struct hy_flow_sim *sim, uint16_t nb_rx_queues,
	const struct rte_eth_rss_conf *rss);

/** Reads the RSS types and key of the engine's port. The key needs room for 40 bytes; NULL: none. */
void hy_flow_sim_rss(struct hy_flow_sim *sim, struct rte_eth_rss_conf *rss);

/** Starts the port: some drivers take rules only while it runs. Has no effect if it runs. */
void hy_flow_sim_start(struct hy_flow_sim *sim);

/** Stops the port: unless the profile keeps rules, all are lost, and their handles are invalid. */
void hy_flow_sim_stop(struct hy_flow_sim *sim);

/**
 * Checks whether the profile's driver accepts a rule. Like a driver's validate(), it ignores the
 * other rules, the room in the table, and whether the port runs.
 *
 * @return 0; -ENOTSUP; -EINVAL.
 */
int hy_flow_sim_check(struct hy_flow_sim *sim, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions,
	struct rte_flow_error *error);

/**
 * Adds a rule. If several match a packet, the one with the lowest priority value wins, then the
 * oldest.
 *
 * QUEUE and RSS do not move packets: see hy_flow_sim_queue().
 *
 * @param[out] flow Its handle, until it is removed, flushed or lost.
 * @return 0; -ENOTSUP the simulator does not support it; -ENOTSUP or -EINVAL the profile's driver
 * would refuse it; -ENODEV the engine takes no rules while stopped; -EINVAL it conflicts with
 * another rule; -ENOMEM; -ENOSPC cnxk has no group of queues left for RSS. If a rule has the same
 * pattern: generic and ice -EEXIST, i40e and iavf -EINVAL. If the table is full, or no counter is
 * left for COUNT: generic -ENOSPC, cnxk -EIO, mlx5 -ENOMEM, ice and iavf -EINVAL, i40e -ENOBUFS.
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
 * Passes a received burst through the engine: packets that a rule marks get RTE_MBUF_F_RX_FDIR,
 * RTE_MBUF_F_RX_FDIR_ID and hash.fdir.hi; others stay unchanged. Packets that a rule drops, or that
 * jumped to a group where no rule matches them (mlx5), are freed and removed from the burst. Reads
 * the first segment only.
 *
 * @return The number of packets left, in order.
 */
uint16_t hy_flow_sim_rx(struct hy_flow_sim *sim, struct rte_mbuf **pkts, uint16_t n);

/**
 * Computes the receive queue in which the NIC would deliver a packet: by a rule's QUEUE, by a
 * rule's RSS with the hash of its driver, or by the port's RSS. hy_flow_sim_rx() leaves a packet in
 * the queue in which it arrived. IPv6 is not hashed.
 *
 * @return The queue; -ENOENT the packet is dropped.
 */
int hy_flow_sim_queue(struct hy_flow_sim *sim, const struct rte_mbuf *pkt);

/**
 * Sets the unicast MAC address whose packets the port accepts, besides broadcast and multicast.
 * Initially, it accepts all. With mlx5, rules precede this filter: those it has in group 0 for the
 * port's addresses have the lowest priority, and a rule for all packets makes the port promiscuous.
 *
 * @param mac NULL: any.
 */
void hy_flow_sim_accept(struct hy_flow_sim *sim, const struct rte_ether_addr *mac);

/** Switches the delivery of marks, which is initially on. Rules count and drop anyway. */
void hy_flow_sim_deliver(struct hy_flow_sim *sim, bool marks);

/**
 * @name For tests
 * @{
 */
/** Replaces the faults of an engine. mark_until counts marks from now on. */
void hy_flow_sim_fault(struct hy_flow_sim *sim, const struct hy_flow_sim_faults *faults);
/** Makes the @p nth rule from now on (1: the next) fail with @p err, a negative errno; 0: none. */
void hy_flow_sim_fail(struct hy_flow_sim *sim, uint32_t nth, int err);
/** Reads the counters. */
void hy_flow_sim_stats(struct hy_flow_sim *sim, struct hy_flow_sim_stats *stats);
/** @} */

/**
 * @name Behind any port
 * @{
 */
/**
 * Creates an engine, starts it, and puts it behind the receive queues of a port with receive
 * callbacks. Packets that an event device takes directly from the port bypass it.
 *
 * @param port Configured, with its queues set up. Workers may already poll it.
 * @return 0; -ENODEV no such port, or no queues; -EEXIST it has an engine; -ENOTSUP DPDK was built
 * without receive callbacks; else as hy_flow_sim_create().
 */
int hy_flow_sim_attach(uint16_t port, const struct hy_flow_sim_params *params);

/** Removes the engine of a port. No worker may poll the port: it may be in the callback. */
void hy_flow_sim_detach(uint16_t port);

/** @return The engine behind a port, valid until hy_flow_sim_detach(); NULL: none. */
struct hy_flow_sim *hy_flow_sim_of(uint16_t port);

/** The provider (hy_flow.h) of the engines behind ports; -ENODEV for other ports. */
extern const struct hy_flow_provider hy_flow_simulator;
/** @} */

HY_API_END
