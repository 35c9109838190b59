/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control plane's part of a graph. All functions require the registry's lock.
 *
 * A live change is a second image. The control plane compiles it, stores it in graph->next, and
 * sets a bit of the attention word, which the worker reads before each walk. The worker exchanges
 * graph->next for NULL, moves the waiting objects to the new image, and stores it in graph->image.
 * From then on it does not use the old image. The control plane adds that one's counters to the
 * graph's history and frees it the next time it reads the graph; there is no other grace period.
 *
 * A published image is never withdrawn. A later change compiles its image first, and then replaces
 * a waiting one in one step. So every walk that begins after an image was published uses that image
 * or a later one, and chains of arcs may name its edges (arc_live.c).
 *
 * The control plane does not wait for a worker that is switching. Images form a list by their
 * successors, from the last one that the worker is known to walk to the last one published: at most
 * one that it has left, one that it is switching to, and one that waits, unless memory for history
 * is short.
 */
#pragma once

#include <stdio.h>

#include "lib/graph/compile/image.h"

struct hy_control {
	char name[HY_NAME_SIZE];
	uint16_t worker;
	int socket;
	struct hy_graph_params params; /* own copy, see params.h */
	uint16_t burst;                /* params.burst, and the streams' capacity: read without */
	uint32_t stream_cap;           /* the lock, and written with __atomic_store_n() */
	struct hy_image *current;      /* the last one that the worker is known to walk */
	struct hy_image *published;    /* last of its successors, or NULL: it has none */
	struct hy_stats *history;      /* counters of images before the current one, or NULL */
	const struct hy_reg_owner *owner; /* or NULL: the program; see guard.h */
	/* It is being created, changed or destroyed, or leaves an image: fini() and release() run. */
	bool changing;
	bool leaving; /* it is being destroyed: what is shared tells nothing of it any more */
	bool behind; /* the worker has left the current image, but history lacks the memory for it */
	struct hy_trace *trace;     /* started last, or NULL; see trace.h */
	struct hy_capture *capture; /* likewise; see capture.h */
	struct hy_graph *next;      /* in the list of graphs */
	void *copied;               /* of a copy of another process's: what it was made from */
};

/* The graph after another one; for NULL the first. */
struct hy_graph *hy_graph_next(const struct hy_graph *graph);

/*
 * The image that the worker walks, or has just left. Its counters and those of the history add up
 * to the graph's. Frees earlier images that the worker has left. If memory to keep the counters of
 * one is short, that one stays current until a later call finds memory.
 */
struct hy_image *hy_graph_image(const struct hy_graph *graph);

/* Reads all graphs. To be done before the registry is looked at and changed: it runs fini() of what
 * workers have left, which may change anything. */
void hy_graph_read_all(void);

/* The predecessor of the last published image; NULL: the worker has switched to all. */
struct hy_image *hy_graph_before_published(const struct hy_graph *graph);

/* Frees all images before the one that is walked, in a graph that nobody walks any more. */
void hy_graph_catch_up(const struct hy_graph *graph);

/*
 * Compiles the current registry into a successor of the last published image; nodes keep their
 * contexts. Changes only the image's own memory and the references that it holds.
 */
int hy_graph_compile(const struct hy_graph *graph, const struct hy_graph_params *params,
	struct hy_image **image);
/* The image of the graph whose nodes the calling thread is initialising, or NULL. */
const struct hy_image *hy_graph_compiling(const struct hy_graph *graph);
/* Makes an image's burst and capacity the graph's. */
void hy_graph_announce(const struct hy_graph *graph, const struct hy_image *image);
/* Compiles a graph for display only. Both log errors. */
int hy_graph_outline(const char *name, const struct hy_graph_params *params,
	struct hy_image **image);
/* Undoes hy_graph_compile(), except for contexts that the next image inherits. */
void hy_graph_discard(const struct hy_graph *graph, struct hy_image *image);

/* Refuses with -EPERM, in the log, a call that only the graph's owner may make. */
int hy_graph_owner_check(const struct hy_graph *graph, const char *what);

/* Disarms the devices of a worker that was about to sleep. */
void hy_graph_disarm(struct hy_graph *graph);

/* After plan.stream_cap or the image has changed. */
static inline void
hy_graph_append_cap(struct hy_graph *graph)
{
	graph->append_cap = graph->image->wide == NULL ? graph->plan.stream_cap : 0;
}

/* The worker's part, before a walk: switches to graph->next, if it is still there. */
void hy_graph_take_up(struct hy_graph *graph);
/* Likewise, after a walk that leaves so many objects: those moved over may have left. */
void hy_graph_settle(struct hy_graph *graph, uint32_t left);
