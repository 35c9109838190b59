/* SPDX-License-Identifier: BSD-3-Clause */
/* The body of l2_learn's variants, which differ in the kernel that finds sources. */
#pragma once

#include "l2_node.h"

/* Hands sources over to the control plane that have no entry of their port; counts others. */
void l2_learn_unknown(struct hy_node *node, const uint64_t key[], const uint16_t port[],
	const uint8_t verdict[], uint32_t n);

/* Drops frames of ports that only learn. */
void l2_learn_end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);

/* Finds sources, and has those learned that are unknown. */
static __rte_always_inline void
l2_learn_sources(struct hy_node *node, const uint64_t key[], const uint16_t port[], uint32_t n,
	hy_l2_find_t *find)
{
	const struct hy_l2_ctx *ctx = node->ctx;
	uint32_t slot[HY_BURST_MAX];
	uint8_t verdict[HY_BURST_MAX];

	if (unlikely(n == 0))
		return;
	find(ctx->table, key, slot, n);
	if (unlikely(hy_l2_sources(ctx->table, slot, port, verdict, n) > 0))
		l2_learn_unknown(node, key, port, verdict, n);
}

static __rte_always_inline uint16_t
l2_learn_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_l2_find_t *find)
{
	const uint32_t *lane = hy_lane(graph, node, 0);
	uint64_t key[HY_BURST_MAX];
	uint16_t port[HY_BURST_MAX];
	uint32_t all = 0, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		key[k] = l2_key(objs[i], RTE_ETHER_ADDR_LEN, lane[i]);
		port[k] = hy_l2_lane_in(lane[i]);
		all |= lane[i];
		k += (lane[i] & HY_L2_LANE_LEARN) != 0;
	}
	l2_learn_sources(node, key, port, k, find);
	if (unlikely((all & HY_L2_LANE_ONLY) != 0))
		l2_learn_end(graph, node, objs, n);
	else
		hy_stream_move(graph, node, HY_L2_LEARN_NEXT_LOOKUP, n);
	return n;
}
