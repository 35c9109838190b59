/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup in AVX2: eight addresses at a time. Gathers tbl24, and tbl8 if an entry needs it. */

#include "ip4_lookup_kernels.h"

#ifdef RTE_ARCH_X86_64

#include "ip4_avx2.h"

HY_TARGET_AVX2 static uint32_t
lookup(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const __m256i none = _mm256_set1_epi32((int)__atomic_load_n(&view->default_entry,
		__ATOMIC_ACQUIRE));
	const __m256i id_mask = _mm256_set1_epi32(HY_IP4_ID_MASK);
	const __m256i drop = _mm256_set1_epi32(HY_DROP(HY_IP4_LOOKUP_NO_ROUTE));
	__m256i misses = _mm256_setzero_si256();
	uint32_t i = 0, late;

	static_assert(HY_IP4_LOOKUP_NEXT_REWRITE == 0, "next is the drop code or nothing");
	for (; i + 8 <= n; i += 8) {
		const __m256i ip = _mm256_loadu_si256((const __m256i *)&route[i]);
		const __m256i entry = ip4_entries_avx2(view->lpm, ip, none);
		const __m256i is_miss = _mm256_cmpeq_epi32(entry, _mm256_setzero_si256());
		const __m256i wide = _mm256_and_si256(is_miss, drop);
		const __m256i packed = _mm256_packus_epi32(wide, wide);

		misses = _mm256_or_si256(misses, is_miss);
		_mm256_storeu_si256((__m256i *)&route[i], _mm256_and_si256(entry, id_mask));
		_mm_storeu_si128((__m128i *)&next[i],
			_mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)));
	}
	late = ip4_lookup_singly(view, route + i, next + i, n - i);
	return late | (uint32_t)_mm256_movemask_epi8(misses);
}

void
hy_ip4_lookup_avx2(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	lookup(view, route, next, n);
}

static uint16_t
avx2_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, lookup);
}

HY_NODE_VARIANT(ip4_lookup, avx2,
	.text = "Gathers eight rte_lpm entries at a time",
	.impl.process = avx2_process,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

#endif
