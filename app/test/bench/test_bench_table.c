/* SPDX-License-Identifier: BSD-3-Clause */
/* The l3fwd benchmark's tables, and the search that its contenders' lookups must agree with. */

#include <string.h>

#include "app/bench/fibs6.h"
#include "app/bench/l3fwd.h"

#include "app/test/unit.h"

#define PORTS 2

/* Longest prefixes, of nested ones, and a table without a default route. */
static void
search_finds_the_longest_prefix(void **state)
{
	static const struct {
		uint32_t prefix;
		uint8_t depth, hop;
	} routes[] = { { IP4(10, 0, 0, 0), 8, 1 }, { IP4(10, 1, 0, 0), 16, 2 },
		{ IP4(10, 1, 2, 3), 32, 3 } };
	struct bench_route list[RTE_DIM(routes)];
	const struct l3fwd_table nested = { .routes = list, .n = RTE_DIM(routes) };

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(routes); i++)
		list[i] = (struct bench_route){
			.prefix = routes[i].prefix, .depth = routes[i].depth, .hop = routes[i].hop
		};
	assert_int_equal(table_hop(&nested, IP4(10, 2, 0, 0)), 1);
	assert_int_equal(table_hop(&nested, IP4(10, 1, 2, 2)), 2);
	assert_int_equal(table_hop(&nested, IP4(10, 1, 2, 3)), 3);
	assert_int_equal(table_hop(&nested, IP4(11, 0, 0, 0)), HOP_NONE);
}

static void
made_up_table_has_routes_that_packets_are_forwarded_by(void **state)
{
	struct l3fwd_table *large = table_full(NULL, PORTS);
	unsigned int checked = 0;

	RTE_SET_USED(state);
	assert_in_range(large->n, 130000, 172620);
	for (uint32_t i = 0; i < large->n; i++, checked++) {
		const struct bench_route *r = &large->routes[i];

		assert_int_equal(r->prefix & ((UINT64_C(1) << (32 - r->depth)) - 1), 0);
		assert_true(hop_port(r->hop) < PORTS);
		assert_in_range(r->prefix >> 24, 1, 223);
		assert_int_not_equal(r->prefix >> 24, 127);
		assert_true(i == 0 || r[-1].prefix < r->prefix ||
			(r[-1].prefix == r->prefix && r[-1].depth < r->depth));
	}
	assert_int_equal(checked, large->n);
	table_free(large);
}

/* Nested prefixes, one beside them that the search meets first, and a gap. */
static void
search_finds_the_longest_ip6_prefix(void **state)
{
	struct hy_ip6_route list[] = {
		{ { 0x20, 0x01 }, 16, 1 },
		{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, 2 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1 }, 64, 3 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 9 }, 128, 4 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 2 }, 64, 5 },
		{ { 0x20, 0x02 }, 16, 6 },
	};
	static const struct {
		uint8_t address[HY_IP6_BYTES];
		uint32_t hop;
	} cases[] = {
		{ { 0x20, 0x01, 0xff }, 1 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 3 }, 2 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 8 }, 3 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 9 }, 4 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 10 }, 3 },
		{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 2, 0xff }, 5 },
		{ { 0x20, 0x02, 0xff }, 6 },
		{ { 0x20, 0x03 }, HOP_NONE },
		{ { 0x20, 0x00, 0xff }, HOP_NONE },
	};
	const struct l3fwd_table nested = { .routes6 = list, .n6 = RTE_DIM(list) };

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(table_hop6(&nested, cases[i].address), cases[i].hop);
}

static void
made_up_ip6_table_has_routes_that_packets_are_forwarded_by(void **state)
{
	struct l3fwd_table *large = table_eight(TABLE_EIGHT, PORTS);
	unsigned int longer = 0;

	RTE_SET_USED(state);
	assert_int_equal(table_full6(large, NULL), 0);
	assert_in_range(large->n6, 70000, 73723);
	for (uint32_t i = 0; i < large->n6; i++) {
		const struct hy_ip6_route *r = &large->routes6[i];
		struct hy_ip6_route cut = *r;
		uint8_t address[HY_IP6_BYTES];

		bench_cut6(cut.prefix, cut.depth);
		assert_int_equal(hy_ip6_route_order(&cut, r), 0);
		assert_true(hop_port(r->next_hop) < PORTS);
		assert_in_range(r->prefix[0], 0x20, 0x2f);
		assert_true(i == 0 || hy_ip6_route_order(&r[-1], r) < 0);
		longer += r->depth > 32;
		fib6_address(r, address);
		memcpy(cut.prefix, address, sizeof(address));
		bench_cut6(cut.prefix, cut.depth);
		assert_int_equal(hy_ip6_route_order(&cut, r), 0);
	}
	assert_in_range(longer, 15000, 25000);
	table_free(large);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(search_finds_the_longest_ip6_prefix),
	cmocka_unit_test(made_up_ip6_table_has_routes_that_packets_are_forwarded_by),
	cmocka_unit_test(search_finds_the_longest_prefix),
	cmocka_unit_test(made_up_table_has_routes_that_packets_are_forwarded_by),
};
UNIT_SUITE(tests)
