/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: rules in order of precedence, found by id too, and compiled. */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "policy.h"

static int
by_precedence(const void *a, const void *b)
{
	const struct hy_flow_rule *ra = &((const struct hy_policy_rule *)a)->rule;
	const struct hy_flow_rule *rb = &((const struct hy_policy_rule *)b)->rule;

	if (ra->precedence != rb->precedence)
		return ra->precedence < rb->precedence ? -1 : 1;
	return ra->id < rb->id ? -1 : ra->id > rb->id;
}

static int
by_id(const void *a, const void *b, void *arg)
{
	const struct hy_policy_rule *rules = arg;
	const uint32_t ia = rules[*(const uint32_t *)a].rule.id;
	const uint32_t ib = rules[*(const uint32_t *)b].rule.id;

	return ia < ib ? -1 : ia > ib;
}

static int
view_fill(struct policy_view *view, const struct hy_flow_rule *rules, uint32_t n, int socket)
{
	view->rules = rte_malloc_socket("hy_policy_rules", n * sizeof(*view->rules),
		RTE_CACHE_LINE_SIZE, socket);
	view->by_id = malloc(n * sizeof(*view->by_id));
	if (view->rules == NULL || view->by_id == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		view->rules[i] = (struct hy_policy_rule){ .rule = rules[i] };
		view->by_id[i] = i;
	}
	qsort(view->rules, n, sizeof(*view->rules), by_precedence);
	qsort_r(view->by_id, n, sizeof(*view->by_id), by_id, view->rules);
	view->shown.rules = view->rules;
	view->shown.nb_rules = n;
	return policy_acl_create(&view->shown, socket);
}

int
policy_view_create(const struct hy_policy *policy, const struct hy_flow_rule *rules, uint32_t n,
	struct policy_view **out)
{
	const int socket = policy->params.socket;
	struct policy_view *view = rte_zmalloc_socket("hy_policy_view", sizeof(*view),
		RTE_CACHE_LINE_SIZE, socket);
	int rc = 0;

	if (view == NULL)
		return -ENOMEM;
	view->holders = 1;
	view->shown.version = policy->view == NULL ? 0 : policy->view->shown.version + 1;
	view->shown.default_action = policy->staged_default;
	view->shown.deny_truncated = policy->staged_truncated;
	if (n > 0)
		rc = view_fill(view, rules, n, socket);
	if (rc < 0) {
		policy_view_drop(view);
		return rc;
	}
	*out = view;
	return 0;
}

void
policy_view_drop(struct policy_view *view)
{
	if (view == NULL || --view->holders > 0)
		return;
	policy_acl_destroy(&view->shown);
	free(view->by_id);
	rte_free(view->rules);
	rte_free(view);
}

const struct hy_policy_rule *
hy_policy_view_find(const struct hy_policy_view *shown, uint32_t id)
{
	const struct policy_view *view = (const struct policy_view *)shown;
	uint32_t low = 0, high = shown->nb_rules;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct hy_policy_rule *rule = &view->rules[view->by_id[middle]];

		if (rule->rule.id == id)
			return rule;
		if (rule->rule.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct hy_policy_view *
hy_policy_view_hold(struct hy_policy *policy)
{
	struct policy_view *view;

	pthread_mutex_lock(&policy->lock);
	view = policy->view;
	view->holders++;
	pthread_mutex_unlock(&policy->lock);
	return &view->shown;
}

void
hy_policy_view_release(struct hy_policy *policy, const struct hy_policy_view *view)
{
	pthread_mutex_lock(&policy->lock);
	policy_view_drop((struct policy_view *)(uintptr_t)view);
	pthread_mutex_unlock(&policy->lock);
}
