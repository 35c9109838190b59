/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that find slots, and what they share. */
#pragma once

#include <hy_l2_table.h>

#ifdef RTE_ARCH_X86_64
hy_l2_find_t hy_l2_find_avx2, hy_l2_find_avx512;
#elif defined(RTE_ARCH_ARM64)
hy_l2_find_t hy_l2_find_neon;
#endif

/* Fetches the buckets of keys, and writes the first slot of each. */
static __rte_always_inline void
l2_find_fetch(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		slot[i] = hy_l2_bucket(view, key[i]) * HY_L2_WAYS;
		rte_prefetch0(&view->words[slot[i]]);
		rte_prefetch0(&view->values[slot[i]]);
	}
}

/* Looks in the overflow for keys that have no slot yet. */
void l2_find_rest(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n);
