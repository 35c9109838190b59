/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6_forward: pkt_cls, ip6_lookup and ip6_rewrite fused (hy_fuse.h). It handles the packets before the
 * first that any of the nodes would drop, and none of a burst in which one has several segments. Packets
 * to groups of next hops are left to the nodes.
 */
#pragma once

#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_pkt_cls.h>

#include "forward.h"

/* The edge that a program adds to pkt_cls, if it adds no other. */
#define IP6_FORWARD_EDGE (HY_PKT_CLS_NEXT_IP4_LOOKUP + 1)

/* What the nodes have, for one burst. */
struct ip6_forward {
	const struct hy_ip6_trie *trie; /* not NULL */
	const struct hy_ip4_view *hops; /* to be read after routes */
	const struct hy_ip4_rewrite_port *ports;
};

/*
 * Forwards the frames before the first that does not pass, and returns how many these are. Writes the
 * edges that they take. Adds to options how many of them have hop-by-hop options.
 */
typedef uint32_t(ip6_forward_t)(const struct ip6_forward *forward, uint8_t *const frame[],
	const uint32_t len[], uint16_t next[], uint32_t *options, uint32_t n);

/* Takes back from options those of n frames that were checked but stay. */
void ip6_forward_uncount(uint8_t *const frame[], uint32_t *options, uint32_t n);

/* The packets of the chain: by ether type. */
hy_fuse_pick_t ip6_forward_pick;

/* The nodes and the edges of the chain, for HY_NODE_FUSION. */
#define IP6_FORWARD_CHAIN(cls_, lookup_, rewrite_) \
	.pick = ip6_forward_pick, .stops = forward_stops, \
	.chain = { { "pkt_cls", cls_ }, { "ip6_lookup", lookup_ }, { "ip6_rewrite", rewrite_ } }, \
	.edge = { IP6_FORWARD_EDGE, HY_IP6_LOOKUP_NEXT_REWRITE }

/* Whether pkt_cls sends IPv6 along the chain, as long as it is on. */
static inline bool
ip6_forward_leads_here(const struct hy_node *cls)
{
	const struct hy_pkt_cls_ctx *ctx = cls->ctx;

	return ctx->ip6_edge == IP6_FORWARD_EDGE && hy_pkt_cls_ip6_on(cls);
}

/* The body of a fusion's function. */
static __rte_always_inline uint16_t
ip6_forward_run(struct hy_node *const nodes[], void **objs, uint16_t n, uint16_t next[],
	ip6_forward_t *kernel)
{
	const struct hy_ip6_lookup_ctx *lookup = nodes[1]->ctx;
	const struct hy_ip6_rewrite_ctx *rewrite = nodes[2]->ctx;
	const struct ip6_forward with = { .trie = hy_ip6_trie(lookup->view),
		.hops = rewrite->view->next_hops,
		.ports = rewrite->port };
	uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], options = 0, done;

	if (!ip6_forward_leads_here(nodes[0]) || with.trie == NULL ||
		!forward_frames(objs, n, frame, len))
		return 0;
	done = kernel(&with, frame, len, next, &options, n);
	if (unlikely(options != 0))
		hy_counter_add(nodes[1], HY_IP6_LOOKUP_HOP_BY_HOP, options);
	return (uint16_t)done;
}
