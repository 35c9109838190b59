/* SPDX-License-Identifier: BSD-3-Clause */
/* Staged rules, in order of their ids. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/graph/internal/log.h"
#include "policy.h"

int
policy_rule_allowed(const struct hy_policy *policy, const struct hy_flow_rule *rule, char *error)
{
	if (policy->params.access)
		return 0;
	if (rule->action != HY_RULE_CLASSIFY)
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE,
			"action: only rules of access lists have it; others have class CLASS");
	if (rule->log)
		return HY_REASON(-EINVAL, error, HY_POLICY_ERROR_SIZE,
			"log: only rules of access lists have it");
	return 0;
}

static int
rule_check(const struct hy_policy *policy, const struct hy_flow_rule *rule)
{
	char error[HY_POLICY_ERROR_SIZE];
	int rc = hy_flow_rule_check(rule, NULL);

	return rc < 0 ? rc : policy_rule_allowed(policy, rule, error);
}

/* The place of an id, or where it would be. */
static uint32_t
place_of(const struct hy_policy *policy, uint32_t id, bool *there)
{
	uint32_t low = 0, high = policy->nb_staged;

	/* Ids mostly come in order. */
	if (high > 0 && policy->staged[high - 1].id < id)
		low = high;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (policy->staged[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	*there = low < policy->nb_staged && policy->staged[low].id == id;
	return low;
}

static int
make_room(struct hy_policy *policy, uint32_t n)
{
	uint32_t room = RTE_MAX(policy->room, 64u);
	struct hy_flow_rule *grown;

	if (n <= policy->room)
		return 0;
	while (room < n)
		room *= 2;
	grown = realloc(policy->staged, room * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	policy->staged = grown;
	policy->room = room;
	return 0;
}

static int
stage_add(struct hy_policy *policy, const struct hy_flow_rule *rule)
{
	bool there;
	const uint32_t at = place_of(policy, rule->id, &there);
	int rc;

	if (there)
		return -EEXIST;
	if (policy->nb_staged == policy->params.max_rules)
		return -ENOSPC;
	rc = make_room(policy, policy->nb_staged + 1);
	if (rc < 0)
		return rc;
	memmove(&policy->staged[at + 1], &policy->staged[at],
		(policy->nb_staged - at) * sizeof(*rule));
	policy->staged[at] = *rule;
	policy->nb_staged++;
	policy->changed = true;
	return 0;
}

int
hy_policy_add(struct hy_policy *policy, const struct hy_flow_rule *rule)
{
	int rc = rule_check(policy, rule);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->changes);
	rc = stage_add(policy, rule);
	pthread_mutex_unlock(&policy->changes);
	return rc;
}

int
hy_policy_replace(struct hy_policy *policy, const struct hy_flow_rule *rule)
{
	int rc = rule_check(policy, rule);
	uint32_t at;
	bool there;

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->changes);
	at = place_of(policy, rule->id, &there);
	if (there) {
		policy->staged[at] = *rule;
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->changes);
	return there ? 0 : -ENOENT;
}

int
hy_policy_remove(struct hy_policy *policy, uint32_t id)
{
	uint32_t at;
	bool there;

	pthread_mutex_lock(&policy->changes);
	at = place_of(policy, id, &there);
	if (there) {
		policy->nb_staged--;
		memmove(&policy->staged[at], &policy->staged[at + 1],
			(policy->nb_staged - at) * sizeof(*policy->staged));
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->changes);
	return there ? 0 : -ENOENT;
}

void
hy_policy_abort(struct hy_policy *policy)
{
	const struct policy_view *view;
	const struct policy_rules *set;

	pthread_mutex_lock(&policy->changes);
	view = policy->view;
	set = view->set;
	/* There is room: all that is published was staged once, and room only grows. */
	for (uint32_t i = 0; i < set->n; i++)
		policy->staged[i] = set->rules[set->by_id[i]].rule;
	policy->nb_staged = set->n;
	policy->staged_default = view->shown.default_action;
	policy->staged_truncated = view->shown.deny_truncated;
	policy->changed = false;
	pthread_mutex_unlock(&policy->changes);
}

/* Only access lists permit and deny. */
static int
permits(const struct hy_policy *policy, enum hy_rule_action action)
{
	return policy->params.access && (action == HY_RULE_PERMIT || action == HY_RULE_DENY)
		? 0
		: -EINVAL;
}

int
hy_policy_default_set(struct hy_policy *policy, enum hy_rule_action action)
{
	int rc = permits(policy, action);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->changes);
	policy->changed |= policy->staged_default != action;
	policy->staged_default = (uint8_t)action;
	pthread_mutex_unlock(&policy->changes);
	return 0;
}

int
hy_policy_truncated_set(struct hy_policy *policy, enum hy_rule_action action)
{
	int rc = permits(policy, action);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->changes);
	policy->changed |= policy->staged_truncated != (action == HY_RULE_DENY);
	policy->staged_truncated = action == HY_RULE_DENY;
	pthread_mutex_unlock(&policy->changes);
	return 0;
}

int
policy_stage_all(struct hy_policy *policy, const struct policy_staged *staged)
{
	int rc;

	pthread_mutex_lock(&policy->changes);
	rc = make_room(policy, staged->n);
	if (rc == 0) {
		if (staged->n > 0)
			memcpy(policy->staged, staged->rules, staged->n * sizeof(*staged->rules));
		policy->nb_staged = staged->n;
		policy->staged_default = staged->default_action;
		policy->staged_truncated = staged->deny_truncated;
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->changes);
	return rc;
}
