/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the packet graph out of what the HAL selected. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>

#include <hy_flow_cls.h>
#include <hy_mbuf.h>

#include "pipeline.h"
#include "ports.h"
#include "steer.h"
#include "telemetry.h"

static int
refuse(const char *what, int rc)
{
	fprintf(stderr, "l3fwd-graph: %s: %s\n", what, strerror(-rc));
	return -1;
}

/* Whether there is something for a worker lcore to do. */
static bool
lcore_wanted(const struct options *options, unsigned int lcore)
{
	if (options->event.on) /* whichever is free takes from the device */
		return true;
	for (unsigned int q = 0; q < options->nb_queues; q++)
		if (options->queues[q].lcore == lcore)
			return true;
	for (unsigned int i = 0; i < options->dispatch.nb_pins; i++)
		if (pin_has(&options->dispatch.pins[i], lcore))
			return true;
	return false;
}

int
pipeline_workers(const struct options *options, struct pipeline *pipeline)
{
	unsigned int lcores[RTE_MAX_LCORE], n = 0, lcore;
	int rc;

	RTE_LCORE_FOREACH_WORKER(lcore)
		if (lcore_wanted(options, lcore))
			lcores[n++] = lcore;
	rc = hy_workers_init(&pipeline->workers, lcores, n, options->numa);
	return rc < 0 ? refuse("workers", rc) : 0;
}

