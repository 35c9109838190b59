/* SPDX-License-Identifier: BSD-3-Clause */
/* What is less usual at a stream's end: joins, reservations, and objects that find no room. */

#include "lib/graph/compile/image.h"

void
hy_stream_overflow(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs,
	uint32_t n)
{
	const uint32_t room = graph->plan.stream_cap - node->edges[(int16_t)edge].to->waiting;

	if (room > 0)
		hy_append(graph, node, edge, objs, room);
	hy_count(&node->edges[-1 - HY_CORE_DROP_STREAM_FULL].objs, n - room);
	graph->plan.ops->release(objs + room, n - room);
}

void
hy_stream_append(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n)
{
	hy_append(graph, node, edge, node->stream + graph->cursor, n);
}

void **
hy_stream_get(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t *n)
{
	struct hy_node *to = node->edges[(int16_t)edge].to;
	struct hy_image_node *cold = hy_image_node(to);

	*n = (uint16_t)RTE_MIN((uint32_t)*n, graph->plan.stream_cap - to->waiting);
	cold->reserved_at = to->waiting;
	cold->reserved = *n;
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++)
		memset(hy_stream_lane(graph, to->stream, l) + to->waiting, 0,
			*n * sizeof(uint32_t));
	to->waiting += *n;
	return to->stream + cold->reserved_at;
}

uint32_t *
hy_stream_get_lane(struct hy_graph *graph, struct hy_node *node, uint16_t edge, unsigned int lane)
{
	const struct hy_node *to = node->edges[(int16_t)edge].to;

	return hy_stream_lane(graph, to->stream, node->lane[lane]) + hy_image_node(to)->reserved_at;
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

	/* Close the gap before what was sent during the reservation. */
	memmove(to->stream + hole, to->stream + behind, late * sizeof(*to->stream));
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++) {
		uint32_t *lane = hy_stream_lane(graph, to->stream, l);

		memmove(lane + hole, lane + behind, late * sizeof(*lane));
	}
	to->waiting = hole + late;
	cold->reserved = 0;
	hy_count(&e->objs, n);
	if (to->waiting > 0)
		hy_pending_set(graph, to);
}
