/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hy_enqueue_next() in AVX-512. For each distinct edge of a burst: compare all next[] with it, 32
 * at a time, then compress the pointers (8 at a time) and lane values (16) that match to the end
 * of the target's stream. That costs a pass an edge: where the first two edges say that there are
 * MANY, the scalar body is faster, and after MAX_PASSES the few that are left go one by one.
 */

#include "enqueue.h"

#ifdef RTE_ARCH_X86_64

#include <assert.h>

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

#define MAX_PASSES 8
#define TOO_FEW 8 /* objects for the passes to pay; this and MANY by hy-bench enqueue */
#define MANY 6
#define WORDS (HY_BURST_MAX / 32)

static_assert(HY_STREAM_SLACK >= 16, "a vector is stored whole at a stream's end");

/* Finds the objects among left[] that take an edge, moves their bits to hit[], counts them. */
AVX512 static inline uint32_t
match(const uint16_t *next, uint16_t edge, uint32_t left[], uint32_t hit[], unsigned int words)
{
	const __m512i wanted = _mm512_set1_epi16((short)edge);
	uint32_t count = 0;

	for (unsigned int w = 0; w < words; w++) {
		const __m512i v = _mm512_maskz_loadu_epi16(left[w], next + 32 * w);

		hit[w] = _mm512_mask_cmpeq_epi16_mask(left[w], v, wanted);
		left[w] &= ~hit[w];
		count += (uint32_t)_mm_popcnt_u32(hit[w]);
	}
	return count;
}

/* Packs the objects of hit[] at tail, in order. */
AVX512 static inline void
pack_objs(void **tail, void *const *objs, const uint32_t hit[], unsigned int words)
{
	for (unsigned int w = 0; w < words; w++) {
		for (unsigned int q = 0; q < 4; q++) {
			const __mmask8 m = (__mmask8)(hit[w] >> (8 * q));
			const __m512i v = _mm512_maskz_loadu_epi64(m, objs + 32 * w + 8 * q);

			_mm512_storeu_si512(tail, _mm512_maskz_compress_epi64(m, v));
			tail += _mm_popcnt_u32(m);
		}
	}
}

AVX512 static inline void
pack_lane(uint32_t *tail, const uint32_t *lane, const uint32_t hit[], unsigned int words)
{
	for (unsigned int w = 0; w < words; w++) {
		for (unsigned int h = 0; h < 2; h++) {
			const __mmask16 m = (__mmask16)(hit[w] >> (16 * h));
			const __m512i v = _mm512_maskz_loadu_epi32(m, lane + 32 * w + 16 * h);

			_mm512_storeu_si512(tail, _mm512_maskz_compress_epi32(m, v));
			tail += _mm_popcnt_u32(m);
		}
	}
}

AVX512 static inline void
pack(struct hy_graph *graph, struct hy_node *node, struct hy_edge *e, void **objs,
	const uint32_t hit[], unsigned int words, uint32_t count)
{
	struct hy_node *to = e->to;
	size_t from;
	const bool beside = hy_in_stream(graph, node, objs, &from);

	pack_objs(to->stream + to->waiting, objs, hit, words);
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++) {
		uint32_t *tail = hy_stream_lane(graph, to->stream, l) + to->waiting;

		if (beside)
			pack_lane(tail, hy_stream_lane(graph, node->stream, l) + from, hit, words);
		else
			memset(tail, 0, count * sizeof(*tail));
	}
	to->waiting += count;
	hy_count(&e->objs, count);
	hy_pending_set(graph, to);
}

static void
one_by_one(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	const uint32_t which[], unsigned int words)
{
	for (unsigned int w = 0; w < words; w++) {
		for (uint32_t bits = which[w]; bits != 0; bits &= bits - 1) {
			const unsigned int i = 32 * w + (unsigned int)__builtin_ctz(bits);

			hy_append(graph, node, next[i], objs + i, 1);
		}
	}
}

/* The first object of those left, whose edge is the next to be matched. */
static inline unsigned int
first_of(const uint32_t left[])
{
	unsigned int w = 0;

	while (left[w] == 0)
		w++;
	return 32 * w + (unsigned int)__builtin_ctz(left[w]);
}

AVX512 static inline void
send(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, uint16_t edge, void **objs,
	const uint32_t hit[], unsigned int words, uint32_t count)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];

	if (likely(count <= graph->plan.stream_cap - e->to->waiting))
		pack(graph, node, e, objs, hit, words, count);
	else
		one_by_one(graph, node, next, objs, hit, words);
}

/* At most HY_BURST_MAX objects. */
AVX512 static inline void
scatter_burst(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	const unsigned int words = (n + 31) / 32;
	uint32_t left[WORDS], hit[2][WORDS];
	uint32_t count[2];
	uint16_t edge[2];

	if (n <= TOO_FEW) {
		hy_scatter_scalar(graph, node, next, objs, n);
		return;
	}
	memset(left, 0xff, words * sizeof(*left));
	if (n % 32 != 0)
		left[words - 1] = (UINT32_C(1) << n % 32) - 1;

	edge[0] = next[0];
	count[0] = match(next, edge[0], left, hit[0], words);
	if (count[0] == n) {
		hy_send_all(graph, node, edge[0], objs, n);
		return;
	}
	edge[1] = next[first_of(left)];
	count[1] = match(next, edge[1], left, hit[1], words);
	if (MANY * (count[0] + count[1]) < 2 * n) {
		hy_scatter_scalar(graph, node, next, objs, n);
		return;
	}
	send(graph, node, next, edge[0], objs, hit[0], words, count[0]);
	send(graph, node, next, edge[1], objs, hit[1], words, count[1]);
	n -= count[0] + count[1];
	for (unsigned int pass = 2; n > 0 && pass < MAX_PASSES; pass++) {
		edge[0] = next[first_of(left)];
		count[0] = match(next, edge[0], left, hit[0], words);
		send(graph, node, next, edge[0], objs, hit[0], words, count[0]);
		n -= count[0];
	}
	if (n > 0)
		one_by_one(graph, node, next, objs, left, words);
}

AVX512 void
hy_scatter_avx512(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	/* Objects of a node's own making can be more than it was handed. */
	while (unlikely(n > HY_BURST_MAX)) {
		scatter_burst(graph, node, next, objs, HY_BURST_MAX);
		next += HY_BURST_MAX;
		objs += HY_BURST_MAX;
		n -= HY_BURST_MAX;
	}
	scatter_burst(graph, node, next, objs, n);
}

#endif
