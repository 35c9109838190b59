/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls in NEON: four headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <arm_neon.h>

#include <hy_node.h>

#define VECTOR /* any 64-bit Arm CPU has it */
#define WIDTH 4

typedef uint32_t lanes __attribute__((vector_size(4 * WIDTH)));

static inline lanes
pieces(const uint8_t *const frame[], unsigned int at)
{
	return (lanes)vld1q_u8(frame[0] + at);
}

static inline lanes
low32(lanes a, lanes b)
{
	return (lanes)vzip1q_u32((uint32x4_t)a, (uint32x4_t)b);
}

static inline lanes
high32(lanes a, lanes b)
{
	return (lanes)vzip2q_u32((uint32x4_t)a, (uint32x4_t)b);
}

static inline lanes
low64(lanes a, lanes b)
{
	return (lanes)vzip1q_u64((uint64x2_t)a, (uint64x2_t)b);
}

static inline lanes
high64(lanes a, lanes b)
{
	return (lanes)vzip2q_u64((uint64x2_t)a, (uint64x2_t)b);
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

void
hy_pkt_cls_neon(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	classify(frame, len, next, dst, n);
}

static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_pkt_cls_process(graph, node, objs, n, hy_pkt_cls_neon);
}

HY_NODE_VARIANT(pkt_cls, neon,
	.text = "Checks four headers at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 30);

#endif
