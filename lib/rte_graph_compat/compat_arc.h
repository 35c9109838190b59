/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A feature arc, as the control plane sees it. Its nodes have slots: 0 is the start, then come the
 * features in their order, last of them the end. All wants the adapter's lock held.
 */
#pragma once

#include "compat.h"
#include "rte_graph_feature_arc_worker.h"

#define FEATURES_MAX 63 /* with the end: bits of a mask */

struct feature {
	char name[RTE_GRAPH_FEATURE_ARC_NAMELEN];
	char after[RTE_GRAPH_FEATURE_ARC_NAMELEN],
		before[RTE_GRAPH_FEATURE_ARC_NAMELEN]; /* or "" */
	rte_node_t node;
	rte_graph_feature_change_notifier_cb_t notify;
	uint32_t indexes; /* on which it is enabled */
};

struct arc {
	struct rte_graph_feature_arc pub;                     /* first: what the API hands out */
	struct feature features[FEATURES_MAX];                /* pub.num_added_features, in order */
	rte_edge_t edges[1 + FEATURES_MAX][1 + FEATURES_MAX]; /* from slot to slot, if from < to */
	uint64_t *enabled; /* by index: a bit a feature; the end's says whether it has a cookie */
};

/* The node in a slot. */
struct compat_node *hy_compat_arc_node(const struct arc *arc, unsigned int slot);
/* A feature's place by its whole name, or -1. */
int hy_compat_arc_find(const struct arc *arc, const char *feature);

/* Puts the features in order. Returns 0, or -EINVAL: they stand in a circle (logged). */
int hy_compat_arc_sort(struct arc *arc);
/* Makes the edges that the order wants, and words that lead all indexes straight to the end.
 * Returns 0 or a negative errno (logged, but for -ENOMEM): nodes have the edges that they had. */
int hy_compat_arc_connect(struct arc *arc);

/* An arc by number or by name, or NULL. */
struct arc *hy_compat_arc(rte_graph_feature_arc_t id);
struct arc *hy_compat_arc_of_name(const char *name);
