/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of megaflows one at a time: limits, grace periods, times, what is counted, lack of memory. */

#include <errno.h>
#include <string.h>

#include <rte_memory.h>

#include "flows_fixture.h"

static const struct hy_flows_key by_dst = MASK_DST, by_5_tuple = MASK_5_TUPLE;

static int
add(uint32_t n, const struct hy_flows_key *mask, uint32_t action)
{
	const struct hy_flows_flow flow = { .key = key_of(n), .mask = *mask, .action = action };

	return hy_flows_add(flows, &flow);
}

static void
a_megaflow_is_added_read_modified_and_deleted(void **state)
{
	struct hy_flows_flow flow = {
		.key = key_of(1), .mask = MASK_DST, .action = 7, .idle = 100, .hard = 1000
	};
	const struct hy_flows_key key = key_of(1);
	struct hy_flows_entry entry;

	RTE_SET_USED(state);
	flows_new(10, 10, 1, NULL);
	assert_int_equal(action_of(&key), HY_FLOWS_MISS);
	assert_int_equal(hy_flows_parse(flows), 0);
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	assert_int_equal(hy_flows_parse(flows), HY_FLOWS_PARSE_IP);
	assert_int_equal(hy_flows_add(flows, &flow), -EEXIST);
	assert_int_equal(action_of(&key), 7);
	assert_int_equal(hy_flows_get(flows, &key, &by_dst, &entry), 0);
	assert_int_equal(entry.flow.key.dst, key.dst);
	assert_int_equal(entry.flow.key.src, 0); /* outside the mask */
	assert_int_equal(entry.flow.mask.port, UINT16_MAX);
	assert_int_equal(entry.flow.idle, 100);
	assert_int_equal(entry.flow.hard, 1000);
	flow.action = 8;
	assert_int_equal(hy_flows_modify(flows, &flow), 0);
	assert_int_equal(action_of(&key), 8);
	assert_int_equal(hy_flows_delete(flows, &key, &by_5_tuple), -ENOENT);
	assert_int_equal(hy_flows_delete(flows, &key, &by_dst), 0);
	assert_int_equal(hy_flows_delete(flows, &key, &by_dst), -ENOENT);
	assert_int_equal(hy_flows_modify(flows, &flow), -ENOENT);
	assert_int_equal(hy_flows_get(flows, &key, &by_dst, &entry), -ENOENT);
	assert_int_equal(action_of(&key), HY_FLOWS_MISS);
	assert_int_equal(hy_flows_parse(flows), 0);
	assert_int_equal(flows_stats().modified, 1);
	assert_int_equal(flows_stats().masks, 0);
}

static void
a_port_that_cannot_be_is_refused_and_missed(void **state)
{
	struct hy_flows_flow flow = { .key = { .port = RTE_MAX_ETHPORTS } };

	RTE_SET_USED(state);
	flows_new(10, 10, 1, NULL);
	assert_int_equal(hy_flows_add(flows, &flow), -EINVAL);
	assert_int_equal(hy_flows_delete(flows, &flow.key, &flow.mask), -ENOENT);
	assert_int_equal(action_of(&flow.key), HY_FLOWS_MISS);
}

static void
wrong_parameters_are_refused(void **state)
{
	const struct hy_flows_params good = { .max_flows = 1,
		.max_masks = 1,
		.max_port_masks = 1,
		.pressed_idle = 1,
		.workers = 1,
		.socket = SOCKET_ID_ANY };
	struct hy_flows_params bad[8];

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(bad); i++)
		bad[i] = good;
	bad[0].max_flows = 0;
	bad[1].max_flows = HY_FLOWS_MOST + 1;
	bad[2].max_masks = 0;
	bad[3].max_masks = HY_FLOWS_MASKS_MOST + 1;
	bad[4].max_port_masks = 0;
	bad[5].pressed_idle = 0;
	bad[6].workers = 0;
	bad[7].max_flows = UINT32_MAX;
	for (uint32_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(hy_flows_create(&bad[i], &flows), -EINVAL);
		assert_null(flows);
		assert_int_equal(hy_flows_bytes(&bad[i]), 0);
	}
	assert_int_equal(unit_log_lines(), RTE_DIM(bad));
	assert_true(hy_flows_bytes(&good) > 0);
}

