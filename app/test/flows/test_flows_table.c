/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of flows: the memory of workers that begin and end, the thread, tables without memory. */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_table.h>

#include "flows_fixture.h"
#include "upcall_fixture.h"

static const struct hy_flows_caches lines = { .index = HY_FLOWS_INDEX_LINES, .lines_log = 12 };
static const struct hy_flows_caches both = { .exact = HY_FLOWS_EXACT_8K,
	.exact_one_in = 1,
	.index = HY_FLOWS_INDEX_LINES,
	.lines_log = 12 };

static struct hy_flow_table_params
params_of(const struct hy_flows_caches *caches)
{
	return (struct hy_flow_table_params){ .name = "test",
		.flows = { .max_flows = 100,
			.max_masks = 10,
			.max_port_masks = 10,
			.pressed_idle = 1000,
			.workers = 3,
			.socket = SOCKET_ID_ANY },
		.caches = *caches,
		.upcalls = { .rules = sim_rules, .room = 16 } };
}

/* Whether the heap has grown by so many bytes, a few for headers besides. */
static void
assert_grown(size_t before, size_t by)
{
	assert_in_range(unit_heap_bytes(), before + by, before + by + by / 8);
}

static void
worker_has_caches_while_it_has_nodes(void **state)
{
	const struct hy_flow_table_params params = params_of(&lines);
	struct hy_flow_table *table;
	size_t before, one;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_table_create(&params, &table), 0);
	one = hy_flows_caches_bytes(hy_flow_table_flows(table), &lines);
	assert_true(one >= (size_t)64 << 12);
	before = unit_heap_bytes();
	assert_int_equal(hy_flow_table_use(table, 1, NULL), 0);
	assert_grown(before, one);
	assert_int_equal(hy_flow_table_use(table, 1, NULL), 0); /* another node of the same */
	assert_grown(before, one);
	assert_int_equal(hy_flows_worker_begin(hy_flow_table_flows(table), 1), -EALREADY);
	assert_int_equal(hy_flow_table_use(table, 2, NULL), 0);
	assert_grown(before, 2 * one);
	assert_int_equal(hy_flows_caches_set(hy_flow_table_flows(table), &both), 0);
	assert_grown(before, 2 * hy_flows_caches_bytes(hy_flow_table_flows(table), &both));
	hy_flow_table_unuse(table, 2);
	hy_flow_table_unuse(table, 1);
	assert_grown(before, hy_flows_caches_bytes(hy_flow_table_flows(table), &both));
	hy_flow_table_unuse(table, 1);
	assert_int_equal(unit_heap_bytes(), before);
	assert_int_equal(hy_flow_table_use(table, 3, NULL), -EINVAL);
	assert_int_equal(hy_flow_table_use(table, 0, (const struct rte_rcu_qsbr *)&before),
		-EINVAL);
	assert_int_equal(hy_flow_table_destroy(table), 0);
}

/* Packets of a worker with caches and of one without them find the same. */
static void
worker_that_has_not_begun_finds_flows_in_the_tables(void **state)
{
	const struct hy_flow_table_params params = params_of(&lines);
	const struct hy_flows_key key = key_of(1);
	struct hy_flow_table *table;
	struct hy_flows *f;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_table_create(&params, &table), 0);
	f = hy_flow_table_flows(table);
	assert_int_equal(hy_flows_add(f,
				 &(struct hy_flows_flow){
					 .key = key, .mask = { .dst = UINT32_MAX }, .action = 9 }),
		0);
	assert_int_equal(hy_flow_table_use(table, 1, NULL), 0);
	for (unsigned int w = 0; w < 2; w++) {
		struct hy_flows_lookups l;
		uint32_t hash, flow, action;

		for (uint32_t i = 0; i < 10; i++) {
			hy_flows_hashes(f, &key, &hash, 1);
			assert_int_equal(hy_flows_lookup(f, w, HY_FLOWS_PARSE_ALL, &key, &hash,
						 &flow, 1),
				0);
			hy_flows_actions(f, &flow, &action, 1);
			assert_int_equal(action, 9);
		}
		hy_flows_lookups(f, w, &l);
		assert_int_equal(l.index, w == 1 ? 9 : 0);
		assert_int_equal(l.masks, w == 1 ? 1 : 10);
	}
	hy_flow_table_unuse(table, 1);
	assert_int_equal(hy_flow_table_destroy(table), 0);
}

