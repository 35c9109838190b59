/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection: judges the variants of each family for each target, and says why one was chosen. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "lib/graph/internal/log.h"

static bool
rule_applies(const struct hy_rule *rule, struct hy_target target)
{
	return rule->at < 0 || rule->at == (int)hy_target_index(target);
}

static bool
is_denied(const struct hy_hal *hal, const struct hy_variant *variant, struct hy_target target)
{
	for (unsigned int i = 0; i < hal->nb_rules; i++) {
		const struct hy_rule *rule = &hal->rules[i];

		if (rule->deny && rule->variant == variant && rule_applies(rule, target))
			return true;
	}
	return false;
}

/* A rule for the port beats one for all. */
const struct hy_variant *
hy_rule_forced(const struct hy_hal *hal, const struct hy_family *family, struct hy_target target)
{
	const struct hy_variant *forced = NULL;

	for (unsigned int i = 0; i < hal->nb_rules; i++) {
		const struct hy_rule *rule = &hal->rules[i];

		if (rule->deny || !rule_applies(rule, target) ||
			strcmp(rule->variant->family, family->node.name) != 0)
			continue;
		if (rule->at >= 0)
			return rule->variant;
		forced = rule->variant;
	}
	return forced;
}

const char *
hy_need_name(const struct hy_need *need)
{
	if (need->declared != NULL)
		return need->declared;
	return need->key != NULL ? need->key : hy_cap_name(need->cap);
}

enum hy_cap
hy_need_cap(const struct hy_need *need)
{
	return need->key != NULL ? hy_cap_find(need->key) : need->cap;
}

/* Whether a capability is one of a target itself, or of a device of a pair. */
static bool
has_kind(struct hy_target target, enum hy_cap cap)
{
	return hy_cap_concerns(target.kind, cap) ||
		hy_cap_concerns(hy_target_device(target).kind, cap) ||
		hy_cap_concerns(hy_target_peer(target).kind, cap);
}

const struct hy_capability *
hy_need_subject(const struct hy_hal *hal, const struct hy_selection *s,
	const struct hy_candidate *c, const struct hy_need *need)
{
	static const struct hy_capability unregistered = { .reason = "no pack has registered it" };
	const enum hy_cap cap = hy_need_cap(need);

	if (need->declared != NULL)
		return hy_hal_declared(hal, need->declared);
	if (cap == HY_CAP_NONE)
		return &unregistered;
	return hy_hal_capability(hal,
		has_kind(c->on, cap) || !has_kind(s->target, cap) ? c->on : s->target, cap);
}

bool
hy_need_met(const struct hy_need *need, const struct hy_capability *cap)
{
	return cap->level >= HY_LEVEL_YES && cap->value >= need->at_least;
}

/* Why a need is not met. */
static void
need_explain(const struct hy_need *need, const struct hy_capability *cap, char *reason, size_t size)
{
	if (cap->level < HY_LEVEL_YES)
		snprintf(reason, size, "needs %s: %s (%s)", hy_need_name(need),
			hy_level_name(cap->level), cap->reason);
	else
		snprintf(reason, size, "needs %s of %" PRIu64 ": it is %" PRIu64 ", %s",
			hy_need_name(need), need->at_least, cap->value, cap->reason);
}

/* Adds to what a candidate's score is made of, as far as there is room. */
static void __rte_format_printf(2, 3) part_add(struct hy_candidate *c, const char *format, ...)
{
	const size_t len = strlen(c->parts);
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->parts + len, sizeof(c->parts) - len, format, ap);
	va_end(ap);
}

/* Notes what a need that is met makes of the score: "30, -15 for ip4_routes of 10000 or more". */
static void
bonus_explain(struct hy_candidate *c, const struct hy_need *need)
{
	if (c->parts[0] == '\0')
		part_add(c, "%d", c->variant->score);
	part_add(c, ", %+d for %s", need->bonus, hy_need_name(need));
	if (need->at_least > 0)
		part_add(c, " of %" PRIu64 " or more", need->at_least);
	if (need->why != NULL)
		part_add(c, ": %s", need->why);
}

