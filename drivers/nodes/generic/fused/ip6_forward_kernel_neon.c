/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_forward in NEON. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <hy_node.h>

#define PASS pkt_cls_ip6_pass_neon

#include "drivers/nodes/generic/ip6/ip6_neon.h"
#include "ip6_forward_vector.h"

HY_NODE_FUSION(ip6_forward, neon, .text = "Checks four headers at a time", .run = run,
	IP6_FORWARD_CHAIN("neon", "batch", "neon"));

#endif
