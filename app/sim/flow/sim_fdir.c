/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow directors of Intel's NICs; see sim_fdir.h. The profiles say where in DPDK each rule stands. */

#include <errno.h>
#include <string.h>

#include "hal/internal/dpdk.h"
#include "sim_fdir.h"

#define END RTE_FLOW_ITEM_TYPE_END
#define ETH RTE_FLOW_ITEM_TYPE_ETH
#define IP4 RTE_FLOW_ITEM_TYPE_IPV4
#define REGION_MAX 128 /* ICE_FDIR_MAX_QREGION_SIZE, IAVF_FDIR_MAX_QREGION_SIZE */

bool
hy_sim_fdir_pattern(struct hy_sim_wish *wish, const struct hy_sim_pattern *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!hy_sim_items_are(wish, patterns[i].items))
			continue;
		wish->type = patterns[i].type;
		wish->excludes = patterns[i].excludes;
		return true;
	}
	return false;
}

static void
unmask(const struct rte_flow_item *item, struct hy_sim_key *key)
{
	switch (item->type) {
	case ETH:
		memset(key->dst_mac, 0, sizeof(key->dst_mac));
		memset(key->src_mac, 0, sizeof(key->src_mac));
		if (item[1].type != RTE_FLOW_ITEM_TYPE_VLAN) /* which has the type, then */
			key->type = 0;
		break;
	case RTE_FLOW_ITEM_TYPE_VLAN:
		key->tci = 0;
		key->type = 0;
		break;
	case IP4:
		key->src = key->dst = 0;
		key->frag = 0;
		key->tos = key->ttl = key->proto = 0;
		break;
	default: /* UDP, TCP or SCTP */
		key->sport = key->dport = 0;
	}
}

void
hy_sim_fdir_unmasked(struct hy_sim_wish *wish)
{
	for (const struct rte_flow_item *i = wish->items; i->type != END; i++)
		if (i->mask == NULL) {
			unmask(i, &wish->mask);
			unmask(i, &wish->value);
		}
}

int
hy_sim_fdir_attr(const struct rte_flow_attr *attr, struct rte_flow_error *error)
{
	if (!attr->ingress || attr->egress)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, EINVAL, "ingress only",
			error);
	if (attr->priority != 0)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, EINVAL, "no priorities",
			error);
	if (attr->group != 0)
		return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_ATTR_GROUP, EINVAL, "no groups", error);
	return 0;
}

/*
 * ice_fdir_filter.c, ice_fdir_pattern_list, and iavf_fdir.c, iavf_fdir_pattern, as far as simulated:
 * no VLAN, and no VXLAN, which ice has with inner headers only. Rules on IPv4 and on a protocol above
 * exclude each other: ice_fdir_filter.c, ice_fdir_cross_prof_conflict(), and for a virtual function
 * Linux, ice_virtchnl_fdir.c, ice_vc_fdir_has_prof_conflict().
 */
static const struct hy_sim_pattern e810_patterns[] = {
	{ { ETH, END }, HY_SIM_TYPE_L2, 0 },
	{ { ETH, IP4, END }, HY_SIM_TYPE_IP4,
		1u << HY_SIM_TYPE_UDP | 1u << HY_SIM_TYPE_TCP | 1u << HY_SIM_TYPE_SCTP },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_UDP, END }, HY_SIM_TYPE_UDP, 1u << HY_SIM_TYPE_IP4 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_TCP, END }, HY_SIM_TYPE_TCP, 1u << HY_SIM_TYPE_IP4 },
	{ { ETH, IP4, RTE_FLOW_ITEM_TYPE_SCTP, END }, HY_SIM_TYPE_SCTP, 1u << HY_SIM_TYPE_IP4 },
};

/* ice_fdir_filter.c and iavf_fdir.c, the case of IPV4. A range of other items is taken for none. */
static int
judge_range(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	const struct rte_flow_item *item = hy_sim_item(wish, IP4);
	const struct rte_flow_item_ipv4 *last = item == NULL ? NULL : item->last;

	if (last == NULL || item->spec == NULL || item->mask == NULL ||
		(last->hdr.version_ihl | last->hdr.type_of_service | last->hdr.time_to_live |
			last->hdr.total_length | last->hdr.next_proto_id | last->hdr.hdr_checksum |
			last->hdr.src_addr | last->hdr.dst_addr) == 0)
		return 0;
	return hy_sim_bad_item(item, EINVAL, "no ranges", error);
}

int
hy_sim_fdir_e810_pattern(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	if (!hy_sim_fdir_pattern(wish, e810_patterns, RTE_DIM(e810_patterns)))
		return hy_sim_bad_item(wish->items, EINVAL,
			"patterns are eth, and eth / ipv4, with udp, tcp or sctp behind", error);
	hy_sim_fdir_unmasked(wish);
	return judge_range(wish, error);
}

