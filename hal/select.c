/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection: for each family and target, the best variant that fits. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal.h"
#include "log.h"

static bool
rule_applies(const struct hy_rule *rule, struct hy_target target)
{
	return rule->port < 0 || (target.kind == HY_TARGET_PORT && rule->port == target.id);
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

/* The variant that is forced for a target, if any; a rule for the port beats one for all. */
static const struct hy_variant *
forced_for(const struct hy_hal *hal, const struct hy_family *family, struct hy_target target)
{
	const struct hy_variant *forced = NULL;

	for (unsigned int i = 0; i < hal->nb_rules; i++) {
		const struct hy_rule *rule = &hal->rules[i];

		if (rule->deny || !rule_applies(rule, target) ||
			strcmp(rule->variant->family, family->node.name) != 0)
			continue;
		if (rule->port >= 0)
			return rule->variant;
		forced = rule->variant;
	}
	return forced;
}

static const char *
need_name(const struct hy_need *need)
{
	return need->declared != NULL ? need->declared : hy_cap_name(need->cap);
}

/* Whether a need is met; if not, says why not. */
static bool
need_met(const struct hy_hal *hal, struct hy_target target, const struct hy_need *need,
	char *reason, size_t size)
{
	const struct hy_capability *cap = need->declared != NULL
		? hy_hal_declared(hal, need->declared)
		: hy_hal_capability(hal, target, need->cap);

	if (cap->level < HY_LEVEL_YES) {
		snprintf(reason, size, "needs %s: %s (%s)", need_name(need),
			hy_level_name(cap->level), cap->reason);
		return false;
	}
	if (cap->value < need->at_least) {
		snprintf(reason, size, "needs %s of %" PRIu64 ": it is %" PRIu64 ", %s",
			need_name(need), need->at_least, cap->value, cap->reason);
		return false;
	}
	return true;
}

/* Adds to a candidate's reason, as far as there is room. */
static void __rte_format_printf(2, 3) reason_add(struct hy_candidate *c, const char *format, ...)
{
	const size_t len = strlen(c->reason);
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->reason + len, sizeof(c->reason) - len, format, ap);
	va_end(ap);
}

/* Notes what a need that is met makes of the score: "30, -15 for ip4_routes of 10000 or more". */
static void
bonus_explain(struct hy_candidate *c, const struct hy_need *need)
{
	if (c->reason[0] == '\0')
		reason_add(c, "%d", c->variant->score);
	reason_add(c, ", %+d for %s", need->bonus, need_name(need));
	if (need->at_least > 0)
		reason_add(c, " of %" PRIu64 " or more", need->at_least);
	if (need->why != NULL)
		reason_add(c, ": %s", need->why);
}

/* Decides whether a candidate fits, and its score, which is explained where it has parts. */
static void
candidate_judge(const struct hy_hal *hal, struct hy_target target, struct hy_candidate *c)
{
	const struct hy_variant *variant = c->variant;
	char unmet[HY_REASON_SIZE];

	c->score = variant->score;
	c->fate = HY_FATE_OUTSCORED;
	if (is_denied(hal, variant, target)) {
		c->fate = HY_FATE_DENIED;
		snprintf(c->reason, sizeof(c->reason), "denied by the user");
		return;
	}
	for (unsigned int i = 0; i < HY_NEEDS_MAX && hy_need_asks(&variant->needs[i]); i++) {
		const struct hy_need *need = &variant->needs[i];

		if (need_met(hal, target, need, unmet, sizeof(unmet))) {
			c->score += need->bonus;
			if (need->bonus != 0)
				bonus_explain(c, need);
		} else if (need->bonus == 0) {
			c->fate = HY_FATE_NEEDS_UNMET;
			strcpy(c->reason, unmet);
			return;
		}
	}
	unmet[0] = '\0';
	if (variant->fits != NULL && !variant->fits(hal, target, unmet, sizeof(unmet))) {
		c->fate = HY_FATE_REJECTED;
		strcpy(c->reason, unmet[0] == '\0' ? "its predicate says no" : unmet);
	}
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
	return strcmp(ca->variant->impl.variant, cb->variant->impl.variant);
}

