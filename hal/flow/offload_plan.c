/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: the state of each rule of a view, carried from view to view by rule id. */

#include <stdlib.h>
#include <string.h>

#include "offload.h"

uint32_t
hy_offload_plan_find(const struct plan *plan, uint32_t id)
{
	const struct hy_policy_rule *rule = hy_policy_view_find(plan->view, id);

	return rule == NULL ? NO_SLOT : (uint32_t)(rule - plan->view->rules);
}

uint64_t
hy_offload_hits(const struct hy_offload *o, uint32_t index)
{
	uint64_t hits = 0;

	for (unsigned int w = 0; w < o->workers; w++)
		hits += __atomic_load_n(&hy_policy_counters(o->policy, w)[index].packets,
			__ATOMIC_RELAXED);
	return hits + hy_policy_hardware(o->policy, index);
}

/* The state of a rule from the previous plan, if its match is unchanged. */
static struct rule_state
carried(const struct hy_offload *o, const struct hy_policy_view *view,
	const struct hy_policy_rule *rule)
{
	const struct plan *old = o->plan;
	struct rule_state state = { .slot = NO_SLOT,
		.needer = rule->rule.id, /* none */
		.reason = hy_offload_reason_first(o, view, &rule->rule) };
	const uint32_t rank = old == NULL ? NO_SLOT : hy_offload_plan_find(old, rule->rule.id);

	state.hits = hy_offload_hits(o, rule->index);
	if (rank == NO_SLOT || state.reason == REASON_LOG || state.reason == REASON_CUT ||
		hy_offload_is_drop(o, &rule->rule) !=
			hy_offload_is_drop(o, &old->view->rules[rank].rule) ||
		!hy_flow_match_equal(&old->view->rules[rank].rule.match, &rule->rule.match))
		return state;
	/* A rule whose class has changed has another counter. */
	if (old->view->rules[rank].index == rule->index) {
		state.hits = old->rules[rank].hits;
		state.rate = old->rules[rank].rate;
	}
	state.needer = old->rules[rank].needer;
	state.slot = old->rules[rank].slot;
	if (state.slot != NO_SLOT || old->rules[rank].reason >= REASON_OTHER)
		state.reason = old->rules[rank].reason;
	return state;
}

struct plan *
hy_offload_plan_make(struct hy_offload *o, const struct hy_policy_view *view)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (plan == NULL)
		return NULL;
	plan->view = view;
	/* Never of 0 bytes: malloc(0) may return NULL. */
	plan->rules = malloc(((size_t)view->nb_rules + 1) * sizeof(*plan->rules));
	for (uint32_t r = 0; plan->rules != NULL && r < view->nb_rules; r++)
		plan->rules[r] = carried(o, view, &view->rules[r]);
	if (plan->rules != NULL && hy_offload_pairs_make(plan, o->plan))
		return plan;
	hy_offload_plan_free(o, plan);
	return NULL;
}

void
hy_offload_plan_free(struct hy_offload *o, struct plan *plan)
{
	if (plan == NULL)
		return;
	hy_offload_pairs_free(plan);
	if (plan->held)
		hy_policy_view_release(o->policy, plan->view);
	free(plan->rules);
	free(plan);
}

uint8_t
hy_offload_reason_of(struct hy_offload *o, const char *text)
{
	const size_t length = strnlen(text, sizeof(o->reasons[0]) - 1);

	for (unsigned int r = REASON_GIVEN; r < REASONS; r++) {
		char *const known = o->reasons[r];

		if (known[0] == '\0')
			memcpy(known, text, length); /* the rest is zeroes */
		if (strncmp(known, text, length) == 0 && known[length] == '\0')
			return (uint8_t)r;
	}
	return REASON_OTHER;
}
