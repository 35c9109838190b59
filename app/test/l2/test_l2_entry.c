/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of a bridge's table: learned, moved, static, limited, aged, flushed, dumped. */

#include <errno.h>

#include "l2_fixture.h"

static const uint64_t no_key = HY_L2_KEY;

static void
worker_is_told_what_to_learn(void **state)
{
	const uint64_t learned = key_of(1, 1), fixed = key_of(2, 1);

	RTE_SET_USED(state);
	table_new(8, NULL);
	assert_int_equal(verdict_of(learned, 3), HY_L2_SOURCE_NEW);
	assert_int_equal(learn(learned, 3), HY_L2_LEARNED);
	assert_int_equal(verdict_of(learned, 3), HY_L2_SOURCE_KNOWN);
	assert_int_equal(verdict_of(learned, 4), HY_L2_SOURCE_MOVED);
	assert_int_equal(hy_l2_add(table, fixed, 5), 0);
	assert_int_equal(verdict_of(fixed, 5), HY_L2_SOURCE_KNOWN);
	assert_int_equal(verdict_of(fixed, 4), HY_L2_SOURCE_FIXED);
	/* Another VLAN is another key. */
	assert_int_equal(verdict_of(key_of(1, 2), 3), HY_L2_SOURCE_NEW);
	/* The word of the address 0 in VLAN 0 is a key too, and not that of an empty slot. */
	assert_int_equal(verdict_of(no_key, 0), HY_L2_SOURCE_NEW);
	assert_int_equal(port_of(no_key), HY_L2_MISS);
	assert_int_equal(learn(no_key, 2), HY_L2_LEARNED);
	assert_int_equal(port_of(no_key), 2);
}

static uint32_t
idle_of(uint64_t key)
{
	struct hy_l2_entry entry;

	assert_int_equal(hy_l2_get(table, key, &entry), 0);
	assert_int_equal(entry.key, key);
	return entry.idle;
}

static void
entry_that_is_used_is_stamped_once_a_second(void **state)
{
	const uint64_t key = key_of(1, 1);
	uint32_t slot;

	RTE_SET_USED(state);
	table_new(8, NULL);
	hy_l2_age(table, 100, 0, 0);
	assert_int_equal(learn(key, 3), HY_L2_LEARNED);
	assert_int_equal(idle_of(key), 0);
	hy_l2_age(table, 107, 0, 0);
	assert_int_equal(idle_of(key), 7);
	hy_l2_find_scalar(view, &key, &slot, 1);
	assert_int_equal(view->seen[slot], 100);
	assert_int_equal(verdict_of(key, 4), HY_L2_SOURCE_MOVED); /* is no use of it */
	assert_int_equal(port_of(key), 3);                        /* nor is that */
	assert_int_equal(view->seen[slot], 100);
	assert_int_equal(verdict_of(key, 3), HY_L2_SOURCE_KNOWN);
	assert_int_equal(view->seen[slot], 107);
	hy_l2_age(table, 108, 0, 0);
	assert_int_equal(learn(key, 3), HY_L2_REFRESHED);
	assert_int_equal(view->seen[slot], 108);
}

static void
moves_are_counted_and_flaps_among_them(void **state)
{
	const uint64_t key = key_of(1, 1);

	RTE_SET_USED(state);
	table_new(8, NULL);
	assert_int_equal(learn(key, 1), HY_L2_LEARNED);
	hy_l2_age(table, 10, 0, 0);
	assert_int_equal(learn(key, 2), HY_L2_MOVED); /* its first move */
	assert_int_equal(stats().flapped, 0);
	assert_int_equal(idle_of(key), 0);
	assert_int_equal(learn(key, 1), HY_L2_MOVED); /* in the same second */
	assert_int_equal(stats().flapped, 1);
	hy_l2_age(table, 11, 0, 0);
	assert_int_equal(learn(key, 2), HY_L2_MOVED); /* in the next one */
	assert_int_equal(stats().flapped, 2);
	hy_l2_age(table, 13, 0, 0);
	assert_int_equal(learn(key, 3), HY_L2_MOVED); /* two later */
	assert_int_equal(stats().flapped, 2);
	assert_int_equal(stats().learn[HY_L2_MOVED], 4);
	assert_int_equal(stats().entries, 1);
	assert_int_equal(hy_l2_port_entries(table, 3), 1);
	assert_int_equal(hy_l2_port_entries(table, 1) + hy_l2_port_entries(table, 2), 0);
	/* An entry that is learned anew has not moved. */
	assert_int_equal(hy_l2_delete(table, key), 0);
	assert_int_equal(learn(key, 4), HY_L2_LEARNED);
	assert_int_equal(learn(key, 5), HY_L2_MOVED);
	assert_int_equal(stats().flapped, 2);
}

