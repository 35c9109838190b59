/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the dispatch benchmark, and who contends for them. */

#include <rte_lcore.h>

#include "handover.h"

static const char ours[] = "halyard";

static const struct chain chains[] = {
	{ "handover_256", .burst = 256, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_64", .burst = 64, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_32", .burst = 32, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_8", .burst = 8, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "chain4_64", .burst = 64, .nb_nodes = 6, .pinned = 1, .first_percent = 50 },
	{ "even_64", .burst = 64, .nb_nodes = 4, .pinned = 2, .rounds = 32, .first_percent = 50 },
	{ "skew_64", .burst = 64, .nb_nodes = 4, .pinned = 2, .rounds = 32, .first_percent = 100 },
};

/* Of the same name as its team. */
static void
enter(struct field *f, struct team *team, const char *name, const char *against,
	void (*destroy)(void *team))
{
	const struct contender c = { .name = name,
		.arg = team,
		.figure = team_round,
		.check = team_right,
		.against = against,
		.subject = name == ours };

	field_enter(f, &c, destroy);
}

static void
enter_rte(struct field *f, const struct chain *chain)
{
	static const char rtc[] = "librte_rtc";
	static const char mcore[] = "librte_mcore", paced[] = "librte_paced";

	/* What runs nodes where they are not pinned to is no peer: it is shown, and not compared. */
	enter(f, dispatch_mcore_create(chain, mcore, false), mcore, NULL, dispatch_rte_destroy);
	enter(f, dispatch_mcore_create(chain, paced, true), paced, mcore, dispatch_rte_destroy);
	enter(f, dispatch_rte_create(chain, rtc), rtc, NULL, dispatch_rte_destroy);
}

static void
work(const struct chain *chain)
{
	static const char rtc[] = "halyard_rtc";
	struct field f = { .work = chain->name };

	if (!bench_wanted(chain->name))
		return;
	enter_rte(&f, chain);
	enter(&f, dispatch_ours_create(chain, rtc, false), rtc, "run_to_completion",
		dispatch_ours_destroy);
	enter(&f, dispatch_ours_create(chain, ours, true), ours, NULL, dispatch_ours_destroy);
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
	for (unsigned int i = 0; i < sizeof(chains) / sizeof(chains[0]); i++)
		work(&chains[i]);
}
