/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contract of the node family ttl_guard, and the body that its variants share: they differ only in
 * the kernel. Objects are packets whose IPv4 header pkt_cls has checked. No lanes.
 */
#pragma once

#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_mbuf.h>
#include <hy_node.h>

enum ttl_guard_next { TTL_GUARD_NEXT_PASS };
enum ttl_guard_drop { TTL_GUARD_TTL_TOO_LOW };

/* Offset of the time to live in a frame. pkt_cls passes no shorter frame. */
#define TTL_GUARD_TTL_AT (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, time_to_live))

/* Configuration, for hy_node_config(), and context of the node. */
struct ttl_guard_config {
	uint8_t min_ttl;
};

/*
 * A kernel. It uses no graph and no packet.
 *
 * ttl: times to live of n packets.
 * next: TTL_GUARD_NEXT_PASS or HY_DROP(TTL_GUARD_TTL_TOO_LOW) for each.
 */
typedef void(ttl_guard_kernel)(uint8_t min_ttl, const uint8_t ttl[], uint16_t next[], uint32_t n);

ttl_guard_kernel ttl_guard_scalar;
#ifdef RTE_ARCH_X86_64
ttl_guard_kernel ttl_guard_avx2;
#endif

static __rte_always_inline uint16_t
ttl_guard_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	ttl_guard_kernel *kernel)
{
	const struct ttl_guard_config *ctx = node->ctx;
	uint8_t bounce[TTL_GUARD_TTL_AT + 1];
	uint8_t ttl[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	uint32_t i = 0;

	do { /* n is at least 1 */
		const uint8_t *frame = hy_mbuf_peek(objs[i], sizeof(bounce), bounce);

		ttl[i] = frame[TTL_GUARD_TTL_AT];
	} while (++i < n);
	kernel(ctx->min_ttl, ttl, next, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}
