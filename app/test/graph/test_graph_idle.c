/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's rest: when it polls, pauses, sleeps and wakes, walk by walk. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_idle.h>

#include "graph_fixture.h"

/* The devices behind the graph under test: what they answer, and what was asked of them. */
static struct bell {
	struct probe src, pass, sink;
	struct hy_graph *graph;
	int arm_rc, wait_rc;
	uint32_t comes_at_arm;  /* objects that come while the devices are armed */
	uint32_t comes_at_wait; /* and while the worker sleeps */
	unsigned int sleep_us;  /* how long a wait takes */
	bool armed;
	bool changes_at_arm;  /* the graph changes while the devices are armed */
	unsigned int sources; /* of the graph when they were */
	unsigned int arms, waits;
	unsigned int last_usec;
} bell;

static int
bell_arm(struct hy_graph *graph, bool on)
{
	obj_faults += graph != bell.graph || on == bell.armed;
	if (on && bell.arm_rc < 0) {
		bell.arms++;
		return bell.arm_rc;
	}
	/* What was armed is what must be disarmed. */
	obj_faults += !on && bell.sources != graph->plan.nb_sources;
	bell.sources = graph->plan.nb_sources;
	bell.armed = on;
	bell.arms += on;
	if (on && bell.changes_at_arm)
		obj_faults += hy_graph_update(graph, NULL) != 0;
	if (on)
		bell.src.budget += bell.comes_at_arm;
	return 0;
}

static int
bell_wait(struct hy_graph *graph, unsigned int usec)
{
	obj_faults += graph != bell.graph || !bell.armed;
	bell.waits++;
	bell.last_usec = usec;
	bell.src.budget += bell.comes_at_wait;
	rte_delay_us_block(bell.sleep_us);
	return bell.wait_rc;
}

static const struct hy_object_ops bell_ops = { obj_release, bell_arm, bell_wait };

static void
bell_add(const struct hy_object_ops *ops)
{
	bell = (struct bell){ .wait_rc = 1 };
	source_add(&bell.src, "src", "pass");
	pass_add(&bell.pass, "pass", "sink");
	sink_add(&bell.sink, "sink");
	bell.graph = GRAPH("g", .burst = 32, .ops = ops);
}

static void
steps(struct hy_idle *idle, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		hy_idle_step(idle, bell.graph, hy_graph_walk(bell.graph));
}

/* Idle walks, pauses, waits, wake-ups, waits called off. */
static void
assert_rest(const struct hy_idle *idle, uint64_t idle_walks, uint64_t pauses, uint64_t waits,
	uint64_t wakeups, uint64_t called_off)
{
	struct hy_idle_stats stats;

	hy_idle_read(idle, &stats);
	assert_int_equal(stats.idle_walks, idle_walks);
	assert_int_equal(stats.pauses, pauses);
	assert_int_equal(stats.waits, waits);
	assert_int_equal(stats.wakeups, wakeups);
	assert_int_equal(stats.called_off, called_off);
	assert_int_equal(bell.waits, waits);
	assert_false(bell.armed);
}

static const struct hy_idle_params short_ones = {
	.polls = 5, .pauses = 3, .pause_most = 2, .wait_us = 700
};

static void
a_worker_polls_then_pauses_then_sleeps(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	bell.wait_rc = 0; /* nothing comes */
	hy_idle_init(&idle, &short_ones);
	for (unsigned int walk = 1; walk <= 5; walk++) {
		steps(&idle, 1);
		assert_rest(&idle, walk, 0, 0, 0, 0);
	}
	for (unsigned int walk = 1; walk <= 3; walk++) {
		steps(&idle, 1);
		assert_rest(&idle, 5 + walk, walk, 0, 0, 0);
	}
	assert_int_equal(bell.arms, 0);
	/* From here on it sleeps after each walk, having walked once more. */
	for (unsigned int walk = 1; walk <= 4; walk++) {
		steps(&idle, 1);
		assert_rest(&idle, 8 + 2 * walk, 3, walk, 0, 0);
		assert_int_equal(bell.arms, walk);
		assert_int_equal(bell.last_usec, 700);
	}
	assert_int_equal(bell.graph->walks, 16);
}

