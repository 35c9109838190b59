/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by templates, inside: nic_template.c has what stands, nic_template_queue.c what happens. */
#ifndef NIC_TEMPLATE_H
#define NIC_TEMPLATE_H

#include "nic.h"

#define PATTERNS_MAX 2 /* mlx5_flow.h, MLX5_HW_TBL_MAX_ITEM_TEMPLATE; */
#define ACTIONS_MAX 32 /* MLX5_HW_TBL_MAX_ACTION_TEMPLATE */

struct rte_flow_pattern_template {
	unsigned int users; /* tables */
	struct rte_flow_item *items;
	struct rte_flow_pattern_template *next;
};

struct rte_flow_actions_template {
	unsigned int users;
	struct rte_flow_action *actions, *masks;
	struct rte_flow_actions_template *next;
};

struct rte_flow_template_table {
	struct rte_flow_attr attr;
	uint32_t size, used;
	uint8_t nb_patterns, nb_actions;
	struct rte_flow_pattern_template *patterns[PATTERNS_MAX];
	struct rte_flow_actions_template *actions[ACTIONS_MAX];
	struct rte_flow_template_table *next;
};

/* A rule, which its user knows as a struct rte_flow. */
struct flow {
	struct flow *next, **at; /* of the NIC */
	struct rte_flow_template_table *table;
	void *rule; /* the engine's */
	enum { CREATING, THERE, FAILED } state;
};

struct job {
	bool creates, done;
	enum rte_flow_op_status status;
	struct flow *flow;
	void *user_data;
	/* What the rule is to be, until then. */
	struct rte_flow_item *items;
	struct rte_flow_action *actions;
};

/* What is there once the port is configured for flows. */
struct nic_templates {
	struct rte_flow_pattern_template *patterns;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *tables;
	struct flow *flows;
	bool mute;
	uint32_t answers; /* that a queue gives before it is mute */
	uint64_t pushes;
	uint32_t size, head, n; /* of the queue: a ring of jobs that are not pulled */
	struct job jobs[];
};

static inline int
template_refuse(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
}

/* Copies what pointers in items and actions lead to, too; freed with free(3). */
void *template_copy(enum rte_flow_conv_op op, const void *from);

/* Adds the functions that put rules on a queue. */
void template_queue_ops(struct rte_flow_ops *ops);

#endif