static void
static_entry_neither_moves_nor_ages(void **state)
{
	const uint64_t fixed = key_of(1, 1), learned = key_of(2, 1);

	RTE_SET_USED(state);
	table_new(8, NULL);
	assert_int_equal(hy_l2_add(table, fixed, 1), 0);
	assert_int_equal(learn(learned, 1), HY_L2_LEARNED);
	assert_int_equal(learn(fixed, 2), HY_L2_REFUSED_STATIC);
	assert_int_equal(learn(fixed, 1), HY_L2_REFRESHED);
	assert_int_equal(port_of(fixed), 1);
	assert_int_equal(stats().learn[HY_L2_REFUSED_STATIC], 1);
	assert_int_equal(stats().static_entries, 1);
	hy_l2_age(table, 999, 0, 0);
	assert_int_equal(hy_l2_age(table, 1000, 1, hy_l2_buckets(table)), 1);
	assert_int_equal(port_of(fixed), 1);
	assert_int_equal(port_of(learned), HY_L2_MISS);
	/* Added again: another port. Learned, then added: static. */
	assert_int_equal(hy_l2_add(table, fixed, 2), 0);
	assert_int_equal(port_of(fixed), 2);
	assert_int_equal(learn(learned, 3), HY_L2_LEARNED);
	assert_int_equal(hy_l2_add(table, learned, 3), 0);
	assert_int_equal(learn(learned, 4), HY_L2_REFUSED_STATIC);
	assert_int_equal(stats().static_entries, 2);
	assert_int_equal(stats().entries, 2);
	assert_int_equal(stats().added, 1);
	assert_int_equal(hy_l2_delete(table, fixed), 0);
	assert_int_equal(stats().static_entries, 1);
}

static void
port_has_no_more_than_its_limit(void **state)
{
	RTE_SET_USED(state);
	table_new(20, NULL);
	assert_int_equal(hy_l2_port_limit(table, 1, 3), 0);
	assert_int_equal(hy_l2_add(table, key_of(100, 1), 1), 0); /* does not count */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(learn(key_of(i, 1), 1), HY_L2_LEARNED);
	assert_int_equal(learn(key_of(3, 1), 1), HY_L2_REFUSED_PORT);
	assert_int_equal(learn(key_of(3, 1), 2), HY_L2_LEARNED);
	assert_int_equal(learn(key_of(3, 1), 1), HY_L2_REFUSED_PORT); /* a move */
	assert_int_equal(port_of(key_of(3, 1)), 2);
	assert_int_equal(stats().learn[HY_L2_REFUSED_PORT], 2);
	assert_int_equal(learn(key_of(0, 1), 1), HY_L2_REFRESHED);
	assert_int_equal(learn(key_of(0, 1), 2), HY_L2_MOVED); /* makes room */
	assert_int_equal(learn(key_of(3, 1), 1), HY_L2_MOVED);
	assert_int_equal(hy_l2_port_entries(table, 1), 4);
	/* A lower limit deletes none; a static entry makes room; 0 is no limit. */
	assert_int_equal(hy_l2_port_limit(table, 1, 2), 0);
	assert_int_equal(hy_l2_port_entries(table, 1), 4);
	assert_int_equal(learn(key_of(4, 1), 1), HY_L2_REFUSED_PORT);
	assert_int_equal(hy_l2_add(table, key_of(1, 1), 1), 0);
	assert_int_equal(learn(key_of(4, 1), 1), HY_L2_REFUSED_PORT);
	assert_int_equal(hy_l2_add(table, key_of(2, 1), 1), 0);
	assert_int_equal(learn(key_of(4, 1), 1), HY_L2_LEARNED);
	assert_int_equal(learn(key_of(5, 1), 1), HY_L2_REFUSED_PORT);
	assert_int_equal(hy_l2_port_limit(table, 1, 0), 0);
	assert_int_equal(learn(key_of(5, 1), 1), HY_L2_LEARNED);
	assert_int_equal(hy_l2_port_entries(table, 1), 6);
	assert_int_equal(hy_l2_port_entries(table, 16), 0);
}

