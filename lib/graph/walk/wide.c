/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide lanes beside streams: what only graphs that declare some ever run. */

#include "wide.h"

void *
hy_lane_wide(const struct hy_graph *graph, const struct hy_node *node, unsigned int lane)
{
	const struct hy_wide *wide = graph->image->wide;

	return hy_wide_value(wide, node->stream, wide->nodes[node->rank].lane[lane], graph->cursor);
}

void
hy_wide_append(const struct hy_graph *graph, const struct hy_node *node, const struct hy_node *to,
	void **objs, uint32_t n)
{
	const struct hy_wide *wide = graph->image->wide;
	unsigned int lanes;
	size_t from;
	bool beside;

	if (wide == NULL)
		return;
	beside = hy_in_stream(graph, node, objs, &from);
	lanes = wide->nodes[to->rank].in & (beside ? wide->nodes[node->rank].out : UINT8_MAX);
	for (; lanes != 0; lanes &= lanes - 1) {
		const unsigned int l = (unsigned int)__builtin_ctz(lanes);
		const size_t size = (size_t)n * wide->lanes[l].bytes;
		void *tail = hy_wide_value(wide, to->stream, l, to->waiting);

		if (beside)
			memcpy(tail, hy_wide_value(wide, node->stream, l, from), size);
		else
			memset(tail, 0, size);
	}
}

void
hy_wide_move(const struct hy_wide *wide, void **stream, uint32_t to, uint32_t from, uint32_t n)
{
	for (unsigned int l = 0; wide != NULL && l < wide->nb_lanes; l++)
		memmove(hy_wide_value(wide, stream, l, to), hy_wide_value(wide, stream, l, from),
			(size_t)n * wide->lanes[l].bytes);
}

void
hy_wide_zero(const struct hy_wide *wide, void **stream, uint32_t at, uint32_t n)
{
	for (unsigned int l = 0; wide != NULL && l < wide->nb_lanes; l++)
		memset(hy_wide_value(wide, stream, l, at), 0, (size_t)n * wide->lanes[l].bytes);
}

/* The same lane in another table; nb_lanes if that has none of this name and width. */
static unsigned int
lane_in(const struct hy_wide *wide, const struct hy_wide_lane *lane)
{
	unsigned int l = 0;

	while (l < wide->nb_lanes &&
		(strcmp(wide->lanes[l].name, lane->name) != 0 ||
			wide->lanes[l].bytes != lane->bytes))
		l++;
	return l;
}

void
hy_wide_carry(const struct hy_wide *from, void **source, const struct hy_wide *to, void **target,
	uint32_t n)
{
	hy_wide_zero(to, target, 0, n);
	for (unsigned int l = 0; to != NULL && from != NULL && l < to->nb_lanes; l++) {
		const unsigned int f = lane_in(from, &to->lanes[l]);

		if (f < from->nb_lanes)
			memcpy(hy_wide_value(to, target, l, 0), hy_wide_value(from, source, f, 0),
				(size_t)n * to->lanes[l].bytes);
	}
}
