/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups as the control plane changes them: shares, flows that stay, ids, and what is refused. */

#include <errno.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "group_fixture.h"

#define MOST HY_IP4_GROUP_MEMBERS

static struct group_seen before, after;
static struct hy_ip4_member members[MOST + 1];

static void
buckets_are_dealt_out_by_weight(void **state)
{
	static const uint32_t most[] = { 1, 4, 255 };
	struct hy_ip4_group got;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int w = 0; w < RTE_DIM(most); w++) {
		for (unsigned int n = 1; n <= MOST; n++) {
			uint32_t id;

			group_members(members, n, 3, most[w], &seed);
			id = group_create(members, n, HY_IP4_NO_ID);
			group_see(id, &after);
			group_assert_shares(&after, members, n, 1);
			assert_int_equal(hy_ip4_group_get(group_fib, id, &got), 0);
			assert_int_equal(got.nb_members, n);
			assert_int_equal(got.nb_buckets, after.n);
			for (unsigned int i = 0; i < n; i++) {
				assert_int_equal(got.members[i].next_hop, members[i].next_hop);
				assert_int_equal(got.members[i].weight, members[i].weight);
				assert_int_equal(got.buckets[i],
					group_count(&after, members[i].next_hop));
				assert_true(got.up[i]);
				if (after.n < HY_IP4_GROUP_BUCKETS)
					assert_true(got.buckets[i] >= (n <= 8 ? 255u : 127u));
			}
		}
	}
}

/* Compares before and after, hash by hash; returns how many hashes that many buckets have moved. */
static uint32_t
moved_from(uint32_t from, uint32_t to)
{
	const uint32_t n = RTE_MAX(before.n, after.n);
	uint32_t moved = 0;

	for (uint32_t hash = 0; hash < n; hash++) {
		const uint32_t was = group_at(&before, hash), is = group_at(&after, hash);

		if (was == is)
			continue;
		if ((from != HY_IP4_NO_ID && was != from) || (to != HY_IP4_NO_ID && is != to))
			fail_msg("hash %u of %u moved from %u to %u", hash, n, was, is);
		moved++;
	}
	return moved;
}

static void
a_lost_member_moves_only_its_own_flows(void **state)
{
	unsigned int losses = 0;
	uint64_t seed = 2;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int n = 2; n <= MOST; n++) {
		const unsigned int lost = rnd(&seed) % n;
		struct hy_ip4_member rest[MOST];
		uint32_t id, gone;

		group_members(members, n, 0, n % 3 == 0 ? 9 : 1, &seed);
		id = group_create(members, n, HY_IP4_NO_ID);
		group_see(id, &before);
		for (unsigned int i = 0, r = 0; i < n; i++)
			if (i != lost)
				rest[r++] = members[i];
		assert_int_equal(hy_ip4_group_set(group_fib, id, rest, n - 1), 0);
		group_see(id, &after);
		gone = members[lost].next_hop;
		assert_int_equal(moved_from(gone, HY_IP4_NO_ID), /* in case the table has grown */
			group_count(&before, gone) * (after.n / before.n));
		assert_int_equal(group_count(&after, gone), 0);
		group_assert_shares(&after, rest, n - 1, 2 * (double)(after.n / before.n));
		losses++;
	}
	assert_int_equal(losses, MOST - 1);
}

static void
a_new_member_takes_no_more_than_its_share(void **state)
{
	unsigned int grown = 0;
	uint64_t seed = 3;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int round = 0; round < 3; round++) {
		uint32_t sum, id;

		group_members(members, MOST, 0, round == 0 ? 1 : 9, &seed);
		id = group_create(members, 1, HY_IP4_NO_ID);
		sum = members[0].weight;
		for (unsigned int n = 2; n <= MOST; n++) {
			const uint32_t new = members[n - 1].next_hop;
			uint32_t got;

			group_see(id, &before);
			assert_int_equal(hy_ip4_group_set(group_fib, id, members, n), 0);
			group_see(id, &after);
			grown += after.n > before.n;
			sum += members[n - 1].weight;
			got = moved_from(HY_IP4_NO_ID, new);
			assert_int_equal(got, group_count(&after, new));
			assert_true((uint64_t)got * sum <=
				(uint64_t)members[n - 1].weight * after.n);
			assert_true((uint64_t)(got + 1) * sum >
				(uint64_t)members[n - 1].weight * after.n);
		}
		/* One after another, they get what they would have got at once, but for a bucket or two. */
		group_assert_shares(&after, members, MOST, 4);
	}
	assert_true(grown >= 10);
}

