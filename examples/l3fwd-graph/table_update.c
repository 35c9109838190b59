/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be changed in one table, found by comparing what it holds with what it is to hold. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_update.h"

int
table_update_refused(int rc, char *error)
{
	const char *why = strerror(-rc);

	if (rc == -ENOMEM)
		why = "out of memory; see EAL's -m. A table of rte_fib is kept twice once it changes";
	else if (rc == -ETIMEDOUT)
		why = "a worker has not finished its walk within a second";
	snprintf(error, ROUTES_ERROR_SIZE, "%s", why);
	return -1;
}

static int
set_create(struct route_set *set, uint32_t n, char *error)
{
	set->routes = calloc(RTE_MAX(n, 1u), sizeof(*set->routes));
	if (set->routes == NULL)
		return table_update_refused(-ENOMEM, error);
	set->n = n;
	return 0;
}

/* The routes of a file, with the table's ids of their next hops. */
static int
resolve(const struct tables *tables, const struct routes *routes, struct table_update *update,
	char *error)
{
	for (uint32_t i = 0; i < routes->n; i++) {
		const struct route *r = &routes->routes[i];
		const struct hy_ip4_next_hop hop = { .port = r->port, .mac = r->mac };
		struct hy_ip4_route *to = &update->new.routes[i];
		int rc;

		*to = (struct hy_ip4_route){ .prefix = r->prefix, .depth = r->depth };
		rc = hy_ip4_next_hop_add(update->fib, &hop, &to->next_hop);
		if (rc == -ENOSPC) {
			snprintf(error, ROUTES_ERROR_SIZE,
				"--max-next-hops %u is too few for those of old and new routes "
				"together",
				tables->params.max_next_hops);
			return -1;
		}
		if (rc < 0)
			return table_update_refused(rc, error);
	}
	return 0;
}

static int
room_check(const struct tables *tables, const struct route_diff *diff, char *error)
{
	const struct hy_ip4_fib_params *params = &tables->params;

	if (diff->routes > params->max_routes)
		snprintf(error, ROUTES_ERROR_SIZE,
			"--max-routes %u is too few for %u routes, old and new ones together",
			params->max_routes, diff->routes);
	else if (diff->tbl8s > params->max_tbl8s)
		snprintf(error, ROUTES_ERROR_SIZE,
			"--max-tbl8s %u is too few for %u networks /24 with longer prefixes, in "
			"old and new routes together",
			params->max_tbl8s, diff->tbl8s);
	else
		return 0;
	return -1;
}

int
table_update_begin(const struct tables *tables, struct hy_ip4_fib *fib, const struct routes *routes,
	struct table_update *update, char *error)
{
	const uint32_t nb_old = hy_ip4_routes_get(fib, NULL, 0);

	*update = (struct table_update){ .fib = fib };
	if (set_create(&update->old, nb_old, error) < 0 ||
		set_create(&update->new, routes->n, error) < 0)
		return -1;
	hy_ip4_routes_get(fib, update->old.routes, nb_old);
	if (resolve(tables, routes, update, error) < 0)
		return -1;
	if (route_diff(&update->old, &update->new, &update->there) < 0 ||
		route_diff(&update->new, &update->old, &update->back) < 0)
		return table_update_refused(-ENOMEM, error);
	return room_check(tables, &update->there, error);
}

static void
next_hops_sweep(struct hy_ip4_fib *fib)
{
	const uint32_t n = hy_ip4_next_hops(fib);

	for (uint32_t id = 0; id < n; id++) {
		struct hy_ip4_next_hop hop;
		uint32_t routes;

		if (hy_ip4_next_hop_get(fib, id, &hop, &routes) == 0 && routes == 0)
			hy_ip4_next_hop_delete(fib, id);
	}
}

void
table_update_end(struct table_update *update, bool sweep)
{
	if (update->fib == NULL)
		return;
	if (sweep)
		next_hops_sweep(update->fib);
	route_diff_free(&update->there);
	route_diff_free(&update->back);
	free(update->old.routes);
	free(update->new.routes);
}
