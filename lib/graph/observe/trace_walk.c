/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trace, the worker's part: what goes on around each call of a node.
 *
 * Before the call, objects are marked, and a record is begun for each marked object of the burst.
 * After it, a look at all that waits in the graph tells which of them live on. So a mark never
 * outlives its object's stay in the graph, and memory that is used again is never taken for it.
 */

#include <string.h>

#include <rte_cycles.h>

#include "lib/graph/update/control.h"
#include "trace.h"

static void
see(struct hy_trace *trace, void **objs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hy_mark *mark = hy_marks_find(&trace->marks, objs[i]);

		if (mark != NULL)
			mark->seen = trace->looks;
	}
}

/* Finds marked objects that wait in the graph. In the node that just ran, only those after done. */
static void
look(struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *ran, uint32_t done,
	uint32_t end)
{
	const struct hy_plan *plan = &graph->plan;

	trace->looks++;
	for (unsigned int w = 0; w < plan->nb_words; w++) {
		for (uint64_t bits = plan->pending[w]; bits != 0; bits &= bits - 1) {
			const struct hy_node *node =
				&plan->nodes[64 * w + (unsigned int)__builtin_ctzll(bits)];

			if (node != ran)
				see(trace, node->stream, node->waiting);
		}
	}
	if (done < end)
		see(trace, ran->stream + done, end - done);
}

static void
mark_drop(struct hy_trace *trace, struct hy_mark *mark)
{
	hy_marks_remove(&trace->marks, mark);
	trace->live--;
}

/* After a live change: objects on removed nodes have been released. */
static void
marks_compare(struct hy_trace *trace, const struct hy_graph *graph)
{
	struct hy_marks *marks = &trace->marks;
	uint32_t i = 0;

	look(trace, graph, NULL, 0, 0);
	while (i < MARKS_SLOTS) {
		struct hy_mark *mark = &marks->slots[i];

		/* Another mark may have moved to the place of a removed one. */
		if (mark->obj != NULL && mark->seen != trace->looks)
			mark_drop(trace, mark);
		else
			i++;
	}
	trace->image = graph->image;
}

/* Whether an object matches and can be marked. */
static bool
wanted(struct hy_trace *trace, const void *obj)
{
	if (trace->marked == trace->nb_objs ||
		(trace->match != NULL && !trace->match(obj, trace->arg)))
		return false;
	if (trace->live < HY_TRACE_LIVE_MAX)
		return true;
	hy_count(&trace->unmarked, 1);
	return false;
}

static void
mark_number(struct hy_trace *trace, struct hy_mark *mark)
{
	hy_count(&trace->marked, 1);
	mark->serial = (uint32_t)trace->marked;
	trace->live++;
}

static void
record_fill(const struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *node,
	uint32_t i, struct hy_trace_record *record)
{
	const struct hy_object_ops *ops = graph->plan.ops;
	const struct hy_reg_node *reg = hy_image_node(node)->reg;
	const void *obj = trace->stream[graph->cursor + i];
	size_t size = 0;

	record->node = reg->id;
	strcpy(record->name, reg->name);
	record->drop[0] = '\0';
	record->last = false;
	record->index = (uint16_t)i;
	record->tsc = trace->tsc;
	record->nb_lanes = (uint8_t)reg->nb_lanes;
	for (unsigned int l = 0; l < reg->nb_lanes; l++)
		record->lanes[l] = hy_stream_lane(graph, trace->stream,
			node->lane[l])[graph->cursor + i];
	if (reg->trace.snapshot != NULL)
		size = reg->trace.snapshot(node, obj, record->lanes, record->data, HY_TRACE_DATA);
	else if (ops->snapshot != NULL)
		size = ops->snapshot(obj, record->data, HY_TRACE_DATA);
	record->size = (uint16_t)RTE_MIN(size, (size_t)HY_TRACE_DATA);
}

/* Begins the record of the i-th of n objects of a burst, if the ring has room for it. */
static void
visit(struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *node, uint32_t i,
	uint16_t n, uint32_t serial)
{
	struct hy_trace_visit *v = &trace->visits[trace->nb_visits++];

	*v = (struct hy_trace_visit){ .obj = trace->stream[graph->cursor + i] };
	if (trace->reserved == trace->room) {
		hy_count(&trace->lost, 1);
		return;
	}
	v->record = &trace->ring[(trace->tail + trace->reserved++) & (trace->nb_records - 1)];
	record_fill(trace, graph, node, i, v->record);
	v->record->serial = serial;
	v->record->burst = n;
}

