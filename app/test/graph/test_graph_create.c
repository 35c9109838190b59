/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating graphs: what is refused, which nodes a graph takes, names. */

#include <errno.h>
#include <string.h>

#include <rte_memzone.h>

#include "graph_fixture.h"
#include "lib/graph/registry/registry.h"

#define NAME63 "g23456789.123456789_123456789-123456789.123456789_123456789-123"

static const struct hy_object_ops no_release = { NULL };

struct refusal {
	const char *log; /* what the log line must name */
	int rc;
	struct hy_graph_params params;
};

#define PATTERNS(...) \
	.patterns = (const char *const[]){ __VA_ARGS__ }, \
	.nb_patterns = RTE_DIM(((const char *const[]){ __VA_ARGS__ }))

static void
refuse(const char *name, const struct refusal *r)
{
	struct hy_graph *graph = (void *)-1, *found;
	const int64_t live = unit_alloc_live();
	const unsigned int heap = unit_heap_live();

	unit_log_clear();
	if (graph_try(name, &r->params, &graph) != r->rc)
		fail_msg("'%s' is not refused as it should; log: %s", r->log, unit_log());
	if (unit_log_lines() != 1 || strstr(unit_log(), r->log) == NULL)
		fail_msg("'%s' is not in the log: %s", r->log, unit_log());
	assert_ptr_equal(graph, (void *)-1);
	assert_int_equal(hy_graph_lookup("g", &found), -ENOENT);
	assert_int_equal(unit_alloc_live(), live);
	assert_int_equal(unit_heap_live(), heap);
}

/* A create that failed once kept the name taken for ever. */
static void
a_refused_graph_leaves_nothing_and_its_name_is_free(void **state)
{
	const struct refusal cases[] = {
		{ "'no*'", -ENOENT, { PATTERNS("src", "no*") } },
		{ "'SRC'", -ENOENT, { PATTERNS("SRC") } },
		{ "source", -EINVAL, { PATTERNS("sink") } },
		{ "source", -EINVAL, { PATTERNS("pass", "sink") } },
		{ "into the source 'src'", -EINVAL, { PATTERNS("src", "into_source") } },
		{ "'nowhere'", -ENOENT, { PATTERNS("src", "to_nowhere") } },
		{ "no source reaches node 'alone'", -EINVAL, { PATTERNS("src", "alone") } },
		{ "no source reaches node 'ring", -EINVAL, { PATTERNS("src", "ring1") } },
		{ "'drops' can drop", -EINVAL, { PATTERNS("drop_src") } },
		{ "'nowhere'", -ENOENT, { PATTERNS("drop_src"), .drop_node = "nowhere" } },
		{ "into the source 'src'", -EINVAL, { PATTERNS("drop_src"), .drop_node = "src" } },
		{ "'drops' declares drop reasons itself", -EINVAL,
			{ PATTERNS("drop_src"), .drop_node = "drops" } },
		{ "lane 'colour'", -EINVAL, { PATTERNS("lane_src") } },
		{ "lane 'colour'", -EINVAL,
			{ PATTERNS("lane_src"), .lanes = { "color", "colours" } } },
		{ "lane 'a' twice", -EINVAL,
			{ PATTERNS("src"), .lanes = { "a", "b", NULL, "a" } } },
		{ "burst is 257", -EINVAL, { PATTERNS("src"), .burst = 257 } },
		{ "burst is 65535", -EINVAL, { PATTERNS("src"), .burst = UINT16_MAX } },
		{ "source_budget is 8; 1 to 7", -EINVAL,
			{ PATTERNS("src"), .burst = 7, .source_budget = 8 } },
		{ "source_budget is 65; 1 to 64", -EINVAL,
			{ PATTERNS("src"), .source_budget = 65 } },
		{ "release", -EINVAL, { PATTERNS("src"), .ops = &no_release } },
	};
	struct hy_graph *graph;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	source_add(NULL, "src", "pass");
	pass_add(NULL, "pass", "sink");
	sink_add(NULL, "sink");
	pass_add(NULL, "into_source", "src");
	pass_add(NULL, "to_nowhere", "nowhere");
	pass_add(NULL, "alone", "sink");
	pass_add(NULL, "ring1", "ring2");
	pass_add(NULL, "ring2", "ring1");
	source_add(NULL, "drop_src", "drops");
	NODE(NULL, .name = "drops", .impl.process = probe_drop, .drops = { { "d" } });
	source_add(NULL, "lane_src", "lane");
	NODE(NULL, .name = "lane", .impl.process = probe_sink, .lanes = { "colour" });

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		refuse("g", &cases[i]);
		graph = GRAPH("g", PATTERNS("src"));
		assert_int_equal(graph->plan.nb_nodes, 3);
		hy_graph_destroy(graph);
		refused++;
	}
	assert_int_equal(refused, 20);
}

