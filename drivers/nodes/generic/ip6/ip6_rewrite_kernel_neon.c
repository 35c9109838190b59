/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_rewrite in NEON: one store writes MAC addresses. */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <hy_node.h>

#include "ip6_neon.h"
#include "ip6_rewrite_vector.h"

HY_NODE_VARIANT(ip6_rewrite, neon,
	.text = "Writes MAC addresses by one store",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 20);

#endif
