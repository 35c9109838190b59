/* SPDX-License-Identifier: BSD-3-Clause */
/* See l3fwd_librte.h. */

#include <rte_lpm6.h>

#include "lib/graph/internal/dpdk.h"

#include "fibs6.h"
#include "l3fwd_librte.h"

#if HY_DPDK_NODES_IP6

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_lcore.h>
#include <rte_node_ip6_api.h>

/* The table of all graphs of librte_node on this socket. */
static struct rte_lpm6 *
own_table(void)
{
	char name[RTE_LPM6_NAMESIZE];

	snprintf(name, sizeof(name), "IPV6_L3FWD_LPM_%u", rte_socket_id());
	return rte_lpm6_find_existing(name);
}

/* As table_exchange() for IPv4. */
static int
table_exchange(const char *graph, const struct l3fwd_table *table, struct rte_lpm6 **large)
{
	struct rte_node *lookup = rte_graph_node_get_by_name(graph, "ip6_lookup");
	const struct rte_lpm6 *own = own_table();

	if (lookup == NULL || own == NULL || memcmp(lookup->ctx, &own, sizeof(own)) != 0)
		return bench_cannot("librte_node's table takes %d routes", LIBRTE_ROUTES);
	*large = table_lpm6(table, "l3fwd_librte6");
	if (*large == NULL)
		return -1;
	memcpy(lookup->ctx, large, sizeof(*large));
	return 0;
}

static int
routes_add(const struct l3fwd_table *table)
{
	if (own_table() == NULL)
		return bench_cannot("librte_node has no table for IPv6");
	rte_lpm6_delete_all(own_table());
	for (uint32_t i = 0; i < table->n6; i++) {
		const struct hy_ip6_route *r = &table->routes6[i];
		const void *prefix = r->prefix; /* its type depends on the DPDK */

		if (rte_node_ip6_route_add(prefix, r->depth, (uint16_t)r->next_hop,
			    RTE_NODE_IP6_LOOKUP_NEXT_REWRITE) < 0)
			return bench_cannot("librte_node does not take IPv6 route %u", i);
	}
	static_assert(RTE_NODE_IP6_LOOKUP_NEXT_REWRITE == 0, "a next hop is an entry by itself");
	return 0;
}

static int
hops_add(bool loop)
{
	for (unsigned int hop = 0; hop < HOPS; hop++) {
		const unsigned int port = loop ? RIG_LOOP : hop_port(hop);
		struct rte_ether_hdr header = l3fwd_hop_header(hop);

		header.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
		if (rte_node_ip6_rewrite_add((uint16_t)hop, (uint8_t *)&header, sizeof(header),
			    rig_port(USERS_LIBRTE_NODE, port)) < 0)
			return bench_cannot("librte_node does not take next hop %u", hop);
	}
	return 0;
}

int
librte6_set_up(const char *graph, const struct l3fwd_table *table, bool loop, bool first,
	struct rte_lpm6 **large)
{
	if (hops_add(loop) < 0)
		return -1;
	if (table->n6 > LIBRTE_ROUTES || fib6_tbl8s(table->routes6, table->n6) > LIBRTE_TBL8S)
		return table_exchange(graph, table, large);
	return first ? routes_add(table) : 0;
}

#else

int
librte6_set_up(const char *graph __rte_unused, const struct l3fwd_table *table __rte_unused,
	bool loop __rte_unused, bool first __rte_unused, struct rte_lpm6 **large __rte_unused)
{
	return bench_cannot("%s has no IPv6 nodes; DPDK 23.07 and later have", rte_version());
}

#endif
