/* SPDX-License-Identifier: BSD-3-Clause */
/* What variants of flow_lookup do with some packets of a burst, before and after their megaflows are found. */
#pragma once

#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#define SOME 64 /* packets whose frames, and keys, are in the CPU's first cache together */

/* What is found out about packets. */
struct found {
	uint32_t flow[SOME], bytes[SOME];
	uint8_t fate[SOME];
};

/* Reads the actions of megaflows that were found, and counts for them. */
static inline void
act(struct hy_flow_lookup_ctx *ctx, struct rte_mbuf *const mbufs[], struct found *f,
	uint32_t action[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		f->bytes[i] = mbufs[i]->pkt_len;
		action[i] = 0;
	}
	hy_flows_actions(ctx->flows, f->flow, action, n);
	hy_flows_count(ctx->flows, ctx->worker, f->flow, f->bytes, n);
}

static inline uint16_t
next_of(uint8_t fate, uint32_t action, uint16_t nb_edges)
{
	return fate == HY_FLOWS_FULL ? HY_DROP(HY_FLOW_LOOKUP_UPCALL_FULL)
				     : hy_flow_action_next(action, nb_edges);
}

/* Sends what is not on the way to the rules: runs of packets, so that lanes go with them. */
static inline void
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

/* Goes on with packets whose megaflows are found, or not. */
static inline void
finish(struct hy_graph *graph, struct hy_node *node, void **objs, struct found *f,
	uint32_t action[], uint32_t n)
{
	struct hy_flow_lookup_ctx *ctx = (struct hy_flow_lookup_ctx *)node->ctx;
	struct rte_mbuf *const *mbufs = (struct rte_mbuf *const *)objs;
	uint32_t sent = 0, behind = 0;

	act(ctx, mbufs, f, action, n);
	if (unlikely(hy_flows_upcall(ctx->upcalls, ctx->worker, mbufs, f->flow, f->fate, n) > 0)) {
		for (uint32_t i = 0; i < n; i++) {
			sent += f->fate[i] == HY_FLOWS_SENT;
			behind += f->fate[i] == HY_FLOWS_SENT && f->flow[i] != HY_FLOWS_MISS;
		}
		hy_counter_add(node, HY_FLOW_LOOKUP_SENT, sent);
		hy_counter_add(node, HY_FLOW_LOOKUP_BEHIND, behind);
	}
	send_rest(graph, node, f, action, objs, n);
}

/* Process function of a variant that finds packets so. */
typedef void find_some_t(struct hy_node *node, void **objs, struct found *f, uint32_t n);

static __rte_always_inline uint16_t
flow_lookup_process_by(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	find_some_t *find)
{
	const struct hy_flow_lookup_ctx *ctx = (const struct hy_flow_lookup_ctx *)node->ctx;
	uint32_t *action = hy_lane(graph, node, HY_FLOW_LOOKUP_LANE_ACTION);
	struct hy_flows_lookups before, after;

	hy_flows_lookups(ctx->flows, ctx->worker, &before);
	for (uint32_t at = 0; at < n; at += SOME) {
		const uint32_t some = RTE_MIN(n - at, (uint32_t)SOME);
		struct found f;

		find(node, objs + at, &f, some);
		finish(graph, node, objs + at, &f, action + at, some);
	}
	hy_flows_lookups(ctx->flows, ctx->worker, &after);
	hy_counter_add(node, HY_FLOW_LOOKUP_FRAMES, after.frames - before.frames);
	hy_counter_add(node, HY_FLOW_LOOKUP_EXACT, after.exact - before.exact);
	hy_counter_add(node, HY_FLOW_LOOKUP_INDEX, after.index - before.index);
	hy_counter_add(node, HY_FLOW_LOOKUP_MASKS, after.masks - before.masks);
	hy_counter_add(node, HY_FLOW_LOOKUP_MISSES, after.misses - before.misses);
	return n;
}
