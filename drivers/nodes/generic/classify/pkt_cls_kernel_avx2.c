/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls in AVX2: eight headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#define KERNEL hy_pkt_cls_avx2
#define CLASSIFY pkt_cls_classify_avx2
#define PASS_IP6 pkt_cls_ip6_pass_avx2
#define PASS_FEWER pkt_cls_ip6_pass

#include "pkt_cls_avx2.h"
#include "pkt_cls_vector.h"

HY_NODE_VARIANT(pkt_cls, avx2,
	.text = "Checks eight headers at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 30);

#endif
