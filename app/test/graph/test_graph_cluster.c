/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters: readers of statistics that have a zero and a pace of their own. */

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "graph_fixture.h"

static const char *const all[] = { "*" };

static struct hy_cluster *
cluster_add(const char *const *graphs, unsigned int nb_graphs, const char *const *nodes,
	unsigned int nb_nodes)
{
	const struct hy_cluster_params params = { graphs, nb_graphs, nodes, nb_nodes };
	struct hy_cluster *cluster = NULL;

	assert_int_equal(hy_cluster_create(&params, &cluster), 0);
	return cluster;
}

static struct hy_stats *
cluster_stats(struct hy_cluster *cluster)
{
	struct hy_stats *stats = NULL;

	assert_int_equal(hy_cluster_read(cluster, &stats), 0);
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

/* Objects that a node has taken, by a cluster's account. */
static uint64_t
counted(struct hy_cluster *cluster, const char *node)
{
	struct hy_stats *stats = cluster_stats(cluster);
	const uint64_t objs = node_stats(stats, node)->objs;

	hy_stats_free(stats);
	return objs;
}

static uint16_t
pass_bytes(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_counter_add(node, 0, 100 * (uint64_t)n);
	return probe_pass(graph, node, objs, n);
}

/* src → pass → drops: 10 objects a walk. */
static struct hy_graph *
line_add(struct probe *src, const char *name)
{
	hy_node_id id;

	src->budget = 100000;
	if (hy_node_lookup("src", &id) < 0) {
		source_add(src, "src", "pass");
		NODE(NULL, .name = "pass", .impl = { "fast", pass_bytes }, .edges = { "drops" },
			.counters = { { "bytes", "bytes" } });
		NODE(NULL, .name = "drops", .impl.process = probe_drop,
			.drops = { { "d", HY_SEV_INFO, "All of them." } });
		sink_add(NULL, "end");
	}
	return GRAPH(name, .burst = 10, .drop_node = "end", .sample_every = 1);
}

static void
walk_times(struct hy_graph *graph, unsigned int n)
{
	while (n-- > 0)
		hy_graph_walk(graph);
}

static void
a_reset_moves_the_zero_of_one_reader_and_no_counter(void **state)
{
	struct hy_cluster *one, *two;
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g");
	const struct hy_node_stats *n;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	walk_times(graph, 3);
	one = cluster_add(all, 1, NULL, 0);
	two = cluster_add(all, 1, NULL, 0);
	assert_int_equal(counted(one, "pass"), 30);
	assert_int_equal(hy_cluster_reset(one), 0);
	assert_int_equal(counted(one, "pass"), 0);
	walk_times(graph, 5);
	assert_int_equal(hy_cluster_reset(two), 0);
	walk_times(graph, 2);

	stats = cluster_stats(one);
	assert_int_equal(stats->nb_graphs, 1);
	assert_int_equal(stats->nb_nodes, 4);
	n = node_stats(stats, "pass");
	assert_int_equal(n->objs, 70);
	assert_int_equal(n->calls, 7);
	assert_int_equal(n->sampled_calls, 7);
	assert_int_equal(n->bursts[4], 7);
	assert_int_equal(n->sampled_objs, 70);
	assert_int_equal(n->cycles, n->sampled_cycles);
	assert_int_equal(n->edges[0].objs, 70);
	assert_int_equal(n->counters[0].value, 7000);
	assert_string_equal(n->counters[0].unit, "bytes");
	n = node_stats(stats, "drops");
	assert_int_equal(n->drops[HY_CORE_DROPS].objs, 70);
	assert_string_equal(n->drops[HY_CORE_DROPS].text, "All of them.");
	hy_stats_free(stats);
	assert_int_equal(counted(two, "pass"), 20);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_int_equal(node_stats(stats, "pass")->objs, 100);
	hy_stats_free(stats);
	hy_cluster_destroy(one);
	hy_cluster_destroy(two);
	hy_cluster_destroy(NULL);
}

static void
patterns_choose_graphs_and_nodes(void **state)
{
	const char *const graphs[] = { "a*", "c" }, *const nodes[] = { "p*", "no-such", "end" };
	struct hy_cluster *cluster = cluster_add(graphs, 2, nodes, 3);
	struct probe src = { 0 };
	struct hy_graph *g[4];
	struct hy_stats *stats;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 4; i++) {
		g[i] = line_add(&src, (const char *const[]){ "a1", "a2", "b", "c" }[i]);
		walk_times(g[i], 1u << i);
	}
	stats = cluster_stats(cluster);
	assert_int_equal(stats->nb_graphs, 3);
	assert_int_equal(stats->nb_nodes, 2);
	assert_string_equal(stats->nodes[0].name, "pass");
	assert_string_equal(stats->nodes[1].name, "end");
	assert_int_equal(stats->nodes[0].objs, 10 * (1 + 2 + 8));
	hy_stats_free(stats);
	hy_cluster_destroy(cluster);
}

