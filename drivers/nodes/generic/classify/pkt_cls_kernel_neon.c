/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls in NEON: four headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#define KERNEL hy_pkt_cls_neon
#define CLASSIFY pkt_cls_classify_neon
#define PASS_IP6 pkt_cls_ip6_pass_neon
#define PASS_FEWER pkt_cls_ip6_pass

#include "pkt_cls_neon.h"
#include "pkt_cls_vector.h"

HY_NODE_VARIANT(pkt_cls, neon,
	.text = "Checks four headers at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 30);

#endif
