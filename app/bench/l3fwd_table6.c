/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 routes of the l3fwd benchmark. */

#include <string.h>

#include <rte_byteorder.h>

#include "fibs6.h"
#include "l3fwd.h"

#define QUICK_STEP 8 /* with --quick, every eighth of the generated prefixes */
#define EIGHT_DEPTH 64

void
table_eight6(struct l3fwd_table *table)
{
	/* 2001:2::/48 is for benchmarks (RFC 5180). */
	struct hy_ip6_route route = { .prefix = { 0x20, 0x01, 0x00, 0x02 }, .depth = EIGHT_DEPTH };

	table->routes6 = bench_alloc(TABLE_EIGHT, sizeof(*table->routes6));
	for (unsigned int i = 0; i < TABLE_EIGHT; i++) {
		route.prefix[EIGHT_DEPTH / 8 - 1] = (uint8_t)i;
		route.next_hop = table_eight_hop(i, table->nb_ports);
		table->routes6[table->n6++] = route;
	}
}

/* Returns whether packets to all addresses of a prefix may be forwarded (RFC 4291 2.5). */
static bool
forwardable(const struct hy_ip6_route *route)
{
	const unsigned int free = route->depth < 8 ? 0xffu >> route->depth : 0;

	return route->prefix[0] > 0 && (route->prefix[0] | free) < 0xfe;
}

int
table_full6(struct l3fwd_table *table, const char *path)
{
	const unsigned int step = path == NULL && bench_settings()->quick ? QUICK_STEP : 1;
	unsigned int n;
	struct hy_ip6_route *prefixes = bench_prefixes6(path, &n);

	table->routes6 = prefixes; /* those that are forwarded to remain, from the start on */
	for (unsigned int i = 0; i < n; i += step) {
		struct hy_ip6_route route = prefixes[i];

		route.next_hop = table_eight_hop(bench_random() % TABLE_EIGHT, table->nb_ports);
		if (forwardable(&route))
			table->routes6[table->n6++] = route;
	}
	if (table->n6 > 0)
		return 0;
	return bench_cannot("--prefixes: packets to none of them are forwarded (RFC 4291 2.5)");
}

uint32_t
table_hop6(const struct l3fwd_table *table, const uint8_t dst[HY_IP6_BYTES])
{
	return fib6_find(table->routes6, table->n6, dst, HOP_NONE);
}

void
table_address6(const struct hy_ip6_route *route, uint32_t i, uint8_t address[HY_IP6_BYTES])
{
	const rte_be32_t last = rte_cpu_to_be_32(i);

	memcpy(address, route->prefix, HY_IP6_BYTES);
	memcpy(address + HY_IP6_BYTES - sizeof(last), &last, sizeof(last));
}

struct rte_fib6 *
table_fib6(const struct l3fwd_table *table, const char *name)
{
	return fib6_rte(name, table->routes6, table->n6, HOP_NONE);
}

struct rte_lpm6 *
table_lpm6(const struct l3fwd_table *table, const char *name)
{
	return fib6_lpm(name, table->routes6, table->n6);
}
