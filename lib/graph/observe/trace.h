/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace, between the control plane that starts and reads it (trace.c) and the worker that takes
 * the records (trace_walk.c).
 *
 * The thread that exchanges graph->trace for NULL owns it. The worker does so at the start of a
 * walk if the attention word has its bit, and puts it back at the end. To get it back for good, the
 * control plane clears the bit and retries until it succeeds, at the end of the current walk at the
 * latest, since the worker does not take it again. Records pass through a ring with one writer and
 * one reader, which holds the registry's lock.
 */
#pragma once

#include <hy_trace.h>

#include "lib/graph/compile/image.h"
#include "marks.h"

/* A marked object of the call under way. */
struct hy_trace_visit {
	const void *obj;
	struct hy_trace_record *record; /* NULL: lost */
	bool sent;                      /* by hy_enqueue_next(), along: */
	int16_t edge;
};

struct hy_trace {
	/* As started. */
	uint32_t nb_objs;
	hy_trace_match_t *match;
	void *arg;
	bool at_sources; /* else: */
	hy_node_id at;
	uint32_t nb_records; /* of the ring, a power of two */
	uint64_t serial;     /* as an image's */

	/* The control plane's. */
	bool stopped;                               /* it has the trace back for good */
	alignas(RTE_CACHE_LINE_SIZE) uint32_t head; /* records read */

	/* The worker's, read by others: with hy_count() and release stores. */
	alignas(RTE_CACHE_LINE_SIZE) uint32_t tail; /* records written */
	bool ended;
	uint64_t marked;
	uint64_t unmarked;
	uint64_t recorded;
	uint64_t lost;

	/* The worker's alone. */
	const struct hy_image *image; /* that the marks were last compared with */
	struct hy_marks marks;
	uint32_t live;     /* objects that are followed: marks that are no candidates */
	uint32_t end;      /* of the stream of the node that runs, set by the walk */
	uint32_t looks;    /* at the streams; see struct hy_mark */
	uint64_t tsc;      /* the call under way: */
	void **stream;     /* of the node, before the call */
	uint32_t room;     /* records that the ring takes yet */
	uint32_t reserved; /* of them, written but not for the reader yet */
	uint32_t nb_visits;
	uint32_t sent;      /* where in visits the next object sent is looked for first */
	uint32_t drop_from; /* objects that waited on the drop node */
	uint64_t drops[HY_CORE_DROPS + HY_DESC_DROPS];
	struct hy_trace_visit visits[HY_BURST_MAX];

	alignas(RTE_CACHE_LINE_SIZE) struct hy_trace_record ring[];
};

/* Frees a trace that the worker does not own. NULL is allowed. */
void hy_trace_free(struct hy_trace *trace);

/* Reads the progress of a trace. */
void hy_trace_state_read(const struct hy_trace *trace, struct hy_trace_state *state);
/* Copies up to n unread records from a ring of that size, without removing them. Returns how many. */
unsigned int hy_trace_peek(const struct hy_trace *trace, uint32_t nb_records,
	struct hy_trace_record *records, unsigned int n);

/* The worker's part. */

/* Takes the trace for a walk; NULL if there is none. */
struct hy_trace *hy_trace_borrow(struct hy_graph *graph);
void hy_trace_return(struct hy_trace *trace, struct hy_graph *graph);
/* Around the call of a node with n objects; done is what it returned. */
void hy_trace_before(struct hy_trace *trace, const struct hy_graph *graph,
	const struct hy_node *node, uint16_t n);
void hy_trace_after(struct hy_trace *trace, const struct hy_graph *graph,
	const struct hy_node *node, uint16_t done);
