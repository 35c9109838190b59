/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of rules, in the order in which a rule's text has them. */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "vswitch_text.h"

#define AT(member_) \
	.at = offsetof(struct hy_flows_key, member_), \
	.size = sizeof(((struct hy_flows_key *)NULL)->member_)
#define TAGGED 0x1000u /* in host byte order */

#define MAC "an address such as 02:00:00:00:00:01, or one with /MASK"
#define IP4 "an IPv4 address, or one with /LENGTH or /MASK"
#define IP6 "an IPv6 address, or one with /LENGTH or /MASK"
#define BYTE "a number from 0 to 255"
#define PORT16 "a number from 0 to 65535, or one with /MASK"

#define TRANSPORT_PORT(name_, alias_, needs_, member_, mod_, sets_) \
	{ \
		.name = (name_), .alias = (alias_), .kind = VSWITCH_DECIMAL, .needs = (needs_), \
		AT(member_), .bits = UINT16_MAX, .most = UINT16_MAX, .masks = true, \
		.sets = (sets_), .mod = (mod_), .accepted = PORT16, \
	}

#define ICMP(name_, needs_, member_) \
	{ \
		.name = (name_), .needs = (needs_), AT(member_), .bits = UINT16_MAX, \
		.most = UINT8_MAX, .accepted = BYTE, \
	}

