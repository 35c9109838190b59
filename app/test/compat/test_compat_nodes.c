/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: nodes and edges, as they are registered. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/test/graph/owned.h"
#include "compat_fixture.h"

static char long_name[] = "0123456789012345678901234567890123456789012345678901234567890123";

static void
ids_are_dense_and_name_the_nodes(void **state)
{
	const rte_node_t first = rte_node_max_count();
	const rte_node_t a = NODE(NULL, N("a"), probe_sink, NULL);
	const rte_node_t b = NODE(NULL, N("b"), probe_sink, NULL);

	RTE_SET_USED(state);
	assert_int_equal(a, first);
	assert_int_equal(b, first + 1);
	assert_int_equal(rte_node_max_count(), first + 2);
	assert_int_equal(rte_node_from_name(N("b")), b);
	assert_string_equal(rte_node_id_to_name(a), N("a"));
	assert_int_equal(rte_node_from_name(N("c")), RTE_NODE_ID_INVALID);
	assert_null(rte_node_id_to_name(first + 2));
	assert_int_equal(rte_errno, EINVAL);
}

static void
bad_nodes_are_refused(void **state)
{
	const rte_node_t before = rte_node_max_count();
	struct rte_node_register reg = { .name = "no_process" };

	RTE_SET_USED(state);
	assert_int_equal(__rte_node_register(NULL), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(__rte_node_register(&reg), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_non_null(strstr(unit_log(), "no_process"));

	memcpy(reg.name, long_name, sizeof(reg.name)); /* no room for a NUL */
	reg.process = probe_sink;
	assert_int_equal(__rte_node_register(&reg), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, E2BIG);
	assert_int_equal(NODE(NULL, N("x"), probe_pass, long_name), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, E2BIG);
	assert_int_equal(rte_node_max_count(), before);

	assert_int_equal(NODE(NULL, N("x"), probe_sink, NULL), before);
	assert_int_equal(NODE(NULL, N("x"), probe_sink, NULL), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_node_max_count(), before + 1);
}

static void
a_clone_has_the_edges_and_its_original_as_parent(void **state)
{
	const rte_node_t id = NODE(NULL, N("a"), probe_pass, "x", "y");
	const rte_node_t clone = rte_node_clone(id, "1");
	char *names[2] = { NULL };
	char whole[128];

	RTE_SET_USED(state);
	snprintf(whole, sizeof(whole), "%s-1", N("a"));
	assert_string_equal(rte_node_id_to_name(clone), whole);
	assert_int_equal(rte_node_edge_get(clone, names), 2);
	assert_string_equal(names[0], "x");
	assert_string_equal(names[1], "y");

	assert_int_equal(rte_node_clone(id, "1"), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_node_clone(clone, "2"), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_node_clone(id, long_name), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, E2BIG);
	assert_int_equal(rte_node_clone(id, long_name + 40), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, E2BIG);
	assert_int_equal(rte_node_clone(clone + 1, "2"), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_node_max_count(), clone + 1);
}

static void
edges_are_set_added_and_taken_away(void **state)
{
	const rte_node_t id = NODE(NULL, N("a"), probe_pass, "x", "y");
	const char *targets[] = { "p", "q" };
	char *names[4];

	RTE_SET_USED(state);
	assert_int_equal(rte_node_edge_update(id, 1, targets, 2), 2);
	assert_int_equal(rte_node_edge_count(id), 3);
	assert_int_equal(rte_node_edge_update(id, RTE_EDGE_ID_INVALID, targets, 1), 1);
	assert_int_equal(rte_node_edge_get(id, NULL), 4 * sizeof(char *));
	assert_int_equal(rte_node_edge_get(id, names), 4);
	assert_string_equal(names[0], "x");
	assert_string_equal(names[1], "p");
	assert_string_equal(names[2], "q");
	assert_string_equal(names[3], "p");
	assert_int_equal(rte_node_edge_shrink(id, 1), 1);
	assert_int_equal(rte_node_edge_count(id), 1);
	assert_int_equal(rte_node_edge_shrink(id, 2), RTE_EDGE_ID_INVALID);
	assert_int_equal(rte_errno, E2BIG);
	assert_int_equal(rte_node_edge_count(id), 1);
	assert_int_equal(rte_node_edge_count(id + 1), RTE_EDGE_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_node_edge_get(id + 1, NULL), RTE_NODE_ID_INVALID);
}

/* Lesson: the number of edges rose also when their names were refused, or memory was short. */
static void
a_refused_edge_update_changes_nothing(void **state)
{
	const rte_node_t id = NODE(NULL, N("a"), probe_pass, "x", "y");
	const char *bad[] = { "p", long_name }, *missing[] = { "p", NULL }, *good[] = { "p", "q" };
	char *names[2];

	RTE_SET_USED(state);
	assert_int_equal(rte_node_edge_update(id, 1, bad, 2), 0);
	assert_int_equal(rte_errno, E2BIG);
	assert_int_equal(rte_node_edge_update(id, 1, missing, 2), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_node_edge_update(id, 3, good, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(rte_node_edge_update(id, 2, good, UINT16_MAX), 0);
	assert_int_equal(rte_errno, E2BIG);
	unit_alloc_fail(1);
	assert_int_equal(rte_node_edge_update(id, 2, good, 2), 0);
	assert_int_equal(rte_errno, ENOMEM);
	unit_alloc_fail(0);
	assert_int_equal(unit_log_lines(), 5);
	assert_int_equal(rte_node_edge_get(id, names), 2);
	assert_string_equal(names[0], "x");
	assert_string_equal(names[1], "y");
}

static void
registering_fails_clean_at_every_allocation(void **state)
{
	const rte_node_t before = rte_node_max_count();
	const char *name = N("a"), *targets[] = { "x", "y", NULL };
	unsigned int failed = 0;
	rte_node_t id;

	RTE_SET_USED(state);
	do {
		const int64_t live = unit_alloc_live();

		unit_alloc_fail(failed + 2); /* the first one is the fixture's */
		id = node_add(NULL, name, probe_pass, targets);
		if (id != RTE_NODE_ID_INVALID)
			break;
		failed++;
		assert_int_equal(rte_errno, ENOMEM);
		assert_int_equal(rte_node_max_count(), before);
		assert_int_equal(rte_node_from_name(name), RTE_NODE_ID_INVALID);
		/* The list of nodes may have got its room for one more. */
		assert_in_range(unit_alloc_live() - live, 0, 1);
	} while (failed < 100);
	assert_true(failed >= 4); /* node, edges, list, the core's */
	assert_int_equal(id, before);
}

static void
a_node_that_no_graph_has_can_be_freed_and_its_id_comes_again(void **state)
{
	struct probe src = { 0 }, sink = { 0 };
	const rte_node_t first = rte_node_max_count();
	rte_node_t a, b, clone;

	RTE_SET_USED(state);
	a = NODE(&src, N("src"), probe_source, N("sink"));
	b = NODE(&sink, N("sink"), probe_sink, NULL);
	clone = rte_node_clone(b, "c");
	assert_int_equal(a, first);
	assert_int_equal(clone, first + 2);
	graph_add("g", N("src"));
	assert_int_equal(rte_node_free(b), -1);
	assert_int_equal(rte_errno, EBUSY);
	assert_int_equal(rte_graph_destroy(rte_graph_from_name("g")), 0);
	assert_int_equal(rte_node_free(b), 0);
	assert_null(rte_node_id_to_name(b));
	assert_int_equal(rte_node_from_name(N("sink")), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_node_free(b), -1);
	assert_int_equal(rte_errno, ENOENT);
	assert_int_equal(rte_node_max_count(), first + 3);
	/* A clone whose original is gone stands by itself. */
	assert_int_not_equal(rte_node_clone(clone, "d"), RTE_NODE_ID_INVALID);
	assert_int_equal(rte_node_from_name(rte_node_id_to_name(b)), b);
	assert_int_equal(rte_node_free(b), 0);
	assert_int_equal(graph_try("g", N("src")), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_node_free(clone), 0);
	assert_int_equal(rte_node_max_count(), first + 1);
	assert_int_equal(NODE(&sink, N("sink"), probe_sink, NULL), b);
	graph_add("g", N("src"));
}

static void
print_node(FILE *f, void *arg)
{
	rte_node_dump(f, *(rte_node_t *)arg);
}

static void
a_dump_shows_a_node_and_its_edges(void **state)
{
	rte_node_t id = NODE(NULL, N("a"), probe_source, "x"), none = id + 1;
	char want[256], *text = printed(print_node, &id);

	RTE_SET_USED(state);
	snprintf(want, sizeof(want),
		"node <%s>\n  id=%u\n  flags=0x1\n  nb_edges=1\n    edge[0] <x>\n", N("a"), id);
	assert_string_equal(text, want);
	free(text);
	text = printed(print_node, &none);
	assert_string_equal(text, "");
	free(text);
}

/* Its edges in the core are those that the adapter has counted. */
static void
core_nodes_belong_to_the_adapter(void **state)
{
	struct probe src = { .budget = 10 }, sink = { 0 };
	struct rte_graph *graph;
	unsigned int owned = 0;
	hy_node_id id;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	for (id = 0; hy_node_next(id, &id) == 0; id++) {
		char name[HY_NAME_SIZE];

		assert_int_equal(hy_node_name(id, name, sizeof(name)), 0);
		if (strncmp(name, "rte.", 4) != 0 || strstr(name + 4, __func__) != name + 4)
			continue;
		assert_owned(id, "the adapter for rte_graph");
		owned++;
	}
	assert_int_equal(owned, 2);
	assert_int_equal(graph_update(graph, N("src")), 0);
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, 10);
}

static const struct CMUnitTest compat_nodes[] = {
	COMPAT_TEST(ids_are_dense_and_name_the_nodes),
	COMPAT_TEST(bad_nodes_are_refused),
	COMPAT_TEST(a_clone_has_the_edges_and_its_original_as_parent),
	COMPAT_TEST(edges_are_set_added_and_taken_away),
	COMPAT_TEST(a_refused_edge_update_changes_nothing),
	COMPAT_TEST(registering_fails_clean_at_every_allocation),
	COMPAT_TEST(a_node_that_no_graph_has_can_be_freed_and_its_id_comes_again),
	COMPAT_TEST(a_dump_shows_a_node_and_its_edges),
	COMPAT_TEST(core_nodes_belong_to_the_adapter),
};
UNIT_SUITE(compat_nodes)
