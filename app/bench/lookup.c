/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variants of ip4_lookup against each other and against rte_lpm's own lookup, with tables of
 * several sizes and several numbers of destinations: the basis of their scores.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_ip.h>
#include <rte_vect.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "drivers/nodes/generic/ip4/ip4_lookup_kernels.h"

#include "bench.h"
#include "fibs.h"
#include "lookup.h"

#define DESTINATIONS 65536
#define BURST 64
#define COPIED 1024 /* at a time, so that kernels do not read from store buffers */
#define ENGINES (HY_IP4_FIB_AVX512 + 1)

struct routes {
	const char *name;
	struct hy_ip4_change *changes; /* that add them */
	unsigned int n;
	struct hy_ip4_fib *fibs[ENGINES]; /* created when a kernel needs it */
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

bool
lookup_cpu_can(uint16_t simd_bits __rte_unused)
{
#ifdef RTE_ARCH_X86_64
	static const enum rte_cpu_flag_t avx512[] = { RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW,
		RTE_CPUFLAG_AVX512DQ, RTE_CPUFLAG_AVX512VL };

	for (unsigned int i = 0; i < RTE_DIM(avx512) && simd_bits == 512; i++)
		if (rte_cpu_get_flag_enabled(avx512[i]) <= 0)
			return false;
	return simd_bits != 256 || rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
#else
	return true;
#endif
}

/* rte_lpm's own lookup, which neither reports misses nor has a default route. */
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
	uint16_t simd_bits; /* width that EAL must allow; 0: any */
} kernels[] = {
	{ "rte_lpm_lookupx4", bare_x4, HY_IP4_LPM },
	{ "scalar", hy_ip4_lookup_scalar, HY_IP4_LPM },
	{ "x4", hy_ip4_lookup_x4, HY_IP4_LPM },
	{ "fib", hy_ip4_lookup_fib, HY_IP4_FIB },
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_ip4_lookup_avx2, HY_IP4_LPM, 256 },
	{ "avx512", hy_ip4_lookup_avx512, HY_IP4_LPM, 512 },
	{ "fib_avx512", hy_ip4_lookup_fib_avx512, HY_IP4_FIB_AVX512, 512 },
#elif defined(RTE_ARCH_ARM64)
	{ "neon", hy_ip4_lookup_neon, HY_IP4_LPM, 128 },
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

/* Returns the table of an engine; NULL on failure. */
static struct hy_ip4_fib *
table_of(struct routes *routes, enum hy_ip4_engine engine)
{
	const struct hy_ip4_fib_params params = {
		.engine = engine, .max_routes = routes->n, .socket = SOCKET_ID_ANY
	};
	const char name[] = { 't', (char)('0' + (int)engine), '\0' };

	if (routes->fibs[engine] == NULL)
		routes->fibs[engine] = fib_create(name, &params, routes->changes, routes->n);
	return routes->fibs[engine];
}

static uint32_t
address_in(const struct hy_ip4_route *route)
{
	return route->depth == 32 ? route->prefix : route->prefix | bench_random() >> route->depth;
}

/* Chooses so many different destinations (0: one in each prefix), repeated and in random order. */
static void
destinations_choose(struct destinations *to, const struct routes *routes, unsigned int different)
{
	const bool each = different == 0;

	different = each ? routes->n : different;
	to->n = RTE_ALIGN_CEIL(RTE_MAX(different, (unsigned int)DESTINATIONS), COPIED);
	to->dst = bench_alloc(to->n, sizeof(*to->dst));
	for (unsigned int i = 0; i < different; i++)
		to->dst[i] =
			address_in(&routes->changes[each ? i : bench_random() % routes->n].route);
	for (unsigned int i = different; i < to->n; i++)
		to->dst[i] = to->dst[i % different];
	bench_shuffle(to->dst, to->n);
}

static void
work(const char *name, struct routes *routes, const struct destinations *to)
{
	struct hy_ip4_fib *lpm = table_of(routes, HY_IP4_LPM);
	struct rig rigs[RTE_DIM(kernels)];
	struct field f = { .work = name };
	unsigned int best = 0; /* the widest of Halyard's kernels for rte_lpm */

	if (lpm == NULL) {
		bench_skip(name, NULL);
		return;
	}
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++) {
		const bool can = bench_simd(lookup_cpu_can(kernels[k].simd_bits),
			kernels[k].simd_bits);
		struct contender c = { .name = kernels[k].name,
			.run = run,
			.check = check,
			.against = k == 0 ? kernels[k].name : NULL };

		rigs[k] = (struct rig){ .fib = can ? table_of(routes, kernels[k].engine) : NULL,
			.to = to,
			.kernel = kernels[k].kernel,
			.expected = k == 0 ? expected_sum(lpm, to) : rigs[0].expected };
		if (rigs[k].fib != NULL)
			c.arg = &rigs[k];
		if (rigs[k].fib != NULL && kernels[k].engine == HY_IP4_LPM)
			best = f.n;
		field_enter(&f, &c, field_keep);
	}
	f.all[best].subject = true;
	field_measure(&f, CYCLES_OBJECT);
}

/* All numbers of destinations for one size of table. */
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
		destinations_choose(&to, routes, spreads[s].destinations);
		work(name, routes, &to);
		free(to.dst);
	}
	for (unsigned int e = 0; e < ENGINES; e++) {
		hy_ip4_fib_destroy(routes->fibs[e]);
		routes->fibs[e] = NULL;
	}
}

/* Takes n prefixes, spread evenly over all. */
static struct routes
some_of(const char *name, const struct bench_route *all, unsigned int nb_all, unsigned int n)
{
	struct routes routes = { .name = name, .n = RTE_MIN(n, nb_all) };

	routes.changes = bench_alloc(routes.n, sizeof(*routes.changes));
	for (unsigned int i = 0; i < routes.n; i++) {
		const struct bench_route *prefix = &all[(uint64_t)i * nb_all / routes.n];

		/* Eight routes are wide, so that they contain 64k addresses. */
		routes.changes[i].route = n == 8 ? fib_route(RTE_IPV4(10u, i, 0, 0), 16, i)
						 : fib_route(prefix->prefix, prefix->depth, i);
	}
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
	struct bench_route *all = bench_prefixes(bench_settings()->prefixes, &nb_all);

	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		struct routes routes = some_of(sizes[s].name, all, nb_all, sizes[s].n);

		works(&routes);
		free(routes.changes);
	}
	free(all);
	bench_lookup6();
}
