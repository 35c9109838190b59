/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The fast path of DPDK's rte_graph, over Halyard's graph core: see rte_graph.h.
 *
 * A node of librte_graph looks into its struct rte_node while it runs. It gets a shadow: one for
 * each node of a graph, at an address that stays the same as long as the graph, with an array of
 * objects of its own. A walk copies each burst of a core node into its shadow and calls process();
 * what process() sends on goes straight into the core's streams. While a node does not run its
 * array is idle, and serves those that lead to it as the room of rte_node_next_stream_get().
 *
 * Everything here belongs to the one thread that walks the graph.
 */
#pragma once

#ifdef _RTE_GRAPH_WORKER_H_
#error "DPDK's rte_graph_worker.h was included before Halyard's"
#endif
/** @cond Keeps DPDK's headers of these names empty, should a header beside them include them. */
#define _RTE_GRAPH_WORKER_H_
#define _RTE_GRAPH_WORKER_COMMON_H_
#define _RTE_GRAPH_MODEL_RTC_H_
#define _RTE_GRAPH_MODEL_MCORE_DISPATCH_H_
/** @endcond */

#include <rte_cycles.h>
#include <rte_memcpy.h>
#include <rte_memory.h>
#include <rte_prefetch.h>

#include <hy_graph_worker.h>

#include "rte_graph.h"
#include "rte_graph_model_mcore_dispatch.h"

HY_API_BEGIN

/** A graph, as node code sees it. */
struct rte_graph {
	rte_graph_t id;                /**< Its id. */
	int socket;                    /**< NUMA node; never SOCKET_ID_ANY. */
	rte_node_t nb_nodes;           /**< Entries of nodes. */
	char name[RTE_GRAPH_NAMESIZE]; /**< Its name. */
	uint64_t fence;                /**< RTE_GRAPH_FENCE. */
	struct rte_node **nodes;       /**< For rte_graph_foreach_node(); then NULL. */
	struct hy_graph *core;         /**< What is walked. */
	uint8_t model;                 /**< RTE_GRAPH_MODEL_; read it by the function for that. */
	/** See rte_graph_model_mcore_dispatch_core_bind(). */
	struct {
		unsigned int lcore_id; /**< That lcore; RTE_MAX_LCORE: none. */
	} dispatch;
} __rte_cache_aligned;

/** Where an edge leads to in the core: several edges may share a target there. */
struct hy_compat_edge {
	void **stream; /**< Room for rte_node_next_stream_get(). */
	uint16_t core; /**< The core's edge. */
	bool own;      /**< stream belongs to the edge; else it is the target's array. */
};

/** A node of a graph, as its own code sees it. */
struct rte_node {
	uint64_t fence;                 /**< RTE_GRAPH_FENCE. */
	rte_node_t id;                  /**< Its id. */
	rte_node_t parent_id;           /**< Of a clone: its original; else RTE_NODE_ID_INVALID. */
	uint32_t realloc_count;         /**< Always 0: streams do not grow. */
	char parent[RTE_NODE_NAMESIZE]; /**< Name of a clone's original; else "". */
	char name[RTE_NODE_NAMESIZE];   /**< Its name. */
	struct rte_graph *graph;        /**< The node's graph. */
	uint64_t total_cycles;          /**< Of all calls, as of the last reading of statistics. */
	uint64_t *xstats;               /**< The node's own counters. */
	uint16_t nb_xstats;             /**< Entries of xstats. */
	/** Of a node that runs on one lcore; see rte_graph_model_mcore_dispatch.h. */
	struct {
		unsigned int lcore_id;     /**< That lcore; RTE_MAX_LCORE: any. */
		uint64_t total_sched_objs; /**< Always 0: no object is handed over. */
		uint64_t total_sched_fail; /**< Likewise. */
	} dispatch;

#define RTE_NODE_CTX_SZ 16 /**< Bytes of ctx. */
	/** The node's own. */
	__extension__ union {
		alignas(RTE_CACHE_LINE_SIZE) uint8_t ctx[RTE_NODE_CTX_SZ]; /**< As bytes, */
		__extension__ struct {
			void *ctx_ptr;  /**< or as a pointer */
			void *ctx_ptr2; /**< or two. */
		};
	};
	rte_node_process_t process; /**< What runs. */
	void **objs;                /**< The burst, while the node runs. */
	uint16_t idx;               /**< Objects in objs; a source sets it before a move. */
	uint16_t size;              /**< Objects that it is handed at most: RTE_GRAPH_BURST_SIZE. */
	rte_edge_t nb_edges;        /**< Its edges in the graph that is walked. */
	uint16_t nb_late;           /**< Objects behind a stream that is full. */
	uint64_t total_calls;       /**< Calls of process(). */
	uint64_t total_objs;        /**< Sum of what it returned. */

	struct hy_node *core;         /**< The core's node, while this one runs. */
	struct hy_compat_edge *edges; /**< nb_edges. */
	struct rte_node **nodes;      /**< Target of each edge. */
} __rte_cache_aligned;

