/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_forward in AVX2: eight headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include "drivers/nodes/generic/classify/pkt_cls_avx2.h"
#include "drivers/nodes/generic/ip4/ip4_avx2.h"

#define CHECK ip4_check_avx2
#define write_l2 ip4_write_l2_avx2
#define MEMBERS ip4_members_avx2

VECTOR static __rte_always_inline lanes
entries(const struct rte_lpm *lpm, lanes ip, uint32_t none)
{
	return (lanes)ip4_entries_avx2(lpm, (__m256i)ip, _mm256_set1_epi32((int)none));
}

#include "ip4_forward_vector.h"

HY_NODE_FUSION(ip4_forward, avx2, .text = "Reads eight headers at a time, and each once",
	.run = run, .stops = stops, IP4_FORWARD_CHAIN("avx2"));

#endif
