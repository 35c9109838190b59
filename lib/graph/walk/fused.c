/* SPDX-License-Identifier: BSD-3-Clause */
/* Running chains of nodes by fusions: see hy_fuse.h. */

#include "lib/graph/compile/fuse.h"

/*
 * Finds the nodes of a chain. Returns whether nothing could be overtaken: no object waits on a node
 * after the first, and an earlier part of the stream has handed none on (stream.c).
 */
static inline bool
chain_find(const struct hy_image_node *cold, const struct hy_fuse *fuse, struct hy_node *node,
	struct hy_node *nodes[])
{
	uint32_t waiting = cold->handed;

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

/* The nodes handle what is left, so far in the burst, one after another. */
static __rte_noinline void
rest(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t from, uint16_t n)
{
	const uint8_t part = graph->part;
	const uint32_t cursor = graph->cursor;

	graph->part = HY_PART_COPIED;
	graph->cursor = cursor + from;
	hy_image_node(node)->impl.process(graph, node, objs, n);
	graph->part = part;
	graph->cursor = cursor;
}

/* Objects of a burst, by bit. */
typedef uint64_t bits[HY_FUSE_WORDS];

/* Some objects of a burst, in order. */
struct share {
	void *objs[HY_BURST_MAX];
	uint16_t n;
};

/* Deals a burst out by its bits. A branch could not be predicted. */
static void
split(void *const objs[], uint16_t n, const bits mine, struct share *with, struct share *without)
{
	uint16_t set = 0;

	for (uint16_t at = 0; at < n; at += 64) {
		const uint16_t end = RTE_MIN(n, at + 64);
		uint64_t word = mine[at / 64];

		for (uint16_t i = at; i < end; i++, word >>= 1) {
			with->objs[set] = objs[i];
			without->objs[i - set] = objs[i];
			set += word & 1;
		}
	}
	with->n = set;
	without->n = n - set;
}

/* Clears the first bits that are set. */
static void
clear_first(bits of, uint16_t n)
{
	for (unsigned int w = 0; n > 0; w++)
		for (; of[w] != 0 && n > 0; n--)
			of[w] &= of[w] - 1;
}

/* Moves the objects of a part of the stream whose bits are set to its start. Returns how many. */
static uint16_t
keep(const struct hy_graph *graph, const struct hy_node *node, void **objs, uint32_t at,
	const bits of)
{
	uint16_t n = 0;

	for (unsigned int w = 0; w < HY_FUSE_WORDS; w++)
		for (uint64_t left = of[w]; left != 0; left &= left - 1, n++) {
			const unsigned int i = 64 * w + (unsigned int)__builtin_ctzll(left);

			objs[n] = objs[i];
			for (unsigned int l = 0; l < graph->plan.nb_lanes; l++) {
				uint32_t *lane = hy_stream_lane(graph, node->stream, l) + at;

				lane[n] = lane[i];
			}
		}
	return n;
}

/* Runs a fusion on objects that need not lie in the stream. Returns how many it handled. */
static uint16_t
run(struct hy_graph *graph, struct hy_node *node, const struct hy_fuse *fuse, void **objs,
	uint16_t n)
{
	struct hy_node *nodes[HY_FUSE_MAX];
	uint16_t next[HY_BURST_MAX], done;

	if (n == 0 || fuse == NULL || !chain_find(hy_image_node(node), fuse, node, nodes))
		return 0;
	done = fuse->run(graph, nodes, objs, n, next);
	if (done > 0) {
		chain_count(graph, fuse, nodes, done);
		hy_enqueue_next(graph, nodes[fuse->nb_nodes - 1], next, objs, done);
	}
	return done;
}

/* Runs both fusions, each on its objects. Returns how many are left, which then are the first ones. */
static uint16_t
both(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t from, uint16_t n,
	bits mine)
{
	const struct hy_fuse *const *fuse = hy_image_node(node)->fuse;
	struct share first, second;
	uint16_t done[HY_FUSE_CHAINS];
	bits left;

	split(objs, n, mine, &second, &first);
	done[0] = run(graph, node, fuse[0], first.objs, first.n);
	done[1] = run(graph, node, fuse[1], second.objs, second.n);
	if (likely(done[0] + done[1] == n))
		return 0;
	for (unsigned int w = 0; w < HY_FUSE_WORDS; w++) {
		const unsigned int here = 64 * w < n ? n - 64 * w : 0;

		left[w] = here < 64 ? (UINT64_C(1) << here) - 1 : UINT64_MAX;
		left[w] &= ~mine[w];
	}
	clear_first(left, done[0]);
	clear_first(mine, done[1]);
	for (unsigned int w = 0; w < HY_FUSE_WORDS; w++)
		left[w] |= mine[w];
	return keep(graph, node, objs, graph->cursor + from, left);
}

/*
 * Handles objects from the first that a fusion has left, or of which none was tried. The picked ones
 * are those of the second chain; what may go the way of the first is among the others. What a burst was
 * like is tried first with the next one.
 */
static __rte_noinline void
pick(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t from, uint16_t n)
{
	struct hy_image_node *cold = hy_image_node(node);
	const struct hy_fuse *const *fuse = cold->fuse, *one;
	const uint16_t all = n;
	struct hy_node *nodes[HY_FUSE_MAX];
	bits mine = { 0 };
	uint16_t picked = 0;

	objs += from;
	n -= from;
	chain_find(cold, fuse[1], node, nodes);
	fuse[1]->pick(nodes, objs, n, mine);
	for (unsigned int w = 0; w < HY_FUSE_WORDS; w++)
		picked += (uint16_t)__builtin_popcountll(mine[w]);
	if (picked > 0 && picked < n) {
		cold->now = NULL;
		n = both(graph, node, objs, from, n, mine);
	} else {
		one = fuse[picked > 0];
		if (one != NULL && one != cold->now) {
			cold->now = one;
			picked = run(graph, node, one, objs, n);
			from += picked;
			n -= picked;
			objs += picked;
		}
	}
	if (n == all)
		cold->impl.process(graph, node, objs, n);
	else if (n > 0)
		rest(graph, node, objs, from, n);
}

uint16_t
hy_fused_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const struct hy_fuse *fuse = cold->now;
	struct hy_node *nodes[HY_FUSE_MAX], *last;
	uint16_t next[HY_BURST_MAX], done = 0;

	/* Objects must not overtake others, and find room where the chain leads. */
	if (unlikely(graph->plan.throttled))
		return cold->impl.process(graph, node, objs, n);
	if (likely(fuse != NULL) && likely(chain_find(cold, fuse, node, nodes)))
		done = fuse->run(graph, nodes, objs, n, next);
	if (unlikely(done == 0 && cold->fuse[1] == NULL))
		return cold->impl.process(graph, node, objs, n);
	if (likely(done > 0)) {
		last = nodes[fuse->nb_nodes - 1];
		chain_count(graph, fuse, nodes, done);
		if (likely(done == n && graph->part == 0)) {
			send_all(graph, node, last, next, n);
			return n;
		}
		hy_enqueue_next(graph, last, next, objs, done);
	}
	if (done < n && cold->fuse[1] != NULL)
		pick(graph, node, objs, done, n);
	else if (done < n)
		rest(graph, node, objs + done, done, n - done);
	return n;
}
