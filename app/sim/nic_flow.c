/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_flow of simulated NICs: the engine's results, with the error codes of the vendor's driver. */

#include "nic.h"

/* common/cnxk/roc_npc_priv.h of DPDK v22.11, enum npc_err_status. */
enum {
	NPC_ERR_PARAM = -1024,
	NPC_ERR_MCAM_ALLOC = -1016,
	NPC_ERR_ACTION_NOTSUP = -1015,
	NPC_ERR_PATTERN_NOTSUP = -1014
};

/*
 * net/cnxk/cnxk_flow.c, cnxk_flow_create() and cnxk_flow_validate() of DPDK v22.11: rte_errno is
 * 0 for actions that cannot be mapped, and otherwise a negative number that is not an errno.
 */
static int
odd_error(int rc, struct rte_flow_error *error)
{
	int odd;

	switch (error->type) {
	case RTE_FLOW_ERROR_TYPE_ACTION_NUM:
		odd = 0;
		break;
	case RTE_FLOW_ERROR_TYPE_ACTION:
	case RTE_FLOW_ERROR_TYPE_ACTION_CONF:
		/* roc_npc.c, npc_rss_action_configure(): a negative errno */
		odd = error->type == RTE_FLOW_ERROR_TYPE_ACTION_CONF ? rc : NPC_ERR_ACTION_NOTSUP;
		break;
	case RTE_FLOW_ERROR_TYPE_ITEM:
		odd = NPC_ERR_PATTERN_NOTSUP;
		break;
	default:
		odd = rc == -EIO ? NPC_ERR_MCAM_ALLOC : NPC_ERR_PARAM;
	}
	rte_flow_error_set(error, odd, error->type, error->cause, error->message);
	return odd != 0 ? odd : -EINVAL;
}

int
nic_can_answer(struct nic *nic, struct rte_flow_error *error)
{
	const enum nic_state state = __atomic_load_n(&nic->state, __ATOMIC_ACQUIRE);

	if (state == NIC_WORKS)
		return 0;
	if (state == NIC_REMOVED)
		__atomic_fetch_add(&nic->offences.flow_when_removed, 1, __ATOMIC_RELAXED);
	else
		__atomic_fetch_add(&nic->offences.flow_when_broken, 1, __ATOMIC_RELAXED);
	return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		state == NIC_REMOVED ? "the NIC was removed" : "the NIC needs a reset");
}

/* roc_npc.c, npc_parse_actions(), which runs after npc_parse_attr() and npc_parse_pattern(). */
static void
marks_count(struct nic *nic, const struct rte_flow_action *actions, int rc,
	const struct rte_flow_error *error)
{
	if (rc != 0 && error->type != RTE_FLOW_ERROR_TYPE_ACTION)
		return;
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++) {
		const struct rte_flow_action_mark *mark = actions->conf;

		if (actions->type == RTE_FLOW_ACTION_TYPE_FLAG ||
			(actions->type == RTE_FLOW_ACTION_TYPE_MARK && mark->id <= 0xfffd))
			nic->mark_actions++;
	}
}

/* cn10k_flow.c: create() switches on if the count is not 0, destroy() off if it becomes 0. */
static void
marks_switch(struct nic *nic, bool on)
{
	if (!nic->by_rules || on != (nic->mark_actions > 0))
		return;
	nic->negotiated = on;
	hy_flow_sim_deliver(nic->engine, on);
}

static uint32_t
marking_rules(const struct nic *nic)
{
	struct hy_flow_sim_stats stats;

	hy_flow_sim_stats(nic->engine, &stats);
	return stats.marking;
}

/* Validates a rule and, unless @p flow is NULL, creates it. */
static int
rule_try(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item items[], const struct rte_flow_action actions[], void **flow,
	struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);
	struct rte_flow_error own = { 0 };
	int rc = nic_can_answer(nic, &own);

	if (rc == 0 && nic->vendor->templates) {
		__atomic_fetch_add(&nic->offences.flow_validated, flow == NULL, __ATOMIC_RELAXED);
		/* net/mlx5/mlx5_flow.c, mlx5_flow_create() */
		rc = rte_flow_error_set(&own, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			flow == NULL ? "would crash" : "Flow non-Q creation not supported");
	}
	if (rc == 0) {
		rc = hy_flow_sim_check(nic->engine, attr, items, actions, &own);
		marks_count(nic, actions, rc, &own);
		if (flow != NULL)
			rc = hy_flow_sim_add(nic->engine, attr, items, actions, flow, &own);
		if (rc != 0 && nic->vendor->odd_errors)
			rc = odd_error(rc, &own);
	}
	if (error != NULL)
		*error = own;
	return rc;
}

static int
flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item items[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	return rule_try(dev, attr, items, actions, NULL, error);
}

static struct rte_flow *
flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	const struct rte_flow_item items[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	void *flow = NULL;

	if (rule_try(dev, attr, items, actions, &flow, error) == 0)
		marks_switch(nic_of_dev(dev), true);
	return flow;
}

static int
flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);
	const uint32_t marking = marking_rules(nic);
	int rc = nic_can_answer(nic, error);

	/* net/mlx5/mlx5_flow.c, mlx5_flow_destroy() */
	if (rc == 0 && nic->vendor->templates)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"Flow non-Q destruction not supported");
	if (rc == 0)
		rc = hy_flow_sim_remove(nic->engine, flow, error);
	if (rc == 0 && marking_rules(nic) < marking) {
		nic->mark_actions--;
		marks_switch(nic, false);
	}
	return rc;
}

static int
flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);
	const int rc = nic_can_answer(nic, error);

	if (rc == 0) {
		hy_flow_sim_flush(nic->engine);
		nic_templates_flush(nic);
	}
	return rc;
}

static int
flow_query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action,
	void *data, struct rte_flow_error *error)
{
	struct nic *nic = nic_of_dev(dev);
	const int rc = nic_can_answer(nic, error);

	if (rc != 0)
		return rc;
	if (action->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"only COUNT can be queried");
	return hy_flow_sim_count(nic->engine,
		nic->vendor->templates ? nic_templates_rule(flow) : flow, data, error);
}

static struct rte_flow_ops flow_ops = {
	.validate = flow_validate,
	.create = flow_create,
	.destroy = flow_destroy,
	.flush = flow_flush,
	.query = flow_query,
};

RTE_INIT(flow_ops_complete)
{
	nic_templates_ops(&flow_ops);
}

int
nic_flow_ops(struct rte_eth_dev *dev __rte_unused, const struct rte_flow_ops **ops)
{
	*ops = &flow_ops;
	return 0;
}
