/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The control API of DPDK's feature arcs (25.07 and later). An arc leads from a start node to an
 * end feature, and through those features between them that are enabled on an index: a port, a
 * route, whatever the program says. Features stand in an order that their constraints give.
 *
 * Arcs and features are made before a graph is created with the arc's start node; features are
 * enabled and disabled while graphs are walked. Unless a function says otherwise it may be called
 * from any thread, and logs one line that names what was wrong when it fails; it has then changed
 * nothing. rte_graph_feature_arc_worker.h is what nodes call.
 */
#pragma once

#ifdef _RTE_GRAPH_FEATURE_ARC_H_
#error "DPDK's rte_graph_feature_arc.h was included before Halyard's"
#endif
/** Keeps DPDK's header of this name empty, should a header beside it include it. */
#define _RTE_GRAPH_FEATURE_ARC_H_

#include <stdalign.h>
#include <sys/queue.h>

#include <rte_mbuf_dyn.h>
#include <rte_rcu_qsbr.h>

#include "rte_graph.h"

HY_API_BEGIN

/** @cond names Symbols of our own behind DPDK's names. */
#define rte_graph_feature_add hy_compat_feature_add
#define rte_graph_feature_arc_cleanup hy_compat_feature_arc_cleanup
#define rte_graph_feature_arc_create hy_compat_feature_arc_create
#define rte_graph_feature_arc_destroy hy_compat_feature_arc_destroy
#define rte_graph_feature_arc_feature_to_name hy_compat_feature_arc_feature_to_name
#define rte_graph_feature_arc_feature_to_node hy_compat_feature_arc_feature_to_node
#define rte_graph_feature_arc_lookup_by_name hy_compat_feature_arc_lookup_by_name
#define rte_graph_feature_arc_names_get hy_compat_feature_arc_names_get
#define rte_graph_feature_arc_num_enabled_features hy_compat_feature_arc_num_enabled_features
#define rte_graph_feature_arc_num_features hy_compat_feature_arc_num_features
#define rte_graph_feature_disable hy_compat_feature_disable
#define rte_graph_feature_enable hy_compat_feature_enable
#define rte_graph_feature_lookup hy_compat_feature_lookup
#define __rte_graph_feature_arc_register hy_compat_feature_arc_register
#define __rte_graph_feature_register hy_compat_feature_register
/** @endcond */

#define RTE_GRAPH_FEATURE_ARC_NAMELEN RTE_NODE_NAMESIZE /**< Room for a name and its NUL. */

typedef uint16_t rte_graph_feature_arc_t;  /**< An arc: the lowest number that is free. */
typedef uint8_t rte_graph_feature_t;       /**< A feature: its place in the arc's order. */
typedef uint32_t rte_graph_feature_data_t; /**< A feature on one index. */

#define RTE_GRAPH_FEATURE_ARC_INITIALIZER ((rte_graph_feature_arc_t)UINT16_MAX) /**< None. */
#define RTE_GRAPH_FEATURE_INVALID ((rte_graph_feature_t)UINT8_MAX)              /**< None. */
#define RTE_GRAPH_FEATURE_DATA_INVALID ((rte_graph_feature_data_t)UINT32_MAX)   /**< None. */

/** Name of the mbuf field in which features find each other's data. */
#define RTE_GRAPH_FEATURE_ARC_DYNFIELD_NAME "__rte_graph_feature_arc_mbuf_dynfield"

/** Is told that a feature was enabled or disabled, by the thread that did so. */
typedef void (*rte_graph_feature_change_notifier_cb_t)(const char *arc_name,
	const char *feature_name, rte_node_t feature_node_id, uint32_t index, bool enable_disable,
	uint16_t app_cookie);

/** @return How many indexes a feature wants its arc to have. */
typedef uint16_t (*rte_graph_feature_override_index_cb_t)(void);

/** A feature, as a program registers or adds it. Copied when it is added. */
struct rte_graph_feature_register {
	STAILQ_ENTRY(rte_graph_feature_register) next_feature; /**< Of the macro's list. */
	const char *arc_name;                                  /**< Of the arc. */
	const char *feature_name;                              /**< Unique in the arc. */
	rte_node_t feature_node_id;             /**< Not used: feature_node has it. */
	rte_node_process_t feature_process_fn;  /**< What the node runs from then on. */
	struct rte_node_register *feature_node; /**< The node. */
	const char *runs_after;                 /**< A feature that comes before; may be NULL. */
	const char *runs_before;                /**< A feature that comes after; may be NULL. */
	/** If the feature is registered by the macro, gives the arc more indexes; may be NULL. */
	rte_graph_feature_override_index_cb_t override_index_cb;
	rte_graph_feature_change_notifier_cb_t notifier_cb; /**< May be NULL. */
};

/** An arc, as a program registers or creates it. Copied, but for start_node. */
struct rte_graph_feature_arc_register {
	STAILQ_ENTRY(rte_graph_feature_arc_register) next_arc; /**< Of the macro's list. */
	const char *arc_name;                                  /**< Unique among arcs. */
	uint16_t
		max_features; /**< Most features but the end; of the macro: as many as there are. */
	uint16_t max_indexes; /**< Indexes: 0 to max_indexes - 1. */
	struct rte_node_register *start_node;             /**< Must outlive the arc. */
	rte_node_process_t start_node_feature_process_fn; /**< What it runs from then on. */
	struct rte_graph_feature_register *end_feature;   /**< Where all objects leave the arc. */
};