/* A field in full, or not at all. */
static bool
whole(uint64_t mask, uint64_t full)
{
	return mask == 0 || mask == full;
}

int
hy_sim_fdir_fields(struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	struct hy_sim_key *mask = &wish->mask;

	if (!whole(mask->src, UINT32_MAX) || !whole(mask->dst, UINT32_MAX))
		return hy_sim_bad_item(wish->items, EINVAL, "IPv4 addresses in full only", error);
	if (!whole(mask->sport, UINT16_MAX) || !whole(mask->dport, UINT16_MAX))
		return hy_sim_bad_item(wish->items, EINVAL, "ports in full only", error);
	if (wish->type == HY_SIM_TYPE_L2 && mask->type == UINT16_MAX &&
		(wish->value.type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
			wish->value.type == RTE_BE16(RTE_ETHER_TYPE_IPV6)))
		return hy_sim_bad_item(wish->items, EINVAL, "ether type of IP", error);
	mask->tos = mask->tos == UINT8_MAX ? mask->tos : 0;
	mask->ttl = mask->ttl == UINT8_MAX ? mask->ttl : 0;
	mask->proto = mask->proto == UINT8_MAX ? mask->proto : 0;
	mask->frag = 0;
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
hy_sim_fdir_need_field(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	return hy_sim_fdir_any_field(wish)
		? 0
		: hy_sim_bad_item(wish->items, EINVAL, "no field to match on", error);
}

void
hy_sim_fdir_settle(struct hy_sim_wish *wish)
{
	for (int i = 0; i < HY_SIM_WORDS; i++)
		wish->value.words[i] &= wish->mask.words[i];
	/* A packet type of UDP, TCP or SCTP is one of whole packets. */
	if ((wish->mask.layers & HY_SIM_L4) != 0)
		wish->mask.layers |= HY_SIM_FRAG;
}

int
hy_sim_fdir_unmarked(const struct hy_sim_wish *wish, int refused, struct rte_flow_error *error)
{
	if (refused == 0 || wish->mark)
		return refused;
	return hy_sim_bad_attr(RTE_FLOW_ERROR_TYPE_UNSPECIFIED, -refused,
		"not simulated: engines for rules that do not mark", error);
}

/* net/intel/common/flow_check.h, __flow_action_check_rss(). */
static int
check_rss(const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const struct rte_flow_action_rss *rss = action->conf;

	if ((rss->queue_num == 0) != (rss->queue == NULL))
		return hy_sim_bad_action(action, EINVAL, "queues of RSS without their number",
			error);
	for (uint32_t i = 1; i < rss->queue_num; i++)
		if (rss->queue[i] < rss->queue[i - 1])
			return hy_sim_bad_action(action, EINVAL,
				"queues of RSS in ascending order only", error);
	if ((rss->key_len == 0) != (rss->key == NULL))
		return hy_sim_bad_action(action, EINVAL, "a key of RSS without its length", error);
	return 0;
}

static int
judge_rss(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	int rc = 0;

	for (const struct rte_flow_action *a = wish->actions;
		rc == 0 && a->type != RTE_FLOW_ACTION_TYPE_END; a++)
		if (a->type == RTE_FLOW_ACTION_TYPE_RSS)
			rc = check_rss(a, error);
	return rc;
}

int
hy_sim_fdir_rss(const struct hy_sim_wish *wish, struct rte_flow_error *error)
{
	return HY_DPDK_INTEL_RSS ? judge_rss(wish, error) : 0;
}

static int
region(const struct rte_flow_action *action, struct rte_flow_error *error)
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

int
hy_sim_fdir_actions(const struct hy_flow_sim *sim, const struct hy_sim_wish *wish,
	struct rte_flow_error *error)
{
	int rc = hy_sim_fdir_rss(wish, error);

	for (const struct rte_flow_action *a = wish->actions;
		rc == 0 && a->type != RTE_FLOW_ACTION_TYPE_END; a++)
		if (a->type == RTE_FLOW_ACTION_TYPE_RSS)
			rc = region(a, error);
	if (rc != 0)
		return rc;
	if (hy_sim_fates(wish) + hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_PASSTHRU) > 1)
		return hy_sim_bad_action(wish->actions, EINVAL,
			"more than one of QUEUE, DROP, PASSTHRU, RSS", error);
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_MARK) > 1)
		return hy_sim_bad_action(wish->actions, EINVAL, "more than one MARK", error);
	if (wish->actions[0].type == RTE_FLOW_ACTION_TYPE_END)
		return hy_sim_bad_action(wish->actions, EINVAL, "no action", error);
	return hy_sim_check_queues(sim, wish, error);
}
