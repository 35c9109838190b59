/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares lanes in scalar code: the kernel that others are tested against. And the choice of one. */

#include <stdalign.h>

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "flows_lines.h"

void
flows_ways_scalar(const struct flows_lines *lines, const uint32_t hash[], uint16_t way[],
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t *line = lines->line[hash[i] & lines->mask];
		const uint32_t generation = line[lines->ways] |
			(uint32_t)line[lines->ways + 1] << 16;
		uint32_t bits = 0;

		for (uint32_t w = 0; w < lines->ways; w++)
			bits |= (uint32_t)(line[w] == lines_signature(hash[i])) << w;
		way[i] = generation == lines->generation ? (uint16_t)bits : 0;
	}
}

flows_ways_t *
flows_ways_best(void)
{
	const uint16_t bits = rte_vect_get_max_simd_bitwidth();

#ifdef RTE_ARCH_X86_64
	if (bits >= 512 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0)
		return flows_ways_avx512;
	if (bits >= 256 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		return flows_ways_avx2;
#elif defined(RTE_ARCH_ARM64)
	if (bits >= 128)
		return flows_ways_neon;
#endif
	RTE_SET_USED(bits);
	return flows_ways_scalar;
}
