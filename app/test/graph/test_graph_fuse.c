/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fusions: a chain that one function runs does what its nodes do, and what is not fused. See
 * test_graph_fuse_live.c for changes under way.
 */

#include <errno.h>
#include <string.h>

#include <hy_walk.h>

#include "fuse_fixture.h"
#include "lib/graph/compile/image.h"
#include "lib/graph/registry/registry.h"
#include "lib/graph/walk/enqueue.h"
#include "plugin_fixture.h"

#define WALKS 16
#define OBJS_A_RUN 32768

/* What came of one run of a traffic. */
struct run {
	uint32_t made;
	struct obj objs[OBJS_A_RUN];
	struct hy_stats *stats;
};

static struct run apart, together;

/* Of all runs together. */
static struct {
	uint64_t runs, objs, counts, whole, parted, none, apart, beside, forked, picked;
} sum;

static void
drive(struct hy_graph *graph)
{
	uint64_t seed = hy_graph_burst(graph);

	for (unsigned int w = 0; w < WALKS; w++) {
		fuse_walk(graph, &seed);
		assert_int_equal(waiting(graph), 0);
	}
}

static void
run_once(struct run *run, uint16_t burst, const struct hy_scatter_body *body, bool with)
{
	struct hy_graph *graph;

	if (with)
		assert_int_equal(hy_fuse_offer(&fuse_abc) + hy_fuse_offer(&fuse_ad), 0);
	fuse_nodes_add();
	graph = FUSE_GRAPH(.burst = burst, .sample_every = 1 + burst % 3);
	graph->plan.scatter = body->scatter;
	drive(graph);
	if (with)
		assert_int_equal(hy_fuse_withdraw(&fuse_abc) + hy_fuse_withdraw(&fuse_ad), 0);
	assert_int_equal(obj_faults, 0);
	assert_int_equal(obj_under_way, 0);
	assert_int_equal(stream_full(graph), 0);
	assert_in_range(obj_made, 1, OBJS_A_RUN);
	run->made = obj_made;
	memcpy(run->objs, obj_all, obj_made * sizeof(*obj_all));
	hy_stats_free(run->stats);
	assert_int_equal(hy_stats_read("g", &run->stats), 0);
	registry_clear();
}

static void
compare_entries(const struct hy_edge_stats *a, const struct hy_edge_stats *b, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		assert_string_equal(a[i].name, b[i].name);
		assert_int_equal(a[i].objs, b[i].objs);
		assert_int_equal(a[i].value, b[i].value);
		sum.counts++;
	}
}

static void
compare_stats(void)
{
	assert_int_equal(apart.stats->nb_nodes, together.stats->nb_nodes);
	for (unsigned int i = 0; i < apart.stats->nb_nodes; i++) {
		const struct hy_node_stats *a = &apart.stats->nodes[i];
		const struct hy_node_stats *b = &together.stats->nodes[i];

		assert_string_equal(a->name, b->name);
		assert_int_equal(a->objs, b->objs);
		assert_int_equal(a->sampled_objs, b->sampled_objs);
		assert_true(a->is_source || (b->objs > 0) == (b->calls > 0));
		/* A burst that is fused in part is two calls of a later node. */
		if (a->is_source || strcmp(a->name, "a") == 0)
			assert_int_equal(a->calls, b->calls);
		compare_entries(a->edges, b->edges, a->nb_edges);
		compare_entries(a->drops, b->drops, a->nb_drops);
		compare_entries(a->counters, b->counters, a->nb_counters);
	}
}

static void
compare(void)
{
	assert_int_equal(apart.made, together.made);
	for (uint32_t i = 0; i < apart.made; i++) {
		const struct obj *a = &apart.objs[i], *b = &together.objs[i];

		assert_true(a->refs == 0 && a->hops >= 256 && a->mark > 0);
		assert_true(a->mark == b->mark && a->hops == b->hops && a->from == b->from);
		sum.beside += b->from != 0;
	}
	compare_stats();
	sum.objs += apart.made;
	sum.runs++;
}

