/* SPDX-License-Identifier: BSD-3-Clause */
/* Arcs: which features an object sees, in which order, and what graphs have of them. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_plugin.h>

#include "app/test/unit_plugin.h"
#include "arc_fixture.h"

static void
nothing_of_an_arc_is_in_a_graph_while_nothing_is_enabled(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	feature_add("never", 2, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_graph_node_count(graph), 2);
	assert_int_equal(arc_trail(graph, 3), 0);
	assert_int_equal(edge_objs(graph, "src", 0), 1);
	assert_ptr_equal(graph_node(graph, "src")->edges[0].to, graph_node(graph, "end"));

	assert_int_equal(hy_arc_enable(arc, "f", 3, 77), 0);
	assert_int_equal(arc_trail(graph, 3), trail(0, 1, 77));
	assert_int_equal(hy_graph_node_count(graph), 4);
	assert_false(arc_has(graph, "never"));
	assert_int_equal(arc_trail(graph, 2), 0); /* by the arc, but no feature */
	assert_int_equal(edge_objs(graph, "arc", 0), 1);

	assert_int_equal(hy_arc_disable(arc, "f", 3), 0);
	assert_int_equal(arc_trail(graph, 3), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
	assert_ptr_equal(graph_node(graph, "src")->edges[0].to, graph_node(graph, "end"));
	assert_int_equal(arc_end.objs, 4);

	/* And once more: what was taken out comes back. */
	assert_int_equal(hy_arc_enable(arc, "never", 3, 5), 0);
	assert_int_equal(arc_trail(graph, 3), trail(0, 2, 5));
	assert_false(arc_has(graph, "f"));
}

static void
features_come_in_the_order_that_they_ask_for(void **state)
{
	static const char *const order[] = { "e", "b", "d", "a", "c" };
	const struct hy_arc_setting all[] = { { "a", 10 }, { "b", 20 }, { "c", 30 }, { "d", 40 },
		{ "e", 50 } };
	struct hy_graph *graph;
	uint32_t mark = 0;

	RTE_SET_USED(state);
	/* Those that need not wait go by their names. */
	feature_add("c", 3, AFTER("a", "b"), NULL);
	feature_add("a", 1, AFTER("d"), NULL);
	feature_add("d", 4, NULL, NULL);
	feature_add("b", 2, NULL, BEFORE("d"));
	feature_add("e", 5, NULL, BEFORE("b", "c"));
	arc_add(NULL);
	for (unsigned int i = 0; i < RTE_DIM(order); i++) {
		assert_string_equal(hy_arc_feature_at(arc, i), order[i]);
		mark = trail(mark, (unsigned int)(order[i][0] - 'a' + 1),
			10u * (unsigned int)(order[i][0] - 'a' + 1));
	}
	assert_null(hy_arc_feature_at(arc, RTE_DIM(order)));
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_set(arc, 0, all, RTE_DIM(all)), 0);
	assert_int_equal(arc_trail(graph, 0), mark);
}