/* A table for each socket that workers run on; one for all with --no-numa. */
static int
tables_create(const struct options *options, const struct routes *routes, struct pipeline *pipeline)
{
	const struct hy_ip4_lookup_config *made = &pipeline->tables.config;

	tables_size(options, routes, &pipeline->tables);
	for (unsigned int w = 0; w < pipeline->workers.nb; w++) {
		/* A next hop's id is one table's, and one worker may hand it to another. */
		const int socket = options->dispatch.on ? SOCKET_ID_ANY
							: pipeline->workers.worker[w].socket;
		unsigned int i = 0;
		int rc;

		while (i < made->nb_fibs && hy_ip4_fib_socket(made->fibs[i]) != socket)
			i++;
		rc = i < made->nb_fibs ? 0 : tables_add(options, routes, socket, &pipeline->tables);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The ways of --steer: edge E of all flow_cls-P. */
static void
ways_steer(const struct options *options, uint16_t edge, struct classes *classes)
{
	for (unsigned int i = 0; i < options->nb_steers; i++)
		classes->ways[options->nb_drop_class + i] = (struct hy_flow_way){
			.class_id = options->steer[i].class_id, .edge = edge
		};
	classes->nb_ways = options->nb_drop_class + options->nb_steers;
}

/* flow_cls-P for each port: ports may lead to different pkt_cls. */
static int
flow_nodes(const struct options *options, const struct hy_ends *ends, struct classes *classes)
{
	struct hy_flow_cls_config config = {
		.policy = classes->policy, .ways = classes->ways, .nb_ways = classes->nb_ways
	};
	uint16_t edge;
	int rc = 0;

	for (unsigned int i = 0; i < ends->nb_ports && rc == 0; i++) {
		const uint16_t port = ends->ports[i];
		hy_node_id cls;

		rc = hy_port_node(ends, "flow_cls", port, &cls);
		if (rc == 0)
			rc = hy_hal_lead(ends->hal, cls, 0, "pkt_cls", port);
		if (rc == 0 && options->nb_steers > 0) {
			rc = steer_lead(ends->hal, cls, port, &edge);
			if (rc == 0)
				ways_steer(options, edge, classes);
			config.nb_ways = classes->nb_ways;
		}
		if (rc == 0)
			rc = hy_node_config(cls, &config, sizeof(config));
	}
	return rc;
}

/* The nodes between those that receive and those that send. */
static int
nodes_create(const struct options *options, const struct hy_ends *ends, struct pipeline *pipeline)
{
	const struct hy_ip4_lookup_config *tables = &pipeline->tables.config;
	struct hy_ip4_rewrite_config rewrite = { .tables = *tables };
	hy_node_id lookup_id, rewrite_id, drop_id;
	int rc = hy_hal_node(ends->hal, "ip4_lookup", 0, &lookup_id);

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
	if (rc == 0 && ends->next_by_port)
		rc = flow_nodes(options, ends, &pipeline->classes);
	if (rc == 0)
		rc = options->event.on ? hy_event_nodes(ends, (uint8_t)options->event.device)
				       : hy_rx_nodes(ends);
	if (rc == 0)
		rc = hy_node_config(rewrite_id, &rewrite, sizeof(rewrite));
	return rc < 0 ? refuse("nodes", rc) : 0;
}

static int
ends_join(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	const bool classes = pipeline->classes.policy != NULL;
	uint16_t ports[RTE_MAX_ETHPORTS];
	struct hy_ends ends = ports_ends(options, pipeline->workers.nb, ports);

	ends.hal = hal;
	ends.next = classes ? "flow_cls" : "pkt_cls";
	ends.next_by_port = classes;
	return nodes_create(options, &ends, pipeline);
}

static int
graphs_create(const struct options *options, struct pipeline *pipeline)
{
	static const char *const event_rx[] = { "event_rx" };
	const struct hy_graph_params graph = {
		.patterns = event_rx,
		.nb_patterns = options->event.on,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route",
			pipeline->classes.policy == NULL ? NULL : HY_FLOW_CLASS_LANE,
			pipeline->features.arc == NULL ? NULL : HY_ARC_LANE },
		.burst = graph_burst(options),
		.source_budget = options->burst,
	};
	struct hy_lcore_pin pins[REPEATS_MAX];
	const struct hy_graphs graphs = { .graph = &graph,
		.queues = options->queues,
		.nb_queues = options->event.on ? 0 : options->nb_queues,
		.spread = options->dispatch.on,
		.pins = pins,
		.nb_pins = options->dispatch.nb_pins,
		.idle = options->idle,
		.wait_us = options->wait_us };
	int rc;

	for (unsigned int i = 0; i < graphs.nb_pins; i++)
		pins[i] = (struct hy_lcore_pin){ .pattern = options->dispatch.pins[i].pattern,
			.lcores = options->dispatch.pins[i].lcores,
			.nb_lcores = options->dispatch.pins[i].nb_lcores };
	rc = hy_workers_graphs(&pipeline->workers, &graphs);
	if (rc < 0)
		return refuse(options->dispatch.on ? "--mode=dispatch" : "graphs", rc);
	pipeline->tables.dispatch = pipeline->workers.dispatch;
	for (unsigned int w = 0; w < pipeline->workers.nb; w++)
		if (pipeline->workers.worker[w].awake != NULL)
			fprintf(stderr,
				"l3fwd-graph: --idle: the worker on lcore %u pauses instead of "
				"sleeping: %s\n",
				pipeline->workers.worker[w].lcore,
				pipeline->workers.worker[w].awake);
	return 0;
}

int
pipeline_create(const struct options *options, const struct routes *routes, struct hy_hal *hal,
	struct pipeline *pipeline)
{
	const struct hy_selection *lookup = hy_hal_selection(hal, "ip4_lookup", 0);
	int rc;

	pipeline->tables.params.qsbr = pipeline->workers.qsbr;
	pipeline->tables.params.engine = hy_ip4_engine_of(lookup->chosen->impl.variant);
	rc = tables_create(options, routes, pipeline);
	if (rc < 0)
		return rc;
	if (ends_join(options, hal, pipeline) < 0 ||
		features_create(options, hal, pipeline->workers.qsbr, &pipeline->features) < 0 ||
		graphs_create(options, pipeline) < 0)
		return -1;
	telemetry_show(&pipeline->tables, pipeline->features.arc);
	return 0;
}

uint64_t
pipeline_destroy(struct pipeline *pipeline)
{
	uint64_t under_way;

	telemetry_hide();
	under_way = hy_workers_graphs_destroy(&pipeline->workers);
	features_destroy(&pipeline->features);
	tables_destroy(&pipeline->tables);
	offloads_destroy(&pipeline->offloads);
	classes_destroy(&pipeline->classes);
	hy_workers_destroy(&pipeline->workers);
	*pipeline = (struct pipeline){ 0 };
	return under_way;
}
