/* SPDX-License-Identifier: BSD-3-Clause */
/* ttl_guard in AVX2: sixteen times to live at a time. The scalar kernel handles the tail. */

#include "ttl_guard.h"

#ifdef RTE_ARCH_X86_64

#include <immintrin.h>

HY_TARGET_AVX2 void
ttl_guard_avx2(uint8_t min_ttl, const uint8_t ttl[], uint16_t next[], uint32_t n)
{
	const __m256i least = _mm256_set1_epi16(min_ttl);
	const __m256i drop = _mm256_set1_epi16((short)HY_DROP(TTL_GUARD_TTL_TOO_LOW));
	uint32_t i = 0;

	static_assert(TTL_GUARD_NEXT_PASS == 0, "next is the drop code or nothing");
	for (; i + 16 <= n; i += 16) {
		const __m256i v = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)&ttl[i]));
		const __m256i is_low = _mm256_cmpgt_epi16(least, v);

		_mm256_storeu_si256((__m256i *)&next[i], _mm256_and_si256(is_low, drop));
	}
	ttl_guard_scalar(min_ttl, ttl + i, next + i, n - i);
}

static uint16_t
avx2_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ttl_guard_process(graph, node, objs, n, ttl_guard_avx2);
}

HY_NODE_VARIANT(ttl_guard, avx2,
	.text = "Compares sixteen times to live at a time",
	.impl.process = avx2_process,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

#endif
