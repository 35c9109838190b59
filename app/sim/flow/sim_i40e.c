/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of Intel's XL710, after DPDK v22.11: drivers/net/i40e (i40e_flow.c, i40e_fdir.c). Its flow
 * types are called packet classification types. Since v25.03 the driver is in net/intel/i40e; since
 * v26.07 ci_flow_check_actions() of net/intel/common looks at its actions first.
 */

#include <errno.h>

#include <rte_ip.h>

#include "hal/internal/dpdk.h"
#include "sim_fdir.h"

#define END RTE_FLOW_ITEM_TYPE_END
#define ETH RTE_FLOW_ITEM_TYPE_ETH
#define VLAN RTE_FLOW_ITEM_TYPE_VLAN
#define IP4 RTE_FLOW_ITEM_TYPE_IPV4

/* i40e_flow.c, i40e_supported_patterns, as far as simulated. */
static const struct hy_sim_pattern patterns[] = {
	{ { ETH, END }, HY_SIM_TYPE_L2, 0 },
	{ { ETH, VLAN, END }, HY_SIM_TYPE_L2, 0 },
	{ { ETH, IP4, END }, HY_SIM_TYPE_IP4, 0 },
	{ { ETH, VLAN, IP4, END }, HY_SIM_TYPE_IP4, 0 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_UDP, END }, HY_SIM_TYPE_UDP, 0 },
	{ { ETH, VLAN, IP4, RTE_FLOW_ITEM_TYPE_UDP, END }, HY_SIM_TYPE_UDP, 0 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_TCP, END }, HY_SIM_TYPE_TCP, 0 },
	{ { ETH, VLAN, IP4, RTE_FLOW_ITEM_TYPE_TCP, END }, HY_SIM_TYPE_TCP, 0 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_SCTP, END }, HY_SIM_TYPE_SCTP, 0 },
	{ { ETH, VLAN, IP4, RTE_FLOW_ITEM_TYPE_SCTP, END }, HY_SIM_TYPE_SCTP, 0 },
};

/* None of its bits, or all. */
static bool
whole_mac(const uint8_t *mask)
{
	for (int i = 1; i < 6; i++)
		if (mask[i] != mask[0])
			return false;
	return mask[0] == 0 || mask[0] == UINT8_MAX;
}

/*
 * i40e_flow.c, i40e_flow_parse_fdir_pattern(): MAC addresses exclude fields of IPv4, and ports.
 * i40e_ethdev.c, i40e_get_valid_input_set(): types of Ethernet and of SCTP do not have them.
 */
static int
judge_macs(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct hy_sim_key *mask = &wish->mask;
	const uint64_t fields = mask->src | mask->dst | mask->sport | mask->dport | mask->tos |
		mask->ttl | mask->proto;

	if (!whole_mac(mask->dst_mac) || !whole_mac(mask->src_mac))
		return hy_sim_bad_item(wish->items, EINVAL, "half a MAC address", error);
	if ((mask->dst_mac[0] | mask->src_mac[0]) == 0)
		return 0;
	if (wish->type == HY_SIM_TYPE_L2 || wish->type == HY_SIM_TYPE_SCTP || fields != 0)
		return hy_sim_bad_item(wish->items, EINVAL,
			"MAC addresses exclude all other fields but a tag", error);
	return 0;
}

/*
 * The same, the case of VLAN: hardware compares all of a tag. Before v26.07 the driver notices other
 * masks and goes on, and the rule matches less than it says.
 */
static int
judge_tag(const struct rte_flow_item *vlan, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	bool compared = vlan != NULL && vlan->spec != NULL && vlan->mask != NULL;

	if (HY_DPDK_I40E_WHOLE_TAGS) {
		if (wish->mask.tci != 0 && wish->mask.tci != UINT16_MAX)
			return hy_sim_bad_item(vlan, EINVAL, "half a VLAN tag", error);
		compared = wish->mask.tci != 0;
	}
	if (compared) {
		wish->mask.tci = UINT16_MAX;
		wish->value.tci = ((const struct rte_flow_item_vlan *)vlan->spec)->hdr.vlan_tci;
	}
	/* The tag is a field, not a layer: without one nobody asks whether it is there. */
	wish->mask.layers &= ~(HY_SIM_TAG | HY_SIM_TAGS);
	return 0;
}

