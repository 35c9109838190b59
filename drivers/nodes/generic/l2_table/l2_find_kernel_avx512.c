/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds slots in AVX-512: a bucket is one vector. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#include "l2_find.h"

#define FIND hy_l2_find_avx512
#define VECTOR HY_TARGET_AVX512

VECTOR static __rte_always_inline uint32_t
way_of(const uint64_t *words, uint64_t key)
{
	const __m512i wanted = _mm512_set1_epi64((long long)key);

	return l2_way(_mm512_cmpeq_epi64_mask(_mm512_load_si512(words), wanted));
}

#include "l2_find_vector.h"

#endif
