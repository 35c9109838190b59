/* SPDX-License-Identifier: BSD-3-Clause */
/* A rig of the l3fwd benchmark, and a contender by the book, for tests of its parts. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>

#include "app/bench/l3fwd.h"

#include "app/test/unit.h"
#include "bench_stand_in.h"

#define PACKETS 64
#define PORTS 2
#define TTL 64

extern struct l3fwd_table *table;
extern struct l3fwd_traffic *traffic;
extern struct l3fwd_rig rig;

/* What a contender does to a packet, and the fault in one of them. */
typedef void fault_t(struct rte_mbuf *m, unsigned int *port);

static inline struct rte_ether_hdr *
l2_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
}

static inline struct rte_ipv4_hdr *
ip_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static inline struct rte_ipv6_hdr *
ip6_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, RTE_ETHER_HDR_LEN);
}

static inline void
sum_write(const struct rte_mbuf *m)
{
	ip_of(m)->hdr_checksum = 0;
	ip_of(m)->hdr_checksum = rte_ipv4_cksum(ip_of(m));
}

/* A router by the book, that searches the table itself. Returns the next hop. */
uint32_t route(struct rte_mbuf *m);
/* Forwards a round, with a fault in the packet received as number `odd`; NULL: none. Returns the drops. */
uint64_t forward(fault_t *fault, unsigned int odd);
/*
 * A rig with so many packets of a hundred without a route. IPv6: all but every `ip4_every`-th; 0: all
 * of them.
 */
int setup_with(unsigned int lost, bool ip6, unsigned int ip4_every);
/* One of IPv4 packets that all have routes. */
int setup(void **state);
int teardown(void **state);
