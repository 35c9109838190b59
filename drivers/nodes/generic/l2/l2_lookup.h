/* SPDX-License-Identifier: BSD-3-Clause */
/* The body of l2_lookup's variants, which differ in the kernel that finds destinations. */
#pragma once

#include "l2_node.h"

/* Where a frame goes that the table has no entry for: to l2_flood, unless a limit is reached. */
uint16_t l2_lookup_miss(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup,
	const struct rte_mbuf *m, uint32_t lane);

static __rte_always_inline uint16_t
l2_lookup_next(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup,
	const struct rte_mbuf *m, uint16_t port, uint32_t *lane)
{
	if (likely(port < HY_L2_BRIDGE_PORTS)) {
		*lane |= (uint32_t)port << HY_L2_LANE_OUT;
		return HY_L2_LOOKUP_NEXT_OUTPUT;
	}
	return port == HY_L2_LOCAL ? (uint16_t)HY_L2_LOOKUP_NEXT_LOCAL
				   : l2_lookup_miss(ctx, setup, m, *lane);
}

static __rte_always_inline uint16_t
l2_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_l2_find_t *find)
{
	const struct hy_l2_ctx *ctx = node->ctx;
	const struct hy_l2_setup *setup = hy_l2_setup_load(ctx);
	uint32_t *lane = hy_lane(graph, node, 0);
	uint64_t key[HY_BURST_MAX];
	uint32_t slot[HY_BURST_MAX], i = 0;
	uint16_t port[HY_BURST_MAX], next[HY_BURST_MAX];

	do { /* n is at least 1 */
		key[i] = l2_key(objs[i], 0, lane[i]);
	} while (++i < n);
	find(ctx->table, key, slot, n);
	hy_l2_ports(ctx->table, slot, port, n);
	for (i = 0; i < n; i++)
		next[i] = l2_lookup_next(ctx, setup, objs[i], port[i], &lane[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}
