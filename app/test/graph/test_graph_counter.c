/* SPDX-License-Identifier: BSD-3-Clause */
/* Named counters, and the sizes of bursts. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"

static struct hy_stats *
read_stats(const char *pattern)
{
	struct hy_stats *stats = NULL;

	assert_int_equal(hy_stats_read(pattern, &stats), 0);
	return stats;
}

static const struct hy_node_stats *
node_stats(const struct hy_stats *stats, const char *name)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	fail_msg("no statistics of node '%s'", name);
	return NULL;
}

static void
assert_counter(const struct hy_edge_stats *c, const char *name, const char *unit, uint64_t value)
{
	assert_string_equal(c->name, name);
	assert_string_equal(c->unit, unit);
	assert_int_equal(c->value, value);
}

enum { BYTES, CALLS, NEVER };

/* Objects of 60 bytes. */
static uint16_t
measure(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_counter_add(node, BYTES, 60 * (uint64_t)n);
	hy_counter_add(node, CALLS, 1);
	return probe_pass(graph, node, objs, n);
}

#define MEASURE \
	.impl = { "plain", measure }, \
	.counters = { \
		[BYTES] = { "bytes", "bytes", HY_SEV_INFO, "What went through." }, \
		[CALLS] = { "calls", NULL, HY_SEV_WARN }, \
		[NEVER] = { "never", "events", HY_SEV_ERROR, "Nobody adds to it." }, \
	}

static void
a_counter_tells_what_was_added_in_which_unit_and_how_bad_it_is(void **state)
{
	struct probe src = { .budget = 250 }, sink = { 0 };
	const struct hy_node_stats *n;
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(&src, "src", "m");
	NODE(NULL, .name = "m", MEASURE, .edges = { "sink" });
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 100);
	for (unsigned int walk = 0; walk < 4; walk++)
		hy_graph_walk(graph);
	stats = read_stats("g");
	n = node_stats(stats, "m");
	assert_int_equal(n->nb_counters, 3);
	assert_counter(&n->counters[BYTES], "bytes", "bytes", 15000);
	assert_counter(&n->counters[CALLS], "calls", "", 3);
	assert_counter(&n->counters[NEVER], "never", "events", 0);
	assert_int_equal(n->counters[BYTES].severity, HY_SEV_INFO);
	assert_int_equal(n->counters[CALLS].severity, HY_SEV_WARN);
	assert_int_equal(n->counters[NEVER].severity, HY_SEV_ERROR);
	assert_string_equal(n->counters[BYTES].text, "What went through.");
	assert_string_equal(n->counters[CALLS].text, "");
	/* What is no drop is none: the node can do without a drop node. */
	assert_int_equal(n->nb_drops, HY_CORE_DROPS);
	assert_int_equal(node_stats(stats, "sink")->nb_counters, 0);
	assert_null(node_stats(stats, "sink")->counters);
	assert_int_equal(sink.objs, 250);
	hy_stats_free(stats);
}

