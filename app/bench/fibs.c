/* SPDX-License-Identifier: BSD-3-Clause */
/* See fibs.h. */

#include <string.h>

#include "bench.h"
#include "fibs.h"

struct hy_ip4_fib *
fib_create(const char *name, const struct hy_ip4_fib_params *params,
	const struct hy_ip4_change *changes, uint32_t n)
{
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	struct hy_ip4_next_hop hop = { .port = 0 };
	struct hy_ip4_fib *fib = NULL;
	int rc = hy_ip4_fib_create(name, params, &fib);
	uint32_t id;

	if (rc == 0)
		rc = hy_ip4_port_add(fib, &port);
	for (unsigned int i = 0; i < FIB_NEXT_HOPS && rc == 0; i++) {
		hop.mac.addr_bytes[5] = (uint8_t)i;
		rc = hy_ip4_next_hop_add(fib, &hop, &id);
	}
	if (rc == 0 && n > 0)
		rc = hy_ip4_routes_change(fib, changes, n, NULL);
	if (rc == 0)
		return fib;
	bench_cannot("the table of %u routes: %s", params->max_routes, strerror(-rc));
	hy_ip4_fib_destroy(fib);
	return NULL;
}

uint32_t
fib_hop(uint32_t i)
{
	return i * 7 % FIB_NEXT_HOPS;
}

struct hy_ip4_route
fib_route(uint32_t prefix, uint8_t depth, uint32_t i)
{
	return (struct hy_ip4_route){ prefix, depth, fib_hop(i) };
}
