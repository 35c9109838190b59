/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of Intel's XL710, after DPDK v22.11: drivers/net/i40e (i40e_flow.c, i40e_fdir.c), since
 * v25.03 net/intel/i40e. Its flow types are called packet classification types. Since v26.07
 * ci_flow_check_actions() of net/intel/common checks actions first.
 */

#include <errno.h>

#include <rte_ip.h>

#include "lib/graph/internal/dpdk.h"
#include "sim_fdir.h"

#define VLAN RTE_FLOW_ITEM_TYPE_VLAN
#define IP4 RTE_FLOW_ITEM_TYPE_IPV4

/* Whether none or all bits of a mask are set. */
static bool
whole_mac(const uint8_t *mask)
{
	for (int i = 1; i < 6; i++)
		if (mask[i] != mask[0])
			return false;
	return mask[0] == 0 || mask[0] == UINT8_MAX;
}

/*
 * i40e_flow.c, i40e_flow_parse_fdir_pattern(): MAC addresses exclude IPv4 fields and ports.
 * i40e_ethdev.c, i40e_get_valid_input_set(): the types of Ethernet and SCTP do not support them.
 */
static int
judge_macs(struct hy_sim_wish *wish)
{
	const struct hy_sim_key *mask = &wish->mask;
	const uint64_t fields = mask->src | mask->dst | mask->sport | mask->dport | mask->tos |
		mask->ttl | mask->proto;

	if (!whole_mac(mask->dst_mac) || !whole_mac(mask->src_mac))
		return hy_sim_bad_item(wish, wish->items, EINVAL, "half a MAC address");
	if ((mask->dst_mac[0] | mask->src_mac[0]) == 0)
		return 0;
	if (wish->type == HY_SIM_TYPE_L2 || wish->type == HY_SIM_TYPE_SCTP || fields != 0)
		return hy_sim_bad_item(wish, wish->items, EINVAL,
			"MAC addresses exclude all other fields but a tag");
	return 0;
}

/*
 * The same, the VLAN case: hardware compares the whole tag. Before v26.07 the driver accepts other
 * masks, and the rule matches fewer packets than it asks for.
 */
static int
judge_tag(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *vlan = hy_sim_item(wish, VLAN);
	bool compared = vlan != NULL && vlan->spec != NULL && vlan->mask != NULL;

	if (HY_DPDK_I40E_WHOLE_TAGS) {
		if (wish->mask.tci != 0 && wish->mask.tci != UINT16_MAX)
			return hy_sim_bad_item(wish, vlan, EINVAL, "half a VLAN tag");
		compared = wish->mask.tci != 0;
	}
	if (compared) {
		wish->mask.tci = UINT16_MAX;
		wish->value.tci = ((const struct rte_flow_item_vlan *)vlan->spec)->hdr.vlan_tci;
	}
	/* The tag is a field, not a layer: its presence alone is not compared. */
	wish->mask.layers &= ~(HY_SIM_TAG | HY_SIM_TAGS);
	return 0;
}

