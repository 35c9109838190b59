/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles a graph: its nodes, their shadows, and the core's graph. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

static int
node_take(struct node_set *set, struct compat_node *node)
{
	struct compat_node **nodes;

	if (node->taken)
		return 0;
	nodes = realloc(set->nodes, (set->n + 1) * sizeof(struct compat_node *));
	if (nodes == NULL)
		return -ENOMEM;
	set->nodes = nodes;
	nodes[set->n++] = node;
	node->taken = true;
	return 0;
}

static int
pattern_take(struct node_set *set, const char *graph, const char *pattern)
{
	bool matched = false;

	for (rte_node_t id = 0; pattern != NULL && id < hy_compat_nodes_count(); id++) {
		struct compat_node *node = hy_compat_node(id);

		if (node == NULL || fnmatch(pattern, node->name, 0) != 0)
			continue;
		matched = true;
		if (node_take(set, node) < 0)
			return -ENOMEM;
	}
	if (matched)
		return 0;
	return HY_REFUSE(-EFAULT, "rte_graph: graph '%s': pattern '%s' matches no node", graph,
		pattern == NULL ? "(null)" : pattern);
}

/* Adds the targets of a node's edges. */
static int
targets_take(struct node_set *set, const char *graph, const struct compat_node *node)
{
	if (node->nb_edges == 0 && (node->flags & RTE_NODE_SOURCE_F) != 0)
		return HY_REFUSE(-EINVAL, "rte_graph: graph '%s': the source '%s' has no edge",
			graph, node->name);
	for (rte_edge_t e = 0; e < node->nb_edges; e++) {
		struct compat_node *to = hy_compat_node_find(node->edges[e]);

		if (to == NULL)
			return HY_REFUSE(-EINVAL,
				"rte_graph: graph '%s': node '%s' leads to '%s', which is not registered",
				graph, node->name, node->edges[e]);
		if (node_take(set, to) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Has the core compile the graph, which checks it, and binds its nodes to their shadows. */
static int
core_compile(struct compat_graph *graph, const struct node_set *set)
{
	char(*names)[HY_NAME_SIZE] = calloc(set->n, sizeof(*names));
	const char **patterns = calloc(set->n, sizeof(*patterns));
	const struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = set->n,
		.ops = &graph->ops,
		.burst = RTE_GRAPH_BURST_SIZE,
		.worker = graph->pub.id,
		.socket = graph->pub.socket,
	};
	char name[HY_NAME_SIZE];
	int rc = names == NULL || patterns == NULL ? -ENOMEM : 0;

	for (rte_node_t i = 0; i < set->n && rc == 0; i++) {
		patterns[i] = names[i];
		rc = hy_node_name(set->nodes[i]->core, names[i], sizeof(names[i]));
	}
	hy_compat_compiling = graph;
	if (rc == 0 && graph->pub.core != NULL) {
		rc = hy_graph_update(graph->pub.core, &params);
	} else if (rc == 0) {
		hy_compat_core_name(name, graph->pub.name, graph->pub.id);
		rc = hy_graph_create(name, &params, &graph->pub.core);
	}
	hy_compat_compiling = NULL;
	free(names);
	free(patterns);
	return rc;
}

/* Makes shadows, and has the core compile the graph. */
static int
shadows_compile(struct compat_graph *graph, const struct node_set *set)
{
	const struct rte_graph before = graph->pub;
	int rc = hy_compat_shadows_stage(graph, set);

	if (rc < 0) {
		hy_compat_shadows_withdraw(graph);
		return rc;
	}
	/* The list for node code: the shadows, then NULL. */
	graph->pub.nodes = calloc(set->n + 1u, sizeof(struct rte_node *));
	for (rte_node_t i = 0; graph->pub.nodes != NULL && i < set->n; i++)
		graph->pub.nodes[i] = &set->nodes[i]->shadow->pub;
	graph->pub.nb_nodes = set->n;
	rc = graph->pub.nodes == NULL ? -ENOMEM : core_compile(graph, set);
	if (rc == 0) {
		hy_compat_shadows_commit(graph);
		free(before.nodes);
	} else {
		hy_compat_shadows_withdraw(graph);
		free(graph->pub.nodes);
		graph->pub.nodes = before.nodes;
		graph->pub.nb_nodes = before.nb_nodes;
	}
	return rc;
}

/* Compiles the nodes that patterns match or another graph has, and the targets of their edges. */
static int
set_compile(struct compat_graph *graph, struct node_set *set)
{
	int rc = 0;

	for (rte_node_t i = 0; i < set->n && rc == 0; i++)
		rc = targets_take(set, graph->pub.name, set->nodes[i]);
	if (rc == 0 && set->n == 0)
		rc = HY_REFUSE(-EINVAL, "rte_graph: graph '%s' has no nodes", graph->pub.name);
	for (rte_node_t i = 0; i < set->n && rc == 0; i++)
		rc = hy_compat_edges_resolve(set->nodes[i]);
	return rc == 0 ? shadows_compile(graph, set) : rc;
}

int
hy_compat_graph_compile(struct compat_graph *graph, const struct rte_graph_param *prm,
	const struct compat_graph *like)
{
	struct node_set set = { 0 };
	int rc = 0;

	if (hy_compat_compiling != NULL) /* its nodes' shadows are staged */
		return HY_REFUSE(-EBUSY,
			"rte_graph: graph '%s': refused: called by a node's init() in graph '%s'",
			graph->pub.name, hy_compat_compiling->pub.name);
	for (uint16_t p = 0; like == NULL && p < prm->nb_node_patterns && rc == 0; p++)
		rc = pattern_take(&set, graph->pub.name, prm->node_patterns[p]);
	for (rte_node_t i = 0; like != NULL && i < like->pub.nb_nodes && rc == 0; i++)
		rc = node_take(&set, hy_compat_node(like->pub.nodes[i]->id));
	if (rc == 0)
		rc = set_compile(graph, &set);
	for (rte_node_t i = 0; i < set.n; i++)
		set.nodes[i]->taken = false;
	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: graph '%s': not enough memory", graph->pub.name);
	free(set.nodes);
	return rc;
}
