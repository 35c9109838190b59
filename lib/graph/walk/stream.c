/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rare cases at a stream's end: joins, reservations, objects for which there is no room, and streams
 * that a node handles in several parts. As long as all of the parts take one edge, to an empty
 * target, the objects stay where they are ("handed"); with the last part the streams are exchanged.
 * Objects that go another way, or fewer of them, make those that are handed be copied after all.
 */

#include "enqueue.h"
#include "lib/graph/update/control.h"
#include "wide.h"

/* Moves n objects of a stream with all their lanes. */
void
hy_stream_shift(const struct hy_graph *graph, const struct hy_node *node, uint32_t to,
	uint32_t from, uint32_t n)
{
	memmove(node->stream + to, node->stream + from, n * sizeof(*node->stream));
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++) {
		uint32_t *lane = hy_stream_lane(graph, node->stream, l);

		memmove(lane + to, lane + from, n * sizeof(*lane));
	}
	hy_wide_move(graph->image->wide, node->stream, to, from, n);
}

/* The node's objects that were handed, which then are not any more. */
static uint32_t
take_handed(struct hy_graph *graph, struct hy_image_node *cold)
{
	const uint32_t n = cold->handed;

	cold->handed = 0;
	hy_graph_append_cap(graph);
	return n;
}

void
hy_stream_copy_handed(struct hy_graph *graph, struct hy_node *node)
{
	struct hy_image_node *cold = hy_image_node(node);

	if (cold->handed > 0)
		hy_append(graph, node, cold->handed_edge, node->stream, take_handed(graph, cold));
}

/* Hands on the first objects of a part, if all before it was handed the same way. */
static bool
hand(struct hy_graph *graph, const struct hy_node *node, uint16_t edge, uint32_t n)
{
	struct hy_image_node *cold = hy_image_node(node);
	const bool first = graph->cursor == 0 && node->edges[(int16_t)edge].to->waiting == 0;

	if (graph->part != HY_PART_KEPT || node->replicates > 1 || graph->cursor != cold->handed ||
		!(first || (cold->handed > 0 && edge == cold->handed_edge)))
		return false;
	cold->handed_edge = edge;
	cold->handed += n;
	graph->append_cap = 0;
	return true;
}

void
hy_stream_end(struct hy_graph *graph, struct hy_node *node)
{
	struct hy_image_node *cold = hy_image_node(node);
	struct hy_edge *e = &node->edges[(int16_t)cold->handed_edge];

	if (cold->handed == node->waiting)
		hy_stream_exchange(graph, node, e, take_handed(graph, cold));
	else
		hy_stream_copy_handed(graph, node);
}

void
hy_append_apart(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs,
	uint32_t n)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];
	uint32_t fit;

	hy_stream_settle(graph, node);
	fit = RTE_MIN(n, graph->plan.stream_cap - e->to->waiting);
	if (fit > 0) {
		hy_wide_append(graph, node, e->to, objs, fit);
		hy_append_fitting(graph, node, e, objs, fit);
	}
	if (fit == n)
		return;
	hy_count(&node->edges[-1 - HY_CORE_DROP_STREAM_FULL].objs, n - fit);
	graph->plan.ops->release(objs + fit, n - fit);
}

void
hy_stream_append(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n)
{
	if (!hand(graph, node, edge, n))
		hy_append(graph, node, edge, node->stream + graph->cursor, n);
}

void **
hy_stream_get(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t *n)
{
	struct hy_node *to = node->edges[(int16_t)edge].to;
	struct hy_image_node *cold = hy_image_node(to);

	hy_stream_settle(graph, node);
	*n = (uint16_t)RTE_MIN((uint32_t)*n, graph->plan.stream_cap - to->waiting);
	cold->reserved_at = to->waiting;
	cold->reserved = *n;
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++)
		memset(hy_stream_lane(graph, to->stream, l) + to->waiting, 0,
			*n * sizeof(uint32_t));
	hy_wide_zero(graph->image->wide, to->stream, to->waiting, *n);
	to->waiting += *n;
	return to->stream + cold->reserved_at;
}

uint32_t *
hy_stream_get_lane(struct hy_graph *graph, struct hy_node *node, uint16_t edge, unsigned int lane)
{
	const struct hy_node *to = node->edges[(int16_t)edge].to;

	return hy_stream_lane(graph, to->stream, node->lane[lane]) + hy_image_node(to)->reserved_at;
}

void *
hy_stream_get_wide(struct hy_graph *graph, struct hy_node *node, uint16_t edge, unsigned int lane)
{
	const struct hy_wide *wide = graph->image->wide;
	const struct hy_node *to = node->edges[(int16_t)edge].to;

	return hy_wide_value(wide, to->stream, wide->nodes[node->rank].lane[lane],
		hy_image_node(to)->reserved_at);
}

void
hy_stream_put(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];
	struct hy_node *to = e->to;
	struct hy_image_node *cold = hy_image_node(to);
	const uint32_t hole = cold->reserved_at + n;
	const uint32_t behind = cold->reserved_at + cold->reserved;
	const uint32_t late = to->waiting - behind;

	/* Close the gap before objects sent during the reservation. */
	if (late > 0)
		hy_stream_shift(graph, to, hole, behind, late);
	to->waiting = hole + late;
	cold->reserved = 0;
	hy_count(&e->objs, n);
	if (to->waiting > 0)
		hy_pending_set(graph, to);
}
