/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of a virtual function of Intel's E810, after DPDK v22.11: drivers/net/iavf (iavf_fdir.c,
 * iavf_generic_flow.c). Its rules go to the driver of the physical function, by virtchnl messages;
 * what that one refuses is after Linux, drivers/net/ethernet/intel/ice/ice_virtchnl_fdir.c. A
 * physical function that does not offer VIRTCHNL_VF_OFFLOAD_FDIR_PF, as XL710's, takes no rule at all.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "sim_fdir.h"

/*
 * iavf_fdir.c, iavf_fdir_parse_pattern(), the case of ETH. The physical function leaves MAC addresses
 * out (ice_virtchnl_fdir.c, fdir_inset_map): a rule matches more than it says.
 */
static int
judge_ether(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	struct hy_sim_key *mask = &wish->mask;
	const struct rte_flow_item *eth = wish->items;
	uint64_t macs = 0;

	for (int i = 0; i < 6; i++)
		macs |= mask->dst_mac[i] | mask->src_mac[i];
	if (mask->type != 0 && mask->type != UINT16_MAX)
		return hy_sim_bad_item(eth, EINVAL, "half an ether type", error);
	if (wish->type != HY_SIM_TYPE_L2)
		return macs == 0 && mask->type == 0
			? 0
			: hy_sim_bad_item(eth, EINVAL, "MAC addresses or a type beside IPv4",
				  error);
	if (eth->mask == NULL || (macs == 0 && mask->type == 0))
		return hy_sim_bad_item(eth, EINVAL, "no field to match on", error);
	memset(mask->dst_mac, 0, sizeof(mask->dst_mac));
	memset(mask->src_mac, 0, sizeof(mask->src_mac));
	return 0;
}

/* The same, the case of IPV4. */
static int
judge_ip4(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_item *item = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV4);

	if (wish->mask.frag == RTE_BE16(RTE_IPV4_HDR_MF_FLAG) &&
		wish->value.frag == RTE_BE16(RTE_IPV4_HDR_MF_FLAG))
		return hy_sim_bad_item(item, ENOTSUP, "not simulated: rules on fragments", error);
	if (wish->mask.proto == UINT8_MAX && wish->type != HY_SIM_TYPE_IP4)
		return hy_sim_bad_item(item, EINVAL, "protocol beside udp, tcp or sctp", error);
	return 0;
}

/* iavf_fdir.c, iavf_fdir_refine_input_set(): without any field, the protocol becomes one. */
static void
refine(struct hy_sim_wish *wish)
{
	if (hy_sim_fdir_any_field(wish) ||
		(wish->type != HY_SIM_TYPE_UDP && wish->type != HY_SIM_TYPE_TCP))
		return;
	wish->mask.proto = UINT8_MAX;
	wish->value.proto = wish->type == HY_SIM_TYPE_UDP ? IPPROTO_UDP : IPPROTO_TCP;
}

/* iavf_fdir.c, iavf_fdir_parse_action(). */
static int
judge_actions(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++)
		if (a->type == RTE_FLOW_ACTION_TYPE_FLAG || a->type == RTE_FLOW_ACTION_TYPE_JUMP ||
			a->type == RTE_FLOW_ACTION_TYPE_COUNT)
			return hy_sim_bad_action(a, EINVAL, "no FLAG, no COUNT, no JUMP", error);
	return hy_sim_fdir_actions(sim, wish, error);
}

/*
 * iavf_generic_flow.c, iavf_flow_valid_attr(), iavf_search_pattern_match_item(); iavf_fdir.c,
 * iavf_fdir_parse(): priority 1 is for another engine.
 */
static int
judge_pattern(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	int rc = hy_sim_fdir_attr(&wish->attr, error);

	if (rc == 0)
		rc = hy_sim_fdir_e810_pattern(wish, error);
	if (rc == 0)
		rc = judge_ether(wish, error);
	if (rc == 0)
		rc = judge_ip4(wish, error);
	if (rc == 0)
		rc = hy_sim_fdir_fields(wish, error);
	if (rc != 0)
		return rc;
	refine(wish);
	hy_sim_fdir_settle(wish);
	return wish->type == HY_SIM_TYPE_L2 ? 0 : hy_sim_fdir_need_field(wish, error);
}

static int
judge(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const int rc = hy_sim_fdir_unmarked(wish, judge_pattern(wish, error), error);

	return rc == 0 ? judge_actions(sim, wish, error) : rc;
}

/*
 * ice_virtchnl_fdir.c, ice_vc_fdir_set_flow_fld(): a rule on MAC addresses alone, of which nothing is
 * left. To validate it, the physical function does not come as far.
 */
static int
admit(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	RTE_SET_USED(sim);
	return hy_sim_fdir_need_field(wish, error);
}

/* Whatever the physical function says, iavf_flow_process_filter() ends with EINVAL. */
const struct hy_sim_profile hy_sim_iavf = {
	.name = "iavf",
	.table_size = 16384, /* Linux, ice_fdir.h, ICE_FDIR_MAX_FLTRS */
	.mark_max = UINT32_MAX,
	.full = -EINVAL,
	.twin = -EINVAL,
	.judge = judge,
	.admit = admit,
};
