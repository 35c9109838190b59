/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge's table: its memory, its keys, and what it refuses. */

#include <errno.h>
#include <string.h>

#include <rte_memory.h>

#include "l2_fixture.h"

#define ROW 4096 /* keys */

static void
key_is_the_address_as_on_the_wire_with_the_vlan(void **state)
{
	const uint8_t frame[14] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0x00 };
	uint8_t mac[6];

	RTE_SET_USED(state);
	assert_int_equal(hy_l2_key_load(frame, 0x123), UINT64_C(0x8123060504030201));
	assert_int_equal(hy_l2_key_load(frame + 6, 0xfff), UINT64_C(0x8fff0c0b0a090807));
	assert_int_equal(hy_l2_key(frame + 6, 0xfff), hy_l2_key_load(frame + 6, 0xfff));
	assert_int_equal(hy_l2_key(frame, 0), UINT64_C(0x8000060504030201));
	assert_int_equal(hy_l2_key_split(UINT64_C(0x8fff0c0b0a090807), mac), 0xfff);
	assert_memory_equal(mac, frame + 6, 6);
}

static void
parameters_out_of_range_are_refused(void **state)
{
	const struct hy_l2_table_params wrong[] = {
		{ .max_entries = 0, .nb_ports = 1, .socket = SOCKET_ID_ANY },
		{ .max_entries = HY_L2_ENTRIES_MAX + 1, .nb_ports = 1, .socket = SOCKET_ID_ANY },
		{ .max_entries = UINT32_MAX, .nb_ports = 1, .socket = SOCKET_ID_ANY },
		{ .max_entries = 1, .nb_ports = 0, .socket = SOCKET_ID_ANY },
		{ .max_entries = 1, .nb_ports = HY_L2_PORTS + 1, .socket = SOCKET_ID_ANY },
	};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		unit_log_clear();
		assert_int_equal(hy_l2_table_create(&wrong[i], &table), -EINVAL);
		assert_null(table);
		assert_int_equal(unit_log_lines(), 1);
		assert_non_null(strstr(unit_log(), "1 to 16777216 entries and 1 to 4096 ports"));
		assert_int_equal(hy_l2_table_bytes(&wrong[i]), 0);
	}
}

static void
creation_without_memory_leaves_nothing_behind(void **state)
{
	const struct hy_l2_table_params params = {
		.max_entries = 100, .nb_ports = 4, .socket = SOCKET_ID_ANY
	};
	const unsigned int heap = unit_heap_live();
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(failed + 1);
		rc = hy_l2_table_create(&params, &table);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(table);
			assert_int_equal(unit_heap_live(), heap);
			failed++;
		}
	} while (rc < 0 && failed < 100);
	assert_int_equal(rc, 0);
	assert_int_equal(failed, 9); /* the table, seven arrays, the overflow */
}

/* Creation takes what hy_l2_table_bytes() says, and a hundredth more for the heap's own. */
static void
bytes_are_what_the_heap_gives(void **state)
{
	static const uint32_t sizes[] = { 1, 8, 1000, 4096, 65536, 1 << 20 };

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		const struct hy_l2_table_params params = {
			.max_entries = sizes[i], .nb_ports = 16, .socket = SOCKET_ID_ANY
		};
		const size_t bytes = hy_l2_table_bytes(&params);
		const size_t before = unit_heap_bytes();
		size_t taken;

		table_new(sizes[i], NULL);
		taken = unit_heap_bytes() - before;
		hy_l2_table_destroy(table);
		table = NULL;
		print_message("%u entries: %zu bytes stated, %zu taken\n", sizes[i], bytes, taken);
		assert_true(taken >= bytes && taken <= bytes + bytes / 100 + 8192);
	}
}

/* Learns keys until the table is full, and then finds all of them and no other. */
static void
fill(const uint64_t keys[], uint32_t n, const uint64_t others[], uint32_t nb_others)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(learn(keys[i], (uint16_t)(i % 16)), HY_L2_LEARNED);
	for (uint32_t i = 0; i < nb_others; i++)
		assert_int_equal(learn(others[i], 1), HY_L2_REFUSED_LIMIT);
	assert_int_equal(hy_l2_add(table, others[0], 1), -ENOSPC);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(port_of(keys[i]), i % 16);
	for (uint32_t i = 0; i < nb_others; i++)
		assert_int_equal(port_of(others[i]), HY_L2_MISS);
	assert_int_equal(stats().entries, n);
	assert_int_equal(stats().learn[HY_L2_LEARNED], n);
	assert_int_equal(stats().learn[HY_L2_REFUSED_LIMIT], nb_others);
}

