/* SPDX-License-Identifier: BSD-3-Clause */
/* Staged rules, in order of their ids. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

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
	int rc = hy_flow_rule_check(rule, NULL);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->lock);
	rc = stage_add(policy, rule);
	pthread_mutex_unlock(&policy->lock);
	return rc;
}

int
hy_policy_replace(struct hy_policy *policy, const struct hy_flow_rule *rule)
{
	int rc = hy_flow_rule_check(rule, NULL);
	uint32_t at;
	bool there;

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->lock);
	at = place_of(policy, rule->id, &there);
	if (there) {
		policy->staged[at] = *rule;
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->lock);
	return there ? 0 : -ENOENT;
}

int
hy_policy_remove(struct hy_policy *policy, uint32_t id)
{
	uint32_t at;
	bool there;

	pthread_mutex_lock(&policy->lock);
	at = place_of(policy, id, &there);
	if (there) {
		policy->nb_staged--;
		memmove(&policy->staged[at], &policy->staged[at + 1],
			(policy->nb_staged - at) * sizeof(*policy->staged));
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->lock);
	return there ? 0 : -ENOENT;
}

void
hy_policy_abort(struct hy_policy *policy)
{
	const struct policy_view *view;

	pthread_mutex_lock(&policy->lock);
	view = policy->view;
	/* There is room: all that is published was staged once, and room only grows. */
	for (uint32_t i = 0; i < view->shown.nb_rules; i++)
		policy->staged[i] = view->rules[view->by_id[i]].rule;
	policy->nb_staged = view->shown.nb_rules;
	policy->changed = false;
	pthread_mutex_unlock(&policy->lock);
}

int
policy_stage_all(struct hy_policy *policy, const struct hy_flow_rule *rules, uint32_t n)
{
	int rc;

	pthread_mutex_lock(&policy->lock);
	rc = make_room(policy, n);
	if (rc == 0) {
		if (n > 0)
			memcpy(policy->staged, rules, n * sizeof(*rules));
		policy->nb_staged = n;
		policy->changed = true;
	}
	pthread_mutex_unlock(&policy->lock);
	return rc;
}
