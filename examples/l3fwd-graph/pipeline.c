/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the packet graph out of what the HAL selected. */

#include <stdio.h>

#include <hy_flow_cls.h>
#include <hy_mbuf.h>
#include <hy_terminal.h>

#include "ip6.h"
#include "pipeline.h"
#include "telemetry.h"

/*
 * --steer: a pkt_cls-steer-P for each port, of the same variant as the port's other pkt_cls, that leads to
 * ip4_steer, past ip4_lookup.
 */
static int
steer_nodes(const struct hy_ends *ends)
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		char name[HY_NAME_SIZE];
		hy_node_id id;

		snprintf(name, sizeof(name), "steer-%u", ends->ports[i]);
		rc = hy_hal_node_clone(ends->hal, "pkt_cls", ends->ports[i], name, &id);
		if (rc == 0)
			rc = hy_node_edge_set(id, 0, "ip4_steer");
	}
	return rc;
}

/* Leads an edge of a port's flow_cls to its pkt_cls-steer-P. The edge has the same number for each port. */
static int
steer_lead(const struct options *options, hy_node_id cls, uint16_t port, struct classes *classes)
{
	char name[HY_NAME_SIZE];
	uint16_t edge;
	int rc;

	snprintf(name, sizeof(name), "pkt_cls-steer-%u", port);
	rc = hy_node_edge_add(cls, name, &edge);
	classes->nb_ways = options->nb_drop_class;
	for (unsigned int i = 0; i < options->nb_steers && rc == 0; i++)
		classes->ways[classes->nb_ways++] = (struct hy_flow_way){
			.class_id = options->steer[i].class_id, .edge = edge
		};
	return rc;
}

/* flow_cls-P for each port: ports may lead to different pkt_cls. It is what packets go to first. */
static int
flow_nodes(const struct options *options, struct hy_ends *ends, struct classes *classes)
{
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		const uint16_t port = ends->ports[i];
		struct hy_flow_cls_config config = { .policy = classes->policy,
			.ways = classes->ways };
		hy_node_id cls;

		rc = hy_port_node(ends, "flow_cls", port, &cls);
		if (rc == 0)
			rc = hy_ends_lead(ends, cls, port);
		if (rc == 0 && options->nb_steers > 0)
			rc = steer_lead(options, cls, port, classes);
		config.nb_ways = classes->nb_ways;
		if (rc == 0)
			rc = hy_node_config(cls, &config, sizeof(config));
	}
	ends->next = "flow_cls";
	ends->next_by_port = true;
	return rc;
}

/* Configures ip4_steer, which reads the routes' tables. */
static int
steer_configure(const struct options *options, struct hy_hal *hal,
	const struct hy_ip4_lookup_config *tables)
{
	const struct hy_ip4_steer_config config = {
		.tables = *tables, .steers = options->steer, .nb_steers = options->nb_steers
	};
	hy_node_id id;
	int rc = hy_hal_node(hal, "ip4_steer", 0, &id);

	return rc == 0 ? hy_node_config(id, &config, sizeof(config)) : rc;
}

/* The nodes between those that receive and those that send, and both. */
static int
nodes_create(const struct options *options, struct hy_ends *ends, struct pipeline *pipeline)
{
	const struct hy_ip4_lookup_config *tables = hy_routes_tables(pipeline->routes);
	struct hy_ip4_rewrite_config rewrite = { .tables = *tables };
	const struct hy_ip6_lookup_config *tables6 = hy_routes_tables6(pipeline->routes);
	hy_node_id lookup_id, rewrite_id, drop_id;
	int rc = ip6_lead(ends, tables6);

	if (rc == 0)
		rc = hy_hal_node(ends->hal, "ip4_lookup", 0, &lookup_id);
	if (rc == 0)
		rc = hy_hal_node(ends->hal, "ip4_rewrite", 0, &rewrite_id);
	if (rc == 0)
		rc = hy_hal_node(ends->hal, "pkt_drop", 0, &drop_id);
	if (rc == 0)
		rc = hy_node_config(lookup_id, tables, sizeof(*tables));
	if (rc == 0 && options->nb_steers > 0)
		rc = steer_configure(options, ends->hal, tables);
	if (rc == 0)
		rc = hy_tx_nodes(ends, rewrite_id, rewrite.edge);
	if (rc == 0 && pipeline->lists.acl != NULL)
		rc = lists_lead(ends);
	if (rc == 0 && ends->nb_vlans > 0)
		rc = hy_vlan_nodes(ends);
	if (rc == 0 && options->nb_steers > 0)
		rc = steer_nodes(ends);
	if (rc == 0 && pipeline->classes.policy != NULL)
		rc = flow_nodes(options, ends, &pipeline->classes);
	if (rc == 0)
		rc = hy_mode_rx_nodes(&options->mode, ends);
	if (rc == 0)
		rc = hy_node_config(rewrite_id, &rewrite, sizeof(rewrite));
	if (rc == 0)
		rc = ip6_nodes(ends, tables6);
	return hy_terminal_report("nodes", rc);
}

int
pipeline_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	struct hy_workers *workers = &pipeline->workers;
	const bool lists = pipeline->lists.acl != NULL;
	const bool classes = pipeline->classes.policy != NULL || lists;
	struct hy_graph_params graph = {
		.ops = &hy_mbuf_ops, .drop_node = "pkt_drop", .lanes = { "ip4_route" }
	};
	unsigned int nb_lanes = 1;
	char error[HY_ROUTES_ERROR_SIZE];
	int rc = hy_routes_load(pipeline->routes, hal, workers,
		options->mode.mode == HY_MODE_DISPATCH, error);

	if (rc < 0)
		return hy_terminal_refuse(rc, "%s", error);
	if (classes)
		graph.lanes[nb_lanes++] = HY_FLOW_CLASS_LANE;
	if (options->nb_features > 0 || lists)
		graph.lanes[nb_lanes++] = HY_ARC_LANE;
	pipeline->ends = hy_port_ends(&options->ports, workers->nb);
	pipeline->ends.hal = hal;
	pipeline->ends.vlans = options->vlan;
	pipeline->ends.nb_vlans = options->nb_vlans;
	pipeline->ends.next = "pkt_cls";
	rc = nodes_create(options, &pipeline->ends, pipeline);
	if (rc == 0)
		rc = features_create(options, hal, workers->qsbr, &pipeline->features);
	if (rc == 0 && lists)
		rc = hy_terminal_report("--acl",
			lists_place(options, &pipeline->ends, &pipeline->lists));
	if (rc == 0)
		rc = hy_mode_graphs(&options->mode, workers, graph);
	if (rc == 0)
		telemetry_show(options->nb_features == 0 ? NULL : &pipeline->features);
	return rc;
}

uint64_t
pipeline_destroy(struct pipeline *pipeline)
{
	uint64_t under_way;

	telemetry_show(NULL);
	under_way = hy_workers_graphs_destroy(&pipeline->workers);
	lists_poll(&pipeline->lists, true);
	lists_destroy(&pipeline->lists);
	features_destroy(&pipeline->features);
	hy_routes_destroy(pipeline->routes);
	offloads_destroy(pipeline->offloads);
	classes_destroy(&pipeline->classes);
	hy_workers_destroy(&pipeline->workers);
	*pipeline = (struct pipeline){ 0 };
	return under_way;
}
