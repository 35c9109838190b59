/* SPDX-License-Identifier: BSD-3-Clause */
/* The public API for nodes of the registry. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/graph/arc/arc.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/update/control.h"
#include "reg_node.h"

/* hy_registry_get() for ids from callers: logs a missing node. */
static struct hy_reg_node *
node_wanted(hy_node_id id)
{
	struct hy_reg_node *node = hy_registry_get(id);

	return node != NULL ? node : HY_REFUSE(NULL, "there is no node of id %u", id);
}

/* The same for a call that changes the node; NULL with the reason in rc, if that may not be. */
static struct hy_reg_node *
node_to_change(hy_node_id id, int *rc)
{
	struct hy_reg_node *node = node_wanted(id);

	*rc = node == NULL ? -ENOENT : 0;
	if (node == NULL || node->owner == NULL || node->owner->lends)
		return node;
	HY_LOG(ERR, "node '%s' belongs to %s, which alone may change it", node->name,
		node->owner->name);
	*rc = -EPERM;
	return NULL;
}

/* Says so, if rc means that memory was short. */
static int
memory_checked(const char *name, int rc)
{
	return rc == -ENOMEM ? HY_REFUSE(rc, "node '%s': not enough memory", name) : rc;
}

int
hy_node_register(const struct hy_node_desc *desc, hy_node_id *id)
{
	struct hy_reg_node *node;
	int rc;

	if (desc == NULL || !hy_name_valid(desc->name))
		return hy_name_refused("node", desc == NULL ? NULL : desc->name);
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return memory_checked(desc->name, -ENOMEM);
	hy_registry_lock();
	rc = hy_reg_node_fill(node, desc);
	if (rc == 0)
		rc = hy_registry_insert(node, id);
	hy_registry_unlock();
	if (rc < 0)
		hy_reg_node_free(node);
	return memory_checked(desc->name, rc);
}

int
hy_node_clone(hy_node_id id, const char *suffix, hy_node_id *clone_id)
{
	struct hy_reg_node *node, *clone;
	char name[2 * HY_NAME_SIZE];
	int rc;

	if (!hy_name_valid(suffix))
		return hy_name_refused("suffix", suffix);
	hy_registry_lock();
	/* A copy would lack its owner's configuration. */
	node = node_to_change(id, &rc);
	clone = calloc(1, sizeof(*clone));
	if (node == NULL || clone == NULL) {
		rc = node == NULL ? rc : -ENOMEM;
		goto out;
	}
	snprintf(name, sizeof(name), "%s-%s", node->name, suffix);
	if (!hy_name_valid(name)) {
		rc = hy_name_refused("clone", name);
		goto out;
	}
	if (hy_reg_node_edge_find(node, name) >= 0) {
		rc = HY_REFUSE(-EINVAL,
			"node '%s': its edge to '%s' would lead from the clone to itself",
			node->name, name);
		goto out;
	}
	*clone = *node;
	strcpy(clone->name, name);
	clone->owner = NULL;
	clone->refs = 0;
	clone->config = NULL;
	clone->drops = NULL;
	clone->nb_drops = 0;
	clone->counters = NULL;
	clone->nb_counters = 0;
	clone->edges = NULL;
	clone->sorted = NULL;
	clone->nb_edges = 0;
	for (unsigned int i = 0; i < hy_arc_edges_own(node); i++) {
		rc = hy_reg_node_edge_append(clone, node->edges[i].target);
		if (rc < 0)
			goto out;
	}
	rc = hy_reg_node_entries_copy(&clone->drops, &clone->nb_drops, node->drops, node->nb_drops);
	if (rc == 0)
		rc = hy_reg_node_entries_copy(&clone->counters, &clone->nb_counters, node->counters,
			node->nb_counters);
	if (rc == 0)
		rc = hy_registry_insert(clone, clone_id);
out:
	if (node != NULL)
		memory_checked(node->name, rc);
	hy_registry_unlock();
	if (rc < 0)
		hy_reg_node_free(clone);
	return rc;
}

