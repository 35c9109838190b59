/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup by rte_lpm's own lookup of four addresses: SSE4.1, NEON, SVE or AltiVec. */

#include <stdalign.h>
#include <string.h>

#include <rte_lpm.h>

#include "ip4_lookup_kernels.h"

#define MISSED (HY_IP4_ID_MASK + 1) /* above all ids: a bit that hits do not have */

/* The default route, or a drop, for addresses that the table has no entry for. */
static void
misses_lead(uint32_t entry, uint32_t route[], uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (route[i] != MISSED)
			continue;
		route[i] = entry & HY_IP4_ID_MASK;
		next[i] = entry != 0 ? HY_IP4_LOOKUP_NEXT_REWRITE : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE);
	}
}

void
hy_ip4_lookup_x4(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const uint32_t none = __atomic_load_n(&view->default_entry, __ATOMIC_ACQUIRE);
	const uint32_t fours = n & ~3u;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < fours; i += 4) {
		alignas(xmm_t) uint32_t hop[4]; /* it is stored to as two 64-bit words */
		xmm_t ip;

		memcpy(&ip, &route[i], sizeof(ip));
		rte_lpm_lookupx4(view->lpm, ip, hop, MISSED);
		memcpy(&route[i], hop, sizeof(hop));
	}
	for (uint32_t i = 0; i < fours; i++) {
		seen |= route[i];
		next[i] = HY_IP4_LOOKUP_NEXT_REWRITE;
	}
	if (unlikely((seen & MISSED) != 0))
		misses_lead(none, route, next, fours);
	hy_ip4_lookup_scalar(view, route + fours, next + fours, n - fours);
}

static uint16_t
x4_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip4_lookup_process(graph, node, objs, n, hy_ip4_lookup_x4);
}

HY_NODE_VARIANT(ip4_lookup, x4,
	.text = "Four rte_lpm entries at a time",
	.impl.process = x4_process,
	.score = 15);
