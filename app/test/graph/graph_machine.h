/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine that does random things to the registry and to graphs, and knows what must come of
 * them. Its model has no bursts, streams, ranks or sweeps: it compiles a graph by following edges
 * from node to node, and moves objects one at a time through the map of edges that results. Node
 * code tells the model where it sends an object, and asks it whether what comes was to come.
 *
 * Choices are drawn from bytes (a fuzzer's) or from a seed. It asserts nothing by itself, for it
 * runs under cmocka and under a fuzzer: machine_fault() tells what was wrong first.
 */
#pragma once

#include <hy_graph_worker.h>

#define MACHINE_NODES 200
#define MACHINE_GRAPHS 2
#define MACHINE_EDGES 14
#define MACHINE_DROPS 2
#define MACHINE_BODIES 8 /* of hy_enqueue_next(), at most */
#define MACHINE_OBJS (1u << 17)

struct machine_setup {
	unsigned int nb_nodes;   /* 6 to MACHINE_NODES, even: the second half are clones' names */
	unsigned int nb_sources; /* 1 to nb_nodes / 4; the first ones of each half */
	uint32_t nb_objs;        /* that sources make; 0: MACHINE_OBJS */
	bool bare;               /* nodes use no lanes, and fusions of chains of them come and go */
	const uint8_t *bytes;    /* to draw from; NULL: from the seed */
	size_t nb_bytes;
	uint64_t seed;
};

/* What was done and compared, over all runs of the process. */
struct machine_counts {
	uint64_t runs, steps, walks, creates, updates, replaced, refused, starved, failed_inits;
	uint64_t woken;     /* workers that took a change up while the next one was compiled */
	uint64_t too_large; /* graphs for which memory did not do */
	uint64_t objs;      /* made */
	uint64_t arrivals;  /* of objects at nodes, each compared with the model */
	uint64_t replicas, released, removed, overflown;
	uint64_t counters;    /* of statistics, compared */
	uint64_t carried;     /* objects that a live change left waiting */
	uint64_t cyclic;      /* walks of graphs with cycles */
	uint64_t wide;        /* walks of graphs with wide lanes */
	uint64_t wide_values; /* compared with the model */
	uint64_t not_brought; /* values of lanes that a node sets, which were others before */
	uint64_t offers;      /* of fusions */
	uint64_t fused_whole, fused_part; /* bursts that a fusion handled, and their objects */
	uint64_t fused_objs;
	uint64_t fused_picked;            /* calls for a second chain, with a part of a burst */
	uint64_t by_body[MACHINE_BODIES]; /* walks with each body of hy_enqueue_next() */
	unsigned int most_nodes, most_sources, least_burst, most_burst;
};
extern struct machine_counts machine_counts;

void machine_start(const struct machine_setup *setup);
/*
 * Registers every node at random, so that most graphs can be compiled; with an edge from each node
 * to the next, if all shall be in all graphs.
 */
void machine_register_all(bool chained);
/* Creates a graph of some sources, over all that their edges lead to. */
void machine_create_some(unsigned int graph);
/* Does one thing at random. */
void machine_step(void);
/* Whether there is anything left to draw from. */
bool machine_has_more(void);
/* Takes up what is pending, compares all, destroys all, and looks for what was leaked. */
void machine_stop(void);
/* The first fault, or NULL. */
const char *machine_fault(void);
