/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing a graph while its worker walks it: see control.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_pause.h>

#include "control.h"
#include "log.h"
#include "params.h"
#include "share.h"
#include "stats.h"

/* The worker has left an image for good: its counters become history, its contexts the heirs'. */
static void
image_retire(const struct hy_graph *graph, struct hy_image *image, struct hy_image *successor)
{
	hy_stats_add(graph->control->history, image, HY_STATS_COUNTERS);
	hy_share_publish(graph); /* while those who read by what was published still can */
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++) {
		struct hy_image_node *old = &image->nodes[r], *heir;

		if (old->heir == NO_HEIR)
			continue;
		heir = &successor->nodes[old->heir];
		if (!heir->inherits)
			continue;
		heir->inherits = false;
		heir->initialised = true;
		old->initialised = false;
		image->hot[r].ctx = NULL;
	}
	hy_graph_discard(graph, image);
}

struct hy_image *
hy_graph_image(const struct hy_graph *graph)
{
	struct hy_control *control = graph->control;
	struct hy_image *before = control->current;

	if (control->published == NULL ||
		__atomic_load_n(&graph->image, __ATOMIC_ACQUIRE) != control->published)
		return before;
	control->current = control->published;
	control->published = NULL;
	image_retire(graph, before, control->current);
	return control->current;
}

/*
 * Takes back what the worker has not taken up yet, and returns it, or NULL. Where the worker was
 * faster, waits until it is through.
 */
static struct hy_image *
withdraw(struct hy_graph *graph)
{
	struct hy_image *image = __atomic_exchange_n(&graph->next, NULL, __ATOMIC_ACQ_REL);

	if (image != NULL) {
		graph->control->published = NULL;
		return image;
	}
	while (graph->control->published != NULL) {
		rte_pause();
		hy_graph_image(graph);
	}
	return NULL;
}

static void
publish(struct hy_graph *graph, struct hy_image *image)
{
	graph->control->published = image;
	__atomic_store_n(&graph->next, image, __ATOMIC_RELEASE);
	__atomic_or_fetch(&graph->attention, HY_ATTEND_IMAGE, __ATOMIC_RELEASE);
}

/* Makes entries for all that the current image counts, so that its retirement cannot fail. */
static int
history_prepare(struct hy_control *control)
{
	int rc = control->history == NULL ? hy_stats_new(&control->history) : 0;

	if (rc == 0)
		rc = hy_stats_add(control->history, control->current, HY_STATS_NAMES);
	if (rc == 0)
		hy_stats_bury(control->history);
	return rc;
}

/* A change of one graph, compiled and not published. */
struct change {
	struct hy_graph *graph;
	struct hy_graph_params params; /* own copy */
	struct hy_image *withdrawn;    /* of an earlier change that this one replaces, or NULL */
	struct hy_image *image;
	uint32_t stream_cap; /* of the graph before */
};

static void
withdrawn_restore(const struct change *change)
{
	if (change->withdrawn == NULL)
		return;
	/* The new one has named itself heir. */
	hy_image_heirs(change->withdrawn, change->graph->control->current);
	publish(change->graph, change->withdrawn);
}

static int
change_prepare(struct change *change, struct hy_graph *graph, const struct hy_graph_params *params)
{
	struct hy_control *control = graph->control;
	int rc = hy_params_copy(&change->params, params);

	change->graph = graph;
	change->withdrawn = withdraw(graph);
	change->stream_cap = control->stream_cap;
	if (rc == 0)
		rc = history_prepare(control);
	if (rc < 0)
		HY_LOG(ERR, "graph '%s': not enough memory", control->name);
	if (rc == 0)
		rc = hy_graph_compile(graph, &change->params, control->current, &change->image);
	if (rc < 0) {
		hy_params_free(&change->params);
		withdrawn_restore(change);
	}
	return rc;
}

static void
change_publish(struct change *change)
{
	struct hy_control *control = change->graph->control;

	if (change->withdrawn != NULL) {
		/* What was set since the first of the changes that the worker has not come to. */
		hy_image_budgets(change->image, change->withdrawn);
		hy_graph_discard(change->graph, change->withdrawn);
	}
	hy_params_free(&control->params);
	control->params = change->params;
	publish(change->graph, change->image);
	hy_share_publish(change->graph);
}

static void
change_cancel(struct change *change)
{
	struct hy_control *control = change->graph->control;

	hy_graph_discard(change->graph, change->image);
	hy_params_free(&change->params);
	__atomic_store_n(&control->stream_cap, change->stream_cap, __ATOMIC_RELAXED);
	withdrawn_restore(change);
}

static int
change_check(const struct hy_graph *graph, const struct hy_graph_params *params)
{
	const struct hy_graph_params *now = &graph->control->params;
	const int rc = hy_params_check(graph->control->name, params);

	if (rc == 0 &&
		(params->ops != now->ops || params->worker != now->worker ||
			params->socket != now->socket || params->qsbr != now->qsbr)) {
		HY_LOG(ERR, "graph '%s': ops, worker, socket and qsbr cannot change",
			hy_graph_name(graph));
		return -EINVAL;
	}
	return rc;
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
		const struct hy_graph_params *own = params != NULL
			? &params[prepared]
			: &graphs[prepared]->control->params;

		rc = change_check(graphs[prepared], own);
		if (rc == 0)
			rc = change_prepare(&changes[prepared], graphs[prepared], own);
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

/* Moves what waits on a node to its heir in another image. There is room, see room_wanted(). */
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

/* Carries over all that waits; what waits on a node that is gone is released, and counted there. */
static bool
carry(struct hy_image *from, struct hy_image *to)
{
	bool carried = false;

	for (unsigned int w = 0; w < from->plan.nb_words; w++) {
		for (uint64_t bits = from->plan.pending[w]; bits != 0; bits &= bits - 1) {
			const unsigned int r = 64 * w + (unsigned int)__builtin_ctzll(bits);
			const uint32_t heir = from->nodes[r].heir;
			struct hy_node *node = &from->hot[r];

			if (heir != NO_HEIR) {
				objects_move(from, node, to, &to->hot[heir]);
				carried = true;
			} else {
				hy_count(&node->edges[-1 - HY_CORE_DROP_NODE_REMOVED].objs,
					node->waiting);
				from->plan.ops->release(node->stream, node->waiting);
			}
			node->waiting = 0;
		}
	}
	return carried;
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
	bool carried;

	/* First: what is published from here on asks again. */
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_IMAGE, __ATOMIC_ACQUIRE);
	next = __atomic_exchange_n(&graph->next, NULL, __ATOMIC_ACQ_REL);
	if (next == NULL)
		return;
	hy_graph_disarm(graph); /* while the plan still has the sources that were armed */
	carried = carry(graph->image, next);
	graph->plan = next->plan;
	/* More may have come than a walk of the new graph would have; until it is through, walks go
	 * by the room that there is, and look after each pass what is left. */
	next->carries = carried;
	if (carried)
		graph->plan.cyclic = graph->plan.throttled = true;
	else
		graph->plan.stream_cap = next->stream_cap;
	graph->sample_left = 1;
	__atomic_store_n(&graph->image, next, __ATOMIC_RELEASE);
}
