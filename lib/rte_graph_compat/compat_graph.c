/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: creating, finding and destroying them. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

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

struct compat_graph *
hy_compat_graph_of_id(rte_graph_t id)
{
	struct compat_graph *graph = graphs;

	while (graph != NULL && graph->pub.id != id)
		graph = graph->next;
	return graph;
}

/* Default release() of a graph: frees nothing. */
static void
objects_forget(void **objs __rte_unused, unsigned int n __rte_unused)
{
}

static const struct hy_object_ops forgotten = { .release = objects_forget };

static void
graph_free(struct compat_graph *graph)
{
	hy_compat_shadows_free(graph);
	free(graph->pub.nodes);
	rte_free(graph);
}

/* rte_socket_id() is no node for a thread that runs on all of them. */
static int
socket_of(const struct rte_graph_param *prm)
{
	int socket = prm->socket_id;

	if (socket == SOCKET_ID_ANY)
		socket = (int)rte_socket_id();
	return socket == SOCKET_ID_ANY ? rte_socket_id_by_idx(0) : socket;
}

/* A graph without nodes. */
static struct compat_graph *
graph_new(const char *name, const struct rte_graph_param *prm, const struct compat_graph *original)
{
	struct compat_graph *graph = rte_zmalloc("hy_compat", sizeof(*graph), RTE_CACHE_LINE_SIZE);

	if (graph == NULL)
		return NULL;
	graph->clone = original != NULL;
	strcpy(graph->pub.name, name);
	graph->pub.socket = original == NULL ? socket_of(prm) : original->pub.socket;
	graph->pub.model = original == NULL ? RTE_GRAPH_MODEL_DEFAULT : original->pub.model;
	graph->pub.fence = RTE_GRAPH_FENCE;
	graph->pub.dispatch.lcore_id = RTE_MAX_LCORE;
	graph->ops = original == NULL ? forgotten : original->ops;
	return graph;
}

/* Creates a graph, of patterns or like another. Returns 0 or a negative errno (logged). */
static int
graph_create(const char *name, const struct rte_graph_param *prm,
	const struct compat_graph *original, rte_graph_t *id)
{
	struct compat_graph *graph, **link = &graphs;
	int rc;

	/* The lowest id that is free. */
	*id = 0;
	for (graph = graphs; graph != NULL && graph->pub.id == *id; graph = graph->next)
		++*id;
	if (hy_compat_graph_find(name) != NULL)
		return HY_REFUSE(-EEXIST, "rte_graph: graph '%s': the name is taken", name);
	if (*id == RTE_GRAPH_ID_INVALID)
		return HY_REFUSE(-ENOSPC, "rte_graph: graph '%s': there are %u already", name, *id);
	graph = graph_new(name, prm, original);
	if (graph == NULL)
		return HY_REFUSE(-ENOMEM, "rte_graph: graph '%s': not enough memory", name);
	graph->pub.id = *id;
	rc = hy_compat_graph_compile(graph, prm, original);
	if (rc < 0) {
		graph_free(graph);
		return rc;
	}
	/* Not before: an init() may have destroyed other graphs. */
	while (*link != NULL && (*link)->pub.id < *id)
		link = &(*link)->next;
	graph->next = *link;
	*link = graph;
	return 0;
}

static int
param_check(const char *graph, const struct rte_graph_param *prm)
{
	if (prm == NULL || (prm->node_patterns == NULL && prm->nb_node_patterns > 0))
		return HY_REFUSE(-EINVAL,
			"rte_graph: graph '%s': its parameters or patterns are missing", graph);
#ifdef HY_COMPAT_PCAP
	if (prm->pcap_enable)
		return HY_REFUSE(-ENOTSUP,
			"rte_graph: graph '%s': pcap_enable is not supported: hy_capture_start() "
			"captures, see hy_compat_graph_objects()",
			graph);
#endif
	return 0;
}

