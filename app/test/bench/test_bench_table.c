/* SPDX-License-Identifier: BSD-3-Clause */
/* The l3fwd benchmark's tables, and the search that its contenders' lookups must agree with. */

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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(search_finds_the_longest_prefix),
	cmocka_unit_test(made_up_table_has_routes_that_packets_are_forwarded_by),
};
UNIT_SUITE(tests)
