/* SPDX-License-Identifier: BSD-3-Clause */
/* The arcs of the process, and queries of topologies. */

#include <string.h>

#include "arc.h"

static struct hy_arc *arcs; /* under the registry's lock */

struct hy_arc *
hy_arc_next_of(const struct hy_arc *arc)
{
	return arc == NULL ? arcs : arc->next;
}

void
hy_arc_link(struct hy_arc *arc)
{
	arc->next = arcs;
	arcs = arc;
}

void
hy_arc_unlink(struct hy_arc *arc)
{
	struct hy_arc **link = &arcs;

	while (*link != arc)
		link = &(*link)->next;
	*link = arc->next;
}

int
hy_arc_position(const struct hy_arc *arc, const char *feature)
{
	for (unsigned int f = 0; f < arc->nb_features; f++)
		if (strcmp(arc->features[f], feature) == 0)
			return (int)f;
	return -1;
}

const char *
hy_arc_end(const struct hy_arc *arc)
{
	return arc->end;
}

bool
hy_arc_is_live(const struct hy_arc *arc)
{
	return arc->live != 0;
}

const struct hy_arc *
hy_arc_live_with(const struct hy_reg_node *node)
{
	for (const struct hy_arc *arc = arcs; arc != NULL; arc = arc->next) {
		const int f = hy_arc_position(arc, node->name);

		if (f >= 0 && (arc->live >> f & 1) != 0)
			return arc;
	}
	return NULL;
}

unsigned int
hy_arc_edges_own(const struct hy_reg_node *node)
{
	const struct hy_arc *arc = hy_arc_live_with(node);

	for (const struct hy_arc *a = arcs; a != NULL && arc == NULL; a = a->next)
		if (a->node == node->id)
			arc = a; /* its own node: position -1 */
	return arc == NULL ? node->nb_edges : arc->nb_own[hy_arc_position(arc, node->name) + 1];
}

bool
hy_arc_leads(const struct hy_reg_node *node, const char *target)
{
	const struct hy_arc *arc = hy_arc_live_with(node);

	return arc != NULL && (strcmp(target, arc->end) == 0 || hy_arc_position(arc, target) >= 0);
}

const struct hy_arc *
hy_arc_bars(const struct hy_reg_node *from, bool own, const struct hy_reg_node *to)
{
	for (const struct hy_arc *arc = arcs; arc != NULL; arc = arc->next)
		if (hy_arc_position(arc, to->name) >= 0 && from->id != arc->node &&
			(own || hy_arc_position(arc, from->name) < 0))
			return arc;
	return NULL;
}

/* Whether graphs are compiled with an arc. */
static bool
is_compiled(const struct hy_arc *arc)
{
	return arc->live != 0 && !arc->leaving;
}

/* Whether an edge leads from an arc to its end. */
static bool
leaves(const struct hy_arc *arc, const struct hy_reg_node *from, const struct hy_reg_node *to)
{
	return is_compiled(arc) && strcmp(to->name, arc->end) == 0 &&
		(from->id == arc->node || hy_arc_position(arc, from->name) >= 0);
}

bool
hy_arc_leaves(const struct hy_reg_node *from, const struct hy_reg_node *to)
{
	for (const struct hy_arc *arc = arcs; arc != NULL; arc = arc->next)
		if (leaves(arc, from, to))
			return true;
	return false;
}

struct hy_reg_node *
hy_arc_detour(const struct hy_reg_node *from, struct hy_reg_node *to)
{
	if (to == NULL)
		return NULL;
	for (const struct hy_arc *arc = arcs; arc != NULL; arc = arc->next) {
		if (!is_compiled(arc) || strcmp(to->name, arc->end) != 0)
			continue;
		/* Objects that leave the arc must not enter it again. */
		if (leaves(arc, from, to))
			continue;
		return hy_registry_get(arc->node);
	}
	return to;
}
