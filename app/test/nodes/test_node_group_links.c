/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups whose ports go down and come up. */

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "group_fixture.h"

static struct group_seen home, seen;
static struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];

static void
link_set(uint16_t port, bool up)
{
	assert_int_equal(hy_ip4_port_link(group_fib, port, up), 0);
}

static bool
is_down(uint32_t down, uint32_t next_hop)
{
	return (down >> next_hop % GROUP_PORTS & 1) != 0;
}

/* With these ports down: who is up has its own flows and a share of the others', by weight. */
static void
check(uint32_t id, unsigned int n, uint32_t down, double error)
{
	struct hy_ip4_member ups[HY_IP4_GROUP_MEMBERS];
	struct hy_ip4_group group;
	unsigned int nb_ups = 0;

	group_see(id, &seen);
	assert_int_equal(hy_ip4_group_get(group_fib, id, &group), 0);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(group.up[i], !is_down(down, members[i].next_hop));
		assert_int_equal(group.buckets[i], group_count(&seen, members[i].next_hop));
		if (!is_down(down, members[i].next_hop))
			ups[nb_ups++] = members[i];
	}
	for (uint32_t b = 0; b < seen.n; b++)
		if ((nb_ups == 0 || !is_down(down, home.member[b])) &&
			seen.member[b] != home.member[b])
			fail_msg("bucket %u left %u for %u, though its port is up", b,
				home.member[b], seen.member[b]);
	if (nb_ups > 0)
		group_assert_shares(&seen, ups, nb_ups, error);
}

static void
others_stand_in_for_a_port_that_is_down(void **state)
{
	uint64_t seed = 1;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int n = 1; n <= HY_IP4_GROUP_MEMBERS; n++) {
		uint32_t id;

		group_members(members, n, 0, n % 2 == 0 ? 5 : 1, &seed);
		id = group_create(members, n, HY_IP4_NO_ID);
		group_see(id, &home);
		for (uint16_t p = 0; p < RTE_MIN(n, (unsigned int)GROUP_PORTS); p++) {
			link_set(p, false);
			check(id, n, 1u << p, 1.5);
			link_set(p, true);
			check(id, n, 0, 1);
		}
		assert_int_equal(hy_ip4_group_delete(group_fib, id), 0);
	}
}

/* Any ports, in any order, with groups that change meanwhile. */
static void
links_flap_in_any_order(void **state)
{
	unsigned int none_up = 0, all_up = 0;
	uint32_t id, other, down = 0;
	uint64_t seed = 2;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	group_members(members, 16, 0, 1, &seed);
	id = group_create(members, 16, HY_IP4_NO_ID);
	other = group_create(members, 5, HY_IP4_NO_ID);
	group_see(id, &home);
	for (unsigned int i = 0; i < 3000; i++) {
		const uint16_t port = (uint16_t)(rnd(&seed) % GROUP_PORTS);

		/* Sooner or later, all are down, and all up. */
		if (i / 64 % 3 == 0 ? (down >> port & 1) != 0
				    : i / 64 % 3 == 1 && (down >> port & 1) == 0)
			continue;
		down ^= 1u << port;
		link_set(port, (down >> port & 1) == 0);
		none_up += down == (1u << GROUP_PORTS) - 1;
		all_up += down == 0;
		check(id, 16, down, 2);
		if (i % 16 == 0)
			assert_int_equal(hy_ip4_group_set(group_fib, other, members + i % 3, 5), 0);
	}
	assert_true(none_up > 0 && all_up > 0);
	for (uint16_t p = 0; p < GROUP_PORTS; p++)
		link_set(p, true);
	check(id, 16, 0, 1);
}

