/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: nodes by name and id, their edges, configuration and implementation. */

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "registry.h"

int hy_graph_logtype;

static struct {
	pthread_mutex_t lock;
	void *by_name; /* tsearch(3) tree */
	struct hy_reg_node **by_id;
	hy_node_id nb_ids; /* ids given so far; entries of removed nodes are NULL */
	char failed[HY_NAME_SIZE];
} registry;

/* Constructors of node files use the registry and the log: both must be there before them. */
RTE_INIT_PRIO(registry_init, LOG)
{
	pthread_mutexattr_t attr;

	hy_graph_logtype = rte_log_register_type_and_pick_level("halyard.graph", RTE_LOG_NOTICE);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&registry.lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void
hy_registry_lock(void)
{
	pthread_mutex_lock(&registry.lock);
}

void
hy_registry_unlock(void)
{
	pthread_mutex_unlock(&registry.lock);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct hy_reg_node *)a)->name, ((const struct hy_reg_node *)b)->name);
}

bool
hy_name_valid(const char *name)
{
	static const char accepted[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_.-";
	const size_t len = name == NULL ? 0 : strnlen(name, HY_NAME_SIZE);

	return len > 0 && len < HY_NAME_SIZE && strspn(name, accepted) == len;
}

/* Says what is wrong with a name; for the error paths of all that take one. */
static int
name_refused(const char *what, const char *name)
{
	HY_LOG(ERR, "%s '%.80s': a name is 1 to %d of A-Z a-z 0-9 _ . -", what,
		name == NULL ? "(null)" : name, HY_NAME_SIZE - 1);
	return -EINVAL;
}

struct hy_reg_node *
hy_registry_find(const char *name)
{
	struct hy_reg_node key, **found;

	if (!hy_name_valid(name))
		return NULL;
	strcpy(key.name, name);
	found = tfind(&key, &registry.by_name, by_name);
	return found == NULL ? NULL : *found;
}

struct hy_reg_node *
hy_registry_get(hy_node_id id)
{
	return id < registry.nb_ids ? registry.by_id[id] : NULL;
}

struct hy_reg_node *
hy_registry_next(hy_node_id id)
{
	while (id < registry.nb_ids && registry.by_id[id] == NULL)
		id++;
	return hy_registry_get(id);
}

const char *
hy_registry_failed(void)
{
	return registry.failed[0] == '\0' ? NULL : registry.failed;
}

void
hy_registration_check(const char *what, int rc)
{
	if (rc == 0)
		return;
	HY_LOG(CRIT, "registration of '%s' failed at load: %s; no graph will be created",
		what == NULL ? "(null)" : what, strerror(-rc));
	hy_registry_lock();
	if (registry.failed[0] == '\0')
		strncpy(registry.failed, what == NULL ? "(null)" : what, HY_NAME_SIZE - 1);
	hy_registry_unlock();
}

static void
reg_node_free(struct hy_reg_node *node)
{
	if (node == NULL)
		return;
	for (unsigned int i = 0; i < node->nb_drops; i++) {
		free((char *)(uintptr_t)node->drops[i].name);
		free((char *)(uintptr_t)node->drops[i].text);
	}
	free(node->drops);
	free(node->edges);
	free(node->config);
	free(node);
}

/* Puts a complete node under its name and a new id. */
static int
reg_node_insert(struct hy_reg_node *node, hy_node_id *id)
{
	struct hy_reg_node **by_id;

	if (hy_registry_find(node->name) != NULL) {
		HY_LOG(ERR, "node '%s': the name is taken", node->name);
		return -EEXIST;
	}
	/* Room for ids doubles at every power of two. */
	if ((registry.nb_ids & (registry.nb_ids - 1)) == 0) {
		const size_t room = registry.nb_ids == 0 ? 1 : 2 * (size_t)registry.nb_ids;

		by_id = realloc(registry.by_id, room * sizeof(*by_id));
		if (by_id == NULL)
			return -ENOMEM;
		registry.by_id = by_id;
	}
	if (tsearch(node, &registry.by_name, by_name) == NULL)
		return -ENOMEM;
	node->id = registry.nb_ids;
	registry.by_id[registry.nb_ids++] = node;
	if (id != NULL)
		*id = node->id;
	return 0;
}

/* Copies drop reasons; what was copied before a failure belongs to the node and is freed with it.
 */
static int
drops_copy(struct hy_reg_node *node, const struct hy_drop *drops, unsigned int n)
{
	if (n == 0)
		return 0;
	node->drops = calloc(n, sizeof(*node->drops));
	if (node->drops == NULL)
		return -ENOMEM;
	node->nb_drops = n;
	for (unsigned int i = 0; i < n; i++) {
		const char *text = drops[i].text == NULL ? "" : drops[i].text;

		node->drops[i].severity = drops[i].severity;
		node->drops[i].name = strdup(drops[i].name);
		node->drops[i].text = strdup(text);
		if (node->drops[i].name == NULL || node->drops[i].text == NULL)
			return -ENOMEM;
	}
	return 0;
}

static int
edge_target_check(const struct hy_reg_node *node, const char *target)
{
	if (!hy_name_valid(target))
		return name_refused("edge target", target);
	if (strcmp(target, node->name) == 0) {
		HY_LOG(ERR, "node '%s': an edge to itself is refused", node->name);
		return -EINVAL;
	}
	return 0;
}

static int
edge_find(const struct hy_reg_node *node, const char *target)
{
	for (unsigned int i = 0; i < node->nb_edges; i++)
		if (strcmp(node->edges[i], target) == 0)
			return (int)i;
	return -1;
}

static int
edge_append(struct hy_reg_node *node, const char *target)
{
	char(*edges)[HY_NAME_SIZE];

	if (node->nb_edges == HY_EDGES_MAX) {
		HY_LOG(ERR, "node '%s': more than %d edges", node->name, HY_EDGES_MAX);
		return -ENOSPC;
	}
	edges = realloc(node->edges, (node->nb_edges + 1) * sizeof(*edges));
	if (edges == NULL)
		return -ENOMEM;
	node->edges = edges;
	strcpy(edges[node->nb_edges++], target);
	return 0;
}

static int
impl_copy(struct hy_reg_node *node, const struct hy_node_impl *impl)
{
	if (impl->process == NULL) {
		HY_LOG(ERR, "node '%s': process is NULL; a node must do something", node->name);
		return -EINVAL;
	}
	if (impl->variant != NULL && !hy_name_valid(impl->variant))
		return name_refused("variant", impl->variant);
	node->impl = *impl;
	node->impl.variant = NULL;
	strcpy(node->variant, impl->variant == NULL ? "" : impl->variant);
	return 0;
}

/* An index behind a hole in a descriptor's table would mean something else than its author thinks.
 */
static int
hole_refused(const struct hy_reg_node *node, const char *table, unsigned int index)
{
	HY_LOG(ERR, "node '%s': %s[%u] is missing", node->name, table, index);
	return -EINVAL;
}

static int
desc_edges(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	for (unsigned int i = 0; i < HY_DESC_EDGES; i++) {
		int rc;

		if (desc->edges[i] == NULL)
			continue;
		if (i != node->nb_edges)
			return hole_refused(node, "edges", node->nb_edges);
		rc = edge_target_check(node, desc->edges[i]);
		if (rc < 0)
			return rc;
		if (edge_find(node, desc->edges[i]) >= 0) {
			HY_LOG(ERR, "node '%s': two edges to '%s'", node->name, desc->edges[i]);
			return -EINVAL;
		}
		rc = edge_append(node, desc->edges[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
desc_drops(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < HY_DESC_DROPS; i++) {
		if (desc->drops[i].name == NULL)
			continue;
		if (i != n)
			return hole_refused(node, "drops", n);
		if (!hy_name_valid(desc->drops[i].name))
			return name_refused("drop reason", desc->drops[i].name);
		if (desc->drops[i].text != NULL && strlen(desc->drops[i].text) >= HY_TEXT_SIZE) {
			HY_LOG(ERR, "node '%s': text of drop reason '%s' has %d bytes or more",
				node->name, desc->drops[i].name, HY_TEXT_SIZE);
			return -EINVAL;
		}
		for (unsigned int j = 0; j < i; j++) {
			if (strcmp(desc->drops[j].name, desc->drops[i].name) == 0) {
				HY_LOG(ERR, "node '%s': drop reason '%s' twice", node->name,
					desc->drops[i].name);
				return -EINVAL;
			}
		}
		n++;
	}
	return drops_copy(node, desc->drops, n);
}

static int
desc_lanes(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	for (unsigned int i = 0; i < HY_LANES_MAX; i++) {
		if (desc->lanes[i] == NULL)
			continue;
		if (i != node->nb_lanes)
			return hole_refused(node, "lanes", node->nb_lanes);
		if (!hy_name_valid(desc->lanes[i]))
			return name_refused("lane", desc->lanes[i]);
		strcpy(node->lanes[node->nb_lanes++], desc->lanes[i]);
	}
	return 0;
}

static int
reg_node_fill(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	int rc;

	strcpy(node->name, desc->name);
	node->flags = desc->flags;
	node->replicates = RTE_MAX(desc->replicates, 1);
	if ((desc->flags & ~HY_NODE_SOURCE) != 0) {
		HY_LOG(ERR, "node '%s': unknown flags 0x%x", node->name, desc->flags);
		return -EINVAL;
	}
	rc = impl_copy(node, &desc->impl);
	if (rc == 0)
		rc = desc_edges(node, desc);
	if (rc == 0)
		rc = desc_drops(node, desc);
	if (rc == 0)
		rc = desc_lanes(node, desc);
	return rc;
}

int
hy_node_register(const struct hy_node_desc *desc, hy_node_id *id)
{
	struct hy_reg_node *node;
	int rc;

	if (desc == NULL || !hy_name_valid(desc->name))
		return name_refused("node", desc == NULL ? NULL : desc->name);
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return -ENOMEM;
	hy_registry_lock();
	rc = reg_node_fill(node, desc);
	if (rc == 0)
		rc = reg_node_insert(node, id);
	hy_registry_unlock();
	if (rc < 0)
		reg_node_free(node);
	return rc;
}

int
hy_node_clone(hy_node_id id, const char *suffix, hy_node_id *clone_id)
{
	struct hy_reg_node *node, *clone;
	char name[2 * HY_NAME_SIZE];
	int rc = -ENOMEM;

	if (!hy_name_valid(suffix))
		return name_refused("suffix", suffix);
	hy_registry_lock();
	node = hy_registry_get(id);
	clone = calloc(1, sizeof(*clone));
	if (node == NULL || clone == NULL) {
		rc = node == NULL ? -ENOENT : -ENOMEM;
		goto out;
	}
	snprintf(name, sizeof(name), "%s-%s", node->name, suffix);
	if (!hy_name_valid(name)) {
		rc = name_refused("clone", name);
		goto out;
	}
	*clone = *node;
	strcpy(clone->name, name);
	clone->refs = 0;
	clone->config = NULL;
	clone->drops = NULL;
	clone->nb_drops = 0;
	clone->edges = NULL;
	clone->nb_edges = 0;
	for (unsigned int i = 0; i < node->nb_edges; i++) {
		rc = edge_append(clone, node->edges[i]);
		if (rc < 0)
			goto out;
	}
	rc = drops_copy(clone, node->drops, node->nb_drops);
	if (rc == 0)
		rc = reg_node_insert(clone, clone_id);
out:
	hy_registry_unlock();
	if (rc < 0)
		reg_node_free(clone);
	return rc;
}

int
hy_node_unregister(hy_node_id id)
{
	struct hy_reg_node *node;
	int rc = 0;

	hy_registry_lock();
	node = hy_registry_get(id);
	if (node == NULL) {
		rc = -ENOENT;
	} else if (node->refs > 0) {
		HY_LOG(ERR, "node '%s' is in %u graphs; destroy them first", node->name,
			node->refs);
		rc = -EBUSY;
	} else {
		tdelete(node, &registry.by_name, by_name);
		registry.by_id[id] = NULL;
		reg_node_free(node);
	}
	hy_registry_unlock();
	return rc;
}

int
hy_node_config(hy_node_id id, const void *config, size_t size)
{
	struct hy_reg_node *node;
	void *copy = NULL;
	int rc = 0;

	if (config != NULL) {
		copy = malloc(size > 0 ? size : 1);
		if (copy == NULL)
			return -ENOMEM;
		memcpy(copy, config, size);
	}
	hy_registry_lock();
	node = hy_registry_get(id);
	if (node == NULL) {
		rc = -ENOENT;
	} else {
		void *old = node->config;

		node->config = copy;
		copy = old;
	}
	hy_registry_unlock();
	free(copy);
	return rc;
}

int
hy_node_impl_set(hy_node_id id, const struct hy_node_impl *impl)
{
	struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = hy_registry_get(id);
	rc = node == NULL ? -ENOENT : impl_copy(node, impl);
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

/* Copies a name out of the registry, whose own copy may go as soon as the lock is given up. */
static int
name_out(const char *from, char *to, size_t size)
{
	if (from == NULL)
		return -ENOENT;
	if (strlen(from) >= size)
		return -ENAMETOOLONG;
	strcpy(to, from);
	return 0;
}

int
hy_node_name(hy_node_id id, char *name, size_t size)
{
	const struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = hy_registry_get(id);
	rc = name_out(node == NULL ? NULL : node->name, name, size);
	hy_registry_unlock();
	return rc;
}

int
hy_node_edge_target(hy_node_id id, uint16_t edge, char *target, size_t size)
{
	const struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = hy_registry_get(id);
	rc = name_out(node == NULL || edge >= node->nb_edges ? NULL : node->edges[edge], target,
		size);
	hy_registry_unlock();
	return rc;
}

int
hy_node_edge_add(hy_node_id id, const char *target, uint16_t *edge)
{
	struct hy_reg_node *node;
	int rc, index = 0;

	hy_registry_lock();
	node = hy_registry_get(id);
	rc = node == NULL ? -ENOENT : edge_target_check(node, target);
	if (rc == 0) {
		index = edge_find(node, target);
		if (index < 0) {
			index = (int)node->nb_edges;
			rc = edge_append(node, target);
		}
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
	node = hy_registry_get(id);
	rc = node == NULL || edge >= node->nb_edges ? -ENOENT : edge_target_check(node, target);
	if (rc == 0) {
		index = edge_find(node, target);
		if (index >= 0 && index != edge) {
			HY_LOG(ERR, "node '%s': edge %d leads to '%s' already", node->name, index,
				target);
			rc = -EEXIST;
		} else {
			strcpy(node->edges[edge], target);
		}
	}
	hy_registry_unlock();
	return rc;
}
