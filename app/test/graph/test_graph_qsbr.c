/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs that report to a QSBR variable: when a writer waits for them, and when it does not. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_idle.h>
#include <hy_trace.h>

#include "graph_fixture.h"

#define READERS 4

static struct rte_rcu_qsbr *qsbr;

static struct rte_rcu_qsbr *
qsbr_new(void)
{
	struct rte_rcu_qsbr *v = rte_malloc(NULL, rte_rcu_qsbr_get_memsize(READERS),
		RTE_CACHE_LINE_SIZE);

	assert_non_null(v);
	assert_int_equal(rte_rcu_qsbr_init(v, READERS), 0);
	return v;
}

static int
qsbr_setup(void **state)
{
	qsbr = qsbr_new();
	return graph_setup(state);
}

static int
qsbr_teardown(void **state)
{
	const int rc = graph_teardown(state); /* destroys the graphs */
	const uint32_t left = qsbr->num_threads;

	if (left != 0)
		print_error("%u readers are registered after the test\n", left);
	rte_free(qsbr);
	return left == 0 ? rc : -1;
}

/* Whether a writer that begins to wait now would be through at once. */
static bool
nobody_holds(void)
{
	return rte_rcu_qsbr_check(qsbr, rte_rcu_qsbr_start(qsbr), false);
}

/* What a writer saw that asked during a walk: by the source, then by the sink. */
static struct {
	uint64_t token; /* of the one that began to wait in the source */
	unsigned int asked, free;
} writer;

static uint16_t
source_asks(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	writer.token = rte_rcu_qsbr_start(qsbr);
	writer.asked++;
	writer.free += rte_rcu_qsbr_check(qsbr, writer.token, false);
	return probe_source(graph, node, objs, n);
}

static uint16_t
sink_asks(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	probe_sink(graph, node, objs, n);
	writer.asked++;
	writer.free += rte_rcu_qsbr_check(qsbr, writer.token, false);
	return n;
}

/* One object a walk, which a writer asks at. */
static void
nodes_add(struct probe *src)
{
	static struct probe sink;

	memset(&writer, 0, sizeof(writer));
	*src = (struct probe){ .budget = UINT32_MAX, .per_call = 1 };
	NODE(src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source_asks,
		.edges = { "sink" });
	NODE(&sink, .name = "sink", .impl.process = sink_asks);
}

/* Walks, and sees that a writer had to wait in all of it and not after. */
static void
walk_holds(struct hy_graph *graph)
{
	memset(&writer, 0, sizeof(writer));
	hy_graph_walk(graph);
	assert_int_equal(writer.asked, 2);
	assert_int_equal(writer.free, 0);
	assert_true(rte_rcu_qsbr_check(qsbr, writer.token, false));
}

static void
a_writer_waits_for_a_walk_under_way_and_no_longer(void **state)
{
	struct hy_graph *graph;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	graph = GRAPH("g", .worker = 2, .qsbr = qsbr, .sample_every = 3);
	assert_ptr_equal(hy_graph_qsbr(graph), qsbr);
	for (unsigned int i = 0; i < 10; i++) /* timed ones, too */
		walk_holds(graph);
	assert_int_equal(qsbr->qsbr_cnt[2].cnt, qsbr->token);
	/* What begins after the walk has to wait for the next one. */
	assert_false(nobody_holds());
	walk_holds(graph);
}

static void
a_traced_walk_reports_as_others_do(void **state)
{
	const struct hy_trace_params all = { .nb_objs = 5 };
	struct hy_trace_state trace;
	struct hy_graph *graph;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	graph = GRAPH("g", .qsbr = qsbr);
	assert_int_equal(hy_trace_start(graph, &all), 0);
	for (unsigned int i = 0; i < 5; i++) {
		walk_holds(graph);
		hy_graph_rest(graph);
		assert_true(nobody_holds());
	}
	assert_int_equal(hy_trace_status(graph, &trace), 0);
	assert_int_equal(trace.marked, 5);
	assert_false(trace.running);
	hy_trace_stop(graph);
}

