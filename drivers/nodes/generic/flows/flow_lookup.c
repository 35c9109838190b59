/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lookup: sends each packet along the edge that the action of its megaflow names. */

#include <rte_prefetch.h>

#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#define SOME 64 /* packets whose keys, of 112 bytes each, are in the CPU's first cache together */

/* What is found out about packets. */
struct found {
	struct hy_flows_key key[SOME];
	uint32_t hash[SOME], flow[SOME], bytes[SOME];
	uint8_t fate[SOME];
};

/* Finds megaflows and reads their actions. */
static void
look_up(struct hy_flow_lookup_ctx *ctx, struct rte_mbuf *const mbufs[], struct found *f,
	uint32_t action[], uint32_t n)
{
	const uint32_t parse = hy_flows_parse(ctx->flows);

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], const void *));
	for (uint32_t i = 0; i < n; i++) {
		f->bytes[i] = mbufs[i]->pkt_len;
		action[i] = 0;
	}
	hy_flows_keys(mbufs, parse, f->key, n);
	hy_flows_rss_hashes(ctx->flows, &ctx->rss, mbufs, f->key, f->hash, n);
	hy_flows_lookup(ctx->flows, ctx->worker, parse, f->key, f->hash, f->flow, n);
	hy_flows_actions(ctx->flows, f->flow, action, n);
	hy_flows_count(ctx->flows, ctx->worker, f->flow, f->bytes, n);
}

static uint16_t
next_of(uint8_t fate, uint32_t action, uint16_t nb_edges)
{
	return fate == HY_FLOWS_FULL ? HY_DROP(HY_FLOW_LOOKUP_UPCALL_FULL)
				     : hy_flow_action_next(action, nb_edges);
}

/* Sends what is not on the way to the rules: runs of packets, so that lanes go with them. */
static void
send_rest(struct hy_graph *graph, struct hy_node *node, const struct found *f,
	const uint32_t action[], void **objs, uint32_t n)
{
	const uint16_t nb_edges = hy_graph_edge_count(graph, node); /* may change while ctx stays */
	uint16_t next[SOME];
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (likely(f->fate[i] != HY_FLOWS_SENT)) {
			next[i] = next_of(f->fate[i], action[i], nb_edges);
			continue;
		}
		if (first < i)
			hy_enqueue_next(graph, node, next + first, objs + first,
				(uint16_t)(i - first));
		first = i + 1;
	}
	if (first < n)
		hy_enqueue_next(graph, node, next + first, objs + first, (uint16_t)(n - first));
}

static void
some_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint32_t action[],
	uint32_t n)
{
	struct hy_flow_lookup_ctx *ctx = node->ctx;
	struct rte_mbuf *const *mbufs = (struct rte_mbuf *const *)objs;
	uint32_t sent = 0, behind = 0;
	struct found f;

	look_up(ctx, mbufs, &f, action, n);
	if (unlikely(hy_flows_upcall(ctx->upcalls, ctx->worker, mbufs, f.flow, f.fate, n) > 0)) {
		for (uint32_t i = 0; i < n; i++) {
			sent += f.fate[i] == HY_FLOWS_SENT;
			behind += f.fate[i] == HY_FLOWS_SENT && f.flow[i] != HY_FLOWS_MISS;
		}
		hy_counter_add(node, HY_FLOW_LOOKUP_SENT, sent);
		hy_counter_add(node, HY_FLOW_LOOKUP_BEHIND, behind);
	}
	send_rest(graph, node, &f, action, objs, n);
}

static uint16_t
flow_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_flow_lookup_ctx *ctx = node->ctx;
	uint32_t *action = hy_lane(graph, node, HY_FLOW_LOOKUP_LANE_ACTION);
	struct hy_flows_lookups before, after;

	hy_flows_lookups(ctx->flows, ctx->worker, &before);
	for (uint32_t at = 0; at < n; at += SOME)
		some_process(graph, node, objs + at, action + at, RTE_MIN(n - at, (uint32_t)SOME));
	hy_flows_lookups(ctx->flows, ctx->worker, &after);
	hy_counter_add(node, HY_FLOW_LOOKUP_EXACT, after.exact - before.exact);
	hy_counter_add(node, HY_FLOW_LOOKUP_INDEX, after.index - before.index);
	hy_counter_add(node, HY_FLOW_LOOKUP_MASKS, after.masks - before.masks);
	hy_counter_add(node, HY_FLOW_LOOKUP_MISSES, after.misses - before.misses);
	return n;
}

static int
flow_lookup_format(const struct hy_trace_record *record, char *text, size_t size)
{
	const uint32_t action = record->lanes[HY_FLOW_LOOKUP_LANE_ACTION];

	return snprintf(text, size, "action %u:%u", action >> 16, action & UINT16_MAX);
}

HY_NODE_FAMILY(flow_lookup,
	.text = "Caches in front of a hash table for each mask",
	.target = HY_TARGET_PROCESS,
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
		},
		.trace = { .format = flow_lookup_format },
	});
