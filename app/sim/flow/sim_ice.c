/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of Intel's E810, after DPDK v22.11: drivers/net/ice (ice_generic_flow.c,
 * ice_fdir_filter.c).
 */

#include <errno.h>

#include <rte_ip.h>

#include "lib/graph/internal/dpdk.h"
#include "sim_fdir.h"

/* A MAC address is matched in full if its mask has any bit set. */
static void
whole_mac(uint8_t *mask, uint8_t *value, const uint8_t *spec)
{
	uint8_t any = 0;

	for (int i = 0; i < 6; i++)
		any |= mask[i];
	for (int i = 0; i < 6; i++) {
		mask[i] = any != 0 ? UINT8_MAX : 0;
		value[i] = any != 0 ? spec[i] : 0;
	}
}

/*
 * ice_fdir_filter.c, ice_fdir_parse_pattern(): the ether type is compared only in full, and only in
 * the pattern eth. Address ranges are ignored. Packets with "more fragments" have a table of their
 * own, which is not simulated.
 */
static int
ether_fields(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *eth = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_ETH);
	struct hy_sim_key *mask = &wish->mask, *value = &wish->value;

	if (wish->type != HY_SIM_TYPE_L2 || mask->type != UINT16_MAX)
		mask->type = 0;
	if (eth != NULL && eth->spec != NULL) {
		const struct rte_flow_item_eth *spec = eth->spec;

		whole_mac(mask->dst_mac, value->dst_mac, spec->hdr.dst_addr.addr_bytes);
		whole_mac(mask->src_mac, value->src_mac, spec->hdr.src_addr.addr_bytes);
	}
	/* ICE_FDIR_INSET_ETH_IPV6 */
	if (wish->type >= HY_SIM_TYPE_IP6 && mask->src_mac[0] != 0)
		return hy_sim_bad_item(wish, eth, EINVAL, "a source MAC address before IPv6");
	return 0;
}

/*
 * The same, the IPV4 case. Since v25.03 a mask on the offset compares offset and "more fragments"
 * (ice_flow.c, ice_flds_info) with 0, as in the packet that programs the rule (ice_fdir.c).
 */
static int
fragment_field(struct hy_sim_wish *wish)
{
	const rte_be16_t offset = RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK);
	const bool compared = HY_DPDK_ICE_FRAGMENTS && (wish->mask.frag & offset) != 0;

	wish->mask.frag = compared ? offset | RTE_BE16(RTE_IPV4_HDR_MF_FLAG) : 0;
	wish->value.frag = 0;
	return 0;
}

static int
judge_fragments(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *item = HY_DPDK_ICE_FRAGMENTS
		? hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV4)
		: NULL;
	const struct rte_flow_item_ipv4 *last;

	if (item == NULL || item->spec == NULL || item->mask == NULL)
		return 0;
	last = item->last;
	if (last != NULL && last->hdr.fragment_offset != 0)
		return hy_sim_bad_item(wish, item, EINVAL, "no ranges of fragments");
	if ((wish->mask.frag & wish->value.frag & RTE_BE16(RTE_IPV4_HDR_MF_FLAG)) != 0)
		return hy_sim_bad_item(wish, item, ENOTSUP, "not simulated: rules on fragments");
	return 0;
}

/* The same: before v26.07 the driver ignores ranges of items other than IPV4. */
static int
judge_ranges(struct hy_sim_wish *wish)
{
	for (const struct rte_flow_item *i = wish->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		if (HY_DPDK_ICE_NO_RANGES && i->last != NULL && i->type != RTE_FLOW_ITEM_TYPE_IPV4)
			return hy_sim_bad_item(wish, i, EINVAL, "no ranges");
	return 0;
}

/*
 * ice_generic_flow.c, ice_flow_valid_attr(), ice_search_pattern_match_item(); ice_fdir_filter.c,
 * ice_fdir_parse(): priority 1 is for other engines, and an empty input set is refused.
 */
static int
judge_pattern(struct hy_sim_wish *wish)
{
	static hy_sim_step *const steps[] = { hy_sim_fdir_attr, hy_sim_fdir_e810_pattern6,
		judge_ranges, judge_fragments, hy_sim_fdir_fields, fragment_field, ether_fields,
		hy_sim_fdir_settle, hy_sim_fdir_need_field, NULL };

	return hy_sim_fdir_engine(wish, steps);
}

/* ice_fdir_filter.c, ice_fdir_parse_action(). It copies COUNT's conf without a check, and crashes. */
static int
judge_actions(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *count = hy_sim_action(wish, RTE_FLOW_ACTION_TYPE_COUNT);

	if (wish->flag || hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_JUMP) > 0)
		return hy_sim_bad_action(wish, wish->actions, EINVAL, "no FLAG, no JUMP");
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_COUNT) > 1)
		return hy_sim_bad_action(wish, wish->actions, EINVAL, "more than one COUNT");
	if (count != NULL && count->conf == NULL)
		return hy_sim_bad_action(wish, count, EINVAL, "COUNT without conf");
	return 0;
}

const struct hy_sim_profile hy_sim_ice = {
	.name = "ice",
	.table_size = 16384, /* fd_fltr_guar plus fd_fltr_best_effort, as the firmware reports */
	.counters = 256,     /* ice_ethdev.h, ICE_FDIR_COUNTERS_PER_BLOCK: one block is taken */
	.no_counter = "Failed to alloc FDIR counter.", /* ice_fdir_filter.c */
	.mark_max = UINT32_MAX,
	.bare_specs = true,
	.full = -EINVAL, /* ice_rxtx.c, ice_check_fdir_programming_status() */
	.twin = -EEXIST, /* ice_fdir_filter.c, ice_fdir_create_filter() */
	.judge = { judge_pattern, judge_actions, hy_sim_fdir_region, hy_sim_fdir_fate,
		hy_sim_check_queues },
};
