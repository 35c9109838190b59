/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark's contender from the system DPDK: librte_graph with the nodes of librte_node,
 * set up as DPDK's own l3fwd-graph does it. Its nodes cannot be removed, and its table is one for
 * the process: ports are made known once, routes are exchanged for each work.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_lpm.h>
#include <rte_node_eth_api.h>
#include <rte_node_ip4_api.h>

#include "l3fwd.h"

#define NAME_LENGTH 32
#define TABLE_ROUTES 1024 /* ip4_lookup's own table has room for these */
#define TABLE_TBL8S 256

struct librte {
	const struct l3fwd_rig *rig;
	rte_graph_t id;
	struct rte_graph *graph;
	const struct rte_node *drop;
};

static void
nodes_configure(void)
{
	struct rte_node_ethdev_config config[L3FWD_PORTS + 1] = { 0 };
	static bool done;

	for (unsigned int p = 0; !done && p <= L3FWD_PORTS; p++)
		config[p] = (struct rte_node_ethdev_config){
			.port_id = rig_port(USERS_LIBRTE_NODE, p),
			.num_rx_queues = (uint16_t)rig_lanes(),
			.num_tx_queues = (uint16_t)rig_lanes(),
		};
	if (!done && rte_node_eth_config(config, L3FWD_PORTS + 1, (uint16_t)rig_lanes()) < 0)
		l3fwd_fail("librte_node does not take the ports");
	done = true;
}

static void
librte_run(void *arg, uint64_t turns)
{
	const struct librte *w = arg;

	while (turns-- > 0 && rig_pending(w->rig))
		rte_graph_walk(w->graph);
}

static uint64_t
librte_drops(void *arg)
{
	return ((const struct librte *)arg)->drop->total_objs;
}

static void
librte_destroy(void *arg)
{
	struct librte *w = arg;

	rte_graph_destroy(w->id);
	free(w);
}

struct l3fwd_way
librte_create(const struct l3fwd_rig *rig)
{
	char sources[L3FWD_PORTS][NAME_LENGTH], name[NAME_LENGTH];
	const char *patterns[L3FWD_PORTS];
	struct rte_graph_param params = { .socket_id = (int)rte_socket_id(),
		.nb_node_patterns = (uint16_t)rig->nb_ports,
		.node_patterns = patterns };
	struct librte *w = calloc(1, sizeof(*w));

	nodes_configure();
	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		snprintf(sources[p], NAME_LENGTH, "ethdev_rx-%u-%u",
			rig->port[USERS_LIBRTE_NODE][p], rig->lane);
		patterns[p] = sources[p];
	}
	snprintf(name, sizeof(name), "l3fwd-%u", rig->lane);
	if (w == NULL || (w->id = rte_graph_create(name, &params)) == RTE_GRAPH_ID_INVALID)
		l3fwd_fail("librte_graph: %s", rte_strerror(rte_errno));
	if (w->id != rig->lane) /* ethdev_tx sends on the queue of the graph's number */
		l3fwd_fail("librte_graph: graph %u where %u is wanted", w->id, rig->lane);
	w->rig = rig;
	w->graph = rte_graph_lookup(name);
	w->drop = rte_graph_node_get_by_name(name, "pkt_drop");
	return (struct l3fwd_way){ .name = "librte_node",
		.rewrites = true,
		.run = librte_run,
		.drops = librte_drops,
		.destroy = librte_destroy,
		.burst = RTE_GRAPH_BURST_SIZE,
		.arg = w };
}

bool
librte_table(const struct l3fwd_table *table, bool loop)
{
	char name[RTE_LPM_NAMESIZE];
	struct rte_lpm *lpm;

	snprintf(name, sizeof(name), "IPV4_L3FWD_LPM_%u", rte_socket_id());
	lpm = rte_lpm_find_existing(name);
	if (lpm == NULL)
		l3fwd_fail("librte_node has no table %s", name);
	if (table->n > TABLE_ROUTES || table->tbl8s > TABLE_TBL8S)
		return false;
	rte_lpm_delete_all(lpm);
	for (unsigned int hop = 0; hop < HOPS; hop++) {
		struct rte_ether_hdr header = l3fwd_hop_header(hop);
		const uint16_t port = rig_port(USERS_LIBRTE_NODE, loop ? RIG_LOOP : hop_port(hop));

		if (rte_node_ip4_rewrite_add((uint16_t)hop, (uint8_t *)&header, sizeof(header),
			    port) < 0)
			l3fwd_fail("librte_node does not take next hop %u", hop);
	}
	for (uint32_t i = 0; i < table->n; i++) {
		const struct l3fwd_route *route = &table->routes[i];

		if (rte_node_ip4_route_add(route->prefix, route->depth, route->hop,
			    RTE_NODE_IP4_LOOKUP_NEXT_REWRITE) < 0)
			l3fwd_fail("librte_node does not take route %u", i);
	}
	return true;
}
