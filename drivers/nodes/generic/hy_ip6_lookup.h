/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family ip6_lookup, for its variants: destination address to next hop, by
 * longest prefix match.
 *
 * Every packet leaves by the edge to ip6_rewrite or is dropped. It is an IPv6 packet that pkt_cls has
 * checked: it has HY_IP6_LOOKUP_HEADERS bytes, which may span segments. The node reads the destination
 * address from the packet and does not write the packet. On exit, the one lane holds the id of the
 * next hop or group, or 0 for a dropped packet; on entry, its value means nothing. If the table has been
 * emptied since pkt_cls looked, packets have no route.
 *
 * A packet with a Hop-by-Hop Options header is forwarded like any other, as RFC 8200 section 4 allows
 * a router that is not configured to process the options. The counter "hop_by_hop" counts those that
 * arrive. No other extension header is looked at (RFC 7045 section 2.1).
 *
 * Its configuration is struct hy_ip6_lookup_config (hy_ip6.h); hy_ip6_view.h says how to read the
 * table. A variant without init, fini and ctx_size inherits the family's: its context is a struct
 * hy_ip6_lookup_ctx.
 */
#pragma once

#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_ip6_view.h>
#include <hy_mbuf.h>
#include <hy_node.h>

HY_API_BEGIN

/** Edges. */
enum hy_ip6_lookup_next { HY_IP6_LOOKUP_NEXT_REWRITE };
/** Drop reasons: "no_route". */
enum hy_ip6_lookup_drop { HY_IP6_LOOKUP_NO_ROUTE };
/** Counters: "hop_by_hop". */
enum hy_ip6_lookup_counter { HY_IP6_LOOKUP_HOP_BY_HOP };
/** Lanes: "ip4_route", the id of a next hop or a group, which both families share. */
enum hy_ip6_lookup_lane { HY_IP6_LOOKUP_LANE_ROUTE };

/** Bytes of a frame that the node reads: up to the end of the IPv6 header. */
#define HY_IP6_LOOKUP_HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr))

/** Context of variants that use the family's init. */
struct hy_ip6_lookup_ctx {
	const struct hy_ip6_view *view; /**< What the worker reads. */
	struct hy_ip6_fib *fib;         /**< The table, for fini. */
};

/** The family's init. The context must begin with a struct hy_ip6_lookup_ctx. */
int hy_ip6_lookup_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, for the same contexts. */
void hy_ip6_lookup_fini(const struct hy_graph *graph, struct hy_node *node);

/**
 * A kernel: looks up a burst. It uses no graph and no packet.
 *
 * @param trie The routes; not NULL.
 * @param dst @p n addresses of HY_IP6_BYTES bytes, in network byte order, at any alignment.
 * @param[out] route Ids of next hops or groups, or 0.
 * @param[out] next HY_IP6_LOOKUP_NEXT_REWRITE or HY_DROP(HY_IP6_LOOKUP_NO_ROUTE).
 * @param n 1 to HY_BURST_MAX.
 */
typedef void(hy_ip6_lookup_kernel_t)(const struct hy_ip6_trie *trie, const uint8_t *const dst[],
	uint32_t route[], uint16_t next[], uint32_t n);

/** The reference variant's kernel, one address at a time. */
hy_ip6_lookup_kernel_t hy_ip6_lookup_scalar;

/** Process function of a variant with kernel @p kernel. */
uint16_t hy_ip6_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs,
	uint16_t n, hy_ip6_lookup_kernel_t *kernel);

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP6_LOOKUP_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip6_lookup_ctx), HY_PLUGIN_OFFSET(hy_ip6_lookup_ctx, fib)

HY_PLUGIN_NUMBERS(ip6_lookup, HY_IP6_LOOKUP_NUMBERS);
/** @endcond */

HY_API_END
