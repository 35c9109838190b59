/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variants of ip4_lookup against one another and against the bare lookup of rte_lpm, over
 * tables of some sizes and destinations of some spreads: what their scores are made from.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_ip.h>
#include <rte_vect.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "drivers/nodes/generic/ip4/ip4_lookup_kernels.h"

#include "bench.h"

#define DESTINATIONS 65536
#define BURST 64
#define COPIED 1024 /* at a time: a kernel must not read what is still in store buffers */
#define NEXT_HOPS 256
#define ENGINES (HY_IP4_FIB_AVX512 + 1)

struct routes {
	const char *name;
	struct bench_prefix *prefixes;
	unsigned int n;
	struct hy_ip4_fib *fibs[ENGINES]; /* made when a kernel wants to read it */
};

struct destinations {
	uint32_t *dst;
	unsigned int n; /* a multiple of COPIED */
};

struct rig {
	const struct hy_ip4_fib *fib;
	const struct destinations *to;
	hy_ip4_lookup_kernel_t *kernel;
	uint64_t sum, expected;
};

static bool
any_cpu(void)
{
	return true;
}

#ifdef RTE_ARCH_X86_64
static bool
has_avx2(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
}

static bool
has_avx512(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;
}
#endif

/* What rte_lpm itself has to offer: no misses to tell, no default route. */
static void
bare_x4(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	(void)next;
	for (unsigned int j = 0; j < n; j += 4) {
		xmm_t ip;

		memcpy(&ip, &route[j], sizeof(ip));
		rte_lpm_lookupx4(view->lpm, ip, &route[j], 0);
	}
}

static const struct {
	const char *name;
	hy_ip4_lookup_kernel_t *kernel;
	enum hy_ip4_engine engine;
	bool (*runs)(void);
	uint16_t simd_bits; /* that EAL must allow */
} kernels[] = {
	{ "rte_lpm_lookupx4", bare_x4, HY_IP4_LPM, any_cpu },
	{ "scalar", hy_ip4_lookup_scalar, HY_IP4_LPM, any_cpu },
	{ "x4", hy_ip4_lookup_x4, HY_IP4_LPM, any_cpu },
	{ "fib", hy_ip4_lookup_fib, HY_IP4_FIB, any_cpu },
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_ip4_lookup_avx2, HY_IP4_LPM, has_avx2, 256 },
	{ "avx512", hy_ip4_lookup_avx512, HY_IP4_LPM, has_avx512, 512 },
	{ "fib_avx512", hy_ip4_lookup_fib_avx512, HY_IP4_FIB_AVX512, has_avx512, 512 },
#endif
};

static uint64_t
run(void *arg)
{
	struct rig *rig = arg;
	uint32_t route[COPIED];
	uint16_t next[BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < rig->to->n; i += COPIED) {
		memcpy(route, rig->to->dst + i, sizeof(route));
		for (unsigned int b = 0; b < COPIED; b += BURST)
			rig->kernel(hy_ip4_fib_view(rig->fib), route + b, next, BURST);
		for (unsigned int j = 0; j < COPIED; j++)
			rig->sum += route[j];
	}
	return rig->to->n;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return rig->sum == rig->expected;
}

static uint64_t
expected_sum(struct hy_ip4_fib *fib, const struct destinations *to)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < to->n; i++) {
		uint32_t hop;

		if (hy_ip4_lookup(fib, to->dst[i], &hop) == 0)
			sum += hop;
	}
	return sum;
}

static int
fill(struct hy_ip4_fib *fib, const struct routes *routes)
{
	struct hy_ip4_change *changes = calloc(routes->n, sizeof(*changes));
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	struct hy_ip4_next_hop hop = { .port = 0 };
	int rc = changes == NULL ? -1 : hy_ip4_port_add(fib, &port);
	uint32_t id;

	for (unsigned int i = 0; i < NEXT_HOPS && rc == 0; i++) {
		hop.mac.addr_bytes[5] = (uint8_t)i;
		rc = hy_ip4_next_hop_add(fib, &hop, &id);
	}
	for (unsigned int i = 0; i < routes->n && rc == 0; i++)
		changes[i].route = (struct hy_ip4_route){ .prefix = routes->prefixes[i].address,
			.depth = routes->prefixes[i].depth,
			.next_hop = i * 7 % NEXT_HOPS };
	if (rc == 0)
		rc = hy_ip4_routes_change(fib, changes, routes->n, NULL);
	free(changes);
	return rc;
}

/* The table of an engine; NULL: it cannot be made. */
static struct hy_ip4_fib *
table_of(struct routes *routes, enum hy_ip4_engine engine)
{
	const struct hy_ip4_fib_params params = {
		.engine = engine, .max_routes = routes->n, .socket = SOCKET_ID_ANY
	};
	const char name[] = { 't', (char)('0' + (int)engine), '\0' };
	struct hy_ip4_fib *fib;
	int rc;

	if (routes->fibs[engine] != NULL)
		return routes->fibs[engine];
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc == 0) {
		rc = fill(fib, routes);
		if (rc == 0)
			return routes->fibs[engine] = fib;
		hy_ip4_fib_destroy(fib);
	}
	bench_cannot("the table of %u routes: %s", routes->n, strerror(-rc));
	return NULL;
}

