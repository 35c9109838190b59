/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: graphs that change while they are walked. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "compat_fixture.h"

static void
edges_are_taken_up_and_shadows_stay_where_they_are(void **state)
{
	struct probe src = { .budget = 40, .per_call = 10 }, a = { 0 }, b = { 0 };
	const char *to_b[] = { N("b") }, *both[] = { N("a"), N("b"), N("a") };
	struct rte_node *src_node, *a_node;
	struct rte_graph *graph;
	rte_node_t id;
	void **array;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("a"));
	NODE(&a, N("a"), probe_sink, NULL);
	NODE(&b, N("b"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	src_node = src.node;
	a_node = a.node;
	rte_graph_walk(graph);
	array = a.array;

	assert_int_equal(rte_node_edge_update(id, 0, to_b, 1), 1);
	assert_int_equal(graph_update(graph, N("src")), 0);
	rte_graph_walk(graph);
	assert_int_equal(a.objs, 10);
	assert_int_equal(b.objs, 10);
	assert_null(rte_graph_node_get_by_name("g", N("a")));

	assert_int_equal(rte_node_edge_update(id, 0, both, 3), 3);
	assert_int_equal(graph_update(graph, N("src")), 0);
	rte_graph_walk(graph);
	assert_int_equal(a.objs, 20);
	assert_int_equal(src_node->nb_edges, 3);
	assert_ptr_equal(src_node->nodes[1], b.node);
	assert_int_equal(src_node->total_calls, 3);
	assert_int_equal(src.inits, 1);
	assert_int_equal(src.finis, 0);
	assert_ptr_equal(rte_graph_node_get_by_name("g", N("src")), src_node);
	assert_ptr_equal(rte_graph_node_get_by_name("g", N("a")), a_node);
	assert_ptr_equal(a.array, array);
}

static void
a_node_that_goes_is_undone_and_one_that_comes_is_prepared(void **state)
{
	struct probe src = { .budget = 30, .per_call = 10 }, old = { 0 }, new = { 0 };
	const char *target[] = { N("new") };
	struct rte_graph *graph;
	rte_node_t id;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("old"));
	NODE(&old, N("old"), probe_sink, NULL);
	NODE(&new, N("new"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	rte_graph_walk(graph);
	assert_int_equal(rte_node_edge_update(id, 0, target, 1), 1);
	assert_int_equal(graph_update(graph, N("src")), 0);
	assert_int_equal(new.inits, 1);
	assert_int_equal(old.finis, 0); /* the worker may be in it */
	rte_graph_walk(graph);
	assert_false(hy_graph_updating(graph->core));
	assert_int_equal(old.finis, 1);
	assert_int_equal(new.objs, 10);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(old.inits, 1);
	assert_int_equal(old.finis, 1);
	assert_int_equal(new.finis, 1);
	assert_int_equal(src.inits, 1);
	assert_int_equal(src.finis, 1);
}

/* A second change before the worker has come to the first one. */
static void
a_later_change_replaces_one_that_was_not_taken_up(void **state)
{
	struct probe src = { .budget = 30, .per_call = 10 }, sinks[3] = { 0 };
	const char *targets[] = { N("1"), N("2") };
	struct rte_graph *graph;
	rte_node_t id;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("0"));
	NODE(&sinks[0], N("0"), probe_sink, NULL);
	NODE(&sinks[1], N("1"), probe_sink, NULL);
	NODE(&sinks[2], N("2"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	rte_graph_walk(graph);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(rte_node_edge_update(id, 0, &targets[i], 1), 1);
		assert_int_equal(graph_update(graph, N("src")), 0);
	}
	assert_int_equal(sinks[1].inits, 1);
	assert_int_equal(sinks[1].finis, 1);
	rte_graph_walk(graph);
	assert_int_equal(sinks[0].objs, 10);
	assert_int_equal(sinks[1].objs, 0);
	assert_int_equal(sinks[2].objs, 10);
}

static void
a_refused_change_leaves_the_graph_as_it_was(void **state)
{
	struct probe src = { .budget = 30, .per_call = 10 }, sink = { 0 },
		     bad = { .init_rc = -EIO };
	const char *nowhere[] = { "nowhere" }, *to_bad[] = { N("bad") };
	struct rte_graph *graph;
	rte_node_t id;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	NODE(&bad, N("bad"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	assert_int_equal(rte_node_edge_update(id, 0, nowhere, 1), 1);
	assert_int_equal(graph_update(graph, N("src")), -EINVAL);
	rte_graph_walk(graph);
	assert_int_equal(rte_node_edge_update(id, 0, to_bad, 1), 1);
	assert_int_equal(graph_update(graph, N("src")), -EIO);
	assert_int_equal(rte_errno, EIO);
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, 20);
	assert_int_equal(bad.finis, 0);
	assert_int_equal(src.inits, 1);
	assert_int_equal(src.finis, 0);
	assert_int_equal(graph->nb_nodes, 2);
	assert_int_equal(hy_compat_graph_update(graph->id + 1, NULL), -ENOENT);
	assert_int_equal(hy_compat_graph_update(graph->id, NULL), -EINVAL);
}

struct walker {
	struct rte_graph *graph;
	bool stop;
};

static void *
walk_on(void *arg)
{
	struct walker *walker = arg;

	while (!__atomic_load_n(&walker->stop, __ATOMIC_ACQUIRE))
		rte_graph_walk(walker->graph);
	rte_graph_walk(walker->graph);
	return NULL;
}

static void
list_dump(FILE *f, void *arg)
{
	RTE_SET_USED(arg);
	rte_graph_list_dump(f);
}

#define CHANGES 300

/* Each change leads the source elsewhere, and adds edges or takes them away. */
static void
nothing_is_lost_while_a_worker_walks(void **state)
{
	struct probe src = { .budget = OBJS_MAX, .per_call = 7 }, pass = { 0 }, sinks[2] = { 0 };
	const char *ways[][3] = { { N("pass") }, { N("1"), N("0"), N("1") },
		{ N("0"), N("pass"), N("0") } };
	const uint16_t counts[] = { 1, 3, 3 };
	struct walker walker = { 0 };
	uint64_t compared = 0;
	pthread_t thread;
	rte_node_t id;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("0"));
	NODE(&pass, N("pass"), probe_spread, N("1"), N("0"));
	NODE(&sinks[0], N("0"), probe_sink, NULL);
	NODE(&sinks[1], N("1"), probe_sink, NULL);
	walker.graph = graph_add("g", N("src"));
	assert_int_equal(pthread_create(&thread, NULL, walk_on, &walker), 0);
	for (unsigned int i = 0; i < CHANGES; i++) {
		const unsigned int way = i % RTE_DIM(ways);

		rte_node_edge_shrink(id, 0);
		assert_int_equal(rte_node_edge_update(id, 0, ways[way], counts[way]), counts[way]);
		assert_int_equal(graph_update(walker.graph, N("src")), 0);
		free(printed(list_dump, NULL));
		while (hy_graph_updating(walker.graph->core))
			sched_yield();
	}
	__atomic_store_n(&walker.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(sinks[0].objs + sinks[1].objs, objs_made);
	for (uint32_t i = 0; i < objs_made; i++, compared++)
		assert_int_equal(objs_all[i].seen, 1);
	assert_int_equal(compared, objs_made);
	assert_true(compared > 0);
	assert_int_equal(src.inits, 1);
	assert_int_equal(objs_released, 0);
}

static uint32_t released;

static void
release_count(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	released += n;
}

/* They would run when the node comes back, long after the rest of what waited on it. */
static void
late_objects_of_a_node_that_goes_are_released(void **state)
{
	struct probe src = { .budget = BURST }, a = { .copies = 3 }, b = { 0 }, sink = { 0 };
	const char *target[] = { N("sink") };
	struct rte_graph *graph;
	uint32_t late, before;
	rte_node_t id;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("a"));
	NODE(&a, N("a"), probe_copy, N("b"));
	NODE(&b, N("b"), probe_pass, N("a"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	released = 0;
	hy_compat_graph_objects(graph, &(struct hy_object_ops){ .release = release_count });
	rte_graph_walk(graph); /* objects multiply in a circle, and fill all that there is */
	late = a.node->nb_late + b.node->nb_late;
	assert_int_equal(late, UINT16_MAX);
	assert_int_equal(rte_node_edge_update(id, 0, target, 1), 1);
	assert_int_equal(graph_update(graph, N("src")), 0);
	before = released;
	rte_graph_walk(graph);
	assert_int_equal(released, before + BURST); /* what waited in the core's stream */
	assert_false(hy_graph_updating(graph->core));
	assert_int_equal(released, before + BURST + late);
	assert_int_equal(a.node->nb_late + b.node->nb_late, 0);
}

static const struct CMUnitTest compat_live[] = {
	COMPAT_TEST(edges_are_taken_up_and_shadows_stay_where_they_are),
	COMPAT_TEST(a_node_that_goes_is_undone_and_one_that_comes_is_prepared),
	COMPAT_TEST(a_later_change_replaces_one_that_was_not_taken_up),
	COMPAT_TEST(a_refused_change_leaves_the_graph_as_it_was),
	COMPAT_TEST(nothing_is_lost_while_a_worker_walks),
	COMPAT_TEST(late_objects_of_a_node_that_goes_are_released),
};
UNIT_SUITE(compat_live)
