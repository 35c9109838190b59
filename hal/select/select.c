/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection: judges the variants of each family for each target, and explains the choice. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"
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

/* A rule for the target takes precedence over one for all. */
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

/* Whether a capability is one of a target, or of a device of a pair. */
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

/* Explains why a need is not met. */
static void
need_explain(struct hy_candidate *c, const struct hy_need *need, const struct hy_capability *cap)
{
	if (cap->level < HY_LEVEL_YES)
		snprintf(c->reason, sizeof(c->reason), "needs %s: %s (%s)", hy_need_name(need),
			hy_level_name(cap->level), cap->reason);
	else
		snprintf(c->reason, sizeof(c->reason),
			"needs %s of %" PRIu64 ": it is %" PRIu64 ", %s", hy_need_name(need),
			need->at_least, cap->value, cap->reason);
}

/* Appends to the explanation of a candidate's score, as far as there is room. */
#define part_add(c, ...) \
	snprintf((c)->parts + strlen((c)->parts), sizeof((c)->parts) - strlen((c)->parts), \
		__VA_ARGS__)

/* Explains the bonus of a need that is met: "30, -15 for ip4_routes of 10000 or more". */
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

/* Gives the reason why a device or target does not run. */
static void
rest_explain(struct hy_candidate *c, const struct hy_hal *hal, struct hy_target target)
{
	const struct hy_capability *running = hy_hal_capability(hal, target, HY_CAP_RUNNING);

	snprintf(c->reason, sizeof(c->reason), "needs running: %s (%s)",
		hy_level_name(running->level), running->reason);
}

/* Whether a candidate's device exists and runs; if not, gives the reason. */
static bool
device_runs(const struct hy_hal *hal, struct hy_candidate *c)
{
	if (c->on.id == HY_NO_DEVICE)
		snprintf(c->reason, sizeof(c->reason), "there is none of the %s that it runs on",
			hy_kind_names(c->on.kind));
	else if (!hy_target_runs(hal, c->on))
		rest_explain(c, hal, c->on);
	else
		return true;
	return false;
}

/*
 * Whether a candidate suits its target as far as that runs or does not; if not, gives the reason.
 */
static bool
life_suits(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	const struct hy_variant *variant = c->variant;
	const bool binds = variant->prepare != NULL || variant->bind != NULL;
	bool parks = false;

	if (variant->on != HY_TARGET_PROCESS && !device_runs(hal, c))
		return false;
	if (hy_target_runs(hal, s->target)) {
		if (variant->parked)
			strcpy(c->reason, "stands in while the port does not run");
		return !variant->parked;
	}
	for (unsigned int i = 0; i < s->nb_candidates; i++)
		parks |= s->candidates[i].variant->parked;
	if (variant->parked || (!parks && !binds))
		return true;
	rest_explain(c, hal, s->target);
	return false;
}

/* Whether a variant's own predicate, if any, accepts the target; if not, gives the reason. */
static bool
predicate_says(const struct hy_hal *hal, struct hy_candidate *c)
{
	strcpy(c->reason, "its predicate says no");
	return c->variant->fits == NULL ||
		c->variant->fits(hal, c->on, c->reason, sizeof(c->reason));
}

/* Whether a variant with prepare() was asked about all its ports; if not, gives the reason. */
static bool
is_prepared(const struct hy_hal *hal, struct hy_target target, struct hy_candidate *c)
{
	uint16_t at = 0, port;
	int unasked = -1;

	if (c->variant->prepare == NULL || hal->planning)
		return true;
	while (hy_port_next(hal, target, c->on, &at, &port)) {
		const struct hy_trial *trial = hy_trial_find(hal, c->variant, port);

		if (trial == NULL && unasked < 0)
			unasked = port;
		if (trial == NULL || trial->ok)
			continue;
		strcpy(c->reason, trial->reason);
		return false;
	}
	if (unasked >= 0 && target.kind == HY_TARGET_PORT)
		strcpy(c->reason, "the port was configured without asking it");
	else if (unasked >= 0)
		snprintf(c->reason, sizeof(c->reason), "port %d was configured without asking it",
			unasked);
	return unasked < 0;
}

/* Computes and explains a candidate's score. Returns whether its mandatory needs are met. */
static bool
needs_judge(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&c->variant->needs[i]); i++) {
		const struct hy_need *need = &c->variant->needs[i];
		const struct hy_capability *cap = hy_need_subject(hal, s, c, need);

		if (hy_need_met(need, cap)) {
			c->score += need->bonus;
			if (need->bonus != 0)
				bonus_explain(c, need);
		} else if (need->bonus == 0) {
			need_explain(c, need, cap);
			return false;
		}
	}
	return true;
}

/* Decides whether a candidate fits. Until one is chosen, all that fit are outscored. */
static void
candidate_judge(const struct hy_hal *hal, const struct hy_selection *s, struct hy_candidate *c)
{
	c->score = c->variant->score;
	if (is_denied(hal, c->variant, s->target)) {
		c->fate = HY_FATE_DENIED;
		strcpy(c->reason, "denied by the user");
	} else if (!life_suits(hal, s, c) || !needs_judge(hal, s, c)) {
		c->fate = HY_FATE_NEEDS_UNMET;
	} else if (!predicate_says(hal, c)) {
		c->fate = HY_FATE_REJECTED;
	} else if (!is_prepared(hal, s->target, c)) {
		c->fate = HY_FATE_BIND_FAILED;
	} else {
		c->fate = HY_FATE_OUTSCORED;
		c->reason[0] = '\0';
	}
}

