/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of an arc's features, and the edges for it. */

#include <errno.h>
#include <string.h>

#include "compat_arc.h"
#include "lib/graph/internal/arcs.h"
#include "lib/graph/internal/log.h"

int
hy_compat_arc_find(const struct arc *arc, const char *feature)
{
	for (int f = 0; feature != NULL && f < arc->pub.num_added_features; f++)
		if (strcmp(arc->features[f].name, feature) == 0)
			return f;
	return -1;
}

/* Whether a feature must come before another. */
static bool
precedes(const struct feature *a, const struct feature *b)
{
	return strcmp(a->before, b->name) == 0 || strcmp(b->after, a->name) == 0;
}

/* Of the features that may come next, the one added first; the end is always last. */
int
hy_compat_arc_sort(struct arc *arc)
{
	const unsigned int n = arc->pub.num_added_features;
	struct feature sorted[FEATURES_MAX];
	uint64_t behind[FEATURES_MAX] = { 0 };
	unsigned int order[FEATURES_MAX];

	for (unsigned int f = 0; f < n; f++)
		for (unsigned int o = 0; o < n; o++)
			if (o != f &&
				(f == n - 1 || precedes(&arc->features[o], &arc->features[f])))
				behind[f] |= UINT64_C(1) << o;
	if (hy_arc_sort(n, behind, order) < n)
		return HY_REFUSE(-EINVAL, "rte_graph: arc '%s': its features' order is a circle",
			arc->pub.feature_arc_name);
	for (unsigned int i = 0; i < n; i++)
		sorted[i] = arc->features[order[i]];
	memcpy(arc->features, sorted, n * sizeof(*sorted));
	return 0;
}

/* The edge of a node to another: the one that it has, or a new one. */
static int
edge_to(struct compat_node *from, const struct compat_node *to, rte_edge_t *edge)
{
	const char *target = to->name;

	for (*edge = 0; *edge < from->nb_edges; ++*edge)
		if (strcmp(from->edges[*edge], target) == 0)
			return 0;
	return hy_compat_edges_set(from, from->nb_edges, &target, 1);
}

/* Makes the edges from each slot to all later ones. */
static int
edges_make(struct arc *arc)
{
	const unsigned int end = arc->pub.num_added_features;

	for (unsigned int from = 0; from < end; from++) {
		for (unsigned int to = from + 1; to <= end; to++) {
			const int rc = edge_to(hy_compat_arc_node(arc, from),
				hy_compat_arc_node(arc, to), &arc->edges[from][to]);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int
hy_compat_arc_connect(struct arc *arc)
{
	const unsigned int end = arc->pub.num_added_features;
	union rte_graph_feature_word *word = arc->pub.words;
	rte_edge_t before[1 + FEATURES_MAX];
	int rc;

	for (unsigned int slot = 0; slot <= end; slot++)
		before[slot] = hy_compat_arc_node(arc, slot)->nb_edges;
	rc = edges_make(arc);
	for (unsigned int slot = 0; rc < 0 && slot <= end; slot++)
		hy_compat_arc_node(arc, slot)->nb_edges = before[slot];
	if (rc < 0)
		return rc;
	for (unsigned int slot = 0; slot <= end; slot++) {
		for (uint32_t i = 0; i < arc->pub.max_indexes; i++, word++) {
			word->app_cookie = UINT16_MAX;
			word->next_edge = slot < end ? arc->edges[slot][end] : RTE_EDGE_ID_INVALID;
			word->next_feature_data = slot < end ? end * arc->pub.max_indexes + i
							     : RTE_GRAPH_FEATURE_DATA_INVALID;
		}
	}
	return 0;
}