/* Whether there is a device for a candidate, and it runs; if not, says why. */
static bool
device_runs(const struct hy_hal *hal, const struct hy_candidate *c, char *reason, size_t size)
{
	const struct hy_capability *running = hy_hal_capability(hal, c->on, HY_CAP_RUNNING);

	if (c->on.id == HY_NO_DEVICE)
		snprintf(reason, size, "there is none of the %s that it runs on",
			hy_kind_names(c->on.kind));
	else if (!hy_target_runs(hal, c->on))
		snprintf(reason, size, "needs running: %s (%s)", hy_level_name(running->level),
			running->reason);
	else
		return true;
	return false;
}

/* Whether a variant and its family suit a port that runs, or does not; if not, says why. */
static bool
life_suits(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_candidate *c,
	char *reason, size_t size)
{
	const struct hy_capability *running = hy_hal_capability(hal, s->target, HY_CAP_RUNNING);
	const struct hy_variant *variant = c->variant;
	const bool binds = variant->prepare != NULL || variant->bind != NULL;
	bool parks = false;

	if (variant->on != HY_TARGET_PROCESS && !device_runs(hal, c, reason, size))
		return false;
	if (hy_target_runs(hal, s->target)) {
		if (variant->parked)
			snprintf(reason, size, "stands in while the port does not run");
		return !variant->parked;
	}
	for (unsigned int i = 0; i < s->nb_candidates; i++)
		parks |= s->candidates[i].variant->parked;
	if (variant->parked || (!parks && !binds))
		return true;
	snprintf(reason, size, "needs running: %s (%s)", hy_level_name(running->level),
		running->reason);
	return false;
}

/* Whether a variant's own predicate lets it pass, if it has one; if not, says why. */
static bool
predicate_says(const struct hy_hal *hal, struct hy_target target, const struct hy_variant *variant,
	char *reason, size_t size)
{
	snprintf(reason, size, "its predicate says no");
	return variant->fits == NULL || variant->fits(hal, target, reason, size);
}

/* Whether a variant was asked how ports are to be configured, if it wants to be; if not, says why. */
static bool
is_prepared(const struct hy_hal *hal, struct hy_target target, const struct hy_candidate *c,
	char *reason, size_t size)
{
	const struct hy_variant *variant = c->variant;
	uint16_t at = 0, port;
	int unasked = -1;

	if (variant->prepare == NULL || hal->planning)
		return true;
	while (hy_port_next(hal, target, c->on, &at, &port)) {
		const struct hy_trial *trial = hy_trial_find(hal, variant, port);

		if (trial == NULL && unasked < 0)
			unasked = port;
		if (trial == NULL || trial->ok)
			continue;
		snprintf(reason, size, "%s", trial->reason);
		return false;
	}
	if (unasked >= 0 && target.kind == HY_TARGET_PORT)
		snprintf(reason, size, "the port was configured without asking it");
	else if (unasked >= 0)
		snprintf(reason, size, "port %d was configured without asking it", unasked);
	return unasked < 0;
}

/* Adds up a candidate's score, which is explained where it has parts. Whether its needs are met. */
static bool
needs_judge(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c,
	char *reason, size_t size)
{
	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&c->variant->needs[i]); i++) {
		const struct hy_need *need = &c->variant->needs[i];

		const struct hy_capability *cap = hy_need_subject(hal, s, c, need);

		if (hy_need_met(need, cap)) {
			c->score += need->bonus;
			if (need->bonus != 0)
				bonus_explain(c, need);
		} else if (need->bonus == 0) {
			need_explain(need, cap, reason, size);
			return false;
		}
	}
	return true;
}

