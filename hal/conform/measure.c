/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a packet in a variant and in the reference. The graphs measure their nodes in each
 * walk; the two graphs alternate, with the same packets, which are new in each walk.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_stats.h>

#include "conform.h"

#define ROUNDS 31
#define WALKS 24 /* of each side in a round */

/* The results of all rounds. */
struct rounds {
	double clocks[ROUNDS], reference[ROUNDS], ratio[ROUNDS];
};

static int
double_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), double_order);
	return values[ROUNDS / 2];
}

/* The clocks of all timed calls of a side's nodes so far, and the packets that came to the first. */
static int
timed(const struct conform_side *side, uint64_t *clocks, uint64_t *packets)
{
	const struct hy_node_stats *node;
	struct hy_stats *stats;
	char name[HY_NAME_SIZE];
	int rc;

	snprintf(name, sizeof(name), "conform-%s-0", side->is.name);
	rc = hy_stats_read(name, &stats);
	if (rc < 0)
		return rc;
	for (unsigned int k = 0; k < side->nb_nodes; k++) {
		node = hy_stats_find(stats, 0, side->nodes[k].name);
		if (node == NULL)
			continue;
		*clocks += node->sampled_cycles;
		if (k == 0)
			*packets = node->sampled_objs;
	}
	hy_stats_free(stats);
	return 0;
}

/* Some walks of both sides, which take turns in being first. */
static int
walks(void *arg)
{
	struct conform_trial *trial = arg;
	int rc = 0;

	for (unsigned int w = 0; w < WALKS && rc == 0; w++) {
		struct conform_side *const sides[] = { &trial->ref, &trial->cand };

		trial->n = HY_BURST_DEFAULT;
		rc = conform_packets_make(trial, true);
		for (unsigned int s = 0; s < RTE_DIM(sides) && rc == 0; s++) {
			rc = conform_side_send(sides[(s + w) % 2], 0, 0, trial->n);
			conform_side_end(sides[(s + w) % 2]);
		}
		conform_burst_free(trial);
	}
	return rc;
}

static int
round_run(struct conform_trial *trial, struct rounds *rounds, unsigned int r, uint64_t *packets)
{
	struct conform_side *const sides[] = { &trial->ref, &trial->cand };
	uint64_t clocks[2][2] = { 0 }, objs[2][2] = { 0 };
	double cost[2];
	uintptr_t address;
	int rc = 0, signal;

	for (unsigned int s = 0; s < 2 && rc == 0; s++)
		rc = timed(sides[s], &clocks[s][0], &objs[s][0]);
	if (rc < 0)
		return rc;
	signal = conform_watch(walks, trial, &rc, &address);
	if (signal != 0)
		return signal == SIGALRM ? -ETIMEDOUT : -EFAULT;
	for (unsigned int s = 0; s < 2 && rc == 0; s++)
		rc = timed(sides[s], &clocks[s][1], &objs[s][1]);
	if (rc < 0)
		return rc;
	for (unsigned int s = 0; s < 2; s++) {
		if (objs[s][1] == objs[s][0])
			return -EILSEQ; /* the node received no packet */
		cost[s] = (double)(clocks[s][1] - clocks[s][0]) / (double)(objs[s][1] - objs[s][0]);
	}
	*packets += objs[1][1] - objs[1][0];
	rounds->reference[r] = cost[0];
	rounds->clocks[r] = cost[1];
	rounds->ratio[r] = cost[0] / cost[1];
	return 0;
}

int
hy_conform_measure(const struct hy_hal *hal, const char *family, const char *variant, uint64_t seed,
	struct hy_conform_cost *cost)
{
	static const uint16_t burst[CONFORM_GRAPHS] = { HY_BURST_DEFAULT };
	const struct hy_conform_params params = { .seed = seed };
	struct hy_conform_result result = { 0 };
	const struct hy_suite *suite = hy_suite_find(family);
	struct conform_trial *trial = calloc(1, sizeof(*trial));
	struct rounds rounds;
	int rc;

	memset(cost, 0, sizeof(*cost));
	if (trial == NULL)
		return -ENOMEM;
	trial->params = &params;
	trial->result = &result;
	if (suite != NULL && suite->nb_setups > 0)
		trial->setup = suite->nb_setups - 1;
	rc = conform_trial_create(trial, hal, family, variant, burst, false);
	if (rc == 0) {
		trial->ref.limit[0] = trial->cand.limit[0] = HY_BURST_MAX;
		rc = round_run(trial, &rounds, 0, &cost->packets); /* warms up */
		cost->packets = 0;
		for (unsigned int r = 0; r < ROUNDS && rc == 0; r++)
			rc = round_run(trial, &rounds, r, &cost->packets);
		conform_trial_destroy(trial);
	}
	if (rc == 0) {
		cost->clocks = median(rounds.clocks);
		cost->reference = median(rounds.reference);
		cost->ratio = median(rounds.ratio);
		cost->rounds = ROUNDS;
	}
	free(trial);
	return rc;
}