static void
a_zero_holds_over_updates_of_the_graph(void **state)
{
	struct hy_cluster *cluster = cluster_add(all, 1, NULL, 0);
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g");
	const struct hy_node_stats *n;
	struct hy_stats *stats;
	hy_node_id id = 0;

	RTE_SET_USED(state);
	walk_times(graph, 2);
	assert_int_equal(hy_cluster_reset(cluster), 0);
	walk_times(graph, 1);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(counted(cluster, "pass"), 10); /* not taken up yet */
	walk_times(graph, 3);
	assert_int_equal(counted(cluster, "pass"), 40);
	assert_int_equal(hy_cluster_reset(cluster), 0); /* what history holds is below zero now */
	assert_int_equal(counted(cluster, "pass"), 0);

	assert_int_equal(hy_node_lookup("src", &id), 0);
	assert_int_equal(hy_node_edge_set(id, 0, "drops"), 0);
	assert_int_equal(hy_graph_update(graph,
				 &(const struct hy_graph_params){
					 .patterns = (const char *[]){ "src" },
					 .nb_patterns = 1,
					 .ops = &obj_ops,
					 .drop_node = "end",
					 .burst = 10,
				 }),
		0);
	walk_times(graph, 4);
	stats = cluster_stats(cluster);
	n = node_stats(stats, "pass");
	assert_true(n->gone);
	assert_int_equal(n->objs, 0);
	assert_int_equal(n->counters[0].value, 0);
	n = node_stats(stats, "src");
	assert_int_equal(n->objs, 40);
	assert_int_equal(n->nb_edges, 2);
	assert_string_equal(n->edges[0].name, "drops");
	assert_int_equal(n->edges[0].objs, 40);
	assert_true(n->edges[1].gone);
	assert_int_equal(n->edges[1].objs, 0);
	assert_int_equal(node_stats(stats, "drops")->drops[HY_CORE_DROPS].objs, 40);
	hy_stats_free(stats);
	hy_cluster_destroy(cluster);
}

/* It has less behind it than its namesake had: a difference by name would be negative. */
static void
a_graph_that_is_created_again_counts_from_its_own_zero(void **state)
{
	struct hy_cluster *cluster;
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g"), *other = line_add(&src, "h");
	struct hy_stats *stats = NULL;

	RTE_SET_USED(state);
	cluster = cluster_add(all, 1, NULL, 0);
	walk_times(graph, 9);
	walk_times(other, 1);
	assert_int_equal(hy_cluster_reset(cluster), 0);
	walk_times(graph, 2);
	assert_int_equal(counted(cluster, "pass"), 20);
	hy_graph_destroy(graph);
	assert_int_equal(counted(cluster, "pass"), 0);
	walk_times(other, 1);
	graph = line_add(&src, "g");
	walk_times(graph, 3);
	stats = cluster_stats(cluster);
	assert_int_equal(stats->nb_graphs, 2);
	assert_int_equal(node_stats(stats, "pass")->objs, 40);
	assert_int_equal(node_stats(stats, "pass")->edges[0].objs, 40);
	assert_int_equal(node_stats(stats, "pass")->bursts[4], 4);
	assert_int_equal(node_stats(stats, "drops")->drops[HY_CORE_DROPS].objs, 40);
	hy_stats_free(stats);

	hy_graph_destroy(graph);
	hy_graph_destroy(other);
	stats = NULL;
	unit_log_clear();
	assert_int_equal(hy_cluster_read(cluster, &stats), -ENOENT);
	assert_null(stats);
	assert_int_equal(hy_cluster_visit(cluster, hy_visit_print, stdout), -ENOENT);
	assert_int_equal(hy_cluster_reset(cluster), 0);
	assert_int_equal(unit_log_lines(), 0);
	hy_cluster_destroy(cluster);
}

