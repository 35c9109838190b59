/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes of the l3fwd benchmark. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ip.h>

#include "l3fwd.h"

#define QUICK_STEP 8                   /* made up: one prefix of so many, with --quick */
#define EIGHT_DEPTH 19                 /* so that 65,536 destinations have room in eight */
#define EIGHT_FIRST IP4(198, 18, 0, 0) /* RFC 2544: for benchmarks */

/* Hop i of eight, on ports in turn. */
static uint8_t
hop_of(unsigned int i, unsigned int nb_ports)
{
	return (uint8_t)(i % nb_ports * HOPS_PER_PORT + i / nb_ports);
}

static uint32_t
mask_of(unsigned int depth)
{
	return depth == 0 ? 0 : UINT32_MAX << (32 - depth);
}

static int
by_prefix(const void *a, const void *b)
{
	const struct l3fwd_route *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return (int)x->depth - y->depth;
}

static struct l3fwd_table *
table_create(uint32_t room)
{
	struct l3fwd_table *table = calloc(1, sizeof(*table));

	if (table != NULL)
		table->routes = calloc(room, sizeof(*table->routes));
	if (table != NULL && table->routes != NULL)
		return table;
	bench_cannot("no memory for %u routes", room);
	free(table);
	return NULL;
}

/* Sorts routes and throws doubles out. */
static struct l3fwd_table *
table_finish(struct l3fwd_table *table)
{
	uint32_t kept = 0, last24 = UINT32_MAX;

	qsort(table->routes, table->n, sizeof(*table->routes), by_prefix);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct l3fwd_route *route = &table->routes[i];

		if (kept > 0 && by_prefix(route, &table->routes[kept - 1]) == 0)
			continue;
		if (route->depth > 24 && route->prefix >> 8 != last24) {
			last24 = route->prefix >> 8;
			table->tbl8s++;
		}
		table->routes[kept++] = *route;
	}
	table->n = kept;
	return table;
}

struct l3fwd_table *
table_eight(unsigned int nb_hops, unsigned int nb_ports)
{
	struct l3fwd_table *table = table_create(TABLE_EIGHT);

	if (table == NULL)
		return NULL;
	for (table->n = 0; table->n < TABLE_EIGHT; table->n++)
		table->routes[table->n] = (struct l3fwd_route){
			.prefix = EIGHT_FIRST + (table->n << (32 - EIGHT_DEPTH)),
			.depth = EIGHT_DEPTH,
			.hop = hop_of(table->n % nb_hops, nb_ports),
		};
	return table_finish(table);
}

/* Whether packets to all addresses of a prefix may be forwarded (RFC 1812 5.3.7). */
static bool
forwardable(const struct l3fwd_route *route)
{
	const uint32_t first = route->prefix >> 24;
	const uint32_t last = (route->prefix | ~mask_of(route->depth)) >> 24;

	return first > 0 && (last < 127 || first > 127) && last < 224;
}

struct l3fwd_table *
table_full(const char *path, unsigned int nb_ports)
{
	const unsigned int step = path == NULL && bench_settings()->quick ? QUICK_STEP : 1;
	unsigned int n;
	struct bench_prefix *prefixes = bench_prefixes(path, &n);
	struct l3fwd_table *table = table_create(n);

	for (unsigned int i = 0; i < n && table != NULL; i += step) {
		struct l3fwd_route *route = &table->routes[table->n];

		*route = (struct l3fwd_route){ .prefix = prefixes[i].address,
			.depth = prefixes[i].depth,
			.hop = hop_of(bench_random() % TABLE_EIGHT, nb_ports) };
		table->n += forwardable(route);
	}
	free(prefixes);
	if (table == NULL || table->n > 0)
		return table == NULL ? NULL : table_finish(table);
	bench_cannot("--prefixes: packets to none of them are forwarded (RFC 1812 5.3.7)");
	table_free(table);
	return NULL;
}

void
table_free(struct l3fwd_table *table)
{
	if (table != NULL)
		free(table->routes);
	free(table);
}

uint32_t
table_hop(const struct l3fwd_table *table, uint32_t dst)
{
	for (unsigned int depth = 32; depth > 0; depth--) {
		const struct l3fwd_route key = { .prefix = dst & mask_of(depth),
			.depth = (uint8_t)depth };
		const struct l3fwd_route *found = bsearch(&key, table->routes, table->n,
			sizeof(key), by_prefix);

		if (found != NULL)
			return found->hop;
	}
	return HOP_NONE;
}
