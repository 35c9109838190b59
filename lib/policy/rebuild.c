/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that are built in the background, while an overlay stands in for them. They are exchanged
 * within the view, whose ranks stay as they are: nobody but the view's readers is concerned.
 */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include <hy_grace.h>

#include "lib/graph/internal/dpdk.h"
#include "lib/graph/internal/log.h"
#include "policy.h"

/*
 * Frees what a view had before, if its workers have left it, and nobody else holds the view, who might
 * be reading it. Otherwise it goes with the view, and until then no other exchange is made.
 */
static void
replaced_free(struct hy_policy *policy, struct policy_view *view, uint64_t token)
{
	const bool left = hy_grace_wait(policy->params.qsbr, token);

	pthread_mutex_lock(&policy->lock);
	if (left && view->holders == 2 && policy->view == view)
		for (struct policy_view *v = view; v != NULL; v = v->copy) {
			policy_compiled_free(v->replaced);
			v->replaced = NULL;
		}
	policy_view_drop(view);
	pthread_mutex_unlock(&policy->lock);
}

/* Rules that a compiled form tries or replaces apart from its tables. */
static uint32_t
changes(const struct hy_policy_compiled *compiled)
{
	const struct policy_overlay *o = compiled->overlay;

	return o == NULL ? 0 : o->nb_added + o->nb_gone;
}

/* Tables of a view's copies, in order. */
struct bases {
	struct policy_base *of[RTE_MAX_NUMA_NODES];
};

static void
bases_drop(struct bases *bases)
{
	for (unsigned int i = 0; i < RTE_DIM(bases->of); i++)
		policy_base_drop(bases->of[i]);
}

/* For all copies of a view, or for none. */
static int
bases_build(const struct hy_policy *policy, const struct policy_view *view, struct bases *bases)
{
	const bool *cancel = &policy->rebuild.end;
	unsigned int i = 0;
	int rc = policy_build(policy, view, cancel, &bases->of[0]);

	for (view = view->copy; view != NULL && rc == 0; view = view->copy)
		rc = policy_build_copy(policy, view, bases->of[0], cancel, &bases->of[++i]);
	return rc;
}

/* What the view's copies are to have: forms by the bases, kept in `replaced`. Returns 0 or an error. */
static int
forms_create(struct policy_view *view, const struct bases *bases)
{
	unsigned int i = 0;
	int rc = 0;

	for (struct policy_view *v = view; v != NULL && rc == 0; v = v->copy)
		rc = policy_compiled_create(bases->of[i++], v->set, v->socket, &v->replaced);
	if (rc == 0 && changes(view->replaced) < changes(view->shown.compiled))
		return 0;
	for (struct policy_view *v = view; v != NULL; v = v->copy) {
		policy_compiled_free(v->replaced);
		v->replaced = NULL;
	}
	return rc < 0 ? rc : -EALREADY;
}

/*
 * Puts tables under the present view, which may be a later one than they were built for: then there
 * is an overlay again, and more to build. Tables of that view's own commit may be nearer to it, and
 * stay. Called with the lock held.
 */
static void
exchange(struct hy_policy *policy, const struct bases *bases)
{
	struct policy_view *view = policy->view;
	uint64_t token;

	if (view->replaced != NULL || view->set->n == 0 || view->shown.compiled->overlay == NULL ||
		forms_create(view, bases) < 0)
		return;
	for (struct policy_view *v = view; v != NULL; v = v->copy) {
		struct hy_policy_compiled *next = v->replaced;

		v->replaced = (struct hy_policy_compiled *)(uintptr_t)v->shown.compiled;
		__atomic_store_n(&v->shown.compiled, next, __ATOMIC_RELEASE);
	}
	policy->rebuild.wanted |= view->shown.compiled->overlay != NULL;
	token = hy_grace_start(policy->params.qsbr);
	view->holders++;
	pthread_mutex_unlock(&policy->lock);
	replaced_free(policy, view, token);
	pthread_mutex_lock(&policy->lock);
}

