/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of static loops for IPv6 packets, with rte_fib6, and for bursts of both families. */
#pragma once

#include "drivers/nodes/generic/classify/pkt_cls_ip6.h"

#include "l3fwd_static.h"

static inline struct rte_ipv6_hdr *
ip6_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, RTE_ETHER_HDR_LEN);
}

static __rte_always_inline void
static6_take(struct static_burst6 *b, struct rte_mbuf *m)
{
	memcpy(b->dst[b->n], &ip6_of(m)->dst_addr, HY_IP6_BYTES);
	b->mbufs[b->n++] = m;
}

/*
 * Checks a packet as pkt_cls does when it forwards both families; takes it if it is IPv6, and drops it
 * if it does not pass. Returns whether it is an IPv4 packet to forward.
 */
static __rte_always_inline bool
static6_check(struct static_loop *s, struct static_burst6 *b, struct rte_mbuf *m, uint32_t *dst)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint32_t len = m->pkt_len;
	uint16_t next;

	if (likely(len >= RTE_ETHER_HDR_LEN && (frame[0] & RTE_ETHER_GROUP_ADDR) == 0 &&
		    hy_pkt_cls_says_ip6(frame))) {
		next = pkt_cls_ip6_one(frame, len, 0);
		if (likely(next == 0)) {
			s->hop_by_hop += ip6_of(m)->proto == IPPROTO_HOPOPTS;
			static6_take(b, m);
			return false;
		}
	} else {
		next = hy_pkt_cls_one(frame, len, false, dst);
		if (likely(next == HY_PKT_CLS_NEXT_IP4_LOOKUP))
			return true;
	}
	static_drop(s, (uint16_t)(next - HY_DROP(0)), m);
	return false;
}

static __rte_always_inline void
static6_lookup(const struct static_loop *s, struct static_burst6 *b, uint32_t *hop)
{
	uint64_t wide[BURST_MAX];

	/* The type of the array of addresses depends on the DPDK. */
	rte_fib6_lookup_bulk(s->fib6, (void *)b->dst, wide, b->n);
	for (uint16_t i = 0; i < b->n; i++)
		hop[i] = (uint32_t)wide[i];
}

static __rte_always_inline void
static6_rewrite(const struct static_loop *s, struct rte_mbuf *m, uint32_t hop)
{
	/* All but the ether type. */
	memcpy(rte_pktmbuf_mtod(m, void *), &s->hops[hop].l2, 2 * sizeof(struct rte_ether_addr));
	ip6_of(m)->hop_limits--;
}

/* Rewrites packets that have a route and pass the checks of ip6_rewrite, and drops the others. */
static __rte_always_inline uint16_t
static6_rewrite_checked(struct static_loop *s, struct static_burst6 *b, uint32_t *hop)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->mbufs[i];

		if (unlikely(hop[i] == HOP_NONE)) {
			static_drop(s, DROP_NO_ROUTE, m);
		} else if (unlikely(ip6_of(m)->hop_limits <= 1)) {
			static_drop(s, DROP_TTL, m);
		} else if (unlikely(m->pkt_len > L3FWD_MTU)) {
			static_drop(s, DROP_MTU, m);
		} else {
			static6_rewrite(s, m, hop[i]);
			hop[kept] = hop[i];
			b->mbufs[kept++] = m;
		}
	}
	return kept;
}
