/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The control API of DPDK's rte_graph, from 22.11 to 26.07, over Halyard's graph core. A program
 * that was written for librte_graph compiles against this header in place of DPDK's, unmodified:
 * put `-I` *includedir*`/halyard/compat` before DPDK's include folders, and link with libhalyard.
 *
 * Functions have the names, parameters and results that DPDK's guide documents; where they differ
 * from what librte_graph does, the book's page on it says so. The macros below give each that is not
 * inline a symbol of our own, so that a program may be linked with both libraries.
 *
 * Unless a function says otherwise: it may be called from any thread after rte_eal_init() (those
 * that register nodes also before), also by a node's init(), sets rte_errno when it fails, logs
 * one line that names what was wrong, and has then changed nothing.
 */
#pragma once

#ifdef _RTE_GRAPH_H_
#error "DPDK's rte_graph.h was included before Halyard's: its -I must come after halyard/compat"
#endif
/** Keeps DPDK's header of this name empty, should a header beside it include it. */
#define _RTE_GRAPH_H_

#include <stdbool.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_version.h>

#include <hy_graph.h>

HY_API_BEGIN

/** @cond names Symbols of our own behind DPDK's names. */
#define rte_graph_cluster_stats_create hy_compat_graph_cluster_stats_create
#define rte_graph_cluster_stats_destroy hy_compat_graph_cluster_stats_destroy
#define rte_graph_cluster_stats_get hy_compat_graph_cluster_stats_get
#define rte_graph_cluster_stats_reset hy_compat_graph_cluster_stats_reset
#define rte_graph_clone hy_compat_graph_clone
#define rte_graph_create hy_compat_graph_create
#define rte_graph_destroy hy_compat_graph_destroy
#define rte_graph_dump hy_compat_graph_dump
#define rte_graph_export hy_compat_graph_export
#define rte_graph_from_name hy_compat_graph_from_name
#define rte_graph_id_to_name hy_compat_graph_id_to_name
#define rte_graph_list_dump hy_compat_graph_list_dump
#define rte_graph_lookup hy_compat_graph_lookup
#define rte_graph_max_count hy_compat_graph_max_count
#define rte_graph_node_get hy_compat_graph_node_get
#define rte_graph_node_get_by_name hy_compat_graph_node_get_by_name
#define rte_graph_obj_dump hy_compat_graph_obj_dump
#define rte_node_clone hy_compat_node_clone
#define rte_node_dump hy_compat_node_dump
#define rte_node_edge_count hy_compat_node_edge_count
#define rte_node_edge_get hy_compat_node_edge_get
#define rte_node_edge_shrink hy_compat_node_edge_shrink
#define rte_node_edge_update hy_compat_node_edge_update
#define rte_node_free hy_compat_node_free
#define rte_node_from_name hy_compat_node_from_name
#define rte_node_id_to_name hy_compat_node_id_to_name
#define rte_node_list_dump hy_compat_node_list_dump
#define rte_node_max_count hy_compat_node_max_count
#define __rte_node_register hy_compat_node_register
/** @endcond */

#define RTE_GRAPH_NAMESIZE 64                 /**< Room for a graph's name and its NUL. */
#define RTE_NODE_NAMESIZE 64                  /**< Room for a node's name and its NUL. */
#define RTE_GRAPH_PCAP_FILE_SZ 64             /**< Room for a capture's file name and its NUL. */
#define RTE_NODE_XSTAT_DESC_SIZE 64           /**< Room for a counter's name and its NUL. */
#define RTE_GRAPH_OFF_INVALID UINT32_MAX      /**< No place in a graph. */
#define RTE_NODE_ID_INVALID UINT32_MAX        /**< No node. */
#define RTE_EDGE_ID_INVALID UINT16_MAX        /**< No edge. */
#define RTE_GRAPH_ID_INVALID UINT16_MAX       /**< No graph. */
#define RTE_GRAPH_FENCE 0xdeadbeef12345678ULL /**< What the fence fields hold. */

typedef uint32_t rte_graph_off_t; /**< A node's place in its graph. */
typedef uint32_t rte_node_t;      /**< A node: the lowest id that is free when it is registered. */
typedef uint16_t rte_edge_t;      /**< An edge of a node, from 0. */
typedef uint16_t rte_graph_t;     /**< A graph: the lowest id that is free when it is created. */

