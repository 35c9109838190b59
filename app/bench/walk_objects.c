/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all contenders of the walk benchmark do with objects: make them and sum them up. As wide as
 * the CPU is, since DPDK's flags allow only SSE4.2, and this work must not hide the graph's.
 */

#include <rte_common.h>

#include "walk.h"

/* Compilers split it where a CPU has narrower vectors. */
typedef uint64_t wide __attribute__((vector_size(64), aligned(8), may_alias));
#define LANES (sizeof(wide) / sizeof(uint64_t))

static __rte_always_inline void
make(const struct walk_ctx *source, void **objs, unsigned int n)
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

static __rte_always_inline void
see(struct walk_node *sink, void *const *objs, unsigned int n)
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

static void
make_baseline(const struct walk_ctx *source, void **objs, unsigned int n)
{
	make(source, objs, n);
}

static void
see_baseline(struct walk_node *sink, void *const *objs, unsigned int n)
{
	see(sink, objs, n);
}

make_objects_t *make_objects = make_baseline;
see_objects_t *see_objects = see_baseline;

#ifdef RTE_ARCH_X86_64
__attribute__((target("avx2"))) static void
make_avx2(const struct walk_ctx *source, void **objs, unsigned int n)
{
	make(source, objs, n);
}

__attribute__((target("avx2"))) static void
see_avx2(struct walk_node *sink, void *const *objs, unsigned int n)
{
	see(sink, objs, n);
}

__attribute__((target("avx512f"))) static void
make_avx512(const struct walk_ctx *source, void **objs, unsigned int n)
{
	make(source, objs, n);
}

__attribute__((target("avx512f"))) static void
see_avx512(struct walk_node *sink, void *const *objs, unsigned int n)
{
	see(sink, objs, n);
}

RTE_INIT(objects_by_cpu)
{
	if (__builtin_cpu_supports("avx2")) {
		make_objects = make_avx2;
		see_objects = see_avx2;
	}
	if (__builtin_cpu_supports("avx512f")) {
		make_objects = make_avx512;
		see_objects = see_avx512;
	}
}
#endif