static void
table_takes_as_many_as_it_was_created_for(void **state)
{
	enum { N = 10000, MORE = 100 };
	static uint64_t keys[N + MORE];

	RTE_SET_USED(state);
	table_new(N, NULL);
	for (uint32_t i = 0; i < N + MORE; i++)
		keys[i] = key_of(i, (uint16_t)(i % HY_L2_VIDS));
	fill(keys, N, keys + N, MORE);
	assert_in_range(stats().overflowed, 1, N / 50);
}

static void
table_takes_as_many_in_one_bucket(void **state)
{
	enum { N = 1000, MORE = 20 };
	static uint64_t keys[N + MORE];

	RTE_SET_USED(state);
	table_new(N, NULL);
	keys_of_bucket(3, keys, N + MORE);
	fill(keys, N, keys + N, MORE);
	assert_int_equal(stats().overflowed, N - HY_L2_WAYS);
	/* Deleted and learned again, in another order. */
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(hy_l2_delete(table, keys[i]), 0);
	assert_int_equal(stats().entries, 0);
	assert_int_equal(stats().overflowed, 0);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(port_of(keys[i]), HY_L2_MISS);
	for (uint32_t i = N; i-- > 0;)
		assert_int_equal(learn(keys[i], 5), HY_L2_LEARNED);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(port_of(keys[i]), 5);
}

static void
a_million_entries_have_room(void **state)
{
	enum { N = 1 << 20 };
	uint32_t found = 0;

	RTE_SET_USED(state);
	table_new(N, NULL);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(learn(key_of(i, 1), (uint16_t)(i % 7)), HY_L2_LEARNED);
	assert_int_equal(learn(key_of(N, 1), 0), HY_L2_REFUSED_LIMIT);
	for (uint32_t i = 0; i < N; i++)
		found += port_of(key_of(i, 1)) == i % 7;
	assert_int_equal(found, N);
	assert_int_equal(port_of(key_of(N, 1)), HY_L2_MISS);
	assert_in_range(stats().overflowed, N / 1000, N / 50);
	print_message("%u of %u overflowed\n", stats().overflowed, N);
}

/* How many keys of a row are above the eighth of their bucket, in a table that they fill. */
static uint32_t
overflow_of_row(const uint64_t keys[], uint32_t n)
{
	static uint16_t of_bucket[ROW];
	uint32_t overflow = 0;

	assert_true(view->mask / HY_L2_WAYS < n);
	memset(of_bucket, 0, sizeof(of_bucket));
	for (uint32_t i = 0; i < n; i++)
		overflow += of_bucket[hy_l2_bucket(view, keys[i]) / HY_L2_WAYS]++ >= HY_L2_WAYS;
	return overflow;
}

static void
keys_in_a_row_spread_with_each_seed(void **state)
{
	enum { VLANS_OF_MAC, MACS_OF_MAKER, MACS_BY_VLANS, ROWS, SEEDS = 400 };
	static uint64_t keys[ROWS][ROW];
	uint32_t worst[ROWS] = { 0 }, compared = 0;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < ROW; i++) {
		keys[VLANS_OF_MAC][i] = key_of(1, (uint16_t)i);
		keys[MACS_OF_MAKER][i] = key_of(i, 1);
		keys[MACS_BY_VLANS][i] = key_of(i / 256, (uint16_t)(i % 256));
	}
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct hy_l2_table_params params = { .max_entries = ROW,
			.nb_ports = 1,
			.socket = SOCKET_ID_ANY,
			.seed = seed * UINT64_C(0x9e3779b97f4a7c15) };

		assert_int_equal(hy_l2_table_create(&params, &table), 0);
		view = hy_l2_table_view(table);
		for (unsigned int row = 0; row < ROWS; row++) {
			const uint32_t overflow = overflow_of_row(keys[row], ROW);

			worst[row] = RTE_MAX(worst[row], overflow);
			compared++;
		}
		hy_l2_table_destroy(table);
		table = NULL;
	}
	print_message("at worst, %u, %u and %u of %u overflow\n", worst[0], worst[1], worst[2],
		ROW);
	assert_int_equal(compared, SEEDS * ROWS);
	for (unsigned int row = 0; row < ROWS; row++)
		assert_in_range(worst[row], 1, ROW / 40);
}

