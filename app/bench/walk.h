/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk benchmark: the same topology, built of our nodes and of rte_graph's. Objects are small
 * integers; where a node has several edges, an object's bits say which one it takes there.
 */
#ifndef HY_BENCH_WALK_H
#define HY_BENCH_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TOPO_NODES_MAX 32
#define TOPO_EDGES_MAX 16
#define OBJECTS 4096 /* different ones, in turn */
#define WALK_BURST_MAX 256

/* What becomes of objects at a node. */
enum role { SOURCE, PASS, SPREAD, SINK };

struct topo_node {
	enum role role;
	unsigned int nb_edges;
	unsigned int edges[TOPO_EDGES_MAX]; /* indexes of nodes */
};

struct topology {
	const char *name;
	unsigned int burst; /* objects that a source makes a walk */
	unsigned int nb_nodes;
	struct topo_node nodes[TOPO_NODES_MAX];
	uint8_t spread[OBJECTS]; /* modulo the number of edges, where an object goes from a node */
};

/* Objects in turn, a burst more than there are different ones; and the sum of those before each. */
extern void *walk_objects[OBJECTS + WALK_BURST_MAX];
extern uint64_t walk_sums[OBJECTS + WALK_BURST_MAX + 1];
void walk_objects_make(void);

/* What sources have made, and sinks have seen. */
struct tally {
	uint64_t made, made_sum;
	uint64_t seen, seen_sum;
};

/* What a node knows of its graph: its context, in both. */
struct walk_ctx {
	struct walker *walker;
	unsigned int edge_mask; /* edges - 1: a node of role SPREAD has a power of two */
};

/* How rte_graph's nodes spread: by lib/node's four-way speculation, or rte_node_enqueue_next(). */
enum rte_spread { RTE_SPECULATE, RTE_ENQUEUE_NEXT };

/* A built graph; arg of the contenders' run(), which walks it a hundred times. */
struct walker;

struct walker *walk_ours_create(const struct topology *topology, uint16_t sample_every);
struct walker *walk_rte_create(const struct topology *topology, enum rte_spread spread);
uint64_t walk_ours_run(void *walker);
uint64_t walk_rte_run(void *walker);
bool walk_ours_check(void *walker);
bool walk_rte_check(void *walker);
void walk_ours_destroy(struct walker *walker);
void walk_rte_destroy(struct walker *walker);

#define WALKS 100

/* Makes n objects, at most WALK_BURST_MAX, so cheaply that the walk is what is measured. */
static inline void
make_objects(struct tally *t, void **objs, unsigned int n)
{
	const unsigned int first = t->made % OBJECTS;

	memcpy(objs, &walk_objects[first], n * sizeof(*objs));
	t->made_sum += walk_sums[first + n] - walk_sums[first];
	t->made += n;
}

static inline void
see_objects(struct tally *t, void **objs, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += (uintptr_t)objs[i];
	t->seen += n;
	t->seen_sum += sum;
}

static inline bool
tally_right(const struct tally *t)
{
	return t->made == t->seen && t->made_sum == t->seen_sum;
}

#endif
