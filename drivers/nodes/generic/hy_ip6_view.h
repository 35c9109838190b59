/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How a node reads an IPv6 forwarding table (hy_ip6.h) without a lock while it changes. For variants
 * of ip6_lookup, ip6_rewrite and pkt_cls, and for other nodes that read routes.
 *
 * A node's init() finds the table and registers as its user: hy_ip6_fib_for(), hy_ip6_fib_use(),
 * hy_ip6_fib_view(). Its fini() calls hy_ip6_fib_unuse(). What a worker reads is valid until the end
 * of the walk, as in hy_ip4_view.h.
 *
 * Routes are a trie, immutable once it is published. An address selects a page by its first 16 bits, and
 * an entry of the page by the next 8. An entry is 0 without a route, the id of a next hop plus 1, or
 * HY_IP6_NODE with a node's number and what it is, in a cache line each:
 *
 * - A node for a byte of the address, whose number the entry has too. Neighbouring bytes with equal
 *   entries share one: a bit of the node says where an entry begins that differs from the one before, so
 *   that the number of bits up to a byte's is the number of its entry. The node has room for its entries
 *   if they are few, as most are.
 * - With HY_IP6_WINDOW, a node for what few routes say of many bits: it has entries for a few
 *   neighbouring values of an address's bits down to some bit, and one for all other values. Routes below
 *   it agree in the bits before, so that this also tells whether an address agrees.
 */
#pragma once

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#include <hy_graph_worker.h>
#include <hy_ip4_view.h>
#include <hy_ip6.h>
#include <hy_plugin.h>

HY_API_BEGIN

#define HY_IP6_ROOT 65536u        /**< Places of pages. */
#define HY_IP6_PAGE 256u          /**< Entries of a page. */
#define HY_IP6_NODE 0x80000000u   /**< In an entry: this is a node's. */
#define HY_IP6_WINDOW 0x40000000u /**< The node is a window. */
#define HY_IP6_BYTE_SHIFT 26      /**< Above this, up to HY_IP6_WINDOW: the byte of the address. */
#define HY_IP6_NUMBER 0x03ffffffu /**< The node's number. */
#define HY_IP6_OWN 6              /**< Entries for which a byte's node has room. */
#define HY_IP6_VALUES 11          /**< Values for which a window has room. */

/** A node for a byte. */
struct hy_ip6_node {
	uint64_t starts[4]; /**< By byte / 64: where an entry begins. Bit 0 of the first is set. */
	uint8_t before[4];  /**< Bits set in earlier elements of starts. */
	uint32_t first;     /**< The word before the first entry, an index of hy_ip6_trie.words. */
	uint32_t own[HY_IP6_OWN]; /**< Its entries, if first says so. */
};

/** A node for few values of many bits. */
struct hy_ip6_window {
	uint64_t before; /**< The first value minus 1, modulo 2^64. */
	uint32_t n;      /**< Number of values. */
	uint8_t shift;   /**< A value is 64 bits of the address shifted right by this. */
	uint8_t at;      /**< Where these are: byte 0 or 8. */
	uint16_t zero;   /**< Always 0. */
	/** The entry of other values, then those of the values. */
	uint32_t entry[HY_IP6_VALUES + 1];
};

static_assert(sizeof(struct hy_ip6_node) == 64 && sizeof(struct hy_ip6_window) == 64,
	"a node is a cache line");

/** Routes as workers read them. */
struct hy_ip6_trie {
	size_t bytes;   /**< Its size. */
	uint32_t nodes; /**< Where nodes begin, as an index of words. */
	/** Places of pages, as indexes of words; pages; nodes; entries that have no room in nodes. */
	alignas(64) uint32_t words[];
};

/** What workers read of a table. */
struct hy_ip6_view {
	/** NULL: IPv6 is off. Read it with hy_ip6_trie() only. */
	const struct hy_ip6_trie *trie;
	const struct hy_ip4_view *next_hops; /**< For hy_ip4_adjacencies(). Never changes. */
};

