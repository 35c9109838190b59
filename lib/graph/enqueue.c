/* SPDX-License-Identifier: BSD-3-Clause */
/* hy_enqueue_next(): the scalar body, and which body is the best here. */

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "enqueue.h"

/* Objects from the start of next[] that take the same edge. */
static uint32_t
run_length(const uint16_t *next, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && next[i] == next[0])
		i++;
	return i;
}

void
hy_scatter_scalar(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint32_t n)
{
	uint32_t run = run_length(next, n);

	if (run == n) {
		hy_send_all(graph, node, next[0], objs, n);
		return;
	}
	for (uint32_t i = 0; i < n; i += run) {
		run = run_length(next + i, n - i);
		if (run == 1) /* a width that the compiler knows: no call of memcpy() */
			hy_append(graph, node, next[i], objs + i, 1);
		else
			hy_append(graph, node, next[i], objs + i, run);
	}
}

hy_scatter_t *
hy_scatter_best(void)
{
#ifdef RTE_ARCH_X86_64
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_512 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0)
		return hy_scatter_avx512;
#endif
	return hy_scatter_scalar;
}
