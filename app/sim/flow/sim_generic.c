/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile of no vendor: everything that the simulator can match and do, in one table. */

#include <errno.h>

#include "sim.h"

static int
judge(struct hy_sim_wish *wish)
{
	if (!wish->attr.ingress || wish->attr.egress || wish->attr.transfer)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR, EINVAL, "ingress only");
	if (wish->attr.group != 0 || wish->jump != 0)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, ENOTSUP,
			"one group only");
	for (const struct rte_flow_item *i = wish->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++) {
		if (i->last != NULL)
			return hy_sim_bad_item(wish, i, ENOTSUP, "no ranges");
		if (i->spec == NULL && i->mask != NULL)
			return hy_sim_bad_item(wish, i, EINVAL, "a mask without a spec");
	}
	if (wish->actions[0].type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(wish, wish->actions, EINVAL, "no action");
	if (hy_sim_fates(wish) > 1)
		return hy_sim_bad_action(wish, wish->actions, EINVAL, "more than one fate");
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_MARK) > 1 || (wish->mark && wish->flag))
		return hy_sim_bad_action(wish, wish->actions, EINVAL, "one MARK or FLAG");
	return 0;
}

const struct hy_sim_profile hy_sim_generic = {
	.name = "generic",
	.table_size = 4096,
	.mark_max = UINT32_MAX,
	.full = -ENOSPC,
	.twin = -EEXIST,
	.counts_bytes = true,
	.judge = { judge, hy_sim_check_queues },
};