static void
compare_at(uint16_t burst, unsigned int variant)
{
	static const uint32_t rare[] = { 0, 3, 40, 300 };
	const struct hy_scatter_body *body = &hy_scatter_bodies[burst % hy_scatter_nb_bodies];

	rig.targets = 1 + (burst + variant) % FUSE_TARGETS;
	rig.rare = rare[(burst / 4 + variant) % RTE_DIM(rare)];
	rig.lanes = (burst / 2 + variant) % 2 == 0;
	rig.fork = (burst / 4 + variant / 2) % 2 == 0;
	if (!body->cpu_can())
		body = &hy_scatter_bodies[hy_scatter_nb_bodies - 1];
	run_once(&apart, burst, body, false);
	assert_int_equal(rig.whole + rig.parted + rig.none + rig.forked + rig.picks, 0);
	run_once(&together, burst, body, true);
	compare();
	assert_true(rig.fork || rig.forked + rig.picks == 0);
	sum.forked += rig.forked;
	sum.picked += rig.picked;
	sum.whole += rig.whole;
	sum.parted += rig.parted;
	sum.none += rig.none;
	for (unsigned int s = 0; s < FUSE_STAGES; s++)
		sum.apart += rig.stage[s].calls;
}

static void
the_nodes_are_the_model_of_a_fused_chain(void **state)
{
	RTE_SET_USED(state);
	memset(&sum, 0, sizeof(sum));
	for (uint16_t burst = 1; burst <= HY_BURST_MAX; burst++)
		for (unsigned int variant = 0; variant < 4; variant++)
			compare_at(burst, variant);
	hy_stats_free(apart.stats);
	hy_stats_free(together.stats);
	apart.stats = together.stats = NULL;
	print_message("# %ju runs, %ju objects, %ju counters; fused calls: %ju whole, %ju in part, "
		      "%ju of nothing; of a second chain: %ju, %ju of objects that were picked; "
		      "%ju calls of nodes, %ju objects from beside\n",
		(uintmax_t)sum.runs, (uintmax_t)sum.objs, (uintmax_t)sum.counts,
		(uintmax_t)sum.whole, (uintmax_t)sum.parted, (uintmax_t)sum.none,
		(uintmax_t)sum.forked, (uintmax_t)sum.picked, (uintmax_t)sum.apart,
		(uintmax_t)sum.beside);
	assert_int_equal(sum.runs, 4 * HY_BURST_MAX);
	assert_true(sum.objs > 1000000 && sum.counts > 20 * sum.runs);
	assert_true(sum.whole > sum.runs && sum.parted > sum.runs && sum.none > sum.runs / 8);
	assert_true(sum.apart > sum.runs && sum.beside > sum.runs);
	assert_true(sum.picked > sum.runs && sum.forked > sum.picked + sum.runs / 2);
}

static const struct hy_node_stats *
stats_of(const struct hy_stats *stats, const char *name)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	fail_msg("no statistics of '%s'", name);
	return NULL;
}

/* Walks are timed; n objects go through the chain, after one that went apart. */
static struct hy_stats *
timed(bool with, uint32_t n)
{
	struct hy_stats *stats = NULL;
	struct hy_graph *graph;

	rig.targets = 2;
	fuse_nodes_add();
	if (with)
		assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	graph = FUSE_GRAPH(.burst = 8, .sample_every = 1);
	rig.to_c.budget = 1;
	hy_graph_walk(graph);
	for (uint32_t i = 0; i < n; i++)
		fuse_walk_with(graph, 1);
	assert_int_equal(rig.whole, with ? n : 0);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	return stats;
}

static void
timed_walks_count_the_cycles_of_a_chain_for_its_head(void **state)
{
	struct hy_stats *stats = timed(true, 100);
	const struct hy_node_stats *a = stats_of(stats, "a"), *b = stats_of(stats, "b"),
				   *c = stats_of(stats, "c");

	RTE_SET_USED(state);
	assert_true(a->objs == 100 && b->objs == 100 && c->objs == 101);
	assert_true(a->calls == 100 && b->calls == 100 && c->calls == 101);
	assert_true(a->sampled_objs == 100 && a->sampled_calls == 100 && a->sampled_cycles > 0);
	assert_true(b->sampled_cycles == 0 && b->cycles == 0);
	assert_true(c->sampled_cycles > 0);
	hy_stats_free(stats);
}

