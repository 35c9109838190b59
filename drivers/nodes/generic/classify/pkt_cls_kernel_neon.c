/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls in NEON: four headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <arm_neon.h>

#include <hy_node.h>

#define KERNEL hy_pkt_cls_neon
#define CLASSIFY pkt_cls_classify_neon
#define VECTOR /* any 64-bit Arm CPU has it */
#define WIDTH 4

typedef uint32_t lanes __attribute__((vector_size(4 * WIDTH)));

static inline lanes
pieces(const uint8_t *const frame[], unsigned int at)
{
	return (lanes)vld1q_u8(frame[0] + at);
}

static inline lanes
swap32(lanes v)
{
	return (lanes)vrev32q_u8((uint8x16_t)v);
}

static inline uint32_t
true_lanes(lanes v)
{
	const lanes bits = { 1, 2, 4, 8 };

	return vaddvq_u32((uint32x4_t)(v & bits));
}

#include "pkt_cls_vector.h"

HY_NODE_VARIANT(pkt_cls, neon,
	.text = "Checks four headers at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 30);

#endif