/* Decides whether a candidate fits; until one is chosen, all that do are outscored. */
static void
candidate_judge(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	const struct hy_variant *variant = c->variant;
	char reason[HY_REASON_SIZE];

	c->score = variant->score;
	c->fate = HY_FATE_OUTSCORED;
	if (is_denied(hal, variant, s->target)) {
		c->fate = HY_FATE_DENIED;
		strcpy(reason, "denied by the user");
	} else if (!life_suits(hal, s, c, reason, sizeof(reason)) ||
		!needs_judge(hal, s, c, reason, sizeof(reason))) {
		c->fate = HY_FATE_NEEDS_UNMET;
	} else if (!predicate_says(hal, c->on, variant, reason, sizeof(reason))) {
		c->fate = HY_FATE_REJECTED;
	} else if (!is_prepared(hal, s->target, c, reason, sizeof(reason))) {
		c->fate = HY_FATE_BIND_FAILED;
	}
	if (c->fate != HY_FATE_OUTSCORED)
		strcpy(c->reason, reason);
}

/* Best first: what fits before what does not, then score, then name. */
static int
candidate_order(const void *a, const void *b)
{
	const struct hy_candidate *ca = a, *cb = b;
	const bool fits_a = ca->fate <= HY_FATE_OUTSCORED, fits_b = cb->fate <= HY_FATE_OUTSCORED;

	if (ca->fate == HY_FATE_CHOSEN || cb->fate == HY_FATE_CHOSEN)
		return ca->fate == HY_FATE_CHOSEN ? -1 : 1;
	if (fits_a != fits_b)
		return fits_a ? -1 : 1;
	if (ca->score != cb->score)
		return ca->score > cb->score ? -1 : 1;
	if (ca->variant != cb->variant)
		return strcmp(ca->variant->impl.variant, cb->variant->impl.variant);
	return hy_target_index(ca->on) < hy_target_index(cb->on) ? -1 : 1;
}

/* Says why a candidate was or was not chosen, before what its score is made of. */
static void __rte_format_printf(2, 0)
	reason_vset(struct hy_candidate *c, const char *format, va_list ap)
{
	size_t len;

	vsnprintf(c->reason, sizeof(c->reason), format, ap);
	len = strlen(c->reason);
	if (c->parts[0] != '\0')
		snprintf(c->reason + len, sizeof(c->reason) - len, " (its own: %s)", c->parts);
}

static void __rte_format_printf(2, 3) reason_set(struct hy_candidate *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	reason_vset(c, format, ap);
	va_end(ap);
}

void
hy_candidate_strike(struct hy_candidate *c, enum hy_fate fate, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	reason_vset(c, format, ap);
	va_end(ap);
	c->fate = fate;
}

void
hy_candidate_restore(struct hy_candidate *c)
{
	c->fate = HY_FATE_OUTSCORED;
	c->reason[0] = '\0';
}

struct hy_candidate *
hy_candidate_of(struct hy_selection *s, const struct hy_variant *variant)
{
	struct hy_candidate *found = NULL;

	for (unsigned int i = 0; i < s->nb_candidates; i++) {
		struct hy_candidate *c = &s->candidates[i];

		if (c->variant == variant &&
			(found == NULL ||
				(found->fate > HY_FATE_OUTSCORED && c->fate <= HY_FATE_OUTSCORED)))
			found = c;
	}
	return found;
}

struct hy_candidate *
hy_candidate_chosen(struct hy_selection *s)
{
	for (unsigned int i = 0; i < s->nb_candidates; i++)
		if (s->candidates[i].variant == s->chosen &&
			hy_target_same(s->candidates[i].on, s->on))
			return &s->candidates[i];
	return NULL;
}

