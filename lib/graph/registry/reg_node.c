/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of the registry: made from a descriptor, checked, copied, freed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "lib/graph/internal/log.h"
#include "reg_node.h"

void
hy_reg_node_free(struct hy_reg_node *node)
{
	if (node == NULL)
		return;
	for (unsigned int i = 0; i < node->nb_drops; i++) {
		free((char *)(uintptr_t)node->drops[i].name);
		free((char *)(uintptr_t)node->drops[i].text);
	}
	free(node->drops);
	for (unsigned int i = 0; i < node->nb_counters; i++) {
		free((char *)(uintptr_t)node->counters[i].name);
		free((char *)(uintptr_t)node->counters[i].unit);
		free((char *)(uintptr_t)node->counters[i].text);
	}
	free(node->counters);
	free(node->edges);
	free(node->sorted);
	free(node->config);
	free(node);
}

static bool
core_drop_named(const char *name)
{
	for (unsigned int i = 0; i < HY_CORE_DROPS; i++)
		if (strcmp(hy_core_drops[i].name, name) == 0)
			return true;
	return false;
}

/* Copies drop reasons; what was copied before a failure belongs to the node and is freed with it.
 */
int
hy_reg_node_drops_copy(struct hy_reg_node *node, const struct hy_drop *drops, unsigned int n)
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