static void
an_object_takes_a_worker_back_to_polling(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	for (unsigned int before = 0; before <= 12; before++) {
		/* Of the walks before the object, three pause, and each later one is two and sleeps. */
		const unsigned int sleeps = before > 8 ? before - 8 : 0;
		const unsigned int pauses = before > 5 ? RTE_MIN(before - 5, 3u) : 0;

		bell_add(&bell_ops);
		bell.wait_rc = 0;
		hy_idle_init(&idle, &short_ones);
		steps(&idle, before);
		bell.src.budget = 1;
		steps(&idle, 1);
		assert_int_equal(bell.sink.objs, 1);
		assert_rest(&idle, before + sleeps, pauses, sleeps, 0, 0);
		steps(&idle, 5);
		assert_rest(&idle, before + sleeps + 5, pauses, sleeps, 0, 0);
		steps(&idle, 1);
		assert_rest(&idle, before + sleeps + 6, pauses + 1, sleeps, 0, 0);
		registry_clear();
	}
}

static void
a_wake_up_takes_a_worker_back_to_polling(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	bell.comes_at_wait = 40;
	hy_idle_init(&idle, &short_ones);
	steps(&idle, 9);
	assert_rest(&idle, 10, 3, 1, 1, 0);
	assert_int_equal(bell.sink.objs, 0);
	steps(&idle, 2);
	assert_int_equal(bell.sink.objs, 40); /* 32, then 8 */
	/* The driver may be late to show what it rang for: a wake-up without objects counts too. */
	bell.comes_at_wait = 0;
	steps(&idle, 8);
	assert_rest(&idle, 18, 6, 1, 1, 0);
	steps(&idle, 1);
	assert_rest(&idle, 20, 6, 2, 2, 0);
	steps(&idle, 5);
	assert_rest(&idle, 25, 6, 2, 2, 0);
}

/* What comes between the last walk and arming wakes nobody; a worker must not sleep on it. */
static void
objects_that_come_while_a_worker_prepares_to_sleep_call_it_off(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	bell.comes_at_arm = 7;
	hy_idle_init(&idle, &short_ones);
	steps(&idle, 9);
	assert_rest(&idle, 9, 3, 0, 0, 1);
	assert_int_equal(bell.arms, 1);
	assert_int_equal(bell.sink.objs, 7);
	/* From polling again. */
	steps(&idle, 8);
	assert_rest(&idle, 17, 6, 0, 0, 1);
	bell.comes_at_arm = 0;
	steps(&idle, 1);
	assert_rest(&idle, 19, 6, 1, 1, 1);
}

/* The sources that were armed are gone after the walk that looks once more. */
static void
a_live_change_while_a_worker_prepares_to_sleep_calls_it_off(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	source_add(NULL, "another", "pass");
	bell.changes_at_arm = true;
	hy_idle_init(&idle, &short_ones);
	steps(&idle, 9);
	assert_rest(&idle, 10, 3, 0, 0, 1);
	assert_false(hy_graph_updating(bell.graph));
	assert_int_equal(bell.graph->plan.nb_sources, 2);
	bell.changes_at_arm = false;
	steps(&idle, 9);
	assert_rest(&idle, 20, 6, 1, 1, 1);
}

