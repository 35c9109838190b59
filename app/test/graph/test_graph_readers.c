/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of statistics and pictures beside a worker whose graph changes. */

#include <pthread.h>
#include <string.h>

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

struct watcher {
	bool stop;
	unsigned int grown, faults;
	pthread_t thread;
};

/* No counter of a graph ever falls. */
static unsigned int
faults_of(const struct hy_stats *now, const struct hy_stats *before, unsigned int *grown)
{
	const struct hy_node_stats *n = node_stats(now, "pass");
	const struct hy_node_stats *was = before == NULL ? NULL : node_stats(before, "pass");

	if (was == NULL)
		return 0;
	__atomic_fetch_add(grown, n->objs > was->objs, __ATOMIC_RELAXED);
	return (n->objs < was->objs) + (n->calls < was->calls) +
		(n->counters[0].value < was->counters[0].value) +
		(n->edges[0].objs < was->edges[0].objs);
}

static void *
watch(void *arg)
{
	struct hy_stats *before = NULL;
	struct watcher *w = arg;
	struct hy_graph *graph;
	FILE *null = fopen("/dev/null", "w");

	if (null == NULL || hy_graph_lookup("g", &graph) < 0) {
		w->faults++;
		return NULL;
	}
	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		struct hy_stats *stats = NULL;

		if (hy_stats_read("*", &stats) == 0)
			w->faults += faults_of(stats, before, &w->grown);
		else
			w->faults++;
		hy_stats_free(before);
		before = stats;
		/* The worker may take up another image while this one is drawn. */
		w->faults += hy_graph_export_json(graph, null) != 0;
		w->faults += hy_graph_export_dot(graph, null) != 0;
	}
	hy_stats_free(before);
	fclose(null);
	return NULL;
}

static void
readers_sum_and_draw_while_a_worker_walks_and_its_graph_changes(void **state)
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
	GRAPH_TEST(readers_sum_and_draw_while_a_worker_walks_and_its_graph_changes),
};

UNIT_SUITE(tests)
