/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares seven signatures at once in AVX-512, into a mask. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include "flows_bucket.h"

#define WAYS flows_bucket_ways_avx512
#define VECTOR __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,tune=skylake-avx512")))

VECTOR static __rte_always_inline uint8_t
ways_of(const uint32_t words[], uint32_t signature)
{
	const __m256i all = _mm256_load_si256((const __m256i *)words);
	const uint32_t equal = _mm256_cmpeq_epi32_mask(all, _mm256_set1_epi32((int)signature));
	const uint32_t some = _mm256_test_epi32_mask(all, all);

	return (uint8_t)((equal & ~(uint32_t)BUCKET_CONTINUED) | (some & BUCKET_CONTINUED));
}

#include "flows_bucket_vector.h"

#endif
