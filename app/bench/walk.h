/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk benchmark: the same topologies, of Halyard's nodes and of librte_graph's. Objects are
 * not pointers but numbers, whose low 16 bits name the edge that they take at a node that spreads.
 */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bench.h"

#define TOPO_NODES_MAX 72
#define TOPO_EDGES_MAX 64
#define OBJECTS_FEW 1024   /* different ones, where none chooses an edge; fit in L1 */
#define OBJECTS_MANY 65536 /* where objects choose; more than a branch predictor learns */
#define WALK_BURST_MAX 256
#define WALK_STREAM_MAX 1024 /* most objects that a node gets in a walk */
#define WALKS 100            /* in a contender's run */

/* What a node does with objects. */
enum role {
	SOURCE, /* makes them, for each edge its percentage of a burst */
	PASS,   /* sends a run along each edge, by the topology's way to move them */
	SPREAD, /* sends each along the edge that it names */
	SPLIT,  /* sends the first so many percent along the first edge, and so on */
	SINK,   /* counts and sums them */
};

/* How PASS moves objects: by swapping streams (one edge only), in groups, or one at a time. */
enum move { MOVE_SWAP, MOVE_COPY, MOVE_ASSIGN };

struct topo_node {
	enum role role;
	unsigned int nb_edges;
	unsigned int edges[TOPO_EDGES_MAX];   /* indexes of later nodes */
	unsigned int percent[TOPO_EDGES_MAX]; /* of SOURCE, PASS and SPLIT */
};

struct topology {
	char name[48];
	enum unit unit;
	enum move move;
	unsigned int group;       /* objects that MOVE_COPY copies at once */
	unsigned int burst;       /* objects that a source makes per walk, for 100 percent */
	unsigned int join;        /* the node whose calls are counted; 0 for none */
	unsigned int plain_moves; /* times that the plain contender moves a batch */
	bool plain_halves;        /* whether it halves the batch each time */
	unsigned int plain_parts; /* arrays that hold the objects at the end */
	unsigned int nb_nodes;    /* in topological order */
	struct topo_node nodes[TOPO_NODES_MAX];
	unsigned int nb_objects; /* different ones, a power of two */
	alignas(64) void *objects[OBJECTS_MANY + WALK_BURST_MAX]; /* the last are the first again */
};

/* The state of a node in a contender's graph. */
struct walk_node {
	const struct topo_node *topo;
	unsigned int at;     /* of a source: the next object to make */
	uint64_t count, sum; /* of a sink: what it has seen */
};

/* What all contenders share; the first member of their own structures. */
struct walked {
	const struct topology *topology;
	uint64_t walks;
	bool totals; /* only the sum over all sinks is checked */
	struct walk_node nodes[TOPO_NODES_MAX];
};

/* The context of a node, in both libraries. */
struct walk_ctx {
	const struct topology *topology;
	struct walk_node *node;
};

void walked_init(struct walked *w, const struct topology *t);

/* Build topologies, which need not be initialised. */
void topo_chain(struct topology *t, const char *name, unsigned int nodes, unsigned int burst);
void topo_mix(struct topology *t, const char *name, unsigned int burst, unsigned int edges,
	unsigned int first);
void topo_diamond(struct topology *t, const char *name, unsigned int sources, unsigned int burst,
	const unsigned int depths[], unsigned int arms);
void topo_halves(struct topology *t, const char *name, unsigned int burst);
void topo_batches(struct topology *t, const char *name, unsigned int burst, unsigned int batches);
/* The seven of DPDK 22.11's app/test/test_graph_perf.c. Returns false when i is above. */
bool topo_upstream(struct topology *t, unsigned int i);

/* Objects that all sources make per walk. */
unsigned int topo_made(const struct topology *t);
/* Returns whether nodes choose among edges, which librte_graph can do in two ways. */
bool topo_chooses(const struct topology *t);

/* How rte_graph's nodes choose edges. */
enum rte_way {
	RTE_X4,   /* SPREAD: lib/node's four-way speculation. SPLIT: upstream's test's x4, x2, x1 */
	RTE_NEXT, /* SPREAD: rte_node_enqueue_next(). SPLIT: rte_node_enqueue() of a part */
};

/*
 * Contenders for a topology. create() returns the argument of the other functions, or NULL. The plain
 * one is freed with free(3).
 */
void *walk_ours_create(const struct topology *topology, uint16_t sample_every);
void *walk_rte_create(const struct topology *topology, enum rte_way way, bool stats);
void *walk_plain_create(const struct topology *topology);
struct hy_graph *walk_ours_graph(void *walker);
uint64_t walk_ours_run(void *walker);
uint64_t walk_rte_run(void *walker);
uint64_t walk_plain_run(void *walker);
/* Returns whether every sink saw what it must, by a simulation of all walks. */
bool walk_check(void *walker);
/* Calls per walk of the topology's join. */
double walk_ours_calls(void *walker);
double walk_rte_calls(void *walker);
/* Walks WALKS times with an rte_graph_walk() without statistics. */
struct rte_graph;
void walk_rte_nostats(struct rte_graph *graph);
/* walk_check(), and whether the join ran once per walk on all objects that meet there. */
bool walk_ours_joined(void *walker);
void walk_ours_destroy(void *walker);
void walk_rte_destroy(void *walker);

/* Other parts of the walk benchmark. */
void bench_create(void);

/* How many of n objects a node sends along an edge, if `at` of them have gone along earlier ones. */
static inline unsigned int
topo_part(const struct topo_node *node, unsigned int edge, unsigned int n, unsigned int at)
{
	return edge + 1 < node->nb_edges ? node->percent[edge] * n / 100 : n - at;
}

/* The work of all contenders, cheap enough to measure the graph. */

/*
 * Copies a pointer at a time, as applications without a graph do; keeps compilers from using
 * memcpy().
 */
static inline void
assign_objects(void **to, void **from, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		void *obj = from[i];

		__asm__ volatile("" : "+r"(obj));
		to[i] = obj;
	}
}

/* Makes n objects, at most WALK_BURST_MAX. */
void make_objects(const struct walk_ctx *source, void **objs, unsigned int n);
/* Counts and sums n objects. */
void see_objects(struct walk_node *sink, void *const *objs, unsigned int n);

/* The edge that an object names. */
static inline uint16_t
edge_of(const void *obj)
{
	return (uint16_t)(uintptr_t)obj;
}

/* The return value of run() of any contender. */
static inline uint64_t
walked_done(struct walked *w, unsigned int walks)
{
	w->walks += walks;
	return w->topology->unit == CYCLES_OBJECT ? (uint64_t)walks * topo_made(w->topology)
						  : walks;
}
