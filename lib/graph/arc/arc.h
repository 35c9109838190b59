/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A feature arc. Two locks, taken in this order: the arcs' own mutex lets one thread change arcs at
 * a time, and is held while it waits for workers; the registry's covers what graphs are compiled
 * by: the list of arcs, and which features are in graphs.
 */
#pragma once

#include "lib/graph/internal/arcs.h"
#include "lib/graph/registry/registry.h"

/*
 * An entry of the table: where the chain of an index starts, the edge of the arc's node that leads to
 * it, and the change that selected it. It is one word, since workers read it while it changes. Walks
 * that began before that change, and so know a lower number, go by the word behind all entries, which
 * is the entry of before. 0: the edge 0, to the end.
 */
#define HY_ARC_ENTRY_SINCE 48
#define HY_ARC_CHANGES_MAX UINT16_MAX /* then they are numbered anew */

/* Where the chain of an index is, and when the other place for one is free again. */
struct hy_arc_slot {
	uint64_t token; /* of the last change */
	uint8_t side;   /* 0 or 1: the chain that objects get */
};

struct hy_arc {
	struct hy_arc_view *view; /* what workers read */
	struct hy_arc_view *old;  /* the view before it grew, which some may still read, or NULL */
	uint64_t old_token;       /* until this has passed */
	uint32_t changes;    /* number of the last change; each walk of a worker reads it once */
	uint64_t renumbered; /* no change until this has passed; 0: none is waited for */
	struct hy_arc_slot *slots;
	char name[HY_NAME_SIZE];
	char end[HY_NAME_SIZE];
	struct hy_arc_params params; /* strings are not used: above and below */
	char index_lane[HY_NAME_SIZE];
	hy_node_id node;
	unsigned int nb_features;
	char (*features)[HY_NAME_SIZE]; /* in order */
	uint16_t *nb_own; /* edges of the arc's node, and of each feature that is in graphs, without
			   * those that the arc gave it */
	uint16_t *edges;  /* [from + 1][to + 1]: from the arc's node or a feature, to a feature or,
			     * with 0, the end */
	uint64_t
		present; /* bit f: no walk begins in an image without the feature: see arc_live.c */
	uint64_t live;   /* bit f: the feature is in graphs that have the end */
	bool leaving;    /* graphs are compiled without it, though features are live */
	uint32_t nb_in_use;  /* indexes that have a feature enabled */
	struct hy_arc *next; /* in the list of arcs */
};

/* The features enabled for an index. */
struct hy_arc_chain {
	uint64_t enabled; /* bit f: the feature is */
	uint32_t cookie[HY_ARC_FEATURES_MAX];
};

/* The edge from one node of an arc to another: features by position, -1 the arc's node as the first
 * and the end as the second. */
static inline uint16_t *
hy_arc_edge(const struct hy_arc *arc, int from, int to)
{
	return &arc->edges[(unsigned int)(from + 1) * (arc->nb_features + 1) +
		(unsigned int)(to + 1)];
}

/* arc_feature.c. Finds the features that registered on an arc, and their order. */
int hy_arc_order(struct hy_arc *arc);

/* arc_table.c. All but hy_arc_table_read() may wait for workers: see hy_arc_set(). */
int hy_arc_table_create(struct hy_arc *arc);
void hy_arc_table_free(struct hy_arc *arc);
/* Reads the chain of an index, which may be beyond the table. */
void hy_arc_table_read(const struct hy_arc *arc, uint32_t index, struct hy_arc_chain *chain);
/* Makes sure that hy_arc_table_write() can be called for an index. */
int hy_arc_table_prepare(struct hy_arc *arc, uint32_t index);
void hy_arc_table_write(struct hy_arc *arc, uint32_t index, const struct hy_arc_chain *chain);
/* Leads objects without a chain from each present feature to the end. */
void hy_arc_table_ends(struct hy_arc *arc);
/* Waits for a grace period. Returns 0, -ETIMEDOUT, or what hy_arc_unheld() returns. */
int hy_arc_grace(const struct hy_arc *arc);

/* arc_node.c. The node that tells objects their chain. Unregistering fails as of any node. */
int hy_arc_node_register(struct hy_arc *arc);
int hy_arc_node_unregister(const struct hy_arc *arc);

/* arc_live.c. With the arcs' mutex. */

/* Brings features into all graphs that have the end. */
int hy_arc_bring_in(struct hy_arc *arc, uint64_t features);
/* Removes the arc from all graphs, if it can. Nothing is enabled. */
void hy_arc_take_out(struct hy_arc *arc);
/*
 * For an arc without a QSBR variable, whose graphs nobody walks: -EBUSY (logged) if objects, which
 * may have a chain, wait in a graph with its node.
 */
int hy_arc_unheld(const struct hy_arc *arc);
/* Removes the edges that the arc added to live features; no graph has them any more. */
void hy_arc_edges_remove(const struct hy_arc *arc);

/* arc_find.c. With the registry's lock held. */
void hy_arc_link(struct hy_arc *arc);
void hy_arc_unlink(struct hy_arc *arc);
/*
 * The arc of which a node is a feature, if an edge must not lead to it; NULL: it may. Only objects
 * that take an edge of the arc's node, or one that the arc added to a feature, have a chain that
 * names it. own: the edge is the node's own, or leads to the drop node.
 */
const struct hy_arc *hy_arc_bars(const struct hy_reg_node *from, bool own,
	const struct hy_reg_node *to);
/* Whether an edge leads from an arc to its end. */
bool hy_arc_leaves(const struct hy_reg_node *from, const struct hy_reg_node *to);
/* The arc of which a node is a live feature, whose chains name its edges by number; or NULL. */
const struct hy_arc *hy_arc_live_with(const struct hy_reg_node *node);
/* How many edges a node has without those that its arc added, which come last. */
unsigned int hy_arc_edges_own(const struct hy_reg_node *node);
/* Whether an edge to a target is for chains of that arc: to its end, or to a feature of it. */
bool hy_arc_leads(const struct hy_reg_node *node, const char *target);
/* Where an edge to a node leads with the arcs that are live now. */
struct hy_reg_node *hy_arc_detour(const struct hy_reg_node *from, struct hy_reg_node *to);