static void
create_refused(int rc, const char *why)
{
	const struct hy_arc_params params = {
		.end = "end", .index = index_from, .socket = SOCKET_ID_ANY
	};
	hy_node_id id;

	unit_log_clear();
	assert_int_equal(hy_arc_create("arc", &params, &arc), rc);
	if (strstr(unit_log(), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", unit_log(), why);
	assert_int_equal(hy_arc_lookup("arc", &arc), -ENOENT);
	assert_int_equal(hy_node_lookup("arc", &id), -ENOENT);
}

static void
an_order_that_is_a_circle_is_refused_in_words(void **state)
{
	RTE_SET_USED(state);
	feature_add("a", 1, AFTER("c"), NULL);
	feature_add("b", 2, AFTER("a"), NULL);
	feature_add("c", 3, AFTER("b"), NULL);
	feature_add("free", 4, NULL, BEFORE("a"));
	create_refused(-EINVAL, "each of 'a' 'b' 'c' waits for another of them to come first");
}

static void
an_order_by_an_unknown_feature_is_refused_in_words(void **state)
{
	RTE_SET_USED(state);
	feature_add("f10", 1, NULL, NULL);
	feature_add("a", 2, NULL, BEFORE("f1"));
	create_refused(-ENOENT, "feature 'a' is to come before 'f1', which is no feature of it");
}

/* A lookup by prefix would find "f1" where "f10" is asked for, or the reverse. */
static void
features_are_found_by_whole_names(void **state)
{
	struct hy_graph *graph;
	uint32_t cookie;

	RTE_SET_USED(state);
	feature_add("f1", 1, NULL, NULL);
	feature_add("f10", 10, NULL, NULL);
	feature_add("f", 9, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "f10", 1, 100), 0);
	assert_int_equal(arc_trail(graph, 1), trail(0, 10, 100));
	assert_int_equal(hy_arc_enable(arc, "f1", 2, 200), 0);
	assert_int_equal(arc_trail(graph, 2), trail(0, 1, 200));
	assert_int_equal(hy_arc_get(arc, "f1", 1, &cookie), -ENODATA);
	assert_int_equal(hy_arc_get(arc, "f10", 1, &cookie), 0);
	assert_int_equal(cookie, 100);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "f100", 1, 0), -ENOENT);
	assert_non_null(strstr(unit_log(), "has no feature 'f100'; accepted: f, f1, f10"));
	assert_int_equal(hy_arc_lookup("ar", &arc), -ENOENT);
	assert_int_equal(hy_arc_lookup("arc2", &arc), -ENOENT);
}

/* With 16-bit offsets, indexes from some 16k on would share what is enabled. */
static void
any_number_of_indexes_have_features_of_their_own(void **state)
{
	static const uint32_t at[] = { 0, 15, 16, 17, 255, 16383, 16384, 16385, 32768, 65535, 65536,
		65537, 1000000 };
	uint32_t trails[RTE_DIM(at)], beyond = 3000000;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	for (unsigned int i = 0; i < RTE_DIM(at); i++) {
		assert_int_equal(hy_arc_enable(arc, i % 2 == 0 ? "a" : "b", at[i], i), 0);
		assert_int_equal(arc_trail(graph, at[i]), trail(0, 1 + i % 2, i));
		assert_int_equal(arc_trail(graph, at[i] + 5), 0);
	}
	arc_send(graph, at, trails, RTE_DIM(at)); /* in a burst, and after all growth */
	for (unsigned int i = 0; i < RTE_DIM(at); i++)
		assert_int_equal(trails[i], trail(0, 1 + i % 2, i));
	assert_int_equal(arc_trail(graph, beyond), 0);
	assert_int_equal(arc_trail(graph, UINT32_MAX), 0);
	assert_int_equal(hy_arc_get(arc, "a", beyond, NULL), -ENODATA);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "a", HY_ARC_INDEXES, 0), -EINVAL);
	assert_non_null(strstr(unit_log(), "index is 16777216; 0 to 16777215 are accepted"));
}

/* What the hook changes while an object is between two features. */
static const struct hy_arc_setting *to_set;
static unsigned int nb_to_set;

static void
change_at_first(unsigned int id)
{
	if (id == 1 && to_set != NULL)
		assert_int_equal(hy_arc_set(arc, 4, to_set, nb_to_set), 0);
	to_set = NULL;
}