/* Says why a candidate was or was not chosen, before what its score is made of. */
static void __rte_format_printf(2, 3) reason_set(struct hy_candidate *c, const char *format, ...)
{
	char parts[sizeof(c->reason)];
	va_list ap;

	strcpy(parts, c->reason);
	va_start(ap, format);
	vsnprintf(c->reason, sizeof(c->reason), format, ap);
	va_end(ap);
	if (parts[0] != '\0')
		reason_add(c, " (its own: %s)", parts);
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

static int
no_memory(char *error)
{
	snprintf(error, HY_HAL_ERROR_SIZE, "out of memory");
	return -ENOMEM;
}

/* Fills in a selection's candidates, the forced or best one marked as chosen and first. */
static int
choose(const struct hy_hal *hal, struct hy_selection *s, char *error)
{
	const struct hy_variant *forced = forced_for(hal, s->family, s->target);
	const struct hy_variant *const *variants;
	char where[HY_NAME_SIZE];

	s->nb_candidates = hy_variants(s->family, &variants);
	s->candidates = calloc(s->nb_candidates, sizeof(*s->candidates));
	if (s->candidates == NULL)
		return no_memory(error);
	hy_target_text(s->target, where, sizeof(where));
	for (unsigned int i = 0; i < s->nb_candidates; i++) {
		struct hy_candidate *c = &s->candidates[i];

		c->variant = variants[i];
		candidate_judge(hal, s->target, c);
		if (c->variant != forced)
			continue;
		if (c->fate != HY_FATE_OUTSCORED) {
			snprintf(error, HY_HAL_ERROR_SIZE, "%s=%s cannot be had for %s: %s",
				s->family->node.name, forced->impl.variant, where, c->reason);
			return -ENOTSUP;
		}
		c->fate = HY_FATE_CHOSEN;
		reason_set(c, "forced by the user");
	}
	qsort(s->candidates, s->nb_candidates, sizeof(*s->candidates), candidate_order);
	if (s->candidates[0].fate > HY_FATE_OUTSCORED) {
		snprintf(error, HY_HAL_ERROR_SIZE, "no variant of %s is left for %s: %s: %s",
			s->family->node.name, where, s->candidates[0].variant->impl.variant,
			s->candidates[0].reason);
		return -ENOTSUP;
	}
	s->forced = forced != NULL;
	s->chosen = s->candidates[0].variant;
	if (!s->forced) {
		s->candidates[0].fate = HY_FATE_CHOSEN;
		reason_set(&s->candidates[0],
			s->nb_candidates == 1 ? "the only one" : "best score of what fits");
	}
	outscored_explain(s);
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
count_ports(const struct hy_hal *hal)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		n += hal->ports[p].present;
	return n;
}

int
hy_hal_select(struct hy_hal *hal, char *error)
{
	const struct hy_variant *orphan = hy_variant_orphan();
	const struct hy_family *const *families;
	const unsigned int nb_families = hy_families(&families);
	const unsigned int most = nb_families * RTE_MAX(count_ports(hal), 1u);
	struct hy_selection *all = calloc(RTE_MAX(most, 1u), sizeof(*all));
	unsigned int n = 0;
	int rc = 0;

	if (all == NULL)
		return no_memory(error);
	if (orphan != NULL)
		HY_LOG(WARNING, "variant '%s' is of a family '%s', which there is not",
			orphan->impl.variant, orphan->family);
	for (unsigned int f = 0; f < nb_families && rc == 0; f++) {
		const enum hy_target_kind kind = families[f]->target;
		const uint16_t nb_targets = kind == HY_TARGET_PORT ? RTE_MAX_ETHPORTS : 1;

		for (uint16_t t = 0; t < nb_targets && rc == 0; t++) {
			if (kind == HY_TARGET_PORT && !hal->ports[t].present)
				continue;
			all[n].family = families[f];
			all[n].target = (struct hy_target){ .kind = kind, .id = t };
			rc = choose(hal, &all[n++], error);
		}
	}
	if (rc < 0) {
		selections_free(all, n);
		return rc;
	}
	selections_free(hal->selections, hal->nb_selections);
	hal->selections = all;
	hal->nb_selections = n;
	return 0;
}

const struct hy_selection *
hy_hal_selection(const struct hy_hal *hal, const char *family, uint16_t port)
{
	for (unsigned int i = 0; i < hal->nb_selections; i++) {
		const struct hy_selection *s = &hal->selections[i];

		if (strcmp(s->family->node.name, family) != 0)
			continue;
		if (s->target.kind == HY_TARGET_PROCESS || s->target.id == port)
			return s;
	}
	return NULL;
}
