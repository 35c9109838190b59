/* SPDX-License-Identifier: BSD-3-Clause */
/* Budgets of sources: exact shares, set at any time by any thread, refused when bad. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "graph_fixture.h"

#define PLENTY 1000000
#define WALKS_MOST 20000000

/* Two sources that always have objects, and a graph of them. */
struct two {
	struct probe fast, slow, sink;
	struct hy_graph *graph;
};

static void
two_add(struct two *two, uint16_t burst)
{
	*two = (struct two){ .fast.budget = PLENTY, .slow.budget = PLENTY };
	source_add(&two->fast, "fast", "sink");
	source_add(&two->slow, "slow", "sink");
	sink_add(&two->sink, "sink");
	two->graph = GRAPH("g", .burst = burst);
}

static uint32_t
budget_in_stats(const char *name)
{
	uint32_t budget = UINT32_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read("g*", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			budget = stats->nodes[i].budget;
	hy_stats_free(stats);
	return budget;
}

static void
sources_make_what_their_budgets_say_and_no_more(void **state)
{
	static const uint16_t budgets[][2] = { { 1, 64 }, { 64, 1 }, { 16, 64 }, { 7, 31 },
		{ 64, 64 } };
	uint64_t fast = 0, slow = 0;
	unsigned int compared = 0;
	struct two two;

	RTE_SET_USED(state);
	two_add(&two, 64);
	for (size_t i = 0; i < RTE_DIM(budgets); i++) {
		assert_int_equal(hy_graph_source_budget(two.graph, "fast", budgets[i][0]), 0);
		assert_int_equal(hy_graph_source_budget(two.graph, "slow", budgets[i][1]), 0);
		for (unsigned int walk = 0; walk < 100; walk++) {
			assert_int_equal(hy_graph_walk(two.graph), budgets[i][0] + budgets[i][1]);
			fast += budgets[i][0];
			slow += budgets[i][1];
			assert_int_equal(two.fast.objs, fast);
			assert_int_equal(two.slow.objs, slow);
			compared++;
		}
	}
	assert_int_equal(compared, 500);
	assert_int_equal(two.fast.calls, 500); /* one call a walk, as without budgets */
}

/* A source that could go on for ever leaves the other one's objects to wait for its burst. */
static void
a_small_budget_brings_a_source_its_turn_earlier(void **state)
{
	static const uint16_t budgets[] = { 64, 16, 4, 1 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(budgets); i++) {
		struct two two;

		two_add(&two, 64);
		two.slow.budget = 1000;
		two.slow.per_call = 1;
		assert_int_equal(hy_graph_source_budget(two.graph, "fast", budgets[i]), 0);
		while (two.sink.objs < 640)
			hy_graph_walk(two.graph);
		/* Of 640 objects, so many came from the slow source. */
		assert_int_equal(two.slow.objs, (640 + budgets[i]) / (budgets[i] + 1u));
		registry_clear();
		compared++;
	}
	assert_int_equal(compared, 4);
}

static void
budgets_hold_in_a_graph_with_a_cycle(void **state)
{
	struct probe fast = { .budget = PLENTY }, slow = { .budget = PLENTY };
	struct probe pass = { 0 }, back = { 0 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&fast, "fast", "pass");
	source_add(&slow, "slow", "pass");
	NODE(&pass, .name = "pass", .impl.process = probe_pass, .edges = { "sink", "back" });
	pass_add(&back, "back", "pass");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 32);
	assert_true(graph->plan.cyclic);
	assert_int_equal(hy_graph_source_budget(graph, "fast", 3), 0);
	for (unsigned int walk = 1; walk <= 50; walk++) {
		assert_int_equal(hy_graph_walk(graph), 35);
		assert_int_equal(fast.objs, 3 * walk);
		assert_int_equal(slow.objs, 32 * walk);
	}
}

static void
statistics_tell_budgets_and_sum_them_over_graphs(void **state)
{
	struct hy_graph *other;
	struct two two;

	RTE_SET_USED(state);
	two_add(&two, 64);
	assert_int_equal(budget_in_stats("fast"), 64);
	assert_int_equal(budget_in_stats("sink"), 0);
	assert_int_equal(hy_graph_source_budget(two.graph, "fast", 5), 0);
	assert_int_equal(budget_in_stats("fast"), 5);
	assert_int_equal(budget_in_stats("slow"), 64);
	other = GRAPH("g2", .burst = 20);
	assert_int_equal(budget_in_stats("fast"), 25);
	assert_int_equal(budget_in_stats("slow"), 84);
	hy_graph_destroy(other);
	assert_int_equal(budget_in_stats("fast"), 5);
}

static void
a_bad_budget_is_refused_and_changes_nothing(void **state)
{
	static const struct {
		const char *source;
		uint16_t objs;
		int rc;
		const char *named;
	} bad[] = {
		{ "fast", 0, -EINVAL, "graph 'g': source 'fast': budget is 0; 1 to 48 are" },
		{ "fast", 49, -EINVAL, "graph 'g': source 'fast': budget is 49; 1 to 48 are" },
		{ "fast", UINT16_MAX, -EINVAL, "budget is 65535; 1 to 48 are accepted" },
		{ "sink", 1, -EINVAL, "graph 'g': node 'sink' is no source" },
		{ "nosuch", 1, -ENOENT, "graph 'g': there is no node 'nosuch'" },
	};
	struct two two;

	RTE_SET_USED(state);
	two_add(&two, 48);
	assert_int_equal(hy_graph_source_budget(two.graph, "fast", 48), 0);
	assert_int_equal(hy_graph_source_budget(two.graph, "slow", 1), 0);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		unit_log_clear();
		assert_int_equal(hy_graph_source_budget(two.graph, bad[i].source, bad[i].objs),
			bad[i].rc);
		assert_int_equal(unit_log_lines(), 1);
		if (strstr(unit_log(), bad[i].named) == NULL)
			fail_msg("'%s' is not in '%s'", bad[i].named, unit_log());
		assert_int_equal(hy_graph_walk(two.graph), 49);
	}
}

