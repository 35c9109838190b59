/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of AVX2 for pkt_cls_checks.h: eight headers at a time. */
#pragma once

#include <immintrin.h>

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX2
#define WIDTH 8

typedef uint32_t lanes __attribute__((vector_size(4 * WIDTH)));

VECTOR static inline lanes
pieces(const uint8_t *const frame[], unsigned int at)
{
	return (lanes)_mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(frame[0] + at))),
		_mm_loadu_si128((const __m128i *)(frame[4] + at)), 1);
}

VECTOR static inline lanes
swap32(lanes v)
{
	return (lanes)_mm256_shuffle_epi8((__m256i)v,
		_mm256_broadcastsi128_si256(_mm_setr_epi32(0x00010203, 0x04050607, 0x08090a0b,
			0x0c0d0e0f)));
}

VECTOR static inline uint32_t
true_lanes(lanes v)
{
	return (uint32_t)_mm256_movemask_ps((__m256)v);
}
