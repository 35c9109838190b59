/* SPDX-License-Identifier: BSD-3-Clause */
/* The dispatch benchmark's own parts: it must notice a contender that does not do the work. */

#include <string.h>

#include "app/bench/handover.h"

#include "app/test/unit.h"

#define BURST 64

static const struct chain chain = {
	.name = "test", .burst = BURST, .nb_nodes = 4, .pinned = 2, .rounds = 3, .first_percent = 75
};
static struct team team;

/* What goes wrong with one burst of a lap. */
enum fault { NONE, LOST, TWICE, REPLACED, HALVED, SWAPPED, LATE, NOT_WORKED, MISPLACED };

static void
see(const struct chain_ctx *sink, void **objs, unsigned int n)
{
	if (n > 0)
		lane_see(sink, objs, n);
}

/* A burst through the chain, from one lane to another. The faulty one is not the first. */
static void
carry(struct lane *from, struct lane *to, enum fault fault)
{
	const struct chain_ctx here = { &chain, from }, there = { &chain, to };
	static void *late[BURST];
	static unsigned int nb_late;
	void *objs[BURST + 1], *other;
	unsigned int n = lane_make(&here, objs, BURST);

	lane_work(&here, objs, n);
	if (fault != NOT_WORKED)
		lane_work(&there, objs, n);
	if (fault == LATE) {
		nb_late = n;
		memcpy(late, objs, sizeof(late));
		return;
	}
	if (fault == HALVED) { /* one more, and the sum is the same */
		memmove(&objs[5], &objs[4], (n++ - 4) * sizeof(objs[0]));
		objs[4] = objs[0];
		objs[5] = (void *)((uintptr_t)objs[5] - (uintptr_t)objs[0]);
	}
	other = objs[3];
	if (fault == REPLACED)
		objs[3] = objs[4];
	if (fault == SWAPPED) {
		objs[3] = objs[4];
		objs[4] = other;
	}
	see(fault == MISPLACED ? &here : &there, objs, fault == LOST ? n - 1 : n);
	see(&there, late, nb_late);
	nb_late = 0;
	if (fault == TWICE)
		see(&there, &objs[n - 1], 1);
}

/* Whether a lap passes in which that happens. */
static bool
passes(bool hands_over, bool strict, enum fault fault)
{
	unsigned int bursts = 0;

	memset(&team, 0, sizeof(team));
	team_init(&team, &chain, "tested", hands_over);
	team.all_pinned = hands_over;
	team.lanes[1].strict = strict;
	team_begin(&team);
	for (unsigned int l = 0; l < LANES; l++)
		for (; team.lanes[l].next < team.lanes[l].end; bursts++)
			carry(&team.lanes[l], &team.lanes[hands_over ? 1 : l],
				bursts == 7 ? fault : NONE);
	assert_int_equal(bursts, LAP_OBJECTS / BURST);
	team_check(&team);
	return !team.wrong;
}

static void
lap_that_does_the_work_passes(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int strict = 0; strict < 2; strict++) {
		assert_true(passes(true, strict, NONE));
		assert_int_equal(team.lanes[0].end, LAP_OBJECTS + 1);
		assert_int_equal(team.lanes[0].seen, 0);
		assert_int_equal(team.lanes[1].seen, LAP_OBJECTS);
		assert_true(passes(false, strict, NONE));
		assert_int_equal(team.lanes[0].seen, LAP_OBJECTS / 4 * 3);
		assert_int_equal(team.lanes[1].seen, LAP_OBJECTS / 4);
	}
}

static void
lost_and_repeated_objects_are_noticed(void **state)
{
	RTE_SET_USED(state);
	assert_false(passes(true, false, LOST));
	assert_false(passes(true, false, TWICE));
	assert_false(passes(true, false, REPLACED));
	assert_false(passes(true, false, HALVED));
	assert_int_equal(team.lanes[1].seen, LAP_OBJECTS + 1);
	assert_int_equal(team.lanes[1].sum, LAP_OBJECTS * (uint64_t)(LAP_OBJECTS + 1) / 2);
}

static void
bursts_out_of_order_are_noticed(void **state)
{
	RTE_SET_USED(state);
	assert_false(passes(true, false, LATE));
}

/* That costs a look at every object, and is done in the last lap, which is not timed. */
static void
objects_out_of_order_are_noticed_by_a_strict_lap(void **state)
{
	RTE_SET_USED(state);
	assert_true(passes(true, false, SWAPPED));
	assert_false(passes(true, true, SWAPPED));
}

static void
work_left_out_is_noticed(void **state)
{
	RTE_SET_USED(state);
	assert_false(passes(true, false, NOT_WORKED));
}

static void
objects_seen_where_they_are_not_pinned_are_noticed(void **state)
{
	RTE_SET_USED(state);
	assert_false(passes(true, false, MISPLACED));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lap_that_does_the_work_passes),
	cmocka_unit_test(lost_and_repeated_objects_are_noticed),
	cmocka_unit_test(bursts_out_of_order_are_noticed),
	cmocka_unit_test(objects_out_of_order_are_noticed_by_a_strict_lap),
	cmocka_unit_test(work_left_out_is_noticed),
	cmocka_unit_test(objects_seen_where_they_are_not_pinned_are_noticed),
};
UNIT_SUITE(tests)
