/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Options of the command line (hy_command_line.h) for ports, their queues, and the workers that poll
 * them: -p, -P, --config, --max-pkt-len, --no-numa, --per-port-pool, --burst, --rx-budget and
 * --idle. Where DPDK's examples have such an option, name and values are theirs.
 *
 * For the main thread, between rte_eal_init() and the launch of workers.
 */
#pragma once

#include <hy_command_line.h>
#include <hy_workers.h>

HY_API_BEGIN

#define HY_QUEUES_MAX 256 /**< Most receive queues of --config. */

/** What the options say. Filled in by hy_command_line_read(), and then read-only. */
struct hy_port_options {
	uint64_t mask; /**< -p: ports, a bit each. At least one, and all exist. */
	uint16_t ports[RTE_MAX_ETHPORTS]; /**< The same as numbers, ascending. */
	unsigned int nb_ports;            /**< Entries of ports. */
	bool promiscuous;                 /**< -P */
	/** --config with the budgets of --rx-budget; by default queue 0 of each port, over all workers. */
	struct hy_rx_queue queues[HY_QUEUES_MAX];
	unsigned int nb_queues;            /**< Entries of queues. */
	unsigned int max_len;              /**< --max-pkt-len: bytes of a frame, with CRC. */
	bool numa;                         /**< Not --no-numa. */
	bool own_pools;                    /**< --per-port-pool */
	unsigned int burst;                /**< --burst: packets taken from a queue at a time. */
	uint16_t budget[RTE_MAX_ETHPORTS]; /**< --rx-budget: packets a walk, by port; 0: a burst. */
	enum hy_idle_mode idle;            /**< --idle */
	unsigned int wait_us;              /**< Longest sleep of HY_IDLE_SLEEP. */
};

/** The group of these options. Writes the defaults into @p options, which outlives the group. */
struct hy_option_group hy_port_options(struct hy_port_options *options);

/** Whether a port is one of -p. Any thread. */
static inline bool
hy_port_chosen(const struct hy_port_options *options, uint16_t port)
{
	return port < RTE_MAX_ETHPORTS && (options->mask >> port & 1) != 0;
}

/**
 * Counts the workers that receive each port's frames.
 *
 * @param[out] shares By index in ports, whose entries each get one: at least 1, also for a port without queues.
 */
void hy_port_shares(const struct hy_port_options *options, uint16_t shares[]);

/** Packets that a node handles at a time: bursts of two queues go through one in one call. */
static inline uint16_t
hy_port_graph_burst(const struct hy_port_options *options)
{
	return (uint16_t)RTE_MIN(2 * options->burst, (unsigned int)HY_BURST_MAX);
}

/**
 * The ports and queues of the options as the ends of graphs. hal, next and next_by_port are the
 * program's to fill in. The result refers to @p options.
 */
struct hy_ends hy_port_ends(const struct hy_port_options *options, unsigned int nb_workers);

/**
 * Checks the number of an lcore that an option names.
 *
 * @param advice What to do if it is the main lcore, "pin nodes to workers".
 * @return 0; -EINVAL it is no worker of EAL's (reported).
 */
int hy_option_check_lcore(const char *option, unsigned int lcore, const char *advice);

HY_API_END
