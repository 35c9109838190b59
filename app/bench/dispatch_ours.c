/* SPDX-License-Identifier: BSD-3-Clause */
/* The dispatch benchmark's contenders of ours: by the public API only. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_dispatch.h>
#include <hy_graph_worker.h>

#include "handover.h"

struct our_team {
	struct team team; /* the first member */
	struct hy_dispatch *dispatch;
	struct hy_graph *graphs[LANES];
	hy_node_id ids[CHAIN_NODES_MAX + 1]; /* and that of the node for drops */
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
sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	lane_see(node->ctx, objs, n);
	return n;
}

/* Nothing comes here, or the lap is wrong. */
static uint16_t
drop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

/* A node of worker w's graph works for lane w. */
static int
init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct team *const *team = config;
	struct chain_ctx *ctx = node->ctx;

	*ctx = (struct chain_ctx){ (*team)->chain, &(*team)->lanes[hy_graph_worker(graph)] };
	return 0;
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static const struct hy_object_ops ops = { .release = release };

static int
node_register(struct our_team *ot, unsigned int index, const char *prefix)
{
	const struct team *team = &ot->team;
	const bool first = index == 0, last = index + 1 == team->chain->nb_nodes;
	char name[HY_NAME_SIZE], next[HY_NAME_SIZE];
	const struct hy_node_desc desc = {
		.name = name,
		.flags = first ? HY_NODE_SOURCE : 0,
		.impl = { .process = first ? source
				: last     ? sink
					   : between,
			.init = init,
			.ctx_size = sizeof(struct chain_ctx) },
		.edges = { last ? NULL : next },
	};
	int rc;

	snprintf(name, sizeof(name), "%s_%u", prefix, index);
	snprintf(next, sizeof(next), "%s_%u", prefix, index + 1);
	rc = hy_node_register(&desc, &ot->ids[index]);
	return rc < 0 ? rc : hy_node_config(ot->ids[index], &team, sizeof(team));
}

static int
nodes_register(struct our_team *ot, const char *prefix, const char *drop_name)
{
	const struct hy_node_desc desc = { .name = drop_name, .impl.process = drop };
	const unsigned int n = ot->team.chain->nb_nodes;
	int rc = hy_node_register(&desc, &ot->ids[n]);

	for (unsigned int i = 0; i < n && rc == 0; i++)
		rc = node_register(ot, i, prefix);
	return rc;
}

static void
walk(struct team *team, unsigned int lane)
{
	hy_graph_walk(((struct our_team *)team)->graphs[lane]);
}

static int
dispatch_create(struct our_team *ot, const char *prefix, const struct hy_graph_params *graph)
{
	static const uint16_t second[] = { 1 };
	char pinned[HY_NAME_SIZE];
	/* What is not pinned runs where its parents do. */
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
	snprintf(pinned, sizeof(pinned), "%s_%u", prefix, ot->team.chain->pinned);
	rc = hy_dispatch_create(prefix, &params, &ot->dispatch);
	for (uint16_t l = 0; l < LANES && rc == 0; l++)
		ot->graphs[l] = hy_dispatch_graph(ot->dispatch, l);
	return rc;
}

static int
completion_create(struct our_team *ot, const char *prefix, struct hy_graph_params *params)
{
	int rc = 0;

	for (unsigned int l = 0; l < LANES && rc == 0; l++) {
		char name[HY_NAME_SIZE];

		snprintf(name, sizeof(name), "%s-%u", prefix, l);
		params->worker = (uint16_t)l;
		rc = hy_graph_create(name, params, &ot->graphs[l]);
	}
	return rc;
}

struct team *
dispatch_ours_create(const struct chain *chain, const char *name, bool hands_over)
{
	static unsigned int count;
	struct our_team *ot = aligned_alloc(alignof(struct our_team), sizeof(*ot));
	char prefix[16], pattern[24], drop_name[24];
	const char *const patterns[] = { pattern };
	struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &ops,
		.drop_node = drop_name,
		.burst = (uint16_t)chain->burst,
		.socket = SOCKET_ID_ANY };
	int rc;

	if (ot == NULL)
		return NULL;
	team_init(&ot->team, chain, name, hands_over);
	ot->team.walk = walk;
	ot->dispatch = NULL;
	ot->graphs[0] = ot->graphs[1] = NULL;
	snprintf(prefix, sizeof(prefix), "dispatch%u", count++);
	snprintf(pattern, sizeof(pattern), "%s_*", prefix);
	snprintf(drop_name, sizeof(drop_name), "%s-drop", prefix);
	for (unsigned int i = 0; i <= CHAIN_NODES_MAX; i++)
		ot->ids[i] = UINT32_MAX; /* no node */
	rc = nodes_register(ot, prefix, drop_name);
	if (rc == 0)
		rc = hands_over ? dispatch_create(ot, prefix, &params)
				: completion_create(ot, prefix, &params);
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
	for (unsigned int i = 0; i <= ot->team.chain->nb_nodes; i++)
		hy_node_unregister(ot->ids[i]);
	free(ot);
}
