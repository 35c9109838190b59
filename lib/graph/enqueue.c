/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending objects on: the scalar body of hy_enqueue_next(), lanes, reservations, overflow. */

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "enqueue.h"
#include "image.h"

/* Objects from the start of next[] that take the same edge. */
static uint32_t
run_length(const uint16_t *next, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && next[i] == next[0])
		i++;
	return i;
}

void
hy_scatter_scalar(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	uint32_t run = run_length(next, n);

	if (run == n) {
		hy_send_all(graph, node, next[0], objs, n);
		return;
	}
	for (uint32_t i = 0; i < n; i += run) {
		run = run_length(next + i, n - i);
		hy_append(graph, node, next[i], objs + i, run);
	}
}

hy_scatter_t *
hy_scatter_best(void)
{
#ifdef RTE_ARCH_X86_64
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_512 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0)
		return hy_scatter_avx512;
#endif
	return hy_scatter_scalar;
}

void
hy_lanes_append(const struct hy_graph *graph, const struct hy_node *node, const struct hy_node *to,
	void **objs, uint32_t n)
{
	size_t from;
	const bool beside = hy_in_stream(graph, node, objs, &from);

	for (unsigned int l = 0; l < graph->nb_lanes; l++) {
		uint32_t *tail = hy_stream_lane(graph, to->stream, l) + to->waiting;

		if (beside)
			memcpy(tail, hy_stream_lane(graph, node->stream, l) + from,
				n * sizeof(*tail));
		else
			memset(tail, 0, n * sizeof(*tail));
	}
}

void
hy_stream_overflow(struct hy_graph *graph, struct hy_node *node, void **objs, uint32_t n)
{
	hy_count(&node->edges[-1 - HY_CORE_DROP_STREAM_FULL].objs, n);
	graph->ops->release(objs, n);
}

void **
hy_stream_get(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t *n)
{
	struct hy_node *to = node->edges[(int16_t)edge].to;
	struct hy_image_node *cold = hy_image_node(graph, to);

	*n = (uint16_t)RTE_MIN((uint32_t)*n, graph->stream_cap - to->waiting);
	cold->reserved_at = to->waiting;
	cold->reserved = *n;
	for (unsigned int l = 0; l < graph->nb_lanes; l++)
		memset(hy_stream_lane(graph, to->stream, l) + to->waiting, 0,
			*n * sizeof(uint32_t));
	to->waiting += *n;
	return to->stream + cold->reserved_at;
}

uint32_t *
hy_stream_get_lane(struct hy_graph *graph, struct hy_node *node, uint16_t edge, unsigned int lane)
{
	const struct hy_node *to = node->edges[(int16_t)edge].to;

	return hy_stream_lane(graph, to->stream, node->lane[lane]) +
		hy_image_node(graph, to)->reserved_at;
}

void
hy_stream_put(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];
	struct hy_node *to = e->to;
	struct hy_image_node *cold = hy_image_node(graph, to);
	const uint32_t hole = cold->reserved_at + n;
	const uint32_t behind = cold->reserved_at + cold->reserved;
	const uint32_t late = to->waiting - behind;

	/* Close the gap before what was sent during the reservation. */
	memmove(to->stream + hole, to->stream + behind, late * sizeof(*to->stream));
	for (unsigned int l = 0; l < graph->nb_lanes; l++) {
		uint32_t *lane = hy_stream_lane(graph, to->stream, l);

		memmove(lane + hole, lane + behind, late * sizeof(*lane));
	}
	to->waiting = hole + late;
	cold->reserved = 0;
	hy_count(&e->objs, n);
	if (to->waiting > 0)
		hy_pending_set(graph, to);
}
