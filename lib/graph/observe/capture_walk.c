/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture, the worker's part: looking at the objects of a node before and after its call.
 *
 * What a node has sent along an edge is what has come to the edge's target meanwhile. Only the drop
 * node may be the target of several edges of one node. There, hy_enqueue_next() tells which objects
 * take which, and of what is dropped by other calls, the counters do if only one has grown.
 */

#include <string.h>

#include <rte_cycles.h>

#include "capture.h"
#include "lib/graph/update/control.h"

/* Contiguous free bytes at an offset of the ring. */
static uint32_t
room_at(const struct hy_capture *capture, uint64_t tail)
{
	const uint64_t used = tail - __atomic_load_n(&capture->head, __ATOMIC_ACQUIRE);
	const uint64_t to_end = capture->nb_bytes - (tail & (capture->nb_bytes - 1));

	return (uint32_t)RTE_MIN(capture->nb_bytes - used, to_end);
}

/* Writes a record where it has so much room. Returns its size, or 0 if it needs more. */
static uint32_t
record_write(struct hy_capture *capture, const struct hy_object_ops *ops, const void *obj,
	uint16_t point, uint64_t tail, uint32_t room)
{
	struct hy_capture_record *record = RTE_PTR_ADD(capture->ring,
		tail & (capture->nb_bytes - 1));
	uint32_t most;

	if (room < sizeof(*record))
		return 0;
	most = RTE_MIN(capture->snap, room - (uint32_t)sizeof(*record));
	record->size = (uint32_t)ops->copy(obj, record, most);
	if (most < capture->snap && record->length > most)
		return 0;
	record->tsc = capture->tsc;
	record->lost = (uint32_t)(capture->lost - capture->lost_before);
	record->point = point;
	capture->lost_before = capture->lost;
	return hy_capture_size(record->size);
}

/* Skips the rest of the ring; the reader continues at its start. */
static uint64_t
gap_write(struct hy_capture *capture, uint64_t tail, uint32_t room)
{
	struct hy_capture_record *gap = RTE_PTR_ADD(capture->ring, tail & (capture->nb_bytes - 1));

	/* A rest that is too short for a record is a gap without a marker. */
	if (room >= sizeof(*gap))
		gap->point = CAPTURE_GAP;
	return tail + room;
}

/*
 * If the ring is empty, and an object found no room all the same, it needs more than either piece:
 * the next one is to have all of it, once the reader has come to its start.
 */
static void
ring_restart(struct hy_capture *capture)
{
	const uint64_t tail = capture->tail;
	uint32_t room;

	if (tail != __atomic_load_n(&capture->head, __ATOMIC_RELAXED))
		return;
	room = room_at(capture, tail); /* now: to the end */
	if (room < capture->nb_bytes)
		__atomic_store_n(&capture->tail, gap_write(capture, tail, room), __ATOMIC_RELEASE);
}

static void
take(struct hy_capture *capture, const struct hy_graph *graph, uint16_t point, const void *obj)
{
	const struct hy_object_ops *ops = graph->plan.ops;
	uint64_t tail = capture->tail;
	uint32_t room = room_at(capture, tail), size;

	if (capture->captured == capture->max_objs ||
		(capture->match != NULL && !capture->match(obj, capture->arg)))
		return;
	size = record_write(capture, ops, obj, point, tail, room);
	if (size == 0 && ((tail + room) & (capture->nb_bytes - 1)) == 0) {
		const uint64_t start = tail + room;

		size = record_write(capture, ops, obj, point, start, room_at(capture, start));
		if (size > 0)
			tail = gap_write(capture, tail, room);
	}
	if (size == 0) {
		hy_count(&capture->lost, 1);
		ring_restart(capture);
		return;
	}
	hy_count(&capture->captured, 1);
	__atomic_store_n(&capture->tail, tail + size, __ATOMIC_RELEASE);
}

static void
take_all(struct hy_capture *capture, const struct hy_graph *graph, uint16_t point, void **objs,
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		take(capture, graph, point, objs[i]);
}

/* Objects that have taken other edges of a node to the target of one of them. */
static uint64_t
others(const struct hy_capture_spot *spot)
{
	const struct hy_image_node *cold = hy_image_node(spot->at);
	const struct hy_edge *edges = spot->at->edges;
	uint64_t n = 0;

	for (int e = -cold->nb_drops; e < cold->nb_edges; e++)
		if (e != spot->out && edges[e].to == edges[spot->out].to)
			n += edges[e].objs;
	return n;
}

