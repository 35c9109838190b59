/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of AVX-512 for pkt_cls_checks.h: sixteen headers at a time. */
#pragma once

#include <immintrin.h>

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX512
#define WIDTH 16

typedef uint32_t lanes __attribute__((vector_size(4 * WIDTH)));

#define PAIRS

VECTOR static inline lanes
pair(const uint8_t *a, const uint8_t *b)
{
	const __m512i v = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(a + 2)));

	return (lanes)_mm512_inserti64x4(v, _mm256_loadu_si256((const __m256i *)(b + 2)), 1);
}

VECTOR static inline lanes
starts(lanes v, lanes w)
{
	return (lanes)_mm512_shuffle_i64x2((__m512i)v, (__m512i)w, 0x88);
}

VECTOR static inline lanes
ends(lanes v, lanes w)
{
	return (lanes)_mm512_shuffle_i64x2((__m512i)v, (__m512i)w, 0xdd);
}

VECTOR static inline lanes
swap32(lanes v)
{
	return (lanes)_mm512_shuffle_epi8((__m512i)v,
		_mm512_broadcast_i32x4(_mm_setr_epi32(0x00010203, 0x04050607, 0x08090a0b,
			0x0c0d0e0f)));
}

#define MARKS __mmask16
#define equal(m, v, w) _mm512_mask_cmpeq_epi32_mask(m, (__m512i)(v), (__m512i)(w))
#define below(m, v, w) _mm512_mask_cmplt_epu32_mask(m, (__m512i)(v), (__m512i)(w))
