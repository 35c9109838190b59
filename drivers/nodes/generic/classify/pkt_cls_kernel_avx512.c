/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls in AVX-512: sixteen headers at a time. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#define KERNEL hy_pkt_cls_avx512
#define CLASSIFY pkt_cls_classify_avx512
#define PASS_IP6 pkt_cls_ip6_pass_avx512
#define PASS_FEWER pkt_cls_ip6_pass_avx2
#define FEWER pkt_cls_classify_avx2

#include "pkt_cls_avx512.h"
#include "pkt_cls_vector.h"

HY_NODE_VARIANT(pkt_cls, avx512,
	.text = "Checks sixteen headers at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 40);

#endif
