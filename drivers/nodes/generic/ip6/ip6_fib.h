/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv6 forwarding table, for the files that implement it:
 *
 * ip6_fib.c   creation and destruction, users, finding routes
 * ip6_set.c   sets of routes: built, exchanged, freed when no worker reads them
 * ip6_trie.c  what workers read of a set: its pages, and all parts together
 * ip6_node.c  its nodes
 */
#pragma once

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>

#include <hy_ip6_view.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"

/* A set of routes. Each of its routes holds its next hop. */
struct hy_ip6_set {
	struct hy_ip6_route *routes; /* in their order */
	uint32_t n;
	struct hy_ip6_trie *trie; /* NULL: no routes */
	uint64_t token; /* since it was last replaced; once it passes, no worker reads it */
	struct hy_ip6_set *next; /* in the list of discarded ones */
};

struct hy_ip6_fib {
	struct hy_ip6_view view; /* what workers read */

	alignas(RTE_CACHE_LINE_SIZE) pthread_mutex_t lock;
	struct hy_ip4_fib *next_hops;
	struct hy_ip6_set *shown;     /* NULL: none yet */
	struct hy_ip6_set *discarded; /* workers may still read them */
};

/*
 * Builds a trie of routes that are sorted, valid and different, at least one.
 *
 * Returns 0; -ENOMEM.
 */
int ip6_trie_build(const struct hy_ip6_route *routes, uint32_t n, int socket,
	struct hy_ip6_trie **trie);
void ip6_trie_free(struct hy_ip6_trie *trie);

/* Frees a set, and lets its next hops go. */
void ip6_set_free(struct hy_ip6_fib *fib, struct hy_ip6_set *set);

/* Whether an address lies in a prefix. */
bool ip6_covers(const struct hy_ip6_route *route, const uint8_t address[HY_IP6_BYTES]);
