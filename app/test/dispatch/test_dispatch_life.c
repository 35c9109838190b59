/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatches that sleep, are refused, or lack memory. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <hy_idle.h>
#include "lib/graph/compile/image.h"

#include "app/test/graph/owned.h"
#include "dispatch_fixture.h"

/* Devices that worker 1 sleeps on. */
static struct {
	unsigned int waits, rings;
	bool armed;
	bool comes_late; /* objects come between the last walk and the sleep */
} bed;

static int
bed_arm(struct hy_graph *graph, bool on)
{
	RTE_SET_USED(graph);
	bed.armed = on;
	return 0;
}

static int
bed_wait(struct hy_graph *graph, unsigned int usec)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(usec);
	obj_faults += !bed.armed;
	bed.waits++;
	walk(0);
	return bed.rings > 0;
}

static void
bed_ring(uint16_t worker, void *arg)
{
	obj_faults += worker != 1 || arg != &bed || !bed.armed;
	bed.rings++;
}

static void
a_worker_that_sleeps_is_woken_once_for_what_comes(void **state)
{
	static const struct hy_object_ops ops = {
		.release = obj_release, .arm = bed_arm, .wait = bed_wait
	};
	const struct hy_idle_params now = { .polls = 0, .pauses = 0, .wait_us = 1000 };
	struct hy_idle idle;

	RTE_SET_USED(state);
	for (unsigned int notifies = 0; notifies < 2; notifies++) {
		struct hy_graph *graph;

		memset(&bed, 0, sizeof(bed));
		chain_add();
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops), .nb_workers = 2,
			.notify = notifies ? bed_ring : NULL, .arg = &bed,
			PINS({ "work", WORKERS(1) }));
		graph = hy_dispatch_graph(dispatch, 1);
		hy_idle_init(&idle, &now);
		hy_idle_step(&idle, graph, hy_graph_walk(graph));
		assert_int_equal(bed.waits, notifies); /* else nobody could wake it */
		assert_int_equal(bed.rings, notifies);
		assert_int_equal(idle.stats.wakeups, notifies);
		assert_false(bed.armed);
		walk(0);
		assert_int_equal(bed.rings, notifies); /* it is awake */
		assert_int_equal(hy_graph_walk(graph), BURST);
		hy_dispatch_destroy(dispatch);
		dispatch = NULL;
		registry_clear();
	}
}

static void
a_worker_that_is_held_back_does_not_sleep(void **state)
{
	static const struct hy_object_ops ops = {
		.release = obj_release, .arm = bed_arm, .wait = bed_wait
	};
	const struct hy_idle_params now = { .polls = 0, .pauses = 0, .wait_us = 1000 };
	struct hy_idle idle;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	memset(&bed, 0, sizeof(bed));
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops), .nb_workers = 2, .notify = bed_ring,
		.arg = &bed, .ring_bursts = 1, PINS({ "work", WORKERS(1) }));
	graph = hy_dispatch_graph(dispatch, 0);
	hy_idle_init(&idle, &now);
	for (unsigned int i = 0; i < 10; i++)
		hy_idle_step(&idle, graph, hy_graph_walk(graph));
	assert_int_equal(bed.waits, 0);
	assert_int_equal(rig.src.objs, BURST);
}

static void *
drained(void *arg)
{
	RTE_SET_USED(arg);
	obj_faults += hy_dispatch_drain(dispatch) != 0;
	return NULL;
}

/* While a worker sleeps: it may not do so itself. */
static void
on_another_thread(void *(*what)(void *arg))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, what, NULL) != 0 || pthread_join(thread, NULL) != 0)
		obj_faults++;
}

static int
bed_wait_drained(struct hy_graph *graph, unsigned int usec)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(usec);
	bed.waits++;
	on_another_thread(drained);
	return 1;
}

static void
who_waits_for_workers_wakes_them_though_there_is_nothing(void **state)
{
	static const struct hy_object_ops ops = {
		.release = obj_release, .arm = bed_arm, .wait = bed_wait_drained
	};
	const struct hy_idle_params now = { .polls = 0, .pauses = 0, .wait_us = 1000 };
	struct hy_graph *graph;
	struct hy_idle idle;

	RTE_SET_USED(state);
	memset(&bed, 0, sizeof(bed));
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops), .nb_workers = 2, .notify = bed_ring,
		.arg = &bed, PINS({ "work", WORKERS(1) }));
	graph = hy_dispatch_graph(dispatch, 1);
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	hy_idle_init(&idle, &now);
	hy_idle_step(&idle, graph, hy_graph_walk(graph));
	assert_int_equal(bed.waits, 1);
	assert_int_equal(bed.rings, 1);
	assert_int_equal(rig.src.objs, 0);
}

