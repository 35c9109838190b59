/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The works of the dispatch benchmark, and their contenders. In a lap two lcores start at once, and
 * stop when every object was seen.
 */

#include <rte_lcore.h>

#include "handover.h"

/* Walks after which objects that the second lane has not seen are lost: two per object. */
#define PATIENCE (2 * LAP_OBJECTS)

static const struct chain chains[] = {
	{ "handover_256", .burst = 256, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_64", .burst = 64, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_32", .burst = 32, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_8", .burst = 8, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "chain4_64", .burst = 64, .nb_nodes = 6, .pinned = 1, .first_percent = 50 },
	{ "even_64", .burst = 64, .nb_nodes = 4, .pinned = 2, .rounds = 32, .first_percent = 50 },
	{ "skew_64", .burst = 64, .nb_nodes = 4, .pinned = 2, .rounds = 32, .first_percent = 100 },
};

/* A contender that runs nodes elsewhere than pinned is shown, but not compared. */
static const struct {
	const char *name, *against;
	struct team *(*create)(const struct chain *chain, const char *name, enum team_way way);
	enum team_way way;
	void (*destroy)(void *team);
	bool subject;
} contenders[] = {
	{ "librte_mcore", NULL, dispatch_rte_create, HANDOVER, dispatch_rte_destroy, false },
	{ "librte_paced", "librte_mcore", dispatch_rte_create, PACED, dispatch_rte_destroy, false },
	{ "librte_rtc", NULL, dispatch_rte_create, COMPLETION, dispatch_rte_destroy, false },
	{ "halyard_rtc", "run_to_completion", dispatch_ours_create, COMPLETION,
		dispatch_ours_destroy, false },
	{ "halyard", NULL, dispatch_ours_create, HANDOVER, dispatch_ours_destroy, true },
};

static void
lap_prepare(void *team, unsigned int lane)
{
	if (lane == 0)
		team_begin(team);
}

/* The first lane makes all of its objects; those that it has not seen are left to the second. */
static void
lap_run(void *team, unsigned int lane)
{
	struct team *t = team;
	const struct lane *own = &t->lanes[lane];
	unsigned int walks = 0;
	uint64_t left;

	while (lane == 0 && own->next < own->end)
		t->walk(t, 0);
	if (lane == 0) {
		atomic_store(&t->left, LAP_OBJECTS - own->seen);
		return;
	}
	while ((left = atomic_load_explicit(&t->left, memory_order_relaxed)) == UINT64_MAX)
		t->walk(t, 1);
	while (own->seen < left && walks++ < PATIENCE)
		t->walk(t, 1);
}

static void
lap_check(void *team, unsigned int lane)
{
	if (lane == 0 && !((struct team *)team)->wrong)
		team_check(team);
}

/* TSC cycles of elapsed time per object, if all laps were right. */
static double
team_round(void *arg)
{
	struct team *t = arg;

	if (!t->wrong)
		laps_run(&t->laps, LANES, bench_settings()->quick ? LAPS_QUICK : LAPS_MAX);
	return laps_median(&t->laps, 0, LANES) / LAP_OBJECTS;
}

/*
 * Returns whether every object was seen once, in order, by an allowed lcore, and processed by every
 * node.
 */
static bool
team_right(void *arg)
{
	struct team *t = arg;

	for (unsigned int l = 0; l < LANES; l++)
		t->lanes[l].strict = true;
	if (!t->wrong)
		laps_run(&t->laps, LANES, 1);
	return !t->wrong;
}

static void
work(const struct chain *chain)
{
	struct field f = { .work = chain->name };

	for (unsigned int i = 0; i < RTE_DIM(contenders) && bench_wanted(chain->name); i++) {
		const char *name = contenders[i].name;
		struct team *team = contenders[i].create(chain, name, contenders[i].way);
		const struct contender c = { .name = name,
			.arg = team,
			.figure = team_round,
			.check = team_right,
			.against = contenders[i].against,
			.subject = contenders[i].subject };

		if (team != NULL)
			team->laps = (struct laps){ .prepare = lap_prepare,
				.run = lap_run,
				.check = lap_check,
				.arg = team };
		field_enter(&f, &c, contenders[i].destroy);
	}
	field_measure(&f, CYCLES_OBJECT);
}

void
bench_dispatch(void)
{
	if (rte_lcore_count() < LANES) {
		bench_cannot("%d lcores are needed, there is one", LANES);
		bench_skip("*", NULL);
		return;
	}
	for (unsigned int i = 0; i < RTE_DIM(chains); i++)
		work(&chains[i]);
}
