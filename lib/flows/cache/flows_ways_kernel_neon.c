/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares sixteen lanes in NEON: two comparisons of eight, narrowed to a bit a lane. */

#include <stdalign.h>

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <arm_neon.h>

#include "flows_lines.h"

#define WAYS flows_ways_neon
#define VECTOR

static __rte_always_inline uint16x8_t
equal8(const uint16_t *line, const uint16_t *mask, const uint16_t *expected, uint16x8_t signature)
{
	return vceqq_u16(vld1q_u16(line),
		vorrq_u16(vandq_u16(signature, vld1q_u16(mask)), vld1q_u16(expected)));
}

static __rte_always_inline uint32_t
lanes_of(const uint16_t *line, const uint16_t *mask, const uint16_t *expected, uint16_t signature)
{
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64,
		128 };
	const uint16x8_t wanted = vdupq_n_u16(signature);
	const uint8x16_t lanes = vcombine_u8(vmovn_u16(equal8(line, mask, expected, wanted)),
		vmovn_u16(equal8(line + 8, mask + 8, expected + 8, wanted)));
	const uint8x16_t set = vandq_u8(lanes, vld1q_u8(bits));

	return vaddv_u8(vget_low_u8(set)) | (uint32_t)vaddv_u8(vget_high_u8(set)) << 8;
}

#include "flows_ways_vector.h"

#endif
