/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: exact counts, cycles, sums over graphs, readers beside the worker. */

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "graph_fixture.h"

static const struct hy_node_stats *
node_stats(const struct hy_stats *stats, const char *name)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	fail_msg("no statistics of node '%s'", name);
	return NULL;
}

static struct hy_stats *
read_stats(const char *pattern)
{
	struct hy_stats *stats = NULL;

	assert_int_equal(hy_stats_read(pattern, &stats), 0);
	return stats;
}

static void
assert_edge(const struct hy_edge_stats *e, const char *name, uint64_t objs)
{
	assert_string_equal(e->name, name);
	assert_int_equal(e->objs, objs);
}

/* Of each 10 objects: 1 to edge 0, 2 to 1, 3 to 2, then drops: 1 for reason 0, 3 for reason 2. */
static uint16_t
tenths(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static const uint16_t ways[10] = { 0, 1, 1, 2, 2, 2, HY_DROP(0), HY_DROP(2), HY_DROP(2),
		HY_DROP(2) };
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = ways[((struct obj *)objs[i])->id % 10];
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static void
tenths_add(struct probe *src, struct probe *split)
{
	source_add(src, "src", "split");
	NODE(split, .name = "split", .impl = { "plain", tenths }, .edges = { "a", "b", "c" },
		.drops = { { "first", HY_SEV_INFO, "The first reason." },
			{ "never", HY_SEV_WARN, "Nobody comes here." },
			{ "third", HY_SEV_ERROR } });
	sink_add(NULL, "a");
	sink_add(NULL, "b");
	sink_add(NULL, "c");
	sink_add(NULL, "drop");
}

static void
counts_are_exact(void **state)
{
	struct probe src = { .budget = 700 }, split = { 0 };
	const struct hy_node_stats *n;
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	tenths_add(&src, &split);
	graph = GRAPH("g", .burst = 70, .drop_node = "drop");
	for (unsigned int walk = 0; walk < 15; walk++)
		hy_graph_walk(graph);
	stats = read_stats("g");
	assert_int_equal(stats->nb_graphs, 1);
	assert_int_equal(stats->nb_nodes, 6);

	n = node_stats(stats, "src");
	assert_true(n->is_source);
	assert_int_equal(n->calls, 15);
	assert_int_equal(n->objs, 700);
	assert_int_equal(n->nb_edges, 1);
	assert_edge(&n->edges[0], "split", 700);
	assert_int_equal(n->nb_drops, HY_CORE_DROPS);
	assert_edge(&n->drops[HY_CORE_DROP_STREAM_FULL], "stream_full", 0);
	assert_edge(&n->drops[HY_CORE_DROP_NODE_REMOVED], "node_removed", 0);

	n = node_stats(stats, "split");
	assert_false(n->is_source || n->replicates);
	assert_string_equal(n->variant, "plain");
	assert_int_equal(n->calls, 10);
	assert_int_equal(n->objs, 700);
	assert_int_equal(n->nb_edges, 3);
	assert_edge(&n->edges[0], "a", 70);
	assert_edge(&n->edges[1], "b", 140);
	assert_edge(&n->edges[2], "c", 210);
	assert_int_equal(n->nb_drops, HY_CORE_DROPS + 3);
	assert_edge(&n->drops[HY_CORE_DROP_STREAM_FULL], "stream_full", 0);
	assert_edge(&n->drops[HY_CORE_DROP_NODE_REMOVED], "node_removed", 0);
	assert_edge(&n->drops[HY_CORE_DROPS], "first", 70);
	assert_edge(&n->drops[HY_CORE_DROPS + 1], "never", 0);
	assert_edge(&n->drops[HY_CORE_DROPS + 2], "third", 210);
	assert_int_equal(n->drops[0].severity, HY_SEV_ERROR);
	assert_true(strlen(n->drops[0].text) > 10);
	assert_int_equal(n->drops[HY_CORE_DROPS].severity, HY_SEV_INFO);
	assert_string_equal(n->drops[HY_CORE_DROPS].text, "The first reason.");
	assert_int_equal(n->drops[HY_CORE_DROPS + 1].severity, HY_SEV_WARN);
	assert_int_equal(n->drops[HY_CORE_DROPS + 2].severity, HY_SEV_ERROR);
	assert_string_equal(n->drops[HY_CORE_DROPS + 2].text, "");
	assert_string_equal(n->edges[0].text, "");

	assert_int_equal(node_stats(stats, "a")->objs, 70);
	assert_int_equal(node_stats(stats, "b")->objs, 140);
	assert_int_equal(node_stats(stats, "c")->objs, 210);
	assert_int_equal(node_stats(stats, "drop")->objs, 280);
	assert_int_equal(node_stats(stats, "drop")->calls, 10);
	hy_stats_free(stats);
	hy_stats_free(NULL);
}

/* Statistics of a model that was set nowhere once compared 0 with 0. */
static void
a_graph_that_was_not_walked_counts_zero_and_after_a_walk_it_does_not(void **state)
{
	struct probe src = { .budget = 10 }, split = { 0 };
	struct hy_graph *graph;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	tenths_add(&src, &split);
	graph = GRAPH("g", .drop_node = "drop");
	for (unsigned int walked = 0; walked < 2; walked++) {
		stats = read_stats("g");
		assert_int_equal(stats->nb_nodes, 6);
		for (unsigned int i = 0; i < 6; i++) {
			assert_int_equal(stats->nodes[i].calls, walked);
			assert_int_equal(stats->nodes[i].objs > 0, walked);
			assert_int_equal(stats->nodes[i].sampled_calls, walked);
			if (clock_is_fine() || walked == 0)
				assert_int_equal(stats->nodes[i].cycles > 0, walked);
		}
		hy_stats_free(stats);
		hy_graph_walk(graph);
	}
}

static void
sources_of_all_graphs_come_first_and_the_oldest_graph_sets_the_order(void **state)
{
	static const char *const wanted[] = { "src1", "src2", "src3", "join", "end" };
	const char *const one[] = { "src1" }, *const two[] = { "src2", "src3" };
	struct probe src[3] = { { .budget = 1 }, { .budget = 1 }, { .budget = 1 } }, join = { 0 };
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(&src[0], "src1", "join");
	source_add(&src[1], "src2", "join");
	source_add(&src[2], "src3", "join");
	NODE(&join, .name = "join", .impl = { "plain", probe_pass }, .edges = { "end" });
	sink_add(NULL, "end");
	GRAPH("g1", .patterns = one, .nb_patterns = 1);
	GRAPH("g2", .patterns = two, .nb_patterns = 2);
	stats = read_stats("g*");
	assert_int_equal(stats->nb_nodes, RTE_DIM(wanted));
	for (size_t i = 0; i < RTE_DIM(wanted); i++)
		assert_string_equal(stats->nodes[i].name, wanted[i]);
	hy_stats_free(stats);
}

#define BURN 20000

static uint16_t
burn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint64_t start = rte_rdtsc();

	while (rte_rdtsc() - start < BURN)
		;
	return probe_sink(graph, node, objs, n);
}

