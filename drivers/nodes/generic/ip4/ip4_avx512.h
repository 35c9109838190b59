/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels for IPv4 share in AVX-512. */
#pragma once

#include <immintrin.h>

#include <rte_lpm.h>

#include <hy_ip4_lookup.h>

/* rte_lpm's entries of those addresses; where it has none, the default entry, or 0. */
HY_TARGET_AVX512 static __rte_always_inline __m512i
ip4_entries_avx512(const struct rte_lpm *lpm, __m512i ip, __mmask16 those, __m512i none)
{
	const __m512i ext = _mm512_set1_epi32(RTE_LPM_VALID_EXT_ENTRY_BITMASK);
	const __m512i success = _mm512_set1_epi32(RTE_LPM_LOOKUP_SUCCESS);
	__mmask16 is_ext;
	__m512i entry;

	entry = _mm512_mask_i32gather_epi32(none, those, _mm512_srli_epi32(ip, 8), lpm->tbl24, 4);
	is_ext = _mm512_mask_cmpeq_epi32_mask(those, _mm512_and_si512(entry, ext), ext);
	if (is_ext != 0) {
		/* 24 bits of the entry select a group of 256 entries, 8 of the address one of them. */
		const __m512i index = _mm512_or_si512(_mm512_slli_epi32(entry, 8),
			_mm512_and_si512(ip, _mm512_set1_epi32(0xff)));

		entry = _mm512_mask_i32gather_epi32(entry, is_ext, index, lpm->tbl8, 4);
	}
	return _mm512_mask_mov_epi32(none, _mm512_test_epi32_mask(entry, success), entry);
}

/* Writes 14 bytes to a frame, of 16 that can be read at l2. */
HY_TARGET_AVX512 static __rte_always_inline void
ip4_write_l2_avx512(uint8_t *frame, const void *l2)
{
	_mm_mask_storeu_epi8(frame, 0x3fff, _mm_loadu_si128((const __m128i *)l2));
}
