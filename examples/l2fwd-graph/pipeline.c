/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the packet graph out of what the HAL selected. */

#include <rte_ethdev.h>

#include <hy_l2_lane.h>
#include <hy_l2_patch.h>
#include <hy_mbuf.h>
#include <hy_terminal.h>

#include "pipeline.h"

/* l2_patch-PORT, which leads to the ethdev_tx of the port's peer. */
static int
patch_node(const struct options *options, const struct hy_ends *ends, uint16_t port)
{
	const uint16_t peer = options->peer[port];
	struct hy_l2_patch_config config = { .update = options->mac_updating,
		.dst = { { RTE_ETHER_LOCAL_ADMIN_ADDR, 0, 0, 0, 0, (uint8_t)peer } } };
	char tx[HY_NAME_SIZE];
	hy_node_id patch;
	int rc = rte_eth_macaddr_get(peer, &config.src);

	if (rc == 0)
		rc = hy_tx_node(ends, peer, tx);
	if (rc == 0)
		rc = hy_port_node(ends, "l2_patch", port, &patch);
	if (rc == 0)
		rc = hy_node_edge_set(patch, HY_L2_PATCH_NEXT_FRAME, tx);
	if (rc == 0)
		rc = hy_node_config(patch, &config, sizeof(config));
	return rc;
}

int
bridge_create(const struct options *options, struct hy_bridge **bridge)
{
	char error[HY_BRIDGE_ERROR_SIZE];
	int rc;

	if (options->bridge == NULL)
		return 0;
	rc = hy_bridge_create(options->bridge, options->ports.ports, options->ports.nb_ports,
		bridge, error);
	return rc < 0 ? hy_terminal_refuse(rc, "--bridge: %s", error) : 0;
}

/* Storm limits are divided among the workers that a port's frames come to. */
static int
bridge_start(const struct options *options, struct pipeline *pipeline)
{
	char error[HY_BRIDGE_ERROR_SIZE];
	uint16_t shares[RTE_MAX_ETHPORTS];
	int rc;

	hy_port_shares(&options->ports, shares);
	rc = hy_bridge_start(pipeline->bridge, &pipeline->workers, shares, error);
	return rc < 0 ? hy_terminal_refuse(rc, "--bridge: %s", error) : 0;
}

static int
patch_nodes(const struct options *options, struct hy_ends *ends)
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++)
		rc = patch_node(options, ends, ends->ports[i]);
	ends->next = "l2_patch";
	ends->next_by_port = true;
	return rc;
}

static int
nodes_create(const struct options *options, struct hy_bridge *bridge, struct hy_ends *ends)
{
	hy_node_id drop;
	int rc = hy_hal_node(ends->hal, "pkt_drop", 0, &drop);

	if (rc == 0)
		rc = bridge == NULL ? patch_nodes(options, ends)
				    : hy_bridge_nodes(bridge, ends, NULL);
	if (rc == 0)
		rc = hy_mode_rx_nodes(&options->mode, ends);
	return hy_terminal_report("nodes", rc);
}

int
pipeline_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	const struct hy_graph_params graph = { .ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { options->bridge == NULL ? NULL : HY_L2_LANE } };
	struct hy_workers *workers = &pipeline->workers;
	int rc = pipeline->bridge == NULL ? 0 : bridge_start(options, pipeline);

	if (rc < 0)
		return rc;
	pipeline->ends = hy_port_ends(&options->ports, workers->nb);
	pipeline->ends.hal = hal;
	rc = nodes_create(options, pipeline->bridge, &pipeline->ends);
	return rc == 0 ? hy_mode_graphs(&options->mode, workers, graph) : rc;
}

uint64_t
pipeline_destroy(struct pipeline *pipeline)
{
	const uint64_t under_way = hy_workers_graphs_destroy(&pipeline->workers);

	hy_bridge_destroy(pipeline->bridge);
	hy_workers_destroy(&pipeline->workers);
	*pipeline = (struct pipeline){ 0 };
	return under_way;
}
