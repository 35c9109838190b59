/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of hy_enqueue_next(), one a file; every one does what the scalar body does. */
#ifndef HY_GRAPH_ENQUEUE_H
#define HY_GRAPH_ENQUEUE_H

#include <hy_graph_worker.h>

/* Vector bodies read 32 objects at once, and store whole vectors: room behind a stream's end. */
#define HY_STREAM_SLACK 32

hy_scatter_t hy_scatter_scalar;
hy_scatter_t hy_scatter_avx2;
hy_scatter_t hy_scatter_avx512;
hy_scatter_t hy_scatter_neon;

struct hy_scatter_body {
	const char *name;
	hy_scatter_t *scatter;
	uint16_t simd_bits;    /* width of vectors that EAL must allow; without EAL it allows 0 */
	bool (*cpu_can)(void); /* whether the CPU has the instructions */
};

/* All that were built, the fastest first; the last is the scalar one, which runs anywhere. */
extern const struct hy_scatter_body hy_scatter_bodies[];
extern const unsigned int hy_scatter_nb_bodies;

/* The fastest body that this CPU and the SIMD width in force (EAL's) can run. */
hy_scatter_t *hy_scatter_best(void);

/*
 * Sends a whole burst along one edge: exchanges the streams where nothing stands against it. A node
 * that replicates keeps its stream, for it will send the same objects again, with their lanes.
 */
static inline void
hy_send_all(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint32_t n)
{
	if (objs == node->stream && n == node->waiting && !graph->part && node->replicates == 1)
		hy_stream_move(graph, node, edge, (uint16_t)n);
	else
		hy_append(graph, node, edge, objs, n);
}

#endif
