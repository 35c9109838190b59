/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite in AVX2, which cannot mask bytes of a store: blends an L2 header into 16 bytes. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX2

VECTOR static __rte_always_inline void
write_l2(uint8_t *frame, const void *l2)
{
	const __m128i old = _mm_loadu_si128((const __m128i *)frame);
	const __m128i new = _mm_loadu_si128((const __m128i *)l2);

	_mm_storeu_si128((__m128i *)frame, _mm_blend_epi16(old, new, 0x7f));
}

#include "ip4_rewrite_vector.h"

HY_NODE_VARIANT(ip4_rewrite, avx2,
	.text = "Writes an L2 header by one store of 16 bytes",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

#endif
