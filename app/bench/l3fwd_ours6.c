/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 part of Halyard's contender: its nodes, its table, and what both are configured with. */

#include <stdio.h>
#include <stdlib.h>

#include <hy_graph.h>
#include <hy_pkt_cls.h>

#include "l3fwd.h"
#include "l3fwd_ours.h"

static struct {
	hy_node_id lookup, rewrite;
	uint16_t cls_edge, edge[HY_IP4_PORTS];
} nodes;

void
ours6_nodes(const struct hy_ends *ends, hy_node_id classifier)
{
	char name[HY_NAME_SIZE];

	ours_must(hy_hal_node(ends->hal, "ip6_lookup", 0, &nodes.lookup), "ip6_lookup");
	ours_must(hy_hal_node(ends->hal, "ip6_rewrite", 0, &nodes.rewrite), "ip6_rewrite");
	ours_must(hy_node_edge_add(classifier, "ip6_lookup", &nodes.cls_edge), "ip6_lookup");
	for (unsigned int p = 0; p < HY_IP4_PORTS; p++)
		nodes.edge[p] = HY_IP4_NO_EDGE;
	for (unsigned int p = 0; p < ends->nb_ports; p++) {
		snprintf(name, sizeof(name), "ethdev_tx-%u", ends->ports[p]);
		ours_must(hy_node_edge_add(nodes.rewrite, name, &nodes.edge[ends->ports[p]]), name);
	}
}

int
ours6_fib_create(struct hy_ip4_fib *next_hops, const struct l3fwd_table *table,
	const uint32_t id[HOPS], struct hy_ip6_fib **fib)
{
	struct hy_ip6_route *routes;
	int rc = hy_ip6_fib_create(next_hops, fib);

	if (rc < 0 || table->n6 == 0)
		return rc;
	routes = bench_alloc(table->n6, sizeof(*routes));
	for (uint32_t i = 0; i < table->n6; i++) {
		routes[i] = table->routes6[i];
		routes[i].next_hop = id[routes[i].next_hop];
	}
	rc = hy_ip6_routes_set(*fib, routes, table->n6, NULL);
	free(routes);
	return rc;
}

void
ours6_fib_set(struct hy_hal *hal, struct hy_ip6_fib *fib)
{
	struct hy_ip6_rewrite_config config = { .tables.fibs = { fib }, .tables.nb_fibs = 1 };
	const struct hy_pkt_cls_config cls = { .ip6 = config.tables, .ip6_edge = nodes.cls_edge };

	memcpy(config.edge, nodes.edge, sizeof(config.edge));
	ours_must(hy_hal_node_config(hal, "pkt_cls", &cls, sizeof(cls)), "pkt_cls");
	ours_must(hy_node_config(nodes.lookup, &config.tables, sizeof(config.tables)),
		"ip6_lookup");
	ours_must(hy_node_config(nodes.rewrite, &config, sizeof(config)), "ip6_rewrite");
}