static void
limits_refuse_and_are_counted(void **state)
{
	const struct hy_flows_key other = { .src = UINT32_MAX };

	RTE_SET_USED(state);
	flows_new(10, 2, 1, NULL);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(add(i, &by_dst, i), 0);
	assert_int_equal(add(9, &by_5_tuple, 9), 0);
	assert_int_equal(add(10, &by_dst, 10), -ENOSPC);
	assert_int_equal(flows_stats().refused_flows, 1);
	assert_int_equal(hy_flows_flush(flows, 1), 0);
	assert_int_equal(hy_flows_delete(flows, &(struct hy_flows_key){ .dst = key_of(0).dst },
				 &by_dst),
		0);
	assert_int_equal(add(11, &other, 11), -ENOSPC);
	assert_int_equal(flows_stats().refused_masks, 1);
	assert_int_equal(flows_stats().masks, 2);
	assert_int_equal(add(10, &by_dst, 10), 0);
	assert_int_equal(hy_flows_flush(flows, 0), 10);
	assert_int_equal(flows_stats().masks, 0);
}

static void
a_port_has_a_limit_of_masks_of_its_own(void **state)
{
	uint32_t refused = 0;

	RTE_SET_USED(state);
	flows_new(1000, 1000, 1, NULL);
	for (uint32_t i = 0; i < 100; i++) {
		struct hy_flows_flow flow = { .key = key_of(i), .mask = { .dst = i + 1 } };

		refused += hy_flows_add(flows, &flow) == -ENOSPC;
	}
	assert_int_equal(refused, 36); /* 64 are possible */
	for (uint16_t port = 1; port < 3; port++) {
		struct hy_flows_flow flow = { .key = key_of(0), .mask = MASK_5_TUPLE };

		flow.key.port = port;
		assert_int_equal(hy_flows_add(flows, &flow), 0);
	}
	assert_int_equal(flows_stats().masks, 66);
	assert_int_equal(hy_flows_flush(flows, 2), 1);
	assert_int_equal(hy_flows_flush(flows, HY_FLOWS_ANY), 65);
}

