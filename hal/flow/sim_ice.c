/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of Intel's E810, after DPDK v22.11: drivers/net/ice (ice_generic_flow.c, ice_fdir_filter.c).
 * Its flow director looks a packet up by exact match, in one table for each flow type, all of whose
 * rules match on the same fields. Of the engines only this one can mark.
 */

#include <errno.h>

#include "sim.h"

#define END RTE_FLOW_ITEM_TYPE_END
#define ETH RTE_FLOW_ITEM_TYPE_ETH
#define IP4 RTE_FLOW_ITEM_TYPE_IPV4
#define REGION_MAX 128 /* ice_fdir_filter.c, ICE_FDIR_MAX_QREGION_SIZE */

/*
 * ice_fdir_filter.c, ice_fdir_pattern_list, as far as simulated: no VLAN, and VXLAN only with inner
 * headers. ice_fdir_cross_prof_conflict(): rules on IPv4 and on a protocol above exclude each other.
 */
static const struct {
	enum rte_flow_item_type items[4];
	enum hy_sim_type type;
	uint32_t excludes;
} patterns[] = {
	{ { ETH, END }, HY_SIM_TYPE_L2, 0 },
	{ { ETH, IP4, END }, HY_SIM_TYPE_IP4,
		1u << HY_SIM_TYPE_UDP | 1u << HY_SIM_TYPE_TCP | 1u << HY_SIM_TYPE_SCTP },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_UDP, END }, HY_SIM_TYPE_UDP, 1u << HY_SIM_TYPE_IP4 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_TCP, END }, HY_SIM_TYPE_TCP, 1u << HY_SIM_TYPE_IP4 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_SCTP, END }, HY_SIM_TYPE_SCTP, 1u << HY_SIM_TYPE_IP4 },
};

/* ice_generic_flow.c, ice_flow_valid_attr(); ice_fdir_filter.c, ice_fdir_parse() for priority 1. */
static int
judge_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (!attr->ingress || attr->egress)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, EINVAL, "ingress only",
			error);
	if (attr->priority != 0)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, EINVAL,
			"the flow director knows priority 0 only", error);
	if (attr->group != 0)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_GROUP, EINVAL, "no groups", error);
	return 0;
}

/* ice_generic_flow.c, ice_search_pattern_match_item(). */
static int
judge_pattern(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	for (size_t i = 0; i < RTE_DIM(patterns); i++) {
		if (!hy_sim_items_are(wish, patterns[i].items))
			continue;
		wish->type = patterns[i].type;
		wish->excludes = patterns[i].excludes;
		return 0;
	}
	return hy_sim_bad_item(wish->items, EINVAL,
		"patterns are eth, and eth / ipv4, with udp, tcp or sctp behind", error);
}

/* A field in full, or not at all. What @p kept says is left out of the mask instead of refused. */
static bool
whole(uint64_t mask, uint64_t full)
{
	return mask == 0 || mask == full;
}

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
 * ice_fdir_filter.c, ice_fdir_parse_pattern(): half an address or half a port is refused; half a
 * DSCP, TTL or protocol is left out without a word. IP addresses beyond item->last are not looked at.
 */
