/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_flow by templates, as ConnectX has it with dv_flow_en=2 (DPDK v22.11, net/mlx5/mlx5_flow_hw.c):
 * a rule is a request on a queue, is there when that was pushed, and answered when it is pulled. What
 * a rule may say is for the engine to judge, by the rules of dv_flow_en=1.
 *
 * The driver trusts who calls it, and goes wrong where this refuses with EINVAL and "trusted".
 */

#include <stdlib.h>

#include <rte_errno.h>

#include "nic.h"

#define PATTERNS_MAX 2               /* mlx5_flow.h, MLX5_HW_TBL_MAX_ITEM_TEMPLATE; */
#define ACTIONS_MAX 32               /* MLX5_HW_TBL_MAX_ACTION_TEMPLATE */
#define ROOT_PRIORITY_MAX UINT16_MAX /* hws/mlx5dr_matcher.c, mlx5dr_matcher_create_root() */

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
	uint64_t pushes;
	uint32_t size, head, n; /* of the queue: a ring of jobs that are not pulled */
	struct job jobs[];
};

static int
refuse(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
}

/* Copies what pointers in items and actions lead to, too. */
static void *
copy(enum rte_flow_conv_op op, const void *from)
{
	const int size = rte_flow_conv(op, NULL, 0, from, NULL);
	void *to = size > 0 ? calloc(1, (size_t)size) : NULL;

	if (to != NULL)
		rte_flow_conv(op, to, (size_t)size, from, NULL);
	return to;
}

static struct job *
job_at(struct nic_templates *t, uint32_t i)
{
	return &t->jobs[(t->head + i) % t->size];
}

static void
job_free(struct job *job)
{
	free(job->items);
	free(job->actions);
	*job = (struct job){ .done = false };
}

static void
flow_free(struct flow *flow)
{
	flow->table->used--;
	*flow->at = flow->next;
	if (flow->next != NULL)
		flow->next->at = flow->at;
	free(flow);
}

void
nic_templates_flush(struct nic *nic)
{
	struct nic_templates *t = nic->templates;

	if (t == NULL)
		return;
	for (; t->n > 0; t->n--, t->head = (t->head + 1) % t->size)
		job_free(job_at(t, 0));
	while (t->flows != NULL)
		flow_free(t->flows);
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
		return refuse(error, ENOTSUP, "info get with incorrect steering mode");
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
		return refuse(error, ENOTSUP, "port configure with incorrect steering mode");
	if (nic->templates != NULL && nic->templates->n > 0)
		return refuse(error, EBUSY, "there are requests that were not pulled");
	if (nb_queues != 1 || queues[0]->size == 0)
		return refuse(error, EINVAL,
			"not simulated: more than one queue, or one of no size");
	hy_flow_sim_flush(nic->engine);
	nic_templates_free(nic);
	nic->templates = calloc(1,
		sizeof(*nic->templates) + queues[0]->size * sizeof(nic->templates->jobs[0]));
	if (nic->templates == NULL)
		return refuse(error, ENOMEM, "no memory");
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
		refuse(error, EINVAL, why);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->items = copy(RTE_FLOW_CONV_OP_PATTERN, items);
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
		return refuse(error, EBUSY, "item template in using");
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
		refuse(error, ENOTSUP, why);
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return NULL;
	a->actions = copy(RTE_FLOW_CONV_OP_ACTIONS, actions);
	a->masks = copy(RTE_FLOW_CONV_OP_ACTIONS, masks);
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
		return refuse(error, EBUSY, "action template in using");
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
		refuse(error, EINVAL, "Failed to create template table");
		return NULL;
	}
	if (root && attr->flow_attr.priority > ROOT_PRIORITY_MAX) {
		refuse(error, ENOTSUP, "Root matcher priority exceeds allowed limit");
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
		return refuse(error, EBUSY, "table in using");
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

/* The next job of the queue; NULL: it is full of such as were not pulled. */
static struct job *
job_take(struct nic_templates *t)
{
	return t->n == t->size ? NULL : job_at(t, t->n++);
}

/* Values are the rule's, masks are the template's. False: the items are not the template's. */
static bool
items_join(const struct rte_flow_item *values, struct rte_flow_item *template)
{
	for (; template->type != RTE_FLOW_ITEM_TYPE_END; template ++, values++) {
		if (values->type != template->type ||
			(template->mask != NULL && values->spec == NULL))
			return false;
		template->spec = template->mask != NULL ? values->spec : NULL;
	}
	return values->type == RTE_FLOW_ITEM_TYPE_END;
}

/* What a mask says is fixed is the template's; of the mark, mlx5 looks whether it is 0. */
static bool
actions_join(const struct rte_flow_action *values, const struct rte_flow_action *masks,
	struct rte_flow_action *template)
{
	for (; template->type != RTE_FLOW_ACTION_TYPE_END; template ++, values++, masks++) {
		const struct rte_flow_action_mark *mark = masks->conf;

		if (values->type != template->type)
			return false;
		if (template->type == RTE_FLOW_ACTION_TYPE_MARK && (mark == NULL || mark->id == 0))
			template->conf = values->conf;
	}
	return values->type == RTE_FLOW_ACTION_TYPE_END;
}

/* What a rule asks for, from the templates of its table; copied twice, as values lie elsewhere. */
static bool
job_fill(struct job *job, const struct rte_flow_template_table *table,
	const struct rte_flow_item items[], uint8_t pattern, const struct rte_flow_action actions[],
	uint8_t action)
{
	struct rte_flow_item *i = copy(RTE_FLOW_CONV_OP_PATTERN, table->patterns[pattern]->items);
	struct rte_flow_action *a = copy(RTE_FLOW_CONV_OP_ACTIONS, table->actions[action]->actions);
	const bool fits = items_join(items, i) &&
		actions_join(actions, table->actions[action]->masks, a);

	if (fits) {
		job->items = copy(RTE_FLOW_CONV_OP_PATTERN, i);
		job->actions = copy(RTE_FLOW_CONV_OP_ACTIONS, a);
	}
	free(i);
	free(a);
	return fits;
}

static void
job_do(struct nic *nic, struct job *job)
{
	struct flow *flow = job->flow;
	int rc = 0;

	if (job->creates) {
		rc = hy_flow_sim_add(nic->engine, &flow->table->attr, job->items, job->actions,
			&flow->rule, NULL);
		flow->state = rc == 0 ? THERE : FAILED;
	} else if (flow->state == THERE) {
		rc = hy_flow_sim_remove(nic->engine, flow->rule, NULL);
	}
	job->status = rc == 0 ? RTE_FLOW_OP_SUCCESS : RTE_FLOW_OP_ERROR;
	job->done = true;
}

static int
push(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);
	const int rc = nic_can_answer(nic, error);

	RTE_SET_USED(queue);
	if (rc != 0)
		return rc;
	nic->templates->pushes++;
	for (uint32_t i = 0; i < nic->templates->n; i++)
		if (!job_at(nic->templates, i)->done)
			job_do(nic, job_at(nic->templates, i));
	return 0;
}

