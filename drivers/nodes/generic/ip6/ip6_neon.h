/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernels for IPv6 in NEON: MAC addresses by one store. */
#pragma once

#include <stdint.h>
#include <arm_neon.h>

#include <hy_ip6_rewrite.h>

#define VECTOR         /* any 64-bit Arm CPU has it */
#define WRITE_BYTES 22 /* of a frame that write_headers() reads and writes */

/*
 * Writes the addresses at l2, where 16 bytes can be read, and a hop limit less by one. Other bytes are
 * read and written unchanged.
 */
static __rte_always_inline void
write_headers(uint8_t *frame, const void *l2)
{
	const uint32x4_t macs = vld1q_u32(l2);

	vst1q_u32((uint32_t *)frame, vld1q_lane_u32((const uint32_t *)(frame + 12), macs, 3));
	frame[HY_IP6_HOP_LIMIT]--;
}