static void
an_object_under_way_sees_the_features_of_before(void **state)
{
	const struct hy_arc_setting before[] = { { "a", 1 }, { "b", 2 }, { "d", 3 } };
	const struct hy_arc_setting after[] = { { "a", 11 }, { "c", 12 }, { "d", 13 } };
	const uint32_t old = trail(trail(trail(0, 1, 1), 2, 2), 4, 3);
	const uint32_t new = trail(trail(trail(0, 1, 11), 3, 12), 4, 13);
	struct rte_rcu_qsbr *qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1),
		RTE_CACHE_LINE_SIZE);
	struct hy_graph *graph;

	RTE_SET_USED(state);
	assert_non_null(qsbr);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, 1), 0);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	feature_add("c", 3, NULL, NULL);
	feature_add("d", 4, NULL, NULL);
	arc_add(qsbr);
	graph = arc_graph("g", 0, qsbr);
	assert_int_equal(hy_arc_enable(arc, "c", 9, 0), 0); /* all are in the graph */
	assert_int_equal(hy_arc_set(arc, 4, before, RTE_DIM(before)), 0);
	feature_hook = change_at_first;
	to_set = after;
	nb_to_set = RTE_DIM(after);
	assert_int_equal(arc_trail(graph, 4), old);
	assert_null(to_set);
	assert_int_equal(arc_trail(graph, 4), new);
	to_set = before; /* disables all but one, and back */
	nb_to_set = 1;
	assert_int_equal(arc_trail(graph, 4), new);
	assert_int_equal(arc_trail(graph, 4), trail(0, 1, 1));
	to_set = after;
	nb_to_set = 0;
	assert_int_equal(arc_trail(graph, 4), trail(0, 1, 1));
	assert_int_equal(arc_trail(graph, 4), 0);
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	rte_free(qsbr);
}

static void
features_of_an_index_are_replaced_as_a_whole_or_one_by_one(void **state)
{
	const struct hy_arc_setting two[] = { { "c", 3 }, { "a", 1 } };
	struct hy_graph *graph;
	uint32_t cookie = 0;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	feature_add("c", 3, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_set(arc, 7, two, 2), 0);
	assert_int_equal(hy_arc_enable(arc, "b", 7, UINT32_MAX), 0);
	assert_int_equal(arc_trail(graph, 7), trail(trail(trail(0, 1, 1), 2, UINT32_MAX), 3, 3));
	assert_int_equal(hy_arc_enable(arc, "b", 7, 0), 0); /* another cookie */
	assert_int_equal(hy_arc_get(arc, "b", 7, &cookie), 0);
	assert_int_equal(cookie, 0);
	assert_int_equal(arc_trail(graph, 7), trail(trail(trail(0, 1, 1), 2, 0), 3, 3));
	assert_int_equal(hy_arc_disable(arc, "a", 7), 0);
	assert_int_equal(hy_arc_disable(arc, "a", 7), 0); /* already */
	assert_int_equal(arc_trail(graph, 7), trail(trail(0, 2, 0), 3, 3));
	assert_int_equal(hy_arc_get(arc, "a", 7, &cookie), -ENODATA);
	assert_int_equal(hy_arc_set(arc, 7, two, 1), 0);
	assert_int_equal(arc_trail(graph, 7), trail(0, 3, 3));
	assert_int_equal(hy_arc_set(arc, 7, NULL, 0), 0);
	assert_int_equal(arc_trail(graph, 7), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
}

static uint16_t
source_of_lane(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = probe_make(&arc_src, objs, n);
	memcpy(hy_lane(graph, node, 0), arc_indexes, n * sizeof(*arc_indexes));
	hy_stream_move(graph, node, 0, n);
	return n;
}

static void
an_index_can_stand_in_a_lane(void **state)
{
	const struct hy_arc_params params = {
		.end = "end", .index_lane = "port", .socket = SOCKET_ID_ANY
	};
	const uint32_t indexes[] = { 3, 8, 3, 0 };
	uint32_t trails[RTE_DIM(indexes)];
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source_of_lane,
		.edges = { "end" }, .lanes = { "port" });
	sink_add(&arc_end, "end");
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.lanes = { HY_ARC_LANE, "port" });
	assert_int_equal(hy_arc_enable(arc, "f", 3, 30), 0);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 40), 0);
	arc_send(graph, indexes, trails, RTE_DIM(indexes));
	assert_int_equal(trails[0], trail(0, 1, 30));
	assert_int_equal(trails[1], 0);
	assert_int_equal(trails[2], trail(0, 1, 30));
	assert_int_equal(trails[3], trail(0, 1, 40));
}

