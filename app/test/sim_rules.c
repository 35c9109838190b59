/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows for the simulator's profiles to refuse and to take; see sim_rules.h. */

#include <rte_common.h>

#include "sim_rules.h"

/* Headers and masks. Addresses and ports are of no importance. */
static const struct rte_flow_item_eth eth_lldp = { .hdr.ether_type = RTE_BE16(0x88cc) },
				      eth_ip4 = { .hdr.ether_type = RTE_BE16(0x0800) },
				      eth_type = { .hdr.ether_type = RTE_BE16(0xffff) },
				      eth_half = { .hdr.ether_type = RTE_BE16(0xff00) },
				      eth_mac = { .hdr = { .dst_addr.addr_bytes = { 255, 255, 255,
								   255, 255, 255 },
							  .ether_type = RTE_BE16(0xffff) } };
static const struct rte_flow_item_vlan vlan_7 = { .hdr = { .vlan_tci = RTE_BE16(7),
							  .eth_proto = RTE_BE16(0x88cc) } },
				       vlan_tci = { .hdr.vlan_tci = RTE_BE16(0x0fff) },
				       vlan_half = { .hdr = { .vlan_tci = RTE_BE16(0x0fff),
							     .eth_proto = RTE_BE16(0xff00) } };
static const struct rte_flow_item_ipv4
	ip = { .hdr = { .dst_addr = RTE_BE32(0x0a000001), .next_proto_id = 17 } },
	ip_first = { .hdr = { .dst_addr = RTE_BE32(0x0a000001),
			     .fragment_offset = RTE_BE16(0x2000) } },
	ip_dst = { .hdr.dst_addr = RTE_BE32(UINT32_MAX) },
	ip_net = { .hdr.dst_addr = RTE_BE32(0xffffff00) },
	ip_proto = { .hdr = { .dst_addr = RTE_BE32(UINT32_MAX), .next_proto_id = 0xff } },
	ip_half_proto = { .hdr.next_proto_id = 0x0f },
	ip_frag = { .hdr = { .dst_addr = RTE_BE32(UINT32_MAX),
			    .fragment_offset = RTE_BE16(0x3fff) } },
	ip_offset = { .hdr = { .dst_addr = RTE_BE32(UINT32_MAX),
			      .fragment_offset = RTE_BE16(0x1fff) } };
static const struct rte_flow_item_udp udp = { .hdr.dst_port = RTE_BE16(53) },
				      udp_dst = { .hdr.dst_port = RTE_BE16(UINT16_MAX) },
				      udp_half = { .hdr.dst_port = RTE_BE16(0xff00) };
static const struct rte_flow_item_vxlan vni = { .hdr.vx_vni = RTE_BE32(5000u << 8) },
					vni_mask = { .hdr.vx_vni = RTE_BE32(0xffffff00) };

#define ITEM(type_, ...) \
	{ \
		.type = RTE_FLOW_ITEM_TYPE_##type_, __VA_ARGS__ \
	}
#define WITH(spec_, mask_) .spec = &(spec_), .mask = &(mask_)
#define ETH ITEM(ETH)
#define IP4 ITEM(IPV4, WITH(ip, ip_dst))
#define IP4_ANY ITEM(IPV4)
#define UDP ITEM(UDP, WITH(udp, udp_dst))
#define UDP_ANY ITEM(UDP)

#define ACTION(type_, ...) \
	{ \
		.type = RTE_FLOW_ACTION_TYPE_##type_, __VA_ARGS__ \
	}
