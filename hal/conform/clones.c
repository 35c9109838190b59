/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes under test of a side: clones of the families' nodes, with their edges leading to sinks. */

#include <stdio.h>
#include <string.h>

#include "conform.h"

static void
node_read(struct conform_node *node, const char *suffix)
{
	const struct hy_node_desc *desc = &node->family->node;

	snprintf(node->name, sizeof(node->name), "%s-%s", desc->name, suffix);
	while (node->nb_declared < HY_DESC_EDGES && desc->edges[node->nb_declared] != NULL)
		node->nb_declared++;
	node->nb_edges = node->nb_declared;
	if (node->onward == node->nb_declared)
		node->nb_edges++;
	while (node->nb_drops < HY_DESC_DROPS && desc->drops[node->nb_drops].name != NULL)
		node->nb_drops++;
	while (node->nb_counters < HY_DESC_COUNTERS &&
		desc->counters[node->nb_counters].name != NULL)
		node->nb_counters++;
}

/* What a node is called behind its family's name: by its side, and its place in a chain. */
static void
suffix_write(const struct conform_side *side, unsigned int k, char *suffix, size_t size)
{
	if (side->nb_nodes == 1)
		snprintf(suffix, size, "%s", side->is.name);
	else
		snprintf(suffix, size, "%s%u", side->is.name, k);
}

void
conform_nodes_read(struct conform_side *side)
{
	struct conform_node *last = conform_last(side);
	const struct hy_node_desc *first = &side->nodes[0].family->node;
	char suffix[HY_NAME_SIZE];

	for (unsigned int k = 0; k < side->nb_nodes; k++) {
		suffix_write(side, k, suffix, sizeof(suffix));
		node_read(&side->nodes[k], suffix);
	}
	while (side->nb_lanes < HY_LANES_MAX && first->lanes[side->nb_lanes] != NULL)
		side->nb_lanes++;
	while (side->nb_wide < HY_WIDE_MAX && first->wide[side->nb_wide].bytes != 0)
		side->nb_wide++;
	last->nb_edges += side->suite->nb_edges;
	side->nb_edges = last->nb_edges;
	for (struct conform_node *node = side->nodes; node < last; node++) {
		node->first_out = side->nb_edges;
		side->nb_edges += node->nb_edges - 1;
	}
}

/* The out of an edge that does not lead onward. */
static uint16_t
out_of(const struct conform_node *node, uint16_t edge)
{
	return (uint16_t)(node->first_out + edge - (edge > node->onward));
}

/* Leads an edge of a node to the chain's next node, or to its sink. */
static int
edge_lead(struct conform_side *side, struct conform_node *node, uint16_t edge,
	int (*add)(struct conform_side *side, uint16_t out, char *name))
{
	char name[2 * HY_NAME_SIZE];
	int rc = 0;

	if (edge == node->onward)
		strcpy(name, node[1].name);
	else
		rc = add(side, out_of(node, edge), name);
	if (rc < 0)
		return rc;
	return edge >= node->nb_declared ? hy_node_edge_add(node->id, name, NULL)
					 : hy_node_edge_set(node->id, edge, name);
}

static int
node_create(struct conform_side *side, unsigned int k)
{
	struct conform_node *node = &side->nodes[k];
	struct hy_node_impl impl = hy_variant_impl(node->family, node->variant);
	char suffix[HY_NAME_SIZE];
	hy_node_id base;
	int rc = hy_node_lookup(node->family->node.name, &base);

	suffix_write(side, k, suffix, sizeof(suffix));
	if (rc == 0)
		rc = hy_node_clone(base, suffix, &node->id);
	if (rc < 0)
		return rc;
	side->helpers[side->nb_helpers++] = node->id;
	if (side->fused) /* the HAL offers fusions of the variants' own functions */
		impl.process = conform_fuse_process(k);
	rc = hy_node_impl_set(node->id, &impl);
	if (rc == 0) /* remove edges that a program has added to the family's own node */
		rc = hy_node_edge_shrink(node->id, node->nb_declared);
	return rc;
}

int
conform_nodes_create(struct conform_side *side,
	int (*add)(struct conform_side *side, uint16_t out, char *name))
{
	int rc = 0;

	for (unsigned int k = 0; k < side->nb_nodes && rc == 0; k++)
		rc = node_create(side, k);
	for (unsigned int k = 0; k < side->nb_nodes && rc == 0; k++)
		for (uint16_t e = 0; e < side->nodes[k].nb_edges && rc == 0; e++)
			rc = edge_lead(side, &side->nodes[k], e, add);
	if (rc == 0 && side->nb_nodes == 1 && side->suite->configure != NULL)
		rc = side->suite->configure(side->state, side->nodes[0].id);
	for (unsigned int k = 0; k < side->nb_nodes && side->nb_nodes > 1 && rc == 0; k++)
		if (side->suite->configure_chain != NULL)
			rc = side->suite->configure_chain(side->state, k, side->nodes[k].id);
	return rc;
}

