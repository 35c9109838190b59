/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup in AVX-512: sixteen addresses at a time. The tail takes one masked step. */

#include "ip4_lookup_kernels.h"

#ifdef RTE_ARCH_X86_64

#include "ip4_avx512.h"

/* Returns which of the lanes miss. */
HY_TARGET_AVX512 static inline __mmask16
lookup16(const struct rte_lpm *lpm, uint32_t route[], uint16_t next[], __mmask16 lanes,
	__m512i none)
{
	const __m512i id_mask = _mm512_set1_epi32(HY_IP4_ID_MASK);
	const __m256i drop = _mm256_set1_epi16((short)HY_DROP(HY_IP4_LOOKUP_NO_ROUTE));
	const __m512i ip = _mm512_maskz_loadu_epi32(lanes, route);
	const __m512i entry = ip4_entries_avx512(lpm, ip, lanes, none);
	const __mmask16 is_miss = _mm512_mask_testn_epi32_mask(lanes, entry, entry);

	static_assert(HY_IP4_LOOKUP_NEXT_REWRITE == 0, "next is the drop code or nothing");
	_mm512_mask_storeu_epi32(route, lanes, _mm512_and_si512(entry, id_mask));
	_mm256_mask_storeu_epi16(next, lanes, _mm256_maskz_mov_epi16(is_miss, drop));
	return is_miss;
}

HY_TARGET_AVX512 static uint32_t
lookup(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const __m512i none = _mm512_set1_epi32((int)__atomic_load_n(&view->default_entry,
		__ATOMIC_ACQUIRE));
	uint32_t i = 0, misses = 0;

	for (; i + 16 <= n; i += 16)
		misses |= lookup16(view->lpm, route + i, next + i, UINT16_MAX, none);
	if (i < n)
		misses |= lookup16(view->lpm, route + i, next + i, (__mmask16)((1u << (n - i)) - 1),
			none);
	return misses;
}

void
hy_ip4_lookup_avx512(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	lookup(view, route, next, n);
}

static uint16_t
avx512_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, lookup);
}

HY_NODE_VARIANT(ip4_lookup, avx512,
	.text = "Gathers sixteen rte_lpm entries at a time",
	.impl.process = avx512_process,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 30);

#endif
