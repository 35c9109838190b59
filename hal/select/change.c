/* SPDX-License-Identifier: BSD-3-Clause */
/* What would have to change for a candidate to be chosen that was not. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hal/internal/hal.h"

/* Adds a line if there is room for all of it. */
static void __rte_format_printf(2, 3) line_add(struct hy_candidate *c, const char *format, ...)
{
	const size_t len = strlen(c->change), room = sizeof(c->change) - len;
	va_list ap;
	int n;

	if (room < 2)
		return;
	if (len > 0)
		c->change[len] = '\n';
	va_start(ap, format);
	n = vsnprintf(c->change + len + (len > 0), room - (len > 0), format, ap);
	va_end(ap);
	if ((size_t)n >= room - (len > 0))
		c->change[len] = '\0';
}

/* Adds a line: how a need would be met, and what that would add to the score. */
static void
need_add(struct hy_candidate *c, const struct hy_need *need, const struct hy_capability *cap)
{
	char bonus[32] = "", least[32] = "yes", now[32];

	if (need->bonus != 0)
		snprintf(bonus, sizeof(bonus), ", for %+d", need->bonus);
	if (need->at_least > 0)
		snprintf(least, sizeof(least), "%" PRIu64 " or more", need->at_least);
	if (cap->level < HY_LEVEL_YES)
		snprintf(now, sizeof(now), "%s", hy_level_name(cap->level));
	else
		snprintf(now, sizeof(now), "%" PRIu64, cap->value);
	line_add(c, "%s must be %s%s; it is %s (%s)", hy_need_name(need), least, bonus, now,
		cap->reason);
}

/*
 * Computes the score of a candidate from the needs that are met once its port runs. False:
 * mandatory needs are not met; they are added to @p lines unless that is NULL.
 */
static bool
needs_look(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_candidate *c,
	struct hy_candidate *lines, int *score)
{
	const bool runs = hy_target_runs(hal, s->target) && hy_target_runs(hal, c->on);
	bool fits = true;

	*score = c->variant->score;
	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&c->variant->needs[i]); i++) {
		const struct hy_need *need = &c->variant->needs[i];
		const struct hy_capability *cap = hy_need_subject(hal, s, c, need);

		if (hy_need_met(need, cap)) {
			*score += need->bonus;
		} else if (need->bonus == 0 && (runs || need->cap != HY_CAP_RUNNING)) {
			fits = false;
			if (lines != NULL)
				need_add(lines, need, cap);
		}
	}
	return fits;
}

/* The candidate to beat. */
struct rival {
	const struct hy_candidate *c; /* NULL: none */
	int score;
};

/* Whether a candidate with this score would beat the rival, if there is one. */
static bool
wins(const struct hy_candidate *c, int score, struct rival rival)
{
	if (rival.c == NULL || score != rival.score)
		return rival.c == NULL || score > rival.score;
	if (c->variant != rival.c->variant)
		return strcmp(c->variant->impl.variant, rival.c->variant->impl.variant) < 0;
	return hy_target_index(c->on) < hy_target_index(rival.c->on);
}

/* Whether a candidate fits or, on a port that does not run, will fit when it runs. */
static bool
would_fit(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_candidate *c,
	int *score)
{
	*score = c->score;
	if (hy_target_runs(hal, s->target))
		return c->fate <= HY_FATE_OUTSCORED;
	return !c->variant->parked && c->on.id != HY_NO_DEVICE &&
		(c->fate <= HY_FATE_OUTSCORED || c->fate == HY_FATE_NEEDS_UNMET) &&
		needs_look(hal, s, c, NULL, score);
}

/* The best fitting candidate: of the same variant on other devices, or of other variants. */
static struct rival
rival_find(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_candidate *c,
	bool same)
{
	struct rival rival = { 0 };
	int score;

	for (unsigned int i = 0; i < s->nb_candidates; i++) {
		const struct hy_candidate *other = &s->candidates[i];

		if (other != c && (other->variant == c->variant) == same &&
			would_fit(hal, s, other, &score) && wins(other, score, rival))
			rival = (struct rival){ other, score };
	}
	return rival;
}

