/* SPDX-License-Identifier: BSD-3-Clause */
/* hy_enqueue_next() in AVX-512: pointers are packed 8 at a time, lane values 16. */

#include "enqueue.h"

#ifdef RTE_ARCH_X86_64

#include <assert.h>

#include <immintrin.h>

#define VECTOR __attribute__((target("avx512f,avx512bw,avx512vl,popcnt,bmi,bmi2")))
#define MANY 6

static_assert(HY_STREAM_SLACK >= 16, "a vector is stored whole at a stream's end");

VECTOR static inline uint32_t
match_word(const uint16_t *next, uint16_t edge)
{
	return _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(next), _mm512_set1_epi16((short)edge));
}

VECTOR static inline void **
pack_objs(void **tail, void *const *objs, uint32_t hit)
{
	for (unsigned int q = 0; q < 4; q++) {
		const __mmask8 m = (__mmask8)(hit >> (8 * q));
		const __m512i v = _mm512_loadu_si512(objs + 8 * q);

		_mm512_storeu_si512(tail, _mm512_maskz_compress_epi64(m, v));
		tail += _mm_popcnt_u32(m);
	}
	return tail;
}

VECTOR static inline uint32_t *
pack_lane(uint32_t *tail, const uint32_t *lane, uint32_t hit)
{
	for (unsigned int h = 0; h < 2; h++) {
		const __mmask16 m = (__mmask16)(hit >> (16 * h));
		const __m512i v = _mm512_loadu_si512(lane + 16 * h);

		_mm512_storeu_si512(tail, _mm512_maskz_compress_epi32(m, v));
		tail += _mm_popcnt_u32(m);
	}
	return tail;
}

#include "enqueue_vector.h"

VECTOR void
hy_scatter_avx512(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	scatter(graph, node, next, objs, n);
}

#endif
