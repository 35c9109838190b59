/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_rewrite in AVX2: one store writes MAC addresses and hop limit. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX2

#include "ip6_x86.h"

#include "ip6_rewrite_vector.h"

HY_NODE_VARIANT(ip6_rewrite, avx2,
	.text = "Writes MAC addresses and hop limit by one store",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

#endif
