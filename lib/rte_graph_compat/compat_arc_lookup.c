/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups: arcs by name, their features by name and place. */

#include <errno.h>

#include "compat_arc.h"

int
rte_graph_feature_arc_lookup_by_name(const char *arc_name, rte_graph_feature_arc_t *id)
{
	const struct arc *arc;

	hy_compat_lock();
	arc = hy_compat_arc_of_name(arc_name);
	if (arc != NULL && id != NULL)
		*id = arc->pub.feature_arc_index;
	hy_compat_unlock();
	return arc == NULL ? -ENOENT : 0;
}

int
rte_graph_feature_lookup(rte_graph_feature_arc_t id, const char *feature_name,
	rte_graph_feature_t *feature)
{
	const struct arc *arc;
	int found;

	hy_compat_lock();
	arc = hy_compat_arc(id);
	found = arc == NULL ? -1 : hy_compat_arc_find(arc, feature_name);
	if (found >= 0)
		*feature = (rte_graph_feature_t)found;
	hy_compat_unlock();
	return found < 0 ? -ENOENT : 0;
}

uint32_t
rte_graph_feature_arc_num_features(rte_graph_feature_arc_t id)
{
	const struct arc *arc;
	uint32_t n;

	hy_compat_lock();
	arc = hy_compat_arc(id);
	n = arc == NULL ? 0 : arc->pub.num_added_features;
	hy_compat_unlock();
	return n;
}

uint32_t
rte_graph_feature_arc_num_enabled_features(rte_graph_feature_arc_t id)
{
	const struct arc *arc;
	uint32_t n = 0;

	hy_compat_lock();
	arc = hy_compat_arc(id);
	for (unsigned int f = 0; arc != NULL && f < arc->pub.num_added_features; f++)
		n += arc->features[f].indexes;
	hy_compat_unlock();
	return n;
}

/* A feature by its place, or NULL. */
static struct feature *
feature_at(rte_graph_feature_arc_t id, rte_graph_feature_t feature)
{
	struct arc *arc = hy_compat_arc(id);

	return arc == NULL || feature >= arc->pub.num_added_features ? NULL
								     : &arc->features[feature];
}

char *
rte_graph_feature_arc_feature_to_name(rte_graph_feature_arc_t id, rte_graph_feature_t feature)
{
	struct feature *found;

	hy_compat_lock();
	found = feature_at(id, feature);
	hy_compat_unlock();
	return found == NULL ? NULL : found->name;
}

int
rte_graph_feature_arc_feature_to_node(rte_graph_feature_arc_t id, rte_graph_feature_t feature,
	rte_node_t *node)
{
	const struct feature *found;

	hy_compat_lock();
	found = feature_at(id, feature);
	if (found != NULL)
		*node = found->node;
	hy_compat_unlock();
	return found == NULL ? -ENOENT : 0;
}

uint32_t
rte_graph_feature_arc_names_get(char *arc_names[])
{
	uint32_t n = 0;

	hy_compat_lock();
	for (rte_graph_feature_arc_t id = 0; id < RTE_GRAPH_FEATURE_ARC_INITIALIZER; id++) {
		struct arc *arc = hy_compat_arc(id);

		if (arc != NULL && arc_names != NULL)
			arc_names[n] = arc->pub.feature_arc_name;
		n += arc != NULL;
	}
	hy_compat_unlock();
	return arc_names == NULL ? (uint32_t)(n * sizeof(char *)) : n;
}
