/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_lookup with rte_lpm's lookup of four addresses: SSE4.1, NEON, SVE or AltiVec. */

#include <stdalign.h>
#include <string.h>

#include <rte_lpm.h>

#include "ip4_lookup_kernels.h"

#define MISSED (HY_IP4_ID_MASK + 1) /* above all ids: a bit that no hit has */

/* Gives addresses without an entry the default route, or drops them: returns 0 if none is dropped. */
static uint32_t
misses_lead(uint32_t entry, uint32_t route[], uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (route[i] != MISSED)
			continue;
		route[i] = entry & HY_IP4_ID_MASK;
		next[i] = entry != 0 ? HY_IP4_LOOKUP_NEXT_REWRITE : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE);
	}
	return entry == 0;
}

static uint32_t
lookup(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const uint32_t none = __atomic_load_n(&view->default_entry, __ATOMIC_ACQUIRE);
	const uint32_t fours = n & ~3u;
	uint32_t seen = 0, misses = 0;

	for (uint32_t i = 0; i < fours; i += 4) {
		alignas(xmm_t) uint32_t hop[4]; /* rte_lpm stores two 64-bit words */
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
		misses = misses_lead(none, route, next, fours);
	return misses | ip4_lookup_singly(view, route + fours, next + fours, n - fours);
}

void
hy_ip4_lookup_x4(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	lookup(view, route, next, n);
}

static uint16_t
x4_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ip4_lookup_process(graph, node, objs, n, lookup);
}

HY_NODE_VARIANT(ip4_lookup, x4,
	.text = "Four rte_lpm entries at a time",
	.impl.process = x4_process,
	.score = 15);
