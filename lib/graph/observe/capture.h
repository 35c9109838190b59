/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture, between the control plane that starts and reads it (capture.c) and the worker that
 * copies (capture_walk.c).
 *
 * The thread that exchanges graph->capture for NULL owns it, as with a trace (trace.h): the worker
 * during each walk, the control plane for good. While the worker owns it, the process functions of
 * the captured nodes are replaced by one that copies objects before and after the call.
 *
 * Records in the ring are contiguous and none wraps around its end. Where the next one does not
 * fit, a gap is left up to the ring's start.
 */
#pragma once

#include <hy_capture.h>

#include "lib/graph/compile/image.h"

#define CAPTURE_GAP UINT16_MAX /* as the point of a record: nothing up to the ring's start */

/* How a point sees its objects. */
enum hy_capture_how {
	CAPTURE_MISSING, /* the image has no such point */
	CAPTURE_HANDED,  /* as the node's input */
	CAPTURE_MADE,    /* a source's: as what has come to all its targets */
	CAPTURE_SENT,    /* as what has come to the target of its edge, which no other edge has */
	CAPTURE_SHARED,  /* likewise, where several edges of the node may lead to the drop node */
};

struct hy_capture_spot {
	/* As started; "" is none. */
	char node[HY_NAME_SIZE];
	char edge[HY_NAME_SIZE];
	char drop[HY_NAME_SIZE];

	/* In the image that is walked. */
	struct hy_node *at;
	enum hy_capture_how how;
	int16_t out; /* the edge, negative for a drop reason */

	/* The call under way. */
	uint32_t waited[HY_CAPTURE_EDGES + 1]; /* at the targets, the drop node last */
	uint64_t ours, others; /* objects that had taken the edge, and others to the same target */
	uint64_t ours_next;    /* that hy_enqueue_next() has sent along the edge since */
};

struct hy_capture {
	/* As started. */
	struct hy_capture_spot spots[HY_CAPTURE_POINTS];
	uint16_t nb_spots;
	hy_trace_match_t *match;
	void *arg;
	uint64_t max_objs; /* UINT64_MAX: no end */
	uint32_t snap;
	uint32_t nb_bytes; /* of the ring, a power of two */

	/* The control plane's. */
	bool stopped;                               /* it has the capture back for good */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t head; /* bytes read */

	/* The worker's, read by others: with hy_count() and release stores. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t tail; /* bytes written */
	bool ended;
	unsigned int missing;
	uint64_t captured;
	uint64_t lost;
	uint64_t unsure;

	/* The worker's alone. */
	const struct hy_image *image; /* in which the points were looked up */
	hy_scatter_t *scatter;        /* that hy_enqueue_next() would call */
	uint64_t tsc;                 /* of the call under way */
	uint64_t lost_before;         /* the record written last */

	alignas(RTE_CACHE_LINE_SIZE) uint8_t ring[];
};

/* Bytes that a record takes, in the ring and in a reader's buffer. */
static inline uint32_t
hy_capture_size(uint32_t data)
{
	return RTE_ALIGN((uint32_t)sizeof(struct hy_capture_record) + data,
		(uint32_t)sizeof(uint64_t));
}

/* Looks a point up in an image. What it finds may be MISSING. */
void hy_capture_find(struct hy_capture_spot *spot, struct hy_image *image);

/* The worker's part: takes the capture for a walk; NULL if there is none. */
struct hy_capture *hy_capture_borrow(struct hy_graph *graph);
void hy_capture_return(struct hy_capture *capture, struct hy_graph *graph);
