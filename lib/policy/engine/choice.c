/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the engine for a set of rules, and builds its tables. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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

uint64_t
policy_cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
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

/* A choice: what it is for, and since when. */
struct choice {
	const struct policy_build *build;
	const struct policy_budget *budget;
	uint64_t start;
	struct offer offers[POLICY_ENGINES];
};

static uint64_t
elapsed_us(const struct choice *choice)
{
	return (rte_get_timer_cycles() - choice->start) * 1000000 / rte_get_timer_hz();
}

/* Whether there is so much time left. */
static bool
in_time(const struct choice *choice, uint64_t us)
{
	const uint64_t most = UINT64_C(1000) * choice->budget->max_build_ms;

	return most == 0 || elapsed_us(choice) + us <= most;
}

static bool
fits(const struct choice *choice, const struct policy_estimate *estimate)
{
	return (choice->budget->max_memory == 0 || estimate->bytes <= choice->budget->max_memory) &&
		in_time(choice, estimate->build_us);
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

/* Not if it cannot win, nor if asking it takes the time for the best one so far. */
static bool
is_asked(const struct choice *choice, const struct policy_engine *engine, const struct offer *best)
{
	const char *only = choice->budget->only;

	if (only != NULL && strcmp(only, engine->name) != 0)
		return false;
	return best == NULL ||
		(engine->least < best->estimate.clocks &&
			in_time(choice, engine->estimate_us + best->estimate.build_us));
}

/* In an order in which costly estimates are seldom needed. */
static int
offers_make(struct choice *choice)
{
	for (unsigned int i = 0; i < POLICY_ENGINES; i++)
		choice->offers[i] = (struct offer){ .engine = policy_engines[i],
			.estimate.clocks = policy_engines[i]->least };
	for (unsigned int i = 0; i < POLICY_ENGINES; i++) {
		struct offer *o = &choice->offers[i];
		int rc;

		if (!is_asked(choice, o->engine, fastest(choice->offers)))
			continue;
		rc = o->engine->estimate(choice->build, &o->estimate);
		if (rc < 0 && rc != -E2BIG)
			return rc;
		o->state = rc == 0 ? KNOWN : REFUSED;
		o->fits = rc == 0 && fits(choice, &o->estimate);
	}
	return 0;
}

/* Why this one: what the others were estimated at, or take at least. */
static void
why(const struct choice *choice, const struct offer *chosen, struct policy_tables *to)
{
	const struct offer *offers = choice->offers;
	size_t at = (size_t)snprintf(to->why, sizeof(to->why), "%.0f clocks a packet expected",
		chosen->estimate.clocks);

	for (unsigned int i = 0; i < POLICY_ENGINES && at < sizeof(to->why); i++)
		if (&offers[i] != chosen && offers[i].state != REFUSED &&
			choice->budget->only == NULL)
			at += (size_t)snprintf(to->why + at, sizeof(to->why) - at, "; %s: %.0f%s",
				offers[i].engine->name, offers[i].estimate.clocks,
				offers[i].state == UNTRIED ? " at least"
					: offers[i].fits   ? ""
							   : ", over the budget");
}

/* Tells what the engines that were asked would have taken. */
static int
refuse(const char *policy, const struct choice *choice)
{
	const struct policy_budget *budget = choice->budget;
	const struct offer *offers = choice->offers;
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
		policy, choice->build->n, budget->max_memory, budget->max_build_ms, needs);
}

/* Fails with -E2BIG if there is no more time for it, too. */
static int
offer_build(const struct choice *choice, struct offer *offer, struct policy_tables *to)
{
	const uint64_t most = choice->budget->max_memory;
	int rc;

	offer->fits = fits(choice, &offer->estimate);
	rc = offer->fits ? offer->engine->build(choice->build, &to->tables, &to->bytes) : -E2BIG;
	if (rc < 0)
		return rc;
	to->engine = offer->engine;
	to->build_us = elapsed_us(choice);
	if (most == 0 || to->bytes <= most)
		return 0;
	policy_tables_free(to);
	return -E2BIG;
}

int
policy_tables_build(const char *policy, const struct policy_build *build,
	const struct policy_budget *budget, struct policy_tables *tables)
{
	struct choice choice = {
		.build = build, .budget = budget, .start = rte_get_timer_cycles()
	};
	struct offer *next;
	int rc = offers_make(&choice);

	while (rc == 0 && (next = fastest(choice.offers)) != NULL) {
		rc = offer_build(&choice, next, tables);
		if (rc == 0)
			why(&choice, next, tables);
		if (rc != -E2BIG)
			return rc;
		next->fits = false;
		rc = 0;
	}
	return rc < 0 ? rc : refuse(policy, &choice);
}

void
policy_tables_free(struct policy_tables *tables)
{
	if (tables->engine != NULL)
		tables->engine->free(tables->tables);
	tables->engine = NULL;
}
