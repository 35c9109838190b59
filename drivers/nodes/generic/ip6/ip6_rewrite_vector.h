/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels of ip6_rewrite share. It goes from frame to frame: what is written
 * of each fits in a vector.
 *
 * A file defines these before it includes this one:
 * VECTOR: target attribute of the instruction set;
 * write_headers(frame, l2), WRITE_BYTES: see ip6_x86.h.
 */
#pragma once

#include <string.h>

#include <rte_mbuf.h>

#include "ip6_rewrite_one.h"

static_assert(WRITE_BYTES >= HY_IP6_REWRITE_HEADERS, "other packets are not as usual");

VECTOR static __rte_noinline void
rewrite(const struct hy_ip6_rewrite_ctx *ctx, const uint32_t route[], void **objs, uint16_t next[],
	uint32_t n)
{
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(ctx->view->next_hops);

	for (uint32_t i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[route[i]];
		struct rte_mbuf *m = objs[i];
		uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
		uint64_t port;

		memcpy(&port, &ctx->port[adjacency->port], sizeof(port));
		if (unlikely(m->data_len < WRITE_BYTES || m->pkt_len > (uint32_t)port)) {
			next[i] = ip6_rewrite_packet(ctx, m, adjacency);
			continue;
		}
		if (unlikely(frame[HY_IP6_HOP_LIMIT] <= 1)) {
			next[i] = HY_DROP(HY_IP6_REWRITE_TTL_EXPIRED);
			continue;
		}
		write_headers(frame, &adjacency->l2);
		next[i] = (uint16_t)(port >> 32);
	}
}

/* Apart, since GCC 12 may forget to clear the upper halves of registers after a call. */
static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint32_t *route = hy_lane(graph, node, HY_IP6_REWRITE_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	rewrite(node->ctx, route, objs, next, n);
	hy_enqueue_next(graph, node, next, objs, n); /* moves the stream if all take one edge */
	return n;
}
