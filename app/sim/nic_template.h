/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by templates: nic_template.c has templates and tables, nic_template_queue.c the queue. */
#pragma once

#include <sys/queue.h>

#include "nic.h"

#define PATTERNS_MAX 2 /* mlx5_flow.h, MLX5_HW_TBL_MAX_ITEM_TEMPLATE; */
#define ACTIONS_MAX 32 /* MLX5_HW_TBL_MAX_ACTION_TEMPLATE */

/* A template of patterns or of actions; its handle is a pointer to it, cast to DPDK's type. */
struct template
{
	LIST_ENTRY(template) next; /* of the NIC */
	unsigned int users;        /* tables */
	void *parts;               /* items or actions */
	void *masks;               /* of actions; else NULL */
};

struct rte_flow_template_table {
	LIST_ENTRY(rte_flow_template_table) next; /* of the NIC */
	struct rte_flow_attr attr;
	uint32_t size, used;
	uint8_t nb_patterns, nb_actions;
	struct template *patterns[PATTERNS_MAX], *actions[ACTIONS_MAX];
};

/* A rule; its handle is a pointer to it, cast to struct rte_flow. */
struct flow {
	LIST_ENTRY(flow) next; /* of the NIC */
	struct rte_flow_template_table *table;
	void *rule; /* the engine's */
	enum { CREATING, THERE, FAILED } state;
};

struct job {
	bool creates, done;
	enum rte_flow_op_status status;
	struct flow *flow;
	void *user_data;
	/* The rule to create. */
	struct rte_flow_item *items;
	struct rte_flow_action *actions;
};

/* The state of a port that is configured for flows. */
struct nic_templates {
	LIST_HEAD(template_list, template) templates;
	LIST_HEAD(table_list, rte_flow_template_table) tables;
	LIST_HEAD(flow_list, flow) flows;
	bool mute;
	uint32_t answers; /* given before the queue goes mute */
	uint64_t pushes;
	uint32_t size, head, n; /* of the queue: a ring of jobs not pulled yet */
	struct job jobs[];
};

static inline int
template_refuse(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
}

/* A deep copy of items or actions, to be freed with free(3). */
void *template_copy(enum rte_flow_conv_op op, const void *from);

/* Adds the functions of the queue. */
void template_queue_ops(struct rte_flow_ops *ops);