/* flow_hw_async_flow_create() */
static struct rte_flow *
async_create(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
	struct rte_flow_template_table *table, const struct rte_flow_item items[], uint8_t pattern,
	const struct rte_flow_action actions[], uint8_t action, void *user_data,
	struct rte_flow_error *error)
{
	struct nic_templates *t = nic_of_dev(dev)->templates;
	struct flow *flow = NULL;
	struct job *job = NULL;

	if (nic_can_answer(nic_of_dev(dev), error) != 0)
		return NULL;
	if (!dev->data->dev_started || pattern >= table->nb_patterns || action >= table->nb_actions)
		refuse(error, EINVAL, "fail to create rte flow");
	else if (table->used == table->size || (job = job_take(t)) == NULL ||
		(flow = calloc(1, sizeof(*flow))) == NULL)
		refuse(error, ENOMEM, "fail to create rte flow");
	if (flow == NULL) {
		t->n -= job != NULL;
		return NULL;
	}
	if (!job_fill(job, table, items, pattern, actions, action)) {
		refuse(error, EINVAL, "trusted: the rule is not of its templates");
		free(flow);
		t->n--;
		return NULL;
	}
	*flow = (struct flow){ .next = t->flows, .at = &t->flows, .table = table };
	if (t->flows != NULL)
		t->flows->at = &flow->next;
	t->flows = flow;
	table->used++;
	job->creates = true;
	job->flow = flow;
	job->user_data = user_data;
	if (!attr->postpone)
		push(dev, queue, error);
	return (struct rte_flow *)flow;
}

/* flow_hw_async_flow_destroy(); hws/mlx5dr_rule.c, mlx5dr_rule_destroy_hws() */
static int
async_destroy(struct rte_eth_dev *dev, uint32_t queue, const struct rte_flow_op_attr *attr,
	struct rte_flow *handle, void *user_data, struct rte_flow_error *error)
{
	struct flow *flow = (struct flow *)handle;
	struct job *job;
	int rc = nic_can_answer(nic_of_dev(dev), error);

	if (rc != 0)
		return rc;
	if (flow->state == CREATING)
		return refuse(error, EBUSY, "fail to destroy rte flow");
	job = job_take(nic_of_dev(dev)->templates);
	if (job == NULL)
		return refuse(error, ENOMEM, "fail to destroy rte flow");
	job->flow = flow;
	job->user_data = user_data;
	return attr->postpone ? 0 : push(dev, queue, error);
}

/* flow_hw_pull(): a flow's memory goes when its destruction is pulled. */
static int
pull(struct rte_eth_dev *dev, uint32_t queue, struct rte_flow_op_result results[], uint16_t n,
	struct rte_flow_error *error)
{
	struct nic_templates *t = nic_of_dev(dev)->templates;
	int i = nic_can_answer(nic_of_dev(dev), error);

	RTE_SET_USED(queue);
	for (; i >= 0 && i < n && t->n > 0 && !t->mute && job_at(t, 0)->done; i++) {
		struct job *job = job_at(t, 0);

		results[i].status = job->status;
		results[i].user_data = job->user_data;
		if (!job->creates && job->status == RTE_FLOW_OP_SUCCESS)
			flow_free(job->flow);
		job_free(job);
		t->head = (t->head + 1) % t->size;
		t->n--;
	}
	return i;
}

void
simnic_mute(uint16_t port, bool mute)
{
	nic_of(port)->templates->mute = mute;
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

void *
nic_templates_rule(struct rte_flow *handle)
{
	return ((struct flow *)handle)->rule;
}

#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
const struct rte_flow_fp_ops nic_templates_fp_ops = {
	.async_create = async_create,
	.async_destroy = async_destroy,
	.push = push,
	.pull = pull,
};
#endif

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
#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
	ops->async_create = async_create;
	ops->async_destroy = async_destroy;
	ops->push = push;
	ops->pull = pull;
#endif
}