static void
cycles_are_measured_in_every_kth_walk_and_estimated_for_the_rest(void **state)
{
	static const uint16_t every[] = { 1, 16, 7, 0 };
	static const unsigned int sampled[] = { 160, 10, 23, 10 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(every); i++) {
		struct probe src = { .budget = 160 * 4, .per_call = 4 }, burner = { 0 };
		const struct hy_node_stats *n;
		struct hy_graph *graph;
		struct hy_stats *stats;

		source_add(&src, "src", "burn");
		NODE(&burner, .name = "burn", .impl.process = burn);
		graph = GRAPH("g", .sample_every = every[i]);
		for (unsigned int walk = 0; walk < 160; walk++)
			hy_graph_walk(graph);
		stats = read_stats("g");
		n = node_stats(stats, "burn");
		assert_int_equal(n->calls, 160);
		assert_int_equal(n->sampled_calls, sampled[i]);
		assert_true(n->cycles >= UINT64_C(160) * BURN);
		assert_int_equal(n->idle_cycles, 0);
		n = node_stats(stats, "src");
		assert_int_equal(n->sampled_calls, sampled[i]);
		assert_true(n->cycles > 0 || !clock_is_fine());
		hy_stats_free(stats);
		/* From now on the source brings nothing. */
		for (unsigned int walk = 0; walk < 160; walk++)
			hy_graph_walk(graph);
		stats = read_stats("g");
		assert_int_equal(node_stats(stats, "burn")->calls, 160);
		assert_int_equal(node_stats(stats, "src")->calls, 320);
		assert_true(node_stats(stats, "src")->idle_cycles > 0 || !clock_is_fine());
		hy_stats_free(stats);
		registry_clear();
		compared++;
	}
	assert_int_equal(compared, 4);
}

