/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A virtual switch, for the files that implement it:
 *
 * datapath.c            creation, start, destruction
 * datapath_lists.c      lists of operations under numbers, and what their rules count
 * datapath_collect.c    lists that no megaflow names any more
 * datapath_nodes.c      nodes
 * datapath_poll.c       timeouts, changes of rules, the file read again
 * datapath_follow.c     megaflows follow the rules
 * datapath_caches.c     modes of caches by their names
 * datapath_report.c     what is counted, as a table and as JSON
 * datapath_text.c       rules and megaflows as text
 * datapath_telemetry.c  telemetry's questions, answered by the control thread
 * datapath_match.c      megaflows as rules for hardware
 * datapath_offload.c    megaflows in the hardware of ports
 * datapath_offload_ports.c  those ports
 *
 * Two threads use it: the control thread, and the flow cache's, which asks the rules. What both write is
 * under a lock.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <hy_datapath.h>
#include <hy_flow_ops.h>
#include <hy_policy.h>
#include <hy_telemetry.h>

#define DATAPATH_NAME "vswitch"

/* A list, for all megaflows that have these operations by these rules. */
struct datapath_list {
	struct datapath_list *next; /* of the same bucket */
	uint32_t hash;
	uint32_t round; /* the last in which it was needed */
	uint32_t nb_ops, nb_rules;
	uint16_t number;
	uint64_t packets, bytes; /* that its rules have counted */
	bool partial;            /* some answers that it was for had rules that are not listed */
	uint64_t turn;           /* of the revalidation that `touch` is of */
	enum hy_vswitch_touch touch;
	struct hy_vswitch_trail trail; /* of all answers that it was for */
	const uint64_t *rules;
	struct hy_flow_op ops[];
};

#define DATAPATH_BUCKETS 16384u /* a power of two */

/* How lists are used. */
struct datapath_counts {
	uint32_t lists;
	uint64_t uncounted; /* answers by a list without rules, as there were too many */
	uint64_t refused;   /* answers without a list: packets are dropped */
};

/* Lists by what they are, and by their number. */
struct datapath_lists {
	pthread_mutex_t lock;
	struct hy_flow_ops *ops;
	struct datapath_counts counts;
	uint32_t round; /* of collection */
	bool wanting;   /* some answers had no list of their own since rules were asked anew */
	struct datapath_list *bucket[DATAPATH_BUCKETS];
	struct datapath_list *by_number[HY_FLOW_OPS_MOST];
};

enum datapath_stage {
	DATAPATH_IDLE,
	DATAPATH_DRAINS, /* answers that were on their way are installed, or taken */
	DATAPATH_MARKS,  /* megaflows say which lists are needed */
	DATAPATH_LEAVES, /* workers leave what they have found */
};

/* A round of collection. */
struct datapath_collection {
	enum datapath_stage stage;
	uint64_t sent[RTE_MAX_LCORE]; /* packets of each worker that have to be back */
	uint32_t cursor;
	uint64_t token;
	uint64_t next_ms; /* not before */
};

struct hy_datapath {
	const char *path;
	uint32_t max_flows;
	struct hy_flows_caches caches;
	unsigned int nb_edges;                /* of flow_apply that lead to ports, in their order */
	uint16_t edge_port[HY_VSWITCH_PORTS]; /* the ethdev of each, */
	uint16_t edge_number[HY_VSWITCH_PORTS]; /* and its OpenFlow number */
	struct hy_vswitch *rules;
	struct hy_flow_table *table;
	struct datapath_lists lists;
	struct datapath_collection collection;
	const struct hy_workers *workers;
	struct hy_vswitch_answer answer;  /* of the rules, to one packet at a time */
	struct datapath_offload *offload; /* NULL: none */
	uint64_t now_ms, counted_ms;
	uint64_t revalidations, kept, asked; /* and megaflows in these */
	bool behind; /* rules have changed, and megaflows do not yet follow them */
	struct hy_vswitch_changes changes; /* that they follow just now */
	struct {
		uint32_t before, after; /* rules */
	} reload;
};

/* Milliseconds by the clock that the flow cache's thread uses. */
uint64_t datapath_now(void);

