/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variants of ip6_lookup against each other and against rte_lpm6 and rte_fib6, each way that the
 * latter looks up: the basis of their scores.
 */

#include <stdlib.h>
#include <string.h>

#include "drivers/nodes/generic/ip6/ip6_lookup_kernels.h"

#include "bench.h"
#include "fibs6.h"
#include "lookup.h"

#define DESTINATIONS 65536
#define BURST 64
#define HOP_NONE FIB_NEXT_HOPS
#define EIGHT 8

/* Tables with the same routes. Each is NULL until a contender needs it. */
struct routes6 {
	const char *name;
	const struct hy_ip6_route *routes;
	uint32_t n;
	struct rte_lpm6 *lpm;
	struct rte_fib6 *fib;
	struct hy_ip6_fib *ours;
};

struct rig6 {
	struct routes6 *of;
	const struct way6 *way;
	uint8_t (*dst)[HY_IP6_BYTES];
	unsigned int n; /* a multiple of BURST */
	uint64_t sum, expected;
};

/* A way to look up BURST addresses. Returns the sum of next hops; HOP_NONE counts for none. */
struct way6 {
	const char *name;
	uint64_t (*burst)(const struct rig6 *rig, uint8_t (*dst)[HY_IP6_BYTES]);
	hy_ip6_lookup_kernel_t *kernel; /* for ours */
	enum rte_fib6_lookup_type type; /* for rte_fib6 */
	bool wide;                      /* needs vectors of 512 bits */
};