struct rte_node;
struct rte_graph;
struct rte_graph_cluster_stats;
struct rte_graph_cluster_node_stats;

/**
 * The work of a node, called by a walk.
 *
 * A source is called with @p nb_objs 0, once a walk; it makes at most RTE_GRAPH_BURST_SIZE objects
 * and may use node->objs as room for that many. Any other node gets 1 to RTE_GRAPH_BURST_SIZE.
 *
 * @return What statistics count as the call's objects.
 */
typedef uint16_t (*rte_node_process_t)(struct rte_graph *graph, struct rte_node *node, void **objs,
	uint16_t nb_objs);

/**
 * Prepares a node of one graph: called by rte_graph_create(), once the graph is known to be good,
 * for sources first and then in the order in which a walk comes to the nodes. It may look things
 * up, fill node->ctx and replace node->process.
 *
 * @return 0, or anything else, upon which the graph is not created.
 */
typedef int (*rte_node_init_t)(const struct rte_graph *graph, struct rte_node *node);

/**
 * Undoes rte_node_init_t; not called where that failed. Must not call functions of this header:
 * after a live change it runs in the first thread that finds that the worker has left the old image.
 */
typedef void (*rte_node_fini_t)(const struct rte_graph *graph, struct rte_node *node);

/**
 * Is handed the statistics of one node by rte_graph_cluster_stats_get().
 *
 * @return 0, or anything else, upon which it is not called for the nodes that are left.
 */
typedef int (*rte_graph_cluster_stats_cb_t)(bool is_first, bool is_last, void *cookie,
	const struct rte_graph_cluster_node_stats *stats);

/** DPDK's notification of bursts for another lcore. Accepted, never called: none are handed over. */
typedef void (*packets_enqueued_cb)(struct rte_graph *graph, uint64_t cb_priv);

/** @cond Programs for a DPDK from before do not know of these fields, and do not set them. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define HY_COMPAT_PCAP
#endif
/** @endcond */

/** What a graph is made of. */
struct rte_graph_param {
	int socket_id;             /**< NUMA node; SOCKET_ID_ANY: that of the calling thread. */
	uint16_t nb_node_patterns; /**< Entries of node_patterns. */
	const char *
		*node_patterns; /**< fnmatch(3) patterns; targets of edges come by themselves. */

#ifdef HY_COMPAT_PCAP
	bool pcap_enable;            /**< Refused with ENOTSUP; see hy_compat_graph_objects(). */
	uint64_t num_pkt_to_capture; /**< Not used. */
	char *pcap_filename;         /**< Not used. */
#endif

	__extension__ union {
		/** Of graphs that run to completion. */
		struct {
			uint64_t rsvd; /**< Not used. */
		} rtc;
		/** Of graphs that are bound to an lcore. Not used. */
		struct {
			uint32_t wq_size_max;          /**< Not used. */
			uint32_t mp_capacity;          /**< Not used. */
			packets_enqueued_cb notify_cb; /**< Not used. */
			uint64_t cb_priv;              /**< Not used. */
		} dispatch;
	};
};

/** Which graphs' statistics to read, and what to do with them. */
struct rte_graph_cluster_stats_param {
	int socket_id;                   /**< Not used. */
	rte_graph_cluster_stats_cb_t fn; /**< NULL: prints a table to f. */
	__extension__ union {
		void *cookie; /**< For fn. */
		FILE *f;      /**< For the table. */
	};
	uint16_t nb_graph_patterns;  /**< Entries of graph_patterns, at least 1. */
	const char **graph_patterns; /**< fnmatch(3) patterns of graph names. */
};

/** Counters of one node, summed over graphs, at the last reading and at the one before. */
struct rte_graph_cluster_node_stats {
	uint64_t ts;     /**< Time of the reading, in timer cycles. */
	uint64_t calls;  /**< Calls of process(). */
	uint64_t objs;   /**< Sum of what process() returned. */
	uint64_t cycles; /**< TSC cycles in process(), estimated from walks that were timed. */

