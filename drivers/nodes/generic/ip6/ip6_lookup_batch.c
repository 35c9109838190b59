/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6_lookup a step at a time: all addresses take one before the first takes its next. The steps are
 * independent, so that their cache misses overlap. Addresses at both kinds of nodes are kept apart, so
 * that no branch depends on an address.
 */

#include "ip6_lookup_kernels.h"

/* An entry that is a node's is where the address goes on, unlike others. Returns whether it is. */
static inline bool
reach(const struct hy_ip6_node *nodes, uint32_t entry, uint32_t *route)
{
	*route = entry;
	rte_prefetch0(&nodes[entry & HY_IP6_NUMBER]); /* harmless if it is none */
	return (entry & HY_IP6_NODE) != 0;
}

void
hy_ip6_lookup_batch(const struct hy_ip6_trie *trie, const uint8_t *const dst[], uint32_t route[],
	uint16_t next[], uint32_t n)
{
	const struct hy_ip6_node *const nodes = hy_ip6_node(trie, 0);
	uint16_t at[HY_BURST_MAX + 1]; /* addresses at nodes, and one that does not count */
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		at[left] = (uint16_t)i;
		left += reach(nodes, hy_ip6_first(trie, dst[i]), &route[i]);
	}
	while (left > 0) {
		const uint32_t before = left;

		left = 0;
		for (uint32_t k = 0; k < before; k++) {
			const uint32_t i = at[k], entry = route[i];
			const struct hy_ip6_node *node = &nodes[entry & HY_IP6_NUMBER];
			uint32_t found;

			at[left] = (uint16_t)i;
			if (unlikely((entry & HY_IP6_WINDOW) != 0))
				found = hy_ip6_look((const struct hy_ip6_window *)node, dst[i]);
			else
				found = hy_ip6_entry(trie, node, dst[i][hy_ip6_byte(entry)]);
			left += reach(nodes, found, &route[i]);
		}
	}
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
