/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An arc in graphs that are walked. A feature is live from its first enabling until nothing of its
 * arc is enabled any more: then the arc's node and all of its features leave together.
 *
 * Chains name edges by number, and a number is valid only in images that have the edge. No walk
 * uses a chain in any other image:
 * - A chain is written after images with its edges were published and a grace period has passed. A
 *   published image is never withdrawn (control.h), so every later walk, even of a worker that
 *   rested meanwhile, uses one of these images or a later one.
 * - While the arc is live its nodes only gain edges, so later images have all edges of earlier
 *   ones.
 * - Edges are removed, and their numbers used again, once no chain names a feature and no object
 *   with such a chain is left.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arc.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/registry/reg_node.h"
#include "lib/graph/update/control.h"
#include "lib/graph/update/qsbr.h"

/* The node of a feature, or, by -1, the arc's own; NULL: it is not registered. */
static struct hy_reg_node *
node_at(const struct hy_arc *arc, int position)
{
	return position < 0 ? hy_registry_get(arc->node)
			    : hy_registry_find(arc->features[position]);
}

static bool
is_live(const struct hy_arc *arc, int position)
{
	return position < 0 || (arc->live >> position & 1) != 0;
}

/* How many edges the nodes of an arc have, in the order of positions. */
static void
edges_count(const struct hy_arc *arc, uint16_t counts[])
{
	for (int f = -1; f < (int)arc->nb_features; f++) {
		const struct hy_reg_node *node = node_at(arc, f);

		counts[f + 1] = node == NULL ? 0 : (uint16_t)node->nb_edges;
	}
}

/* Removes edges beyond those numbers from the arc's node and some features. */
static void
edges_shrink(const struct hy_arc *arc, uint64_t features, const uint16_t counts[])
{
	for (int f = -1; f < (int)arc->nb_features; f++) {
		struct hy_reg_node *node = node_at(arc, f);

		if (f >= 0 && (features >> f & 1) == 0)
			continue;
		if (node != NULL && node->nb_edges > counts[f + 1])
			hy_reg_node_edges_shrink(node, counts[f + 1]);
	}
}

void
hy_arc_edges_remove(const struct hy_arc *arc)
{
	edges_shrink(arc, arc->live, arc->nb_own);
}

/* Adds an edge to a feature, or, for -1, to the end. */
static int
edge_add(const struct hy_arc *arc, struct hy_reg_node *node, int from, int to)
{
	const int edge = hy_reg_node_edge_get(node, to < 0 ? arc->end : arc->features[to]);

	if (edge == -ENOMEM)
		HY_LOG(ERR, "arc '%s': not enough memory", arc->name);
	if (edge < 0)
		return edge;
	*hy_arc_edge(arc, from, to) = (uint16_t)edge;
	return 0;
}

/* Adds edges to the end, and to all live features after a node. */
static int
edges_add_from(const struct hy_arc *arc, int from)
{
	struct hy_reg_node *node = node_at(arc, from);
	int rc;

	if (node == NULL)
		return HY_REFUSE(-ENOENT, "arc '%s': the node of feature '%s' is not registered",
			arc->name, arc->features[from]);
	if (from >= 0 && node->owner != NULL && !node->owner->lends)
		return HY_REFUSE(-EPERM, "arc '%s': the node of feature '%s' belongs to %s",
			arc->name, node->name, node->owner->name);
	rc = edge_add(arc, node, from, -1);
	for (int to = from + 1; to < (int)arc->nb_features && rc == 0; to++)
		if (is_live(arc, to))
			rc = edge_add(arc, node, from, to);
	return rc;
}

static int
edges_add(const struct hy_arc *arc)
{
	int rc = 0;

	for (int f = -1; f < (int)arc->nb_features && rc == 0; f++)
		if (is_live(arc, f))
			rc = edges_add_from(arc, f);
	return rc;
}

/* Whether an image has the end, or a node with an edge to it, which may run on another worker. */
static bool
image_concerned(const struct hy_image *image, const char *end)
{
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++) {
		const struct hy_reg_node *node = image->nodes[r].reg;

		if (strcmp(node->name, end) == 0 || hy_reg_node_edge_find(node, end) >= 0)
			return true;
	}
	return false;
}

static bool
graph_concerned(const struct hy_arc *arc, const struct hy_graph *graph)
{
	const struct hy_image *image = graph->control->current;

	while (image != NULL && !image_concerned(image, arc->end))
		image = image->successor;
	return image != NULL;
}

