/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of Intel's E810, after DPDK v22.11: drivers/net/ice (ice_generic_flow.c, ice_fdir_filter.c).
 */

#include <errno.h>

#include <rte_ip.h>

#include "hal/internal/dpdk.h"
#include "sim_fdir.h"

/* A MAC address in whose mask any bit is set is matched in full. */
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
 * ice_fdir_filter.c, ice_fdir_parse_pattern(): the ether type counts in full, in a pattern of eth
 * alone. IP addresses beyond item->last are not looked at. Packets with "more fragments" have a table
 * of their own, which is not simulated.
 */
static void
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
}

/*
 * The same, the case of IPV4. Since v25.03 a mask of an offset has offset and "more fragments" compared
 * (ice_flow.c, ice_flds_info), with those of a whole packet, as the one has that programs the rule
 * (ice_fdir.c).
 */
static void
fragment_field(struct hy_sim_wish *wish, rte_be16_t asked)
{
	const rte_be16_t offset = RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK);

	if (!HY_DPDK_ICE_FRAGMENTS || (asked & offset) == 0)
		return;
	wish->mask.frag = offset | RTE_BE16(RTE_IPV4_HDR_MF_FLAG);
	wish->value.frag = 0;
}

static int
judge_fragments(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_item *item = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV4);
	const struct rte_flow_item_ipv4 *last = item == NULL ? NULL : item->last;

	if (item == NULL || item->spec == NULL || item->mask == NULL)
		return 0;
	if (last != NULL && last->hdr.fragment_offset != 0)
		return hy_sim_bad_item(item, EINVAL, "no ranges of fragments", error);
	if ((wish->mask.frag & wish->value.frag & RTE_BE16(RTE_IPV4_HDR_MF_FLAG)) != 0)
		return hy_sim_bad_item(item, ENOTSUP, "not simulated: rules on fragments", error);
	return 0;
}

/* The same: before v26.07 a range of items other than IPV4 is noticed, and taken for none. */
static int
judge_ranges(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	for (const struct rte_flow_item *i = wish->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		if (i->last != NULL && i->type != RTE_FLOW_ITEM_TYPE_IPV4)
			return hy_sim_bad_item(i, EINVAL, "no ranges", error);
	return 0;
}

/* ice_fdir_filter.c, ice_fdir_parse_action(). */
static int
judge_actions(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	for (const struct rte_flow_action *a = wish->actions; a->type != RTE_FLOW_ACTION_TYPE_END;
		a++) {
		if (a->type == RTE_FLOW_ACTION_TYPE_FLAG || a->type == RTE_FLOW_ACTION_TYPE_JUMP)
			return hy_sim_bad_action(a, EINVAL, "no FLAG, no JUMP", error);
		/* The driver copies it unseen, and would crash. */
		if (a->type == RTE_FLOW_ACTION_TYPE_COUNT && a->conf == NULL)
			return hy_sim_bad_action(a, EINVAL, "COUNT without conf", error);
	}
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_COUNT) > 1)
		return hy_sim_bad_action(wish->actions, EINVAL, "more than one COUNT", error);
	return hy_sim_fdir_actions(sim, wish, error);
}

/*
 * ice_generic_flow.c, ice_flow_valid_attr(), ice_search_pattern_match_item(); ice_fdir_filter.c,
 * ice_fdir_parse(): priority 1 is for other engines, and an empty input set is none.
 */
static int
judge_pattern(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	int rc = hy_sim_fdir_attr(&wish->attr, error);
	rte_be16_t frag;

	if (rc == 0)
		rc = hy_sim_fdir_e810_pattern(wish, error);
	if (rc == 0)
		rc = HY_DPDK_ICE_NO_RANGES ? judge_ranges(wish, error) : 0;
	if (rc == 0)
		rc = HY_DPDK_ICE_FRAGMENTS ? judge_fragments(wish, error) : 0;
	frag = wish->mask.frag;
	if (rc == 0)
		rc = hy_sim_fdir_fields(wish, error);
	if (rc != 0)
		return rc;
	fragment_field(wish, frag);
	ether_fields(wish);
	hy_sim_fdir_settle(wish);
	return hy_sim_fdir_need_field(wish, error);
}

static int
judge(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const int rc = hy_sim_fdir_unmarked(wish, judge_pattern(wish, error), error);

	return rc == 0 ? judge_actions(sim, wish, error) : rc;
}

const struct hy_sim_profile hy_sim_ice = {
	.name = "ice",
	.table_size =
		16384, /* fd_fltr_guar and fd_fltr_best_effort together, which firmware says */
	.mark_max = UINT32_MAX,
	.full = -EINVAL, /* ice_rxtx.c, ice_check_fdir_programming_status() */
	.twin = -EEXIST, /* ice_fdir_filter.c, ice_fdir_create_filter() */
	.judge = judge,
};