static atomic_bool setter_stop;
static atomic_uint setter_rounds;

static void *
set_often(void *arg)
{
	struct hy_graph *graph = arg;

	while (!atomic_load(&setter_stop)) {
		const unsigned int round = atomic_fetch_add(&setter_rounds, 1);
		const uint16_t objs = round % 2 == 0 ? 3 : 40;

		/* A failing assertion must not leave this thread: the walk shows what was set. */
		hy_graph_source_budget(graph, "fast", objs);
	}
	return NULL;
}

/* A walk sees one of the values that were set and nothing between them. */
static void
another_thread_sets_budgets_while_one_walks(void **state)
{
	unsigned int seen[65] = { 0 }, walks = 0;
	pthread_t setter;
	struct two two;

	RTE_SET_USED(state);
	two_add(&two, 64);
	two.slow.budget = 0;
	atomic_store(&setter_stop, false);
	atomic_store(&setter_rounds, 0);
	assert_int_equal(pthread_create(&setter, NULL, set_often, two.graph), 0);
	/* Until both values came often; a machine with one CPU may need a while. */
	while ((seen[3] < 100 || seen[40] < 100) && walks < WALKS_MOST) {
		two.fast.budget = 64;
		obj_made = 0; /* nothing is under way: numbers may start again */
		seen[hy_graph_walk(two.graph)]++;
		walks++;
	}
	atomic_store(&setter_stop, true);
	assert_int_equal(pthread_join(setter, NULL), 0);
	assert_true(seen[3] >= 100);
	assert_true(seen[40] >= 100);
	assert_int_equal(seen[3] + seen[40] + seen[64], walks); /* 64: before the first was set */
	assert_int_equal(two.fast.calls, walks);
}

static void
a_live_change_leaves_sources_their_budgets(void **state)
{
	struct probe a = { .budget = 10000 }, b = { .budget = 10000 }, sink = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&a, "a", "sink");
	source_add(&b, "b", "sink");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 64);
	assert_int_equal(hy_graph_source_budget(graph, "a", 40), 0);
	source_add(NULL, "0", "sink"); /* ranks change */
	hy_graph_params_get(graph, &params);
	params.burst = 100;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	/* Set between publishing and taking up: in both images. */
	assert_int_equal(hy_graph_source_budget(graph, "0", 7), 0);
	assert_int_equal(hy_graph_walk(graph), 40 + 100);
	assert_int_equal(a.objs, 40);
	assert_int_equal(b.objs, 100);
	hy_graph_params_get(graph, &params);
	params.burst = 30;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_int_equal(hy_graph_walk(graph), 30 + 30);
	assert_int_equal(a.objs, 70);
	assert_int_equal(b.objs, 130);
}

/* A source in whose call the graph is changed, as by another thread while its worker walks. */
static struct hy_graph *changed;
static uint16_t offered_most;

static uint16_t
change_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct hy_graph_params params;

	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	if (changed == NULL)
		return 0;
	hy_graph_params_get(graph, &params);
	params.burst = HY_BURST_MAX;
	obj_faults += hy_graph_update(changed, &params) != 0;
	obj_faults += hy_graph_source_budget(changed, "b", HY_BURST_MAX) != 0;
	changed = NULL;
	return 0;
}

static uint16_t
offered_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	offered_most = RTE_MAX(offered_most, n);
	return 0;
}

/* The streams that are walked have no room for the burst that is to come. */
static void
a_budget_for_a_burst_to_come_waits_for_it(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(NULL, .name = "a", .flags = HY_NODE_SOURCE, .impl.process = change_process,
		.edges = { "sink" });
	NODE(NULL, .name = "b", .flags = HY_NODE_SOURCE, .impl.process = offered_process,
		.edges = { "sink" });
	sink_add(NULL, "sink");
	graph = changed = GRAPH("g", .burst = 8);
	offered_most = 0;
	hy_graph_walk(graph);
	assert_null(changed);
	assert_int_equal(offered_most, 8);
	hy_graph_walk(graph);
	assert_int_equal(offered_most, HY_BURST_MAX);
}

static void
a_budget_survives_a_second_change_before_the_first_is_taken_up(void **state)
{
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "a", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 64);
	source_add(NULL, "new", "sink");
	hy_graph_params_get(graph, &params);
	params.burst = 256;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_int_equal(hy_graph_source_budget(graph, "a", 100), 0); /* too many for now */
	assert_int_equal(hy_graph_source_budget(graph, "new", 3), 0); /* not there yet */
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	assert_int_equal(budget_in_stats("a"), 100);
	assert_int_equal(budget_in_stats("new"), 3);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(sources_make_what_their_budgets_say_and_no_more),
	GRAPH_TEST(a_small_budget_brings_a_source_its_turn_earlier),
	GRAPH_TEST(budgets_hold_in_a_graph_with_a_cycle),
	GRAPH_TEST(statistics_tell_budgets_and_sum_them_over_graphs),
	GRAPH_TEST(a_bad_budget_is_refused_and_changes_nothing),
	GRAPH_TEST(another_thread_sets_budgets_while_one_walks),
	GRAPH_TEST(a_live_change_leaves_sources_their_budgets),
	GRAPH_TEST(a_budget_for_a_burst_to_come_waits_for_it),
	GRAPH_TEST(a_budget_survives_a_second_change_before_the_first_is_taken_up),
};

UNIT_SUITE(tests)
