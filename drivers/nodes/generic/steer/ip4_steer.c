/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_steer: class of a packet to next hop, without a route lookup. It touches no packet. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include <hy_flow_cls.h>
#include <hy_ip4_steer.h>
#include <hy_node.h>
#include <hy_trace.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"

static uint16_t
ip4_steer_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_steer_ctx *ctx = node->ctx;
	const uint32_t *class_id = hy_lane(graph, node, HY_IP4_STEER_LANE_CLASS);
	uint32_t *route = hy_lane(graph, node, HY_IP4_STEER_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t id = class_id[i] < ctx->nb_classes ? ctx->id[class_id[i]]
								  : HY_IP4_STEER_NO_ID;

		route[i] = id;
		next[i] = likely(id != HY_IP4_STEER_NO_ID) ? HY_IP4_STEER_NEXT_REWRITE
							   : HY_DROP(HY_IP4_STEER_NO_NEXT_HOP);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static void
release_all(struct hy_ip4_steer_ctx *ctx)
{
	for (uint32_t c = 0; c < ctx->nb_classes; c++)
		if (ctx->id[c] != HY_IP4_STEER_NO_ID)
			ip4_id_release(ctx->fib, ctx->id[c]);
	rte_free(ctx->id);
}

/* Holds the next hop of each class. release_all() releases them. */
static int
hold_all(const struct hy_graph *graph, struct hy_node *node,
	const struct hy_ip4_steer_config *config)
{
	struct hy_ip4_steer_ctx *ctx = node->ctx;

	for (unsigned int i = 0; i < config->nb_steers; i++) {
		const struct hy_ip4_steer *steer = &config->steers[i];
		uint32_t id;
		int rc;

		if (ctx->id[steer->class_id] != HY_IP4_STEER_NO_ID)
			return hy_node_refuse(graph, node, "has two next hops for class %u",
				steer->class_id);
		rc = ip4_next_hop_hold(ctx->fib, &steer->next_hop, &id);
		if (rc == -ENODEV)
			return hy_node_refuse(graph, node,
				"sends class %u to port %u, which its table does not have",
				steer->class_id, steer->next_hop.port);
		if (rc < 0)
			return rc;
		ctx->id[steer->class_id] = id;
	}
	return 0;
}

static int
classes_make(const struct hy_graph *graph, struct hy_node *node,
	const struct hy_ip4_steer_config *config)
{
	struct hy_ip4_steer_ctx *ctx = node->ctx;

	for (unsigned int i = 0; i < config->nb_steers; i++)
		ctx->nb_classes = RTE_MAX(ctx->nb_classes, config->steers[i].class_id + 1u);
	ctx->id = rte_malloc_socket("ip4_steer", (ctx->nb_classes + 1) * sizeof(*ctx->id),
		RTE_CACHE_LINE_SIZE, hy_graph_socket(graph));
	if (ctx->id == NULL)
		return -ENOMEM;
	memset(ctx->id, 0xff, ctx->nb_classes * sizeof(*ctx->id));
	return 0;
}

int
hy_ip4_steer_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ip4_steer_config *steer = config;
	struct hy_ip4_steer_ctx *ctx = node->ctx;
	int rc;

	ctx->fib = hy_ip4_fib_for(graph, steer == NULL ? NULL : &steer->tables);
	if (ctx->fib == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_ip4_steer_config with a table");
	rc = hy_ip4_fib_use(graph, node, ctx->fib);
	if (rc < 0)
		return rc;
	rc = classes_make(graph, node, steer);
	if (rc == 0) {
		rc = hold_all(graph, node, steer);
		if (rc < 0)
			release_all(ctx);
	}
	if (rc < 0)
		hy_ip4_fib_unuse(ctx->fib);
	return rc;
}

void
hy_ip4_steer_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_ip4_steer_ctx *ctx = node->ctx;

	release_all(ctx);
	hy_ip4_fib_unuse(ctx->fib);
}

static int
ip4_steer_format(const struct hy_trace_record *record, char *text, size_t size)
{
	return snprintf(text, size, "class %u", record->lanes[HY_IP4_STEER_LANE_CLASS]);
}

HY_NODE_FAMILY(ip4_steer,
	.text = "Takes the next hop of the packet's class",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "ip4_steer",
		.impl = {
			.variant = "scalar",
			.process = ip4_steer_process,
			.init = hy_ip4_steer_init,
			.fini = hy_ip4_steer_fini,
			.ctx_size = sizeof(struct hy_ip4_steer_ctx),
		},
		.edges = { [HY_IP4_STEER_NEXT_REWRITE] = "ip4_rewrite" },
		.lanes = {
			[HY_IP4_STEER_LANE_ROUTE] = "ip4_route",
			[HY_IP4_STEER_LANE_CLASS] = HY_FLOW_CLASS_LANE,
		},
		.drops = {
			[HY_IP4_STEER_NO_NEXT_HOP] = { "no_next_hop", HY_SEV_ERROR,
				"The class of the packet has no next hop" },
		},
		.trace = { .format = ip4_steer_format },
	});