static void
tables_destroy(struct routes *routes)
{
	for (unsigned int e = 0; e < ENGINES; e++) {
		hy_ip4_fib_destroy(routes->fibs[e]);
		routes->fibs[e] = NULL;
	}
}

static uint32_t
address_in(const struct bench_prefix *prefix)
{
	return prefix->depth == 32 ? prefix->address
				   : prefix->address | bench_random() >> prefix->depth;
}

/* So many different ones, in random order, as often as it takes; 0: one for each prefix. */
static int
destinations_choose(struct destinations *to, const struct routes *routes, unsigned int different)
{
	const bool each = different == 0;

	different = each ? routes->n : different;
	to->n = RTE_ALIGN_CEIL(RTE_MAX(different, (unsigned int)DESTINATIONS), COPIED);
	to->dst = calloc(to->n, sizeof(*to->dst));
	if (to->dst == NULL)
		return bench_cannot("no memory for %u destinations", to->n);
	for (unsigned int i = 0; i < different; i++)
		to->dst[i] = address_in(&routes->prefixes[each ? i : bench_random() % routes->n]);
	for (unsigned int i = different; i < to->n; i++)
		to->dst[i] = to->dst[i % different];
	bench_shuffle(to->dst, to->n);
	return 0;
}

/* A kernel and its table, or NULL where it cannot run. */
static struct rig *
rig_open(unsigned int k, struct routes *routes, const struct destinations *to)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct hy_ip4_fib *fib = NULL;

	if (!kernels[k].runs())
		bench_cannot("the CPU lacks its instructions");
	else if (kernels[k].simd_bits > rte_vect_get_max_simd_bitwidth())
		bench_cannot("it needs vectors of %u bits, %u are allowed", kernels[k].simd_bits,
			rte_vect_get_max_simd_bitwidth());
	else
		fib = table_of(routes, kernels[k].engine);
	if (fib == NULL || rig == NULL) {
		free(rig);
		return NULL;
	}
	*rig = (struct rig){ .fib = fib, .to = to, .kernel = kernels[k].kernel };
	return rig;
}

static void
work(const char *name, struct routes *routes, const struct destinations *to)
{
	struct hy_ip4_fib *lpm = table_of(routes, HY_IP4_LPM);
	const uint64_t expected = lpm == NULL ? 0 : expected_sum(lpm, to);
	struct field f = { .work = name };
	unsigned int best = 0; /* of ours over rte_lpm: the widest */

	if (lpm == NULL) {
		bench_skip(name, NULL);
		return;
	}
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++) {
		struct rig *rig = rig_open(k, routes, to);
		const struct contender c = { .name = kernels[k].name,
			.arg = rig,
			.run = run,
			.check = check,
			.against = k == 0 ? kernels[k].name : NULL };

		if (rig != NULL)
			rig->expected = expected;
		if (rig != NULL && kernels[k].engine == HY_IP4_LPM)
			best = f.n;
		field_enter(&f, &c, free);
	}
	f.all[best].subject = true;
	field_measure(&f, CYCLES_OBJECT);
}

/* All spreads of destinations over one size of table. */
static void
works(struct routes *routes)
{
	static const struct {
		const char *name;
		unsigned int destinations;
	} spreads[] = { { "one", 1 }, { "256", 256 }, { "64k", DESTINATIONS }, { "each", 0 } };

	for (unsigned int s = 0; s < RTE_DIM(spreads); s++) {
		struct destinations to;
		char name[32];

		snprintf(name, sizeof(name), "%s_%s", routes->name, spreads[s].name);
		if (!bench_wanted(name))
			continue;
		if (destinations_choose(&to, routes, spreads[s].destinations) == 0)
			work(name, routes, &to);
		else
			bench_skip(name, NULL);
		free(to.dst);
	}
	tables_destroy(routes);
}

/* So many of the prefixes, spread over all of them. */
static struct routes
some_of(const char *name, const struct bench_prefix *all, unsigned int nb_all, unsigned int n)
{
	struct routes routes = { .name = name, .n = RTE_MIN(n, nb_all) };

	routes.prefixes = calloc(routes.n, sizeof(*routes.prefixes));
	if (routes.prefixes == NULL) {
		fprintf(stderr, "hy-bench: no memory for %u prefixes\n", routes.n);
		exit(EXIT_FAILURE);
	}
	for (unsigned int i = 0; i < routes.n; i++)
		routes.prefixes[i] = all[(uint64_t)i * nb_all / routes.n];
	return routes;
}

void
bench_lookup(void)
{
	static const struct {
		const char *name;
		unsigned int n;
	} sizes[] = { { "r8", 8 }, { "r1k", 1000 }, { "r10k", 10000 }, { "all", UINT32_MAX } };
	unsigned int nb_all;
	struct bench_prefix *all = bench_prefixes(bench_settings()->prefixes, &nb_all);

	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		struct routes routes = some_of(sizes[s].name, all, nb_all, sizes[s].n);

		/* Wide ones, or there were not 64k addresses in them. */
		for (unsigned int i = 0; i < routes.n && routes.n == 8; i++)
			routes.prefixes[i] = (struct bench_prefix){ RTE_IPV4(10u, i, 0, 0), 16 };
		works(&routes);
		free(routes.prefixes);
	}
	free(all);
}
