/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hy_enqueue_next() in AVX2, which cannot compress: four pointers, or lane values, at a time are
 * permuted by a table of what goes first for each pattern of four bits.
 */

#include "enqueue.h"

#ifdef RTE_ARCH_X86_64

#include <assert.h>

#include <immintrin.h>

#define VECTOR __attribute__((target("avx2,popcnt,bmi,bmi2")))
#define MANY 4

static_assert(HY_STREAM_SLACK >= 4, "a vector is stored whole at a stream's end");

/* For each pattern, the 32-bit halves of the pointers whose bits are set, then of anything. */
static const uint32_t order_of[16][8] __attribute__((aligned(32))) = {
	{ 0, 1, 0, 1, 0, 1, 0, 1 },
	{ 0, 1, 0, 1, 0, 1, 0, 1 },
	{ 2, 3, 0, 1, 0, 1, 0, 1 },
	{ 0, 1, 2, 3, 0, 1, 0, 1 },
	{ 4, 5, 0, 1, 0, 1, 0, 1 },
	{ 0, 1, 4, 5, 0, 1, 0, 1 },
	{ 2, 3, 4, 5, 0, 1, 0, 1 },
	{ 0, 1, 2, 3, 4, 5, 0, 1 },
	{ 6, 7, 0, 1, 0, 1, 0, 1 },
	{ 0, 1, 6, 7, 0, 1, 0, 1 },
	{ 2, 3, 6, 7, 0, 1, 0, 1 },
	{ 0, 1, 2, 3, 6, 7, 0, 1 },
	{ 4, 5, 6, 7, 0, 1, 0, 1 },
	{ 0, 1, 4, 5, 6, 7, 0, 1 },
	{ 2, 3, 4, 5, 6, 7, 0, 1 },
	{ 0, 1, 2, 3, 4, 5, 6, 7 },
};

VECTOR static inline uint32_t
match_word(const uint16_t *next, uint16_t edge)
{
	const __m256i wanted = _mm256_set1_epi16((short)edge);
	const __m256i low = _mm256_loadu_si256((const __m256i *)next);
	const __m256i high = _mm256_loadu_si256((const __m256i *)(next + 16));
	/* Packing works on halves of vectors: back in order by exchanging the middle quarters. */
	const __m256i both = _mm256_packs_epi16(_mm256_cmpeq_epi16(low, wanted),
		_mm256_cmpeq_epi16(high, wanted));

	return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xd8));
}

VECTOR static inline void **
pack_objs(void **tail, void *const *objs, uint32_t hit)
{
	for (unsigned int q = 0; q < 8; q++) {
		const unsigned int m = hit >> (4 * q) & 15;
		const __m256i v = _mm256_loadu_si256((const __m256i *)(objs + 4 * q));
		const __m256i order = _mm256_load_si256((const __m256i *)order_of[m]);

		_mm256_storeu_si256((__m256i *)tail, _mm256_permutevar8x32_epi32(v, order));
		tail += _mm_popcnt_u32(m);
	}
	return tail;
}

VECTOR static inline uint32_t *
pack_lane(uint32_t *tail, const uint32_t *lane, uint32_t hit)
{
	for (unsigned int q = 0; q < 8; q++) {
		const unsigned int m = hit >> (4 * q) & 15;
		/* Of 64-bit values of which only the low halves count, the same order. */
		const __m256i v = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(lane +
			4 * q)));
		const __m256i order = _mm256_load_si256((const __m256i *)order_of[m]);
		const __m256i packed = _mm256_permutevar8x32_epi32(v, order);
		const __m256i halves = _mm256_permutevar8x32_epi32(packed,
			_mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0));

		_mm_storeu_si128((__m128i *)tail, _mm256_castsi256_si128(halves));
		tail += _mm_popcnt_u32(m);
	}
	return tail;
}

#include "enqueue_vector.h"

VECTOR void
hy_scatter_avx2(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	scatter(graph, node, next, objs, n);
}

#endif
