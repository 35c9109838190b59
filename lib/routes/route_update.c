/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to change in one table: its routes and those of the list, both sorted, are merged. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

int
route_id_refused(const struct hy_routes *routes, int rc, char *error)
{
	if (rc != -ENOSPC)
		return route_update_refused(rc, error);
	return HY_REASON(rc, error, HY_ROUTES_ERROR_SIZE,
		"--max-next-hops %u is too few for those of old and new routes together",
		routes->fib.max_next_hops);
}

int
route_update_refused(int rc, char *error)
{
	const char *why = strerror(-rc);

	if (rc == -ENOMEM)
		why = "out of memory; see EAL's -m. A table of rte_fib is kept twice once it changes";
	else if (rc == -ETIMEDOUT)
		why = "a worker has not finished its walk within a second";
	else if (rc == -EINTR)
		why = "stopped while routes were loaded";
	return HY_REASON(rc, error, HY_ROUTES_ERROR_SIZE, "%s", why);
}

/* A route's place in the order of all; the end of the array comes last. */
static uint64_t
key(const struct hy_ip4_route *routes, uint32_t n, uint32_t i)
{
	return i < n ? (uint64_t)routes[i].prefix << 8 | routes[i].depth : UINT64_MAX;
}

/* What a prefix led to before: *at moves along the old routes, as prefixes come in order. */
static uint32_t
before(const struct hy_ip4_route *old, uint32_t nb_old, uint32_t *at, const struct hy_ip4_route *to)
{
	const uint64_t wanted = key(to, 1, 0);

	while (key(old, nb_old, *at) < wanted)
		++*at;
	return key(old, nb_old, *at) == wanted ? old[*at].next_hop : HY_IP4_NO_ID;
}

/* Makes routes of the list into those of a table, which gets their next hops and groups. */
static int
resolve(const struct hy_routes *routes, struct hy_ip4_fib *fib, const struct hy_ip4_route *old,
	uint32_t nb_old, struct hy_ip4_route *to, char *error)
{
	const struct route_list *list = &routes->list;
	uint32_t at = 0;
	int rc = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		const struct hy_route *r = &list->routes[i];

		to[i] = (struct hy_ip4_route){ r->prefix, r->depth, HY_IP4_NO_ID };
		if (r->group != NULL)
			to[i].next_hop = before(old, nb_old, &at, &to[i]);
	}
	for (unsigned int turn = 0; turn < ROUTE_TURNS; turn++)
		for (unsigned int i = 0; i < list->n && rc == 0; i++)
			rc = route_id(fib, &list->routes[i], turn, &to[i].next_hop);
	return rc < 0 ? route_id_refused(routes, rc, error) : 0;
}

/* A change and its reverse. */
static void
change(struct route_update *update, enum hy_ip4_verb verb, const struct hy_ip4_route *new,
	const struct hy_ip4_route *old)
{
	static const enum hy_ip4_verb reverse[] = { [HY_IP4_ADD] = HY_IP4_DELETE,
		[HY_IP4_REPLACE] = HY_IP4_REPLACE,
		[HY_IP4_DELETE] = HY_IP4_ADD };

	update->there[update->n] = (struct hy_ip4_change){ .verb = verb, .route = *new };
	update->back[update->n++] = (struct hy_ip4_change){ .verb = reverse[verb], .route = *old };
	update->done[verb]++;
}

static void
merge(struct route_update *update, const struct hy_ip4_route *old, uint32_t nb_old,
	const struct hy_ip4_route *new, uint32_t nb_new)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t o = 0, n = 0; o < nb_old || n < nb_new;) {
		const uint64_t from = key(old, nb_old, o), to = key(new, nb_new, n);
		const struct hy_ip4_route *first = from <= to ? &old[o] : &new[n];

		route_count(first->prefix, first->depth, &update->routes, &update->tbl8s, &last);
		if (from != to)
			change(update, from < to ? HY_IP4_DELETE : HY_IP4_ADD, first, first);
		else if (old[o].next_hop != new[n].next_hop)
			change(update, HY_IP4_REPLACE, &new[n], &old[o]);
		else
			update->unchanged++;
		o += from <= to;
		n += to <= from;
	}
}

