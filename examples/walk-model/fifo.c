/* SPDX-License-Identifier: BSD-3-Clause */
/* See fifo.h. */

#include "fifo.h"

/* Appends to the queue the nodes that have objects and are not in it. */
static void
newcomers_queue(const struct hy_graph *graph, struct fifo *fifo)
{
	const struct hy_node *node = hy_walk_next(graph, 0);

	for (; node != NULL; node = hy_walk_next(graph, node->rank + 1u)) {
		if (node->rank >= FIFO_NODES || (fifo->queued >> node->rank & 1) != 0)
			continue; /* the core runs unqueued nodes at the end */
		fifo->queued |= UINT64_C(1) << node->rank;
		fifo->queue[(fifo->first + fifo->n++) % FIFO_NODES] = node->rank;
	}
	if (fifo->n > fifo->longest)
		fifo->longest = fifo->n;
}

void
fifo_walk(struct hy_graph *graph, struct hy_walk *walk, void *ctx)
{
	struct fifo *fifo = ctx;
	/* Objects may circulate in a cycle for ever: after these calls, the rest waits for the next walk. */
	unsigned int calls = (unsigned int)graph->plan.max_sweeps * graph->plan.nb_nodes;

	for (unsigned int s = 0; s < graph->plan.nb_sources; s++)
		hy_walk_source(graph, walk, s, UINT32_MAX);
	newcomers_queue(graph, fifo);
	for (; fifo->n > 0 && calls > 0; calls--) {
		const uint16_t rank = fifo->queue[fifo->first];

		fifo->first = (fifo->first + 1) % FIFO_NODES;
		fifo->n--;
		fifo->queued &= ~(UINT64_C(1) << rank);
		hy_walk_node(graph, walk, &graph->plan.nodes[rank]);
		newcomers_queue(graph, fifo);
	}
	/* A live change may give nodes other ranks before the next walk. */
	fifo->n = 0;
	fifo->queued = 0;
}