	uint64_t prev_ts;     /**< ts of the reading before; 0 at the first one. */
	uint64_t prev_calls;  /**< Likewise. */
	uint64_t prev_objs;   /**< Likewise. */
	uint64_t prev_cycles; /**< Likewise. */

	__extension__ union {
		/** Bursts for other lcores: none are handed over. */
		struct {
			uint64_t sched_objs; /**< Always 0. */
			uint64_t sched_fail; /**< Always 0. */
		} dispatch;
	};

	uint64_t realloc_count; /**< Always 0: streams do not grow. */

	uint8_t xstat_cntrs; /**< The node's own counters: entries of the next two. */
	char (*xstat_desc)[RTE_NODE_XSTAT_DESC_SIZE]; /**< Their names. */
	uint64_t *xstat_count;                        /**< Their values, at the last reading. */

	rte_node_t id;                /**< The node. */
	uint64_t hz;                  /**< Timer cycles a second. */
	char name[RTE_NODE_NAMESIZE]; /**< The node's. */
} __rte_cache_aligned;

/** Counters of a node's own; see rte_node_xstat_increment(). */
struct rte_node_xstats {
	uint16_t nb_xstats;                          /**< Entries of xstat_desc, at most 255. */
	char xstat_desc[][RTE_NODE_XSTAT_DESC_SIZE]; /**< Their names. */
};

/** A node, as a program registers it. */
struct rte_node_register {
	char name[RTE_NODE_NAMESIZE];   /**< Unique among these nodes. */
	uint64_t flags;                 /**< RTE_NODE_SOURCE_F or 0. */
#define RTE_NODE_SOURCE_F (1ULL << 0)   /**< The node is a source. */
	rte_node_process_t process;     /**< Required. */
	rte_node_init_t init;           /**< May be NULL. */
	rte_node_fini_t fini;           /**< May be NULL. */
	struct rte_node_xstats *xstats; /**< May be NULL. */
	rte_node_t id;                  /**< Set by RTE_NODE_REGISTER(). */
	rte_node_t parent_id;           /**< RTE_NODE_ID_INVALID; of a clone: its original. */
	rte_edge_t nb_edges;            /**< Entries of next_nodes. */
	const char *next_nodes[];       /**< Target of each edge; may be registered later. */
};

/**
 * Registers a node. What is passed is copied.
 *
 * @return Its id, or RTE_NODE_ID_INVALID: EINVAL no process(), or a target is missing; EEXIST the
 * name is taken; E2BIG a name is too long, or there are too many counters; ENOMEM.
 */
rte_node_t __rte_node_register(const struct rte_node_register *node);

/**
 * Registers a node when the program or its shared object is loaded. If that fails, it is reported
 * on stderr, and from then on no graph can be created.
 */
