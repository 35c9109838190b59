/* SPDX-License-Identifier: BSD-3-Clause */
/* One table of IPv6: all of its routes are replaced at once. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

/* Counts the differences of two sorted arrays. */
static void
compare(struct route_update *update, const struct hy_ip6_route *old, uint32_t nb_old,
	const struct hy_ip6_route *new, uint32_t nb_new)
{
	for (uint32_t o = 0, n = 0; o < nb_old || n < nb_new;) {
		const int rc = o == nb_old ? 1
			: n == nb_new      ? -1
					   : hy_ip6_route_order(&old[o], &new[n]);

		if (rc < 0)
			update->done[HY_IP4_DELETE]++;
		else if (rc > 0)
			update->done[HY_IP4_ADD]++;
		else if (old[o].next_hop != new[n].next_hop)
			update->done[HY_IP4_REPLACE]++;
		else
			update->unchanged++;
		o += rc <= 0;
		n += rc >= 0;
	}
}

/* What a prefix led to before: *at moves along the old routes, as prefixes come in order. */
static uint32_t
before(const struct hy_ip6_route *old, uint32_t nb_old, uint32_t *at, const struct hy_ip6_route *to)
{
	int rc = 1;

	while (*at < nb_old && (rc = hy_ip6_route_order(&old[*at], to)) < 0)
		++*at;
	return *at < nb_old && rc == 0 ? old[*at].next_hop : HY_IP4_NO_ID;
}

/* Makes routes of the list into those of a table, which gets their next hops and groups. */
static int
resolve(const struct hy_routes *routes, struct hy_ip4_fib *next_hops,
	const struct hy_ip6_route *old, uint32_t nb_old, struct hy_ip6_route *to, char *error)
{
	const struct route_list *list = &routes->list6;
	uint32_t at = 0;
	int rc = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		to[i].depth = r->depth;
		memcpy(to[i].prefix, r->prefix6, sizeof(to[i].prefix));
		if (r->group != NULL)
			to[i].next_hop = before(old, nb_old, &at, &to[i]);
	}
	for (unsigned int turn = 0; turn < ROUTE_TURNS; turn++)
		for (unsigned int i = 0; i < list->n && rc == 0; i++)
			rc = route_id(next_hops, &list->routes[i], turn, &to[i].next_hop);
	return rc < 0 ? route_id_refused(routes, rc, error) : 0;
}

int
route6_begin(const struct hy_routes *routes, struct hy_ip6_fib *fib, struct route_update *update,
	char *error)
{
	const uint32_t nb_old = hy_ip6_routes_get(fib, NULL, 0), nb_new = routes->list6.n;
	struct hy_ip6_route *old = calloc((size_t)nb_old + nb_new + 1, sizeof(*old));
	int rc;

	if (old == NULL)
		return route_update_refused(-ENOMEM, error);
	hy_ip6_routes_get(fib, old, nb_old);
	rc = resolve(routes, hy_ip6_fib_next_hops(fib), old, nb_old, old + nb_old, error);
	if (rc == 0) {
		compare(update, old, nb_old, old + nb_old, nb_new);
		rc = hy_ip6_routes_prepare(fib, old + nb_old, nb_new, &update->set6, NULL);
		if (rc < 0)
			route_update_refused(rc, error);
		else
			update->fib6 = fib;
	}
	free(old);
	return rc;
}

void
route6_exchange(struct route_update *update)
{
	hy_ip6_routes_exchange(update->fib6, &update->set6);
}

void
route6_end(struct route_update *update)
{
	if (update->fib6 == NULL)
		return;
	hy_ip6_routes_discard(update->fib6, update->set6);
	hy_ip6_routes_reap(update->fib6);
	update->fib6 = NULL;
	update->set6 = NULL;
}
