/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: rules in order of precedence, found by id too, and compiled. */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "policy.h"

int
policy_build(const struct hy_policy *policy, const struct policy_view *view, const bool *cancel,
	struct policy_base **base)
{
	const struct policy_budget budget = { .max_memory = policy->params.max_memory,
		.max_build_ms = policy->params.max_build_ms,
		.only = policy->only };

	return policy_base_create(policy->name, view->set, view->socket, cancel, &budget, base);
}

int
policy_build_copy(const struct hy_policy *policy, const struct policy_view *view,
	const struct policy_base *first, const bool *cancel, struct policy_base **base)
{
	const struct policy_budget budget = { .only = first->tables.engine->name };

	return policy_base_create(policy->name, view->set, view->socket, cancel, &budget, base);
}

/*
 * The tables of a present view, for an overlay. Without a QSBR variable nobody could exchange them
 * later.
 */
static struct policy_base *
present_base(struct hy_policy *policy, const struct policy_view *present)
{
	const struct hy_policy_compiled *compiled;
	struct policy_base *base = NULL;

	if (policy->params.qsbr == NULL || present == NULL)
		return NULL;
	pthread_mutex_lock(&policy->lock);
	compiled = present->shown.compiled;
	if (compiled != NULL && compiled->base->rules->n >= POLICY_OVERLAY_LEAST) {
		base = compiled->base;
		policy_base_hold(base);
	}
	pthread_mutex_unlock(&policy->lock);
	return base;
}

/* first: the view whose copy this is, or NULL. */
static int
compile(struct hy_policy *policy, struct policy_view *view, const struct policy_view *present,
	const struct policy_view *first)
{
	/* A thread that builds for the present view may exchange its base between two copies. */
	const bool built = first != NULL && first->shown.compiled->overlay == NULL;
	struct policy_base *base = built ? NULL : present_base(policy, present);
	struct hy_policy_compiled *compiled = NULL;
	int rc = -E2BIG;

	if (base != NULL)
		rc = policy_compiled_create(base, view->set, view->socket, &compiled);
	policy_base_drop(base);
	if (rc == -E2BIG) {
		rc = first == NULL
			? policy_build(policy, view, NULL, &base)
			: policy_build_copy(policy, view, first->shown.compiled->base, NULL, &base);
		if (rc < 0)
			return rc;
		rc = policy_compiled_create(base, view->set, view->socket, &compiled);
		policy_base_drop(base);
	}
	view->shown.compiled = compiled;
	return rc;
}

static int
view_fill(struct hy_policy *policy, struct policy_view *view, const struct policy_view *present,
	const struct policy_view *first)
{
	const struct policy_list list = { policy->staged, policy->places, policy->nb_staged };
	/* Of all copies, the first one's counters are the policy's. */
	int rc = policy_rules_create(&list, policy->view == NULL ? NULL : policy->view->set,
		view->socket, &view->set);

	if (rc < 0)
		return rc;
	view->shown.rules = view->set->rules;
	view->shown.nb_rules = view->set->n;
	return view->set->n > 0 ? compile(policy, view, present, first) : 0;
}

/* A view on a NUMA node, without copies. */
static int
view_create(struct hy_policy *policy, int socket, const struct policy_view *present,
	const struct policy_view *first, struct policy_view **out)
{
	struct policy_view *view = rte_zmalloc_socket("hy_policy_view", sizeof(*view),
		RTE_CACHE_LINE_SIZE, socket);
	int rc;

	if (view == NULL)
		return -ENOMEM;
	view->holders = 1;
	view->socket = socket;
	view->shown.version = policy->view == NULL ? 0 : policy->view->shown.version + 1;
	view->shown.default_action = policy->staged_default;
	view->shown.deny_truncated = policy->staged_truncated;
	rc = view_fill(policy, view, present, first);
	if (rc < 0) {
		policy_view_drop(view);
		return rc;
	}
	*out = view;
	return 0;
}

int
policy_view_create(struct hy_policy *policy, struct policy_view **out)
{
	const struct policy_view *present = policy->view;
	uint32_t nodes = policy->params.nodes;
	struct policy_view *first = NULL, **next = &first;

	if (__builtin_popcount(nodes) < 2)
		nodes = 0;
	do {
		const int socket = nodes == 0 ? policy->params.socket : __builtin_ctz(nodes);
		int rc = view_create(policy, socket, present, first, next);

		if (rc < 0) {
			policy_view_drop(first);
			return rc;
		}
		present = present == NULL ? NULL : present->copy;
		next = &(*next)->copy;
		nodes &= nodes - 1;
	} while (nodes != 0);
	*out = first;
	return 0;
}

void
policy_view_drop(struct policy_view *view)
{
	if (view == NULL || --view->holders > 0)
		return;
	policy_view_drop(view->copy);
	policy_compiled_free(view->replaced);
	policy_compiled_free((struct hy_policy_compiled *)(uintptr_t)view->shown.compiled);
	policy_rules_drop(view->set);
	rte_free(view);
}

const struct hy_policy_rule *
hy_policy_view_find(const struct hy_policy_view *shown, uint32_t id)
{
	const struct policy_rules *set = ((const struct policy_view *)shown)->set;
	uint32_t low = 0, high = shown->nb_rules;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct policy_place *place = &set->by_id[middle];

		if (place->id == id)
			return &set->rules[place->rank];
		if (place->id < id)
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
