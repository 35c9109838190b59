/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup over rte_fib: one call a burst, with the lookup that the table was created with. */

#include "ip4_lookup.h"

void
hy_ip4_lookup_fib(const struct hy_ip4_fib *fib, uint32_t route[], uint16_t next[], uint32_t n)
{
	struct rte_fib *shown = __atomic_load_n(&fib->rte_fib, __ATOMIC_ACQUIRE);
	const uint32_t none = __atomic_load_n(&fib->default_entry, __ATOMIC_ACQUIRE);
	const uint16_t miss = none != 0 ? IP4_LOOKUP_NEXT_REWRITE : HY_DROP(IP4_LOOKUP_NO_ROUTE);
	uint64_t ids[HY_BURST_MAX];

	rte_fib_lookup_bulk(shown, route, ids, (int)n);
	for (uint32_t i = 0; i < n; i++) {
		const bool hit = (uint32_t)ids[i] != fib->rte_fib_none;

		route[i] = hit ? (uint32_t)ids[i] : none & IP4_LOOKUP_ID_MASK;
		next[i] = hit ? IP4_LOOKUP_NEXT_REWRITE : miss;
	}
}

static uint16_t
fib_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, hy_ip4_lookup_fib);
}

static int
fib_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	return ip4_lookup_init_for(graph, node, config, HY_IP4_FIB);
}

HY_NODE_VARIANT(ip4_lookup, fib,
	.text = "rte_fib, one address at a time",
	.impl.process = fib_process,
	.impl.init = fib_init,
	.impl.fini = ip4_lookup_fini,
	.impl.ctx_size = sizeof(struct ip4_lookup_ctx),
	.score = 5);

#ifdef RTE_ARCH_X86_64

static int
fib_avx512_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	return ip4_lookup_init_for(graph, node, config, HY_IP4_FIB_AVX512);
}

HY_NODE_VARIANT(ip4_lookup, fib_avx512,
	.text = "rte_fib, which gathers sixteen entries at a time",
	.impl.process = fib_process,
	.impl.init = fib_avx512_init,
	.impl.fini = ip4_lookup_fini,
	.impl.ctx_size = sizeof(struct ip4_lookup_ctx),
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 6);

#endif
