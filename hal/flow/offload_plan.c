/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: what the engine knows of each rule of a view, handed on from view to view by rule id. */

#include <stdlib.h>
#include <string.h>

#include "offload.h"

/* Arrays are never empty: malloc(0) may be NULL. */
static size_t
room(uint32_t n)
{
	return (size_t)n + 1;
}

static int
by_id(const void *a, const void *b, void *arg)
{
	const struct hy_policy_rule *rules = arg;
	const uint32_t x = rules[*(const uint32_t *)a].rule.id;
	const uint32_t y = rules[*(const uint32_t *)b].rule.id;

	return (x > y) - (x < y);
}

uint32_t
hy_offload_plan_find(const struct plan *plan, uint32_t id)
{
	uint32_t low = 0, high = plan->view->nb_rules;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (plan->view->rules[plan->by_id[mid]].rule.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == plan->view->nb_rules || plan->view->rules[plan->by_id[low]].rule.id != id)
		return NO_SLOT;
	return plan->by_id[low];
}

uint64_t
hy_offload_hits(const struct hy_offload *o, uint32_t index)
{
	uint64_t hits = 0;

	for (unsigned int w = 0; w < o->workers; w++)
		hits += __atomic_load_n(&hy_policy_counters(o->policy, w)[index], __ATOMIC_RELAXED);
	return hits;
}

/* What is known of a rule from the plan before, if it asks for the same as it did. */
static struct rule_state
carried(const struct hy_offload *o, const struct hy_policy_rule *rule)
{
	const struct plan *old = o->plan;
	struct rule_state state = { .slot = NO_SLOT, .reason = REASON_UNTRIED };
	const uint32_t rank = old == NULL ? NO_SLOT : hy_offload_plan_find(old, rule->rule.id);

	state.hits = hy_offload_hits(o, rule->index);
	if (rank == NO_SLOT ||
		memcmp(&old->view->rules[rank].rule.match, &rule->rule.match,
			sizeof(rule->rule.match)) != 0)
		return state;
	/* Before the comparison of counters: a rule with another class has another counter. */
	if (old->view->rules[rank].index == rule->index) {
		state.hits = old->rules[rank].hits;
		state.rate = old->rules[rank].rate;
	}
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
	plan->rules = malloc(room(view->nb_rules) * sizeof(*plan->rules));
	plan->by_id = malloc(room(view->nb_rules) * sizeof(*plan->by_id));
	if (plan->rules == NULL || plan->by_id == NULL) {
		hy_offload_plan_free(o, plan);
		return NULL;
	}
	for (uint32_t r = 0; r < view->nb_rules; r++) {
		plan->rules[r] = carried(o, &view->rules[r]);
		plan->by_id[r] = r;
	}
	qsort_r(plan->by_id, view->nb_rules, sizeof(*plan->by_id), by_id,
		(void *)(uintptr_t)view->rules);
	return plan;
}

void
hy_offload_plan_free(struct hy_offload *o, struct plan *plan)
{
	if (plan == NULL)
		return;
	if (plan->held)
		hy_policy_view_release(o->policy, plan->view);
	free(plan->rules);
	free(plan->by_id);
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
