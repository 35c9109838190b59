/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a bridge's table gives up is not used again while a worker may read it. The worker is played by
 * the test.
 */

#include <errno.h>
#include <string.h>

#include <rte_hash.h>

#include "l2_fixture.h"

static uint32_t
slot_of(uint64_t key)
{
	uint32_t slot;

	hy_l2_find_scalar(view, &key, &slot, 1);
	return slot;
}

static uint16_t
port_in(uint32_t slot)
{
	uint16_t port;

	hy_l2_ports(view, &slot, &port, 1);
	return port;
}

static void
slot_waits_for_a_worker_that_found_it(void **state)
{
	uint64_t keys[3];
	uint32_t slot;

	RTE_SET_USED(state);
	table_new(32, qsbr_new(1));
	keys_of_bucket(1, keys, 3);
	worker_begins();
	assert_int_equal(learn(keys[0], 5), HY_L2_LEARNED);
	slot = slot_of(keys[0]);
	/* The worker has the slot of the first key, and takes long. */
	assert_int_equal(hy_l2_delete(table, keys[0]), 0);
	assert_int_equal(port_of(keys[0]), HY_L2_MISS);
	assert_int_equal(learn(keys[1], 6), HY_L2_LEARNED);
	assert_int_not_equal(slot_of(keys[1]), slot);
	assert_int_equal(port_in(slot), 5);
	/* Nor is it used again for its own key. */
	assert_int_equal(learn(keys[0], 7), HY_L2_LEARNED);
	assert_int_equal(port_in(slot), 5);
	assert_int_equal(port_of(keys[0]), 7);
	worker_reports();
	/* Free slots are used first, then the one that waited. */
	for (uint32_t i = 0; slot_of(keys[2]) != slot; i++) {
		assert_true(i < HY_L2_WAYS);
		hy_l2_delete(table, keys[2]);
		assert_int_equal(learn(keys[2], 8), HY_L2_LEARNED);
		assert_int_equal(port_of(keys[2]), 8);
		worker_reports();
	}
}

static void
position_in_the_overflow_waits_for_a_worker_that_found_it(void **state)
{
	uint64_t keys[HY_L2_WAYS + 60];
	uint32_t slot;

	RTE_SET_USED(state);
	table_new(32, qsbr_new(1));
	keys_of_bucket(1, keys, RTE_DIM(keys));
	worker_begins();
	for (uint32_t i = 0; i <= HY_L2_WAYS; i++)
		assert_int_equal(learn(keys[i], 5), HY_L2_LEARNED);
	slot = slot_of(keys[HY_L2_WAYS]);
	assert_int_equal(slot, view->overflow_base);
	assert_int_equal(hy_l2_delete(table, keys[HY_L2_WAYS]), 0);
	assert_int_equal(stats().overflowed, 0);
	for (uint32_t i = 0; i < 23; i++) {
		assert_int_equal(learn(keys[HY_L2_WAYS + 1 + i], 6), HY_L2_LEARNED);
		assert_int_not_equal(slot_of(keys[HY_L2_WAYS + 1 + i]), slot);
	}
	assert_int_equal(port_in(slot), 5);
	worker_reports();
	for (uint32_t i = 0; i < 23; i++) /* frees what waits, and takes it */
		assert_int_equal(hy_l2_delete(table, keys[HY_L2_WAYS + 1 + i]), 0);
	assert_int_equal(port_in(slot), HY_L2_MISS);
}

/* 8 entries have 16 slots in buckets and 8 in the overflow. */
static void
room_is_refused_only_while_a_worker_does_not_report(void **state)
{
	uint64_t keys[25];
	uint32_t i;

	RTE_SET_USED(state);
	table_new(8, qsbr_new(1));
	keys_of_bucket(1, keys, RTE_DIM(keys));
	worker_begins();
	for (i = 0; i < 16; i++) {
		assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
		assert_int_equal(hy_l2_delete(table, keys[i]), 0);
	}
	assert_int_equal(learn(keys[i], 1), HY_L2_REFUSED_ROOM);
	assert_int_equal(stats().learn[HY_L2_REFUSED_ROOM], 1);
	assert_int_equal(hy_l2_add(table, keys[i], 1), -ETIMEDOUT);
	assert_int_equal(stats().entries, 0);
	assert_int_equal(stats().added, 0);
	assert_int_equal(stats().overflowed, 0);
	assert_int_equal(port_of(keys[i]), HY_L2_MISS);
	worker_reports();
	for (i = 16; i < 24; i++)
		assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
	assert_int_equal(learn(keys[i], 1), HY_L2_REFUSED_LIMIT);
	for (i = 16; i < 24; i++)
		assert_int_equal(port_of(keys[i]), 1);
}

/* Deletes all, and leaves nothing that waits. */
static void
empty(const uint64_t key[])
{
	hy_l2_flush(table, HY_L2_ANY, HY_L2_ANY, true);
	for (uint32_t round = 0; round < 40; round++) {
		worker_reports();
		for (uint32_t i = 0; i <= HY_L2_WAYS; i++)
			learn(key[i], 1);
		hy_l2_flush(table, HY_L2_ANY, HY_L2_ANY, true);
	}
	worker_reports();
}

