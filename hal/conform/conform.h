/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the engine share.
 *
 * suite.c     the list of suites
 * frame.c     frames: random, and adversarial
 * layout.c    packets in memory: alignment, segments, guard pages
 * side.c      a graph around one variant, and what became of each packet in it
 * compare.c   one burst through both sides
 * hold.c      whether a variant has freed or kept packets
 * outcome.c   whether each outcome of the family occurred
 * watch.c     faults and endless loops
 * run.c       a variant, from its first burst to the result
 * measure.c   what a packet costs
 */
#ifndef HY_CONFORM_PRIVATE_H
#define HY_CONFORM_PRIVATE_H

#include <hy_conform.h>
#include <hy_graph_worker.h>

#include "hal/internal/hal.h"

/* frame.c */
void conform_frame(enum hy_suite_kind kind, const struct hy_frames *captures,
	struct hy_suite_packet *packet);

/* layout.c */

/* Pages that can be touched between pages that cannot. */
struct conform_arena {
	uint8_t *pages;
	size_t page_size;
	uint32_t used; /* slots of the present burst */
};

int conform_arena_create(struct conform_arena *arena);
void conform_arena_destroy(struct conform_arena *arena);

struct conform_side;

/* Behind a packet's struct rte_mbuf: which packet of which side it is. */
struct conform_tag {
	struct conform_side *side;
	uint32_t index;
};

static inline struct conform_tag *
conform_tag(void *packet)
{
	return rte_mbuf_to_priv(packet);
}

/* A packet in one segment, as drivers make them. NULL: none left. */
struct rte_mbuf *conform_packet_plain(struct rte_mempool *pool,
	const struct hy_suite_packet *packet);
/* In a layout at random: at any address, at guard pages, in pieces. */
struct rte_mbuf *conform_packet_odd(struct rte_mempool *pool, struct conform_arena *arena,
	const struct hy_suite_packet *packet);
/* Whether the room around a packet is untouched; else says what was written there. */
bool conform_room_untouched(const struct rte_mbuf *m, char *text, size_t size);
/*
 * How far an address in a guard page is from a packet, and in words; 0: it is in none of its guard
 * pages. Packets share them: it belongs to the nearest.
 */
uintptr_t conform_guard_of(const struct conform_arena *arena, const struct rte_mbuf *m,
	uintptr_t address, char *text, size_t size);

/* side.c */

#define CONFORM_GRAPHS HY_SUITE_WORKERS /* of a side, each with a burst of its own */
#define CONFORM_NO_OUT UINT16_MAX

/* What became of a packet. */
struct conform_fate {
	uint16_t out;                 /* an edge, or one of the three behind them */
	uint16_t times;               /* that it was sent somewhere */
	uint32_t order;               /* among those that went there */
	uint32_t lanes[HY_LANES_MAX]; /* as they came there; of edges only */
};

struct conform_side {
	const struct hy_suite *suite;
	const struct hy_family *family;
	const struct hy_variant *variant;
	struct hy_suite_side is; /* what the suite knows of it */
	void *state;
	bool made; /* state is the suite's to undo */

	hy_node_id node;
	hy_node_id helpers[2 + HY_DESC_EDGES + UINT8_MAX]; /* sources and sinks, then the node */
	unsigned int nb_helpers;
	uint16_t nb_edges, nb_lanes, nb_drops, nb_counters;
	struct hy_graph *graphs[CONFORM_GRAPHS];

	/* The burst. */
	struct rte_mbuf *packets[HY_BURST_MAX];
	uint32_t (*lanes)[HY_LANES_MAX];
	struct conform_fate fate[HY_BURST_MAX];
	uint32_t sent[HY_DESC_EDGES + UINT8_MAX + 3];        /* packets that went to each out */
	uint64_t sent_in_all[HY_DESC_EDGES + UINT8_MAX + 3]; /* in all bursts */
	uint32_t in, end;  /* packets that the sources still have to bring */
	uint16_t limit[2]; /* that each source brings in a walk */
};

/* Outs behind the edges. */
static inline uint16_t
conform_out_drop(const struct conform_side *side)
{
	return side->nb_edges;
}

static inline uint16_t
conform_out_released(const struct conform_side *side)
{
	return side->nb_edges + 1;
}

