/* SPDX-License-Identifier: BSD-3-Clause */
/* See graphs.h. */

#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "bench.h"
#include "graphs.h"

static void
node_name(char *name, size_t size, const char *prefix, unsigned int index)
{
	snprintf(name, size, "%s_%u", prefix, index);
}

int
graph_node_ours(const struct graph_node *node, const struct hy_node_impl *impl, const void *config,
	size_t config_size)
{
	char name[HY_NAME_SIZE], target[HY_NAME_SIZE];
	struct hy_node_desc desc = {
		.name = name, .flags = node->source ? HY_NODE_SOURCE : 0, .impl = *impl
	};
	hy_node_id id;
	int rc;

	desc.lanes[0] = node->lane;
	node_name(name, sizeof(name), node->prefix, node->index);
	rc = hy_node_register(&desc, &id);
	for (unsigned int e = 0; e < node->nb_edges && rc == 0; e++) {
		node_name(target, sizeof(target), node->prefix, node->edges[e]);
		rc = hy_node_edge_add(id, target, NULL);
	}
	return rc < 0 || config == NULL ? rc : hy_node_config(id, config, config_size);
}

void
graph_nodes_strike(const char *prefix)
{
	char name[HY_NAME_SIZE];
	hy_node_id id;

	for (unsigned int i = 0;; i++) {
		node_name(name, sizeof(name), prefix, i);
		if (hy_node_lookup(name, &id) < 0)
			return;
		hy_node_unregister(id);
	}
}

int
graph_node_rte(const struct graph_node *node, rte_node_process_t process, rte_node_init_t init)
{
	struct rte_node_register *reg = bench_alloc(1,
		sizeof(*reg) + GRAPH_EDGES_MAX * sizeof(reg->next_nodes[0]));
	char edges[GRAPH_EDGES_MAX][RTE_NODE_NAMESIZE];
	rte_node_t id;

	node_name(reg->name, sizeof(reg->name), node->prefix, node->index);
	reg->flags = node->source ? RTE_NODE_SOURCE_F : 0;
	reg->process = process;
	reg->init = init;
	reg->nb_edges = (rte_edge_t)node->nb_edges;
	for (unsigned int e = 0; e < node->nb_edges; e++) {
		node_name(edges[e], sizeof(edges[e]), node->prefix, node->edges[e]);
		reg->next_nodes[e] = edges[e];
	}
	id = __rte_node_register(reg);
	free(reg);
	return id == RTE_NODE_ID_INVALID
		? bench_cannot("librte_graph: a node: %s", rte_strerror(abs(rte_errno)))
		: 0;
}

static void
release(void **objs __rte_unused, unsigned int n __rte_unused)
{
}

const struct hy_object_ops graph_ops = { .release = release };

int
graph_ours(const char *name, const char *pattern, struct hy_graph_params params,
	struct hy_graph **graph)
{
	params.patterns = &pattern;
	params.nb_patterns = 1;
	params.ops = &graph_ops;
	params.socket = SOCKET_ID_ANY;
	return hy_graph_create(name, &params, graph);
}

rte_graph_t
graph_rte(const char *name, const char *pattern)
{
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern
	};
	const rte_graph_t id = rte_graph_create(name, &params);

	if (id == RTE_GRAPH_ID_INVALID)
		bench_cannot("librte_graph: %s", rte_strerror(abs(rte_errno)));
	return id;
}

uint16_t
graph_pass(struct hy_graph *graph, struct hy_node *node, void **objs __rte_unused, uint16_t n)
{
	hy_stream_move(graph, node, 0, n);
	return n;
}

uint16_t
graph_nothing(struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused,
	void **objs __rte_unused, uint16_t n __rte_unused)
{
	return 0;
}
