/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An image: a topology compiled into the memory that one worker walks. What the walk touches comes
 * first (struct hy_node, struct hy_edge, streams); what only the control plane and timed walks
 * touch is here.
 */
#ifndef HY_GRAPH_IMAGE_H
#define HY_GRAPH_IMAGE_H

#include "topology.h"

#include <hy_graph_worker.h>

/* A node of a graph, by rank: the cold side of struct hy_node. */
struct hy_image_node {
	struct hy_reg_node *reg;
	struct hy_node_impl impl; /* as it was at creation; impl.variant points to variant */
	char variant[HY_NAME_SIZE];
	uint16_t nb_edges;
	uint16_t nb_drops;      /* the core's own included */
	uint64_t sampled_calls; /* in walks that were timed */
	uint64_t sampled_objs;
	uint64_t sampled_cycles; /* of calls that had objects */
	uint64_t sampled_idle;   /* of those that had none */
	uint32_t reserved_at;    /* hy_stream_get(): where in the stream, and how many */
	uint32_t reserved;
};

struct hy_image {
	char name[HY_NAME_SIZE];
	uint16_t worker;
	int socket;
	unsigned int nb_initialised; /* nodes whose init() succeeded, a prefix in rank order */
	struct hy_image_node *nodes;
	struct hy_edge *edges; /* of all nodes, drops first in each */
	void *streams;
	struct hy_graph *next; /* in the list of graphs */
};

/* Compiles. Nodes are not initialised yet. Returns 0 or -ENOMEM. */
int hy_image_build(const char *name, const struct hy_graph_params *params,
	const struct hy_topology *topo, struct hy_graph **graph);
void hy_image_free(struct hy_graph *graph);

/* Reads a counter beside the worker that writes it with hy_count(). */
static inline uint64_t
hy_count_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static inline struct hy_image_node *
hy_image_node(const struct hy_graph *graph, const struct hy_node *node)
{
	return &graph->image->nodes[node->rank];
}

#endif