static void
a_graph_that_was_never_walked_holds_nobody_up(void **state)
{
	struct hy_graph *graph;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	graph = GRAPH("g", .qsbr = qsbr);
	assert_int_equal(qsbr->num_threads, 1);
	assert_true(nobody_holds());
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_true(nobody_holds());
	walk_holds(graph); /* which takes the change up, and goes online before */
	assert_false(hy_graph_updating(graph));
}

static void
a_graph_at_rest_holds_nobody_up_until_it_is_walked_again(void **state)
{
	struct hy_graph *graph;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	graph = GRAPH("g", .qsbr = qsbr);
	for (unsigned int i = 0; i < 3; i++) {
		walk_holds(graph);
		assert_false(nobody_holds());
		hy_graph_rest(graph);
		hy_graph_rest(graph); /* again is as good as once */
		assert_true(nobody_holds());
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		assert_true(nobody_holds());
	}
	assert_int_equal(graph->walks, 3);
}

static void
a_graph_without_a_variable_says_when_it_rests(void **state)
{
	struct hy_graph *graph;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	graph = GRAPH("g", .worker = UINT16_MAX);
	assert_null(hy_graph_qsbr(graph));
	assert_true(hy_graph_resting(graph));
	hy_graph_walk(graph);
	assert_false(hy_graph_resting(graph));
	assert_int_equal(graph->attention, 0);
	hy_graph_rest(graph);
	assert_true(hy_graph_resting(graph));
	assert_int_equal(qsbr->num_threads, 0);
	assert_true(nobody_holds());
}

/* A worker's sleep, in which a writer comes. */
static unsigned int sleeps, sleeps_free;

static int
bell_arm(struct hy_graph *graph, bool on)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(on);
	return 0;
}

static int
bell_wait(struct hy_graph *graph, unsigned int usec)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(usec);
	sleeps++;
	sleeps_free += nobody_holds();
	return 0;
}

static void
a_worker_asleep_holds_nobody_up_and_one_that_polls_does(void **state)
{
	static const struct hy_object_ops ops = { obj_release, bell_arm, bell_wait };
	const struct hy_idle_params at_third = { .polls = 2, .wait_us = 1 };
	struct hy_graph *graph;
	struct hy_idle idle;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	src.budget = 0;
	sleeps = sleeps_free = 0;
	graph = GRAPH("g", .qsbr = qsbr, .ops = &ops);
	hy_idle_init(&idle, &at_third);
	for (unsigned int i = 0; i < 2; i++) {
		hy_idle_step(&idle, graph, hy_graph_walk(graph));
		assert_int_equal(sleeps, 0);
		assert_false(nobody_holds());
	}
	for (unsigned int i = 1; i <= 3; i++) {
		hy_idle_step(&idle, graph, hy_graph_walk(graph));
		assert_int_equal(sleeps, i);
		assert_int_equal(sleeps_free, i);
		/* The walk before its sleep, and the one that woke it, were held for. */
		assert_int_equal(writer.free, 0);
		assert_int_equal(writer.asked, 2 + 2 * i);
	}
	src.budget = UINT32_MAX;
	walk_holds(graph);
}

/* Two walks to the sink, one object at a time: "mid" sends all back to "pass" first. */
static struct hy_graph *
circle_add(struct probe *src, struct probe *mid, hy_node_process_t *process)
{
	*src = (struct probe){ .budget = 1 };
	*mid = (struct probe){ .nb_edges = 2, .copies = 2 };
	source_add(src, "src", "pass");
	pass_add(NULL, "pass", "mid");
	NODE(mid, .name = "mid", .impl.process = process, .edges = { "pass", "sink" },
		.replicates = process == probe_replicate ? 2 : 1);
	sink_add(NULL, "sink");
	return GRAPH("g", .qsbr = qsbr, .max_sweeps = 1, .burst = 1);
}

static uint16_t
back_once(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		hy_enqueue_x1(graph, node, obj->hops++ < 2 ? 0 : 1, &objs[i]);
	}
	return n;
}

