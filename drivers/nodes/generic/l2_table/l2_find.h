/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that find slots, and what they share. */
#pragma once

#include <hy_l2_view.h>

#ifdef RTE_ARCH_X86_64
hy_l2_find_t hy_l2_find_avx2, hy_l2_find_avx512;
#elif defined(RTE_ARCH_ARM64)
hy_l2_find_t hy_l2_find_neon;
#endif

/* Fetches the buckets of keys, and writes the first slot of each. */
static __rte_always_inline void
l2_find_fetch(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	const struct hy_l2_view v = *view; /* which what is written to slot[] cannot change */

	for (uint32_t i = 0; i < n; i++) {
		slot[i] = hy_l2_bucket(&v, key[i]);
		/* GCC does not inline rte_prefetch0() in functions for another CPU. */
		__builtin_prefetch(&v.words[slot[i]]);
		__builtin_prefetch(&v.values[slot[i]]);
	}
}

/* In place of a way: the key is not in its bucket. */
#define L2_ABSENT 32

/* The way of a bucket out of a mask that has its bit, or L2_ABSENT if that is 0. */
static __rte_always_inline uint32_t
l2_way(uint32_t mask)
{
#ifdef RTE_ARCH_X86_64
	uint64_t way = mask | UINT64_C(1) << L2_ABSENT;

	/*
	 * TZCNT where the CPU has it; others take it for BSF, which is the same of what is not 0, and which
	 * compilers choose without BMI1. AMD's CPUs take eight operations for BSF, and two for TZCNT.
	 */
	__asm__("rep bsf %0, %0" : "+r"(way) : : "cc");
	return (uint32_t)way;
#else
	return (uint32_t)__builtin_ctzll(mask | UINT64_C(1) << L2_ABSENT);
#endif
}

/*
 * Completes slots: L2_ABSENT behind the first of a bucket is that of a key that is not in it.
 */
void l2_find_rest(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n);
