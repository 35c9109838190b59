/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup with rte_fib: one call per burst, with the lookup function chosen at table creation. */

#include <rte_fib.h>

#include "ip4_lookup_kernels.h"

/* Inlined into each kernel, so that the compiler may use the kernel's instruction set. */
static __rte_always_inline uint32_t
lookup(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const struct hy_ip4_copy *shown = __atomic_load_n(&view->copy, __ATOMIC_ACQUIRE);
	const uint32_t entry = __atomic_load_n(&shown->default_entry, __ATOMIC_ACQUIRE);
	const uint32_t none = view->rte_fib_none, otherwise = entry & HY_IP4_ID_MASK;
	const uint16_t miss = entry != 0 ? HY_IP4_LOOKUP_NEXT_REWRITE
					 : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE);
	uint64_t ids[HY_BURST_MAX];
	uint16_t misses = 0;

	rte_fib_lookup_bulk(shown->rte_fib, route, ids, (int)n);
	for (uint32_t i = 0; i < n; i++) {
		next[i] = (uint32_t)ids[i] != none ? HY_IP4_LOOKUP_NEXT_REWRITE : miss;
		misses |= next[i];
	}
	for (uint32_t i = 0; i < n; i++)
		route[i] = (uint32_t)ids[i] != none ? (uint32_t)ids[i] : otherwise;
	return misses;
}

static uint32_t
lookup_any(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	return lookup(view, route, next, n);
}

void
hy_ip4_lookup_fib(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	lookup_any(view, route, next, n);
}

static uint16_t
fib_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, lookup_any);
}

/*
 * Entries of 2 bytes pay off if a table is large and lookups are spread over it, since caches hold
 * twice as many. Scores are from hy-bench lookup: see doc/benchmarks.rst.
 */
HY_NODE_VARIANT(ip4_lookup, fib,
	.text = "rte_fib, one address at a time",
	.impl.process = fib_process,
	.engine = HY_IP4_ENGINE_FIB,
	.needs = { { .declared = HY_IP4_LIVE_ROUTES,
		.bonus = -3,
		.why = "the table is kept twice and swapped whole" } },
	.score = 8);

#ifdef RTE_ARCH_X86_64

HY_TARGET_AVX512 static uint32_t
lookup_avx512(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	return lookup(view, route, next, n);
}

void
hy_ip4_lookup_fib_avx512(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[],
	uint32_t n)
{
	lookup_avx512(view, route, next, n);
}

static uint16_t
fib_avx512_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, lookup_avx512);
}

HY_NODE_VARIANT(ip4_lookup, fib_avx512,
	.text = "rte_fib, sixteen entries of 2 bytes at a time",
	.impl.process = fib_avx512_process,
	.engine = HY_IP4_ENGINE_FIB_AVX512,
	.needs = { { .cap = HY_CAP_AVX512 },
		{ .cap = HY_CAP_SIMD_BITS, .at_least = 512 },
		{ .declared = HY_IP4_ROUTES, .at_least = 10000, .bonus = 17 },
		{ .declared = HY_IP4_LIVE_ROUTES,
			.bonus = -3,
			.why = "the table is kept twice and swapped whole" } },
	.score = 18);

#endif