/* The same, the cases of ETH and VLAN. */
static int
judge_l2(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct hy_sim_key *value = &wish->value;
	struct hy_sim_key *mask = &wish->mask;
	const struct rte_flow_item *vlan = hy_sim_item(wish, VLAN);
	int rc;

	if (vlan == NULL && wish->type == HY_SIM_TYPE_L2 && mask->type != UINT16_MAX)
		return hy_sim_bad_item(wish->items, EINVAL, "eth alone needs its whole ether type",
			error);
	if (mask->type != 0 && (vlan != NULL || wish->type == HY_SIM_TYPE_L2)) {
		if (mask->type != UINT16_MAX)
			return hy_sim_bad_item(wish->items, EINVAL, "half an ether type", error);
		if (value->type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
			value->type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			return hy_sim_bad_item(wish->items, EINVAL, "ether type of IP", error);
	} else {
		mask->type = 0;
	}
	rc = judge_tag(vlan, wish, error);
	return rc == 0 ? judge_macs(wish, error) : rc;
}

/* An IPv4 header up to this one, in nothing but fragments, of which there is no range either. */
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
 * The same, the cases of IPV4, UDP, TCP and SCTP. A field counts if its mask is full; one that is
 * not is left out without a word, and the rule matches more than it says. A protocol is no field of
 * rules on UDP, TCP or SCTP: i40e_ethdev.c, i40e_get_valid_input_set().
 */
static int
judge_l3(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_item *ip = hy_sim_item(wish, IP4);
	struct hy_sim_key *mask = &wish->mask;

	for (const struct rte_flow_item *i = wish->items; i->type != RTE_FLOW_ITEM_TYPE_END; i++)
		if (i->last != NULL && !is_range_of_fragments(i))
			return hy_sim_bad_item(i, EINVAL, "no ranges", error);
	if (mask->frag != 0 &&
		mask->frag != RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG))
		return hy_sim_bad_item(ip, EINVAL, "fragment offset is masked 0x3fff, or not",
			error);
	if (mask->frag != 0 && wish->value.frag != 0)
		return hy_sim_bad_item(ip, EINVAL, "fragments are asked for by a range", error);
	mask->src = mask->src == UINT32_MAX ? mask->src : 0;
	mask->dst = mask->dst == UINT32_MAX ? mask->dst : 0;
	mask->sport = mask->sport == UINT16_MAX ? mask->sport : 0;
	mask->dport = mask->dport == UINT16_MAX ? mask->dport : 0;
	mask->tos = mask->tos == UINT8_MAX ? mask->tos : 0;
	mask->ttl = mask->ttl == UINT8_MAX ? mask->ttl : 0;
	mask->proto = mask->proto == UINT8_MAX ? mask->proto : 0;
	mask->frag = 0;
	if (mask->proto != 0 && wish->type != HY_SIM_TYPE_IP4)
		return hy_sim_bad_item(ip, EINVAL, "protocol beside udp, tcp or sctp", error);
	return 0;
}

/* What the types are of: one of IPv4 is of whole packets of other protocols than those with own. */
static void
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
}

/* i40e_flow.c, i40e_flow_parse_fdir_action(): two places, and what may stand in each. */
static int
judge_places(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_action *a = wish->actions;
	const bool passes = a[0].type == RTE_FLOW_ACTION_TYPE_PASSTHRU ||
		a[0].type == RTE_FLOW_ACTION_TYPE_MARK;

	if (!passes && a[0].type != RTE_FLOW_ACTION_TYPE_QUEUE &&
		a[0].type != RTE_FLOW_ACTION_TYPE_DROP)
		return hy_sim_bad_action(&a[0], EINVAL,
			"the first action is QUEUE, DROP, PASSTHRU or MARK", error);
	if (a[1].type == RTE_FLOW_ACTION_TYPE_END)
		return 0;
	if (a[1].type != RTE_FLOW_ACTION_TYPE_MARK && a[1].type != RTE_FLOW_ACTION_TYPE_FLAG &&
		a[1].type != RTE_FLOW_ACTION_TYPE_RSS)
		return hy_sim_bad_action(&a[1], EINVAL, "the second action is MARK, FLAG or RSS",
			error);
	if (a[1].type != RTE_FLOW_ACTION_TYPE_RSS && a[0].type == RTE_FLOW_ACTION_TYPE_MARK)
		return hy_sim_bad_action(&a[1], EINVAL, "MARK, then MARK or FLAG", error);
	if (a[1].type == RTE_FLOW_ACTION_TYPE_RSS && !passes)
		return hy_sim_bad_action(&a[1], EINVAL, "RSS behind PASSTHRU or MARK only", error);
	if (a[2].type != RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(&a[2], EINVAL, "two actions at most", error);
	return 0;
}

/* RSS is that of the port: of what the action says, nothing is used. */
static int
judge_actions(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	int rc = hy_sim_fdir_rss(wish, error);

	if (rc == 0)
		rc = judge_places(wish, error);
	if (rc != 0)
		return rc;
	if (wish->actions[0].type == RTE_FLOW_ACTION_TYPE_QUEUE)
		return hy_sim_check_queues(sim, wish, error);
	wish->fate.nb_queues = 0;
	return 0;
}

/* i40e_flow.c, i40e_find_parse_filter_func(), i40e_flow_parse_attr(). */
static int
judge(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	int rc = 0;

	if (!hy_sim_fdir_pattern(wish, patterns, RTE_DIM(patterns)))
		rc = hy_sim_bad_item(wish->items, EINVAL,
			"patterns are eth[ / vlan][ / ipv4[ / udp, tcp or sctp]]", error);
	if (rc == 0) {
		hy_sim_fdir_unmasked(wish);
		rc = judge_l3(wish, error);
	}
	if (rc == 0)
		rc = judge_l2(wish, error);
	if (rc == 0)
		rc = judge_actions(sim, wish, error);
	if (rc == 0)
		rc = hy_sim_fdir_attr(&wish->attr, error);
	if (rc == 0)
		narrow(wish);
	return rc;
}

const struct hy_sim_profile hy_sim_i40e = {
	.name = "i40e",
	.table_size = 7680, /* that firmware guarantees a port, and that all share, as an XL710's */
	.mark_max = UINT32_MAX,
	.full = -ENOBUFS, /* i40e_flow.c, i40e_flow_create(): "Fdir space full" */
	.twin = -EINVAL,  /* i40e_fdir.c, i40e_flow_add_del_fdir_filter() */
	/* i40e_ethdev.c, i40e_dev_start() writes them again: i40e_filter_restore() */
	.judge = judge,
};
