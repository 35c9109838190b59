/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: graphs that are created, refused, found, printed and destroyed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_memzone.h>

#include "compat_fixture.h"

/* A source and a sink, of the calling test. */
#define PAIR(src, sink) \
	do { \
		NODE(src, N("src"), probe_source, N("sink")); \
		NODE(sink, N("sink"), probe_sink, NULL); \
	} while (0)

static void
refused(const char *pattern, int error, const char *word)
{
	assert_int_equal(graph_try("g", pattern), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, error);
	if (strstr(unit_log(), word) == NULL)
		fail_msg("'%s' is not in: %s", word, unit_log());
	assert_null(rte_graph_lookup("g"));
	assert_int_equal(rte_graph_max_count(), 0);
}

static void
bad_graphs_are_refused_with_their_reason(void **state)
{
	const char *loop = N("loop");

	RTE_SET_USED(state);
	NODE(NULL, N("src"), probe_source, N("sink"));
	NODE(NULL, N("sink"), probe_sink, NULL);
	NODE(NULL, N("bare"), probe_source, NULL);
	NODE(NULL, N("dangling"), probe_source, "nowhere");
	NODE(NULL, N("into"), probe_source, N("back"));
	NODE(NULL, N("back"), probe_pass, N("src"));
	NODE(NULL, N("self"), probe_source, loop);
	NODE(NULL, loop, probe_pass, loop);
	NODE(NULL, N("island"), probe_sink, NULL);
	refused("nothing*", EFAULT, "nothing*");
	refused(N("sink"), EINVAL, "source");
	refused(N("bare"), EINVAL, "no edge");
	refused(N("dangling"), EINVAL, "nowhere");
	refused(N("into"), EINVAL, "into the source");
	refused(N("self"), EINVAL, "itself");
	refused(N("[si][rs][cl]*"), EINVAL, "island");
	assert_int_equal(rte_graph_create("g", NULL), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_graph_create(NULL, NULL), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
}

static void
ids_are_the_lowest_that_are_free(void **state)
{
	struct probe src = { 0 }, sink = { 0 };
	unsigned int compared = 0;
	char name[8];

	RTE_SET_USED(state);
	PAIR(&src, &sink);
	for (rte_graph_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		assert_int_equal(graph_add(name, N("*"))->id, i);
		assert_string_equal(rte_graph_id_to_name(i), name);
		assert_int_equal(rte_graph_from_name(name), i);
		compared++;
	}
	assert_int_equal(compared, 4);
	assert_int_equal(graph_try("g2", N("*")), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_graph_destroy(1), 0);
	assert_int_equal(rte_graph_destroy(1), -ENOENT);
	assert_null(rte_graph_id_to_name(1));
	assert_int_equal(rte_graph_max_count(), 3);
	assert_int_equal(graph_add("again", N("*"))->id, 1);
	assert_int_equal(graph_add("last", N("*"))->id, 4);
}

/* Lesson: a memzone's name cut those of graphs at 31 characters. */
static void
a_name_may_have_63_characters_of_any_kind(void **state)
{
	char name[] = "a graph/of \"63\" characters, of which some are no part of a name";
	struct probe src = { .budget = 5 }, sink = { 0 };

	RTE_SET_USED(state);
	assert_int_equal(strlen(name), 63);
	PAIR(&src, &sink);
	rte_graph_walk(graph_add(name, N("*")));
	assert_int_equal(sink.objs, 5);
	assert_int_equal(
		graph_try("0123456789012345678901234567890123456789012345678901234567890123",
			N("*")),
		RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, E2BIG);
}

/* Lesson: lookup took any memzone of the name for a graph. */
static void
lookup_finds_graphs_only(void **state)
{
	const struct rte_memzone *mz = rte_memzone_reserve("zone", 64, SOCKET_ID_ANY, 0);

	RTE_SET_USED(state);
	assert_non_null(mz);
	assert_null(rte_graph_lookup("zone"));
	assert_null(rte_graph_lookup(NULL));
	rte_memzone_free(mz);
}

/* Lesson: SOCKET_ID_ANY was handed on to nodes, which used it as an index. */
static void
a_graph_on_any_socket_says_which_one_it_is_on(void **state)
{
	struct probe src = { 0 }, sink = { 0 };

	RTE_SET_USED(state);
	PAIR(&src, &sink);
	assert_int_equal(graph_add("g", N("*"))->socket, rte_socket_id());
}

/* Lesson: an init() that failed left the nodes before it initialised, and the name taken. */
static void
a_failed_init_is_undone_and_the_name_stays_free(void **state)
{
	struct probe src = { 0 }, pass = { 0 }, sink = { .init_rc = -EXDEV };

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("pass"));
	NODE(&pass, N("pass"), probe_pass, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	assert_int_equal(graph_try("g", N("*")), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EXDEV);
	assert_int_equal(src.inits, 1);
	assert_int_equal(src.finis, 1);
	assert_int_equal(pass.inits, 1);
	assert_int_equal(pass.finis, 1);
	assert_int_equal(sink.inits, 0);
	assert_int_equal(sink.finis, 0);
	sink.init_rc = 7; /* whatever is not 0 */
	assert_int_equal(graph_try("g", N("*")), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, 7);
	sink.init_rc = 0;
	graph_add("g", N("*"));
	assert_int_equal(rte_graph_destroy(0), 0);
	assert_int_equal(src.inits, 3);
	assert_int_equal(src.finis, 3);
	assert_int_equal(sink.finis, 1);
}

static void
creating_fails_clean_at_every_allocation(void **state)
{
	const unsigned int heap = unit_heap_live();
	const char *pattern = N("*"), *twice = N("sink");
	struct probe src = { 0 }, sink = { 0 };
	unsigned int failed = 0;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, twice, twice);
	NODE(&sink, twice, probe_sink, NULL);
	do {
		unit_alloc_fail(failed + 1);
		if (graph_try("g", pattern) != RTE_GRAPH_ID_INVALID)
			break;
		failed++;
		assert_int_equal(rte_errno, ENOMEM);
		assert_null(rte_graph_lookup("g"));
		assert_int_equal(unit_heap_live(), heap);
		assert_int_equal(src.inits, src.finis);
		assert_int_equal(sink.inits, sink.finis);
	} while (failed < 200);
	assert_in_range(failed, 20, 199);
	unit_alloc_fail(0);
	src.budget = 9;
	rte_graph_walk(rte_graph_lookup("g"));
	assert_int_equal(sink.objs, 9);
}

