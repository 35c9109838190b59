/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark's contender from the system DPDK: librte_graph with the nodes of librte_node,
 * set up as in DPDK's own l3fwd-graph. Its nodes cannot be removed, and the process has a single
 * table: ports are configured once, routes are replaced for each work.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_lpm.h>
#include <rte_lpm6.h>
#include <rte_node_eth_api.h>
#include <rte_node_ip4_api.h>

#include "l3fwd_librte.h"

#define NAME_LENGTH 32

struct librte {
	const struct l3fwd_rig *rig;
	rte_graph_t id;
	struct rte_graph *graph;
	const struct rte_node *drop;
	void *callbacks[L3FWD_PORTS]; /* of ethdev_rx, while they are removed */
	struct rte_lpm *large;        /* instead of librte_node's own table; NULL: none */
	struct rte_lpm6 *large6;      /* the same of IPv6 */
};

static struct librte *last; /* created; NULL: it was destroyed, or there was none */

static int
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
		return bench_cannot("librte_node does not take the ports");
	done = true;
	return 0;
}

/* The table of all graphs of librte_node on this socket. */
static struct rte_lpm *
own_table(void)
{
	char name[RTE_LPM_NAMESIZE];

	snprintf(name, sizeof(name), "IPV4_L3FWD_LPM_%u", rte_socket_id());
	return rte_lpm_find_existing(name);
}

/*
 * Gives ip4_lookup a table with room for more routes than its own. The context of the node is
 * private to librte_node: unless it begins with the table, it is not touched.
 */
static int
table_exchange(struct librte *w, const char *graph, const struct l3fwd_table *table)
{
	struct rte_node *lookup = rte_graph_node_get_by_name(graph, "ip4_lookup");
	const struct rte_lpm *own = own_table();

	if (lookup == NULL || own == NULL || memcmp(lookup->ctx, &own, sizeof(own)) != 0)
		return bench_cannot("librte_node's table takes %d routes", LIBRTE_ROUTES);
	w->large = table_lpm(table, "l3fwd_librte");
	if (w->large == NULL)
		return -1;
	memcpy(lookup->ctx, &w->large, sizeof(w->large));
	return 0;
}

static int
routes_add(const struct l3fwd_table *table)
{
	if (own_table() == NULL)
		return bench_cannot("librte_node has no table");
	rte_lpm_delete_all(own_table());
	for (uint32_t i = 0; i < table->n; i++) {
		const struct bench_route *r = &table->routes[i];

		if (rte_node_ip4_route_add(r->prefix, r->depth, r->hop,
			    RTE_NODE_IP4_LOOKUP_NEXT_REWRITE) < 0)
			return bench_cannot("librte_node does not take route %u", i);
	}
	static_assert(RTE_NODE_IP4_LOOKUP_NEXT_REWRITE == 0, "a next hop is an entry by itself");
	return 0;
}

static int
hops_add(bool loop)
{
	for (unsigned int hop = 0; hop < HOPS; hop++) {
		const unsigned int port = loop ? RIG_LOOP : hop_port(hop);
		struct rte_ether_hdr header = l3fwd_hop_header(hop);

		if (rte_node_ip4_rewrite_add((uint16_t)hop, (uint8_t *)&header, sizeof(header),
			    rig_port(USERS_LIBRTE_NODE, port)) < 0)
			return bench_cannot("librte_node does not take next hop %u", hop);
	}
	return 0;
}

static void
librte_run(void *arg, uint64_t turns)
{
	const struct librte *w = arg;

	while (turns-- > 0 && rig_pending(w->rig))
		rte_graph_walk(w->graph);
}

/* Removes the callbacks that read packet types, since the mbufs have them already. */
static void
librte_typed_run(void *arg, uint64_t turns)
{
	struct librte *w = arg;
	const struct l3fwd_rig *rig = w->rig;

	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		void **clbk = rte_eth_fp_ops[rig->port[USERS_LIBRTE_NODE][p]].rxq.clbk;

		w->callbacks[p] = clbk[rig->lane];
		clbk[rig->lane] = NULL;
	}
	librte_run(w, turns);
	for (unsigned int p = 0; p < rig->nb_ports; p++)
		rte_eth_fp_ops[rig->port[USERS_LIBRTE_NODE][p]].rxq.clbk[rig->lane] =
			w->callbacks[p];
}

static uint64_t
librte_drops(void *arg)
{
	return ((const struct librte *)arg)->drop->total_objs;
}