/* Whether the user forces the candidate's variant: then only its devices compete. */
static bool
is_forced(const struct hy_selection *s, const struct hy_candidate *c)
{
	return s->forced && s->chosen == c->variant;
}

/* Whether the plan asked the candidate's variant about its ports, up to the first failure. */
static bool
was_asked(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_candidate *c)
{
	uint16_t at = 0, port;
	bool all = true;

	while (c->variant->prepare != NULL && hy_port_next(hal, s->target, c->on, &at, &port)) {
		const struct hy_trial *trial = hy_trial_find(hal, c->variant, port);

		if (trial != NULL && !trial->ok)
			return true;
		all &= trial != NULL;
	}
	return all;
}

/*
 * Adds the missing bonuses until the candidate would win; if they do not suffice, what else would.
 */
static void
score_add(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c, int score)
{
	const struct rival same = rival_find(hal, s, c, true);
	struct rival rival = { 0 };
	char where[HY_NAME_SIZE];

	if (!is_forced(s, c))
		rival = rival_find(hal, s, c, false);
	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&c->variant->needs[i]) &&
		!(wins(c, score, rival) && wins(c, score, same));
		i++) {
		const struct hy_need *need = &c->variant->needs[i];
		const struct hy_capability *cap = hy_need_subject(hal, s, c, need);
		const bool met = hy_need_met(need, cap);

		if (!met && need->bonus > 0) {
			need_add(c, need, cap);
			score += need->bonus;
		} else if (met && need->bonus < 0) {
			line_add(c, "%s must be %s: it costs %d", hy_need_name(need),
				need->at_least > 0 ? "smaller" : "absent", -need->bonus);
			score -= need->bonus;
		}
	}
	if (!wins(c, score, rival))
		line_add(c, "the user must force it; %s scores %d, and it at most %d",
			rival.c->variant->impl.variant, rival.score, score);
	if (!wins(c, score, same))
		line_add(c, "its variant must not fit %s, where it scores %d",
			hy_target_text(same.c->on, where, sizeof(where)), same.score);
}

void
hy_candidate_change(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	const bool here = c->variant->on == HY_TARGET_PROCESS || c->on.id != HY_NO_DEVICE;
	const bool stands_in = c->variant->parked && hy_target_runs(hal, s->target);
	const bool asked = c->fate != HY_FATE_BIND_FAILED || was_asked(hal, s, c);
	int score;

	c->change[0] = '\0';
	if (c->fate == HY_FATE_CHOSEN)
		return;
	if (c->fate == HY_FATE_DENIED)
		line_add(c, "the user must not deny it");
	if (s->forced && !is_forced(s, c))
		line_add(c, "the user must not force %s", s->chosen->impl.variant);
	if (stands_in) {
		line_add(c, "the port must not run");
		return;
	}
	if (!here) {
		line_add(c, "one of the %s must exist", hy_kind_names(c->on.kind));
		return;
	}
	if (c->fate == HY_FATE_NEEDS_UNMET &&
		(!hy_target_runs(hal, s->target) || !hy_target_runs(hal, c->on)))
		line_add(c, "the port must run");
	needs_look(hal, s, c, c, &score);
	if (c->fate == HY_FATE_REJECTED)
		line_add(c, "its own check must accept the target");
	if (c->fate == HY_FATE_BIND_FAILED && asked)
		line_add(c, "the step that failed at bring-up must succeed");
	if (c->fate == HY_FATE_CONSTRAINED)
		line_add(c, "its constraint must hold");
	score_add(hal, s, c, score);
	/* It would have been asked if it had won when the plan was made. */
	if (!asked && c->change[0] == '\0')
		line_add(c, "its ports must be planned and configured again");
}