/* In rte_node's ip4_rewrite a second graph has no handle of the arc. */
static void
every_graph_has_the_arc_whenever_it_was_created(void **state)
{
	struct hy_graph *before, *after;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	before = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "f", 1, 5), 0);
	after = arc_graph("h", 1, NULL);
	assert_int_equal(arc_trail(before, 1), trail(0, 1, 5));
	assert_int_equal(arc_trail(after, 1), trail(0, 1, 5));
	assert_int_equal(hy_arc_enable(arc, "f", 1, 6), 0);
	assert_int_equal(arc_trail(after, 1), trail(0, 1, 6));
	assert_int_equal(arc_trail(before, 1), trail(0, 1, 6));
	assert_int_equal(hy_arc_disable(arc, "f", 1), 0);
	assert_int_equal(arc_trail(before, 1), 0);
	assert_int_equal(arc_trail(after, 1), 0);
	assert_int_equal(hy_graph_node_count(before), 2);
	assert_int_equal(hy_graph_node_count(after), 2);
}

static void
every_edge_to_the_end_leads_through_the_arc(void **state)
{
	struct hy_graph *graph;
	hy_node_id src;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	pass_add(NULL, "pass", "end");
	assert_int_equal(hy_node_lookup("src", &src), 0);
	assert_int_equal(hy_node_edge_set(src, 0, "pass"), 0);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 1));
	assert_int_equal(edge_objs(graph, "pass", 0), 1);
	assert_ptr_equal(graph_node(graph, "pass")->edges[0].to, graph_node(graph, "arc"));
	assert_int_equal(edge_objs(graph, "f", 0), 1);
	assert_ptr_equal(graph_node(graph, "f")->edges[0].to, graph_node(graph, "end"));
}

/* A feature that the program never heard of. */
static void
a_plugin_brings_features_and_takes_them_along(void **state)
{
	static char error[HY_PLUGIN_ERROR_SIZE];
	struct hy_plugin *plugin;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		if (hy_plugin_load(unit_plugin("hy-test-plugin-feature.so", "a.so"), &plugin,
			    error) != 0)
			fail_msg("%s", error);
		arc_add(NULL);
		assert_string_equal(hy_arc_feature_at(arc, 1), "plugin_feature");
		graph = arc_graph("g", 0, NULL);
		assert_int_equal(hy_arc_enable(arc, "f", 0, 9), 0);
		assert_int_equal(hy_arc_enable(arc, "plugin_feature", 0, 0), 0);
		assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
		assert_int_equal(edge_objs(graph, "plugin_feature", 0), 1);
		hy_graph_destroy(graph);
		assert_int_equal(hy_plugin_unload(plugin, error), -EBUSY);
		assert_non_null(strstr(error,
			"its node 'plugin_feature' is a feature of arc 'arc'; disable all features "
			"of that first"));
		assert_int_equal(hy_arc_set(arc, 0, NULL, 0), 0);
		assert_int_equal(hy_plugin_unload(plugin, error), -EBUSY);
		assert_non_null(strstr(error,
			"its feature 'plugin_feature' is on arc 'arc'; destroy that first"));
		assert_int_equal(hy_arc_destroy(arc), 0);
		assert_int_equal(hy_plugin_unload(plugin, error), 0);
		arc_nodes_remove();
	}
	arc_add(NULL);
	assert_null(hy_arc_feature_at(arc, 1));
}

static const struct CMUnitTest tests[] = {
	ARC_TEST(nothing_of_an_arc_is_in_a_graph_while_nothing_is_enabled),
	ARC_TEST(features_come_in_the_order_that_they_ask_for),
	ARC_TEST(an_order_that_is_a_circle_is_refused_in_words),
	ARC_TEST(an_order_by_an_unknown_feature_is_refused_in_words),
	ARC_TEST(features_are_found_by_whole_names),
	ARC_TEST(any_number_of_indexes_have_features_of_their_own),
	ARC_TEST(an_object_under_way_sees_the_features_of_before),
	ARC_TEST(features_of_an_index_are_replaced_as_a_whole_or_one_by_one),
	ARC_TEST(an_index_can_stand_in_a_lane),
	ARC_TEST(every_graph_has_the_arc_whenever_it_was_created),
	ARC_TEST(every_edge_to_the_end_leads_through_the_arc),
	ARC_TEST(a_plugin_brings_features_and_takes_them_along),
};

UNIT_SUITE(tests)
