/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls in AVX-512: sixteen headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX512
#define WIDTH 16

typedef uint32_t lanes __attribute__((vector_size(4 * WIDTH)));

VECTOR static inline lanes
pieces(const uint8_t *const frame[], unsigned int at)
{
	__m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(frame[0] + at)));

	v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(frame[4] + at)), 1);
	v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(frame[8] + at)), 2);
	return (lanes)_mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(frame[12] + at)), 3);
}

VECTOR static inline lanes
low32(lanes a, lanes b)
{
	return (lanes)_mm512_unpacklo_epi32((__m512i)a, (__m512i)b);
}

VECTOR static inline lanes
high32(lanes a, lanes b)
{
	return (lanes)_mm512_unpackhi_epi32((__m512i)a, (__m512i)b);
}

VECTOR static inline lanes
low64(lanes a, lanes b)
{
	return (lanes)_mm512_unpacklo_epi64((__m512i)a, (__m512i)b);
}

VECTOR static inline lanes
high64(lanes a, lanes b)
{
	return (lanes)_mm512_unpackhi_epi64((__m512i)a, (__m512i)b);
}

VECTOR static inline lanes
swap32(lanes v)
{
	return (lanes)_mm512_shuffle_epi8((__m512i)v,
		_mm512_broadcast_i32x4(_mm_setr_epi32(0x00010203, 0x04050607, 0x08090a0b,
			0x0c0d0e0f)));
}

VECTOR static inline uint32_t
true_lanes(lanes v)
{
	return _mm512_movepi32_mask((__m512i)v);
}

#include "pkt_cls_vector.h"

VECTOR void
hy_pkt_cls_avx512(const uint8_t *const frame[], const uint32_t len[], uint16_t next[],
	uint32_t dst[], uint32_t n)
{
	classify(frame, len, next, dst, n);
}

static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_pkt_cls_process(graph, node, objs, n, hy_pkt_cls_avx512);
}

HY_NODE_VARIANT(pkt_cls, avx512,
	.text = "Checks sixteen headers at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 40);

#endif
