/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, observation: what graphs have done, and what they look like.
 *
 * Workers count with plain stores to memory of their own. Whoever reads here neither stops a worker
 * nor writes what it reads, and no number tears; a walk under way may be counted in part. Calls,
 * objects, drops and named counters are exact; cycles and burst sizes are taken in walks that are
 * timed, see hy_graph_params.sample_every, of which 1 makes them exact too.
 *
 * Counters start with a graph, and go on over hy_graph_update(): what it takes away is still told,
 * marked as gone. They end with hy_graph_destroy(): a graph of the same name starts from 0.
 *
 * As in hy_graph.h, any thread may call these functions, and an error is logged unless it says
 * otherwise. None keeps the FILE that it is handed, nor closes it. "A write error" is the
 * negative errno of a write to it that failed, now or earlier, such as -ENOSPC; -EIO if unknown.
 */
#ifndef HY_STATS_H
#define HY_STATS_H

#include <stdio.h>

#include <hy_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Sizes of bursts that are told apart: 0 objects, 1, 2 to 3, 4 to 7 and so on, 128 to 255, 256.
 * Bucket b, from 1 on, starts at 2^(b - 1).
 */
#define HY_BURST_BUCKETS 10

/** What was counted on one edge, for one drop reason, or by one counter of a node. */
struct hy_edge_stats {
	char name[HY_NAME_SIZE];   /**< Target node, drop reason, or counter. */
	char unit[HY_NAME_SIZE];   /**< Of a counter: its unit. Else "". */
	char text[HY_TEXT_SIZE];   /**< Of a drop reason or counter: its sentence. Else "". */
	enum hy_severity severity; /**< Of a drop reason or counter. */
	uint64_t objs;  /**< Objects that took the edge, or were dropped for the reason. */
	uint64_t value; /**< Of a counter, in its unit. */
	bool gone;      /**< A live change has taken it away; it was there once. */
};

/** Counters of one node, summed over the graphs that have it. */
struct hy_node_stats {
	char name[HY_NAME_SIZE]; /**< The node's. */
	/** "": a node of one implementation. "mixed": graphs differ. */
	char variant[HY_NAME_SIZE];
	bool is_source; /**< Has HY_NODE_SOURCE. */
	bool gone;      /**< Live changes have taken it out of every graph that had it. */
	/** Of a source: most objects that it makes in one walk of each of the graphs. Otherwise 0. */
	uint32_t budget;
	uint64_t calls; /**< Of its process function. */
	uint64_t objs;  /**< Taken; made, by a source. */
	/**
	 * TSC cycles spent on objects, estimated from walks that were timed: cycles an object
	 * there, times objs. 0 while none was timed.
	 */
	uint64_t cycles;
	uint64_t idle_cycles;         /**< Those of calls that brought no object, likewise. */
	uint64_t sampled_calls;       /**< Calls that were timed. */
	uint64_t sampled_objs;        /**< Objects of those. */
	uint64_t sampled_cycles;      /**< TSC cycles of those that brought objects. */
	uint64_t sampled_idle_cycles; /**< TSC cycles of those that brought none. */
	/** Calls that were timed, by the size of their burst. */
	uint64_t bursts[HY_BURST_BUCKETS];
	unsigned int nb_edges;       /**< Entries of edges. */
	unsigned int nb_drops;       /**< Entries of drops. */
	unsigned int nb_counters;    /**< Entries of counters. */
	struct hy_edge_stats *edges; /**< nb_edges, in order of index where graphs agree. */
	/** nb_drops; the core's own first, by enum hy_core_drop, then the node's in declared order. */
	struct hy_edge_stats *drops;
	struct hy_edge_stats *counters; /**< nb_counters, in declared order. */
};

/** A snapshot of statistics. */
struct hy_stats {
	unsigned int nb_graphs; /**< That matched. */
	unsigned int nb_nodes;  /**< Entries of nodes. */
	/** Sources first, then in walk order of the oldest graph that has the node. */
	struct hy_node_stats *nodes;
};

/**
 * Reads the statistics of all graphs whose names match an fnmatch(3) pattern, summed by node name.
 *
 * @param[out] stats Belongs to the caller, until hy_stats_free().
 * @return 0; -ENOENT no graph matches (not logged); -ENOMEM (not logged).
 */
int hy_stats_read(const char *pattern, struct hy_stats **stats);

/**
 * As hy_stats_read(), but the counters of each graph are those between two of its walks, so that its
 * nodes agree: what one has sent, the next one has taken, unless it still waits (in graphs with
 * cycles, and between workers). The worker copies them before its next walk, which takes it about a
 * microsecond. Graphs are read one after the other. Other control functions wait meanwhile.
 *
 * @param wait_us Microseconds to wait for the next walk of each graph. One that is not walked in
 * this time is read as it is.
 * @param[out] stats Belongs to the caller, until hy_stats_free().
 * @return As hy_stats_read().
 */
int hy_stats_read_between_walks(const char *pattern, unsigned int wait_us, struct hy_stats **stats);

/** Frees a snapshot. NULL is allowed. */
void hy_stats_free(struct hy_stats *stats);

/**
 * @name Pictures
 *
 * As Graphviz dot: sources as houses, edges with the objects that took them, drops in one dashed
 * edge a node. As JSON: all that is known of nodes and edges; the book describes it. Both show the
 * nodes that the graph has now, with counters that go on over hy_graph_update().
 *
 * The hy_topology_ functions draw what hy_graph_create() would compile, from the registry as it is:
 * no graph is made, no init() called, and there are no counters.
 * @{
 */

/** Writes a graph with its counters in the Graphviz language. @return 0; a write error; -ENOMEM. */
int hy_graph_export_dot(const struct hy_graph *graph, FILE *out);

/** Writes a graph with its counters as one JSON object. @return 0; a write error; -ENOMEM. */
int hy_graph_export_json(const struct hy_graph *graph, FILE *out);

/**
 * Writes the graph that hy_graph_create() would make, in the Graphviz language.
 *
 * @return 0; a write error; or what hy_graph_create() returns, but for -EEXIST: the name may be taken.
 * Nothing is written then.
 */
int hy_topology_export_dot(const char *name, const struct hy_graph_params *params, FILE *out);

/** Writes it as one JSON object. @return As hy_topology_export_dot(). */
int hy_topology_export_json(const char *name, const struct hy_graph_params *params, FILE *out);

/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