/* One object came to "c" apart; all are known to have cost no more than that. */
static void
cycles_of_a_later_node_are_not_scaled_to_objects_that_were_fused(void **state)
{
	struct hy_stats *stats = timed(true, 100);
	const struct hy_node_stats *b = stats_of(stats, "b"), *c = stats_of(stats, "c");

	RTE_SET_USED(state);
	assert_true(b->sampled_objs == 100 && b->sampled_calls == 100 && b->bursts[1] == 100);
	assert_true(c->sampled_objs == 101 && c->sampled_calls == 101 && c->bursts[1] == 101);
	assert_int_equal(c->cycles, c->sampled_cycles);
	hy_stats_free(stats);
}

/* Every third walk is timed, be it fused or not. */
static void
a_fused_chain_is_sampled_as_often_as_its_nodes(void **state)
{
	struct hy_stats *stats = NULL;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	rig.targets = 2;
	fuse_nodes_add();
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	graph = FUSE_GRAPH(.burst = 8, .sample_every = 3);
	for (uint32_t i = 0; i < 30; i++)
		fuse_walk_with(graph, 5);
	assert_int_equal(rig.whole, 30);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	for (unsigned int s = 0; s < FUSE_STAGES; s++) {
		const struct hy_node_stats *node = stats_of(stats,
			s == 0           ? "a"
				: s == 1 ? "b"
					 : "c");

		assert_int_equal(node->sampled_calls, 10);
		assert_int_equal(node->sampled_objs, 50);
		assert_int_equal(node->bursts[3], 10);
		assert_int_equal(node->sampled_cycles > 0, s == 0);
	}
	hy_stats_free(stats);
}

/* A sweep over all nodes; the credit is the core's. */
static void
model(struct hy_graph *graph, struct hy_walk *walk, void *ctx)
{
	RTE_SET_USED(ctx);
	for (unsigned int s = 0; s < graph->plan.nb_sources; s++)
		hy_walk_source(graph, walk, s, UINT32_MAX);
	hy_walk_nodes(graph, walk);
}

static void
expect_apart(struct hy_graph *graph)
{
	const uint64_t before = rig.stage[2].objs;

	assert_false(fuse_runs(graph));
	assert_int_equal(rig.stage[2].objs, before + 16);
	assert_int_equal(obj_faults + obj_under_way, 0);
	registry_clear();
}

static const struct hy_wide_lane wide_lane = { .name = "key", .bytes = 16 };

static void
rig_set(struct fuse_rig with)
{
	registry_clear();
	rig = with;
	rig.targets = 2;
	fuse_nodes_add();
}

static void
what_a_fusion_cannot_serve_is_not_fused(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	rig_set((struct fuse_rig){ .lanes = true });
	graph = FUSE_GRAPH(.burst = 8);
	assert_true(fuse_runs(graph));
	rig_set((struct fuse_rig){ .cyclic = true });
	expect_apart(FUSE_GRAPH(.burst = 8));
	rig_set((struct fuse_rig){ .cyclic = false });
	expect_apart(FUSE_GRAPH(.burst = 8, .wide = &wide_lane, .nb_wide = 1));
	rig_set((struct fuse_rig){ .cyclic = false });
	expect_apart(FUSE_GRAPH(.burst = 8, .walk = model));
	rig_set((struct fuse_rig){ .replicates = 2 });
	expect_apart(FUSE_GRAPH(.burst = 8));
	rig_set((struct fuse_rig){ .lane_of = "t1" });
	expect_apart(FUSE_GRAPH(.burst = 8));
	rig_set((struct fuse_rig){ .lane_of = "bin" });
	expect_apart(FUSE_GRAPH(.burst = 8));
	rig_set((struct fuse_rig){ .lane_of = "t1", .lane_is_set = true });
	graph = FUSE_GRAPH(.burst = 8);
	assert_true(fuse_runs(graph));
	rig_set((struct fuse_rig){ .lane_of = "aside" }); /* "c" does not lead there */
	graph = FUSE_GRAPH(.burst = 8);
	assert_true(fuse_runs(graph));
}

static uint64_t others; /* calls of a fusion beside fuse_abc */

static uint16_t
run_nothing(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	RTE_SET_USED(graph);
	RTE_SET_USED(nodes);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	RTE_SET_USED(next);
	others++;
	return 0;
}

/* A chain with a fusion that nearly fits. */
static void
expect_no_fit(struct hy_fuse fuse)
{
	struct hy_graph *graph;

	fuse.name = "nearly";
	fuse.run = run_nothing;
	assert_int_equal(hy_fuse_offer(&fuse), 0);
	rig_set((struct fuse_rig){ .lanes = true });
	graph = FUSE_GRAPH(.burst = 8);
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "a"), 0));
	assert_false(fuse_runs(graph));
	assert_int_equal(hy_fuse_withdraw(&fuse), 0);
	assert_int_equal(others, 0);
}