static uint16_t
count_all(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (unsigned int c = 0; c < HY_DESC_COUNTERS; c++)
		hy_counter_add(node, c, 1000 + c);
	/* Object i is dropped for reason i; what is left takes edge 0. */
	for (uint16_t i = 0; i < n; i++)
		next[i] = i < HY_DESC_DROPS ? HY_DROP(i) : 0;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* Registers a node that declares all the counters and drop reasons there can be. */
static hy_node_id
full_add(const char *name, const char *to, unsigned int nb_drops)
{
	struct hy_node_desc desc = { .name = name, .impl.process = count_all, .edges = { to } };
	char names[HY_DESC_COUNTERS][4];

	for (unsigned int i = 0; i < HY_DESC_COUNTERS; i++) {
		snprintf(names[i], sizeof(names[i]), "x%u", i);
		desc.counters[i].name = names[i];
		if (i < nb_drops)
			desc.drops[i].name = names[i];
	}
	return node_add(NULL, &desc);
}

static void
assert_full(const struct hy_node_stats *n, uint64_t calls)
{
	assert_int_equal(n->calls, calls);
	assert_int_equal(n->nb_counters, HY_DESC_COUNTERS);
	for (unsigned int c = 0; c < HY_DESC_COUNTERS; c++)
		assert_int_equal(n->counters[c].value, calls * (1000 + c));
	assert_int_equal(n->nb_drops, HY_CORE_DROPS + HY_DESC_DROPS);
	for (unsigned int d = 0; d < HY_DESC_DROPS; d++)
		assert_int_equal(n->drops[HY_CORE_DROPS + d].objs, calls);
	assert_int_equal(n->drops[HY_CORE_DROP_STREAM_FULL].objs, 0);
}

static void
as_many_counters_and_drop_reasons_as_there_can_be_stand_side_by_side(void **state)
{
	struct probe src = { .budget = 1000 }, sink = { 0 };
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	assert_int_equal(HY_DESC_COUNTERS, HY_DESC_DROPS);
	source_add(&src, "src", "full");
	full_add("full", "sink", HY_DESC_DROPS);
	sink_add(&sink, "sink");
	sink_add(NULL, "drop");
	graph = GRAPH("g", .burst = 20, .drop_node = "drop");
	for (unsigned int walk = 0; walk < 7; walk++)
		hy_graph_walk(graph);
	stats = read_stats("g");
	assert_full(node_stats(stats, "full"), 7);
	assert_int_equal(node_stats(stats, "full")->edges[0].objs, 7 * 4);
	assert_int_equal(sink.objs, 7 * 4);
	assert_int_equal(node_stats(stats, "drop")->objs, 7 * 16);
	hy_stats_free(stats);
}

/*
 * Upstream's extended counters: the offset was computed too late, so that they landed inside
 * another node, and a clone had a count of 0, and no memory at all.
 */
static void
counters_of_a_clone_land_in_its_own_memory_and_in_nobody_elses(void **state)
{
	const struct hy_node_impl other = { "other", count_all };
	struct probe src = { .budget = 1000 };
	hy_node_id id, clone = 0;
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(&src, "src", "before");
	pass_add(NULL, "before", "full-copy");
	id = full_add("full", "after", HY_DESC_DROPS);
	assert_int_equal(hy_node_clone(id, "copy", &clone), 0);
	assert_int_equal(hy_node_impl_set(clone, &other), 0); /* which must keep the counters */
	assert_int_equal(hy_node_edge_set(clone, 0, "full"), 0);
	pass_add(NULL, "after", "sink");
	sink_add(NULL, "sink");
	sink_add(NULL, "drop");
	graph = GRAPH("g", .burst = 40, .drop_node = "drop");
	for (unsigned int walk = 0; walk < 3; walk++)
		hy_graph_walk(graph);
	stats = read_stats("g");
	/* Of 40 objects the clone drops 16, its original 16 of the other 24. */
	assert_full(node_stats(stats, "full-copy"), 3);
	assert_full(node_stats(stats, "full"), 3);
	assert_string_equal(node_stats(stats, "full-copy")->variant, "other");
	assert_int_equal(node_stats(stats, "full-copy")->edges[0].objs, 3 * 24);
	assert_int_equal(node_stats(stats, "full")->edges[0].objs, 3 * 8);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *n = &stats->nodes[i];
		static const struct {
			const char *name;
			uint64_t objs;
		} others[] = { { "src", 120 }, { "before", 120 }, { "after", 24 }, { "sink", 24 },
			{ "drop", 96 } };

		if (strncmp(n->name, "full", 4) == 0)
			continue;
		for (size_t o = 0; o < RTE_DIM(others); o++)
			if (strcmp(n->name, others[o].name) == 0)
				assert_int_equal(n->objs, others[o].objs);
		assert_int_equal(n->calls, 3);
		assert_int_equal(n->nb_counters, 0);
		for (unsigned int d = 0; d < n->nb_drops; d++)
			assert_int_equal(n->drops[d].objs, 0);
		if (n->nb_edges > 0)
			assert_int_equal(n->edges[0].objs, n->objs);
	}
	assert_int_equal(stats->nb_nodes, 7);
	hy_stats_free(stats);
}