static void
a_deleted_megaflow_is_not_reused_before_workers_report(void **state)
{
	const struct hy_flows_key key = key_of(0);
	uint32_t flow, action = 0, added = 0;

	RTE_SET_USED(state);
	flows_new(8, 8, 1, qsbr_new(1));
	worker_begins();
	assert_int_equal(add(0, &by_dst, 1000), 0);
	flows_find(&key, &flow, 1);
	assert_int_not_equal(flow, HY_FLOWS_MISS);
	assert_int_equal(hy_flows_delete(flows, &key, &by_dst), 0);
	/* Others come and go until all slots wait for the worker, which still has the first one. */
	for (uint32_t i = 1; i < 1000; i++) {
		const int rc = add(i, &by_5_tuple, i);

		if (rc == -EAGAIN)
			break;
		assert_int_equal(rc, 0);
		added++;
		assert_int_equal(hy_flows_delete(flows, &(struct hy_flows_key){ 0 }, &by_5_tuple),
			-ENOENT);
		assert_int_equal(hy_flows_flush(flows, 0), 1);
	}
	assert_true(added >= 15 && added < 80);
	hy_flows_actions(flows, &flow, &action, 1);
	assert_int_equal(action, 1000);
	worker_reports();
	hy_flows_poll(flows, 1, 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(add(i, &by_dst, i), 0);
	assert_int_equal(action_of(&key), 0);
	worker_rests();
}

static void
a_key_that_was_made_before_a_mask_does_not_match_it(void **state)
{
	/* Without its port, which was not read, the packet looks like one without ports. */
	const struct hy_flows_flow flow = { .mask = { .dport = UINT16_MAX }, .action = 1 };
	struct hy_flows_key key = key_of(1);
	uint32_t found, hash = 5, tried = 0;

	RTE_SET_USED(state);
	flows_new(8, 8, 1, NULL);
	assert_int_equal(add(1, &by_dst, 2), 0);
	key.dst = 0;
	key.dport = 0;
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	for (int kind = 0; kind < HY_FLOWS_EXACTS * HY_FLOWS_INDEXES; kind++) {
		const struct hy_flows_caches kinds = {
			.exact = (enum hy_flows_exact)(kind % HY_FLOWS_EXACTS),
			.exact_one_in = 1,
			.index = (enum hy_flows_index)(kind / HY_FLOWS_EXACTS),
		};

		assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
		for (uint32_t turn = 0; turn < 3; turn++, tried++) { /* then caches have it */
			assert_int_equal(hy_flows_lookup(flows, 0, hy_flows_parse(flows), &key,
						 &hash, &found, 1),
				0);
			assert_int_equal(hy_flows_lookup(flows, 0, HY_FLOWS_PARSE_IP, &key, &hash,
						 &found, 1),
				1);
		}
	}
	assert_int_equal(tried, 3 * HY_FLOWS_EXACTS * HY_FLOWS_INDEXES);
}

static void
packets_bytes_and_use_are_counted_by_each_worker(void **state)
{
	const struct hy_flows_key key = key_of(1);
	struct hy_flows_entry entry;
	uint32_t flow[3] = { 0 };

	RTE_SET_USED(state);
	flows_new(8, 8, 2, NULL);
	hy_flows_poll(flows, 0, 0);
	hy_flows_poll(flows, UINT32_MAX - 10, 0); /* the clock wraps around */
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(add(1, &by_dst, 2), 0);
		flows_find(&key, flow, 1);
		flow[1] = HY_FLOWS_MISS;
		flow[2] = flow[0];
		hy_flows_count(flows, 0, flow, (const uint32_t[]){ 100, 5000, 60 }, 3);
		hy_flows_poll(flows, 10 + 100 * round, 0);
		hy_flows_count(flows, 1, flow, (const uint32_t[]){ 1 }, 1);
		hy_flows_poll(flows, 15 + 100 * round, 0);
		assert_int_equal(hy_flows_get(flows, &key, &by_dst, &entry), 0);
		assert_int_equal(entry.packets, 3);
		assert_int_equal(entry.bytes, 161);
		assert_int_equal(entry.unused, 5);
		assert_int_equal(entry.age, round == 0 ? 26 : 100);
		assert_int_equal(hy_flows_delete(flows, &key, &by_dst), 0);
	}
}

static void
under_pressure_unused_megaflows_make_room(void **state)
{
	uint32_t flow, one = 1;

	RTE_SET_USED(state);
	flows_new(80, 8, 1, NULL);
	hy_flows_poll(flows, 0, 0);
	for (uint32_t i = 0; i < 80; i++) {
		const struct hy_flows_flow f = {
			.key = key_of(i), .mask = MASK_DST, .idle = i < 5 ? 0 : 60000
		};

		assert_int_equal(hy_flows_add(flows, &f), 0);
	}
	for (uint32_t now = 50; now <= 150; now += 50)
		assert_int_equal(hy_flows_poll(flows, now, UINT32_MAX), now == 150 ? 11 : 0);
	for (uint32_t i = 0; i < 80; i++) {
		const struct hy_flows_key key = key_of(i);

		flows_find(&key, &flow, 1);
		hy_flows_count(flows, 0, &flow, &one, flow != HY_FLOWS_MISS);
	}
	assert_int_equal(flows_stats().evicted, 11); /* down to seven eighths */
	assert_int_equal(flows_stats().flows, 69);
}

