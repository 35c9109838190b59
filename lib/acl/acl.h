/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access lists, for the files that implement them:
 *
 * acl_list.c       lists, and what all of them share
 * acl_place.c      places, and what is bound to them
 * acl_log.c        records of workers, and sums of what they left out
 * acl_offload.c    lists in the hardware of ports
 * acl_text.c       packets and rules in words
 * acl_report.c     lists as text, as a table and as JSON
 * acl_command.c    what telemetry asks, answered by the control thread
 * acl_telemetry.c  how questions reach that thread
 */
#pragma once

#include <hy_acl.h>
#include <hy_arc.h>
#include <hy_telemetry.h>

#define ACL_PLACES (HY_ACL_WAYS * RTE_MAX_ETHPORTS)
#define ACL_UNBOUND UINT32_MAX /* in place of a list's number */

/* A rule with "log", between two sums. */
struct acl_logged {
	uint32_t rule, index; /* its id, and its counter's */
	uint64_t told; /* what the counter would stand at, if there were no packets left to tell */
	uint64_t last; /* of one that is gone: what it stood at */
	bool gone;     /* the rule is no more, or is not logged: one sum is left */
};

struct acl_list {
	struct hy_acl_shown shown; /* what workers read */
	uint32_t number;
	char name[HY_ACL_NAME_MAX + 1];
	char what[sizeof("acl ") + HY_ACL_NAME_MAX]; /* in messages of a reload */
	const char *path;                            /* NULL: none */
	struct hy_acl_counts base;                   /* counts when they were cleared */
	const struct hy_policy_view *view;           /* held; NULL: none yet */
	struct acl_logged *logged;                   /* of its rules with "log", by id and index */
	uint32_t nb_logged;
	bool has_gone; /* of those, some may be */
};

struct acl_place {
	struct hy_arc *arc; /* NULL: there is no such place */
	hy_node_id node;
	char feature[HY_NAME_SIZE];
	uint32_t bound; /* number of a list, or ACL_UNBOUND */
};

/* What is offloaded to a port. */
struct acl_offload {
	const struct acl_list *list; /* NULL: nothing */
	struct hy_offload *offload;  /* NULL: the port refused, or waits, for this reason */
	bool waits;                  /* for the port to be up */
	char reason[128];
	unsigned int told; /* wrong marks */
};

struct hy_acl {
	struct hy_acl_table table; /* what workers read */
	struct hy_acl_params params;
	struct acl_list *lists[HY_ACL_LISTS]; /* in order of creation */
	unsigned int nb_lists;
	struct acl_place places[HY_ACL_WAYS][RTE_MAX_ETHPORTS];
	struct hy_acl_log_counts log;
	uint64_t summed;    /* TSC of the last sums */
	uint64_t orphaned;  /* records of lists that were destroyed */
	struct hy_hal *hal; /* NULL: nothing is offloaded */
	struct hy_offload_params offload;
	struct acl_offload offloads[RTE_MAX_ETHPORTS];
	uint64_t polled; /* TSC: when offloads were polled last */
};

/* The name of a direction: "in", "out". */
extern const char *const acl_ways[HY_ACL_WAYS];
/* The words of actions. */
extern const char *const acl_actions[HY_RULE_TO_PORT + 1];

struct acl_list *acl_find(const struct hy_acl *acl, const char *name);
struct acl_list *acl_by_serial(const struct hy_acl *acl, uint32_t serial);

/* acl_place.c: removes a place, which no graph has. */
void acl_place_remove(struct acl_place *place);
/* NULL: there is no such place. */
struct acl_place *acl_place_of(const struct hy_acl *acl, uint16_t port, enum hy_acl_way way);

/* acl_offload.c: ends the offload of a port, and serves all. */
void acl_offload_end(struct hy_acl *acl, uint16_t port);
void acl_offload_poll(struct hy_acl *acl);

/* acl_log.c */
int acl_logs_create(struct hy_acl *acl);
void acl_logs_destroy(struct hy_acl *acl);
/* Takes up the rules that were published since. */
void acl_log_follow(struct acl_list *list);
void acl_log_forget(struct acl_list *list);

/* acl_report.c: TSC clocks since then; 0 if a worker's clock is ahead. */
uint64_t acl_since(uint64_t when);

/* acl_telemetry.c: telemetry is answered for these lists from now on, or no more. */
void acl_show(struct hy_acl *acl);
void acl_hide(const struct hy_acl *acl);

/* acl_command.c: answers, or writes why not. The text is the command's own, in words. */
typedef int(acl_tell_t)(struct hy_acl *acl, char *text, struct rte_tel_data *data, char *error);
acl_tell_t acl_tell_lists, acl_tell_rules, acl_tell_stats, acl_tell_bind, acl_tell_unbind,
	acl_tell_add, acl_tell_del, acl_tell_replace, acl_tell_clear, acl_tell_log;
