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

#include <ip4_lookup.h>

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
	struct hy_ip4_fib *fibs[ENGINES]; /* NULL: the CPU lacks what the engine needs */
};

struct destinations {
	uint32_t *dst;
	unsigned int n; /* a multiple of COPIED */
};

struct rig {
	const struct hy_ip4_fib *fib;
	const struct destinations *to;
	ip4_lookup_kernel *kernel;
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
bare_x4(const struct hy_ip4_fib *fib, uint32_t route[], uint16_t next[], uint32_t n)
{
	(void)next;
	for (unsigned int j = 0; j < n; j += 4) {
		xmm_t ip;

		memcpy(&ip, &route[j], sizeof(ip));
		rte_lpm_lookupx4(fib->lpm, ip, &route[j], 0);
	}
}

static const struct {
	const char *name;
	ip4_lookup_kernel *kernel;
	enum hy_ip4_engine engine;
	bool (*runs)(void);
} kernels[] = {
	{ "rte_lpm_lookupx4", bare_x4, HY_IP4_LPM, any_cpu },
	{ "scalar", hy_ip4_lookup_scalar, HY_IP4_LPM, any_cpu },
	{ "x4", hy_ip4_lookup_x4, HY_IP4_LPM, any_cpu },
	{ "fib", hy_ip4_lookup_fib, HY_IP4_FIB, any_cpu },
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_ip4_lookup_avx2, HY_IP4_LPM, has_avx2 },
	{ "avx512", hy_ip4_lookup_avx512, HY_IP4_LPM, has_avx512 },
	{ "fib_avx512", hy_ip4_lookup_fib_avx512, HY_IP4_FIB_AVX512, has_avx512 },
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
			rig->kernel(rig->fib, route + b, next, BURST);
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

static void
tables_create(struct routes *routes)
{
	for (unsigned int e = 0; e < ENGINES; e++) {
		const struct hy_ip4_fib_params params = {
			.engine = e, .max_routes = routes->n, .socket = SOCKET_ID_ANY
		};
		const char name[] = { 't', (char)('0' + e), '\0' };
		const int rc = hy_ip4_fib_create(name, &params, &routes->fibs[e]);

		if (rc == -ENOTSUP)
			continue;
		if (rc < 0 || fill(routes->fibs[e], routes) < 0) {
			fprintf(stderr, "hy-bench: %s: no memory for tables\n", routes->name);
			exit(EXIT_FAILURE);
		}
	}
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
static void
destinations_choose(struct destinations *to, const struct routes *routes, unsigned int different)
{
	const bool each = different == 0;

	different = each ? routes->n : different;
	to->n = RTE_ALIGN_CEIL(RTE_MAX(different, (unsigned int)DESTINATIONS), COPIED);
	to->dst = calloc(to->n, sizeof(*to->dst));
	if (to->dst == NULL)
		exit(EXIT_FAILURE);
	for (unsigned int i = 0; i < different; i++)
		to->dst[i] = address_in(&routes->prefixes[each ? i : bench_random() % routes->n]);
	for (unsigned int i = different; i < to->n; i++)
		to->dst[i] = to->dst[i % different];
	for (unsigned int i = to->n; i > 1; i--) {
		const unsigned int j = bench_random() % i;
		const uint32_t swap = to->dst[i - 1];

		to->dst[i - 1] = to->dst[j];
		to->dst[j] = swap;
	}
}

static void
work(const char *name, const struct routes *routes, const struct destinations *to)
{
	const uint64_t expected = expected_sum(routes->fibs[HY_IP4_LPM], to);
	struct contender contenders[RTE_DIM(kernels)] = { 0 };
	struct rig rigs[RTE_DIM(kernels)];
	unsigned int n = 0, best = 0; /* of ours over rte_lpm: the widest */

	for (unsigned int k = 0; k < RTE_DIM(kernels); k++) {
		const struct hy_ip4_fib *fib = routes->fibs[kernels[k].engine];

		if (!kernels[k].runs() || fib == NULL)
			continue;
		rigs[n] = (struct rig){
			.fib = fib, .to = to, .kernel = kernels[k].kernel, .expected = expected
		};
		contenders[n] = (struct contender){
			.name = kernels[k].name, .arg = &rigs[n], .run = run, .check = check
		};
		best = kernels[k].engine == HY_IP4_LPM ? n : best;
		n++;
	}
	contenders[0].against = contenders[0].name;
	contenders[best].subject = true;
	bench_work(name, CYCLES_OBJECT, contenders, n);
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
		if (routes->fibs[HY_IP4_LPM] == NULL)
			tables_create(routes);
		destinations_choose(&to, routes, spreads[s].destinations);
		work(name, routes, &to);
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
	if (routes.prefixes == NULL)
		exit(EXIT_FAILURE);
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
