/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv4 forwarding table as its nodes read it. */
#ifndef HY_IP4_FIB_H
#define HY_IP4_FIB_H

#include <assert.h>
#include <stdalign.h>

#include <rte_lpm.h>

#include <hy_graph.h>
#include <hy_ip4.h>

/* What ip4_rewrite needs of a next hop: the L2 header to be, and the port behind it. */
struct hy_ip4_adjacency {
	struct rte_ether_hdr l2;
	uint16_t port;
};

static_assert(sizeof(struct hy_ip4_adjacency) == 16, "an adjacency is one 16-byte load");

struct hy_ip4_fib {
	struct rte_lpm *lpm;
	/* The route 0/0, which rte_lpm does not take: an LPM entry, 0 without one. */
	uint32_t default_entry;
	/* What the control thread writes shares no cache line with what workers read. */
	alignas(RTE_CACHE_LINE_SIZE) uint32_t nb_next_hops;
	uint32_t max_next_hops;
	int socket;
	unsigned int nb_users; /* graphs that have copied the ports: they are fixed */
	bool has_port[RTE_MAX_ETHPORTS];
	struct hy_ip4_port ports[RTE_MAX_ETHPORTS];
	alignas(RTE_CACHE_LINE_SIZE) struct hy_ip4_adjacency adjacencies[];
};

/* The table for a graph, out of a configuration; NULL: there is none. */
struct hy_ip4_fib *hy_ip4_fib_for(const struct hy_graph *graph,
	const struct hy_ip4_lookup_config *config);

#endif
