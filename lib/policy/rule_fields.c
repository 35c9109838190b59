/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the parts of a rule, and the words for some of their values. */

#include <netinet/in.h>

#include "rule.h"

#define AT(member) \
	.at = offsetof(struct hy_flow_rule, member), \
	.size = sizeof(((struct hy_flow_rule *)NULL)->member)
#define WITH(member) .more = offsetof(struct hy_flow_rule, member)
#define ACTION(action_) .is_action = true, .action = (action_)

static const char number[] = "a number from 0 to 4294967295";
static const char prefix[] =
	"an IPv4 or IPv6 prefix: ADDRESS/N, N from 1 to 32 or 128, no bits beyond";
static const char ports[] = "a port from 0 to 65535, or a range FIRST-LAST";
static const char mac[] = "a MAC address like 02:00:00:00:00:01, or ADDRESS/MASK, no bits beside";
static const char octets[] = "a number from 0 to 255, or a range FIRST-LAST";

const struct policy_field policy_fields[POLICY_FIELDS] = {
	{ "rule", POLICY_NUMBER, AT(id), .max = UINT32_MAX, .accepted = number },
	{ "class", POLICY_NUMBER, ACTION(HY_RULE_CLASSIFY), AT(class_id), .min = 1,
		.max = UINT16_MAX, .accepted = "a class from 1 to 65535" },
	{ "permit", POLICY_WORD, ACTION(HY_RULE_PERMIT) },
	{ "deny", POLICY_WORD, ACTION(HY_RULE_DENY) },
	{ "count", POLICY_WORD, ACTION(HY_RULE_COUNT) },
	{ "port", POLICY_NUMBER, ACTION(HY_RULE_TO_PORT), AT(port), .max = UINT16_MAX,
		.accepted = "a port from 0 to 65535" },
	{ "log", POLICY_WORD, AT(log) },
	{ "precedence", POLICY_NUMBER, AT(precedence), .max = UINT32_MAX, .accepted = number },
	{ "type", POLICY_HEX, HY_FLOW_ETHER_TYPE, AT(match.ether_type), .min = 0x600,
		.max = UINT16_MAX, .accepted = "an ether type from 0x0600 to 0xffff" },
	{ "vlan", POLICY_NUMBER, HY_FLOW_VLAN, AT(match.vlan), .min = 1, .max = 4094,
		.accepted = "a VLAN id from 1 to 4094" },
	{ "smac", POLICY_MAC, HY_FLOW_SRC_MAC, AT(match.src_mac), WITH(match.src_mac_mask),
		.accepted = mac },
	{ "dmac", POLICY_MAC, HY_FLOW_DST_MAC, AT(match.dst_mac), WITH(match.dst_mac_mask),
		.accepted = mac },
	{ "ip6", POLICY_WORD, HY_FLOW_IPV6 },
	{ "src", POLICY_PREFIX, HY_FLOW_SRC, AT(match.src), WITH(match.src_len),
		.accepted = prefix },
	{ "dst", POLICY_PREFIX, HY_FLOW_DST, AT(match.dst), WITH(match.dst_len),
		.accepted = prefix },
	{ "proto", POLICY_PROTO, HY_FLOW_PROTO, AT(match.proto), .max = UINT8_MAX,
		.accepted = "icmp, tcp, udp, sctp, icmp6 or a number from 0 to 255" },
	{ "sport", POLICY_RANGE, HY_FLOW_SPORT, AT(match.sport[0]), .max = UINT16_MAX,
		.accepted = ports },
	{ "dport", POLICY_RANGE, HY_FLOW_DPORT, AT(match.dport[0]), .max = UINT16_MAX,
		.accepted = ports },
	{ "dscp", POLICY_NUMBER, HY_FLOW_DSCP, AT(match.dscp), .max = 63,
		.accepted = "a code point from 0 to 63" },
	{ "tunnel", POLICY_NUMBER, HY_FLOW_TUNNEL, AT(match.tunnel), .max = (1 << 24) - 1,
		.accepted = "a VXLAN network identifier from 0 to 16777215" },
	{ "flags", POLICY_FLAGS, HY_FLOW_TCP_FLAGS, AT(match.tcp_flags), WITH(match.tcp_mask),
		.accepted = "SET/CHECKED in letters of FSRPAUEC, such as S/SA, all of SET in "
			    "CHECKED" },
	{ "established", POLICY_WORD, HY_FLOW_ESTABLISHED },
	{ "icmp", POLICY_RANGE, HY_FLOW_ICMP_TYPE, AT(match.icmp_type[0]), .max = UINT8_MAX,
		.accepted = octets },
	{ "code", POLICY_RANGE, HY_FLOW_ICMP_CODE, AT(match.icmp_code[0]), .max = UINT8_MAX,
		.accepted = octets },
	{ "fragment", POLICY_FRAGMENT, HY_FLOW_FRAGMENT, AT(match.fragments), .min = 1, .max = 15,
		.accepted = "one or more of none, first, later and unknown, with commas" },
};

const struct policy_word policy_protocols[POLICY_PROTOCOLS] = {
	{ "icmp", IPPROTO_ICMP },
	{ "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP },
	{ "sctp", IPPROTO_SCTP },
	{ "icmp6", IPPROTO_ICMPV6 },
};

const struct policy_word policy_fragments[POLICY_FRAGMENTS] = {
	{ "none", HY_FLOW_NO_FRAGMENT },
	{ "first", HY_FLOW_FIRST_FRAGMENT },
	{ "later", HY_FLOW_LATER_FRAGMENT },
	{ "unknown", HY_FLOW_UNKNOWN_FRAGMENT },
};

const char policy_flags[] = "FSRPAUEC";