static void
a_chain_of_other_functions_or_edges_is_not_fused(void **state)
{
	struct hy_fuse fuse;

	RTE_SET_USED(state);
	others = 0;
	for (unsigned int s = 0; s < FUSE_STAGES; s++) {
		fuse = fuse_abc;
		fuse.process[s] = fuse_other_b;
		expect_no_fit(fuse);
	}
	for (unsigned int s = 0; s < FUSE_STAGES - 1; s++) {
		fuse = fuse_abc;
		fuse.edge[s] = 1 - fuse.edge[s];
		expect_no_fit(fuse);
		fuse.edge[s] = 2; /* there is none */
		expect_no_fit(fuse);
		fuse.edge[s] = UINT16_MAX;
		expect_no_fit(fuse);
	}
	fuse = fuse_abc; /* behind "c" comes none with that function */
	fuse.nb_nodes = 4;
	fuse.process[3] = fuse_abc.process[0];
	fuse.edge[2] = 0;
	expect_no_fit(fuse);
}

/* One for all of the chain and one for a part, which takes over where the chain is parted. */
static void
of_several_that_fit_the_one_offered_first_is_taken(void **state)
{
	struct hy_fuse part = { .name = "bc",
		.nb_nodes = 2,
		.process = { fuse_process[1], fuse_process[2] },
		.edge = { 1 },
		.run = run_nothing };
	struct hy_fuse same = fuse_abc;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	others = 0;
	same.name = "same";
	same.run = run_nothing;
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_int_equal(hy_fuse_offer(&same), 0);
	assert_int_equal(hy_fuse_offer(&part), 0);
	rig_set((struct fuse_rig){ .lanes = true });
	graph = FUSE_GRAPH(.burst = 8);
	assert_true(fuse_runs(graph));
	assert_int_equal(others, 0);
	assert_string_equal(hy_graph_node_fused(graph, graph_node(graph, "b"), 0), "bc");
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "c"), 0));
	rig.to_b.budget = 1;
	hy_graph_walk(graph);
	assert_int_equal(others, 1);
	assert_int_equal(rig.stage[1].objs, 1);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	fuse_walk_with(graph, 1);
	assert_int_equal(others, 3); /* "same" knows none of the objects, and "bc" neither */
	assert_string_equal(hy_graph_node_fused(graph, graph_node(graph, "a"), 0), "same");
	registry_clear();
	assert_int_equal(hy_fuse_withdraw(&same), 0);
	assert_int_equal(hy_fuse_withdraw(&part), 0);
}

static void
expect_refused(struct hy_fuse fuse)
{
	unit_log_clear();
	assert_int_equal(hy_fuse_offer(&fuse), -EINVAL);
	assert_non_null(strstr(unit_log(), "needs a name, 2 to 4 process functions"));
	assert_int_equal(unit_log_lines(), 1);
	assert_int_equal(hy_fuse_withdraw(&fuse), -ENOENT);
}

static void
what_is_incomplete_is_not_offered(void **state)
{
	static const char *const names[] = { NULL, "", "a b", "a/b" };
	static const unsigned int counts[] = { 0, 1, HY_FUSE_MAX + 1, UINT32_MAX };
	struct hy_fuse fuse;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		fuse = fuse_abc;
		fuse.name = names[i];
		expect_refused(fuse);
	}
	for (unsigned int i = 0; i < RTE_DIM(counts); i++) {
		fuse = fuse_abc;
		fuse.nb_nodes = counts[i];
		expect_refused(fuse);
	}
	for (unsigned int s = 0; s < FUSE_STAGES; s++) {
		fuse = fuse_abc;
		fuse.process[s] = NULL;
		expect_refused(fuse);
	}
	fuse = fuse_abc;
	fuse.nb_nodes = 4;
	expect_refused(fuse);
	fuse = fuse_abc;
	fuse.run = NULL;
	expect_refused(fuse);
}

