/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of a NIC that takes rules by templates: requests are pushed, executed and pulled. */

#include <stdlib.h>

#include "nic_template.h"

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
	LIST_REMOVE(flow, next);
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
	while (!LIST_EMPTY(&t->flows))
		flow_free(LIST_FIRST(&t->flows));
}

/* Adds a job to the queue; NULL: the queue is full of jobs that were not pulled. */
static struct job *
job_take(struct nic_templates *t)
{
	return t->n == t->size ? NULL : job_at(t, t->n++);
}

/* Takes values from the rule and masks from the template. False: the items do not match it. */
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

/* Masked action fields come from the template. Of MARK, mlx5 only checks whether the mask is 0. */
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

/*
 * Builds the rule from its table's templates. Copies twice: its values point to the caller's
 * memory.
 */
static bool
job_fill(struct job *job, const struct rte_flow_template_table *table,
	const struct rte_flow_item items[], uint8_t pattern, const struct rte_flow_action actions[],
	uint8_t action)
{
	struct rte_flow_item *i = template_copy(RTE_FLOW_CONV_OP_PATTERN,
		table->patterns[pattern]->parts);
	struct rte_flow_action *a = template_copy(RTE_FLOW_CONV_OP_ACTIONS,
		table->actions[action]->parts);
	const bool fits = items_join(items, i) &&
		actions_join(actions, table->actions[action]->masks, a);

	if (fits) {
		job->items = template_copy(RTE_FLOW_CONV_OP_PATTERN, i);
		job->actions = template_copy(RTE_FLOW_CONV_OP_ACTIONS, a);
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
push(struct rte_eth_dev *dev, uint32_t queue __rte_unused, struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);
	const int rc = nic_can_answer(nic, error);

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
		template_refuse(error, EINVAL, "fail to create rte flow");
	else if (table->used == table->size || (job = job_take(t)) == NULL ||
		(flow = calloc(1, sizeof(*flow))) == NULL)
		template_refuse(error, ENOMEM, "fail to create rte flow");
	if (flow == NULL) {
		t->n -= job != NULL;
		return NULL;
	}
	if (!job_fill(job, table, items, pattern, actions, action)) {
		template_refuse(error, EINVAL, "trusted: the rule is not of its templates");
		free(flow);
		t->n--;
		return NULL;
	}
	flow->table = table;
	LIST_INSERT_HEAD(&t->flows, flow, next);
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
		return template_refuse(error, EBUSY, "fail to destroy rte flow");
	job = job_take(nic_of_dev(dev)->templates);
	if (job == NULL)
		return template_refuse(error, ENOMEM, "fail to destroy rte flow");
	job->flow = flow;
	job->user_data = user_data;
	return attr->postpone ? 0 : push(dev, queue, error);
}

/* flow_hw_pull(): frees a flow when its destruction is pulled. */
static int
pull(struct rte_eth_dev *dev, uint32_t queue __rte_unused, struct rte_flow_op_result results[],
	uint16_t n, struct rte_flow_error *error)
{
	struct nic_templates *t = nic_of_dev(dev)->templates;
	int i = nic_can_answer(nic_of_dev(dev), error);

	for (; i >= 0 && i < n && t->n > 0 && job_at(t, 0)->done; i++) {
		struct job *job = job_at(t, 0);

		if (t->mute && t->answers == 0)
			break;
		t->answers -= t->mute;
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
simnic_mute(uint16_t port, bool mute, uint32_t answers)
{
	struct nic_templates *t = nic_of(port)->templates;

	t->mute = mute;
	t->answers = answers;
}

void *
nic_templates_rule(struct rte_flow *handle)
{
	return ((struct flow *)handle)->rule;
}

#if HY_DPDK_FLOW_FAST
const struct rte_flow_fp_ops nic_templates_fp_ops = {
	.async_create = async_create,
	.async_destroy = async_destroy,
	.push = push,
	.pull = pull,
};
#endif

void
template_queue_ops(struct rte_flow_ops *ops)
{
	RTE_SET_USED(ops); /* from 24.03 on */
#if !HY_DPDK_FLOW_FAST
	ops->async_create = async_create;
	ops->async_destroy = async_destroy;
	ops->push = push;
	ops->pull = pull;
#endif
}