static unsigned int
librte_nodes(void *arg, struct l3fwd_node nodes[NODES_MAX])
{
	const struct librte *w = arg;
	const struct rte_node *node;
	unsigned int n = 0;
	rte_graph_off_t off;
	rte_node_t count;

	rte_graph_foreach_node(count, off, w->graph, node)
		n = l3fwd_node_add(nodes, n, node->name, node->total_cycles);
	return n;
}

/* Every ethdev_rx adds a callback to its queue when a graph is created, and never removes it. */
static void
callbacks_remove(const struct l3fwd_rig *rig)
{
	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		const uint16_t port = rig->port[USERS_LIBRTE_NODE][p], queue = (uint16_t)rig->lane;
		const struct rte_eth_rxtx_callback *callback;

		while ((callback = rte_eth_fp_ops[port].rxq.clbk[queue]) != NULL)
			rte_eth_remove_rx_callback(port, queue, callback);
	}
}

static void
librte_destroy(void *arg)
{
	struct librte *w = arg;

	if (w->id != RTE_GRAPH_ID_INVALID)
		rte_graph_destroy(w->id);
	callbacks_remove(w->rig);
	rte_lpm_free(w->large);
	rte_lpm6_free(w->large6);
	free(w);
	last = NULL;
}

/* A graph with a source for each port of the rig. */
static int
graph_create(struct librte *w, const char *name)
{
	const struct l3fwd_rig *rig = w->rig;
	char sources[L3FWD_PORTS][NAME_LENGTH];
	const char *patterns[L3FWD_PORTS];
	struct rte_graph_param params = { .socket_id = (int)rte_socket_id(),
		.nb_node_patterns = (uint16_t)rig->nb_ports,
		.node_patterns = patterns };

	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		snprintf(sources[p], NAME_LENGTH, "ethdev_rx-%u-%u",
			rig->port[USERS_LIBRTE_NODE][p], rig->lane);
		patterns[p] = sources[p];
	}
	w->id = rte_graph_create(name, &params);
	if (w->id == RTE_GRAPH_ID_INVALID)
		return bench_cannot("librte_graph: %s", rte_strerror(abs(rte_errno)));
	if (w->id != rig->lane) /* ethdev_tx uses the graph's number as queue */
		return bench_cannot("librte_graph: graph %u where %u is wanted", w->id, rig->lane);
	w->graph = rte_graph_lookup(name);
	w->drop = rte_graph_node_get_by_name(name, "pkt_drop");
	return 0;
}

/* Sets up the graph, and the table, which all graphs share. */
static int
set_up(struct librte *w, const struct l3fwd_table *table)
{
	char name[NAME_LENGTH];

	snprintf(name, sizeof(name), "l3fwd-%u", w->rig->lane);
	if (nodes_configure() < 0 || graph_create(w, name) < 0)
		return -1;
	if (hops_add(w->rig->loop) < 0)
		return -1;
	if (table->n6 > 0 &&
		librte6_set_up(name, table, w->rig->loop, w->rig->lane == 0, &w->large6) < 0)
		return -1;
	if (table->n > LIBRTE_ROUTES || table->tbl8s > LIBRTE_TBL8S)
		return table_exchange(w, name, table);
	return w->rig->lane == 0 ? routes_add(table) : 0;
}

static const struct l3fwd_way librte = { .name = "librte_node",
	.users = USERS_LIBRTE_NODE,
	.rewrites = true,
	.drops = librte_drops,
	.nodes = librte_nodes,
	.destroy = librte_destroy,
	.burst = RTE_GRAPH_BURST_SIZE };

struct l3fwd_way
librte_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table)
{
	struct librte *w = bench_alloc(1, sizeof(*w));
	struct l3fwd_way way = librte;

	w->rig = rig;
	w->id = RTE_GRAPH_ID_INVALID;
	if (set_up(w, table) < 0) {
		librte_destroy(w);
		return way;
	}
	last = w;
	way.run = librte_run;
	way.arg = w;
	return way;
}

struct l3fwd_way
librte_typed_create(const struct l3fwd_rig *rig __rte_unused,
	const struct l3fwd_table *table __rte_unused)
{
	struct l3fwd_way way = librte;

	way.name = "librte_typed";
	way.arg = last;
	way.run = last == NULL ? NULL : librte_typed_run;
	way.destroy = field_keep;
	if (last == NULL)
		bench_cannot("there is no librte_node");
	return way;
}
