/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family ip4_rewrite, for its variants: next hop to L2 header and port, and the
 * rewrite of one header that variants share.
 *
 * The program adds one edge for each port and passes them in struct hy_ip4_rewrite_config. The one
 * lane holds the id of a next hop or a group; the node reads it and does not write it. A packet to a
 * group goes to the member that its flow takes, as hy_ip4_group_view.h says. In a forwarded frame the node
 * rewrites MAC addresses, TTL and header checksum (RFC 1812 5.2.3, 5.3.1), all within the first
 * HY_IP4_REWRITE_HEADERS bytes, which may span several segments. A dropped frame keeps its bytes. A
 * frame with a TTL of 0 or 1 counts as "ttl_expired" whatever its length. No two packets of a burst may
 * share these bytes, as clones of an mbuf do: some variants read several headers before they write one.
 *
 * hy_ip4_view.h says how to read the table. A variant without init, fini and ctx_size inherits the
 * family's: its context is a struct hy_ip4_rewrite_ctx.
 */
#pragma once

#include <rte_byteorder.h>
#include <rte_ip.h>

#include <hy_ip4_group_view.h>
#include <hy_node.h>

HY_API_BEGIN

/** Drop reasons: "ttl_expired", "mtu_exceeded". */
enum hy_ip4_rewrite_drop { HY_IP4_REWRITE_TTL_EXPIRED, HY_IP4_REWRITE_MTU_EXCEEDED };
/** Lanes: "ip4_route". */
enum hy_ip4_rewrite_lane { HY_IP4_REWRITE_LANE_ROUTE };

/** Bytes of a frame that the node reads and writes. */
#define HY_IP4_REWRITE_HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

/** How to send to a port. */
struct hy_ip4_rewrite_port {
	uint32_t max_len; /**< Longest frame that it sends, in bytes without CRC. */
	uint16_t edge;    /**< The node's edge to it. */
};

/** Context of variants that use the family's init. */
struct hy_ip4_rewrite_ctx {
	const struct hy_ip4_view *view; /**< What the worker reads. */
	struct hy_ip4_fib *fib;         /**< The table, for fini. */
	/**
	 * By port id, for the ports of the table. Constant while the graph exists. That of
	 * HY_IP4_PORT_GROUP sends no frame.
	 */
	struct hy_ip4_rewrite_port port[HY_IP4_PORTS + 1];
};

/** The family's init. The context must begin with a struct hy_ip4_rewrite_ctx. */
int hy_ip4_rewrite_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, for the same contexts. */
void hy_ip4_rewrite_fini(const struct hy_graph *graph, struct hy_node *node);

/**
 * Rewrites one header: L2 addresses, TTL - 1, checksum. Worker only.
 *
 * RFC 1624 eqn. 3 with m' = m - 0x0100 adds 0x0100 to the checksum with end-around carry. A sum of
 * 0xffff becomes 0, since the words of a header never sum to 0.
 *
 * @param[in,out] frame HY_IP4_REWRITE_HEADERS bytes.
 * @param len Length of the whole frame in bytes.
 * @return The port's edge; or HY_DROP() of the reason, with nothing written. With the adjacency of a
 * group, it is a reason.
 */
static __rte_always_inline uint16_t
hy_ip4_rewrite_one(uint8_t *frame, uint32_t len, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port)
{
	/* TTL, protocol and checksum in memory order: the TTL is the lowest byte. */
	rte_le32_t field;
	uint64_t head, tail;
	uint32_t word;

	memcpy(&field, frame + 22, sizeof(field));
	word = rte_le_to_cpu_32(field);
	if (unlikely((word & 0xff) <= 1))
		return HY_DROP(HY_IP4_REWRITE_TTL_EXPIRED);
	if (unlikely(len > port->max_len))
		return HY_DROP(HY_IP4_REWRITE_MTU_EXCEEDED);
	memcpy(&head, &adjacency->l2, 8);
	memcpy(&tail, (const uint8_t *)&adjacency->l2 + 6, 8);
	word += 0xffff + (word >= 0xfffe0000 ? 0x10000 : 0);
	memcpy(frame, &head, 8);
	memcpy(frame + 6, &tail, 8);
	field = rte_cpu_to_le_32(word);
	memcpy(frame + 22, &field, sizeof(field));
	return port->edge;
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_REWRITE_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_rewrite_ctx), HY_PLUGIN_SIZE(struct hy_ip4_rewrite_port), \
		HY_PLUGIN_OFFSET(hy_ip4_rewrite_ctx, view), \
		HY_PLUGIN_OFFSET(hy_ip4_rewrite_ctx, port), \
		HY_PLUGIN_OFFSET(hy_ip4_rewrite_port, edge)

HY_PLUGIN_NUMBERS(ip4_rewrite, HY_IP4_REWRITE_NUMBERS);
/** @endcond */

HY_API_END
