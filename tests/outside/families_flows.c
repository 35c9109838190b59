/* SPDX-License-Identifier: BSD-3-Clause */
/* More of the pack of families.c: variants of the nodes of a table of flows, one packet at a time. */

#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

/* Returns where a packet goes; *gone: to the rules. */
static uint16_t
look_one_up(struct hy_node *node, struct rte_mbuf *m, uint32_t *action, uint16_t nb_edges,
	bool *gone)
{
	struct hy_flow_lookup_ctx *ctx = node->ctx;
	struct hy_flows_lookups before, after;
	uint32_t flow, bytes = m->pkt_len;
	uint8_t fate;

	hy_flows_lookups(ctx->flows, ctx->worker, &before);
	hy_flows_find(ctx->flows, ctx->worker, &ctx->rss, &m, &flow, 1);
	hy_flows_lookups(ctx->flows, ctx->worker, &after);
	hy_counter_add(node, HY_FLOW_LOOKUP_FRAMES, after.frames - before.frames);
	hy_counter_add(node, HY_FLOW_LOOKUP_EXACT, after.exact - before.exact);
	hy_counter_add(node, HY_FLOW_LOOKUP_INDEX, after.index - before.index);
	hy_counter_add(node, HY_FLOW_LOOKUP_MASKS, after.masks - before.masks);
	hy_counter_add(node, HY_FLOW_LOOKUP_MISSES, after.misses - before.misses);
	*action = 0;
	hy_flows_actions(ctx->flows, &flow, action, 1);
	hy_flows_count(ctx->flows, ctx->worker, &flow, &bytes, 1);
	hy_flows_upcall(ctx->upcalls, ctx->worker, &m, &flow, &fate, 1);
	*gone = fate == HY_FLOWS_SENT;
	if (*gone) {
		hy_counter_add(node, HY_FLOW_LOOKUP_SENT, 1);
		hy_counter_add(node, HY_FLOW_LOOKUP_BEHIND, flow != HY_FLOWS_MISS);
	}
	return fate == HY_FLOWS_FULL ? HY_DROP(HY_FLOW_LOOKUP_UPCALL_FULL)
				     : hy_flow_action_next(*action, nb_edges);
}

static uint16_t
look_up(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint32_t *action = hy_lane(graph, node, HY_FLOW_LOOKUP_LANE_ACTION);
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);

	for (uint16_t i = 0; i < n; i++) {
		bool gone;
		const uint16_t next = look_one_up(node, objs[i], &action[i], nb_edges, &gone);

		if (!gone)
			hy_enqueue(graph, node, next, &objs[i], 1);
	}
	return n;
}

HY_NODE_VARIANT(flow_lookup, outside, .impl.process = look_up);

static uint16_t
reinject(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_flow_lookup_ctx *ctx = node->ctx;
	uint32_t *action = hy_lane(graph, node, HY_FLOW_LOOKUP_LANE_ACTION);
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);
	uint8_t fate[HY_BURST_MAX];
	struct rte_mbuf *m;
	uint16_t made = 0;

	while (made < n &&
		hy_flows_answers(ctx->upcalls, ctx->worker, &m, &action[made], &fate[made], 1) == 1)
		objs[made++] = m;
	for (uint16_t i = 0; i < made; i++)
		hy_enqueue(graph, node,
			fate[i] == HY_FLOWS_GONE ? HY_DROP(HY_FLOW_REINJECT_DELETED)
						 : hy_flow_action_next(action[i], nb_edges),
			&objs[i], 1);
	return made;
}

HY_NODE_VARIANT(flow_reinject, outside, .impl.process = reinject);
