/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a switch: flow_lookup and flow_reinject, which lead to flow_apply, and that to the ports. */

#include <errno.h>
#include <stdio.h>

#include <rte_ethdev.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_hal_live.h>

#include "datapath_offload.h"

/* Adds the edge of a number, which is the node's next one. */
static int
edge_add(hy_node_id node, unsigned int number, const char *target)
{
	uint16_t edge;
	const int rc = hy_node_edge_add(node, target, &edge);

	return rc == 0 && edge != number ? -EBUSY : rc;
}

/* Leads flow_apply to the sender of each port, by the edges that the rules name. */
static int
outputs_lead(const struct hy_datapath *datapath, const struct hy_ends *ends, hy_node_id apply)
{
	int rc = 0;

	for (unsigned int i = 0; i < datapath->nb_edges && rc == 0; i++) {
		char name[HY_NAME_SIZE];
		hy_node_id tx;

		snprintf(name, sizeof(name), "ethdev_tx-%u", datapath->edge_port[i]);
		if (hy_node_lookup(name, &tx) < 0)
			rc = hy_tx_node(ends, datapath->edge_port[i], name);
		if (rc == 0)
			rc = edge_add(apply, i, name);
	}
	return rc;
}

/* Whether the port of a queue delivers a hash of each packet's flow. */
static void
hashes_find(const struct hy_datapath *datapath, struct hy_flow_lookup_config *config)
{
	for (unsigned int i = 0; i < datapath->nb_edges; i++) {
		struct rte_eth_conf conf;
		const uint16_t port = datapath->edge_port[i];

		config->rss[port] = rte_eth_dev_conf_get(port, &conf) == 0 &&
			(conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) != 0;
	}
}

/* flow_lookup of each port: with an offload its own, whose variant may change; else they share one. */
static int
lookups_lead(const struct hy_datapath *datapath, const struct hy_ends *ends,
	const struct hy_flow_lookup_config *config)
{
	hy_node_id node = 0, last = UINT32_MAX;
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		rc = datapath->offload != NULL
			? hy_port_node(ends, HY_FLOW_LOOKUP_NODE, ends->ports[i], &node)
			: hy_hal_node(ends->hal, HY_FLOW_LOOKUP_NODE, ends->ports[i], &node);
		if (rc == 0 && node != last)
			rc = edge_add(node, 0, HY_FLOW_APPLY_NODE);
		if (rc == 0 && node != last)
			rc = hy_node_config(node, config, sizeof(*config));
		last = node;
	}
	return rc;
}

int
hy_datapath_nodes(struct hy_datapath *datapath, struct hy_ends *ends, const char *normal)
{
	const struct hy_flow_apply_config lists = { .ops = datapath->lists.ops };
	struct hy_flow_lookup_config config = { .table = datapath->table,
		.marks = datapath->offload == NULL ? NULL : datapath->offload->marks };
	hy_node_id apply, node;
	int rc = hy_node_lookup(HY_FLOW_APPLY_NODE, &apply);

	hashes_find(datapath, &config);
	if (rc == 0)
		rc = outputs_lead(datapath, ends, apply);
	if (rc == 0 && normal != NULL)
		rc = edge_add(apply, datapath->nb_edges, normal);
	if (rc == 0)
		rc = hy_node_config(apply, &lists, sizeof(lists));
	if (rc == 0)
		rc = lookups_lead(datapath, ends, &config);
	if (rc == 0)
		rc = hy_hal_node(ends->hal, HY_FLOW_REINJECT_NODE, 0, &node);
	if (rc == 0)
		rc = edge_add(node, 0, HY_FLOW_APPLY_NODE);
	if (rc == 0)
		rc = hy_hal_node_config(ends->hal, HY_FLOW_REINJECT_NODE, &config, sizeof(config));
	ends->next = HY_FLOW_LOOKUP_NODE;
	ends->next_by_port = datapath->offload != NULL;
	return rc;
}