static void
thread_of_a_table_tells_the_time(void **state)
{
	struct hy_flow_table_params params = params_of(&lines);
	struct hy_flow_table *table;
	struct hy_flows_stats stats;

	RTE_SET_USED(state);
	params.flows.qsbr = qsbr_new(3);
	assert_int_equal(hy_flow_table_create(&params, &table), 0);
	assert_int_equal(hy_flow_table_run(table), 0);
	assert_int_equal(hy_flow_table_run(table), -EALREADY);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(hy_flows_add(hy_flow_table_flows(table),
					 &(struct hy_flows_flow){ .key = key_of(i),
						 .mask = { .dst = UINT32_MAX },
						 .idle = 100,
						 .hard = i % 2 * 200 }),
			0);
	do {
		rte_delay_us_sleep(1000);
		hy_flows_stats(hy_flow_table_flows(table), &stats);
	} while (stats.flows > 0);
	assert_int_equal(stats.idled + stats.ended, 100);
	assert_int_equal(hy_flow_table_destroy(table), 0);
}

/* It would free at once what a worker searches. */
static void
thread_of_a_table_without_a_qsbr_variable_is_refused(void **state)
{
	const struct hy_flow_table_params params = params_of(&lines);
	struct hy_flow_table *table;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_table_create(&params, &table), 0);
	for (uint32_t i = 0; i < 2; i++) {
		unit_log_clear();
		assert_int_equal(hy_flow_table_run(table), -EINVAL);
		assert_non_null(strstr(unit_log(), "'test' has no QSBR variable"));
	}
	assert_int_equal(hy_flow_table_handle(table, 1), 0); /* the worker's own thread may */
	assert_int_equal(hy_flow_table_destroy(table), 0);
}

struct starter {
	struct hy_flow_table *table;
	pthread_barrier_t *together;
	int rc;
};

static void *
starter_run(void *arg)
{
	struct starter *s = arg;

	pthread_barrier_wait(s->together);
	s->rc = hy_flow_table_run(s->table);
	return NULL;
}

static void
table_that_two_callers_run_has_one_thread(void **state)
{
	struct hy_flow_table_params params = params_of(&lines);
	pthread_barrier_t together;

	RTE_SET_USED(state);
	params.flows.qsbr = qsbr_new(3);
	pthread_barrier_init(&together, NULL, 2);
	for (uint32_t round = 0; round < 50; round++) {
		struct starter one = { .together = &together }, other;
		struct hy_flow_table *table;
		pthread_t thread;

		assert_int_equal(hy_flow_table_create(&params, &table), 0);
		one.table = table;
		other = one;
		assert_int_equal(pthread_create(&thread, NULL, starter_run, &one), 0);
		starter_run(&other);
		pthread_join(thread, NULL);
		assert_int_equal(one.rc + other.rc, -EALREADY);
		assert_int_equal(hy_flow_table_destroy(table), 0);
	}
	pthread_barrier_destroy(&together);
}

static void
table_or_worker_without_memory_is_refused(void **state)
{
	const struct hy_flow_table_params params = params_of(&both);
	unsigned int refused = 0, refused_to_worker = 0;
	struct hy_flow_table *table;
	int rc = -ENOMEM;

	RTE_SET_USED(state);
	for (unsigned int nth = 1; rc != 0; nth++) {
		unit_alloc_fail(nth);
		rc = hy_flow_table_create(&params, &table);
		unit_alloc_fail(0);
		assert_true(rc == 0 || (rc == -ENOMEM && table == NULL));
		refused += rc != 0;
		assert_int_equal(hy_flow_table_find("test") != NULL, rc == 0);
	}
	rc = -ENOMEM;
	for (unsigned int nth = 1; rc != 0; nth++) {
		unit_alloc_fail(nth);
		rc = hy_flow_table_use(table, 0, NULL);
		unit_alloc_fail(0);
		assert_true(rc == 0 || rc == -ENOMEM);
		refused_to_worker += rc != 0;
	}
	assert_true(refused >= 10 && refused_to_worker >= 3);
	hy_flow_table_unuse(table, 0);
	assert_int_equal(hy_flow_table_destroy(table), 0);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(worker_has_caches_while_it_has_nodes),
	FLOWS_TEST(worker_that_has_not_begun_finds_flows_in_the_tables),
	FLOWS_TEST(thread_of_a_table_tells_the_time),
	FLOWS_TEST(thread_of_a_table_without_a_qsbr_variable_is_refused),
	FLOWS_TEST(table_that_two_callers_run_has_one_thread),
	FLOWS_TEST(table_or_worker_without_memory_is_refused),
};
UNIT_SUITE(tests)
