/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_lookup a step at a time. */

#include "ip6_find.h"
#include "ip6_lookup_kernels.h"

void
hy_ip6_lookup_batch(const struct hy_ip6_trie *trie, const uint8_t *const dst[], uint32_t route[],
	uint16_t next[], uint32_t n)
{
	ip6_find_all(trie, dst, 0, route, n);
	for (uint32_t i = 0; i < n; i++) {
		const bool found = route[i] != 0;

		static_assert(HY_IP6_LOOKUP_NEXT_REWRITE == 0, "next is the drop code or nothing");
		next[i] = found ? 0 : HY_DROP(HY_IP6_LOOKUP_NO_ROUTE);
		route[i] -= found;
	}
}

static uint16_t
batch_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip6_lookup_process(graph, node, objs, n, hy_ip6_lookup_batch);
}

HY_NODE_VARIANT(ip6_lookup, batch,
	.text = "All addresses of a burst side by side, level by level",
	.impl.process = batch_process,
	.score = 20);
