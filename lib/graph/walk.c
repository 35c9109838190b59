/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk: sources, then pending nodes in rank order. In a graph without cycles one pass empties
 * everything. With cycles, passes ("sweeps") repeat up to a budget, and what stays over is taken
 * off what the sources may make in the next walk; thereby no stream can overflow.
 */

#include <rte_cycles.h>

#include "image.h"

#define PART UINT32_MAX /* node->waiting while the node runs on only a part of its stream */

/* A timed walk reads the clock once a call: the end of one is the start of the next. */
static __rte_always_inline uint16_t
run(struct hy_graph *graph, struct hy_node *node, uint16_t n, uint64_t *tsc)
{
	const uint16_t done = node->process(graph, node, node->stream + node->cursor, n);

	hy_count(&node->calls, 1);
	hy_count(&node->objs, done);
	if (tsc != NULL) {
		struct hy_image_node *cold = hy_image_node(graph, node);
		const uint64_t now = rte_rdtsc();

		hy_count(&cold->sampled_calls, 1);
		hy_count(&cold->sampled_objs, done);
		hy_count(done > 0 ? &cold->sampled_cycles : &cold->sampled_idle, now - *tsc);
		*tsc = now;
	}
	return done;
}

/* Runs a node on all that waits, in bursts. */
static __rte_always_inline void
drain(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc)
{
	const uint32_t n = node->waiting;

	if (likely(n <= graph->burst)) {
		run(graph, node, (uint16_t)n, tsc);
	} else {
		node->waiting = PART;
		for (; node->cursor < n; node->cursor += graph->burst)
			run(graph, node, (uint16_t)RTE_MIN(n - node->cursor, graph->burst), tsc);
		node->cursor = 0;
	}
	node->waiting = 0;
}

/* Objects that the fullest target of a node still has room for. */
static uint32_t
room(const struct hy_graph *graph, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(graph, node);
	uint32_t least = graph->stream_cap;

	for (unsigned int e = 0; e < cold->nb_edges; e++)
		least = RTE_MIN(least, graph->stream_cap - node->edges[e].to->waiting);
	if (cold->nb_drops > HY_CORE_DROPS) {
		const struct hy_node *drop = node->edges[(int16_t)HY_DROP(0)].to;

		least = RTE_MIN(least, graph->stream_cap - drop->waiting);
	}
	return least;
}

/* Runs a node on as much as its targets have room for. Returns how many objects that was. */
static uint32_t
drain_throttled(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc)
{
	const uint32_t n = node->waiting;
	uint32_t done = 0, left;

	while (done < n) {
		uint32_t k = RTE_MIN(n - done, room(graph, node) / node->replicates);

		k = RTE_MIN(k, graph->burst);
		if (k == 0)
			break;
		node->cursor = done;
		node->waiting = k == n ? n : PART;
		run(graph, node, (uint16_t)k, tsc);
		done += k;
	}
	left = n - done;
	node->cursor = 0;
	node->waiting = left;
	if (left > 0) {
		memmove(node->stream, node->stream + done, left * sizeof(*node->stream));
		for (unsigned int l = 0; l < graph->nb_lanes; l++) {
			uint32_t *lane = hy_stream_lane(graph, node->stream, l);

			memmove(lane, lane + done, left * sizeof(*lane));
		}
		hy_pending_set(graph, node);
	}
	return done;
}

/* Every source gets its turn, as long as there is credit, from the given one on. */
static __rte_always_inline void
run_sources(struct hy_graph *graph, unsigned int first, uint64_t *tsc)
{
	for (unsigned int i = 0, s = first; i < graph->nb_sources; i++, s++) {
		struct hy_node *node =
			&graph->nodes[s < graph->nb_sources ? s : s - graph->nb_sources];
		uint32_t n = RTE_MIN((uint32_t)graph->burst, graph->credit);

		if (unlikely(graph->throttled))
			n = RTE_MIN(n, room(graph, node));
		if (unlikely(n == 0))
			continue;
		node->waiting = n;
		graph->credit -= run(graph, node, (uint16_t)n, tsc);
		node->waiting = 0;
	}
}

/* One pass over the pending nodes in rank order; a back edge's target waits for the next pass. */
static __rte_always_inline uint32_t
sweep(struct hy_graph *graph, uint64_t *tsc)
{
	uint32_t done = 0;

	for (unsigned int w = 0; w < graph->nb_words; w++) {
		uint64_t ahead = UINT64_MAX, bits;

		while ((bits = graph->pending[w] & ahead) != 0) {
			const unsigned int bit = (unsigned int)__builtin_ctzll(bits);
			struct hy_node *node = &graph->nodes[64 * w + bit];

			ahead = UINT64_MAX << bit << 1;
			graph->pending[w] &= ~(UINT64_C(1) << bit);
			if (unlikely(graph->throttled)) {
				done += drain_throttled(graph, node, tsc);
			} else {
				drain(graph, node, tsc);
				done++;
			}
		}
	}
	return done;
}

static __rte_always_inline void
walk_acyclic(struct hy_graph *graph, uint64_t *tsc)
{
	graph->credit = (uint32_t)graph->nb_sources * graph->burst;
	run_sources(graph, 0, tsc);
	sweep(graph, tsc);
}

/* Objects that wait in the graph; *last is the pending node of highest rank. */
static uint32_t
under_way(struct hy_graph *graph, struct hy_node **last)
{
	uint32_t n = 0;

	*last = NULL;
	for (unsigned int w = 0; w < graph->nb_words; w++) {
		for (uint64_t bits = graph->pending[w]; bits != 0; bits &= bits - 1) {
			*last = &graph->nodes[64 * w + (unsigned int)__builtin_ctzll(bits)];
			n += (*last)->waiting;
		}
	}
	return n;
}

/*
 * Full streams in a circle: nobody can go first. One node runs without regard for room, and what
 * does not fit is released and counted as stream_full.
 */
static void
break_deadlock(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc)
{
	graph->pending[node->rank / 64] &= ~(UINT64_C(1) << (node->rank % 64));
	drain(graph, node, tsc);
}

static void
walk_looping(struct hy_graph *graph, uint64_t *tsc)
{
	const uint32_t most = (uint32_t)graph->nb_sources * graph->burst;
	struct hy_node *last;
	uint32_t left = under_way(graph, &last);

	graph->credit = most > left ? most - left : 0;
	/* Credit may not do for all: each walk, another source is the first to take of it. */
	run_sources(graph, (unsigned int)(graph->walks % graph->nb_sources), tsc);
	for (unsigned int i = 0; i < graph->max_sweeps; i++) {
		const uint32_t done = sweep(graph, tsc);

		left = under_way(graph, &last);
		if (left == 0)
			break;
		if (done == 0)
			break_deadlock(graph, last, tsc);
	}
}

void
hy_graph_walk(struct hy_graph *graph)
{
	uint64_t start;

	if (likely(--graph->sample_left > 0)) {
		if (likely(!graph->cyclic && !graph->throttled))
			walk_acyclic(graph, NULL);
		else
			walk_looping(graph, NULL);
	} else {
		graph->sample_left = graph->sample_every;
		start = rte_rdtsc();
		if (likely(!graph->cyclic && !graph->throttled))
			walk_acyclic(graph, &start);
		else
			walk_looping(graph, &start);
	}
	__atomic_store_n(&graph->walks, graph->walks + 1, __ATOMIC_RELEASE);
}
