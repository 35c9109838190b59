/* SPDX-License-Identifier: BSD-3-Clause */
/* Places nodes on workers by patterns and pins. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "lib/graph/internal/arcs.h"
#include "lib/graph/internal/log.h"

#include "dispatch.h"

struct making {
	const struct hy_dispatch *dispatch;
	struct hy_placement *placement;
};

/* The place of a node, by name; nb_places if it has none. */
static unsigned int
place_find(const struct hy_placement *placement, const char *name)
{
	unsigned int i = 0;

	while (i < placement->nb_places && strcmp(placement->places[i].name, name) != 0)
		i++;
	return i;
}

/* Gives a node of the registry a place, once. */
static int
place_add(struct making *m, hy_node_id id)
{
	struct hy_placement *placement = m->placement;
	struct hy_place *places, place = { .id = id };
	int rc = hy_node_name(id, place.name, sizeof(place.name));

	if (rc == 0)
		rc = hy_node_flags(id, &place.flags, &place.replicates);
	if (rc < 0 || place_find(placement, place.name) < placement->nb_places)
		return rc;
	places = realloc(placement->places, (placement->nb_places + 1) * sizeof(*places));
	if (places == NULL)
		return hy_dispatch_no_memory(m->dispatch);
	placement->places = places;
	places[placement->nb_places++] = place;
	return 0;
}

static int
pattern_add(struct making *m, const char *pattern)
{
	unsigned int matched = 0;
	hy_node_id id;
	int rc = 0;

	for (hy_node_id from = 0; rc == 0 && hy_node_next(from, &id) == 0; from = id + 1) {
		char name[HY_NAME_SIZE];

		if (hy_stage_owns(m->dispatch, id) || hy_node_name(id, name, sizeof(name)) < 0 ||
			fnmatch(pattern, name, 0) != 0)
			continue;
		matched++;
		rc = place_add(m, id);
	}
	if (rc == 0 && matched == 0)
		return HY_REFUSE(-ENOENT, "dispatch '%s': pattern '%s' matches no node",
			m->dispatch->name, pattern);
	return rc;
}

/* Notes that objects come from one node to another, which gets a place. */
static int
edge_add(struct making *m, unsigned int from, hy_node_id id, const char *target)
{
	struct hy_placement *placement = m->placement;
	struct hy_place *place;
	unsigned int *edges;
	int rc = place_add(m, id);

	if (rc < 0)
		return rc;
	place = &placement->places[from];
	edges = realloc(place->edges, (place->nb_edges + 1) * sizeof(*edges));
	if (edges == NULL)
		return hy_dispatch_no_memory(m->dispatch);
	place->edges = edges;
	edges[place->nb_edges++] = place_find(placement, target);
	return 0;
}

/* The arc that a node is a feature of, or NULL. */
static const struct hy_arc *
arc_of(const char *feature)
{
	const struct hy_arc *arc = NULL;

	while ((arc = hy_arc_next_of(arc)) != NULL && hy_arc_position(arc, feature) < 0)
		;
	return arc;
}

/*
 * Gives places to the features of an arc that ends at a node. They run where that runs, enabled or
 * not, before it: what it is sent may become what they make of it.
 */
static int
features_follow(struct making *m, unsigned int end, const struct hy_arc *arc)
{
	const char *feature;
	int rc = 0;

	for (unsigned int f = 0; rc == 0 && (feature = hy_arc_feature_at(arc, f)) != NULL; f++) {
		struct hy_place *places;
		unsigned int at;
		hy_node_id id;

		if (hy_node_lookup(feature, &id) < 0)
			continue;
		rc = edge_add(m, end, id, feature);
		if (rc < 0)
			break;
		places = m->placement->places;
		at = places[end].edges[places[end].nb_edges - 1];
		places[at].feature = true;
		places[end].replicates = (uint16_t)RTE_MIN((uint32_t)places[end].replicates *
				places[at].replicates,
			UINT16_MAX);
	}
	return rc;
}

/* Gives places to all that a node's edges lead to. Those along its own arc are the end's. */
static int
place_follow(struct making *m, unsigned int index)
{
	const struct hy_place place = m->placement->places[index];
	const struct hy_arc *own = arc_of(place.name), *arc = NULL;
	uint16_t nb_edges = 0;
	int rc = hy_node_edge_count(place.id, &nb_edges);

	for (uint16_t e = 0; e < nb_edges && rc == 0; e++) {
		char target[HY_NAME_SIZE];
		hy_node_id id;

		rc = hy_node_edge_target(place.id, e, target, sizeof(target));
		if (rc < 0 ||
			(own != NULL &&
				(strcmp(target, hy_arc_end(own)) == 0 ||
					hy_arc_position(own, target) >= 0)))
			continue;
		if (hy_node_lookup(target, &id) == 0) {
			rc = edge_add(m, index, id, target);
		} else if (own == NULL || hy_arc_is_live(own)) {
			rc = HY_REFUSE(-ENOENT,
				"dispatch '%s': node '%s' leads to '%s', which is not registered",
				m->dispatch->name, place.name, target);
		}
	}
	while (rc == 0 && (arc = hy_arc_next_of(arc)) != NULL)
		if (strcmp(hy_arc_end(arc), place.name) == 0)
			rc = features_follow(m, index, arc);
	return rc;
}

