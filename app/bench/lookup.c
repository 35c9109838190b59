/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of ip4_lookup against one another and against rte_lpm's own x4 lookup. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cpuflags.h>

#include <ip4_lookup.h>

#include "bench.h"

#define ADDRESSES 65536
#define ROUTES 50000
#define BURST 64
#define COPIED 1024 /* at a time: a kernel must not read what is still in store buffers */

struct rig {
	const struct hy_ip4_fib *fib;
	const uint32_t *dst;
	ip4_lookup_kernel *kernel; /* NULL: rte_lpm_lookupx4() */
	uint64_t sum, expected;
};

static void
lookup_burst(const struct rig *rig, uint32_t route[BURST], uint16_t next[BURST])
{
	if (rig->kernel != NULL) {
		rig->kernel(rig->fib, route, next, BURST);
		return;
	}
	for (unsigned int j = 0; j < BURST; j += 4) {
		xmm_t ip;

		memcpy(&ip, &route[j], sizeof(ip));
		rte_lpm_lookupx4(rig->fib->lpm, ip, &route[j], 0);
	}
}

static uint64_t
run(void *arg)
{
	struct rig *rig = arg;
	uint32_t route[COPIED];
	uint16_t next[BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < ADDRESSES; i += COPIED) {
		memcpy(route, rig->dst + i, sizeof(route));
		for (unsigned int b = 0; b < COPIED; b += BURST)
			lookup_burst(rig, route + b, next);
		for (unsigned int j = 0; j < COPIED; j++)
			rig->sum += route[j];
	}
	return ADDRESSES;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return rig->sum == rig->expected;
}

/* Routes of /12 to /28, denser at the lengths that the Internet has. */
static struct hy_ip4_fib *
table(void)
{
	const struct hy_ip4_fib_params params = { .socket = SOCKET_ID_ANY, .max_tbl8s = 65536 };
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	struct hy_ip4_next_hop to = { .mac = { { 2, 0, 0, 0, 0, 1 } } };
	struct hy_ip4_fib *fib;
	unsigned int added = 0;
	uint32_t hop;

	if (hy_ip4_fib_create("bench", &params, &fib) < 0 || hy_ip4_port_add(fib, &port) < 0)
		return NULL;
	for (unsigned int i = 0; i < 256; i++) {
		to.mac.addr_bytes[5] = (uint8_t)i;
		if (hy_ip4_next_hop_add(fib, &to, &hop) < 0)
			return NULL;
	}
	while (added < ROUTES) {
		const uint32_t r = bench_random() % 100;
		const uint8_t depth = (uint8_t)(r < 10 ? 12 + r : r < 95 ? 24 - r % 4 : 28);
		const uint32_t prefix = bench_random() & (UINT32_MAX << (32 - depth));

		const struct hy_ip4_route route = { prefix, depth, bench_random() % 256 };

		added += hy_ip4_route_add(fib, &route) == 0;
	}
	return fib;
}

static uint64_t
expected_sum(struct hy_ip4_fib *fib, const uint32_t *dst)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ADDRESSES; i++) {
		uint32_t hop;

		if (hy_ip4_lookup(fib, dst[i], &hop) == 0)
			sum += hop;
	}
	return sum;
}

static void
work(const char *name, struct hy_ip4_fib *fib, const uint32_t *dst)
{
	struct rig rigs[4];
	struct contender contenders[4];
	unsigned int n = 0;

	for (unsigned int i = 0; i < RTE_DIM(rigs); i++) {
		rigs[i] = (struct rig){
			.fib = fib, .dst = dst, .expected = expected_sum(fib, dst)
		};
		contenders[i] = (struct contender){ .arg = &rigs[i], .run = run, .check = check };
	}
	contenders[n++].name = "rte_lpm_lookupx4";
	rigs[n].kernel = hy_ip4_lookup_scalar;
	contenders[n++].name = "scalar";
#ifdef RTE_ARCH_X86_64
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0) {
		rigs[n].kernel = hy_ip4_lookup_avx2;
		contenders[n++].name = "avx2";
	}
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0) {
		rigs[n].kernel = hy_ip4_lookup_avx512;
		contenders[n++].name = "avx512";
	}
#endif
	for (unsigned int i = 0; i + 1 < n; i++)
		contenders[i].against = contenders[i].name;
	contenders[n - 1].subject = true;
	bench_work(name, CYCLES_OBJECT, contenders, n);
}

void
bench_lookup(void)
{
	static const struct {
		const char *name;
		unsigned int destinations;
	} works[] = { { "dst1", 1 }, { "dst256", 256 }, { "dst64k", ADDRESSES } };
	struct hy_ip4_fib *fib = table();
	uint32_t *dst = calloc(ADDRESSES, sizeof(*dst));

	if (fib == NULL || dst == NULL)
		exit(EXIT_FAILURE);
	for (unsigned int w = 0; w < RTE_DIM(works); w++) {
		if (!bench_wanted(works[w].name))
			continue;
		for (unsigned int i = 0; i < works[w].destinations; i++)
			dst[i] = bench_random();
		for (unsigned int i = works[w].destinations; i < ADDRESSES; i++)
			dst[i] = dst[bench_random() % works[w].destinations];
		work(works[w].name, fib, dst);
	}
	free(dst);
	hy_ip4_fib_destroy(fib);
}
