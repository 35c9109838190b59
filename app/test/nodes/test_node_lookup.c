/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4_lookup: every variant that this CPU can run, against a search through the list of routes
 * that knows nothing of tables.
 */

#include <errno.h>
#include <string.h>

#include <rte_vect.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "drivers/nodes/generic/ip4/ip4_lookup_kernels.h"
#include "hal/internal/hal.h"
#include "node_fixture.h"
#include "unit_cpu.h"

#define ROUTES_MAX 2048
#define ADDRESSES 8192
#define AROUND 40 /* elements before and behind the arrays that must stay as they are */
#define NO_ROUTE UINT32_MAX

struct route {
	uint32_t prefix;
	uint8_t depth;
	uint32_t id;
};

static struct {
	struct hy_ip4_fib *fib;
	struct route routes[ROUTES_MAX];
	unsigned int nb_routes;
	uint32_t address[ADDRESSES];
	uint32_t expected[ADDRESSES]; /* id, or NO_ROUTE */
	alignas(RTE_CACHE_LINE_SIZE) uint8_t qsbr[4096];
} t;

static uint32_t
mask_of(uint8_t depth)
{
	return depth == 0 ? 0 : UINT32_MAX << (32 - depth);
}

/* Adds a route, unless the prefix has one. */
static void
route(uint32_t address, uint8_t depth, uint32_t id)
{
	const uint32_t prefix = address & mask_of(depth);

	for (unsigned int i = 0; i < t.nb_routes; i++)
		if (t.routes[i].prefix == prefix && t.routes[i].depth == depth)
			return;
	assert_true(t.nb_routes < ROUTES_MAX);
	t.routes[t.nb_routes++] = (struct route){ prefix, depth, id };
}

static uint32_t
search(uint32_t address)
{
	uint32_t id = NO_ROUTE;
	int best = -1;

	for (unsigned int i = 0; i < t.nb_routes; i++) {
		const struct route *r = &t.routes[i];

		if (r->depth > best && (address & mask_of(r->depth)) == r->prefix) {
			best = r->depth;
			id = r->id;
		}
	}
	return id;
}

static void
tables_none(uint64_t *seed)
{
	RTE_SET_USED(seed);
}

static void
tables_default_only(uint64_t *seed)
{
	RTE_SET_USED(seed);
	route(0, 0, 0);
}

/* Prefixes of all depths of a few addresses, nested in each other. */
static void
tables_nested(uint64_t *seed)
{
	static const uint32_t of[] = { IP4(10, 255, 170, 85), 0, UINT32_MAX, 0x80000000 };

	RTE_SET_USED(seed);
	for (size_t i = 0; i < RTE_DIM(of); i++)
		for (uint8_t depth = 1; depth <= 32; depth++)
			route(of[i], depth, (uint32_t)(i * 100 + depth));
}

static void
tables_nested_in_default(uint64_t *seed)
{
	tables_nested(seed);
	route(0, 0, 65535);
}

/* Every second one of a row of prefixes of the same depth, so that each has bare neighbours. */
static void
tables_neighbours(uint64_t *seed)
{
	RTE_SET_USED(seed);
	for (uint8_t depth = 16; depth <= 32; depth++)
		for (uint32_t i = 0; i < 64; i += 2)
			route(((uint32_t)depth << 24) + (i << (32 - depth)), depth, i);
}

/* Groups of long prefixes, in neighbouring /24s, with and without a /24 around them. */
static void
tables_long(uint64_t *seed)
{
	for (uint32_t block = 0; block < 64; block++) {
		const uint32_t net = IP4(172, 16, block, 0);

		if (block % 3 == 0)
			route(net, 24, 1000 + block);
		for (int i = 0; i < 16; i++)
			route(net + rnd(seed) % 256, (uint8_t)(25 + rnd(seed) % 8),
				rnd(seed) % 65536);
	}
}

static void
tables_random(uint64_t *seed)
{
	for (int i = 0; i < 1500; i++)
		route(rnd(seed), (uint8_t)(1 + rnd(seed) % 32), rnd(seed) % 65536);
}

static void
tables_random_in_default(uint64_t *seed)
{
	tables_random(seed);
	route(0, 0, 0);
}

/* Ids at the ends of what an entry can hold, and of what a 16-bit one could. */
static void
tables_extreme_ids(uint64_t *seed)
{
	static const uint32_t ids[] = { 0, 1, 0xff, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xfffffe,
		0xffffff };

	RTE_SET_USED(seed);
	route(0, 0, 0xffffff);
	for (size_t i = 0; i < RTE_DIM(ids); i++) {
		route(IP4(20 + i, 0, 0, 0), 8, ids[i]);
		route(IP4(20 + i, 1, 2, 128), 25, ids[RTE_DIM(ids) - 1 - i]);
		route(IP4(20 + i, 1, 2, 3), 32, ids[i]);
	}
}