/* Called with the lock held, and returns so. */
static void
build(struct hy_policy *policy)
{
	struct policy_view *view = policy->view;
	const struct hy_policy_compiled *compiled = view->shown.compiled;
	struct bases bases = { 0 };
	int rc;

	if (compiled == NULL || compiled->overlay == NULL || view->replaced != NULL)
		return;
	view->holders++;
	policy->rebuild.builds = true;
	pthread_mutex_unlock(&policy->lock);
	rc = bases_build(policy, view, &bases);
	pthread_mutex_lock(&policy->lock);
	policy_view_drop(view);
	policy->rebuild.builds = false;
	if (rc == 0 && !policy->rebuild.end)
		exchange(policy, &bases);
	bases_drop(&bases);
}

static hy_dpdk_thread_result
rebuild_main(void *arg)
{
	struct hy_policy *policy = arg;
	struct policy_rebuild *r = &policy->rebuild;
	bool left;

	pthread_mutex_lock(&policy->lock);
	while (!r->end) {
		if (r->wanted) {
			r->wanted = false;
			build(policy);
		} else {
			pthread_cond_wait(&r->wake, &policy->lock);
		}
	}
	left = r->left;
	pthread_mutex_unlock(&policy->lock);
	if (left) {
		struct policy_builder *builder = r->builder;

		policy_free(policy);
		__atomic_store_n(&builder->done, true, __ATOMIC_RELEASE);
	}
	return 0;
}

/* Its signals are for the main thread. It runs beside workers: the caller may be bound to the CPU of one. */
static int
thread_start(struct hy_policy *policy)
{
	struct policy_builder *builder = calloc(1, sizeof(*builder));
	sigset_t all, before;
	int rc;

	if (builder == NULL)
		return -ENOMEM;
	policy->rebuild.builder = builder;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = hy_dpdk_control_thread(&builder->thread, "hy-policy", rebuild_main, policy);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0) {
		policy->rebuild.builder = NULL;
		free(builder);
	}
	return rc;
}

void
policy_rebuild(struct hy_policy *policy)
{
	struct policy_rebuild *r = &policy->rebuild;
	const struct hy_policy_compiled *compiled = policy->view->shown.compiled;

	if (compiled == NULL || compiled->overlay == NULL)
		return;
	if (r->builder == NULL && thread_start(policy) != 0) {
		/* The overlay serves until there are too many changes, and then a commit builds. */
		HY_LOG(WARNING, "policy '%s': no thread to build tables", policy->name);
		return;
	}
	r->wanted = true;
	pthread_cond_signal(&r->wake);
}

/* Threads that have a destroyed policy to free. */
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static struct policy_builder *left_builders;

static void
builder_join(struct policy_builder *builder)
{
	pthread_join(builder->thread, NULL);
	free(builder);
}

/* Joins all of them, or those that are done. */
static void
left_join(bool all)
{
	struct policy_builder **at = &left_builders;

	pthread_mutex_lock(&left_lock);
	while (*at != NULL) {
		struct policy_builder *builder = *at;

		if (all || __atomic_load_n(&builder->done, __ATOMIC_ACQUIRE)) {
			*at = builder->next;
			builder_join(builder);
		} else {
			at = &builder->next;
		}
	}
	pthread_mutex_unlock(&left_lock);
}

void
hy_policy_wait_destroyed(void)
{
	left_join(true);
}

static void
builder_leave(struct policy_builder *builder)
{
	pthread_mutex_lock(&left_lock);
	builder->next = left_builders;
	left_builders = builder;
	pthread_mutex_unlock(&left_lock);
}

/*
 * rte_acl's builds last for seconds and cannot be stopped. The thread must not need what the caller may
 * free next: readers are waited for here.
 */
bool
policy_rebuild_end(struct hy_policy *policy)
{
	struct policy_rebuild *r = &policy->rebuild;
	struct policy_builder *builder = r->builder;

	left_join(false);
	if (builder == NULL)
		return true;
	pthread_mutex_lock(&policy->lock);
	__atomic_store_n(&r->end, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&r->wake);
	r->left = r->builds;
	if (r->left) {
		policy_reclaim(policy, true);
		builder_leave(builder);
		pthread_mutex_unlock(&policy->lock); /* from here on the policy may be gone */
		return false;
	}
	pthread_mutex_unlock(&policy->lock);
	builder_join(builder);
	return true;
}