/* Whether the node marks objects, and the trace still wants some. */
static bool
marks_here(const struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *node)
{
	if (trace->marked == trace->nb_objs)
		return false;
	return trace->at_sources ? node->rank < graph->plan.nb_sources
				 : hy_image_node(node)->reg->id == trace->at;
}

/* Notes the drop counters, to see afterwards which of them grew. */
static void
drops_note(struct hy_trace *trace, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(node);

	for (int d = 0; d < cold->nb_drops; d++)
		trace->drops[d] = node->edges[-1 - d].objs;
	if (cold->nb_drops > HY_CORE_DROPS)
		trace->drop_from = node->edges[(int16_t)HY_DROP(0)].to->waiting;
}

void
hy_trace_before(struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *node,
	uint16_t n)
{
	const bool marking = marks_here(trace, graph, node);

	trace->stream = node->stream;
	trace->tsc = rte_rdtsc();
	trace->nb_visits = 0;
	trace->sent = 0;
	trace->reserved = 0;
	trace->room = trace->nb_records -
		(trace->tail - __atomic_load_n(&trace->head, __ATOMIC_ACQUIRE));
	if (marking)
		drops_note(trace, node);
	if (node->rank < graph->plan.nb_sources || (!marking && trace->live == 0))
		return;
	for (uint32_t i = 0; i < n; i++) {
		const void *obj = node->stream[graph->cursor + i];
		struct hy_mark *mark = hy_marks_find(&trace->marks, obj);

		if (mark == NULL && marking && wanted(trace, obj)) {
			mark = hy_marks_add(&trace->marks, obj);
			mark_number(trace, mark);
		}
		if (mark != NULL)
			visit(trace, graph, node, i, n, mark->serial);
	}
	if (trace->nb_visits > 0)
		drops_note(trace, node);
}

/* The visit of an object that is sent: the first that was not yet, else one that is sent again. */
static struct hy_trace_visit *
visit_sent(struct hy_trace *trace, const void *obj)
{
	struct hy_trace_visit *again = NULL;

	if (hy_marks_find(&trace->marks, obj) == NULL)
		return NULL;
	for (uint32_t i = 0; i < trace->nb_visits; i++) {
		/* Mostly objects are sent in the order of the burst. */
		const uint32_t at = (trace->sent + i) % trace->nb_visits;
		struct hy_trace_visit *v = &trace->visits[at];

		if (v->obj != obj)
			continue;
		again = v;
		if (!v->sent) {
			trace->sent = at + 1;
			break;
		}
	}
	return again;
}

/* Notes along which edges marked objects are sent, before they are. */
static void
scatter(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs, uint32_t n)
{
	struct hy_trace *trace = graph->control->trace;

	for (uint32_t i = 0; i < n && trace->nb_visits > 0; i++) {
		struct hy_trace_visit *v = visit_sent(trace, objs[i]);

		/* Of several copies, one that is dropped is reported. */
		if (v == NULL || (v->sent && (int16_t)next[i] >= 0))
			continue;
		v->sent = true;
		v->edge = (int16_t)next[i];
	}
	graph->image->plan.scatter(graph, node, next, objs, n);
}

/* Whether the call has put an object on the drop node. */
static bool
dropped(const struct hy_trace *trace, const struct hy_node *drop, const void *obj)
{
	for (uint32_t i = trace->drop_from; i < drop->waiting; i++)
		if (drop->stream[i] == obj)
			return true;
	return false;
}

/* The reason, where the node has sent objects without saying which: the one that has grown. */
static const char *
drop_guess(const struct hy_trace *trace, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const struct hy_node *drop = node->edges[(int16_t)HY_DROP(0)].to;
	const char *name = "";

	for (int d = HY_CORE_DROPS; d < cold->nb_drops; d++) {
		if (node->edges[-1 - d].objs == trace->drops[d])
			continue;
		if (name[0] != '\0')
			return HY_TRACE_UNSURE;
		name = hy_image_drop(cold, (unsigned int)d)->name;
	}
	for (unsigned int e = 0; name[0] != '\0' && e < cold->nb_edges; e++)
		if (node->edges[e].to == drop)
			return HY_TRACE_UNSURE;
	return name;
}

