/* SPDX-License-Identifier: BSD-3-Clause */
/* What is an arc's own is left to it, and no node gets two edges to one target by it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arc_fixture.h"
#include "owned.h"

static void
assert_logged(const char *why)
{
	if (unit_log_lines() != 1 || strstr(unit_log(), why) == NULL)
		fail_msg("\"%s\" is not the one line that says \"%s\"", unit_log(), why);
	unit_log_clear();
}

static hy_node_id
id_of(const char *name)
{
	hy_node_id id = UINT32_MAX;

	assert_int_equal(hy_node_lookup(name, &id), 0);
	return id;
}

/* A node between src and the rest, which sends to all of its edges in turn. */
static struct probe spread;

static void
spread_add(const char *first, const char *second)
{
	memset(&spread, 0, sizeof(spread));
	spread.nb_edges = 2;
	NODE(&spread, .name = "spread", .impl.process = probe_spread, .edges = { first, second });
	assert_int_equal(hy_node_edge_set(id_of("src"), 0, "spread"), 0);
}

/* Sends 64 objects; how many came to the end. */
static uint64_t
send_64(struct hy_graph *graph)
{
	const uint64_t before = arc_end.objs;

	arc_src.budget = 64;
	hy_graph_walk(graph);
	return arc_end.objs - before;
}

static void
a_graph_with_edges_to_an_end_and_to_its_arc_is_refused(void **state)
{
	static const char *const orders[2][2] = { { "end", "arc" }, { "arc", "end" } };
	static const char *const says[2] = {
		"graph 'g': node 'spread': edge 0 to 'end' (by arc 'arc') and edge 1 to 'arc' both "
		"lead to 'arc'; edges of a node must lead to different nodes",
		"graph 'g': node 'spread': edge 0 to 'arc' and edge 1 to 'end' (by arc 'arc') both "
		"lead to 'arc'; edges of a node must lead to different nodes",
	};
	struct hy_graph *graph = NULL;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	spread_add("x", "y");
	for (unsigned int i = 0; i < RTE_DIM(orders); i++) {
		const hy_node_id id = id_of("spread");

		assert_int_equal(hy_node_edge_shrink(id, 0), 0);
		assert_int_equal(hy_node_edge_add(id, orders[i][0], NULL), 0);
		assert_int_equal(hy_node_edge_add(id, orders[i][1], NULL), 0);
		unit_log_clear();
		assert_int_equal(GRAPH_TRY("g", &graph, .patterns = (const char *[]){ "src" },
					 .nb_patterns = 1, .lanes = { HY_ARC_LANE }),
			-EINVAL);
		assert_null(graph);
		assert_logged(says[i]);
	}
}

static void
enabling_what_would_give_a_node_two_edges_to_the_arc_changes_nothing(void **state)
{
	struct hy_graph *graph, *other;
	char *before = NULL, *after = NULL;
	size_t size;
	FILE *out;
	uint16_t n;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	/* A second graph, which the arc could have: all or none. */
	NODE(&arc_src, .name = "src2", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "end" });
	other = GRAPH("h", .patterns = (const char *[]){ "src2" }, .nb_patterns = 1,
		.lanes = { HY_ARC_LANE });
	spread_add("end", "arc");
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(send_64(graph), 64);
	assert_int_equal(edge_objs(graph, "spread", 0), 32);
	assert_int_equal(edge_objs(graph, "spread", 1), 32);
	out = open_memstream(&before, &size);
	assert_int_equal(hy_graph_export_json(graph, out), 0);
	fclose(out);
	for (unsigned int i = 0; i < 3; i++) {
		unit_log_clear();
		assert_int_equal(hy_arc_enable(arc, "f", i, 1), -EINVAL);
		assert_logged("graph 'g': node 'spread': edge 0 to 'end' (by arc 'arc') and edge 1 "
			      "to 'arc' both lead to 'arc'; ");
		assert_int_equal(hy_arc_get(arc, "f", i, NULL), -ENODATA);
		assert_false(hy_graph_updating(graph));
		assert_false(hy_graph_updating(other));
		assert_int_equal(hy_node_edge_count(id_of("f"), &n), 0);
		assert_int_equal(n, 0);
	}
	out = open_memstream(&after, &size);
	assert_int_equal(hy_graph_export_json(graph, out), 0);
	fclose(out);
	assert_string_equal(before, after);
	free(before);
	free(after);
	assert_int_equal(hy_graph_update(graph, NULL), 0); /* as it was */
	assert_int_equal(send_64(graph), 64);
	/* Without the edge by name nothing is in the way. */
	spread.nb_edges = 1;
	assert_int_equal(hy_node_edge_shrink(id_of("spread"), 1), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	assert_int_equal(send_64(graph), 64);
	assert_true(arc_has(graph, "f"));
}

