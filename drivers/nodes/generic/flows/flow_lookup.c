/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lookup: sends each packet along the edge that the action of its megaflow names. */

#include "flow_lookup_some.h"

static void
find(struct hy_node *node, void **objs, struct found *f, uint32_t n)
{
	struct hy_flow_lookup_ctx *ctx = node->ctx;

	hy_flows_find(ctx->flows, ctx->worker, &ctx->rss, (struct rte_mbuf *const *)objs, f->flow,
		n);
}

static uint16_t
flow_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return flow_lookup_process_by(graph, node, objs, n, find);
}

static int
flow_lookup_format(const struct hy_trace_record *record, char *text, size_t size)
{
	const uint32_t action = record->lanes[HY_FLOW_LOOKUP_LANE_ACTION];

	return snprintf(text, size, "action %u:%u", action >> 16, action & UINT16_MAX);
}

HY_NODE_FAMILY(flow_lookup,
	.text = "Caches in front of a hash table for each mask",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = HY_FLOW_LOOKUP_NODE,
		.impl = {
			.variant = "megaflow",
			.process = flow_lookup_process,
			.init = hy_flow_lookup_init,
			.fini = hy_flow_lookup_fini,
			.ctx_size = sizeof(struct hy_flow_lookup_ctx),
		},
		.lanes = { [HY_FLOW_LOOKUP_LANE_ACTION] = HY_FLOW_ACTION_LANE },
		.lanes_set = 1u << HY_FLOW_LOOKUP_LANE_ACTION,
		.drops = {
			[HY_FLOW_LOOKUP_DENIED] = { "denied", HY_SEV_INFO,
				"The action of the flow is to drop its packets" },
			[HY_FLOW_LOOKUP_NO_EDGE] = { "no_edge", HY_SEV_ERROR,
				"The action of the flow names an edge that the node does not have" },
			[HY_FLOW_LOOKUP_UPCALL_FULL] = { "upcall_full", HY_SEV_ERROR,
				"Too many packets of the worker wait for the rules" },
		},
		.counters = {
			[HY_FLOW_LOOKUP_FRAMES] = { "frame_hits", "packets", HY_SEV_INFO,
				"Found in the cache of frames" },
			[HY_FLOW_LOOKUP_EXACT] = { "exact_hits", "packets", HY_SEV_INFO,
				"Found in the exact cache" },
			[HY_FLOW_LOOKUP_INDEX] = { "index_hits", "packets", HY_SEV_INFO,
				"Found in the index" },
			[HY_FLOW_LOOKUP_MASKS] = { "mask_hits", "packets", HY_SEV_INFO,
				"Found in the tables of masks" },
			[HY_FLOW_LOOKUP_MISSES] = { "misses", "packets", HY_SEV_INFO,
				"Not found" },
			[HY_FLOW_LOOKUP_SENT] = { "upcalls", "packets", HY_SEV_INFO,
				"Sent to the thread that asks the rules" },
			[HY_FLOW_LOOKUP_BEHIND] = { "behind", "packets", HY_SEV_INFO,
				"Of these, found, and sent after others of their flow" },
			[HY_FLOW_LOOKUP_MARKED] = { "marked", "packets", HY_SEV_INFO,
				"Found by the mark of the hardware" },
			[HY_FLOW_LOOKUP_STALE] = { "stale", "packets", HY_SEV_INFO,
				"Looked up, as the mark is of no megaflow" },
			[HY_FLOW_LOOKUP_SAMPLED] = { "sampled", "packets", HY_SEV_INFO,
				"Marked, and compared with the megaflow" },
			[HY_FLOW_LOOKUP_MISMATCHES] = { "mismatches", "packets", HY_SEV_ERROR,
				"Sampled and looked up, as the mark was wrong" },
		},
		.trace = { .format = flow_lookup_format },
	});
