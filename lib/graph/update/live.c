/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing a graph while its worker walks it: see control.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/registry/params.h"
#include "lib/graph/share/share.h"
#include "lib/graph/stats/stats.h"
#include "lib/graph/walk/wide.h"
#include "qsbr.h"

/* Adds the current image's counters to the history. Returns 0; -ENOMEM: nothing is added. */
static int
history_add(struct hy_control *control)
{
	int rc = control->history == NULL ? hy_stats_new(&control->history) : 0;

	if (rc == 0)
		rc = hy_stats_add(control->history, control->current, HY_STATS_NAMES);
	if (rc < 0)
		return rc;
	hy_stats_add(control->history, control->current, HY_STATS_COUNTERS);
	hy_stats_bury(control->history);
	return 0;
}

/* The worker has left the current image for good: its contexts are the next one's. */
static void
current_leave(const struct hy_graph *graph)
{
	struct hy_control *control = graph->control;
	const bool outer = control->changing;
	struct hy_image *left = control->current;

	control->changing = true;
	control->current = left->successor;
	if (control->current == control->published)
		control->published = NULL;
	if (!control->leaving)
		hy_share_publish(graph); /* while readers of the old description still can */
	hy_image_bequeath(left, control->current);
	hy_graph_discard(graph, left);
	control->changing = outer;
}

struct hy_image *
hy_graph_image(const struct hy_graph *graph)
{
	struct hy_control *control = graph->control;

	control->behind = false;
	/* Reads both each time: fini() may have read the graph, too. */
	while (control->current != __atomic_load_n(&graph->image, __ATOMIC_ACQUIRE) &&
		!control->behind) {
		control->behind = history_add(control) < 0;
		if (!control->behind)
			current_leave(graph);
	}
	return control->current;
}

void
hy_graph_read_all(void)
{
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL; g = hy_graph_next(g))
		hy_graph_image(g);
}

void
hy_graph_catch_up(const struct hy_graph *graph)
{
	while (graph->control->current != __atomic_load_n(&graph->image, __ATOMIC_ACQUIRE))
		current_leave(graph);
}

struct hy_image *
hy_graph_before_published(const struct hy_graph *graph)
{
	const struct hy_image *published = graph->control->published;
	struct hy_image *image = graph->control->current;

	if (published == NULL)
		return NULL;
	while (image->successor != published)
		image = image->successor;
	return image;
}

/*
 * Publishes an image for the worker. If the last one still waits, replaces and returns it.
 * Otherwise the worker walks that one or is switching to it, and finds the new image before its
 * next walk.
 */
