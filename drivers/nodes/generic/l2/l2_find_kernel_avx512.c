/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds slots in AVX-512: a bucket is one vector. TZCNT is of BMI1, whose flag has to be checked too. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#define FIND hy_l2_find_avx512
#define VECTOR __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,tune=skylake-avx512")))

VECTOR static __rte_always_inline uint32_t
way_of(const uint64_t *words, uint64_t key)
{
	const __m512i wanted = _mm512_set1_epi64((long long)key);

	return _tzcnt_u32(_mm512_cmpeq_epi64_mask(_mm512_load_si512(words), wanted));
}

#include "l2_find_vector.h"

#endif
