/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profile of NVIDIA's ConnectX, after DPDK v22.11: drivers/net/mlx5 (mlx5_flow.c, mlx5_flow_dv.c)
 * with dv_flow_en=1, its default. Any mask, groups, priorities; rules only while the port runs.
 */

#include <errno.h>

#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>

#include "sim.h"

#define MARK_MAX 0xffffef          /* mlx5_prm.h, MLX5_FLOW_MARK_MAX - 1 */
#define ROOT_PRIORITIES 4          /* mlx5_flow_discover_priorities(): priority_map_5, less one */
#define GROUP_PRIORITIES 21844     /* mlx5_flow.h, MLX5_NON_ROOT_FLOW_MAX_PRIO */
#define LOWEST_PRIORITY UINT32_MAX /* mlx5_flow.h, MLX5_FLOW_LOWEST_PRIO_INDICATOR */

/* mlx5_flow_dv.c, flow_dv_validate_attributes(); mlx5_flow.c, mlx5_get_lowest_priority(). */
static int
judge_attr(struct hy_sim_wish *wish)
{
	const struct rte_flow_attr *attr = &wish->attr;
	const uint32_t priorities = attr->group == 0 ? ROOT_PRIORITIES : GROUP_PRIORITIES;

	if (attr->priority != LOWEST_PRIORITY && attr->priority >= priorities)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, ENOTSUP,
			"priorities 0 to 3 in group 0, 0 to 21843 in others");
	if (!attr->ingress || attr->egress || attr->transfer)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ATTR, EINVAL,
			"one of ingress, egress, transfer; the last two are not simulated");
	return 0;
}

/* mlx5_flow_dv.c, flow_dv_validate_item_ipv4(); mlx5_flow.c, mlx5_flow_validate_item_ipv4(). */
static int
judge_ip4(struct hy_sim_wish *wish, const struct rte_flow_item *item)
{
	const struct rte_flow_item_ipv4 *mask = item->mask, *spec = item->spec;

	if (mask != NULL && mask->hdr.next_proto_id != 0 && mask->hdr.next_proto_id != 0xff)
		return hy_sim_bad_item(wish, item, EINVAL, "half a protocol");
	if (mask != NULL && spec != NULL &&
		(spec->hdr.fragment_offset & mask->hdr.fragment_offset) != 0)
		return hy_sim_bad_item(wish, item, ENOTSUP,
			"fragments; only \"no fragment\" is simulated");
	return 0;
}

/* The same, flow_dv_validate_item_ipv6(): the numbers of extension headers are refused. */
static int
judge_ip6(struct hy_sim_wish *wish, const struct rte_flow_item *item)
{
	static const uint8_t extensions[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT,
		IPPROTO_ESP, IPPROTO_AH, IPPROTO_DSTOPTS };
	const struct rte_flow_item_ipv6 *mask = item->mask, *spec = item->spec;

	if (mask != NULL && spec != NULL && mask->hdr.proto == UINT8_MAX &&
		memchr(extensions, spec->hdr.proto, sizeof(extensions)) != NULL)
		return hy_sim_bad_item(wish, item, EINVAL, "an extension header as the protocol");
	return 0;
}

/* mlx5_flow.c, mlx5_flow_item_acceptable(): ranges of IPv4 are accepted and ignored. */
static int
judge_item(struct hy_sim_wish *wish, const struct rte_flow_item *item)
{
	if (item->spec == NULL && (item->mask != NULL || item->last != NULL))
		return hy_sim_bad_item(wish, item, EINVAL, "mask or last without a spec");
	if (item->type == RTE_FLOW_ITEM_TYPE_IPV4)
		return judge_ip4(wish, item);
	if (hy_sim_is_range(item))
		return hy_sim_bad_item(wish, item, EINVAL, "no ranges");
	if (item->type == RTE_FLOW_ITEM_TYPE_IPV6 && judge_ip6(wish, item) != 0)
		return -EINVAL;
	/* mlx5_flow_validate_item_udp() and _tcp(), _icmp(), _icmp6(), _vxlan() */
	if ((item->type == RTE_FLOW_ITEM_TYPE_UDP || item->type == RTE_FLOW_ITEM_TYPE_TCP) &&
		hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV4) == NULL &&
		hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV6) == NULL)
		return hy_sim_bad_item(wish, item, EINVAL, "L4 without L3");
	if ((item->type == RTE_FLOW_ITEM_TYPE_ICMP &&
		    hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV4) == NULL) ||
		(item->type == RTE_FLOW_ITEM_TYPE_ICMP6 &&
			hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_IPV6) == NULL))
		return hy_sim_bad_item(wish, item, EINVAL, "ICMP without its version of IP");
	if (item->type == RTE_FLOW_ITEM_TYPE_VXLAN &&
		hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_UDP) == NULL)
		return hy_sim_bad_item(wish, item, EINVAL, "VXLAN without UDP");
	/* mlx5_flow_os.c, mlx5_flow_os_item_supported() and the switch of flow_dv_validate() */
	if (item->type == RTE_FLOW_ITEM_TYPE_SCTP)
		return hy_sim_bad_item(wish, item, ENOTSUP, "no SCTP");
	return 0;
}

