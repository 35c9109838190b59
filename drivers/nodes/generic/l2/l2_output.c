/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_output: gives each frame the tag that its port sends, and passes it to the port. */

#include "l2_output.h"

uint16_t
l2_output_refusal(const struct hy_l2_setup *setup, uint8_t in, uint8_t out)
{
	if (in == out)
		return HY_DROP(HY_L2_OUTPUT_SAME_PORT);
	if ((setup->forwarding >> out & 1) == 0)
		return HY_DROP(HY_L2_OUTPUT_BLOCKED);
	if ((setup->reach[in] >> out & 1) == 0)
		return HY_DROP(HY_L2_OUTPUT_SPLIT);
	return HY_DROP(HY_L2_OUTPUT_NO_MEMBER);
}

static uint16_t
l2_output_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_ctx *ctx = node->ctx;
	const struct hy_l2_setup *setup = hy_l2_setup_load(ctx);
	const uint32_t *lane = hy_lane(graph, node, 0);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		next[i] = l2_output_next(ctx, setup, objs[i], lane[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
l2_output_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);
	struct hy_l2_ctx *ctx = node->ctx;
	const int rc = l2_node_init(graph, node, config);

	if (rc < 0)
		return rc;
	for (unsigned int port = 0; port < HY_L2_BRIDGE_PORTS; port++)
		if (ctx->edge[port] == HY_L2_NO_EDGE)
			ctx->edge[port] = HY_DROP(HY_L2_OUTPUT_BLOCKED);
		else if (ctx->edge[port] >= nb_edges)
			return hy_node_refuse(graph, node, "port %u: there is no edge %u", port,
				ctx->edge[port]);
	return 0;
}

HY_NODE_FAMILY(l2_output,
	.text = "Adds and removes tags in software",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "l2_output",
		.impl = {
			.variant = "scalar",
			.process = l2_output_process,
			.init = l2_output_init,
			.ctx_size = sizeof(struct hy_l2_ctx),
		},
		.lanes = { HY_L2_LANE },
		.drops = {
			[HY_L2_OUTPUT_SAME_PORT] = { "same_port", HY_SEV_INFO,
				"The destination is where the frame came from" },
			[HY_L2_OUTPUT_BLOCKED] = { "port_blocked", HY_SEV_INFO,
				"The port does not forward" },
			[HY_L2_OUTPUT_SPLIT] = { "split_horizon", HY_SEV_INFO,
				"The frame came from a port of the same group" },
			[HY_L2_OUTPUT_NO_MEMBER] = { "no_member", HY_SEV_INFO,
				"The port is no member of the VLAN (IEEE 802.1Q 8.6.4)" },
			[HY_L2_OUTPUT_OUTDATED] = { "outdated", HY_SEV_INFO,
				"Flooded, and the set-up wants another tag since" },
			[HY_L2_OUTPUT_NO_ROOM] = { "no_room", HY_SEV_ERROR,
				"The first buffer has no room for a tag" },
		},
	});