rte_graph_t
rte_graph_create(const char *name, struct rte_graph_param *prm)
{
	char checked[RTE_GRAPH_NAMESIZE];
	rte_graph_t id = 0;
	int rc = hy_compat_name_copy(checked, name, "graph");

	hy_compat_lock();
	if (rc == 0)
		rc = param_check(checked, prm);
	if (rc == 0)
		rc = graph_create(checked, prm, NULL, &id);
	return hy_compat_end(rc) < 0 ? RTE_GRAPH_ID_INVALID : id;
}

/* Clones a graph. Returns 0 or a negative errno (logged). */
static int
graph_clone(rte_graph_t id, const char *name, const struct rte_graph_param *prm, rte_graph_t *clone)
{
	const struct compat_graph *original = hy_compat_graph_of_id(id);
	char whole[RTE_GRAPH_NAMESIZE];
	int rc;

	if (original == NULL)
		return HY_REFUSE(-ENOENT, "rte_graph: there is no graph of id %u", id);
	if (original->clone)
		return HY_REFUSE(-EEXIST, "rte_graph: graph '%s' is a clone, and cannot be cloned",
			original->pub.name);
	if (prm == NULL)
		return HY_REFUSE(-EINVAL, "rte_graph: a clone of graph '%s' without parameters",
			original->pub.name);
	rc = hy_compat_clone_name(original->pub.name, name, whole);
	return rc < 0 ? rc : graph_create(whole, prm, original, clone);
}

rte_graph_t
rte_graph_clone(rte_graph_t id, const char *name, struct rte_graph_param *prm)
{
	rte_graph_t clone = RTE_GRAPH_ID_INVALID;

	hy_compat_lock();
	return hy_compat_end(graph_clone(id, name, prm, &clone)) < 0 ? RTE_GRAPH_ID_INVALID : clone;
}

int
hy_compat_graph_update(rte_graph_t id, const struct rte_graph_param *prm)
{
	struct compat_graph *graph;
	int rc = -ENOENT;

	hy_compat_lock();
	graph = hy_compat_graph_of_id(id);
	if (graph == NULL)
		HY_LOG(ERR, "rte_graph: there is no graph of id %u", id);
	else
		rc = param_check(graph->pub.name, prm);
	if (rc == 0)
		rc = hy_compat_graph_compile(graph, prm, NULL);
	return hy_compat_end(rc);
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
	int rc;

	hy_compat_lock();
	hy_registry_lock(); /* nobody leaves an image of the graph after the check */
	graph = hy_compat_graph_of_id(id);
	rc = graph == NULL ? -ENOENT : hy_graph_destroy_check(graph->pub.core);
	if (rc == 0) {
		while (*link != graph)
			link = &(*link)->next;
		*link = graph->next;
		forgotten_log(graph);
		hy_graph_destroy(graph->pub.core);
		graph_free(graph);
	}
	hy_registry_unlock();
	return hy_compat_end(rc);
}

void
hy_compat_graph_objects(struct rte_graph *graph, const struct hy_object_ops *ops)
{
	((struct compat_graph *)graph)->ops = ops == NULL ? forgotten : *ops;
}

rte_graph_t
rte_graph_from_name(const char *name)
{
	const struct compat_graph *graph;
	rte_graph_t id;

	hy_compat_lock();
	graph = hy_compat_graph_find(name);
	id = graph == NULL ? RTE_GRAPH_ID_INVALID : graph->pub.id;
	hy_compat_unlock();
	return id;
}

char *
rte_graph_id_to_name(rte_graph_t id)
{
	struct compat_graph *graph;

	hy_compat_lock();
	graph = hy_compat_graph_of_id(id);
	hy_compat_end(graph == NULL ? -EINVAL : 0);
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
	graph = hy_compat_graph_of_id(graph_id);
	if (graph != NULL)
		shadow = hy_compat_shadow(graph, node_id);
	hy_compat_unlock();
	if (shadow == NULL)
		rte_errno = graph == NULL ? EINVAL : ENOENT;
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
		rte_errno = ENOENT;
	return shadow == NULL ? NULL : &shadow->pub;
}