int
hy_reg_node_counters_copy(struct hy_reg_node *node, const struct hy_counter *counters,
	unsigned int n)
{
	if (n == 0)
		return 0;
	node->counters = calloc(n, sizeof(*node->counters));
	if (node->counters == NULL)
		return -ENOMEM;
	node->nb_counters = n;
	for (unsigned int i = 0; i < n; i++) {
		struct hy_counter *copy = &node->counters[i];

		copy->severity = counters[i].severity;
		copy->name = strdup(counters[i].name);
		copy->unit = strdup(counters[i].unit == NULL ? "" : counters[i].unit);
		copy->text = strdup(counters[i].text == NULL ? "" : counters[i].text);
		if (copy->name == NULL || copy->unit == NULL || copy->text == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
hy_reg_node_target_check(const struct hy_reg_node *node, const char *target)
{
	if (!hy_name_valid(target))
		return hy_name_refused("edge target", target);
	if (strcmp(target, node->name) == 0) {
		HY_LOG(ERR, "node '%s': an edge to itself is refused", node->name);
		return -EINVAL;
	}
	return 0;
}

/* Where in the sorted index a target is, or would be. */
static unsigned int
sorted_at(const struct hy_reg_node *node, const char *target)
{
	unsigned int from = 0, to = node->nb_edges;

	while (from < to) {
		const unsigned int middle = (from + to) / 2;

		if (strcmp(node->edges[node->sorted[middle]].target, target) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void
sorted_insert(struct hy_reg_node *node, unsigned int at, unsigned int edge, unsigned int behind)
{
	memmove(&node->sorted[at + 1], &node->sorted[at], behind * sizeof(*node->sorted));
	node->sorted[at] = (uint16_t)edge;
}

int
hy_reg_node_edge_find(const struct hy_reg_node *node, const char *target)
{
	const unsigned int at = sorted_at(node, target);

	if (at == node->nb_edges || strcmp(node->edges[node->sorted[at]].target, target) != 0)
		return -1;
	return node->sorted[at];
}

/* Makes room for one more edge; room doubles at every power of two. */
static int
edge_room(struct hy_reg_node *node)
{
	const size_t n = node->nb_edges, room = n == 0 ? 1 : 2 * n;
	struct hy_reg_edge *edges;
	uint16_t *sorted;

	if ((n & (n - 1)) != 0)
		return 0;
	edges = realloc(node->edges, room * sizeof(*edges));
	if (edges == NULL)
		return -ENOMEM;
	node->edges = edges;
	sorted = realloc(node->sorted, room * sizeof(*sorted));
	if (sorted == NULL)
		return -ENOMEM;
	node->sorted = sorted;
	return 0;
}

int
hy_reg_node_edge_append(struct hy_reg_node *node, const char *target)
{
	unsigned int at;

	if (node->nb_edges == HY_EDGES_MAX) {
		HY_LOG(ERR, "node '%s': more than %d edges", node->name, HY_EDGES_MAX);
		return -ENOSPC;
	}
	if (edge_room(node) < 0)
		return -ENOMEM;
	at = sorted_at(node, target);
	sorted_insert(node, at, node->nb_edges, node->nb_edges - at);
	strcpy(node->edges[node->nb_edges].target, target);
	node->edges[node->nb_edges++].last = 0;
	return 0;
}

int
hy_reg_node_edge_get(struct hy_reg_node *node, const char *target)
{
	const int index = hy_reg_node_edge_find(node, target);
	const int rc = index < 0 ? hy_reg_node_edge_append(node, target) : 0;

	return rc < 0 ? rc : index < 0 ? (int)node->nb_edges - 1 : index;
}

void
hy_reg_node_edge_set(struct hy_reg_node *node, unsigned int edge, const char *target)
{
	const unsigned int old = sorted_at(node, node->edges[edge].target);
	unsigned int at;

	memmove(&node->sorted[old], &node->sorted[old + 1],
		(node->nb_edges - old - 1) * sizeof(*node->sorted));
	strcpy(node->edges[edge].target, target);
	node->nb_edges--; /* while the index has one less */
	at = sorted_at(node, target);
	sorted_insert(node, at, edge, node->nb_edges - at);
	node->nb_edges++;
}

void
hy_reg_node_edges_shrink(struct hy_reg_node *node, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < node->nb_edges; i++)
		if (node->sorted[i] < n)
			node->sorted[kept++] = node->sorted[i];
	node->nb_edges = n;
}

int
hy_reg_node_impl_copy(struct hy_reg_node *node, const struct hy_node_impl *impl)
{
	if (impl == NULL || impl->process == NULL) {
		HY_LOG(ERR, "node '%s': process is NULL; a node must do something", node->name);
		return -EINVAL;
	}
	if (impl->variant != NULL && !hy_name_valid(impl->variant))
		return hy_name_refused("variant", impl->variant);
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
		rc = hy_reg_node_target_check(node, desc->edges[i]);
		if (rc < 0)
			return rc;
		if (hy_reg_node_edge_find(node, desc->edges[i]) >= 0) {
			HY_LOG(ERR, "node '%s': two edges to '%s'", node->name, desc->edges[i]);
			return -EINVAL;
		}
		rc = hy_reg_node_edge_append(node, desc->edges[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
text_check(const struct hy_reg_node *node, const char *what, const char *name, const char *text)
{
	if (text == NULL || strlen(text) < HY_TEXT_SIZE)
		return 0;
	HY_LOG(ERR, "node '%s': text of %s '%s' has %d bytes or more", node->name, what, name,
		HY_TEXT_SIZE);
	return -EINVAL;
}

static int
twice_refused(const struct hy_reg_node *node, const char *what, const char *name)
{
	HY_LOG(ERR, "node '%s': %s '%s' twice", node->name, what, name);
	return -EINVAL;
}

static int
desc_drops(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	unsigned int n = 0;
	int rc;

	for (unsigned int i = 0; i < HY_DESC_DROPS; i++) {
		if (desc->drops[i].name == NULL)
			continue;
		if (i != n)
			return hole_refused(node, "drops", n);
		if (!hy_name_valid(desc->drops[i].name))
			return hy_name_refused("drop reason", desc->drops[i].name);
		if (core_drop_named(desc->drops[i].name)) {
			HY_LOG(ERR, "node '%s': drop reason '%s' is the core's own", node->name,
				desc->drops[i].name);
			return -EINVAL;
		}
		rc = text_check(node, "drop reason", desc->drops[i].name, desc->drops[i].text);
		if (rc < 0)
			return rc;
		for (unsigned int j = 0; j < i; j++)
			if (strcmp(desc->drops[j].name, desc->drops[i].name) == 0)
				return twice_refused(node, "drop reason", desc->drops[i].name);
		n++;
	}
	return hy_reg_node_drops_copy(node, desc->drops, n);
}

static int
desc_counters(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	unsigned int n = 0;
	int rc;

	for (unsigned int i = 0; i < HY_DESC_COUNTERS; i++) {
		const struct hy_counter *counter = &desc->counters[i];

		if (counter->name == NULL)
			continue;
		if (i != n)
			return hole_refused(node, "counters", n);
		if (!hy_name_valid(counter->name))
			return hy_name_refused("counter", counter->name);
		if (counter->unit != NULL && !hy_name_valid(counter->unit))
			return hy_name_refused("unit", counter->unit);
		rc = text_check(node, "counter", counter->name, counter->text);
		if (rc < 0)
			return rc;
		for (unsigned int j = 0; j < i; j++)
			if (strcmp(desc->counters[j].name, counter->name) == 0)
				return twice_refused(node, "counter", counter->name);
		n++;
	}
	return hy_reg_node_counters_copy(node, desc->counters, n);
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
			return hy_name_refused("lane", desc->lanes[i]);
		for (unsigned int j = 0; j < i; j++)
			if (strcmp(desc->lanes[j], desc->lanes[i]) == 0)
				return twice_refused(node, "lane", desc->lanes[i]);
		strcpy(node->lanes[node->nb_lanes++], desc->lanes[i]);
	}
	return 0;
}

int
hy_reg_node_fill(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	int rc;

	strcpy(node->name, desc->name);
	node->flags = desc->flags;
	node->trace = desc->trace;
	node->replicates = RTE_MAX(desc->replicates, 1);
	if (desc->flags != 0 && (desc->flags & ~HY_NODE_WAKES) != HY_NODE_SOURCE) {
		HY_LOG(ERR, "node '%s': unknown flags 0x%x", node->name, desc->flags);
		return -EINVAL;
	}
	if ((desc->flags & HY_NODE_SOURCE) != 0 && node->replicates > 1) {
		HY_LOG(ERR, "node '%s': a source has nothing to replicate", node->name);
		return -EINVAL;
	}
	rc = hy_reg_node_impl_copy(node, &desc->impl);
	if (rc == 0)
		rc = desc_edges(node, desc);
	if (rc == 0)
		rc = desc_drops(node, desc);
	if (rc == 0)
		rc = desc_counters(node, desc);
	if (rc == 0)
		rc = desc_lanes(node, desc);
	return rc;
}
