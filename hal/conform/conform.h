/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the conformance engine share.
 *
 * suite.c     the list of suites
 * frame.c     random and adversarial frames
 * layout.c    packets in memory: alignment, segments, guard pages
 * side.c      a graph around one variant, or a chain, and the fate of each packet in it
 * clones.c    the nodes under test of a side: a family's, or a chain's
 * compare.c   one burst through both sides
 * hold.c      detects packets that a variant freed or kept
 * outcome.c   checks that each outcome of the family occurred
 * witness.c   calls a fusion, and compares what it did with what the chain's nodes do
 * watch.c     catches faults and endless loops
 * run.c       the run of a variant
 * measure.c   the cost of a packet
 */
#pragma once

#include <hy_conform.h>
#include <hy_graph_worker.h>

#include "hal/internal/hal.h"

/* frame.c */
void conform_frame(enum hy_suite_kind kind, const struct hy_frames *captures,
	struct hy_suite_packet *packet);

/* layout.c */

/* Accessible pages, each between two inaccessible ones. */
struct conform_arena {
	uint8_t *pages;
	size_t page_size;
	uint32_t used; /* slots, by the current burst */
};

int conform_arena_create(struct conform_arena *arena);
void conform_arena_destroy(struct conform_arena *arena);

struct conform_side;

/* Private data of an mbuf: the side and index of the packet. */
struct conform_tag {
	struct conform_side *side;
	uint32_t index;
	uint16_t begin, end; /* of each segment's data, as the variant under test got it */
};

static inline struct conform_tag *
conform_tag(void *packet)
{
	return rte_mbuf_to_priv(packet);
}

/* A packet in one segment, as drivers make them. NULL: the pool is empty. */
struct rte_mbuf *conform_packet_plain(struct rte_mempool *pool,
	const struct hy_suite_packet *packet);
/* A packet in a random layout: at any address, at guard pages; unless whole, in several segments. */
struct rte_mbuf *conform_packet_odd(struct rte_mempool *pool, struct conform_arena *arena,
	bool whole, const struct hy_suite_packet *packet);
/* Whether the room around a packet is unchanged; if not, describes the change. */
bool conform_room_untouched(const struct rte_mbuf *m, char *text, size_t size);
/*
 * The distance of an address in a guard page from a packet, with a description; 0: it is in none of
 * the packet's guard pages. Packets share guard pages: the address belongs to the nearest packet.
 */
uintptr_t conform_guard_of(const struct conform_arena *arena, const struct rte_mbuf *m,
	uintptr_t address, char *text, size_t size);

/* side.c */

#define CONFORM_GRAPHS HY_SUITE_WORKERS /* of a side, each with a burst of its own */

/* Where packets go: along an edge, or to one of these. */
#define CONFORM_EDGES (HY_FUSE_MAX * HY_DESC_EDGES + UINT8_MAX)
enum {
	CONFORM_DROP = CONFORM_EDGES,
	CONFORM_RELEASED,
	CONFORM_TAKEN,
	CONFORM_OUTS,
	CONFORM_NO_OUT
};

/* The fate of a packet. */
struct conform_fate {
	uint16_t out;                 /* an edge, or a CONFORM_ */
	uint16_t times;               /* how often it was sent */
	uint32_t order;               /* among the packets of this out */
	uint32_t lanes[HY_LANES_MAX]; /* on arrival; of edges only */
	uint8_t wide[HY_WIDE_MAX][HY_WIDE_BYTES];
};

#define CONFORM_LAST UINT16_MAX /* in place of an edge: the node is the last one */

/* A node under test: the only one of its side, or one of a chain. */
struct conform_node {
	const struct hy_family *family;
	const struct hy_variant *variant;
	uint16_t onward;             /* the edge to the chain's next node */
	char name[2 * HY_NAME_SIZE]; /* a longer one than nodes may have is refused */
	hy_node_id id;
	uint16_t first_out;   /* its edges are outs from here on, but for the one onward */
	uint16_t nb_declared; /* edges of the family; those behind are added */
	uint16_t nb_edges, nb_drops, nb_counters;
};