static void
other_weights_move_as_few_as_they_must(void **state)
{
	uint64_t seed = 4;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int n = 2; n <= MOST; n += 3) {
		uint32_t id, must = 0;

		group_members(members, n, 0, 5, &seed);
		id = group_create(members, n, HY_IP4_NO_ID);
		group_see(id, &before);
		group_members(members, n, 0, 5, &seed);
		members[0].weight = 5;
		assert_int_equal(hy_ip4_group_set(group_fib, id, members, n), 0);
		group_see(id, &after);
		group_assert_shares(&after, members, n, 2);
		for (unsigned int i = 0; i < n; i++) {
			const uint32_t had = group_count(&before, members[i].next_hop) *
				(after.n / before.n);
			const uint32_t has = group_count(&after, members[i].next_hop);

			must += has > had ? has - had : 0;
		}
		assert_int_equal(moved_from(HY_IP4_NO_ID, HY_IP4_NO_ID), must);
	}
}

static void
a_group_begins_like_what_it_replaces(void **state)
{
	uint32_t first, second, alone;
	uint64_t seed = 5;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	group_members(members, 8, 0, 1, &seed);
	first = group_create(members, 8, HY_IP4_NO_ID);
	group_see(first, &before);
	second = group_create(members, 7, first); /* without the last one */
	group_see(second, &after);
	assert_int_equal(moved_from(7, HY_IP4_NO_ID), group_count(&before, 7));
	group_see(first, &after);
	assert_int_equal(moved_from(HY_IP4_NO_ID, HY_IP4_NO_ID), 0); /* which stays as it was */
	/* Like a next hop: it keeps its share, and gives the rest away. */
	alone = group_create(members, 8, 5);
	group_see(alone, &after);
	group_assert_shares(&after, members, 8, 1);
	before.n = 1;
	before.member[0] = 5;
	assert_int_equal(moved_from(5, HY_IP4_NO_ID), after.n - group_count(&after, 5));
	assert_int_equal(group_count(&after, 5), after.n / 8);
}

static void
ids_are_those_of_next_hops(void **state)
{
	const struct hy_ip4_next_hop hop = { .mac = { { 8 } } };
	struct hy_ip4_next_hop got;
	struct hy_ip4_group group;
	struct hy_ip4_route route;
	uint32_t id, again, routes;
	uint64_t seed = 6;

	RTE_SET_USED(state);
	group_table(NULL, GROUP_HOPS + 1);
	group_members(members, 3, 0, 1, &seed);
	id = group_create(members, 3, HY_IP4_NO_ID);
	assert_int_equal(id, GROUP_HOPS);
	assert_int_equal(hy_ip4_next_hops(group_fib), GROUP_HOPS + 1);
	assert_int_equal(hy_ip4_next_hop_add(group_fib, &hop, &again), -ENOSPC);
	assert_int_equal(hy_ip4_group_create(group_fib, members, 3, HY_IP4_NO_ID, &again), -ENOSPC);
	/* A group is no next hop, and the other way round. */
	assert_int_equal(hy_ip4_next_hop_get(group_fib, id, &got, &routes), -ENOENT);
	assert_int_equal(hy_ip4_next_hop_set(group_fib, id, &hop), -ENOENT);
	assert_int_equal(hy_ip4_next_hop_delete(group_fib, id), -ENOENT);
	assert_int_equal(hy_ip4_group_get(group_fib, 0, &group), -ENOENT);
	assert_int_equal(hy_ip4_group_delete(group_fib, 0), -ENOENT);
	assert_int_equal(hy_ip4_group_set(group_fib, 0, members, 3), -ENOENT);
	/* Members stay while they are members, groups while routes lead to them. */
	assert_int_equal(hy_ip4_next_hop_delete(group_fib, 1), -EBUSY);
	route = (struct hy_ip4_route){ IP4(10, 0, 0, 0), 8, id };
	assert_int_equal(hy_ip4_route_add(group_fib, &route), 0);
	assert_int_equal(hy_ip4_group_get(group_fib, id, &group), 0);
	assert_int_equal(group.routes, 1);
	assert_int_equal(hy_ip4_group_delete(group_fib, id), -EBUSY);
	assert_int_equal(hy_ip4_route_lookup(group_fib, IP4(10, 1, 1, 1), &route, &got), 0);
	assert_int_equal(route.next_hop, id);
	assert_int_equal(got.port, HY_IP4_PORT_GROUP);
	assert_true(rte_is_zero_ether_addr(&got.mac));
	assert_int_equal(hy_ip4_route_delete(group_fib, IP4(10, 0, 0, 0), 8), 0);
	assert_int_equal(hy_ip4_group_set(group_fib, id, members + 1, 2), 0);
	assert_int_equal(hy_ip4_next_hop_delete(group_fib, 0), 0);
	assert_int_equal(hy_ip4_group_delete(group_fib, id), 0);
	assert_int_equal(hy_ip4_next_hop_delete(group_fib, 1), 0);
	assert_int_equal(hy_ip4_group_get(group_fib, id, &group), -ENOENT);
	/* Ids are used again: of a group for a next hop, and the other way round. */
	assert_int_equal(hy_ip4_next_hop_add(group_fib, &hop, &again), 0);
	assert_int_equal(again, 0);
	members[0].next_hop = again;
	members[1].next_hop = 9;
	assert_int_equal(group_create(members, 2, HY_IP4_NO_ID), id);
}