const struct vswitch_field vswitch_fields[HY_VSWITCH_FIELDS] = {
	[HY_VSWITCH_PKT_MARK] = { "pkt_mark", .kind = VSWITCH_HEX, .at = VSWITCH_NOWHERE, .size = 4,
		.bits = UINT32_MAX, .most = UINT32_MAX, .masks = true, .sets = true,
		.unmatched = true, .accepted = "a number from 0 to 0xffffffff, or one with /MASK" },
	[HY_VSWITCH_TUN_ID] = { "tun_id", "tunnel_id", VSWITCH_HEX, AT(vni), .bits = 0xffffff,
		.most = 0xffffff, .masks = true, .sets = true, .mod = "set_tunnel",
		.accepted = "a number from 0 to 0xffffff, or one with /MASK" },
	[HY_VSWITCH_TUN_SRC] = { "tun_src", .kind = VSWITCH_IP4, AT(tunnel_src), .masks = true,
		.accepted = IP4 },
	[HY_VSWITCH_TUN_DST] = { "tun_dst", .kind = VSWITCH_IP4, AT(tunnel_dst), .masks = true,
		.sets = true, .accepted = IP4 },
	[HY_VSWITCH_TUN_IPV6_SRC] = { "tun_ipv6_src", .kind = VSWITCH_IP6, AT(tunnel_src6),
		.masks = true, .accepted = IP6 },
	[HY_VSWITCH_TUN_IPV6_DST] = { "tun_ipv6_dst", .kind = VSWITCH_IP6, AT(tunnel_dst6),
		.masks = true, .sets = true, .accepted = IP6 },
	[HY_VSWITCH_INPUT] = { "in_port", .kind = VSWITCH_PORT, AT(port), .bits = UINT16_MAX,
		.accepted = "a port: a number from 0 to 65279, local, or the name of a port" },
	[HY_VSWITCH_DL_VLAN] = { "dl_vlan", .kind = VSWITCH_VLAN, AT(vlan), .bits = TAGGED | 0xfff,
		.fixed = TAGGED, .most = 0xfff,
		.accepted = "a VLAN id from 0 to 4095, or 0xffff for packets without a tag" },
	[HY_VSWITCH_DL_VLAN_PCP] = { "dl_vlan_pcp", .kind = VSWITCH_DECIMAL, AT(vlan), .shift = 13,
		.bits = 0xe000 | TAGGED, .fixed = TAGGED, .most = 7,
		.accepted = "a priority from 0 to 7" },
	[HY_VSWITCH_VLAN_VID] = { "vlan_vid", .kind = VSWITCH_HEX, AT(vlan), .bits = TAGGED | 0xfff,
		.most = 0x1fff, .masks = true, .sets = true,
		.accepted =
			"0x1000 plus a VLAN id, 0 for packets without a tag, or a number with /MASK" },
	[HY_VSWITCH_VLAN_PCP] = { "vlan_pcp", .kind = VSWITCH_DECIMAL, .needs = VSWITCH_NEEDS_TAG,
		AT(vlan), .shift = 13, .bits = 0xe000, .most = 7, .sets = true,
		.accepted = "a priority from 0 to 7" },
	[HY_VSWITCH_VLAN_TCI] = { "vlan_tci", .kind = VSWITCH_HEX, AT(vlan), .bits = UINT16_MAX,
		.most = UINT16_MAX, .masks = true,
		.accepted =
			"a tag's content with 0x1000, 0 for packets without a tag, or a number with "
			"/MASK" },
	[HY_VSWITCH_DL_SRC] = { "dl_src", "eth_src", VSWITCH_MAC, AT(src_mac), .masks = true,
		.sets = true, .mod = "mod_dl_src", .accepted = MAC },
	[HY_VSWITCH_DL_DST] = { "dl_dst", "eth_dst", VSWITCH_MAC, AT(dst_mac), .masks = true,
		.sets = true, .mod = "mod_dl_dst", .accepted = MAC },
	[HY_VSWITCH_DL_TYPE] = { "dl_type", "eth_type", VSWITCH_HEX, AT(type), .bits = UINT16_MAX,
		.most = UINT16_MAX, .accepted = "a number from 0 to 0xffff" },
	[HY_VSWITCH_NW_SRC] = { "nw_src", "ip_src", VSWITCH_IP4, VSWITCH_NEEDS_IP4_OR_ARP, AT(src),
		.masks = true, .sets = true, .mod = "mod_nw_src", .accepted = IP4 },
	[HY_VSWITCH_NW_DST] = { "nw_dst", "ip_dst", VSWITCH_IP4, VSWITCH_NEEDS_IP4_OR_ARP, AT(dst),
		.masks = true, .sets = true, .mod = "mod_nw_dst", .accepted = IP4 },
	[HY_VSWITCH_ARP_SPA] = { "arp_spa", .kind = VSWITCH_IP4, .needs = VSWITCH_NEEDS_ARP,
		AT(src), .masks = true, .accepted = IP4 },
	[HY_VSWITCH_ARP_TPA] = { "arp_tpa", .kind = VSWITCH_IP4, .needs = VSWITCH_NEEDS_ARP,
		AT(dst), .masks = true, .accepted = IP4 },
	[HY_VSWITCH_IPV6_SRC] = { "ipv6_src", .kind = VSWITCH_IP6, .needs = VSWITCH_NEEDS_IP6,
		AT(src6), .masks = true, .sets = true, .accepted = IP6 },
	[HY_VSWITCH_IPV6_DST] = { "ipv6_dst", .kind = VSWITCH_IP6, .needs = VSWITCH_NEEDS_IP6,
		AT(dst6), .masks = true, .sets = true, .accepted = IP6 },
	[HY_VSWITCH_ARP_OP] = { "arp_op", .needs = VSWITCH_NEEDS_ARP, AT(proto), .bits = UINT8_MAX,
		.most = UINT8_MAX, .accepted = BYTE },
	[HY_VSWITCH_NW_PROTO] = { "nw_proto", "ip_proto", .needs = VSWITCH_NEEDS_IP_OR_ARP,
		AT(proto), .bits = UINT8_MAX, .most = UINT8_MAX, .accepted = BYTE },
	[HY_VSWITCH_NW_TOS] = { "nw_tos", .needs = VSWITCH_NEEDS_IP, AT(tos), .bits = 0xfc,
		.most = UINT8_MAX, .sets = true, .mod = "mod_nw_tos", .accepted = BYTE },
	[HY_VSWITCH_IP_DSCP] = { "ip_dscp", .needs = VSWITCH_NEEDS_IP, AT(tos), .shift = 2,
		.bits = 0xfc, .most = 63, .sets = true, .accepted = "a number from 0 to 63" },
	[HY_VSWITCH_NW_ECN] = { "nw_ecn", "ip_ecn", .needs = VSWITCH_NEEDS_IP, AT(tos), .bits = 3,
		.most = 3, .sets = true, .mod = "mod_nw_ecn", .accepted = "a number from 0 to 3" },
	[HY_VSWITCH_NW_TTL] = { "nw_ttl", .needs = VSWITCH_NEEDS_IP, AT(ttl), .bits = UINT8_MAX,
		.most = UINT8_MAX, .sets = true, .mod = "mod_nw_ttl", .accepted = BYTE },
	[HY_VSWITCH_NW_FRAG] = { "nw_frag", "ip_frag", VSWITCH_FRAGMENT, VSWITCH_NEEDS_IP, AT(kind),
		.bits = HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT,
		.accepted = "no, yes, first, later or not_later" },
	[HY_VSWITCH_ICMP_TYPE] = ICMP("icmp_type", VSWITCH_NEEDS_ICMP, sport),
	[HY_VSWITCH_ICMP_CODE] = ICMP("icmp_code", VSWITCH_NEEDS_ICMP, dport),
	[HY_VSWITCH_ICMPV6_TYPE] = ICMP("icmpv6_type", VSWITCH_NEEDS_ICMP6, sport),
	[HY_VSWITCH_ICMPV6_CODE] = ICMP("icmpv6_code", VSWITCH_NEEDS_ICMP6, dport),
	[HY_VSWITCH_TP_SRC] = TRANSPORT_PORT("tp_src", NULL, VSWITCH_NEEDS_PORTS, sport,
		"mod_tp_src", true),
	[HY_VSWITCH_TP_DST] = TRANSPORT_PORT("tp_dst", NULL, VSWITCH_NEEDS_PORTS, dport,
		"mod_tp_dst", true),
	[HY_VSWITCH_TCP_SRC] = TRANSPORT_PORT("tcp_src", NULL, VSWITCH_NEEDS_TCP, sport, NULL,
		true),
	[HY_VSWITCH_TCP_DST] = TRANSPORT_PORT("tcp_dst", NULL, VSWITCH_NEEDS_TCP, dport, NULL,
		true),
	[HY_VSWITCH_UDP_SRC] = TRANSPORT_PORT("udp_src", NULL, VSWITCH_NEEDS_UDP, sport, NULL,
		true),
	[HY_VSWITCH_UDP_DST] = TRANSPORT_PORT("udp_dst", NULL, VSWITCH_NEEDS_UDP, dport, NULL,
		true),
	[HY_VSWITCH_SCTP_SRC] = TRANSPORT_PORT("sctp_src", NULL, VSWITCH_NEEDS_SCTP, sport, NULL,
		false),
	[HY_VSWITCH_SCTP_DST] = TRANSPORT_PORT("sctp_dst", NULL, VSWITCH_NEEDS_SCTP, dport, NULL,
		false),
	[HY_VSWITCH_TCP_FLAGS] = { "tcp_flags", .kind = VSWITCH_FLAGS, .needs = VSWITCH_NEEDS_TCP,
		AT(tcp_flags), .bits = UINT8_MAX, .most = UINT8_MAX, .masks = true,
		.accepted =
			"flags such as +syn-ack or syn|ack, of fin, syn, rst, psh, ack, urg, ece and "
			"cwr; or a number from 0 to 0xff, or one with /MASK" },
};