static void
objects_that_stay_in_a_cycle_hold_a_writer_up_until_they_are_gone(void **state)
{
	struct probe src, mid;
	struct hy_graph *graph;
	uint64_t token;

	RTE_SET_USED(state);
	graph = circle_add(&src, &mid, back_once);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 1);
	token = rte_rcu_qsbr_start(qsbr);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 1);
	assert_false(rte_rcu_qsbr_check(qsbr, token, false));
	hy_graph_rest(graph); /* no good while it holds something */
	assert_false(rte_rcu_qsbr_check(qsbr, token, false));
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 0);
	assert_true(rte_rcu_qsbr_check(qsbr, token, false));
	assert_false(nobody_holds());
	hy_graph_rest(graph);
	assert_true(nobody_holds());
}

static void
what_is_destroyed_with_objects_in_it_holds_nobody_up_after(void **state)
{
	struct probe src, mid;
	struct hy_graph *graph;
	uint64_t token;

	RTE_SET_USED(state);
	graph = circle_add(&src, &mid, probe_replicate);
	assert_true(graph->plan.throttled);
	for (unsigned int i = 0; i < 5; i++)
		hy_graph_walk(graph);
	assert_in_range(waiting(graph), 1, 100);
	token = rte_rcu_qsbr_start(qsbr);
	hy_graph_walk(graph);
	assert_false(rte_rcu_qsbr_check(qsbr, token, false));
	hy_graph_destroy(graph);
	assert_true(rte_rcu_qsbr_check(qsbr, token, false));
	assert_int_equal(qsbr->num_threads, 0);
}

static void
a_writer_waits_for_each_of_several_workers(void **state)
{
	struct hy_graph *graphs[READERS];
	struct probe src;
	uint64_t token;

	RTE_SET_USED(state);
	nodes_add(&src);
	graphs[0] = GRAPH("g0", .qsbr = qsbr);
	for (uint16_t w = 1; w < READERS; w++) {
		const char name[] = { 'g', (char)('0' + w), '\0' };

		assert_int_equal(hy_graph_clone(graphs[0], name, w, SOCKET_ID_ANY, &graphs[w]), 0);
		assert_ptr_equal(hy_graph_qsbr(graphs[w]), qsbr);
	}
	assert_int_equal(qsbr->num_threads, READERS);
	for (unsigned int w = 0; w < READERS; w++)
		hy_graph_walk(graphs[w]);
	token = rte_rcu_qsbr_start(qsbr);
	for (unsigned int w = 0; w < READERS; w++) {
		assert_false(rte_rcu_qsbr_check(qsbr, token, false));
		if (w % 2 == 0)
			hy_graph_walk(graphs[w]);
		else
			hy_graph_rest(graphs[w]);
	}
	/* The source itself begins another wait in each walk: two of them have. */
	assert_int_equal(qsbr->token, token + 2);
	assert_true(rte_rcu_qsbr_check(qsbr, token, false));
}

static void
two_graphs_do_not_report_under_one_number(void **state)
{
	struct rte_rcu_qsbr *other;
	struct hy_graph *first, *second;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	first = GRAPH("first", .worker = 3, .qsbr = qsbr);
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("second", &second, .worker = 3, .qsbr = qsbr), -EBUSY);
	assert_non_null(strstr(unit_log(),
		"graph 'second': graph 'first' reports to the QSBR variable as worker 3 already"));
	assert_int_equal(unit_log_lines(), 1);
	assert_int_equal(hy_graph_clone(first, "second", 3, SOCKET_ID_ANY, &second), -EBUSY);
	assert_int_equal(qsbr->num_threads, 1);
	walk_holds(first);

	/* Another number, another variable and none are accepted; so is what was left. */
	other = qsbr_new();
	GRAPH("number", .worker = 2, .qsbr = qsbr);
	second = GRAPH("variable", .worker = 3, .qsbr = other);
	GRAPH("none", .worker = 3);
	assert_int_equal(qsbr->num_threads, 2);
	hy_graph_destroy(second);
	rte_free(other);
	hy_graph_destroy(first);
	assert_true(nobody_holds());
	second = GRAPH("second", .worker = 3, .qsbr = qsbr);
	assert_true(nobody_holds()); /* it was never walked, though number 3 was */
	walk_holds(second);
}

