/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk benchmark: the same topology, built of our nodes and of rte_graph's. Objects are no
 * pointers but numbers: their low 16 bits say which edge they take where a node spreads.
 */
#ifndef HY_BENCH_WALK_H
#define HY_BENCH_WALK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bench.h"

#define TOPO_NODES_MAX 32
#define TOPO_EDGES_MAX 16
#define OBJECTS_FEW 1024   /* different ones, in turn: where none chooses an edge, in L1 */
#define OBJECTS_MANY 65536 /* where objects choose: more than a branch predictor learns */
#define WALK_BURST_MAX 256
#define WALK_STREAM_MAX 1024 /* objects that one node is given in a walk */
#define WALKS 100            /* in a contender's run */

/* What becomes of objects at a node. */
enum role {
	SOURCE, /* makes them, for each edge its percentage of a burst */
	PASS,   /* sends all along its one edge, by the topology's way to move them */
	SPREAD, /* sends each along the edge that it names */
	SPLIT,  /* sends the first so many percent along the first edge, and so on */
	SINK,   /* counts and sums them */
};

/* How PASS moves a batch. */
enum move { MOVE_SWAP, MOVE_COPY, MOVE_ASSIGN };

struct topo_node {
	enum role role;
	unsigned int nb_edges;
	unsigned int edges[TOPO_EDGES_MAX];   /* indexes of nodes, above its own */
	unsigned int percent[TOPO_EDGES_MAX]; /* of SOURCE and SPLIT */
};

struct topology {
	char name[48];
	enum unit unit;
	enum move move;
	unsigned int burst;       /* objects that a source makes a walk, all percent of them */
	unsigned int join;        /* the node whose calls are counted; 0 for none */
	unsigned int plain_moves; /* times that the plain contender moves a batch */
	bool plain_halves;        /* and it halves it each time */
	unsigned int nb_nodes;    /* in an order in which objects can take them */
	struct topo_node nodes[TOPO_NODES_MAX];
	unsigned int nb_objects; /* different ones, a power of two */
	alignas(64) void *objects[OBJECTS_MANY + WALK_BURST_MAX]; /* the last are the first again */
};

/* What a node keeps of one contender's graph. */
struct walk_node {
	const struct topo_node *topo;
	unsigned int at;     /* of a source: the next object to make */
	uint64_t count, sum; /* of a sink: what it has seen */
};

/* What contenders have in common. The first member of each one's own. */
struct walked {
	const struct topology *topology;
	uint64_t walks;
	bool totals; /* only the sum over all sinks can be right */
	struct walk_node nodes[TOPO_NODES_MAX];
};

/* What a node's function is given: the context of a node, in both. */
struct walk_ctx {
	const struct topology *topology;
	struct walk_node *node;
};

void walked_init(struct walked *w, const struct topology *t);

/* Topologies. They need not be initialised before. */
void topo_chain(struct topology *t, const char *name, unsigned int nodes, unsigned int burst);
void topo_mix(struct topology *t, unsigned int burst, unsigned int edges, unsigned int first);
void topo_diamond(struct topology *t, const char *name, unsigned int sources, unsigned int burst,
	const unsigned int depths[], unsigned int arms);
void topo_halves(struct topology *t, unsigned int burst);
/* The seven of DPDK 22.11's app/test/test_graph_perf.c. Returns false when i is above. */
bool topo_upstream(struct topology *t, unsigned int i);

/* Objects that all sources make in a walk. */
unsigned int topo_made(const struct topology *t);
/* Whether nodes have edges to choose from, which rte_graph's have two ways to do. */
bool topo_chooses(const struct topology *t);

/* How rte_graph's nodes choose edges. */
enum rte_way {
	RTE_X4,   /* SPREAD: lib/node's four-way speculation. SPLIT: upstream's test's x4, x2, x1 */
	RTE_NEXT, /* SPREAD: rte_node_enqueue_next(). SPLIT: rte_node_enqueue() of a part */
};

/* Contenders of a topology: create() gives run()'s argument, or NULL. */
void *walk_ours_create(const struct topology *topology, uint16_t sample_every);
void *walk_rte_create(const struct topology *topology, enum rte_way way, bool stats);
void *walk_plain_create(const struct topology *topology);
uint64_t walk_ours_run(void *walker);
uint64_t walk_rte_run(void *walker);
uint64_t walk_plain_run(void *walker);
/* Whether every sink saw what it must after so many walks, by going through them once more. */
bool walk_check(void *walker);
/* Calls of the topology's join a walk. */
double walk_ours_calls(void *walker);
double walk_rte_calls(void *walker);
/* walk_check(), and that the join ran on all that meet there at once. */
bool walk_ours_joined(void *walker);
void walk_ours_destroy(void *walker);
void walk_rte_destroy(void *walker);
void walk_plain_destroy(void *walker);

/* Other parts of the walk benchmark. */
void bench_create(void);

/* The common work of all contenders, so cheap that the graph is what is measured. */

/* A pointer at a time, as applications do that have no graph; compilers would make it memcpy(). */
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
typedef void(make_objects_t)(const struct walk_ctx *source, void **objs, unsigned int n);
/* Counts and sums n objects. */
typedef void(see_objects_t)(struct walk_node *sink, void *const *objs, unsigned int n);
extern make_objects_t *make_objects;
extern see_objects_t *see_objects;

/* The edge that an object names. */
static inline uint16_t
edge_of(const void *obj)
{
	return (uint16_t)(uintptr_t)obj;
}

/* Objects that run() of any contender reports. */
static inline uint64_t
walked_done(struct walked *w, unsigned int walks)
{
	w->walks += walks;
	return w->topology->unit == CYCLES_OBJECT ? (uint64_t)walks * topo_made(w->topology)
						  : walks;
}

#endif
