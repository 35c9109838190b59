/* SPDX-License-Identifier: BSD-3-Clause */
/* Edges that lead elsewhere in one graph, and walks in an order from outside. */

#include <errno.h>
#include <string.h>

#include <hy_walk.h>

#include "graph_fixture.h"

#define DETOURS(...) \
	.detours = (const struct hy_detour[]){ __VA_ARGS__ }, \
	.nb_detours = RTE_DIM(((const struct hy_detour[]){ __VA_ARGS__ }))

/* src -> spread -> { a, b } -> sink, and a node "other" -> a that only a detour leads to. */
static struct {
	struct probe src, spread, a, b, other, sink;
} rig;

static const char *const src_only[] = { "src" };

static void
nodes_add(void)
{
	memset(&rig, 0, sizeof(rig));
	rig.src.budget = UINT32_MAX;
	rig.spread.nb_edges = 2;
	source_add(&rig.src, "src", "spread");
	NODE(&rig.spread, .name = "spread", .impl.process = probe_spread, .edges = { "a", "b" });
	pass_add(&rig.a, "a", "sink");
	pass_add(&rig.b, "b", "sink");
	pass_add(&rig.other, "other", "a");
	sink_add(&rig.sink, "sink");
}

#define GRAPH_OF_SRC(name, ...) \
	GRAPH(name, .patterns = src_only, .nb_patterns = 1, .burst = 8, __VA_ARGS__)

static void
a_detour_leads_elsewhere_in_its_graph_alone(void **state)
{
	struct hy_graph *plain, *detoured;

	RTE_SET_USED(state);
	nodes_add();
	plain = GRAPH_OF_SRC("plain", .worker = 0);
	detoured = GRAPH_OF_SRC("detoured", DETOURS({ "b", "sink" }));
	assert_int_equal(hy_graph_node_count(plain), 5);
	assert_int_equal(hy_graph_node_count(detoured), 4);
	hy_graph_walk(plain);
	assert_int_equal(rig.b.objs, 4);
	hy_graph_walk(detoured);
	assert_int_equal(rig.b.objs, 4);
	assert_int_equal(rig.a.objs, 8);
	assert_int_equal(rig.sink.objs, 16);
	assert_int_equal(edge_objs(detoured, "spread", 1), 4);
}

static void
edges_of_the_node_instead_make_no_detour(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	nodes_add();
	graph = GRAPH_OF_SRC("g", DETOURS({ "a", "other" }));
	assert_int_equal(hy_graph_node_count(graph), 6);
	hy_graph_walk(graph);
	assert_int_equal(rig.other.objs, 4);
	assert_int_equal(rig.a.objs, 4);
	assert_int_equal(rig.b.objs, 4);
}

static void
a_detour_comes_and_goes_with_an_update(void **state)
{
	static const struct hy_detour detour = { "b", "sink" };
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	nodes_add();
	graph = GRAPH_OF_SRC("g", .worker = 0);
	hy_graph_params_get(graph, &params);
	params.detours = &detour;
	params.nb_detours = 1;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	hy_graph_walk(graph);
	assert_int_equal(rig.b.objs, 0);
	/* It is the graph's own by now. */
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	assert_int_equal(rig.b.objs, 0);
	hy_graph_params_get(graph, &params);
	assert_int_equal(params.nb_detours, 1);
	assert_string_equal(params.detours[0].target, "b");
	params.nb_detours = 0;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	hy_graph_walk(graph);
	assert_int_equal(rig.b.objs, 4);
}

static void
a_detour_that_cannot_be_is_refused_in_words(void **state)
{
	static const struct {
		struct hy_detour detours[2];
		unsigned int n;
		int rc;
		const char *log;
	} cases[] = {
		{ { { "nobody", "a" } }, 1, -ENOENT, "'nobody', which is not registered" },
		{ { { "a", "nobody" } }, 1, -ENOENT, "which is not registered" },
		{ { { "a", NULL } }, 1, -EINVAL, "detour's node" },
		{ { { "a b", "a" } }, 1, -EINVAL, "detour's target" },
		{ { { "a", "sink" }, { "a", "other" } }, 2, -EINVAL, "two detours from 'a'" },
		{ { { "a", "sink" }, { "b", "sink" } }, 2, -EINVAL, "two detours to 'sink'" },
		{ { { "a", "b" } }, 1, -EINVAL,
			"edge 0 to 'a' (by a detour to 'b') and edge 1 to 'b' both lead to 'b'" },
		{ { { "a", "src" } }, 1, -EINVAL, "into the source" },
	};
	unsigned int refused = 0;

	RTE_SET_USED(state);
	nodes_add();
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct hy_graph *graph = NULL;

		unit_log_clear();
		assert_int_equal(GRAPH_TRY("g", &graph, .patterns = src_only, .nb_patterns = 1,
					 .detours = cases[i].detours, .nb_detours = cases[i].n),
			cases[i].rc);
		assert_null(graph);
		if (unit_log_lines() != 1 || strstr(unit_log(), cases[i].log) == NULL)
			fail_msg("case %zu: '%s' is not in: %s", i, cases[i].log, unit_log());
		refused++;
	}
	assert_int_equal(refused, 8);
}

