/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of l3fwd_ours.c without the HAL: nodes are registered, joined and configured by hand,
 * with the functions that the HAL would choose. The difference is the HAL's cost per packet.
 */

#include <stdio.h>

#include <hy_ethdev.h>
#include <hy_hal.h>
#include <hy_ip4.h>

#include "l3fwd.h"
#include "l3fwd_ours.h"

/* Registers a node like a family's. Its first edge leads to `next`, unless that is NULL. */
static hy_node_id
node_register(const char *family, const char *name, const char *next)
{
	const struct hy_selection *s = ours_selection(family);
	struct hy_node_desc desc = s->family->node;
	hy_node_id id;

	desc.name = name;
	desc.impl = ours_impl(s->chosen);
	if (next != NULL)
		desc.edges[0] = next;
	ours_must(hy_node_register(&desc, &id), name);
	return id;
}

static void
port_nodes(unsigned int port, hy_node_id rewrite, uint16_t edge[])
{
	const uint16_t id = rig_port(USERS_ALL, port);
	const struct hy_ethdev_tx_config tx = { .port = id, .nb_queues = (uint16_t)rig_lanes() };
	const struct hy_ethdev_rx_config rx = { .port = id };
	char name[HY_NAME_SIZE];

	snprintf(name, sizeof(name), "hand_tx-%u", id);
	ours_must(hy_node_config(node_register("ethdev_tx", name, NULL), &tx, sizeof(tx)), name);
	ours_must(hy_node_edge_add(rewrite, name, &edge[id]), name);
	snprintf(name, sizeof(name), "hand_rx-%u-0", id);
	ours_must(hy_node_config(node_register("ethdev_rx", name, "hand_cls"), &rx, sizeof(rx)),
		name);
}

/*
 * Registers the nodes once for all works, since graphs of several works use them. The lookup
 * variant depends on the work's number of routes; see by_hand_create().
 */
static void
nodes_register(hy_node_id *lookup, hy_node_id *rewrite, uint16_t edge[])
{
	node_register("pkt_cls", "hand_cls", "hand_lookup");
	*lookup = node_register("ip4_lookup", "hand_lookup", "hand_rewrite");
	*rewrite = node_register("ip4_rewrite", "hand_rewrite", NULL);
	for (unsigned int p = 0; p < HY_IP4_PORTS; p++)
		edge[p] = HY_IP4_NO_EDGE;
	for (unsigned int p = 0; p <= RIG_LOOP; p++)
		port_nodes(p, *rewrite, edge);
}

struct l3fwd_way
by_hand_create(const struct l3fwd_rig *rig)
{
	static const struct ours_params params = { .source = "hand_rx" };
	static uint16_t edge[HY_IP4_PORTS];
	static hy_node_id lookup, rewrite;
	static bool registered;
	struct hy_node_impl impl;

	if (!registered)
		nodes_register(&lookup, &rewrite, edge);
	registered = true;
	impl = ours_impl(ours_selection("ip4_lookup")->chosen);
	ours_must(hy_node_impl_set(lookup, &impl), "hand_lookup");
	if (ours_table_set(lookup, rewrite, edge) < 0)
		return (struct l3fwd_way){ .name = "by_hand" };
	return ours_create(rig, &params);
}
