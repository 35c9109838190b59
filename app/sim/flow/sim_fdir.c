/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow directors of Intel's NICs; see sim_fdir.h. The profiles name the DPDK code of each rule. */

#include <errno.h>
#include <string.h>

#include "lib/graph/internal/dpdk.h"
#include "sim_fdir.h"

#define IP4 RTE_FLOW_ITEM_TYPE_IPV4
#define IP6 RTE_FLOW_ITEM_TYPE_IPV6
#define REGION_MAX 128 /* ICE_FDIR_MAX_QREGION_SIZE, IAVF_FDIR_MAX_QREGION_SIZE */

bool
hy_sim_fdir_pattern(struct hy_sim_wish *wish, bool tags, bool ip6)
{
	static const struct {
		enum rte_flow_item_type item;
		enum hy_sim_type type;
	} layer4[] = { { RTE_FLOW_ITEM_TYPE_UDP, HY_SIM_TYPE_UDP },
		{ RTE_FLOW_ITEM_TYPE_TCP, HY_SIM_TYPE_TCP },
		{ RTE_FLOW_ITEM_TYPE_SCTP, HY_SIM_TYPE_SCTP } };
	const struct rte_flow_item *item = wish->items;

	if ((item++)->type != RTE_FLOW_ITEM_TYPE_ETH)
		return false;
	item += tags && item->type == RTE_FLOW_ITEM_TYPE_VLAN;
	ip6 &= item->type == IP6;
	wish->type = item->type == IP4 || ip6 ? HY_SIM_TYPE_IP4 : HY_SIM_TYPE_L2;
	item += wish->type == HY_SIM_TYPE_IP4;
	for (size_t i = 0; i < RTE_DIM(layer4) && wish->type == HY_SIM_TYPE_IP4; i++)
		if (item->type == layer4[i].item) {
			wish->type = layer4[i].type;
			item++;
		}
	wish->type += ip6 ? HY_SIM_TYPE_IP6 - HY_SIM_TYPE_IP4 : 0;
	return item->type == RTE_FLOW_ITEM_TYPE_END;
}

int
hy_sim_fdir_attr(struct hy_sim_wish *wish)
{
	const struct rte_flow_attr *attr = &wish->attr;

	if (!attr->ingress || attr->egress)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, EINVAL,
			"ingress only");
	if (attr->priority != 0)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, EINVAL,
			"no priorities");
	if (attr->group != 0)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, EINVAL, "no groups");
	return 0;
}

/* ice_fdir_filter.c and iavf_fdir.c, the IPV4 case. They ignore ranges of other items. */
static int
judge_range(const struct hy_sim_wish *wish)
{
	const struct rte_flow_item *item = hy_sim_item(wish, IP4);
	const struct rte_flow_item_ipv4 *last = item == NULL ? NULL : item->last;

	if (last == NULL || item->spec == NULL || item->mask == NULL ||
		(last->hdr.version_ihl | last->hdr.type_of_service | last->hdr.time_to_live |
			last->hdr.total_length | last->hdr.next_proto_id | last->hdr.hdr_checksum |
			last->hdr.src_addr | last->hdr.dst_addr) == 0)
		return 0;
	return hy_sim_bad_item(wish, item, EINVAL, "no ranges");
}

/*
 * The simulated part of ice_fdir_filter.c, ice_fdir_pattern_list, and iavf_fdir.c,
 * iavf_fdir_pattern: no VLAN, and no VXLAN, which ice supports only with inner headers. Rules on
 * IPv4 and rules on a protocol above it exclude each other: ice_fdir_filter.c,
 * ice_fdir_cross_prof_conflict(), and for a virtual function Linux, ice_virtchnl_fdir.c,
 * ice_vc_fdir_has_prof_conflict().
 */
static int
e810_excludes(struct hy_sim_wish *wish)
{
	const enum hy_sim_type ip = wish->type < HY_SIM_TYPE_IP6 ? HY_SIM_TYPE_IP4
								 : HY_SIM_TYPE_IP6;

	if (wish->type == ip)
		wish->excludes = 1u << (ip + 1) | 1u << (ip + 2) | 1u << (ip + 3);
	else if (wish->type != HY_SIM_TYPE_L2)
		wish->excludes = 1u << ip;
	return judge_range(wish);
}

int
hy_sim_fdir_e810_pattern(struct hy_sim_wish *wish)
{
	if (!hy_sim_fdir_pattern(wish, false, false))
		return hy_sim_bad_item(wish, wish->items, EINVAL,
			"patterns are eth, and eth / ipv4, with udp, tcp or sctp behind");
	return e810_excludes(wish);
}

int
hy_sim_fdir_e810_pattern6(struct hy_sim_wish *wish)
{
	if (!hy_sim_fdir_pattern(wish, false, true))
		return hy_sim_bad_item(wish, wish->items, EINVAL,
			"patterns are eth, and eth / ipv4 or ipv6, with udp, tcp or sctp behind");
	return e810_excludes(wish);
}

/* Whether a field is masked in full or not at all. */
static bool
whole(uint64_t mask, uint64_t full)
{
	return mask == 0 || mask == full;
}