/* Whether a node is a live feature of an arc; why is that arc then. */
static bool
feature_held(const struct hy_reg_node *node, char *why)
{
	const struct hy_arc *arc = hy_arc_live_with(node);

	if (arc != NULL)
		snprintf(why, HY_TEXT_SIZE,
			"is a feature of arc '%s'; disable all features of that first", arc->name);
	return arc != NULL;
}

/* Whether a node is a live feature of an arc; logs it if so. */
static bool
is_live_feature(const struct hy_reg_node *node)
{
	char why[HY_TEXT_SIZE];

	return feature_held(node, why) && HY_REFUSE(true, "node '%s' %s", node->name, why);
}

int
hy_registry_held(const struct hy_reg_node *node, char *why)
{
	if (node->owner != NULL)
		return HY_REASON(-EPERM, why, HY_TEXT_SIZE,
			"belongs to %s, which alone may unregister it", node->owner->name);
	if (node->refs > 0)
		return HY_REASON(-EBUSY, why, HY_TEXT_SIZE,
			"is in a graph, or in one that waits to be taken up");
	return feature_held(node, why) ? -EBUSY : 0;
}

/* After hy_graph_read_all(). */
static int
node_unregister(hy_node_id id)
{
	struct hy_reg_node *node = node_wanted(id);
	int rc = node == NULL ? -ENOENT : 0;
	char why[HY_TEXT_SIZE];

	if (rc == 0)
		rc = hy_registry_held(node, why);
	if (node != NULL && rc < 0)
		HY_LOG(ERR, "node '%s' %s", node->name, why);
	if (rc == 0) {
		hy_registry_remove(node);
		hy_reg_node_free(node);
	}
	return rc;
}

int
hy_node_unregister(hy_node_id id)
{
	int rc;

	hy_registry_lock();
	hy_graph_read_all();
	rc = node_unregister(id);
	hy_registry_unlock();
	return rc;
}

int
hy_registry_unregister(hy_node_id id, const struct hy_reg_owner *owner)
{
	int rc;

	hy_registry_lock();
	hy_graph_read_all(); /* while the node is its owner's: a fini() may try to change it */
	hy_registry_own(id, NULL);
	rc = node_unregister(id);
	if (rc < 0)
		hy_registry_own(id, owner);
	hy_registry_unlock();
	return rc;
}

int
hy_node_config(hy_node_id id, const void *config, size_t size)
{
	struct hy_reg_node *node;
	void *copy = NULL;
	int rc;

	if (config != NULL) {
		copy = malloc(size > 0 ? size : 1);
		if (copy == NULL)
			return HY_REFUSE(-ENOMEM,
				"node of id %u: no memory for %zu bytes of configuration", id,
				size);
		memcpy(copy, config, size);
	}
	hy_registry_lock();
	node = node_to_change(id, &rc);
	if (node != NULL) {
		void *old = node->config;

		node->config = copy;
		node->revision++;
		copy = old;
	}
	hy_registry_unlock();
	free(copy);
	return rc;
}

int
hy_node_impl_set(hy_node_id id, const struct hy_node_impl *impl)
{
	struct hy_node_impl before;
	struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = node_to_change(id, &rc);
	if (node != NULL) {
		before = node->impl;
		rc = hy_reg_node_impl_copy(node, impl);
		node->revision += memcmp(&before, &node->impl, sizeof(before)) != 0;
	}
	hy_registry_unlock();
	return rc;
}

int
hy_node_lookup(const char *name, hy_node_id *id)
{
	const struct hy_reg_node *node;

	hy_registry_lock();
	node = hy_registry_find(name);
	if (node != NULL && id != NULL)
		*id = node->id;
	hy_registry_unlock();
	return node == NULL ? -ENOENT : 0;
}

/* Whether a node has an edge of this index; logs it if not. */
static bool
edge_exists(const struct hy_reg_node *node, uint16_t edge)
{
	if (edge < node->nb_edges)
		return true;
	return HY_REFUSE(false, "node '%s': edge %u, but it has %u", node->name, edge,
		node->nb_edges);
}