struct visits {
	unsigned int n, firsts, lasts;
	unsigned int stop_at; /* 0: never */
	struct hy_visit pass;
	uint64_t objs, recent;
};

static int
visit_note(const struct hy_visit *visit, void *arg)
{
	struct visits *v = arg;

	assert_int_equal(visit->first, v->n == 0);
	v->n++;
	v->firsts += visit->first;
	v->lasts += visit->last;
	if (strcmp(visit->node->name, "pass") == 0) {
		assert_string_equal(visit->recent->name, "pass");
		v->pass = *visit;
		v->objs = visit->node->objs;
		v->recent = visit->recent->objs;
		v->pass.node = v->pass.recent = NULL;
	}
	return v->n == v->stop_at ? 77 : 0;
}

/* A rate times its time is what was counted; doubles carry 53 bits. */
static void
assert_rate(double rate, double seconds, double n)
{
	if (fabs(rate * seconds - n) > 1e-9 * n)
		fail_msg("%g a second for %g s are not %g", rate, seconds, n);
}

/* Upstream divides integers and prints the result as a double: below one a second, it says 0. */
static void
rates_below_one_a_second_are_not_rounded_to_zero(void **state)
{
	struct hy_cluster *cluster;
	struct visits v = { 0 };
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g");
	const uint64_t start = rte_rdtsc();
	unsigned int compared = 0;

	RTE_SET_USED(state);
	cluster = cluster_add(all, 1, NULL, 0);
	src.per_call = 1;
	hy_graph_walk(graph);
	src.per_call = 2;
	hy_graph_walk(graph);
	while (rte_rdtsc() - start < rte_get_tsc_hz() / 100)
		;
	/* 3 objects in 2 calls: no quotient of integers is right. */
	assert_int_equal(hy_cluster_visit(cluster, visit_note, &v), 0);
	assert_true(v.pass.seconds >= 0.0099);
	assert_true(v.pass.objs_per_call > 1.4999 && v.pass.objs_per_call < 1.5001);
	assert_rate(v.pass.objs_per_s, v.pass.seconds, 3);
	assert_rate(v.pass.calls_per_s, v.pass.seconds, 2);
	compared++;
	/* One object in more than a second, and one call of the source that brought nothing. */
	src.per_call = 1;
	src.budget = 1;
	hy_graph_walk(graph);
	rte_delay_us_block(1010000);
	v = (struct visits){ 0 };
	assert_int_equal(hy_cluster_visit(cluster, visit_note, &v), 0);
	assert_true(v.pass.seconds > 1.0);
	assert_true(v.pass.objs_per_s > 0 && v.pass.objs_per_s < 1);
	assert_rate(v.pass.objs_per_s, v.pass.seconds, 1);
	/* A slow clock, as Arm's may be, can see no time pass. */
	assert_true(v.pass.cycles_per_obj > 0 || rte_get_tsc_hz() < 500000000);
	compared++;
	assert_int_equal(compared, 2);
	hy_cluster_destroy(cluster);
}

static void
a_visit_tells_of_each_node_what_it_did_since_the_zero_and_since_the_last_visit(void **state)
{
	struct hy_cluster *cluster;
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g");
	struct visits v = { 0 };

	RTE_SET_USED(state);
	walk_times(graph, 1);
	cluster = cluster_add(all, 1, NULL, 0);
	walk_times(graph, 2);
	assert_int_equal(hy_cluster_visit(cluster, visit_note, &v), 0);
	assert_int_equal(v.n, 4);
	assert_int_equal(v.firsts, 1);
	assert_int_equal(v.lasts, 1);
	assert_int_equal(v.objs, 30);   /* since the graph's creation */
	assert_int_equal(v.recent, 20); /* since the cluster's */
	assert_true(v.pass.objs_per_call > 9.999 && v.pass.objs_per_call < 10.001);

	v = (struct visits){ 0 };
	assert_int_equal(hy_cluster_visit(cluster, visit_note, &v), 0);
	assert_int_equal(v.recent, 0);
	assert_true(v.pass.objs_per_s <= 0 && v.pass.objs_per_s >= 0);
	assert_true(v.pass.objs_per_call <= 0 && v.pass.objs_per_call >= 0);
	assert_true(v.pass.cycles_per_obj <= 0 && v.pass.cycles_per_obj >= 0);
	assert_true(v.pass.seconds > 0);

	walk_times(graph, 4);
	assert_int_equal(hy_cluster_reset(cluster), 0);
	walk_times(graph, 5);
	line_add(&src, "new"); /* has nothing to be subtracted */
	walk_times(graph, 1);
	v = (struct visits){ .stop_at = 2 };
	assert_int_equal(hy_cluster_visit(cluster, visit_note, &v), 77);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.lasts, 0);
	assert_int_equal(v.objs, 60);
	assert_int_equal(v.recent, 60);
	hy_cluster_destroy(cluster);
}

