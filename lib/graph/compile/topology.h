/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology: which nodes of the registry make a graph, checked, in walk order, and how many
 * objects may wait on one of them. It lives only while a graph is compiled, under the lock.
 */
#pragma once

#include "lib/graph/registry/registry.h"

struct hy_topology {
	unsigned int nb_nodes;
	unsigned int nb_sources;
	struct hy_reg_node **nodes; /* by rank, sources first */
	unsigned int *first_edge;   /* nb_nodes + 1: where a node's targets start */
	unsigned int *targets;      /* rank of each edge's target, node after node */
	unsigned int nb_edges;
	unsigned int drop_rank; /* of the node that drops go to; valid if any node can drop */
	bool cyclic;
	bool throttled;
	uint32_t stream_cap;
};

/* Builds a topology. Returns 0 or a negative errno, with the reason logged under graph's name. */
int hy_topology_build(const char *graph, const struct hy_graph_params *params,
	struct hy_topology *topo);
void hy_topology_free(struct hy_topology *topo);

/* Edges of a node, with one more for all its drops. */
static inline unsigned int
hy_successors(const struct hy_reg_node *node)
{
	return node->nb_edges + (node->nb_drops > 0);
}

/* topology_streams.c: sets throttled and stream_cap of a ranked topology. Returns 0 or -ENOMEM. */
int hy_topology_streams(struct hy_topology *topo, uint16_t burst);

/* Two edges of one node that lead to one node, by their indexes among its edges. */
struct hy_twins {
	unsigned int node;
	unsigned int first;
	unsigned int second;
};

/*
 * topology_edges.c: whether all edges of each node lead to different nodes. first_edge has nb_nodes
 * + 1 entries, targets are less than nb_nodes. Returns 0; -EEXIST with the first two that do not;
 * -ENOMEM.
 */
int hy_edges_distinct(unsigned int nb_nodes, const unsigned int *first_edge,
	const unsigned int *targets, struct hy_twins *twins);
