/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: clones, and graphs that hand bursts to each other across lcores. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "compat_fixture.h"

#define WORKERS 2
#define RING_MOST \
	100 /* objects that a queue of one burst and a stream behind it let pass at once */

/* A thread that is an lcore, and walks a graph when told to. */
struct worker {
	pthread_t thread;
	unsigned int lcore;
	struct rte_graph *graph; /* atomic: NULL until it is to walk */
	bool stop, ready;        /* atomic */
};

static void *
worker_main(void *arg)
{
	struct worker *w = arg;
	struct rte_graph *graph;

	if (rte_thread_register() != 0)
		return NULL;
	w->lcore = rte_lcore_id();
	__atomic_store_n(&w->ready, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		graph = __atomic_load_n(&w->graph, __ATOMIC_ACQUIRE);
		if (graph != NULL)
			rte_graph_walk(graph);
		else
			sched_yield();
	}
	rte_thread_unregister();
	return NULL;
}

static void
workers_start(struct worker *w)
{
	for (unsigned int i = 0; i < WORKERS; i++) {
		memset(&w[i], 0, sizeof(w[i]));
		assert_int_equal(pthread_create(&w[i].thread, NULL, worker_main, &w[i]), 0);
		while (!__atomic_load_n(&w[i].ready, __ATOMIC_ACQUIRE))
			sched_yield();
	}
}

static void
workers_stop(struct worker *w)
{
	for (unsigned int i = 0; i < WORKERS; i++)
		__atomic_store_n(&w[i].stop, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
}

static void
pin(const char *node, unsigned int lcore)
{
	assert_int_equal(rte_graph_model_mcore_dispatch_node_lcore_affinity_set(node, lcore), 0);
}

/* A clone whose objects are released as the original's are. */
static struct rte_graph *
clone_add(const struct rte_graph *graph, const char *name, uint32_t bursts)
{
	struct rte_graph_param prm = { .dispatch.wq_size_max = bursts };
	const rte_graph_t id = rte_graph_clone(graph->id, name, &prm);

	assert_int_not_equal(id, RTE_GRAPH_ID_INVALID);
	return rte_graph_lookup(rte_graph_id_to_name(id));
}

static void
bind(const struct rte_graph *graph, unsigned int lcore)
{
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(graph->id, (int)lcore), 0);
	assert_int_equal(graph->dispatch.lcore_id, lcore);
}

/* Probes know one graph; these nodes run in several. A node that makes objects or ends them does so
 * in one of them. */
static PROCESS(make)
{
	struct probe *probe = probe_of(node);
	const uint16_t made = (uint16_t)RTE_MIN(probe->budget, (uint32_t)BURST);

	obj_faults += n != 0;
	for (uint16_t i = 0; i < made; i++) {
		struct obj *obj = &objs_all[objs_made];

		*obj = (struct obj){ .id = objs_made++ };
		objs[i] = obj;
	}
	probe->budget -= made;
	rte_node_enqueue(graph, node, 0, objs, made);
	return made;
}

static PROCESS(pass_on)
{
	RTE_SET_USED(objs);
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

/* Only the sink's own thread touches what it counts; main reads this. */
static uint32_t sunk;

static PROCESS(end)
{
	struct probe *probe = probe_of(node);

	RTE_SET_USED(graph);
	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		obj->seen++;
		probe->backwards += obj->id < probe->last;
		probe->last = obj->id + 1;
	}
	probe->objs += n;
	__atomic_fetch_add(&sunk, n, __ATOMIC_RELEASE);
	return n;
}

static PROCESS(sink_slowly)
{
	const unsigned int sum = 2000;

	for (volatile unsigned int i = 0; i < sum;)
		i = i + 1;
	return end(graph, node, objs, n);
}

static void
wait_for_sunk(uint32_t n)
{
	while (__atomic_load_n(&sunk, __ATOMIC_ACQUIRE) < n)
		sched_yield();
}

static void
all_seen_once(uint32_t n)
{
	uint32_t compared = 0;

	assert_int_equal(objs_made, n);
	for (uint32_t i = 0; i < n; i++, compared++) {
		assert_int_equal(objs_all[i].seen, 1);
		assert_int_equal(objs_all[i].released, 0);
	}
	assert_int_equal(compared, n);
}

static uint32_t notified;