static void (*const tables[])(uint64_t *seed) = { tables_none, tables_default_only, tables_nested,
	tables_nested_in_default, tables_neighbours, tables_long, tables_random,
	tables_random_in_default, tables_extreme_ids };

/* Into the table as it is, for ids that are more than there is memory for next hops. */
static void
table_fill(void)
{
	for (unsigned int i = 0; i < t.nb_routes; i++) {
		const struct route *r = &t.routes[i];

		if (r->depth == 0)
			assert_int_equal(t.fib->engine->change_default(t.fib,
						 RTE_LPM_LOOKUP_SUCCESS | r->id),
				0);
		else
			assert_int_equal(t.fib->engine->change(t.fib, r->prefix, r->depth, r->id),
				0);
	}
}

/* Addresses at and beside the ends of every prefix; the rest at random, in prefixes or not. */
static void
addresses_choose(uint64_t *seed)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t.nb_routes && n + 4 <= ADDRESSES; i++) {
		const uint32_t last = t.routes[i].prefix | ~mask_of(t.routes[i].depth);

		t.address[n++] = t.routes[i].prefix;
		t.address[n++] = t.routes[i].prefix - 1;
		t.address[n++] = last;
		t.address[n++] = last + 1;
	}
	for (; n < ADDRESSES; n++) {
		t.address[n] = rnd(seed);
		if (n % 2 == 0 && t.nb_routes > 0) {
			const struct route *r = &t.routes[rnd(seed) % t.nb_routes];

			t.address[n] = r->prefix | (t.address[n] & ~mask_of(r->depth));
		}
	}
	for (n = 0; n < ADDRESSES; n++)
		t.expected[n] = search(t.address[n]);
}

/* The routes, and where addresses are to be led by them. */
static void
routes_make(unsigned int which, uint64_t *seed)
{
	t.nb_routes = 0;
	tables[which](seed);
	addresses_choose(seed);
}

/* A table of the routes, with the narrowest entries that hold their ids. */
static void
table_make(enum hy_ip4_engine engine)
{
	struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = ROUTES_MAX,
		.max_tbl8s = 1024,
		.socket = SOCKET_ID_ANY,
		.qsbr = (struct rte_rcu_qsbr *)t.qsbr };

	rte_rcu_qsbr_init(params.qsbr, 1);
	for (unsigned int i = 0; i < t.nb_routes; i++)
		params.max_next_hops = RTE_MAX(params.max_next_hops, t.routes[i].id + 1);
	assert_int_equal(hy_ip4_fib_create("lookup", &params, &t.fib), 0);
	table_fill();
}

static void
table_free(void)
{
	hy_ip4_fib_destroy(t.fib);
	t.fib = NULL;
}

/* EAL's default width does not allow it; the HAL raises it. */
static bool
fib_avx512_runs(void)
{
#ifdef RTE_ARCH_X86_64
	return has_avx512() && rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512) == 0;
#else
	return false;
#endif
}

/* The variants, by name, and whether this CPU can run them, whatever width EAL allows. */
static const struct variant {
	const char *name;
	hy_ip4_lookup_kernel_t *kernel;
	bool (*runs)(void);
	enum hy_ip4_engine engine;
} variants[] = {
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_ip4_lookup_avx2, has_avx2, HY_IP4_LPM },
	{ "avx512", hy_ip4_lookup_avx512, has_avx512, HY_IP4_LPM },
#endif
	{ "fib", hy_ip4_lookup_fib, always, HY_IP4_FIB },
#ifdef RTE_ARCH_X86_64
	{ "fib_avx512", hy_ip4_lookup_fib_avx512, fib_avx512_runs, HY_IP4_FIB_AVX512 },
#elif defined(RTE_ARCH_ARM64)
	{ "neon", hy_ip4_lookup_neon, always, HY_IP4_LPM },
#endif
	{ "scalar", hy_ip4_lookup_scalar, always, HY_IP4_LPM },
	{ "x4", hy_ip4_lookup_x4, always, HY_IP4_LPM },
};

