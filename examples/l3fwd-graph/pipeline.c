/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the packet graph out of what the HAL selected. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_ethdev.h>
#include <hy_flow_cls.h>
#include <hy_mbuf.h>

#include "feed.h"
#include "pipeline.h"
#include "ports.h"
#include "spread.h"
#include "steer.h"
#include "telemetry.h"

static int
refuse(const char *what, int rc)
{
	fprintf(stderr, "l3fwd-graph: %s: %s\n", what, strerror(-rc));
	return -1;
}

static int
qsbr_create(struct pipeline *pipeline)
{
	const size_t size = rte_rcu_qsbr_get_memsize(pipeline->nb_workers);

	pipeline->qsbr = rte_zmalloc("l3fwd_qsbr", size, RTE_CACHE_LINE_SIZE);
	if (pipeline->qsbr == NULL)
		return refuse("no memory", -ENOMEM);
	rte_rcu_qsbr_init(pipeline->qsbr, pipeline->nb_workers);
	return 0;
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
	unsigned int lcore;

	RTE_LCORE_FOREACH_WORKER(lcore)
		if (lcore_wanted(options, lcore))
			pipeline->workers[pipeline->nb_workers++].lcore = lcore;
	return qsbr_create(pipeline);
}

int
worker_socket(const struct options *options, const struct worker *worker)
{
	return options->numa ? (int)rte_lcore_to_socket_id(worker->lcore) : SOCKET_ID_ANY;
}

