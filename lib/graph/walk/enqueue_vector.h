/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hy_enqueue_next() in vector instructions: what its bodies have in common. For each distinct edge
 * of a burst: compare all next[] with it, 32 at a time, then pack the pointers and lane values that
 * match to the end of the target's stream. That costs a pass an edge: where the first two edges say
 * that there are many, the scalar body is faster, and after MAX_PASSES the few that are left go one
 * by one.
 *
 * A file that includes this defines before:
 * VECTOR: the target attribute of its instruction set;
 * MANY: edges, equally used, from which on the scalar body is faster (hy-bench enqueue);
 * match_word(next, edge): which of 32 next[] are that edge, as bits;
 * pack_objs(tail, objs, hit): appends those of 32 objects whose bit is set, and returns the new
 * tail, behind which it may have written up to HY_STREAM_SLACK more;
 * pack_lane(tail, lane, hit): the same for lane values.
 */
#pragma once

#include "enqueue.h"

#define MAX_PASSES 8
#define TOO_FEW 8 /* objects for the passes to pay */
#define WORDS (HY_BURST_MAX / 32)

struct burst {
	struct hy_graph *graph;
	struct hy_node *node;
	const uint16_t *next;
	void **objs;
	uint32_t left[WORDS]; /* bits of objects not sent yet */
	unsigned int words;
	bool beside; /* the objects have lane values, from this index on */
	size_t from;
};

/* An edge and the objects that take it. */
struct pass {
	uint16_t edge;
	uint32_t count;
	uint32_t hit[WORDS];
};

/* Finds the objects that take the same edge as the first one left. At least one is left. */
VECTOR static inline void
match(struct burst *b, struct pass *p)
{
	unsigned int w = 0;

	while (b->left[w] == 0)
		w++;
	p->edge = b->next[32 * w + (unsigned int)__builtin_ctz(b->left[w])];
	p->count = 0;
	for (w = 0; w < b->words; w++) {
		p->hit[w] = match_word(b->next + 32 * w, p->edge) & b->left[w];
		b->left[w] &= ~p->hit[w];
		p->count += (uint32_t)__builtin_popcount(p->hit[w]);
	}
}

VECTOR static inline void
pack(const struct burst *b, const struct pass *p, struct hy_node *to)
{
	unsigned int lanes = hy_lanes_of_use(b->node, to->lanes_in, b->beside);
	void **end = to->stream + to->waiting;

	for (unsigned int w = 0; w < b->words; w++)
		end = pack_objs(end, b->objs + 32 * w, p->hit[w]);
	for (; lanes != 0; lanes &= lanes - 1) {
		const unsigned int l = (unsigned int)__builtin_ctz(lanes);
		const uint32_t *lane = hy_stream_lane(b->graph, b->node->stream, l) + b->from;
		uint32_t *tail = hy_stream_lane(b->graph, to->stream, l) + to->waiting;

		if (!b->beside)
			memset(tail, 0, p->count * sizeof(*tail));
		for (unsigned int w = 0; w < b->words && b->beside; w++)
			tail = pack_lane(tail, lane + 32 * w, p->hit[w]);
	}
}

static void
one_by_one(const struct burst *b, const uint32_t which[])
{
	for (unsigned int w = 0; w < b->words; w++) {
		for (uint32_t bits = which[w]; bits != 0; bits &= bits - 1) {
			const unsigned int i = 32 * w + (unsigned int)__builtin_ctz(bits);

			hy_append(b->graph, b->node, b->next[i], b->objs + i, 1);
		}
	}
}

VECTOR static inline void
send(const struct burst *b, const struct pass *p)
{
	struct hy_edge *e = &b->node->edges[(int16_t)p->edge];

	if (unlikely(p->count > b->graph->plan.stream_cap - e->to->waiting)) {
		one_by_one(b, p->hit);
		return;
	}
	pack(b, p, e->to);
	e->to->waiting += p->count;
	hy_count(&e->objs, p->count);
	hy_pending_set(b->graph, e->to);
}

/* At most HY_BURST_MAX objects. Not inlined: few objects need none of its stack. */
VECTOR static __rte_noinline void
scatter_burst(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	struct burst b = {
		.graph = graph, .node = node, .next = next, .objs = objs, .words = (n + 31) / 32
	};
	uint16_t own_next[HY_BURST_MAX];
	void *own_objs[HY_BURST_MAX];
	struct pass first = { 0 }, second = { 0 };

	b.beside = hy_in_stream(graph, node, objs, &b.from);
	memset(b.left, 0xff, b.words * sizeof(*b.left));
	if (n % 32 != 0) {
		/* Objects are read 32 at a time, and only streams have room for that after their end. */
		b.left[b.words - 1] = (UINT32_C(1) << n % 32) - 1;
		b.next = memcpy(own_next, next, n * sizeof(*next));
		if (!b.beside)
			b.objs = memcpy(own_objs, objs, n * sizeof(*objs));
	}
	match(&b, &first);
	if (first.count == n) {
		hy_send_all(graph, node, first.edge, objs, n);
		return;
	}
	hy_stream_settle(graph, node);
	match(&b, &second);
	if (MANY * (first.count + second.count) <= 2 * n) {
		hy_scatter_scalar(graph, node, next, objs, n);
		return;
	}
	send(&b, &first);
	send(&b, &second);
	n -= first.count + second.count;
	for (unsigned int pass = 2; n > 0 && pass < MAX_PASSES; pass++) {
		match(&b, &first);
		send(&b, &first);
		n -= first.count;
	}
	if (n > 0)
		one_by_one(&b, b.left);
}

/* Whether 32 objects or more take one edge. The last 32 may overlap the ones before. */
VECTOR static inline bool
all_take_one(const uint16_t *next, uint32_t n)
{
	for (uint32_t i = 0; i + 32 <= n; i += 32)
		if (match_word(next + i, next[0]) != UINT32_MAX)
			return false;
	return match_word(next + n - 32, next[0]) == UINT32_MAX;
}

VECTOR static inline void
scatter(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs, uint32_t n)
{
	if (n <= TOO_FEW) {
		hy_scatter_scalar(graph, node, next, objs, n);
		return;
	}
	if (n >= 32 && all_take_one(next, n)) {
		hy_send_all(graph, node, next[0], objs, n);
		return;
	}
	/* New objects of a node can be more than its burst. */
	for (; n > HY_BURST_MAX; n -= HY_BURST_MAX) {
		scatter_burst(graph, node, next, objs, HY_BURST_MAX);
		next += HY_BURST_MAX;
		objs += HY_BURST_MAX;
	}
	scatter_burst(graph, node, next, objs, n);
}
