/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family ip6_rewrite, for its variants: next hop to MAC addresses and port, and
 * the rewrite of one header that variants share.
 *
 * The program adds one edge for each port and passes them in struct hy_ip6_rewrite_config. The one
 * lane holds the id of a next hop or a group; the node reads it and does not write it. A packet to a
 * group goes to the member that its flow takes, as hy_ip6_group_view.h says. In a forwarded frame the node
 * rewrites MAC addresses and the hop limit (RFC 8200 section 3), all within the first
 * HY_IP6_REWRITE_HEADERS bytes, which may span several segments. Where a segment has 32 bytes, variants
 * may write all of them, the others unchanged. A dropped frame keeps its bytes. A frame with a hop limit
 * of 0 or 1 counts as "ttl_expired" whatever its length. No two packets of a burst may share these
 * bytes, as clones of an mbuf do.
 *
 * hy_ip6_view.h says how to read the table. A variant without init, fini and ctx_size inherits the
 * family's: its context is a struct hy_ip6_rewrite_ctx.
 */
#pragma once

#include <string.h>

#include <hy_ip4_rewrite.h>
#include <hy_ip6_group_view.h>
#include <hy_ip6_view.h>
#include <hy_node.h>

HY_API_BEGIN

/** Drop reasons: "ttl_expired", "mtu_exceeded". */
enum hy_ip6_rewrite_drop { HY_IP6_REWRITE_TTL_EXPIRED, HY_IP6_REWRITE_MTU_EXCEEDED };
/** Lanes: "ip4_route", as ip6_lookup writes it. */
enum hy_ip6_rewrite_lane { HY_IP6_REWRITE_LANE_ROUTE };

/** Where the hop limit is in a frame. */
#define HY_IP6_HOP_LIMIT (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, hop_limits))
/** Bytes of a frame that the node reads and writes. */
#define HY_IP6_REWRITE_HEADERS (HY_IP6_HOP_LIMIT + 1)

/** Context of variants that use the family's init. */
struct hy_ip6_rewrite_ctx {
	const struct hy_ip6_view *view; /**< What the worker reads. */
	struct hy_ip6_fib *fib;         /**< The table, for fini. */
	/** As in struct hy_ip4_rewrite_ctx. */
	struct hy_ip4_rewrite_port port[HY_IP4_PORTS + 1];
};

/** The family's init. The context must begin with a struct hy_ip6_rewrite_ctx. */
int hy_ip6_rewrite_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, for the same contexts. */
void hy_ip6_rewrite_fini(const struct hy_graph *graph, struct hy_node *node);

/**
 * Rewrites one header: MAC addresses and hop limit. Worker only.
 *
 * @param[in,out] frame HY_IP6_REWRITE_HEADERS bytes.
 * @param len Length of the whole frame in bytes.
 * @return The port's edge; or HY_DROP() of the reason, with nothing written. With the adjacency of a
 * group, it is a reason.
 */
static __rte_always_inline uint16_t
hy_ip6_rewrite_one(uint8_t *frame, uint32_t len, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port)
{
	const uint8_t hops = frame[HY_IP6_HOP_LIMIT];

	if (unlikely(hops <= 1))
		return HY_DROP(HY_IP6_REWRITE_TTL_EXPIRED);
	if (unlikely(len > port->max_len))
		return HY_DROP(HY_IP6_REWRITE_MTU_EXCEEDED);
	/* Not the ether type, which is IPv4's in an adjacency. */
	memcpy(frame, &adjacency->l2, offsetof(struct rte_ether_hdr, ether_type));
	frame[HY_IP6_HOP_LIMIT] = (uint8_t)(hops - 1);
	return port->edge;
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP6_REWRITE_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip6_rewrite_ctx), HY_PLUGIN_OFFSET(hy_ip6_rewrite_ctx, port)

HY_PLUGIN_NUMBERS(ip6_rewrite, HY_IP6_REWRITE_NUMBERS);
/** @endcond */

HY_API_END
