/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite in AVX-512: a masked store writes the 14 bytes of an L2 header. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX512

VECTOR static __rte_always_inline void
write_l2(uint8_t *frame, const void *l2)
{
	_mm_mask_storeu_epi8(frame, 0x3fff, _mm_loadu_si128((const __m128i *)l2));
}

#include "ip4_rewrite_vector.h"

HY_NODE_VARIANT(ip4_rewrite, avx512,
	.text = "Writes an L2 header by one masked store",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 30);

#endif
