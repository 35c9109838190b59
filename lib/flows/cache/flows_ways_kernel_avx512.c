/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares sixteen lanes at once in AVX-512, into a mask. */

#include <stdalign.h>

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include "flows_lines.h"

#define WAYS flows_ways_avx512
#define VECTOR __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,tune=skylake-avx512")))

VECTOR static __rte_always_inline uint32_t
lanes_of(const uint16_t *line, const uint16_t *mask, const uint16_t *expected, uint16_t signature)
{
	const __m256i ours = _mm256_and_si256(_mm256_set1_epi16((short)signature),
		_mm256_load_si256((const __m256i *)mask));
	const __m256i wanted = _mm256_or_si256(ours, _mm256_load_si256((const __m256i *)expected));

	return _mm256_cmpeq_epi16_mask(_mm256_load_si256((const __m256i *)line), wanted);
}

#include "flows_ways_vector.h"

#endif
