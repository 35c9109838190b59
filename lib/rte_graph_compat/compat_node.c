/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes as they are registered: names and ids. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

static struct {
	pthread_mutex_t lock;
	struct compat_node **nodes; /* by id; nodes are never removed */
	rte_node_t nb_nodes;
} registry = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

void
hy_compat_lock(void)
{
	pthread_mutex_lock(&registry.lock);
}

void
hy_compat_unlock(void)
{
	pthread_mutex_unlock(&registry.lock);
}

int
hy_compat_end(int rc)
{
	hy_compat_unlock();
	if (rc < 0)
		rte_errno = -rc;
	return rc;
}

void
hy_compat_core_name(char core[HY_NAME_SIZE], const char *name, unsigned int id)
{
	const int n = snprintf(core, HY_NAME_SIZE, "rte.%s", name);

	if (n >= HY_NAME_SIZE || !hy_name_valid(core))
		snprintf(core, HY_NAME_SIZE, "rte-%u", id);
}

int
hy_compat_name_copy(char to[RTE_NODE_NAMESIZE], const char *from, const char *what)
{
	size_t n;

	if (from == NULL)
		return HY_REFUSE(-EINVAL, "rte_graph: a %s without a name", what);
	n = strnlen(from, RTE_NODE_NAMESIZE);
	if (n == RTE_NODE_NAMESIZE)
		return HY_REFUSE(-E2BIG, "rte_graph: %s '%.*s...': a name has fewer than %d bytes",
			what, RTE_NODE_NAMESIZE, from, RTE_NODE_NAMESIZE);
	memcpy(to, from, n + 1);
	return 0;
}

int
hy_compat_clone_name(const char *original, const char *suffix, char name[RTE_NODE_NAMESIZE])
{
	char whole[2 * RTE_NODE_NAMESIZE];
	int rc = hy_compat_name_copy(name, suffix, "clone");

	if (rc < 0)
		return rc;
	snprintf(whole, sizeof(whole), "%s-%s", original, suffix);
	return hy_compat_name_copy(name, whole, "clone");
}

struct compat_node *
hy_compat_node(rte_node_t id)
{
	return id < registry.nb_nodes ? registry.nodes[id] : NULL;
}

struct compat_node *
hy_compat_node_find(const char *name)
{
	for (rte_node_t id = 0; id < registry.nb_nodes; id++)
		if (registry.nodes[id] != NULL && strcmp(registry.nodes[id]->name, name) == 0)
			return registry.nodes[id];
	return NULL;
}

const struct hy_reg_owner hy_compat_owner = { .name = "the adapter for rte_graph" };

rte_node_t
hy_compat_nodes_count(void)
{
	return registry.nb_nodes;
}

static void
node_free(struct compat_node *node)
{
	if (node == NULL)
		return;
	free(node->edges);
	free(node->core_edges);
	free(node->xstat_desc);
	free(node);
}

/* Gives the node an id, and a node of the core that runs it. */
static int
node_insert(struct compat_node *node)
{
	const bool source = (node->flags & RTE_NODE_SOURCE_F) != 0;
	struct compat_node **nodes;
	char name[HY_NAME_SIZE];
	struct hy_node_desc desc = {
		.name = name,
		.impl = {
			.process = source ? hy_compat_process_source : hy_compat_process,
			.init = hy_compat_bind,
			.fini = hy_compat_unbind,
			.ctx_size = sizeof(struct binding),
		},
		.flags = source ? HY_NODE_SOURCE : 0,
	};
	int rc;

	nodes = realloc(registry.nodes, (registry.nb_nodes + 1) * sizeof(struct compat_node *));
	if (nodes == NULL)
		return -ENOMEM;
	registry.nodes = nodes;
	while (node->id < registry.nb_nodes && nodes[node->id] != NULL)
		node->id++;
	hy_compat_core_name(name, node->name, node->id);
	rc = hy_node_register(&desc, &node->core);
	if (rc < 0)
		return rc;
	hy_registry_own(node->core, &hy_compat_owner);
	registry.nb_nodes = RTE_MAX(registry.nb_nodes, node->id + 1);
	nodes[node->id] = node;
	return 0;
}

/* Copies the names of a node's own counters. Returns 0 or a negative errno (logged, but for
 * -ENOMEM). */
static int
xstats_copy(struct compat_node *node, const char *name,
	const char (*desc)[RTE_NODE_XSTAT_DESC_SIZE], uint16_t n)
{
	if (n == 0)
		return 0;
	if (n > UINT8_MAX)
		return HY_REFUSE(-E2BIG, "rte_graph: node '%s': %u counters, but it can have %u",
			name, n, UINT8_MAX);
	node->xstat_desc = calloc(n, sizeof(*node->xstat_desc));
	if (node->xstat_desc == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < n; i++) {
		const int rc = hy_compat_name_copy(node->xstat_desc[i], desc[i], "counter");

		if (rc < 0)
			return rc;
	}
	node->nb_xstats = n;
	return 0;
}

