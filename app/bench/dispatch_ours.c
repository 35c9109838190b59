/* SPDX-License-Identifier: BSD-3-Clause */
/* Halyard's contenders of the dispatch benchmark. They use the public API only. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_dispatch.h>
#include <hy_graph_worker.h>

#include "graphs.h"
#include "handover.h"

struct our_team {
	struct team team; /* the first member */
	struct hy_dispatch *dispatch;
	struct hy_graph *graphs[LANES];
};

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = lane_make(node->ctx, objs, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
between(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	lane_work(node->ctx, objs, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
sink(struct hy_graph *graph __rte_unused, struct hy_node *node, void **objs, uint16_t n)
{
	lane_see(node->ctx, objs, n);
	return n;
}

/* Gets no objects in a correct lap. */
static uint16_t
drop(struct hy_graph *graph, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	hy_release(graph, objs, n);
	return n;
}

/* A node of worker w's graph belongs to lane w. */
static int
init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct team *const *team = config;
	struct chain_ctx *ctx = node->ctx;

	*ctx = (struct chain_ctx){ (*team)->chain, &(*team)->lanes[hy_graph_worker(graph)] };
	return 0;
}

/* The nodes of the chain, and behind them the drop node. */
static int
nodes_register(const struct team *team)
{
	const unsigned int last = team->chain->nb_nodes - 1;
	int rc = 0;

	for (unsigned int i = 0; i <= last + 1 && rc == 0; i++) {
		const struct graph_node node = { team->prefix, i, i == 0, i < last,
			&(unsigned int){ i + 1 } };
		struct hy_node_impl impl = { .process = i < last ? between : sink,
			.init = init,
			.ctx_size = sizeof(struct chain_ctx) };

		if (i == 0)
			impl.process = source;
		else if (i > last)
			impl.process = drop;
		rc = graph_node_ours(&node, &impl, &team, sizeof(team));
	}
	return rc;
}

static void
walk(struct team *team, unsigned int lane)
{
	hy_graph_walk(((struct our_team *)team)->graphs[lane]);
}

static int
dispatch_create(struct our_team *ot, const struct hy_graph_params *graph)
{
	static const uint16_t second[] = { 1 };
	char pinned[HY_NAME_SIZE];
	/* Nodes that are not pinned run where their parents do. */
	const struct hy_dispatch_pin pin = {
		.pattern = pinned, .workers = second, .nb_workers = RTE_DIM(second)
	};
	const struct hy_dispatch_params params = { .graph = graph,
		.nb_workers = LANES,
		.pins = &pin,
		.nb_pins = 1,
		.ring_bursts = RING_BURSTS };
	int rc;

	ot->team.all_pinned = true;
	snprintf(pinned, sizeof(pinned), "%s_%u", ot->team.prefix, ot->team.chain->pinned);
	rc = hy_dispatch_create(ot->team.prefix, &params, &ot->dispatch);
	for (uint16_t l = 0; l < LANES && rc == 0; l++)
		ot->graphs[l] = hy_dispatch_graph(ot->dispatch, l);
	return rc;
}

static int
completion_create(struct our_team *ot, struct hy_graph_params *params)
{
	int rc = 0;

	for (unsigned int l = 0; l < LANES && rc == 0; l++) {
		char name[HY_NAME_SIZE];

		snprintf(name, sizeof(name), "%s-%u", ot->team.prefix, l);
		params->worker = (uint16_t)l;
		rc = hy_graph_create(name, params, &ot->graphs[l]);
	}
	return rc;
}

struct team *
dispatch_ours_create(const struct chain *chain, const char *name, enum team_way way)
{
	struct our_team *ot = bench_alloc(1, sizeof(*ot));
	char pattern[GRAPH_PREFIX_SIZE + 2], drop_name[HY_NAME_SIZE];
	const char *const patterns[] = { pattern };
	struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &graph_ops,
		.drop_node = drop_name,
		.burst = (uint16_t)chain->burst,
		.socket = SOCKET_ID_ANY };
	int rc;

	team_init(&ot->team, chain, name, way != COMPLETION);
	ot->team.walk = walk;
	snprintf(pattern, sizeof(pattern), "%s_0", ot->team.prefix); /* and all that it reaches */
	snprintf(drop_name, sizeof(drop_name), "%s_%u", ot->team.prefix, chain->nb_nodes);
	rc = nodes_register(&ot->team);
	if (rc == 0)
		rc = way == COMPLETION ? completion_create(ot, &params)
				       : dispatch_create(ot, &params);
	if (rc == 0)
		return &ot->team;
	bench_cannot("%s", strerror(-rc));
	dispatch_ours_destroy(ot);
	return NULL;
}

void
dispatch_ours_destroy(void *team)
{
	struct our_team *ot = team;

	for (unsigned int l = 0; l < LANES && ot->dispatch == NULL; l++)
		hy_graph_destroy(ot->graphs[l]);
	(void)hy_dispatch_destroy(ot->dispatch);
	graph_nodes_strike(ot->team.prefix);
	free(ot);
}
