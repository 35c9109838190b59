/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernels for IPv6 on x86, which define VECTOR: MAC addresses and hop limit by one store. */
#pragma once

#include <stdalign.h>
#include <stdint.h>
#include <immintrin.h>

#include <hy_ip6_rewrite.h>

#define WRITE_BYTES 32 /* of a frame that write_headers() reads and writes */

/*
 * Writes the addresses at l2, where 16 bytes can be read, and a hop limit less by one. Other bytes are
 * read and written unchanged.
 */
VECTOR static __rte_always_inline void
write_headers(uint8_t *frame, const void *l2)
{
	static const alignas(32) uint8_t less[WRITE_BYTES] = { [HY_IP6_HOP_LIMIT] = UINT8_MAX };
	const __m256i old = _mm256_loadu_si256((const __m256i *)frame);
	const __m256i new = _mm256_add_epi8(old, *(const __m256i *)less);
	const __m256i macs = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)l2));

	_mm256_storeu_si256((__m256i *)frame, _mm256_blend_epi32(new, macs, 0x07));
}
