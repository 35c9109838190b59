/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by templates, inside: tables of rules of one shape, and the rules that are in them. */
#ifndef HY_FLOW_ASYNC_H
#define HY_FLOW_ASYNC_H

#include <sys/queue.h>

#include "async_expand.h"

/*
 * What the rules of a table have in common: all but the values that they match, and the mark. As
 * bytes, so that shapes can be compared whatever items and actions there are.
 */
struct async_shape {
	size_t n;
	uint8_t bytes[640];
};

struct async_flow {
	LIST_ENTRY(async_flow) next;
	struct async_table *table;
	struct rte_flow *handle;
	struct hy_flow_request *request; /* Under way: whose it is. */
};

/* A rule, as providers hand it out: its parts, those that are destroyed NULL. See async_expand.h. */
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

/* Of a port. */
struct async_port {
	bool ready;
	bool stuck; /* It owes answers, and none came: nothing is asked of it until it is ready anew. */
	uint32_t max_rules;
	uint32_t room, under_way; /* Requests that its queue holds, and those that it has now. */
	LIST_HEAD(async_tables, async_table) tables;
	LIST_HEAD(async_rules, async_rule) rules;
};

/*
 * A table with room for a rule, made if there is none. NULL: `error` says why not, and rte_errno.
 * One that is not filled is to be given back.
 */
struct async_table *hy_async_table_get(struct async_port *a, uint16_t port,
	const struct hy_flow_request *request, struct rte_flow_error *error);

/* Destroys a table, if it is empty: hardware has memory for all the rules that it is made for. */
void hy_async_table_put(struct async_table *table, uint16_t port);

/* Frees a table and the memory of its flows, and tells nobody. */
void hy_async_table_forget(struct async_table *table);

#endif
