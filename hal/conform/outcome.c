/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outcomes of a family: edges, drop reasons, packets sent out or released. If an outcome never
 * occurs in a run, a variant may get it wrong unnoticed; that is a failure of the suite, not of the
 * variant.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conform.h"

static void
count(struct conform_trial *trial, const char *outcome, uint64_t packets)
{
	const struct hy_suite *suite = trial->ref.suite;
	struct hy_conform_result *result = trial->result;
	struct hy_conform_count *c = result->counts;

	while (c < result->counts + result->nb_counts && strcmp(c->outcome, outcome) != 0)
		c++;
	if (c == result->counts + RTE_DIM(result->counts))
		return; /* cannot occur: hy_suite_register() checks the number */
	if (c == result->counts + result->nb_counts) {
		*c = (struct hy_conform_count){ 0 };
		snprintf(c->outcome, sizeof(c->outcome), "%s", outcome);
		for (unsigned int e = 0; e < HY_SUITE_EXCUSED; e++)
			if (suite->excused[e].outcome != NULL &&
				strcmp(suite->excused[e].outcome, outcome) == 0)
				c->excuse = suite->excused[e].reason;
		result->nb_counts++;
	}
	c->packets += packets;
}

void
conform_outcomes_add(struct conform_trial *trial)
{
	const struct conform_side *ref = &trial->ref;
	const bool sink = ref->nb_edges == 0 && ref->suite->take == NULL;
	uint64_t values[CONFORM_COUNTS_MAX];
	char outcome[HY_NAME_SIZE];
	unsigned int k = 0;

	conform_counts_read(ref, 0, values);
	for (uint16_t e = 0; e < ref->nb_edges; e++)
		count(trial, conform_out_text(ref, e, outcome, sizeof(outcome)),
			ref->sent_in_all[e]);
	for (const struct conform_node *node = ref->nodes; node < ref->nodes + ref->nb_nodes;
		node++) {
		k += (unsigned int)node->nb_edges + HY_CORE_DROPS;
		for (uint16_t d = 0; d < node->nb_drops; d++, k++)
			count(trial, conform_count_text(ref, k, outcome, sizeof(outcome)),
				values[k]);
		k += (unsigned int)node->nb_counters + 1;
	}
	if (ref->suite->take != NULL)
		count(trial, "sent out", ref->sent_in_all[CONFORM_TAKEN]);
	if (sink || ref->sent_in_all[CONFORM_RELEASED] > 0)
		count(trial, "release", ref->sent_in_all[CONFORM_RELEASED]);
}

int
conform_reached_check(const struct conform_trial *trial)
{
	const struct hy_suite *suite = trial->ref.suite;
	struct hy_conform_result *result = trial->result;
	const char *never;

	if (trial->brief || suite->unreached == NULL)
		return 0;
	never = suite->unreached(trial->ref.state, trial->cand.state);
	if (never == NULL)
		return 0;
	result->outcome = HY_CONFORM_FAILED;
	return HY_REASON(-ENODATA, result->text, sizeof(result->text),
		"the suite of %s, set-up %u: %s did not occur, and is therefore not tested",
		suite->family, trial->setup, never);
}

/* What is wrong with an outcome: a format for the suite's family and the outcome; or NULL. */
static const char *
complaint(const struct hy_conform_count *c)
{
	if (c->packets == 0 && c->excuse == NULL)
		return "the suite of %s does not reach outcome '%s', which is therefore not tested";
	if (c->packets > 0 && c->excuse != NULL)
		return "the suite of %s excuses outcome '%s', which occurs";
	return NULL;
}

static bool
is_outcome(const struct hy_conform_result *result, const char *name)
{
	for (uint32_t i = 0; i < result->nb_counts; i++)
		if (strcmp(result->counts[i].outcome, name) == 0)
			return true;
	return false;
}

int
conform_outcomes_check(const struct hy_suite *suite, struct hy_conform_result *result)
{
	const char *wrong = NULL, *outcome = NULL;

	if (result->cases < HY_CONFORM_CASES)
		return 0;
	for (uint32_t i = 0; i < result->nb_counts && wrong == NULL; i++) {
		outcome = result->counts[i].outcome;
		wrong = complaint(&result->counts[i]);
	}
	for (unsigned int e = 0; e < HY_SUITE_EXCUSED && wrong == NULL; e++) {
		outcome = suite->excused[e].outcome;
		if (outcome != NULL && !is_outcome(result, outcome))
			wrong = "the suite of %s excuses '%s', which is not an outcome";
	}
	if (wrong == NULL)
		return 0;
	snprintf(result->text, sizeof(result->text), wrong, suite->family, outcome);
	result->outcome = HY_CONFORM_FAILED;
	return -ENODATA;
}
