/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of hy_enqueue_next(), one a file; every one does what the scalar body does. */
#pragma once

#include <hy_graph_worker.h>

/* Vector bodies read 32 objects at once, and store whole vectors: room after a stream's end. */
#define HY_STREAM_SLACK 32

hy_scatter_t hy_scatter_scalar;
hy_scatter_t hy_scatter_avx2;
hy_scatter_t hy_scatter_avx512;
hy_scatter_t hy_scatter_neon;
/* Of graphs with wide lanes: leaves to the image's own body what takes none of them along. */
hy_scatter_t hy_scatter_wide;

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

/* Copies the objects that were handed (stream.c), if any. */
void hy_stream_copy_handed(struct hy_graph *graph, struct hy_node *node);
/* After the last part of a node's stream. */
void hy_stream_end(struct hy_graph *graph, struct hy_node *node);

/* Before a node sends objects another way, or to where it handed some. */
static inline void
hy_stream_settle(struct hy_graph *graph, struct hy_node *node)
{
	if (unlikely(graph->append_cap == 0))
		hy_stream_copy_handed(graph, node);
}

/*
 * Sends a whole burst along one edge: exchanges the streams where nothing stands against it. A node
 * that replicates keeps its stream, for it will send the same objects again, with their lanes.
 */
static inline void
hy_send_all(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint32_t n)
{
	if (objs == node->stream + graph->cursor && node->replicates == 1 &&
		(n == node->waiting || graph->part))
		hy_stream_move(graph, node, edge, (uint16_t)n);
	else
		hy_append(graph, node, edge, objs, n);
}
