/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the engine for a set of rules, and builds its tables. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_file.h>

#include "engine.h"
#include "lib/graph/internal/log.h"

const struct policy_engine *const policy_engines[POLICY_ENGINES] = { &policy_engine_linear,
	&policy_engine_tuple, &policy_engine_acl };

bool
policy_build_stops(const struct policy_build *build)
{
	return hy_file_stops() ||
		(build->cancel != NULL && __atomic_load_n(build->cancel, __ATOMIC_RELAXED));
}

/* An engine that may be tried. */
struct offer {
	const struct policy_engine *engine;
	struct policy_estimate estimate;
	enum {
		UNTRIED,
		REFUSED,
		KNOWN
	} state; /* of the estimate; UNTRIED: it has the least clocks */
	bool fits;
};

static bool
fits(const struct policy_budget *budget, const struct policy_estimate *estimate)
{
	return (budget->max_memory == 0 || estimate->bytes <= budget->max_memory) &&
		(budget->max_build_ms == 0 ||
			estimate->build_us <= UINT64_C(1000) * budget->max_build_ms);
}

static struct offer *
fastest(struct offer offers[POLICY_ENGINES])
{
	struct offer *best = NULL;

	for (unsigned int i = 0; i < POLICY_ENGINES; i++)
		if (offers[i].fits &&
			(best == NULL || offers[i].estimate.clocks < best->estimate.clocks))
			best = &offers[i];
	return best;
}

/* In an order in which costly estimates are seldom needed. */
static int
offers_make(const struct policy_build *build, const struct policy_budget *budget,
	struct offer offers[POLICY_ENGINES])
{
	for (unsigned int i = 0; i < POLICY_ENGINES; i++)
		offers[i] = (struct offer){ .engine = policy_engines[i],
			.estimate.clocks = policy_engines[i]->least };
	for (unsigned int i = 0; i < POLICY_ENGINES; i++) {
		struct offer *o = &offers[i];
		const struct offer *best = fastest(offers);
		int rc;

		if ((budget->only != NULL && strcmp(budget->only, o->engine->name) != 0) ||
			(best != NULL && best->estimate.clocks <= o->engine->least))
			continue;
		rc = o->engine->estimate(build, &o->estimate);
		if (rc < 0 && rc != -E2BIG)
			return rc;
		o->state = rc == 0 ? KNOWN : REFUSED;
		o->fits = rc == 0 && fits(budget, &o->estimate);
	}
	return 0;
}

static const char *
remark(const struct offer *o, const struct policy_budget *budget)
{
	return o->state == UNTRIED           ? " at least"
		: fits(budget, &o->estimate) ? ""
					     : ", over the budget";
}

/* Why this one: what the others were estimated at, or take at least. */
static void
why(const struct offer offers[POLICY_ENGINES], const struct offer *chosen,
	const struct policy_budget *budget, struct policy_tables *to)
{
	size_t at = (size_t)snprintf(to->why, sizeof(to->why), "%.0f clocks a packet expected",
		chosen->estimate.clocks);

	for (unsigned int i = 0; i < POLICY_ENGINES && at < sizeof(to->why); i++)
		if (&offers[i] != chosen && offers[i].state != REFUSED && budget->only == NULL)
			at += (size_t)snprintf(to->why + at, sizeof(to->why) - at, "; %s: %.0f%s",
				offers[i].engine->name, offers[i].estimate.clocks,
				remark(&offers[i], budget));
}

/* Tells what the engines that were asked would have taken. */
static int
refuse(const char *policy, const struct policy_build *build, const struct policy_budget *budget,
	const struct offer offers[POLICY_ENGINES])
{
	char needs[POLICY_ENGINES * 80] = "";
	size_t at = 0;

	for (unsigned int i = 0; i < POLICY_ENGINES; i++)
		if (offers[i].state == KNOWN)
			at += (size_t)snprintf(needs + at, sizeof(needs) - at,
				"; %s needs about %" PRIu64 " bytes and %" PRIu64 " ms",
				offers[i].engine->name, offers[i].estimate.bytes,
				offers[i].estimate.build_us / 1000);
	return HY_REFUSE(-E2BIG,
		"policy '%s': no engine takes %u rules in %" PRIu64
		" bytes and %u ms (0: no limit)%s",
		policy, build->n, budget->max_memory, budget->max_build_ms, needs);
}

static int
offer_build(const struct policy_build *build, const struct policy_budget *budget,
	const struct offer *offer, struct policy_tables *to)
{
	const uint64_t start = rte_get_timer_cycles();
	int rc = offer->engine->build(build, &to->tables, &to->bytes);

	if (rc < 0)
		return rc;
	to->engine = offer->engine;
	to->build_us = (rte_get_timer_cycles() - start) * 1000000 / rte_get_timer_hz();
	if (budget->max_memory == 0 || to->bytes <= budget->max_memory)
		return 0;
	policy_tables_free(to);
	return -E2BIG;
}

int
policy_tables_build(const char *policy, const struct policy_build *build,
	const struct policy_budget *budget, struct policy_tables *tables)
{
	struct offer offers[POLICY_ENGINES];
	struct offer *next;
	int rc = offers_make(build, budget, offers);

	while (rc == 0 && (next = fastest(offers)) != NULL) {
		rc = offer_build(build, budget, next, tables);
		if (rc == 0)
			why(offers, next, budget, tables);
		if (rc != -E2BIG)
			return rc;
		next->fits = false;
		rc = 0;
	}
	return rc < 0 ? rc : refuse(policy, build, budget, offers);
}

void
policy_tables_free(struct policy_tables *tables)
{
	if (tables->engine != NULL)
		tables->engine->free(tables->tables);
	tables->engine = NULL;
}