/* "edge 0 (ip4_lookup)"; in a chain, "pkt_cls: edge 0 (ip4_lookup)" */
static void
edge_text(const struct conform_side *side, uint16_t out, char *text, size_t size)
{
	const struct conform_node *node = side->nodes, *last = side->nodes + side->nb_nodes - 1;
	const char *to = NULL;
	uint16_t edge = 0;
	int used = 0;

	if (out < last->nb_edges)
		node = last;
	while (node < last && out >= node->first_out + node->nb_edges - 1)
		node++;
	while (out_of(node, edge) != out || edge == node->onward)
		edge++;
	if (side->nb_nodes > 1)
		used = snprintf(text, size, "%s: ", node->family->node.name);
	if (edge < HY_DESC_EDGES)
		to = node->family->node.edges[edge];
	if (to != NULL)
		snprintf(text + used, size - (size_t)used, "edge %u (%s)", edge, to);
	else
		snprintf(text + used, size - (size_t)used, "edge %u", edge);
}

const char *
conform_out_text(const struct conform_side *side, uint16_t out, char *text, size_t size)
{
	if (out == CONFORM_NO_OUT)
		snprintf(text, size, "nothing");
	else if (out == CONFORM_DROP)
		snprintf(text, size, "a drop");
	else if (out == CONFORM_RELEASED)
		snprintf(text, size, "a release");
	else if (out == CONFORM_TAKEN)
		snprintf(text, size, "sent out");
	else
		edge_text(side, out, text, size);
	return text;
}

static unsigned int
node_counts(const struct conform_node *node)
{
	return node->nb_edges + HY_CORE_DROPS + node->nb_drops + node->nb_counters + 1;
}

unsigned int
conform_counts(const struct conform_side *side)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < side->nb_nodes; k++)
		n += node_counts(&side->nodes[k]);
	return n;
}

/* The node of a count, which becomes its number among those of the node. */
static const struct conform_node *
counted_node(const struct conform_side *side, unsigned int *k)
{
	const struct conform_node *node = side->nodes;

	for (; *k >= node_counts(node); node++)
		*k -= node_counts(node);
	return node;
}

const char *
conform_count_text(const struct conform_side *side, unsigned int k, char *text, size_t size)
{
	const struct conform_node *node = counted_node(side, &k);
	const struct hy_node_desc *desc = &node->family->node;
	const int used = side->nb_nodes > 1 ? snprintf(text, size, "%s: ", desc->name) : 0;
	char *at = text + used;

	size -= (size_t)used;
	if (k < node->nb_edges)
		snprintf(at, size, "edge %u", k);
	else if ((k -= node->nb_edges) < HY_CORE_DROPS)
		snprintf(at, size, "the core's drop %u", k);
	else if ((k -= HY_CORE_DROPS) < node->nb_drops)
		snprintf(at, size, "drop %s", desc->drops[k].name);
	else if ((k -= node->nb_drops) < node->nb_counters)
		snprintf(at, size, "counter %s", desc->counters[k].name);
	else
		snprintf(at, size, "packets taken");
	return text;
}

enum conform_counter
conform_counter_of(const struct conform_side *side, unsigned int k)
{
	const struct conform_node *node = counted_node(side, &k);
	const struct hy_suite *suite = hy_suite_find(node->family->node.name);
	const unsigned int first = node_counts(node) - 1 - node->nb_counters;
	const uint32_t bit = k >= first && k < first + node->nb_counters ? 1u << (k - first) : 0;

	if (suite == NULL || ((suite->summed_counters | suite->own_counters) & bit) == 0)
		return CONFORM_COMPARED;
	return (suite->summed_counters & bit) != 0 ? CONFORM_SUMMED : CONFORM_OWN;
}

void
conform_counts_read(const struct conform_side *side, unsigned int graph, uint64_t *values)
{
	for (unsigned int k = 0; k < side->nb_nodes; k++) {
		const struct conform_node *of = &side->nodes[k];
		const struct hy_node *node = NULL;
		struct hy_node *found;

		if (hy_graph_node(side->graphs[graph], of->name, &found) == 0)
			node = found;
		for (int e = 0; e < of->nb_edges; e++)
			*values++ = node->edges[e].objs;
		for (int d = 0; d < HY_CORE_DROPS + of->nb_drops; d++)
			*values++ = node->edges[-1 - d].objs;
		for (int c = 0; c < of->nb_counters; c++)
			*values++ = node->edges[HY_COUNTER_SLOT(c)].objs;
		*values++ = node->objs;
	}
}