static void
bad_members_are_refused(void **state)
{
	struct hy_ip4_member all[MOST + 1];
	struct hy_ip4_group group;
	uint64_t seed = 7;
	uint32_t id, none;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	group_members(all, MOST + 1, 0, 1, &seed);
	id = group_create(all, 8, HY_IP4_NO_ID);
	group_see(id, &before);
	for (unsigned int i = 0; i < 7; i++) {
		unsigned int n = 8;
		int want = -EINVAL;

		group_members(all, MOST + 1, 0, 1, &seed);
		switch (i) {
		case 0:
			n = 0;
			break;
		case 1:
			n = MOST + 1;
			break;
		case 2:
			all[3].weight = 0;
			break;
		case 3:
			all[3].weight = HY_IP4_GROUP_WEIGHT + 1;
			break;
		case 4:
			all[7].next_hop = all[0].next_hop;
			break;
		case 5:
			all[5].next_hop = 999;
			want = -ENOENT;
			break;
		default:
			all[5].next_hop = id; /* no group of groups */
			want = -ENOENT;
		}
		assert_int_equal(hy_ip4_group_create(group_fib, all, n, HY_IP4_NO_ID, &none), want);
		assert_int_equal(hy_ip4_group_set(group_fib, id, all, n), want);
	}
	assert_int_equal(hy_ip4_group_create(group_fib, all, 1, 999, &none), -ENOENT);
	group_see(id, &after);
	assert_int_equal(moved_from(HY_IP4_NO_ID, HY_IP4_NO_ID), 0);
	assert_int_equal(hy_ip4_group_get(group_fib, id, &group), 0);
	assert_int_equal(group.nb_members, 8);
	assert_int_equal(hy_ip4_next_hops(group_fib), GROUP_HOPS + 1);
}

/* Each allocation fails in turn: nothing has changed, and nothing is lost. */
static void
without_memory_nothing_changes(void **state)
{
	unsigned int failed[2] = { 0 };
	uint64_t seed = 8;
	uint32_t id, made;
	int rc;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	group_members(members, 16, 0, 1, &seed);
	id = group_create(members, 2, HY_IP4_NO_ID);
	group_see(id, &before);
	for (unsigned int which = 0; which < 2; which++) {
		const int64_t live = unit_alloc_live();
		const unsigned int heap = unit_heap_live();

		for (unsigned int nth = 1;; nth++) {
			unit_alloc_fail(nth);
			rc = which == 0 ? hy_ip4_group_create(group_fib, members, 16, 3, &made)
					: hy_ip4_group_set(group_fib, id, members, 16);
			unit_alloc_fail(0);
			if (rc == 0)
				break;
			assert_int_equal(rc, -ENOMEM);
			failed[which]++;
			assert_int_equal(unit_alloc_live(), live);
			assert_int_equal(unit_heap_live(), heap);
			group_see(id, &after);
			assert_int_equal(after.n, before.n);
			assert_int_equal(moved_from(HY_IP4_NO_ID, HY_IP4_NO_ID), 0);
		}
	}
	assert_true(failed[0] >= 4 && failed[1] >= 3);
	group_see(id, &after);
	assert_true(after.n > before.n);
}

static const struct CMUnitTest node_group_tests[] = {
	GROUP_TEST(buckets_are_dealt_out_by_weight),
	GROUP_TEST(a_lost_member_moves_only_its_own_flows),
	GROUP_TEST(a_new_member_takes_no_more_than_its_share),
	GROUP_TEST(other_weights_move_as_few_as_they_must),
	GROUP_TEST(a_group_begins_like_what_it_replaces),
	GROUP_TEST(ids_are_those_of_next_hops),
	GROUP_TEST(bad_members_are_refused),
	GROUP_TEST(without_memory_nothing_changes),
};

UNIT_SUITE(node_group_tests)