/** @return The routes, for one burst; NULL: IPv6 is off. Worker only. */
static inline const struct hy_ip6_trie *
hy_ip6_trie(const struct hy_ip6_view *view)
{
	return __atomic_load_n(&view->trie, __ATOMIC_ACQUIRE);
}

/** @return The node of an entry that has HY_IP6_NODE set; a struct hy_ip6_window if so marked. */
static inline const struct hy_ip6_node *
hy_ip6_node(const struct hy_ip6_trie *trie, uint32_t entry)
{
	return (const struct hy_ip6_node *)&trie->words[trie->nodes] + (entry & HY_IP6_NUMBER);
}

/** @return The byte of an address that the node of an entry is for, unless it is a window. */
static inline unsigned int
hy_ip6_byte(uint32_t entry)
{
	return entry >> HY_IP6_BYTE_SHIFT & 0xf;
}

/** @return The entry for an address's first 24 bits. */
static inline uint32_t
hy_ip6_first(const struct hy_ip6_trie *trie, const uint8_t *address)
{
	return trie->words[trie->words[address[0] << 8 | address[1]] + address[2]];
}

/** @return A node's entry for a byte. */
static inline uint32_t
hy_ip6_entry(const struct hy_ip6_trie *trie, const struct hy_ip6_node *node, uint8_t byte)
{
	const unsigned int part = byte / 64;
	const uint64_t upto = node->starts[part] << (63 - byte % 64);

	return trie
		->words[node->first + (node->before[part] + (uint32_t)__builtin_popcountll(upto))];
}

/** @return A window's entry for an address. */
static inline uint32_t
hy_ip6_look(const struct hy_ip6_window *window, const uint8_t *address)
{
	rte_be64_t half;
	uint64_t value;

	memcpy(&half, address + window->at, sizeof(half));
	value = (rte_be_to_cpu_64(half) >> window->shift) - window->before;
	return window->entry[value <= window->n ? value : 0];
}

/**
 * Looks one address up.
 *
 * @return The id of its next hop or group plus 1; 0: no route.
 */
static inline uint32_t
hy_ip6_find(const struct hy_ip6_trie *trie, const uint8_t *address)
{
	uint32_t entry = hy_ip6_first(trie, address);

	while ((entry & HY_IP6_NODE) != 0) {
		const struct hy_ip6_node *node = hy_ip6_node(trie, entry);

		if ((entry & HY_IP6_WINDOW) != 0)
			entry = hy_ip6_look((const struct hy_ip6_window *)node, address);
		else
			entry = hy_ip6_entry(trie, node, address[hy_ip6_byte(entry)]);
	}
	return entry;
}

/** As hy_ip4_fib_for(). */
struct hy_ip6_fib *hy_ip6_fib_for(const struct hy_graph *graph,
	const struct hy_ip6_lookup_config *config);

/** As hy_ip4_fib_use(), which it calls for the table of next hops. */
int hy_ip6_fib_use(const struct hy_graph *graph, struct hy_node *node, struct hy_ip6_fib *fib);

/** Undoes hy_ip6_fib_use(). For fini(). */
void hy_ip6_fib_unuse(struct hy_ip6_fib *fib);

/** @return The view of a table. Valid as long as the table. Any thread. */
const struct hy_ip6_view *hy_ip6_fib_view(const struct hy_ip6_fib *fib);

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP6_VIEW_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip6_view), HY_PLUGIN_SIZE(struct hy_ip6_node), \
		HY_PLUGIN_OFFSET(hy_ip6_view, next_hops), HY_PLUGIN_OFFSET(hy_ip6_node, first), \
		HY_PLUGIN_OFFSET(hy_ip6_node, before), HY_PLUGIN_SIZE(struct hy_ip6_window), \
		HY_PLUGIN_OFFSET(hy_ip6_window, entry), HY_PLUGIN_OFFSET(hy_ip6_trie, nodes), \
		HY_PLUGIN_OFFSET(hy_ip6_trie, words)

HY_PLUGIN_NUMBERS(ip6_view, HY_IP6_VIEW_NUMBERS);
/** @endcond */

HY_API_END
