/* SPDX-License-Identifier: BSD-3-Clause */
/* A dump is of the first table: all have the same routes, which only the control thread changes. */

#include <errno.h>
#include <stdlib.h>

#include "route_dump.h"
#include "tables.h"

static int
write_route(struct hy_ip4_fib *fib, const struct hy_ip4_route *route, FILE *file)
{
	struct hy_ip4_next_hop hop;
	const int rc = hy_ip4_next_hop_get(fib, route->next_hop, &hop, NULL);

	if (rc < 0)
		return rc;
	fprintf(file, "%u.%u.%u.%u/%u port %u mac ", route->prefix >> 24, route->prefix >> 16 & 255,
		route->prefix >> 8 & 255, route->prefix & 255, route->depth, hop.port);
	for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		fprintf(file, "%02x%c", hop.mac.addr_bytes[i],
			i + 1 < RTE_ETHER_ADDR_LEN ? ':' : '\n');
	return 0;
}

int
route_dump(const void *arg, FILE *file)
{
	const struct tables *tables = arg;
	struct hy_ip4_fib *fib = tables->config.fibs[0];
	const uint32_t n = hy_ip4_routes_get(fib, NULL, 0);
	struct hy_ip4_route *routes = calloc(RTE_MAX(n, 1u), sizeof(*routes));
	int rc = 0;

	if (routes == NULL)
		return -ENOMEM;
	hy_ip4_routes_get(fib, routes, n);
	fprintf(file, "# %u routes\n", n);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = write_route(fib, &routes[i], file);
	free(routes);
	return rc;
}
