/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of objects of one index, while their features change. An object that comes after the
 * change must not go a shorter way than one of the same walk that came before it. Changes are made
 * where the arc asks for indexes, which is in the middle of a walk.
 */

#include <string.h>

#include <rte_rcu_qsbr.h>

#include "arc_fixture.h"

#define MOST 1024 /* objects that one walk has */
#define INDEX 5

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr_room;
static struct rte_rcu_qsbr *const qsbr = &qsbr_room.v;
static struct probe first_src, second_src;
static uint32_t arrived[MOST]; /* marks, in order of arrival at the end */
static uint32_t ids[MOST];
static unsigned int nb_arrived;
static bool again; /* the end sends each object round once */

static const struct hy_arc_setting *to_set; /* when the arc is asked for its second burst */
static unsigned int nb_to_set, asked;

static void
index_and_change(void *const objs[], uint32_t index[], uint16_t n)
{
	RTE_SET_USED(objs);
	for (uint16_t i = 0; i < n; i++)
		index[i] = INDEX;
	if (++asked == 2 && to_set != NULL)
		obj_faults += hy_arc_set(arc, INDEX, to_set, nb_to_set) != 0;
}

static uint16_t
end_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct obj *const first = objs[0];

	if (again && first->from == 0) {
		for (uint16_t i = 0; i < n; i++)
			((struct obj *)objs[i])->from = 1;
		hy_stream_move(graph, node, 0, n);
		return n;
	}
	for (uint16_t i = 0; i < n && nb_arrived < MOST; i++) {
		const struct obj *obj = objs[i];

		ids[nb_arrived] = obj->id;
		arrived[nb_arrived++] = obj->mark;
	}
	hy_release(graph, objs, n);
	return n;
}

/* Two sources whose objects the arc's node gets in two bursts; or one, whose objects come twice. */
static struct hy_graph *
rig(bool twice)
{
	const struct hy_arc_params params = {
		.end = "end", .index = index_and_change, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};

	again = twice;
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, AFTER("a"), NULL);
	feature_add("c", 3, AFTER("b"), NULL);
	source_add(&first_src, "first", "pass");
	source_add(&second_src, "second", "pass");
	pass_add(NULL, "pass", "end");
	NODE(NULL, .name = "end", .impl.process = end_process, .edges = { twice ? "pass" : NULL });
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	return GRAPH("g", .patterns = (const char *[]){ "first", "second" }, .nb_patterns = 2,
		.lanes = { HY_ARC_LANE }, .qsbr = qsbr, .burst = HY_BURST_MAX);
}

static uint32_t
mark_of(const struct hy_arc_setting *settings, unsigned int n, uint32_t mark)
{
	for (unsigned int i = 0; i < n; i++)
		mark = trail(mark, (unsigned int)(settings[i].feature[0] - 'a' + 1),
			settings[i].cookie);
	return mark;
}

/* A walk of two bursts; all objects must have these marks, and come in their order. */
static void
walk_check(struct hy_graph *graph, uint32_t mark)
{
	const unsigned int n = again ? HY_BURST_MAX : 2 * HY_BURST_MAX;
	const uint32_t first = obj_made;

	first_src.budget = HY_BURST_MAX;
	second_src.budget = again ? 0 : HY_BURST_MAX;
	nb_arrived = asked = 0;
	assert_int_equal(hy_graph_walk(graph), n);
	hy_graph_rest(graph);
	assert_int_equal(nb_arrived, n);
	assert_true(asked >= 2);
	for (unsigned int i = 0; i < n; i++)
		if (ids[i] != first + i || arrived[i] != mark)
			fail_msg("place %u: object %u with mark %u; wanted %u with mark %u", i,
				ids[i] - first, arrived[i], i, mark);
}

static const struct {
	struct hy_arc_setting before[3], after[3];
	unsigned int nb_before, nb_after;
} changes[] = {
	{ { { "a", 1 } }, { { NULL, 0 } }, 1, 0 },                        /* disabled */
	{ { { "a", 1 }, { "b", 2 }, { "c", 3 } }, { { "a", 4 } }, 3, 1 }, /* shortened */
	{ { { "b", 1 } }, { { "a", 2 } }, 1, 1 },                         /* replaced */
	{ { { "c", 1 } }, { { "a", 2 }, { "c", 3 } }, 1, 2 },             /* lengthened */
};

static void
walks_check(struct hy_graph *graph)
{
	/* All features are in the graph, whatever else is enabled. */
	const struct hy_arc_setting all[] = { { "a", 0 }, { "b", 0 }, { "c", 0 } };

	assert_int_equal(hy_arc_set(arc, INDEX + 1, all, RTE_DIM(all)), 0);
	for (unsigned int c = 0; c < RTE_DIM(changes); c++) {
		uint32_t old = mark_of(changes[c].before, changes[c].nb_before, 0);
		uint32_t new = mark_of(changes[c].after, changes[c].nb_after, 0);

		if (again) {
			old = mark_of(changes[c].before, changes[c].nb_before, old);
			new = mark_of(changes[c].after, changes[c].nb_after, new);
		}
		to_set = NULL;
		assert_int_equal(hy_arc_set(arc, INDEX, changes[c].before, changes[c].nb_before),
			0);
		to_set = changes[c].after;
		nb_to_set = changes[c].nb_after;
		walk_check(graph, old);
		to_set = NULL;
		walk_check(graph, new);
	}
}

