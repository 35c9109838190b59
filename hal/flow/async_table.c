/* SPDX-License-Identifier: BSD-3-Clause */
/* Template tables: which rules share one, and how large it is. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "async.h"

#define ACTIONS_MAX 8
#define RULES_FIRST 64 /* in the first table of a shape; each further table has twice as many */

static bool
append(struct async_shape *shape, const void *bytes, size_t n)
{
	if (n > sizeof(shape->bytes) - shape->n)
		return false;
	if (n > 0) /* an RSS key may be NULL */
		memcpy(&shape->bytes[shape->n], bytes, n);
	shape->n += n;
	return true;
}

/* Appends an item's type and its mask, whose length rte_flow_conv() knows. */
static bool
append_item(struct async_shape *shape, const struct rte_flow_item *item)
{
	const struct rte_flow_item as_spec = { .type = item->type, .spec = item->mask };
	union {
		struct rte_flow_item item;
		uint8_t bytes[256];
	} copy = { 0 };
	int n;

	if (!append(shape, &item->type, sizeof(item->type)) || item->mask == NULL)
		return item->mask == NULL;
	n = rte_flow_conv(RTE_FLOW_CONV_OP_ITEM, &copy, sizeof(copy), &as_spec, NULL);
	if (n < 0 || n > (int)sizeof(copy))
		return false;
	return append(shape, copy.item.spec,
		(size_t)n - (size_t)((const uint8_t *)copy.item.spec - copy.bytes));
}

/* Appends an action's type and parameters, except the mark. */
static bool
append_action(struct async_shape *shape, const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *rss = action->conf;

	if (!append(shape, &action->type, sizeof(action->type)))
		return false;
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_MARK:
		return true;
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return append(shape, action->conf, sizeof(struct rte_flow_action_queue));
	case RTE_FLOW_ACTION_TYPE_JUMP:
		return append(shape, action->conf, sizeof(struct rte_flow_action_jump));
	case RTE_FLOW_ACTION_TYPE_RSS:
		return append(shape, &rss->types, sizeof(rss->types)) &&
			append(shape, &rss->level, sizeof(rss->level)) &&
			append(shape, rss->key, rss->key_len) &&
			append(shape, rss->queue, rss->queue_num * sizeof(rss->queue[0]));
	default:
		return false;
	}
}

static bool
shape_of(const struct hy_flow_request *r, struct async_shape *shape)
{
	const struct rte_flow_attr *attr = r->attr;
	bool fits = attr->ingress && !attr->egress && !attr->transfer;

	shape->n = 0;
	fits = fits && append(shape, &attr->group, sizeof(attr->group)) &&
		append(shape, &attr->priority, sizeof(attr->priority));
	for (const struct rte_flow_item *i = r->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		fits = fits && append_item(shape, i);
	for (const struct rte_flow_action *a = r->actions; a->type != RTE_FLOW_ACTION_TYPE_END; a++)
		fits = fits && a < r->actions + ACTIONS_MAX - 1 && append_action(shape, a);
	return fits;
}

/* Action fields with a mask other than 0 are the same in all rules of a table. */
static struct rte_flow_actions_template *
actions_make(uint16_t port, const struct hy_flow_request *r, struct rte_flow_error *error)
{
	static const struct rte_flow_actions_template_attr attr = { .ingress = 1 };
	static const struct rte_flow_action_mark any_mark;
	static const struct rte_flow_action_queue this_queue = { .index = UINT16_MAX };
	static const struct rte_flow_action_jump this_group = { .group = UINT32_MAX };
	struct rte_flow_action masks[ACTIONS_MAX];
	unsigned int n = 0;

	do {
		masks[n] = r->actions[n];
		if (masks[n].type == RTE_FLOW_ACTION_TYPE_MARK)
			masks[n].conf = &any_mark;
		else if (masks[n].type == RTE_FLOW_ACTION_TYPE_QUEUE)
			masks[n].conf = &this_queue;
		else if (masks[n].type == RTE_FLOW_ACTION_TYPE_JUMP)
			masks[n].conf = &this_group;
	} while (masks[n++].type != RTE_FLOW_ACTION_TYPE_END);
	return rte_flow_actions_template_create(port, &attr, r->actions, masks, error);
}

/* Destroys in reverse order what was created. */
static void
table_unmake(struct async_table *t, uint16_t port)
{
	if (t->table != NULL)
		rte_flow_template_table_destroy(port, t->table, NULL);
	if (t->actions != NULL)
		rte_flow_actions_template_destroy(port, t->actions, NULL);
	if (t->pattern != NULL)
		rte_flow_pattern_template_destroy(port, t->pattern, NULL);
	free(t);
}

static struct async_table *
table_make(uint16_t port, const struct hy_flow_request *r, const struct async_shape *shape,
	uint32_t size, struct rte_flow_error *error)
{
	/* Not relaxed: an item without a mask requires its header, as without templates. */
	static const struct rte_flow_pattern_template_attr strict = { .ingress = 1 };
	const struct rte_flow_template_table_attr attr = { .flow_attr = *r->attr,
		.nb_flows = size };
	struct async_table *t = calloc(1, sizeof(*t));
	int rc;

	if (t == NULL) {
		rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory");
		return NULL;
	}
	t->shape = *shape;
	t->size = size;
	t->pattern = rte_flow_pattern_template_create(port, &strict, r->items, error);
	if (t->pattern != NULL)
		t->actions = actions_make(port, r, error);
	if (t->actions != NULL)
		t->table = rte_flow_template_table_create(port, &attr, &t->pattern, 1, &t->actions,
			1, error);
	if (t->table != NULL)
		return t;
	rc = rte_errno;
	table_unmake(t, port);
	rte_errno = rc;
	return NULL;
}

struct async_table *
hy_async_table_get(struct async_port *a, uint16_t port, const struct hy_flow_request *request,
	struct rte_flow_error *error)
{
	uint32_t size = RTE_MIN(a->max_rules, (uint32_t)RULES_FIRST);
	struct async_shape shape;
	struct async_table *t;

	if (!shape_of(request, &shape)) {
		rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"templates do not support such a rule");
		return NULL;
	}
	for (t = LIST_FIRST(&a->tables); t != NULL; t = LIST_NEXT(t, next)) {
		if (t->shape.n != shape.n || memcmp(t->shape.bytes, shape.bytes, shape.n) != 0)
			continue;
		if (t->used < t->size)
			return t;
		size = RTE_MAX(size, RTE_MIN(2 * t->size, a->max_rules));
	}
	t = table_make(port, request, &shape, size, error);
	if (t != NULL)
		LIST_INSERT_HEAD(&a->tables, t, next);
	return t;
}

void
hy_async_table_put(struct async_table *table, uint16_t port)
{
	if (table->used > 0)
		return;
	LIST_REMOVE(table, next);
	table_unmake(table, port);
}

void
hy_async_table_forget(struct async_table *table)
{
	struct async_flow *flow;

	while ((flow = LIST_FIRST(&table->flows)) != NULL) {
		LIST_REMOVE(flow, next);
		free(flow);
	}
	LIST_REMOVE(table, next);
	free(table);
}
