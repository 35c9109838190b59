/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the packet graph out of what the HAL selected. */

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_flow_lookup.h>
#include <hy_l2_lane.h>
#include <hy_mbuf.h>
#include <hy_terminal.h>

#include "pipeline.h"

/* Marks ports that FLOOD leaves out. */
static int
no_flood_mark(const struct options *o, struct hy_vswitch_port *ports, int n)
{
	for (unsigned int i = 0; i < o->nb_no_flood; i++) {
		int p = 0;

		while (p < n && ports[p].number != o->no_flood[i])
			p++;
		if (p == n)
			return hy_option_refuse("--no-flood",
				"%u is the OpenFlow number of no port of -p, and of no tunnel",
				o->no_flood[i]);
		ports[p].no_flood = true;
	}
	return n;
}

/* The ports of EAL, then tunnels. Returns how many, or a negative errno (reported). */
static int
ports_list(const struct options *o, struct hy_vswitch_port ports[HY_VSWITCH_PORTS])
{
	int n = 0;

	for (; n < (int)o->ports.nb_ports; n++) {
		const uint16_t port = o->ports.ports[n];

		ports[n] = (struct hy_vswitch_port){ .number = (uint16_t)(port + 1), .port = port };
		snprintf(ports[n].name, sizeof(ports[n].name), "dpdk%u", port);
	}
	for (unsigned int t = 0; t < o->nb_tunnels; t++, n++) {
		struct hy_vswitch_tunnel *tunnel = &ports[n].tunnel;
		struct rte_ether_addr mac;

		ports[n] = o->tunnels[t];
		if (!hy_port_chosen(&o->ports, (uint16_t)(tunnel->uplink - 1)))
			return hy_option_refuse("--tunnel",
				"uplink: %u is the OpenFlow number of no port of -p",
				tunnel->uplink);
		if (o->has_src_mac[t])
			continue;
		if (rte_eth_macaddr_get((uint16_t)(tunnel->uplink - 1), &mac) < 0)
			return hy_option_refuse("--tunnel", "the uplink has no MAC address");
		memcpy(tunnel->src_mac, mac.addr_bytes, sizeof(mac));
	}
	return no_flood_mark(o, ports, n);
}

/* Too little memory is no fault of an option. */
static int
switch_refuse(int rc, const char *option, const char *error)
{
	return rc == -ENOMEM ? hy_terminal_refuse(rc, "the switch's ports and rules: out of memory")
			     : hy_terminal_refuse(rc, "%s: %s", option, error);
}

int
files_read(const struct options *o, struct pipeline *pipeline)
{
	static struct hy_vswitch_port ports[HY_VSWITCH_PORTS];
	const int nb_ports = ports_list(o, ports);
	const struct hy_datapath_params params = { .path = o->flows,
		.ports = ports,
		.nb_ports = (unsigned int)nb_ports,
		.max_flows = o->max_flows,
		.caches = o->caches };
	char error[HY_DATAPATH_ERROR_SIZE];
	int rc;

	if (nb_ports < 0)
		return nb_ports;
	rc = hy_datapath_create(&params, &pipeline->datapath, error);
	if (rc < 0)
		return switch_refuse(rc, "--tunnel", error);
	rc = hy_datapath_load(pipeline->datapath, error);
	if (rc < 0)
		return switch_refuse(rc, "--flows", error);
	if (o->bridge == NULL)
		return 0;
	rc = hy_bridge_create(o->bridge, o->ports.ports, o->ports.nb_ports, &pipeline->bridge,
		error);
	return rc < 0 ? hy_terminal_refuse(rc, "--bridge: %s", error) : 0;
}

int
offload(const struct options *o, struct hy_hal *hal, struct pipeline *pipeline)
{
	struct hy_offload_params params;
	int rc;

	if (o->offload.params.provider == NULL)
		return 0;
	rc = hy_flow_engines_begin("--offload", &o->offload, o->ports.ports, o->ports.nb_ports, hal,
		&params);
	return rc < 0 ? rc
		      : hy_terminal_report("--offload",
				hy_datapath_offload(pipeline->datapath, hal, &pipeline->workers,
					&params));
}

static int
tables_start(struct pipeline *pipeline)
{
	char error[HY_DATAPATH_ERROR_SIZE];
	uint16_t shares[RTE_MAX_ETHPORTS];
	int rc = hy_datapath_start(pipeline->datapath, &pipeline->workers, error);

	if (rc < 0)
		return hy_terminal_refuse(rc, "--max-flows: %s", error);
	if (pipeline->bridge == NULL)
		return 0;
	hy_port_shares(&pipeline->options->ports, shares);
	rc = hy_bridge_start(pipeline->bridge, &pipeline->workers, shares, error);
	return rc < 0 ? hy_terminal_refuse(rc, "--bridge: %s", error) : 0;
}

static int
nodes_create(struct pipeline *pipeline)
{
	struct hy_ends *ends = &pipeline->ends;
	hy_node_id drop;
	int rc = hy_hal_node(ends->hal, "pkt_drop", 0, &drop);

	if (rc == 0 && pipeline->bridge != NULL)
		rc = hy_bridge_nodes(pipeline->bridge, ends, NULL);
	if (rc == 0)
		rc = hy_datapath_nodes(pipeline->datapath, ends, ends->next);
	if (rc == 0)
		rc = hy_rx_nodes(ends);
	return hy_terminal_report("nodes", rc);
}

int
pipeline_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	static const char *const sources[] = { HY_FLOW_REINJECT_NODE };
	const struct hy_graph_params graph = { .ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.patterns = sources,
		.nb_patterns = RTE_DIM(sources),
		.lanes = { HY_FLOW_ACTION_LANE, options->bridge == NULL ? NULL : HY_L2_LANE } };
	struct hy_workers *workers = &pipeline->workers;
	int rc = tables_start(pipeline);

	if (rc < 0)
		return rc;
	pipeline->ends = hy_port_ends(&options->ports, workers->nb);
	pipeline->ends.hal = hal;
	rc = nodes_create(pipeline);
	return rc == 0 ? hy_mode_graphs(&options->mode, workers, graph) : rc;
}

uint64_t
pipeline_destroy(struct pipeline *pipeline)
{
	uint64_t under_way = hy_workers_graphs_destroy(&pipeline->workers);

	under_way += hy_datapath_waiting(pipeline->datapath);
	hy_bridge_destroy(pipeline->bridge);
	hy_datapath_destroy(pipeline->datapath);
	hy_flow_engines_end();
	hy_workers_destroy(&pipeline->workers);
	*pipeline = (struct pipeline){ 0 };
	return under_way;
}
