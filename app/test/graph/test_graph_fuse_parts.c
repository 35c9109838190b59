/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusions: what waits on a later node parts a chain for a walk, and long streams do not. */

#include "fuse_fixture.h"

static struct hy_graph *
graph_of_eight(void)
{
	fuse_nodes_add();
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	return FUSE_GRAPH(.burst = 8);
}

static void
a_chain_is_parted_while_objects_wait_on_a_later_node(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	rig.targets = 1;
	graph = graph_of_eight();
	fuse_walk_with(graph, 8);
	assert_int_equal(rig.whole, 1);
	rig.to_b.budget = 1;
	fuse_walk_with(graph, 8);
	rig.to_c.budget = 1;
	fuse_walk_with(graph, 8);
	assert_int_equal(rig.whole, 1);
	assert_int_equal(rig.stage[0].objs, 8 + 8);
	assert_int_equal(rig.stage[2].objs, 9 + 9);
	assert_int_equal(rig.parted + rig.none + obj_faults + obj_under_way, 0);
}

/* As of a router with more than two busy ports. */
static void
a_stream_longer_than_a_burst_is_fused_part_by_part(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	rig.targets = 1;
	graph = graph_of_eight();
	rig.src[1].budget = 8;
	rig.src[2].budget = 3;
	fuse_walk_with(graph, 8);
	assert_int_equal(rig.whole, 3);
	assert_int_equal(rig.stage[0].objs + rig.stage[1].objs + rig.stage[2].objs, 0);
	assert_int_equal(rig.end[0].objs, 8 + 8 + 3);
	assert_int_equal(rig.parted + rig.none + obj_faults + obj_under_way, 0);
}

/* Objects of a later part must not overtake those of an earlier one that went on apart. */
static void
parts_after_one_that_went_apart_follow_it(void **state)
{
	struct hy_graph *graph;
	uint64_t before;

	RTE_SET_USED(state);
	rig.targets = 2;
	rig.rare = 12;
	graph = graph_of_eight();
	before = rig.stage[0].calls;
	for (unsigned int walk = 0; walk < 1000; walk++) {
		rig.src[1].budget = rig.src[2].budget = 8;
		fuse_walk_with(graph, 8);
	}
	assert_true(rig.whole > 300 && rig.parted > 300);
	assert_true(rig.stage[0].calls - before > rig.parted + rig.none);
	assert_int_equal(rig.whole + rig.stage[0].calls, 3000);
	assert_int_equal(obj_faults + obj_under_way, 0);
}

/* All of the first part pass "a", which hands them on in their places: "b" has none waiting yet. */
static void
parts_after_one_that_was_declined_follow_it(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	rig.targets = 1;
	graph = graph_of_eight();
	rig.declines = 1;
	rig.src[1].budget = 8;
	fuse_walk_with(graph, 8);
	assert_true(rig.none == 1 && rig.whole == 0);
	assert_int_equal(rig.end[0].objs, 16);
	assert_int_equal(obj_faults + obj_under_way, 0);
}

static const struct CMUnitTest tests[] = {
	FUSE_TEST(a_chain_is_parted_while_objects_wait_on_a_later_node),
	FUSE_TEST(a_stream_longer_than_a_burst_is_fused_part_by_part),
	FUSE_TEST(parts_after_one_that_went_apart_follow_it),
	FUSE_TEST(parts_after_one_that_was_declined_follow_it),
};

UNIT_SUITE(tests)
