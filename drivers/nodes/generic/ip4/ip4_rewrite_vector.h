/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels of ip4_rewrite share. It goes from frame to frame. TTL and checksum
 * are one 32-bit word, and so few instructions that doing them for 16 frames side by side takes longer
 * on x86: words and addresses would go through memory.
 *
 * A file defines these before it includes this one:
 * VECTOR: target attribute of the instruction set;
 * write_l2(frame, l2): writes 14 bytes to the frame, of 16 that can be read at l2; it may read and
 * write the frame's next two bytes, too, but not change them;
 * MEMBERS: the ip4_members_t of the instruction set.
 *
 * It may define WIDTH and side_by_side(ports, adjacencies, route, objs, next): rewrites WIDTH packets
 * and returns true, or changes nothing and returns false.
 */
#pragma once

#include <string.h>

#include <rte_mbuf.h>

#include "drivers/nodes/generic/group/ip4_group.h"
#include "ip4_rewrite_one.h"

/* Returns how many come before the first packet to a group, at which it stops. */
VECTOR static uint32_t
rewrite(const struct hy_ip4_rewrite_port *ports, const struct hy_ip4_adjacency *adjacencies,
	const uint32_t route[], void **objs, uint16_t next[], uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];
		const struct hy_ip4_adjacency *adjacency = &adjacencies[route[i]];
		uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
		uint64_t port;
		uint32_t word;

		memcpy(&port, &ports[adjacency->port], sizeof(port));
		if (unlikely(m->data_len < HY_IP4_REWRITE_HEADERS || m->pkt_len > (uint32_t)port)) {
			if (hy_ip4_is_group(adjacency))
				break;
			next[i] = ip4_rewrite_packet(m, adjacency, &ports[adjacency->port]);
			continue;
		}
		memcpy(&word, frame + 22, sizeof(word)); /* see hy_ip4_rewrite_one() */
		if (unlikely((word & 0xff) <= 1)) {
			next[i] = HY_DROP(HY_IP4_REWRITE_TTL_EXPIRED);
			continue;
		}
		word += 0xffff + (word >= 0xfffe0000 ? 0x10000 : 0);
		write_l2(frame, &adjacency->l2);
		memcpy(frame + 22, &word, sizeof(word));
		next[i] = (uint16_t)(port >> 32);
	}
	return i;
}

#ifdef WIDTH
/* Apart, so that the usual case has the registers. */
static __rte_noinline uint32_t
rewrite_singly(const struct hy_ip4_rewrite_port *ports, const struct hy_ip4_adjacency *adjacencies,
	const uint32_t route[], void **objs, uint16_t next[])
{
	return rewrite(ports, adjacencies, route, objs, next, WIDTH);
}
#endif

static __rte_always_inline uint32_t
rewrite_all(const struct hy_ip4_rewrite_port *ports, const struct hy_ip4_adjacency *adjacencies,
	const uint32_t route[], void **objs, uint16_t next[], uint32_t n)
{
	uint32_t i = 0;

#ifdef WIDTH
	for (; i + WIDTH <= n; i += WIDTH) {
		uint32_t done = WIDTH;

		if (!side_by_side(ports, adjacencies, route + i, objs + i, next + i))
			done = rewrite_singly(ports, adjacencies, route + i, objs + i, next + i);
		if (unlikely(done < WIDTH))
			return i + done;
	}
#endif
	return i + rewrite(ports, adjacencies, route + i, objs + i, next + i, n - i);
}

/* From the first packet to a group on: apart, for its room on the stack. */
static __rte_noinline void
rewrite_for_members(const struct hy_ip4_rewrite_ctx *ctx, const uint32_t route[], void **objs,
	uint16_t next[], uint32_t n)
{
	uint32_t id[HY_BURST_MAX];

	ip4_members_find(hy_ip4_adjacencies(ctx->view), objs, route, id, n, MEMBERS);
	rewrite_all(ctx->port, hy_ip4_adjacencies(ctx->view), id, objs, next, n);
}

static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_rewrite_ctx *ctx = node->ctx;
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(ctx->view);
	const uint32_t *route = hy_lane(graph, node, HY_IP4_REWRITE_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];
	const uint32_t i = rewrite_all(ctx->port, adjacencies, route, objs, next, n);

	if (unlikely(i < n))
		rewrite_for_members(ctx, route + i, objs + i, next + i, n - i);
	hy_enqueue_next(graph, node, next, objs, n); /* moves the stream if all take one edge */
	return n;
}