static void
notify(struct rte_graph *graph, uint64_t arg)
{
	obj_faults += arg != 77 || graph->dispatch.lcore_id == RTE_MAX_LCORE;
	__atomic_fetch_add(&notified, 1, __ATOMIC_RELAXED);
}

/* Lesson: a full ring made its worker spin. Here it has room for one burst, and the sink is slow. */
static void
a_queue_of_one_burst_loses_nothing_and_keeps_the_order(void **state)
{
	struct rte_graph_param prm = {
		.dispatch = { .mp_capacity = 1, .notify_cb = notify, .cb_priv = 77 },
	};
	struct probe src = { .budget = 90000, .process = make }, pass = { 0 }, sink = { 0 };
	struct rte_graph *original, *graphs[WORKERS];
	struct worker w[WORKERS];
	const struct rte_node *handed;

	RTE_SET_USED(state);
	sunk = notified = 0;
	workers_start(w);
	NODE(&src, N("src"), probe_source, N("pass"));
	NODE(&pass, N("pass"), pass_on, N("sink"));
	NODE(&sink, N("sink"), sink_slowly, NULL);
	pin(N("src"), w[0].lcore);
	pin(N("sink"), w[1].lcore);
	original = graph_add("g", N("*"));
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	graphs[0] = clone_add(original, "0", 0);
	graphs[1] = rte_graph_lookup(rte_graph_id_to_name(rte_graph_clone(original->id, "1",
		&prm)));
	for (unsigned int i = 0; i < WORKERS; i++)
		bind(graphs[i], w[i].lcore);
	handed = rte_graph_node_get_by_name(graphs[0]->name, N("sink"));
	__atomic_store_n(&w[0].graph, graphs[0], __ATOMIC_RELEASE);
	while (__atomic_load_n(&handed->dispatch.total_sched_fail, __ATOMIC_RELAXED) == 0)
		sched_yield();
	__atomic_store_n(&w[1].graph, graphs[1], __ATOMIC_RELEASE);
	wait_for_sunk(90000);
	workers_stop(w);
	all_seen_once(90000);
	assert_int_equal(sink.backwards, 0);
	assert_int_equal(sink.last, 90000);
	/* What ran where: the sink in the second graph alone, the rest in the first. */
	assert_int_equal(handed->total_objs, 0);
	assert_int_equal(handed->dispatch.total_sched_objs, 90000);
	assert_in_range(handed->dispatch.total_sched_fail, BURST, 90000);
	assert_int_equal(rte_graph_node_get_by_name(graphs[1]->name, N("src"))->total_objs, 0);
	assert_int_equal(rte_graph_node_get_by_name(graphs[1]->name, N("sink"))->total_objs, 90000);
	assert_in_range(notified, 90000 / BURST, 90000);
}