/* Pins nodes anew while worker 1 sleeps: it is rung for before graphs are compiled. */
static void *
pinned(void *arg)
{
	static const uint16_t one[] = { 1 };
	const struct hy_dispatch_pin pins[] = { { "work", one, 1 }, { "sink", one, 1 } };

	RTE_SET_USED(arg);
	obj_faults += hy_dispatch_pin(dispatch, pins, 2) != 0;
	return NULL;
}

static int
bed_wait_pinned(struct hy_graph *graph, unsigned int usec)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(usec);
	bed.waits++;
	on_another_thread(pinned);
	return 1;
}

/* Another thread's change of the registry, in the midst of the call. */
static void
bed_ring_changes(uint16_t worker, void *arg)
{
	hy_node_id id;

	bed_ring(worker, arg);
	obj_faults += hy_node_lookup("src", &id) != 0 || hy_node_edge_add(id, "sink", NULL) != 0;
}

static void
pins_hold_for_an_edge_that_comes_while_they_change(void **state)
{
	static const struct hy_object_ops ops = {
		.release = obj_release, .arm = bed_arm, .wait = bed_wait_pinned
	};
	const struct hy_idle_params now = { .polls = 0, .pauses = 0, .wait_us = 1000 };
	struct hy_graph *graph;
	struct hy_idle idle;
	struct hy_node *node;

	RTE_SET_USED(state);
	memset(&bed, 0, sizeof(bed));
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops), .nb_workers = 2, .notify = bed_ring_changes,
		.arg = &bed, PINS({ "work", WORKERS(1) }));
	graph = hy_dispatch_graph(dispatch, 1);
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	hy_idle_init(&idle, &now);
	hy_idle_step(&idle, graph, hy_graph_walk(graph));
	assert_int_equal(bed.waits, 1);
	assert_int_equal(bed.rings, 1);
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(rig.sink.objs, BURST);
	assert_int_equal(hy_graph_node(hy_dispatch_graph(dispatch, 0), "sink", &node), -ENOENT);
	graph_node(hy_dispatch_graph(dispatch, 0), "d-out-sink");
	graph_node(graph, "d-in-sink");
}

/* Worker 0, which was looking for a new graph when there was none yet, and goes on much later. */
static struct {
	bool wanted;
	int begun, may_go_on;
	hy_walk_model_t *walk;
	pthread_t thread;
} late;

