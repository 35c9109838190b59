/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_forward in NEON: four headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include "drivers/nodes/generic/classify/pkt_cls_neon.h"
#include "drivers/nodes/generic/ip4/ip4_neon.h"

#define CHECK ip4_check_neon
#define write_l2 ip4_write_l2_neon
#define MEMBERS ip4_members_neon

static __rte_always_inline lanes
entries(const struct rte_lpm *lpm, lanes ip, uint32_t none)
{
	uint32_t addresses[WIDTH];

	vst1q_u32(addresses, (uint32x4_t)ip);
	return (lanes)ip4_entries_neon(lpm, addresses, vdupq_n_u32(none));
}

#include "ip4_forward_vector.h"

HY_NODE_FUSION(ip4_forward, neon, .text = "Reads four headers at a time, and each once", .run = run,
	.stops = stops, IP4_FORWARD_CHAIN("neon"));

#endif
