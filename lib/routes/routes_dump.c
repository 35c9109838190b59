/* SPDX-License-Identifier: BSD-3-Clause */
/* The routes of a table, as a file that can be read again. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "routes.h"

/* The rest of a line: a next hop, or the members of a group. */
static void
rest_write(const struct hy_routes *routes, struct hy_ip4_fib *fib, uint32_t id, FILE *file)
{
	struct hy_ip4_next_hop hop;

	if (hy_ip4_next_hop_get(fib, id, &hop, NULL) == 0) {
		route_hop_write(routes, &hop, file);
	} else {
		fprintf(file, " group");
		route_group_write(routes, fib, id, file);
	}
	fprintf(file, "\n");
}

static void
route_write(const struct hy_routes *routes, struct hy_ip4_fib *fib, const struct hy_ip4_route *r,
	FILE *file)
{
	fprintf(file, "%u.%u.%u.%u/%u", r->prefix >> 24, r->prefix >> 16 & 255,
		r->prefix >> 8 & 255, r->prefix & 255, r->depth);
	rest_write(routes, fib, r->next_hop, file);
}

static void
route6_write(const struct hy_routes *routes, struct hy_ip4_fib *fib, const struct hy_ip6_route *r,
	FILE *file)
{
	char prefix[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, r->prefix, prefix, sizeof(prefix));
	fprintf(file, "%s/%u", prefix, r->depth);
	rest_write(routes, fib, r->next_hop, file);
}

int
hy_routes_dump(const void *arg, FILE *file)
{
	const struct hy_routes *routes = arg;
	struct hy_ip4_fib *fib = routes->tables.fibs[0];
	struct hy_ip6_fib *fib6 = routes->tables6.fibs[0];
	const uint32_t n = hy_ip4_routes_get(fib, NULL, 0);
	const uint32_t n6 = hy_ip6_routes_get(fib6, NULL, 0);
	struct hy_ip4_route *all = calloc(n + 1, sizeof(*all));
	struct hy_ip6_route *all6 = calloc(n6 + 1, sizeof(*all6));

	if (all == NULL || all6 == NULL) {
		free(all6);
		free(all);
		return -ENOMEM;
	}
	hy_ip4_routes_get(fib, all, n);
	hy_ip6_routes_get(fib6, all6, n6);
	fprintf(file, "# %u routes\n", n + n6);
	for (uint32_t i = 0; i < n; i++)
		route_write(routes, fib, &all[i], file);
	for (uint32_t i = 0; i < n6; i++)
		route6_write(routes, fib, &all6[i], file);
	free(all6);
	free(all);
	return 0;
}
