/* SPDX-License-Identifier: BSD-3-Clause */
/* A node of the registry: made from a descriptor, checked, copied, freed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/internal/table.h"
#include "params.h"
#include "reg_node.h"

static void
entries_free(struct hy_counter *entries, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		free((char *)(uintptr_t)entries[i].name);
		free((char *)(uintptr_t)entries[i].unit);
		free((char *)(uintptr_t)entries[i].text);
	}
	free(entries);
}

void
hy_reg_node_free(struct hy_reg_node *node)
{
	if (node == NULL)
		return;
	entries_free(node->drops, node->nb_drops);
	entries_free(node->counters, node->nb_counters);
	free(node->edges);
	free(node->sorted);
	free(node->config);
	free(node);
}

int
hy_reg_node_entries_copy(struct hy_counter **copies, unsigned int *nb_copies,
	const struct hy_counter *entries, unsigned int n)
{
	if (n == 0)
		return 0;
	*copies = calloc(n, sizeof(**copies));
	if (*copies == NULL)
		return -ENOMEM;
	*nb_copies = n;
	for (unsigned int i = 0; i < n; i++) {
		struct hy_counter *copy = &(*copies)[i];

		copy->severity = entries[i].severity;
		copy->name = strdup(entries[i].name);
		copy->unit = strdup(entries[i].unit == NULL ? "" : entries[i].unit);
		copy->text = strdup(entries[i].text == NULL ? "" : entries[i].text);
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
	if (strcmp(target, node->name) == 0)
		return HY_REFUSE(-EINVAL, "node '%s': an edge to itself is refused", node->name);
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

static int
edge_room(struct hy_reg_node *node)
{
	struct hy_reg_edge *edges = hy_table_room(node->edges, node->nb_edges, sizeof(*edges));
	uint16_t *sorted = hy_table_room(node->sorted, node->nb_edges, sizeof(*sorted));

	if (edges != NULL)
		node->edges = edges;
	if (sorted != NULL)
		node->sorted = sorted;
	return edges == NULL || sorted == NULL ? -ENOMEM : 0;
}

int
hy_reg_node_edge_append(struct hy_reg_node *node, const char *target)
{
	unsigned int at;

	if (node->nb_edges == HY_EDGES_MAX)
		return HY_REFUSE(-ENOSPC, "node '%s': more than %d edges", node->name,
			HY_EDGES_MAX);
	if (edge_room(node) < 0)
		return -ENOMEM;
	at = sorted_at(node, target);
	sorted_insert(node, at, node->nb_edges, node->nb_edges - at);
	strcpy(node->edges[node->nb_edges].target, target);
	node->edges[node->nb_edges++].last = HY_NO_NODE;
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
	node->edges[edge].last = HY_NO_NODE;
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
	if (impl == NULL || impl->process == NULL)
		return HY_REFUSE(-EINVAL, "node '%s': process is NULL; a node must do something",
			node->name);
	if (impl->variant != NULL && !hy_name_valid(impl->variant))
		return hy_name_refused("variant", impl->variant);
	node->impl = *impl;
	node->impl.variant = NULL;
	strcpy(node->variant, impl->variant == NULL ? "" : impl->variant);
	return 0;
}

/* An index after a gap in a descriptor's table would not mean what its author expects.
 */
