/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of fusions share: the chain a -> b -> c, a fusion of it, and traffic. With a fork, "a"
 * begins a second chain, a -> d, whose fusion can pick its objects.
 *
 * Up to four sources send to "a", and one each to "b" and "c". By the object's number and nothing
 * else, each node of the chain sends an object on, to "aside", or drops it to "bin"; "c" has several
 * targets, "t0" and so on. An object's mark tells the edges that it took, and its hops the node
 * where it ended, so runs of the same traffic can be compared. Nodes that it ends at look whether it
 * overtook one that took the same edges.
 */
#pragma once

#include <hy_fuse.h>

#include "graph_fixture.h"

#define FUSE_STAGES 3
#define FUSE_FORK FUSE_STAGES /* the stage of "d" */
#define FUSE_SOURCES 4
#define FUSE_TARGETS 4               /* of "c", at most */
#define FUSE_ENDS (FUSE_TARGETS + 2) /* and "aside" and "bin" */

struct fuse_rig {
	/* What is to be made; fuse_nodes_add() reads it. */
	unsigned int targets;  /* of "c", 1 to FUSE_TARGETS */
	uint32_t rare;         /* one of so many objects leaves the chain at each node; 0: none */
	bool lanes;            /* "a" writes a lane that "b" and "c" read */
	bool fork;             /* "a" has an edge to "d" in place of that to "aside" */
	bool cyclic;           /* the edge of "aside" leads to "a"; nothing takes it */
	uint16_t replicates;   /* that "b" declares */
	const char *lane_of;   /* of "t0" or "bin", or NULL */
	bool lane_is_set;      /* by that node, before it reads it */
	unsigned int declines; /* calls of the fusion that are to handle nothing */

	struct probe src[FUSE_SOURCES], to_b, to_c, stage[FUSE_STAGES + 1], end[FUSE_ENDS];
	uint64_t whole, parted,
		none;    /* calls of the fusion that handled all, some, and no objects */
	uint64_t forked; /* calls of the second chain's fusion that handled objects */
	uint64_t picked; /* of which the objects were part of a burst */
	uint64_t picks;  /* calls of its pick() */
	hy_node_id id[FUSE_STAGES + 1];
};

extern struct fuse_rig rig;
extern const struct hy_fuse fuse_abc;      /* the chain's */
extern const struct hy_fuse fuse_ad;       /* the second one's */
extern const char *const fuse_patterns[1]; /* the sources */

/* What the chain's nodes run; and what "b" may run instead, which does the same. */
extern hy_node_process_t *const fuse_process[FUSE_STAGES];
hy_node_process_t fuse_other_b;

/* Registers the nodes. The rig's counters start anew. */
void fuse_nodes_add(void);

/* Numbers objects from 0 again; none is under way. */
void fuse_objs_anew(void);

/* Creates a graph of them. */
#define FUSE_GRAPH(...) \
	GRAPH("g", .patterns = fuse_patterns, .nb_patterns = RTE_DIM(fuse_patterns), \
		.drop_node = "bin", .lanes = { "word" }, __VA_ARGS__)

/* Walks once, with traffic by the seed. */
void fuse_walk(struct hy_graph *graph, uint64_t *seed);
/* Walks once, with n objects for "a". */
void fuse_walk_with(struct hy_graph *graph, uint32_t n);

/* Whether walks with objects for "a" call the fusion; the graph must say the same. */
bool fuse_runs(struct hy_graph *graph);

/* Withdraws the fusions, if they are offered, and what GRAPH_TEST() does after a test. */
int fuse_teardown(void **state);
#define FUSE_TEST(f) cmocka_unit_test_setup_teardown(f, graph_setup, fuse_teardown)
