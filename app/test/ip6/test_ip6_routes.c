/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of IPv6 routes: what is refused, what holds next hops, and when memory comes and goes. */

#include <errno.h>
#include <stdalign.h>

#include <rte_rcu_qsbr.h>

#include "ip6_fixture.h"

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static void
assert_leads(const char *address, int next_hop)
{
	uint8_t dst[HY_IP6_BYTES];
	uint32_t id = 0;

	assert_int_equal(inet_pton(AF_INET6, address, dst), 1);
	if (next_hop < 0) {
		assert_int_equal(hy_ip6_lookup(fib6, dst, &id), -ENOENT);
		return;
	}
	assert_int_equal(hy_ip6_lookup(fib6, dst, &id), 0);
	assert_int_equal(id, next_hop);
}

static void
no_memory_is_taken_before_the_first_route(void **state)
{
	const struct hy_ip6_route route = ip6_route("2001:db8::/32", 1);
	unsigned int heap;

	RTE_SET_USED(state);
	ip6_tables(2);
	heap = unit_heap_live();
	assert_int_equal(hy_ip6_routes_bytes(fib6), 0);
	assert_null(hy_ip6_trie(hy_ip6_fib_view(fib6)));
	assert_leads("2001:db8::1", -1);
	assert_int_equal(hy_ip6_routes_set(fib6, &route, 1, NULL), 0);
	assert_int_equal(unit_heap_live(), heap + 1);
	assert_non_null(hy_ip6_trie(hy_ip6_fib_view(fib6)));
	assert_leads("2001:db8::1", 1);
	assert_leads("2001:db9::1", -1);
	assert_int_equal(hy_ip6_routes_set(fib6, NULL, 0, NULL), 0);
	assert_null(hy_ip6_trie(hy_ip6_fib_view(fib6)));
	assert_int_equal(unit_heap_live(), heap);
}

static void
wrong_sets_are_refused_and_change_nothing(void **state)
{
	const struct hy_ip6_route right = ip6_route("2001:db8::/32", 1);
	struct hy_ip6_route routes[3] = { ip6_route("2001:db8::/33", 0), right, right };
	uint32_t at = 99;

	RTE_SET_USED(state);
	ip6_tables(2);
	assert_int_equal(hy_ip6_routes_set(fib6, &right, 1, NULL), 0);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 3, &at), -EEXIST);
	assert_int_equal(at, 2);
	routes[2] = ip6_route("2001:db8:0:1::/47", 0);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 3, &at), -EINVAL);
	assert_int_equal(at, 2);
	routes[2] = ip6_route("2001:db8:0:1::/129", 0);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 3, &at), -EINVAL);
	routes[2] = ip6_route("2001::/16", 2);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 3, &at), -ENOENT);
	assert_int_equal(at, 2);
	assert_int_equal(hy_ip6_routes_get(fib6, routes, 3), 1);
	assert_leads("2001:db8::1", 1);
}

static void
routes_hold_their_next_hops(void **state)
{
	const struct hy_ip6_route routes[] = { ip6_route("2001:db8::/32", 1),
		ip6_route("2001:db8::/48", 1), ip6_route("::/0", 0) };

	RTE_SET_USED(state);
	ip6_tables(3);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 3, NULL), 0);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), -EBUSY);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 1), -EBUSY);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 2), 0);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 1, NULL), 0);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), 0);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 1), -EBUSY);
	assert_int_equal(hy_ip6_routes_set(fib6, NULL, 0, NULL), 0);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 1), 0);
}

/* A group stays until no worker can have found it by a route, and then goes. */
static void
routes_hold_their_groups(void **state)
{
	const struct hy_ip4_member members[] = { { 0, 1 }, { 1, 3 } };
	struct hy_ip6_route routes[] = { ip6_route("2001:db8::/32", 0), ip6_route("::/0", 2) };
	struct hy_ip4_next_hop hop;
	struct hy_ip4_group group;
	struct hy_ip6_route found;
	struct hy_ip6_set *set;
	uint32_t id, at;

	RTE_SET_USED(state);
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	rig_qsbr = &qsbr.v;
	ip6_tables(3);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	assert_int_equal(hy_ip4_group_create(hops6, members, 2, HY_IP4_NO_ID, &id), 0);
	routes[0].next_hop = id;
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 2, NULL), 0);
	assert_leads("2001:db8::1", id);
	assert_int_equal(hy_ip6_route_lookup(fib6, routes[0].prefix, &found, &hop), 0);
	assert_int_equal(found.next_hop, id);
	assert_int_equal(hop.port, HY_IP4_PORT_GROUP);
	assert_true(rte_is_zero_ether_addr(&hop.mac));
	assert_int_equal(hy_ip4_group_get(hops6, id, &group), 0);
	assert_int_equal(group.routes, 0);
	assert_int_equal(group.ip6_routes, 1);
	assert_int_equal(hy_ip4_group_delete(hops6, id), -EBUSY);
	/* While a set has it that may come back, and while a worker may read that. */
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
	assert_int_equal(hy_ip6_routes_prepare(fib6, routes + 1, 1, &set, NULL), 0);
	hy_ip6_routes_exchange(fib6, &set);
	assert_int_equal(hy_ip4_group_delete(hops6, id), -EBUSY);
	hy_ip6_routes_discard(fib6, set);
	assert_int_equal(hy_ip4_group_delete(hops6, id), -EBUSY);
	rte_rcu_qsbr_quiescent(&qsbr.v, 0);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	assert_true(hy_ip6_routes_reap(fib6));
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), -EBUSY);
	assert_int_equal(hy_ip4_group_delete(hops6, id), 0);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), 0);
	assert_int_equal(hy_ip6_routes_set(fib6, routes, 2, &at), -ENOENT);
	assert_int_equal(at, 0);
	rte_rcu_qsbr_thread_unregister(&qsbr.v, 0);
}

