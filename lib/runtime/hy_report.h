/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What a program reports of itself: nodes, drops, ports and workers, as a table for people and as
 * JSON for programs; and whether every packet and every packet buffer is accounted for at the end.
 *
 * Use, in this order: hy_report_port_add() when ports and graphs exist; hy_report_start() when
 * workers start; hy_report_read_between_walks() and hy_report_table() for each table while packets
 * flow; hy_report_read() once the workers have stopped and before graphs are destroyed. Then the
 * program destroys graphs, stops ports, and sets what that left over: under_way, events_freed,
 * mbufs_in_use and mbufs_total. hy_report_table(), hy_report_balance() and hy_report_json() are last.
 * What a program knows besides, it prints before, between or after.
 *
 * For the control thread that uses the HAL. Nothing is written but to the FILE that is handed over.
 */
#pragma once

#include <rte_ethdev.h>

#include <hy_mode_options.h>
#include <hy_ports.h>

HY_API_BEGIN

/** A port. */
struct hy_report_port {
	uint16_t port;                     /**< ethdev port id. */
	char driver[RTE_ETH_NAME_MAX_LEN]; /**< Its driver's name; "" if unknown. */
	struct rte_ether_addr mac;         /**< Its address. */
	struct hy_port_status status;      /**< When it was read last. */
	const char *state;                 /**< Likewise: "up", "down" or "gone". */
	/**
	 * The node that a source shared by all ports leads this port's packets to: they are what came
	 * from the port. "": what the port's own nodes of ethdev_rx took.
	 */
	char fed[HY_NAME_SIZE];
	/** The arc's node that it may lead them to instead (struct hy_ends); "": none. */
	char arc[HY_NAME_SIZE];
};

/** A worker, when it was read last. */
struct hy_report_worker {
	unsigned int lcore;        /**< Where it runs. */
	uint64_t walks;            /**< Of its graph. */
	struct hy_idle_stats rest; /**< Its rest. */
};

/** A report. Zeroed but for hal, all and mode, before the first call. */
struct hy_report {
	const struct hy_hal *hal;           /**< That placed the nodes; outlives the report. */
	const struct hy_workers *all;       /**< The workers; outlive the last read. */
	const struct hy_mode_options *mode; /**< How packets reach them; NULL: they poll. */
	struct hy_report_port
		ports[RTE_MAX_ETHPORTS]; /**< In the order in which they were added. */
	unsigned int nb_ports;           /**< Entries of ports. */
	const struct hy_vlan *vlans; /**< VLAN interfaces, of struct hy_ends; outlive the report. */
	unsigned int nb_vlans;       /**< Entries of vlans. */
	struct hy_report_worker workers[RTE_MAX_LCORE]; /**< Likewise. */
	unsigned int nb_workers;                        /**< Entries of workers. */
	struct hy_stats *stats;    /**< Read last; the report's. NULL: nothing was read. */
	struct hy_stats *before;   /**< Read before, for rates; likewise. */
	uint64_t start;            /**< TSC of hy_report_start(). */
	uint64_t last;             /**< TSC of stats. */
	double seconds;            /**< From start to stats while packets flow; 0 at the end. */
	double interval;           /**< From before to stats, likewise. */
	uint64_t under_way;        /**< Packets freed that were between workers. */
	uint64_t events_freed;     /**< Packets freed that were in the event device. */
	unsigned int mbufs_in_use; /**< Packet buffers that are in no pool at the end. */
	unsigned int mbufs_total;  /**< Packet buffers of all pools. */
};

/** Adds a port that runs; at most RTE_MAX_ETHPORTS. @param fed As in struct hy_report_port. */
void hy_report_port_add(struct hy_report *report, uint16_t port, const char *fed);

/**
 * Adds the ports and VLAN interfaces of the ends; with an event device, fed by the ports' own nodes of
 * the family next.
 */
void hy_report_ends_add(struct hy_report *report, const struct hy_ends *ends);

/** @return "up", "down" or "gone". */
const char *hy_report_port_state(const struct hy_report *report, uint16_t port);

/** Reads how a worker is doing. Any thread, while its graph exists. */
void hy_report_worker_read(const struct hy_worker *worker, struct hy_report_worker *to);

/** Packets flow from now on: times and rates count from here. */
void hy_report_start(struct hy_report *report);

/** Reads statistics, ports and workers. @return What hy_stats_read() returns; then all is as before. */
int hy_report_read(struct hy_report *report);

/**
 * Likewise while packets flow, by hy_stats_read_between_walks(): nodes agree with one another. What
 * was read before is kept for rates.
 */
int hy_report_read_between_walks(struct hy_report *report, unsigned int wait_us);

/** Frees what was read. */
void hy_report_free(struct hy_report *report);

/** Prints which variant each node runs, and where: a line a node. */
void hy_report_picks(const struct hy_report *report, FILE *out);

/**
 * Prints nodes, their counters, drops by reason, and what workers handed over to one another; while
 * packets flow, also the time, rates and ports.
 */
void hy_report_table(const struct hy_report *report, FILE *out);

/** Prints how workers rested, if --idle lets them. */
void hy_report_rest(const struct hy_report *report, FILE *out);

/**
 * Prints ports, VLAN interfaces, totals and packet buffers.
 *
 * @return Whether packets received and copied are those sent and dropped, and no packet buffer is in use.
 */
bool hy_report_balance(const struct hy_report *report, FILE *out);

/**
 * Prints one JSON object: "ports", "vlans", "nodes", "workers", "event", "dispatch", "drops", "totals" and
 * "mbufs".
 *
 * @param more Prints members of the program's own between dispatch and drops, each followed by a
 * comma; NULL: none.
 * @param arg For more.
 */
void hy_report_json(const struct hy_report *report, void (*more)(const void *arg, FILE *out),
	const void *arg, FILE *out);

/** A drop reason, over all nodes that have it. Valid as the statistics are. */
struct hy_reason {
	const char *name; /**< Its name. */
	const char *text; /**< Its sentence. */
	uint64_t objs;    /**< Packets that were dropped for it. */
};

/**
 * Sums up the drops of the next reason; of the reasons of the graph core only those that occurred.
 *
 * @param[in,out] at 0 before the first call; moves on.
 * @return Whether there was another reason, now in @p reason.
 */
bool hy_report_drop(const struct hy_report *report, const struct hy_stats *stats, unsigned int *at,
	struct hy_reason *reason);

/** Sums up packets that were taken from a port, and sent on it. */
uint64_t hy_report_rx(const struct hy_report *report, const struct hy_stats *stats,
	const struct hy_report_port *port);
/** Likewise. */
uint64_t hy_report_tx(const struct hy_report *report, const struct hy_stats *stats,
	const struct hy_report_port *port);

/**
 * Sums up what a VLAN interface received, or gave to its port to send: the port may drop it.
 *
 * @param family "vlan_pop" or "vlan_push".
 */
uint64_t hy_report_vlan(const struct hy_stats *stats, const char *family,
	const struct hy_vlan *vlan);

HY_API_END
