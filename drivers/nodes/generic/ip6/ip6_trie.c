/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the trie that workers read: see hy_ip6_view.h. Pages, nodes (ip6_node.c) and entries are collected
 * in arrays that grow, and copied to memory of their exact size at the end.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "ip6_build.h"

#define WORDS_A_NODE (sizeof(struct hy_ip6_node) / sizeof(uint32_t))

/* Adds a page of one entry. Returns 0, or -ENOMEM. */
static int
page_add(struct ip6_building *b, uint32_t entry)
{
	uint32_t *grown = ip6_room(b->pages, b->nb_pages, 1, &b->page_room,
		HY_IP6_PAGE * sizeof(*grown));

	if (grown == NULL)
		return -ENOMEM;
	b->pages = grown;
	for (unsigned int i = 0; i < HY_IP6_PAGE; i++)
		grown[HY_IP6_PAGE * b->nb_pages + i] = entry;
	b->nb_pages++;
	return 0;
}

/*
 * Makes pages of the routes that are longer than 16 bits. root[] gets what covers a page's addresses, or
 * HY_IP6_NODE and the page.
 */
static int
pages_make(struct ip6_building *b, uint32_t n, uint32_t root[])
{
	int rc = 0;

	for (struct ip6_span s = { 0, 0, 16 }; s.from < n && rc == 0; s.from = s.to) {
		const struct hy_ip6_route *route = &b->routes[s.from];
		uint64_t values, same;
		const uint64_t value = ip6_value_of(route, s.at, &values);
		const struct ip6_range range = { value * HY_IP6_PAGE, HY_IP6_PAGE, s.at + 8 };

		s.to = s.from + 1;
		if (route->depth <= s.at) {
			for (uint64_t i = 0; i < values; i++)
				root[value + i] = route->next_hop + 1;
			continue;
		}
		while (s.to < n && ip6_value_of(&b->routes[s.to], s.at, &same) == value)
			s.to++;
		rc = page_add(b, root[value]);
		if (rc < 0)
			return rc;
		root[value] = HY_IP6_NODE | (b->nb_pages - 1);
		rc = ip6_entries_fill(b, &s, &range, &b->pages[HY_IP6_PAGE * (b->nb_pages - 1)]);
	}
	return rc;
}

/* Turns root[] to places of pages. Where no route is longer, those of one entry, shared by neighbours. */
static int
pages_share(struct ip6_building *b, uint32_t root[])
{
	const uint32_t none = b->nb_pages;
	uint32_t shared = none, of = 0;
	int rc = page_add(b, 0);

	for (uint32_t value = 0; value < HY_IP6_ROOT && rc == 0; value++) {
		uint32_t page = root[value] & ~HY_IP6_NODE;

		if ((root[value] & HY_IP6_NODE) == 0) {
			if (root[value] != of) {
				of = root[value];
				shared = of == 0 ? none : b->nb_pages;
				rc = of == 0 ? 0 : page_add(b, of);
			}
			page = shared;
		}
		root[value] = HY_IP6_ROOT + HY_IP6_PAGE * page;
	}
	return rc;
}

/* Writes a node where workers read it, as word `at` and following; entries are from a word on. */
static void
node_put(const struct ip6_built *built, uint32_t *to, uint32_t at, uint32_t entries)
{
	struct hy_ip6_node node = built->node.byte;

	if (built->is_window) {
		memcpy(to, &built->node.window, sizeof(built->node.window));
		return;
	}
	if (node.first == IP6_IN_NODE)
		node.first = at + (uint32_t)(offsetof(struct hy_ip6_node, own) / sizeof(uint32_t));
	else
		node.first += entries;
	node.first--; /* the word before it */
	memcpy(to, &node, sizeof(node));
}

/* Puts the parts together. */
static int
finish(const struct ip6_building *b, const uint32_t root[], int socket, struct hy_ip6_trie **made)
{
	const size_t nodes = HY_IP6_ROOT + (size_t)HY_IP6_PAGE * b->nb_pages;
	const size_t entries = nodes + WORDS_A_NODE * b->nb_nodes, words = entries + b->nb_entries;
	struct hy_ip6_trie *trie;

	if (words > UINT32_MAX)
		return -ENOMEM;
	trie = rte_malloc_socket("hy_ip6_trie", sizeof(*trie) + words * sizeof(*trie->words),
		RTE_CACHE_LINE_SIZE, socket);
	if (trie == NULL)
		return -ENOMEM;
	trie->bytes = sizeof(*trie) + words * sizeof(*trie->words);
	trie->nodes = (uint32_t)nodes;
	memcpy(trie->words, root, HY_IP6_ROOT * sizeof(*root));
	memcpy(&trie->words[HY_IP6_ROOT], b->pages,
		(size_t)HY_IP6_PAGE * b->nb_pages * sizeof(*b->pages));
	for (uint32_t i = 0; i < b->nb_nodes; i++) {
		const size_t at = nodes + WORDS_A_NODE * i;

		node_put(&b->nodes[i], &trie->words[at], (uint32_t)at, (uint32_t)entries);
	}
	if (b->nb_entries > 0)
		memcpy(&trie->words[entries], b->entries, b->nb_entries * sizeof(*b->entries));
	*made = trie;
	return 0;
}

int
ip6_trie_build(const struct hy_ip6_route *routes, uint32_t n, int socket, struct hy_ip6_trie **trie)
{
	struct ip6_building b = { .routes = routes };
	uint32_t *root = calloc(HY_IP6_ROOT, sizeof(*root));
	int rc = root == NULL ? -ENOMEM : pages_make(&b, n, root);

	if (rc == 0)
		rc = pages_share(&b, root);
	if (rc == 0)
		rc = finish(&b, root, socket, trie);
	free(b.entries);
	free(b.nodes);
	free(b.pages);
	free(root);
	return rc;
}

void
ip6_trie_free(struct hy_ip6_trie *trie)
{
	rte_free(trie);
}