static const char *
drop_reason(const struct hy_trace *trace, const struct hy_node *node,
	const struct hy_trace_visit *v, bool lives)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const bool overflow = node->edges[-1 - HY_CORE_DROP_STREAM_FULL].objs !=
		trace->drops[HY_CORE_DROP_STREAM_FULL];

	if (!lives && overflow)
		return v->sent ? hy_core_drops[HY_CORE_DROP_STREAM_FULL].name : HY_TRACE_UNSURE;
	if (cold->nb_drops == HY_CORE_DROPS ||
		!dropped(trace, node->edges[(int16_t)HY_DROP(0)].to, v->obj))
		return "";
	if (!v->sent)
		return drop_guess(trace, node);
	return v->edge < 0 ? hy_image_drop(cold, (unsigned int)(-1 - v->edge))->name : "";
}

static void
visit_end(const struct hy_trace *trace, const struct hy_node *node, const struct hy_trace_visit *v,
	bool lives)
{
	if (v->record == NULL)
		return;
	strcpy(v->record->drop, drop_reason(trace, node, v, lives));
	v->record->last = !lives;
}

/* Marks objects that a source made, if they wait somewhere: others are not safe to read. */
static void
mark_made(struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *node,
	uint16_t made)
{
	for (uint32_t i = 0; i < made; i++)
		if (trace->stream[i] != NULL &&
			hy_marks_find(&trace->marks, trace->stream[i]) == NULL)
			hy_marks_add(&trace->marks, trace->stream[i]);
	look(trace, graph, node, 0, 0);
	for (uint32_t i = 0; i < made; i++) {
		const void *obj = trace->stream[i];
		struct hy_mark *mark = hy_marks_find(&trace->marks, obj);

		if (mark == NULL || mark->serial != 0)
			continue;
		if (mark->seen == trace->looks && wanted(trace, obj)) {
			mark_number(trace, mark);
			visit(trace, graph, node, i, made, mark->serial);
			visit_end(trace, node, &trace->visits[trace->nb_visits - 1], true);
		} else {
			hy_marks_remove(&trace->marks, mark);
		}
	}
}

void
hy_trace_after(struct hy_trace *trace, const struct hy_graph *graph, const struct hy_node *node,
	uint16_t done)
{
	if (node->rank < graph->plan.nb_sources) {
		if (done > 0 && marks_here(trace, graph, node))
			mark_made(trace, graph, node, done);
	} else if (trace->nb_visits > 0) {
		look(trace, graph, node, graph->cursor + done, trace->end);
		for (uint32_t i = 0; i < trace->nb_visits; i++) {
			const struct hy_trace_visit *v = &trace->visits[i];
			struct hy_mark *mark = hy_marks_find(&trace->marks, v->obj);
			const bool lives = mark != NULL && mark->seen == trace->looks;

			visit_end(trace, node, v, lives);
			if (mark != NULL && !lives)
				mark_drop(trace, mark);
		}
	}
	hy_count(&trace->recorded, trace->reserved);
	__atomic_store_n(&trace->tail, trace->tail + trace->reserved, __ATOMIC_RELEASE);
}

struct hy_trace *
hy_trace_borrow(struct hy_graph *graph)
{
	struct hy_trace *trace = NULL;

	/* A trace that has ended stays there to be read, without its bit. */
	if ((__atomic_load_n(&graph->attention, __ATOMIC_ACQUIRE) & HY_ATTEND_TRACE) != 0)
		trace = __atomic_exchange_n(&graph->trace, NULL, __ATOMIC_ACQ_REL);
	if (trace == NULL)
		return NULL;
	if (trace->image != graph->image)
		marks_compare(trace, graph);
	graph->plan.scatter = scatter;
	return trace;
}

void
hy_trace_return(struct hy_trace *trace, struct hy_graph *graph)
{
	graph->plan.scatter = graph->image->plan.scatter;
	if (trace->marked == trace->nb_objs && trace->live == 0) {
		__atomic_store_n(&trace->ended, true, __ATOMIC_RELEASE);
		__atomic_and_fetch(&graph->attention, ~HY_ATTEND_TRACE, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&graph->trace, trace, __ATOMIC_RELEASE);
}