static bool
image_has(const struct hy_image *image, hy_node_id id)
{
	unsigned int r = 0;

	while (r < image->plan.nb_nodes && image->nodes[r].reg->id != id)
		r++;
	return r < image->plan.nb_nodes;
}

/*
 * Whether a graph is to have, or has, a feature that is not live: an init() created it during a change
 * that then failed. The arc's own node may also be there by an edge of a program's node.
 */
static bool
graph_left_over(const struct hy_arc *arc, const struct hy_graph *graph)
{
	const struct hy_image *image = graph->control->current;
	bool has = false;

	while (image->successor != NULL)
		image = image->successor;
	for (int f = 0; f < (int)arc->nb_features && !has; f++) {
		const struct hy_reg_node *node = node_at(arc, f);

		has = !is_live(arc, f) && node != NULL && image_has(image, node->id);
	}
	return has;
}

/* Recompiles the graphs that a change of an arc concerns, all or none. */
static int
graphs_update(const struct hy_arc *arc,
	bool (*concerned)(const struct hy_arc *arc, const struct hy_graph *graph))
{
	struct hy_graph **graphs, *graph = NULL;
	unsigned int n = 0;
	int rc;

	hy_graph_read_all(); /* a fini() that this runs may destroy graphs */
	while ((graph = hy_graph_next(graph)) != NULL)
		n++;
	graphs = calloc(n + 1, sizeof(struct hy_graph *));
	if (graphs == NULL)
		return HY_REFUSE(-ENOMEM, "arc '%s': not enough memory", arc->name);
	n = 0;
	while ((graph = hy_graph_next(graph)) != NULL)
		if (concerned(arc, graph))
			graphs[n++] = graph;
	rc = n == 0 ? 0 : hy_graph_update_all(graphs, n);
	free(graphs);
	return rc;
}

/* With the registry's lock: the nodes and edges of more features, in all graphs or in none. */
static int
more_set(struct hy_arc *arc, uint64_t features)
{
	const uint64_t before = arc->live, more = features & ~before;
	uint16_t counts[HY_ARC_FEATURES_MAX + 1];
	int rc;

	edges_count(arc, counts);
	for (uint64_t bits = more; bits != 0; bits &= bits - 1) {
		const unsigned int at = (unsigned int)__builtin_ctzll(bits) + 1;

		arc->nb_own[at] = counts[at];
	}
	arc->live |= more;
	rc = edges_add(arc);
	if (rc == 0)
		rc = graphs_update(arc, graph_concerned);
	if (rc < 0) {
		edges_shrink(arc, arc->live, counts);
		arc->live = before;
		graphs_update(arc, graph_left_over); /* or the next hy_arc_take_out() does */
	}
	return rc;
}

int
hy_arc_unheld(const struct hy_arc *arc)
{
	const struct hy_graph *graph = NULL;

	hy_registry_lock();
	while ((graph = hy_graph_next(graph)) != NULL &&
		!(image_has(__atomic_load_n(&graph->image, __ATOMIC_ACQUIRE), arc->node) &&
			hy_graph_holds(graph)))
		;
	if (graph != NULL)
		HY_LOG(ERR, "arc '%s': objects wait in graph '%s'; walk it until they have left",
			arc->name, hy_graph_name(graph));
	hy_registry_unlock();
	return graph != NULL ? -EBUSY : 0;
}

int
hy_arc_bring_in(struct hy_arc *arc, uint64_t features)
{
	int rc;

	hy_registry_lock();
	rc = more_set(arc, features);
	hy_registry_unlock();
	/* No later walk is in an image without these edges: see above. Without QSBR, none is under way. */
	if (rc == 0 && arc->params.qsbr != NULL)
		rc = hy_arc_grace(arc);
	if (rc < 0)
		return rc;
	arc->present = arc->live;
	hy_arc_table_ends(arc);
	return 0;
}

void
hy_arc_take_out(struct hy_arc *arc)
{
	if (arc->live == 0) {
		hy_registry_lock();
		graphs_update(arc, graph_left_over);
		hy_registry_unlock();
		return;
	}
	/* Objects that wait in a cycle may still reach a feature. */
	if (hy_arc_grace(arc) < 0)
		return;
	hy_registry_lock();
	arc->leaving = true;
	if (graphs_update(arc, graph_concerned) == 0) {
		hy_arc_edges_remove(arc);
		arc->live = 0;
	}
	arc->leaving = false;
	arc->present = 0; /* even if it stays: graphs that an init() created have no feature */
	hy_registry_unlock();
}