static void
missing_parameters_are_refused(void **state)
{
	static const char *const src[] = { "src" };
	const struct hy_graph_params params[] = {
		{ .patterns = src, .nb_patterns = 1 },
		{ .patterns = src, .nb_patterns = 0, .ops = &obj_ops },
		{ .patterns = NULL, .nb_patterns = 1, .ops = &obj_ops },
		{ .patterns = (const char *const[]){ "src", NULL },
			.nb_patterns = 2,
			.ops = &obj_ops },
	};
	struct hy_graph *graph = NULL;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	assert_int_equal(hy_graph_create("g", NULL, &graph), -EINVAL);
	for (size_t i = 0; i < RTE_DIM(params); i++) {
		unit_log_clear();
		assert_int_equal(hy_graph_create("g", &params[i], &graph), -EINVAL);
		assert_int_equal(unit_log_lines(), 1);
		refused++;
	}
	assert_int_equal(refused, 4);
	assert_null(graph);
}

static void
a_bad_graph_name_is_refused(void **state)
{
	static const char *const bad[] = { NULL, "", "a b", "a/b", "g*", NAME63 "x" };
	struct hy_graph *graph = NULL;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		unit_log_clear();
		assert_int_equal(GRAPH_TRY(bad[i], &graph, .burst = 0), -EINVAL);
		assert_int_equal(unit_log_lines(), 1);
		refused++;
	}
	assert_int_equal(refused, 6);
	assert_null(graph);
}

static void
a_graph_name_that_is_taken_is_refused(void **state)
{
	struct hy_graph *graph, *other = NULL;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g");
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &other, .burst = 0), -EEXIST);
	assert_non_null(strstr(unit_log(), "'g'"));
	assert_null(other);
	hy_graph_destroy(graph);
	GRAPH("g");
}

/* A graph's name was cut to 31 characters by the memory zone behind it. */
static void
names_of_63_characters_are_whole(void **state)
{
	static const char other[] =
		"g23456789.123456789_123456789-123456789.123456789_123456789-12x";
	struct hy_graph *a, *b, *found = NULL;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(NULL, NAME63, other);
	sink_add(NULL, other);
	a = GRAPH(NAME63);
	b = GRAPH(other);
	assert_string_equal(hy_graph_name(a), NAME63);
	assert_string_equal(hy_graph_name(b), other);
	assert_int_equal(hy_graph_lookup(NAME63, &found), 0);
	assert_ptr_equal(found, a);
	assert_int_equal(hy_graph_lookup(other, &found), 0);
	assert_ptr_equal(found, b);
	assert_string_equal(hy_graph_node_name(a, graph_node(a, NAME63)), NAME63);
	assert_string_equal(hy_graph_node_name(a, graph_node(a, other)), other);
	assert_int_equal(hy_stats_read(NAME63, &stats), 0);
	assert_int_equal(stats->nb_graphs, 1);
	assert_string_equal(stats->nodes[0].name, NAME63);
	assert_string_equal(stats->nodes[0].edges[0].name, other);
	hy_stats_free(stats);
}

/* Any memory zone of the name was once taken for a graph; and "f10" for "f1". */
static void
lookup_finds_graphs_only_and_by_their_whole_names(void **state)
{
	const struct rte_memzone *zone = rte_memzone_reserve("g1", 64, SOCKET_ID_ANY, 0);
	struct hy_graph *graph, *found = NULL;
	struct hy_node *node = NULL;

	RTE_SET_USED(state);
	assert_non_null(zone);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	assert_int_equal(hy_graph_lookup("g1", &found), -ENOENT);
	graph = GRAPH("g10");
	assert_int_equal(hy_graph_lookup("g1", &found), -ENOENT);
	assert_int_equal(hy_graph_lookup("g100", &found), -ENOENT);
	assert_int_equal(hy_graph_node(graph, "sin", &node), -ENOENT);
	assert_int_equal(hy_graph_node(graph, "sinks", &node), -ENOENT);
	assert_null(found);
	assert_null(node);
	assert_int_equal(unit_log_lines(), 0);
	GRAPH("g1");
	assert_int_equal(hy_graph_lookup("g1", &found), 0);
	assert_ptr_not_equal(found, graph);
	rte_memzone_free(zone);
}

static void
patterns_take_nodes_once_and_pull_targets_in(void **state)
{
	static const char *const in[] = { "rx-0", "rx-2", "parse", "route", "tx-0", "tx-1",
		"drop" };
	static const char *const out[] = { "rx-10", "tx-9", "spare" };
	struct hy_graph *graph;
	struct hy_node *node;
	unsigned int present = 0, absent = 0;

	RTE_SET_USED(state);
	source_add(NULL, "rx-0", "parse");
	source_add(NULL, "rx-2", "parse");
	source_add(NULL, "rx-10", "parse");
	NODE(NULL, .name = "parse", .impl.process = probe_pass, .edges = { "route" },
		.drops = { { "bad" } });
	NODE(NULL, .name = "route", .impl.process = probe_sink, .edges = { "tx-0", "tx-1" });
	sink_add(NULL, "tx-0");
	sink_add(NULL, "tx-1");
	sink_add(NULL, "tx-9");
	sink_add(NULL, "spare");
	sink_add(NULL, "drop");
	graph = GRAPH("g", PATTERNS("rx-?", "rx-[02]", "tx-0", "parse"), .drop_node = "drop");
	for (size_t i = 0; i < RTE_DIM(in); i++)
		present += hy_graph_node(graph, in[i], &node) == 0;
	for (size_t i = 0; i < RTE_DIM(out); i++)
		absent += hy_graph_node(graph, out[i], &node) == -ENOENT;
	assert_int_equal(present, 7);
	assert_int_equal(absent, 3);
	assert_int_equal(graph->plan.nb_nodes, 7);
	assert_int_equal(graph->plan.nb_sources, 2);
}

