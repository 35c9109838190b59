/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark on two lcores: each has its own queues, rings, packets and graph. Laps start
 * at once; what counts is the time from the first start to the last end.
 */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "l3fwd.h"

#define LAPS 16      /* a round */
#define LAPS_QUICK 4 /* with --quick */

/* A contender on each lcore, and the laps that they run together. */
struct team {
	struct entrant entrants[L3FWD_LANES];
	unsigned int laps; /* of a round */
	unsigned int size; /* lanes that run in this round */
	atomic_uint arrived;
	struct span {
		alignas(RTE_CACHE_LINE_SIZE) uint64_t start[LAPS];
		uint64_t end[LAPS];
		bool wrong;
	} spans[L3FWD_LANES];
	double figures[L3FWD_LANES]; /* cycles a packet on each lcore */
};

/* A lane's laps. All lanes run all of them, whatever goes wrong. */
static void
lane_run(struct team *t, unsigned int lane)
{
	struct entrant *e = &t->entrants[lane];
	const struct l3fwd_way *way = &e->way;
	struct span *span = &t->spans[lane];
	const cpu_set_t before = bench_bind(lane);

	for (unsigned int i = 0; i < t->laps; i++) {
		const uint64_t drops = way->drops(way->arg);

		rig_fill(e->rig);
		bench_meet(&t->arrived, (i + 1) * t->size);
		span->start[i] = rte_rdtsc_precise();
		way->run(way->arg, UINT64_MAX);
		span->end[i] = rte_rdtsc_precise();
		span->wrong |= !rig_check(e->rig, e->name, way->rewrites, e->rig->traffic->n,
			way->drops(way->arg) - drops);
	}
	bench_unbind(&before);
}

static int
worker_run(void *arg)
{
	lane_run(arg, 1);
	return 0;
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median: of laps in which another program had a CPU, or came between the starts, none count. */
static double
typical(uint64_t laps[LAPS], unsigned int n)
{
	const unsigned int middle = (n - 1) / 2;

	qsort(laps, n, sizeof(laps[0]), by_value);
	return (double)laps[middle];
}

/* Cycles a packet in a round that so many lanes have run: of all of them, and on each lcore. */
static double
round_figures(struct team *t)
{
	const double n = (double)t->entrants[0].rig->traffic->n;
	uint64_t whole[LAPS] = { 0 };

	for (unsigned int i = 0; i < t->laps; i++) {
		uint64_t first = UINT64_MAX, last = 0;

		for (unsigned int l = 0; l < t->size; l++) {
			first = RTE_MIN(first, t->spans[l].start[i]);
			last = RTE_MAX(last, t->spans[l].end[i]);
		}
		whole[i] = last - first;
	}
	for (unsigned int l = 0; l < t->size; l++) {
		uint64_t own[LAPS] = { 0 };

		for (unsigned int i = 0; i < t->laps; i++)
			own[i] = t->spans[l].end[i] - t->spans[l].start[i];
		t->figures[l] = typical(own, t->laps) / n;
	}
	return typical(whole, t->laps) / (n * t->size);
}

static double
round_run(struct team *t, unsigned int lanes)
{
	if (t->spans[0].wrong || t->spans[1].wrong)
		return 1; /* there will be no figure */
	t->size = lanes;
	atomic_store(&t->arrived, 0);
	if (lanes > 1)
		rte_eal_remote_launch(worker_run, t, rte_get_next_lcore(-1, 1, 0));
	lane_run(t, 0);
	if (lanes > 1)
		rte_eal_mp_wait_lcore();
	return round_figures(t);
}

static double
one_lcore(void *arg)
{
	return round_run(arg, 1);
}

static double
two_lcores(void *arg)
{
	return round_run(arg, 2);
}

/* Of the round before, in which both ran. */
static double
first_of_two(void *arg)
{
	return ((const struct team *)arg)->figures[0];
}

static double
second_of_two(void *arg)
{
	return ((const struct team *)arg)->figures[1];
}

static bool
team_right(void *arg)
{
	const struct team *t = arg;

	return !t->spans[0].wrong && !t->spans[1].wrong;
}

void
lcores_work(const char *work, struct l3fwd_rig rigs[L3FWD_LANES],
	const struct l3fwd_way ways[L3FWD_LANES])
{
	struct team *t = aligned_alloc(alignof(struct team), sizeof(*t));
	const struct contender all[] = {
		{ "one_lcore", t, .figure = one_lcore, .check = team_right,
			.against = "one_lcore" },
		{ "two_lcores", t, .figure = two_lcores, .check = team_right, .subject = true },
		{ "first_of_two", t, .figure = first_of_two, .check = team_right, .rides = true },
		{ "second_of_two", t, .figure = second_of_two, .check = team_right, .rides = true },
	};

	bool made = t != NULL;

	if (t != NULL) {
		memset(t, 0, sizeof(*t));
		t->laps = bench_settings()->quick ? LAPS_QUICK : LAPS;
	}
	for (unsigned int l = 0; l < L3FWD_LANES && t != NULL; l++) {
		t->entrants[l] = (struct entrant){ .way = ways[l], .rig = &rigs[l] };
		snprintf(t->entrants[l].name, sizeof(t->entrants[l].name), "%s", ways[l].name);
		made &= ways[l].run != NULL;
	}
	if (made)
		bench_work(work, CYCLES_PACKET, all, RTE_DIM(all));
	else
		bench_skip(work, NULL);
	for (unsigned int l = L3FWD_LANES; l-- > 0;)
		if (ways[l].run != NULL)
			ways[l].destroy(ways[l].arg);
	free(t);
}