static void
a_name_is_offered_once_and_withdrawn_once(void **state)
{
	const struct hy_fuse same = fuse_abc;

	RTE_SET_USED(state);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), -ENOENT);
	assert_int_equal(unit_log_lines(), 0);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_int_equal(hy_fuse_offer(&fuse_abc), -EEXIST);
	assert_int_equal(hy_fuse_offer(&same), -EEXIST);
	assert_non_null(strstr(unit_log(), "fusion 'abc': one of that name is offered"));
	assert_int_equal(hy_fuse_withdraw(&same), -ENOENT);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), -ENOENT);
	assert_int_equal(hy_fuse_offer(&same), 0);
	assert_int_equal(hy_fuse_withdraw(&same), 0);
	unit_alloc_fail(1);
	assert_int_equal(hy_fuse_offer(&same), -ENOMEM);
	unit_alloc_fail(0);
	assert_int_equal(hy_fuse_withdraw(&same), -ENOENT);
}

static void
expect_plugin_busy(struct hy_plugin *plugin, const char *why)
{
	assert_int_equal(hy_plugin_unload(plugin, plugin_error), -EBUSY);
	if (strstr(plugin_error, why) == NULL)
		fail_msg("'%s' instead of '%s'", plugin_error, why);
}

/* The plugin's code under the type of another function; nobody calls it. */
static void
a_graph_with_a_fusion_of_a_plugin_keeps_it_after_the_withdrawal(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_fuse fuse = fuse_abc;
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	fuse.run = (hy_fused_t *)(void *)(uintptr_t)hy_registry_get(id)->impl.process;
	assert_int_equal(hy_fuse_offer(&fuse), 0);
	expect_plugin_busy(plugin, ": fusion 'abc' uses its code; ");
	rig.targets = 1;
	fuse_nodes_add();
	graph = FUSE_GRAPH(.burst = 8);
	assert_int_equal(hy_fuse_withdraw(&fuse), 0);
	expect_plugin_busy(plugin, ": node 'a' of graph 'g' runs its code; update the graph");
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	expect_plugin_busy(plugin, ": node 'a' of graph 'g' runs its code; update the graph");
	hy_graph_walk(graph);
	plugin_unload(plugin);
	assert_false(fuse_runs(graph));
}

/* Unlike a name that is taken, that of one that is gone can be offered. */
static void
a_fusion_goes_with_a_plugin_that_fails_to_load(void **state)
{
	const struct plugin_file bad = plugin_copy("hy-test-plugin-fuse-bad.so", "bad.so");
	struct hy_fuse same = fuse_abc;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	same.name = "plugin_fuse";
	assert_plugin_refused(bad.path, -EINVAL,
		"registration of 'bad node' failed: its declaration is malformed; nothing of the "
		"plugin was kept");
	assert_int_equal(hy_fuse_offer(&same), 0);
	assert_int_equal(hy_fuse_withdraw(&same), 0);
	rig_set((struct fuse_rig){ .lanes = true });
	graph = FUSE_GRAPH(.burst = 8); /* compares all that is offered */
	assert_false(fuse_runs(graph));
}

static void
what_has_no_name_is_not_offered_while_others_are(void **state)
{
	struct hy_fuse nameless = fuse_abc;

	RTE_SET_USED(state);
	nameless.name = NULL;
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_int_equal(hy_fuse_withdraw(&nameless), -ENOENT);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
}

static const struct CMUnitTest tests[] = {
	FUSE_TEST(the_nodes_are_the_model_of_a_fused_chain),
	FUSE_TEST(timed_walks_count_the_cycles_of_a_chain_for_its_head),
	FUSE_TEST(cycles_of_a_later_node_are_not_scaled_to_objects_that_were_fused),
	FUSE_TEST(a_fused_chain_is_sampled_as_often_as_its_nodes),
	FUSE_TEST(what_a_fusion_cannot_serve_is_not_fused),
	FUSE_TEST(a_chain_of_other_functions_or_edges_is_not_fused),
	FUSE_TEST(of_several_that_fit_the_one_offered_first_is_taken),
	FUSE_TEST(what_is_incomplete_is_not_offered),
	FUSE_TEST(a_name_is_offered_once_and_withdrawn_once),
	FUSE_TEST(a_graph_with_a_fusion_of_a_plugin_keeps_it_after_the_withdrawal),
	FUSE_TEST(a_fusion_goes_with_a_plugin_that_fails_to_load),
	FUSE_TEST(what_has_no_name_is_not_offered_while_others_are),
};

UNIT_SUITE(tests)
