/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 routes of the l3fwd benchmark. */

#include <stdlib.h>

#include <rte_common.h>
#include <rte_lpm.h>

#include "l3fwd.h"

#define QUICK_STEP 8                   /* with --quick, every eighth of the generated prefixes */
#define EIGHT_DEPTH 19                 /* so that eight prefixes hold 65,536 destinations */
#define EIGHT_FIRST IP4(198, 18, 0, 0) /* RFC 2544: for benchmarks */

uint8_t
table_eight_hop(unsigned int i, unsigned int nb_ports)
{
	return (uint8_t)(i % nb_ports * HOPS_PER_PORT + i / nb_ports);
}

/* Appends a route; routes must come in order. */
static void
table_append(struct l3fwd_table *table, const struct bench_route *route)
{
	const struct bench_route *last = &table->routes[table->n];

	table->tbl8s += route->depth > 24 &&
		(table->n == 0 || last[-1].depth <= 24 ||
			last[-1].prefix >> 8 != route->prefix >> 8);
	table->routes[table->n++] = *route;
}

static struct l3fwd_table *
eight_from(uint32_t first, uint8_t depth, unsigned int nb_hops, unsigned int nb_ports)
{
	struct l3fwd_table *table = bench_alloc(1, sizeof(*table));

	table->nb_ports = nb_ports;
	table->routes = bench_alloc(TABLE_EIGHT, sizeof(*table->routes));
	for (uint32_t i = 0; i < TABLE_EIGHT; i++)
		table_append(table,
			&(struct bench_route){ first + (i << (32 - depth)), depth,
				table_eight_hop(i % nb_hops, nb_ports) });
	return table;
}

struct l3fwd_table *
table_eight(unsigned int nb_hops, unsigned int nb_ports)
{
	return eight_from(EIGHT_FIRST, EIGHT_DEPTH, nb_hops, nb_ports);
}

struct l3fwd_table *
table_everywhere(unsigned int nb_hops, unsigned int nb_ports)
{
	return eight_from(0, 3, nb_hops, nb_ports);
}

bool
table_forwardable(const struct bench_route *route)
{
	const uint32_t first = route->prefix >> 24;
	const uint32_t last = (route->prefix | ~bench_mask(route->depth)) >> 24;

	return first > 0 && (last < 127 || first > 127) && last < 224;
}

struct l3fwd_table *
table_full(const char *path, unsigned int nb_ports)
{
	const unsigned int step = path == NULL && bench_settings()->quick ? QUICK_STEP : 1;
	unsigned int n;
	struct bench_route *prefixes = bench_prefixes(path, &n);
	struct l3fwd_table *table = bench_alloc(1, sizeof(*table));

	table->nb_ports = nb_ports;
	table->routes = prefixes; /* those that are forwarded to remain, from the start on */
	for (unsigned int i = 0; i < n; i += step) {
		struct bench_route route = prefixes[i];

		route.hop = table_eight_hop(bench_random() % TABLE_EIGHT, nb_ports);
		if (table_forwardable(&route))
			table_append(table, &route);
	}
	if (table->n > 0)
		return table;
	bench_cannot("--prefixes: packets to none of them are forwarded (RFC 1812 5.3.7)");
	table_free(table);
	return NULL;
}

void
table_free(struct l3fwd_table *table)
{
	if (table != NULL) {
		free(table->routes);
		free(table->routes6);
	}
	free(table);
}

uint32_t
table_hop(const struct l3fwd_table *table, uint32_t dst)
{
	for (unsigned int depth = 32; depth > 0; depth--) {
		const struct bench_route key = { .prefix = dst & bench_mask(depth),
			.depth = (uint8_t)depth };
		const struct bench_route *found = bsearch(&key, table->routes, table->n,
			sizeof(key), bench_by_prefix);

		if (found != NULL)
			return found->hop;
	}
	return HOP_NONE;
}

struct rte_lpm *
table_lpm(const struct l3fwd_table *table, const char *name)
{
	const struct rte_lpm_config config = { .max_rules = table->n,
		.number_tbl8s = RTE_MAX(table->tbl8s, 1u) };
	struct rte_lpm *lpm = rte_lpm_create(name, SOCKET_ID_ANY, &config);

	if (lpm == NULL)
		bench_cannot("%s: no memory for a table of %u routes", name, table->n);
	for (uint32_t i = 0; i < table->n && lpm != NULL; i++) {
		const struct bench_route *r = &table->routes[i];

		if (rte_lpm_add(lpm, r->prefix, r->depth, r->hop) == 0)
			continue;
		bench_cannot("%s: route %u of %u does not fit in rte_lpm", name, i, table->n);
		rte_lpm_free(lpm);
		lpm = NULL;
	}
	return lpm;
}
