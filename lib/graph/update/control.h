/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control plane's part of a graph. Everything here wants the registry's lock held.
 *
 * A live change is a second image. The control plane compiles it, leaves it in graph->next, and
 * asks for attention: a word that the worker reads before each walk. The worker exchanges
 * graph->next for NULL, carries over what waits in the old image, and says so in graph->image. From
 * then on it does not touch the old one, which the control plane adds to the graph's history and
 * frees as soon as it looks again: there is no other grace period.
 *
 * A published image is never withdrawn. A later change compiles its image first, and then puts it in
 * the place of the one that still waits, in one step. So every walk that begins after an image was
 * published is in that image or in a later one, and arcs may tell objects of its edges (arc_live.c).
 *
 * The control plane does not wait for a worker that has exchanged graph->next and not said so yet.
 * Images form a list by their successors, from the one that the worker was last known to walk to the
 * one published last: at most one that it has left, one that it is taking up, and one that waits,
 * unless memory for history is short.
 */
#ifndef HY_GRAPH_CONTROL_H
#define HY_GRAPH_CONTROL_H

#include <stdio.h>

#include "lib/graph/compile/image.h"

struct hy_control {
	char name[HY_NAME_SIZE];
	uint16_t worker;
	int socket;
	struct hy_graph_params params; /* own copy, see params.h */
	uint16_t burst;                /* params.burst, and the streams' capacity: read without */
	uint32_t stream_cap;           /* the lock, and written with __atomic_store_n() */
	struct hy_image *current;      /* what the worker walks, as far as is known */
	struct hy_image *published;    /* last of its successors, or NULL: it has none */
	struct hy_stats *history;      /* counters of images before the current one, or NULL */
	bool changing; /* an image is being compiled for it, or waits for others to be */
	bool behind; /* the worker has left the current image, but history lacks the memory for it */
	struct hy_trace *trace;     /* started last, or NULL; see trace.h */
	struct hy_capture *capture; /* likewise; see capture.h */
	struct hy_graph *next;      /* in the list of graphs */
	void *copied;               /* of a copy of another process's: what it was made from */
};

/* The graph behind another, or the first behind NULL. */
struct hy_graph *hy_graph_next(const struct hy_graph *graph);

/*
 * The image that the worker walks, or has just left: whose counters and the history's make the
 * graph's. Frees those before it that the worker has left. Without the memory to keep what one of
 * them has counted, that one stays current, until the next call that finds memory.
 */
struct hy_image *hy_graph_image(const struct hy_graph *graph);

/* The image that the one published last follows; NULL: the worker has taken up all. */
struct hy_image *hy_graph_before_published(const struct hy_graph *graph);

/* Leaves behind all images before the one that is walked, for a graph that nobody walks any more. */
void hy_graph_catch_up(const struct hy_graph *graph);

/*
 * Compiles the registry as it is now, to follow the image published last: nodes keep their contexts.
 * Changes nothing but the image's own memory and the references that it holds.
 */
int hy_graph_compile(const struct hy_graph *graph, const struct hy_graph_params *params,
	struct hy_image **image);
/* The image whose nodes the calling thread is initialising, if it is of that graph; or NULL. */
const struct hy_image *hy_graph_compiling(const struct hy_graph *graph);
/* From here on its burst and capacity are the graph's. */
void hy_graph_announce(const struct hy_graph *graph, const struct hy_image *image);
/* Compiles what can be looked at of a graph that is not there. Both log why they cannot. */
int hy_graph_outline(const char *name, const struct hy_graph_params *params,
	struct hy_image **image);
/* Undoes what of hy_graph_compile() the next image does not inherit. */
void hy_graph_discard(const struct hy_graph *graph, struct hy_image *image);

/*
 * The calling thread is in a walk to which the graph's trace or capture has been lent. Whoever takes
 * those back waits for the end of the walk with the registry's lock held.
 */
extern _Thread_local const struct hy_graph *hy_graph_lent;
/* Says so, and returns -EDEADLK; else returns 0. */
int hy_graph_lent_check(const struct hy_graph *graph, const char *what);

/* Takes back what a worker that was about to sleep has asked of its devices. */
void hy_graph_disarm(struct hy_graph *graph);

/* The worker's part, before a walk: takes up graph->next, if it is still there. */
void hy_graph_take_up(struct hy_graph *graph);
/* Likewise, where a walk leaves so many objects: what was carried over may be through. */
void hy_graph_settle(struct hy_graph *graph, uint32_t left);

#endif
