/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk benchmark's contender from the system DPDK, librte_graph, and its nodes. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs.h"
#include "walk.h"

struct walker {
	struct walked walked; /* the first member */
	rte_graph_t id;
	struct rte_graph *graph;
	const struct rte_node *join;
	bool stats;
};

static inline const struct walk_ctx *
ctx_of(const struct rte_node *node)
{
	return (const struct walk_ctx *)(uintptr_t)node->ctx;
}

static uint16_t
source(struct rte_graph *graph, struct rte_node *node, void **objs __rte_unused,
	uint16_t n __rte_unused)
{
	const struct walk_ctx *ctx = ctx_of(node);
	const struct topo_node *topo = ctx->node->topo;
	uint16_t made = 0;

	for (rte_edge_t e = 0; e < topo->nb_edges; e++) {
		const uint16_t part = (uint16_t)(topo->percent[e] * ctx->topology->burst / 100);

		if (part == 0)
			continue;
		make_objects(ctx, rte_node_next_stream_get(graph, node, e, part), part);
		rte_node_next_stream_put(graph, node, e, part);
		made += part;
	}
	return made;
}

static uint16_t
source_to_one(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	const struct walk_ctx *ctx = ctx_of(node);

	n = (uint16_t)ctx->topology->burst;
	if (n == 0)
		return 0;
	make_objects(ctx, objs, n);
	node->idx = n;
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

static uint16_t
pass(struct rte_graph *graph, struct rte_node *node, void **objs __rte_unused, uint16_t n)
{
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

static uint16_t
pass_copy(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	const struct walk_ctx *ctx = ctx_of(node);
	const struct topo_node *topo = ctx->node->topo;
	const unsigned int group = ctx->topology->group;

	for (unsigned int e = 0, at = 0; e < topo->nb_edges; e++) {
		const unsigned int end = at + topo_part(topo, e, n, at);

		for (; at < end; at += RTE_MIN(group, end - at))
			rte_node_enqueue(graph, node, (rte_edge_t)e, objs + at,
				(uint16_t)RTE_MIN(group, end - at));
	}
	return n;
}

static uint16_t
pass_assign(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	const struct topo_node *topo = ctx_of(node)->node->topo;

	for (unsigned int e = 0, at = 0; e < topo->nb_edges; e++) {
		const unsigned int end = at + topo_part(topo, e, n, at);

		for (; at < end; at++)
			rte_node_enqueue_x1(graph, node, (rte_edge_t)e, objs[at]);
	}
	return n;
}

/*
 * As in lib/node: assume that four objects take the same edge as the last ones; correct the others.
 */
static uint16_t
spread_x4(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	uint16_t held = 0, last_spec = 0, guess = 0, left = n;
	void **from = objs, **to = rte_node_next_stream_get(graph, node, guess, n);

	while (left >= 4) {
		const uint16_t n0 = edge_of(from[0]), n1 = edge_of(from[1]);
		const uint16_t n2 = edge_of(from[2]), n3 = edge_of(from[3]);

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
		const uint16_t next = edge_of(from[0]);

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
spread_next(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	rte_edge_t next[WALK_STREAM_MAX]; /* streams that meet are longer than a burst */

	for (uint16_t i = 0; i < n; i++)
		next[i] = edge_of(objs[i]);
	rte_node_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* Four at a time, then two, then one, as in upstream's test. */
static void
enqueue_x4(struct rte_graph *graph, struct rte_node *node, rte_edge_t e, void **objs, uint16_t n)
{
	for (; n >= 4; n -= 4, objs += 4)
		rte_node_enqueue_x4(graph, node, e, objs[0], objs[1], objs[2], objs[3]);
	if (n >= 2) {
		rte_node_enqueue_x2(graph, node, e, objs[0], objs[1]);
		objs += 2;
		n -= 2;
	}
	if (n > 0)
		rte_node_enqueue_x1(graph, node, e, objs[0]);
}

static __rte_always_inline uint16_t
split(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n, enum rte_way way)
{
	const struct topo_node *topo = ctx_of(node)->node->topo;
	uint16_t at = 0;

	for (rte_edge_t e = 0; e < topo->nb_edges; e++) {
		const uint16_t part = (uint16_t)topo_part(topo, e, n, at);

		if (part == 0)
			continue;
		if (way == RTE_X4)
			enqueue_x4(graph, node, e, objs + at, part);
		else
			rte_node_enqueue(graph, node, e, objs + at, part);
		at += part;
	}
	return n;
}

static uint16_t
split_x4(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	return split(graph, node, objs, n, RTE_X4);
}

static uint16_t
split_parts(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	return split(graph, node, objs, n, RTE_NEXT);
}

static uint16_t
sink(struct rte_graph *graph __rte_unused, struct rte_node *node, void **objs, uint16_t n)
{
	see_objects(ctx_of(node)->node, objs, n);
	return n;
}

static rte_node_process_t
process_of(const struct topology *t, const struct topo_node *node, enum rte_way way)
{
	static const rte_node_process_t passes[] = {
		[MOVE_SWAP] = pass, [MOVE_COPY] = pass_copy, [MOVE_ASSIGN] = pass_assign
	};

	switch (node->role) {
	case SOURCE:
		return node->nb_edges > 1 ? source : source_to_one;
	case PASS:
		return passes[t->move];
	case SPREAD:
		return way == RTE_X4 ? spread_x4 : spread_next;
	case SPLIT:
		return way == RTE_X4 ? split_x4 : split_parts;
	default:
		return sink;
	}
}

/* rte_graph passes no argument to init(): graphs are created one at a time, and nodes read this. */
static struct walked *creating;

static int
init(const struct rte_graph *graph __rte_unused, struct rte_node *node)
{
	const unsigned int index = (unsigned int)strtoul(strchr(node->name, '_') + 1, NULL, 10);
	const struct walk_ctx ctx = { creating->topology, &creating->nodes[index] };

	static_assert(sizeof(ctx) <= sizeof(node->ctx), "rte_graph's context has 16 bytes");
	memcpy(node->ctx, &ctx, sizeof(ctx));
	return 0;
}

/* Nodes of rte_graph 22.11 cannot be removed, so every graph uses new names. */
void *
walk_rte_create(const struct topology *topology, enum rte_way way, bool stats)
{
	static unsigned int count;
	char prefix[GRAPH_PREFIX_SIZE], pattern[GRAPH_PREFIX_SIZE + 2], join[RTE_NODE_NAMESIZE];
	struct walker *w = bench_alloc(1, sizeof(*w));
	int rc = 0;

	walked_init(&w->walked, topology);
	w->stats = stats;
	snprintf(prefix, sizeof(prefix), "w%u", count++);
	for (unsigned int i = 0; i < topology->nb_nodes && rc == 0; i++) {
		const struct topo_node *node = &topology->nodes[i];

		rc = graph_node_rte(&(const struct graph_node){ prefix, i, node->role == SOURCE,
					    node->nb_edges, node->edges },
			process_of(topology, node, way), init);
	}
	creating = &w->walked;
	snprintf(pattern, sizeof(pattern), "%s_*", prefix);
	w->id = rc == 0 ? graph_rte(prefix, pattern) : RTE_GRAPH_ID_INVALID;
	if (w->id == RTE_GRAPH_ID_INVALID) {
		free(w);
		return NULL;
	}
	w->graph = rte_graph_lookup(prefix);
	snprintf(join, sizeof(join), "%s_%u", prefix, topology->join);
	w->join = rte_graph_node_get_by_name(prefix, join);
	return w;
}

uint64_t
walk_rte_run(void *arg)
{
	struct walker *w = arg;

	if (w->stats)
		for (unsigned int i = 0; i < WALKS; i++)
			rte_graph_walk(w->graph);
	else
		walk_rte_nostats(w->graph);
	return walked_done(&w->walked, WALKS);
}

double
walk_rte_calls(void *arg)
{
	struct walker *w = arg;
	const uint64_t before = w->join->total_calls;

	walk_rte_run(w);
	return (double)(w->join->total_calls - before) / WALKS;
}

void
walk_rte_destroy(void *arg)
{
	struct walker *w = arg;

	rte_graph_destroy(w->id);
	free(w);
}
