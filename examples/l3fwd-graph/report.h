/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program tells of itself: a table for people, JSON for programs. */
#ifndef L3FWD_REPORT_H
#define L3FWD_REPORT_H

#include <hy_ports.h>
#include <hy_stats.h>

#include "pipeline.h"

/* A port, as it was while it ran. */
struct report_port {
	char driver[RTE_ETH_NAME_MAX_LEN];
	struct rte_ether_addr mac;
	struct hy_port_status status;
	const char *state; /* "up", "down" or "gone" */
};

/* A worker, as it was when its graph was asked last. */
struct report_worker {
	unsigned int lcore;
	uint64_t walks;
	struct hy_idle_stats idle;
};

struct report {
	const struct options *options;
	const struct hy_hal *hal;
	const struct hy_stats *stats;
	/* While it runs; 0 and NULL at the end. */
	double seconds;                /* since the workers started */
	double interval;               /* since the table before, or since then */
	const struct hy_stats *before; /* of the table before; NULL: this is the first */
	struct report_port ports[RTE_MAX_ETHPORTS];
	struct report_worker workers[RTE_MAX_LCORE];
	unsigned int nb_workers;
	struct hy_policy_class *classes; /* that packets got */
	uint32_t nb_classes;
	char *offloads, *offloads_json; /* how they stand, for people and for programs; or NULL */
	uint64_t events_freed;          /* packets that were in the event device at the end */
	uint64_t under_way;             /* and those between workers */
	unsigned int mbufs_in_use;      /* once the ports are closed */
	unsigned int mbufs_total;
};

/* Notes what ports are called, once they run. */
void report_ports(struct report *report);
/* Notes how ports are doing: their links, what they lost, and how often they were reset. */
void report_events(struct report *report);
/* Notes what the workers have done so far; while there are graphs. */
void report_workers(struct report *report, const struct pipeline *pipeline);

/* Notes how many packets got which class so far; while there is a policy. */
void report_classes(struct report *report, const struct pipeline *pipeline);
/* Notes how the ports' offloads stand; while there are any. */
void report_offloads(struct report *report, const struct pipeline *pipeline);

/* What runs where: a line a node. */
void report_picks(const struct report *report, FILE *out);
/*
 * The nodes, the drops by reason, and the workers if they may rest; while it runs, also the time, the
 * rates and the ports.
 */
void report_table(const struct report *report, FILE *out);
/* Ports and totals. Returns whether every packet and buffer is accounted for. */
bool report_result(const struct report *report, FILE *out);
/* Microseconds that a worker slept. */
uint64_t report_waited_us(const struct report_worker *worker);
void report_json(const struct report *report, FILE *out);

#endif
