/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_flow by templates, as on a ConnectX with dv_flow_en=2 (DPDK v22.11, net/mlx5/mlx5_flow_hw.c):
 * a rule is a request on a queue, takes effect when the queue is pushed, and is answered when the
 * queue is pulled. The engine judges a rule's contents as with dv_flow_en=1.
 *
 * Where this refuses with EINVAL and "trusted", the driver does not check its arguments and fails
 * in undefined ways.
 */

#include <stdlib.h>
#include <string.h>

#include "nic_template.h"

#define ROOT_PRIORITY_MAX UINT16_MAX /* hws/mlx5dr_matcher.c, mlx5dr_matcher_init_root() */

void *
template_copy(enum rte_flow_conv_op op, const void *from)
{
	const int size = rte_flow_conv(op, NULL, 0, from, NULL);
	void *to = size > 0 ? calloc(1, (size_t)size) : NULL;

	if (to != NULL)
		rte_flow_conv(op, to, (size_t)size, from, NULL);
	return to;
}

static void
template_free(struct template *template)
{
	LIST_REMOVE(template, next);
	free(template->parts);
	free(template->masks);
	free(template);
}

static void
table_free(struct rte_flow_template_table *table)
{
	for (uint8_t i = 0; i < table->nb_patterns; i++)
		table->patterns[i]->users--;
	for (uint8_t i = 0; i < table->nb_actions; i++)
		table->actions[i]->users--;
	LIST_REMOVE(table, next);
	free(table);
}

void
nic_templates_free(struct nic *nic)
{
	struct nic_templates *t = nic->templates;

	if (t == NULL)
		return;
	nic_templates_flush(nic);
	while (!LIST_EMPTY(&t->tables))
		table_free(LIST_FIRST(&t->tables));
	while (!LIST_EMPTY(&t->templates))
		template_free(LIST_FIRST(&t->templates));
	free(t);
	nic->templates = NULL;
}

/* flow_hw_info_get() */
static int
info_get(struct rte_eth_dev *dev, struct rte_flow_port_info *port_info,
	struct rte_flow_queue_info *queue_info, struct rte_flow_error *error)
{
	if (!nic_of_dev(dev)->vendor->templates)
		return template_refuse(error, ENOTSUP, "info get with incorrect steering mode");
	*port_info = (struct rte_flow_port_info){ .max_nb_queues = UINT32_MAX };
	if (queue_info != NULL)
		queue_info->max_size = UINT32_MAX;
	return 0;
}

/* mlx5_flow.c, mlx5_flow_port_configure(); flow_hw_configure() */
static int
configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr __rte_unused,
	uint16_t nb_queues, const struct rte_flow_queue_attr *queues[],
	struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);

	if (!nic->vendor->templates)
		return template_refuse(error, ENOTSUP,
			"port configure with incorrect steering mode");
	if (nic->templates != NULL && nic->templates->n > 0)
		return template_refuse(error, EBUSY, "requests were not pulled");
	if (nb_queues != 1 || queues[0]->size == 0)
		return template_refuse(error, EINVAL,
			"not simulated: more than one queue, or one of no size");
	hy_flow_sim_flush(nic->engine);
	nic_templates_free(nic);
	nic->templates = calloc(1,
		sizeof(*nic->templates) + queues[0]->size * sizeof(nic->templates->jobs[0]));
	if (nic->templates == NULL)
		return template_refuse(error, ENOMEM, "no memory");
	nic->templates->size = queues[0]->size;
	return 0;
}

/* flow_hw_pattern_validate(); mlx5dr_definer.c cannot match ranges */
static const char *
bad_items(const struct rte_flow_item *items)
{
	static const enum rte_flow_item_type taken[] = { RTE_FLOW_ITEM_TYPE_ETH,
		RTE_FLOW_ITEM_TYPE_VLAN, RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_IPV6,
		RTE_FLOW_ITEM_TYPE_UDP, RTE_FLOW_ITEM_TYPE_TCP, RTE_FLOW_ITEM_TYPE_ICMP,
		RTE_FLOW_ITEM_TYPE_ICMP6, RTE_FLOW_ITEM_TYPE_VXLAN };

	for (; items->type != RTE_FLOW_ITEM_TYPE_END; items++) {
		size_t t = 0;

		if (items->last != NULL)
			return "no ranges";
		while (t < RTE_DIM(taken) && taken[t] != items->type)
			t++;
		if (t == RTE_DIM(taken))
			return "Unsupported item type";
	}
	return NULL;
}

/* Adds a copy of a template; NULL: no memory. */
static struct template *
template_add(struct rte_eth_dev *dev, void *parts, void *masks)
{
	struct template *template = calloc(1, sizeof(*template));

	if (template == NULL) {
		free(parts);
		free(masks);
		return NULL;
	}
	template->parts = parts;
	template->masks = masks;
	LIST_INSERT_HEAD(&nic_of_dev(dev)->templates->templates, template, next);
	return template;
}

static int
template_destroy(struct template *template, const char *why, struct rte_flow_error *error)
{
	if (template->users > 0)
		return template_refuse(error, EBUSY, why);
	template_free(template);
	return 0;
}

static struct rte_flow_pattern_template *
pattern_create(struct rte_eth_dev *dev, const struct rte_flow_pattern_template_attr *attr,
	const struct rte_flow_item items[], struct rte_flow_error *error)
{
	const char *why = bad_items(items);

	if (why == NULL && (!attr->ingress || attr->relaxed_matching))
		why = "not simulated: other than ingress, relaxed matching";
	if (why != NULL) {
		template_refuse(error, EINVAL, why);
		return NULL;
	}
	return (void *)template_add(dev, template_copy(RTE_FLOW_CONV_OP_PATTERN, items), NULL);
}

