/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of IPv6 routes: hy_ip6.h, which builds all routes anew and shows them at once, against
 * rte_lpm6 and rte_fib6, which change a table that workers read.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "drivers/nodes/generic/ip6/ip6_fib.h"

#include "bench.h"
#include "fibs6.h"
#include "routes.h"

#define CHANGED 4    /* prefixes added and deleted in a run, in 3fff::/20 (RFC 9637) */
#define EXCHANGES 64 /* in a run */
#define NONE FIB_NEXT_HOPS

enum library { LPM6, FIB6, OURS };

struct table {
	struct rte_lpm6 *lpm;
	struct rte_fib6 *fib;
	struct hy_ip6_fib *ours;
};

struct rig {
	enum library library;
	struct hy_ip6_route *routes; /* with room for one more */
	uint32_t n;
	struct table table; /* filled, for changes */
	bool wrong;
};

static struct rte_rcu_qsbr *qsbr;

static bool
table_create(const struct rig *rig, struct table *table)
{
	const uint32_t n = rig->n + CHANGED;

	*table = (struct table){ 0 };
	if (rig->library == LPM6)
		table->lpm = fib6_lpm_create("routes6", n, fib6_tbl8s(rig->routes, rig->n));
	else if (rig->library == FIB6)
		table->fib = fib6_rte_create("routes6", n, fib6_rte_tbl8s(rig->routes, rig->n),
			NONE);
	else
		table->ours = fib6_create("routes6", qsbr);
	return table->lpm != NULL || table->fib != NULL || table->ours != NULL;
}

static void
table_destroy(struct table *table)
{
	rte_lpm6_free(table->lpm);
	rte_fib6_free(table->fib);
	fib6_destroy(table->ours);
	*table = (struct table){ 0 };
}

/* Adds a route, or deletes it. Returns 0 or a negative number. */
static int
change_one(const struct table *table, const struct hy_ip6_route *route, bool delete)
{
	const void *prefix = route->prefix; /* its type depends on the DPDK */

	if (table->lpm != NULL)
		return delete ? rte_lpm6_delete(table->lpm, prefix, route->depth)
			      : rte_lpm6_add(table->lpm, prefix, route->depth, route->next_hop);
	return delete ? rte_fib6_delete(table->fib, prefix, route->depth)
		      : rte_fib6_add(table->fib, prefix, route->depth, route->next_hop);
}

static bool
fill(const struct rig *rig, const struct table *table)
{
	bool right = true;

	if (table->ours != NULL)
		return hy_ip6_routes_set(table->ours, rig->routes, rig->n, NULL) == 0;
	for (uint32_t i = 0; i < rig->n; i++)
		right &= change_one(table, &rig->routes[i], false) == 0;
	return right;
}

static uint32_t
find(const struct table *table, const uint8_t dst[HY_IP6_BYTES])
{
	uint8_t copy[1][HY_IP6_BYTES];
	uint32_t id = NONE;
	uint64_t wide;

	memcpy(copy, dst, sizeof(copy));
	if (table->ours != NULL)
		return hy_ip6_lookup(table->ours, dst, &id) == 0 ? id : NONE;
	if (table->lpm != NULL)
		return rte_lpm6_lookup(table->lpm, (void *)copy, &id) == 0 ? id : NONE;
	rte_fib6_lookup_bulk(table->fib, (void *)copy, &wide, 1);
	return (uint32_t)wide;
}

/* Whether the first address of each prefix has the longest prefix's next hop. */
static bool
filled(const struct rig *rig, const struct table *table)
{
	for (uint32_t i = 0; i < rig->n; i++) {
		const uint8_t *first = rig->routes[i].prefix;

		if (find(table, first) != fib6_find(rig->routes, rig->n, first, NONE))
			return false;
	}
	return true;
}

/* Microseconds for all prefixes. */
static double
load(void *arg)
{
	struct rig *rig = arg;
	struct table table;
	uint64_t took;

	if (rig->wrong || !table_create(rig, &table)) {
		rig->wrong = true;
		return 1; /* not used: the work has no figures */
	}
	took = rte_rdtsc();
	rig->wrong = !fill(rig, &table);
	took = rte_rdtsc() - took;
	rig->wrong |= !filled(rig, &table);
	table_destroy(&table);
	return 1e6 * (double)took / (double)rte_get_tsc_hz();
}

/*
 * Adds and deletes prefixes, one after the other. Of 24 bits: with every longer one that comes and
 * goes, rte_fib6 (DPDK 22.11) loses groups of entries, until it has none.
 */