/** Registers a feature when the program is loaded, for rte_graph_feature_arc_init(). */
#define RTE_GRAPH_FEATURE_REGISTER(reg) \
	RTE_INIT(hy_compat_feature_##reg) \
	{ \
		__rte_graph_feature_register(&(reg), __func__, __LINE__); \
	}

/** Registers an arc when the program is loaded, for rte_graph_feature_arc_init(). */
#define RTE_GRAPH_FEATURE_ARC_REGISTER(reg) \
	RTE_INIT(hy_compat_feature_arc_##reg) \
	{ \
		__rte_graph_feature_arc_register(&(reg), __func__, __LINE__); \
	}

/** @cond adapter What the macros and rte_graph_feature_arc_init() call. */
void __rte_graph_feature_register(struct rte_graph_feature_register *reg, const char *caller,
	int line);
void __rte_graph_feature_arc_register(struct rte_graph_feature_arc_register *reg,
	const char *caller, int line);
int hy_compat_feature_arcs_init(uint16_t more, int mbuf_offset);
/** @endcond */

/**
 * Creates the arcs and adds the features that the macros registered. What is wrong among them is
 * logged and left out.
 *
 * @param num_feature_arcs Arcs that rte_graph_feature_arc_create() may create besides.
 * @return 0; -EEXIST it was called before; -ENOMEM; what rte_mbuf_dynfield_register() says.
 */
static inline int
rte_graph_feature_arc_init(uint16_t num_feature_arcs)
{
	static const struct rte_mbuf_dynfield field = {
		.name = RTE_GRAPH_FEATURE_ARC_DYNFIELD_NAME,
		.size = sizeof(rte_graph_feature_data_t),
		.align = alignof(rte_graph_feature_data_t),
	};
	const int offset = rte_mbuf_dynfield_register(&field);

	return offset < 0 ? -rte_errno : hy_compat_feature_arcs_init(num_feature_arcs, offset);
}

/**
 * Creates an arc, with its end feature.
 *
 * @param[out] arc May be NULL.
 * @return 0; -EINVAL something is missing, the end feature is another arc's, or a node is not
 * registered; -EEXIST the name is taken; -ENOSPC there is room for no more; -E2BIG a name is too
 * long or there are more than 62 features; -EBUSY a graph has the start node; -ENOMEM; -EPERM
 * without rte_graph_feature_arc_init().
 */
int rte_graph_feature_arc_create(struct rte_graph_feature_arc_register *reg,
	rte_graph_feature_arc_t *arc);

/**
 * Adds a feature to an arc, and edges to the nodes of the arc that lack them.
 *
 * @return 0; -ENOENT no such arc; -EINVAL something is missing, the node is not registered, or the
 * constraints make a circle; -EEXIST the name is taken; -ENOSPC there are max_features; -EBUSY a
 * graph has the arc's start node, or a feature is enabled; -E2BIG; -ENOMEM.
 */
int rte_graph_feature_add(struct rte_graph_feature_register *reg);

/** Finds an arc. @param[out] arc May be NULL. @return 0; -ENOENT (not logged). */
int rte_graph_feature_arc_lookup_by_name(const char *arc_name, rte_graph_feature_arc_t *arc);

/** Finds a feature by its whole name. @return 0; -ENOENT no such arc or feature (not logged). */
int rte_graph_feature_lookup(rte_graph_feature_arc_t arc, const char *feature_name,
	rte_graph_feature_t *feature);

/**
 * Enables a feature on an index. An object sees the arc as it was before or as it is then: what
 * leads to the feature is written in one piece, after the feature's own.
 *
 * @param app_cookie What rte_graph_feature_data_app_cookie_get() gives the feature's node.
 * @param qsbr NULL, or to wait for all its readers before the notifier is called.
 * @return 0; -ENOENT no such arc or feature; -ERANGE no such index; -EEXIST it is enabled; -EINVAL
 * a constraint names a feature that the arc has not.
 */
int rte_graph_feature_enable(rte_graph_feature_arc_t arc, uint32_t index, const char *feature_name,
	uint16_t app_cookie, struct rte_rcu_qsbr *qsbr);

/**
 * Disables a feature on an index. Objects that are with it, or on their way, still find its cookie
 * and what comes after.
 *
 * @return 0; -ENOENT no such arc or feature, or it is not enabled; -ERANGE no such index.
 */
int rte_graph_feature_disable(rte_graph_feature_arc_t arc, uint32_t index, const char *feature_name,
	struct rte_rcu_qsbr *qsbr);

/** Destroys an arc; its nodes keep their edges. @return 0; -ENOENT; -EBUSY a graph has its start
 * node. */
int rte_graph_feature_arc_destroy(rte_graph_feature_arc_t arc);

/** Undoes rte_graph_feature_arc_init(). @return 0; -EBUSY a graph has the start node of an arc. */
int rte_graph_feature_arc_cleanup(void);

/** @return Features of an arc, with the end; 0 for no such arc. */
uint32_t rte_graph_feature_arc_num_features(rte_graph_feature_arc_t arc);

/** @return Features that are enabled, once an index; 0 for no such arc. */
uint32_t rte_graph_feature_arc_num_enabled_features(rte_graph_feature_arc_t arc);

/** @return The name of a feature, valid until the next is added; NULL for no such arc or feature. */
char *rte_graph_feature_arc_feature_to_name(rte_graph_feature_arc_t arc,
	rte_graph_feature_t feature);

/** Gives the node of a feature. @return 0; -ENOENT no such arc or feature (not logged). */
int rte_graph_feature_arc_feature_to_node(rte_graph_feature_arc_t arc, rte_graph_feature_t feature,
	rte_node_t *node);

/**
 * Gives the names of all arcs, valid as long as those.
 *
 * @param[out] arc_names Room for all of them; NULL asks how much that is.
 * @return The number of names; for NULL, of bytes that @p arc_names needs.
 */
uint32_t rte_graph_feature_arc_names_get(char *arc_names[]);

HY_API_END