const char *const vswitch_flags[8] = { "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr" };

const char *const vswitch_needs_words[VSWITCH_NEEDS] = {
	[VSWITCH_ANYTHING] = "",
	[VSWITCH_NEEDS_TAG] = "dl_vlan, vlan_vid or vlan_tci that asks for a tag",
	[VSWITCH_NEEDS_IP4] = "ip",
	[VSWITCH_NEEDS_IP6] = "ipv6",
	[VSWITCH_NEEDS_IP] = "ip or ipv6",
	[VSWITCH_NEEDS_IP_OR_ARP] = "ip, ipv6 or arp",
	[VSWITCH_NEEDS_IP4_OR_ARP] = "ip or arp",
	[VSWITCH_NEEDS_ARP] = "arp",
	[VSWITCH_NEEDS_TCP] = "tcp or tcp6",
	[VSWITCH_NEEDS_UDP] = "udp or udp6",
	[VSWITCH_NEEDS_SCTP] = "sctp or sctp6",
	[VSWITCH_NEEDS_PORTS] = "tcp, udp, sctp, tcp6, udp6 or sctp6",
	[VSWITCH_NEEDS_ICMP] = "icmp or icmp6",
	[VSWITCH_NEEDS_ICMP6] = "icmp6",
};

const struct vswitch_shorthand vswitch_shorthands[VSWITCH_SHORTHANDS] = {
	{ "ip", RTE_ETHER_TYPE_IPV4, 0 },
	{ "ipv6", RTE_ETHER_TYPE_IPV6, 0 },
	{ "arp", RTE_ETHER_TYPE_ARP, 0 },
	{ "icmp", RTE_ETHER_TYPE_IPV4, IPPROTO_ICMP },
	{ "tcp", RTE_ETHER_TYPE_IPV4, IPPROTO_TCP },
	{ "udp", RTE_ETHER_TYPE_IPV4, IPPROTO_UDP },
	{ "sctp", RTE_ETHER_TYPE_IPV4, IPPROTO_SCTP },
	{ "icmp6", RTE_ETHER_TYPE_IPV6, IPPROTO_ICMPV6 },
	{ "tcp6", RTE_ETHER_TYPE_IPV6, IPPROTO_TCP },
	{ "udp6", RTE_ETHER_TYPE_IPV6, IPPROTO_UDP },
	{ "sctp6", RTE_ETHER_TYPE_IPV6, IPPROTO_SCTP },
};

