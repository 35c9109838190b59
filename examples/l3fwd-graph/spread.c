/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line's pins in terms of workers, and what became of them. */

#include <stdio.h>
#include <string.h>

#include <hy_dispatch.h>

#include "option.h"
#include "spread.h"

/* Graphs are named after it and the worker's number, as PIPELINE_GRAPHS wants them. */
#define NAME "worker"
#define RING_BURSTS 16

unsigned int
spread_held(const struct options *options, unsigned int nb_workers)
{
	const unsigned int ring = RING_BURSTS *
		RTE_MIN(2u * options->burst, (unsigned int)HY_BURST_MAX);

	return options->dispatch.on ? nb_workers * (nb_workers - 1) * ring : 0;
}

static uint16_t
worker_on(const struct pipeline *pipeline, unsigned int lcore)
{
	uint16_t w = 0;

	while (pipeline->workers[w].lcore != lcore)
		w++;
	return w;
}

static int
create(const struct hy_dispatch_params *params, struct pipeline *pipeline)
{
	const int rc = hy_dispatch_create(NAME, params, &pipeline->dispatch);

	if (rc < 0) {
		fprintf(stderr, "l3fwd-graph: --mode=dispatch: %s\n", strerror(-rc));
		return -1;
	}
	for (uint16_t w = 0; w < params->nb_workers; w++)
		pipeline->workers[w].graph = hy_dispatch_graph(pipeline->dispatch, w);
	return 0;
}

/* Receive queues run where --config says, other nodes by --pin. */
int
spread_create(const struct options *options, const struct hy_graph_params *graph,
	struct pipeline *pipeline)
{
	const struct dispatch_options *d = &options->dispatch;
	uint16_t workers[REPEATS_MAX][PIN_LCORES_MAX], pollers[QUEUES_MAX];
	struct hy_dispatch_pin pins[REPEATS_MAX + QUEUES_MAX];
	char names[QUEUES_MAX][HY_NAME_SIZE];
	int sockets[RTE_MAX_LCORE];
	struct hy_dispatch_params params = { .graph = graph,
		.nb_workers = (uint16_t)pipeline->nb_workers,
		.sockets = sockets,
		.pins = pins,
		.ring_bursts = RING_BURSTS };

	for (unsigned int w = 0; w < pipeline->nb_workers; w++)
		sockets[w] = worker_socket(options, &pipeline->workers[w]);
	for (unsigned int i = 0; i < options->nb_queues; i++) {
		pollers[i] = worker_on(pipeline, options->queues[i].lcore);
		option_rx_name(&options->queues[i], names[i]);
		pins[params.nb_pins++] = (struct hy_dispatch_pin){
			.pattern = names[i], .workers = &pollers[i], .nb_workers = 1
		};
	}
	for (unsigned int i = 0; i < d->nb_pins; i++) {
		const struct pin *pin = &d->pins[i];

		for (unsigned int l = 0; l < pin->nb_lcores; l++)
			workers[i][l] = worker_on(pipeline, pin->lcores[l]);
		pins[params.nb_pins++] = (struct hy_dispatch_pin){
			.pattern = pin->pattern, .workers = workers[i], .nb_workers = pin->nb_lcores
		};
	}
	return create(&params, pipeline);
}

/* Skips what nodes of one side of rings have before the name of the node that they are for. */
static const char *
behind(const char *prefix, const char *name)
{
	const size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

bool
spread_takes(struct hy_graph *graph)
{
	struct hy_node *node;

	for (unsigned int i = 0; hy_graph_node_at(graph, i, &node) == 0; i++)
		if (behind(NAME "-in-", hy_graph_node_name(graph, node)) != NULL)
			return true;
	return false;
}

/* The node that a node hands all packets over to, or those of some flows; NULL for other nodes. */
static const char *
target(const struct hy_node_stats *node)
{
	const char *to = behind(NAME "-out-", node->name);

	return to != NULL ? to : behind(NAME "-split-", node->name);
}

static uint64_t
held_back(const struct hy_node_stats *node)
{
	for (unsigned int c = 0; c < node->nb_counters; c++)
		if (strcmp(node->counters[c].name, "held_back") == 0)
			return node->counters[c].value;
	return 0;
}

/* What did not stay with the worker, nor was dropped. */
static uint64_t
handed_over(const struct hy_node_stats *node)
{
	uint64_t away = 0;

	for (unsigned int e = 0; e < node->nb_edges; e++)
		away += node->edges[e].objs;
	for (unsigned int d = 0; d < node->nb_drops; d++)
		away += node->drops[d].objs;
	/* While it runs, a burst may have left that does not count as taken yet. */
	return node->objs > away ? node->objs - away : 0;
}

bool
spread_way_read(const struct hy_stats *stats, unsigned int i, struct spread_way *way)
{
	*way = (struct spread_way){ .node = target(&stats->nodes[i]) };
	for (unsigned int j = 0; way->node != NULL && j < stats->nb_nodes; j++) {
		const struct hy_node_stats *node = &stats->nodes[j];
		const char *to = target(node);

		if (to == NULL || strcmp(to, way->node) != 0)
			continue;
		if (j < i)
			return false;
		way->packets += handed_over(node);
		way->held_back += held_back(node);
	}
	return way->node != NULL;
}
