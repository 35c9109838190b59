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

/* Stages a rule in an existing place. */
static void
stage_put(struct hy_policy *policy, uint32_t at, const struct hy_flow_rule *rule)
{
	policy->staged[at] = *rule;
	policy->places[at] = (struct policy_place){ .stamp = ++policy->stamp, .id = rule->id };
	policy->changed = true;
}

/* Moves the places from one on to another. */
static void
stage_move(struct hy_policy *policy, uint32_t from, uint32_t to)
{
	const uint32_t n = policy->nb_staged - from;

	memmove(&policy->staged[to], &policy->staged[from], n * sizeof(*policy->staged));
	memmove(&policy->places[to], &policy->places[from], n * sizeof(*policy->places));
}

/* The place of an id, or where it would be. */
static uint32_t
place_of(const struct hy_policy *policy, uint32_t id, bool *there)
{
	uint32_t low = 0, high = policy->nb_staged;

	/* Ids mostly come in order. */
	if (high > 0 && policy->places[high - 1].id < id)
		low = high;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (policy->places[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	*there = low < policy->nb_staged && policy->places[low].id == id;
	return low;
}

static int
make_room(struct hy_policy *policy, uint32_t n)
{
	uint32_t room = RTE_MAX(policy->room, 64u);
	struct hy_flow_rule *grown;
	struct policy_place *places;

	if (n <= policy->room)
		return 0;
	while (room < n)
		room *= 2;
	grown = realloc(policy->staged, room * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	policy->staged = grown;
	places = realloc(policy->places, room * sizeof(*places));
	if (places == NULL)
		return -ENOMEM;
	policy->places = places;
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
	stage_move(policy, at, at + 1);
	stage_put(policy, at, rule);
	policy->nb_staged++;
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
	if (there)
		stage_put(policy, at, rule);
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
		stage_move(policy, at + 1, at);
		policy->nb_staged--;
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
	for (uint32_t i = 0; i < set->n; i++) {
		policy->places[i] = set->by_id[i];
		policy->staged[i] = set->rules[set->by_id[i].rank].rule;
	}
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
		for (uint32_t i = 0; i < staged->n; i++)
			stage_put(policy, i, &staged->rules[i]);
		policy->nb_staged = staged->n;
		policy->staged_default = staged->default_action;
		policy->staged_truncated = staged->deny_truncated;
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->changes);
	return rc;
}
