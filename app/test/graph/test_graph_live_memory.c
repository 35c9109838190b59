/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation that fails while a graph is changed or cloned: it goes on as it was. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"

/* A chain of six nodes and a second way through it, so that an update adds, removes and keeps. */
static struct hy_graph *
chain_with_two_ways(struct probe probes[8], hy_node_id *fork)
{
	source_add(&probes[0], "src", "fork");
	*fork = NODE(&probes[1], .name = "fork", .impl.process = probe_pass, .edges = { "old" },
		.drops = { { "d" } });
	pass_add(&probes[2], "old", "end");
	pass_add(&probes[3], "new", "more");
	pass_add(&probes[4], "more", "end");
	pass_add(&probes[5], "other", "end");
	sink_add(&probes[6], "end");
	sink_add(&probes[7], "drop");
	return GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1, .burst = 4,
		.drop_node = "drop", .lanes = { "l" });
}

static int
contexts(const struct probe probes[8])
{
	int n = 0;

	for (unsigned int i = 0; i < 8; i++)
		n += (int)probes[i].inits - (int)probes[i].finis;
	return n;
}

/* With nothing pending, and with a change that the failing one has to put back. */
static void
updating_fails_clean_at_every_allocation(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int pending = 0; pending < 2; pending++) {
		struct probe probes[8] = { { .budget = 1000 } };
		struct hy_graph_params params;
		hy_node_id fork;
		struct hy_graph *graph = chain_with_two_ways(probes, &fork);
		const unsigned int through = pending == 0 ? 2 : 3; /* the node before "end" */
		unsigned int heap, failed = 0;
		uint64_t end = 0;
		int64_t live;
		int before, rc;

		hy_graph_walk(graph);
		assert_int_equal(hy_graph_update(graph, NULL), 0); /* makes the history's entries */
		hy_graph_walk(graph);
		assert_false(hy_graph_updating(graph)); /* frees what the worker has left */
		assert_int_equal(hy_node_edge_set(fork, 0, "new"), 0);
		hy_graph_params_get(graph, &params);
		params.burst = 8;
		if (pending != 0)
			assert_int_equal(hy_graph_update(graph, &params), 0);
		assert_int_equal(hy_node_edge_set(fork, 0, "other"), 0);
		end = probes[6].objs;
		heap = unit_heap_live();
		live = unit_alloc_live();
		before = contexts(probes);
		for (;; failed++) {
			hy_graph_params_get(graph, &params);
			params.burst = 16;
			params.lanes[1] = "m";
			unit_log_clear();
			unit_alloc_fail(failed + 1);
			rc = hy_graph_update(graph, &params);
			unit_alloc_fail(0);
			if (rc == 0 || failed == 1000)
				break;
			assert_int_equal(rc, -ENOMEM);
			assert_int_equal(unit_log_lines(), 1);
			assert_int_equal(unit_heap_live(), heap);
			assert_int_equal(unit_alloc_live(), live);
			assert_int_equal(contexts(probes), before);
			assert_int_equal(hy_graph_updating(graph), pending);
			assert_int_equal(hy_graph_burst(graph), pending == 0 ? 4 : 8);
			hy_graph_params_get(graph, &params);
			assert_int_equal(params.burst, pending == 0 ? 4 : 8);
			assert_null(params.lanes[1]);
		}
		assert_int_equal(rc, 0);
		/* Parameters (5), topology, image, streams, and a context. */
		assert_in_range(failed, 15, 60);
		hy_graph_walk(graph);
		assert_int_equal(probes[6].objs, end + 16);
		assert_int_equal(probes[5].objs, 16);
		assert_int_equal(probes[through].finis, 0 + (through == 3));
		registry_clear();
	}
}

/* Three graphs that share a fork; the second has a change that its worker has not come to. */
static void
several_graphs_are_changed_all_or_none(void **state)
{
	struct probe probes[7] = { { .budget = 1000 }, { .budget = 1000 }, { .budget = 1000 } };
	struct hy_graph_params params;
	struct hy_graph *graphs[3];
	unsigned int heap, failed = 0;
	uint32_t capacity;
	hy_node_id fork;
	int64_t live;
	int rc;

	RTE_SET_USED(state);
	for (unsigned int g = 0; g < 3; g++) {
		char name[] = { 's', (char)('0' + g), '\0' };

		source_add(&probes[g], name, "fork");
	}
	fork = NODE(&probes[3], .name = "fork", .impl.process = probe_pass, .edges = { "old" });
	sink_add(&probes[4], "old");
	/* The streams are to be longer than they are. */
	NODE(&probes[5], .name = "new", .impl.process = probe_pass, .edges = { "end" },
		.replicates = 3);
	sink_add(&probes[6], "end");
	graphs[0] = GRAPH("g0", .patterns = (const char *[]){ "s0" }, .nb_patterns = 1, .burst = 4);
	graphs[1] = GRAPH("g1", .patterns = (const char *[]){ "s1" }, .nb_patterns = 1, .burst = 4);
	graphs[2] = GRAPH("g2", .patterns = (const char *[]){ "s2" }, .nb_patterns = 1, .burst = 4);
	for (unsigned int g = 0; g < 3; g++) {
		hy_graph_walk(graphs[g]);
		assert_int_equal(hy_graph_update(graphs[g], NULL), 0);
		hy_graph_walk(graphs[g]);
		assert_false(hy_graph_updating(graphs[g]));
	}
	hy_graph_params_get(graphs[1], &params);
	params.burst = 8;
	assert_int_equal(hy_graph_update(graphs[1], &params), 0);
	assert_int_equal(hy_node_edge_set(fork, 0, "new"), 0);
	heap = unit_heap_live();
	live = unit_alloc_live();
	capacity = hy_graph_stream_capacity(graphs[0]);
	for (;; failed++) {
		unit_alloc_fail(failed + 1);
		rc = hy_graph_update_all(graphs, 3);
		unit_alloc_fail(0);
		if (rc == 0 || failed == 1000)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_heap_live(), heap);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_graph_stream_capacity(graphs[0]), capacity);
		for (unsigned int g = 0; g < 3; g++) {
			assert_int_equal(hy_graph_updating(graphs[g]), g == 1);
			assert_int_equal(hy_graph_burst(graphs[g]), g == 1 ? 8 : 4);
		}
	}
	assert_int_equal(rc, 0);
	assert_in_range(failed, 20, 100);
	assert_true(hy_graph_stream_capacity(graphs[0]) > capacity);
	assert_int_equal(probes[5].objs, 0);
	assert_int_equal(probes[4].objs, 3 * 2 * 4);
	for (unsigned int g = 0; g < 3; g++)
		hy_graph_walk(graphs[g]);
	assert_int_equal(probes[4].objs, 3 * 2 * 4);
	assert_int_equal(probes[5].objs, 4 + 8 + 4);
	assert_int_equal(hy_graph_update_all(graphs, 0), 0);
}

