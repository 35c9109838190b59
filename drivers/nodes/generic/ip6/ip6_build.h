/* SPDX-License-Identifier: BSD-3-Clause */
/* A trie while it is built: ip6_node.c makes its nodes, ip6_trie.c its pages, and puts all together. */
#pragma once

#include <stdbool.h>

#include "ip6_fib.h"

#define IP6_HALF 64            /* bits of an address */
#define IP6_IN_NODE UINT32_MAX /* for node.first: own entries */

/* A node of either kind. */
struct ip6_built {
	bool is_window;
	union {
		struct hy_ip6_node byte;
		struct hy_ip6_window window;
	} node;
};

struct ip6_building {
	const struct hy_ip6_route *routes;
	uint32_t *pages;
	uint32_t nb_pages, page_room;
	struct ip6_built *nodes;
	uint32_t nb_nodes, node_room;
	uint32_t *entries; /* of nodes without room */
	uint32_t nb_entries, entry_room;
};

/* Routes from..to, which agree in their first bits, of which all are longer. */
struct ip6_span {
	uint32_t from, to;
	unsigned int at; /* those bits */
};

/* Values of the bits before `end`: of all, or, from IP6_HALF on, of those behind IP6_HALF. */
struct ip6_range {
	uint64_t first, n;
	unsigned int end;
};

/* Makes room for n more elements. Returns the array, or NULL: out of memory, the old one stays. */
void *ip6_room(void *array, uint32_t used, uint32_t n, uint32_t *have, size_t size);
/* The value of a route's bits before `end`; how many values it has there. */
uint64_t ip6_value_of(const struct hy_ip6_route *route, unsigned int end, uint64_t *n);
/*
 * Fills entries with routes of a span, for the values of a range; longer ones get nodes. The entries have
 * what covers all. Routes are sorted, so that a shorter one comes before those that it covers. Returns 0,
 * or -ENOMEM.
 */
int ip6_entries_fill(struct ip6_building *b, const struct ip6_span *s,
	const struct ip6_range *range, uint32_t entry[]);
