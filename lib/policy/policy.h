/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of lib/policy: the policy, and how views are made. */
#pragma once

#include <pthread.h>
#include <stdalign.h>

#include <rte_common.h>
#include <rte_memory.h>

#include <hy_policy_view.h>

#include "compiled.h"
#include "rule.h"

#define POLICY_NAME_MAX 16
#define POLICY_RULES_MAX (1u << 20)
#define POLICY_CLASSES (UINT16_MAX + 1)
#define POLICY_LINE_SIZE 1024 /* of a rule as text, with its NUL */

/* A view, with data that only the control plane reads. */
struct policy_view {
	struct hy_policy_view shown; /* first: a pointer to one is a pointer to the other */
	struct policy_rules *set;
	unsigned int holders; /* references: the policy's until workers have left it, and others */
	int socket;
	struct policy_view *copy; /* on the next NUMA node, which goes with this one */
	/* What shown.compiled was before its tables were built again; NULL: never, or freed. */
	struct hy_policy_compiled *replaced;
};

/* A thread that builds, which may outlive its policy. */
struct policy_builder {
	pthread_t thread;
	bool done; /* by the thread, when it has freed the policy that was left to it */
	struct policy_builder *next;
};

/* The thread that builds tables while an overlay stands in for them; rebuild.c. */
struct policy_rebuild {
	struct policy_builder *builder; /* NULL: it does not run */
	bool wanted;                    /* the view has an overlay */
	bool builds;                    /* without the lock */
	bool left;                      /* the policy is left to it */
	bool end; /* under the lock, and without it where a build looks whether to stop */
	pthread_cond_t wake;
};

/* A hit counter, one in each worker's array. Only workers write it; a new owner starts at base. */
struct policy_slot {
	struct hy_policy_counts base;
	uint16_t class_id;
	bool used; /* by a rule of the view, or of the retired one */
};

struct policy_listener {
	const struct hy_policy_listener *listener;
	bool owed; /* its after() is pending */
};

struct hy_policy {
	struct hy_policy_shown shown; /* first: what workers read */
	/* The control plane's, in cache lines of its own. */
	alignas(RTE_CACHE_LINE_SIZE) char name[POLICY_NAME_MAX + 1];
	struct hy_policy_params params;
	pthread_mutex_t changes; /* of what is staged, and commits; taken before the lock */
	pthread_mutex_t lock;    /* recursive: listeners may read the policy */
	unsigned int nb_users;

	struct hy_flow_rule *staged; /* by id: the rules to publish */
	struct policy_place *places; /* and their stamps */
	uint64_t stamp;              /* the last one given */
	uint32_t nb_staged, room;
	uint8_t staged_default; /* its default action */
	bool staged_truncated;  /* and whether it denies truncated packets */
	bool changed;           /* staged differs from the published rules */

	struct policy_view *view;    /* published */
	struct policy_view *retired; /* the previous one, until workers have left it; or NULL */
	uint64_t token;              /* which they then report */

	struct hy_policy_counts **hits;    /* by worker, then by slot */
	struct hy_policy_counts *hardware; /* by slot: what no worker saw; NULL: no access list */
	struct hy_policy_counts hardware_all; /* the sum of these, ever */
	struct policy_slot *slots; /* twice max_rules: current rules, and those of retired */
	uint32_t *free_slots;
	uint32_t nb_free;
	uint64_t *class_hits; /* by class, of removed rules */

	struct policy_listener *listeners;
	unsigned int nb_listeners;

	const char *only; /* the engine to take, for tests and benchmarks; NULL: the fastest */
	struct policy_rebuild rebuild;
};

/* What becomes of packets that no rule matches, where nothing says so. */
static inline enum hy_rule_action
policy_default(const struct hy_policy *of)
{
	return of->params.access && of->params.deny_unmatched ? HY_RULE_DENY : HY_RULE_PERMIT;
}

/*
 * view.c
 */
/*
 * Makes a view of the staged rules, under the mutex of changes; indexes are left to the caller.
 * Returns 0, or what policy_build() returns.
 */
int policy_view_create(struct hy_policy *policy, struct policy_view **view);
/* Releases a reference, and frees the view with the last one. NULL is allowed. */
void policy_view_drop(struct policy_view *view);
/* Builds tables for the rules of a view. Returns 0, or what policy_base_create() returns. */
int policy_build(const struct hy_policy *policy, const struct policy_view *view, const bool *cancel,
	struct policy_base **base);
/*
 * The same for a copy, by the engine of the first one's tables: estimates take time, and may differ.
 */
int policy_build_copy(const struct hy_policy *policy, const struct policy_view *view,
	const struct policy_base *first, const bool *cancel, struct policy_base **base);

/*
 * rebuild.c
 */
/* Has tables built for the present view, if it has an overlay, in the background. */
void policy_rebuild(struct hy_policy *policy);
/* Ends the thread. Returns false if it builds: when that has ended, it frees the policy. */
bool policy_rebuild_end(struct hy_policy *policy);

/*
 * hits.c
 */
int policy_hits_create(struct hy_policy *policy);
void policy_hits_destroy(struct hy_policy *policy);
/* Assigns each rule of a view a counter; reserves none before policy_hits_publish(). */
void policy_hits_plan(const struct hy_policy *policy, struct policy_view *view);
void policy_hits_publish(struct hy_policy *policy, const struct policy_view *view);
/* Adds the counters of rules that a published view has removed to their classes. */
void policy_hits_retire(struct hy_policy *policy, const struct policy_view *view);

/*
 * policy_stage.c
 */
/* What a policy's file has. */
struct policy_staged {
	struct hy_flow_rule *rules; /* in order of ids */
	uint32_t n;
	uint8_t default_action;
	bool deny_truncated;
};

/* Replaces all that is staged by copies. Returns 0 or -ENOMEM. */
int policy_stage_all(struct hy_policy *policy, const struct policy_staged *staged);
/* Whether a rule is one of the policy's kind. Returns 0 or -EINVAL, with one sentence in error. */
int policy_rule_allowed(const struct hy_policy *policy, const struct hy_flow_rule *rule,
	char *error);

/*
 * listen.c
 */
int policy_listeners_prepare(struct hy_policy *policy, const struct policy_view *next);
void policy_listeners_publish(struct hy_policy *policy);
void policy_listeners_after(struct hy_policy *policy);

/*
 * policy.c
 */
/* Frees a policy whose earlier view has been reclaimed. */
void policy_free(struct hy_policy *policy);
/*
 * Frees the retired view, when workers have left it; waits for that, or only looks. Returns 0 or
 * -ETIMEDOUT. Called with the lock held.
 */
int policy_reclaim(struct hy_policy *policy, bool wait);
/* hy_policy_commit(), which leaves the view before to policy_reclaim(). */
int policy_commit(struct hy_policy *policy);