static void
an_edge_to_the_arc_of_a_live_graph_is_refused_by_its_update(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	spread_add("end", "other");
	sink_add(&arc_end, "other");
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	assert_int_equal(send_64(graph), 64);
	assert_int_equal(hy_node_edge_set(id_of("spread"), 1, "arc"), 0);
	unit_log_clear();
	assert_int_equal(hy_graph_update(graph, NULL), -EINVAL);
	assert_logged("node 'spread': edge 0 to 'end' (by arc 'arc') and edge 1 to 'arc' both "
		      "lead to 'arc'; ");
	assert_int_equal(send_64(graph), 64);
	/* With the arc out of the graph, the two lead to different nodes. */
	assert_int_equal(hy_arc_disable(arc, "f", 0), 0);
	assert_int_equal(send_64(graph), 64);
	assert_int_equal(edge_objs(graph, "spread", 1), 32);
}

/* A detour of the graph leads to the arc's end, whence the arc leads to its node. */
static void
a_detour_to_an_end_beside_an_edge_to_the_arc_is_refused(void **state)
{
	static const struct hy_detour detour = { "other", "end" };
	struct hy_graph *graph = NULL;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	spread_add("other", "arc");
	sink_add(NULL, "other");
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .patterns = (const char *[]){ "src" },
				 .nb_patterns = 1, .lanes = { HY_ARC_LANE }, .detours = &detour,
				 .nb_detours = 1),
		-EINVAL);
	assert_logged("node 'spread': edge 0 to 'other' (by a detour to 'end', by arc 'arc') and "
		      "edge 1 to 'arc' both lead to 'arc'; ");
	assert_int_equal(hy_arc_disable(arc, "f", 0), 0);
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.lanes = { HY_ARC_LANE }, .detours = &detour, .nb_detours = 1);
	assert_int_equal(send_64(graph), 64);
}

static void
the_node_of_an_arc_is_left_to_the_arc(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	sink_add(NULL, "other");
	assert_owned(id_of("arc"), "an arc"); /* while no graph has it */
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
	assert_owned(id_of("arc"), "an arc"); /* and while one has */
	assert_int_equal(hy_arc_enable(arc, "b", 0, 8), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 9), 2, 8));
	/* One that could not be destroyed keeps it. */
	assert_int_equal(hy_arc_destroy(arc), -EBUSY);
	assert_owned(id_of("arc"), "an arc");
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_node_unregister(sink_add(NULL, "arc")), 0);
}

/* Its chains tell objects of edges 0 and 1; the own edge is the feature's. */
static void
edges_that_an_arc_tells_of_lead_where_it_has_led_them(void **state)
{
	struct hy_graph *graph;
	char target[HY_NAME_SIZE];
	uint64_t own = 0;
	hy_node_id id;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	sink_add(NULL, "other");
	sink_add(NULL, "another");
	id = id_of("a");
	assert_int_equal(hy_node_edge_add(id, "another", NULL), 0);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	assert_int_equal(hy_arc_enable(arc, "b", 0, 8), 0);
	for (uint16_t e = 0; e < 3; e++) {
		assert_int_equal(hy_node_edge_target(id, e, target, sizeof(target)), 0);
		unit_log_clear();
		if (strcmp(target, "another") == 0) {
			assert_int_equal(hy_node_edge_set(id, e, "other"), 0);
			own++;
			continue;
		}
		assert_int_equal(hy_node_edge_set(id, e, "another"), -EBUSY); /* free by now */
		assert_logged("node 'a' is a feature of arc 'arc'; disable all features of that "
			      "first");
		assert_int_equal(hy_node_edge_set(id, e, target), 0); /* where it leads */
	}
	assert_int_equal(own, 1);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 9), 2, 8));
	assert_int_equal(hy_arc_set(arc, 0, NULL, 0), 0);
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_node_edge_target(id, 0, target, sizeof(target)), 0);
	assert_string_equal(target, "other");
	assert_int_equal(hy_node_edge_set(id, 0, "end"), 0); /* the arc has left */
}

/* Two arcs would give it edges, and each take away those of the other. */
static void
the_node_of_another_arc_is_no_feature(void **state)
{
	const struct hy_arc_feature feature = { .arc = "arc", .node = "inner" };
	const struct hy_arc_params params = { .end = "other", .index = index_from };
	struct hy_arc *inner;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	arc_add(NULL);
	sink_add(NULL, "other");
	assert_int_equal(hy_arc_create("inner", &params, &inner), 0);
	graph = arc_graph("g", 0, NULL);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "inner", 0, 1), -EPERM);
	assert_logged("arc 'arc': the node of feature 'inner' belongs to an arc");
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
	assert_int_equal(hy_arc_destroy(inner), 0);
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister("inner"), 0);
}

