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
#include "qsbr.h"

/* Adds what the current image has counted to the history. Returns 0 or -ENOMEM: nothing is added. */
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
	struct hy_image *left = control->current;

	control->current = left->successor;
	if (control->current == control->published)
		control->published = NULL;
	hy_share_publish(graph); /* while those who read by what was published still can */
	hy_image_bequeath(left, control->current);
	hy_graph_discard(graph, left);
}

static struct hy_image *
image_walked(const struct hy_graph *graph)
{
	return __atomic_load_n(&graph->image, __ATOMIC_ACQUIRE);
}

struct hy_image *
hy_graph_image(const struct hy_graph *graph)
{
	struct hy_control *control = graph->control;

	control->behind = false;
	/* Read anew each time: fini() may have looked, too. */
	while (control->current != image_walked(graph) && !control->behind) {
		control->behind = history_add(control) < 0;
		if (!control->behind)
			current_leave(graph);
	}
	return control->current;
}

void
hy_graph_catch_up(const struct hy_graph *graph)
{
	while (graph->control->current != image_walked(graph))
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
 * Leaves an image for the worker. If the last one still waits, replaces and returns it. Otherwise the
 * worker walks that one or is taking it up, and will find the new image when it next looks.
 */
static struct hy_image *
publish(struct hy_graph *graph, struct hy_image *image)
{
	struct hy_control *control = graph->control;
	struct hy_image *before = hy_graph_before_published(graph), *last = control->published;
	struct hy_image *replaced = last;

	/* Released: the image is complete. Relaxed if the worker was faster, since nothing that it has
	 * written is read before graph->image has been acquired. */
	if (last == NULL ||
		!__atomic_compare_exchange_n(&graph->next, &replaced, image, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
		__atomic_store_n(&graph->next, image, __ATOMIC_RELEASE);
		before = last == NULL ? control->current : last;
		replaced = NULL;
	}
	before->successor = image;
	control->published = image;
	/* After graph->next: a worker that clears the bit later acquires it and sees the image; if it
	 * cleared it earlier, the bit is set for its next walk. */
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
	if (rc < 0) {
		HY_LOG(ERR, "graph '%s': not enough memory", graph->control->name);
		return rc;
	}
	hy_graph_image(graph); /* frees what the worker has left */
	graph->control->changing = true;
	rc = hy_graph_compile(graph, &change->params, &change->image);
	if (rc < 0) {
		graph->control->changing = false;
		hy_params_free(&change->params);
	}
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
	graph->control->changing = false;
	hy_share_publish(graph);
	if (replaced == NULL)
		return;
	hy_image_bequeath(replaced, change->image);
	hy_graph_discard(graph, replaced);
}

static void
change_cancel(struct change *change)
{
	change->graph->control->changing = false;
	hy_graph_discard(change->graph, change->image);
	hy_params_free(&change->params);
}

static int
change_check(const struct hy_graph *graph, const struct hy_graph_params *params)
{
	const struct hy_graph_params *now = &graph->control->params;
	int rc;

	/* This thread has the lock, and an image that would follow another one than it was made for. */
	if (graph->control->changing) {
		HY_LOG(ERR,
			"graph '%s': is being changed; refused in the middle of that, such as by a "
			"node's init()",
			hy_graph_name(graph));
		return -EBUSY;
	}
	rc = hy_params_check(graph->control->name, params);
	if (rc == 0 &&
		(params->ops != now->ops || params->worker != now->worker ||
			params->socket != now->socket || params->qsbr != now->qsbr)) {
		HY_LOG(ERR, "graph '%s': ops, worker, socket and qsbr cannot change",
			hy_graph_name(graph));
		return -EINVAL;
	}
	return rc;
}

/* Refuses a graph that stands among those before it: its images would follow the same one. */
static int
graph_repeated(struct hy_graph *const *graphs, unsigned int at)
{
	for (unsigned int g = 0; g < at; g++) {
		if (graphs[g] != graphs[at])
			continue;
		HY_LOG(ERR, "graph '%s': given twice for one change", hy_graph_name(graphs[at]));
		return -EINVAL;
	}
	return 0;
}

int
hy_graph_update_each(struct hy_graph *const *graphs, const struct hy_graph_params *params,
	unsigned int n)
{
	struct change *changes = calloc(n + 1, sizeof(*changes));
	unsigned int prepared = 0;
	int rc = 0;

	if (changes == NULL) {
		HY_LOG(ERR, "not enough memory to change %u graphs", n);
		return -ENOMEM;
	}
	hy_registry_lock();
	for (; prepared < n && rc == 0; prepared++) {
		struct hy_graph *graph = graphs[prepared];
		const struct hy_graph_params *own = params != NULL ? &params[prepared]
								   : &graph->control->params;

		rc = graph_repeated(graphs, prepared);
		if (rc == 0)
			rc = change_check(graph, own);
		if (rc == 0)
			rc = change_prepare(&changes[prepared], graph, own);
	}
	if (rc < 0)
		prepared--;
	while (prepared-- > 0) {
		if (rc < 0)
			change_cancel(&changes[prepared]);
		else
			change_publish(&changes[prepared]);
	}
	hy_registry_unlock();
	free(changes);
	return rc;
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

/* Moves what waits on a node to the same node in another image. For its room, see room_wanted(). */
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
	heir->waiting = n;
	to->plan.pending[heir->rank / 64] |= UINT64_C(1) << (heir->rank % 64);
}

/* Carries over what waits on nodes that stay. Returns whether anything did. */
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

/* Releases what still waits, on nodes that are gone, and counts it there. */
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

	/* In a cycle, what sources may have under way can wait for ever. */
	if (left > 0 && (!own->cyclic || own->throttled || left > image->stream_cap))
		return;
	graph->plan.cyclic = own->cyclic;
	graph->plan.throttled = own->throttled;
	graph->plan.stream_cap = image->stream_cap;
	__atomic_store_n(&image->carries, false, __ATOMIC_RELAXED);
}

void
hy_graph_take_up(struct hy_graph *graph)
{
	struct hy_image *next;
	bool carried = false;

	/* First: what is published from here on asks again. */
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
	/* More may have come than a walk of the new graph would have; until it is through, walks go
	 * by the room that there is, and look after each pass what is left. */
	__atomic_store_n(&next->carries, carried, __ATOMIC_RELAXED);
	if (carried)
		graph->plan.cyclic = graph->plan.throttled = true;
	else
		graph->plan.stream_cap = next->stream_cap;
	graph->sample_left = 1;
	__atomic_store_n(&graph->image, next, __ATOMIC_RELEASE);
}