static void
graphs_that_match_a_pattern_are_summed(void **state)
{
	struct probe src = { .budget = 1000000 }, split = { 0 };
	struct hy_graph *graph[5];
	struct hy_stats *stats;

	RTE_SET_USED(state);
	tenths_add(&src, &split);
	for (unsigned int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), i == 4 ? "other" : "worker-%u", i);
		graph[i] = GRAPH(name, .burst = 10, .drop_node = "drop");
		for (unsigned int walk = 0; walk <= i; walk++)
			hy_graph_walk(graph[i]);
	}
	/* 1 + 2 + 3 + 4 walks of 10 objects, and 5 in "other". */
	stats = read_stats("worker-*");
	assert_int_equal(stats->nb_graphs, 4);
	assert_int_equal(stats->nb_nodes, 6);
	assert_int_equal(node_stats(stats, "split")->calls, 10);
	assert_int_equal(node_stats(stats, "split")->objs, 100);
	assert_edge(&node_stats(stats, "split")->edges[2], "c", 30);
	assert_edge(&node_stats(stats, "split")->drops[HY_CORE_DROPS + 2], "third", 30);
	assert_int_equal(node_stats(stats, "split")->sampled_calls, 4);
	assert_string_equal(node_stats(stats, "split")->variant, "plain");
	hy_stats_free(stats);
	stats = read_stats("*");
	assert_int_equal(stats->nb_graphs, 5);
	assert_int_equal(node_stats(stats, "split")->objs, 150);
	hy_stats_free(stats);
	hy_graph_destroy(graph[3]);
	stats = read_stats("worker-[23]");
	assert_int_equal(stats->nb_graphs, 1);
	assert_int_equal(node_stats(stats, "split")->objs, 30);
	hy_stats_free(stats);
}

static void
graphs_that_differ_in_a_variant_are_mixed(void **state)
{
	struct probe src = { 0 }, split = { 0 };
	const struct hy_node_impl fast = { "fast", tenths }, none = { NULL, tenths };
	struct hy_stats *stats;
	hy_node_id id = 0;

	RTE_SET_USED(state);
	tenths_add(&src, &split);
	assert_int_equal(hy_node_lookup("split", &id), 0);
	GRAPH("a", .drop_node = "drop");
	assert_int_equal(hy_node_impl_set(id, &fast), 0);
	GRAPH("b", .drop_node = "drop");
	GRAPH("b2", .drop_node = "drop");
	assert_int_equal(hy_node_impl_set(id, &none), 0);
	GRAPH("c", .drop_node = "drop");
	for (unsigned int i = 0; i < 7; i++) {
		static const char *const patterns[] = { "a", "b", "b*", "c", "[ab]", "[bc]", "*" };
		static const char *const variants[] = { "plain", "fast", "fast", "", "mixed",
			"mixed", "mixed" };

		stats = read_stats(patterns[i]);
		assert_string_equal(node_stats(stats, "split")->variant, variants[i]);
		assert_string_equal(node_stats(stats, "src")->variant, "");
		hy_stats_free(stats);
	}
}

