/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of the family ttl_guard, and the body that its variants share: they differ in the
 * kernel only. Objects are packets whose IPv4 header pkt_cls has checked. No lanes.
 */
#ifndef TTL_GUARD_H
#define TTL_GUARD_H

#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_mbuf.h>
#include <hy_node.h>

enum ttl_guard_next { TTL_GUARD_NEXT_PASS };
enum ttl_guard_drop { TTL_GUARD_TTL_TOO_LOW };

/* Where in a frame the time to live is. pkt_cls lets no frame pass that is shorter. */
#define TTL_GUARD_TTL_AT (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, time_to_live))

/* Configuration, for hy_node_config(); and what a node keeps of it. */
struct ttl_guard_config {
	uint8_t min_ttl;
};

/*
 * A kernel. Pure: no graph, no packet.
 *
 * ttl: of n packets.
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

#endif
