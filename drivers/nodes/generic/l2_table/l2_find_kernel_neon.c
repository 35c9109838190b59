/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds slots in NEON: four comparisons of two words each, narrowed to a byte a word. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <arm_neon.h>

#include "l2_find.h"

#define FIND hy_l2_find_neon
#define VECTOR

static __rte_always_inline uint32_t
way_of(const uint64_t *words, uint64_t key)
{
	const uint64x2_t wanted = vdupq_n_u64(key);
	const uint32x4_t low = vuzp1q_u32((uint32x4_t)vceqq_u64(vld1q_u64(words), wanted),
		(uint32x4_t)vceqq_u64(vld1q_u64(words + 2), wanted));
	const uint32x4_t high = vuzp1q_u32((uint32x4_t)vceqq_u64(vld1q_u64(words + 4), wanted),
		(uint32x4_t)vceqq_u64(vld1q_u64(words + 6), wanted));
	const uint8x8_t bytes = vmovn_u16(vuzp1q_u16((uint16x8_t)low, (uint16x8_t)high));
	const uint64_t found = vget_lane_u64((uint64x1_t)bytes, 0); /* a byte a word */

	return found == 0 ? L2_ABSENT : (uint32_t)__builtin_ctzll(found) / 8;
}

#include "l2_find_vector.h"

#endif
