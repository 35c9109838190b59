/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the dispatch benchmark, and who contends for them. */

#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include <dpdk.h>

#include "handover.h"

#define CONTENDERS_MAX 5

static const struct chain chains[] = {
	{ "handover_256", .burst = 256, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_64", .burst = 64, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_32", .burst = 32, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "handover_8", .burst = 8, .nb_nodes = 2, .pinned = 1, .first_percent = 50 },
	{ "chain4_64", .burst = 64, .nb_nodes = 6, .pinned = 1, .first_percent = 50 },
	{ "even_64", .burst = 64, .nb_nodes = 4, .pinned = 2, .rounds = 32, .first_percent = 50 },
	{ "skew_64", .burst = 64, .nb_nodes = 4, .pinned = 2, .rounds = 32, .first_percent = 100 },
};

struct field {
	struct contender all[CONTENDERS_MAX];
	void (*destroy[CONTENDERS_MAX])(struct team *team);
	unsigned int n;
};

/* Of the same name as its team. */
static void
enter(struct field *f, struct team *team, const char *name, const char *against,
	void (*destroy)(struct team *team))
{
	if (team == NULL) {
		fprintf(stderr, "hy-bench: %s could not be created\n", name);
		exit(EXIT_FAILURE);
	}
	f->all[f->n] = (struct contender){ .name = name,
		.arg = team,
		.figure = team_round,
		.check = team_right,
		.against = against };
	f->destroy[f->n++] = destroy;
}

static void
enter_rte(struct field *f, const struct chain *chain)
{
	static const char rtc[] = "librte_rtc";
#if HY_DPDK_GRAPH_DISPATCH
	static const char mcore[] = "librte_mcore", paced[] = "librte_paced";

	/* What runs nodes where they are not pinned to is no peer: it is shown, and not compared. */
	enter(f, dispatch_mcore_create(chain, mcore, false), mcore, NULL, dispatch_rte_destroy);
	enter(f, dispatch_mcore_create(chain, paced, true), paced, "librte_mcore",
		dispatch_rte_destroy);
#endif
	enter(f, dispatch_rte_create(chain, rtc), rtc, NULL, dispatch_rte_destroy);
}

static void
work(const struct chain *chain)
{
	static const char ours[] = "halyard", rtc[] = "halyard_rtc";
	struct field f = { .n = 0 };

	if (!bench_wanted(chain->name))
		return;
	enter_rte(&f, chain);
	enter(&f, dispatch_ours_create(chain, rtc, false), rtc, "run_to_completion",
		dispatch_ours_destroy);
	enter(&f, dispatch_ours_create(chain, ours, true), ours, NULL, dispatch_ours_destroy);
	f.all[f.n - 1].subject = true;
	bench_work(chain->name, CYCLES_OBJECT, f.all, f.n);
	for (unsigned int c = 0; c < f.n; c++)
		f.destroy[c](f.all[c].arg);
}

void
bench_dispatch(void)
{
	if (rte_lcore_count() < LANES) {
		fprintf(stderr, "hy-bench: dispatch: %d lcores are wanted, there is one\n", LANES);
		exit(EXIT_FAILURE);
	}
	if (!HY_DPDK_GRAPH_DISPATCH)
		printf("librte_mcore, librte_paced: not there, %s has no such model; DPDK 23.07 and "
		       "later have\n",
			rte_version());
	for (unsigned int i = 0; i < RTE_DIM(chains); i++)
		work(&chains[i]);
}