/* The change that a failing one has put back is taken up as if nothing had been. */
static void
a_change_that_starved_leaves_the_one_before_it_to_the_worker(void **state)
{
	unsigned int tried = 0;
	int rc = -ENOMEM;

	RTE_SET_USED(state);
	for (; rc == -ENOMEM && tried < 100; tried++) {
		struct probe probes[8] = { { .budget = 1000 } };
		hy_node_id fork;
		struct hy_graph *graph = chain_with_two_ways(probes, &fork);

		hy_graph_walk(graph);
		assert_int_equal(hy_node_edge_set(fork, 0, "new"), 0);
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		assert_int_equal(hy_node_edge_set(fork, 0, "other"), 0);
		unit_alloc_fail(tried + 1);
		rc = hy_graph_update(graph, NULL);
		unit_alloc_fail(0);
		hy_graph_walk(graph);
		assert_int_equal(probes[rc == 0 ? 5 : 3].objs, 4);
		assert_int_equal(probes[rc == 0 ? 3 : 5].objs, 0);
		assert_int_equal(probes[0].inits, 1);
		assert_int_equal(probes[6].objs, 8);
		hy_graph_destroy(graph);
		assert_int_equal(contexts(probes), 0);
		registry_clear();
	}
	assert_int_equal(rc, 0);
	assert_in_range(tried, 15, 60);
}

static void
cloning_a_graph_fails_clean_at_every_allocation_and_its_name_is_free(void **state)
{
	struct probe probes[8] = { { .budget = 1000 } };
	hy_node_id fork;
	struct hy_graph *graph = chain_with_two_ways(probes, &fork), *clone = NULL, *found;
	const unsigned int heap = unit_heap_live();
	const int64_t live = unit_alloc_live();
	const int before = contexts(probes);
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	for (;; failed++) {
		unit_alloc_fail(failed + 1);
		rc = hy_graph_clone(graph, "clone", 3, SOCKET_ID_ANY, &clone);
		unit_alloc_fail(0);
		if (rc == 0 || failed == 1000)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(clone);
		assert_int_equal(unit_heap_live(), heap);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(contexts(probes), before);
		assert_int_equal(hy_graph_lookup("clone", &found), -ENOENT);
	}
	assert_int_equal(rc, 0);
	assert_in_range(failed, 15, 60);
	hy_graph_walk(clone);
	assert_int_equal(probes[6].objs, 4);
}

/* Statistics of a graph with history, and a worker who has just left an image. */
static void
statistics_of_a_changed_graph_fail_clean_and_keep_what_was_counted(void **state)
{
	struct probe probes[8] = { { .budget = 1000 } };
	struct hy_stats *stats = NULL;
	hy_node_id fork;
	struct hy_graph *graph = chain_with_two_ways(probes, &fork);
	unsigned int failed = 0;
	uint64_t objs = 0;
	int rc;

	RTE_SET_USED(state);
	for (;; failed++) {
		/* A node more in the history, at times: what the worker left has to be added. */
		assert_int_equal(hy_node_edge_set(fork, 0, failed % 2 == 0 ? "new" : "other"), 0);
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		hy_graph_walk(graph);
		unit_alloc_fail(failed + 1);
		rc = hy_stats_read("g", &stats);
		unit_alloc_fail(0);
		if (rc == 0 || failed == 200)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(stats);
	}
	assert_int_equal(rc, 0);
	assert_in_range(failed, 20, 150);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, "end") == 0)
			objs = stats->nodes[i].objs;
	assert_int_equal(objs, 4 * (failed + 1));
	hy_stats_free(stats);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(updating_fails_clean_at_every_allocation),
	GRAPH_TEST(several_graphs_are_changed_all_or_none),
	GRAPH_TEST(a_change_that_starved_leaves_the_one_before_it_to_the_worker),
	GRAPH_TEST(cloning_a_graph_fails_clean_at_every_allocation_and_its_name_is_free),
	GRAPH_TEST(statistics_of_a_changed_graph_fail_clean_and_keep_what_was_counted),
};

UNIT_SUITE(tests)
