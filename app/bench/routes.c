/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of routes: hy_ip4.h against direct calls of the library below it, with the same prefixes.
 * Halyard's table also keeps the list of routes, counts the users of next hops, and undoes failed
 * changes.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ip.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"

#include "bench.h"
#include "fibs.h"
#include "routes.h"

#define TBL8S 4096
#define CHANGED 256 /* prefixes added and deleted in a run, in 10.0.0.0/8 */

#define PROBE RTE_IPV4(10u, 0, 7, 1) /* an address in one of them */

/* A table of Halyard or of a library. */
struct table {
	struct hy_ip4_fib *ours;
	struct rte_lpm *lpm;
	struct rte_fib *fib;
};

struct rig {
	enum hy_ip4_engine engine;
	bool bare;
	const struct hy_ip4_change *changes; /* that add all prefixes */
	uint32_t n;
	struct table table; /* filled, for single changes */
	uint32_t covering;  /* next hop of PROBE without the prefixes of a run */
	bool wrong;
};

static struct rte_rcu_qsbr *qsbr; /* without readers: grace periods end at once */

/* Returns false if there is no memory for it. */
static bool
table_create(const struct rig *rig, struct table *table)
{
	const struct hy_ip4_fib_params ours = { .engine = rig->engine,
		.max_routes = rig->n + CHANGED,
		.max_tbl8s = TBL8S,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr };
	const struct rte_lpm_config lpm = { .max_rules = rig->n + CHANGED, .number_tbl8s = TBL8S };
	struct rte_fib_conf fib = { .type = RTE_FIB_DIR24_8,
		.default_nh = INT16_MAX,
		.max_routes = (int)(rig->n + CHANGED),
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = TBL8S } };

	*table = (struct table){ 0 };
	if (!rig->bare)
		table->ours = fib_create("bench", &ours, NULL, 0);
	else if (rig->engine == HY_IP4_LPM)
		table->lpm = rte_lpm_create("bare", SOCKET_ID_ANY, &lpm);
	else
		table->fib = rte_fib_create("bare", SOCKET_ID_ANY, &fib);
	if (table->ours != NULL || table->lpm != NULL || table->fib != NULL)
		return true;
	bench_cannot("a table of %u routes: %s", rig->n, rte_strerror(rte_errno));
	return false;
}

static void
table_destroy(struct table *table)
{
	if (table->ours != NULL)
		table->ours->nb_users = 0;
	hy_ip4_fib_destroy(table->ours);
	rte_lpm_free(table->lpm);
	rte_fib_free(table->fib);
	*table = (struct table){ 0 };
}

/*
 * Applies changes: to a library one by one, to Halyard in one call. Returns the number of failures.
 */
static uint32_t
apply(const struct table *table, const struct hy_ip4_change *changes, uint32_t n)
{
	uint32_t failed = 0;

	if (table->ours != NULL)
		return hy_ip4_routes_change(table->ours, changes, n, NULL) < 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct hy_ip4_route *r = &changes[i].route;
		const bool delete = changes[i].verb == HY_IP4_DELETE;
		int rc;

		if (table->lpm != NULL)
			rc = delete ? rte_lpm_delete(table->lpm, r->prefix, r->depth)
				    : rte_lpm_add(table->lpm, r->prefix, r->depth, r->next_hop);
		else
			rc = delete ? rte_fib_delete(table->fib, r->prefix, r->depth)
				    : rte_fib_add(table->fib, r->prefix, r->depth, r->next_hop);
		failed += rc < 0;
	}
	return failed;
}

static uint32_t
lookup(const struct table *table, uint32_t dst)
{
	uint32_t id = UINT32_MAX;
	uint64_t wide;

	if (table->ours != NULL)
		return hy_ip4_lookup(table->ours, dst, &id) == 0 ? id : UINT32_MAX;
	if (table->lpm != NULL)
		return rte_lpm_lookup(table->lpm, dst, &id) == 0 ? id : UINT32_MAX;
	rte_fib_lookup_bulk(table->fib, &dst, &wide, 1);
	return wide == INT16_MAX ? UINT32_MAX : (uint32_t)wide;
}

/*
 * Returns whether the first address of each prefix is routed by the longest prefix that begins
 * there.
 */
static bool
filled(const struct rig *rig, const struct table *table)
{
	for (uint32_t i = 0; i < rig->n; i++) {
		const struct hy_ip4_route *r = &rig->changes[i].route;
		const bool covered = i + 1 < rig->n &&
			r[0].prefix == rig->changes[i + 1].route.prefix;

		if (!covered && lookup(table, r->prefix) != r->next_hop)
			return false;
	}
	return table->ours == NULL || hy_ip4_routes_get(table->ours, NULL, 0) == rig->n;
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
	rig->wrong = apply(&table, rig->changes, rig->n) > 0;
	took = rte_rdtsc() - took;
	rig->wrong |= !filled(rig, &table);
	table_destroy(&table);
	return 1e6 * (double)took / (double)rte_get_tsc_hz();
}