static void
nodes_of_a_graph_are_found_and_gone_through(void **state)
{
	struct probe src = { 0 }, sink = { 0 };
	struct rte_graph *graph;
	struct rte_node *node;
	rte_graph_off_t off;
	rte_node_t count, seen = 0;

	RTE_SET_USED(state);
	PAIR(&src, &sink);
	NODE(NULL, "elsewhere", probe_sink, NULL);
	graph = graph_add("g", N("*"));
	rte_graph_foreach_node(count, off, graph, node)
	{
		assert_ptr_equal(node, count == 0 ? src.node : sink.node);
		assert_int_equal(node->fence, RTE_GRAPH_FENCE);
		seen++;
	}
	assert_int_equal(seen, 2);
	assert_int_equal(src.node->nb_edges, 1);
	assert_ptr_equal(src.node->nodes[0], sink.node);
	assert_int_equal(src.node->parent_id, RTE_NODE_ID_INVALID);
	assert_string_equal(sink.node->name, N("sink"));
	assert_ptr_equal(rte_graph_node_get(graph->id, sink.node->id), sink.node);
	assert_ptr_equal(rte_graph_node_get_by_name("g", N("src")), src.node);
	assert_null(rte_graph_node_get_by_name("g", "elsewhere"));
	assert_int_equal(rte_errno, ENOENT);
	assert_null(rte_graph_node_get(graph->id + 1, sink.node->id));
	assert_int_equal(rte_errno, EINVAL);
}

static void
export_dot(FILE *f, void *arg)
{
	assert_int_equal(rte_graph_export(arg, f), 0);
}

static char any_name[] = "a \"b\" \\ c";

