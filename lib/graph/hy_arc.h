/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Feature arcs: nodes that are put into an edge at run time, for some of the objects that take it.
 *
 * An *arc* stands for all edges that lead to one node, its end. *Features* are nodes that register
 * on the arc by its name, and say which others they come before and after. Each object has an
 * *index*, such as the port that it came from; each feature is enabled or disabled for an index,
 * while graphs are walked, with a cookie: 32 bits that mean something to the feature.
 *
 * While no feature is enabled for any index, the edges lead straight to the end, and the arc is not
 * there: it costs nothing. Enabling the first brings the arc's own node and the feature in between,
 * by hy_graph_update_all() of all graphs that have the end; disabling the last takes them out. In
 * between, enabling and disabling change a table only.
 *
 * An object is told at the arc's node which features it is to see, with which cookies, and that
 * holds until it comes to the end: it sees those of its index as they were, or as they are after a
 * change, and never some of each. What it was told is behind the number in the lane HY_ARC_LANE,
 * which graphs with an arc must declare, and those features on the way must not write.
 *
 * From when a feature is enabled first until nothing of its arc is enabled any more, objects may be
 * told of the edges of its node by their numbers, also in graphs to come: the node is not
 * unregistered meanwhile, its edges do not become fewer, nor more but by the arc, and those that
 * lead to the end or to a feature are not led elsewhere. That is refused. The arc's own node is
 * never changed but by the arc.
 *
 * A graph's patterns name its sources, and neither an arc nor its features, which only come by the
 * edges that lead to them. In a graph with cycles, what waits at the arc's node when that is taken
 * out is released, and counted as "node_removed".
 *
 * In a graph over several workers (hy_dispatch.h), create arcs and register their features' nodes
 * before the dispatch, or pin again after that: until then, own edges of a feature lead to pinned
 * nodes in the graph of the worker that it runs on, or drop what a ring has no room for.
 *
 * Unless a function says otherwise: control plane, any thread after rte_eal_init(); it returns 0 or
 * a negative errno, and on an error it logs one line that says why, and has changed nothing.
 */
#ifndef HY_ARC_H
#define HY_ARC_H

#include <hy_graph_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_ARC_LANE "arc"      /**< The lane of graphs that have an arc. */
#define HY_ARC_FEATURES_MAX 64 /**< Most features of an arc. */
#define HY_ARC_ORDER_MAX 8     /**< Most features that one comes directly before, or after. */
#define HY_ARC_INDEXES \
	(1u << 24) /**< Indexes are less than this; memory is taken for those in use. */

struct hy_arc;

/** A feature, and where it stands. Strings are copied. */
struct hy_arc_feature {
	const char *arc;  /**< Name of the arc, which need not exist yet. */
	const char *node; /**< Name of its node, and its own. A node is a feature of one arc. */
	const char *after[HY_ARC_ORDER_MAX];  /**< Features that an object sees first. No holes. */
	const char *before[HY_ARC_ORDER_MAX]; /**< Features that it sees later. No holes. */
};

/**
 * Registers a feature, for arcs that are created from now on. Its node may be registered later.
 *
 * @return 0; -EINVAL a name is malformed, or it would come before or after itself; -EEXIST the node
 * is a feature already; -ENOMEM.
 */
int hy_arc_feature_register(const struct hy_arc_feature *feature);

/** Takes a registration back. @return 0; -ENOENT no such feature; -EBUSY its arc exists. */
int hy_arc_feature_unregister(const char *node);

