/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiling a graph: which nodes it has, their shadows, and what the core makes of them. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

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
	HY_LOG(ERR, "rte_graph: graph '%s': pattern '%s' matches no node", graph,
		pattern == NULL ? "(null)" : pattern);
	return -EFAULT;
}

/* Takes what a node's edges lead to. */
static int
targets_take(struct node_set *set, const char *graph, const struct compat_node *node)
{
	if (node->nb_edges == 0 && (node->flags & RTE_NODE_SOURCE_F) != 0) {
		HY_LOG(ERR, "rte_graph: graph '%s': the source '%s' has no edge", graph,
			node->name);
		return -EINVAL;
	}
	for (rte_edge_t e = 0; e < node->nb_edges; e++) {
		struct compat_node *to = hy_compat_node_find(node->edges[e]);

		if (to == NULL) {
			HY_LOG(ERR,
				"rte_graph: graph '%s': node '%s' leads to '%s', which is not registered",
				graph, node->name, node->edges[e]);
			return -EINVAL;
		}
		if (node_take(set, to) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Finds the nodes that patterns name. Returns 0 or a negative errno (logged, but for -ENOMEM). */
static int
patterns_take(struct node_set *set, const char *graph, const struct rte_graph_param *prm)
{
	int rc = 0;

	for (uint16_t p = 0; p < prm->nb_node_patterns && rc == 0; p++)
		rc = pattern_take(set, graph, prm->node_patterns[p]);
	return rc;
}

/* Takes the nodes of a graph as it is. */
static int
nodes_of(struct node_set *set, const struct compat_graph *graph)
{
	int rc = 0;

	for (rte_node_t i = 0; i < graph->pub.nb_nodes && rc == 0; i++)
		rc = node_take(set, hy_compat_node(graph->pub.nodes[i]->id));
	return rc;
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
	hy_compat_compiling = true;
	if (rc == 0 && graph->pub.core != NULL) {
		rc = hy_graph_update(graph->pub.core, &params);
	} else if (rc == 0) {
		hy_compat_core_name(name, graph->pub.name, graph->pub.id);
		rc = hy_graph_create(name, &params, &graph->pub.core);
	}
	hy_compat_compiling = false;
	free(names);
	free(patterns);
	return rc;
}

/* What node code goes through: the shadows of a set, then NULL. */
static struct rte_node **
shadows_list(const struct node_set *set)
{
	struct rte_node **nodes = calloc(set->n + 1u, sizeof(*nodes));

	for (rte_node_t i = 0; nodes != NULL && i < set->n; i++)
		nodes[i] = &set->nodes[i]->shadow->pub;
	return nodes;
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
	graph->pub.nodes = shadows_list(set);
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

/* Compiles what patterns or another graph take, with all that it leads to. */
static int
set_compile(struct compat_graph *graph, struct node_set *set)
{
	int rc = 0;

	for (rte_node_t i = 0; i < set->n && rc == 0; i++)
		rc = targets_take(set, graph->pub.name, set->nodes[i]);
	if (rc == 0 && set->n == 0) {
		HY_LOG(ERR, "rte_graph: graph '%s' has no nodes", graph->pub.name);
		rc = -EINVAL;
	}
	for (rte_node_t i = 0; i < set->n && rc == 0; i++)
		rc = hy_compat_edges_resolve(set->nodes[i]);
	return rc == 0 ? shadows_compile(graph, set) : rc;
}

int
hy_compat_graph_compile(struct compat_graph *graph, const struct rte_graph_param *prm,
	const struct compat_graph *like)
{
	struct node_set set = { 0 };
	int rc = like == NULL ? patterns_take(&set, graph->pub.name, prm) : nodes_of(&set, like);

	if (rc == 0)
		rc = set_compile(graph, &set);
	for (rte_node_t i = 0; i < set.n; i++)
		set.nodes[i]->taken = false;
	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: graph '%s': not enough memory", graph->pub.name);
	free(set.nodes);
	return rc;
}
