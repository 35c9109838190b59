/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a graph: init and fini, independence of the registry and of other graphs. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/registry/registry.h"

/* What init() and fini() of the nodes did, in order: "+name" and "-name". */
static char story[1024];
static const char *fails_at; /* the node whose init() fails */
static int fails_with;

static void
tell(char what, const struct hy_graph *graph, const struct hy_node *node)
{
	const size_t len = strlen(story);

	snprintf(story + len, sizeof(story) - len, "%c%s ", what, hy_graph_node_name(graph, node));
}

static int
telling_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const uint8_t *ctx = node->ctx;

	RTE_SET_USED(config);
	tell('+', graph, node);
	for (unsigned int i = 0; i < 1000; i++)
		obj_faults += ctx[i] != 0;
	memset(node->ctx, 0xa5, 1000);
	return fails_at != NULL && strcmp(hy_graph_node_name(graph, node), fails_at) == 0
		? fails_with
		: 0;
}

static void
telling_fini(const struct hy_graph *graph, struct hy_node *node)
{
	const uint8_t *ctx = node->ctx;

	tell('-', graph, node);
	for (unsigned int i = 0; i < 1000; i++)
		obj_faults += ctx[i] != 0xa5;
}

#define TELLING(p) \
	{ \
		.process = (p), .init = telling_init, .fini = telling_fini, .ctx_size = 1000 \
	}

static void
telling_nodes(void)
{
	NODE(NULL, .name = "a", .flags = HY_NODE_SOURCE, .impl = TELLING(probe_source),
		.edges = { "b" });
	NODE(NULL, .name = "b", .impl = TELLING(probe_pass), .edges = { "c" });
	NODE(NULL, .name = "c", .impl = TELLING(probe_pass), .edges = { "d" });
	NODE(NULL, .name = "d", .impl = TELLING(probe_sink));
	story[0] = '\0';
	fails_at = NULL;
}

static void
nodes_are_initialised_in_rank_order_and_finished_in_reverse(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	telling_nodes();
	graph = GRAPH("g");
	assert_string_equal(story, "+a +b +c +d ");
	hy_graph_destroy(graph);
	assert_string_equal(story, "+a +b +c +d -d -c -b -a ");
}

/* Nodes before the one that failed stayed initialised. */
static void
init_that_fails_finishes_the_earlier_nodes_once_in_reverse(void **state)
{
	static const struct {
		const char *name;
		int rc;
		const char *story;
	} cases[] = {
		{ "a", -EIO, "+a " },
		{ "b", -ENODEV, "+a +b -a " },
		{ "c", -EPERM, "+a +b +c -b -a " },
		{ "d", -ENOMEM, "+a +b +c +d -c -b -a " },
	};
	unsigned int failed = 0;

	RTE_SET_USED(state);
	telling_nodes();
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const unsigned int heap = unit_heap_live();
		struct hy_graph *graph = NULL, *found;

		story[0] = '\0';
		fails_at = cases[i].name;
		fails_with = cases[i].rc;
		unit_log_clear();
		assert_int_equal(GRAPH_TRY("g", &graph, .burst = 4), cases[i].rc);
		assert_string_equal(story, cases[i].story);
		assert_int_equal(unit_log_lines(), 1);
		assert_non_null(strstr(unit_log(), "could not be initialised"));
		assert_null(graph);
		assert_int_equal(hy_graph_lookup("g", &found), -ENOENT);
		assert_int_equal(unit_heap_live(), heap);
		fails_at = NULL;
		hy_graph_destroy(GRAPH("g"));
		failed++;
	}
	assert_int_equal(failed, 4);
}

static void
plain_fini(const struct hy_graph *graph, struct hy_node *node)
{
	tell('-', graph, node);
}

static void
fini_is_called_for_a_node_without_init(void **state)
{
	RTE_SET_USED(state);
	story[0] = '\0';
	NODE(NULL, .name = "a", .flags = HY_NODE_SOURCE,
		.impl = { .process = probe_source, .fini = plain_fini });
	hy_graph_destroy(GRAPH("g"));
	assert_string_equal(story, "-a ");
}

static int
looking_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	hy_node_id id;
	struct hy_graph *none;

	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (hy_node_lookup("sink", &id) != 0 || hy_graph_lookup("g", &none) != -ENOENT)
		return -EFAULT;
	return hy_graph_worker(graph) == 7 && hy_graph_burst(graph) == 5 ? 0 : -EFAULT;
}

static void
init_may_look_up_and_ask_the_graph(void **state)
{
	RTE_SET_USED(state);
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .edges = { "sink" },
		.impl = { .process = probe_source, .init = looking_init });
	sink_add(NULL, "sink");
	GRAPH("g", .worker = 7, .burst = 5);
}

static void
destroying_nothing_is_allowed(void **state)
{
	RTE_SET_USED(state);
	hy_graph_destroy(NULL);
}

/* A flag "initialised already" once left the second graph without its context. */
static void
two_graphs_of_the_same_nodes_are_independent(void **state)
{
	struct hy_graph *a, *b;

	RTE_SET_USED(state);
	telling_nodes();
	a = GRAPH("a", .burst = 4);
	b = GRAPH("b", .burst = 8, .socket = SOCKET_ID_ANY);
	assert_string_equal(story, "+a +b +c +d +a +b +c +d ");
	for (unsigned int r = 0; r < 4; r++) {
		assert_ptr_not_equal(a->plan.nodes[r].ctx, b->plan.nodes[r].ctx);
		assert_ptr_not_equal(a->plan.nodes[r].stream, b->plan.nodes[r].stream);
	}
	story[0] = '\0';
	hy_graph_destroy(a);
	assert_string_equal(story, "-d -c -b -a ");
	assert_string_equal(hy_graph_name(b), "b");
	assert_int_equal(((uint8_t *)graph_node(b, "c")->ctx)[999], 0xa5);
}