/* Lesson: two workers with full rings spun on each other. What one sends to the other comes back. */
static void
workers_that_send_to_each_other_never_wait_for_ever(void **state)
{
	struct probe src = { .budget = 40000, .process = make }, there = { 0 }, back = { 0 };
	struct rte_graph *original, *graphs[WORKERS];
	struct worker w[WORKERS];

	RTE_SET_USED(state);
	sunk = 0;
	workers_start(w);
	NODE(&src, N("src"), probe_source, N("there"));
	NODE(&there, N("there"), pass_on, N("back"));
	NODE(&back, N("back"), sink_slowly, NULL);
	pin(N("src"), w[0].lcore);
	pin(N("there"), w[1].lcore);
	pin(N("back"), w[0].lcore);
	original = graph_add("g", N("*"));
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	for (unsigned int i = 0; i < WORKERS; i++) {
		graphs[i] = clone_add(original, i == 0 ? "0" : "1", 1);
		bind(graphs[i], w[i].lcore);
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		__atomic_store_n(&w[i].graph, graphs[i], __ATOMIC_RELEASE);
	wait_for_sunk(40000);
	workers_stop(w);
	all_seen_once(40000);
	assert_int_equal(back.backwards, 0);
	assert_int_equal(rte_graph_node_get_by_name(graphs[1]->name, N("there"))->total_objs,
		40000);
	assert_int_equal(rte_graph_node_get_by_name(graphs[0]->name, N("back"))->total_objs, 40000);
}

/* Two graphs, walked in turns by this thread: what happens when is then certain. */
static void
two_graphs(struct rte_graph *graphs[2], const char *pattern, uint32_t bursts)
{
	struct rte_graph *original = graph_add("g", pattern);

	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	for (unsigned int i = 0; i < 2; i++)
		graphs[i] = clone_add(original, i == 0 ? "0" : "1", bursts);
}

/* This thread's lcore, and another that is known to EAL. */
static void
lcores_find(struct worker *w, unsigned int lcores[2])
{
	workers_start(w);
	lcores[0] = w[0].lcore;
	lcores[1] = w[1].lcore;
	workers_stop(w);
}

static void
sources_wait_while_a_queue_is_full(void **state)
{
	struct probe src = { .budget = 10 * BURST, .process = make }, sink = { 0 };
	struct worker w[WORKERS];
	struct rte_graph *graphs[2];
	const struct rte_node *handed;

	RTE_SET_USED(state);
	workers_start(w);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	pin(N("src"), w[0].lcore);
	pin(N("sink"), w[1].lcore);
	two_graphs(graphs, N("*"), 2);
	bind(graphs[0], w[0].lcore);
	bind(graphs[1], w[1].lcore);
	for (unsigned int walk = 0; walk < 20; walk++)
		rte_graph_walk(graphs[0]);
	/* Two bursts are in the queue and one is held; no more were made. */
	assert_int_equal(objs_made, 3 * BURST);
	handed = rte_graph_node_get_by_name(graphs[0]->name, N("sink"));
	assert_int_equal(handed->dispatch.total_sched_objs, 2 * BURST);
	assert_int_equal(handed->dispatch.total_sched_fail, BURST);
	assert_int_equal(sink.objs, 0);
	rte_graph_walk(graphs[1]);
	assert_int_equal(sink.objs, BURST);
	rte_graph_walk(graphs[0]);
	/* The held burst went; a source may make objects only in a walk that begins with none held. */
	assert_int_equal(handed->dispatch.total_sched_objs, 3 * BURST);
	for (unsigned int walk = 0; walk < 20; walk++) {
		rte_graph_walk(graphs[0]);
		rte_graph_walk(graphs[1]);
	}
	workers_stop(w);
	assert_int_equal(sink.backwards, 0);
	all_seen_once(10 * BURST);
}

static void
what_a_destroyed_graph_holds_is_released(void **state)
{
	struct probe src = { .budget = 10 * BURST, .process = make }, sink = { 0 };
	struct worker w[WORKERS];
	struct rte_graph *graphs[2];
	unsigned int lcores[2];

	RTE_SET_USED(state);
	workers_start(w);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	pin(N("src"), w[0].lcore);
	pin(N("sink"), w[1].lcore);
	two_graphs(graphs, N("*"), 2);
	for (unsigned int i = 0; i < 2; i++) {
		lcores[i] = w[i].lcore;
		bind(graphs[i], lcores[i]);
	}
	for (unsigned int walk = 0; walk < 3; walk++)
		rte_graph_walk(graphs[0]);
	assert_int_equal(objs_made, 3 * BURST);
	assert_int_equal(rte_graph_destroy(graphs[1]->id), 0);
	assert_int_equal(objs_released, 2 * BURST);
	/* Lesson: a destroyed clone stayed in the queue's list. What is held runs here now. */
	rte_graph_walk(graphs[0]);
	rte_graph_walk(graphs[0]);
	assert_true(sink.objs >= BURST);
	assert_int_equal(objs_made, sink.objs + objs_released);
	assert_int_equal(rte_graph_destroy(graphs[0]->id), 0);
	assert_int_equal(objs_made, sink.objs + objs_released);
	workers_stop(w);
}

static void
a_graph_that_is_not_bound_runs_all_its_nodes(void **state)
{
	struct probe src = { .budget = 300, .process = make }, sink = { 0 };
	struct rte_graph *graphs[2];
	struct worker w[WORKERS];
	unsigned int lcores[2];

	RTE_SET_USED(state);
	lcores_find(w, lcores);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	pin(N("sink"), 1);
	two_graphs(graphs, N("*"), 0);
	rte_graph_walk(graphs[0]);
	rte_graph_walk(graphs[1]);
	assert_int_equal(sink.objs, 300);
	all_seen_once(300);
}

/* Lesson: DPDK's own walk test set another model first, and compared 0 with 0. */
static void
a_walk_under_the_dispatch_model_moves_objects(void **state)
{
	struct probe src = { .budget = 5 * BURST, .process = make }, pass = { 0 }, sink = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("pass"));
	NODE(&pass, N("pass"), pass_on, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	graph = graph_add("g", N("*"));
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	assert_int_equal(rte_graph_worker_model_get(graph), RTE_GRAPH_MODEL_MCORE_DISPATCH);
	for (unsigned int walk = 1; walk <= 5; walk++) {
		rte_graph_walk(graph);
		assert_int_equal(src.node->total_objs, walk * BURST);
		assert_int_equal(pass.node->total_objs, walk * BURST);
		assert_int_equal(sink.node->total_objs, walk * BURST);
		assert_int_equal(sink.objs, walk * BURST);
	}
	all_seen_once(5 * BURST);
}

static void
bad_clones_models_and_lcores_are_refused(void **state)
{
	struct rte_graph_param prm = { 0 };
	struct rte_graph *graph, *clone;
	struct probe src = { 0 }, sink = { 0 };
	const unsigned int live = rte_graph_max_count();

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	graph = graph_add("g", N("*"));
	clone = clone_add(graph, "a", 0);
	assert_string_equal(clone->name, "g-a");
	assert_int_equal(clone->dispatch.lcore_id, RTE_MAX_LCORE);
	assert_int_equal(rte_graph_clone(graph->id, "a", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_graph_clone(clone->id, "b", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_graph_clone(999, "b", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENOENT);
	assert_int_equal(rte_graph_clone(graph->id, "b", NULL), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_graph_clone(graph->id, NULL, &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_graph_max_count(), live + 2);
	assert_int_equal(rte_graph_worker_model_set(2), -EINVAL);
	assert_false(rte_graph_model_is_valid(2));
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(clone->id, 0), -EPERM);
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(999, 0), -ENOENT);
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(clone->id, -1), -ENOLINK);
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(clone->id, RTE_MAX_LCORE),
		-ENOLINK);
	bind(clone, rte_lcore_id());
	assert_int_equal(rte_graph_model_mcore_dispatch_core_bind(graph->id, (int)rte_lcore_id()),
		-EEXIST);
	rte_graph_model_mcore_dispatch_core_unbind(clone->id);
	assert_int_equal(clone->dispatch.lcore_id, RTE_MAX_LCORE);
	bind(graph, rte_lcore_id());
	assert_int_equal(rte_graph_model_mcore_dispatch_node_lcore_affinity_set(N("src"),
				 RTE_MAX_LCORE),
		-EINVAL);
	assert_int_equal(rte_graph_model_mcore_dispatch_node_lcore_affinity_set("none", 0),
		-EINVAL);
}

/* Makes the first n allocations of a call succeed. */
static void
binding_fails_clean_at_every_allocation(void **state)
{
	struct probe src = { .budget = BURST, .process = make }, sink = { 0 };
	struct rte_graph *graph, *clone;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), end, NULL);
	graph = graph_add("g", N("*"));
	assert_int_equal(rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH), 0);
	clone = clone_add(graph, "a", 0);
	do {
		unit_alloc_fail(failed + 1);
		rc = rte_graph_model_mcore_dispatch_core_bind(clone->id, (int)rte_lcore_id());
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(clone->dispatch.lcore_id, RTE_MAX_LCORE);
	} while (failed < 100);
	assert_in_range(failed, 8, 99);
	rte_graph_model_mcore_dispatch_core_unbind(clone->id);
	rte_graph_walk(clone);
	assert_int_equal(sink.objs, BURST);
}

static const struct CMUnitTest compat_dispatch[] = {
	COMPAT_TEST(a_queue_of_one_burst_loses_nothing_and_keeps_the_order),
	COMPAT_TEST(workers_that_send_to_each_other_never_wait_for_ever),
	COMPAT_TEST(sources_wait_while_a_queue_is_full),
	COMPAT_TEST(what_a_destroyed_graph_holds_is_released),
	COMPAT_TEST(a_graph_that_is_not_bound_runs_all_its_nodes),
	COMPAT_TEST(a_walk_under_the_dispatch_model_moves_objects),
	COMPAT_TEST(bad_clones_models_and_lcores_are_refused),
	COMPAT_TEST(binding_fails_clean_at_every_allocation),
};
UNIT_SUITE(compat_dispatch)
