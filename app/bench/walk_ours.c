/* SPDX-License-Identifier: BSD-3-Clause */
/* Halyard's nodes of the walk benchmark. They use the public API only. */

#include <stdio.h>
#include <stdlib.h>

#include <hy_graph_worker.h>
#include <hy_stats.h>

#include "graphs.h"
#include "walk.h"

struct walker {
	struct walked walked;   /* the first member */
	struct hy_graph *graph; /* with its nodes' prefix as name */
	char prefix[GRAPH_PREFIX_SIZE];
};

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct walk_ctx *ctx = node->ctx;

	n = RTE_MIN(n, (uint16_t)ctx->topology->burst);
	if (n == 0)
		return 0;
	make_objects(ctx, objs, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
source_to_many(struct hy_graph *graph, struct hy_node *node, void **objs __rte_unused,
	uint16_t n __rte_unused)
{
	const struct walk_ctx *ctx = node->ctx;
	const struct topo_node *topo = ctx->node->topo;
	uint16_t made = 0;

	for (uint16_t e = 0; e < topo->nb_edges; e++) {
		uint16_t part = (uint16_t)(topo->percent[e] * ctx->topology->burst / 100);
		void **to = hy_stream_get(graph, node, e, &part);

		make_objects(ctx, to, part);
		hy_stream_put(graph, node, e, part);
		made += part;
	}
	return made;
}

static uint16_t
pass_copy(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct walk_ctx *ctx = node->ctx;
	const struct topo_node *topo = ctx->node->topo;
	const unsigned int group = ctx->topology->group;

	for (unsigned int e = 0, at = 0; e < topo->nb_edges; e++) {
		const unsigned int end = at + topo_part(topo, e, n, at);

		for (; at < end; at += RTE_MIN(group, end - at))
			hy_enqueue(graph, node, (uint16_t)e, objs + at,
				(uint16_t)RTE_MIN(group, end - at));
	}
	return n;
}

static uint16_t
pass_assign(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct topo_node *topo = ((const struct walk_ctx *)node->ctx)->node->topo;

	for (unsigned int e = 0, at = 0; e < topo->nb_edges; e++) {
		const unsigned int end = at + topo_part(topo, e, n, at);

		for (; at < end; at++)
			hy_enqueue_x1(graph, node, (uint16_t)e, &objs[at]);
	}
	return n;
}

static uint16_t
spread(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = edge_of(objs[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
split(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct topo_node *topo = ((const struct walk_ctx *)node->ctx)->node->topo;
	uint16_t at = 0;

	for (uint16_t e = 0; e < topo->nb_edges; e++) {
		const uint16_t part = (uint16_t)topo_part(topo, e, n, at);

		hy_enqueue(graph, node, e, objs + at, part);
		at += part;
	}
	return n;
}

static uint16_t
sink(struct hy_graph *graph __rte_unused, struct hy_node *node, void **objs, uint16_t n)
{
	see_objects(((const struct walk_ctx *)node->ctx)->node, objs, n);
	return n;
}

static int
init(const struct hy_graph *graph __rte_unused, struct hy_node *node, const void *config)
{
	memcpy(node->ctx, config, sizeof(struct walk_ctx));
	return 0;
}

static hy_node_process_t *
process_of(const struct topology *t, const struct topo_node *node)
{
	static hy_node_process_t *const passes[] = {
		[MOVE_SWAP] = graph_pass, [MOVE_COPY] = pass_copy, [MOVE_ASSIGN] = pass_assign
	};

	switch (node->role) {
	case SOURCE:
		return node->nb_edges > 1 ? source_to_many : source;
	case PASS:
		return passes[t->move];
	case SPREAD:
		return spread;
	case SPLIT:
		return split;
	default:
		return sink;
	}
}

static int
node_register(struct walker *w, unsigned int index)
{
	const struct topology *t = w->walked.topology;
	const struct topo_node *node = &t->nodes[index];
	const struct walk_ctx ctx = { t, &w->walked.nodes[index] };
	const struct hy_node_impl impl = {
		.process = process_of(t, node), .init = init, .ctx_size = sizeof(struct walk_ctx)
	};

	return graph_node_ours(&(const struct graph_node){ w->prefix, index, node->role == SOURCE,
				       node->nb_edges, node->edges },
		&impl, &ctx, sizeof(ctx));
}

void *
walk_ours_create(const struct topology *topology, uint16_t sample_every)
{
	static unsigned int count;
	const struct hy_graph_params params = { .burst = HY_BURST_MAX,
		.sample_every = sample_every };
	char pattern[GRAPH_PREFIX_SIZE + 2];
	struct walker *w = bench_alloc(1, sizeof(*w));
	int rc = 0;

	walked_init(&w->walked, topology);
	snprintf(w->prefix, sizeof(w->prefix), "walk%u", count++);
	snprintf(pattern, sizeof(pattern), "%s_*", w->prefix);
	for (unsigned int i = 0; i < topology->nb_nodes && rc == 0; i++)
		rc = node_register(w, i);
	if (rc == 0)
		rc = graph_ours(w->prefix, pattern, params, &w->graph);
	if (rc == 0)
		return w;
	bench_cannot("%s: %s", w->prefix, strerror(-rc));
	walk_ours_destroy(w);
	return NULL;
}

struct hy_graph *
walk_ours_graph(void *arg)
{
	return ((struct walker *)arg)->graph;
}

uint64_t
walk_ours_run(void *arg)
{
	struct walker *w = arg;

	for (unsigned int i = 0; i < WALKS; i++)
		(void)hy_graph_walk(w->graph);
	return walked_done(&w->walked, WALKS);
}

/* Calls of the node where a diamond's arms meet, from the graph's statistics. */
static uint64_t
join_calls(const struct walker *w)
{
	const struct hy_node_stats *node;
	struct hy_stats *stats;
	char name[HY_NAME_SIZE];
	uint64_t calls = 0;

	snprintf(name, sizeof(name), "%s_%u", w->prefix, w->walked.topology->join);
	if (hy_stats_read(w->prefix, &stats) < 0)
		return 0;
	node = hy_stats_find(stats, w->walked.topology->join, name);
	if (node != NULL)
		calls = node->calls;
	hy_stats_free(stats);
	return calls;
}

double
walk_ours_calls(void *arg)
{
	struct walker *w = arg;
	const uint64_t before = join_calls(w);

	walk_ours_run(w);
	return (double)(join_calls(w) - before) / WALKS;
}

/* All objects that meet are passed in as few calls as possible, so in one visit per walk. */
bool
walk_ours_joined(void *arg)
{
	const struct walked *w = arg;
	const uint64_t made = topo_made(w->topology);
	const uint64_t want = w->walks * ((made + HY_BURST_MAX - 1) / HY_BURST_MAX);
	const uint64_t got = join_calls(arg);

	if (got != want)
		fprintf(stderr, "hy-bench: %s: %lu calls of the join in %lu walks, not %lu\n",
			w->topology->name, (unsigned long)got, (unsigned long)w->walks,
			(unsigned long)want);
	return got == want && walk_check(arg);
}

void
walk_ours_destroy(void *arg)
{
	struct walker *w = arg;

	hy_graph_destroy(w->graph);
	graph_nodes_strike(w->prefix);
	free(w);
}
