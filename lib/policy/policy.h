/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/policy share: the policy behind what workers see, and how views are made. */
#ifndef POLICY_H
#define POLICY_H

#include <pthread.h>
#include <stdalign.h>

#include <rte_common.h>
#include <rte_memory.h>

#include <hy_policy_view.h>

#define POLICY_NAME_MAX 16
#define POLICY_RULES_MAX (1u << 20)
#define POLICY_CLASSES (UINT16_MAX + 1)
#define POLICY_LINE_SIZE 1024 /* of a rule in words, its end included */

/* A view with what only the control plane reads. */
struct policy_view {
	struct hy_policy_view shown; /* first: a pointer to one is a pointer to the other */
	struct hy_policy_rule *rules;
	uint32_t *by_id;      /* ranks in order of rule ids */
	unsigned int holders; /* the policy, until workers have left it, and who holds it */
};

/* A hit counter, one in each worker's array. Workers alone write those; a new owner starts at base. */
struct policy_slot {
	uint64_t version; /* of the last view with its rule; 0: free */
	uint64_t base;
	uint16_t class_id;
};

struct policy_listener {
	const struct hy_policy_listener *listener;
	bool owed; /* its after() */
};

struct hy_policy {
	struct hy_policy_shown shown; /* first: what workers read */
	/* Of the control plane, in lines of its own. */
	alignas(RTE_CACHE_LINE_SIZE) char name[POLICY_NAME_MAX + 1];
	struct hy_policy_params params;
	pthread_mutex_t lock; /* recursive: listeners may look at the policy */
	unsigned int nb_users;

	struct hy_flow_rule *staged; /* by id: what is to be */
	uint32_t nb_staged, room;
	bool changed; /* staged is not what is published */

	struct policy_view *view;    /* published */
	struct policy_view *retired; /* the one before, until workers have left it; or NULL */
	uint64_t token;              /* that they report */

	uint64_t **hits;           /* by worker, then by slot */
	struct policy_slot *slots; /* twice max_rules: rules there are, and those of retired */
	uint32_t *free_slots;
	uint32_t nb_free;
	uint64_t *class_hits; /* by class, of rules that are gone */

	struct policy_listener *listeners;
	unsigned int nb_listeners;
};

/*
 * view.c
 */
/* Compiles rules; indexes are left to the caller. Returns 0, -ENOMEM or -E2BIG. */
int policy_view_create(const struct hy_policy *policy, const struct hy_flow_rule *rules, uint32_t n,
	struct policy_view **view);
/* Takes a holder away, and frees the view with the last. NULL is allowed. */
void policy_view_drop(struct policy_view *view);
/* The rule of that id, or NULL. */
struct hy_policy_rule *policy_view_find(const struct policy_view *view, uint32_t id);

/*
 * acl.c
 */
/* Compiles the rules of a view. Returns 0, -ENOMEM or -E2BIG; what was made stays to be destroyed. */
int policy_acl_create(struct hy_policy_view *view, int socket);
void policy_acl_destroy(struct hy_policy_view *view);

/*
 * hits.c
 */
int policy_hits_create(struct hy_policy *policy);
void policy_hits_destroy(struct hy_policy *policy);
/* Gives each rule of a view its counter; takes none before policy_hits_publish(). */
void policy_hits_plan(const struct hy_policy *policy, struct policy_view *view);
void policy_hits_publish(struct hy_policy *policy, const struct policy_view *view);
/* Adds the counters of rules that are gone to their classes. */
void policy_hits_retire(struct hy_policy *policy, const struct policy_view *gone);

/*
 * stage.c
 */
/* Stages rules, given in order of ids, in place of all. Copied. Returns 0 or -ENOMEM. */
int policy_stage_all(struct hy_policy *policy, const struct hy_flow_rule *rules, uint32_t n);

/*
 * text.c
 */
void policy_rule_write(FILE *out, const struct hy_flow_rule *rule);

/*
 * listen.c
 */
int policy_listeners_prepare(struct hy_policy *policy, const struct policy_view *next);
void policy_listeners_publish(struct hy_policy *policy);
void policy_listeners_after(struct hy_policy *policy);

/*
 * policy.c
 */
/* Waits until workers have left the retired view, and frees it. Returns 0 or -ETIMEDOUT. */
int policy_reclaim(struct hy_policy *policy);

#endif
