/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: nodes by name and by id. */

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/internal/table.h"
#include "lib/graph/plugin/plugin.h"
#include "registry.h"

int hy_graph_logtype;

const struct hy_counter hy_core_drops[] = {
	[HY_CORE_DROP_STREAM_FULL] = { "stream_full", "", HY_SEV_ERROR,
		"More objects were sent to a node than its parents declared" },
	[HY_CORE_DROP_NODE_REMOVED] = { "node_removed", "", HY_SEV_INFO,
		"Waited on a node that a live change of the graph took away" },
};

static struct {
	pthread_mutex_t lock;
	void *by_name; /* tsearch(3) tree */
	struct hy_reg_node **by_id;
	hy_node_id nb_ids; /* ids given so far; entries of removed nodes are NULL */
	char failed[HY_NAME_SIZE];
} registry = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

/* How often the calling thread holds the lock. */
static _Thread_local unsigned int held;

/* Constructors of node files use the log: it must be there before them. */
RTE_INIT_PRIO(registry_init, LOG)
{
	hy_graph_logtype = rte_log_register_type_and_pick_level("halyard.graph", RTE_LOG_NOTICE);
}

void
hy_registry_lock(void)
{
	pthread_mutex_lock(&registry.lock);
	held++;
}

void
hy_registry_unlock(void)
{
	held--;
	pthread_mutex_unlock(&registry.lock);
}

_Thread_local const struct hy_graph *hy_graph_inside;

int
hy_graph_inside_check(const char *what)
{
	if (hy_graph_inside == NULL)
		return 0;
	return HY_REFUSE(-EDEADLK, "%s refused: called by code of graph '%s' on its worker", what,
		hy_graph_name(hy_graph_inside));
}

int
hy_graph_wait_check(const char *what)
{
	if (held == 0)
		return hy_graph_inside_check(what);
	return HY_REFUSE(-EDEADLK,
		"%s refused: called with the registry's lock held, such as by a node's init() or "
		"fini()",
		what);
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

int
hy_name_refused(const char *what, const char *name)
{
	/* In a descriptor, an array that need not have an end. */
	return HY_REFUSE(-EINVAL, "%s '%.*s': a name is 1 to %d of A-Z a-z 0-9 _ . -", what,
		HY_NAME_SIZE, name == NULL ? "(null)" : name, HY_NAME_SIZE - 1);
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
hy_registry_target(struct hy_reg_edge *edge)
{
	struct hy_reg_node *node = hy_registry_get(edge->last);

	if (node == NULL) {
		node = hy_registry_find(edge->target);
		edge->last = node == NULL ? HY_NO_NODE : node->id;
	}
	return node;
}

struct hy_reg_node *
hy_registry_next(hy_node_id id)
{
	while (id < registry.nb_ids && registry.by_id[id] == NULL)
		id++;
	return hy_registry_get(id);
}

void
hy_registry_own(hy_node_id id, const struct hy_reg_owner *owner)
{
	struct hy_reg_node *node;

	hy_registry_lock();
	node = hy_registry_get(id);
	if (node != NULL)
		node->owner = owner;
	hy_registry_unlock();
}

void
hy_registry_renew(hy_node_id id)
{
	struct hy_reg_node *node;

	hy_registry_lock();
	node = hy_registry_get(id);
	if (node != NULL)
		node->revision++;
	hy_registry_unlock();
}

const char *
hy_registry_failed(void)
{
	return registry.failed[0] == '\0' ? NULL : registry.failed;
}

void
hy_registration_check(const char *what, int rc)
{
	if (rc == 0 || hy_plugin_load_fails(what, rc))
		return;
	/* Not to the log: this must be seen at any log level. */
	fprintf(stderr,
		"halyard: registration of '%s' failed at load: %s; no graph will be created\n",
		what == NULL ? "(null)" : what, strerror(-rc));
	hy_registry_lock();
	if (registry.failed[0] == '\0')
		strncpy(registry.failed, what == NULL ? "(null)" : what, HY_NAME_SIZE - 1);
	hy_registry_unlock();
}

int
hy_registry_insert(struct hy_reg_node *node, hy_node_id *id)
{
	struct hy_reg_node **by_id;

	if (hy_registry_find(node->name) != NULL)
		return HY_REFUSE(-EEXIST, "node '%s': the name is taken", node->name);
	/* By ids, not by nodes: an id is never used again. */
	by_id = hy_table_room(registry.by_id, registry.nb_ids, sizeof(*by_id));
	if (by_id == NULL)
		return -ENOMEM;
	registry.by_id = by_id;
	if (tsearch(node, &registry.by_name, by_name) == NULL)
		return -ENOMEM;
	node->id = registry.nb_ids;
	registry.by_id[registry.nb_ids++] = node;
	if (id != NULL)
		*id = node->id;
	hy_plugin_registered_node(node->id);
	return 0;
}

void
hy_registry_remove(struct hy_reg_node *node)
{
	tdelete(node, &registry.by_name, by_name);
	registry.by_id[node->id] = NULL;
}