/* The same, the ETH and VLAN cases. */
static int
judge_l2(struct hy_sim_wish *wish)
{
	const struct hy_sim_key *value = &wish->value;
	struct hy_sim_key *mask = &wish->mask;
	const struct rte_flow_item *vlan = hy_sim_item(wish, VLAN);

	if (vlan == NULL && wish->type == HY_SIM_TYPE_L2 && mask->type != UINT16_MAX)
		return hy_sim_bad_item(wish, wish->items, EINVAL,
			"eth alone needs its whole ether type");
	if (mask->type != 0 && (vlan != NULL || wish->type == HY_SIM_TYPE_L2)) {
		if (mask->type != UINT16_MAX)
			return hy_sim_bad_item(wish, wish->items, EINVAL, "half an ether type");
		if (value->type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
			value->type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			return hy_sim_bad_item(wish, wish->items, EINVAL, "ether type of IP");
	} else {
		mask->type = 0;
	}
	return 0;
}

/*
 * Whether an item's range is an IPv4 header of zeros, which the driver accepts as a fragment range.
 */
static bool
is_range_of_fragments(const struct rte_flow_item *item)
{
	const struct rte_flow_item_ipv4 *last = item->last;

	return item->type == IP4 && item->spec != NULL && item->mask != NULL &&
		(last->hdr.version_ihl | last->hdr.type_of_service | last->hdr.time_to_live |
			last->hdr.total_length | last->hdr.packet_id | last->hdr.next_proto_id |
			last->hdr.hdr_checksum | last->hdr.src_addr | last->hdr.dst_addr |
			last->hdr.fragment_offset) == 0;
}

/*
 * The same, the IPV4, UDP, TCP and SCTP cases. The driver silently ignores fields without a full
 * mask, and the rule matches more packets than it asks for. Rules on UDP, TCP or SCTP have no
 * protocol field: i40e_ethdev.c, i40e_get_valid_input_set().
 */
static int
judge_l3(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *ip = hy_sim_item(wish, IP4);
	struct hy_sim_key *mask = &wish->mask;

	for (const struct rte_flow_item *i = wish->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		if (i->last != NULL && !is_range_of_fragments(i))
			return hy_sim_bad_item(wish, i, EINVAL, "no ranges");
	if (mask->frag != 0 &&
		mask->frag != RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG))
		return hy_sim_bad_item(wish, ip, EINVAL,
			"fragment offset is masked 0x3fff, or not");
	if (mask->frag != 0 && wish->value.frag != 0)
		return hy_sim_bad_item(wish, ip, EINVAL, "fragments are asked for by a range");
	mask->src = mask->src == UINT32_MAX ? mask->src : 0;
	mask->dst = mask->dst == UINT32_MAX ? mask->dst : 0;
	mask->sport = mask->sport == UINT16_MAX ? mask->sport : 0;
	mask->dport = mask->dport == UINT16_MAX ? mask->dport : 0;
	mask->tos = mask->tos == UINT8_MAX ? mask->tos : 0;
	mask->ttl = mask->ttl == UINT8_MAX ? mask->ttl : 0;
	mask->proto = mask->proto == UINT8_MAX ? mask->proto : 0;
	mask->frag = 0;
	if (mask->proto != 0 && wish->type != HY_SIM_TYPE_IP4)
		return hy_sim_bad_item(wish, ip, EINVAL, "protocol beside udp, tcp or sctp");
	return 0;
}

/*
 * Restricts a rule to the packets of its type: those of IPv4 are not fragments, and not of a
 * protocol that has a type of its own.
 */
static int
narrow(struct hy_sim_wish *wish)
{
	if (wish->type == HY_SIM_TYPE_L2)
		wish->mask.layers |= HY_SIM_IP4 | HY_SIM_IP6;
	else
		wish->mask.layers |= HY_SIM_FRAG;
	if (wish->type == HY_SIM_TYPE_IP4)
		wish->mask.layers |= HY_SIM_L4;
	for (int i = 0; i < HY_SIM_WORDS; i++)
		wish->value.words[i] &= wish->mask.words[i];
	return 0;
}

/* i40e_flow.c, i40e_flow_parse_fdir_action(): what the first and the second action may be. */
static int
judge_places(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *a = wish->actions;
	const bool passes = a[0].type == RTE_FLOW_ACTION_TYPE_PASSTHRU ||
		a[0].type == RTE_FLOW_ACTION_TYPE_MARK;

	if (!passes && a[0].type != RTE_FLOW_ACTION_TYPE_QUEUE &&
		a[0].type != RTE_FLOW_ACTION_TYPE_DROP)
		return hy_sim_bad_action(wish, &a[0], EINVAL,
			"the first action is QUEUE, DROP, PASSTHRU or MARK");
	if (a[1].type == RTE_FLOW_ACTION_TYPE_END)
		return 0;
	if (a[1].type != RTE_FLOW_ACTION_TYPE_MARK && a[1].type != RTE_FLOW_ACTION_TYPE_FLAG &&
		a[1].type != RTE_FLOW_ACTION_TYPE_RSS)
		return hy_sim_bad_action(wish, &a[1], EINVAL,
			"the second action is MARK, FLAG or RSS");
	if (a[1].type != RTE_FLOW_ACTION_TYPE_RSS && a[0].type == RTE_FLOW_ACTION_TYPE_MARK)
		return hy_sim_bad_action(wish, &a[1], EINVAL, "MARK, then MARK or FLAG");
	if (a[1].type == RTE_FLOW_ACTION_TYPE_RSS && !passes)
		return hy_sim_bad_action(wish, &a[1], EINVAL, "RSS behind PASSTHRU or MARK only");
	if (a[2].type != RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(wish, &a[2], EINVAL, "two actions at most");
	return 0;
}

/* RSS is the port's: the driver ignores the action's parameters. */
static int
judge_queue(struct hy_sim_wish *wish)
{
	if (wish->actions[0].type == RTE_FLOW_ACTION_TYPE_QUEUE)
		return hy_sim_check_queues(wish);
	wish->fate.nb_queues = 0;
	return 0;
}

/* i40e_flow.c, i40e_find_parse_filter_func(), i40e_supported_patterns: the simulated part. */
static int
judge_pattern(struct hy_sim_wish *wish)
{
	if (!hy_sim_fdir_pattern(wish, true, false))
		return hy_sim_bad_item(wish, wish->items, EINVAL,
			"patterns are eth[ / vlan][ / ipv4[ / udp, tcp or sctp]]");
	return 0;
}

const struct hy_sim_profile hy_sim_i40e = {
	.name = "i40e",
	.table_size = 7680, /* an XL710's: guaranteed to a port plus shared by all ports */
	.mark_max = UINT32_MAX,
	.bare_specs = true,
	.full = -ENOBUFS, /* i40e_flow.c, i40e_flow_create(): "Fdir space full" */
	.twin = -EINVAL,  /* i40e_fdir.c, i40e_flow_add_del_fdir_filter() */
	/* Does not forget: i40e_ethdev.c, i40e_dev_start() restores rules, i40e_filter_restore() */
	/* i40e_flow.c, i40e_flow_parse_attr() comes last */
	.judge = { judge_pattern, judge_l3, judge_l2, judge_tag, judge_macs, hy_sim_fdir_rss,
		judge_places, judge_queue, hy_sim_fdir_attr, narrow },
};
