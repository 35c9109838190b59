/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_rewrite in AVX-512: as in AVX2, since a frame needs no more. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#include <hy_node.h>

#define VECTOR HY_TARGET_AVX512

#include "ip6_x86.h"

#include "ip6_rewrite_vector.h"

HY_NODE_VARIANT(ip6_rewrite, avx512,
	.text = "Writes MAC addresses and hop limit by one store",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 30);

#endif