/* datapath.c: what the rules say of a packet, as the flow cache asks. For one at a time. */
hy_flows_rules_t datapath_ask;

/* datapath_lists.c */
int datapath_lists_create(struct datapath_lists *lists, const struct hy_workers *workers);
void datapath_lists_destroy(struct datapath_lists *lists);
/*
 * Finds or makes the list of an answer. Returns 0; -ENOSPC its rules will not count, or, with *number
 * DATAPATH_NO_LIST, packets are to be dropped.
 */
#define DATAPATH_NO_LIST UINT32_MAX
int datapath_list_get(struct datapath_lists *lists, const struct hy_vswitch_answer *answer,
	uint32_t *number);
/* Has rules count what packets did since the last call. */
void datapath_lists_count(struct datapath_lists *lists, struct hy_vswitch *rules, uint64_t now_ms);
struct datapath_counts datapath_lists_counts(struct datapath_lists *lists);
/* Notes that a list is needed. */
void datapath_list_mark(struct datapath_lists *lists, uint16_t number);
/* Whether a list has no operations: its packets are dropped. */
bool datapath_list_drops(struct datapath_lists *lists, uint16_t number);
/* Has the rules of a list count packets that no worker saw. */
void datapath_list_credit(struct datapath_lists *lists, struct hy_vswitch *rules, uint16_t number,
	uint64_t packets, uint64_t bytes, uint64_t now_ms);
/* Deletes what was not needed in this round. Returns how many. */
uint32_t datapath_lists_sweep(struct datapath_lists *lists, struct hy_vswitch *rules,
	uint64_t now_ms);

/* datapath_collect.c: a step of collection. */
void datapath_collect(struct hy_datapath *datapath);

/* datapath_follow.c: has megaflows follow the rules: all of them, or those that changes can have touched. */
void datapath_revalidate(struct hy_datapath *datapath);
void datapath_follow(struct hy_datapath *datapath);

/* datapath_report.c: what all nodes of a worker did; zeros without a graph. */
struct datapath_work {
	uint64_t received; /* packets that came from ports */
	uint64_t cycles;   /* TSC cycles on packets */
};

struct datapath_work datapath_work(const struct hy_worker *worker);

/* datapath_match.c: a rule for packets of a megaflow. tunnels: the cache's. */
enum datapath_match {
	DATAPATH_MATCH_NONE,  /* There is none. */
	DATAPATH_MATCH_WIDER, /* It matches other packets, too. */
	DATAPATH_MATCH_SAME,  /* It matches no others. */
};
enum datapath_match datapath_match(const struct hy_flows_key *key, const struct hy_flows_key *mask,
	bool tunnels, struct hy_flow_match *match);

/* Has a mask look at whole fields and prefixes, where it looks at bits of them. */
void datapath_mask_round(struct hy_flows_key *mask);

/* datapath_offload.c: all may be called without an offload. Looks at megaflows and counters by and by. */
void datapath_offload_poll(struct hy_datapath *datapath);
/* After megaflows have changed: hardware drops nothing any more that they do not drop. */
void datapath_offload_follow(struct hy_datapath *datapath);
/* Has rules count what hardware is known to have dropped. */
void datapath_offload_count(struct hy_datapath *datapath);
/* Notes which lists are needed. */
void datapath_offload_mark(struct hy_datapath *datapath);
/* datapath_offload_ports.c: asks hardware first. */
void datapath_offload_read(struct hy_datapath *datapath);
void datapath_offload_end(struct datapath_offload *offload);

/* datapath_caches.c: the name of a mode, or "other". */
const char *datapath_caches_name(const struct hy_flows_caches *caches);

/* Answers to telemetry: return 0, or write why not. The text is the command's own. */
typedef int(datapath_tell_t)(struct hy_datapath *datapath, char *text, struct rte_tel_data *data,
	char *error);
datapath_tell_t datapath_rules_tell, datapath_dump_tell, datapath_trace_tell;

/* Telemetry is answered for a switch from now on, or no more; a question, if there is one. */
void datapath_show(struct hy_datapath *datapath);
void datapath_hide(const struct hy_datapath *datapath);
void datapath_answer(struct hy_datapath *datapath);
