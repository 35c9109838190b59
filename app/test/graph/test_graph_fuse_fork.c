/* SPDX-License-Identifier: BSD-3-Clause */
/* Two chains that a node begins, with a fusion each: which are taken, tried first, and parted. */

#include <string.h>

#include "fuse_fixture.h"

static struct hy_graph *
fork_graph(uint16_t burst)
{
	rig.fork = true;
	rig.targets = 3;
	fuse_nodes_add();
	return FUSE_GRAPH(.burst = burst);
}

/* A fusion that can pick is taken beside the first one, unless it begins with the same edge. */
static void
two_chains_of_a_node_begin_with_different_edges(void **state)
{
	struct hy_fuse same = fuse_ad, part = fuse_abc;
	struct hy_graph *graph;
	struct hy_node *a;

	RTE_SET_USED(state);
	same.name = "same";
	part.name = "ab";
	part.nb_nodes = 2;
	part.pick = fuse_ad.pick;
	assert_int_equal(hy_fuse_offer(&part), 0);
	assert_int_equal(hy_fuse_offer(&fuse_ad), 0);
	assert_int_equal(hy_fuse_offer(&same), 0);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	graph = fork_graph(8);
	a = graph_node(graph, "a");
	assert_string_equal(hy_graph_node_fused(graph, a, 0), "abc");
	assert_string_equal(hy_graph_node_fused(graph, a, 1), "ad");
	assert_null(hy_graph_node_fused(graph, a, 2));
	assert_int_equal(hy_fuse_withdraw(&fuse_ad), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	a = graph_node(graph, "a");
	assert_string_equal(hy_graph_node_fused(graph, a, 0), "abc");
	assert_string_equal(hy_graph_node_fused(graph, a, 1), "same");
	assert_int_equal(hy_fuse_withdraw(&same), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "a"), 1)); /* "ab" is of edge 0 */
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	a = graph_node(graph, "a");
	assert_null(hy_graph_node_fused(graph, a, 0));
	assert_string_equal(hy_graph_node_fused(graph, a, 1), "ab");
	registry_clear();
	assert_int_equal(hy_fuse_withdraw(&part), 0);
}

/* Bursts of one kind need no picks; after a mixed one, the next is picked apart at once. */
static void
what_a_burst_was_like_is_tried_with_the_next(void **state)
{
	struct hy_graph *graph;
	uint64_t picks, calls;

	RTE_SET_USED(state);
	assert_int_equal(hy_fuse_offer(&fuse_abc) + hy_fuse_offer(&fuse_ad), 0);
	graph = fork_graph(100);
	for (unsigned int w = 0; w < 3; w++) /* 300 for the first chain */
		fuse_walk_with(graph, 100);
	assert_int_equal(rig.whole, 3);
	assert_int_equal(rig.picks + rig.forked, 0);
	for (unsigned int w = 0; w < 3; w++) /* 300 of both */
		fuse_walk_with(graph, 100);
	assert_int_equal(rig.picks, 3);
	assert_int_equal(rig.picked, 3);
	calls = rig.whole + rig.parted + rig.none;
	assert_in_range(calls, 3 + 3, 3 + 3 + 1); /* the first burst was tried as those before */
	for (unsigned int w = 0; w < 3; w++)      /* 300 for the second chain */
		fuse_walk_with(graph, 100);
	assert_int_equal(rig.picks, 4);
	assert_int_equal(rig.picked, 3);
	assert_int_equal(rig.forked, 6);
	assert_int_equal(rig.whole + rig.parted + rig.none, calls);
	picks = rig.picks;
	for (unsigned int w = 0; w < 3; w++) /* 300 of both */
		fuse_walk_with(graph, 100);
	for (unsigned int w = 0; w < 3; w++) /* 300 for the first */
		fuse_walk_with(graph, 100);
	assert_int_equal(rig.picks, picks + 3 + 1);
	for (unsigned int s = 0; s <= FUSE_FORK; s++)
		assert_int_equal(rig.stage[s].calls, 0);
	assert_int_equal(obj_faults + obj_under_way, 0);
}

/* Walks with objects for both chains, and tells whether the second one's fusion ran. */
static bool
second_runs(struct hy_graph *graph)
{
	const uint64_t before = rig.forked;

	for (unsigned int i = 0; i < 100; i++)
		fuse_walk_with(graph, 16);
	assert_int_equal(obj_faults + obj_under_way, 0);
	return rig.forked > before;
}

static void
what_parts_one_of_two_chains_leaves_the_other(void **state)
{
	struct hy_detour detour = { "b", "like-b" };
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	rig.lanes = true;
	rig.rare = 9;
	graph = fork_graph(16);
	assert_int_equal(hy_fuse_offer(&fuse_abc) + hy_fuse_offer(&fuse_ad), 0);
	NODE(&rig.stage[1], .name = "like-b", .impl.process = fuse_other_b, .lanes = { "word" },
		.edges = { "aside", "c" }, .drops = { { "d0" }, { "d1" } },
		.counters = { { "seen" } });
	for (unsigned int s = 0; s < 2; s++) {
		const char *name;

		assert_int_equal(hy_graph_update(graph, NULL), 0);
		assert_true(second_runs(graph));
		assert_true(rig.whole + rig.parted > 0);
		hy_graph_params_get(graph, &params);
		params.detours = &detour;
		params.nb_detours = 1;
		assert_int_equal(hy_graph_update(graph, &params), 0);
		rig.whole = rig.parted = rig.none = 0;
		assert_true(second_runs(graph));
		assert_int_equal(rig.whole + rig.parted + rig.none, 0);
		assert_null(hy_graph_node_fused(graph, graph_node(graph, "a"), 0));
		name = hy_graph_node_fused(graph, graph_node(graph, "a"), 1);
		assert_string_equal(name, "ad");
		hy_graph_params_get(graph, &params);
		params.nb_detours = 0;
		assert_int_equal(hy_fuse_withdraw(&fuse_ad), 0);
		assert_int_equal(hy_graph_update(graph, &params), 0);
		assert_false(second_runs(graph));
		assert_true(rig.whole + rig.parted > 0);
		assert_null(hy_graph_node_fused(graph, graph_node(graph, "a"), 1));
		assert_int_equal(hy_fuse_offer(&fuse_ad), 0);
	}
}

static const struct CMUnitTest tests[] = {
	FUSE_TEST(two_chains_of_a_node_begin_with_different_edges),
	FUSE_TEST(what_a_burst_was_like_is_tried_with_the_next),
	FUSE_TEST(what_parts_one_of_two_chains_leaves_the_other),
};

UNIT_SUITE(tests)
