/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table of vector kernels asks of the CPU. */
#pragma once

#include <stdbool.h>

#include <rte_common.h>
#include <rte_cpuflags.h>

static inline bool
always(void)
{
	return true;
}

#ifdef RTE_ARCH_X86_64
static inline bool
has_avx2(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
}

static inline bool
has_avx512(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
}
#endif
