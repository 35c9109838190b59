/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing a graph that is being walked: what stays, what goes, what is counted. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/update/control.h"

static void
a_node_put_between_two_others_takes_part_from_the_next_walk_on(void **state)
{
	struct probe src = { .budget = 1000 }, sink = { 0 }, new = { 0 };
	const hy_node_id id = source_add(&src, "src", "sink");
	struct hy_graph *graph;

	RTE_SET_USED(state);
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 10);
	hy_graph_walk(graph);
	pass_add(&new, "new", "sink");
	assert_int_equal(hy_node_edge_set(id, 0, "new"), 0);
	hy_graph_walk(graph);
	assert_int_equal(new.objs, 0);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_true(hy_graph_updating(graph));
	assert_int_equal(hy_graph_node_count(graph), 2);
	hy_graph_walk(graph);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(hy_graph_node_count(graph), 3);
	assert_int_equal(new.objs, 10);
	assert_int_equal(sink.objs, 30);
}

static void
what_is_gone_stays_in_the_statistics(void **state)
{
	struct probe src = { .budget = 1000 };
	const hy_node_id id = source_add(&src, "src", "old");
	struct hy_graph *graph;
	struct hy_stats *stats;
	hy_node_id old;

	RTE_SET_USED(state);
	old = sink_add(NULL, "old");
	sink_add(NULL, "new");
	graph = GRAPH("g", .burst = 10, .patterns = (const char *[]){ "src" }, .nb_patterns = 1);
	hy_graph_walk(graph);
	assert_int_equal(hy_node_edge_set(id, 0, "new"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_node_unregister(old), -EBUSY);
	hy_graph_walk(graph);
	assert_int_equal(hy_node_unregister(old), 0);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_int_equal(stats->nb_nodes, 3);
	assert_string_equal(stats->nodes[0].name, "src");
	assert_int_equal(stats->nodes[0].objs, 20);
	assert_int_equal(stats->nodes[0].calls, 2);
	assert_false(stats->nodes[0].gone);
	assert_int_equal(stats->nodes[0].nb_edges, 2);
	assert_string_equal(stats->nodes[0].edges[0].name, "new");
	assert_int_equal(stats->nodes[0].edges[0].objs, 10);
	assert_false(stats->nodes[0].edges[0].gone);
	assert_string_equal(stats->nodes[0].edges[1].name, "old");
	assert_int_equal(stats->nodes[0].edges[1].objs, 10);
	assert_true(stats->nodes[0].edges[1].gone);
	assert_string_equal(stats->nodes[2].name, "old");
	assert_int_equal(stats->nodes[2].objs, 10);
	assert_true(stats->nodes[2].gone);
	hy_stats_free(stats);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_node_put_between_two_others_takes_part_from_the_next_walk_on),
	GRAPH_TEST(what_is_gone_stays_in_the_statistics),
};

UNIT_SUITE(tests)