static void
a_group_is_made_while_ports_are_down(void **state)
{
	uint64_t seed = 3;
	uint32_t id;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	group_members(members, 8, 0, 3, &seed);
	link_set(2, false);
	id = group_create(members, 8, HY_IP4_NO_ID);
	group_see(id, &seen);
	assert_int_equal(group_count(&seen, 2), 0);
	link_set(2, true);
	group_see(id, &home);
	group_assert_shares(&home, members, 8, 1);
	/* A member is replaced by one whose port is down, as another's is. */
	link_set(1, false);
	link_set(3, false);
	members[0].next_hop = 9;
	assert_int_equal(hy_ip4_group_set(group_fib, id, members, 8), 0);
	for (uint32_t b = 0; b < home.n; b++)
		if (home.member[b] == 0)
			home.member[b] = 9;
	check(id, 8, 1u << 1 | 1u << 3, 2);
	link_set(1, true);
	link_set(3, true);
	check(id, 8, 0, 1);
}

static void
a_next_hop_moves_to_a_port_that_is_down(void **state)
{
	struct hy_ip4_next_hop hop;
	uint64_t seed = 4;
	uint32_t id;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	group_members(members, 4, 0, 1, &seed);
	id = group_create(members, 4, HY_IP4_NO_ID);
	group_see(id, &home);
	link_set(7, false);
	assert_int_equal(hy_ip4_next_hop_get(group_fib, 2, &hop, NULL), 0);
	hop.port = 7;
	assert_int_equal(hy_ip4_next_hop_set(group_fib, 2, &hop), 0);
	group_see(id, &seen);
	assert_int_equal(group_count(&seen, 2), 0);
	link_set(7, true);
	check(id, 4, 0, 1);
}

#define BIG_GROUPS 32

/* CPU time of a port's way down and up again, in ns: the shortest of some. */
static uint64_t
flap_ns(uint16_t port)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 8; i++) {
		struct timespec from, to;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		link_set(port, false);
		link_set(port, true);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		least = RTE_MIN(least,
			(uint64_t)(to.tv_sec - from.tv_sec) * NS_PER_S + (uint64_t)to.tv_nsec -
				(uint64_t)from.tv_nsec);
	}
	return least;
}

/* Buckets of groups that have no member on it are not dealt out anew. */
static void
a_port_costs_little_where_no_group_has_a_member_on_it(void **state)
{
	uint64_t seed = 5, with, without;
	unsigned int n = 0;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (uint32_t i = 0; i < GROUP_HOPS && n < RTE_DIM(members); i++)
		if (i % GROUP_PORTS != 7)
			members[n++] = (struct hy_ip4_member){ .next_hop = i,
				.weight = 1 + rnd(&seed) % 4 };
	for (unsigned int i = 0; i < BIG_GROUPS; i++)
		group_see(group_create(members, n, HY_IP4_NO_ID), &home);
	with = flap_ns(0);
	without = flap_ns(7);
	if (without > with / 8)
		fail_msg("%" PRIu64 " ns, of a port with members %" PRIu64, without, with);
}

static void
a_port_that_the_table_lacks_is_refused(void **state)
{
	RTE_SET_USED(state);
	group_table(NULL, 1024);
	assert_int_equal(hy_ip4_port_link(group_fib, GROUP_PORTS, false), -ENODEV);
	assert_int_equal(hy_ip4_port_link(group_fib, HY_IP4_PORTS, false), -ENODEV);
	assert_int_equal(hy_ip4_port_link(group_fib, UINT16_MAX, true), -ENODEV);
}

static const struct CMUnitTest node_group_links_tests[] = {
	GROUP_TEST(others_stand_in_for_a_port_that_is_down),
	GROUP_TEST(links_flap_in_any_order),
	GROUP_TEST(a_group_is_made_while_ports_are_down),
	GROUP_TEST(a_next_hop_moves_to_a_port_that_is_down),
	GROUP_TEST(a_port_costs_little_where_no_group_has_a_member_on_it),
	GROUP_TEST(a_port_that_the_table_lacks_is_refused),
};

UNIT_SUITE(node_group_links_tests)