/* Tables searched for so many hits of one megaflow. */
static uint64_t
tables_for(uint32_t n)
{
	const struct hy_flows_key key = key_of(n);
	struct hy_flows_lookups before, after;
	uint32_t flow;

	hy_flows_lookups(flows, 0, &before);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(flows_find(&key, &flow, 1), 0);
	hy_flows_lookups(flows, 0, &after);
	return after.tables - before.tables;
}

static void
tables_are_sorted_by_hits_each_second(void **state)
{
	RTE_SET_USED(state);
	flows_new(80, 20, 1, NULL);
	hy_flows_poll(flows, 0, 0);
	for (uint32_t i = 0; i < 10; i++) {
		const struct hy_flows_flow f = { .key = key_of(i),
			.mask = { .dst = UINT32_MAX, .tos = (uint8_t)i },
			.action = i };

		assert_int_equal(hy_flows_add(flows, &f), 0);
	}
	assert_int_equal(tables_for(9), 1000);
	hy_flows_poll(flows, 999, 0);
	assert_int_equal(tables_for(9), 1000);
	hy_flows_poll(flows, 1000, 0);
	assert_int_equal(tables_for(9), 100);
	assert_int_equal(tables_for(0), 200);
	assert_int_equal(tables_for(0), 200);
	hy_flows_poll(flows, 2000, 0);
	assert_int_equal(tables_for(0), 100);
	assert_int_equal(tables_for(9), 200);
}

/* One address each, in a table that grows from four buckets, and whose buckets are continued. */
static void
a_table_grows(void **state)
{
	RTE_SET_USED(state);
	flows_new(20000, 8, 1, NULL);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(add(i, &by_dst, i), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		const struct hy_flows_key key = key_of(i);

		assert_int_equal(action_of(&key), i);
	}
	for (uint32_t i = 0; i < 20000; i += 2) {
		const struct hy_flows_key key = key_of(i);

		assert_int_equal(hy_flows_delete(flows, &key, &by_dst), 0);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		const struct hy_flows_key key = key_of(i);

		assert_int_equal(action_of(&key), i % 2 == 0 ? HY_FLOWS_MISS : i);
	}
}

static void
without_memory_nothing_changes(void **state)
{
	const struct hy_flows_params params = { .max_flows = 100,
		.max_masks = 4,
		.max_port_masks = 4,
		.pressed_idle = 1,
		.workers = 2,
		.socket = SOCKET_ID_ANY };
	uint32_t failed = 0, added = 0;
	unsigned int nth = 1;

	RTE_SET_USED(state);
	for (;; nth++) {
		unit_alloc_fail(nth);
		if (hy_flows_create(&params, &flows) == 0)
			break;
		assert_null(flows);
	}
	unit_alloc_fail(0);
	assert_int_equal(nth, 12); /* eleven allocations, and each failed once */
	hy_flows_poll(flows, 0, 0);
	for (uint32_t i = 0; i < 100; i++) {
		const struct hy_flows_key key = key_of(i);
		int rc = -1;

		for (nth = 1; rc != 0; nth++) {
			const struct hy_flows_stats before = flows_stats();

			unit_alloc_fail(nth);
			rc = add(i, i % 10 == 0 ? &by_5_tuple : &by_dst, i);
			unit_alloc_fail(0);
			if (rc == 0)
				break;
			assert_int_equal(rc, -ENOMEM);
			assert_int_equal(flows_stats().flows, before.flows);
			assert_int_equal(flows_stats().masks, before.masks);
			assert_int_equal(action_of(&key), HY_FLOWS_MISS);
			failed++;
		}
		assert_int_equal(action_of(&key), i);
		added++;
	}
	assert_int_equal(added, 100);
	assert_true(failed >= 9);
	assert_int_equal(hy_flows_flush(flows, 0), 100);
	/* An empty table that could not be taken away goes later. */
	assert_int_equal(add(1, &by_dst, 1), 0);
	unit_alloc_fail(1);
	assert_int_equal(hy_flows_flush(flows, 0), 1);
	unit_alloc_fail(0);
	assert_int_equal(flows_stats().masks, 1);
	hy_flows_poll(flows, 5000, 0);
	assert_int_equal(flows_stats().masks, 0);
}