/* Prints a cluster's table. */
static const char *
table(struct hy_cluster *cluster)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(hy_cluster_visit(cluster, hy_visit_print, out), 0);
	fclose(out);
	return text;
}

static unsigned int
lines(const char *text)
{
	unsigned int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

static void
a_table_has_a_line_for_each_node_and_for_what_is_not_zero(void **state)
{
	static const char *const wanted[] = {
		"node                     variant             calls          objects  objs/call ",
		"\nsrc                      -                       3               30       10.0 ",
		"\npass                     fast                    3               30       10.0 ",
		"\n    counter bytes                            3000 bytes\n",
		"\n    drop    d                                  30  All of them.\n",
		"\nend                      -                       3               30       10.0 ",
	};
	struct hy_cluster *cluster;
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g");
	const char *text;

	RTE_SET_USED(state);
	cluster = cluster_add(all, 1, NULL, 0);
	walk_times(graph, 3);
	text = table(cluster);
	for (size_t i = 0; i < RTE_DIM(wanted); i++)
		if (strstr(text, wanted[i]) == NULL)
			fail_msg("no '%s' in:\n%s", wanted[i], text);
	assert_int_equal(lines(text), 1 + 4 + 2);
	assert_int_equal(hy_cluster_reset(cluster), 0);
	text = table(cluster);
	assert_int_equal(lines(text), 1 + 4);
	assert_non_null(strstr(text, "           -\nend"));
	hy_cluster_destroy(cluster);
}

static void
a_table_that_cannot_be_written_is_eio(void **state)
{
	struct hy_cluster *cluster;
	struct probe src = { 0 };
	FILE *full = fopen("/dev/full", "w");

	RTE_SET_USED(state);
	line_add(&src, "g");
	cluster = cluster_add(all, 1, NULL, 0);
	assert_non_null(full);
	assert_int_equal(hy_cluster_visit(cluster, hy_visit_print, full), -ENOSPC);
	fclose(full);
	hy_cluster_destroy(cluster);
}

static void
a_cluster_without_a_pattern_is_refused(void **state)
{
	static const char *const hole[] = { "*", NULL };
	static const struct {
		const char *named;
		struct hy_cluster_params params;
	} bad[] = {
		{ "at least one pattern", { .nb_graphs = 0 } },
		{ "pattern 0 of 1 for graphs", { .nb_graphs = 1 } },
		{ "pattern 1 of 2 for graphs", { .graphs = hole, .nb_graphs = 2 } },
		{ "pattern 0 of 3 for nodes", { .graphs = hole, .nb_graphs = 1, .nb_nodes = 3 } },
		{ "pattern 1 of 2 for nodes",
			{ .graphs = hole, .nb_graphs = 1, .nodes = hole, .nb_nodes = 2 } },
	};
	struct hy_cluster *cluster = NULL;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		unit_log_clear();
		assert_int_equal(hy_cluster_create(&bad[i].params, &cluster), -EINVAL);
		assert_null(cluster);
		assert_int_equal(unit_log_lines(), 1);
		if (strstr(unit_log(), bad[i].named) == NULL)
			fail_msg("no '%s' in '%s'", bad[i].named, unit_log());
	}
	assert_int_equal(hy_cluster_create(NULL, &cluster), -EINVAL);
}

struct watcher {
	bool stop;
	unsigned int rounds, grown, faults;
	pthread_t thread;
};

/* No counter of a graph that lives ever falls, whoever resets what, and whatever is updated. */
static int
visit_check(const struct hy_visit *visit, void *arg)
{
	struct watcher *w = arg;

	w->faults += visit->recent->objs > visit->node->objs;
	w->faults += visit->node->objs > UINT64_MAX / 2 || visit->recent->calls > UINT64_MAX / 2;
	w->faults += !(visit->objs_per_s >= 0) || !(visit->cycles_per_obj >= 0);
	for (unsigned int c = 0; c < visit->node->nb_counters; c++)
		w->faults += visit->node->counters[c].value > UINT64_MAX / 2;
	__atomic_fetch_add(&w->grown, visit->recent->objs > 0, __ATOMIC_RELAXED);
	return 0;
}