static void
walking_one_graph_leaves_another_alone(void **state)
{
	struct probe src = { .budget = 100 }, sink = { 0 };
	struct hy_graph *a, *b;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	a = GRAPH("a", .burst = 10);
	b = GRAPH("b", .burst = 3);
	hy_graph_walk(a);
	assert_int_equal(a->plan.nodes[1].objs, 10);
	assert_int_equal(b->plan.nodes[1].objs, 0);
	hy_graph_walk(b);
	hy_graph_walk(b);
	assert_int_equal(a->plan.nodes[1].objs, 10);
	assert_int_equal(b->plan.nodes[1].objs, 6);
	assert_int_equal(a->walks, 1);
	assert_int_equal(b->walks, 2);
	assert_int_equal(sink.objs, 16);
}

static void
creating_a_graph_changes_nothing_in_the_registry(void **state)
{
	struct hy_reg_node before[3], *reg[3];
	struct hy_graph *graph;

	RTE_SET_USED(state);
	telling_nodes();
	for (unsigned int i = 0; i < 3; i++) {
		reg[i] = hy_registry_find((const char *const[]){ "a", "b", "d" }[i]);
		before[i] = *reg[i];
	}
	graph = GRAPH("g");
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(reg[i]->refs, 1);
		reg[i]->refs = 0;
		assert_memory_equal(reg[i], &before[i], sizeof(before[i]));
		reg[i]->refs = 1;
	}
	hy_graph_destroy(graph);
	fails_at = "c";
	fails_with = -EIO;
	assert_int_equal(GRAPH_TRY("g", &graph, .burst = 1), -EIO);
	for (unsigned int i = 0; i < 3; i++)
		assert_memory_equal(reg[i], &before[i], sizeof(before[i]));
}

/* An edge that was changed under a graph was a use after free, and exporting it read too far. */
static void
a_change_of_the_registry_does_not_reach_a_graph(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 1 }, a = { 0 }, b = { 0 };
	const struct hy_node_impl impl = { .variant = "late", .process = probe_sink };
	const hy_node_id id = (source_add(&src, "src", "spread"),
		NODE(&spread, .name = "spread", .impl.process = probe_spread, .edges = { "a" }));
	struct hy_graph *graph;
	struct hy_stats *stats;
	FILE *null = fopen("/dev/null", "w");

	RTE_SET_USED(state);
	sink_add(&a, "a");
	sink_add(&b, "b");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.burst = 10);
	hy_graph_walk(graph);
	assert_int_equal(a.objs, 10);

	assert_int_equal(hy_node_edge_set(id, 0, "b"), 0);
	for (unsigned int i = 0; i < 500; i++) {
		char to[HY_NAME_SIZE];

		snprintf(to, sizeof(to), "to-%u", i);
		assert_int_equal(hy_node_edge_add(id, to, NULL), 0);
	}
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	assert_int_equal(hy_node_config(id, "x", 1), 0);

	hy_graph_walk(graph);
	assert_int_equal(a.objs, 20);
	assert_int_equal(b.objs, 0);
	assert_int_equal(spread.objs, 20);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_string_equal(stats->nodes[1].name, "spread");
	assert_string_equal(stats->nodes[1].variant, "");
	assert_int_equal(stats->nodes[1].nb_edges, 1);
	assert_string_equal(stats->nodes[1].edges[0].name, "a");
	assert_int_equal(stats->nodes[1].edges[0].objs, 20);
	hy_stats_free(stats);
	assert_non_null(null);
	assert_int_equal(hy_graph_export_dot(graph, null), 0);
	fclose(null);
	hy_graph_destroy(graph);
	assert_int_equal(spread.finis, 1);
}

/* A clone that was destroyed once stayed in the queue of what runs. */
static void
a_clone_that_is_gone_is_not_run(void **state)
{
	struct probe src = { .budget = 100 }, sink = { 0 }, cloned = { .budget = 100 };
	struct probe *config = &cloned;
	const hy_node_id id = source_add(&src, "src", "sink");
	struct hy_graph *both, *one;
	hy_node_id clone;

	RTE_SET_USED(state);
	sink_add(&sink, "sink");
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_int_equal(hy_node_config(clone, &config, sizeof(config)), 0);
	both = GRAPH("both", .burst = 4);
	hy_graph_walk(both);
	assert_int_equal(sink.objs, 8);
	hy_graph_destroy(both);
	assert_int_equal(cloned.finis, 1);
	assert_int_equal(hy_node_unregister(clone), 0);
	one = GRAPH("one", .burst = 4);
	hy_graph_walk(one);
	assert_int_equal(sink.objs, 12);
	assert_int_equal(cloned.objs, 4);
	assert_int_equal(src.objs, 8);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(nodes_are_initialised_in_rank_order_and_finished_in_reverse),
	GRAPH_TEST(init_that_fails_finishes_the_earlier_nodes_once_in_reverse),
	GRAPH_TEST(fini_is_called_for_a_node_without_init),
	GRAPH_TEST(init_may_look_up_and_ask_the_graph),
	GRAPH_TEST(destroying_nothing_is_allowed),
	GRAPH_TEST(two_graphs_of_the_same_nodes_are_independent),
	GRAPH_TEST(walking_one_graph_leaves_another_alone),
	GRAPH_TEST(creating_a_graph_changes_nothing_in_the_registry),
	GRAPH_TEST(a_change_of_the_registry_does_not_reach_a_graph),
	GRAPH_TEST(a_clone_that_is_gone_is_not_run),
};

UNIT_SUITE(tests)