static inline uint16_t
conform_out_taken(const struct conform_side *side)
{
	return side->nb_edges + 2;
}

/* "edge 0 (ip4_lookup)", "a drop", "nothing" */
const char *conform_out_text(const struct conform_side *side, uint16_t out, char *text,
	size_t size);

/* Sets up one side: state, node, graphs of these bursts. On an error nothing is left. */
int conform_side_create(struct conform_side *side, const uint16_t bursts[CONFORM_GRAPHS]);
void conform_side_destroy(struct conform_side *side);
/* Forgets the fates of n packets. */
void conform_side_begin(struct conform_side *side, uint32_t n);
/* Sends packets first to first + n - 1 through a graph, as the limits say. */
int conform_side_send(struct conform_side *side, unsigned int graph, uint32_t first, uint32_t n);
/* Notes what the node has sent elsewhere than along edges in a burst. */
void conform_side_end(struct conform_side *side);

/* All that a node counts, one number after the other; how many, what one is, and its value. */
#define CONFORM_COUNTS_MAX \
	(HY_DESC_EDGES + UINT8_MAX + HY_CORE_DROPS + HY_DESC_DROPS + HY_DESC_COUNTERS + 1)
unsigned int conform_counts(const struct conform_side *side);
const char *conform_count_text(const struct conform_side *side, unsigned int k, char *text,
	size_t size);
void conform_counts_read(const struct conform_side *side, unsigned int graph, uint64_t *values);

/* watch.c */

/* Calls what may fault or loop. Returns 0, or the signal that ended it, at what address. */
int conform_watch(int (*call)(void *arg), void *arg, int *rc, uintptr_t *address);

/* run.c */

/* A variant under trial, and its reference. */
struct conform_trial {
	const struct hy_conform_params *params;
	struct hy_conform_result *result;
	struct conform_arena arena;
	struct rte_mempool *pool;
	struct conform_side ref, cand;
	const struct hy_hal *bound_by; /* the candidate is bound, with this */
	struct hy_suite_packet scratch;
	unsigned int setup;
	uint32_t changes; /* of tables, in this set-up */
	uint32_t lanes[HY_BURST_MAX][HY_LANES_MAX];

	/* The burst under way. */
	uint32_t number; /* in this set-up, from 0 on */
	uint32_t n;
	unsigned int graph; /* of the candidate's */
	uint64_t before[2][CONFORM_COUNTS_MAX];
	unsigned int unused; /* packets in the pool, when the burst was made */
};

/* Makes both sides. Says in the result why it could not, or why the variant is left out. */
int conform_trial_create(struct conform_trial *trial, const struct hy_hal *hal, const char *family,
	const char *variant, const uint16_t bursts[CONFORM_GRAPHS]);
void conform_trial_destroy(struct conform_trial *trial);

/* Notes a failure; packet -1: of the burst as a whole. */
void conform_fail(struct conform_trial *trial, int packet, const char *format, ...)
	__rte_format_printf(3, 4);
/* Says of a fault where it hit. */
void conform_fail_signal(struct conform_trial *trial, int signal, uintptr_t address);

/* hold.c */

/* From now on a variant that frees a packet of the burst only gives up one of many references. */
void conform_hold(struct conform_trial *trial);
/* Whether it has left all of them; else notes the failure. 0 or -EILSEQ. */
int conform_hold_check(struct conform_trial *trial);
/* Packets can be freed again. */
void conform_hold_end(struct conform_trial *trial);

/* outcome.c */

/* Adds what occurred in a set-up, when its bursts are over. */
void conform_outcomes_add(struct conform_trial *trial);
/* Whether all occurred that must, in a run long enough. 0 or -ENODATA: noted in the result. */
int conform_outcomes_check(const struct hy_suite *suite, struct hy_conform_result *result);

/* compare.c: makes, sends and compares one burst. 0; -EILSEQ: see the result; or an error. */
int conform_burst_make(struct conform_trial *trial);
int conform_burst_send_ref(struct conform_trial *trial);
int conform_burst_send_cand(void *trial);
int conform_burst_compare(struct conform_trial *trial);
void conform_burst_free(struct conform_trial *trial);

#endif