#define RTE_NODE_REGISTER(node) \
	RTE_INIT(hy_compat_register_##node) \
	{ \
		(node).parent_id = RTE_NODE_ID_INVALID; \
		(node).id = __rte_node_register(&(node)); \
		if ((node).id == RTE_NODE_ID_INVALID) \
			hy_registration_check((node).name, -rte_errno); \
	}

/**
 * Registers a copy of a node, with its edges and counters, as "<original>-<name>".
 *
 * @return Its id, or RTE_NODE_ID_INVALID: EINVAL no such node; EEXIST the name is taken, or the
 * node is itself a clone; E2BIG the name is too long; ENOMEM.
 */
rte_node_t rte_node_clone(rte_node_t id, const char *name);

/**
 * Takes a node out of the registry. Edges that name it stay.
 *
 * @return 0; -1 with ENOENT no such node, or EBUSY a graph or a feature arc has it.
 */
int rte_node_free(rte_node_t id);

/** @return The id of the node of this name, or RTE_NODE_ID_INVALID (not logged). */
rte_node_t rte_node_from_name(const char *name);

/** @return The name of a node, valid as long as it is registered, or NULL with EINVAL. */
char *rte_node_id_to_name(rte_node_t id);

/** @return The number of a node's edges, or RTE_EDGE_ID_INVALID with EINVAL. */
rte_edge_t rte_node_edge_count(rte_node_t id);

/**
 * Leads edges elsewhere, and adds edges behind the last one. Graphs that exist are not changed.
 * Edges that an arc uses (rte_graph_feature_arc.h) stay as they are until it is destroyed.
 *
 * @param from The first edge to set, at most the number of edges; RTE_EDGE_ID_INVALID: behind the
 * last one.
 * @return @p nb_edges, or 0: EINVAL no such node, @p from would leave a hole, or a name is NULL;
 * E2BIG a name is too long, or there would be too many edges; EBUSY an arc uses an edge that would
 * lead elsewhere; ENOMEM.
 */
rte_edge_t rte_node_edge_update(rte_node_t id, rte_edge_t from, const char **next_nodes,
	uint16_t nb_edges);

/**
 * Takes the last edges away. Graphs that exist are not changed.
 *
 * @return @p size, or RTE_EDGE_ID_INVALID: EINVAL no such node; E2BIG it has fewer edges; EBUSY
 * an arc uses one that would go.
 */
rte_edge_t rte_node_edge_shrink(rte_node_t id, rte_edge_t size);

/**
 * Gets the names of the targets of a node's edges, valid until its edges are changed.
 *
 * @param[out] next_nodes Room for all of them; NULL asks how much that is.
 * @return The number of names; for NULL, of bytes that @p next_nodes needs; RTE_NODE_ID_INVALID
 * with EINVAL for no such node.
 */
rte_node_t rte_node_edge_get(rte_node_t id, char *next_nodes[]);

/** @return One more than the highest id of a node. */
rte_node_t rte_node_max_count(void);

/** Prints a node, as it is registered; nothing, if there is no such node. */
void rte_node_dump(FILE *f, rte_node_t id);

/** Prints all nodes, as they are registered. */
void rte_node_list_dump(FILE *f);

/**
 * Creates a graph of the nodes that match, and of all that their edges lead to.
 *
 * @param name Unique among these graphs.
 * @return Its id, or RTE_GRAPH_ID_INVALID: EINVAL no name, no parameters, no source, a source
 * without an edge, an edge into a source or to the node itself, a target that is not registered,
 * or a node that no source reaches; EFAULT a pattern matches no node; EEXIST the name is taken;
 * E2BIG the name is too long; ENOSPC a node has too many targets, or there are too many graphs;
 * ENOMEM; ENOTSUP pcap_enable is set; EBUSY called by a node's init(); or what an init() returned, upon which those that had
 * succeeded were undone by fini().
 */
rte_graph_t rte_graph_create(const char *name, struct rte_graph_param *prm);

/**
 * Creates a graph of the nodes of another, as "<original>-<name>", for another thread. It has the
 * original's NUMA node, model and object operations.
 *
 * @param prm Required; nothing of it is used.
 * @return Its id, or RTE_GRAPH_ID_INVALID: ENOENT no such graph; EEXIST the original is itself a
 * clone, or the name is taken; E2BIG the name is too long; EINVAL no name or parameters; or what
 * makes rte_graph_create() fail.
 */
rte_graph_t rte_graph_clone(rte_graph_t id, const char *name, struct rte_graph_param *prm);

/**
 * Destroys a graph: releases the objects that wait in it (see hy_compat_graph_objects()), calls
 * fini() of its nodes, frees it. No thread may be walking it.
 *
 * @return 0; -ENOENT; -EBUSY called by an init() in a change of the graph; -EDEADLK by its worker, as
 * hy_graph_destroy().
 */
int rte_graph_destroy(rte_graph_t id);

/**
 * Compiles a graph again, from the nodes and edges as they are registered now, while its worker
 * walks it: librte_graph has no such function. The worker takes the change up before its next walk.
 * Nodes that stay keep their struct rte_node, its ctx and their objects, and init() is called only
 * for new ones; what waits on a node that goes is released, and its fini() is called once the
 * worker has left it. No other thread may go through the graph's nodes meanwhile.
 *
 * @param prm As for rte_graph_create(); socket_id is not used.
 * @return 0; -ENOENT; or what makes rte_graph_create() fail, upon which the graph goes on as it
 * was.
 */
int hy_compat_graph_update(rte_graph_t id, const struct rte_graph_param *prm);

/**
 * Sets what may be done to the objects of a graph. release() frees those that wait in the graph when
 * it is destroyed, and those of which there are too many for a stream; it may also be called by
 * the first thread that finds that the worker has left the image before a live change. copy() allows
 * hy_capture_start() on graph->core, snapshot() and format() say what a trace shows. For packets,
 * pass &hy_mbuf_ops (hy_mbuf.h).
 *
 * Until then, and with NULL, objects are forgotten, as librte_graph does, and destroying the graph
 * logs how many they were.
 *
 * @param graph No thread may be walking it.
 * @param ops Copied.
 */
void hy_compat_graph_objects(struct rte_graph *graph, const struct hy_object_ops *ops);

/** @return The id of the graph of this name, or RTE_GRAPH_ID_INVALID (not logged). */
rte_graph_t rte_graph_from_name(const char *name);

/** @return The name of a graph, valid as long as the graph, or NULL with EINVAL. */
char *rte_graph_id_to_name(rte_graph_t id);

/**
 * Writes the core's graph with its counters in the Graphviz language, as hy_graph_export_dot().
 *
 * @return 0; -ENOENT; -ENOMEM; or why it could not be written.
 */
int rte_graph_export(const char *name, FILE *f);

/** @return The graph of this name, for rte_graph_walk(), or NULL (not logged). */
struct rte_graph *rte_graph_lookup(const char *name);

/** @return The number of graphs. */
rte_graph_t rte_graph_max_count(void);

/** Prints a graph and the names of its nodes; nothing, if there is no such graph. */
void rte_graph_dump(FILE *f, rte_graph_t id);

/** Prints all graphs and the names of their nodes. */
void rte_graph_list_dump(FILE *f);

/**
 * Prints a graph and its nodes with their counters.
 *
 * @param all false: only nodes on which objects wait.
 */
void rte_graph_obj_dump(FILE *f, struct rte_graph *graph, bool all);

/** Goes through the nodes of a graph; @p count and @p off are two integers of the caller's. */
#define rte_graph_foreach_node(count, off, graph, node) \
	for ((count) = 0, (off) = 0, (node) = (graph)->nodes[off]; (count) < (graph)->nb_nodes; \
		(count)++, (off) = (count), (node) = (graph)->nodes[off])

/** @return A node of a graph, valid as long as the graph, or NULL with EINVAL or ENOENT. */
struct rte_node *rte_graph_node_get(rte_graph_t graph_id, rte_node_t node_id);

/** @return A node of a graph, valid as long as the graph, or NULL with ENOENT. */
struct rte_node *rte_graph_node_get_by_name(const char *graph, const char *name);

/**
 * Prepares to read the statistics of all graphs that match, which may be destroyed meanwhile:
 * what was last read of them stays in the sums.
 *
 * @return To be freed by rte_graph_cluster_stats_destroy(), or NULL: EINVAL a parameter is
 * missing; EFAULT a pattern matches no graph; ENOMEM.
 */
struct rte_graph_cluster_stats *rte_graph_cluster_stats_create(
	const struct rte_graph_cluster_stats_param *prm);

/** Frees it. NULL is allowed. */
void rte_graph_cluster_stats_destroy(struct rte_graph_cluster_stats *stat);

/**
 * Reads the statistics, and hands them to the callback node by node. One thread at a time.
 *
 * @param skip_cb true: only reads, so that the next reading can tell what came since.
 */
void rte_graph_cluster_stats_get(struct rte_graph_cluster_stats *stat, bool skip_cb);

/** Makes all later readings count from now on. */
void rte_graph_cluster_stats_reset(struct rte_graph_cluster_stats *stat);

/** @return Whether @p id is none. */
static __rte_always_inline int
rte_node_is_invalid(rte_node_t id)
{
	return id == RTE_NODE_ID_INVALID;
}

/** @return Whether @p id is none. */
static __rte_always_inline int
rte_edge_is_invalid(rte_edge_t id)
{
	return id == RTE_EDGE_ID_INVALID;
}

/** @return Whether @p id is none. */
static __rte_always_inline int
rte_graph_is_invalid(rte_graph_t id)
{
	return id == RTE_GRAPH_ID_INVALID;
}

/** @return 1: there always are statistics. */
static __rte_always_inline int
rte_graph_has_stats_feature(void)
{
	return 1;
}

HY_API_END