static int
judge_fields(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_item *eth = hy_sim_item(wish, ETH);
	struct hy_sim_key *mask = &wish->mask, *value = &wish->value;

	if (!whole(mask->src, UINT32_MAX) || !whole(mask->dst, UINT32_MAX))
		return hy_sim_bad_item(wish->items, EINVAL, "IPv4 addresses in full only", error);
	if (!whole(mask->sport, UINT16_MAX) || !whole(mask->dport, UINT16_MAX))
		return hy_sim_bad_item(wish->items, EINVAL, "ports in full only", error);
	mask->tos = mask->tos == UINT8_MAX ? mask->tos : 0;
	mask->ttl = mask->ttl == UINT8_MAX ? mask->ttl : 0;
	mask->proto = mask->proto == UINT8_MAX ? mask->proto : 0;
	mask->frag = 0; /* only "more fragments" has a table of its own, which is not simulated */
	/* The ether type counts in a pattern of eth alone, and is no IP there. */
	if (wish->type == HY_SIM_TYPE_L2 && mask->type == UINT16_MAX) {
		if (value->type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
			value->type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			return hy_sim_bad_item(wish->items, EINVAL, "ether type of IP", error);
	} else {
		mask->type = 0;
	}
	if (eth != NULL && eth->spec != NULL) {
		const struct rte_flow_item_eth *spec = eth->spec;

		whole_mac(mask->dst_mac, value->dst_mac, spec->hdr.dst_addr.addr_bytes);
		whole_mac(mask->src_mac, value->src_mac, spec->hdr.src_addr.addr_bytes);
	}
	for (int i = 0; i < HY_SIM_WORDS; i++)
		value->words[i] &= mask->words[i];
	return 0;
}

/* ice_fdir_filter.c, ice_fdir_parse(): "Invalid input set" when there is none. */
static int
judge_input_set(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	struct hy_sim_key fields = wish->mask;
	uint64_t any = 0;

	fields.layers = 0;
	for (int i = 0; i < HY_SIM_WORDS; i++)
		any |= fields.words[i];
	return any != 0 ? 0 : hy_sim_bad_item(wish->items, EINVAL, "no field to match on", error);
}

/* ice_fdir_filter.c, ice_fdir_parse_action_qregion(). */
static int
judge_region(const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const struct rte_flow_action_rss *rss = action->conf;

	if (rss->queue_num <= 1 || !rte_is_power_of_2(rss->queue_num) ||
		rss->queue_num > REGION_MAX)
		return hy_sim_bad_action(action, EINVAL, "RSS over 2, 4, 8 to 128 queues only",
			error);
	for (uint32_t i = 1; i < rss->queue_num; i++)
		if (rss->queue[i] != rss->queue[i - 1] + 1)
			return hy_sim_bad_action(action, EINVAL, "RSS over consecutive queues only",
				error);
	return 0;
}

/* ice_fdir_filter.c, ice_fdir_parse_action(). */
static int
judge_actions(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	const unsigned int fates = hy_sim_fates(wish) +
		hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_PASSTHRU);
	int rc = 0;

	for (const struct rte_flow_action *a = wish->actions;
		rc == 0 && a->type != RTE_FLOW_ACTION_TYPE_END; a++) {
		if (a->type == RTE_FLOW_ACTION_TYPE_FLAG || a->type == RTE_FLOW_ACTION_TYPE_JUMP)
			return hy_sim_bad_action(a, EINVAL, "no FLAG, no JUMP", error);
		/* The driver copies it unseen, and would crash. */
		if (a->type == RTE_FLOW_ACTION_TYPE_COUNT && a->conf == NULL)
			return hy_sim_bad_action(a, EINVAL, "COUNT without conf", error);
		if (a->type == RTE_FLOW_ACTION_TYPE_RSS)
			rc = judge_region(a, error);
	}
	if (rc != 0)
		return rc;
	if (fates > 1)
		return hy_sim_bad_action(wish->actions, EINVAL,
			"more than one of QUEUE, DROP, PASSTHRU, RSS", error);
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_MARK) > 1)
		return hy_sim_bad_action(wish->actions, EINVAL, "more than one MARK", error);
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_COUNT) > 1)
		return hy_sim_bad_action(wish->actions, EINVAL, "more than one COUNT", error);
	if (wish->actions[0].type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(wish->actions, EINVAL, "no action", error);
	return hy_sim_check_queues(sim, wish, error);
}

static int
judge(const struct hy_flow_sim *sim, struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	int rc = judge_attr(&wish->attr, error);

	if (rc == 0)
		rc = judge_pattern(wish, error);
	if (rc == 0)
		rc = judge_fields(wish, error);
	if (rc == 0)
		rc = judge_input_set(wish, error);
	if (rc == 0)
		rc = judge_actions(sim, wish, error);
	/* A packet type of UDP, TCP or SCTP is one of whole packets: base/ice_flow.c, ice_ptypes_udp_il. */
	if ((wish->mask.layers & HY_SIM_L4) != 0)
		wish->mask.layers |= HY_SIM_FRAG;
	return rc;
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
