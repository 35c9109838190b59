/* SPDX-License-Identifier: BSD-3-Clause */
/* Two matches compared: whether packets match both, and whether the same ones do. */

#include <netinet/in.h>
#include <rte_ether.h>
#include <rte_tcp.h>

#include "policy.h"

#define ALL_FRAGMENTS \
	(HY_FLOW_NO_FRAGMENT | HY_FLOW_FIRST_FRAGMENT | HY_FLOW_LATER_FRAGMENT | \
		HY_FLOW_UNKNOWN_FRAGMENT)
#define ACK_RST (RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)

_Static_assert(sizeof(struct hy_flow_match) == 96, "matches are compared as bytes: no padding");

uint8_t
policy_possible_fragments(const struct hy_flow_match *m)
{
	if ((m->fields & (HY_FLOW_PORTS | HY_FLOW_TUNNEL | HY_FLOW_TCP | HY_FLOW_ICMP)) != 0)
		return HY_FLOW_NO_FRAGMENT;
	if ((m->fields & HY_FLOW_IPV6) != 0 && (m->fields & HY_FLOW_PROTO) == 0)
		return ALL_FRAGMENTS;
	return ALL_FRAGMENTS & ~HY_FLOW_UNKNOWN_FRAGMENT;
}

static void
imply_proto(struct hy_flow_match *m, uint8_t proto)
{
	m->fields |= HY_FLOW_PROTO;
	m->proto = proto;
}

/* Adds the fields that a match implies: a tunnel implies UDP, and so on down to IP. */
static struct hy_flow_match
implied(const struct hy_flow_match *match)
{
	struct hy_flow_match m = *match;
	const bool ip6 = (m.fields & HY_FLOW_IPV6) != 0;

	if (!policy_is_ip(&m))
		return m;
	if ((m.fields & HY_FLOW_TUNNEL) != 0) {
		imply_proto(&m, IPPROTO_UDP);
		m.fields |= HY_FLOW_DPORT;
		m.dport[0] = m.dport[1] = HY_FLOW_VXLAN_PORT;
	}
	if ((m.fields & HY_FLOW_TCP) != 0)
		imply_proto(&m, IPPROTO_TCP);
	if ((m.fields & HY_FLOW_ICMP) != 0)
		imply_proto(&m, ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	m.fragments = policy_possible_fragments(&m) &
		((m.fields & HY_FLOW_FRAGMENT) != 0 ? m.fragments : ALL_FRAGMENTS);
	m.ether_type = ip6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4;
	m.fields |= HY_FLOW_ETHER_TYPE | HY_FLOW_FRAGMENT;
	return m;
}

/* Whether the ports of one match exclude the protocol of the other. */
static bool
lacks_ports(const struct hy_flow_match *a, const struct hy_flow_match *b)
{
	return (a->fields & HY_FLOW_PORTS) != 0 && (b->fields & HY_FLOW_PROTO) != 0 &&
		!policy_has_ports(b->proto);
}

static bool
prefixes_meet(const struct hy_flow_match *m, const uint32_t a[4], uint8_t a_len,
	const uint32_t b[4], uint8_t b_len)
{
	const uint8_t len = RTE_MIN(a_len, b_len);

	return (m->fields & HY_FLOW_IPV6) != 0 ? policy_in_prefix6(a, b, len)
					       : (a[0] ^ b[0]) >> (32 - len) == 0;
}

static bool
ranges_meet(const uint16_t a[2], const uint16_t b[2])
{
	return a[0] <= b[1] && b[0] <= a[1];
}

static bool
octets_meet(const uint8_t a[2], const uint8_t b[2])
{
	return a[0] <= b[1] && b[0] <= a[1];
}

/* Masks and flags of matches without the field are 0. */
static bool
flags_meet(const struct hy_flow_match *a, const struct hy_flow_match *b)
{
	const uint8_t known = a->tcp_mask | b->tcp_mask, flags = a->tcp_flags | b->tcp_flags;

	if (((a->tcp_flags ^ b->tcp_flags) & a->tcp_mask & b->tcp_mask) != 0)
		return false;
	return ((a->fields | b->fields) & HY_FLOW_ESTABLISHED) == 0 || (~known & ACK_RST) != 0 ||
		(flags & ACK_RST) != 0;
}

/* The same for addresses of Ethernet, whose masks are 0 without the field. */
static bool
macs_meet(const struct hy_flow_match *a, const struct hy_flow_match *b)
{
	return ((a->src_mac ^ b->src_mac) & a->src_mac_mask & b->src_mac_mask) == 0 &&
		((a->dst_mac ^ b->dst_mac) & a->dst_mac_mask & b->dst_mac_mask) == 0;
}

bool
hy_flow_overlap(const struct hy_flow_match *x, const struct hy_flow_match *y)
{
	const struct hy_flow_match a = implied(x), b = implied(y);
	const uint32_t both = a.fields & b.fields;

	if (lacks_ports(&a, &b) || lacks_ports(&b, &a) || !flags_meet(&a, &b) || !macs_meet(&a, &b))
		return false;
	/* With different versions of IP, the ether types differ. */
	return ((both & HY_FLOW_ETHER_TYPE) == 0 || a.ether_type == b.ether_type) &&
		((both & HY_FLOW_VLAN) == 0 || a.vlan == b.vlan) &&
		((both & HY_FLOW_SRC) == 0 ||
			prefixes_meet(&a, a.src6, a.src_len, b.src6, b.src_len)) &&
		((both & HY_FLOW_DST) == 0 ||
			prefixes_meet(&a, a.dst6, a.dst_len, b.dst6, b.dst_len)) &&
		((both & HY_FLOW_PROTO) == 0 || a.proto == b.proto) &&
		((both & HY_FLOW_SPORT) == 0 || ranges_meet(a.sport, b.sport)) &&
		((both & HY_FLOW_DPORT) == 0 || ranges_meet(a.dport, b.dport)) &&
		((both & HY_FLOW_DSCP) == 0 || a.dscp == b.dscp) &&
		((both & HY_FLOW_TUNNEL) == 0 || a.tunnel == b.tunnel) &&
		((both & HY_FLOW_ICMP_TYPE) == 0 || octets_meet(a.icmp_type, b.icmp_type)) &&
		((both & HY_FLOW_ICMP_CODE) == 0 || octets_meet(a.icmp_code, b.icmp_code)) &&
		((both & HY_FLOW_FRAGMENT) == 0 || (a.fragments & b.fragments) != 0);
}

bool
hy_flow_same(const struct hy_flow_match *x, const struct hy_flow_match *y)
{
	const struct hy_flow_match a = implied(x), b = implied(y);

	return hy_flow_match_equal(&a, &b);
}