static void
outscored_explain(struct hy_selection *s)
{
	for (unsigned int i = 1; i < s->nb_candidates; i++) {
		struct hy_candidate *c = &s->candidates[i];

		if (c->fate != HY_FATE_OUTSCORED)
			continue;
		if (s->forced)
			reason_set(c, "%s was forced", s->chosen->impl.variant);
		else if (c->score == s->candidates[0].score)
			reason_set(c, "%s scores %d too, and comes first by name",
				s->chosen->impl.variant, c->score);
		else
			reason_set(c, "%s scores %d", s->chosen->impl.variant,
				s->candidates[0].score);
	}
}

/* Puts a selection's outcome in words, the chosen one first. */
static void
selection_explain(const struct hy_hal *hal, struct hy_selection *s)
{
	struct hy_candidate *chosen = hy_candidate_chosen(s);

	chosen->fate = HY_FATE_CHOSEN;
	if (s->forced)
		reason_set(chosen, "forced by the user");
	else
		reason_set(chosen,
			s->nb_candidates == 1 ? "the only one" : "best score of what fits");
	qsort(s->candidates, s->nb_candidates, sizeof(*s->candidates), candidate_order);
	outscored_explain(s);
	for (unsigned int i = 0; i < s->nb_candidates; i++)
		hy_candidate_change(hal, s, &s->candidates[i]);
}

int
hy_no_memory(char *error)
{
	snprintf(error, HY_HAL_ERROR_SIZE, "out of memory");
	return -ENOMEM;
}

/* The next target of a kind; at counts on, from 0. */
static bool
target_next(const struct hy_hal *hal, enum hy_target_kind kind, unsigned int *at,
	struct hy_target *target)
{
	*target = (struct hy_target){ .kind = kind };
	if (kind == HY_TARGET_PROCESS)
		return (*at)++ == 0;
	while (kind == HY_TARGET_PORT && *at < RTE_MAX_ETHPORTS) {
		target->id = (uint16_t)(*at)++;
		if (hal->ports[target->id].present)
			return true;
	}
	while (kind != HY_TARGET_PORT && *at < hal->list.n) {
		*target = hal->list.devices[(*at)++].target;
		if (target->kind == kind && hy_target_index(*target) < HY_TARGETS_MAX)
			return true;
	}
	return false;
}

/* The next target that a variant could run on, for a selection's target; at counts on, from 0. */
static bool
on_next(const struct hy_hal *hal, const struct hy_selection *s, const struct hy_variant *variant,
	unsigned int *at, struct hy_target *on)
{
	if (variant->on == HY_TARGET_PROCESS || variant->on == s->target.kind) {
		*on = s->target;
		return (*at)++ == 0;
	}
	while (target_next(hal, variant->on, at, on))
		if (hy_targets_meet(s->target, *on))
			return true;
	return false;
}

/* Lists the candidates of a variant; one without a device, if there is none. NULL: counts them. */
static unsigned int
candidates_list(const struct hy_hal *hal, const struct hy_selection *s,
	const struct hy_variant *variant, struct hy_candidate *list)
{
	struct hy_target on;
	unsigned int n = 0;

	for (unsigned int at = 0; on_next(hal, s, variant, &at, &on); n++)
		if (list != NULL)
			list[n] = (struct hy_candidate){ .variant = variant, .on = on };
	if (n > 0)
		return n;
	if (list != NULL)
		list[0] = (struct hy_candidate){ .variant = variant,
			.on = { .kind = variant->on, .id = HY_NO_DEVICE } };
	return 1;
}

/* Fills in a selection's candidates, those that fit first, the best before all. */
static int
selection_judge(const struct hy_hal *hal, struct hy_selection *s)
{
	const struct hy_variant *const *variants;
	const unsigned int nb_variants = hy_variants(s->family, &variants);
	unsigned int n = 0;

	for (unsigned int v = 0; v < nb_variants; v++)
		s->nb_candidates += candidates_list(hal, s, variants[v], NULL);
	s->candidates = calloc(s->nb_candidates, sizeof(*s->candidates));
	if (s->candidates == NULL)
		return -ENOMEM;
	for (unsigned int v = 0; v < nb_variants; v++)
		n += candidates_list(hal, s, variants[v], &s->candidates[n]);
	for (unsigned int i = 0; i < n; i++)
		candidate_judge(hal, s, &s->candidates[i]);
	qsort(s->candidates, n, sizeof(*s->candidates), candidate_order);
	return 0;
}

