/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of the family ip4_rewrite, and the rewriting of one header. */
#ifndef HY_IP4_REWRITE_H
#define HY_IP4_REWRITE_H

#include <rte_byteorder.h>
#include <rte_ip.h>

#include <hy_node.h>

#include "ip4_fib.h"

/* Edges are one a port, added at run time. */
enum ip4_rewrite_drop { IP4_REWRITE_TTL_EXPIRED, IP4_REWRITE_MTU_EXCEEDED };
enum ip4_rewrite_lane { IP4_REWRITE_LANE_ROUTE };

/* Bytes of a frame that are read and written. */
#define IP4_REWRITE_HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

/* How a port is sent to. */
struct ip4_rewrite_port {
	uint32_t max_len;
	uint16_t edge;
};

/* The context of a node, as the family's init() makes it. */
struct ip4_rewrite_ctx {
	struct hy_ip4_fib *fib;
	struct ip4_rewrite_port port[RTE_MAX_ETHPORTS];
};

/*
 * Forwards one header of IP4_REWRITE_HEADERS bytes, of a frame of len bytes: L2 addresses, TTL - 1,
 * checksum. Returns the port's edge, or a drop, upon which nothing was written.
 *
 * RFC 1624 eqn. 3 with m' = m - 0x0100 adds 0x0100 to the checksum with the carry around; a sum of
 * 0xffff is 0 in it, as the header as a whole never sums to 0.
 */
static __rte_always_inline uint16_t
ip4_rewrite_one(uint8_t *frame, uint32_t len, const struct hy_ip4_adjacency *adjacency,
	const struct ip4_rewrite_port *port)
{
	/* TTL, protocol and checksum, as they lie in memory: the TTL lowest. */
	rte_le32_t field;
	uint64_t head, tail;
	uint32_t word;

	memcpy(&field, frame + 22, sizeof(field));
	word = rte_le_to_cpu_32(field);
	if (unlikely((word & 0xff) <= 1))
		return HY_DROP(IP4_REWRITE_TTL_EXPIRED);
	if (unlikely(len > port->max_len))
		return HY_DROP(IP4_REWRITE_MTU_EXCEEDED);
	memcpy(&head, &adjacency->l2, 8);
	memcpy(&tail, (const uint8_t *)&adjacency->l2 + 6, 8);
	word += 0xffff + (word >= 0xfffe0000 ? 0x10000 : 0);
	memcpy(frame, &head, 8);
	memcpy(frame + 6, &tail, 8);
	field = rte_cpu_to_le_32(word);
	memcpy(frame + 22, &field, sizeof(field));
	return port->edge;
}

#endif
