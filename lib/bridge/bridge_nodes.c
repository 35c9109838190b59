/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a bridge: one of each family, and l2_flood. */

#include <stdio.h>

#include <hy_graph_worker.h>
#include <hy_hal_live.h>

#include "bridge.h"

static const char *const families[] = { "l2_input", "l2_learn", "l2_lookup", "l2_output" };
#define LOOKUP 2
#define OUTPUT 3

static uint16_t
local_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_enqueue(graph, node, HY_DROP(0), objs, n);
	return n;
}

/* Where frames for the router itself end if there is none. pkt_drop alone would not count them. */
static const struct hy_node_desc no_router = {
	.name = "l2_local",
	.impl = { .process = local_process },
	.drops = { { "no_router", HY_SEV_INFO, "Is for the router itself, and there is none" } },
};

static int
local_make(struct hy_bridge *bridge)
{
	const int rc = hy_node_register(&no_router, &bridge->local);

	bridge->has_local = rc == 0;
	return rc;
}

void
bridge_nodes_destroy(struct hy_bridge *bridge)
{
	if (bridge->has_local)
		hy_node_unregister(bridge->local);
	bridge->has_local = false;
}

/* Leads l2_output to the ports' senders, which a router beside the bridge may have made. */
static int
outputs_lead(const struct hy_bridge *bridge, const struct hy_ends *ends, hy_node_id output,
	uint16_t edge[])
{
	int rc = 0;

	for (unsigned int i = 0; i < BRIDGE_PORTS; i++)
		edge[i] = HY_L2_NO_EDGE;
	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		const int number = bridge_number_of(bridge, ends->ports[i]);
		char name[HY_NAME_SIZE];
		hy_node_id tx;

		snprintf(name, sizeof(name), "ethdev_tx-%u", ends->ports[i]);
		if (hy_node_lookup(name, &tx) < 0)
			rc = hy_tx_node(ends, ends->ports[i], name);
		if (rc == 0 && number >= 0)
			rc = hy_node_edge_add(output, name, &edge[number]);
	}
	return rc;
}

int
hy_bridge_nodes(struct hy_bridge *bridge, struct hy_ends *ends, const char *local)
{
	struct hy_l2_config config = { .table = hy_l2_table_view(bridge->table),
		.setup = &bridge->setup,
		.workers = bridge->worker,
		.nb_workers = (uint16_t)bridge->workers->nb,
		.qsbr = bridge->workers->qsbr };
	hy_node_id node[RTE_DIM(families)], flood;
	int rc = hy_node_lookup("l2_flood", &flood);

	for (unsigned int i = 0; i < RTE_DIM(families) && rc == 0; i++)
		rc = hy_hal_node(ends->hal, families[i], 0, &node[i]);
	if (rc == 0 && local == NULL)
		rc = local_make(bridge);
	if (rc == 0)
		rc = hy_node_edge_set(node[LOOKUP], HY_L2_LOOKUP_NEXT_LOCAL,
			local == NULL ? no_router.name : local);
	if (rc == 0)
		rc = outputs_lead(bridge, ends, node[OUTPUT], config.edge);
	if (rc < 0)
		return rc;
	for (unsigned int i = 0; i < RTE_DIM(families) && rc == 0; i++)
		rc = hy_hal_node_config(ends->hal, families[i], &config, sizeof(config));
	if (rc == 0)
		rc = hy_node_config(flood, &config, sizeof(config));
	ends->next = families[0];
	ends->next_by_port = false;
	bridge->hal = ends->hal;
	return rc;
}