static void
limit_of_ports_is_that_of_the_parameters(void **state)
{
	const struct hy_l2_table_params params = {
		.max_entries = 20, .max_per_port = 1, .nb_ports = 3, .socket = SOCKET_ID_ANY
	};

	RTE_SET_USED(state);
	assert_int_equal(hy_l2_table_create(&params, &table), 0);
	for (uint16_t port = 0; port < 3; port++) {
		assert_int_equal(learn(key_of(port, 1), port), HY_L2_LEARNED);
		assert_int_equal(learn(key_of(10 + port, 1), port), HY_L2_REFUSED_PORT);
	}
	assert_int_equal(learn(key_of(20, 1), 3), HY_L2_REFUSED_INVALID);
}

/* Entries 0 to 39 of one bucket, so that most are in the overflow, used at the second of their number. */
static void
forty_entries(uint64_t keys[40])
{
	table_new(64, NULL);
	keys_of_bucket(0, keys, 40);
	for (uint32_t i = 0; i < 40; i++) {
		hy_l2_age(table, 1000 + i, 0, 0);
		assert_int_equal(learn(keys[i], (uint16_t)(i % 4)), HY_L2_LEARNED);
	}
	assert_int_equal(stats().overflowed, 32);
}

static void
unused_entries_age_in_parts_of_a_sweep(void **state)
{
	uint64_t keys[40];
	uint64_t by_vlan = 0;
	uint32_t aged = 0, calls = 0, most = 0;

	RTE_SET_USED(state);
	forty_entries(keys);
	assert_int_equal(hy_l2_age(table, 1039, 40, hy_l2_buckets(table)), 0);
	assert_int_equal(verdict_of(keys[3], 3), HY_L2_SOURCE_KNOWN); /* used */
	assert_int_equal(hy_l2_add(table, keys[4], 0), 0);            /* static */
	/* 300 s after the 20th entry, and the time is told again. */
	hy_l2_age(table, 1319, 0, 0);
	for (; calls < hy_l2_buckets(table); calls++) {
		const uint32_t n = hy_l2_age(table, 1320, 300, 1);

		most = RTE_MAX(most, n);
		aged += n;
	}
	assert_int_equal(aged, 18);
	assert_in_range(most, 1, HY_L2_WAYS);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(port_of(keys[i]), i < 20 && i != 3 && i != 4 ? HY_L2_MISS : i % 4);
	assert_int_equal(stats().aged, 18);
	for (uint16_t port = 0; port < 4; port++)
		assert_int_equal(hy_l2_port_aged(table, port), port == 0 || port == 3 ? 4 : 5);
	assert_int_equal(hy_l2_port_aged(table, 4) + hy_l2_port_aged(table, 16), 0);
	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++)
		by_vlan += hy_l2_vlan_aged(table, vid);
	assert_int_equal(by_vlan, 18);
	for (uint32_t i = 0; i < 20; i++)
		if (i != 3 && i != 4)
			assert_true(hy_l2_vlan_aged(table, keys[i] >> HY_L2_KEY_VID & 0xfff) > 0);
	assert_int_equal(hy_l2_vlan_aged(table, HY_L2_VIDS), 0);
	assert_int_equal(hy_l2_age(table, 5000, 0, hy_l2_buckets(table)), 0); /* 0: never */
	assert_int_equal(hy_l2_age(table, 5001, 1, 1u << 31), 21); /* more than a sweep */
	assert_int_equal(stats().entries, 1);
}

