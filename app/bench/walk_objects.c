/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of all contenders of the walk benchmark: to make and sum objects. It uses the widest
 * vectors of the CPU, although DPDK's flags allow only SSE4.2, since it must not hide the graph's
 * cost.
 */

#include <rte_common.h>

#include "walk.h"

/* Compilers split it for narrower vectors. */
typedef uint64_t wide __attribute__((vector_size(64), aligned(8), may_alias));
#define LANES (sizeof(wide) / sizeof(uint64_t))

/* The resolvers of clones run before ThreadSanitizer is ready. */
#if defined(RTE_ARCH_X86_64) && !defined(__SANITIZE_THREAD__)
#define BY_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BY_CPU
#endif

BY_CPU void
make_objects(const struct walk_ctx *source, void **objs, unsigned int n)
{
	const struct topology *t = source->topology;
	void *const *from = &t->objects[source->node->at];
	unsigned int i = 0;

	for (; i + LANES <= n; i += LANES)
		*(wide *)&objs[i] = *(const wide *)&from[i];
	for (; i < n; i++)
		objs[i] = from[i];
	source->node->at = (source->node->at + n) & (t->nb_objects - 1);
}

BY_CPU void
see_objects(struct walk_node *sink, void *const *objs, unsigned int n)
{
	uint64_t sum = 0;
	unsigned int i = 0;

	if (n >= 4 * LANES) {
		wide sums[4] = { { 0 }, { 0 }, { 0 }, { 0 } };

		for (; i + 4 * LANES <= n; i += 4 * LANES)
			for (unsigned int v = 0; v < 4; v++)
				sums[v] += *(const wide *)&objs[i + v * LANES];
		sums[0] += sums[1] + sums[2] + sums[3];
		for (unsigned int l = 0; l < LANES; l++)
			sum += sums[0][l];
	}
	for (; i < n; i++)
		sum += (uintptr_t)objs[i];
	sink->count += n;
	sink->sum += sum;
}
