/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip6_lookup: every variant against a search through the list of routes that knows nothing of tries;
 * and all prefixes of a real table, against a search by length that is fast enough for it.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <hy_ip6_lookup.h>

#include "drivers/nodes/generic/ip6/ip6_lookup_kernels.h"
#include "hal/internal/hal.h"
#include "ip6_fixture.h"

#define ROUTES_MAX 2048
#define ADDRESSES 4096
#define HOPS 512
#define AROUND 40 /* elements before and behind the arrays that must stay as they are */

static struct {
	struct hy_ip6_route routes[ROUTES_MAX];
	uint32_t nb_routes;
	uint8_t address[ADDRESSES][HY_IP6_BYTES];
	uint32_t expected[ADDRESSES]; /* id plus 1, or 0 */
} t;

static const struct variant {
	const char *name;
	hy_ip6_lookup_kernel_t *kernel;
} variants[] = {
	{ "batch", hy_ip6_lookup_batch },
	{ "scalar", hy_ip6_lookup_scalar },
};

static void
cut(struct hy_ip6_route *route)
{
	for (unsigned int bit = route->depth; bit < 128; bit++)
		route->prefix[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

/* Adds a route, unless the prefix has one. */
static void
route_add(const uint8_t *address, unsigned int depth, uint32_t id)
{
	struct hy_ip6_route route = { .depth = (uint8_t)depth, .next_hop = id };

	memcpy(route.prefix, address, HY_IP6_BYTES);
	cut(&route);
	for (uint32_t i = 0; i < t.nb_routes; i++)
		if (hy_ip6_route_order(&t.routes[i], &route) == 0)
			return;
	assert_true(t.nb_routes < ROUTES_MAX);
	t.routes[t.nb_routes++] = route;
}

static void
bytes(uint8_t *to, uint64_t *seed)
{
	for (unsigned int b = 0; b < HY_IP6_BYTES; b++)
		to[b] = (uint8_t)rnd(seed);
}

static void
routes_one(uint64_t *seed)
{
	RTE_SET_USED(seed);
	route_add((const uint8_t[HY_IP6_BYTES]){ 0x20, 1 }, 16, 3);
}

static void
routes_default(uint64_t *seed)
{
	RTE_SET_USED(seed);
	route_add((const uint8_t[HY_IP6_BYTES]){ 0 }, 0, 0);
}

/* Prefixes of all depths of a few addresses, nested in each other. */
static void
routes_nested(uint64_t *seed)
{
	uint8_t of[4][HY_IP6_BYTES] = { { 0 } };

	memset(of[1], 0xff, HY_IP6_BYTES);
	bytes(of[2], seed);
	bytes(of[3], seed);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int depth = 1; depth <= 128; depth++)
			route_add(of[i], depth, i * 128 + depth - 1);
}

static void
routes_nested_in_default(uint64_t *seed)
{
	routes_nested(seed);
	routes_default(seed);
}

/* Every second one of a row of prefixes of the same depth, so that each has bare neighbours. */
static void
routes_neighbours(uint64_t *seed)
{
	for (unsigned int depth = 9; depth <= 128; depth += 7) {
		uint8_t address[HY_IP6_BYTES];

		bytes(address, seed);
		for (unsigned int i = 0; i < 32; i += 2) {
			address[(depth - 1) / 8] = (uint8_t)(i << (8 - (depth - 1) % 8 - 1));
			route_add(address, depth, i);
		}
	}
}

/* All bytes of one node, and of one below it. */
static void
routes_full_nodes(uint64_t *seed)
{
	uint8_t address[HY_IP6_BYTES] = { 0x20, 0x01, 0x0d };

	for (unsigned int i = 0; i < 256; i++) {
		address[3] = (uint8_t)i;
		route_add(address, 32, rnd(seed) % HOPS);
		address[3] = 0xb8;
		address[4] = (uint8_t)i;
		route_add(address, 40, rnd(seed) % HOPS);
		address[4] = 0;
	}
}

/* Depths as in the Internet, few first bits, few next hops. */
static void
routes_random(uint64_t *seed)
{
	static const uint8_t depths[] = { 12, 19, 20, 28, 29, 32, 36, 40, 44, 46, 47, 48, 48, 56,
		64, 96, 127, 128 };
	uint8_t address[HY_IP6_BYTES];

	for (unsigned int i = 0; i < 1000; i++) {
		if (i % 4 == 0)
			bytes(address, seed);
		address[0] = (uint8_t)(0x20 | (address[0] & 0x0f));
		address[rnd(seed) % HY_IP6_BYTES] = (uint8_t)rnd(seed);
		route_add(address, depths[rnd(seed) % RTE_DIM(depths)], rnd(seed) % 5);
	}
}

/* Far below two windows, 32 neighbours that one has no room for; few beside them that one has. */
static void
routes_far_apart(uint64_t *seed)
{
	uint8_t address[HY_IP6_BYTES] = { 0x20, 0x01, 0x0d, 0xb8 };

	for (unsigned int i = 0; i < 64; i++) {
		address[6] = (uint8_t)(i % 2);
		address[9] = (uint8_t)(0x50 + i % 2);
		address[i % 2 == 0 ? 7 : 15] = (uint8_t)i;
		route_add(address, i % 2 == 0 ? 64 : 128, rnd(seed) % HOPS);
		route_add(address, i % 2 == 0 ? 128 : 80, rnd(seed) % HOPS);
	}
}

static void (*const tables[])(uint64_t *seed) = { routes_one, routes_default, routes_nested,
	routes_nested_in_default, routes_neighbours, routes_full_nodes, routes_far_apart,
	routes_random };

/* Addresses at and beside the ends of every prefix; the rest at random, in prefixes or not. */
static void
addresses_choose(uint64_t *seed)
{
	for (unsigned int a = 0; a < ADDRESSES; a++) {
		const struct hy_ip6_route *r = &t.routes[a / 4 % t.nb_routes];
		const uint32_t wanted = rnd(seed);
		uint8_t *to = t.address[a];
		uint32_t found;

		bytes(to, seed);
		for (unsigned int bit = 0; bit < 128 && a % 8 != 7; bit++) {
			const uint8_t mask = (uint8_t)(0x80 >> bit % 8);
			bool one = (to[bit / 8] & mask) != 0;

			if (bit < r->depth)
				one = (r->prefix[bit / 8] & mask) != 0;
			else if (a % 4 < 2) /* first and last of the prefix */
				one = a % 4 == 1;
			to[bit / 8] = (uint8_t)(one ? to[bit / 8] | mask : to[bit / 8] & ~mask);
		}
		if (a % 4 == 3 && r->depth > 0) /* outside by one bit */
			to[wanted % r->depth / 8] ^= (uint8_t)(0x80 >> wanted % r->depth % 8);
		found = ip6_search(t.routes, t.nb_routes, to);
		t.expected[a] = found == t.nb_routes ? 0 : t.routes[found].next_hop + 1;
	}
}

/* Looks n addresses up, from the first-th on; each array starts at some element of a longer one. */
static void
lookups_check(const struct variant *v, unsigned int first, uint32_t n)
{
	static uint32_t route_room[2 * AROUND + HY_BURST_MAX + 32];
	static uint16_t next_room[2 * AROUND + HY_BURST_MAX + 32];
	const uint8_t *dst[HY_BURST_MAX];
	uint32_t *ids = route_room + AROUND + n % 17;
	uint16_t *next = next_room + AROUND + n % 31;

	memset(route_room, 0xc3, sizeof(route_room));
	memset(next_room, 0xc3, sizeof(next_room));
	for (uint32_t i = 0; i < n; i++)
		dst[i] = t.address[(first + i) % ADDRESSES];
	v->kernel(hy_ip6_trie(hy_ip6_fib_view(fib6)), dst, ids, next, n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t expected = t.expected[(first + i) % ADDRESSES];

		if (ids[i] != (expected == 0 ? 0 : expected - 1) ||
			next[i] !=
				(expected != 0 ? HY_IP6_LOOKUP_NEXT_REWRITE
					       : HY_DROP(HY_IP6_LOOKUP_NO_ROUTE)))
			fail_msg("%s: address %u of %u: id %u and next %d; the id is %d", v->name,
				i, n, ids[i], (int16_t)next[i], (int)expected - 1);
	}
	for (uint32_t *at = route_room; at < route_room + RTE_DIM(route_room); at++)
		if ((at < ids || at >= ids + n) && *at != 0xc3c3c3c3)
			fail_msg("%s: %td beside %u ids is written", v->name, at - ids, n);
	for (uint16_t *at = next_room; at < next_room + RTE_DIM(next_room); at++)
		if ((at < next || at >= next + n) && *at != 0xc3c3)
			fail_msg("%s: %td beside %u nexts is written", v->name, at - next, n);
}

/* Nodes by kind that addresses pass. */
struct passed {
	unsigned int bytes, first_half, second_half; /* the latter two are windows */
	unsigned int after_windows;                  /* bytes' nodes below a window */
};

static void
nodes_count(const uint8_t *address, struct passed *passed)
{
	const struct hy_ip6_trie *trie = hy_ip6_trie(hy_ip6_fib_view(fib6));
	uint32_t entry = hy_ip6_first(trie, address);
	bool below = false;

	while ((entry & HY_IP6_NODE) != 0) {
		const void *node = hy_ip6_node(trie, entry);
		const struct hy_ip6_window *window = node;

		if ((entry & HY_IP6_WINDOW) != 0) {
			*(window->at == 0 ? &passed->first_half : &passed->second_half) += 1;
			below = true;
			entry = hy_ip6_look(window, address);
		} else {
			passed->bytes++;
			passed->after_windows += below;
			entry = hy_ip6_entry(trie, node, address[hy_ip6_byte(entry)]);
		}
	}
}

static void
every_variant_finds_the_longest_prefix_in_every_ip6_table(void **state)
{
	unsigned int looked_up[RTE_DIM(variants)] = { 0 }, hits = 0, misses = 0;
	struct passed passed = { 0 };
	uint64_t seed = 5;

	RTE_SET_USED(state);
	ip6_tables(HOPS);
	for (unsigned int table = 0; table < RTE_DIM(tables); table++) {
		t.nb_routes = 0;
		tables[table](&seed);
		addresses_choose(&seed);
		for (unsigned int a = 0; a < ADDRESSES; a++)
			*(t.expected[a] == 0 ? &misses : &hits) += 1;
		assert_int_equal(hy_ip6_routes_set(fib6, t.routes, t.nb_routes, NULL), 0);
		for (unsigned int a = 0; a < ADDRESSES; a++)
			nodes_count(t.address[a], &passed);
		for (size_t v = 0; v < RTE_DIM(variants); v++)
			for (int pass = 0; pass < 5; pass++)
				for (uint32_t n = 1; n <= HY_BURST_MAX; n++) {
					lookups_check(&variants[v], looked_up[v], n);
					looked_up[v] += n;
				}
	}
	assert_true(hits > ADDRESSES && misses > ADDRESSES / 2);
	assert_true(passed.bytes > 1000 && passed.after_windows > 100);
	assert_true(passed.first_half > 1000 && passed.second_half > 1000);
	for (size_t v = 0; v < RTE_DIM(variants); v++)
		assert_true(looked_up[v] >= 1000000);
}

static void
one_ip6_lookup_agrees_with_the_nodes(void **state)
{
	uint64_t seed = 6;

	RTE_SET_USED(state);
	ip6_tables(HOPS);
	t.nb_routes = 0;
	routes_random(&seed);
	addresses_choose(&seed);
	assert_int_equal(hy_ip6_routes_set(fib6, t.routes, t.nb_routes, NULL), 0);
	for (unsigned int a = 0; a < ADDRESSES; a++) {
		const uint32_t at = ip6_search(t.routes, t.nb_routes, t.address[a]);
		struct hy_ip4_next_hop hop;
		struct hy_ip6_route route;
		uint32_t id;

		if (t.expected[a] == 0) {
			assert_int_equal(hy_ip6_lookup(fib6, t.address[a], &id), -ENOENT);
			assert_int_equal(hy_ip6_route_lookup(fib6, t.address[a], &route, &hop),
				-ENOENT);
			continue;
		}
		assert_int_equal(hy_ip6_lookup(fib6, t.address[a], &id), 0);
		assert_int_equal(id + 1, t.expected[a]);
		assert_int_equal(hy_ip6_route_lookup(fib6, t.address[a], &route, &hop), 0);
		assert_int_equal(hy_ip6_route_order(&route, &t.routes[at]), 0);
		assert_int_equal(hop.port, id % 2);
	}
}

static void
every_variant_of_ip6_lookup_is_tested_here(void **state)
{
	const struct hy_variant *const *declared;
	const unsigned int n = hy_variants(hy_family_find("ip6_lookup"), &declared);

	RTE_SET_USED(state);
	assert_int_equal(n, RTE_DIM(variants));
	for (unsigned int i = 0; i < n; i++)
		assert_string_equal(declared[i]->impl.variant, variants[i].name);
}

/* A real table: as many routes as it has, in order of prefix and depth. */
static uint32_t
real_routes(struct hy_ip6_route *routes, uint32_t most)
{
	const char *data = getenv("HALYARD_DATA");
	char command[512], line[128];
	uint32_t n = 0;
	FILE *in;

	if (data == NULL)
		skip();
	snprintf(command, sizeof(command), "xz -dc '%s/routes/ipv6.cidr.xz'", data);
	in = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		assert_true(n < most);
		routes[n] = ip6_route(line, n % HOPS);
		n++;
	}
	assert_int_equal(pclose(in), 0);
	qsort(routes, n, sizeof(*routes), hy_ip6_route_order);
	return n;
}

