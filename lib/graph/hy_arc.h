/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Feature arcs: nodes inserted into an edge at run time, for some of the objects that take it.
 *
 * An *arc* stands for all edges that lead to one node, its end. *Features* are nodes that register
 * on the arc by its name, and say which features they come before and after. Each object has an
 * *index*, such as its input port. While graphs are walked, each feature is enabled or disabled for
 * an index, with a cookie: 32 bits that only the feature interprets.
 *
 * While no feature is enabled for any index, edges lead straight to the end, and the arc costs
 * nothing. Enabling the first feature inserts the arc's own node and the feature, by
 * hy_graph_update_all() of all graphs that have the end. Disabling the last removes them. In
 * between, enabling and disabling only change a table.
 *
 * The arc's node selects the features that an object passes, and their cookies. They hold until the
 * object reaches the end: it sees the features of its index from before a change, or from after it,
 * and never a mixture. Of one walk, all objects of an index see the same features, however many
 * bursts they come in: none that takes a shorter way overtakes another. So objects of an index
 * keep their order along the arc, if their features keep it. Only objects that wait in a graph
 * between walks (hy_graph_walk()), or for another worker, can be overtaken after a change. A number
 * in the lane HY_ARC_LANE names the chain. Graphs with an arc must declare that lane, and features must
 * not write to it. New objects that a feature sends to the next one have no chain: features see cookie
 * 0, and send them to the end.
 *
 * A feature is *live* from its first enabling until nothing of its arc is enabled any more. While
 * it is, chains name the edges of its node by number, in later graphs too. So the node cannot be
 * unregistered, only the arc can add or remove edges, and edges to the end or to a feature cannot
 * be redirected. The arc's own node is changed by the arc alone.
 *
 * A graph's patterns name its sources. They must not match an arc's node or its features, which the
 * arc's edges bring in. Only edges of the arc lead to a feature, since other objects have no chain
 * that names it: hy_graph_create() refuses any other edge, a feature's own included, and such a
 * drop_node. In a cyclic graph, objects waiting at the arc's node when it is removed are released,
 * and counted as "node_removed".
 *
 * In a graph over several workers (hy_dispatch.h), create arcs and register the nodes of their
 * features before the dispatch, or pin again afterwards. Until then, a feature's own edges lead to
 * pinned nodes in the graph of the feature's worker, or drop what a ring has no room for.
 *
 * Unless a function says otherwise: control plane, any thread after rte_eal_init(); it returns 0 or
 * a negative errno, and on an error it logs one line that says why, and has changed nothing.
 */
#pragma once

#include <hy_graph_worker.h>

HY_API_BEGIN

#define HY_ARC_LANE "arc"      /**< The lane of graphs that have an arc. */
#define HY_ARC_FEATURES_MAX 64 /**< Most features of an arc. */
#define HY_ARC_ORDER_MAX 8     /**< Most features that one comes directly before, or after. */
#define HY_ARC_INDEXES \
	(1u << 24) /**< Indexes are below this. Memory grows with the highest one in use. */

struct hy_arc;

/** A feature and its place in the order. Strings are copied. */
struct hy_arc_feature {
	const char *arc;  /**< Name of the arc, which need not exist yet. */
	const char *node; /**< Name of its node, and its own. A node is a feature of one arc. */
	const char *after[HY_ARC_ORDER_MAX];  /**< Features that an object sees first. No gaps. */
	const char *before[HY_ARC_ORDER_MAX]; /**< Features that it sees later. No gaps. */
};

/**
 * Registers a feature, for arcs that are created from now on. Its node may be registered later.
 *
 * @return 0; -EINVAL a name is malformed, or it would come before or after itself; -EEXIST the node
 * is a feature already; -ENOMEM.
 */
int hy_arc_feature_register(const struct hy_arc_feature *feature);

/** Unregisters a feature. @return 0; -ENOENT no such feature; -EBUSY its arc exists. */
int hy_arc_feature_unregister(const char *node);