/* Best first: fitting before unfitting ones, then by score, then by name. */
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

void
hy_candidate_decide(struct hy_candidate *c, enum hy_fate fate, const char *format, ...)
{
	size_t len;
	va_list ap;

	c->fate = fate;
	va_start(ap, format);
	vsnprintf(c->reason, sizeof(c->reason), format, ap);
	va_end(ap);
	len = strlen(c->reason);
	if (c->parts[0] != '\0')
		snprintf(c->reason + len, sizeof(c->reason) - len, " (its own: %s)", c->parts);
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
			hy_candidate_decide(c, c->fate, "%s was forced", s->chosen->impl.variant);
		else if (c->score == s->candidates[0].score)
			hy_candidate_decide(c, c->fate, "%s scores %d too, and comes first by name",
				s->chosen->impl.variant, c->score);
		else
			hy_candidate_decide(c, c->fate, "%s scores %d", s->chosen->impl.variant,
				s->candidates[0].score);
	}
}

static const char *
choice_reason(const struct hy_selection *s, const struct hy_candidate *chosen)
{
	if (chosen->fate > HY_FATE_OUTSCORED)
		return "as before, although it no longer fits";
	if (s->forced)
		return "forced by the user";
	return s->nb_candidates == 1 ? "the only one" : "best score of what fits";
}

/* Explains the outcome of a selection, and sorts the chosen candidate first. */
static void
selection_explain(const struct hy_hal *hal, struct hy_selection *s)
{
	struct hy_candidate *chosen = hy_candidate_chosen(s);

	hy_candidate_decide(chosen, HY_FATE_CHOSEN, "%s", choice_reason(s, chosen));
	qsort(s->candidates, s->nb_candidates, sizeof(*s->candidates), candidate_order);
	outscored_explain(s);
	for (unsigned int i = 0; i < s->nb_candidates; i++)
		hy_candidate_change(hal, s, &s->candidates[i]);
}

int
hy_no_memory(char *error)
{
	return HY_REASON(-ENOMEM, error, HY_HAL_ERROR_SIZE, "out of memory");
}

/* Iterates over the targets of a kind; *at starts at 0. */
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

/* Iterates over the targets that a variant could run on, for a selection's target. */
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

/* Lists the candidates of a variant: one without a device if none exists. NULL: only counts. */
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

/* Fills in a selection's candidates, best first. */
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

void
hy_slate_free(struct hy_slate *slate)
{
	for (unsigned int i = 0; i < slate->n; i++)
		free(slate->selections[i].candidates);
	free(slate->selections);
	*slate = (struct hy_slate){ 0 };
}

/* Adds the judged selection of a family for a target. */
static int
selection_add(const struct hy_hal *hal, struct hy_slate *slate, const struct hy_family *family,
	struct hy_target target)
{
	struct hy_selection *s = hy_list_room(&slate->selections, slate->n, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	slate->n++;
	s->family = family;
	s->target = target;
	return selection_judge(hal, s);
}

int
hy_slate_make(const struct hy_hal *hal, struct hy_slate *slate, char *error)
{
	const struct hy_family *const *families;
	const unsigned int nb_families = hy_families(&families);
	struct hy_target target;
	int rc = 0;

	*slate = (struct hy_slate){ 0 };
	for (unsigned int f = 0; f < nb_families; f++)
		for (unsigned int at = 0;
			rc == 0 && target_next(hal, families[f]->target, &at, &target);)
			rc = selection_add(hal, slate, families[f], target);
	if (rc == 0)
		return 0;
	hy_slate_free(slate);
	return hy_no_memory(error);
}

int
hy_slate_select(struct hy_hal *hal, char *error, hy_slate_apply *apply, void *arg)
{
	struct hy_slate slate;
	int rc = hy_slate_make(hal, &slate, error);

	if (rc < 0)
		return rc;
	rc = hy_slate_bind(hal, &slate, error);
	if (rc < 0) {
		hy_bindings_rollback(hal);
		hy_slate_free(&slate);
		return rc;
	}
	rc = hy_fusions_offer(hal, error);
	if (rc == 0 && apply != NULL)
		rc = apply(hal, &slate, arg, error);
	if (rc < 0) {
		hy_fusions_undo(hal);
		hy_bindings_rollback(hal);
		hy_slate_free(&slate);
		return rc;
	}
	hy_bindings_commit(hal, &slate);
	for (unsigned int i = 0; i < slate.n; i++)
		selection_explain(hal, &slate.selections[i]);
	hy_slate_free(&hal->selected);
	hal->selected = slate;
	hal->outdated = false;
	hal->fusions_due = false;
	return 0;
}

int
hy_hal_select(struct hy_hal *hal, char *error)
{
	const struct hy_variant *orphan = hy_variant_orphan();
	const int rc = hy_slate_select(hal, error, NULL, NULL);

	if (orphan != NULL && rc != -ENOMEM)
		HY_LOG(WARNING, "variant '%s' belongs to the unknown family '%s'",
			orphan->impl.variant, orphan->family);
	if (rc == 0)
		hy_bindings_release(hal);
	return rc;
}

const struct hy_selection *
hy_hal_selection_for(const struct hy_hal *hal, const char *family, struct hy_target target)
{
	for (unsigned int i = 0; i < hal->selected.n; i++) {
		const struct hy_selection *s = &hal->selected.selections[i];

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
hy_hal_selection(const struct hy_hal *hal, const char *family, uint16_t port)
{
	return hy_hal_selection_for(hal, family, (struct hy_target){ HY_TARGET_PORT, port });
}
