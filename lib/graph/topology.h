/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology: which nodes of the registry make a graph, checked, in walk order, and how many
 * objects may wait on one of them. It lives only while a graph is compiled, under the lock.
 */
#ifndef HY_GRAPH_TOPOLOGY_H
#define HY_GRAPH_TOPOLOGY_H

#include "registry.h"

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

#endif