static int
pattern_destroy(struct rte_eth_dev *dev __rte_unused, struct rte_flow_pattern_template *pattern,
	struct rte_flow_error *error)
{
	return template_destroy((struct template *)pattern, "item template in using", error);
}

/*
 * mlx5_flow_hw_actions_validate(); hws/mlx5dr_action.c, action_order_arr of
 * MLX5DR_TABLE_TYPE_NIC_RX: MARK, then COUNT, then the fate.
 */
static const char *
bad_actions(const struct rte_flow_action *actions, const struct rte_flow_action *masks)
{
	unsigned int rank = 0;

	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++, masks++) {
		unsigned int own = 3;

		if (masks->type != actions->type)
			return "mask type does not match action type";
		switch (actions->type) {
		case RTE_FLOW_ACTION_TYPE_MARK:
			own = 1;
			break;
		case RTE_FLOW_ACTION_TYPE_COUNT:
			own = 2;
			break;
		case RTE_FLOW_ACTION_TYPE_DROP:
		case RTE_FLOW_ACTION_TYPE_JUMP:
		case RTE_FLOW_ACTION_TYPE_QUEUE:
		case RTE_FLOW_ACTION_TYPE_RSS:
			break;
		default:
			return "action not supported in template API";
		}
		if (own <= rank)
			return "actions out of order: MARK, COUNT, fate";
		rank = own;
	}
	return NULL;
}

static struct rte_flow_actions_template *
actions_create(struct rte_eth_dev *dev, const struct rte_flow_actions_template_attr *attr,
	const struct rte_flow_action actions[], const struct rte_flow_action masks[],
	struct rte_flow_error *error)
{
	const char *why = bad_actions(actions, masks);

	if (why == NULL && !attr->ingress)
		why = "not simulated: other than ingress";
	if (why != NULL) {
		template_refuse(error, ENOTSUP, why);
		return NULL;
	}
	return (void *)template_add(dev, template_copy(RTE_FLOW_CONV_OP_ACTIONS, actions),
		template_copy(RTE_FLOW_CONV_OP_ACTIONS, masks));
}

static int
actions_destroy(struct rte_eth_dev *dev __rte_unused, struct rte_flow_actions_template *actions,
	struct rte_flow_error *error)
{
	return template_destroy((struct template *)actions, "action template in using", error);
}

/* flow_hw_table_create() */
static struct rte_flow_template_table *
table_create(struct rte_eth_dev *dev, const struct rte_flow_template_table_attr *attr,
	struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	struct rte_flow_actions_template *actions[], uint8_t nb_actions,
	struct rte_flow_error *error)
{
	const bool root = attr->flow_attr.group == 0;
	struct rte_flow_template_table *table;

	if (nb_patterns > (root ? 1 : PATTERNS_MAX) || nb_actions > ACTIONS_MAX) {
		template_refuse(error, EINVAL, "Failed to create template table");
		return NULL;
	}
	if (root && attr->flow_attr.priority > ROOT_PRIORITY_MAX) {
		template_refuse(error, EINVAL, "Root matcher priority exceeds allowed limit");
		return NULL;
	}
	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return NULL;
	table->attr = attr->flow_attr;
	table->size = rte_align32pow2(attr->nb_flows);
	table->nb_patterns = nb_patterns;
	table->nb_actions = nb_actions;
	memcpy(table->patterns, patterns, nb_patterns * sizeof(*patterns));
	memcpy(table->actions, actions, nb_actions * sizeof(*actions));
	for (uint8_t i = 0; i < nb_patterns; i++)
		table->patterns[i]->users++;
	for (uint8_t i = 0; i < nb_actions; i++)
		table->actions[i]->users++;
	LIST_INSERT_HEAD(&nic_of_dev(dev)->templates->tables, table, next);
	return table;
}

/* flow_hw_table_destroy() */
static int
table_destroy(struct rte_eth_dev *dev __rte_unused, struct rte_flow_template_table *table,
	struct rte_flow_error *error)
{
	if (table->used > 0)
		return template_refuse(error, EBUSY, "table in using");
	table_free(table);
	return 0;
}

void
simnic_templates(uint16_t port, struct simnic_templates *templates)
{
	const struct nic_templates *t = nic_of(port)->templates;
	const struct rte_flow_template_table *table;
	const struct template *template;

	*templates = (struct simnic_templates){ 0 };
	if (t == NULL)
		return;
	templates->pushes = t->pushes;
	templates->unanswered = t->n;
	for (table = LIST_FIRST(&t->tables); table != NULL; table = LIST_NEXT(table, next))
		templates->tables++;
	for (template = LIST_FIRST(&t->templates); template != NULL;
		template = LIST_NEXT(template, next)) {
		templates->patterns += template->masks == NULL;
		templates->actions += template->masks != NULL;
	}
}

void
nic_templates_ops(struct rte_flow_ops *ops)
{
	ops->info_get = info_get;
	ops->configure = configure;
	ops->pattern_template_create = pattern_create;
	ops->pattern_template_destroy = pattern_destroy;
	ops->actions_template_create = actions_create;
	ops->actions_template_destroy = actions_destroy;
	ops->template_table_create = table_create;
	ops->template_table_destroy = table_destroy;
	template_queue_ops(ops);
}
