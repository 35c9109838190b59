/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares seven signatures at once in AVX2. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include "flows_bucket.h"

#define WAYS flows_bucket_ways_avx2
#define VECTOR __attribute__((target("avx2,bmi,popcnt,tune=haswell")))

VECTOR static __rte_always_inline uint8_t
ways_of(const uint32_t words[], uint32_t signature)
{
	const __m256i all = _mm256_load_si256((const __m256i *)words);
	const __m256i same = _mm256_cmpeq_epi32(all, _mm256_set1_epi32((int)signature));
	const __m256i none = _mm256_cmpeq_epi32(all, _mm256_setzero_si256());
	const uint32_t equal = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same));
	const uint32_t zero = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(none));

	return (uint8_t)((equal & ~(uint32_t)BUCKET_CONTINUED) | (~zero & BUCKET_CONTINUED));
}

#include "flows_bucket_vector.h"

#endif
