/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: what an init() calls in the middle of the creation or change of its graph. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat_fixture.h"

static struct probe src, sink, more;
static unsigned int called;
static int result;

static void
pair_add(const char *of_src, const char *of_sink)
{
	src = sink = more = (struct probe){ 0 };
	called = 0;
	NODE(&src, of_src, probe_source, of_sink);
	NODE(&sink, of_sink, probe_sink, NULL);
}

/* Checks that a graph with src and sink brings all objects from one to the other. */
static void
assert_walks(struct rte_graph *graph)
{
	const uint64_t before = sink.objs;

	src.budget += 5;
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, before + 5);
}

static void
first_destroy(const struct rte_graph *graph)
{
	called++;
	result = rte_graph_destroy(rte_graph_from_name("first"));
	RTE_SET_USED(graph);
}

static void
a_graph_whose_init_destroys_another_is_in_the_list(void **state)
{
	RTE_SET_USED(state);
	NODE(NULL, N("a"), probe_source, N("b"));
	NODE(NULL, N("b"), probe_sink, NULL);
	graph_add("first", N("a"));
	pair_add(N("src"), N("sink"));
	sink.in_init = first_destroy;
	assert_walks(graph_add("second", N("src")));
	assert_int_equal(called, 1);
	assert_int_equal(result, 0);
	assert_null(rte_graph_lookup("first"));
	assert_int_equal(rte_graph_max_count(), 1);
	assert_int_equal(rte_graph_from_name("second"), 1);
	graph_add("third", N("a"));
	assert_int_equal(rte_graph_from_name("third"), 0);
	assert_int_equal(rte_graph_max_count(), 2);
	assert_walks(rte_graph_lookup("second"));
}

static void
own_destroy(const struct rte_graph *graph)
{
	called++;
	unit_log_clear();
	result = rte_graph_destroy(graph->id);
	assert_int_equal(rte_errno, EBUSY);
	assert_non_null(strstr(unit_log(), "hy_graph_destroy() refused"));
}

static void
an_init_that_destroys_its_graph_in_a_change_is_refused(void **state)
{
	struct rte_graph *graph;
	const char *targets[] = { N("sink"), N("more") };
	rte_node_t id;

	RTE_SET_USED(state);
	pair_add(N("src"), N("sink"));
	NODE(&more, N("more"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	id = rte_node_from_name(N("src"));
	assert_int_equal(rte_node_edge_update(id, 0, targets, 2), 2);
	more.in_init = own_destroy;
	assert_int_equal(graph_update(graph, N("src")), 0);
	assert_int_equal(called, 1);
	assert_int_equal(result, -EBUSY);
	assert_ptr_equal(rte_graph_lookup("g"), graph);
	assert_walks(graph);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(more.finis, 1);
}

/* What graphs are tried of, and may be changed. */
static const char *pattern;
static rte_graph_t other;

static void
graphs_make(const struct rte_graph *graph)
{
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern
	};

	RTE_SET_USED(graph);
	called++;
	unit_log_clear();
	assert_int_equal(rte_graph_create("inner", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EBUSY);
	assert_int_equal(rte_graph_clone(other, "inner", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EBUSY);
	assert_int_equal(hy_compat_graph_update(other, &prm), -EBUSY);
	assert_int_equal(rte_errno, EBUSY);
	assert_int_equal(unit_log_lines(), 3);
	assert_non_null(strstr(unit_log(),
		"rte_graph: graph 'inner': refused: called by a node's init()"));
}

/* The source's init() runs first: the sink is not bound to its graph yet. */
static void
an_init_that_makes_or_changes_a_graph_is_refused(void **state)
{
	struct rte_graph *graph;

	RTE_SET_USED(state);
	pair_add(N("src"), N("sink"));
	NODE(NULL, N("other"), probe_source, N("sink"));
	graph = graph_add("other", N("other"));
	other = graph->id;
	pattern = N("other");
	src.in_init = graphs_make;
	graph = graph_add("outer", N("src"));
	assert_int_equal(called, 1);
	assert_int_equal(rte_graph_max_count(), 2);
	assert_walks(graph);
}

static const char *core_name; /* of a graph that an init() tries to make of the adapter's nodes */

static void
core_make(const struct rte_graph *graph)
{
	static const char *const patterns[] = { "init-src" };
	struct hy_graph_params params = { .patterns = patterns, .nb_patterns = 1 };
	const struct rte_graph *lent = rte_graph_lookup("other");
	struct hy_graph *made = NULL;
	struct hy_graph_params of;

	RTE_SET_USED(graph);
	hy_graph_params_get(lent->core, &of);
	params.ops = of.ops;
	called++;
	result = hy_graph_create(core_name, &params, &made);
	assert_null(made);
}

static uint16_t
nothing_made(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	return 0;
}

/* The name of the graph that is being compiled is free yet, and its nodes are ready to be bound. */
static void
a_graph_of_the_core_that_an_init_makes_refuses_these_nodes(void **state)
{
	struct hy_node_desc desc = {
		.name = "init-src", .flags = HY_NODE_SOURCE, .impl.process = nothing_made
	};
	char target[HY_NAME_SIZE];
	struct rte_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	pair_add(N("src"), N("sink"));
	NODE(NULL, N("other"), probe_source, N("end"));
	NODE(NULL, N("end"), probe_sink, NULL);
	graph_add("other", N("other"));
	snprintf(target, sizeof(target), "rte.%.50s", N("sink"));
	desc.edges[0] = target;
	assert_int_equal(hy_node_register(&desc, &id), 0);
	src.in_init = core_make;
	core_name = "rte.outer";
	graph = graph_add("outer", N("src"));
	assert_int_equal(called, 1);
	assert_int_equal(result, -EINVAL);
	assert_walks(graph);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(sink.inits, sink.finis);
	assert_int_equal(hy_node_unregister(id), 0);
}

static void
print_obj(FILE *f, void *arg)
{
	rte_graph_obj_dump(f, arg, true);
	rte_graph_list_dump(f);
}

static char *dumped;

static void
own_dump(const struct rte_graph *graph)
{
	called++;
	dumped = printed(print_obj, (void *)(uintptr_t)graph);
}

static void
an_init_may_dump_its_graph(void **state)
{
	RTE_SET_USED(state);
	pair_add(N("src"), N("sink"));
	sink.in_init = own_dump;
	assert_walks(graph_add("g", N("src")));
	assert_int_equal(called, 1);
	assert_non_null(strstr(dumped, "graph <g>"));
	free(dumped);
}

static const struct CMUnitTest compat_inits[] = {
	COMPAT_TEST(a_graph_whose_init_destroys_another_is_in_the_list),
	COMPAT_TEST(an_init_that_destroys_its_graph_in_a_change_is_refused),
	COMPAT_TEST(an_init_that_makes_or_changes_a_graph_is_refused),
	COMPAT_TEST(a_graph_of_the_core_that_an_init_makes_refuses_these_nodes),
	COMPAT_TEST(an_init_may_dump_its_graph),
};
UNIT_SUITE(compat_inits)
