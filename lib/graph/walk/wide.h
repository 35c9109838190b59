/* SPDX-License-Identifier: BSD-3-Clause */
/* Moving the values of wide lanes. Without wide lanes, `wide` is NULL, and they do nothing. */
#pragma once

#include "lib/graph/compile/image.h"

/* The value of lane l of the graph that stands beside the object at an index of a stream. */
static inline void *
hy_wide_value(const struct hy_wide *wide, void **stream, unsigned int l, size_t index)
{
	return RTE_PTR_ADD(stream, wide->offset[l] + index * wide->lanes[l].bytes);
}

/* What hy_lanes_append() does with lanes of 32 bits. */
void hy_wide_append(const struct hy_graph *graph, const struct hy_node *node,
	const struct hy_node *to, void **objs, uint32_t n);
/* Moves n values of each lane within a stream. */
void hy_wide_move(const struct hy_wide *wide, void **stream, uint32_t to, uint32_t from,
	uint32_t n);
void hy_wide_zero(const struct hy_wide *wide, void **stream, uint32_t at, uint32_t n);
/* Copies the values of n objects to a stream of another image: 0 in lanes that `from` lacks. */
void hy_wide_carry(const struct hy_wide *from, void **source, const struct hy_wide *to,
	void **target, uint32_t n);
/* Moves n objects of a node's stream, with all their lanes. */
void hy_stream_shift(const struct hy_graph *graph, const struct hy_node *node, uint32_t to,
	uint32_t from, uint32_t n);
