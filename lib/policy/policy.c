/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates, commits and frees policies, and the views that workers read. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_string_fns.h>

#include <hy_grace.h>

#include "policy.h"

void
policy_free(struct hy_policy *policy)
{
	policy_view_drop(policy->retired);
	policy_view_drop(policy->view);
	policy_hits_destroy(policy);
	free(policy->listeners);
	free(policy->staged);
	free(policy->places);
	pthread_cond_destroy(&policy->rebuild.wake);
	pthread_mutex_destroy(&policy->lock);
	pthread_mutex_destroy(&policy->changes);
	rte_free(policy);
}

/* Each worker reads one of the pointers: it sees this view or the one before. */
static void
show(struct hy_policy *policy)
{
	for (int node = SOCKET_ID_ANY; node < RTE_MAX_NUMA_NODES; node++) {
		const struct policy_view *view = policy->view;

		for (const struct policy_view *v = view->copy; v != NULL; v = v->copy)
			if (v->socket == node)
				view = v;
		__atomic_store_n(&policy->shown.view[node + 1], &view->shown, __ATOMIC_RELEASE);
	}
}

int
hy_policy_create(const char *name, const struct hy_policy_params *params, struct hy_policy **out)
{
	struct hy_policy *policy;
	int rc;

	if (name[0] == '\0' || strlen(name) > POLICY_NAME_MAX || params->max_rules == 0 ||
		params->max_rules > POLICY_RULES_MAX || params->workers == 0 ||
		params->workers > RTE_MAX_LCORE)
		return -EINVAL;
	policy = rte_zmalloc_socket("hy_policy", sizeof(*policy), RTE_CACHE_LINE_SIZE,
		params->socket);
	if (policy == NULL)
		return -ENOMEM;
	strcpy(policy->name, name);
	policy->params = *params;
	policy->staged_default = (uint8_t)policy_default(policy);
	pthread_mutex_init(&policy->changes, NULL);
	pthread_cond_init(&policy->rebuild.wake, NULL);
	policy->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	rc = policy_hits_create(policy);
	if (rc == 0)
		rc = policy_view_create(policy, &policy->view);
	if (rc < 0) {
		policy_free(policy);
		return rc;
	}
	show(policy);
	*out = policy;
	return 0;
}

void
hy_policy_destroy(struct hy_policy *policy)
{
	if (policy == NULL)
		return;
	if (!policy_rebuild_end(policy))
		return;
	policy_reclaim(policy, true);
	policy_free(policy);
}

const char *
hy_policy_name(const struct hy_policy *policy)
{
	return policy->name;
}

int
policy_reclaim(struct hy_policy *policy, bool wait)
{
	struct rte_rcu_qsbr *qsbr = policy->params.qsbr;

	if (policy->retired == NULL)
		return 0;
	if (qsbr != NULL && !hy_grace_over(qsbr, policy->token) &&
		(!wait || !hy_grace_wait(qsbr, policy->token)))
		return -ETIMEDOUT;
	policy_hits_retire(policy, policy->view);
	policy_listeners_after(policy);
	policy_view_drop(policy->retired);
	policy->retired = NULL;
	return 0;
}

/* From here on nothing can fail. */
static void
publish(struct hy_policy *policy, struct policy_view *view)
{
	policy_hits_publish(policy, view);
	policy->retired = policy->view;
	policy->view = view;
	policy->changed = false;
	show(policy);
	policy_listeners_publish(policy);
	if (policy->params.qsbr != NULL)
		policy->token = hy_grace_start(policy->params.qsbr);
}

/* Whether there is something to publish, and it may be: 1, 0, or a negative errno. */
static int
may_publish(struct hy_policy *policy)
{
	int rc;

	pthread_mutex_lock(&policy->lock);
	rc = policy_reclaim(policy, true);
	if (rc == 0 && policy->changed)
		rc = policy->params.qsbr == NULL && policy->nb_users > 0 ? -EBUSY : 1;
	pthread_mutex_unlock(&policy->lock);
	return rc;
}