static int
room_check(const struct hy_ip4_fib_params *fib, const struct route_update *update, char *error)
{
	if (update->routes > fib->max_routes)
		snprintf(error, HY_ROUTES_ERROR_SIZE,
			"--max-routes %u is too few for %u routes, old and new ones together",
			fib->max_routes, update->routes);
	else if (update->tbl8s > fib->max_tbl8s)
		snprintf(error, HY_ROUTES_ERROR_SIZE,
			"--max-tbl8s %u is too few for %u networks /24 with longer prefixes, in "
			"old and new routes together",
			fib->max_tbl8s, update->tbl8s);
	else
		return 0;
	return -ENOSPC;
}

int
route_update_begin(const struct hy_routes *routes, struct hy_ip4_fib *fib,
	struct route_update *update, char *error)
{
	const uint32_t nb_old = hy_ip4_routes_get(fib, NULL, 0), nb_new = routes->list.n;
	const size_t n = (size_t)nb_old + nb_new;
	struct hy_ip4_route *old = calloc(n + 1, sizeof(*old));
	int rc;

	*update = (struct route_update){ .fib = fib,
		.there = calloc(2 * n + 1, sizeof(*update->there)) };
	if (old == NULL || update->there == NULL) {
		free(old);
		return route_update_refused(-ENOMEM, error);
	}
	update->back = update->there + n;
	route_groups_forget(&routes->groups);
	hy_ip4_routes_get(fib, old, nb_old);
	rc = resolve(routes, fib, old, nb_old, old + nb_old, error);
	if (rc == 0) {
		merge(update, old, nb_old, old + nb_old, nb_new);
		rc = room_check(&routes->fib, update, error);
	}
	free(old);
	return rc;
}

/*
 * Additions, longest first; then replacements; then deletions, shortest first. An address takes the
 * longest prefix that covers it. If that prefix is new, it is the first one added of the new prefixes
 * that cover the address, and hides the changes that follow. If it is one that goes, it is the last of
 * those to go, when all new ones are there. If it stays, it hides all shorter ones, old and new.
 */
static int
by_turn(const void *a, const void *b)
{
	const struct hy_ip4_change *ca = a, *cb = b;
	const struct hy_ip4_route *ra = &ca->route, *rb = &cb->route;

	static_assert(HY_IP4_ADD < HY_IP4_REPLACE && HY_IP4_REPLACE < HY_IP4_DELETE, "by turn");
	if (ca->verb != cb->verb)
		return ca->verb < cb->verb ? -1 : 1;
	if (ra->depth != rb->depth)
		return ca->verb == HY_IP4_ADD ? rb->depth - ra->depth : ra->depth - rb->depth;
	return ra->prefix < rb->prefix ? -1 : ra->prefix > rb->prefix;
}

void
route_update_sort(struct route_update *update)
{
	qsort(update->there, update->n, sizeof(*update->there), by_turn);
	qsort(update->back, update->n, sizeof(*update->back), by_turn);
}

static void
groups_sweep(struct hy_ip4_fib *fib, uint32_t n)
{
	for (uint32_t id = 0; id < n; id++) {
		struct hy_ip4_group group;

		if (hy_ip4_group_get(fib, id, &group) == 0 && group.routes == 0)
			hy_ip4_group_delete(fib, id); /* refuses if IPv6 routes hold it */
	}
}

void
route_update_end(struct route_update *update, bool sweep)
{
	const uint32_t n = sweep && update->fib != NULL ? hy_ip4_next_hops(update->fib) : 0;

	groups_sweep(update->fib, n); /* first, as they hold next hops */
	for (uint32_t id = 0; id < n; id++) {
		struct hy_ip4_next_hop hop;
		uint32_t routes;

		if (hy_ip4_next_hop_get(update->fib, id, &hop, &routes) == 0 && routes == 0)
			hy_ip4_next_hop_delete(update->fib, id);
	}
	free(update->there);
	*update = (struct route_update){ 0 };
}