#define CONF(type_, ...) \
	.conf = &(const struct rte_flow_action_##type_) \
	{ \
		__VA_ARGS__ \
	}
#define MARK ACTION(MARK, CONF(mark, .id = 5))
#define FLAG ACTION(FLAG)
#define COUNT ACTION(COUNT, CONF(count, .id = 0))
#define DROP ACTION(DROP)
#define PASSTHRU ACTION(PASSTHRU)
#define QUEUE ACTION(QUEUE, CONF(queue, .index = 1))
#define NO_QUEUE ACTION(QUEUE, CONF(queue, .index = SIM_RULES_QUEUES))
#define JUMP(group_) ACTION(JUMP, CONF(jump, .group = (group_)))
#define RSS(n, ...) \
	ACTION(RSS, CONF(rss, .queue_num = (n), .queue = (const uint16_t[]){ __VA_ARGS__ }))
#define RSS_TOEPLITZ \
	ACTION(RSS, \
		CONF(rss, .func = RTE_ETH_HASH_FUNCTION_TOEPLITZ, .queue_num = 2, \
			.queue = (const uint16_t[]){ 0, 1 }))

#define IN(...) \
	{ \
		.ingress = 1, __VA_ARGS__ \
	}
#define ITEMS(...) \
	{ \
		__VA_ARGS__, ITEM(END) \
	}
#define ACTIONS(...) \
	{ \
		__VA_ARGS__, ACTION(END) \
	}
#define NO_ACTION \
	{ \
		ACTION(END) \
	}

const struct sim_rule sim_rules[] = {
	/* generic */
	{ "generic", "-", "ingress only", { { .egress = 1 }, ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "generic", "-", "one group only", { IN(.group = 1), ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "generic", "-", "no ranges",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_dst), .last = &ip)), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "generic", "-", "a mask without a spec",
		{ IN(), ITEMS(ETH, ITEM(IPV4, .mask = &ip_dst)), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4_ANY), ACTIONS(MARK) } },
	{ "generic", "-", "no action", { IN(), ITEMS(ETH, IP4), NO_ACTION },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT) } },
	{ "generic", "-", "more than one fate", { IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, DROP) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE) } },
	{ "generic", "-", "one MARK or FLAG", { IN(), ITEMS(ETH, IP4), ACTIONS(MARK, FLAG) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(FLAG) } },
	{ "generic", "-", "no such queue", { IN(), ITEMS(ETH, IP4), ACTIONS(NO_QUEUE) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE) } },
	/* cnxk */
	{ "cnxk", "common/cnxk/roc_npc.c, npc_parse_attr()", "priorities 0 to 2 only",
		{ IN(.priority = 3), ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(.priority = 2), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "cnxk", "common/cnxk/roc_npc.c, npc_parse_attr()",
		"either ingress or egress; egress is not simulated",
		{ { .ingress = 1, .egress = 1 }, ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "cnxk", "common/cnxk/roc_npc_utils.c, npc_parse_item_basic()", "no ranges",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_dst), .last = &ip)), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_net))), ACTIONS(MARK) } },
	{ "cnxk", "common/cnxk/roc_npc_utils.c, npc_parse_item_basic()", "a mask without a spec",
		{ IN(), ITEMS(ETH, ITEM(IPV4, .mask = &ip_dst)), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4_ANY), ACTIONS(MARK) } },
	{ "cnxk", "common/cnxk/roc_npc_utils.c, npc_parse_item_basic()", "a spec without a mask",
		{ IN(), ITEMS(ETH, ITEM(IPV4, .spec = &ip)), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "cnxk", "net/cnxk/cnxk_flow.c, cnxk_map_actions()", "no PASSTHRU, no JUMP",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, PASSTHRU) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, MARK, COUNT) } },
	{ "cnxk", "net/cnxk/cnxk_flow.c, cnxk_map_actions()", "no such queue",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(NO_QUEUE) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE) } },
	{ "cnxk", "net/cnxk/cnxk_flow.c, npc_rss_action_validate()",
		"RSS without rxmode.mq_mode RSS", { IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 0, 1)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 0, 1)) }, .without_rss = true },
	{ "cnxk", "net/cnxk/cnxk_flow.c, npc_rss_action_validate()",
		"RSS by the default function only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS_TOEPLITZ) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, RSS(2, 0, 1)) } },
	{ "cnxk", "net/cnxk/cnxk_flow.c, npc_rss_action_validate()", "RSS over no queue",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(0, 0)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(1, 0)) } },
	{ "cnxk", "common/cnxk/roc_npc.c, npc_parse_actions()", "no action",
		{ IN(), ITEMS(ETH, IP4), NO_ACTION }, { IN(), ITEMS(ETH, IP4), ACTIONS(COUNT) } },
	{ "cnxk", "common/cnxk/roc_npc.c, npc_parse_actions()", "more than one of DROP, QUEUE, RSS",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, RSS(2, 0, 1)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 0, 1), MARK) } },
	{ "cnxk", "common/cnxk/roc_npc.c, npc_parse_actions()", "DROP goes with COUNT only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(DROP, MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(DROP, COUNT) } },
	{ "cnxk", "common/cnxk/roc_npc.c, npc_parse_actions()", "MARK and FLAG",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, FLAG) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(FLAG) } },
	/* mlx5 */
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate_attributes()",
		"priorities 0 to 3 in group 0, 0 to 21843 in others",
		{ IN(.priority = 4), ITEMS(ETH, IP4), ACTIONS(MARK, QUEUE) },
		{ IN(.group = 1, .priority = 21843), ITEMS(ETH, IP4), ACTIONS(MARK, QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate_attributes()",
		"one of ingress, egress, transfer; the last two are not simulated",
		{ { 0 }, ITEMS(ETH, IP4), ACTIONS(MARK, QUEUE) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_item_ipv4()", "half a protocol",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_half_proto))), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_proto))), ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate_item_ipv4()",
		"fragments; only \"no fragment\" is simulated",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip_first, ip_frag))), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_frag))), ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_item_acceptable()",
		"mask or last without a spec",
		{ IN(), ITEMS(ETH, ITEM(IPV4, .mask = &ip_dst)), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, .spec = &ip)), ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_item_acceptable()", "no ranges",
		{ IN(), ITEMS(ETH, IP4, ITEM(UDP, WITH(udp, udp_dst), .last = &udp)),
			ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_dst), .last = &ip), UDP),
			ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_item_udp()", "L4 without L3",
		{ IN(), ITEMS(ETH, UDP), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, IP4_ANY, UDP), ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_item_vxlan()", "VXLAN without UDP",
		{ IN(), ITEMS(ETH, IP4, ITEM(VXLAN, WITH(vni, vni_mask))), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, IP4, UDP_ANY, ITEM(VXLAN, WITH(vni, vni_mask))),
			ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate()", "no SCTP",
		{ IN(), ITEMS(ETH, IP4, ITEM(SCTP)), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, IP4, ITEM(TCP)), ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_item_tcp()",
		"the protocol is not that of the L4 item",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_proto)), ITEM(TCP)), ACTIONS(QUEUE) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_proto)), UDP), ACTIONS(QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate_action_jump()",
		"JUMP to the rule's own group", { IN(.group = 1), ITEMS(ETH), ACTIONS(JUMP(1)) },
		{ IN(.group = 1), ITEMS(ETH), ACTIONS(JUMP(2)) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate_action_jump()",
		"JUMP to the root table, group 0", { IN(.group = 1), ITEMS(ETH), ACTIONS(JUMP(0)) },
		{ IN(), ITEMS(ETH), ACTIONS(JUMP(1)) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_action_mark()",
		"marks 0 to 0xffffef only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(ACTION(MARK, CONF(mark, .id = 0xfffff0)), QUEUE) },
		{ IN(), ITEMS(ETH, IP4),
			ACTIONS(ACTION(MARK, CONF(mark, .id = 0xffffef)), QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_action_mark()", "one MARK or FLAG",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, MARK, QUEUE) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, COUNT, MARK) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate_action_count()", "one COUNT",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT, COUNT, QUEUE) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT, QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate()", "no PASSTHRU",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, PASSTHRU) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, RSS(3, 0, 1, 2)) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_action_queue()", "more than one fate",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, DROP) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(DROP) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate()", "no fate",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, COUNT) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, COUNT, QUEUE) } },
	{ "mlx5", "net/mlx5/mlx5_flow_dv.c, flow_dv_validate()", "DROP goes with COUNT only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, DROP) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT, DROP) } },
	{ "mlx5", "net/mlx5/mlx5_flow.c, mlx5_flow_validate_action_queue()", "no such queue",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(NO_QUEUE) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE) } },
	/* ice */
	{ "ice", "net/ice/ice_generic_flow.c, ice_flow_valid_attr()", "ingress only",
		{ { .egress = 1 }, ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse()",
		"the flow director knows priority 0 only",
		{ IN(.priority = 1), ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_generic_flow.c, ice_flow_valid_attr()", "no groups",
		{ IN(.group = 1), ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_generic_flow.c, ice_search_pattern_match_item()",
		"patterns are eth, and eth / ipv4, with udp, tcp or sctp behind",
		{ IN(), ITEMS(ETH, ITEM(VLAN, WITH(vlan_7, vlan_tci)), IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4, UDP), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_pattern()",
		"IPv4 addresses in full only",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_net))), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_dst))), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_pattern()", "ports in full only",
		{ IN(), ITEMS(ETH, IP4, ITEM(UDP, WITH(udp, udp_half))), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4, ITEM(UDP, WITH(udp, udp_dst))), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_pattern()", "ether type of IP",
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_ip4, eth_type))), ACTIONS(MARK) },
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_lldp, eth_type))), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse()", "no field to match on",
		{ IN(), ITEMS(ETH, IP4_ANY, UDP_ANY), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4_ANY, UDP), ACTIONS(MARK) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action_qregion()",
		"RSS over 2, 4, 8 to 128 queues only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, RSS(3, 0, 1, 2)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, RSS(4, 0, 1, 2, 3)) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action_qregion()",
		"RSS over consecutive queues only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 0, 2)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 1, 2)) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action_qregion()", "no such queue",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 3, 4)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(RSS(2, 2, 3)) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action()", "no FLAG, no JUMP",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(FLAG) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT, MARK, QUEUE) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action()", "COUNT without conf",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, ACTION(COUNT)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, COUNT) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action()",
		"more than one of QUEUE, DROP, PASSTHRU, RSS",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, PASSTHRU) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, PASSTHRU) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action()", "more than one MARK",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(ACTION(MARK, CONF(mark, .id = UINT32_MAX))) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action()", "more than one COUNT",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT, COUNT) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT) } },
	{ "ice", "net/ice/ice_fdir_filter.c, ice_fdir_parse_action()", "no action",
		{ IN(), ITEMS(ETH, IP4), NO_ACTION }, { IN(), ITEMS(ETH, IP4), ACTIONS(DROP) } },
	/* i40e */
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_attr()", "ingress only",
		{ { .egress = 1 }, ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_attr()", "no priorities",
		{ IN(.priority = 1), ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_attr()", "no groups",
		{ IN(.group = 1), ITEMS(ETH, IP4), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_find_parse_filter_func()",
		"patterns are eth[ / vlan][ / ipv4[ / udp, tcp or sctp]]",
		{ IN(), ITEMS(IP4, UDP), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(VLAN, WITH(vlan_7, vlan_tci)), IP4, UDP), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()",
		"not simulated: MAC addresses, which exclude all others",
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_lldp, eth_mac))), ACTIONS(MARK) },
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_lldp, eth_type))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()",
		"eth alone needs its whole ether type",
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_lldp, eth_half))), ACTIONS(MARK) },
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_lldp, eth_type))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()", "half an ether type",
		{ IN(), ITEMS(ETH, ITEM(VLAN, WITH(vlan_7, vlan_half))), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(VLAN, WITH(vlan_7, vlan_tci))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()", "ether type of IP",
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_ip4, eth_type))), ACTIONS(MARK) },
		{ IN(), ITEMS(ITEM(ETH, WITH(eth_lldp, eth_type))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()", "no ranges",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_dst), .last = &ip)), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()",
		"fragment offset is masked 0x3fff, or not",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_offset))), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_frag))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_pattern()",
		"fragments are asked for by a range",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip_first, ip_frag))), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_frag))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_ethdev.c, i40e_validate_input_set()",
		"protocol beside udp, tcp or sctp",
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_proto)), UDP), ACTIONS(MARK) },
		{ IN(), ITEMS(ETH, ITEM(IPV4, WITH(ip, ip_proto))), ACTIONS(MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_action()",
		"the first action is QUEUE, DROP, PASSTHRU or MARK",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(COUNT) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(DROP) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_action()",
		"the second action is MARK, FLAG or RSS",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, COUNT) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(PASSTHRU, MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_action()", "MARK, then MARK or FLAG",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, FLAG) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, FLAG) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_action()",
		"RSS behind PASSTHRU or MARK only",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, RSS(2, 0, 1)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(MARK, RSS(2, 0, 1)) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_action()", "two actions at most",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(PASSTHRU, MARK, RSS(2, 0, 1)) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, MARK) } },
	{ "i40e", "net/i40e/i40e_flow.c, i40e_flow_parse_fdir_action()", "no such queue",
		{ IN(), ITEMS(ETH, IP4), ACTIONS(NO_QUEUE, MARK) },
		{ IN(), ITEMS(ETH, IP4), ACTIONS(QUEUE, MARK) } },
};

const size_t sim_rules_count = RTE_DIM(sim_rules);