/* Edges by name, whatever index they have in each graph. */
static void
graphs_of_different_times_are_summed_edge_by_edge(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	const hy_node_id id = NODE(&spread, .name = "spread", .impl.process = probe_spread,
		.edges = { "a", "b" });
	const struct hy_node_stats *n;
	struct hy_graph *first, *second;
	struct hy_stats *stats;
	uint64_t objs[4] = { 0 };
	static const char *const patterns[] = { "src" };

	RTE_SET_USED(state);
	source_add(&src, "src", "spread");
	for (unsigned int i = 0; i < 4; i++)
		sink_add(NULL, (const char *const[]){ "a", "b", "c", "d" }[i]);
	first = GRAPH("first", .burst = 30, .patterns = patterns, .nb_patterns = 1);
	hy_graph_walk(first); /* a 15, b 15 */
	assert_int_equal(hy_node_edge_set(id, 0, "b2"), 0);
	assert_int_equal(hy_node_edge_set(id, 1, "a"), 0);
	assert_int_equal(hy_node_edge_set(id, 0, "c"), 0);
	assert_int_equal(hy_node_edge_add(id, "d", NULL), 0);
	spread.nb_edges = 3;
	second = GRAPH("second", .burst = 60, .patterns = patterns, .nb_patterns = 1);
	hy_graph_walk(second); /* c 20, a 20, d 20 */
	stats = read_stats("*");
	n = node_stats(stats, "spread");
	assert_int_equal(n->objs, 90);
	assert_int_equal(n->nb_edges, 4);
	for (unsigned int e = 0; e < 4; e++)
		objs[n->edges[e].name[0] - 'a'] = n->edges[e].objs;
	assert_int_equal(objs[0], 35);
	assert_int_equal(objs[1], 15);
	assert_int_equal(objs[2], 20);
	assert_int_equal(objs[3], 20);
	hy_stats_free(stats);
	stats = read_stats("second");
	n = node_stats(stats, "spread");
	assert_int_equal(n->nb_edges, 3);
	assert_edge(&n->edges[0], "c", 20);
	assert_edge(&n->edges[1], "a", 20);
	assert_edge(&n->edges[2], "d", 20);
	hy_stats_free(stats);
}

static void
nodes_are_listed_in_walk_order(void **state)
{
	static const char *const order[] = { "src", "z", "y", "x", "w" };
	struct hy_stats *stats;

	RTE_SET_USED(state);
	sink_add(NULL, "w");
	pass_add(NULL, "x", "w");
	pass_add(NULL, "y", "x");
	pass_add(NULL, "z", "y");
	source_add(NULL, "src", "z");
	GRAPH("g");
	stats = read_stats("g");
	assert_int_equal(stats->nb_nodes, 5);
	for (unsigned int i = 0; i < 5; i++)
		assert_string_equal(stats->nodes[i].name, order[i]);
	hy_stats_free(stats);
}

/* Counters of a clone once landed inside another node. */
static void
counters_of_a_clone_are_its_own(void **state)
{
	struct probe src = { .budget = 300 }, split = { 0 }, *config = &split;
	struct hy_graph *graph;
	struct hy_stats *stats;
	hy_node_id id = 0, clone = 0;
	uint16_t edge;

	RTE_SET_USED(state);
	tenths_add(&src, &split);
	assert_int_equal(hy_node_lookup("split", &id), 0);
	assert_int_equal(hy_node_clone(id, "2", &clone), 0);
	assert_int_equal(hy_node_config(clone, &config, sizeof(config)), 0);
	assert_int_equal(hy_node_edge_set(id, 2, "split-2"), 0);
	assert_int_equal(hy_node_edge_add(clone, "a", &edge), 0);
	assert_int_equal(edge, 0);
	graph = GRAPH("g", .burst = 100, .drop_node = "drop");
	for (unsigned int walk = 0; walk < 3; walk++)
		hy_graph_walk(graph);
	stats = read_stats("g");
	assert_int_equal(node_stats(stats, "split")->objs, 300);
	assert_edge(&node_stats(stats, "split")->drops[HY_CORE_DROPS + 2], "third", 90);
	assert_int_equal(node_stats(stats, "split-2")->objs, 90);
	/* Only objects of edge 2 come here, and they all take it again. */
	assert_edge(&node_stats(stats, "split-2")->edges[2], "c", 90);
	assert_edge(&node_stats(stats, "split-2")->drops[HY_CORE_DROPS + 2], "third", 0);
	hy_stats_free(stats);
}