/* Parts of IPv6's addresses are not refused, but ignored; of the first word, the class counts. */
static void
fields_ip6(struct hy_sim_key *mask)
{
	const rte_be32_t class = RTE_BE32(0x0ff00000);

	if ((mask->src6[0] & mask->src6[1]) != UINT64_MAX)
		mask->src6[0] = mask->src6[1] = 0;
	if ((mask->dst6[0] & mask->dst6[1]) != UINT64_MAX)
		mask->dst6[0] = mask->dst6[1] = 0;
	mask->vtc = (mask->vtc & class) == class ? class : 0;
}

int
hy_sim_fdir_fields(struct hy_sim_wish *wish)
{
	struct hy_sim_key *mask = &wish->mask;

	if (wish->type >= HY_SIM_TYPE_IP6)
		fields_ip6(mask);
	else if (!whole(mask->src, UINT32_MAX) || !whole(mask->dst, UINT32_MAX))
		return hy_sim_bad_item(wish, wish->items, EINVAL, "IPv4 addresses in full only");
	if (!whole(mask->sport, UINT16_MAX) || !whole(mask->dport, UINT16_MAX))
		return hy_sim_bad_item(wish, wish->items, EINVAL, "ports in full only");
	if (wish->type == HY_SIM_TYPE_L2 && mask->type == UINT16_MAX &&
		(wish->value.type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
			wish->value.type == RTE_BE16(RTE_ETHER_TYPE_IPV6)))
		return hy_sim_bad_item(wish, wish->items, EINVAL, "ether type of IP");
	mask->tos = mask->tos == UINT8_MAX ? mask->tos : 0;
	mask->ttl = mask->ttl == UINT8_MAX ? mask->ttl : 0;
	mask->proto = mask->proto == UINT8_MAX ? mask->proto : 0;
	return 0;
}

bool
hy_sim_fdir_any_field(const struct hy_sim_wish *wish)
{
	struct hy_sim_key fields = wish->mask;
	uint64_t any = 0;

	fields.layers = 0;
	for (int i = 0; i < HY_SIM_WORDS; i++)
		any |= fields.words[i];
	return any != 0;
}

int
hy_sim_fdir_need_field(struct hy_sim_wish *wish)
{
	return hy_sim_fdir_any_field(wish)
		? 0
		: hy_sim_bad_item(wish, wish->items, EINVAL, "no field to match on");
}

int
hy_sim_fdir_settle(struct hy_sim_wish *wish)
{
	for (int i = 0; i < HY_SIM_WORDS; i++)
		wish->value.words[i] &= wish->mask.words[i];
	/* Fragments do not have the packet type of UDP, TCP or SCTP. */
	if ((wish->mask.layers & HY_SIM_L4) != 0)
		wish->mask.layers |= HY_SIM_FRAG;
	return 0;
}

int
hy_sim_fdir_engine(struct hy_sim_wish *wish, hy_sim_step *const *steps)
{
	const int rc = hy_sim_judge(wish, steps);

	if (rc == 0 || wish->mark)
		return rc;
	return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, -rc,
		"not simulated: engines for rules that do not mark");
}

/* net/intel/common/flow_check.h, __flow_action_check_rss(). */
int
hy_sim_fdir_rss(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *action = HY_DPDK_INTEL_RSS
		? hy_sim_action(wish, RTE_FLOW_ACTION_TYPE_RSS)
		: NULL;
	const struct rte_flow_action_rss *rss;

	if (action == NULL)
		return 0;
	rss = action->conf;
	if ((rss->queue_num == 0) != (rss->queue == NULL))
		return hy_sim_bad_action(wish, action, EINVAL,
			"queues of RSS without their number");
	for (uint32_t i = 1; i < rss->queue_num; i++)
		if (rss->queue[i] < rss->queue[i - 1])
			return hy_sim_bad_action(wish, action, EINVAL,
				"queues of RSS in ascending order only");
	if ((rss->key_len == 0) != (rss->key == NULL))
		return hy_sim_bad_action(wish, action, EINVAL, "a key of RSS without its length");
	return 0;
}

int
hy_sim_fdir_region(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *action = hy_sim_action(wish, RTE_FLOW_ACTION_TYPE_RSS);
	const struct rte_flow_action_rss *rss;
	const int rc = hy_sim_fdir_rss(wish);

	if (rc != 0 || action == NULL)
		return rc;
	rss = action->conf;
	if (rss->queue_num <= 1 || !rte_is_power_of_2(rss->queue_num) ||
		rss->queue_num > REGION_MAX)
		return hy_sim_bad_action(wish, action, EINVAL,
			"RSS over 2, 4, 8 to 128 queues only");
	for (uint32_t i = 1; i < rss->queue_num; i++)
		if (rss->queue[i] != rss->queue[i - 1] + 1)
			return hy_sim_bad_action(wish, action, EINVAL,
				"RSS over consecutive queues only");
	return 0;
}

int
hy_sim_fdir_fate(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *a = wish->actions;

	if (hy_sim_fates(wish) + hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_PASSTHRU) > 1)
		return hy_sim_bad_action(wish, a, EINVAL,
			"more than one of QUEUE, DROP, PASSTHRU, RSS");
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_MARK) > 1)
		return hy_sim_bad_action(wish, a, EINVAL, "more than one MARK");
	if (a->type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(wish, a, EINVAL, "no action");
	return 0;
}
