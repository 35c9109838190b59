/* SPDX-License-Identifier: BSD-3-Clause */
/* When megaflows are deleted. */

#include "flows_fixture.h"

static void
add(uint32_t n, uint32_t idle, uint32_t hard)
{
	const struct hy_flows_flow flow = {
		.key = key_of(n), .mask = MASK_DST, .action = n, .idle = idle, .hard = hard
	};

	assert_int_equal(hy_flows_add(flows, &flow), 0);
}

/* A packet comes. */
static void
use(uint32_t n)
{
	const uint32_t bytes = 64;
	const struct hy_flows_key key = key_of(n);
	uint32_t flow;

	assert_int_equal(flows_find(&key, &flow, 1), 0);
	hy_flows_count(flows, 0, &flow, &bytes, 1);
}

static void
megaflows_added_before_the_first_poll_have_their_whole_time(void **state)
{
	static const uint32_t starts[] = { 0, 3000000, UINT32_MAX - 30000 };

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(starts); i++) {
		const uint32_t start = starts[i];
		struct hy_flows_entry entry;

		flows_new(80, 8, 1, NULL);
		add(1, 60000, 0);
		add(2, 0, 60000);
		use(1);
		assert_int_equal(hy_flows_poll(flows, start, UINT32_MAX), 0);
		for (uint32_t t = 10; t < 60000; t += 10)
			assert_int_equal(hy_flows_poll(flows, start + t, UINT32_MAX), 0);
		for (uint32_t n = 1; n <= 2; n++) {
			const struct hy_flows_key key = key_of(n), mask = MASK_DST;

			assert_int_equal(hy_flows_get(flows, &key, &mask, &entry), 0);
			assert_int_equal(entry.age, 59990);
			assert_int_equal(entry.unused, 59990);
		}
		hy_flows_poll(flows, start + 60000, UINT32_MAX);
		hy_flows_poll(flows, start + 60010, UINT32_MAX);
		assert_int_equal(flows_stats().idled, 1);
		assert_int_equal(flows_stats().ended, 1);
		hy_flows_destroy(flows);
		flows = NULL;
	}
}

/* Polls every 10 ms, except that one is late by a second. Returns when a megaflow is deleted. */
static uint32_t
deleted_at(uint32_t idle, uint32_t hard, bool is_used, uint32_t others)
{
	uint32_t t = 0;

	flows_new(80, 8, 1, NULL);
	for (; t <= 20; t += 10)
		assert_int_equal(hy_flows_poll(flows, t, UINT32_MAX), 0);
	/* At 1019: */
	add(1, idle, hard);
	for (uint32_t n = 2; n < 2 + others; n++)
		add(n, 0, 0);
	if (is_used)
		use(1);
	for (t = 1020; hy_flows_poll(flows, t, UINT32_MAX) == 0; t += 10)
		assert_true(t < 10000);
	hy_flows_destroy(flows);
	flows = NULL;
	return t;
}

static void
megaflows_in_use_are_not_deleted_early_when_a_poll_is_late(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(deleted_at(1000, 0, false, 0), 2020);
	assert_int_equal(deleted_at(1000, 0, true, 0), 2020);
	assert_int_equal(deleted_at(0, 1000, true, 0), 2020);
	assert_int_equal(deleted_at(60000, 0, true, 75), 1120); /* under pressure, 100 ms */
}

/* Those that were used after it, at 1020, are not late. */
static void
a_late_poll_delays_only_megaflows_of_that_time(void **state)
{
	RTE_SET_USED(state);
	flows_new(80, 8, 1, NULL);
	hy_flows_poll(flows, 0, 0);
	hy_flows_poll(flows, 10, 0);
	hy_flows_poll(flows, 1020, 0);
	add(1, 1000, 0);
	for (uint32_t t = 1030; t < 2030; t += 10)
		assert_int_equal(hy_flows_poll(flows, t, UINT32_MAX), 0);
	assert_int_equal(hy_flows_poll(flows, 2030, UINT32_MAX), 1);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(megaflows_added_before_the_first_poll_have_their_whole_time),
	FLOWS_TEST(megaflows_in_use_are_not_deleted_early_when_a_poll_is_late),
	FLOWS_TEST(a_late_poll_delays_only_megaflows_of_that_time),
};
UNIT_SUITE(tests)