/** Registers a feature when the program or its plugin is loaded, as HY_NODE_REGISTER() does. */
#define HY_ARC_FEATURE_REGISTER(feature_) \
	RTE_INIT(hy_arc_feature_register_##feature_) \
	{ \
		hy_registration_check((feature_).node, hy_arc_feature_register(&(feature_))); \
	}

/** Writes the index of each of @p n objects. Runs on the thread that walks; n is at least 1. */
typedef void(hy_arc_index_t)(void *const objs[], uint32_t index[], uint16_t n);

/** What an arc is. Strings are copied. */
struct hy_arc_params {
	const char *end; /**< The node that edges with the arc lead to; one arc for each. */
	/** Tells objects' indexes, or NULL: they are in a lane, */
	hy_arc_index_t *index;
	const char *index_lane; /**< of this name. One of the two is required. */
	/**
	 * The QSBR variable that graphs with the arc report to. Must outlive the arc. NULL: nothing
	 * is enabled or disabled while such a graph is walked.
	 */
	struct rte_rcu_qsbr *qsbr;
	int socket; /**< NUMA node of the table, or SOCKET_ID_ANY. */
};

/**
 * Creates an arc of the features that have registered on it by now, none of them enabled, and
 * registers its node, under its name, which belongs to it until hy_arc_destroy().
 *
 * @param name Of the arc: a name of no node.
 * @param[out] arc Belongs to the caller, until hy_arc_destroy().
 * @return 0; -EINVAL a field is missing or malformed, the features' order is a circle, or the end is
 * a feature itself; -ENOENT a feature is to come before or after one that is not on the arc; -EEXIST
 * the name is taken, or another arc has the end; -ENOSPC more than HY_ARC_FEATURES_MAX; -ENOMEM.
 */
int hy_arc_create(const char *name, const struct hy_arc_params *params, struct hy_arc **arc);

/**
 * Destroys an arc and unregisters its node.
 *
 * @param arc May be NULL.
 * @return 0; -EBUSY a graph has its node: destroy that, or disable all features, and let its worker
 * walk once.
 */
int hy_arc_destroy(struct hy_arc *arc);

/** Finds an arc by its whole name. @return 0; -ENOENT (not logged). */
int hy_arc_lookup(const char *name, struct hy_arc **arc);

/**
 * The features of an arc in the order in which objects see them.
 *
 * @param position From 0 on.
 * @return The feature's name, valid as long as the arc; NULL: there are no more.
 */
const char *hy_arc_feature_at(const struct hy_arc *arc, unsigned int position);

/** A feature that is to be enabled. */
struct hy_arc_setting {
	const char *feature; /**< By its whole name. */
	uint32_t cookie;     /**< For the feature. */
};

/**
 * Says which features are enabled for an index: these, and no others. An object sees the features
 * from before, or these.
 *
 * A feature that was not in the graphs yet is brought there first: all graphs that have the arc's
 * end are updated, from the registry as it is, and the call waits until no worker is in a walk that
 * began before. It does not wait for those that rest: they take the update up when they wake.
 * It also waits when the same index is changed again while an object may be under way by the
 * features before. So it may not be called by a thread whose own graph does not rest
 * (hy_graph_rest()), nor by code of nodes.
 *
 * @param settings Each feature once, in any order.
 * Upon -ETIMEDOUT a feature may be in graphs without being enabled for any index: it costs what an
 * arc costs, until the next call.
 *
 * @return 0; -ENOENT the arc has no such feature; -EINVAL @p index is not below HY_ARC_INDEXES, or
 * a feature is given twice; -ETIMEDOUT a worker has not reported for a second; what
 * hy_graph_update_all() returns, such as -EINVAL for a graph in which a node has an edge to the
 * arc's own node beside one to its end; -EPERM the feature's node belongs to another arc, a
 * dispatch or the adapter for rte_graph; -ENOMEM.
 */
int hy_arc_set(struct hy_arc *arc, uint32_t index, const struct hy_arc_setting *settings,
	unsigned int n);

/**
 * Enables a feature for an index, or gives it another cookie; the others stay as they are.
 *
 * @return What hy_arc_set() returns.
 */
int hy_arc_enable(struct hy_arc *arc, const char *feature, uint32_t index, uint32_t cookie);

/**
 * Disables a feature for an index; 0 also if it was not enabled. When nothing is enabled for any
 * index any more, the arc leaves the graphs; if a worker does not report, or there is no memory for
 * that, it stays there until the next such call, and does nothing.
 *
 * @return What hy_arc_set() returns.
 */
int hy_arc_disable(struct hy_arc *arc, const char *feature, uint32_t index);

/**
 * Asks for a feature's cookie.
 *
 * @param[out] cookie May be NULL.
 * @return 0; -ENODATA it is not enabled for that index; -ENOENT the arc has none of that name. Neither
 * is logged.
 */
int hy_arc_get(const struct hy_arc *arc, const char *feature, uint32_t index, uint32_t *cookie);

/** @cond core Read by features through the functions below. */

/* What workers read. Replaced as a whole when it grows; numbers in the lane stay what they are. */
struct hy_arc_view {
	uint32_t nb_indexes;
	uint64_t *entries; /* by index: edge of the arc's node, and where its hops start */
	uint64_t *hops;    /* one for each feature, in order: edge of its node, and cookie */
};

#define HY_ARC_EDGE_SHIFT 32

/** @endcond */

/** A feature node's place on its arc: a part of the node's context, filled by hy_arc_join(). */
struct hy_arc_place {
	struct hy_arc_view *const *view; /**< What the arc tells, */
	uint32_t position;               /**< to the feature that has this place in its order, */
	uint32_t lane;                   /**< by this lane of the node's descriptor. */
};

/**
 * Joins a feature node of a graph to its arc: to be called by the node's init().
 *
 * @param lane Which of the lanes of the node's descriptor is HY_ARC_LANE.
 * @param[out] place Valid until the node's fini().
 * @return 0; -EINVAL (logged) the node is a feature of no arc that exists, the lane is another one,
 * or the graph does not report to the arc's QSBR variable.
 */
int hy_arc_join(const struct hy_graph *graph, const struct hy_node *node, unsigned int lane,
	struct hy_arc_place *place);

/** What a feature knows of an object. */
struct hy_arc_hop {
	uint32_t cookie; /**< As it was enabled. */
	uint16_t edge;   /**< Where the object goes if the feature lets it pass. */
};

/**
 * Tells a feature of each object of its burst. For objects that came along the arc; as hy_lane(),
 * not once the burst was sent on.
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

/** Sends a feature's whole burst on, each object to the next feature that it is to see. */
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

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
