/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of hy_enqueue_next(), one a file; every one does what the scalar body does. */
#ifndef HY_GRAPH_ENQUEUE_H
#define HY_GRAPH_ENQUEUE_H

#include <hy_graph_worker.h>

/* A vector of pointers may be stored whole at a stream's end: room for what it writes too far. */
#define HY_STREAM_SLACK 16

hy_scatter_t hy_scatter_scalar;
#ifdef RTE_ARCH_X86_64
hy_scatter_t hy_scatter_avx512;
#endif

/* The fastest body that this CPU and the SIMD width in force (EAL's) can run. */
hy_scatter_t *hy_scatter_best(void);

/*
 * Sends a whole burst along one edge: exchanges the streams where nothing stands against it. A node
 * that replicates keeps its stream, for it will send the same objects again, with their lanes.
 */
static inline void
hy_send_all(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint32_t n)
{
	if (objs == node->stream && n == node->waiting && node->replicates == 1)
		hy_stream_move(graph, node, edge, (uint16_t)n);
	else
		hy_append(graph, node, edge, objs, n);
}

#endif