/* A table for each socket that workers run on; one for all with --no-numa. */
static int
tables_create(const struct options *options, const struct routes *routes, struct pipeline *pipeline)
{
	const struct hy_ip4_lookup_config *made = &pipeline->tables.config;

	tables_size(options, routes, &pipeline->tables);
	for (unsigned int w = 0; w < pipeline->nb_workers; w++) {
		/* A next hop's id is one table's, and one worker may hand it to another. */
		const int socket = options->dispatch.on
			? SOCKET_ID_ANY
			: worker_socket(options, &pipeline->workers[w]);
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

/* ethdev_tx-P for each port, and the edge to it. */
static int
tx_nodes(const struct options *options, struct hy_hal *hal, hy_node_id rewrite,
	unsigned int nb_workers, uint16_t edge[RTE_MAX_ETHPORTS])
{
	char name[HY_NAME_SIZE];
	hy_node_id id;
	uint16_t port;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		edge[p] = HY_IP4_NO_EDGE;
	RTE_ETH_FOREACH_DEV(port) {
		const struct hy_ethdev_tx_config config = { .port = port,
			.nb_queues = (uint16_t)nb_workers };
		int rc;

		if (!port_enabled(options, port))
			continue;
		snprintf(name, sizeof(name), "%u", port);
		rc = hy_hal_node_clone(hal, "ethdev_tx", port, name, &id);
		if (rc == 0)
			rc = hy_node_config(id, &config, sizeof(config));
		if (rc == 0)
			rc = hy_node_name(id, name, sizeof(name));
		if (rc == 0)
			rc = hy_node_edge_add(rewrite, name, &edge[port]);
		if (rc < 0)
			return refuse("ethdev_tx", rc);
	}
	return 0;
}

/* Leads a receiving node to its port's flow_cls, if there is a policy, or to its pkt_cls. */
static int
rx_lead(struct hy_hal *hal, hy_node_id rx, uint16_t port, const struct classes *classes)
{
	char name[HY_NAME_SIZE];

	if (classes->policy == NULL)
		return hy_hal_lead(hal, rx, 0, "pkt_cls", port);
	snprintf(name, HY_NAME_SIZE, "flow_cls-%u", port);
	return hy_node_edge_set(rx, 0, name);
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
flow_nodes(const struct options *options, struct hy_hal *hal, struct classes *classes)
{
	struct hy_flow_cls_config config = {
		.policy = classes->policy, .ways = classes->ways, .nb_ways = classes->nb_ways
	};
	uint16_t port, edge;

	RTE_ETH_FOREACH_DEV(port) {
		char name[HY_NAME_SIZE];
		hy_node_id cls;
		int rc;

		if (!port_enabled(options, port))
			continue;
		snprintf(name, sizeof(name), "%u", port);
		rc = hy_hal_node_clone(hal, "flow_cls", port, name, &cls);
		if (rc == 0)
			rc = hy_hal_lead(hal, cls, 0, "pkt_cls", port);
		if (rc == 0 && options->nb_steers > 0) {
			rc = steer_lead(hal, cls, port, &edge);
			if (rc == 0)
				ways_steer(options, edge, classes);
			config.nb_ways = classes->nb_ways;
		}
		if (rc == 0)
			rc = hy_node_config(cls, &config, sizeof(config));
		if (rc < 0)
			return refuse("flow_cls", rc);
	}
	return 0;
}

/* ethdev_rx-P-Q for each receive queue, leading to its port's classifier. */
static int
rx_nodes(const struct options *options, struct hy_hal *hal, const struct classes *classes)
{
	for (unsigned int i = 0; i < options->nb_queues; i++) {
		const struct queue *q = &options->queues[i];
		const struct hy_ethdev_rx_config config = { .port = q->port, .queue = q->queue };
		char name[HY_NAME_SIZE];
		hy_node_id rx;
		int rc;

		snprintf(name, sizeof(name), "%u-%u", q->port, q->queue);
		rc = hy_hal_node_clone(hal, "ethdev_rx", q->port, name, &rx);
		if (rc == 0)
			rc = hy_node_config(rx, &config, sizeof(config));
		if (rc == 0)
			rc = rx_lead(hal, rx, q->port, classes);
		if (rc < 0)
			return refuse("ethdev_rx", rc);
	}
	return 0;
}

static int
nodes_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline)
{
	const struct hy_ip4_lookup_config *tables = &pipeline->tables.config;
	struct hy_ip4_rewrite_config rewrite = { .tables = *tables };
	hy_node_id lookup_id, rewrite_id, drop_id;
	int rc = hy_hal_node(hal, "ip4_lookup", 0, &lookup_id);

	if (rc == 0)
		rc = hy_hal_node(hal, "ip4_rewrite", 0, &rewrite_id);
	if (rc == 0)
		rc = hy_hal_node(hal, "pkt_drop", 0, &drop_id);
	if (rc == 0)
		rc = hy_node_config(lookup_id, tables, sizeof(*tables));
	if (rc == 0 && options->nb_steers > 0)
		rc = steer_configure(options, hal, tables);
	if (rc < 0)
		return refuse("nodes", rc);
	if (tx_nodes(options, hal, rewrite_id, pipeline->nb_workers, rewrite.edge) < 0 ||
		(pipeline->classes.policy != NULL &&
			flow_nodes(options, hal, &pipeline->classes) < 0) ||
		(options->event.on ? feed_nodes : rx_nodes)(options, hal, &pipeline->classes) < 0)
		return -1;
	rc = hy_node_config(rewrite_id, &rewrite, sizeof(rewrite));
	return rc < 0 ? refuse("ip4_rewrite", rc) : 0;
}

static int
budgets_set(const struct options *options, struct worker *worker)
{
	char name[HY_NAME_SIZE];

	for (unsigned int i = 0; i < options->nb_queues; i++) {
		const struct queue *q = &options->queues[i];

		if (q->lcore != worker->lcore || options->rx_budget[q->port] == 0)
			continue;
		option_rx_name(q, name);
		if (hy_graph_source_budget(worker->graph, name, options->rx_budget[q->port]) < 0)
			return refuse(name, -EINVAL);
	}
	return 0;
}

/* What keeps a worker from sleeping. */
static const char *
wakes_nobody(const struct options *options, const struct worker *worker)
{
	if (options->event.on)
		return "an event device wakes nobody";
	return spread_takes(worker->graph) ? "another worker that hands packets over wakes nobody"
					   : "a port that it polls has no receive interrupts";
}

/* Says so if the worker cannot sleep, which it was asked to. */
static void
idle_set(const struct options *options, struct worker *worker)
{
	struct hy_idle_params params = hy_idle_defaults;
	struct hy_graph_params graph;

	params.wait_us = options->idle == IDLE_INTERRUPT ? options->wait_us : 0;
	if (options->idle == IDLE_POLL)
		params.pause_most = 0;
	hy_idle_init(&worker->idle, &params);
	if (options->idle != IDLE_INTERRUPT)
		return;
	hy_graph_params_get(worker->graph, &graph);
	if (graph.ops->arm(worker->graph, true) == 0)
		graph.ops->arm(worker->graph, false);
	else
		fprintf(stderr,
			"l3fwd-graph: --idle: the worker on lcore %u pauses instead of sleeping: "
			"%s\n",
			worker->lcore, wakes_nobody(options, worker));
}

/* What a graph is made of: receive queues, and all that they lead to. */
struct recipe {
	char names[QUEUES_MAX][HY_NAME_SIZE];
	const char *patterns[QUEUES_MAX];
	struct hy_graph_params params;
};

/* The queues are those of an lcore, or all for LCORE_ID_ANY. */
static void
recipe_write(const struct options *options, const struct pipeline *pipeline, unsigned int lcore,
	struct recipe *r)
{
	r->params = (struct hy_graph_params){
		.patterns = r->patterns,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route",
			pipeline->classes.policy == NULL ? NULL : HY_FLOW_CLASS_LANE,
			pipeline->features.arc == NULL ? NULL : HY_ARC_LANE },
		/* Two queues' packets go through a node in one call. */
		.burst = RTE_MIN(2 * options->burst, HY_BURST_MAX),
		.source_budget = options->burst,
		.qsbr = pipeline->qsbr,
		.socket = SOCKET_ID_ANY,
	};
	for (unsigned int i = 0; i < options->nb_queues && !options->event.on; i++) {
		const struct queue *q = &options->queues[i];
		const unsigned int n = r->params.nb_patterns;

		if (lcore != LCORE_ID_ANY && q->lcore != lcore)
			continue;
		option_rx_name(q, r->names[n]);
		r->patterns[n] = r->names[n];
		r->params.nb_patterns++;
	}
	if (options->event.on)
		r->patterns[r->params.nb_patterns++] = "event_rx";
}

static int
graph_create(const struct options *options, struct pipeline *pipeline, unsigned int index)
{
	struct worker *worker = &pipeline->workers[index];
	char name[HY_NAME_SIZE];
	struct recipe recipe;
	int rc;

	recipe_write(options, pipeline, worker->lcore, &recipe);
	recipe.params.worker = (uint16_t)index;
	recipe.params.socket = worker_socket(options, worker);
	snprintf(name, sizeof(name), "worker-%u", worker->lcore);
	rc = hy_graph_create(name, &recipe.params, &worker->graph);
	return rc < 0 ? refuse(name, rc) : 0;
}

/* One for each worker, or parts of one. */
static int
graphs_create(const struct options *options, struct pipeline *pipeline)
{
	struct recipe recipe;
	int rc;

	if (options->dispatch.on) {
		recipe_write(options, pipeline, LCORE_ID_ANY, &recipe);
		rc = spread_create(options, &recipe.params, pipeline);
		pipeline->tables.dispatch = pipeline->dispatch;
		return rc;
	}
	for (unsigned int w = 0; w < pipeline->nb_workers; w++)
		if (graph_create(options, pipeline, w) < 0)
			return -1;
	return 0;
}

int
pipeline_create(const struct options *options, const struct routes *routes, struct hy_hal *hal,
	struct pipeline *pipeline)
{
	const struct hy_selection *lookup = hy_hal_selection(hal, "ip4_lookup", 0);
	int rc;

	pipeline->tables.params.qsbr = pipeline->qsbr;
	pipeline->tables.params.engine = hy_ip4_engine_of(lookup->chosen->impl.variant);
	rc = tables_create(options, routes, pipeline);
	if (rc < 0)
		return rc;
	if (nodes_create(options, hal, pipeline) < 0 ||
		features_create(options, hal, pipeline->qsbr, &pipeline->features) < 0 ||
		graphs_create(options, pipeline) < 0)
		return -1;
	for (unsigned int w = 0; w < pipeline->nb_workers; w++) {
		if (budgets_set(options, &pipeline->workers[w]) < 0)
			return -1;
		pipeline->graphs[w] = pipeline->workers[w].graph;
		idle_set(options, &pipeline->workers[w]);
	}
	telemetry_show(&pipeline->tables, pipeline->features.arc);
	return 0;
}

uint64_t
pipeline_destroy(struct pipeline *pipeline)
{
	uint64_t under_way = 0;

	telemetry_hide();
	if (pipeline->dispatch != NULL)
		under_way = hy_dispatch_destroy(pipeline->dispatch);
	else
		for (unsigned int w = 0; w < pipeline->nb_workers; w++)
			hy_graph_destroy(pipeline->workers[w].graph);
	features_destroy(&pipeline->features);
	tables_destroy(&pipeline->tables);
	offloads_destroy(&pipeline->offloads);
	classes_destroy(&pipeline->classes);
	rte_free(pipeline->qsbr);
	*pipeline = (struct pipeline){ 0 };
	return under_way;
}
