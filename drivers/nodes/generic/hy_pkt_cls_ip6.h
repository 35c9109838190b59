/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family pkt_cls, for its variants: IPv6.
 *
 * A program that forwards IPv6 adds an edge to ip6_lookup to its pkt_cls nodes, and configures them
 * with a struct hy_pkt_cls_config. While the table has a route, IPv6 is on: a frame of ether type
 * 0x86dd is checked by hy_pkt_cls_ip6_one() in place of "not_ip4". Otherwise, and in nodes without a
 * configuration, there is no IPv6, and nothing is read but one word a burst.
 *
 * A variant checks a burst as if all frames were IPv4, and then calls hy_pkt_cls_ip6_rest(), if
 * hy_pkt_cls_ip6_on(), unless all are IPv4. It may take a shorter way to the same result.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_ip6_view.h>
#include <hy_node.h>

HY_API_BEGIN

/** Configuration of a pkt_cls that forwards IPv6, for hy_node_config(). */
struct hy_pkt_cls_config {
	struct hy_ip6_lookup_config ip6; /**< As for ip6_lookup. Tables say whether IPv6 is on. */
	uint16_t ip6_edge; /**< The node's edge to ip6_lookup, by hy_node_edge_add(). */
};

/** Context of the family's init, which variants without one inherit. */
struct hy_pkt_cls_ctx {
	const struct hy_ip6_view *ip6; /**< Never NULL. */
	struct hy_ip6_fib *fib;        /**< The table, for fini; NULL without a configuration. */
	uint16_t ip6_edge;             /**< As in the configuration. */
};

/** The family's init. The context must begin with a struct hy_pkt_cls_ctx. */
int hy_pkt_cls_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, for the same contexts. */
void hy_pkt_cls_fini(const struct hy_graph *graph, struct hy_node *node);

/** Shortest IPv6 frame: Ethernet and the IPv6 header. */
#define HY_PKT_CLS_IP6_LEAST (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr))

/** @return Whether IPv6 is on. To be called once a burst. */
static inline bool
hy_pkt_cls_ip6_on(const struct hy_node *node)
{
	const struct hy_pkt_cls_ctx *ctx = (const struct hy_pkt_cls_ctx *)node->ctx;

	return unlikely(hy_ip6_trie(ctx->ip6) != NULL);
}

/** @return Whether a frame of at least 14 bytes has IPv6's ether type. */
static inline bool
hy_pkt_cls_says_ip6(const uint8_t *frame)
{
	rte_be16_t type;

	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	return type == RTE_BE16(RTE_ETHER_TYPE_IPV6);
}

/**
 * Checks as IPv6 the frames of a burst that the check for IPv4 has found to be none.
 *
 * @param frame As for a hy_pkt_cls_kernel_t.
 * @param len Likewise.
 * @param[in,out] next What that check wrote. Frames of ether type 0x86dd that count as "not_ip4" get
 * the edge to ip6_lookup or another reason.
 * @param[out] dst 0 for the same frames.
 */
void hy_pkt_cls_ip6_rest(const struct hy_node *node, const uint8_t *const frame[],
	const uint32_t len[], uint16_t next[], uint32_t dst[], uint32_t n);

/**
 * Checks the IPv6 frames at the start of a burst, before the first other one.
 *
 * @param[out] next As of hy_pkt_cls_ip6_rest(), for frames that were checked.
 * @param[out] dst Likewise.
 * @return How many were checked.
 */
uint32_t hy_pkt_cls_ip6_first(const struct hy_node *node, const uint8_t *const frame[],
	const uint32_t len[], uint16_t next[], uint32_t dst[], uint32_t n);

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_PKT_CLS_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_pkt_cls_ctx), HY_PLUGIN_OFFSET(hy_pkt_cls_ctx, ip6)

HY_PLUGIN_NUMBERS(pkt_cls, HY_PKT_CLS_NUMBERS);
/** @endcond */

HY_API_END