#define NONE UINT32_MAX

/* The longest route for an address, of this one and those that cover it; or NONE. */
static uint32_t
covering(const struct hy_ip6_route *routes, const uint32_t parent[], uint32_t at,
	const uint8_t *address)
{
	while (at != NONE && !ip6_route_covers(&routes[at], address))
		at = parent[at];
	return at;
}

/* Of sorted routes, finds for each the longest other one that covers it; it comes before. */
static void
parents_find(const struct hy_ip6_route *routes, uint32_t n, uint32_t parent[])
{
	for (uint32_t i = 0; i < n; i++)
		parent[i] = covering(routes, parent, i == 0 ? NONE : i - 1, routes[i].prefix);
}

/* The next hop plus 1 of an address, or 0: no route that follows the address in order covers it. */
static uint32_t
find(const struct hy_ip6_route *routes, const uint32_t parent[], uint32_t n, const uint8_t *address)
{
	struct hy_ip6_route key = { .depth = 128 };
	uint32_t from = 0, to = n, at;

	memcpy(key.prefix, address, HY_IP6_BYTES);
	while (from < to) {
		const uint32_t middle = (from + to) / 2;

		if (hy_ip6_route_order(&routes[middle], &key) <= 0)
			from = middle + 1;
		else
			to = middle;
	}
	at = covering(routes, parent, from == 0 ? NONE : from - 1, address);
	return at == NONE ? 0 : routes[at].next_hop + 1;
}