#define PORTS 4
#define PORT_MASKS 60

/* Megaflows of as many masks, that have an idle time. */
static void
add_masks(void)
{
	for (uint32_t i = 0; i < PORTS * PORT_MASKS; i++) {
		struct hy_flows_flow flow = {
			.key = key_of(1), .mask = { .dst = i / PORTS + 1 }, .idle = 100
		};

		flow.key.port = (uint16_t)(i % PORTS);
		assert_int_equal(hy_flows_add(flows, &flow), 0);
	}
	assert_int_equal(flows_stats().masks, PORTS * PORT_MASKS);
}

/* For each port an order, and one union of masks. */
static void
flush_and_poll_publish_each_port_once(void **state)
{
	RTE_SET_USED(state);
	flows_new(1000, 1000, 1, NULL);
	add_masks();
	unit_alloc_fail(0);
	assert_int_equal(hy_flows_flush(flows, HY_FLOWS_ANY), PORTS * PORT_MASKS);
	assert_int_equal(unit_alloc_count(), PORTS + 1);
	assert_int_equal(flows_stats().masks, 0);
	for (uint32_t now = 0; now <= 100; now += 100)
		assert_int_equal(hy_flows_poll(flows, now, UINT32_MAX), 0);
	add_masks();
	unit_alloc_fail(0);
	assert_int_equal(hy_flows_poll(flows, 200, UINT32_MAX), 0);
	assert_int_equal(unit_alloc_count(), 0);
	assert_int_equal(hy_flows_poll(flows, 300, UINT32_MAX), PORTS * PORT_MASKS);
	assert_int_equal(unit_alloc_count(), PORTS + 1);
	assert_int_equal(flows_stats().masks, 0);
	assert_int_equal(hy_flows_parse(flows), 0);
}

static void
tables_that_keep_their_order_are_not_published_each_second(void **state)
{
	unsigned int live;

	RTE_SET_USED(state);
	flows_new(1000, 1000, 1, qsbr_new(1));
	hy_flows_poll(flows, 0, 0);
	add_masks();
	hy_flows_poll(flows, 1000, 0);
	hy_flows_poll(flows, 2000, 0);
	worker_begins();
	live = unit_heap_live();
	hy_flows_poll(flows, 3000, 0);
	assert_int_equal(unit_heap_live(),
		live); /* or the worker would keep what was unpublished */
	worker_rests();
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(a_megaflow_is_added_read_modified_and_deleted),
	FLOWS_TEST(a_port_that_cannot_be_is_refused_and_missed),
	FLOWS_TEST(wrong_parameters_are_refused),
	FLOWS_TEST(limits_refuse_and_are_counted),
	FLOWS_TEST(a_port_has_a_limit_of_masks_of_its_own),
	FLOWS_TEST(a_deleted_megaflow_is_not_reused_before_workers_report),
	FLOWS_TEST(a_key_that_was_made_before_a_mask_does_not_match_it),
	FLOWS_TEST(packets_bytes_and_use_are_counted_by_each_worker),
	FLOWS_TEST(under_pressure_unused_megaflows_make_room),
	FLOWS_TEST(tables_are_sorted_by_hits_each_second),
	FLOWS_TEST(a_table_grows),
	FLOWS_TEST(without_memory_nothing_changes),
	FLOWS_TEST(flush_and_poll_publish_each_port_once),
	FLOWS_TEST(tables_that_keep_their_order_are_not_published_each_second),
};
UNIT_SUITE(tests)