static void
a_node_tells_its_kind(void **state)
{
	uint32_t flags = 99;
	uint16_t replicates = 99;
	hy_node_id id;

	RTE_SET_USED(state);
	id = NODE(NULL, .name = "n", .impl.process = probe_pass, .replicates = 7, .edges = { "m" });
	assert_int_equal(hy_node_flags(id, &flags, &replicates), 0);
	assert_int_equal(flags, 0);
	assert_int_equal(replicates, 7);
	id = NODE(NULL, .name = "s", .flags = HY_NODE_SOURCE | HY_NODE_WAKES,
		.impl.process = probe_source);
	assert_int_equal(hy_node_flags(id, &flags, NULL), 0);
	assert_int_equal(flags, HY_NODE_SOURCE | HY_NODE_WAKES);
	assert_int_equal(hy_node_flags(id + 1, &flags, NULL), -ENOENT);
}

/* A model that notes what it is asked for. */
struct model {
	uint32_t most;    /* that a source may make */
	unsigned int run; /* nodes to run in a walk; then it leaves the rest */
	unsigned int walks;
	uint32_t made, took, left;
};

static void
model_walk(struct hy_graph *graph, struct hy_walk *walk, void *ctx)
{
	struct model *model = ctx;
	struct hy_node *node;

	obj_faults += hy_walk_context(graph) != ctx;
	model->walks++;
	for (unsigned int s = 0; s < graph->plan.nb_sources; s++)
		model->made += hy_walk_source(graph, walk, s, model->most);
	for (unsigned int i = 0; i < model->run; i++) {
		node = hy_walk_next(graph, 0);
		if (node == NULL)
			break;
		model->took += hy_walk_node(graph, walk, node);
	}
	model->left = hy_walk_waiting(graph);
}

static void
a_model_says_what_runs_and_the_core_counts(void **state)
{
	struct model model = { .most = 6, .run = UINT32_MAX };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	nodes_add();
	graph = GRAPH_OF_SRC("g", .walk = model_walk, .walk_ctx = &model, .sample_every = 1);
	for (unsigned int i = 1; i <= 5; i++) {
		struct hy_stats *stats = NULL;

		assert_int_equal(hy_graph_walk(graph), 6);
		assert_int_equal(model.made, 6 * i);
		assert_int_equal(model.took, 6 * i * 3); /* spread, a or b, sink */
		assert_int_equal(rig.sink.objs, 6 * i);
		assert_int_equal(hy_stats_read("g", &stats), 0);
		assert_int_equal(stats->nodes[0].objs, 6 * i);
		assert_int_equal(stats->nodes[0].calls, i);
		if (clock_is_fine())
			assert_true(stats->nodes[0].cycles > 0);
		hy_stats_free(stats);
	}
	assert_int_equal(graph->walks, 5);
	assert_int_equal(model.walks, 5);
}

static void
what_a_model_leaves_the_core_runs(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int run = 0; run <= 5; run++) {
		struct model model = { .most = 8, .run = run };
		struct hy_graph *graph;

		nodes_add();
		graph = GRAPH_OF_SRC("g", .walk = model_walk, .walk_ctx = &model);
		for (unsigned int i = 1; i <= 3; i++) {
			assert_int_equal(hy_graph_walk(graph), 8);
			assert_int_equal(model.left, run < 4 ? 8 : 0);
			assert_int_equal(rig.sink.objs, 8 * i);
			assert_int_equal(waiting(graph), 0);
		}
		registry_clear();
	}
}