static void
a_pattern_that_no_graph_matches_is_enoent(void **state)
{
	struct hy_stats *stats = NULL;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	GRAPH("g10");
	unit_log_clear();
	assert_int_equal(hy_stats_read("g1", &stats), -ENOENT);
	assert_int_equal(hy_stats_read("", &stats), -ENOENT);
	assert_null(stats);
	assert_int_equal(unit_log_lines(), 0);
}

struct reader {
	bool registered; /* as a DPDK thread */
	bool stop;
	unsigned int grown, faults;
	pthread_t thread;
};

static void *
read_often(void *arg)
{
	struct reader *reader = arg;
	uint64_t calls = 0, objs = 0, edge = 0;

	if (reader->registered && rte_thread_register() != 0)
		reader->faults++;
	while (!__atomic_load_n(&reader->stop, __ATOMIC_ACQUIRE)) {
		const struct hy_node_stats *n;
		struct hy_stats *stats;

		if (hy_stats_read("g", &stats) != 0) {
			reader->faults++;
			break;
		}
		n = &stats->nodes[1];
		reader->faults += strcmp(n->name, "pass") != 0;
		reader->faults += n->calls < calls || n->objs < objs || n->edges[0].objs < edge;
		reader->faults += n->drops[0].objs != 0;
		if (n->objs > objs)
			__atomic_add_fetch(&reader->grown, 1, __ATOMIC_RELAXED);
		calls = n->calls;
		objs = n->objs;
		edge = n->edges[0].objs;
		hy_stats_free(stats);
	}
	if (reader->registered)
		rte_thread_unregister();
	return NULL;
}

static uint16_t
reuse(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		objs[i] = &obj_all[i];
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
forget(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	return n;
}

static uint16_t
bare_pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_enqueue(graph, node, 0, objs, n);
	return n;
}

static void
other_threads_read_while_one_walks(void **state)
{
	struct reader readers[2] = { { .registered = false }, { .registered = true } };
	struct hy_graph *graph;
	struct hy_stats *stats;
	uint64_t walks = 0;
	rte_cpuset_t all;
	unsigned int faults = 0;

	RTE_SET_USED(state);
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = reuse,
		.edges = { "pass" });
	NODE(NULL, .name = "pass", .impl.process = bare_pass, .edges = { "sink" });
	NODE(NULL, .name = "sink", .impl.process = forget);
	graph = GRAPH("g", .burst = 8, .sample_every = 3);
	CPU_ZERO(&all);
	for (unsigned int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&readers[i].thread, NULL, read_often, &readers[i]),
			0);
		pthread_setaffinity_np(readers[i].thread, sizeof(all), &all);
	}
	while (__atomic_load_n(&readers[0].grown, __ATOMIC_RELAXED) < 100 ||
		__atomic_load_n(&readers[1].grown, __ATOMIC_RELAXED) < 100) {
		hy_graph_walk(graph);
		walks++;
	}
	for (unsigned int i = 0; i < 2; i++)
		__atomic_store_n(&readers[i].stop, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
		faults += readers[i].faults;
	}
	assert_int_equal(faults, 0);
	stats = read_stats("g");
	assert_int_equal(node_stats(stats, "pass")->objs, 8 * walks);
	assert_int_equal(node_stats(stats, "pass")->calls, walks);
	assert_edge(&node_stats(stats, "pass")->edges[0], "sink", 8 * walks);
	hy_stats_free(stats);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(counts_are_exact),
	GRAPH_TEST(a_graph_that_was_not_walked_counts_zero_and_after_a_walk_it_does_not),
	GRAPH_TEST(sources_of_all_graphs_come_first_and_the_oldest_graph_sets_the_order),
	GRAPH_TEST(cycles_are_measured_in_every_kth_walk_and_estimated_for_the_rest),
	GRAPH_TEST(graphs_that_match_a_pattern_are_summed),
	GRAPH_TEST(graphs_that_differ_in_a_variant_are_mixed),
	GRAPH_TEST(graphs_of_different_times_are_summed_edge_by_edge),
	GRAPH_TEST(nodes_are_listed_in_walk_order),
	GRAPH_TEST(counters_of_a_clone_are_its_own),
	GRAPH_TEST(a_pattern_that_no_graph_matches_is_enoent),
	GRAPH_TEST(other_threads_read_while_one_walks),
};

UNIT_SUITE(tests)
