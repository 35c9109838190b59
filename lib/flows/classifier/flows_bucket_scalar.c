/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares signatures in scalar code: the kernel that others are tested against. And the choice of one. */

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "flows_bucket.h"

void
flows_bucket_ways_scalar(const struct flows_buckets *buckets, const uint32_t hash[], uint8_t ways[],
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct flows_bucket *bucket = &buckets->bucket[hash[i] & buckets->mask];
		uint32_t bits = 0;

		for (uint32_t way = 0; way < FLOWS_WAYS; way++)
			bits |= (uint32_t)(FLOWS_LOAD(bucket->signature[way]) ==
					flows_signature(hash[i]))
				<< way;
		if (FLOWS_LOAD(bucket->next) != 0)
			bits |= BUCKET_CONTINUED;
		ways[i] = (uint8_t)bits;
	}
}

flows_bucket_ways_t *
flows_bucket_ways_best(void)
{
#ifndef __SANITIZE_THREAD__ /* it does not know that each word of a vector is read at once */
	const uint16_t bits = rte_vect_get_max_simd_bitwidth();

#ifdef RTE_ARCH_X86_64
	if (bits >= 512 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0)
		return flows_bucket_ways_avx512;
	if (bits >= 256 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		return flows_bucket_ways_avx2;
#elif defined(RTE_ARCH_ARM64)
	if (bits >= 128)
		return flows_bucket_ways_neon;
#endif
	RTE_SET_USED(bits);
#endif
	return flows_bucket_ways_scalar;
}