/** @cond adapter Not for node code. */

/*
 * Sends objects for which there is not room enough in the target's stream: those that do not fit
 * run after it, up to 65,535 a node. What is beyond that is released, and counted as the core's
 * drop "stream_full".
 */
void hy_compat_send_late(struct rte_graph *graph, struct rte_node *node, rte_edge_t next,
	void **objs, uint32_t n);

static __rte_always_inline void
hy_compat_send(struct rte_graph *graph, struct rte_node *node, rte_edge_t next, void **objs,
	uint16_t n)
{
	const uint16_t edge = node->edges[next].core;
	const struct hy_node *to = node->core->edges[edge].to;

	if (likely(n <= graph->core->plan.stream_cap - to->waiting))
		hy_enqueue(graph->core, node->core, edge, objs, n);
	else
		hy_compat_send_late(graph, node, next, objs, n);
}

/** @endcond */

/** Sends objects along an edge, in order. */
static inline void
rte_node_enqueue(struct rte_graph *graph, struct rte_node *node, rte_edge_t next, void **objs,
	uint16_t nb_objs)
{
	hy_compat_send(graph, node, next, objs, nb_objs);
}

/** rte_node_enqueue() of exactly one object. */
static inline void
rte_node_enqueue_x1(struct rte_graph *graph, struct rte_node *node, rte_edge_t next, void *obj)
{
	hy_compat_send(graph, node, next, &obj, 1);
}

/** rte_node_enqueue() of exactly two objects. */
static inline void
rte_node_enqueue_x2(struct rte_graph *graph, struct rte_node *node, rte_edge_t next, void *obj0,
	void *obj1)
{
	void *objs[] = { obj0, obj1 };

	hy_compat_send(graph, node, next, objs, 2);
}

/** rte_node_enqueue() of exactly four objects. */
static inline void
rte_node_enqueue_x4(struct rte_graph *graph, struct rte_node *node, rte_edge_t next, void *obj0,
	void *obj1, void *obj2, void *obj3)
{
	void *objs[] = { obj0, obj1, obj2, obj3 };

	hy_compat_send(graph, node, next, objs, 4);
}

/** Sends objs[i] along the edge nexts[i], for all i; order is kept on every edge. */
static inline void
rte_node_enqueue_next(struct rte_graph *graph, struct rte_node *node, rte_edge_t *nexts,
	void **objs, uint16_t nb_objs)
{
	for (uint32_t i = 0, run; i < nb_objs; i += run) {
		for (run = 1; i + run < nb_objs && nexts[i + run] == nexts[i];)
			run++;
		hy_compat_send(graph, node, nexts[i], objs + i, (uint16_t)run);
	}
}

/**
 * Gets room for objects that are to be sent along an edge; nothing is sent until
 * rte_node_next_stream_put(). What is sent along the edge meanwhile goes before them.
 *
 * @param nb_objs Objects wanted: there is always room for them.
 * @return Where to write them. The next call for the same edge returns the same place.
 */
static inline void **
rte_node_next_stream_get(struct rte_graph *graph __rte_unused, struct rte_node *node,
	rte_edge_t next, uint16_t nb_objs __rte_unused)
{
	return node->edges[next].stream;
}

/** Sends the first @p idx objects of the room that rte_node_next_stream_get() gave. */
static inline void
rte_node_next_stream_put(struct rte_graph *graph, struct rte_node *node, rte_edge_t next,
	uint16_t idx)
{
	hy_compat_send(graph, node, next, node->edges[next].stream, idx);
}

/** Sends the first node->idx objects of node->objs along an edge. */
static inline void
rte_node_next_stream_move(struct rte_graph *graph, struct rte_node *src, rte_edge_t next)
{
	hy_compat_send(graph, src, next, src->objs, src->idx);
}

/** Adds to a counter that the node registered; to others, nothing. */
static inline void
rte_node_xstat_increment(struct rte_node *node, uint16_t xstat_id, uint64_t value)
{
	if (likely(xstat_id < node->nb_xstats))
		hy_count(&node->xstats[xstat_id], value);
}

/** @return The model by which a graph is walked: RTE_GRAPH_MODEL_RTC or _MCORE_DISPATCH. */
static __rte_always_inline uint8_t
rte_graph_worker_model_no_check_get(struct rte_graph *graph)
{
	return __atomic_load_n(&graph->model, __ATOMIC_RELAXED);
}

/**
 * Walks a graph once: runs every source, then the nodes that have objects, until none waits. In a
 * graph with a cycle, what is left after 8 rounds waits for the next walk.
 */
static inline void
rte_graph_walk(struct rte_graph *graph)
{
	hy_graph_walk(graph->core);
}

/** The same: the graph knows its model. */
static inline void
rte_graph_walk_rtc(struct rte_graph *graph)
{
	hy_graph_walk(graph->core);
}

/** The same. */
static inline void
rte_graph_walk_mcore_dispatch(struct rte_graph *graph)
{
	hy_graph_walk(graph->core);
}

HY_API_END