static void
sources_that_are_none_are_refused(void **state)
{
	const uint64_t good = key_of(1, 4095);

	RTE_SET_USED(state);
	table_new(8, NULL);
	assert_int_equal(learn(0, 1), HY_L2_REFUSED_INVALID);
	assert_int_equal(learn(1, 1), HY_L2_REFUSED_INVALID);
	assert_int_equal(learn(good & ~HY_L2_KEY, 1), HY_L2_REFUSED_INVALID);
	assert_int_equal(learn(good | UINT64_C(1) << 60, 1), HY_L2_REFUSED_INVALID);
	assert_int_equal(learn(good, 16), HY_L2_REFUSED_INVALID);
	assert_int_equal(learn(good, HY_L2_MISS), HY_L2_REFUSED_INVALID);
	assert_int_equal(learn(good | 1, 1), HY_L2_REFUSED_INVALID); /* a group */
	assert_int_equal(stats().learn[HY_L2_REFUSED_INVALID], 7);
	assert_int_equal(hy_l2_add(table, 0, 1), -EINVAL);
	assert_int_equal(hy_l2_add(table, good & ~HY_L2_KEY, 1), -EINVAL);
	assert_int_equal(hy_l2_add(table, good, 16), -EINVAL);
	assert_int_equal(hy_l2_port_limit(table, 16, 1), -EINVAL);
	assert_int_equal(stats().entries, 0);
	/* The address of a group can be added. */
	assert_int_equal(hy_l2_add(table, good | 1, 1), 0);
	assert_int_equal(port_of(good | 1), 1);
	assert_int_equal(learn(good, 15), HY_L2_LEARNED);
	assert_int_equal(port_of(good), 15);
}

static void
words_that_are_no_keys_have_no_entry(void **state)
{
	static const uint64_t words[] = { 0, 1, 2, HY_L2_KEY | UINT64_C(1) << 62 };
	uint64_t keys[20];
	struct hy_l2_entry entry;

	RTE_SET_USED(state);
	table_new(20, NULL);
	keys_of_bucket(0, keys, RTE_DIM(keys));
	for (unsigned int i = 0; i < RTE_DIM(keys); i++)
		assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
	for (unsigned int i = 0; i < HY_L2_WAYS; i++) /* the last word is a tombstone then */
		assert_int_equal(hy_l2_delete(table, keys[i]), 0);
	for (unsigned int i = 0; i < RTE_DIM(words); i++) {
		assert_int_equal(hy_l2_get(table, words[i], &entry), -ENOENT);
		assert_int_equal(hy_l2_delete(table, words[i]), -ENOENT);
	}
	assert_int_equal(hy_l2_get(table, keys[0], &entry), -ENOENT);
	assert_int_equal(hy_l2_delete(table, keys[0]), -ENOENT);
	assert_int_equal(hy_l2_get(table, keys[19], &entry), 0);
	assert_int_equal(stats().entries, RTE_DIM(keys) - HY_L2_WAYS);
}

static const struct CMUnitTest tests[] = {
	L2_TEST(key_is_the_address_as_on_the_wire_with_the_vlan),
	L2_TEST(parameters_out_of_range_are_refused),
	L2_TEST(creation_without_memory_leaves_nothing_behind),
	L2_TEST(bytes_are_what_the_heap_gives),
	L2_TEST(table_takes_as_many_as_it_was_created_for),
	L2_TEST(table_takes_as_many_in_one_bucket),
	L2_TEST(a_million_entries_have_room),
	L2_TEST(keys_in_a_row_spread_with_each_seed),
	L2_TEST(sources_that_are_none_are_refused),
	L2_TEST(words_that_are_no_keys_have_no_entry),
};
UNIT_SUITE(tests)
