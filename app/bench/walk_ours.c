/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk benchmark's nodes, ours. */

#include <stdio.h>
#include <stdlib.h>

#include <hy_graph_worker.h>

#include "walk.h"

struct walker {
	const struct topology *topology;
	struct hy_graph *graph;
	struct tally tally;
	hy_node_id ids[TOPO_NODES_MAX];
};

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct walker *w = ((const struct walk_ctx *)node->ctx)->walker;

	n = RTE_MIN(n, (uint16_t)w->topology->burst);
	make_objects(&w->tally, objs, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
spread(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct walk_ctx *ctx = node->ctx;
	const uint8_t *edges = ctx->walker->topology->spread;
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = edges[(uintptr_t)objs[i]] & ctx->edge_mask;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct walker *w = ((const struct walk_ctx *)node->ctx)->walker;

	RTE_SET_USED(graph);
	see_objects(&w->tally, objs, n);
	return n;
}

static int
init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	memcpy(node->ctx, config, sizeof(struct walk_ctx));
	return 0;
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static const struct hy_object_ops ops = { .release = release };

struct walker *
walk_ours_create(const struct topology *topology, uint16_t sample_every)
{
	static hy_node_process_t *const process[] = { source, pass, spread, sink };
	const char *const patterns[] = { "walk_*" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &ops,
		.burst = HY_BURST_MAX,
		.sample_every = sample_every,
		.socket = SOCKET_ID_ANY };
	struct walker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->topology = topology;
	for (unsigned int i = 0; i < topology->nb_nodes; i++) {
		const struct topo_node *node = &topology->nodes[i];
		const struct walk_ctx ctx = { w, node->nb_edges - 1 };
		struct hy_node_desc desc = {
			.flags = node->role == SOURCE ? HY_NODE_SOURCE : 0,
			.impl = { .process = process[node->role],
				.init = init,
				.ctx_size = sizeof(struct walk_ctx) },
		};
		char name[HY_NAME_SIZE], edges[TOPO_EDGES_MAX][HY_NAME_SIZE];

		snprintf(name, sizeof(name), "walk_%u", i);
		desc.name = name;
		for (unsigned int e = 0; e < node->nb_edges; e++) {
			snprintf(edges[e], sizeof(edges[e]), "walk_%u", node->edges[e]);
			desc.edges[e] = edges[e];
		}
		if (hy_node_register(&desc, &w->ids[i]) < 0 ||
			hy_node_config(w->ids[i], &ctx, sizeof(ctx)) < 0)
			return NULL;
	}
	if (hy_graph_create("walk", &params, &w->graph) < 0)
		return NULL;
	return w;
}

uint64_t
walk_ours_run(void *arg)
{
	struct walker *w = arg;
	const uint64_t before = w->tally.made;

	for (unsigned int i = 0; i < WALKS; i++)
		hy_graph_walk(w->graph);
	return w->tally.made - before;
}

bool
walk_ours_check(void *arg)
{
	return tally_right(&((struct walker *)arg)->tally);
}

void
walk_ours_destroy(struct walker *w)
{
	hy_graph_destroy(w->graph);
	for (unsigned int i = 0; i < w->topology->nb_nodes; i++)
		hy_node_unregister(w->ids[i]);
	free(w);
}