static void
late_walk(struct hy_graph *graph, struct hy_walk *walking, void *ctx)
{
	__atomic_store_n(&late.begun, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&late.may_go_on, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	late.walk(graph, walking, ctx);
}

static void *
late_worker(void *arg)
{
	RTE_SET_USED(arg);
	walk(0);
	return NULL;
}

/* New graphs are being compiled. */
static int
late_begin(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (!late.wanted)
		return 0;
	late.wanted = false;
	obj_faults += pthread_create(&late.thread, NULL, late_worker, NULL) != 0;
	while (__atomic_load_n(&late.begun, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	return 0;
}

static void
a_worker_that_is_late_sends_nothing_the_old_way(void **state)
{
	static const uint16_t two[] = { 2 };
	const struct hy_dispatch_pin pin = { "work", two, 1 };
	struct probe src = { 0 }, sink = { 0 };

	RTE_SET_USED(state);
	memset(&late, 0, sizeof(late));
	source_add(&src, "src", "work");
	NODE(NULL, .name = "work", .impl = { .process = probe_pass, .init = late_begin },
		.edges = { "sink" });
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 3, .patience_ms = 1,
		PINS({ "work", WORKERS(1) }));
	for (uint16_t w = 0; w < 3; w++)
		hy_graph_rest(hy_dispatch_graph(dispatch, w));
	late.walk = hy_dispatch_graph(dispatch, 0)->image->walk;
	hy_dispatch_graph(dispatch, 0)->image->walk = late_walk;
	late.wanted = true;
	unit_log_clear();
	assert_int_equal(hy_dispatch_pin(dispatch, &pin, 1), 0);
	assert_int_equal(unit_log_lines(), 1);
	assert_non_null(strstr(unit_log(), "a worker has not taken its new graph up yet"));
	src.budget = BURST;
	__atomic_store_n(&late.may_go_on, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(late.thread, NULL), 0);
	assert_int_equal(src.objs, 0);
	assert_int_equal(walk(0), BURST); /* by its new graph */
	assert_int_equal(walk(1), 0);
	assert_int_equal(walk(2), BURST);
	assert_int_equal(sink.objs, BURST);
	for (uint16_t w = 0; w < 3; w++)
		hy_graph_rest(hy_dispatch_graph(dispatch, w));
	assert_int_equal(hy_dispatch_drain(dispatch), 0);
}

static void
a_dispatch_that_is_short_of_memory_leaves_nothing_behind(void **state)
{
	static const uint16_t both[] = { 0, 1 }, one[] = { 1 };
	const struct hy_dispatch_pin pins[] = { { "work", both, 2 }, { "sink", one, 1 } };
	const struct hy_dispatch_params params = { .graph = CHAIN_PARAMS(.ops = &flow_ops,
							   .lanes = { "x" }),
		.nb_workers = 2,
		.pins = pins,
		.nb_pins = 2 };
	unsigned int failed = 0;
	int rc = -ENOMEM;

	RTE_SET_USED(state);
	chain_add();
	for (unsigned int nth = 1; rc == -ENOMEM; nth++) {
		const int64_t live = unit_alloc_live();
		const unsigned int heap = unit_heap_live();

		unit_alloc_fail(nth);
		rc = hy_dispatch_create("d", &params, &dispatch);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(unit_heap_live(), heap);
	}
	assert_int_equal(rc, 0);
	assert_true(failed > 50);
	walk(0);
	/* Likewise, pins: upon a failure the old ones hold. */
	walk(1);
	for (uint16_t w = 0; w < 2; w++)
		hy_graph_rest(hy_dispatch_graph(dispatch, w));
	rc = -ENOMEM;
	for (unsigned int nth = 1; rc == -ENOMEM; nth++) {
		unit_alloc_fail(nth);
		rc = hy_dispatch_pin(dispatch, pins + 1, 1);
		unit_alloc_fail(0);
		failed += rc == -ENOMEM;
	}
	assert_int_equal(rc, 0);
	assert_true(failed > 100);
	walk(0);
	walk(1);
	assert_int_equal(rig.sink.objs, rig.src.objs);
}

/* rte_graph leaves a clone that is destroyed in the run queue of its worker. */
static void
a_destroyed_dispatch_is_in_no_list_and_none_of_its_objects_come_again(void **state)
{
	static const char *const nodes[] = { "d-out-work", "d-split-work", "d-in-work", "d-idle" };
	struct hy_graph *graph;
	struct hy_stats *stats;
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	for (unsigned int round = 0; round < 3; round++) {
		const uint64_t before = rig.work.objs;

		DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2,
			PINS({ "work", WORKERS(1) }));
		assert_int_equal(walk(1), 0); /* nothing of the one before */
		assert_int_equal(walk(0), BURST);
		assert_int_equal(walk(1), BURST);
		assert_int_equal(walk(0), BURST);
		assert_int_equal(hy_dispatch_destroy(dispatch), BURST);
		dispatch = NULL;
		assert_int_equal(rig.work.objs, before + BURST);
		assert_int_equal(obj_under_way, 0);
		assert_int_equal(hy_graph_lookup("d-0", &graph), -ENOENT);
		assert_int_equal(hy_graph_lookup("d-1", &graph), -ENOENT);
		assert_int_equal(hy_stats_read("d-*", &stats), -ENOENT);
		for (size_t i = 0; i < RTE_DIM(nodes); i++)
			assert_int_equal(hy_node_lookup(nodes[i], &id), -ENOENT);
	}
	assert_int_equal(rig.sink.objs, 3 * BURST);
}

static void
what_cannot_be_is_refused_in_words_and_changes_nothing(void **state)
{
	static const uint16_t one[] = { 1 }, both[] = { 0, 1 }, twice[] = { 1, 1 }, far[] = { 2 };
	static const struct hy_object_ops no_hash = { .release = obj_release };
	static const struct {
		struct hy_dispatch_pin pin;
		const struct hy_object_ops *ops;
		const char *log;
	} cases[] = {
		{ { "nobody", one, 1 }, &flow_ops, "no node that can be pinned matches" },
		{ { NULL, one, 1 }, &flow_ops, "a pattern and a worker are required" },
		{ { "work", one, 0 }, &flow_ops, "a pattern and a worker are required" },
		{ { "work", far, 1 }, &flow_ops, "worker 2; numbers below 2 are accepted" },
		{ { "work", twice, 2 }, &flow_ops, "each once" },
		{ { "work", both, 2 }, &no_hash, "several workers want ops->flow_hash" },
		{ { "src", both, 2 }, &flow_ops, "a source runs on one worker" },
	};
	struct hy_dispatch_params params = { .nb_workers = 2, .nb_pins = 1 };
	struct hy_graph *graph = NULL;
	unsigned int refused = 0;
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	for (size_t i = 0; i < RTE_DIM(cases); i++, refused++) {
		params.graph = CHAIN_PARAMS(.ops = cases[i].ops);
		params.pins = &cases[i].pin;
		unit_log_clear();
		assert_int_equal(hy_dispatch_create("d", &params, &dispatch), -EINVAL);
		if (unit_log_lines() != 1 || strstr(unit_log(), cases[i].log) == NULL)
			fail_msg("case %zu: '%s' is not in: %s", i, cases[i].log, unit_log());
		assert_null(dispatch);
		assert_int_equal(hy_graph_lookup("d-0", &graph), -ENOENT);
		assert_int_equal(hy_node_lookup("d-idle", &id), -ENOENT);
	}
	assert_int_equal(refused, 7);
	params.nb_pins = 0;
	params.graph = CHAIN_PARAMS(.ops = &flow_ops);
	assert_int_equal(hy_dispatch_create("a-name-of-16-chs", &params, &dispatch), -EINVAL);
	params.nb_workers = HY_DISPATCH_WORKERS_MAX + 1;
	assert_int_equal(hy_dispatch_create("d", &params, &dispatch), -EINVAL);
	params.nb_workers = 2;
	params.ring_bursts = 1025;
	assert_int_equal(hy_dispatch_create("d", &params, &dispatch), -EINVAL);
	params.ring_bursts = 0;
	params.graph = &(const struct hy_graph_params){
		.patterns = src_only, .nb_patterns = 1, .ops = &flow_ops
	};
	assert_int_equal(hy_dispatch_create("d", &params, &dispatch), -EINVAL);
	assert_non_null(strstr(unit_log(), "a drop_node is required"));
}

static void
patterns_may_match_a_drop_node_that_only_drops_come_to(void **state)
{
	static const char *const all[] = { "*" };
	struct probe src = { .budget = BURST }, bad = { 0 }, gone = { 0 };
	const struct hy_graph_params params = { .patterns = all,
		.nb_patterns = 1,
		.ops = &flow_ops,
		.drop_node = "gone",
		.burst = BURST };

	RTE_SET_USED(state);
	source_add(&src, "src", "bad");
	NODE(&bad, .name = "bad", .impl.process = probe_drop,
		.drops = { { "bad", HY_SEV_ERROR, "It is bad" } });
	sink_add(&gone, "gone");
	DISPATCH(.graph = &params, .nb_workers = 2, PINS({ "bad", WORKERS(1) }));
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(counted("bad", "bad"), BURST);
	assert_int_equal(gone.objs, BURST);
}

/* It would run on the worker that drops, whatever the nodes behind it are pinned to. */
static void
a_drop_node_that_leads_on_is_refused(void **state)
{
	const struct hy_dispatch_params params = { .graph = CHAIN_PARAMS(.ops = &flow_ops),
		.nb_workers = 2,
		PINS({ "work", WORKERS(1) }) };
	hy_node_id id;

	RTE_SET_USED(state);
	chain_add();
	assert_int_equal(hy_node_lookup("gone", &id), 0);
	assert_int_equal(hy_node_edge_add(id, "sink", NULL), 0);
	unit_log_clear();
	assert_int_equal(hy_dispatch_create("d", &params, &dispatch), -EINVAL);
	assert_non_null(strstr(unit_log(), "drop_node 'gone' leads on (1 edges)"));
	assert_null(dispatch);
	assert_int_equal(hy_node_edge_shrink(id, 0), 0);
	dispatch_add(&params);
	/* Nor may it when pins change. */
	for (uint16_t w = 0; w < 2; w++)
		hy_graph_rest(hy_dispatch_graph(dispatch, w));
	assert_int_equal(hy_node_edge_add(id, "sink", NULL), 0);
	assert_int_equal(hy_dispatch_pin(dispatch, params.pins, 1), -EINVAL);
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(rig.sink.objs, BURST);
}

static void
assert_foreign(int rc)
{
	if (rc != -EINVAL || strstr(unit_log(), "for the graphs of dispatch 'd' alone") == NULL)
		fail_msg("%d: %s", rc, unit_log());
	unit_log_clear();
}

static void
other_graphs_take_no_ends_of_rings(void **state)
{
	static const char *const in[] = { "d-in-work" };
	static const struct hy_detour out = { "work", "d-out-work" };
	static const uint16_t workers[] = { 0, 1, 40 };
	struct hy_graph_params source = *CHAIN_PARAMS(.ops = &flow_ops);
	struct hy_graph_params leaving = *CHAIN_PARAMS(.ops = &flow_ops, .detours = &out,
		.nb_detours = 1);
	struct hy_graph *graph = NULL;

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2,
		PINS({ "work", WORKERS(1) }));
	source.patterns = in;
	for (size_t w = 0; w < RTE_DIM(workers); w++) {
		source.worker = leaving.worker = workers[w];
		assert_foreign(hy_graph_create("other", &source, &graph));
		assert_foreign(hy_graph_create("other", &leaving, &graph));
	}
	/* As a dispatch would name it, if it had that worker. */
	assert_foreign(hy_graph_create("d-40", &source, &graph));
	assert_null(graph);
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(rig.sink.objs, BURST);
}