static int
publish_prepared(struct hy_policy *policy, struct policy_view *view)
{
	int rc = 0;

	if (policy->params.qsbr == NULL && policy->nb_users > 0)
		rc = -EBUSY; /* it came while rules were compiled */
	if (rc == 0) {
		policy_hits_plan(policy, view);
		rc = policy_listeners_prepare(policy, view);
	}
	if (rc < 0) {
		policy_view_drop(view);
		return rc;
	}
	publish(policy, view);
	return 0;
}

/* Compiles without the lock: counts can be read meanwhile. */
static int
commit(struct hy_policy *policy)
{
	struct policy_view *view;
	int rc = may_publish(policy);

	if (rc <= 0)
		return rc;
	rc = policy_view_create(policy, &view);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->lock);
	rc = publish_prepared(policy, view);
	if (rc == 0)
		policy_rebuild(policy);
	pthread_mutex_unlock(&policy->lock);
	return rc;
}

int
policy_commit(struct hy_policy *policy)
{
	int rc;

	pthread_mutex_lock(&policy->changes);
	rc = commit(policy);
	pthread_mutex_unlock(&policy->changes);
	return rc;
}

int
hy_policy_commit(struct hy_policy *policy)
{
	int rc = policy_commit(policy);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&policy->lock);
	policy_reclaim(policy, true); /* or the next commit does */
	pthread_mutex_unlock(&policy->lock);
	return 0;
}

int
hy_policy_engine(struct hy_policy *policy, struct hy_policy_engine_info *info)
{
	const struct hy_policy_compiled *compiled;

	*info = (struct hy_policy_engine_info){ .name = "none", .why = "there are no rules" };
	pthread_mutex_lock(&policy->lock);
	compiled = policy->view->shown.compiled;
	if (compiled != NULL) {
		const struct policy_tables *tables = &compiled->base->tables;

		info->name = tables->engine->name;
		for (const struct policy_view *v = policy->view; v != NULL; v = v->copy) {
			info->bytes += v->shown.compiled->base->tables.bytes;
			info->copies++;
		}
		info->build_us = tables->build_us;
		info->base_rules = compiled->base->rules->n;
		if (compiled->overlay != NULL) {
			info->overlay_rules = compiled->overlay->nb_added;
			info->removed = compiled->overlay->nb_gone;
		}
		rte_strscpy(info->why, tables->why, sizeof(info->why));
	}
	pthread_mutex_unlock(&policy->lock);
	return 0;
}

void
hy_policy_engine_print(struct hy_policy *policy, FILE *out)
{
	struct hy_policy_engine_info info;

	hy_policy_engine(policy, &info);
	fprintf(out, "%s, ", info.name);
	if (info.copies > 1)
		fprintf(out, "%u copies, ", info.copies);
	fprintf(out, "%" PRIu64 " KiB, built in %" PRIu64 " ms: %s\n", (info.bytes + 1023) / 1024,
		info.build_us / 1000, info.why);
}

uint32_t
hy_policy_rules_get(struct hy_policy *policy, struct hy_flow_rule *rules, uint32_t n)
{
	uint32_t nb_rules;

	pthread_mutex_lock(&policy->lock);
	nb_rules = policy->view->shown.nb_rules;
	for (uint32_t rank = 0; nb_rules <= n && rank < nb_rules; rank++)
		rules[rank] = policy->view->shown.rules[rank].rule;
	pthread_mutex_unlock(&policy->lock);
	return nb_rules;
}

void
hy_policy_marks_set(struct hy_policy *policy, uint16_t port, const struct hy_mark_table *table)
{
	__atomic_store_n(&policy->shown.marks[port], table, __ATOMIC_RELEASE);
}

struct rte_rcu_qsbr *
hy_policy_qsbr(const struct hy_policy *policy)
{
	return policy->params.qsbr;
}

unsigned int
hy_policy_workers(const struct hy_policy *policy)
{
	return policy->params.workers;
}

void
hy_policy_use(struct hy_policy *policy)
{
	pthread_mutex_lock(&policy->lock);
	policy->nb_users++;
	pthread_mutex_unlock(&policy->lock);
}

void
hy_policy_unuse(struct hy_policy *policy)
{
	pthread_mutex_lock(&policy->lock);
	policy->nb_users--;
	pthread_mutex_unlock(&policy->lock);
}
