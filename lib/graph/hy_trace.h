/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Trace of objects through a graph: the next N objects that match are marked, and each node that
 * they come to leaves a record of what it saw of them and of what it did.
 *
 * A trace belongs to one graph. The worker takes the records, into a ring that is allocated when
 * the trace is started; any other thread reads them and puts them in words. The worker never waits:
 * what finds no room in the ring is counted as lost. A graph that is not traced pays nothing; one
 * that is walks slower until the last marked object has left it, and its walks are not timed
 * meanwhile, so that struct hy_node_stats.cycles tells of the others only.
 *
 * An object is marked by its address, and followed for as long as it waits in the graph: along
 * edges and back edges, as several copies where a node replicates it, through hy_graph_update(). It
 * is at its end when a node is called with it and leaves it waiting nowhere: has sent it, released
 * it, kept it for later, or put another in its place.
 *
 * Functions are called as those of hy_graph.h, and not from code that a walk runs.
 */
#ifndef HY_TRACE_H
#define HY_TRACE_H

#include <hy_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_TRACE_DATA 88               /**< Most bytes that are taken of an object. */
#define HY_TRACE_LIVE_MAX 256          /**< Most marked objects that are followed at a time. */
#define HY_TRACE_RECORDS_MAX (1 << 20) /**< Most records of a ring. */

/**
 * Whether an object is to be traced. Runs on the worker, in its walk: must not block.
 *
 * @param arg Of struct hy_trace_params.
 */
typedef bool(hy_trace_match_t)(const void *obj, void *arg);

/** What to trace. Copied by hy_trace_start(), but for what @p arg points to. */
struct hy_trace_params {
	uint32_t nb_objs;        /**< Objects to mark, at least 1. */
	hy_trace_match_t *match; /**< Asked of objects in turn. NULL takes all. */
	void *arg;               /**< For match; outlives the trace until it is stopped. */
	/**
	 * The node that marks, by name: what comes to it is asked, or what it makes if it is a
	 * source. NULL: what any source makes.
	 */
	const char *at;
	/**
	 * Records that can wait for hy_trace_read(), at most HY_TRACE_RECORDS_MAX; rounded up to a
	 * power of two. 0: 16 for each object, 4,096 at most.
	 */
	uint32_t nb_records;
};

/** How far a trace is. All but running count since hy_trace_start(). */
struct hy_trace_state {
	bool running;      /**< Objects may still be marked, or are still followed. */
	uint32_t marked;   /**< Objects that were marked; at most nb_objs. */
	uint64_t unmarked; /**< Matched, but as many as can be were followed already. */
	uint64_t recorded; /**< Records that found room in the ring. */
	uint64_t lost;     /**< Records that found none. */
};

/** One object at one node. As long as four cache lines: a record outlives the node it names. */
struct hy_trace_record {
	uint64_t tsc;                 /**< Of its worker, when the node was called. */
	uint32_t serial;              /**< The object's number in this trace, from 1 on. */
	hy_node_id node;              /**< The node. */
	uint16_t burst;               /**< Objects that the call had; that it made, in a source. */
	uint16_t index;               /**< The object's place among them, from 0 on. */
	bool last;                    /**< The object left the graph in this call. */
	uint8_t nb_lanes;             /**< Entries of lanes. */
	uint16_t size;                /**< Bytes of data. */
	uint32_t lanes[HY_LANES_MAX]; /**< The node's side data of the object, before the call. */
	uint8_t data[HY_TRACE_DATA]; /**< What was taken of the object; see struct hy_node_trace. */
	char name[HY_NAME_SIZE];     /**< The node's. */
	/**
	 * The reason for which the node dropped the object, "" if it did not. HY_TRACE_UNSURE where
	 * that cannot be told: the node dropped for several reasons in that call, and sent objects
	 * without hy_enqueue_next().
	 */
	char drop[HY_NAME_SIZE];
};

#define HY_TRACE_UNSURE "?" /**< Dropped, but the reason cannot be told. */

/**
 * Starts a trace. The worker comes to it before its next walk. Takes the place of a trace that has
 * ended or was stopped, and frees what is unread of that.
 *
 * @return 0; -EBUSY one is running; -EINVAL no objects, or too many records; -ENOENT the graph has
 * no node params->at; -EDEADLK called by node code, object operations or match in a walk that is
 * traced or captured; -ENOMEM.
 */
int hy_trace_start(struct hy_graph *graph, const struct hy_trace_params *params);

/**
 * Stops a trace: when this returns, nothing is marked or recorded any more, and match is not
 * called. It waits for the walk under way, if there is one; the worker does not wait. What was
 * recorded can still be read, until the next hy_trace_start() or hy_graph_destroy(). Stopping a
 * graph that is not traced does nothing. Called where hy_trace_start() returns -EDEADLK, it logs so
 * and stops nothing.
 */
void hy_trace_stop(struct hy_graph *graph);

/**
 * Takes records out, oldest first: those of one object in the order of its way. May be called while
 * the worker walks, at any time after hy_trace_start().
 *
 * @return Records taken: less than @p n if no more are there, 0 in a graph that was never traced.
 */
unsigned int hy_trace_read(struct hy_graph *graph, struct hy_trace_record *records, unsigned int n);

/** Reads how far a trace is. @return 0; -ENOENT the graph was never traced (not logged). */
int hy_trace_status(const struct hy_graph *graph, struct hy_trace_state *status);

/**
 * Puts what a record says of its object in words: by the node's formatter, else by that of the
 * graph's object operations, else lanes and data in hexadecimal: also if the node is registered no
 * more.
 *
 * @param graph The one that it was read from.
 * @param text One line without its end, cut where @p size ends it. "" if there is nothing to say.
 */
void hy_trace_format(const struct hy_graph *graph, const struct hy_trace_record *record, char *text,
	size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
