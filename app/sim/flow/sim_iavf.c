/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of a virtual function of Intel's E810, after DPDK v22.11: drivers/net/iavf (iavf_fdir.c,
 * iavf_generic_flow.c). It sends rules to the driver of the physical function in virtchnl messages;
 * the refusals of that driver are after Linux, drivers/net/ethernet/intel/ice/ice_virtchnl_fdir.c.
 * A physical function without VIRTCHNL_VF_OFFLOAD_FDIR_PF, such as an XL710's, takes no rules.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "sim_fdir.h"

/*
 * iavf_fdir.c, iavf_fdir_parse_pattern(), the ETH case. The physical function ignores MAC addresses
 * (ice_virtchnl_fdir.c, fdir_inset_map): a rule matches more packets than it asks for.
 */
static int
judge_ether(struct hy_sim_wish *wish)
{
	struct hy_sim_key *mask = &wish->mask;
	const struct rte_flow_item *eth = wish->items;
	uint64_t macs = 0;

	for (int i = 0; i < 6; i++)
		macs |= mask->dst_mac[i] | mask->src_mac[i];
	if (mask->type != 0 && mask->type != UINT16_MAX)
		return hy_sim_bad_item(wish, eth, EINVAL, "half an ether type");
	if (wish->type != HY_SIM_TYPE_L2)
		return macs == 0 && mask->type == 0
			? 0
			: hy_sim_bad_item(wish, eth, EINVAL, "MAC addresses or a type beside IPv4");
	if (eth->mask == NULL || (macs == 0 && mask->type == 0))
		return hy_sim_bad_item(wish, eth, EINVAL, "no field to match on");
	memset(mask->dst_mac, 0, sizeof(mask->dst_mac));
	memset(mask->src_mac, 0, sizeof(mask->src_mac));
	return 0;
}

/* The same, the IPV4 case. */
static int
judge_ip4(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *item = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV4);

	if (wish->mask.frag == RTE_BE16(RTE_IPV4_HDR_MF_FLAG) &&
		wish->value.frag == RTE_BE16(RTE_IPV4_HDR_MF_FLAG))
		return hy_sim_bad_item(wish, item, ENOTSUP, "not simulated: rules on fragments");
	if (wish->mask.proto == UINT8_MAX && wish->type != HY_SIM_TYPE_IP4)
		return hy_sim_bad_item(wish, item, EINVAL, "protocol beside udp, tcp or sctp");
	return 0;
}

/*
 * iavf_fdir.c, iavf_fdir_refine_input_set(): a rule without fields matches the protocol. Fragment
 * offsets are ignored.
 */
static int
refine(struct hy_sim_wish *wish)
{
	wish->mask.frag = 0;
	if (hy_sim_fdir_any_field(wish) ||
		(wish->type != HY_SIM_TYPE_UDP && wish->type != HY_SIM_TYPE_TCP))
		return 0;
	wish->mask.proto = UINT8_MAX;
	wish->value.proto = wish->type == HY_SIM_TYPE_UDP ? IPPROTO_UDP : IPPROTO_TCP;
	return 0;
}

static int
need_field(struct hy_sim_wish *wish)
{
	return wish->type == HY_SIM_TYPE_L2 ? 0 : hy_sim_fdir_need_field(wish);
}

/*
 * iavf_generic_flow.c, iavf_flow_valid_attr(), iavf_search_pattern_match_item(); iavf_fdir.c,
 * iavf_fdir_parse(): priority 1 is for another engine.
 */
static int
judge_pattern(struct hy_sim_wish *wish)
{
	static hy_sim_step *const steps[] = { hy_sim_fdir_attr, hy_sim_fdir_e810_pattern,
		judge_ether, judge_ip4, hy_sim_fdir_fields, refine, hy_sim_fdir_settle, need_field,
		NULL };

	return hy_sim_fdir_engine(wish, steps);
}

/* iavf_fdir.c, iavf_fdir_parse_action(). */
static int
judge_actions(struct hy_sim_wish *wish)
{
	if (wish->flag || wish->count || hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_JUMP) > 0)
		return hy_sim_bad_action(wish, wish->actions, EINVAL, "no FLAG, no COUNT, no JUMP");
	return 0;
}

/*
 * Whatever the physical function says, iavf_flow_process_filter() ends with EINVAL. To create a
 * rule on MAC addresses alone is refused: ice_virtchnl_fdir.c, ice_vc_fdir_set_flow_fld(), finds no
 * field left. Validation in the physical function does not get that far.
 */
const struct hy_sim_profile hy_sim_iavf = {
	.name = "iavf",
	.table_size = 16384, /* Linux, ice_fdir.h, ICE_FDIR_MAX_FLTRS */
	.mark_max = UINT32_MAX,
	.bare_specs = true,
	.full = -EINVAL,
	.twin = -EINVAL,
	.judge = { judge_pattern, judge_actions, hy_sim_fdir_region, hy_sim_fdir_fate,
		hy_sim_check_queues },
	.admit = hy_sim_fdir_need_field,
};
