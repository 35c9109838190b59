/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The l3fwd benchmark on two lcores, each with its own queues, rings, packets and graph. Laps start
 * at once and are timed from the first start to the last end.
 */

#include <stdlib.h>

#include <rte_common.h>

#include "l3fwd.h"
#include "lanes.h"

#define LAPS_QUICK 4 /* a round, with --quick; else LAPS_MAX */

/* A contender on each lcore, and the laps that they run together. */
struct team {
	struct entrant entrants[LANES];
	uint64_t drops[LANES]; /* before a lap */
	struct laps laps;
	double figures[LANES]; /* cycles a packet on each lcore */
};

static void
lap_prepare(void *arg, unsigned int lane)
{
	struct team *t = arg;
	const struct l3fwd_way *way = &t->entrants[lane].way;

	t->drops[lane] = way->drops(way->arg);
	rig_fill(t->entrants[lane].rig);
}

static void
lap_run(void *arg, unsigned int lane)
{
	const struct l3fwd_way *way = &((struct team *)arg)->entrants[lane].way;

	way->run(way->arg, UINT64_MAX);
}

/* All lanes run all laps, even after an error. */
static void
lap_check(void *arg, unsigned int lane)
{
	struct team *t = arg;
	struct entrant *e = &t->entrants[lane];

	e->wrong |= !rig_check(e->rig, e->name, e->way.rewrites, e->rig->traffic->n,
		e->way.drops(e->way.arg) - t->drops[lane]);
}

static bool
team_right(void *arg)
{
	const struct team *t = arg;

	return !t->entrants[0].wrong && !t->entrants[1].wrong;
}

/* Runs a round on so many lanes. Returns cycles per packet of all of them; notes those of each. */
static double
round_run(struct team *t, unsigned int lanes)
{
	const double n = (double)t->entrants[0].rig->traffic->n;

	if (!team_right(t))
		return 1; /* not used: the work has no figures */
	laps_run(&t->laps, lanes, bench_settings()->quick ? LAPS_QUICK : LAPS_MAX);
	for (unsigned int l = 0; l < lanes; l++)
		t->figures[l] = laps_median(&t->laps, l, 1) / n;
	return laps_median(&t->laps, 0, lanes) / (n * lanes);
}

static double
one_figure(void *team)
{
	return round_run(team, 1);
}

static double
two_figure(void *team)
{
	return round_run(team, LANES);
}

void
lcores_work(const char *work, struct l3fwd_rig rigs[L3FWD_LANES],
	const struct l3fwd_way ways[L3FWD_LANES])
{
	struct team *t = bench_alloc(1, sizeof(*t));
	const struct contender all[] = {
		{ .name = "one_lcore",
			.arg = t,
			.figure = one_figure,
			.check = team_right,
			.against = "one_lcore" },
		{ .name = "two_lcores",
			.arg = t,
			.figure = two_figure,
			.check = team_right,
			.subject = true },
		{ .name = "first_of_two", .also = &t->figures[0] },
		{ .name = "second_of_two", .also = &t->figures[1] },
	};
	bool made = true;

	t->laps = (struct laps){
		.prepare = lap_prepare, .run = lap_run, .check = lap_check, .arg = t
	};
	for (unsigned int l = 0; l < L3FWD_LANES; l++) {
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
