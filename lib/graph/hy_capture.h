/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Capture of objects in a graph: of what comes to a node, takes an edge, or is dropped for a reason,
 * the bytes are copied while the graph runs.
 *
 * A capture belongs to one graph. The worker copies, through struct hy_object_ops, into a ring of
 * bytes that is allocated when the capture is started; any other thread reads. The worker never
 * waits: what finds no room is counted as lost. Only the nodes that are looked at pay, and the walk
 * a little; walks that capture are not timed, so that struct hy_node_stats.cycles tells of the
 * others only. A graph that is not captured pays nothing.
 *
 * Functions are called as those of hy_graph.h, and not from code that a walk runs.
 */
#ifndef HY_CAPTURE_H
#define HY_CAPTURE_H

#include <hy_trace.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_CAPTURE_POINTS 16             /**< Most points of a capture. */
#define HY_CAPTURE_EDGES 64              /**< Most edges of a source that is a point. */
#define HY_CAPTURE_SNAP_MAX 65535        /**< Most bytes that are taken of an object. */
#define HY_CAPTURE_BYTES_DEFAULT 4194304 /**< Bytes of a ring. */
#define HY_CAPTURE_BYTES_MIN 4096        /**< Fewest. */
#define HY_CAPTURE_BYTES_MAX (1u << 30)  /**< Most. */

/**
 * Where objects are captured: at a node, or, if one of edge and drop is given, where they leave it.
 * A live change may take a point away and bring it back: the capture goes on.
 */
struct hy_capture_point {
	/**
	 * A node, by name. Alone: what it is called with, as it is before the call; of a source,
	 * what it has sent.
	 */
	const char *node;
	/** The node that an edge of it leads to, by name: what was sent along. Or NULL. */
	const char *edge;
	/** One of its own drop reasons, by name: what it has dropped for that. Or NULL. */
	const char *drop;
};

/** What to capture. Copied by hy_capture_start(), but for what @p arg points to. */
struct hy_capture_params {
	const struct hy_capture_point *points; /**< Where. */
	unsigned int nb_points;                /**< 1 to HY_CAPTURE_POINTS. */
	/** Asked of objects in turn, at each point. NULL takes all. */
	hy_trace_match_t *match;
	void *arg;         /**< For match; outlives the capture until it is stopped. */
	uint64_t max_objs; /**< Ends after so many records. 0: when it is stopped. */
	/** Most bytes to take of an object, at most HY_CAPTURE_SNAP_MAX, which 0 stands for. */
	uint32_t snap;
	/**
	 * Bytes of the ring, HY_CAPTURE_BYTES_MIN to HY_CAPTURE_BYTES_MAX; rounded up to a power of
	 * two. 0: HY_CAPTURE_BYTES_DEFAULT. Each record lies there in one piece: one that needs more
	 * than half of the ring may find no room although all is read, but not the next one then.
	 */
	uint32_t nb_bytes;
};

/** How far a capture is. All but running and missing count since hy_capture_start(). */
struct hy_capture_state {
	bool running;      /**< Objects may still be captured. */
	uint64_t captured; /**< Records that found room in the ring. */
	uint64_t lost;     /**< Records that found none. */
	/**
	 * Objects that took an edge or were dropped and could not be told from others: a node that
	 * dropped for several reasons in a call, without hy_enqueue_next().
	 */
	uint64_t unsure;
	/** Points that the graph does not have, as far as its worker knows. */
	unsigned int missing;
};

/** One object at one point. */
struct hy_capture_record {
	uint64_t tsc;    /**< Of its worker: when the node was called. */
	uint32_t length; /**< Bytes of the object, of which size were taken. */
	uint32_t size;   /**< Bytes of data. */
	uint32_t lost;   /**< Records that found no room between the one before and this. */
	uint16_t point;  /**< Index into the points of struct hy_capture_params. */
	uint16_t origin; /**< Where the object came from: of a packet, the port. */
	uint8_t data[];  /**< What was taken of the object. */
};

/**
 * Starts a capture. The worker comes to it before its next walk. Takes the place of a capture that
 * has ended or was stopped, and frees what is unread of that.
 *
 * @return 0; -EBUSY one is running; -EINVAL a parameter is not accepted, or a point names the
 * core's own drop reasons, whose objects are gone when they count; -ENOENT the graph has no such
 * node, edge or drop reason; -ENOTSUP the objects of the graph cannot be copied; -EDEADLK called by
 * node code, object operations or match in a walk that is traced or captured; -ENOMEM.
 */
int hy_capture_start(struct hy_graph *graph, const struct hy_capture_params *params);

/**
 * Stops a capture: when this returns, nothing is captured any more, and match is not called. It
 * waits for the walk under way, if there is one; the worker does not wait. What was captured can
 * still be read, until the next hy_capture_start() or hy_graph_destroy(). Stopping a graph that is
 * not captured does nothing. Called where hy_capture_start() returns -EDEADLK, it logs so and stops
 * nothing.
 */
void hy_capture_stop(struct hy_graph *graph);

/** Room that is enough for any record. */
#define HY_CAPTURE_RECORD_MAX \
	RTE_ALIGN(sizeof(struct hy_capture_record) + HY_CAPTURE_SNAP_MAX, sizeof(uint64_t))

/**
 * Takes whole records out, oldest first, as many as fit. May be called while the worker walks, at
 * any time after hy_capture_start().
 *
 * @param buffer Room for @p size bytes, at least HY_CAPTURE_RECORD_MAX, aligned to 8. The first
 * record is at its start, the others follow; see hy_capture_next().
 * @return Bytes that the records take: 0 if there is none, or the graph was never captured.
 */
size_t hy_capture_read(struct hy_graph *graph, void *buffer, size_t size);

/** The record behind another in a buffer. */
static inline const struct hy_capture_record *
hy_capture_next(const struct hy_capture_record *record)
{
	const size_t size = RTE_ALIGN(sizeof(*record) + record->size, sizeof(uint64_t));

	return (const struct hy_capture_record *)((const uint8_t *)record + size);
}

/** Reads how far a capture is. @return 0; -ENOENT the graph was never captured (not logged). */
int hy_capture_status(const struct hy_graph *graph, struct hy_capture_state *status);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
