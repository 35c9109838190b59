/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of routes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ip6_fib.h"

#define ROUTES_MAX (1u << 26)

int
hy_ip6_route_order(const void *a, const void *b)
{
	const struct hy_ip6_route *ra = a, *rb = b;
	const int rc = memcmp(ra->prefix, rb->prefix, HY_IP6_BYTES);

	return rc != 0 ? rc : ra->depth - rb->depth;
}

/* Whether no bit beyond the depth is set. */
static bool
is_prefix(const struct hy_ip6_route *route)
{
	const unsigned int depth = route->depth;

	if (depth > 8 * HY_IP6_BYTES)
		return false;
	for (unsigned int i = (depth + 7) / 8; i < HY_IP6_BYTES; i++)
		if (route->prefix[i] != 0)
			return false;
	return depth % 8 == 0 || (route->prefix[depth / 8] & 0xff >> depth % 8) == 0;
}

/* Checks routes and sorts them. Each gets its index as next hop for that, and then loses it. */
static int
routes_sort(struct hy_ip6_route *sorted, const struct hy_ip6_route *routes, uint32_t n,
	uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!is_prefix(&routes[i]))
			return *at = i, -EINVAL;
		sorted[i] = routes[i];
		sorted[i].next_hop = i;
	}
	if (n > 0)
		qsort(sorted, n, sizeof(*sorted), hy_ip6_route_order);
	for (uint32_t i = 1; i < n; i++) {
		if (hy_ip6_route_order(&sorted[i - 1], &sorted[i]) != 0)
			continue;
		*at = RTE_MAX(sorted[i - 1].next_hop, sorted[i].next_hop);
		return -EEXIST;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i].next_hop = routes[sorted[i].next_hop].next_hop;
	return 0;
}

static void
routes_release(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, uint32_t n)
{
	while (n-- > 0)
		ip4_id_release(fib->next_hops, routes[n].next_hop);
}

static int
routes_hold(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, uint32_t n, uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		const int rc = ip4_id_keep(fib->next_hops, routes[i].next_hop);

		if (rc < 0) {
			routes_release(fib, routes, i);
			*at = i;
			return rc;
		}
	}
	return 0;
}

/* The set that routes become. */
static int
set_build(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, struct hy_ip6_set *set,
	uint32_t *at)
{
	const uint32_t n = set->n;
	int rc;

	set->routes = calloc((size_t)n + 1, sizeof(*set->routes));
	if (set->routes == NULL)
		return -ENOMEM;
	rc = routes_sort(set->routes, routes, n, at);
	if (rc == 0)
		rc = routes_hold(fib, routes, n, at);
	if (rc == 0 && n > 0) {
		rc = ip6_trie_build(set->routes, n, fib->next_hops->params.socket, &set->trie);
		if (rc < 0)
			routes_release(fib, routes, n);
	}
	if (rc < 0)
		free(set->routes);
	return rc;
}

void
ip6_set_free(struct hy_ip6_fib *fib, struct hy_ip6_set *set)
{
	routes_release(fib, set->routes, set->n);
	ip6_trie_free(set->trie);
	free(set->routes);
	free(set);
}

/* Frees discarded sets that workers have left. */
static void
reap(struct hy_ip6_fib *fib)
{
	struct hy_ip6_set **link = &fib->discarded;

	while (*link != NULL) {
		struct hy_ip6_set *set = *link;

		if (!ip4_fib_passed(fib->next_hops, set->token)) {
			link = &set->next;
			continue;
		}
		*link = set->next;
		ip6_set_free(fib, set);
	}
}

static bool
is_frozen(struct hy_ip6_fib *fib)
{
	bool frozen;

	pthread_mutex_lock(&fib->next_hops->lock);
	frozen = ip4_fib_frozen(fib->next_hops);
	pthread_mutex_unlock(&fib->next_hops->lock);
	return frozen;
}

int
hy_ip6_routes_prepare(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, uint32_t n,
	struct hy_ip6_set **out, uint32_t *at)
{
	struct hy_ip6_set *set;
	uint32_t nowhere;
	int rc;

	if (at == NULL)
		at = &nowhere;
	*at = n;
	*out = NULL;
	if (n > ROUTES_MAX)
		return -ENOSPC;
	if (is_frozen(fib))
		return -EBUSY;
	pthread_mutex_lock(&fib->lock);
	reap(fib);
	pthread_mutex_unlock(&fib->lock);
	set = calloc(1, sizeof(*set));
	if (set == NULL)
		return -ENOMEM;
	set->n = n;
	rc = set_build(fib, routes, set, at);
	if (rc < 0)
		free(set);
	else
		*out = set;
	return rc;
}

void
hy_ip6_routes_exchange(struct hy_ip6_fib *fib, struct hy_ip6_set **set)
{
	struct hy_ip6_set *old;

	pthread_mutex_lock(&fib->lock);
	old = fib->shown;
	fib->shown = *set;
	__atomic_store_n(&fib->view.trie, *set == NULL ? NULL : (*set)->trie, __ATOMIC_RELEASE);
	if (old != NULL)
		old->token = ip4_fib_token(fib->next_hops);
	pthread_mutex_unlock(&fib->lock);
	*set = old;
}

void
hy_ip6_routes_discard(struct hy_ip6_fib *fib, struct hy_ip6_set *set)
{
	if (set == NULL)
		return;
	pthread_mutex_lock(&fib->lock);
	set->next = fib->discarded;
	fib->discarded = set;
	reap(fib);
	pthread_mutex_unlock(&fib->lock);
}

bool
hy_ip6_routes_reap(struct hy_ip6_fib *fib)
{
	bool done;

	ip4_fib_wait(fib->next_hops, ip4_fib_token(fib->next_hops));
	pthread_mutex_lock(&fib->lock);
	reap(fib);
	done = fib->discarded == NULL;
	pthread_mutex_unlock(&fib->lock);
	return done;
}

int
hy_ip6_routes_set(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, uint32_t n,
	uint32_t *at)
{
	struct hy_ip6_set *set;
	const int rc = hy_ip6_routes_prepare(fib, routes, n, &set, at);

	if (rc < 0)
		return rc;
	hy_ip6_routes_exchange(fib, &set);
	hy_ip6_routes_discard(fib, set);
	return 0;
}
