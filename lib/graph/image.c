/* SPDX-License-Identifier: BSD-3-Clause */
/* From a topology to the memory that a worker walks. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "enqueue.h"
#include "image.h"

/* Bytes of one stream: pointers, then lanes, each with slack. Also sets the lanes' offsets. */
static size_t
stream_layout(struct hy_graph *graph)
{
	const size_t room = graph->stream_cap + HY_STREAM_SLACK;
	size_t size = RTE_ALIGN(room * sizeof(void *), RTE_CACHE_LINE_SIZE);

	for (unsigned int l = 0; l < graph->nb_lanes; l++) {
		graph->lane_offset[l] = (uint32_t)size;
		size += RTE_ALIGN(room * sizeof(uint32_t), RTE_CACHE_LINE_SIZE);
	}
	/* An odd number of lines: the streams' first lines do not all fall into one cache set. */
	return size | RTE_CACHE_LINE_SIZE;
}

static int
memory_take(struct hy_graph *graph, const struct hy_topology *topo, size_t stream_size)
{
	struct hy_image *image = graph->image;
	size_t nb_edges = topo->nb_edges;

	for (unsigned int r = 0; r < topo->nb_nodes; r++)
		nb_edges += HY_CORE_DROPS + topo->nodes[r]->nb_drops;

	graph->nodes = rte_zmalloc_socket("hy_nodes", topo->nb_nodes * sizeof(*graph->nodes),
		RTE_CACHE_LINE_SIZE, image->socket);
	graph->pending = rte_zmalloc_socket("hy_pending", graph->nb_words * sizeof(*graph->pending),
		RTE_CACHE_LINE_SIZE, image->socket);
	image->nodes = rte_zmalloc_socket("hy_cold", topo->nb_nodes * sizeof(*image->nodes),
		RTE_CACHE_LINE_SIZE, image->socket);
	image->edges = rte_zmalloc_socket("hy_edges", nb_edges * sizeof(*image->edges),
		RTE_CACHE_LINE_SIZE, image->socket);
	image->streams = rte_malloc_socket("hy_streams", topo->nb_nodes * stream_size,
		RTE_CACHE_LINE_SIZE, image->socket);
	if (graph->nodes == NULL || graph->pending == NULL || image->nodes == NULL ||
		image->edges == NULL || image->streams == NULL)
		return -ENOMEM;
	return 0;
}

static unsigned int
lane_index(const struct hy_graph_params *params, const char *lane)
{
	unsigned int index = 0;

	for (unsigned int i = 0; i < HY_LANES_MAX; i++) {
		if (params->lanes[i] == NULL)
			continue;
		if (strcmp(params->lanes[i], lane) == 0)
			break;
		index++;
	}
	return index;
}

static void
node_fill(struct hy_graph *graph, const struct hy_graph_params *params,
	const struct hy_topology *topo, unsigned int rank)
{
	const struct hy_reg_node *reg = topo->nodes[rank];
	struct hy_image_node *cold = &graph->image->nodes[rank];
	struct hy_node *node = &graph->nodes[rank];

	node->process = reg->impl.process;
	node->rank = (uint16_t)rank;
	node->replicates = reg->replicates;
	for (unsigned int l = 0; l < reg->nb_lanes; l++)
		node->lane[l] = (uint8_t)lane_index(params, reg->lanes[l]);

	cold->reg = topo->nodes[rank];
	cold->impl = reg->impl;
	strcpy(cold->variant, reg->variant);
	cold->impl.variant = reg->variant[0] == '\0' ? NULL : cold->variant;
	cold->nb_edges = (uint16_t)reg->nb_edges;
	cold->nb_drops = (uint16_t)(HY_CORE_DROPS + reg->nb_drops);
}

/* Joins the nodes. Drop reasons have negative indexes, so node->edges points behind them. */
static void
edges_fill(struct hy_graph *graph, const struct hy_topology *topo)
{
	struct hy_edge *edge = graph->image->edges;

	for (unsigned int r = 0; r < topo->nb_nodes; r++) {
		const struct hy_image_node *cold = &graph->image->nodes[r];
		struct hy_node *node = &graph->nodes[r];

		node->edges = edge + cold->nb_drops;
		for (int d = HY_CORE_DROPS; d < cold->nb_drops; d++)
			node->edges[-1 - d].to = &graph->nodes[topo->drop_rank];
		for (unsigned int e = 0; e < cold->nb_edges; e++)
			node->edges[e].to = &graph->nodes[topo->targets[topo->first_edge[r] + e]];
		edge = node->edges + cold->nb_edges;
	}
}

int
hy_image_build(const char *name, const struct hy_graph_params *params,
	const struct hy_topology *topo, struct hy_graph **out)
{
	struct hy_graph *graph = rte_zmalloc_socket("hy_graph", sizeof(*graph), RTE_CACHE_LINE_SIZE,
		params->socket);
	struct hy_image *image = rte_zmalloc_socket("hy_image", sizeof(*image), RTE_CACHE_LINE_SIZE,
		params->socket);
	size_t stream_size;

	if (graph == NULL || image == NULL) {
		rte_free(graph);
		rte_free(image);
		return -ENOMEM;
	}
	strcpy(image->name, name);
	image->worker = params->worker;
	image->socket = params->socket;

	graph->image = image;
	graph->scatter = hy_scatter_best();
	graph->stream_cap = topo->stream_cap;
	graph->nb_nodes = (uint16_t)topo->nb_nodes;
	graph->nb_sources = (uint16_t)topo->nb_sources;
	graph->nb_words = (uint16_t)((topo->nb_nodes + 63) / 64);
	graph->burst = params->burst;
	graph->max_sweeps = params->max_sweeps;
	graph->cyclic = topo->cyclic;
	graph->throttled = topo->throttled;
	graph->sample_every = params->sample_every;
	graph->sample_left = 1; /* the first walk is measured, so that no counter is ever a guess */
	graph->ops = params->ops;
	for (unsigned int l = 0; l < HY_LANES_MAX; l++)
		graph->nb_lanes += params->lanes[l] != NULL;

	stream_size = stream_layout(graph);
	if (memory_take(graph, topo, stream_size) < 0) {
		hy_image_free(graph);
		return -ENOMEM;
	}
	for (unsigned int r = 0; r < topo->nb_nodes; r++) {
		node_fill(graph, params, topo, r);
		graph->nodes[r].stream = RTE_PTR_ADD(image->streams, r * stream_size);
	}
	edges_fill(graph, topo);
	*out = graph;
	return 0;
}

void
hy_image_free(struct hy_graph *graph)
{
	rte_free(graph->nodes);
	rte_free(graph->pending);
	rte_free(graph->image->nodes);
	rte_free(graph->image->edges);
	rte_free(graph->image->streams);
	rte_free(graph->image);
	rte_free(graph);
}