static int
hole_refused(const struct hy_reg_node *node, const char *table, unsigned int index)
{
	return HY_REFUSE(-EINVAL, "node '%s': %s[%u] is missing", node->name, table, index);
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
		if (hy_reg_node_edge_find(node, desc->edges[i]) >= 0)
			return HY_REFUSE(-EINVAL, "node '%s': two edges to '%s'", node->name,
				desc->edges[i]);
		rc = hy_reg_node_edge_append(node, desc->edges[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
twice_refused(const struct hy_reg_node *node, const char *what, const char *name)
{
	return HY_REFUSE(-EINVAL, "node '%s': %s '%s' twice", node->name, what, name);
}

static bool
core_drop_named(const char *name)
{
	for (unsigned int i = 0; i < HY_CORE_DROPS; i++)
		if (strcmp(hy_core_drops[i].name, name) == 0)
			return true;
	return false;
}

static int
entry_check(const struct hy_reg_node *node, const char *what, const struct hy_counter *entry,
	const struct hy_counter *before, bool is_drop)
{
	if (!hy_name_valid(entry->name))
		return hy_name_refused(what, entry->name);
	if (entry->unit != NULL && !hy_name_valid(entry->unit))
		return hy_name_refused("unit", entry->unit);
	if (is_drop && core_drop_named(entry->name))
		return HY_REFUSE(-EINVAL, "node '%s': drop reason '%s' is the core's own",
			node->name, entry->name);
	if (entry->text != NULL && strlen(entry->text) >= HY_TEXT_SIZE)
		return HY_REFUSE(-EINVAL, "node '%s': text of %s '%s' has %d bytes or more",
			node->name, what, entry->name, HY_TEXT_SIZE);
	for (; before < entry; before++)
		if (strcmp(before->name, entry->name) == 0)
			return twice_refused(node, what, entry->name);
	return 0;
}

/* Checks a descriptor's drop reasons or counters. Returns how many there are. */
static int
entries_check(const struct hy_reg_node *node, const struct hy_counter *entries, bool is_drop)
{
	int n = 0;

	for (int i = 0; i < HY_DESC_COUNTERS; i++) {
		int rc;

		if (entries[i].name == NULL)
			continue;
		if (i != n)
			return hole_refused(node, is_drop ? "drops" : "counters", (unsigned int)n);
		rc = entry_check(node, is_drop ? "drop reason" : "counter", &entries[i], entries,
			is_drop);
		if (rc < 0)
			return rc;
		n++;
	}
	return n;
}

static int
desc_entries(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	struct hy_counter drops[HY_DESC_DROPS];
	int n;

	static_assert(HY_DESC_DROPS == HY_DESC_COUNTERS, "both are checked by one loop");
	for (unsigned int i = 0; i < HY_DESC_DROPS; i++)
		drops[i] = (struct hy_counter){ .name = desc->drops[i].name,
			.severity = desc->drops[i].severity,
			.text = desc->drops[i].text };
	n = entries_check(node, drops, true);
	if (n >= 0)
		n = hy_reg_node_entries_copy(&node->drops, &node->nb_drops, drops, (unsigned int)n);
	if (n == 0)
		n = entries_check(node, desc->counters, false);
	return n < 0 ? n
		     : hy_reg_node_entries_copy(&node->counters, &node->nb_counters, desc->counters,
			       (unsigned int)n);
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
	if (desc->lanes_set >> node->nb_lanes != 0)
		return HY_REFUSE(-EINVAL, "node '%s': lanes_set 0x%x has bits of no lane",
			node->name, desc->lanes_set);
	node->lanes_set = desc->lanes_set;
	memcpy(node->wide, desc->wide, sizeof(node->wide));
	for (unsigned int i = 0; i < HY_WIDE_MAX; i++) {
		if (desc->wide[i].name[0] == '\0' && desc->wide[i].bytes == 0)
			continue;
		if (i != node->nb_wide++)
			return hole_refused(node, "wide", node->nb_wide - 1);
	}
	return hy_wide_check("node", node->name, desc->lanes, desc->wide, node->nb_wide);
}

int
hy_reg_node_fill(struct hy_reg_node *node, const struct hy_node_desc *desc)
{
	int rc;

	strcpy(node->name, desc->name);
	node->flags = desc->flags;
	node->trace = desc->trace;
	node->replicates = RTE_MAX(desc->replicates, 1);
	if (desc->flags != 0 && (desc->flags & ~HY_NODE_WAKES) != HY_NODE_SOURCE)
		return HY_REFUSE(-EINVAL, "node '%s': unknown flags 0x%x", node->name, desc->flags);
	if ((desc->flags & HY_NODE_SOURCE) != 0 && node->replicates > 1)
		return HY_REFUSE(-EINVAL, "node '%s': a source has nothing to replicate",
			node->name);
	rc = hy_reg_node_impl_copy(node, &desc->impl);
	if (rc == 0)
		rc = desc_edges(node, desc);
	if (rc == 0)
		rc = desc_entries(node, desc);
	if (rc == 0)
		rc = desc_lanes(node, desc);
	return rc;
}