static void
a_change_between_two_bursts_of_a_walk_reorders_no_objects(void **state)
{
	RTE_SET_USED(state);
	walks_check(rig(false));
}

static void
a_change_between_two_passes_of_a_walk_splits_no_objects(void **state)
{
	RTE_SET_USED(state);
	walks_check(rig(true));
}

/* Numbers of changes are 16 bits, in tables that may have grown since they were used last. */
static void
changes_are_numbered_anew_and_nothing_else_changes(void **state)
{
	const struct hy_arc_setting one = { "a", 9 }, other = { "b", 8 };
	struct hy_graph *graph = rig(false);
	uint32_t cookie;

	RTE_SET_USED(state);
	assert_int_equal(hy_arc_enable(arc, "c", 1, 33), 0);
	assert_int_equal(hy_arc_enable(arc, "a", INDEX, 9), 0);
	assert_int_equal(hy_arc_enable(arc, "b", 40, 44), 0);
	for (uint32_t i = 0; i < 140000; i++) {
		assert_int_equal(hy_arc_enable(arc, "a", 2, i), 0);
		if (i % 7919 == 0)
			walk_check(graph, mark_of(&one, 1, 0));
	}
	to_set = &other;
	nb_to_set = 1;
	walk_check(graph, mark_of(&one, 1, 0));
	to_set = NULL;
	walk_check(graph, mark_of(&other, 1, 0));
	assert_int_equal(hy_arc_get(arc, "c", 1, &cookie), 0);
	assert_int_equal(cookie, 33);
	assert_int_equal(hy_arc_get(arc, "b", 40, &cookie), 0);
	assert_int_equal(cookie, 44);
}

static const struct hy_arc_setting *before_anew;
static unsigned int nb_changes;

/* Within one walk, more changes than a number can tell apart: the last must wait for the walk. */
static void
index_and_change_often(void *const objs[], uint32_t index[], uint16_t n)
{
	RTE_SET_USED(objs);
	for (uint16_t i = 0; i < n; i++)
		index[i] = INDEX;
	if (++asked != 2 || before_anew == NULL)
		return;
	obj_faults += hy_arc_set(arc, INDEX, before_anew, 0) != 0;
	/* Each is of another index: none waits for this walk. */
	for (uint32_t i = 0; i < 70000 && nb_changes == 0; i++)
		if (hy_arc_enable(arc, "a", INDEX + 1 + i, i) != 0)
			nb_changes = i + 1;
}

static void
a_walk_that_outlasts_all_numbers_of_changes_keeps_its_order(void **state)
{
	const struct hy_arc_params params = { .end = "end2",
		.index = index_and_change_often,
		.qsbr = qsbr,
		.socket = SOCKET_ID_ANY };
	const struct hy_arc_setting one = { "a", 9 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	again = false;
	feature_add("a", 1, NULL, NULL);
	source_add(&first_src, "first", "pass");
	source_add(&second_src, "second", "pass");
	pass_add(NULL, "pass", "end2");
	NODE(NULL, .name = "end2", .impl.process = end_process);
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	graph = GRAPH("g", .patterns = (const char *[]){ "first", "second" }, .nb_patterns = 2,
		.lanes = { HY_ARC_LANE }, .qsbr = qsbr, .burst = HY_BURST_MAX);
	assert_int_equal(hy_arc_enable(arc, "a", 69999, 1), 0); /* the table need not grow */
	assert_int_equal(hy_arc_enable(arc, "a", INDEX, 9), 0);
	before_anew = &one;
	nb_changes = 0;
	walk_check(graph, mark_of(&one, 1, 0));
	before_anew = NULL;
	assert_in_range(nb_changes, 65000, 65535); /* then one timed out */
	walk_check(graph, 0);
	assert_int_equal(hy_arc_enable(arc, "a", INDEX + nb_changes, 7), 0);
	assert_int_equal(hy_arc_enable(arc, "a", INDEX, 9), 0);
	walk_check(graph, mark_of(&one, 1, 0));
}

static int
order_setup(void **state)
{
	if (arc_setup(state) != 0)
		return -1;
	memset(&first_src, 0, sizeof(first_src));
	memset(&second_src, 0, sizeof(second_src));
	to_set = before_anew = NULL;
	return rte_rcu_qsbr_init(qsbr, 1);
}

#define ORDER_TEST(f) cmocka_unit_test_setup_teardown(f, order_setup, arc_teardown)

static const struct CMUnitTest tests[] = {
	ORDER_TEST(a_change_between_two_bursts_of_a_walk_reorders_no_objects),
	ORDER_TEST(a_change_between_two_passes_of_a_walk_splits_no_objects),
	ORDER_TEST(changes_are_numbered_anew_and_nothing_else_changes),
	ORDER_TEST(a_walk_that_outlasts_all_numbers_of_changes_keeps_its_order),
};

UNIT_SUITE(tests)
