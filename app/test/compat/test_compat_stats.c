/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: cluster statistics. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_stats.h>
#include <hy_trace.h>

#include "compat_fixture.h"

#define ROWS_MAX 16

/* What a callback was handed. */
struct table {
	unsigned int n, first, last;
	unsigned int stop_after; /* rows; 0: none */
	struct rte_graph_cluster_node_stats row[ROWS_MAX];
};

static int
row_add(bool is_first, bool is_last, void *cookie, const struct rte_graph_cluster_node_stats *stats)
{
	struct table *table = cookie;

	table->first += is_first;
	table->last += is_last;
	table->row[table->n++] = *stats;
	return table->n == table->stop_after ? -1 : 0;
}

static const struct rte_graph_cluster_node_stats *
row(const struct table *table, const struct probe *probe)
{
	for (unsigned int i = 0; i < table->n; i++)
		if (table->row[i].id == probe->node->id)
			return &table->row[i];
	fail_msg("there is no row of '%s'", probe->node->name);
	return NULL;
}

static struct rte_graph_cluster_stats *
cluster(const char *pattern, struct table *table)
{
	const struct rte_graph_cluster_stats_param prm = {
		.fn = row_add, .cookie = table, .nb_graph_patterns = 1, .graph_patterns = &pattern
	};

	return rte_graph_cluster_stats_create(&prm);
}

static void
read_again(struct rte_graph_cluster_stats *stats, struct table *table)
{
	*table = (struct table){ 0 };
	rte_graph_cluster_stats_get(stats, false);
}

/* Two graphs of the same three nodes; the middle one passes objects on. */
struct pair {
	struct probe src, pass, sink;
	struct rte_graph *a, *b;
};

static void
pair_add(struct pair *pair, const char *test)
{
	NODE(&pair->src, name_of(test, "src"), probe_source, name_of(test, "pass"));
	NODE(&pair->pass, name_of(test, "pass"), probe_pass, name_of(test, "sink"));
	NODE(&pair->sink, name_of(test, "sink"), probe_sink, NULL);
	pair->b = graph_add("graph-b", name_of(test, "*"));
	pair->a = graph_add("graph-a", name_of(test, "*"));
}

/* The probes check which shadow they run as: each graph has its own. */
static void
walk(struct pair *pair, struct rte_graph *graph, uint32_t objs)
{
	pair->src.node = rte_graph_node_get_by_name(graph->name, pair->src.node->name);
	pair->pass.node = rte_graph_node_get_by_name(graph->name, pair->pass.node->name);
	pair->sink.node = rte_graph_node_get_by_name(graph->name, pair->sink.node->name);
	pair->src.budget = objs;
	rte_graph_walk(graph);
}

static void
a_cluster_sums_over_the_graphs_that_match(void **state)
{
	struct pair pair = { 0 };
	struct rte_graph_cluster_stats *one, *both;
	struct table one_table = { 0 }, table = { 0 };

	RTE_SET_USED(state);
	pair_add(&pair, __func__);
	one = cluster("graph-a", &one_table);
	both = cluster("graph-*", &table);
	walk(&pair, pair.a, 100);
	walk(&pair, pair.b, 30);
	walk(&pair, pair.b, 1);
	rte_graph_cluster_stats_get(one, false);
	rte_graph_cluster_stats_get(both, false);
	assert_int_equal(table.n, 3);
	assert_int_equal(table.first, 1);
	assert_int_equal(table.last, 1);
	assert_int_equal(row(&one_table, &pair.sink)->objs, 100);
	assert_int_equal(row(&one_table, &pair.sink)->calls, 1);
	assert_int_equal(row(&table, &pair.src)->calls, 3);
	assert_int_equal(row(&table, &pair.pass)->objs, 131);
	assert_int_equal(row(&table, &pair.sink)->objs, 131);
	assert_int_equal(row(&table, &pair.sink)->prev_objs, 0);
	assert_string_equal(row(&table, &pair.pass)->name, pair.pass.node->name);
	/* The first walk of a graph is timed. */
	assert_true(row(&table, &pair.pass)->cycles > 0);
	assert_int_equal(row(&table, &pair.pass)->realloc_count, 0);

	rte_graph_cluster_stats_get(both, true);
	assert_int_equal(table.n, 3);
	walk(&pair, pair.a, 7);
	read_again(both, &table);
	assert_int_equal(row(&table, &pair.sink)->objs, 138);
	assert_int_equal(row(&table, &pair.sink)->prev_objs, 131);
	assert_int_equal(row(&table, &pair.sink)->prev_calls, 3);
	rte_graph_cluster_stats_destroy(one);
	rte_graph_cluster_stats_destroy(both);
	rte_graph_cluster_stats_destroy(NULL);
}