enum hy_vswitch_field
vswitch_field_named(const char *name)
{
	for (uint32_t f = 0; f < HY_VSWITCH_FIELDS; f++)
		if (strcmp(name, vswitch_fields[f].name) == 0 ||
			(vswitch_fields[f].alias != NULL &&
				strcmp(name, vswitch_fields[f].alias) == 0))
			return (enum hy_vswitch_field)f;
	return HY_VSWITCH_FIELDS;
}

bool
vswitch_has(enum vswitch_needs needs, const struct hy_flows_key *key,
	const struct hy_flows_key *mask)
{
	const uint32_t type = mask->type == UINT16_MAX ? rte_be_to_cpu_16(key->type) : 0;
	const uint32_t proto = mask->proto == UINT8_MAX ? key->proto : 0;
	const bool ip4 = type == RTE_ETHER_TYPE_IPV4, ip6 = type == RTE_ETHER_TYPE_IPV6;
	const bool arp = type == RTE_ETHER_TYPE_ARP, ip = ip4 || ip6;
	const bool icmp4 = ip4 && proto == IPPROTO_ICMP, icmp6 = ip6 && proto == IPPROTO_ICMPV6;
	const bool tcp = ip && proto == IPPROTO_TCP, udp = ip && proto == IPPROTO_UDP;
	const bool sctp = ip && proto == IPPROTO_SCTP;
	const bool has[VSWITCH_NEEDS] = {
		[VSWITCH_ANYTHING] = true,
		[VSWITCH_NEEDS_TAG] = (key->vlan & mask->vlan & HY_FLOWS_TAGGED) != 0,
		[VSWITCH_NEEDS_IP4] = ip4,
		[VSWITCH_NEEDS_IP6] = ip6,
		[VSWITCH_NEEDS_IP] = ip,
		[VSWITCH_NEEDS_IP_OR_ARP] = ip || arp,
		[VSWITCH_NEEDS_IP4_OR_ARP] = ip4 || arp,
		[VSWITCH_NEEDS_ARP] = arp,
		[VSWITCH_NEEDS_TCP] = tcp,
		[VSWITCH_NEEDS_UDP] = udp,
		[VSWITCH_NEEDS_SCTP] = sctp,
		[VSWITCH_NEEDS_PORTS] = tcp || udp || sctp,
		[VSWITCH_NEEDS_ICMP] = icmp4 || icmp6,
		[VSWITCH_NEEDS_ICMP6] = icmp6,
	};

	return has[needs];
}
