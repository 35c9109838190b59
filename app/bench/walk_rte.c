/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk benchmark's nodes, for the system DPDK's librte_graph. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_graph.h>
#include <rte_graph_worker.h>

#include "walk.h"

struct walker {
	const struct topology *topology;
	rte_graph_t id;
	struct rte_graph *graph;
	struct tally tally;
};

/* rte_graph hands init() nothing; one graph is made at a time, and nodes find it by this. */
static struct walker *creating;

static int
init(const struct rte_graph *graph, struct rte_node *node)
{
	const struct walk_ctx ctx = { creating, node->nb_edges - 1u };

	RTE_SET_USED(graph);
	static_assert(sizeof(ctx) <= sizeof(node->ctx), "rte_graph's context has 16 bytes");
	memcpy(node->ctx, &ctx, sizeof(ctx));
	return 0;
}

static inline const struct walk_ctx *
ctx_of(const struct rte_node *node)
{
	return (const struct walk_ctx *)(uintptr_t)node->ctx;
}

static uint16_t
source(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	struct walker *w = ctx_of(node)->walker;

	RTE_SET_USED(objs);
	n = (uint16_t)w->topology->burst;
	make_objects(&w->tally, node->objs, n);
	node->idx = n;
	if (n > 0)
		rte_node_next_stream_move(graph, node, 0);
	return n;
}

static uint16_t
pass(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

/* The idiom of lib/node: guess that four go where the last ones went, mend where they do not. */
static uint16_t
speculate(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	const uint8_t *edges = ctx_of(node)->walker->topology->spread;
	const unsigned int mask = ctx_of(node)->edge_mask;
	uint16_t held = 0, last_spec = 0, guess = 0, left = n;
	void **from = objs, **to = rte_node_next_stream_get(graph, node, guess, n);

	while (left >= 4) {
		const uint16_t n0 = edges[(uintptr_t)from[0]] & mask,
			       n1 = edges[(uintptr_t)from[1]] & mask;
		const uint16_t n2 = edges[(uintptr_t)from[2]] & mask,
			       n3 = edges[(uintptr_t)from[3]] & mask;

		if (likely((guess ^ n0) + (guess ^ n1) + (guess ^ n2) + (guess ^ n3) == 0)) {
			last_spec += 4;
		} else {
			const uint16_t each[] = { n0, n1, n2, n3 };

			rte_memcpy(to, from - last_spec, last_spec * sizeof(*from));
			to += last_spec;
			held += last_spec;
			last_spec = 0;
			for (unsigned int i = 0; i < 4; i++) {
				if (each[i] == guess) {
					*to++ = from[i];
					held++;
				} else {
					rte_node_enqueue_x1(graph, node, each[i], from[i]);
				}
			}
			if (n2 == n3 && n2 != guess) {
				rte_node_next_stream_put(graph, node, guess, held);
				held = 0;
				guess = n3;
				to = rte_node_next_stream_get(graph, node, guess, left);
			}
		}
		from += 4;
		left -= 4;
	}
	for (; left > 0; left--, from++) {
		const uint16_t next = edges[(uintptr_t)from[0]] & mask;

		if (next == guess) {
			last_spec++;
			continue;
		}
		rte_memcpy(to, from - last_spec, last_spec * sizeof(*from));
		to += last_spec;
		held += last_spec;
		last_spec = 0;
		rte_node_enqueue_x1(graph, node, next, from[0]);
	}
	if (last_spec == n) {
		rte_node_next_stream_move(graph, node, guess);
		return n;
	}
	rte_memcpy(to, from - last_spec, last_spec * sizeof(*from));
	rte_node_next_stream_put(graph, node, guess, held + last_spec);
	return n;
}

static uint16_t
enqueue_next(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	const uint8_t *edges = ctx_of(node)->walker->topology->spread;
	const unsigned int mask = ctx_of(node)->edge_mask;
	rte_edge_t next[4 * RTE_GRAPH_BURST_SIZE]; /* streams that meet are longer than a burst */

	for (uint16_t i = 0; i < n; i++)
		next[i] = edges[(uintptr_t)objs[i]] & mask;
	rte_node_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
sink(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	struct walker *w = ctx_of(node)->walker;

	RTE_SET_USED(graph);
	see_objects(&w->tally, objs, n);
	return n;
}

static int
node_register(const struct topology *topology, unsigned int index, enum rte_spread how,
	const char *prefix)
{
	const rte_node_process_t process[] = { source, pass,
		how == RTE_SPECULATE ? speculate : enqueue_next, sink };
	const struct topo_node *node = &topology->nodes[index];
	const size_t size = sizeof(struct rte_node_register) + TOPO_EDGES_MAX * sizeof(char *);
	struct rte_node_register *reg = calloc(1, size);
	char names[TOPO_EDGES_MAX][RTE_NODE_NAMESIZE];
	rte_node_t id;

	if (reg == NULL)
		return -1;
	snprintf(reg->name, sizeof(reg->name), "%s_%u", prefix, index);
	reg->flags = node->role == SOURCE ? RTE_NODE_SOURCE_F : 0;
	reg->process = process[node->role];
	reg->init = init;
	reg->nb_edges = (rte_edge_t)node->nb_edges;
	for (unsigned int e = 0; e < node->nb_edges; e++) {
		snprintf(names[e], sizeof(names[e]), "%s_%u", prefix, node->edges[e]);
		reg->next_nodes[e] = names[e];
	}
	id = __rte_node_register(reg);
	free(reg);
	return id == RTE_NODE_ID_INVALID ? -1 : 0;
}

/* Nodes of rte_graph 22.11 cannot be removed, so every graph has its own names. */
struct walker *
walk_rte_create(const struct topology *topology, enum rte_spread spread)
{
	static unsigned int count;
	char prefix[16], pattern[24];
	const char *patterns[] = { pattern };
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = patterns
	};
	struct walker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->topology = topology;
	snprintf(prefix, sizeof(prefix), "w%u", count++);
	for (unsigned int i = 0; i < topology->nb_nodes; i++)
		if (node_register(topology, i, spread, prefix) < 0)
			return NULL;
	creating = w;
	snprintf(pattern, sizeof(pattern), "%s_*", prefix);
	w->id = rte_graph_create(prefix, &params);
	if (w->id == RTE_GRAPH_ID_INVALID)
		return NULL;
	w->graph = rte_graph_lookup(prefix);
	return w;
}

uint64_t
walk_rte_run(void *arg)
{
	struct walker *w = arg;
	const uint64_t before = w->tally.made;

	for (unsigned int i = 0; i < WALKS; i++)
		rte_graph_walk(w->graph);
	return w->tally.made - before;
}

bool
walk_rte_check(void *arg)
{
	return tally_right(&((struct walker *)arg)->tally);
}

void
walk_rte_destroy(struct walker *w)
{
	rte_graph_destroy(w->id);
	free(w);
}
