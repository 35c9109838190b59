/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6_forward: pkt_cls, ip6_lookup and ip6_rewrite fused (hy_fuse.h). It handles the packets before the
 * first that any of the nodes would drop, and none of a burst in which one has several segments. Packets
 * to groups of next hops are left to the nodes.
 */
#pragma once

#include <rte_mbuf.h>

#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_pkt_cls.h>

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

/* Addresses are looked up one after another; level by level. */
ip6_forward_t ip6_forward_singly, ip6_forward_batch;