static void
exchanged_sets_come_back(void **state)
{
	const struct hy_ip6_route a = ip6_route("2001:db8::/32", 0);
	const struct hy_ip6_route b = ip6_route("2001:db8::/32", 1);
	struct hy_ip6_set *set;

	RTE_SET_USED(state);
	ip6_tables(2);
	assert_int_equal(hy_ip6_routes_set(fib6, &a, 1, NULL), 0);
	assert_int_equal(hy_ip6_routes_prepare(fib6, &b, 1, &set, NULL), 0);
	assert_leads("2001:db8::", 0);
	hy_ip6_routes_exchange(fib6, &set);
	assert_leads("2001:db8::", 1);
	hy_ip6_routes_exchange(fib6, &set);
	assert_leads("2001:db8::", 0);
	hy_ip6_routes_discard(fib6, set);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 1), 0);
}

static void
memory_waits_for_workers_and_for_no_further_change(void **state)
{
	const struct hy_ip6_route a = ip6_route("2001:db8::/32", 0);
	const struct hy_ip6_route b = ip6_route("2001:db8::/32", 1);
	unsigned int heap;

	RTE_SET_USED(state);
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	rig_qsbr = &qsbr.v;
	ip6_tables(2);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	assert_int_equal(hy_ip6_routes_set(fib6, &a, 1, NULL), 0);
	heap = unit_heap_live();
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
	assert_int_equal(hy_ip6_routes_set(fib6, &b, 1, NULL), 0);
	assert_int_equal(unit_heap_live(), heap + 1);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), -EBUSY);
	assert_false(hy_ip6_routes_reap(fib6)); /* after a second */
	assert_int_equal(unit_heap_live(), heap + 1);
	rte_rcu_qsbr_quiescent(&qsbr.v, 0);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	assert_true(hy_ip6_routes_reap(fib6));
	assert_int_equal(unit_heap_live(), heap);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), 0);
	rte_rcu_qsbr_thread_unregister(&qsbr.v, 0);
}

static void
without_memory_a_set_is_refused_and_leaks_nothing(void **state)
{
	struct hy_ip6_route routes[300] = { ip6_route("2001:db8::/32", 0) };
	unsigned int failed = 0, heap;
	struct hy_ip6_set *set;
	int64_t live;
	int rc;

	RTE_SET_USED(state);
	ip6_tables(2);
	for (unsigned int i = 1; i < RTE_DIM(routes);
		i++) { /* more nodes and entries than at first */
		routes[i] = ip6_route("2001:db8::/48", i % 2);
		routes[i].prefix[4] = (uint8_t)i;
		routes[i].prefix[5] = (uint8_t)(i / 256 + 1);
	}
	heap = unit_heap_live();
	live = unit_alloc_live();
	do {
		unit_alloc_fail(++failed);
		rc = hy_ip6_routes_prepare(fib6, routes, RTE_DIM(routes), &set, NULL);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_heap_live(), heap);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_ip4_next_hop_delete(hops6, 5), -ENOENT);
	} while (failed < 100);
	assert_int_equal(rc, 0);
	assert_true(failed > 6);
	hy_ip6_routes_discard(fib6, set);
	assert_int_equal(hy_ip4_next_hop_delete(hops6, 0), 0);
}

static const struct CMUnitTest ip6_routes_tests[] = {
	IP6_TEST(no_memory_is_taken_before_the_first_route),
	IP6_TEST(wrong_sets_are_refused_and_change_nothing),
	IP6_TEST(routes_hold_their_next_hops),
	IP6_TEST(routes_hold_their_groups),
	IP6_TEST(exchanged_sets_come_back),
	IP6_TEST(memory_waits_for_workers_and_for_no_further_change),
	IP6_TEST(without_memory_a_set_is_refused_and_leaks_nothing),
};

UNIT_SUITE(ip6_routes_tests)