static int
pin_refused(const struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pin, const char *why)
{
	return HY_REFUSE(-EINVAL, "dispatch '%s': pin of '%s': %s", dispatch->name,
		pin->pattern == NULL ? "" : pin->pattern, why);
}

/* The workers of a pin as bits; 0 if it cannot be. */
static uint64_t
pin_workers(const struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pin)
{
	uint64_t workers = 0;

	for (unsigned int i = 0; i < pin->nb_workers; i++) {
		const uint16_t w = pin->workers[i];

		if (w >= dispatch->nb_workers || (workers & UINT64_C(1) << w) != 0) {
			HY_LOG(ERR,
				"dispatch '%s': pin of '%s': worker %u; numbers below %u are "
				"accepted, each once",
				dispatch->name, pin->pattern, w, dispatch->nb_workers);
			return 0;
		}
		workers |= UINT64_C(1) << w;
	}
	return workers;
}

static int
pin_apply(const struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pin,
	struct hy_placement *placement)
{
	unsigned int matched = 0;
	uint64_t workers;

	if (pin->pattern == NULL || pin->workers == NULL || pin->nb_workers == 0)
		return pin_refused(dispatch, pin, "a pattern and a worker are required");
	workers = pin_workers(dispatch, pin);
	if (workers == 0)
		return -EINVAL;
	if (pin->nb_workers > 1 && dispatch->ops.flow_hash == NULL)
		return pin_refused(dispatch, pin, "several workers want ops->flow_hash");
	for (unsigned int i = 0; i < placement->nb_places; i++) {
		struct hy_place *place = &placement->places[i];

		if (place->feature || fnmatch(pin->pattern, place->name, 0) != 0)
			continue;
		matched++;
		if (place->pinned || strcmp(place->name, dispatch->drop_node) == 0)
			continue;
		if ((place->flags & HY_NODE_SOURCE) != 0 && pin->nb_workers > 1)
			return pin_refused(dispatch, pin, "a source runs on one worker");
		place->pinned = true;
		place->workers = workers;
	}
	return matched > 0 ? 0 : pin_refused(dispatch, pin, "no node that can be pinned matches");
}

/* A node that is not pinned runs where its parents run. */
static void
workers_spread(struct hy_placement *placement)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned int i = 0; i < placement->nb_places; i++) {
			const struct hy_place *place = &placement->places[i];

			for (unsigned int e = 0; e < place->nb_edges; e++) {
				struct hy_place *to = &placement->places[place->edges[e]];
				const uint64_t workers = to->pinned ? to->workers
								    : to->workers | place->workers;

				if (!place->reached || (to->reached && workers == to->workers))
					continue;
				to->reached = true;
				to->workers = workers;
				changed = true;
			}
		}
	}
}

static int
workers_find(const struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins, struct hy_placement *placement)
{
	for (unsigned int i = 0; i < nb_pins; i++) {
		const int rc = pin_apply(dispatch, &pins[i], placement);

		if (rc < 0)
			return rc;
	}
	for (unsigned int i = 0; i < placement->nb_places; i++) {
		struct hy_place *place = &placement->places[i];

		place->reached = (place->flags & HY_NODE_SOURCE) != 0;
		if (place->reached && !place->pinned)
			place->workers = 1;
	}
	workers_spread(placement);
	for (unsigned int i = 0; i < placement->nb_places; i++) {
		const struct hy_place *place = &placement->places[i];

		/* Every worker sends drops to the drop_node. */
		if (place->reached || strcmp(place->name, dispatch->drop_node) == 0)
			continue;
		return HY_REFUSE(-EINVAL, "dispatch '%s': no source reaches node '%s'",
			dispatch->name, place->name);
	}
	return 0;
}

/* Drops take no detour and no room is reserved for them in rings: they must end on their worker. */
static int
drop_node_check(const struct hy_dispatch *dispatch)
{
	uint16_t nb_edges = 0;
	hy_node_id id;

	/* If there is none, creating the graphs reports it. */
	if (hy_node_lookup(dispatch->drop_node, &id) < 0 || hy_node_edge_count(id, &nb_edges) < 0 ||
		nb_edges == 0)
		return 0;
	return HY_REFUSE(-EINVAL,
		"dispatch '%s': drop_node '%s' leads on (%u edges); one without edges is accepted",
		dispatch->name, dispatch->drop_node, nb_edges);
}

int
hy_placement_make(const struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins, struct hy_placement *placement)
{
	struct making m = { dispatch, placement };
	int rc = drop_node_check(dispatch);

	for (unsigned int i = 0; i < dispatch->nb_patterns && rc == 0; i++)
		rc = pattern_add(&m, dispatch->patterns[i]);
	for (unsigned int i = 0; i < placement->nb_places && rc == 0; i++)
		rc = place_follow(&m, i);
	if (rc == 0)
		rc = workers_find(dispatch, pins, nb_pins, placement);
	return rc;
}

void
hy_placement_free(struct hy_placement *placement)
{
	for (unsigned int i = 0; i < placement->nb_places; i++)
		free(placement->places[i].edges);
	free(placement->places);
}