/* A cycle keeps objects from walk to walk, while the sources make none. */
static void
objects_that_go_round_in_a_graph_keep_its_worker_awake(void **state)
{
	struct probe src = { .budget = 1 }, pass = { 0 }, back = { 0 }, sink = { 0 };
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell = (struct bell){ .wait_rc = 1 };
	source_add(&src, "src", "pass");
	pass_add(&pass, "pass", "back");
	NODE(&back, .name = "back", .impl.process = probe_pass, .edges = { "pass", "sink" });
	sink_add(&sink, "sink");
	bell.graph = GRAPH("g", .burst = 32, .ops = &bell_ops, .max_sweeps = 1);
	hy_idle_init(&idle, &short_ones);
	steps(&idle, 100);
	assert_rest(&idle, 99, 0, 0, 0, 0);
	assert_int_equal(pass.calls, 100);
	assert_int_equal(waiting(bell.graph), 1);
}

static void
a_worker_that_nobody_can_wake_pauses_and_asks_again_after_an_object(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	bell.arm_rc = -ENOTSUP;
	hy_idle_init(&idle, &short_ones);
	steps(&idle, 5 + 1000);
	assert_rest(&idle, 1005, 1000, 0, 0, 0);
	assert_int_equal(bell.arms, 1);
	bell.src.budget = 1;
	steps(&idle, 1 + 5 + 100);
	assert_rest(&idle, 1110, 1100, 0, 0, 0);
	assert_int_equal(bell.arms, 2);
	/* It can be woken now; that shows with the next object. */
	bell.arm_rc = 0;
	steps(&idle, 10);
	assert_rest(&idle, 1120, 1110, 0, 0, 0);
	bell.src.budget = 1;
	steps(&idle, 1 + 8);
	assert_rest(&idle, 1128, 1113, 0, 0, 0);
	steps(&idle, 1);
	assert_rest(&idle, 1130, 1113, 1, 1, 0);
}

/* Parameters that leave something out: polls for ever, pauses for ever, sleeps at once. */
static void
what_parameters_leave_out_does_not_happen(void **state)
{
	static const struct {
		struct hy_idle_params params;
		const struct hy_object_ops *ops;
		uint64_t idle_walks, pauses, waits;
	} cases[] = {
		{ { 5, 3, 0, 0 }, &bell_ops, 100, 0, 0 },
		{ { 5, 3, 2, 0 }, &bell_ops, 100, 95, 0 },
		{ { 5, 3, 2, 700 }, &obj_ops, 100, 95, 0 },
		{ { 0, 0, 2, 0 }, &bell_ops, 100, 100, 0 },
		{ { 0, 0, 0, 700 }, &bell_ops, 200, 0, 100 },
		{ { 5, 0, 2, 700 }, &bell_ops, 195, 0, 95 },
		{ { 0, 5, 2, 700 }, &bell_ops, 195, 5, 95 },
		{ { UINT32_MAX, UINT32_MAX, 2, 700 }, &bell_ops, 100, 0, 0 },
		{ { 99, UINT32_MAX, UINT32_MAX, 700 }, &bell_ops, 100, 1, 0 },
	};
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct hy_idle idle;

		bell_add(cases[i].ops);
		bell.wait_rc = 0;
		hy_idle_init(&idle, &cases[i].params);
		steps(&idle, 100);
		assert_rest(&idle, cases[i].idle_walks, cases[i].pauses, cases[i].waits, 0, 0);
		registry_clear();
		compared++;
	}
	assert_int_equal(compared, 9);
}

static void
defaults_are_what_no_parameters_mean(void **state)
{
	struct hy_idle idle;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	hy_idle_init(&idle, NULL);
	assert_memory_equal(&idle.params, &hy_idle_defaults, sizeof(idle.params));
	steps(&idle, hy_idle_defaults.polls);
	assert_rest(&idle, hy_idle_defaults.polls, 0, 0, 0, 0);
	steps(&idle, hy_idle_defaults.pauses);
	assert_rest(&idle, hy_idle_defaults.polls + hy_idle_defaults.pauses,
		hy_idle_defaults.pauses, 0, 0, 0);
	steps(&idle, 1);
	assert_int_equal(bell.waits, 1);
	assert_int_equal(bell.last_usec, hy_idle_defaults.wait_us);
}