static void
no_model_gets_a_source_beyond_its_budget(void **state)
{
	struct model model = { .most = UINT32_MAX };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	nodes_add();
	graph = GRAPH_OF_SRC("g", .walk = model_walk, .walk_ctx = &model);
	assert_int_equal(hy_graph_walk(graph), 8);
	assert_int_equal(hy_graph_source_budget(graph, "src", 3), 0);
	assert_int_equal(hy_walk_budget(graph, 0), 3);
	assert_int_equal(hy_graph_walk(graph), 3);
	model.most = 0;
	assert_int_equal(hy_graph_walk(graph), 0);
	assert_int_equal(rig.src.calls, 2);
}

/* A circle that never lets go of an object: what waits is taken off what sources may make. */
static void
no_model_overfills_a_graph_with_a_cycle(void **state)
{
	struct model model = { .most = UINT32_MAX, .run = 1 };
	struct probe src = { .budget = UINT32_MAX }, b = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "a");
	pass_add(NULL, "a", "b");
	pass_add(&b, "b", "a");
	graph = GRAPH("g", .burst = 8, .walk = model_walk, .walk_ctx = &model);
	assert_int_equal(hy_graph_walk(graph), 8);
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(hy_graph_walk(graph), 0);
		assert_int_equal(waiting(graph), 8);
	}
	assert_int_equal(src.objs, 8);
	assert_int_equal(b.objs, 80); /* every other walk */
	assert_int_equal(stream_full(graph), 0);
}

static void
a_model_is_changed_with_its_context_between_walks(void **state)
{
	struct model first = { .most = 2 }, second = { .most = 5 };
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	nodes_add();
	graph = GRAPH_OF_SRC("g", .walk = model_walk, .walk_ctx = &first);
	assert_int_equal(hy_graph_walk(graph), 2);
	hy_graph_params_get(graph, &params);
	params.walk_ctx = &second;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_int_equal(hy_graph_walk(graph), 5);
	hy_graph_params_get(graph, &params);
	params.walk = NULL;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_int_equal(hy_graph_walk(graph), 8);
	assert_int_equal(first.walks, 1);
	assert_int_equal(second.walks, 1);
	assert_int_equal(rig.sink.objs, 15);
}

static void
graphs_with_new_parameters_change_all_or_none(void **state)
{
	static const struct hy_detour good = { "b", "sink" }, bad = { "b", "nobody" };
	struct hy_graph_params params[2];
	struct hy_graph *graphs[2];

	RTE_SET_USED(state);
	nodes_add();
	graphs[0] = GRAPH_OF_SRC("g0", .worker = 0);
	graphs[1] = GRAPH_OF_SRC("g1", .worker = 1);
	for (unsigned int i = 0; i < 2; i++) {
		hy_graph_params_get(graphs[i], &params[i]);
		params[i].nb_detours = 1;
	}
	params[0].detours = &good;
	params[1].detours = &bad;
	assert_int_equal(hy_graph_update_each(graphs, params, 2), -ENOENT);
	assert_false(hy_graph_updating(graphs[0]));
	hy_graph_walk(graphs[0]);
	hy_graph_walk(graphs[1]);
	assert_int_equal(rig.b.objs, 8);
	params[1].detours = &good;
	assert_int_equal(hy_graph_update_each(graphs, params, 2), 0);
	hy_graph_walk(graphs[0]);
	hy_graph_walk(graphs[1]);
	assert_int_equal(rig.b.objs, 8);
	assert_int_equal(rig.sink.objs, 32);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_detour_leads_elsewhere_in_its_graph_alone),
	GRAPH_TEST(edges_of_the_node_instead_make_no_detour),
	GRAPH_TEST(a_detour_comes_and_goes_with_an_update),
	GRAPH_TEST(a_detour_that_cannot_be_is_refused_in_words),
	GRAPH_TEST(a_node_tells_its_kind),
	GRAPH_TEST(a_model_says_what_runs_and_the_core_counts),
	GRAPH_TEST(what_a_model_leaves_the_core_runs),
	GRAPH_TEST(no_model_gets_a_source_beyond_its_budget),
	GRAPH_TEST(no_model_overfills_a_graph_with_a_cycle),
	GRAPH_TEST(a_model_is_changed_with_its_context_between_walks),
	GRAPH_TEST(graphs_with_new_parameters_change_all_or_none),
};

UNIT_SUITE(tests)