static void
selections_free(struct hy_selection *selections, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		free(selections[i].candidates);
	free(selections);
}

static unsigned int
count_targets(const struct hy_hal *hal, enum hy_target_kind kind)
{
	struct hy_target target;
	unsigned int n = 0;

	for (unsigned int at = 0; target_next(hal, kind, &at, &target);)
		n++;
	return n;
}

void
hy_slate_free(struct hy_slate *slate)
{
	selections_free(slate->selections, slate->n);
	*slate = (struct hy_slate){ 0 };
}

int
hy_slate_make(const struct hy_hal *hal, struct hy_slate *slate, char *error)
{
	const struct hy_family *const *families;
	const unsigned int nb_families = hy_families(&families);
	struct hy_selection *all;
	unsigned int most = 1;

	for (unsigned int f = 0; f < nb_families; f++)
		most += count_targets(hal, families[f]->target);
	all = calloc(most, sizeof(*all));
	*slate = (struct hy_slate){ .selections = all };
	if (all == NULL)
		return hy_no_memory(error);
	for (unsigned int f = 0; f < nb_families; f++) {
		struct hy_target target;

		for (unsigned int at = 0; target_next(hal, families[f]->target, &at, &target);) {
			struct hy_selection *s = &all[slate->n++];

			s->family = families[f];
			s->target = target;
			if (selection_judge(hal, s) < 0) {
				hy_slate_free(slate);
				return hy_no_memory(error);
			}
		}
	}
	return 0;
}

void
hy_slate_take(struct hy_hal *hal, struct hy_slate *slate)
{
	for (unsigned int i = 0; i < slate->n; i++)
		selection_explain(hal, &slate->selections[i]);
	selections_free(hal->selections, hal->nb_selections);
	hal->selections = slate->selections;
	hal->nb_selections = slate->n;
	hal->outdated = false;
}

int
hy_hal_select(struct hy_hal *hal, char *error)
{
	const struct hy_variant *orphan = hy_variant_orphan();
	struct hy_slate slate;
	int rc = hy_slate_make(hal, &slate, error);

	if (rc < 0)
		return rc;
	if (orphan != NULL)
		HY_LOG(WARNING, "variant '%s' belongs to the unknown family '%s'",
			orphan->impl.variant, orphan->family);
	rc = hy_slate_bind(hal, &slate, error);
	if (rc < 0) {
		hy_bindings_rollback(hal);
		hy_slate_free(&slate);
		return rc;
	}
	hy_bindings_commit(hal, &slate);
	hy_bindings_release(hal);
	hy_slate_take(hal, &slate);
	return 0;
}

const struct hy_selection *
hy_slate_find(const struct hy_selection *selections, unsigned int n, const char *family,
	struct hy_target target)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct hy_selection *s = &selections[i];

		if (strcmp(s->family->node.name, family) != 0)
			continue;
		if (s->target.kind == HY_TARGET_PROCESS ||
			(s->target.kind == target.kind &&
				hy_target_index(s->target) == hy_target_index(target)))
			return s;
	}
	return NULL;
}

const struct hy_selection *
hy_hal_selection_for(const struct hy_hal *hal, const char *family, struct hy_target target)
{
	return hy_slate_find(hal->selections, hal->nb_selections, family, target);
}

const struct hy_selection *
hy_hal_selection(const struct hy_hal *hal, const char *family, uint16_t port)
{
	return hy_hal_selection_for(hal, family, (struct hy_target){ HY_TARGET_PORT, port });
}