static void
clock_may_wrap(void **state)
{
	const uint64_t key = key_of(1, 1);

	RTE_SET_USED(state);
	table_new(8, NULL);
	hy_l2_age(table, UINT32_MAX - 10, 0, 0);
	assert_int_equal(learn(key, 1), HY_L2_LEARNED);
	assert_int_equal(hy_l2_age(table, 20, 32, hy_l2_buckets(table)), 0);
	assert_int_equal(idle_of(key), 31);
	assert_int_equal(hy_l2_age(table, 21, 32, hy_l2_buckets(table)), 0);
	assert_int_equal(hy_l2_age(table, 22, 32, hy_l2_buckets(table)), 1);
}

/* Told the time each 5 s. Workers can stamp only what was told before. */
static void
entry_that_is_in_use_does_not_age(void **state)
{
	const uint64_t used = key_of(1, 1), unused = key_of(2, 1);
	uint32_t now = 100;

	RTE_SET_USED(state);
	table_new(8, NULL);
	hy_l2_age(table, now, 0, 0);
	assert_int_equal(learn(used, 1), HY_L2_LEARNED);
	assert_int_equal(learn(unused, 1), HY_L2_LEARNED);
	for (uint32_t age = 1; age <= 5; age++) {
		assert_int_equal(verdict_of(used, 1), HY_L2_SOURCE_KNOWN); /* up to now */
		assert_int_equal(learn(unused, 1), HY_L2_REFRESHED);
		now += 5;
		assert_int_equal(hy_l2_age(table, now, age, hy_l2_buckets(table)), 0);
		assert_int_equal(hy_l2_age(table, now, age, hy_l2_buckets(table)), 0);
		assert_int_equal(idle_of(used), 5);
	}
	assert_int_equal(verdict_of(used, 1), HY_L2_SOURCE_KNOWN);
	assert_int_equal(hy_l2_age(table, now + 5, 5, hy_l2_buckets(table)), 1);
	assert_int_equal(port_of(used), 1);
	assert_int_equal(port_of(unused), HY_L2_MISS);
}

