/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow_reinject: packets that come back from the rules, sent as flow_lookup would have sent them. What is
 * not taken in a walk is still on the way, so flow_lookup sends later packets of its flow behind it.
 */

#include <hy_flow_lookup.h>

static uint16_t
flow_reinject_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_flow_lookup_ctx *ctx = node->ctx;
	uint32_t *action = hy_lane(graph, node, HY_FLOW_LOOKUP_LANE_ACTION);
	uint16_t next[HY_BURST_MAX], nb_edges;
	uint8_t fate[HY_BURST_MAX];

	n = (uint16_t)hy_flows_answers(ctx->upcalls, ctx->worker, (struct rte_mbuf **)objs, action,
		fate, n);
	if (likely(n == 0))
		return 0;
	nb_edges = hy_graph_edge_count(graph, node); /* may change while ctx stays */
	for (uint16_t i = 0; i < n; i++)
		next[i] = fate[i] == HY_FLOWS_GONE ? HY_DROP(HY_FLOW_REINJECT_DELETED)
						   : hy_flow_action_next(action[i], nb_edges);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_FAMILY(flow_reinject,
	.text = "Takes packets from the ring of the worker",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = HY_FLOW_REINJECT_NODE,
		.flags = HY_NODE_SOURCE,
		.impl = {
			.variant = "ring",
			.process = flow_reinject_process,
			.init = hy_flow_lookup_init,
			.fini = hy_flow_lookup_fini,
			.ctx_size = sizeof(struct hy_flow_lookup_ctx),
		},
		.lanes = { [HY_FLOW_LOOKUP_LANE_ACTION] = HY_FLOW_ACTION_LANE },
		.drops = {
			[HY_FLOW_LOOKUP_DENIED] = { "denied", HY_SEV_INFO,
				"The action of the flow is to drop its packets" },
			[HY_FLOW_LOOKUP_NO_EDGE] = { "no_edge", HY_SEV_ERROR,
				"The action of the flow names an edge that the node does not have" },
			[HY_FLOW_REINJECT_DELETED] = { "flow_deleted", HY_SEV_INFO,
				"The flow that answered the packet was deleted before it came back" },
		},
	});