static int
judge_items(struct hy_sim_wish *wish)
{
	return hy_sim_each_item(wish, judge_item);
}

/*
 * A protocol that contradicts the L4 item: mlx5_flow.c, mlx5_flow_validate_item_udp() and _tcp().
 */
static int
judge_protocol(struct hy_sim_wish *wish)
{
	const uint32_t layers = wish->mask.layers;
	const uint8_t l4 = (layers & HY_SIM_UDP) != 0 ? IPPROTO_UDP
		: (layers & HY_SIM_TCP) != 0          ? IPPROTO_TCP
		: (layers & HY_SIM_ICMP) != 0         ? IPPROTO_ICMP
		: (layers & HY_SIM_ICMP6) != 0        ? IPPROTO_ICMPV6
						      : 0;

	if (l4 != 0 && wish->mask.proto != 0 && wish->value.proto != l4)
		return hy_sim_refuse(wish, RTE_FLOW_ERROR_TYPE_ITEM, EINVAL,
			"the protocol is not that of the L4 item");
	return 0;
}

/* mlx5_flow_dv.c, flow_dv_validate_action_jump(). */
static int
judge_jump(struct hy_sim_wish *wish)
{
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_JUMP) > 0 && wish->jump == 0)
		return hy_sim_bad_action(wish, wish->actions, EINVAL,
			"JUMP to the root table, group 0");
	return 0;
}

#define L3_PARTIAL (RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY)
#define L4_PARTIAL (RTE_ETH_RSS_L4_SRC_ONLY | RTE_ETH_RSS_L4_DST_ONLY)
#define L4_TYPES (RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)

/* mlx5_flow.c, mlx5_validate_action_rss(); hardware steering calls it only after 22.11. */
static int
judge_rss(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *action = hy_sim_action(wish, RTE_FLOW_ACTION_TYPE_RSS);
	const struct rte_flow_action_rss *rss = action != NULL ? action->conf : NULL;
	const uint64_t known = RTE_ETH_RSS_IP | L4_TYPES | L3_PARTIAL | L4_PARTIAL |
		RTE_ETH_RSS_ESP;

	if (rss == NULL)
		return 0;
	if (rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT &&
		rss->func != RTE_ETH_HASH_FUNCTION_TOEPLITZ)
		return hy_sim_bad_action(wish, action, ENOTSUP, "RSS by Toeplitz's hash only");
	if (rss->level > 2)
		return hy_sim_bad_action(wish, action, ENOTSUP, "RSS of levels 0 to 2 only");
	if ((rss->key != NULL || rss->key_len > 0) && rss->key_len != HY_SIM_RSS_KEY)
		return hy_sim_bad_action(wish, action, ENOTSUP, "an RSS key has 40 bytes");
	if ((rss->types & ~known) != 0)
		return hy_sim_bad_action(wish, action, ENOTSUP, "RSS of IP, TCP, UDP and ESP only");
	if ((rss->types & L3_PARTIAL) != 0 && (rss->types & RTE_ETH_RSS_IP) == 0)
		return hy_sim_bad_action(wish, action, EINVAL, "part of L3, and no type of L3");
	if ((rss->types & L4_PARTIAL) != 0 && (rss->types & L4_TYPES) == 0)
		return hy_sim_bad_action(wish, action, EINVAL, "part of L4, and no type of L4");
	return 0;
}

/* mlx5_flow_dv.c, flow_dv_validate(), flow_dv_validate_action_mark(), mlx5_flow.c. */
static int
judge_actions(struct hy_sim_wish *wish)
{
	const struct rte_flow_action *a = wish->actions;

	if (wish->mark && wish->mark_id > MARK_MAX)
		return hy_sim_bad_action(wish, a, EINVAL, "marks 0 to 0xffffef only");
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_MARK) > 1 || (wish->mark && wish->flag))
		return hy_sim_bad_action(wish, a, EINVAL, "one MARK or FLAG");
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_COUNT) > 1)
		return hy_sim_bad_action(wish, a, EINVAL, "one COUNT");
	if (hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_PASSTHRU) > 0)
		return hy_sim_bad_action(wish, a, ENOTSUP, "no PASSTHRU");
	/* A second DROP is ignored. */
	if (hy_sim_fates(wish) > (wish->drop ? hy_sim_which(wish, RTE_FLOW_ACTION_TYPE_DROP) : 1))
		return hy_sim_bad_action(wish, a, EINVAL, "more than one fate");
	if (hy_sim_fates(wish) == 0)
		return hy_sim_bad_action(wish, a, EINVAL, "no fate");
	if (wish->drop && (wish->mark || wish->flag))
		return hy_sim_bad_action(wish, a, EINVAL, "DROP goes with COUNT only");
	return 0;
}

