/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: creating, finding and destroying them. */

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "../log.h"
#include "compat.h"

static struct compat_graph *graphs; /* under the lock, in order of id */

struct compat_graph *
hy_compat_graph_next(const struct compat_graph *graph)
{
	return graph == NULL ? graphs : graph->next;
}

struct compat_graph *
hy_compat_graph_find(const char *name)
{
	struct compat_graph *graph = graphs;

	while (graph != NULL && (name == NULL || strcmp(graph->pub.name, name) != 0))
		graph = graph->next;
	return graph;
}

static struct compat_graph *
graph_of_id(rte_graph_t id)
{
	struct compat_graph *graph = graphs;

	while (graph != NULL && graph->pub.id != id)
		graph = graph->next;
	return graph;
}

/* Where a graph of the lowest free id goes in the list. */
static struct compat_graph **
free_id(rte_graph_t *id)
{
	struct compat_graph **link = &graphs;

	for (*id = 0; *link != NULL && (*link)->pub.id == *id; link = &(*link)->next)
		++*id;
	return link;
}

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

		if (fnmatch(pattern, node->name, 0) != 0)
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

/* Finds the nodes of a graph. Returns 0 or a negative errno (logged, but for -ENOMEM). */
static int
nodes_take(struct node_set *set, const char *graph, const struct rte_graph_param *prm)
{
	int rc = 0;

	for (uint16_t p = 0; p < prm->nb_node_patterns && rc == 0; p++)
		rc = pattern_take(set, graph, prm->node_patterns[p]);
	for (rte_node_t i = 0; i < set->n && rc == 0; i++)
		rc = targets_take(set, graph, set->nodes[i]);
	for (rte_node_t i = 0; i < set->n; i++)
		set->nodes[i]->taken = false;
	if (rc == 0 && set->n == 0) {
		HY_LOG(ERR, "rte_graph: graph '%s' has no nodes", graph);
		rc = -EINVAL;
	}
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

/* Compiles the graph for the first time, or once more. */
static int
graph_compile(struct compat_graph *graph, const struct rte_graph_param *prm)
{
	struct node_set set = { 0 };
	int rc = nodes_take(&set, graph->pub.name, prm);

	for (rte_node_t i = 0; i < set.n && rc == 0; i++)
		rc = hy_compat_edges_resolve(set.nodes[i]);
	if (rc == 0)
		rc = shadows_compile(graph, &set);
	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: graph '%s': not enough memory", graph->pub.name);
	free(set.nodes);
	return rc;
}

/* What frees the objects of a graph unless the program says how: nobody. */
static void
objects_forget(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static void
graph_free(struct compat_graph *graph)
{
	hy_compat_shadows_free(graph);
	free(graph->pub.nodes);
	rte_free(graph);
}

/* A graph without nodes: rte_socket_id() is no node for a thread that runs on all of them. */
static struct compat_graph *
graph_new(const char *name, const struct rte_graph_param *prm, rte_graph_t id)
{
	struct compat_graph *graph = rte_zmalloc("hy_compat", sizeof(*graph), RTE_CACHE_LINE_SIZE);
	int socket = prm->socket_id;

	if (graph == NULL)
		return NULL;
	if (socket == SOCKET_ID_ANY)
		socket = (int)rte_socket_id();
	if (socket == SOCKET_ID_ANY)
		socket = rte_socket_id_by_idx(0);
	strcpy(graph->pub.name, name);
	graph->pub.id = id;
	graph->pub.socket = socket;
	graph->pub.fence = RTE_GRAPH_FENCE;
	graph->ops.release = objects_forget;
	return graph;
}

static int
graph_create(const char *name, const struct rte_graph_param *prm, rte_graph_t *id)
{
	struct compat_graph *graph, **link = free_id(id);
	int rc;

	if (hy_compat_graph_find(name) != NULL) {
		HY_LOG(ERR, "rte_graph: graph '%s': the name is taken", name);
		return -EEXIST;
	}
	if (*id == RTE_GRAPH_ID_INVALID) {
		HY_LOG(ERR, "rte_graph: graph '%s': there are %u already", name, *id);
		return -ENOSPC;
	}
	graph = graph_new(name, prm, *id);
	if (graph == NULL) {
		HY_LOG(ERR, "rte_graph: graph '%s': not enough memory", name);
		return -ENOMEM;
	}
	rc = graph_compile(graph, prm);
	if (rc < 0) {
		graph_free(graph);
		return rc;
	}
	graph->next = *link;
	*link = graph;
	return 0;
}

static int
param_check(const char *graph, const struct rte_graph_param *prm)
{
	if (prm != NULL && (prm->node_patterns != NULL || prm->nb_node_patterns == 0))
		return 0;
	HY_LOG(ERR, "rte_graph: graph '%s': its parameters or patterns are missing", graph);
	return -EINVAL;
}

rte_graph_t
rte_graph_create(const char *name, struct rte_graph_param *prm)
{
	char checked[RTE_GRAPH_NAMESIZE];
	rte_graph_t id = 0;
	int rc = hy_compat_name_copy(checked, name, "graph");

	if (rc == 0)
		rc = param_check(checked, prm);
	if (rc == 0) {
		hy_compat_lock();
		rc = graph_create(checked, prm, &id);
		hy_compat_unlock();
	}
	if (rc < 0)
		hy_compat_errno(rc);
	return rc < 0 ? RTE_GRAPH_ID_INVALID : id;
}

int
hy_compat_graph_update(rte_graph_t id, const struct rte_graph_param *prm)
{
	struct compat_graph *graph;
	int rc = -ENOENT;

	hy_compat_lock();
	graph = graph_of_id(id);
	if (graph == NULL)
		HY_LOG(ERR, "rte_graph: there is no graph of id %u", id);
	else
		rc = param_check(graph->pub.name, prm);
	if (rc == 0)
		rc = graph_compile(graph, prm);
	hy_compat_unlock();
	if (rc < 0)
		hy_compat_errno(rc);
	return rc;
}

/* Says how many objects nobody is going to free. */
static void
forgotten_log(const struct compat_graph *graph)
{
	struct hy_node *node;
	uint64_t waiting = hy_compat_shadows_late(graph);

	for (unsigned int r = 0; hy_graph_node_at(graph->pub.core, r, &node) == 0; r++)
		waiting += node->waiting;
	if (waiting > 0 && graph->ops.release == objects_forget)
		HY_LOG(WARNING,
			"rte_graph: graph '%s': %" PRIu64
			" objects wait in it, and nothing says how to free them",
			graph->pub.name, waiting);
}

int
rte_graph_destroy(rte_graph_t id)
{
	struct compat_graph *graph, **link = &graphs;

	hy_compat_lock();
	graph = graph_of_id(id);
	if (graph != NULL) {
		while (*link != graph)
			link = &(*link)->next;
		*link = graph->next;
		forgotten_log(graph);
		hy_graph_destroy(graph->pub.core);
		graph_free(graph);
	}
	hy_compat_unlock();
	if (graph == NULL)
		hy_compat_errno(-ENOENT);
	return graph == NULL ? -ENOENT : 0;
}

void
hy_compat_graph_release(struct rte_graph *graph, void (*release)(void **objs, unsigned int n))
{
	((struct compat_graph *)graph)->ops.release = release == NULL ? objects_forget : release;
}

rte_graph_t
rte_graph_from_name(const char *name)
{
	const struct compat_graph *graph;
	rte_graph_t id = RTE_GRAPH_ID_INVALID;

	hy_compat_lock();
	graph = hy_compat_graph_find(name);
	if (graph != NULL)
		id = graph->pub.id;
	hy_compat_unlock();
	return id;
}

char *
rte_graph_id_to_name(rte_graph_t id)
{
	struct compat_graph *graph;

	hy_compat_lock();
	graph = graph_of_id(id);
	hy_compat_unlock();
	if (graph == NULL)
		hy_compat_errno(-EINVAL);
	return graph == NULL ? NULL : graph->pub.name;
}

struct rte_graph *
rte_graph_lookup(const char *name)
{
	struct compat_graph *graph;

	hy_compat_lock();
	graph = hy_compat_graph_find(name);
	hy_compat_unlock();
	return graph == NULL ? NULL : &graph->pub;
}

rte_graph_t
rte_graph_max_count(void)
{
	rte_graph_t n = 0;

	hy_compat_lock();
	for (const struct compat_graph *graph = graphs; graph != NULL; graph = graph->next)
		n++;
	hy_compat_unlock();
	return n;
}

struct shadow *
hy_compat_shadow(const struct compat_graph *graph, rte_node_t id)
{
	struct shadow *shadow = graph->shadows;

	while (shadow != NULL && (shadow->current == NULL || shadow->pub.id != id))
		shadow = shadow->next;
	return shadow;
}

struct rte_node *
rte_graph_node_get(rte_graph_t graph_id, rte_node_t node_id)
{
	const struct compat_graph *graph;
	struct shadow *shadow = NULL;

	hy_compat_lock();
	graph = graph_of_id(graph_id);
	if (graph != NULL)
		shadow = hy_compat_shadow(graph, node_id);
	hy_compat_unlock();
	if (shadow == NULL)
		hy_compat_errno(graph == NULL ? -EINVAL : -ENOENT);
	return shadow == NULL ? NULL : &shadow->pub;
}

struct rte_node *
rte_graph_node_get_by_name(const char *graph_name, const char *name)
{
	const struct compat_graph *graph;
	const struct compat_node *node;
	struct shadow *shadow = NULL;

	hy_compat_lock();
	graph = hy_compat_graph_find(graph_name);
	node = name == NULL ? NULL : hy_compat_node_find(name);
	if (graph != NULL && node != NULL)
		shadow = hy_compat_shadow(graph, node->id);
	hy_compat_unlock();
	if (shadow == NULL)
		hy_compat_errno(-ENOENT);
	return shadow == NULL ? NULL : &shadow->pub;
}
