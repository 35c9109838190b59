/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Capture of objects in a graph: copies the bytes of objects that reach a node, take an edge, or
 * are dropped for a reason, while the graph runs.
 *
 * A capture belongs to one graph. The worker copies, through struct hy_object_ops, into a ring of
 * bytes that is allocated when the capture starts; any other thread reads. The worker never waits:
 * records that do not fit are counted as lost. Only the captured nodes pay, and the walk a little.
 * Walks that capture are not timed, so struct hy_node_stats.cycles covers the others only. A graph
 * that is not captured pays nothing.
 *
 * Calling rules are those of hy_graph.h. Code that a walk runs must not call these functions.
 */
#pragma once

#include <hy_trace.h>

HY_API_BEGIN

#define HY_CAPTURE_POINTS 16             /**< Most points of a capture. */
#define HY_CAPTURE_EDGES 64              /**< Most edges of a source that is a point. */
#define HY_CAPTURE_SNAP_MAX 65535        /**< Most bytes copied from an object. */
#define HY_CAPTURE_BYTES_DEFAULT 4194304 /**< Bytes of a ring. */
#define HY_CAPTURE_BYTES_MIN 4096        /**< Fewest. */
#define HY_CAPTURE_BYTES_MAX (1u << 30)  /**< Most. */

/**
 * Where objects are captured: at a node, or, if edge or drop is given, where they leave it. A live
 * change may remove a point and bring it back; the capture continues.
 */
struct hy_capture_point {
	/**
	 * Name of a node. Alone: the objects that it is called with, as they are before the call; of
	 * a source, the objects that it sent.
	 */
	const char *node;
	/** Name of the target of one of its edges: the objects sent along it. Or NULL. */
	const char *edge;
	/** Name of one of its own drop reasons: the objects dropped for it. Or NULL. */
	const char *drop;
};

/** Parameters of a capture. hy_capture_start() copies them, but not what @p arg points to. */
struct hy_capture_params {
	const struct hy_capture_point *points; /**< Where. */
	unsigned int nb_points;                /**< 1 to HY_CAPTURE_POINTS. */
	/** Called for objects in turn, at each point. NULL: all match. */
	hy_trace_match_t *match;
	void *arg;         /**< For match; must live until the capture is stopped. */
	uint64_t max_objs; /**< Records after which the capture ends. 0: until it is stopped. */
	/** Most bytes to copy from an object, up to HY_CAPTURE_SNAP_MAX; 0 means that. */
	uint32_t snap;
	/**
	 * Bytes of the ring, HY_CAPTURE_BYTES_MIN to HY_CAPTURE_BYTES_MAX; rounded up to a power of
	 * two. 0: HY_CAPTURE_BYTES_DEFAULT. Records are contiguous: one larger than half of the ring
	 * may not fit even if all is read, but then the next one does.
	 */
	uint32_t nb_bytes;
};

/** Progress of a capture. All but running and missing count since hy_capture_start(). */
struct hy_capture_state {
	bool running;      /**< Objects may still be captured. */
	uint64_t captured; /**< Records written to the ring. */
	uint64_t lost;     /**< Records that did not fit. */
	/**
	 * Objects whose edge or drop reason is unknown: the node dropped for several reasons in a
	 * call, without hy_enqueue_next().
	 */
	uint64_t unsure;
	/** Points that the graph does not have, as of the worker's current image. */
	unsigned int missing;
};

/** One object at one point. */
struct hy_capture_record {
	uint64_t tsc;    /**< The worker's TSC when the node was called. */
	uint32_t length; /**< Bytes of the object, of which size were copied. */
	uint32_t size;   /**< Bytes of data. */
	uint32_t lost;   /**< Records lost between the previous one and this one. */
	uint16_t point;  /**< Index into the points of struct hy_capture_params. */
	uint16_t origin; /**< Where the object came from; the port of a packet. */
	uint8_t data[];  /**< Bytes copied from the object. */
};

/**
 * Starts a capture, with the worker's next walk. Replaces a capture that has ended or was stopped,
 * and frees its unread records.
 *
 * @return 0; -EBUSY one is running, or called in the middle of a change of the graph; -EINVAL a
 * parameter is not accepted, or a point names a drop reason of the core, whose objects are already
 * released when it counts; -ENOENT the graph has no such node, edge or drop reason; -ENOTSUP the
 * objects of the graph cannot be copied; -EDEADLK called by code of a graph on its worker
 * (hy_graph.h); -ENOMEM.
 */
int hy_capture_start(struct hy_graph *graph, const struct hy_capture_params *params);

/**
 * Stops a capture: when this returns, nothing is captured any more, and match is not called. It
 * waits for the end of the current walk, if any; the worker does not wait. Records can still be
 * read until the next hy_capture_start() or hy_graph_destroy(). Does nothing if the graph is not
 * captured. Where hy_capture_start() returns -EDEADLK, it logs that and stops nothing.
 */
void hy_capture_stop(struct hy_graph *graph);

/** Room for the largest record. */
#define HY_CAPTURE_RECORD_MAX \
	RTE_ALIGN(sizeof(struct hy_capture_record) + HY_CAPTURE_SNAP_MAX, sizeof(uint64_t))

/**
 * Reads and removes whole records, oldest first, as many as fit. May be called while the worker
 * walks, at any time after hy_capture_start().
 *
 * @param buffer Room for @p size bytes, at least HY_CAPTURE_RECORD_MAX, aligned to 8. The first
 * record is at its start, the others follow; see hy_capture_next().
 * @return Bytes of records: 0 if there are none, or the graph was never captured.
 */
size_t hy_capture_read(struct hy_graph *graph, void *buffer, size_t size);

/** The record after another one in a buffer. */
static inline const struct hy_capture_record *
hy_capture_next(const struct hy_capture_record *record)
{
	const size_t size = RTE_ALIGN(sizeof(*record) + record->size, sizeof(uint64_t));

	return (const struct hy_capture_record *)((const uint8_t *)record + size);
}

/** Reads the progress of a capture. @return 0; -ENOENT the graph was never captured (not logged). */
int hy_capture_status(const struct hy_graph *graph, struct hy_capture_state *status);

HY_API_END