/* Learns keys of one bucket, whose slots wait. Returns how many of n had room. */
static uint32_t
learn_outside(const uint64_t keys[], uint32_t n)
{
	uint32_t learned = 0;

	for (uint32_t i = 0; i < HY_L2_WAYS; i++)
		assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
	for (uint32_t i = 0; i < HY_L2_WAYS; i++)
		assert_int_equal(hy_l2_delete(table, keys[i]), 0);
	for (uint32_t i = HY_L2_WAYS; i < n; i++)
		learned += learn(keys[i], 1) == HY_L2_LEARNED;
	return learned;
}

/*
 * rte_hash loses a position when it has no bucket left for extension: some keys of one of its buckets
 * stay, others come and go, and each of these takes a bucket that waits.
 */
static void
overflow_loses_no_position(void **state)
{
	enum { N = 128, ROUNDS = 20, STAY = 80, COME = 40 };
	static uint64_t all[40000];
	uint64_t keys[HY_L2_WAYS + STAY + COME];
	uint32_t refused = 0, n = HY_L2_WAYS;

	RTE_SET_USED(state);
	table_new(N, qsbr_new(1));
	keys_of_bucket(1, all, RTE_DIM(all));
	worker_begins();
	memcpy(keys, all, HY_L2_WAYS * sizeof(*all));
	for (uint32_t i = HY_L2_WAYS; n < RTE_DIM(keys); i++) {
		const uint32_t hash = rte_hash_hash(view->overflow, &all[i]);

		assert_true(i < RTE_DIM(all));
		keys[n] = all[i];
		n += (hash & 15) == 0 && (hash >> 16 & 15) == 0; /* in one of 16 buckets */
	}
	for (uint32_t round = 0; round < ROUNDS; round++) {
		assert_int_equal(learn_outside(keys, HY_L2_WAYS + STAY), STAY);
		for (uint32_t i = HY_L2_WAYS + STAY; i < RTE_DIM(keys); i++) {
			if (learn(keys[i], 1) == HY_L2_LEARNED)
				assert_int_equal(hy_l2_delete(table, keys[i]), 0);
			else
				refused++;
		}
		empty(keys);
	}
	learn_outside(all, HY_L2_WAYS + 1); /* frees some of what waits, and lets the rest wait */
	worker_reports();
	learn_outside(all, HY_L2_WAYS + N);
	assert_int_equal(stats().overflowed, N);
	assert_true(refused >= ROUNDS && refused < ROUNDS * (COME - 1));
}

static void
worker_that_rests_is_not_waited_for(void **state)
{
	uint64_t keys[100];

	RTE_SET_USED(state);
	table_new(8, qsbr_new(1));
	keys_of_bucket(1, keys, RTE_DIM(keys));
	worker_begins();
	worker_rests();
	for (uint32_t i = 0; i < RTE_DIM(keys); i++) {
		assert_int_equal(i % 2 == 0 ? (int)learn(keys[i], 1) : hy_l2_add(table, keys[i], 1),
			0);
		if (i >= 7)
			assert_int_equal(hy_l2_delete(table, keys[i - 7]), 0);
	}
	assert_int_equal(stats().entries, 7);
}

/* Workers look in the overflow only if the last word of a bucket is not 0. */
static void
overflow_is_found_whatever_is_deleted_before(void **state)
{
	enum { N = HY_L2_WAYS + 3 };
	uint64_t keys[N + HY_L2_WAYS];

	RTE_SET_USED(state);
	for (uint32_t gone = 0; gone <= HY_L2_WAYS; gone++) {
		table_new(32, NULL);
		keys_of_bucket(2, keys, RTE_DIM(keys));
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
		for (uint32_t i = 0; i < gone; i++) /* the last of the bucket first */
			assert_int_equal(hy_l2_delete(table, keys[HY_L2_WAYS - 1 - i]), 0);
		for (uint32_t i = HY_L2_WAYS; i < N; i++)
			assert_int_equal(port_of(keys[i]), 1);
		for (uint32_t i = 0; i < gone; i++) /* slots before the overflow */
			assert_int_equal(learn(keys[N + i], 2), HY_L2_LEARNED);
		assert_int_equal(stats().overflowed, 3);
		for (uint32_t i = HY_L2_WAYS; i < N + gone; i++)
			assert_int_equal(port_of(keys[i]), i < N ? 1 : 2);
		for (uint32_t i = 0; i < gone; i++)
			assert_int_equal(hy_l2_delete(table, keys[N + i]), 0);
		for (uint32_t i = HY_L2_WAYS; i < N; i++) {
			assert_int_equal(port_of(keys[i]), 1);
			assert_int_equal(hy_l2_delete(table, keys[i]), 0);
		}
		/* Without overflow and without a key in the last slot, workers do not look there. */
		assert_int_equal(view->words[3 * HY_L2_WAYS - 1] == 0, gone > 0);
		hy_l2_table_destroy(table);
		table = NULL;
	}
}

static const struct CMUnitTest tests[] = {
	L2_TEST(slot_waits_for_a_worker_that_found_it),
	L2_TEST(position_in_the_overflow_waits_for_a_worker_that_found_it),
	L2_TEST(room_is_refused_only_while_a_worker_does_not_report),
	L2_TEST(overflow_loses_no_position),
	L2_TEST(worker_that_rests_is_not_waited_for),
	L2_TEST(overflow_is_found_whatever_is_deleted_before),
};
UNIT_SUITE(tests)