static struct hy_image *
publish(struct hy_graph *graph, struct hy_image *image)
{
	struct hy_control *control = graph->control;
	struct hy_image *before = hy_graph_before_published(graph), *last = control->published;
	struct hy_image *replaced = last;

	/* Release: the image is complete. Relaxed if the worker was faster, since nothing that it
	 * wrote is read before graph->image is acquired. */
	if (last == NULL ||
		!__atomic_compare_exchange_n(&graph->next, &replaced, image, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
		__atomic_store_n(&graph->next, image, __ATOMIC_RELEASE);
		before = last == NULL ? control->current : last;
		replaced = NULL;
	}
	before->successor = image;
	control->published = image;
	/* After graph->next: a worker that clears the bit later sees the image. If it cleared the bit
	 * earlier, the bit is set for its next walk. */
	__atomic_or_fetch(&graph->attention, HY_ATTEND_IMAGE, __ATOMIC_RELEASE);
	return replaced;
}

/* A change of one graph, compiled and not published. */
struct change {
	struct hy_graph *graph;
	struct hy_graph_params params; /* own copy */
	struct hy_image *image;
};

static int
change_prepare(struct change *change, struct hy_graph *graph, const struct hy_graph_params *params)
{
	int rc = hy_params_copy(&change->params, params);

	change->graph = graph;
	if (rc < 0)
		return HY_REFUSE(rc, "graph '%s': not enough memory", graph->control->name);
	hy_graph_image(graph); /* frees what the worker has left */
	rc = hy_graph_compile(graph, &change->params, &change->image);
	if (rc < 0)
		hy_params_free(&change->params);
	return rc;
}

static void
change_publish(struct change *change)
{
	struct hy_graph *graph = change->graph;
	struct hy_image *replaced;

	hy_params_free(&graph->control->params);
	graph->control->params = change->params;
	hy_graph_announce(graph, change->image);
	replaced = publish(graph, change->image);
	hy_share_publish(graph);
	if (replaced == NULL)
		return;
	hy_image_bequeath(replaced, change->image);
	hy_graph_discard(graph, replaced);
}

static int
params_check(const struct hy_graph *graph, const struct hy_graph_params *params)
{
	const struct hy_graph_params *now = &graph->control->params;

	if (params->ops != now->ops || params->worker != now->worker ||
		params->socket != now->socket || params->qsbr != now->qsbr)
		return HY_REFUSE(-EINVAL, "graph '%s': ops, worker, socket and qsbr cannot change",
			hy_graph_name(graph));
	return hy_params_check(graph->control->name, params);
}

/* Whether a graph stands among those before it: its images would follow the same one. */
static bool
is_repeated(struct hy_graph *const *graphs, unsigned int at)
{
	unsigned int g = 0;

	while (graphs[g] != graphs[at])
		g++;
	return g < at;
}

/* Checks all graphs of a change before any code of theirs runs, and marks them. */
static int
changes_begin(const struct hy_reg_owner *by, struct hy_graph *const *graphs,
	const struct hy_graph_params *params, unsigned int n, unsigned int *begun)
{
	int rc = 0;

	for (*begun = 0; *begun < n; ++*begun) {
		struct hy_graph *graph = graphs[*begun];

		if (is_repeated(graphs, *begun))
			return HY_REFUSE(-EINVAL, "graph '%s': given twice for one change",
				hy_graph_name(graph));
		rc = hy_graph_busy_check(graph, "hy_graph_update()");
		if (rc == 0 && params != NULL && graph->control->owner != by)
			rc = hy_graph_owner_check(graph, "hy_graph_update() with parameters");
		if (rc == 0)
			rc = params_check(graph,
				params != NULL ? &params[*begun] : &graph->control->params);
		if (rc < 0)
			return rc;
		graph->control->changing = true;
	}
	return 0;
}

/* Compiles all, and publishes all or none. */
static int
changes_make(struct change *changes, struct hy_graph *const *graphs,
	const struct hy_graph_params *params, unsigned int n)
{
	unsigned int prepared = 0;
	int rc = 0;

	for (; prepared < n && rc == 0; prepared++)
		rc = change_prepare(&changes[prepared], graphs[prepared],
			params != NULL ? &params[prepared] : &graphs[prepared]->control->params);
	if (rc < 0)
		prepared--;
	while (prepared-- > 0) {
		if (rc == 0) {
			change_publish(&changes[prepared]);
			continue;
		}
		hy_graph_discard(changes[prepared].graph, changes[prepared].image);
		hy_params_free(&changes[prepared].params);
	}
	return rc;
}

int
hy_graph_update_as(const struct hy_reg_owner *owner, struct hy_graph *const *graphs,
	const struct hy_graph_params *params, unsigned int n)
{
	struct change *changes = calloc(n + 1, sizeof(*changes));
	unsigned int begun;
	int rc;

	if (changes == NULL)
		return HY_REFUSE(-ENOMEM, "not enough memory to change %u graphs", n);
	hy_registry_lock();
	rc = changes_begin(owner, graphs, params, n, &begun);
	if (rc == 0)
		rc = changes_make(changes, graphs, params, n);
	while (begun-- > 0)
		graphs[begun]->control->changing = false;
	hy_registry_unlock();
	free(changes);
	return rc;
}

int
hy_graph_update_each(struct hy_graph *const *graphs, const struct hy_graph_params *params,
	unsigned int n)
{
	return hy_graph_update_as(NULL, graphs, params, n);
}

int
hy_graph_update(struct hy_graph *graph, const struct hy_graph_params *params)
{
	return hy_graph_update_each(&graph, params, 1);
}

int
hy_graph_update_all(struct hy_graph *const *graphs, unsigned int n)
{
	return hy_graph_update_each(graphs, NULL, n);
}

bool
hy_graph_updating(const struct hy_graph *graph)
{
	bool updating;

	hy_registry_lock();
	hy_graph_image(graph);
	updating = graph->control->published != NULL;
	hy_registry_unlock();
	return updating;
}

/* Moves a node's waiting objects to the same node of another image; see room_wanted(). */
static void
objects_move(const struct hy_image *from, const struct hy_node *node, struct hy_image *to,
	struct hy_node *heir)
{
	const uint32_t n = node->waiting;

	memcpy(heir->stream, node->stream, n * sizeof(*heir->stream));
	for (unsigned int l = 0; l < to->plan.nb_lanes; l++) {
		uint32_t *lane = RTE_PTR_ADD(heir->stream, to->plan.lane_offset[l]);
		unsigned int f = 0;

		while (f < from->plan.nb_lanes && strcmp(from->lanes[f], to->lanes[l]) != 0)
			f++;
		if (f < from->plan.nb_lanes)
			memcpy(lane, RTE_PTR_ADD(node->stream, from->plan.lane_offset[f]),
				n * sizeof(*lane));
		else
			memset(lane, 0, n * sizeof(*lane));
	}
	hy_wide_carry(from->wide, node->stream, to->wide, heir->stream, n);
	heir->waiting = n;
	to->plan.pending[heir->rank / 64] |= UINT64_C(1) << (heir->rank % 64);
}

/* Moves the waiting objects of nodes that stay. Returns whether there were any. */
static bool
heirs_carry(struct hy_image *from, struct hy_image *to)
{
	bool carried = false;

	for (unsigned int r = 0; r < to->plan.nb_nodes; r++) {
		const uint32_t was = hy_image_was(to, r, from);
		uint64_t *word, bit;

		if (was == HY_NO_RANK)
			continue;
		word = &from->plan.pending[was / 64];
		bit = UINT64_C(1) << was % 64;
		if ((*word & bit) == 0)
			continue;
		objects_move(from, &from->hot[was], to, &to->hot[r]);
		from->hot[was].waiting = 0;
		*word &= ~bit;
		carried = true;
	}
	return carried;
}

/* Releases and counts the objects that still wait, on removed nodes. */
static void
rest_release(struct hy_image *from)
{
	for (unsigned int w = 0; w < from->plan.nb_words; w++) {
		for (uint64_t bits = from->plan.pending[w]; bits != 0; bits &= bits - 1) {
			struct hy_node *node =
				&from->hot[64 * w + (unsigned int)__builtin_ctzll(bits)];

			hy_count(&node->edges[-1 - HY_CORE_DROP_NODE_REMOVED].objs, node->waiting);
			from->plan.ops->release(node->stream, node->waiting);
			node->waiting = 0;
		}
	}
}

void
hy_graph_settle(struct hy_graph *graph, uint32_t left)
{
	struct hy_image *image = graph->image;
	const struct hy_plan *own = &image->plan;

	/* In a cycle, objects can wait for ever. */
	if (left > 0 && (!own->cyclic || own->throttled || left > image->stream_cap))
		return;
	graph->plan.cyclic = own->cyclic;
	graph->plan.throttled = own->throttled;
	graph->plan.stream_cap = image->stream_cap;
	hy_graph_append_cap(graph);
	__atomic_store_n(&image->carries, false, __ATOMIC_RELAXED);
}

void
hy_graph_take_up(struct hy_graph *graph)
{
	struct hy_image *next;
	bool carried = false;

	/* First: an image published from here on sets the bit again. */
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_IMAGE, __ATOMIC_ACQUIRE);
	next = __atomic_exchange_n(&graph->next, NULL, __ATOMIC_ACQ_REL);
	if (next == NULL)
		return;
	hy_graph_disarm(graph); /* while the plan still has the sources that were armed */
	if (hy_graph_holds(graph)) {
		carried = heirs_carry(graph->image, next);
		rest_release(graph->image);
	}
	graph->plan = next->plan;
	/* There may be more objects than in any walk of the new graph. Until they have left, walks
	 * check the room of streams, and what is left after each pass. */
	__atomic_store_n(&next->carries, carried, __ATOMIC_RELAXED);
	if (carried)
		graph->plan.cyclic = graph->plan.throttled = true;
	else
		graph->plan.stream_cap = next->stream_cap;
	graph->sample_left = 1;
	__atomic_store_n(&graph->image, next, __ATOMIC_RELEASE);
	hy_graph_append_cap(graph);
}