/* Copies a name out of the registry, whose own copy may go when the lock is released. */
static int
name_out(const char *from, char *to, size_t size)
{
	if (from == NULL)
		return -ENOENT;
	if (strlen(from) >= size)
		return HY_REFUSE(-ENAMETOOLONG, "name '%s' does not fit into %zu bytes", from,
			size);
	strcpy(to, from);
	return 0;
}

int
hy_node_name(hy_node_id id, char *name, size_t size)
{
	const struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = node_wanted(id);
	rc = name_out(node == NULL ? NULL : node->name, name, size);
	hy_registry_unlock();
	return rc;
}

int
hy_node_flags(hy_node_id id, uint32_t *flags, uint16_t *replicates)
{
	const struct hy_reg_node *node;

	hy_registry_lock();
	node = node_wanted(id);
	if (node != NULL && flags != NULL)
		*flags = node->flags;
	if (node != NULL && replicates != NULL)
		*replicates = node->replicates;
	hy_registry_unlock();
	return node == NULL ? -ENOENT : 0;
}

int
hy_node_edge_target(hy_node_id id, uint16_t edge, char *target, size_t size)
{
	const struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = node_wanted(id);
	rc = name_out(node == NULL || !edge_exists(node, edge) ? NULL : node->edges[edge].target,
		target, size);
	hy_registry_unlock();
	return rc;
}

int
hy_node_edge_add(hy_node_id id, const char *target, uint16_t *edge)
{
	struct hy_reg_node *node;
	int rc, index = 0;

	hy_registry_lock();
	node = node_to_change(id, &rc);
	if (rc == 0)
		rc = hy_reg_node_target_check(node, target);
	if (rc == 0 && hy_reg_node_edge_find(node, target) < 0 && is_live_feature(node))
		rc = -EBUSY;
	if (rc == 0) {
		index = hy_reg_node_edge_get(node, target);
		rc = memory_checked(node->name, RTE_MIN(index, 0));
	}
	hy_registry_unlock();
	if (rc == 0 && edge != NULL)
		*edge = (uint16_t)index;
	return rc;
}

int
hy_node_edge_set(hy_node_id id, uint16_t edge, const char *target)
{
	struct hy_reg_node *node;
	int rc, index;

	hy_registry_lock();
	node = node_to_change(id, &rc);
	if (rc == 0)
		rc = edge_exists(node, edge) ? hy_reg_node_target_check(node, target) : -ENOENT;
	if (rc == 0) {
		index = hy_reg_node_edge_find(node, target);
		if (index >= 0 && index != edge) {
			rc = HY_REFUSE(-EEXIST, "node '%s': edge %d leads to '%s' already",
				node->name, index, target);
		} else if (index < 0 &&
			(hy_arc_leads(node, node->edges[edge].target) ||
				hy_arc_leads(node, target)) &&
			is_live_feature(node)) {
			rc = -EBUSY;
		} else if (index < 0) {
			hy_reg_node_edge_set(node, edge, target);
		}
	}
	hy_registry_unlock();
	return rc;
}

int
hy_node_edge_count(hy_node_id id, uint16_t *n)
{
	const struct hy_reg_node *node;

	hy_registry_lock();
	node = node_wanted(id);
	if (node != NULL)
		*n = (uint16_t)node->nb_edges;
	hy_registry_unlock();
	return node == NULL ? -ENOENT : 0;
}

int
hy_node_edge_shrink(hy_node_id id, uint16_t n)
{
	struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = node_to_change(id, &rc);
	if (node == NULL) {
		/* rc says why. */
	} else if (n > node->nb_edges) {
		rc = HY_REFUSE(-EINVAL, "node '%s': cannot shrink to %u edges, it has %u",
			node->name, n, node->nb_edges);
	} else if (is_live_feature(node)) {
		rc = -EBUSY;
	} else {
		hy_reg_node_edges_shrink(node, n);
	}
	hy_registry_unlock();
	return rc;
}

int
hy_node_next(hy_node_id from, hy_node_id *id)
{
	const struct hy_reg_node *node;

	hy_registry_lock();
	node = hy_registry_next(from);
	if (node != NULL)
		*id = node->id;
	hy_registry_unlock();
	return node == NULL ? -ENOENT : 0;
}