struct conform_side {
	const struct hy_suite *suite;
	struct conform_node nodes[HY_FUSE_MAX];
	unsigned int nb_nodes;
	bool fused;              /* a fusion runs its nodes */
	struct hy_suite_side is; /* for the suite */
	void *state;
	bool made; /* the suite must tear state down */

	/* Two sources, the sinks of edges and of drops, and the nodes under test. */
	hy_node_id helpers[3 + CONFORM_EDGES + HY_FUSE_MAX];
	unsigned int nb_helpers;
	/* Edges to sinks; the last node's are the first. Lanes are those of the first node. */
	uint16_t nb_edges, nb_lanes, nb_wide;
	struct hy_graph *graphs[CONFORM_GRAPHS];

	/* The current burst. */
	struct rte_mbuf *packets[HY_BURST_MAX];
	uint32_t (*lanes)[HY_LANES_MAX];
	uint8_t (*wide)[HY_WIDE_MAX][HY_WIDE_BYTES];
	struct conform_fate fate[HY_BURST_MAX];
	uint32_t sent[CONFORM_OUTS];        /* packets to each out */
	uint64_t sent_in_all[CONFORM_OUTS]; /* in all bursts before */
	uint32_t in, end;                   /* packets that the sources have not sent yet */
	uint16_t limit[2];                  /* packets that each source sends in a walk */
};

static inline struct conform_node *
conform_last(struct conform_side *side)
{
	return &side->nodes[side->nb_nodes - 1];
}

/* Whether the packets that take an out have passed all of the chain. */
static inline bool
conform_passes(struct conform_side *side, uint16_t out)
{
	return out < conform_last(side)->nb_edges;
}

/* clones.c */

/* "edge 0 (ip4_lookup)", "a drop", "nothing" */
const char *conform_out_text(const struct conform_side *side, uint16_t out, char *text,
	size_t size);
/* Counts what the families declare, and numbers the outs. Before conform_nodes_create(). */
void conform_nodes_read(struct conform_side *side);
/* Creates the nodes under test; add makes the sink of an out, and writes its name. */
int conform_nodes_create(struct conform_side *side,
	int (*add)(struct conform_side *side, uint16_t out, char *name));

/* side.c */

/* Sets up one side: state, node, and graphs with these burst sizes. Undoes all on an error. */
int conform_side_create(struct conform_side *side, const uint16_t bursts[CONFORM_GRAPHS]);
void conform_side_destroy(struct conform_side *side);
/* Begins a burst: clears the fates of n packets. */
void conform_side_begin(struct conform_side *side, uint32_t n);
/* Sends packets first to first + n - 1 through a graph, within the limits. */
int conform_side_send(struct conform_side *side, unsigned int graph, uint32_t first, uint32_t n);
/* Ends a burst: records the packets that the node sent other than along edges. */
void conform_side_end(struct conform_side *side);

/* clones.c: all counters of the nodes as a list: their number, their names, and their values. */
#define CONFORM_COUNTS_MAX \
	(CONFORM_EDGES + HY_FUSE_MAX * (HY_CORE_DROPS + HY_DESC_DROPS + HY_DESC_COUNTERS + 1))
unsigned int conform_counts(const struct conform_side *side);
const char *conform_count_text(const struct conform_side *side, unsigned int k, char *text,
	size_t size);
void conform_counts_read(const struct conform_side *side, unsigned int graph, uint64_t *values);
/* How a count is compared, as its family's suite says. */
enum conform_counter { CONFORM_COMPARED, CONFORM_SUMMED, CONFORM_OWN };
enum conform_counter conform_counter_of(const struct conform_side *side, unsigned int k);

/* watch.c */

/*
 * Calls a function that may fault or loop. Returns 0, or the signal that ended it, and its address.
 */
int conform_watch(int (*call)(void *arg), void *arg, int *rc, uintptr_t *address);

/* run.c */

