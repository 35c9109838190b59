/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of NEON for pkt_cls_checks.h: four headers at a time. */
#pragma once

#include <stdint.h>

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