/* Nobody would take them away again: the feature "b" came to stay in the clone's graphs. */
static void
a_clone_of_a_live_feature_has_no_edges_of_the_arc(void **state)
{
	char target[HY_NAME_SIZE];
	struct hy_graph *graph;
	hy_node_id clone;
	uint16_t n;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	sink_add(NULL, "other");
	assert_int_equal(hy_node_edge_add(id_of("a"), "other", NULL), 0);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	assert_int_equal(hy_arc_enable(arc, "b", 0, 8), 0);
	assert_int_equal(hy_node_edge_count(id_of("a"), &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(hy_node_clone(id_of("a"), "1", &clone), 0);
	assert_int_equal(hy_node_edge_count(clone, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(hy_node_edge_target(clone, 0, target, sizeof(target)), 0);
	assert_string_equal(target, "other");
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 9), 2, 8));
}

/* Only the arc may lead there: each update would fail, and the edge could not be led back. */
static void
an_edge_of_a_live_feature_is_not_led_to_another_one(void **state)
{
	struct hy_graph *graph;
	char target[HY_NAME_SIZE];
	hy_node_id id;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL); /* not live */
	arc_add(NULL);
	sink_add(NULL, "other");
	sink_add(NULL, "another");
	id = id_of("a");
	assert_int_equal(hy_node_edge_add(id, "other", NULL), 0);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	unit_log_clear();
	assert_int_equal(hy_node_edge_set(id, 0, "b"), -EBUSY);
	assert_logged("node 'a' is a feature of arc 'arc'; disable all features of that first");
	assert_int_equal(hy_node_edge_target(id, 0, target, sizeof(target)), 0);
	assert_string_equal(target, "other");
	assert_int_equal(hy_node_edge_set(id, 0, "another"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_arc_enable(arc, "b", 0, 8), 0);
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 9), 2, 8));
}

static hy_node_id wanted; /* what the next fini() of "gone" tries to unregister */
static unsigned int tries;
static int tried;

static void
gone_fini(const struct hy_graph *graph, struct hy_node *node)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	tries++;
	tried = hy_node_unregister(wanted);
}

/* Destroying the arc reads all graphs, which runs fini() of what their workers have left. */
static void
the_node_of_an_arc_is_left_to_it_while_it_is_destroyed(void **state)
{
	struct hy_graph *graph, *other;
	hy_node_id gone;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	arc_add(NULL);
	NODE(NULL, .name = "src2", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "gone" });
	gone = NODE(NULL, .name = "gone", .impl = { .process = probe_sink, .fini = gone_fini });
	graph = arc_graph("g", 0, NULL);
	other = GRAPH("h", .patterns = (const char *[]){ "src2" }, .nb_patterns = 1);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
	assert_int_equal(hy_arc_disable(arc, "a", 0), 0);
	assert_int_equal(hy_node_config(gone, "", 1), 0);
	assert_int_equal(hy_graph_update(other, NULL), 0);
	wanted = id_of("arc");
	tries = 0;
	hy_graph_walk(other);
	assert_int_equal(arc_trail(graph, 0), 0); /* "g", which is read first, has left it */
	assert_int_equal(tries, 0);
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(tries, 1);
	assert_int_equal(tried, -EPERM);
	assert_int_equal(hy_arc_lookup("arc", &arc), -ENOENT);
	hy_graph_destroy(other);
}

static const struct CMUnitTest tests[] = {
	ARC_TEST(a_graph_with_edges_to_an_end_and_to_its_arc_is_refused),
	ARC_TEST(enabling_what_would_give_a_node_two_edges_to_the_arc_changes_nothing),
	ARC_TEST(an_edge_to_the_arc_of_a_live_graph_is_refused_by_its_update),
	ARC_TEST(a_detour_to_an_end_beside_an_edge_to_the_arc_is_refused),
	ARC_TEST(the_node_of_an_arc_is_left_to_the_arc),
	ARC_TEST(edges_that_an_arc_tells_of_lead_where_it_has_led_them),
	ARC_TEST(an_edge_of_a_live_feature_is_not_led_to_another_one),
	ARC_TEST(the_node_of_an_arc_is_left_to_it_while_it_is_destroyed),
	ARC_TEST(the_node_of_another_arc_is_no_feature),
	ARC_TEST(a_clone_of_a_live_feature_has_no_edges_of_the_arc),
};

UNIT_SUITE(tests)
