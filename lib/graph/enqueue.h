/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of hy_enqueue_next(), one a file; every one does what the scalar body does. */
#ifndef HY_GRAPH_ENQUEUE_H
#define HY_GRAPH_ENQUEUE_H

#include <hy_graph_worker.h>

hy_scatter_t hy_scatter_scalar;
#ifdef RTE_ARCH_X86_64
hy_scatter_t hy_scatter_avx512;
#endif

/* The fastest body that this CPU and the SIMD width in force (EAL's) can run. */
hy_scatter_t *hy_scatter_best(void);

/* Whether objs lies in the node's stream, so that lane values stand beside it; and where. */
static inline bool
hy_in_stream(const struct hy_graph *graph, const struct hy_node *node, void **objs, size_t *index)
{
	*index = ((uintptr_t)objs - (uintptr_t)node->stream) / sizeof(*objs);
	return *index < graph->stream_cap;
}

/* Sends a whole burst along one edge: exchanges the streams where nothing stands against it. */
static inline void
hy_send_all(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint32_t n)
{
	if (objs == node->stream && n == node->waiting)
		hy_stream_move(graph, node, edge, (uint16_t)n);
	else
		hy_append(graph, node, edge, objs, n);
}

#endif
