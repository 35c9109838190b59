/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds slots in AVX2: two comparisons of four words each. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#include "l2_find.h"

#define FIND hy_l2_find_avx2
#define VECTOR HY_TARGET_AVX2

VECTOR static __rte_always_inline uint32_t
way_of(const uint64_t *words, uint64_t key)
{
	const __m256i wanted = _mm256_set1_epi64x((long long)key);
	const __m256i low = _mm256_load_si256((const __m256i *)words);
	const __m256i high = _mm256_load_si256((const __m256i *)(words + 4));
	const int in_low = _mm256_movemask_pd((__m256d)_mm256_cmpeq_epi64(low, wanted));
	const int in_high = _mm256_movemask_pd((__m256d)_mm256_cmpeq_epi64(high, wanted));

	return l2_way((uint32_t)(in_low | in_high << 4));
}

#include "l2_find_vector.h"

#endif
