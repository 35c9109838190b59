/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of Marvell's cn10k, after DPDK v22.11: drivers/common/cnxk (roc_npc*.c) and
 * drivers/net/cnxk (cnxk_flow.c). A TCAM: any mask, three priorities, no groups.
 *
 * What can be matched on also depends on the key extraction profile that the kernel driver loads
 * (npc_mcam_fetch_kex_cfg()), which DPDK does not have; all that the simulator knows is taken.
 */

#include <errno.h>

#include "sim.h"

#define MARK_MAX 0xfffd /* roc_npc.c, npc_parse_actions(): NPC_FLOW_FLAG_VAL - 2 */
#define PRIORITIES 3    /* cnxk_ethdev_devargs.c, cnxk_ethdev_parse_devargs(): flow_max_priority */

/* roc_npc.c, npc_parse_attr(). */
static int
judge_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (attr->priority >= PRIORITIES)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, EINVAL,
			"priorities 0 to 2 only", error);
	if (!attr->ingress || attr->egress)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, EINVAL,
			"either ingress or egress; egress is not simulated", error);
	return 0;
}

/* roc_npc_utils.c, npc_parse_item_basic(). */
static int
judge_item(const struct rte_flow_item *item, struct rte_flow_error *error)
{
	if (item->last != NULL)
		return hy_sim_bad_item(item, EINVAL, "no ranges", error);
	if (item->spec == NULL && item->mask != NULL)
		return hy_sim_bad_item(item, EINVAL, "a mask without a spec", error);
	if (item->spec != NULL && item->mask == NULL)
		return hy_sim_bad_item(item, EINVAL, "a spec without a mask", error);
	return 0;
}

/*
 * cnxk_flow.c, cnxk_map_actions() and npc_rss_action_validate(): "Failed to map flow data", with
 * RTE_FLOW_ERROR_TYPE_ACTION_NUM.
 */
static int
unmapped(const struct rte_flow_action *action, int code, const char *why,
	struct rte_flow_error *error)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_ACTION_NUM, action, why);
}

static int
judge_action(const struct hy_flow_sim *sim, const struct rte_flow_action *action,
	struct rte_flow_error *error)
{
	const struct rte_flow_action_rss *rss = action->conf;

	if (action->type == RTE_FLOW_ACTION_TYPE_PASSTHRU ||
		action->type == RTE_FLOW_ACTION_TYPE_JUMP)
		return unmapped(action, EINVAL, "no PASSTHRU, no JUMP", error);
	if (action->type != RTE_FLOW_ACTION_TYPE_RSS)
		return 0;
	if (!hy_sim_has_rss(sim))
		return unmapped(action, ENOTSUP, "RSS without rxmode.mq_mode RSS", error);
	if (rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT)
		return unmapped(action, ENOTSUP, "RSS by the default function only", error);
	return 0;
}

/* roc_npc.c, npc_parse_actions(), from "Exactly one terminating action is supported" on. */
static int
judge_together(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_action *a = wish->actions;
	const bool fates = (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_QUEUE) > 0) +
			(hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_RSS) > 0) + wish->drop >
		1;

	if (a->type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(a, EINVAL, "no action", error);
	if (fates)
		return hy_sim_bad_action(a, EINVAL, "more than one of DROP, QUEUE, RSS", error);
	if (wish->drop && (wish->mark || wish->flag))
		return hy_sim_bad_action(a, EINVAL, "DROP goes with COUNT only", error);
	if (wish->flag && wish->mark)
		return hy_sim_bad_action(a, EINVAL, "MARK and FLAG", error);
	return 0;
}

static int
judge(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const char *bad_queues = hy_sim_bad_queues(sim, wish);
	int rc = judge_attr(&wish->attr, error);

	for (const struct rte_flow_item *i = wish->items;
		rc == 0 && i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		rc = judge_item(i, error);
	for (const struct rte_flow_action *a = wish->actions;
		rc == 0 && a->type != RTE_FLOW_ACTION_TYPE_END; a++)
		rc = judge_action(sim, a, error);
	if (rc == 0 && bad_queues != NULL)
		rc = unmapped(wish->actions, EINVAL, bad_queues, error);
	if (rc != 0)
		return rc;
	/*
	 * A mark beyond the limit ends npc_parse_actions() with error code 0, from 22.11 to 26.11-rc0:
	 * the rule is taken, and npc_action is left at 0, NIX_RX_ACTIONOP_DROP (hw/nix.h).
	 */
	if (wish->mark && wish->mark_id > MARK_MAX) {
		wish->mark = false;
		wish->drop = true;
		return 0;
	}
	wish->attr.group = 0; /* cnxk_map_flow_data() does not look at it */
	/* roc_npc_parse.c, npc_parse_lb(): one VLAN item is CTAG, two tags are STAG_QINQ. */
	if (hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_VLAN) != NULL)
		wish->mask.layers |= HY_SIM_TAGS;
	return judge_together(wish, error);
}

const struct hy_sim_profile hy_sim_cnxk = {
	.name = "cnxk",
	.table_size = 2048, /* of the MCAM that all ports share; AF hands it out */
	.mark_max = MARK_MAX,
	.full = -ENOSPC,
	/* roc_npc_priv.h, NPC_RSS_GRPS; roc_npc.c, npc_rss_action_configure(): all but group 0 */
	.rss_groups = 7,
	.one_key = true,
	/* cnxk_ethdev_ops.c, cnxk_nix_info_get(): RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP */
	.judge = judge,
};