static void
numbers_beyond_the_variable_are_refused(void **state)
{
	struct hy_graph *graph;
	struct probe src;

	RTE_SET_USED(state);
	nodes_add(&src);
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .worker = READERS, .qsbr = qsbr), -EINVAL);
	assert_non_null(strstr(unit_log(),
		"graph 'g': worker is 4; numbers below 4 are accepted, since that many can report "
		"to its QSBR variable"));
	assert_int_equal(unit_log_lines(), 1);
	assert_int_equal(GRAPH_TRY("g", &graph, .worker = UINT16_MAX, .qsbr = qsbr), -EINVAL);
	assert_int_equal(qsbr->num_threads, 0);
	GRAPH("g", .worker = READERS - 1, .qsbr = qsbr);
	assert_int_equal(qsbr->num_threads, 1);
}

/* A node whose table has a variable: it accepts only graphs that report there. */
static int
init_compares(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	return hy_graph_qsbr(graph) == qsbr
		? 0
		: hy_node_refuse(graph, node, "the graph reports to another QSBR variable");
}

static void
a_node_can_refuse_graphs_that_report_elsewhere(void **state)
{
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	NODE(NULL, .name = "sink", .impl = { .process = probe_sink, .init = init_compares });
	assert_int_equal(GRAPH_TRY("g", &graph), -EINVAL);
	graph = GRAPH("g", .qsbr = qsbr, .worker = 1);
	hy_graph_params_get(graph, &params);
	assert_ptr_equal(params.qsbr, qsbr);
	params.qsbr = NULL;
	unit_log_clear();
	assert_int_equal(hy_graph_update(graph, &params), -EINVAL);
	assert_non_null(strstr(unit_log(), "ops, worker, socket and qsbr cannot change"));
	params.qsbr = qsbr;
	assert_int_equal(hy_graph_update(graph, &params), 0);
}

static void
a_graph_that_is_refused_leaves_no_reader(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "src", "nowhere");
	assert_int_equal(GRAPH_TRY("g", &graph, .qsbr = qsbr), -ENOENT);
	assert_int_equal(qsbr->num_threads, 0);
	sink_add(NULL, "nowhere");
	GRAPH("g", .qsbr = qsbr);
	assert_int_equal(qsbr->num_threads, 1);
}

#define QSBR_TEST(f) cmocka_unit_test_setup_teardown(f, qsbr_setup, qsbr_teardown)

static const struct CMUnitTest tests[] = {
	QSBR_TEST(a_writer_waits_for_a_walk_under_way_and_no_longer),
	QSBR_TEST(a_traced_walk_reports_as_others_do),
	QSBR_TEST(a_graph_that_was_never_walked_holds_nobody_up),
	QSBR_TEST(a_graph_at_rest_holds_nobody_up_until_it_is_walked_again),
	QSBR_TEST(a_graph_without_a_variable_says_when_it_rests),
	QSBR_TEST(a_worker_asleep_holds_nobody_up_and_one_that_polls_does),
	QSBR_TEST(objects_that_stay_in_a_cycle_hold_a_writer_up_until_they_are_gone),
	QSBR_TEST(what_is_destroyed_with_objects_in_it_holds_nobody_up_after),
	QSBR_TEST(a_writer_waits_for_each_of_several_workers),
	QSBR_TEST(two_graphs_do_not_report_under_one_number),
	QSBR_TEST(numbers_beyond_the_variable_are_refused),
	QSBR_TEST(a_node_can_refuse_graphs_that_report_elsewhere),
	QSBR_TEST(a_graph_that_is_refused_leaves_no_reader),
};

UNIT_SUITE(tests)
