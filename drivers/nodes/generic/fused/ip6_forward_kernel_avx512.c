/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_forward in AVX-512. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX512
#define PASS pkt_cls_ip6_pass_avx512

#include "drivers/nodes/generic/ip6/ip6_x86.h"
#include "ip6_forward_vector.h"

HY_NODE_FUSION(ip6_forward, avx512, .text = "Checks sixteen headers at a time", .run = run,
	IP6_FORWARD_CHAIN("avx512", "batch", "avx512"));

#endif