#define REAL_MOST 100000
#define REAL_LOOKUPS (1 << 20)

static void
every_variant_finds_the_routes_of_the_internet(void **state)
{
	static struct hy_ip6_route routes[REAL_MOST];
	static uint32_t parent[REAL_MOST];
	const uint32_t n = real_routes(routes, REAL_MOST);
	uint64_t seed = 7;
	uint32_t hits = 0;

	RTE_SET_USED(state);
	assert_true(n > 70000);
	parents_find(routes, n, parent);
	ip6_tables(HOPS);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, n, NULL), 0);
	print_message("%u routes take %zu bytes\n", n, hy_ip6_routes_bytes(fib6));
	assert_true(hy_ip6_routes_bytes(fib6) < 24 << 20);
	for (uint32_t done = 0; done < REAL_LOOKUPS; done += HY_BURST_MAX) {
		for (unsigned int a = 0; a < HY_BURST_MAX; a++) {
			const struct hy_ip6_route *r = &routes[(done + a) % n];

			bytes(t.address[a], &seed);
			for (unsigned int bit = 0; bit < r->depth - (a % 8 == 0 ? 4u : 0u); bit++) {
				const uint8_t mask = (uint8_t)(0x80 >> bit % 8);

				t.address[a][bit / 8] = (uint8_t)((t.address[a][bit / 8] & ~mask) |
					(r->prefix[bit / 8] & mask));
			}
			t.expected[a] = find(routes, parent, n, t.address[a]);
			hits += t.expected[a] != 0;
		}
		for (size_t v = 0; v < RTE_DIM(variants); v++)
			lookups_check(&variants[v], 0, HY_BURST_MAX);
	}
	assert_true(hits > REAL_LOOKUPS / 2 && hits < REAL_LOOKUPS);
}

static const struct CMUnitTest ip6_lookup_tests[] = {
	IP6_TEST(every_variant_finds_the_longest_prefix_in_every_ip6_table),
	IP6_TEST(one_ip6_lookup_agrees_with_the_nodes),
	IP6_TEST(every_variant_of_ip6_lookup_is_tested_here),
	IP6_TEST(every_variant_finds_the_routes_of_the_internet),
};

UNIT_SUITE(ip6_lookup_tests)
