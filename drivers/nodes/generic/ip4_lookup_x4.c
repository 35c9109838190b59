/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup by rte_lpm's own lookup of four addresses: SSE4.1, NEON, SVE or AltiVec. */

#include "ip4_lookup.h"

void
hy_ip4_lookup_x4(const struct hy_ip4_fib *fib, uint32_t route[], uint16_t next[], uint32_t n)
{
	const uint32_t none = __atomic_load_n(&fib->default_entry, __ATOMIC_ACQUIRE);
	/* Above all ids: what a miss makes of it tells it from a hit. */
	const uint32_t missed = IP4_LOOKUP_ID_MASK + 1;
	const uint16_t miss = none != 0 ? IP4_LOOKUP_NEXT_REWRITE : HY_DROP(IP4_LOOKUP_NO_ROUTE);
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4) {
		xmm_t ip;

		memcpy(&ip, &route[i], sizeof(ip));
		rte_lpm_lookupx4(fib->lpm, ip, &route[i], missed);
		for (uint32_t j = i; j < i + 4; j++) {
			next[j] = route[j] != missed ? IP4_LOOKUP_NEXT_REWRITE : miss;
			route[j] = route[j] != missed ? route[j] : none & IP4_LOOKUP_ID_MASK;
		}
	}
	hy_ip4_lookup_scalar(fib, route + i, next + i, n - i);
}

static uint16_t
x4_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, hy_ip4_lookup_x4);
}

HY_NODE_VARIANT(ip4_lookup, x4,
	.text = "Four rte_lpm entries at a time",
	.impl.process = x4_process,
	.score = 15);