static uint64_t
change(void *arg)
{
	struct rig *rig = arg;
	struct hy_ip6_route *one = &rig->routes[rig->n];

	for (unsigned int i = 0; i < 2 * CHANGED; i++) {
		const bool delete = i % 2 == 1;
		int rc;

		*one = (struct hy_ip6_route){ { 0x3f, 0xff, (uint8_t)(i / 2) }, 24, 1 };
		if (rig->table.ours != NULL)
			rc = hy_ip6_routes_set(rig->table.ours, rig->routes, rig->n + !delete,
				NULL);
		else
			rc = change_one(&rig->table, one, delete);
		rig->wrong |= rc != 0 ||
			find(&rig->table, one->prefix) != (delete ? NONE : one->next_hop);
	}
	return 2ul * CHANGED;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return !rig->wrong;
}

static void
rig_close(void *arg)
{
	table_destroy(&((struct rig *)arg)->table);
}

/* What a load or change takes of each library. */
static void
compare(const char *name, struct hy_ip6_route *routes, uint32_t n, bool single)
{
	static const char *const names[] = { "rte_lpm6", "rte_fib6", "halyard" };
	struct field f = { .work = name };
	struct rig rigs[RTE_DIM(names)];

	if (!bench_wanted(name))
		return;
	for (unsigned int c = 0; c < RTE_DIM(names); c++) {
		struct rig *rig = &rigs[c];
		struct contender contender = { .name = names[c],
			.run = single ? change : NULL,
			.figure = single ? NULL : load,
			.check = check,
			.against = c == OURS ? NULL : names[c],
			.subject = c == OURS };
		bool made;

		*rig = (struct rig){ .library = c, .routes = routes, .n = n };
		made = table_create(rig, &rig->table);
		if (made && single && !fill(rig, &rig->table)) {
			bench_cannot("the prefixes do not fit");
			made = false;
		}
		if (!made || !single)
			table_destroy(&rig->table); /* each load makes its own */
		if (made)
			contender.arg = rig;
		field_enter(&f, &contender, rig_close);
	}
	field_measure(&f, MICROSECONDS);
}

/* A table whose routes are built beside those in use, and sets that are exchanged. */
static struct hy_ip6_set *spare;

static uint64_t
prepare(void *arg)
{
	struct rig *rig = arg;
	struct hy_ip6_set *set;

	rig->wrong |= hy_ip6_routes_prepare(rig->table.ours, rig->routes, rig->n, &set, NULL) != 0;
	hy_ip6_routes_discard(rig->table.ours, set);
	return 1;
}

static uint64_t
exchange(void *arg)
{
	struct rig *rig = arg;

	for (unsigned int i = 0; i < EXCHANGES; i++)
		hy_ip6_routes_exchange(rig->table.ours, &spare);
	return EXCHANGES;
}

/* The parts of a change: all routes are built, then shown. */
static void
parts(struct hy_ip6_route *routes, uint32_t n)
{
	struct rig rig = { .library = OURS, .routes = routes, .n = n };
	struct field f = { .work = "parts_ip6" };
	const struct contender both[] = {
		{ .name = "prepare", .arg = &rig, .run = prepare, .check = check },
		{ .name = "exchange", .arg = &rig, .run = exchange, .check = check },
	};

	if (!bench_wanted(f.work))
		return;
	if (!table_create(&rig, &rig.table) || !fill(&rig, &rig.table) ||
		hy_ip6_routes_prepare(rig.table.ours, routes, n, &spare, NULL) < 0) {
		bench_cannot("no memory for %u routes of IPv6", n);
		bench_skip(f.work, NULL);
		rig_close(&rig);
		return;
	}
	for (unsigned int c = 0; c < RTE_DIM(both); c++)
		field_enter(&f, &both[c], field_keep);
	field_measure(&f, MICROSECONDS);
	hy_ip6_routes_discard(rig.table.ours, spare);
	rig_close(&rig);
}

void
bench_routes6(struct rte_rcu_qsbr *without_readers)
{
	const unsigned int step = bench_settings()->quick ? 8 : 1;
	unsigned int all;
	struct hy_ip6_route *prefixes = bench_prefixes6(bench_settings()->prefixes, &all);
	struct hy_ip6_route *routes = bench_alloc(all / step + 2, sizeof(*routes));
	uint32_t n = 0;

	qsbr = without_readers;
	for (unsigned int i = 0; i < all; i += step) {
		static const uint8_t changed[HY_IP6_BYTES] = { 0x3f, 0xff };

		/* Only those that what comes and goes has nothing to do with. */
		if (ip6_covers(&prefixes[i], changed) ||
			memcmp(prefixes[i].prefix, changed, 2) == 0)
			continue;
		routes[n] = prefixes[i];
		routes[n].next_hop = fib_hop(n);
		n++;
	}
	compare("load_ip6", routes, n, false);
	compare("change_ip6", routes, n, true);
	parts(routes, n);
	free(routes);
	free(prefixes);
}