/* rdma-core's dr_action.c, dr_actions_build_ste_arr(): a group is a level of tables. */
static int
admit(struct hy_sim_wish *wish)
{
	if (wish->jump != 0 && wish->jump <= wish->attr.group)
		return hy_sim_bad_action(wish, wish->actions, EINVAL,
			"JUMP to the rule's own group, or to one before");
	return 0;
}

/*
 * mlx5_flow.c, mlx5_get_matcher_priority(): at the same priority, L4 precedes L3, and L3 precedes
 * L2.
 */
static int
order_by_layer(struct hy_sim_wish *wish)
{
	const uint32_t priorities = wish->attr.group == 0 ? ROOT_PRIORITIES : GROUP_PRIORITIES;
	const uint32_t l4 = HY_SIM_L4 | HY_SIM_ICMP | HY_SIM_ICMP6;
	const uint32_t layer = (wish->mask.layers & l4) != 0           ? 0
		: (wish->mask.layers & (HY_SIM_IP4 | HY_SIM_IP6)) != 0 ? 1
								       : 2;

	if (wish->attr.priority == LOWEST_PRIORITY)
		wish->attr.priority = priorities - 1;
	wish->attr.priority = 3 * wish->attr.priority + layer;
	return 0;
}

/* mlx5_flow_dv.c, flow_dv_validate_item_vlan(). */
static int
judge_guest(struct hy_sim_wish *wish)
{
	const struct rte_flow_item *item = hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_VLAN);
	const struct rte_flow_item_vlan *mask = item != NULL ? item->mask : NULL;

	if (mask != NULL && mask->hdr.vlan_tci != RTE_BE16(0x0fff))
		return hy_sim_bad_item(wish, item, EINVAL, "VLAN ids only, and in full");
	return 0;
}

/*
 * mlx5_flow_dv.c, flow_dv_translate_item_eth(): a whole ether type without a VLAN item behind it is that
 * of packets without a tag.
 */
static int
read_type(struct hy_sim_wish *wish)
{
	if (wish->mask.type == UINT16_MAX && (wish->mask.layers & HY_SIM_TAG) == 0 &&
		hy_sim_item(wish, RTE_FLOW_ITEM_TYPE_VLAN) == NULL)
		wish->mask.layers |= HY_SIM_TAG;
	return 0;
}

/*
 * Packets that no rule matches are delivered in group 0 only: mlx5_flow.c, mlx5_ctrl_flow_vlan();
 * mlx5_trigger.c, mlx5_traffic_enable(). In tables of other groups, a miss leads to a drop address
 * for NIC receive (rdma-core's dr_domain.c); with hardware steering, hws/mlx5dr_table.c,
 * mlx5dr_table_create_default_ft(), connects misses for FDB only. A table's matchers form a chain,
 * one for each mask and priority (mlx5_flow_dv.c, flow_dv_matcher_register(); rdma-core's
 * dr_matcher.c; hws/mlx5dr_matcher.c, mlx5dr_matcher_connect()). The port's MAC addresses are rules
 * of the driver, too, of the lowest priority (mlx5_trigger.c, mlx5_traffic_enable()). RSS without types or key uses the
 * driver's defaults: mlx5_flow.c, flow_list_create(); mlx5_flow_hw.c,
 * flow_hw_tir_action_register().
 */
#define BOTH \
	.table_size = 65536 /* limited by memory only */, .mark_max = MARK_MAX, .full = -ENOMEM, \
	.needs_start = true /* mlx5_flow.c, mlx5_flow_create() */, \
	.forgets = true /* mlx5_trigger.c, mlx5_dev_stop() */, \
	.counts_bytes = true /* mlx5_flow_dv.c, flow_dv_query_count() */, .misses_drop = true, \
	.rules_first = true, .chains = true, .own_defaults = true, .admit = admit

#define STEPS \
	judge_attr, judge_items, read_type, judge_protocol, judge_actions, judge_rss, judge_jump, \
		hy_sim_check_queues

const struct hy_sim_profile hy_sim_mlx5 = { .name = "mlx5",
	BOTH,
	.no_counter = "cannot create counter object.",
	.judge = { STEPS, order_by_layer } };

/* A VF in a virtual machine: linux/mlx5_vlan_os.c, mlx5_vlan_vmwa_init(). */
const struct hy_sim_profile hy_sim_mlx5_guest = {
	.name = "mlx5_guest", BOTH, .judge = { judge_guest, STEPS, order_by_layer }
};

/* dv_flow_en=2: a rule's priority is its matcher's, whatever the rule matches. */
const struct hy_sim_profile hy_sim_mlx5_hws = {
	.name = "mlx5_hws", BOTH, .one_hash = true, .judge = { STEPS }
};