/* Lesson: a reset lasted until the next reading. */
static void
a_reset_makes_later_readings_start_at_zero(void **state)
{
	struct pair pair = { 0 };
	struct rte_graph_cluster_stats *stats;
	struct table table = { 0 };

	RTE_SET_USED(state);
	pair_add(&pair, __func__);
	stats = cluster("graph-?", &table);
	walk(&pair, pair.a, 100);
	rte_graph_cluster_stats_get(stats, true);
	walk(&pair, pair.b, 11);
	rte_graph_cluster_stats_reset(stats);
	walk(&pair, pair.b, 5);
	read_again(stats, &table);
	assert_int_equal(row(&table, &pair.sink)->objs, 5);
	assert_int_equal(row(&table, &pair.sink)->calls, 1);
	assert_int_equal(row(&table, &pair.sink)->prev_objs, 0);
	rte_graph_cluster_stats_reset(stats);
	read_again(stats, &table);
	assert_int_equal(row(&table, &pair.sink)->objs, 0);
	rte_graph_cluster_stats_destroy(stats);
}

static void
a_graph_that_is_destroyed_keeps_its_share(void **state)
{
	struct pair pair = { 0 };
	struct rte_graph_cluster_stats *stats;
	struct table table = { 0 };

	RTE_SET_USED(state);
	pair_add(&pair, __func__);
	stats = cluster("graph-*", &table);
	walk(&pair, pair.b, 30);
	walk(&pair, pair.a, 100);
	rte_graph_cluster_stats_get(stats, true);
	assert_int_equal(rte_graph_destroy(pair.b->id), 0);
	walk(&pair, pair.a, 1);
	read_again(stats, &table);
	assert_int_equal(row(&table, &pair.sink)->objs, 131);
	rte_graph_cluster_stats_destroy(stats);
}

static void
a_callback_that_fails_is_the_last(void **state)
{
	struct pair pair = { 0 };
	struct rte_graph_cluster_stats *stats;
	struct table table = { .stop_after = 2 };

	RTE_SET_USED(state);
	pair_add(&pair, __func__);
	stats = cluster("graph-a", &table);
	rte_graph_cluster_stats_get(stats, false);
	assert_int_equal(table.n, 2);
	assert_int_equal(table.first, 1);
	assert_int_equal(table.last, 0);
	rte_graph_cluster_stats_destroy(stats);
}

static void
print_table(FILE *f, void *arg)
{
	struct pair *pair = arg;
	const char *pattern = "graph-a";
	const struct rte_graph_cluster_stats_param prm = {
		.f = f, .nb_graph_patterns = 1, .graph_patterns = &pattern
	};
	struct rte_graph_cluster_stats *stats = rte_graph_cluster_stats_create(&prm);

	assert_non_null(stats);
	rte_graph_cluster_stats_get(stats, true);
	walk(pair, pair->a, 1);
	walk(pair, pair->a, 2);
	rte_graph_cluster_stats_get(stats, false);
	rte_graph_cluster_stats_destroy(stats);
}

/* Lesson: figures were quotients of integers: 0 objects a second below one second. */
static void
the_table_prints_fractions(void **state)
{
	struct pair pair = { 0 };
	char *text, *at;
	double rate = 0;

	RTE_SET_USED(state);
	pair_add(&pair, __func__);
	text = printed(print_table, &pair);
	at = strstr(text, pair.sink.node->name);
	assert_non_null(at);
	assert_int_equal(sscanf(at, "%*[^|]| 2| 3| 1.500| %lf|", &rate), 1);
	assert_true(rate > 0);
	free(text);
}

static PROCESS(count_odd_and_even)
{
	rte_node_xstat_increment(node, 0, (n + 1u) / 2);
	rte_node_xstat_increment(node, 1, n / 2u);
	rte_node_xstat_increment(node, 2, 1000); /* is none of its counters */
	RTE_SET_USED(graph);
	RTE_SET_USED(objs);
	return n;
}

/* Registers a sink with two counters of its own. */
static rte_node_t
counting_add(const char *name)
{
	static struct rte_node_xstats xstats = { .nb_xstats = 2, .xstat_desc = { "odd", "even" } };
	struct rte_node_register reg = {
		.process = count_odd_and_even,
		.xstats = &xstats,
		.parent_id = RTE_NODE_ID_INVALID,
	};

	snprintf(reg.name, sizeof(reg.name), "%s", name);
	return __rte_node_register(&reg);
}

