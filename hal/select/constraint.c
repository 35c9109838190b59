/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constraints across families. Each selection takes its best candidate. While a choice states a
 * constraint that does not hold, its selection falls back to the next candidate, in the order of
 * families and targets. If the user forced the choice, the other selection falls back instead.
 * Candidates are only ever struck, so this terminates, and the result does not depend on link
 * order.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hal/internal/hal.h"

/* Whether the target of a variant, or a device that it could run on, does not run. */
static bool
waits(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_variant *variant)
{
	bool waits = !hy_target_runs(hal, s->target);

	for (unsigned int i = 0; i < s->nb_candidates; i++) {
		const struct hy_candidate *c = &s->candidates[i];

		waits |= c->variant == variant && c->on.id != HY_NO_DEVICE &&
			!hy_target_runs(hal, c->on);
	}
	return waits;
}

/* Chooses the forced candidate, or the best remaining one. */
static int
choose(const struct hy_hal *hal, struct hy_selection *s, char *error)
{
	const struct hy_variant *forced = hy_rule_forced(hal, s->family, s->target);
	const struct hy_candidate *c;
	char where[HY_NAME_SIZE];

	hy_target_text(s->target, where, sizeof(where));
	s->forced = false;
	if (forced != NULL) {
		c = hy_candidate_of(s, forced);
		s->forced = c->fate == HY_FATE_OUTSCORED;
		s->on = c->on;
		/*
		 * Not while a device is down, or in a plan: what it needs may show up when it runs.
		 */
		if (!s->forced && !hal->planning && !waits(hal, s, forced))
			return HY_REASON(-ENOTSUP, error, HY_HAL_ERROR_SIZE,
				"%s=%s cannot be used for %s: %s", s->family->node.name,
				forced->impl.variant, where, c->reason);
	}
	s->chosen = s->forced ? forced : NULL;
	for (unsigned int i = 0; i < s->nb_candidates && s->chosen == NULL; i++)
		if (s->candidates[i].fate == HY_FATE_OUTSCORED) {
			s->chosen = s->candidates[i].variant;
			s->on = s->candidates[i].on;
		}
	if (s->chosen != NULL)
		return 0;
	return HY_REASON(-ENOTSUP, error, HY_HAL_ERROR_SIZE,
		"no variant of %s is left for %s: %s: %s", s->family->node.name, where,
		s->candidates[0].variant->impl.variant, s->candidates[0].reason);
}

/* Whether the previous choice can remain, which is in use on devices that run. */
static bool
keep(const struct hy_hal *hal, struct hy_selection *s)
{
	const struct hy_selection *before = hy_hal_selection_for(hal, s->family->node.name,
		s->target);
	const struct hy_candidate *c;

	if (!hal->keeps || before == NULL || !hy_target_runs(hal, s->target) ||
		!hy_target_runs(hal, before->on) ||
		(s->target.kind == HY_TARGET_PORT && hal->life[s->target.id].fresh))
		return false;
	s->chosen = before->chosen;
	s->on = before->on;
	s->forced = s->chosen == hy_rule_forced(hal, s->family, s->target);
	c = hy_candidate_chosen(s);
	return c != NULL && c->fate != HY_FATE_CONSTRAINED && c->fate != HY_FATE_BIND_FAILED;
}

static int
pick(const struct hy_hal *hal, struct hy_slate *slate, struct hy_selection *s, char *error)
{
	const int rc = choose(hal, s, error);

	if (rc == 0 || !keep(hal, s))
		return rc;
	slate->unfit = true;
	return 0;
}

bool
hy_targets_meet(struct hy_target a, struct hy_target b)
{
	const struct hy_target parts[2][2] = { { hy_target_device(a), hy_target_peer(a) },
		{ hy_target_device(b), hy_target_peer(b) } };

	for (unsigned int i = 0; i < 4; i++) {
		const struct hy_target *p = &parts[0][i / 2], *q = &parts[1][i % 2];

		if (p->kind == q->kind && p->id != q->id)
			return false;
	}
	return true;
}

