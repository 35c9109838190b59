/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The API of DPDK's mcore dispatch model, as far as it has no bursts handed from lcore to lcore: the
 * model of graphs, the lcore of nodes, and binding a graph to an lcore. A graph that would have to
 * hand bursts over is refused when it is bound: hy_dispatch.h spreads a graph over workers.
 *
 * Included by rte_graph_worker.h.
 */
#pragma once

#include "rte_graph.h"

HY_API_BEGIN

/** @cond names Symbols of our own behind DPDK's names. */
#define rte_graph_model_is_valid hy_compat_graph_model_is_valid
#define rte_graph_model_mcore_dispatch_core_bind hy_compat_graph_core_bind
#define rte_graph_model_mcore_dispatch_core_unbind hy_compat_graph_core_unbind
#define rte_graph_model_mcore_dispatch_node_lcore_affinity_set hy_compat_node_lcore_set
#define rte_graph_worker_model_get hy_compat_graph_worker_model_get
#define rte_graph_worker_model_set hy_compat_graph_worker_model_set
/** @endcond */

#define RTE_GRAPH_MODEL_RTC 0            /**< A walk runs all nodes. What graphs begin with. */
#define RTE_GRAPH_MODEL_MCORE_DISPATCH 1 /**< A graph can be bound to an lcore. */
#define RTE_GRAPH_MODEL_DEFAULT RTE_GRAPH_MODEL_RTC /**< The default. */

/** @return Whether @p model is one of the two. */
bool rte_graph_model_is_valid(uint8_t model);

/**
 * Sets the model of all graphs that exist; clones take that of their original.
 *
 * @return 0; -EINVAL there is no such model.
 */
int rte_graph_worker_model_set(uint8_t model);

/** @return The model of a graph. */
uint8_t rte_graph_worker_model_get(struct rte_graph *graph);

/**
 * Says on which lcore a node runs, in graphs that are created or cloned from now on.
 *
 * @param name The node's; of a clone, with that of its original.
 * @return 0; -EINVAL no such node, or no such lcore.
 */
int rte_graph_model_mcore_dispatch_node_lcore_affinity_set(const char *name, unsigned int lcore_id);

/**
 * Binds a graph to an lcore: it then walks all nodes of the graph itself. No thread may be walking
 * the graph.
 *
 * @return 0; -ENOENT no such graph; -ENOLINK the lcore is not one of the program's; -EPERM the
 * graph's model is not RTE_GRAPH_MODEL_MCORE_DISPATCH; -ENOTSUP a node of the graph is to run on
 * another lcore.
 */
int rte_graph_model_mcore_dispatch_core_bind(rte_graph_t id, int lcore);

/** Undoes rte_graph_model_mcore_dispatch_core_bind(). */
void rte_graph_model_mcore_dispatch_core_unbind(rte_graph_t id);

HY_API_END