/* In two graphs, which a probe does not know. */
static PROCESS(make_five)
{
	RTE_SET_USED(n);
	rte_node_enqueue(graph, node, 0, objs, 5);
	return 5;
}

struct own {
	unsigned int nodes;
	uint64_t odd, even;
};

static int
own_take(bool is_first, bool is_last, void *cookie, const struct rte_graph_cluster_node_stats *st)
{
	struct own *own = cookie;

	RTE_SET_USED(is_first);
	RTE_SET_USED(is_last);
	if (st->xstat_cntrs == 0)
		return 0;
	own->nodes++;
	own->odd += st->xstat_count[0];
	own->even += st->xstat_count[1];
	return st->xstat_cntrs == 2 && strcmp(st->xstat_desc[0], "odd") == 0 &&
			strcmp(st->xstat_desc[1], "even") == 0
		? 0
		: -1;
}

/* Lesson: counters landed 384 bytes early, inside another node; and those of clones nowhere. */
static void
counters_of_a_nodes_own_are_its_own_in_clones_too(void **state)
{
	struct probe src = { .process = make_five };
	const char *pattern = "xstats*";
	struct own own = { 0 };
	const struct rte_graph_cluster_stats_param prm = {
		.fn = own_take, .cookie = &own, .nb_graph_patterns = 1, .graph_patterns = &pattern
	};
	struct rte_graph_param none = { 0 };
	struct rte_graph_cluster_stats *stats;
	struct rte_graph *graph, *clone;
	rte_node_t counting, copy;

	RTE_SET_USED(state);
	counting = counting_add(N("counting"));
	copy = rte_node_clone(counting, "copy");
	assert_int_not_equal(copy, RTE_NODE_ID_INVALID);
	NODE(&src, N("src"), probe_source, rte_node_id_to_name(copy), N("counting"));
	graph = graph_add("xstats", N("*"));
	assert_int_not_equal(rte_graph_clone(graph->id, "c", &none), RTE_GRAPH_ID_INVALID);
	clone = rte_graph_lookup("xstats-c");
	stats = rte_graph_cluster_stats_create(&prm);
	assert_non_null(stats);
	rte_graph_walk(graph);
	rte_graph_walk(clone);
	rte_graph_cluster_stats_get(stats, false);
	assert_int_equal(own.nodes, 2);
	assert_int_equal(own.odd, 6);
	assert_int_equal(own.even, 4);
	assert_int_equal(rte_graph_node_get(graph->id, copy)->xstats[0], 3);
	assert_int_equal(rte_graph_node_get(clone->id, copy)->xstats[0], 3);
	assert_int_equal(rte_graph_node_get(graph->id, counting)->xstats[0], 0);
	rte_graph_cluster_stats_reset(stats);
	own = (struct own){ 0 };
	rte_graph_cluster_stats_get(stats, false);
	assert_int_equal(own.nodes, 2);
	assert_int_equal(own.odd + own.even, 0);
	rte_graph_cluster_stats_destroy(stats);
}

static PROCESS(count_sevens)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	rte_node_xstat_increment(node, 0, 7);
	return 0;
}

/* Registers a source that makes nothing, with so many counters. */
static rte_node_t
sevens_add(const char *name, const char *target, uint16_t nb_counters)
{
	struct rte_node_register *reg = calloc(1, sizeof(*reg) + sizeof(char *));
	struct rte_node_xstats *xstats = calloc(1,
		sizeof(*xstats) + nb_counters * sizeof(xstats->xstat_desc[0]));
	rte_node_t id;

	assert_non_null(reg);
	assert_non_null(xstats);
	xstats->nb_xstats = nb_counters;
	for (uint16_t i = 0; i < nb_counters; i++)
		snprintf(xstats->xstat_desc[i], RTE_NODE_XSTAT_DESC_SIZE, "counter-%u", i);
	snprintf(reg->name, sizeof(reg->name), "%s", name);
	reg->process = count_sevens;
	reg->flags = RTE_NODE_SOURCE_F;
	reg->parent_id = RTE_NODE_ID_INVALID;
	reg->xstats = xstats;
	reg->nb_edges = 1;
	reg->next_nodes[0] = target;
	id = __rte_node_register(reg);
	free(xstats);
	free(reg);
	return id;
}

