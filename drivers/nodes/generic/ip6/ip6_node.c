/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of a trie that is built: for a byte, or for a window of few values. See hy_ip6_view.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "ip6_build.h"

#define LEAST 9 /* bits that a window is worth it for */

void *
ip6_room(void *array, uint32_t used, uint32_t n, uint32_t *have, size_t size)
{
	const uint32_t more = RTE_MAX(used + n, *have + *have / 2 + 64);
	void *grown;

	if (used + n <= *have)
		return array;
	grown = reallocarray(array, more, size);
	if (grown != NULL)
		*have = more;
	return grown;
}

/* Keeps the entries of a node. Equal neighbours share one. Returns 0, or -ENOMEM. */
static int
node_fill(struct ip6_building *b, struct hy_ip6_node *node, const uint32_t entry[256])
{
	uint32_t different[256], n = 0, *grown;

	*node = (struct hy_ip6_node){ .first = IP6_IN_NODE };
	for (unsigned int byte = 0; byte < 256; byte++) {
		if (byte % 64 == 0)
			node->before[byte / 64] = (uint8_t)n;
		if (byte > 0 && entry[byte] == entry[byte - 1])
			continue;
		node->starts[byte / 64] |= UINT64_C(1) << byte % 64;
		different[n++] = entry[byte];
	}
	if (n <= HY_IP6_OWN) {
		memcpy(node->own, different, n * sizeof(*different));
		return 0;
	}
	grown = ip6_room(b->entries, b->nb_entries, n, &b->entry_room, sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	b->entries = grown;
	memcpy(&grown[b->nb_entries], different, n * sizeof(*different));
	node->first = b->nb_entries;
	b->nb_entries += n;
	return 0;
}

uint64_t
ip6_value_of(const struct hy_ip6_route *route, unsigned int end, uint64_t *n)
{
	const unsigned int half = end > IP6_HALF;
	rte_be64_t bits;

	memcpy(&bits, route->prefix + half * sizeof(bits), sizeof(bits));
	*n = route->depth < end ? UINT64_C(1) << (end - route->depth) : 1;
	return rte_be_to_cpu_64(bits) >> (IP6_HALF * (1 + half) - end);
}

/*
 * Chooses the values of a window: those of all bits that the routes have, if they are few, or else of
 * bytes, as many as routes agree in. Returns false if a byte's node is better.
 */
static bool
window_range(const struct ip6_building *b, const struct ip6_span *s, struct ip6_range *range)
{
	const unsigned int limit = s->at < IP6_HALF ? IP6_HALF : 2 * IP6_HALF;
	uint64_t first, last = 0;
	unsigned int end = 0;

	for (uint32_t i = s->from; i < s->to; i++) {
		uint64_t n;
		const uint64_t value = ip6_value_of(&b->routes[i], limit, &n);

		last = RTE_MAX(last, value + (n - 1));
		end = RTE_MAX(end, (unsigned int)b->routes[i].depth);
	}
	first = ip6_value_of(&b->routes[s->from], limit, &range->n);
	for (end = RTE_MIN(end, limit); end > s->at; end = (end - 1) / 8 * 8) {
		range->end = end;
		range->first = first >> (limit - end);
		range->n = (last >> (limit - end)) - range->first + 1;
		if (range->n - 1 < HY_IP6_VALUES)
			break;
	}
	return range->n - 1 < HY_IP6_VALUES && end >= s->at + LEAST;
}

static int
window_fill(struct ip6_building *b, const struct ip6_span *s, const struct ip6_range *range,
	uint32_t covering, struct hy_ip6_window *window)
{
	const unsigned int half = range->end > IP6_HALF;

	*window = (struct hy_ip6_window){ .before = range->first - 1,
		.n = (uint32_t)range->n,
		.shift = (uint8_t)(IP6_HALF * (1 + half) - range->end),
		.at = (uint8_t)(half * sizeof(uint64_t)) };
	for (unsigned int i = 0; i <= HY_IP6_VALUES; i++)
		window->entry[i] = covering;
	return ip6_entries_fill(b, s, range, &window->entry[1]);
}

static int
byte_fill(struct ip6_building *b, const struct ip6_span *s, uint32_t covering,
	struct hy_ip6_node *node)
{
	struct ip6_range range = { .n = 256, .end = s->at + 8 };
	uint32_t entries[256];
	uint64_t n;
	int rc;

	range.first = ip6_value_of(&b->routes[s->from], range.end, &n) & ~UINT64_C(255);
	for (unsigned int i = 0; i < 256; i++)
		entries[i] = covering;
	rc = ip6_entries_fill(b, s, &range, entries);
	return rc == 0 ? node_fill(b, node, entries) : rc;
}

/* Makes the node of a span. *entry is what covers it, then the node's. */
static int
node_make(struct ip6_building *b, const struct ip6_span *s, uint32_t *entry)
{
	const uint32_t number = b->nb_nodes;
	struct ip6_built *grown = ip6_room(b->nodes, number, 1, &b->node_room, sizeof(*grown)),
			 made;
	struct ip6_range range;
	int rc;

	if (grown == NULL || number > HY_IP6_NUMBER)
		return -ENOMEM;
	b->nodes = grown;
	b->nb_nodes++; /* before its children, which it is then near to */
	made.is_window = window_range(b, s, &range);
	if (made.is_window)
		rc = window_fill(b, s, &range, *entry, &made.node.window);
	else
		rc = byte_fill(b, s, *entry, &made.node.byte);
	if (rc < 0)
		return rc;
	b->nodes[number] = made;
	*entry = HY_IP6_NODE | number |
		(made.is_window ? HY_IP6_WINDOW : s->at / 8 << HY_IP6_BYTE_SHIFT);
	return 0;
}

int
ip6_entries_fill(struct ip6_building *b, const struct ip6_span *s, const struct ip6_range *range,
	uint32_t entry[])
{
	uint32_t from = s->from;
	int rc = 0;

	while (from < s->to && rc == 0) {
		const struct hy_ip6_route *route = &b->routes[from];
		struct ip6_span below = { from, from + 1, range->end };
		uint64_t n, same;
		const uint64_t value = ip6_value_of(route, range->end, &n);
		uint32_t *const to = &entry[value - range->first];

		if (route->depth <= range->end) {
			for (uint64_t i = 0; i < n; i++)
				to[i] = route->next_hop + 1;
		} else {
			while (below.to < s->to &&
				ip6_value_of(&b->routes[below.to], range->end, &same) == value)
				below.to++;
			rc = node_make(b, &below, to);
		}
		from = below.to;
	}
	return rc;
}