/* The last target of a source that is a point: where its drops go, if it can drop. */
static const struct hy_node *
drop_target(const struct hy_node *node)
{
	return hy_image_node(node)->nb_drops > HY_CORE_DROPS ? node->edges[(int16_t)HY_DROP(0)].to
							     : NULL;
}

/* Where an edge of a source that is a point leads; NULL if that is looked at otherwise. */
static const struct hy_node *
made_target(const struct hy_node *node, unsigned int e)
{
	const struct hy_node *drop = drop_target(node);

	if (e == HY_CAPTURE_EDGES)
		return drop;
	if (e >= hy_image_node(node)->nb_edges || node->edges[e].to == drop)
		return NULL;
	return node->edges[e].to;
}

static void
spot_before(struct hy_capture *capture, const struct hy_graph *graph, uint16_t point, void **objs,
	uint16_t n)
{
	struct hy_capture_spot *spot = &capture->spots[point];

	switch (spot->how) {
	case CAPTURE_HANDED:
		take_all(capture, graph, point, objs, n);
		break;
	case CAPTURE_MADE:
		for (unsigned int e = 0; e <= HY_CAPTURE_EDGES; e++) {
			const struct hy_node *to = made_target(spot->at, e);

			spot->waited[e] = to == NULL ? 0 : to->waiting;
		}
		break;
	case CAPTURE_SHARED:
		spot->others = others(spot);
		spot->ours_next = 0;
		/* fallthrough */
	case CAPTURE_SENT:
		spot->ours = spot->at->edges[spot->out].objs;
		spot->waited[0] = spot->at->edges[spot->out].to->waiting;
		break;
	case CAPTURE_MISSING:
		break;
	}
}

/* Objects that reached a target by other calls than hy_enqueue_next(). */
static void
shared_after(struct hy_capture *capture, const struct hy_graph *graph, uint16_t point)
{
	const struct hy_capture_spot *spot = &capture->spots[point];
	const struct hy_edge *edge = &spot->at->edges[spot->out];
	const uint64_t ours = edge->objs - spot->ours - spot->ours_next;

	if (ours == 0)
		return;
	if (spot->ours_next == 0 && others(spot) == spot->others)
		take_all(capture, graph, point, edge->to->stream + spot->waited[0],
			edge->to->waiting - spot->waited[0]);
	else
		hy_count(&capture->unsure, ours);
}

static void
spot_after(struct hy_capture *capture, const struct hy_graph *graph, uint16_t point)
{
	const struct hy_capture_spot *spot = &capture->spots[point];
	const struct hy_node *to;

	if (spot->how == CAPTURE_SENT) {
		to = spot->at->edges[spot->out].to;
		take_all(capture, graph, point, to->stream + spot->waited[0],
			to->waiting - spot->waited[0]);
	} else if (spot->how == CAPTURE_SHARED) {
		shared_after(capture, graph, point);
	} else if (spot->how == CAPTURE_MADE) {
		for (unsigned int e = 0; e <= HY_CAPTURE_EDGES; e++) {
			to = made_target(spot->at, e);
			if (to != NULL)
				take_all(capture, graph, point, to->stream + spot->waited[e],
					to->waiting - spot->waited[e]);
		}
	}
}

/* Captures the objects that took a point's edge, which had so many before. */
static void
shared_next(struct hy_capture *capture, const struct hy_graph *graph, uint16_t point,
	uint64_t before, const uint16_t *next, void **objs, uint32_t n)
{
	struct hy_capture_spot *spot = &capture->spots[point];
	/* Order is kept on every edge: objects released for lack of room were the last ones. */
	uint64_t left = spot->at->edges[spot->out].objs - before;

	spot->ours_next += left;
	for (uint32_t i = 0; i < n && left > 0; i++) {
		if ((int16_t)next[i] != spot->out)
			continue;
		take(capture, graph, point, objs[i]);
		left--;
	}
}

static void
scatter(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs, uint32_t n)
{
	struct hy_capture *capture = graph->control->capture;
	uint64_t before[HY_CAPTURE_POINTS];

	for (uint16_t p = 0; p < capture->nb_spots; p++) {
		const struct hy_capture_spot *spot = &capture->spots[p];

		if (spot->at == node && spot->how == CAPTURE_SHARED)
			before[p] = node->edges[spot->out].objs;
	}
	/* Moves pointers and does not change objs. */
	capture->scatter(graph, node, next, objs, n);
	for (uint16_t p = 0; p < capture->nb_spots; p++) {
		const struct hy_capture_spot *spot = &capture->spots[p];

		if (spot->at == node && spot->how == CAPTURE_SHARED)
			shared_next(capture, graph, p, before[p], next, objs, n);
	}
}