static void
a_node_under_the_id_of_one_freed_is_not_taken_for_it(void **state)
{
	struct rte_graph_cluster_stats *stats;
	struct table table = { 0 };
	rte_node_t first, second;
	unsigned int found = 0;

	RTE_SET_USED(state);
	NODE(NULL, N("end"), probe_sink, NULL);
	first = sevens_add(N("first"), N("end"), 1);
	rte_graph_walk(graph_add("reused", N("first")));
	stats = cluster("reused", &table);
	assert_non_null(stats);
	read_again(stats, &table);
	assert_int_equal(rte_graph_destroy(rte_graph_from_name("reused")), 0);
	assert_int_equal(rte_node_free(first), 0);
	second = sevens_add(N("second"), N("end"), 200);
	assert_int_equal(second, first);
	graph_add("reused", N("second"));
	for (unsigned int walk = 0; walk < 3; walk++)
		rte_graph_walk(rte_graph_lookup("reused"));
	read_again(stats, &table);
	assert_int_equal(table.n, 2);
	for (unsigned int i = 0; i < table.n; i++) {
		if (table.row[i].id != first)
			continue;
		assert_string_equal(table.row[i].name, N("first"));
		assert_int_equal(table.row[i].calls, 1);
		assert_int_equal(table.row[i].xstat_cntrs, 1);
		assert_int_equal(table.row[i].xstat_count[0], 7);
		found++;
	}
	assert_int_equal(found, 1);
	rte_graph_cluster_stats_destroy(stats);
}

static void
bad_clusters_are_refused(void **state)
{
	const struct rte_graph_cluster_stats_param empty = { 0 };
	struct pair pair = { 0 };
	unsigned int failed = 0;
	struct rte_graph_cluster_stats *stats;

	RTE_SET_USED(state);
	assert_null(rte_graph_cluster_stats_create(NULL));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(rte_graph_cluster_stats_create(&empty));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(cluster("graph-*", NULL));
	assert_int_equal(rte_errno, EFAULT);
	pair_add(&pair, __func__);
	assert_int_equal(rte_graph_has_stats_feature(), 1);
	do {
		const int64_t live = unit_alloc_live();

		unit_alloc_fail(failed + 1);
		stats = cluster("graph-*", NULL);
		if (stats != NULL)
			break;
		failed++;
		assert_int_equal(rte_errno, ENOMEM);
		assert_int_equal(unit_alloc_live(), live);
	} while (failed < 20);
	assert_int_equal(failed, 4);
	rte_graph_cluster_stats_destroy(stats);
}

/* More objects than a call can return: the core counts them all the same. */
static void
the_core_counts_what_runs_late(void **state)
{
	struct probe src = { .budget = 256 }, copy = { .copies = 300 }, sink = { 0 };
	struct hy_stats *stats;
	struct rte_graph *graph;
	unsigned int compared = 0;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("copy"));
	NODE(&copy, N("copy"), probe_copy, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, 256 + UINT16_MAX);
	assert_int_equal(hy_stats_read(hy_graph_name(graph->core), &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		if (strstr(stats->nodes[i].name, ".sink") == NULL)
			continue;
		assert_int_equal(stats->nodes[i].objs, sink.objs);
		compared++;
	}
	hy_stats_free(stats);
	assert_int_equal(compared, 1);
}

static void
a_trace_marks_what_a_source_makes_in_its_array(void **state)
{
	struct probe src = { .budget = 30, .per_call = 10 }, sink = { 0 };
	const struct hy_trace_params params = { .nb_objs = 15 };
	struct hy_trace_state trace;
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	graph = graph_add("g", N("src"));
	assert_int_equal(hy_trace_start(graph->core, &params), 0);
	for (unsigned int walk = 0; walk < 3; walk++)
		rte_graph_walk(graph);
	assert_int_equal(hy_trace_status(graph->core, &trace), 0);
	assert_int_equal(trace.marked, 15);
	assert_int_equal(trace.recorded, 30); /* at the source, and at the sink */
	assert_false(trace.running);
}

static const struct CMUnitTest compat_stats[] = {
	COMPAT_TEST(a_cluster_sums_over_the_graphs_that_match),
	COMPAT_TEST(a_reset_makes_later_readings_start_at_zero),
	COMPAT_TEST(a_graph_that_is_destroyed_keeps_its_share),
	COMPAT_TEST(a_callback_that_fails_is_the_last),
	COMPAT_TEST(the_table_prints_fractions),
	COMPAT_TEST(counters_of_a_nodes_own_are_its_own_in_clones_too),
	COMPAT_TEST(a_node_under_the_id_of_one_freed_is_not_taken_for_it),
	COMPAT_TEST(bad_clusters_are_refused),
	COMPAT_TEST(the_core_counts_what_runs_late),
	COMPAT_TEST(a_trace_marks_what_a_source_makes_in_its_array),
};
UNIT_SUITE(compat_stats)