static void *
watch(void *arg)
{
	const struct hy_cluster_params params = { .graphs = all, .nb_graphs = 1 };
	struct watcher *w = arg;
	struct hy_cluster *cluster;
	struct hy_graph *graph;
	FILE *null = fopen("/dev/null", "w");

	if (null == NULL || hy_graph_lookup("g", &graph) < 0 ||
		hy_cluster_create(&params, &cluster) < 0) {
		w->faults++;
		return NULL;
	}
	for (; !__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE); w->rounds++) {
		struct hy_stats *stats = NULL;

		w->faults += hy_cluster_visit(cluster, visit_check, w) != 0;
		w->faults += hy_cluster_visit(cluster, hy_visit_print, null) != 0;
		w->faults += hy_cluster_read(cluster, &stats) != 0;
		hy_stats_free(stats);
		/* The worker may take up another image while this one is drawn. */
		w->faults += hy_graph_export_json(graph, null) != 0;
		w->faults += hy_graph_export_dot(graph, null) != 0;
		w->faults += hy_graph_list_dump(null) != 0;
		if (w->rounds % 3 == 2)
			w->faults += hy_cluster_reset(cluster) != 0;
	}
	fclose(null);
	hy_cluster_destroy(cluster);
	return NULL;
}

static void
readers_reset_visit_and_draw_while_a_worker_walks_and_its_graph_changes(void **state)
{
	struct watcher watchers[2] = { 0 };
	struct probe src = { 0 };
	struct hy_graph *graph = line_add(&src, "g");
	unsigned int updates = 0, taken = 0;
	struct hy_stats *stats = NULL;
	uint64_t walks = 0;
	rte_cpuset_t everywhere;

	RTE_SET_USED(state);
	CPU_ZERO(&everywhere);
	for (unsigned int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &everywhere);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&watchers[i].thread, NULL, watch, &watchers[i]), 0);
		pthread_setaffinity_np(watchers[i].thread, sizeof(everywhere), &everywhere);
	}
	while (updates < 50 || __atomic_load_n(&watchers[0].grown, __ATOMIC_RELAXED) < 100 ||
		__atomic_load_n(&watchers[1].grown, __ATOMIC_RELAXED) < 100) {
		src.budget = 10;
		obj_made = 0; /* those of the last walk are all released */
		hy_graph_walk(graph);
		if (++walks % 256 == 0) {
			taken += !hy_graph_updating(graph);
			assert_int_equal(hy_graph_update(graph, NULL), 0);
			updates++;
		}
	}
	for (unsigned int i = 0; i < 2; i++)
		__atomic_store_n(&watchers[i].stop, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(watchers[i].thread, NULL), 0);
		assert_int_equal(watchers[i].faults, 0);
	}
	assert_int_equal(taken, updates);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_int_equal(node_stats(stats, "pass")->objs, 10 * walks);
	assert_int_equal(node_stats(stats, "pass")->counters[0].value, 1000 * walks);
	assert_int_equal(node_stats(stats, "pass")->sampled_calls, walks);
	assert_int_equal(node_stats(stats, "drops")->drops[HY_CORE_DROPS].objs, 10 * walks);
	hy_stats_free(stats);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_reset_moves_the_zero_of_one_reader_and_no_counter),
	GRAPH_TEST(patterns_choose_graphs_and_nodes),
	GRAPH_TEST(a_zero_holds_over_updates_of_the_graph),
	GRAPH_TEST(a_graph_that_is_created_again_counts_from_its_own_zero),
	GRAPH_TEST(rates_below_one_a_second_are_not_rounded_to_zero),
	GRAPH_TEST(a_visit_tells_of_each_node_what_it_did_since_the_zero_and_since_the_last_visit),
	GRAPH_TEST(a_table_has_a_line_for_each_node_and_for_what_is_not_zero),
	GRAPH_TEST(a_table_that_cannot_be_written_is_eio),
	GRAPH_TEST(a_cluster_without_a_pattern_is_refused),
	GRAPH_TEST(readers_reset_visit_and_draw_while_a_worker_walks_and_its_graph_changes),
};

UNIT_SUITE(tests)