/* Looks n addresses up, from the first-th on; each array starts at some element of a longer one. */
static void
lookups_check(const struct variant *v, unsigned int first, uint32_t n)
{
	static uint32_t route_room[2 * AROUND + HY_BURST_MAX + 32];
	static uint16_t next_room[2 * AROUND + HY_BURST_MAX + 32];
	uint32_t *ids = route_room + AROUND + n % 17;
	uint16_t *next = next_room + AROUND + n % 31;

	memset(route_room, 0xc3, sizeof(route_room));
	memset(next_room, 0xc3, sizeof(next_room));
	for (uint32_t i = 0; i < n; i++)
		ids[i] = t.address[(first + i) % ADDRESSES];
	v->kernel(hy_ip4_fib_view(t.fib), ids, next, n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t expected = t.expected[(first + i) % ADDRESSES];
		const bool hit = expected != NO_ROUTE;

		if (ids[i] != (hit ? expected : 0) ||
			next[i] !=
				(hit ? HY_IP4_LOOKUP_NEXT_REWRITE
				     : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE)))
			fail_msg("%s: address %u of %u, 0x%08x: id %u and next %d; the id is %d",
				v->name, i, n, t.address[(first + i) % ADDRESSES], ids[i],
				(int16_t)next[i], (int)expected);
	}
	for (uint32_t *at = route_room; at < route_room + RTE_DIM(route_room); at++)
		if ((at < ids || at >= ids + n) && *at != 0xc3c3c3c3)
			fail_msg("%s: %td beside %u ids is written", v->name, at - ids, n);
	for (uint16_t *at = next_room; at < next_room + RTE_DIM(next_room); at++)
		if ((at < next || at >= next + n) && *at != 0xc3c3)
			fail_msg("%s: %td beside %u nexts is written", v->name, at - next, n);
}

/* All sizes of bursts with one variant; returns how many addresses that were. */
static unsigned int
variant_check(const struct variant *v)
{
	unsigned int first = 0;

	if (!v->runs())
		return 0;
	for (int pass = 0; pass < 4; pass++)
		for (uint32_t n = 0; n <= HY_BURST_MAX; first += n, n++)
			lookups_check(v, first, n);
	return first;
}

static void
every_variant_finds_the_longest_prefix_in_every_table(void **state)
{
	unsigned int per_variant[RTE_DIM(variants)] = { 0 }, hits = 0, misses = 0;
	uint64_t seed = 3;

	RTE_SET_USED(state);
	for (unsigned int table = 0; table < RTE_DIM(tables); table++) {
		routes_make(table, &seed);
		for (unsigned int a = 0; a < ADDRESSES; a++)
			*(t.expected[a] == NO_ROUTE ? &misses : &hits) += 1;
		for (unsigned int e = HY_IP4_LPM; e <= HY_IP4_FIB_AVX512; e++) {
			if (e == HY_IP4_FIB_AVX512 && !fib_avx512_runs())
				continue;
			table_make(e);
			for (size_t v = 0; v < RTE_DIM(variants); v++)
				if (variants[v].engine == e)
					per_variant[v] += variant_check(&variants[v]);
			table_free();
		}
	}
	assert_true(hits > ADDRESSES && misses > ADDRESSES);
	for (size_t v = 0; v < RTE_DIM(variants); v++)
		assert_int_equal(per_variant[v], variants[v].runs() ? 9 * 4 * 256 * 257 / 2 : 0);
	assert_true(per_variant[RTE_DIM(variants) - 1] >= 1000000);
}

static void
one_lookup_agrees_with_the_nodes(void **state)
{
	unsigned int compared = 0;
	uint64_t seed = 4;

	RTE_SET_USED(state);
	for (unsigned int table = 0; table < RTE_DIM(tables); table++) {
		routes_make(table, &seed);
		for (unsigned int e = HY_IP4_LPM; e <= HY_IP4_FIB; e++) {
			table_make(e);
			for (unsigned int a = 0; a < ADDRESSES; a++, compared++) {
				uint32_t id = NO_ROUTE;
				const int rc = hy_ip4_lookup(t.fib, t.address[a], &id);

				assert_int_equal(rc, t.expected[a] == NO_ROUTE ? -ENOENT : 0);
				if (rc == 0)
					assert_int_equal(id, t.expected[a]);
			}
			table_free();
		}
	}
	assert_int_equal(compared, 9 * 2 * ADDRESSES);
}

static void
every_variant_of_the_family_is_tested_here(void **state)
{
	const struct hy_variant *const *declared;
	const unsigned int n = hy_variants(hy_family_find("ip4_lookup"), &declared);

	RTE_SET_USED(state);
	assert_int_equal(n, RTE_DIM(variants));
	for (unsigned int i = 0; i < n; i++) {
		assert_string_equal(declared[i]->impl.variant, variants[i].name);
		assert_int_equal(hy_ip4_engine_of(variants[i].name), variants[i].engine);
	}
}

static int
lookup_teardown(void **state)
{
	table_free();
	return node_teardown(state);
}

#define LOOKUP_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, lookup_teardown)

static const struct CMUnitTest node_lookup_tests[] = {
	LOOKUP_TEST(every_variant_finds_the_longest_prefix_in_every_table),
	LOOKUP_TEST(one_lookup_agrees_with_the_nodes),
	LOOKUP_TEST(every_variant_of_the_family_is_tested_here),
};

UNIT_SUITE(node_lookup_tests)
