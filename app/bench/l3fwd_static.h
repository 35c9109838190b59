/* SPDX-License-Identifier: BSD-3-Clause */
/* A static loop of the l3fwd benchmark, for the files that implement it, one for each family. */
#pragma once

#include <rte_fib6.h>
#include <rte_lpm.h>

#include <hy_graph.h>
#include <hy_ip6.h>

#include "l3fwd.h"

/* As in l3fwd. */
#define BURST 32
#define BURST_MAX 256
#define PREFETCH 3

#define DROPS_CHECKS HY_DESC_DROPS /* first the drop reasons of pkt_cls, then these */
enum { DROP_NO_ROUTE = DROPS_CHECKS, DROP_TTL, DROP_MTU, DROP_TX_FULL, DROPS };

struct gathered {
	uint16_t n;
	struct rte_mbuf *mbufs[BURST_MAX];
};

struct static_loop {
	alignas(RTE_CACHE_LINE_SIZE) const
		struct l3fwd_rig *rig; /* own cache lines for each lcore */
	struct rte_lpm *lpm;
	struct rte_fib6 *fib6; /* NULL: no IPv6 */
	uint16_t burst;        /* packets received at once */
	struct {
		alignas(16) struct rte_ether_hdr l2; /* aligned to make indexing cheap */
	} hops[HOPS + 1];
	struct gathered gathered[L3FWD_PORTS];
	uint64_t drops[DROPS];
	uint64_t hop_by_hop; /* packets with such options, forwarded like others */
};

static inline void
static_drop(struct static_loop *s, unsigned int reason, struct rte_mbuf *m)
{
	s->drops[reason]++;
	rte_pktmbuf_free(m);
}

/* The IPv6 packets of a burst, and their destinations. */
struct static_burst6 {
	uint16_t n;
	struct rte_mbuf *mbufs[BURST_MAX];
	uint8_t dst[BURST_MAX][HY_IP6_BYTES];
};