static int
node_register(const struct compat_node *like, const char *name, const char *const *targets,
	rte_node_t *id)
{
	struct compat_node *node = calloc(1, sizeof(*node));
	int rc = -ENOMEM;

	if (node == NULL)
		goto out;
	node->parent_id = like->parent_id;
	node->flags = like->flags;
	node->process = like->process;
	node->init = like->init;
	node->fini = like->fini;
	node->lcore_id = like->lcore_id;
	rc = hy_compat_name_copy(node->name, name, "node");
	if (rc == 0)
		rc = xstats_copy(node, name, like->xstat_desc, like->nb_xstats);
	if (rc < 0)
		goto out;
	if (hy_compat_node_find(name) != NULL) {
		rc = HY_REFUSE(-EEXIST, "rte_graph: node '%s': the name is taken", name);
		goto out;
	}
	rc = hy_compat_edges_set(node, 0, targets, like->nb_edges);
	if (rc == 0)
		rc = node_insert(node);
	if (rc == 0)
		*id = node->id;
out:
	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: node '%s': not enough memory", name);
	if (rc < 0)
		node_free(node);
	return rc;
}

rte_node_t
__rte_node_register(const struct rte_node_register *reg)
{
	rte_node_t id = RTE_NODE_ID_INVALID;
	struct compat_node like;

	if (reg == NULL || reg->process == NULL) {
		rte_errno = HY_REFUSE(EINVAL, "rte_graph: node '%.*s' has no process function",
			RTE_NODE_NAMESIZE, reg == NULL ? "" : reg->name);
		return id;
	}
	like = (struct compat_node){
		.parent_id = reg->parent_id,
		.flags = reg->flags,
		.process = reg->process,
		.init = reg->init,
		.fini = reg->fini,
		.lcore_id = RTE_MAX_LCORE,
		.nb_xstats = reg->xstats == NULL ? 0 : reg->xstats->nb_xstats,
		.xstat_desc = reg->xstats == NULL ? NULL : reg->xstats->xstat_desc,
		.nb_edges = reg->nb_edges,
	};
	hy_compat_lock();
	hy_compat_end(node_register(&like, reg->name, reg->next_nodes, &id));
	return id;
}

static int
node_clone(rte_node_t id, const char *name, rte_node_t *clone)
{
	char whole[RTE_NODE_NAMESIZE];
	struct compat_node like;
	const char **targets;
	int rc;

	if (hy_compat_node(id) == NULL)
		return HY_REFUSE(-EINVAL, "rte_graph: there is no node of id %u", id);
	like = *hy_compat_node(id);
	if (like.parent_id != RTE_NODE_ID_INVALID)
		return HY_REFUSE(-EEXIST, "rte_graph: node '%s' is a clone, and cannot be cloned",
			like.name);
	like.parent_id = id;
	rc = hy_compat_clone_name(like.name, name, whole);
	if (rc < 0)
		return rc;
	targets = calloc(like.nb_edges + 1u, sizeof(*targets));
	for (rte_edge_t e = 0; targets != NULL && e < like.nb_edges; e++)
		targets[e] = like.edges[e];
	rc = targets == NULL ? -ENOMEM : node_register(&like, whole, targets, clone);
	free(targets);
	return rc;
}

rte_node_t
rte_node_clone(rte_node_t id, const char *name)
{
	rte_node_t clone = RTE_NODE_ID_INVALID;

	hy_compat_lock();
	hy_compat_end(node_clone(id, name, &clone));
	return clone;
}

int
rte_node_free(rte_node_t id)
{
	struct compat_node *node;
	int rc = 0;

	hy_compat_lock();
	node = hy_compat_node(id);
	if (node == NULL) {
		rc = HY_REFUSE(-ENOENT, "rte_graph: there is no node of id %u", id);
	} else if (hy_compat_node_used(node) || node->arcs > 0) {
		rc = HY_REFUSE(-EBUSY,
			"rte_graph: node '%s' cannot be freed: a graph or an arc has it",
			node->name);
	} else {
		rc = hy_registry_unregister(node->core, &hy_compat_owner);
	}
	if (rc == 0) {
		registry.nodes[id] = NULL;
		for (rte_node_t i = 0; i < registry.nb_nodes; i++)
			if (registry.nodes[i] != NULL && registry.nodes[i]->parent_id == id)
				registry.nodes[i]->parent_id = RTE_NODE_ID_INVALID;
		while (registry.nb_nodes > 0 && registry.nodes[registry.nb_nodes - 1] == NULL)
			registry.nb_nodes--;
		node_free(node);
	}
	return hy_compat_end(rc) < 0 ? -1 : 0;
}

rte_node_t
rte_node_from_name(const char *name)
{
	const struct compat_node *node;

	hy_compat_lock();
	node = name == NULL ? NULL : hy_compat_node_find(name);
	hy_compat_unlock();
	return node == NULL ? RTE_NODE_ID_INVALID : node->id;
}

char *
rte_node_id_to_name(rte_node_t id)
{
	struct compat_node *node;

	hy_compat_lock();
	node = hy_compat_node(id);
	hy_compat_end(node == NULL ? -EINVAL : 0);
	return node == NULL ? NULL : node->name;
}

rte_node_t
rte_node_max_count(void)
{
	rte_node_t n;

	hy_compat_lock();
	n = registry.nb_nodes;
	hy_compat_unlock();
	return n;
}