/* A variant under test, and its reference. */
struct conform_trial {
	const struct hy_conform_params *params;
	struct hy_conform_result *result;
	struct conform_arena arena;
	struct rte_mempool *pool;
	struct conform_side ref, cand;
	const struct hy_hal *bound_by;   /* the HAL with which candidates were bound */
	unsigned int bound;              /* which of the candidate's nodes, as bits */
	const struct hy_fusion *fusion;  /* under test, or NULL */
	struct conform_witness *witness; /* of its calls */
	struct hy_suite_packet scratch;
	unsigned int setup;
	bool brief;       /* too few bursts for all that is rare to occur */
	uint32_t changes; /* of tables, in this set-up */
	uint32_t lanes[HY_BURST_MAX][HY_LANES_MAX];
	uint8_t wide[HY_BURST_MAX][HY_WIDE_MAX][HY_WIDE_BYTES];

	/* The current burst. */
	uint32_t number; /* in this set-up, from 0 on */
	uint32_t n;
	unsigned int graph; /* the candidate's */
	uint64_t before[2][CONFORM_COUNTS_MAX];
	unsigned int unused; /* packets in the pool when the burst was ready */
	int fused_rc;        /* -EILSEQ: a call of the fusion was wrong; see the result */
};

/* Creates both sides. On an error, the result says why it failed or why the variant is skipped. */
int conform_trial_create(struct conform_trial *trial, const struct hy_hal *hal, const char *family,
	const char *variant, const uint16_t bursts[CONFORM_GRAPHS], bool compared);
void conform_trial_destroy(struct conform_trial *trial);

/* Records a failure; packet -1: of the burst as a whole. Returns -EILSEQ. */
int conform_fail(struct conform_trial *trial, int packet, const char *format, ...)
	__rte_format_printf(3, 4);
/* Records a fault, and the packet at whose guard page it occurred. */
void conform_fail_signal(struct conform_trial *trial, int signal, uintptr_t address);

/* witness.c */

/* What a node of a chain runs that no other fusion knows: the variant's own function. */
hy_node_process_t *conform_fuse_process(unsigned int at);
/* Offers the fusion under test to the next graph; compared: calls it by way of the comparison. */
int conform_fuse_begin(struct conform_trial *trial, bool compared);
void conform_fuse_end(struct conform_trial *trial);
/* Whether the graphs of the side under test run the fusion. */
bool conform_is_fused(const struct conform_trial *trial);
/* Checks that it ran, and in each way in a run that is long enough. 0; -ENODATA: see the result. */
int conform_fuse_check(const struct hy_fusion *fusion, struct hy_conform_result *result);

/* hold.c */

/* From now on, a variant that frees a packet of the burst only drops one of many references. */
void conform_hold(struct conform_trial *trial);
/* Whether the variant has kept all references. 0, or -EILSEQ as of conform_fail(). */
int conform_hold_check(struct conform_trial *trial);
/* Makes packets free-able again. */
void conform_hold_end(struct conform_trial *trial);

/* outcome.c */

/* Adds the outcomes of a set-up, when its bursts are over. */
void conform_outcomes_add(struct conform_trial *trial);
/* Checks that a set-up of a long run had what its suite wants. 0; -ENODATA: see the result. */
int conform_reached_check(const struct conform_trial *trial);
/* Checks that a run that is long enough had all mandatory outcomes. 0; -ENODATA: see the result. */
int conform_outcomes_check(const struct hy_suite *suite, struct hy_conform_result *result);

/* compare.c: makes, sends and compares a burst. 0; -EILSEQ: see the result; or an error. */
int conform_burst_make(struct conform_trial *trial);
/*
 * The packets of a burst: of any kind and layout, or typical ones as drivers make them. To a chain, some
 * bursts bring mostly packets that pass and have one segment: a single other one may end the fusion's
 * work on the burst.
 */
int conform_packets_make(struct conform_trial *trial, bool typical);
int conform_burst_send_ref(struct conform_trial *trial);
int conform_burst_send_cand(void *trial);
int conform_burst_compare(struct conform_trial *trial);
void conform_burst_free(struct conform_trial *trial);
