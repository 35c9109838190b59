/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by templates: tables of rules of the same shape, and their rules. */
#pragma once

#include <sys/queue.h>

#include <hy_flow.h>

/*
 * With templates, RSS of a rule has one hash. A rule whose packets may be of several protocols is
 * split into parts, each for one protocol with its types, like the driver does without templates
 * (net/mlx5/mlx5_flow.c, mlx5_flow_expand_rss(); mlx5_flow_hw.c, flow_hw_hashfields_set()).
 */
#define ASYNC_PARTS 7 /* IPv4 and IPv6, each with TCP, UDP or neither; and not IP */
#define ASYNC_ITEMS 10
#define ASYNC_ACTIONS 8 /* with END, as in a table */

/* A part of a rule. Its request points into it, and to the data of the rule's request. */
struct async_part {
	struct hy_flow_request request;
	struct rte_flow_attr attr;
	struct rte_flow_item items[ASYNC_ITEMS];
	struct rte_flow_action actions[ASYNC_ACTIONS];
	struct rte_flow_action_rss rss;
};

/*
 * Makes requests for the parts of a rule, and returns their number. A rule in group 0 or without
 * RSS has one part, itself. In other groups each priority becomes three, of which that for layer 4
 * is highest.
 */
unsigned int hy_async_expand(const struct hy_flow_request *rule, struct async_part *parts);

/*
 * What the rules of a table have in common: all but the matched values and the mark. Serialized, so
 * that shapes can be compared for any items and actions.
 */
struct async_shape {
	size_t n;
	uint8_t bytes[640];
};

struct async_flow {
	LIST_ENTRY(async_flow) next;
	struct async_table *table;
	struct rte_flow *handle;
	struct hy_flow_request *request; /* In progress; else NULL. */
};

/* A rule; its address is the handle. Parts that were destroyed are NULL. See hy_async_expand(). */
struct async_rule {
	LIST_ENTRY(async_rule) next;
	unsigned int n;
	struct async_flow *parts[ASYNC_PARTS];
};

struct async_table {
	LIST_ENTRY(async_table) next;
	struct async_shape shape;
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
	uint32_t size, used;
	LIST_HEAD(async_flows, async_flow) flows;
};

struct async_port {
	bool ready;
	bool stuck; /* Answers timed out: no more requests until the port is prepared again. */
	uint32_t max_rules;
	uint32_t room, under_way; /* Requests: the queue's size, and those in it. */
	LIST_HEAD(async_tables, async_table) tables;
	LIST_HEAD(async_rules, async_rule) rules;
};

/*
 * Finds or creates a table with room for a rule. NULL: see `error` and rte_errno. If no rule is
 * added, return the table with hy_async_table_put().
 */
struct async_table *hy_async_table_get(struct async_port *a, uint16_t port,
	const struct hy_flow_request *request, struct rte_flow_error *error);

/* Destroys a table if it is empty: it reserves hardware memory for all its rules. */
void hy_async_table_put(struct async_table *table, uint16_t port);

/* Frees a table and its flows without calling the driver. */
void hy_async_table_forget(struct async_table *table);
