/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, observation: statistics and pictures of graphs.
 *
 * Workers count with plain stores to their own memory. Reading here neither stops a worker nor
 * writes to that memory, and no counter tears. A running walk may be counted in part. Calls,
 * objects, drops and named counters are exact. Cycles and burst sizes are measured in timed walks,
 * see hy_graph_params.sample_every; with 1, they are exact too.
 *
 * Counters start with a graph and continue across hy_graph_update(): nodes and edges that it
 * removes are still reported, marked as gone. They end with hy_graph_destroy(): a later graph of
 * the same name starts from 0.
 *
 * As in hy_graph.h, any thread may call these functions, and errors are logged unless a function
 * says otherwise. None keeps or closes the FILE passed to it. "A write error" is the negative errno
 * of a failed write to it, now or earlier, such as -ENOSPC; -EIO if unknown.
 */
#pragma once

#include <stdio.h>

#include <hy_graph.h>

HY_API_BEGIN

/**
 * Buckets of burst sizes: 0 objects, 1, 2 to 3, 4 to 7 and so on, 128 to 255, 256. Bucket b, from 1
 * on, starts at 2^(b - 1).
 */
#define HY_BURST_BUCKETS 10

/** Counts of one edge, one drop reason, or one counter of a node. */
struct hy_edge_stats {
	char name[HY_NAME_SIZE];   /**< Target node, drop reason, or counter. */
	char unit[HY_NAME_SIZE];   /**< Of a counter: its unit. Else "". */
	char text[HY_TEXT_SIZE];   /**< Of a drop reason or counter: its sentence. Else "". */
	enum hy_severity severity; /**< Of a drop reason or counter. */
	uint64_t objs;  /**< Objects that took the edge, or were dropped for the reason. */
	uint64_t value; /**< Of a counter, in its unit. */
	bool gone;      /**< A live change removed it. */
};

/** Counters of one node, summed over the graphs that have it. */
struct hy_node_stats {
	char name[HY_NAME_SIZE]; /**< The node's. */
	/** "": a node of one implementation. "mixed": graphs differ. */
	char variant[HY_NAME_SIZE];
	bool is_source;  /**< Has HY_NODE_SOURCE. */
	bool replicates; /**< May send on more objects than it received. */
	bool gone;       /**< Live changes removed it from every graph that had it. */
	/** Of a source: most objects that it makes in one walk of each of the graphs. Otherwise 0. */
	uint32_t budget;
	uint64_t calls; /**< Of its process function. */
	uint64_t objs;  /**< Handled, or made by a source. */
	/**
	 * TSC cycles spent on objects, estimated from timed walks: cycles for each object there, times
	 * objs. 0 while no walk was timed.
	 */
	uint64_t cycles;
	uint64_t idle_cycles;         /**< Likewise of calls that brought no object. */
	uint64_t sampled_calls;       /**< Timed calls. */
	uint64_t sampled_objs;        /**< Objects of timed calls. */
	uint64_t sampled_cycles;      /**< TSC cycles of timed calls that brought objects. */
	uint64_t sampled_idle_cycles; /**< TSC cycles of timed calls that brought none. */
	/** Timed calls by the size of their burst. */
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
	unsigned int nb_graphs; /**< Matching graphs. */
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
 * As hy_stats_read(), but reads the counters of each graph between two of its walks, so that its
 * nodes agree: what one node sent, the next one has handled, unless it still waits (in cyclic
 * graphs, and between workers). The worker copies the counters before its next walk, in about a
 * microsecond. Graphs are read one after the other. Other control functions wait meanwhile.
 *
 * @param wait_us Microseconds to wait for the next walk of each graph. A graph that is not walked
 * in this time is read as it is.
 * @param[out] stats Belongs to the caller, until hy_stats_free().
 * @return As hy_stats_read().
 */
int hy_stats_read_between_walks(const char *pattern, unsigned int wait_us, struct hy_stats **stats);

/**
 * A node's entry, or NULL if there is none. It lives as long as @p stats.
 *
 * @param hint Index of the entry at which the search begins: any number.
 */
struct hy_node_stats *hy_stats_find(const struct hy_stats *stats, unsigned int hint,
	const char *name);

/** Objects that a node dropped, for any reason. */
static inline uint64_t
hy_stats_dropped(const struct hy_node_stats *node)
{
	uint64_t n = 0;

	for (unsigned int d = 0; d < node->nb_drops; d++)
		n += node->drops[d].objs;
	return n;
}

/** Frees a snapshot. NULL is allowed. */
void hy_stats_free(struct hy_stats *stats);

/**
 * @name Pictures
 *
 * Graphviz dot draws sources as houses, edges with their object counts, and one dashed edge for the
 * drops of each node. JSON has all data of nodes and edges; the book describes it. Both show the
 * graph's current nodes, with counters that continue across hy_graph_update().
 *
 * The hy_topology_ functions show the graph that hy_graph_create() would compile from the current
 * registry. They create no graph, call no init(), and show no counters.
 * @{
 */

/**
 * Writes a graph with its counters in the Graphviz language.
 *
 * @return 0; a write error; -EBUSY hy_graph_create() has not made the graph yet, but calls its
 * nodes' init(); -ENOMEM.
 */
int hy_graph_export_dot(const struct hy_graph *graph, FILE *out);

/** Writes a graph with its counters as one JSON object. @return As hy_graph_export_dot(). */
int hy_graph_export_json(const struct hy_graph *graph, FILE *out);

/**
 * Writes the graph that hy_graph_create() would make, in the Graphviz language.
 *
 * @return 0; a write error; or what hy_graph_create() returns, but for -EEXIST: the name may be
 * taken. Nothing is written then.
 */
int hy_topology_export_dot(const char *name, const struct hy_graph_params *params, FILE *out);

/** Writes it as one JSON object. @return As hy_topology_export_dot(). */
int hy_topology_export_json(const char *name, const struct hy_graph_params *params, FILE *out);

/** @} */

HY_API_END