static uint64_t
lpm_burst(const struct rig6 *rig, uint8_t (*dst)[HY_IP6_BYTES])
{
	int32_t hop[BURST];
	uint64_t sum = 0;

	/* The type of an address depends on the DPDK. */
	rte_lpm6_lookup_bulk_func(rig->of->lpm, (void *)dst, hop, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		sum += hop[i] < 0 ? HOP_NONE : (uint32_t)hop[i];
	return sum;
}

static uint64_t
fib_burst(const struct rig6 *rig, uint8_t (*dst)[HY_IP6_BYTES])
{
	uint64_t hop[BURST], sum = 0;

	rte_fib6_lookup_bulk(rig->of->fib, (void *)dst, hop, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		sum += hop[i];
	return sum;
}

static uint64_t
our_burst(const struct rig6 *rig, uint8_t (*dst)[HY_IP6_BYTES])
{
	const uint8_t *address[BURST];
	uint32_t hop[BURST];
	uint16_t next[BURST];
	uint64_t sum = 0;

	for (unsigned int i = 0; i < BURST; i++)
		address[i] = dst[i];
	rig->way->kernel(hy_ip6_trie(hy_ip6_fib_view(rig->of->ours)), address, hop, next, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		sum += next[i] == HY_IP6_LOOKUP_NEXT_REWRITE ? hop[i] : HOP_NONE;
	return sum;
}

static const struct way6 ways[] = {
	{ "rte_lpm6", lpm_burst },
	{ "rte_fib6", fib_burst, .type = RTE_FIB6_LOOKUP_TRIE_SCALAR },
#ifdef RTE_ARCH_X86_64
	{ "rte_fib6_avx512", fib_burst, .type = RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512, .wide = true },
#endif
	{ "scalar", our_burst, hy_ip6_lookup_scalar },
	{ "batch", our_burst, hy_ip6_lookup_batch },
};

static uint64_t
run(void *arg)
{
	struct rig6 *rig = arg;

	rig->sum = 0;
	if (rig->way->burst == fib_burst)
		rte_fib6_select_lookup(rig->of->fib, rig->way->type);
	for (unsigned int i = 0; i < rig->n; i += BURST)
		rig->sum += rig->way->burst(rig, rig->dst + i);
	return rig->n;
}

static bool
check(void *arg)
{
	const struct rig6 *rig = arg;

	return rig->sum == rig->expected;
}

/* Creates the table of a way. Returns false on failure. */
static bool
table_make(struct routes6 *of, const struct way6 *way)
{
	if (way->burst == lpm_burst) {
		if (of->lpm == NULL)
			of->lpm = fib6_lpm("lookup6", of->routes, of->n);
		return of->lpm != NULL;
	}
	if (way->burst == fib_burst) {
		if (of->fib == NULL)
			of->fib = fib6_rte("lookup6", of->routes, of->n, HOP_NONE);
		if (of->fib != NULL && rte_fib6_select_lookup(of->fib, way->type) < 0)
			return bench_cannot("rte_fib6 does not take this lookup") == 0;
		return of->fib != NULL;
	}
	if (of->ours != NULL)
		return true;
	of->ours = fib6_create("lookup6", NULL);
	if (of->ours == NULL || hy_ip6_routes_set(of->ours, of->routes, of->n, NULL) == 0)
		return of->ours != NULL;
	bench_cannot("no memory for %u routes of IPv6", of->n);
	fib6_destroy(of->ours);
	of->ours = NULL;
	return false;
}

static void
tables_free(struct routes6 *of)
{
	rte_lpm6_free(of->lpm);
	rte_fib6_free(of->fib);
	fib6_destroy(of->ours);
}

static void
work(const char *name, struct routes6 *of, uint8_t (*dst)[HY_IP6_BYTES], unsigned int n)
{
	struct rig6 rigs[RTE_DIM(ways)];
	struct field f = { .work = name };
	uint64_t expected = 0;

	for (unsigned int i = 0; i < n; i++)
		expected += fib6_find(of->routes, of->n, dst[i], HOP_NONE);
	for (unsigned int w = 0; w < RTE_DIM(ways); w++) {
		const bool ours = ways[w].burst == our_burst;
		struct contender c = { .name = ways[w].name,
			.run = run,
			.check = check,
			.against = ours ? NULL : ways[w].name,
			.subject = w == RTE_DIM(ways) - 1 };

		rigs[w] = (struct rig6){ of, &ways[w], dst, n, 0, expected };
		if (bench_simd(!ways[w].wide || lookup_cpu_can(512), ways[w].wide ? 512 : 0) &&
			table_make(of, &ways[w]))
			c.arg = &rigs[w];
		field_enter(&f, &c, field_keep);
	}
	field_measure(&f, CYCLES_OBJECT);
}

/* Chooses so many different destinations (0: one in each prefix), repeated and in random order. */
static void
works(struct routes6 *of)
{
	static const struct {
		const char *name;
		unsigned int destinations;
	} spreads[] = { { "256", 256 }, { "64k", DESTINATIONS }, { "each", 0 } };

	for (unsigned int s = 0; s < RTE_DIM(spreads); s++) {
		const bool each = spreads[s].destinations == 0;
		const unsigned int different = each ? of->n : spreads[s].destinations;
		const unsigned int n = RTE_ALIGN_CEIL(RTE_MAX(different,
							      (unsigned int)DESTINATIONS),
			BURST);
		uint8_t(*dst)[HY_IP6_BYTES];
		uint32_t *order;
		char name[32];

		snprintf(name, sizeof(name), "%s_%s", of->name, spreads[s].name);
		if (!bench_wanted(name))
			continue;
		dst = bench_alloc(n, sizeof(*dst));
		order = bench_alloc(n, sizeof(*order));
		for (unsigned int i = 0; i < n; i++)
			order[i] = i;
		bench_shuffle(order, n);
		for (unsigned int i = 0; i < n; i++)
			if (i < different)
				fib6_address(&of->routes[each ? i : bench_random() % of->n],
					dst[order[i]]);
			else
				memcpy(dst[order[i]], dst[order[i % different]], sizeof(*dst));
		work(name, of, dst, n);
		free(order);
		free(dst);
	}
	tables_free(of);
}

void
bench_lookup6(void)
{
	struct hy_ip6_route eight[EIGHT];
	struct routes6 small = { .name = "ip6_r8", .routes = eight, .n = EIGHT };
	struct routes6 all = { .name = "ip6_all" };
	struct hy_ip6_route *routes = bench_prefixes6(bench_settings()->prefixes, &all.n);

	all.routes = routes;
	for (uint32_t i = 0; i < all.n; i++)
		routes[i].next_hop = fib_hop(i);
	for (uint32_t i = 0; i < EIGHT; i++) /* wide, as those of IPv4 are */
		eight[i] = (struct hy_ip6_route){ .prefix = { 0x20, 0x01, 0x00, 0x02, 0, 0, 0,
							  (uint8_t)i },
			.depth = 64,
			.next_hop = fib_hop(i) };
	works(&small);
	works(&all);
	free(routes);
}