static void
a_drop_node_comes_only_if_a_node_can_drop(void **state)
{
	struct hy_graph *graph;
	struct hy_node *node;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	sink_add(NULL, "drop");
	graph = GRAPH("g", PATTERNS("src"), .drop_node = "drop");
	assert_int_equal(hy_graph_node(graph, "drop", &node), -ENOENT);
	assert_int_equal(graph->plan.nb_nodes, 2);
	hy_graph_destroy(graph);
	/* By a pattern it comes, but then nobody reaches it. */
	refuse("g2",
		&(struct refusal){
			"'drop'", -EINVAL, { PATTERNS("src", "drop"), .drop_node = "drop" } });
}

static void
properties_are_those_asked_for_or_the_defaults(void **state)
{
	struct hy_graph *g;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	source_add(NULL, "src2", "sink");
	sink_add(NULL, "sink");
	g = GRAPH("g", .burst = 7, .worker = 513, .socket = SOCKET_ID_ANY, .max_sweeps = 3,
		.sample_every = 5);
	assert_string_equal(hy_graph_name(g), "g");
	assert_int_equal(hy_graph_burst(g), 7);
	assert_int_equal(hy_graph_worker(g), 513);
	assert_int_equal(hy_graph_socket(g), SOCKET_ID_ANY);
	assert_int_equal(hy_graph_stream_capacity(g), 14);
	assert_int_equal(g->plan.max_sweeps, 3);
	assert_int_equal(g->plan.sample_every, 5);
	assert_int_equal(g->plan.budgets[1], 7);
	g = GRAPH("budget", .burst = 7, .source_budget = 2);
	assert_int_equal(g->plan.budgets[0], 2);
	assert_int_equal(g->plan.budgets[1], 2);
	g = GRAPH("defaults");
	assert_int_equal(hy_graph_burst(g), HY_BURST_DEFAULT);
	assert_int_equal(g->plan.budgets[1], HY_BURST_DEFAULT);
	assert_int_equal(hy_graph_worker(g), 0);
	assert_int_equal(hy_graph_socket(g), 0);
	assert_int_equal(hy_graph_stream_capacity(g), 2 * HY_BURST_DEFAULT);
	assert_int_equal(g->plan.max_sweeps, 8);
	assert_int_equal(g->plan.sample_every, 16);
}

static uint16_t
bare_pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static void
more_nodes_than_ranks_is_e2big_and_one_less_is_walked(void **state)
{
	enum { MOST = UINT16_MAX };
	struct probe src = { .budget = 3 }, sink = { 0 };
	struct hy_graph *graph = NULL;
	char name[HY_NAME_SIZE], to[HY_NAME_SIZE];
	hy_node_id extra;

	RTE_SET_USED(state);
	source_add(&src, "src", "n1");
	for (unsigned int i = 1; i < MOST - 1; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		snprintf(to, sizeof(to), "n%u", i + 1);
		NODE(NULL, .name = name, .impl.process = bare_pass, .edges = { to });
	}
	snprintf(name, sizeof(name), "n%u", MOST - 1);
	sink_add(&sink, name);
	extra = sink_add(NULL, "extra");
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .burst = 1), -E2BIG);
	assert_non_null(strstr(unit_log(), "65535"));
	assert_int_equal(hy_node_unregister(extra), 0);
	graph = GRAPH("g", .burst = 1);
	assert_int_equal(graph->plan.nb_nodes, MOST);
	assert_int_equal(graph->plan.nodes[MOST - 1].rank, MOST - 1);
	assert_string_equal(hy_graph_node_name(graph, &graph->plan.nodes[MOST - 1]), name);
	for (unsigned int i = 1; i <= 3; i++) {
		hy_graph_walk(graph);
		assert_int_equal(sink.objs, i);
	}
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_refused_graph_leaves_nothing_and_its_name_is_free),
	GRAPH_TEST(missing_parameters_are_refused),
	GRAPH_TEST(a_bad_graph_name_is_refused),
	GRAPH_TEST(a_graph_name_that_is_taken_is_refused),
	GRAPH_TEST(names_of_63_characters_are_whole),
	GRAPH_TEST(lookup_finds_graphs_only_and_by_their_whole_names),
	GRAPH_TEST(patterns_take_nodes_once_and_pull_targets_in),
	GRAPH_TEST(a_drop_node_comes_only_if_a_node_can_drop),
	GRAPH_TEST(properties_are_those_asked_for_or_the_defaults),
	GRAPH_TEST(more_nodes_than_ranks_is_e2big_and_one_less_is_walked),
};

UNIT_SUITE(tests)
