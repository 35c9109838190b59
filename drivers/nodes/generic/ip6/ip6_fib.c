/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 forwarding table: creation and destruction, users, and finding routes. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "ip6_fib.h"

int
hy_ip6_fib_create(struct hy_ip4_fib *next_hops, struct hy_ip6_fib **out)
{
	struct hy_ip6_fib *fib = rte_zmalloc_socket("hy_ip6_fib", sizeof(*fib), RTE_CACHE_LINE_SIZE,
		next_hops->params.socket);

	if (fib == NULL)
		return -ENOMEM;
	fib->next_hops = next_hops;
	fib->view.next_hops = hy_ip4_fib_view(next_hops);
	pthread_mutex_init(&fib->lock, NULL);
	*out = fib;
	return 0;
}

void
hy_ip6_fib_destroy(struct hy_ip6_fib *fib)
{
	struct hy_ip6_set *set = NULL;

	if (fib == NULL)
		return;
	hy_ip6_routes_exchange(fib, &set);
	hy_ip6_routes_discard(fib, set);
	hy_ip6_routes_reap(fib);
	while ((set = fib->discarded) != NULL) { /* no graph uses the table */
		fib->discarded = set->next;
		ip6_set_free(fib, set);
	}
	pthread_mutex_destroy(&fib->lock);
	rte_free(fib);
}

struct hy_ip4_fib *
hy_ip6_fib_next_hops(const struct hy_ip6_fib *fib)
{
	return fib->next_hops;
}

struct hy_ip6_fib *
hy_ip6_fib_for(const struct hy_graph *graph, const struct hy_ip6_lookup_config *config)
{
	struct hy_ip6_fib *fib;

	if (config == NULL || config->nb_fibs == 0)
		return NULL;
	fib = config->fibs[0];
	for (unsigned int i = 0; i < config->nb_fibs; i++)
		if (hy_ip4_fib_socket(config->fibs[i]->next_hops) == hy_graph_socket(graph))
			fib = config->fibs[i];
	return fib;
}

const struct hy_ip6_view *
hy_ip6_fib_view(const struct hy_ip6_fib *fib)
{
	return &fib->view;
}

int
hy_ip6_fib_use(const struct hy_graph *graph, struct hy_node *node, struct hy_ip6_fib *fib)
{
	return hy_ip4_fib_use(graph, node, fib->next_hops);
}

void
hy_ip6_fib_unuse(struct hy_ip6_fib *fib)
{
	hy_ip4_fib_unuse(fib->next_hops);
}

bool
ip6_covers(const struct hy_ip6_route *route, const uint8_t address[HY_IP6_BYTES])
{
	const unsigned int whole = route->depth / 8, rest = route->depth % 8;

	return memcmp(route->prefix, address, whole) == 0 &&
		(rest == 0 ||
			((route->prefix[whole] ^ address[whole]) & 0xff00 >> rest & 0xff) == 0);
}

uint32_t
hy_ip6_routes_get(struct hy_ip6_fib *fib, struct hy_ip6_route *routes, uint32_t n)
{
	uint32_t there = 0;

	pthread_mutex_lock(&fib->lock);
	if (fib->shown != NULL) {
		there = fib->shown->n;
		if (there > 0 && there <= n)
			memcpy(routes, fib->shown->routes, there * sizeof(*routes));
	}
	pthread_mutex_unlock(&fib->lock);
	return there;
}

size_t
hy_ip6_routes_bytes(struct hy_ip6_fib *fib)
{
	size_t bytes = 0;

	pthread_mutex_lock(&fib->lock);
	if (fib->view.trie != NULL)
		bytes = fib->view.trie->bytes;
	pthread_mutex_unlock(&fib->lock);
	return bytes;
}

int
hy_ip6_lookup(struct hy_ip6_fib *fib, const uint8_t dst[HY_IP6_BYTES], uint32_t *next_hop)
{
	uint32_t entry = 0;

	pthread_mutex_lock(&fib->lock);
	if (fib->view.trie != NULL)
		entry = hy_ip6_find(fib->view.trie, dst);
	pthread_mutex_unlock(&fib->lock);
	if (entry == 0)
		return -ENOENT;
	*next_hop = entry - 1;
	return 0;
}

/* The longest route that covers an address, or NULL. Of those, each covers the next in the order. */
static const struct hy_ip6_route *
longest(const struct hy_ip6_set *set, const uint8_t address[HY_IP6_BYTES])
{
	const struct hy_ip6_route *found = NULL;

	for (uint32_t i = 0; set != NULL && i < set->n; i++)
		if (ip6_covers(&set->routes[i], address))
			found = &set->routes[i];
	return found;
}

int
hy_ip6_route_lookup(struct hy_ip6_fib *fib, const uint8_t dst[HY_IP6_BYTES],
	struct hy_ip6_route *route, struct hy_ip4_next_hop *next_hop)
{
	const struct hy_ip6_route *found;

	pthread_mutex_lock(&fib->lock);
	found = longest(fib->shown, dst);
	if (found != NULL) {
		*route = *found;
		*next_hop = ip4_id_read(fib->next_hops, found->next_hop);
	}
	pthread_mutex_unlock(&fib->lock);
	return found == NULL ? -ENOENT : 0;
}
