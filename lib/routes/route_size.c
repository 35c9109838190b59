/* SPDX-License-Identifier: BSD-3-Clause */
/* How large a table must be for a list of routes. */

#include <stdlib.h>
#include <string.h>

#include "routes.h"

#define ROUTES_LEAST 1024u
#define TBL8S_LEAST 256u

void
route_count(uint32_t prefix, uint8_t depth, uint32_t *routes, uint32_t *tbl8s, uint32_t *last)
{
	*routes += depth > 0; /* tables hold the default route beside the others */
	if (depth <= 24 || prefix >> 8 == *last)
		return;
	*last = prefix >> 8;
	++*tbl8s;
}

static int
by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct hy_ip4_next_hop)); /* which has no padding */
}

static void
members_add(struct route_group *group, void *n)
{
	*(uint32_t *)n += 1 + group->is.n;
}

/* Counts different next hops, groups and their members; without memory for that, all of them. */
static uint32_t
next_hops_count(const struct hy_routes *routes)
{
	const struct route_list *list = &routes->list, *list6 = &routes->list6;
	const uint32_t all = list->n + list6->n;
	struct hy_ip4_next_hop *hops = calloc(RTE_MAX(all, 1u), sizeof(*hops));
	uint32_t n = all;

	if (hops == NULL)
		return n;
	for (unsigned int i = 0; i < list->n; i++)
		hops[i] = list->routes[i].next_hop;
	for (unsigned int i = 0; i < list6->n; i++)
		hops[list->n + i] = list6->routes[i].next_hop;
	qsort(hops, all, sizeof(*hops), by_bytes);
	for (unsigned int i = 1; i < all; i++)
		n -= by_bytes(&hops[i - 1], &hops[i]) == 0;
	free(hops);
	route_groups_each(&routes->groups, members_add, &n);
	return n;
}

static void
size(uint32_t *limit, uint32_t n, uint32_t least)
{
	if (*limit == 0)
		*limit = RTE_MAX(n + n / 4, least);
}

void
route_size(struct hy_routes *routes)
{
	const struct route_list *list = &routes->list;
	struct hy_ip4_fib_params *fib = &routes->fib;
	uint32_t n = 0, tbl8s = 0, last = UINT32_MAX;

	for (unsigned int i = 0; i < list->n; i++)
		route_count(list->routes[i].prefix, list->routes[i].depth, &n, &tbl8s, &last);
	size(&fib->max_routes, list->n, ROUTES_LEAST);
	size(&fib->max_tbl8s, tbl8s, TBL8S_LEAST);
	/* Next hops take memory as they come. Beyond this number, rte_fib's entries are wider. */
	size(&fib->max_next_hops, next_hops_count(routes), INT16_MAX);
}