static void
a_counter_goes_on_over_an_update_and_stays_when_its_node_goes(void **state)
{
	struct probe src = { .budget = 1000 };
	const hy_node_id id = source_add(&src, "src", "m");
	const char *const patterns[] = { "src" };
	const struct hy_node_stats *n;
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	NODE(NULL, .name = "m", MEASURE, .edges = { "sink" });
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 10, .patterns = patterns, .nb_patterns = 1);
	for (unsigned int update = 0; update < 3; update++) {
		hy_graph_walk(graph);
		hy_graph_walk(graph);
		assert_int_equal(hy_graph_update(graph, NULL), 0);
	}
	stats = read_stats("g");
	n = node_stats(stats, "m");
	assert_counter(&n->counters[BYTES], "bytes", "bytes", 3600);
	assert_counter(&n->counters[CALLS], "calls", "", 6);
	assert_false(n->counters[BYTES].gone);
	assert_int_equal(n->bursts[4], n->sampled_calls);
	hy_stats_free(stats);

	assert_int_equal(hy_node_edge_set(id, 0, "sink"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	stats = read_stats("g");
	n = node_stats(stats, "m");
	assert_true(n->gone);
	assert_int_equal(n->nb_counters, 3);
	assert_counter(&n->counters[BYTES], "bytes", "bytes", 3600);
	assert_true(n->counters[BYTES].gone);
	assert_string_equal(n->variant, "plain");
	hy_stats_free(stats);
}

static const uint16_t sizes[] = { 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256 };

static void
burst_sizes_are_counted_by_powers_of_two(void **state)
{
	static const uint64_t expected[HY_BURST_BUCKETS] = { 3, 1, 2, 2, 2, 2, 2, 2, 2, 1 };
	struct probe src = { 0 };
	struct hy_graph *graph;
	struct hy_stats *stats;
	unsigned int compared = 0;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = HY_BURST_MAX, .sample_every = 1);
	for (size_t i = 0; i < RTE_DIM(sizes) + 3; i++) {
		src.budget = i < RTE_DIM(sizes) ? sizes[i] : 0;
		hy_graph_walk(graph);
	}
	stats = read_stats("g");
	for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++) {
		assert_int_equal(node_stats(stats, "src")->bursts[b], expected[b]);
		/* Nobody calls a sink that has nothing. */
		assert_int_equal(node_stats(stats, "sink")->bursts[b], b == 0 ? 0 : expected[b]);
		compared++;
	}
	assert_int_equal(compared, 10);
	assert_int_equal(node_stats(stats, "src")->sampled_calls, 19);
	assert_int_equal(node_stats(stats, "sink")->sampled_calls, 16);
	assert_int_equal(node_stats(stats, "sink")->sampled_objs, 1012);
	assert_int_equal(node_stats(stats, "sink")->objs, 1012);
	/* With every walk timed, nothing is estimated. */
	assert_int_equal(node_stats(stats, "sink")->cycles,
		node_stats(stats, "sink")->sampled_cycles);
	assert_true(node_stats(stats, "src")->idle_cycles > 0 || !clock_is_fine());
	hy_stats_free(stats);
}

static void
burst_sizes_are_taken_in_walks_that_are_timed(void **state)
{
	struct probe src = { .budget = 1000, .per_call = 5 };
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .sample_every = 10);
	for (unsigned int walk = 0; walk < 35; walk++)
		hy_graph_walk(graph);
	stats = read_stats("g");
	for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++)
		assert_int_equal(node_stats(stats, "sink")->bursts[b], b == 3 ? 4 : 0);
	assert_int_equal(node_stats(stats, "sink")->sampled_objs, 20);
	assert_int_equal(node_stats(stats, "sink")->calls, 35);
	hy_stats_free(stats);
}

static uint16_t
boast(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	probe_sink(graph, node, objs, n);
	return UINT16_MAX;
}

static void
a_node_that_returns_nonsense_writes_to_no_bucket_that_is_not_there(void **state)
{
	struct probe src = { .budget = 8 };
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	NODE(NULL, .name = "sink", .impl.process = boast);
	graph = GRAPH("g", .sample_every = 1);
	hy_graph_walk(graph);
	stats = read_stats("g");
	assert_int_equal(node_stats(stats, "sink")->bursts[HY_BURST_BUCKETS - 1], 1);
	assert_int_equal(node_stats(stats, "sink")->sampled_objs, UINT16_MAX);
	hy_stats_free(stats);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_counter_tells_what_was_added_in_which_unit_and_how_bad_it_is),
	GRAPH_TEST(as_many_counters_and_drop_reasons_as_there_can_be_stand_side_by_side),
	GRAPH_TEST(counters_of_a_clone_land_in_its_own_memory_and_in_nobody_elses),
	GRAPH_TEST(a_counter_goes_on_over_an_update_and_stays_when_its_node_goes),
	GRAPH_TEST(burst_sizes_are_counted_by_powers_of_two),
	GRAPH_TEST(burst_sizes_are_taken_in_walks_that_are_timed),
	GRAPH_TEST(a_node_that_returns_nonsense_writes_to_no_bucket_that_is_not_there),
};

UNIT_SUITE(tests)