static void
flush_takes_a_port_or_a_vlan(void **state)
{
	RTE_SET_USED(state);
	table_new(1000, NULL);
	for (uint32_t i = 0; i < 400; i++) /* 4 ports by 5 VLANs, 20 of each */
		assert_int_equal(learn(key_of(i, (uint16_t)(i % 5 * 1023)), (uint16_t)(i % 4)),
			HY_L2_LEARNED);
	assert_int_equal(hy_l2_vlan_entries(table, 0), 80);
	assert_int_equal(hy_l2_vlan_entries(table, 4092), 80);
	assert_int_equal(hy_l2_vlan_entries(table, 4096), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(hy_l2_add(table, key_of(i, (uint16_t)(i * 1023)), (uint16_t)i), 0);
	assert_int_equal(hy_l2_flush(table, 1, HY_L2_ANY, false), 99);
	assert_int_equal(hy_l2_port_entries(table, 1), 1);
	assert_int_equal(hy_l2_flush(table, 1, HY_L2_ANY, false), 0);
	assert_int_equal(hy_l2_flush(table, HY_L2_ANY, 1023, false), 60);
	assert_int_equal(hy_l2_vlan_entries(table, 1023), 1);
	assert_int_equal(hy_l2_flush(table, 2, 2046, false), 19);
	assert_int_equal(hy_l2_flush(table, 2, 2046, true), 1);
	assert_int_equal(hy_l2_flush(table, 16, HY_L2_ANY, true), 0);
	assert_int_equal(hy_l2_flush(table, HY_L2_ANY, 4095, true), 0);
	assert_int_equal(stats().entries, 400 - 99 - 60 - 20);
	assert_int_equal(hy_l2_flush(table, HY_L2_ANY, HY_L2_ANY, false), 400 - 99 - 60 - 20 - 3);
	assert_int_equal(hy_l2_flush(table, HY_L2_ANY, HY_L2_ANY, true), 3);
	assert_int_equal(stats().entries, 0);
	assert_int_equal(stats().static_entries, 0);
	assert_int_equal(stats().deleted, 400);
	for (uint16_t port = 0; port < 16; port++)
		assert_int_equal(hy_l2_port_entries(table, port), 0);
}

/* Half of the entries are deleted and others learned while the table is read, three at a time. */
static void
dump_reads_what_stays_once_while_the_table_changes(void **state)
{
	enum { N = 600 };
	unsigned int times[2 * N] = { 0 };
	struct hy_l2_entry entries[3];
	uint32_t cursor = 0, calls = 0, late = 0, n;

	RTE_SET_USED(state);
	table_new(2 * N, NULL);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(learn(key_of(i, 7), (uint16_t)(i % 16)), HY_L2_LEARNED);
	do {
		n = hy_l2_dump(table, &cursor, entries, RTE_DIM(entries));
		assert_true(n == RTE_DIM(entries) || cursor == HY_L2_END);
		for (uint32_t i = 0; i < n; i++) {
			uint8_t mac[6];
			uint32_t number;

			assert_int_equal(hy_l2_key_split(entries[i].key, mac), 7);
			number = mac[4] * 256u + mac[5];
			assert_int_equal(entries[i].key, key_of(number, 7));
			assert_int_equal(entries[i].port, number % 16);
			times[number]++;
		}
		if (calls < N / 4) {
			assert_int_equal(hy_l2_delete(table, key_of(2 * calls, 7)), 0);
			assert_int_equal(learn(key_of(N + calls, 7), (uint16_t)((N + calls) % 16)),
				HY_L2_LEARNED);
		}
		calls++;
	} while (cursor != HY_L2_END);
	assert_true(calls > N / 4);
	for (uint32_t i = 0; i < 2 * N; i++) {
		const bool stays = i < N && (i % 2 == 1 || i >= N / 2);

		if (stays)
			assert_int_equal(times[i], 1);
		else
			assert_true(times[i] <= 1);
		late += i >= N ? times[i] : 0;
	}
	assert_in_range(late, 1, N / 4);
}

static void
dump_of_an_empty_table_ends_at_once(void **state)
{
	struct hy_l2_entry entry;
	uint32_t cursor = 0;

	RTE_SET_USED(state);
	table_new(8, NULL);
	assert_int_equal(hy_l2_dump(table, &cursor, &entry, 1), 0);
	assert_int_equal(cursor, HY_L2_END);
	assert_int_equal(hy_l2_dump(table, &cursor, &entry, 1), 0);
	assert_int_equal(cursor, HY_L2_END);
}

static const struct CMUnitTest tests[] = {
	L2_TEST(worker_is_told_what_to_learn),
	L2_TEST(entry_that_is_used_is_stamped_once_a_second),
	L2_TEST(moves_are_counted_and_flaps_among_them),
	L2_TEST(static_entry_neither_moves_nor_ages),
	L2_TEST(port_has_no_more_than_its_limit),
	L2_TEST(limit_of_ports_is_that_of_the_parameters),
	L2_TEST(unused_entries_age_in_parts_of_a_sweep),
	L2_TEST(clock_may_wrap),
	L2_TEST(entry_that_is_in_use_does_not_age),
	L2_TEST(flush_takes_a_port_or_a_vlan),
	L2_TEST(dump_reads_what_stays_once_while_the_table_changes),
	L2_TEST(dump_of_an_empty_table_ends_at_once),
};
UNIT_SUITE(tests)
