/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a chain of nodes by a fusion: see hy_fuse.h. */

#include "lib/graph/compile/fuse.h"

/* Finds the nodes of a chain. Returns whether no object waits on one after the first. */
static inline bool
chain_find(const struct hy_fuse *fuse, struct hy_node *node, struct hy_node *nodes[])
{
	uint32_t waiting = 0;

	nodes[0] = node;
	for (unsigned int i = 1; i < fuse->nb_nodes; i++) {
		nodes[i] = nodes[i - 1]->edges[fuse->edge[i - 1]].to;
		waiting |= nodes[i]->waiting;
	}
	return waiting == 0;
}

/* The walk is timed: the later nodes' share of the cycles is the first one's, and not unknown. */
static __rte_noinline void
chain_sample(const struct hy_fuse *fuse, struct hy_node *const nodes[], uint16_t n)
{
	for (unsigned int i = 1; i < fuse->nb_nodes; i++) {
		struct hy_image_node *cold = hy_image_node(nodes[i]);

		hy_count(&cold->bursts[hy_burst_bucket(n)], 1);
		hy_count(&cold->sampled_objs, n);
	}
}

/* Counts objects that went from node to node; the walk counts those of the first. */
static inline void
chain_count(const struct hy_graph *graph, const struct hy_fuse *fuse, struct hy_node *const nodes[],
	uint16_t n)
{
	/* As walk_timed() sets it; others begin by taking one off. */
	if (unlikely(graph->sample_left == graph->plan.sample_every))
		chain_sample(fuse, nodes, n);
	for (unsigned int i = 1; i < fuse->nb_nodes; i++) {
		hy_count(&nodes[i - 1]->edges[fuse->edge[i - 1]].objs, n);
		hy_count(&nodes[i]->calls, 1);
		hy_count(&nodes[i]->objs, n);
	}
}

/* The whole burst has come to the last node: it has the stream, as if it had been handed on. */
static inline void
send_all(struct hy_graph *graph, struct hy_node *node, struct hy_node *last, const uint16_t *next,
	uint16_t n)
{
	void **stream = node->stream;

	node->stream = last->stream;
	last->stream = stream;
	last->waiting = n;
	hy_enqueue_next(graph, last, next, stream, n);
	last->waiting = 0;
}

/* The nodes handle what is left one after another. */
static __rte_noinline void
rest(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t from, uint16_t n)
{
	graph->part = HY_PART_COPIED;
	graph->cursor = from;
	hy_image_node(node)->impl.process(graph, node, objs + from, n);
	graph->part = 0;
	graph->cursor = 0;
}

uint16_t
hy_fused_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const struct hy_fuse *fuse = cold->fuse;
	struct hy_node *nodes[HY_FUSE_MAX], *last;
	uint16_t next[HY_BURST_MAX], done = 0;

	/* Objects must not overtake others, and find room where the chain leads. */
	if (likely((graph->part | graph->plan.throttled) == 0 && chain_find(fuse, node, nodes)))
		done = fuse->run(graph, nodes, objs, n, next);
	if (unlikely(done == 0))
		return cold->impl.process(graph, node, objs, n);
	last = nodes[fuse->nb_nodes - 1];
	chain_count(graph, fuse, nodes, done);
	if (likely(done == n)) {
		send_all(graph, node, last, next, n);
		return n;
	}
	hy_enqueue_next(graph, last, next, objs, done);
	rest(graph, node, objs, done, n - done);
	return n;
}
