/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_flow by templates, as ConnectX has it with dv_flow_en=2 (DPDK v22.11, net/mlx5/mlx5_flow_hw.c):
 * a rule is a request on a queue, is there when that was pushed, and answered when it is pulled. What
 * a rule may say is for the engine to judge, by the rules of dv_flow_en=1.
 *
 * The driver trusts who calls it, and goes wrong where this refuses with EINVAL and "trusted".
 */

#include <stdlib.h>

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

void
nic_templates_free(struct nic *nic)
{
	struct nic_templates *t = nic->templates;

	if (t == NULL)
		return;
	nic_templates_flush(nic);
	for (struct rte_flow_template_table *table; (table = t->tables) != NULL;) {
		t->tables = table->next;
		free(table);
	}
	for (struct rte_flow_actions_template *a; (a = t->actions) != NULL;) {
		t->actions = a->next;
		free(a->actions);
		free(a->masks);
		free(a);
	}
	for (struct rte_flow_pattern_template *p; (p = t->patterns) != NULL;) {
		t->patterns = p->next;
		free(p->items);
		free(p);
	}
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
configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr, uint16_t nb_queues,
	const struct rte_flow_queue_attr *queues[], struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);

	RTE_SET_USED(attr);
	if (!nic->vendor->templates)
		return template_refuse(error, ENOTSUP,
			"port configure with incorrect steering mode");
	if (nic->templates != NULL && nic->templates->n > 0)
		return template_refuse(error, EBUSY, "there are requests that were not pulled");
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

/* flow_hw_pattern_validate(); mlx5dr_definer.c, which matches on no ranges */
static const char *
bad_items(const struct rte_flow_item *items)
{
	for (; items->type != RTE_FLOW_ITEM_TYPE_END; items++) {
		if (items->last != NULL)
			return "no ranges";
		switch (items->type) {
		case RTE_FLOW_ITEM_TYPE_ETH:
		case RTE_FLOW_ITEM_TYPE_VLAN:
		case RTE_FLOW_ITEM_TYPE_IPV4:
		case RTE_FLOW_ITEM_TYPE_IPV6:
		case RTE_FLOW_ITEM_TYPE_UDP:
		case RTE_FLOW_ITEM_TYPE_TCP:
		case RTE_FLOW_ITEM_TYPE_VXLAN:
			break;
		default:
			return "Unsupported item type";
		}
	}
	return NULL;
}

static struct rte_flow_pattern_template *
pattern_create(struct rte_eth_dev *dev, const struct rte_flow_pattern_template_attr *attr,
	const struct rte_flow_item items[], struct rte_flow_error *error)
{
	struct nic_templates *t = nic_of_dev(dev)->templates;
	const char *why = bad_items(items);
	struct rte_flow_pattern_template *p;

	if (why == NULL && (!attr->ingress || attr->relaxed_matching))
		why = "not simulated: other than ingress, relaxed matching";
	if (why != NULL) {
		template_refuse(error, EINVAL, why);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->items = template_copy(RTE_FLOW_CONV_OP_PATTERN, items);
	p->next = t->patterns;
	t->patterns = p;
	return p;
}

static int
pattern_destroy(struct rte_eth_dev *dev, struct rte_flow_pattern_template *p,
	struct rte_flow_error *error)
{
	struct rte_flow_pattern_template **at = &nic_of_dev(dev)->templates->patterns;

	if (p->users > 0)
		return template_refuse(error, EBUSY, "item template in using");
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p->items);
	free(p);
	return 0;
}

/*
 * mlx5_flow_hw_actions_validate(); hws/mlx5dr_action.c, action_order_arr of MLX5DR_TABLE_TYPE_NIC_RX:
 * MARK, then COUNT, then what ends the packet's way.
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
	struct nic_templates *t = nic_of_dev(dev)->templates;
	const char *why = bad_actions(actions, masks);
	struct rte_flow_actions_template *a;

	if (why == NULL && !attr->ingress)
		why = "not simulated: other than ingress";
	if (why != NULL) {
		template_refuse(error, ENOTSUP, why);
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return NULL;
	a->actions = template_copy(RTE_FLOW_CONV_OP_ACTIONS, actions);
	a->masks = template_copy(RTE_FLOW_CONV_OP_ACTIONS, masks);
	a->next = t->actions;
	t->actions = a;
	return a;
}

static int
actions_destroy(struct rte_eth_dev *dev, struct rte_flow_actions_template *a,
	struct rte_flow_error *error)
{
	struct rte_flow_actions_template **at = &nic_of_dev(dev)->templates->actions;

	if (a->users > 0)
		return template_refuse(error, EBUSY, "action template in using");
	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	free(a->actions);
	free(a->masks);
	free(a);
	return 0;
}

/* flow_hw_table_create() */
static struct rte_flow_template_table *
table_create(struct rte_eth_dev *dev, const struct rte_flow_template_table_attr *attr,
	struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	struct rte_flow_actions_template *actions[], uint8_t nb_actions,
	struct rte_flow_error *error)
{
	struct nic_templates *t = nic_of_dev(dev)->templates;
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
	for (uint8_t i = 0; i < nb_patterns; i++) {
		table->patterns[i] = patterns[i];
		patterns[i]->users++;
	}
	for (uint8_t i = 0; i < nb_actions; i++) {
		table->actions[i] = actions[i];
		actions[i]->users++;
	}
	table->next = t->tables;
	t->tables = table;
	return table;
}

/* flow_hw_table_destroy() */
static int
table_destroy(struct rte_eth_dev *dev, struct rte_flow_template_table *table,
	struct rte_flow_error *error)
{
	struct rte_flow_template_table **at = &nic_of_dev(dev)->templates->tables;

	if (table->used > 0)
		return template_refuse(error, EBUSY, "table in using");
	while (*at != table)
		at = &(*at)->next;
	*at = table->next;
	for (uint8_t i = 0; i < table->nb_patterns; i++)
		table->patterns[i]->users--;
	for (uint8_t i = 0; i < table->nb_actions; i++)
		table->actions[i]->users--;
	free(table);
	return 0;
}

void
simnic_templates(uint16_t port, struct simnic_templates *templates)
{
	const struct nic_templates *t = nic_of(port)->templates;

	*templates = (struct simnic_templates){ 0 };
	if (t == NULL)
		return;
	templates->pushes = t->pushes;
	templates->unanswered = t->n;
	for (const struct rte_flow_template_table *i = t->tables; i != NULL; i = i->next)
		templates->tables++;
	for (const struct rte_flow_pattern_template *i = t->patterns; i != NULL; i = i->next)
		templates->patterns++;
	for (const struct rte_flow_actions_template *i = t->actions; i != NULL; i = i->next)
		templates->actions++;
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
