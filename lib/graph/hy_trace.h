/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Trace of objects through a graph. The next N matching objects are marked, and each node that they
 * reach leaves a record of the object and of what happened to it.
 *
 * A trace belongs to one graph. The worker takes the records, into a ring that is allocated when
 * the trace starts; any other thread reads and formats them. The worker never waits: records that
 * do not fit into the ring are counted as lost. A graph that is not traced pays nothing. A traced
 * one walks slower until its last marked object has left. Its walks are not timed meanwhile, so
 * struct hy_node_stats.cycles covers the others only.
 *
 * An object is marked by its address, and followed for as long as it waits in the graph: along
 * edges and back edges, as several copies where a node replicates it, and through
 * hy_graph_update(). Its trace ends when a node is called with it and leaves it waiting nowhere in
 * the graph, because the node transmitted it, released it, kept it for later, or replaced it by
 * another object.
 *
 * Calling rules are those of hy_graph.h. Code that a walk runs must not call these functions.
 */
#pragma once

#include <hy_graph.h>

HY_API_BEGIN

#define HY_TRACE_DATA 88               /**< Most bytes copied from an object. */
#define HY_TRACE_LIVE_MAX 256          /**< Most objects followed at a time. */
#define HY_TRACE_RECORDS_MAX (1 << 20) /**< Most records of a ring. */

/**
 * Selects the objects to trace. Runs on the worker, during its walk; must not block.
 *
 * @param arg Of struct hy_trace_params.
 */
typedef bool(hy_trace_match_t)(const void *obj, void *arg);

/** Parameters of a trace. hy_trace_start() copies them, but not what @p arg points to. */
struct hy_trace_params {
	uint32_t nb_objs;        /**< Objects to mark, at least 1. */
	hy_trace_match_t *match; /**< Called for objects in turn. NULL: all match. */
	void *arg;               /**< For match; must live until the trace is stopped. */
	/**
	 * Name of the node that marks objects: those that reach it, or that it makes if it is a
	 * source. NULL: those that any source makes.
	 */
	const char *at;
	/**
	 * Records that can wait for hy_trace_read(), at most HY_TRACE_RECORDS_MAX; rounded up to a
	 * power of two. 0: 16 for each object, 4,096 at most.
	 */
	uint32_t nb_records;
};

/** Progress of a trace. All but running count since hy_trace_start(). */
struct hy_trace_state {
	bool running;      /**< Objects may still be marked, or are still followed. */
	uint32_t marked;   /**< Objects marked; at most nb_objs. */
	uint64_t unmarked; /**< Objects that matched while HY_TRACE_LIVE_MAX were followed. */
	uint64_t recorded; /**< Records written to the ring. */
	uint64_t lost;     /**< Records that did not fit. */
};

/** One object at one node; four cache lines. A record outlives the node that it names. */
struct hy_trace_record {
	uint64_t tsc;     /**< The worker's TSC when the node was called. */
	uint32_t serial;  /**< The object's number in this trace, from 1. */
	hy_node_id node;  /**< The node. */
	uint16_t burst;   /**< Objects passed to the call, or made by a source's call. */
	uint16_t index;   /**< The object's place among them, from 0. */
	bool last;        /**< The object left the graph in this call. */
	uint8_t nb_lanes; /**< Entries of lanes. */
	uint16_t size;    /**< Bytes of data. */
	uint32_t lanes[HY_LANES_MAX]; /**< Values of lanes, but wide ones, before the call. */
	uint8_t data[HY_TRACE_DATA];  /**< Copied from the object; see struct hy_node_trace. */
	char name[HY_NAME_SIZE];      /**< The node's. */
	/**
	 * The reason for which the node dropped the object, or "" if it did not. HY_TRACE_UNSURE: the
	 * node dropped for several reasons in that call, without hy_enqueue_next().
	 */
	char drop[HY_NAME_SIZE];
};

#define HY_TRACE_UNSURE "?" /**< Dropped for an unknown reason. */

/**
 * Starts a trace, with the worker's next walk. Replaces a trace that has ended or was stopped, and
 * frees its unread records.
 *
 * @return 0; -EBUSY one is running, or called in the middle of a change of the graph; -EINVAL no
 * objects, or too many records; -ENOENT the graph has no node params->at; -EDEADLK called by code
 * of a graph on its worker (hy_graph.h); -ENOMEM.
 */
int hy_trace_start(struct hy_graph *graph, const struct hy_trace_params *params);

/**
 * Stops a trace: when this returns, nothing is marked or recorded any more, and match is not
 * called. It waits for the end of the current walk, if any; the worker does not wait. Records can
 * still be read until the next hy_trace_start() or hy_graph_destroy(). Does nothing if the graph is
 * not traced. Where hy_trace_start() returns -EDEADLK, it logs that and stops nothing.
 */
void hy_trace_stop(struct hy_graph *graph);

/**
 * Reads and removes records, oldest first, so those of one object are in the order of its path. May
 * be called while the worker walks, at any time after hy_trace_start().
 *
 * @return Records read: less than @p n if there are no more, 0 if the graph was never traced.
 */
unsigned int hy_trace_read(struct hy_graph *graph, struct hy_trace_record *records, unsigned int n);

/** Reads the progress of a trace. @return 0; -ENOENT the graph was never traced (not logged). */
int hy_trace_status(const struct hy_graph *graph, struct hy_trace_state *status);

/**
 * Formats what a record shows of its object: by the node's formatter, or else by that of the
 * graph's object operations, or else lanes and data in hexadecimal, as for a node that is no longer
 * registered.
 *
 * @param graph The graph that the record was read from.
 * @param text One line without a newline, truncated to @p size. "" if there is nothing to show.
 */
void hy_trace_format(const struct hy_graph *graph, const struct hy_trace_record *record, char *text,
	size_t size);

HY_API_END