/** Registers a feature when the program or its plugin is loaded, as HY_NODE_REGISTER() does. */
#define HY_ARC_FEATURE_REGISTER(feature_) \
	RTE_INIT(hy_arc_feature_register_##feature_) \
	{ \
		hy_registration_check((feature_).node, hy_arc_feature_register(&(feature_))); \
	}

/** Writes the index of each of @p n objects. Runs on the thread that walks; n is at least 1. */
typedef void(hy_arc_index_t)(void *const objs[], uint32_t index[], uint16_t n);

/** Parameters of an arc. Strings are copied. */
struct hy_arc_params {
	const char *end; /**< The node at which the arc ends; one arc for each node. */
	/** Reads objects' indexes; NULL: index_lane has them. */
	hy_arc_index_t *index;
	const char
		*index_lane; /**< The lane with the indexes, or NULL. One of the two is required. */
	/**
	 * The QSBR variable to which graphs with the arc report. Must outlive the arc. NULL: the
	 * program enables and disables nothing while such a graph is walked, nor while objects wait
	 * in one between walks.
	 */
	struct rte_rcu_qsbr *qsbr;
	int socket; /**< NUMA node of the table, or SOCKET_ID_ANY. */
};

/**
 * Creates an arc of the features registered on it so far, all disabled. Registers its node, which
 * has the arc's name and belongs to it until hy_arc_destroy().
 *
 * @param name Of the arc; no node may have it.
 * @param[out] arc Belongs to the caller, until hy_arc_destroy().
 * @return 0; -EINVAL a field is missing or malformed, the features' order is a circle, or the end
 * is a feature itself; -ENOENT a feature must come before or after one that is not on the arc;
 * -EEXIST the name is taken, or another arc has the end; -ENOSPC more than HY_ARC_FEATURES_MAX;
 * -ENOMEM.
 */
int hy_arc_create(const char *name, const struct hy_arc_params *params, struct hy_arc **arc);

/**
 * Destroys an arc and unregisters its node.
 *
 * @param arc May be NULL.
 * @return 0; -EBUSY a graph has its node: destroy the graph, or disable all features and let its
 * worker walk once; -EDEADLK as hy_arc_set().
 */
int hy_arc_destroy(struct hy_arc *arc);

/** Finds an arc by its whole name. @return 0; -ENOENT (not logged). */
int hy_arc_lookup(const char *name, struct hy_arc **arc);

/**
 * The features of an arc in the order in which objects see them.
 *
 * @param position From 0 on.
 * @return The feature's name, valid as long as the arc; NULL: no more features.
 */
const char *hy_arc_feature_at(const struct hy_arc *arc, unsigned int position);

/** A feature to enable. */
struct hy_arc_setting {
	const char *feature; /**< By its whole name. */
	uint32_t cookie;     /**< For the feature. */
};

/**
 * Enables these features for an index, and disables all others. An object sees either the earlier
 * features or these, and so do all objects of the index in one walk. A walk that begins after the
 * call sees these.
 *
 * A feature that is not live is brought into the graphs first: all graphs that have the arc's end
 * are updated from the current registry, and the call waits until no worker is in a walk that began
 * earlier. It does not wait for resting workers, which switch to the update when they wake. It also
 * waits when the same index changes again while an object may still pass the earlier features, and
 * once in 65,535 changes of the arc. So a thread whose own graph does not rest (hy_graph_rest()) must
 * not call it, nor must node code.
 *
 * After -ETIMEDOUT a feature may be in graphs without being enabled for any index. Until the next
 * call, it costs what an arc costs.
 *
 * @param settings Each feature once, in any order.
 * @return 0; -ENOENT the arc has no such feature; -EINVAL @p index is not below HY_ARC_INDEXES, or
 * a feature is given twice; -ETIMEDOUT a worker did not report within a second; -EBUSY the arc has
 * no QSBR variable, and objects wait in a graph between walks; what hy_graph_update_all() returns,
 * such as -EINVAL for a graph in which a node has edges both to the arc's own node and to its end;
 * -EPERM the feature's node belongs to another arc, a dispatch or the adapter for rte_graph;
 * -EDEADLK called by code of a graph, or with the registry's lock held (hy_graph.h); -ENOMEM.
 */
int hy_arc_set(struct hy_arc *arc, uint32_t index, const struct hy_arc_setting *settings,
	unsigned int n);

/**
 * Enables a feature for an index, or changes its cookie. Other features stay as they are.
 *
 * @return What hy_arc_set() returns.
 */
int hy_arc_enable(struct hy_arc *arc, const char *feature, uint32_t index, uint32_t cookie);

/**
 * Disables a feature for an index; returns 0 also if it was not enabled. When nothing is enabled
 * for any index any more, the arc leaves the graphs. If a worker does not report, or memory is
 * short, it stays there without effect until the next such call.
 *
 * @return What hy_arc_set() returns.
 */
int hy_arc_disable(struct hy_arc *arc, const char *feature, uint32_t index);

/**
 * Reads a feature's cookie.
 *
 * @param[out] cookie May be NULL.
 * @return 0; -ENODATA it is not enabled for that index; -ENOENT the arc has no such feature
 * (neither is logged); -EDEADLK as hy_arc_set().
 */
int hy_arc_get(const struct hy_arc *arc, const char *feature, uint32_t index, uint32_t *cookie);

/** @cond core Read by features through the functions below. */

/* What workers read. Replaced as a whole when it grows; numbers in the lane stay valid. */
struct hy_arc_view {
	uint32_t nb_indexes;
	uint64_t
		*entries; /* by index: its chain; behind all, by index: that of before; see arc.h */
	uint64_t *hops;   /* one for each feature, in order: edge of its node, and cookie */
};

#define HY_ARC_EDGE_SHIFT 32

/** @endcond */

/** A feature node's place on its arc: part of the node's context, filled by hy_arc_join(). */
struct hy_arc_place {
	struct hy_arc_view *const *view; /**< The arc's table. */
	uint32_t position;               /**< The feature's place in the arc's order. */
	uint32_t lane; /**< HY_ARC_LANE among the lanes of the node's descriptor. */
};

/**
 * Joins a feature node of a graph to its arc. Called by the node's init().
 *
 * @param lane Index of HY_ARC_LANE among the lanes of the node's descriptor.
 * @param[out] place Valid until the node's fini().
 * @return 0; -EINVAL (logged) the node is a feature of no existing arc, the lane is another one, or
 * the graph does not report to the arc's QSBR variable.
 */
int hy_arc_join(const struct hy_graph *graph, const struct hy_node *node, unsigned int lane,
	struct hy_arc_place *place);

/** An object's settings at a feature. */
struct hy_arc_hop {
	uint32_t cookie; /**< Given when the feature was enabled. */
	uint16_t edge;   /**< Where the object goes if the feature lets it pass. */
};

/**
 * Reads the settings of each object of a feature's burst. For objects that came along the arc. Like
 * hy_lane(), not valid after the burst was sent on.
 */
static inline void
hy_arc_hops(const struct hy_graph *graph, const struct hy_node *node,
	const struct hy_arc_place *place, struct hy_arc_hop hop[], uint16_t n)
{
	const struct hy_arc_view *view = __atomic_load_n(place->view, __ATOMIC_ACQUIRE);
	const uint64_t *hops = view->hops + place->position;
	const uint32_t *chain = hy_lane(graph, node, place->lane);

	for (uint16_t i = 0; i < n; i++) {
		/* One load: a cookie is never another edge's. */
		const uint64_t word = __atomic_load_n(&hops[chain[i]], __ATOMIC_RELAXED);

		hop[i].cookie = (uint32_t)word;
		hop[i].edge = (uint16_t)(word >> HY_ARC_EDGE_SHIFT);
	}
}

/** Sends a feature's whole burst on, each object to its next feature or to the end. */
static inline void
hy_arc_next(struct hy_graph *graph, struct hy_node *node, const struct hy_arc_place *place,
	void **objs, uint16_t n)
{
	struct hy_arc_hop hop[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];

	hy_arc_hops(graph, node, place, hop, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = hop[i].edge;
	hy_enqueue_next(graph, node, next, objs, n);
}

HY_API_END
