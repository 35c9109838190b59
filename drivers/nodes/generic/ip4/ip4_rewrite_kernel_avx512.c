/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite in AVX-512: a masked store writes the 14 bytes of an L2 header. */

#include <rte_common.h>

#ifdef RTE_ARCH_X86_64

#define VECTOR HY_TARGET_AVX512
#define write_l2 ip4_write_l2_avx512
#define MEMBERS ip4_members_avx512

#include "ip4_avx512.h"
#include "ip4_rewrite_vector.h"

HY_NODE_VARIANT(ip4_rewrite, avx512,
	.text = "Writes an L2 header by one masked store",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 30);

#endif