/* Whether a selection has no other choice: the user forced it, or it was kept. */
static bool
is_settled(struct hy_selection *s)
{
	return s->forced || hy_candidate_chosen(s)->fate > HY_FATE_OUTSCORED;
}

/* Strikes the choice of one of two selections: 1; -ENOTSUP if both are settled. */
static int
give_way(struct hy_selection *s, const struct hy_with *with, struct hy_selection *other,
	char *error)
{
	const char *verb = with->excludes ? "excludes" : "requires";
	const char *colon = with->why != NULL ? ": " : "",
		   *why = with->why != NULL ? with->why : "";
	char where[HY_NAME_SIZE];

	hy_target_text(other->target, where, sizeof(where));
	if (is_settled(s) && is_settled(other))
		return HY_REASON(-ENOTSUP, error, HY_HAL_ERROR_SIZE,
			"%s=%s %s %s=%s for %s, where %s is forced%s%s", s->family->node.name,
			s->chosen->impl.variant, verb, with->family, with->variant, where,
			other->chosen->impl.variant, colon, why);
	if (is_settled(s))
		hy_candidate_decide(hy_candidate_chosen(other), HY_FATE_CONSTRAINED,
			"%s=%s, which was forced, %s %s=%s%s%s", s->family->node.name,
			s->chosen->impl.variant, verb, with->family, with->variant, colon, why);
	else
		hy_candidate_decide(hy_candidate_chosen(s), HY_FATE_CONSTRAINED,
			"%s %s=%s: for %s it is %s%s%s", verb, with->family, with->variant, where,
			other->chosen->impl.variant, colon, why);
	return 1;
}

/* Strikes a choice that requires an unknown family, or one without such a target: 1. */
static int
give_up(struct hy_selection *s, const struct hy_with *with, char *error)
{
	if (is_settled(s))
		return HY_REASON(-ENOTSUP, error, HY_HAL_ERROR_SIZE,
			"%s=%s requires %s=%s, which does not exist", s->family->node.name,
			s->chosen->impl.variant, with->family, with->variant);
	hy_candidate_decide(hy_candidate_chosen(s), HY_FATE_CONSTRAINED,
		"requires %s=%s, which does not exist", with->family, with->variant);
	return 1;
}

/* Strikes the first candidate that violates a selection's constraints: 1. 0: none; or an error. */
static int
constraints_check(struct hy_slate *slate, struct hy_selection *s, char *error)
{
	for (const struct hy_with *with = s->chosen->with;
		with < &s->chosen->with[HY_WITH_MAX] && with->family != NULL; with++) {
		bool found = false;

		for (unsigned int i = 0; i < slate->n; i++) {
			struct hy_selection *other = &slate->selections[i];

			if (strcmp(other->family->node.name, with->family) != 0 ||
				!hy_targets_meet(s->target, other->target))
				continue;
			found = true;
			if ((strcmp(other->chosen->impl.variant, with->variant) == 0) ==
				with->excludes)
				return give_way(s, with, other, error);
		}
		if (!found && !with->excludes)
			return give_up(s, with, error);
	}
	return 0;
}

/* Restores candidates that were struck because of choices that may have changed since. */
static void
constraints_forget(struct hy_slate *slate)
{
	for (unsigned int i = 0; i < slate->n; i++) {
		struct hy_selection *s = &slate->selections[i];

		for (unsigned int c = 0; c < s->nb_candidates; c++) {
			if (s->candidates[c].fate != HY_FATE_CONSTRAINED)
				continue;
			s->candidates[c].fate = HY_FATE_OUTSCORED;
			s->candidates[c].reason[0] = '\0';
		}
	}
}

int
hy_slate_resolve(const struct hy_hal *hal, struct hy_slate *slate, char *error)
{
	int struck = 1;

	constraints_forget(slate);
	while (struck > 0) {
		struck = 0;
		for (unsigned int i = 0; i < slate->n; i++) {
			const int rc = pick(hal, slate, &slate->selections[i], error);

			if (rc < 0)
				return rc;
		}
		for (unsigned int i = 0; i < slate->n && struck == 0; i++)
			struck = constraints_check(slate, &slate->selections[i], error);
	}
	return struck;
}
