/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds slots in AVX-512: a bucket is one vector. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#define FIND hy_l2_find_avx512
#define VECTOR HY_TARGET_AVX512

VECTOR static __rte_always_inline uint32_t
matches(const uint64_t *words, uint64_t key)
{
	return _mm512_cmpeq_epi64_mask(_mm512_load_si512(words), _mm512_set1_epi64((long long)key));
}

#include "l2_find_vector.h"

#endif
