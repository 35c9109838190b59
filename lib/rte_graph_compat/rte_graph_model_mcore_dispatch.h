/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graphs on several lcores, by the API of DPDK's mcore dispatch model. A graph is cloned once an
 * lcore, each clone is bound to one, and a node may be said to run on one lcore alone. A walk that
 * comes to a node of another lcore puts its burst into the queue of the graph that is bound there.
 *
 * - A bound graph runs those sources that have its lcore, and hands over; one that is not bound
 *   runs all its nodes by itself. Where no graph of an lcore is bound, nodes of that lcore run
 *   where their objects are.
 * - A queue is bounded. What finds it full waits in the graph that sent it, in order, and that
 *   graph's sources wait as well, so that nothing is lost. What comes out of its own queue goes on,
 *   so two workers never wait for each other; if thereby more than 65,535 objects wait for one
 *   node, the rest is released and counted as the core's drop "stream_full". Nobody spins until
 *   there is room. But several graphs may put bursts into one queue at once, and as with any
 *   rte_ring each then waits until those before it have put theirs.
 * - Objects of one node come in the order in which one graph sent them.
 *
 * Included by rte_graph_worker.h.
 */
#ifndef HY_COMPAT_RTE_GRAPH_MODEL_MCORE_DISPATCH_H
#define HY_COMPAT_RTE_GRAPH_MODEL_MCORE_DISPATCH_H

#include "rte_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @cond names Symbols of our own behind DPDK's names. */
#define rte_graph_model_is_valid hy_compat_graph_model_is_valid
#define rte_graph_model_mcore_dispatch_core_bind hy_compat_graph_core_bind
#define rte_graph_model_mcore_dispatch_core_unbind hy_compat_graph_core_unbind
#define rte_graph_model_mcore_dispatch_node_lcore_affinity_set hy_compat_node_lcore_set
#define rte_graph_worker_model_get hy_compat_graph_worker_model_get
#define rte_graph_worker_model_set hy_compat_graph_worker_model_set
/** @endcond */

#pragma GCC visibility push(default)

#define RTE_GRAPH_MODEL_RTC 0            /**< A walk runs all nodes. What graphs begin with. */
#define RTE_GRAPH_MODEL_MCORE_DISPATCH 1 /**< A walk hands over what belongs to other lcores. */
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
 * Binds a graph to an lcore. The first time, it gets its queue: from the parameters with which it
 * was created or cloned. No thread may be walking a graph of its family, the original and its
 * clones.
 *
 * @return 0; -ENOENT no such graph; -ENOLINK the lcore is not one of the program's; -EPERM the
 * graph's model is not RTE_GRAPH_MODEL_MCORE_DISPATCH; -EEXIST another graph of its family is bound
 * to the lcore; -ENOMEM.
 */
int rte_graph_model_mcore_dispatch_core_bind(rte_graph_t id, int lcore);

/** Undoes it, with no thread walking a graph of the family. What its queue holds stays there. */
void rte_graph_model_mcore_dispatch_core_unbind(rte_graph_t id);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
