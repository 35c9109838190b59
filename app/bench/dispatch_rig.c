/* SPDX-License-Identifier: BSD-3-Clause */
/* Laps of the dispatch benchmark: two lcores start at once, and stop when every object was seen. */

#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "handover.h"

/* Walks after which what the second lane has not seen is lost: one an object, and as many again. */
#define PATIENCE (2 * LAP_OBJECTS)

/* The first lane makes all that it has to; what it has not seen itself is the second one's. */
static void
first_lane_lap(struct team *t)
{
	const struct lane *lane = &t->lanes[0];

	while (lane->next < lane->end)
		t->walk(t, 0);
	atomic_store(&t->left, LAP_OBJECTS - lane->seen);
}

static void
second_lane_lap(struct team *t)
{
	const struct lane *lane = &t->lanes[1];
	unsigned int walks = 0;
	uint64_t left;

	while ((left = atomic_load_explicit(&t->left, memory_order_relaxed)) == UINT64_MAX)
		t->walk(t, 1);
	while (lane->seen < left && walks++ < PATIENCE)
		t->walk(t, 1);
}

static void
lane_run(struct team *t, unsigned int lane)
{
	const cpu_set_t before = bench_bind(lane);

	for (unsigned int i = 0; i < t->laps; i++) {
		if (lane == 0)
			team_begin(t);
		bench_meet(&t->arrived, (2 * i + 1) * LANES);
		t->start[lane][i] = rte_rdtsc_precise();
		if (lane == 0)
			first_lane_lap(t);
		else
			second_lane_lap(t);
		t->stop[lane][i] = rte_rdtsc_precise();
		bench_meet(&t->arrived, (2 * i + 2) * LANES);
		if (lane == 0 && !t->wrong)
			team_check(t);
	}
	bench_unbind(&before);
}

static int
second_lane_run(void *arg)
{
	lane_run(arg, 1);
	return 0;
}

static void
laps_run(struct team *t, unsigned int laps)
{
	t->laps = laps;
	atomic_store(&t->arrived, 0);
	rte_eal_remote_launch(second_lane_run, t, rte_get_next_lcore(-1, 1, 0));
	lane_run(t, 0);
	rte_eal_mp_wait_lcore();
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median: of laps in which another program had a CPU, none count. */
double
team_round(void *arg)
{
	struct team *t = arg;
	unsigned int middle;
	uint64_t laps[LAPS];

	if (t->wrong)
		return 1; /* there will be no figure */
	laps_run(t, bench_settings()->quick ? LAPS_QUICK : LAPS);
	for (unsigned int i = 0; i < t->laps; i++)
		laps[i] = RTE_MAX(t->stop[0][i], t->stop[1][i]) -
			RTE_MIN(t->start[0][i], t->start[1][i]);
	qsort(laps, t->laps, sizeof(laps[0]), by_value);
	middle = t->laps / 2;
	return (double)laps[middle] / LAP_OBJECTS;
}

bool
team_right(void *arg)
{
	struct team *t = arg;

	for (unsigned int l = 0; l < LANES; l++)
		t->lanes[l].strict = true;
	if (!t->wrong)
		laps_run(t, 1);
	return !t->wrong;
}
