/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite in AVX2, which cannot mask bytes of a store: blends an L2 header into 16 bytes. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#define VECTOR HY_TARGET_AVX2
#define write_l2 ip4_write_l2_avx2
#define MEMBERS ip4_members_avx2

#include "ip4_avx2.h"
#include "ip4_rewrite_vector.h"

HY_NODE_VARIANT(ip4_rewrite, avx2,
	.text = "Writes an L2 header by one store of 16 bytes",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

#endif
