/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares seven signatures in NEON: two comparisons of four, of which each word gives a bit. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <arm_neon.h>

#include "flows_bucket.h"

#define WAYS flows_bucket_ways_neon
#define VECTOR

static __rte_always_inline uint8_t
ways_of(const uint32_t words[], uint32_t signature)
{
	static const uint32_t low[4] = { 1, 2, 4, 8 }, high[4] = { 16, 32, 64, 0 };
	const uint32x4_t wanted = vdupq_n_u32(signature);
	const uint32x4_t first = vld1q_u32(words), second = vld1q_u32(words + 4);
	const uint32x4_t bits = vorrq_u32(vandq_u32(vceqq_u32(first, wanted), vld1q_u32(low)),
		vandq_u32(vceqq_u32(second, wanted), vld1q_u32(high)));

	return (uint8_t)(vaddvq_u32(bits) |
		(vgetq_lane_u32(second, 3) != 0 ? BUCKET_CONTINUED : 0));
}

#include "flows_bucket_vector.h"

#endif
