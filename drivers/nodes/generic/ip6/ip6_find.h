/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up the addresses of a burst. In a large table, all take a step before the first takes its next:
 * the steps are independent, so that their cache misses overlap. In a small one, which caches hold, one
 * address after another takes fewer instructions.
 */
#pragma once

#include <rte_prefetch.h>

#include <hy_ip6_view.h>

/* Most bytes of a small table: 256 KB are the places of pages, of which few are read. */
#define IP6_SMALL (320 * 1024)

/* The entry after a step from a node. */
static __rte_always_inline uint32_t
ip6_step(const struct hy_ip6_trie *trie, const struct hy_ip6_node *nodes, uint32_t entry,
	const uint8_t *address)
{
	const struct hy_ip6_node *node = &nodes[entry & HY_IP6_NUMBER];

	if ((entry & HY_IP6_WINDOW) != 0)
		return hy_ip6_look((const struct hy_ip6_window *)node, address);
	return hy_ip6_entry(trie, node, address[hy_ip6_byte(entry)]);
}

/* The steps that some addresses have left after two. */
static __rte_noinline void
ip6_find_rest(const struct hy_ip6_trie *trie, const uint8_t *const base[], uint32_t at,
	uint32_t entry[], uint16_t which[], uint32_t left)
{
	const struct hy_ip6_node *const nodes = hy_ip6_node(trie, 0);

	while (left > 0) {
		const uint32_t before = left;

		left = 0;
		for (uint32_t k = 0; k < before; k++) {
			const uint32_t i = which[k];
			const uint32_t found = ip6_step(trie, nodes, entry[i], base[i] + at);

			entry[i] = found;
			rte_prefetch0(&nodes[found & HY_IP6_NUMBER]); /* harmless if it is none */
			which[left] = (uint16_t)i;
			left += (found & HY_IP6_NODE) != 0;
		}
	}
}

/* Step by step. */
static __rte_always_inline void
ip6_find_large(const struct hy_ip6_trie *trie, const uint8_t *const base[], uint32_t at,
	uint32_t entry[], uint32_t n)
{
	const struct hy_ip6_node *const nodes = hy_ip6_node(trie, 0);
	uint16_t which[HY_BURST_MAX + 1]; /* addresses at nodes, and one that does not count */
	uint32_t left = 0, found;

	for (uint32_t i = 0; i < n; i++) {
		found = hy_ip6_first(trie, base[i] + at);
		entry[i] = found;
		rte_prefetch0(&nodes[found & HY_IP6_NUMBER]);
	}
	for (uint32_t i = 0; i < n; i++) {
		found = entry[i];
		if (likely((found & HY_IP6_NODE) != 0)) {
			found = ip6_step(trie, nodes, found, base[i] + at);
			entry[i] = found;
			rte_prefetch0(&nodes[found & HY_IP6_NUMBER]);
		}
		which[left] = (uint16_t)i;
		left += (found & HY_IP6_NODE) != 0;
	}
	if (left > 0)
		ip6_find_rest(trie, base, at, entry, which, left);
}

/*
 * Finds the entries of the addresses at base[i] + at. An entry is 0 without a route, or the id of a next
 * hop or group plus 1.
 */
static __rte_always_inline void
ip6_find_all(const struct hy_ip6_trie *trie, const uint8_t *const base[], uint32_t at,
	uint32_t entry[], uint32_t n)
{
	if (trie->bytes > IP6_SMALL) {
		ip6_find_large(trie, base, at, entry, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		entry[i] = hy_ip6_find(trie, base[i] + at);
}