/* They tell objects of rings by what they were configured with, and send along edge 0. */
static void
nodes_that_hand_objects_over_are_left_to_the_dispatch(void **state)
{
	unsigned int owned = 0;
	hy_node_id id = 0;

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2,
		PINS({ "work", WORKERS(1) }));
	for (unsigned int round = 0; round < 2; round++) {
		for (id = 0; hy_node_next(id, &id) == 0; id++) {
			char name[HY_NAME_SIZE];

			assert_int_equal(hy_node_name(id, name, sizeof(name)), 0);
			if (strncmp(name, "d-", 2) != 0)
				continue;
			assert_owned(id, "a dispatch");
			owned++;
		}
		/* The second time, no graph has them. */
		assert_int_equal(hy_dispatch_pin(dispatch, NULL, 0), 0);
		for (uint16_t w = 0; w < 2; w++) {
			walk(w);
			hy_graph_rest(hy_dispatch_graph(dispatch, w));
		}
	}
	assert_int_equal(owned, 2 * 4); /* three, and what keeps an idle graph from being empty */
	assert_int_equal(hy_dispatch_pin(dispatch,
				 &(const struct hy_dispatch_pin){ "work", WORKERS(1) }, 1),
		0);
	walk(0);
	walk(1);
	assert_true(rig.work.objs > 0);
}

static const struct CMUnitTest tests[] = {
	DISPATCH_TEST(a_worker_that_sleeps_is_woken_once_for_what_comes),
	DISPATCH_TEST(a_worker_that_is_held_back_does_not_sleep),
	DISPATCH_TEST(a_destroyed_dispatch_is_in_no_list_and_none_of_its_objects_come_again),
	DISPATCH_TEST(who_waits_for_workers_wakes_them_though_there_is_nothing),
	DISPATCH_TEST(pins_hold_for_an_edge_that_comes_while_they_change),
	DISPATCH_TEST(a_worker_that_is_late_sends_nothing_the_old_way),
	DISPATCH_TEST(what_cannot_be_is_refused_in_words_and_changes_nothing),
	DISPATCH_TEST(patterns_may_match_a_drop_node_that_only_drops_come_to),
	DISPATCH_TEST(a_drop_node_that_leads_on_is_refused),
	DISPATCH_TEST(other_graphs_take_no_ends_of_rings),
	DISPATCH_TEST(nodes_that_hand_objects_over_are_left_to_the_dispatch),
	DISPATCH_TEST(a_dispatch_that_is_short_of_memory_leaves_nothing_behind),
};

UNIT_SUITE(tests)
