/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges. Here a node has the list that its program gave it, in which a target may come twice. In
 * the core a node has one edge a target; the two are matched when a graph is created.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

/* The node of this id; NULL (logged) if there is none. */
static struct compat_node *
node_wanted(rte_node_t id)
{
	struct compat_node *node = hy_compat_node(id);

	if (node == NULL)
		rte_errno = HY_REFUSE(EINVAL, "rte_graph: there is no node of id %u", id);
	return node;
}

int
hy_compat_edges_set(struct compat_node *node, uint32_t from, const char *const *targets, uint32_t n)
{
	const uint32_t all = RTE_MAX(from + n, (uint32_t)node->nb_edges);
	char(*edges)[RTE_NODE_NAMESIZE];

	if (from > node->nb_edges)
		return HY_REFUSE(-EINVAL, "rte_graph: node '%s': edge %u, but the next one is %u",
			node->name, from, node->nb_edges);
	if (all >= RTE_EDGE_ID_INVALID)
		return HY_REFUSE(-E2BIG, "rte_graph: node '%s': %u edges, but it can have %u",
			node->name, all, RTE_EDGE_ID_INVALID - 1);
	/* A new list, so that a refused name does not change the old one. */
	edges = calloc(all + 1, sizeof(*edges));
	if (edges == NULL)
		return -ENOMEM;
	if (node->nb_edges > 0)
		memcpy(edges, node->edges, node->nb_edges * sizeof(*edges));
	for (uint32_t e = 0; e < n; e++) {
		const int rc = hy_compat_name_copy(edges[from + e], targets[e], "edge's target");

		if (rc < 0) {
			free(edges);
			return rc;
		}
	}
	free(node->edges);
	node->edges = edges;
	node->nb_edges = (rte_edge_t)all;
	node->resolved = false;
	return 0;
}

int
hy_compat_edges_resolve(struct compat_node *node)
{
	uint16_t *core_edges;
	int rc;

	if (node->resolved)
		return 0;
	core_edges = calloc(node->nb_edges + 1u, sizeof(*core_edges));
	if (core_edges == NULL)
		return -ENOMEM;
	hy_registry_lock();
	hy_registry_own(node->core, NULL);
	rc = hy_node_edge_shrink(node->core, 0);
	for (rte_edge_t e = 0; e < node->nb_edges && rc == 0; e++) {
		const struct compat_node *to = hy_compat_node_find(node->edges[e]);
		char name[HY_NAME_SIZE];

		rc = hy_node_name(to->core, name, sizeof(name));
		if (rc == 0)
			rc = hy_node_edge_add(node->core, name, &core_edges[e]);
	}
	if (rc == 0) /* so that a live change gives the node a new context, with its new edges */
		rc = hy_node_config(node->core, &node, sizeof(struct compat_node *));
	hy_registry_own(node->core, &hy_compat_owner);
	hy_registry_unlock();
	if (rc < 0) {
		free(core_edges);
		return rc;
	}
	free(node->core_edges);
	node->core_edges = core_edges;
	node->resolved = true;
	return 0;
}

/* Whether an arc uses one of n edges that are to lead elsewhere, or, for NULL, to go; logs it if so. */
static bool
arc_holds(const struct compat_node *node, uint32_t from, const char *const *targets, uint32_t n)
{
	for (uint32_t e = from; e < node->nb_edges && e < from + n; e++) {
		const char *target = targets == NULL ? NULL : targets[e - from];

		if ((target != NULL && strcmp(target, node->edges[e]) == 0) ||
			!hy_compat_arc_names(node, (rte_edge_t)e))
			continue;
		rte_errno = HY_REFUSE(EBUSY,
			"rte_graph: node '%s': an arc uses its edge %u to '%s'; destroy that first",
			node->name, e, node->edges[e]);
		return true;
	}
	return false;
}

rte_edge_t
rte_node_edge_update(rte_node_t id, rte_edge_t from, const char **next_nodes, uint16_t nb_edges)
{
	struct compat_node *node;
	int rc = 0;

	hy_compat_lock();
	node = node_wanted(id);
	if (node != NULL && from == RTE_EDGE_ID_INVALID)
		from = node->nb_edges;
	if (node != NULL && arc_holds(node, from, next_nodes, nb_edges)) {
		rc = -EBUSY;
	} else if (node != NULL) {
		rc = hy_compat_edges_set(node, from, next_nodes, nb_edges);
		if (rc == -ENOMEM)
			HY_LOG(ERR, "rte_graph: node '%s': not enough memory", node->name);
	}
	return hy_compat_end(rc) < 0 || node == NULL ? 0 : nb_edges;
}

rte_edge_t
rte_node_edge_shrink(rte_node_t id, rte_edge_t size)
{
	rte_edge_t left = RTE_EDGE_ID_INVALID;
	struct compat_node *node;

	hy_compat_lock();
	node = node_wanted(id);
	if (node != NULL && size > node->nb_edges) {
		rte_errno = HY_REFUSE(E2BIG, "rte_graph: node '%s': cannot shrink %u edges to %u",
			node->name, node->nb_edges, size);
	} else if (node != NULL && !arc_holds(node, size, NULL, node->nb_edges)) {
		node->nb_edges = size;
		node->resolved = false;
		left = size;
	}
	hy_compat_unlock();
	return left;
}

rte_edge_t
rte_node_edge_count(rte_node_t id)
{
	const struct compat_node *node;
	rte_edge_t n = RTE_EDGE_ID_INVALID;

	hy_compat_lock();
	node = node_wanted(id);
	if (node != NULL)
		n = node->nb_edges;
	hy_compat_unlock();
	return n;
}

rte_node_t
rte_node_edge_get(rte_node_t id, char *next_nodes[])
{
	struct compat_node *node;
	rte_node_t n = RTE_NODE_ID_INVALID;

	hy_compat_lock();
	node = node_wanted(id);
	if (node != NULL && next_nodes == NULL) {
		n = (rte_node_t)(node->nb_edges * sizeof(char *));
	} else if (node != NULL) {
		for (n = 0; n < node->nb_edges; n++)
			next_nodes[n] = node->edges[n];
	}
	hy_compat_unlock();
	return n;
}