/* In place of the process function of a node that is looked at. */
static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct hy_capture *capture = graph->control->capture;
	uint16_t done;

	if (graph->part != 0)
		graph->part = HY_PART_COPIED; /* looks for objects at their targets afterwards */
	capture->tsc = rte_rdtsc();
	for (uint16_t p = 0; p < capture->nb_spots; p++)
		if (capture->spots[p].at == node)
			spot_before(capture, graph, p, objs, n);
	capture->scatter = graph->plan.scatter;
	graph->plan.scatter = scatter;
	done = hy_image_node(node)->impl.process(graph, node, objs, n);
	graph->plan.scatter = capture->scatter;
	for (uint16_t p = 0; p < capture->nb_spots; p++)
		if (capture->spots[p].at == node)
			spot_after(capture, graph, p);
	return done;
}

/* Finds the edge or drop reason that a point names. Returns false if there is none. */
static bool
out_find(struct hy_capture_spot *spot, const struct hy_image_node *cold)
{
	if (spot->drop[0] != '\0') {
		for (int d = HY_CORE_DROPS; d < cold->nb_drops; d++) {
			spot->out = (int16_t)(-1 - d);
			if (strcmp(hy_image_drop(cold, (unsigned int)d)->name, spot->drop) == 0)
				return true;
		}
		return false;
	}
	for (int e = 0; e < cold->nb_edges; e++) {
		spot->out = (int16_t)e;
		if (strcmp(hy_image_node(spot->at->edges[e].to)->reg->name, spot->edge) == 0)
			return true;
	}
	return false;
}

void
hy_capture_find(struct hy_capture_spot *spot, struct hy_image *image)
{
	const struct hy_image_node *cold;
	unsigned int rank = 0;

	spot->at = NULL;
	spot->how = CAPTURE_MISSING;
	while (rank < image->plan.nb_nodes && strcmp(image->nodes[rank].reg->name, spot->node) != 0)
		rank++;
	if (rank == image->plan.nb_nodes)
		return;
	cold = &image->nodes[rank];
	spot->at = &image->hot[rank];
	if (spot->drop[0] == '\0' && spot->edge[0] == '\0') {
		if (rank >= image->plan.nb_sources)
			spot->how = CAPTURE_HANDED;
		else if (cold->nb_edges <= HY_CAPTURE_EDGES)
			spot->how = CAPTURE_MADE;
	} else if (out_find(spot, cold)) {
		spot->how = spot->at->edges[spot->out].to == drop_target(spot->at) ? CAPTURE_SHARED
										   : CAPTURE_SENT;
	}
}

static void
spots_find(struct hy_capture *capture, struct hy_image *image)
{
	unsigned int missing = 0;

	for (unsigned int p = 0; p < capture->nb_spots; p++) {
		hy_capture_find(&capture->spots[p], image);
		missing += capture->spots[p].how == CAPTURE_MISSING;
	}
	__atomic_store_n(&capture->missing, missing, __ATOMIC_RELAXED);
	capture->image = image;
}

struct hy_capture *
hy_capture_borrow(struct hy_graph *graph)
{
	struct hy_capture *capture = NULL;

	if ((__atomic_load_n(&graph->attention, __ATOMIC_ACQUIRE) & HY_ATTEND_CAPTURE) != 0)
		capture = __atomic_exchange_n(&graph->capture, NULL, __ATOMIC_ACQ_REL);
	if (capture == NULL)
		return NULL;
	if (capture->image != graph->image)
		spots_find(capture, graph->image);
	for (unsigned int p = 0; p < capture->nb_spots; p++)
		if (capture->spots[p].how != CAPTURE_MISSING)
			capture->spots[p].at->process = process;
	return capture;
}

void
hy_capture_return(struct hy_capture *capture, struct hy_graph *graph)
{
	for (unsigned int p = 0; p < capture->nb_spots; p++) {
		struct hy_node *node = capture->spots[p].at;

		if (node != NULL)
			node->process = hy_image_node(node)->impl.process;
	}
	if (capture->captured == capture->max_objs) {
		__atomic_store_n(&capture->ended, true, __ATOMIC_RELEASE);
		__atomic_and_fetch(&graph->attention, ~HY_ATTEND_CAPTURE, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&graph->capture, capture, __ATOMIC_RELEASE);
}
