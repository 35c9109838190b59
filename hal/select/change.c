/* SPDX-License-Identifier: BSD-3-Clause */
/* What would have to change for a candidate to be chosen that was not. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hal/internal/hal.h"

/* Adds a line, as far as there is room: never a part of one. */
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

/* What must become true of a need, and what that would add to the score. */
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

/* The needs without which it is out. Returns the score that it has with those that are met. */
static int
needs_add(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	int score = c->variant->score;

	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&c->variant->needs[i]); i++) {
		const struct hy_need *need = &c->variant->needs[i];
		const struct hy_capability *cap = hy_need_subject(hal, s, c, need);

		if (hy_need_met(need, cap))
			score += need->bonus;
		else if (need->bonus == 0)
			need_add(c, need, cap);
	}
	return score;
}

/* Whether a score would win against the best of the others. */
static bool
wins(const struct hy_candidate *c, int score, const struct hy_candidate *rival)
{
	if (rival == NULL || score != rival->score)
		return rival == NULL || score > rival->score;
	return strcmp(c->variant->impl.variant, rival->variant->impl.variant) < 0;
}

/* The best of what fits, but for the candidate itself. */
static const struct hy_candidate *
rival_find(const struct hy_selection *s, const struct hy_candidate *c)
{
	const struct hy_candidate *rival = NULL;

	for (unsigned int i = 0; i < s->nb_candidates; i++) {
		const struct hy_candidate *other = &s->candidates[i];

		if (other != c && other->fate <= HY_FATE_OUTSCORED &&
			(rival == NULL || wins(other, other->score, rival)))
			rival = other;
	}
	return rival;
}

/* Bonuses that it lacks, until it would win; if they are not enough, what is missing then. */
static void
score_add(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c, int score)
{
	const struct hy_candidate *rival = rival_find(s, c);

	for (unsigned int i = 0;
		i < HY_NEEDS_MAX && hy_need_asks(&c->variant->needs[i]) && !wins(c, score, rival);
		i++) {
		const struct hy_need *need = &c->variant->needs[i];
		const struct hy_capability *cap = hy_need_subject(hal, s, c, need);
		const bool met = hy_need_met(need, cap);

		if (!met && need->bonus > 0) {
			need_add(c, need, cap);
			score += need->bonus;
		} else if (met && need->bonus < 0) {
			line_add(c, "%s must not be%s: that costs %d", hy_need_name(need),
				need->at_least > 0 ? " so much" : "", -need->bonus);
			score -= need->bonus;
		}
	}
	if (!wins(c, score, rival))
		line_add(c, "the user must force it; %s scores %d, and it at most %d",
			rival->variant->impl.variant, rival->score, score);
}

void
hy_candidate_change(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	const bool here = c->variant->on == HY_TARGET_PROCESS || c->on.id != HY_NO_DEVICE;
	const bool stands_in = c->variant->parked && hy_target_runs(hal, s->target);
	int score;

	c->change[0] = '\0';
	if (c->fate == HY_FATE_CHOSEN)
		return;
	if (c->fate == HY_FATE_DENIED)
		line_add(c, "the user must not deny it");
	if (s->forced)
		line_add(c, "the user must not force %s", s->chosen->impl.variant);
	if (stands_in) {
		line_add(c, "the port must not run");
		return;
	}
	if (!here) {
		line_add(c, "one of the %s must be there", hy_kind_names(c->on.kind));
		return;
	}
	if (c->fate == HY_FATE_NEEDS_UNMET &&
		(!hy_target_runs(hal, s->target) || !hy_target_runs(hal, c->on)))
		line_add(c, "the port must run");
	score = needs_add(hal, s, c);
	if (c->fate == HY_FATE_REJECTED)
		line_add(c, "its own check must accept the target");
	if (c->fate == HY_FATE_BIND_FAILED)
		line_add(c, "what failed at bring-up must succeed");
	if (c->fate == HY_FATE_CONSTRAINED)
		line_add(c, "its constraint must hold");
	score_add(hal, s, c, score);
}
