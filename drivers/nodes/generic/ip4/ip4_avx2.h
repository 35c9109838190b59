/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels for IPv4 share in AVX2. */
#pragma once

#include <immintrin.h>

#include <rte_lpm.h>

#include <hy_ip4_lookup.h>

/* rte_lpm's entries of eight addresses; where it has none, the default entry, or 0. */
HY_TARGET_AVX2 static __rte_always_inline __m256i
ip4_entries_avx2(const struct rte_lpm *lpm, __m256i ip, __m256i none)
{
	const __m256i ext = _mm256_set1_epi32(RTE_LPM_VALID_EXT_ENTRY_BITMASK);
	const __m256i success = _mm256_set1_epi32(RTE_LPM_LOOKUP_SUCCESS);
	__m256i entry, is_ext, is_hit;

	entry = _mm256_i32gather_epi32((const int *)lpm->tbl24, _mm256_srli_epi32(ip, 8), 4);
	is_ext = _mm256_cmpeq_epi32(_mm256_and_si256(entry, ext), ext);
	if (!_mm256_testz_si256(is_ext, is_ext)) {
		/* 24 bits of the entry select a group of 256 entries, 8 of the address one of them. */
		const __m256i index = _mm256_or_si256(_mm256_slli_epi32(entry, 8),
			_mm256_and_si256(ip, _mm256_set1_epi32(0xff)));

		entry = _mm256_mask_i32gather_epi32(entry, (const int *)lpm->tbl8, index, is_ext,
			4);
	}
	is_hit = _mm256_cmpeq_epi32(_mm256_and_si256(entry, success), success);
	return _mm256_blendv_epi8(none, entry, is_hit);
}

/*
 * Writes 14 bytes to a frame, of 16 that can be read at l2. Bytes of a store cannot be masked: the
 * frame's next two are read and written unchanged.
 */
HY_TARGET_AVX2 static __rte_always_inline void
ip4_write_l2_avx2(uint8_t *frame, const void *l2)
{
	const __m128i old = _mm_loadu_si128((const __m128i *)frame);
	const __m128i new = _mm_loadu_si128((const __m128i *)l2);

	_mm_storeu_si128((__m128i *)frame, _mm_blend_epi16(old, new, 0x7f));
}
