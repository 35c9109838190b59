/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_forward in AVX-512: sixteen headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include "drivers/nodes/generic/classify/pkt_cls_avx512.h"
#include "drivers/nodes/generic/ip4/ip4_avx512.h"

#define CHECK ip4_check_avx512
#define FEWER ip4_check_avx2
#define write_l2 ip4_write_l2_avx512
#define MEMBERS ip4_members_avx512

VECTOR static __rte_always_inline lanes
entries(const struct rte_lpm *lpm, lanes ip, uint32_t none)
{
	return (lanes)ip4_entries_avx512(lpm, (__m512i)ip, UINT16_MAX,
		_mm512_set1_epi32((int)none));
}

#include "ip4_forward_vector.h"

HY_NODE_FUSION(ip4_forward, avx512, .text = "Reads sixteen headers at a time, and each once",
	.run = run, .stops = stops, IP4_FORWARD_CHAIN("avx512"));

#endif