/* Adds, replaces and deletes prefixes, one change per call. */
static uint64_t
change(void *arg)
{
	static const enum hy_ip4_verb verbs[] = { HY_IP4_ADD, HY_IP4_REPLACE, HY_IP4_DELETE };
	struct rig *rig = arg;

	for (unsigned int v = 0; v < RTE_DIM(verbs); v++) {
		for (uint32_t i = 0; i < CHANGED; i++) {
			const struct hy_ip4_change one = { .verb = verbs[v],
				.route = { RTE_IPV4(10u, 0, i, 0), 24, v } };

			rig->wrong |= apply(&rig->table, &one, 1) > 0;
		}
		/* Costs a thousandth, and shows that the changes had an effect. */
		rig->wrong |= lookup(&rig->table, PROBE) !=
			(verbs[v] == HY_IP4_DELETE ? rig->covering : v);
	}
	return RTE_DIM(verbs) * CHANGED;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return !rig->wrong && (rig->table.ours == NULL || filled(rig, &rig->table));
}

/* Creates a table, filled for single changes. Returns false on failure. */
static bool
rig_open(struct rig *rig, bool single)
{
	if (!table_create(rig, &rig->table))
		return false;
	if (!single) { /* each run makes its own */
		table_destroy(&rig->table);
		return true;
	}
	if (apply(&rig->table, rig->changes, rig->n) > 0) {
		bench_cannot("the prefixes do not fit");
		table_destroy(&rig->table);
		return false;
	}
	rig->covering = lookup(&rig->table, PROBE);
	return true;
}

static void
rig_close(void *arg)
{
	table_destroy(&((struct rig *)arg)->table);
}

/* What is measured of a library's table and of Halyard's. */
struct work {
	const char *name;
	enum hy_ip4_engine engine;
	bool single; /* changes of a full table, not its filling */
	bool live;   /* as if graphs used it, so that rte_fib is kept twice */
};

static void
compare(const struct work *w, const struct hy_ip4_change *changes, uint32_t n)
{
	const char *const names[] = { w->engine == HY_IP4_LPM ? "rte_lpm" : "rte_fib", "halyard" };
	struct field f = { .work = w->name };
	struct rig rigs[2];

	for (unsigned int c = 0; c < 2; c++) {
		const bool bare = c == 0;
		struct contender contender = { .name = names[c],
			.run = w->single ? change : NULL,
			.figure = w->single ? NULL : load,
			.check = check,
			.against = bare ? names[c] : NULL,
			.subject = !bare };

		rigs[c] = (struct rig){
			.engine = w->engine, .bare = bare, .changes = changes, .n = n
		};
		if (rig_open(&rigs[c], w->single))
			contender.arg = &rigs[c];
		field_enter(&f, &contender, rig_close);
	}
	if (w->live && rigs[1].table.ours != NULL)
		rigs[1].table.ours->nb_users = 1;
	field_measure(&f, MICROSECONDS);
}

/* Makes changes that add all prefixes outside 10.0.0.0/8. Returns their number. */
static uint32_t
additions(struct hy_ip4_change *changes, const struct bench_route *prefixes, unsigned int n)
{
	uint32_t added = 0;

	for (unsigned int i = 0; i < n; i++)
		if (prefixes[i].depth < 8 || prefixes[i].prefix >> 24 != 10)
			changes[added++].route = fib_route(prefixes[i].prefix, prefixes[i].depth,
				i);
	return added;
}

void
bench_routes(void)
{
	static const struct work works[] = {
		{ "load_lpm", HY_IP4_LPM, .single = false },
		{ "load_fib", HY_IP4_FIB, .single = false },
		{ "change_lpm", HY_IP4_LPM, .single = true },
		{ "change_lpm_live", HY_IP4_LPM, .single = true, .live = true },
		{ "change_fib", HY_IP4_FIB, .single = true },
		{ "change_fib_live", HY_IP4_FIB, .single = true, .live = true },
	};
	/*
	 * rte_lpm searches all rules of one length: its time grows with the square of their number.
	 */
	const unsigned int all = bench_settings()->prefixes != NULL ? 1 : 4;
	const unsigned int step = bench_settings()->quick ? 8 : all;
	unsigned int n;
	struct bench_route *prefixes = bench_prefixes(bench_settings()->prefixes, &n);
	struct hy_ip4_change *changes = bench_alloc(n, sizeof(*changes));

	qsbr = bench_alloc(1, rte_rcu_qsbr_get_memsize(1));
	rte_rcu_qsbr_init(qsbr, 1);
	n = additions(changes, prefixes, (n + step - 1) / step);
	if (n == 0)
		bench_fail("--prefixes: all are in 10.0.0.0/8, where prefixes come and go");
	for (unsigned int i = 0; i < RTE_DIM(works); i++)
		if (bench_wanted(works[i].name))
			compare(&works[i], changes, n);
	bench_routes6(qsbr);
	free(changes);
	free(prefixes);
	free(qsbr);
}