/* Lesson: after an edge update of a live graph, walks and exports read what was not theirs. */
static void
an_edge_update_leaves_a_graph_that_exists_alone(void **state)
{
	struct probe src = { .budget = 30, .per_call = 10 }, sink = { 0 }, more = { 0 };
	const char *targets[] = { N("more"), N("more"), N("sink"), "nowhere" };
	struct rte_graph *graph;
	char *picture;
	rte_node_t id;

	RTE_SET_USED(state);
	id = NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	NODE(&more, N("more"), probe_sink, NULL);
	graph = graph_add(any_name, N("src"));
	rte_graph_walk(graph);
	assert_int_equal(rte_node_edge_update(id, 0, targets, 4), 4);
	rte_graph_walk(graph);
	picture = printed(export_dot, any_name);
	assert_non_null(strstr(picture, N("sink")));
	assert_null(strstr(picture, N("more")));
	assert_int_equal(rte_node_edge_shrink(id, 0), 0);
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, 30);
	assert_int_equal(more.objs, 0);
	assert_int_equal(src.node->nb_edges, 1);
	assert_int_equal(rte_graph_export("none", stderr), -ENOENT);
	free(picture);
}

static void
an_export_is_the_picture_of_the_cores_graph(void **state)
{
	const char *sink = N("sink"), *src = N("src");
	struct probe made = { .budget = 30 }, ended = { 0 };
	char want[256], *text;

	RTE_SET_USED(state);
	NODE(&made, src, probe_source, sink);
	NODE(&ended, sink, probe_sink, NULL);
	rte_graph_walk(graph_add(any_name, N("*")));
	text = printed(export_dot, any_name);
	snprintf(want, sizeof(want), "\"rte.%s\" -> \"rte.%s\" [label=\"30\"]", src, sink);
	if (strstr(text, want) == NULL)
		fail_msg("no '%s' in '%s'", want, text);
	free(text);
}

static void
print_all(FILE *f, void *arg)
{
	rte_graph_list_dump(f);
	rte_graph_dump(f, 77);
	rte_graph_obj_dump(f, arg, true);
	rte_graph_obj_dump(f, arg, false);
}

static void
dumps_name_graphs_nodes_and_counters(void **state)
{
	struct probe src = { .budget = 12 }, sink = { 0 };
	struct rte_graph *graph;
	char *text;

	RTE_SET_USED(state);
	PAIR(&src, &sink);
	graph = graph_add("g", N("*"));
	rte_graph_walk(graph);
	text = printed(print_all, graph);
	assert_non_null(strstr(text, "graph <g>\n  id=0\n"));
	assert_non_null(strstr(text, "total_calls=1\n      total_objs=12\n"));
	assert_non_null(strstr(text, "edge[0] <"));
	assert_non_null(strstr(text, N("sink")));
	free(text);
}

static void
nothing_to_release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	obj_faults += n;
}

static void
a_graph_of_the_core_refuses_these_nodes(void **state)
{
	static const struct hy_object_ops ops = { .release = nothing_to_release };
	static const char *const patterns[] = { "rte.a_graph_of_the_core_refuses_these_nodes.*" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops
	};
	struct hy_graph *graph = NULL;

	RTE_SET_USED(state);
	NODE(NULL, N("src"), probe_source, N("sink"));
	NODE(NULL, N("sink"), probe_sink, NULL);
	graph_add("g", N("*"));
	assert_int_equal(hy_graph_create("native", &params, &graph), -EINVAL);
	assert_non_null(strstr(unit_log(), "rte_graph_create()"));
	assert_null(graph);
}

static const struct CMUnitTest compat_graphs[] = {
	COMPAT_TEST(bad_graphs_are_refused_with_their_reason),
	COMPAT_TEST(ids_are_the_lowest_that_are_free),
	COMPAT_TEST(a_name_may_have_63_characters_of_any_kind),
	COMPAT_TEST(lookup_finds_graphs_only),
	COMPAT_TEST(a_graph_on_any_socket_says_which_one_it_is_on),
	COMPAT_TEST(a_failed_init_is_undone_and_the_name_stays_free),
	COMPAT_TEST(creating_fails_clean_at_every_allocation),
	COMPAT_TEST(nodes_of_a_graph_are_found_and_gone_through),
	COMPAT_TEST(an_edge_update_leaves_a_graph_that_exists_alone),
	COMPAT_TEST(an_export_is_the_picture_of_the_cores_graph),
	COMPAT_TEST(dumps_name_graphs_nodes_and_counters),
	COMPAT_TEST(a_graph_of_the_core_refuses_these_nodes),
};
UNIT_SUITE(compat_graphs)