static void
time_in_waits_is_counted_and_nothing_else(void **state)
{
	const uint64_t ms = rte_get_tsc_hz() / 1000;
	struct hy_idle_stats stats;
	struct hy_idle idle;
	uint64_t start;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	bell.wait_rc = 0;
	bell.sleep_us = 2000;
	hy_idle_init(&idle, &short_ones);
	steps(&idle, 8);
	hy_idle_read(&idle, &stats);
	assert_int_equal(stats.waited_cycles, 0);
	start = rte_rdtsc();
	steps(&idle, 5);
	hy_idle_read(&idle, &stats);
	assert_in_range(stats.waited_cycles, 10 * ms, rte_rdtsc() - start);
}

static void
half_of_a_way_to_sleep_is_refused(void **state)
{
	static const struct hy_object_ops no_wait = { obj_release, bell_arm, NULL };
	static const struct hy_object_ops no_arm = { obj_release, NULL, bell_wait };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .ops = &no_wait), -EINVAL);
	assert_non_null(strstr(unit_log(), "graph 'g': ops->arm without ops->wait"));
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .ops = &no_arm), -EINVAL);
	assert_non_null(strstr(unit_log(), "graph 'g': ops->wait without ops->arm"));
}

static atomic_bool readers_stop;
static atomic_uint reads, reader_faults;

/* No counter goes back, and none is ahead of what it is a part of by more than a read can miss. */
static void *
read_often(void *arg)
{
	const struct hy_idle *idle = arg;
	struct hy_idle_stats now, last = { 0 };

	while (!atomic_load(&readers_stop)) {
		hy_idle_read(idle, &now);
		if (now.idle_walks < last.idle_walks || now.pauses < last.pauses ||
			now.waits < last.waits || now.wakeups < last.wakeups ||
			now.called_off < last.called_off || now.waited_cycles < last.waited_cycles)
			atomic_fetch_add(&reader_faults, 1);
		last = now;
		atomic_fetch_add(&reads, 1);
	}
	return NULL;
}

static void
another_thread_reads_while_a_worker_rests(void **state)
{
	struct hy_idle idle;
	pthread_t reader;
	unsigned int rounds = 0;

	RTE_SET_USED(state);
	bell_add(&bell_ops);
	hy_idle_init(&idle, &short_ones);
	atomic_store(&readers_stop, false);
	atomic_store(&reads, 0);
	atomic_store(&reader_faults, 0);
	assert_int_equal(pthread_create(&reader, NULL, read_often, &idle), 0);
	while (rounds < 1000 || (atomic_load(&reads) < 1000 && rounds < 10000000)) {
		steps(&idle, 9);
		rounds++;
	}
	atomic_store(&readers_stop, true);
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_true(atomic_load(&reads) >= 1000);
	assert_int_equal(atomic_load(&reader_faults), 0);
	assert_rest(&idle, UINT64_C(10) * rounds, UINT64_C(3) * rounds, rounds, rounds, 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_worker_polls_then_pauses_then_sleeps),
	GRAPH_TEST(an_object_takes_a_worker_back_to_polling),
	GRAPH_TEST(a_wake_up_takes_a_worker_back_to_polling),
	GRAPH_TEST(objects_that_come_while_a_worker_prepares_to_sleep_call_it_off),
	GRAPH_TEST(a_live_change_while_a_worker_prepares_to_sleep_calls_it_off),
	GRAPH_TEST(objects_that_go_round_in_a_graph_keep_its_worker_awake),
	GRAPH_TEST(a_worker_that_nobody_can_wake_pauses_and_asks_again_after_an_object),
	GRAPH_TEST(what_parameters_leave_out_does_not_happen),
	GRAPH_TEST(defaults_are_what_no_parameters_mean),
	GRAPH_TEST(time_in_waits_is_counted_and_nothing_else),
	GRAPH_TEST(half_of_a_way_to_sleep_is_refused),
	GRAPH_TEST(another_thread_reads_while_a_worker_rests),
};

UNIT_SUITE(tests)
