/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules ask of a driver and its port, and what these take. */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "lower.h"

#define ETHER_TYPE_QINQ_OLD 0x9100

/* Fields of Ethernet, which do not depend on what it carries. */
#define L2 (HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN | HY_FLOW_MACS)
/* Fields behind IP. Packets have them only if their headers are whole, and fragments do not. */
#define L4 (HY_FLOW_PORTS | HY_FLOW_TUNNEL | HY_FLOW_TCP_FLAGS | HY_FLOW_ICMP)

#define ITEMS(ip_, proto_, type, fields_) \
	{ \
		.ip = (ip_), .item = RTE_FLOW_ITEM_TYPE_##type, .proto = (proto_), \
		.fields = (fields_) \
	}

const struct hy_flow_pattern_items hy_flow_patterns[HY_FLOW_PATTERNS] = {
	[HY_FLOW_PATTERN_L2] = ITEMS(0, 0, ETH, 0),
	[HY_FLOW_PATTERN_IPV4] = ITEMS(HY_FLOW_IPV4, 0, IPV4, 0),
	[HY_FLOW_PATTERN_TCP] = ITEMS(HY_FLOW_IPV4, IPPROTO_TCP, TCP,
		HY_FLOW_PORTS | HY_FLOW_TCP_FLAGS),
	[HY_FLOW_PATTERN_UDP] = ITEMS(HY_FLOW_IPV4, IPPROTO_UDP, UDP,
		HY_FLOW_PORTS | HY_FLOW_TUNNEL),
	[HY_FLOW_PATTERN_SCTP] = ITEMS(HY_FLOW_IPV4, IPPROTO_SCTP, SCTP, HY_FLOW_PORTS),
	[HY_FLOW_PATTERN_ICMP] = ITEMS(HY_FLOW_IPV4, IPPROTO_ICMP, ICMP, HY_FLOW_ICMP),
	[HY_FLOW_PATTERN_IPV6] = ITEMS(HY_FLOW_IPV6, 0, IPV6, 0),
	[HY_FLOW_PATTERN_TCP6] = ITEMS(HY_FLOW_IPV6, IPPROTO_TCP, TCP,
		HY_FLOW_PORTS | HY_FLOW_TCP_FLAGS),
	[HY_FLOW_PATTERN_UDP6] = ITEMS(HY_FLOW_IPV6, IPPROTO_UDP, UDP, HY_FLOW_PORTS),
	[HY_FLOW_PATTERN_SCTP6] = ITEMS(HY_FLOW_IPV6, IPPROTO_SCTP, SCTP, HY_FLOW_PORTS),
	[HY_FLOW_PATTERN_ICMP6] = ITEMS(HY_FLOW_IPV6, IPPROTO_ICMPV6, ICMP6, HY_FLOW_ICMP),
};

uint32_t
hy_flow_ip_of(const struct hy_flow_match *m)
{
	if ((m->fields & HY_FLOW_IPV6) != 0)
		return HY_FLOW_IPV6;
	return (m->fields & (HY_FLOW_IP | L4 | HY_FLOW_ESTABLISHED)) != 0 ||
			((m->fields & HY_FLOW_ETHER_TYPE) != 0 &&
				m->ether_type == RTE_ETHER_TYPE_IPV4)
		? HY_FLOW_IPV4
		: 0;
}

/* The protocol that a rule asks for or that other fields imply; 0: any. */
static uint8_t
protocol(const struct hy_flow_match *m)
{
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		return IPPROTO_UDP;
	if ((m->fields & HY_FLOW_TCP_FLAGS) != 0)
		return IPPROTO_TCP;
	if ((m->fields & HY_FLOW_ICMP) != 0)
		return (m->fields & HY_FLOW_IPV6) != 0 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	return (m->fields & HY_FLOW_PROTO) != 0 ? m->proto : 0;
}

/* A protocol without an item of its own is matched in the header of IP. */
static enum hy_flow_pattern
pattern_of_protocol(uint32_t ip, uint8_t proto)
{
	for (unsigned int p = 0; p < HY_FLOW_PATTERNS && proto != 0; p++)
		if (hy_flow_patterns[p].ip == ip && hy_flow_patterns[p].proto == proto)
			return (enum hy_flow_pattern)p;
	return ip == HY_FLOW_IPV6 ? HY_FLOW_PATTERN_IPV6 : HY_FLOW_PATTERN_IPV4;
}

/*
 * A protocol of which nothing is asked is matched in the header of IP or, if the port does not take
 * that, by the item of its own header.
 */
enum hy_flow_pattern
hy_flow_pattern_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *m)
{
	const uint32_t ip = hy_flow_ip_of(m);
	const enum hy_flow_pattern alone = pattern_of_protocol(ip, 0);
	const bool by_item = driver->protocols[0] != 0 || (m->fields & L4) != 0 ||
		(limits->takes[hy_flow_is_tagged(m)][alone] & HY_FLOW_PROTO) == 0;

	if (ip == 0)
		return HY_FLOW_PATTERN_L2;
	return by_item ? pattern_of_protocol(ip, protocol(m)) : alone;
}

static bool
driver_has_protocol(const struct hy_flow_driver *driver, uint8_t proto)
{
	if (driver->protocols[0] == 0)
		return true;
	for (unsigned int i = 0; i < HY_FLOW_PROTOCOLS; i++)
		if (proto != 0 && driver->protocols[i] == proto)
			return true;
	return false;
}

static bool
is_prefix(const struct hy_flow_match *m)
{
	const uint8_t whole = (m->fields & HY_FLOW_IPV6) != 0 ? 128 : 32;

	return ((m->fields & HY_FLOW_SRC) != 0 && m->src_len < whole) ||
		((m->fields & HY_FLOW_DST) != 0 && m->dst_len < whole);
}

/* Masks without the field are 0. */
static bool
is_part_of_mac(const struct hy_flow_match *m)
{
	return (m->src_mac_mask != 0 && m->src_mac_mask != HY_FLOW_MAC_WHOLE) ||
		(m->dst_mac_mask != 0 && m->dst_mac_mask != HY_FLOW_MAC_WHOLE);
}

static bool
is_range(const struct hy_flow_match *m)
{
	/* The destination port of a tunnel is fixed, whatever range the rule names. */
	return ((m->fields & HY_FLOW_SPORT) != 0 && m->sport[0] != m->sport[1]) ||
		((m->fields & (HY_FLOW_DPORT | HY_FLOW_TUNNEL)) == HY_FLOW_DPORT &&
			m->dport[0] != m->dport[1]);
}

static bool
is_type_of_tag(const struct hy_flow_match *m)
{
	return (m->fields & HY_FLOW_ETHER_TYPE) != 0 &&
		(m->ether_type == RTE_ETHER_TYPE_VLAN || m->ether_type == RTE_ETHER_TYPE_QINQ ||
			m->ether_type == ETHER_TYPE_QINQ_OLD);
}

/* Software finds what is behind these headers. */
static bool
is_extension(const struct hy_flow_match *m)
{
	static const uint8_t headers[] = { IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT,
		IPPROTO_ESP, IPPROTO_AH, IPPROTO_DSTOPTS };

	return (m->fields & HY_FLOW_PROTO) != 0 &&
		memchr(headers, m->proto, sizeof(headers)) != NULL;
}

static bool
is_zero(uint32_t field, const struct hy_flow_match *m)
{
	static const uint32_t zeros[4];

	return (m->fields & field) != 0 &&
		memcmp(field == HY_FLOW_SRC ? m->src6 : m->dst6, zeros, sizeof(zeros)) == 0;
}

/* Why a rule for IPv6 is not for a driver. */
static const char *
objection_ip6(const struct hy_flow_driver *driver, const struct hy_flow_match *m)
{
	if (is_extension(m))
		return "the number of an extension header as the protocol";
	if (driver->zeros_ip6 &&
		(is_zero(HY_FLOW_SRC, m) || is_zero(HY_FLOW_DST, m) ||
			((m->fields & HY_FLOW_DSCP) != 0 && m->dscp == 0)))
		return "zeros, which the NIC finds where IPv6 has extension headers";
	return NULL;
}

/* The fields by name, for what a driver or a port does not match. */
static const struct {
	uint32_t bit;
	const char *driver, *port;
} names[] = {
	{ HY_FLOW_FRAGMENT, "no driver is asked for fragments", NULL },
	{ HY_FLOW_ESTABLISHED, "no driver is asked for ACK or RST", NULL },
	{ HY_FLOW_IPV6, "the driver does not match IPv6", NULL },
	{ HY_FLOW_SRC_MAC, "the driver does not match source MAC addresses",
		"the port does not compare source MAC addresses" },
	{ HY_FLOW_DST_MAC, "the driver does not match destination MAC addresses",
		"the port does not compare destination MAC addresses" },
	{ HY_FLOW_FORM_MAC, NULL, "the port matches whole MAC addresses only" },
	{ HY_FLOW_VLAN, "the driver does not match VLAN tags", NULL },
	{ HY_FLOW_SRC, "the driver does not match source addresses",
		"the port does not compare source addresses" },
	{ HY_FLOW_DST, "the driver does not match destination addresses",
		"the port does not compare destination addresses" },
	{ HY_FLOW_FORM_PREFIX, NULL, "the port matches whole addresses only" },
	{ HY_FLOW_PROTO, "the driver does not match protocols",
		"the port does not compare the protocol in the IP header" },
	{ HY_FLOW_DSCP, "the driver does not match the DSCP",
		"the port does not compare the DSCP" },
	{ HY_FLOW_TUNNEL, "the driver does not match VXLAN network identifiers",
		"the port does not compare VXLAN network identifiers" },
	{ HY_FLOW_SPORT, "the driver does not match source ports",
		"the port does not compare source ports of this protocol" },
	{ HY_FLOW_DPORT, "the driver does not match destination ports",
		"the port does not compare destination ports of this protocol" },
	{ HY_FLOW_TCP_FLAGS, "the driver does not match TCP flags",
		"the port does not compare TCP flags" },
	{ HY_FLOW_ICMP_TYPE, "the driver does not match ICMP types",
		"the port does not compare ICMP types" },
	{ HY_FLOW_ICMP_CODE, "the driver does not match ICMP codes",
		"the port does not compare ICMP codes" },
	{ HY_FLOW_ETHER_TYPE, "the driver does not match ether types",
		"the port does not compare the ether type" },
	{ HY_FLOW_FORM_BARE, NULL, "the port requires a field in rules for this protocol" },
	{ HY_FLOW_FORM_ANY, NULL, "the port requires more fields in such a rule" },
};

/* Why a driver does not take a field of a rule; NULL: it does. */
static const char *
foreign_field(const struct hy_flow_driver *driver, const struct hy_flow_match *m)
{
	uint32_t missing = m->fields & ~driver->fields;

	if ((m->fields & HY_FLOW_IPV6) != 0 && driver->fields6 != 0)
		missing = m->fields & ~(driver->fields6 | (driver->fields & L2) | HY_FLOW_IPV6);
	for (size_t i = 0; i < RTE_DIM(names) && missing != 0; i++)
		if ((missing & names[i].bit) != 0)
			return names[i].driver;
	return NULL;
}

/* Why a driver cannot take a rule; NULL: it can. */
static const char *
driver_objection(const struct hy_flow_driver *driver, const struct hy_flow_match *m)
{
	const uint32_t ip = hy_flow_ip_of(m);
	const uint8_t proto = protocol(m);
	const char *foreign = foreign_field(driver, m);

	if (foreign != NULL)
		return foreign;
	if (is_type_of_tag(m))
		return "the ether type of a tag, which NICs find in any tagged packet";
	if (is_range(m))
		return "a range of ports";
	/* Bounds without the field are 0. */
	if (m->icmp_type[0] != m->icmp_type[1] || m->icmp_code[0] != m->icmp_code[1])
		return "a range of ICMP types or codes";
	if (is_prefix(m) && !driver->prefixes)
		return "the driver matches whole addresses only";
	if (is_part_of_mac(m) && !driver->mac_masks)
		return "the driver matches whole MAC addresses only";
	if ((m->fields & HY_FLOW_PORTS) != 0 &&
		(hy_flow_patterns[pattern_of_protocol(ip, proto)].fields & HY_FLOW_PORTS) == 0)
		return "ports, and not one of the protocols TCP, UDP and SCTP";
	if (ip != 0 && !driver_has_protocol(driver, proto))
		return "the driver has a table for each protocol, and none for the rule's";
	return ip == HY_FLOW_IPV6 ? objection_ip6(driver, m) : NULL;
}

/* What a rule requires of the port in its pattern: bits as in hy_flow_limits.takes. */
static uint32_t
asked(const struct hy_flow_match *m, enum hy_flow_pattern pattern)
{
	const struct hy_flow_pattern_items *items = &hy_flow_patterns[pattern];
	const bool l4 = items->proto != 0;
	uint32_t bits = m->fields & ~(HY_FLOW_VLAN | HY_FLOW_IPV6);

	if (items->ip != 0)
		bits &= ~HY_FLOW_ETHER_TYPE;
	if (l4)
		bits &= ~HY_FLOW_PROTO;
	if ((bits & HY_FLOW_TUNNEL) != 0)
		bits |= HY_FLOW_DPORT;
	if (bits == 0)
		bits |= HY_FLOW_FORM_ANY;
	if (l4 && (bits & items->fields) == 0)
		bits |= HY_FLOW_FORM_BARE;
	if (is_part_of_mac(m))
		bits |= HY_FLOW_FORM_MAC;
	return is_prefix(m) ? bits | HY_FLOW_FORM_PREFIX : bits;
}

const char *
hy_flow_objection(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *m, enum hy_flow_pattern pattern)
{
	const bool tagged = hy_flow_is_tagged(m);
	const uint32_t takes = limits->takes[tagged][pattern];
	const uint32_t missing = asked(m, pattern) & ~takes;
	const char *objection = driver_objection(driver, m);

	if (objection != NULL)
		return objection;
	if (tagged && limits->tags_change)
		return "the port changes VLAN tags before software sees them";
	if (missing == 0)
		return NULL;
	if (takes == 0 && tagged && limits->takes[0][pattern] != 0)
		return "the port does not compare VLAN tags in such a rule";
	if (takes == 0 && hy_flow_patterns[pattern].proto != 0)
		return "the port does not look into headers of this protocol";
	for (size_t i = 0; i < RTE_DIM(names); i++)
		if ((missing & names[i].bit) != 0 && names[i].port != NULL)
			return names[i].port;
	return "the port takes no such rule";
}

/* What a driver declares for a pattern; 0: it takes no such rule. */
static uint32_t
declared(const struct hy_flow_driver *driver, const struct hy_flow_pattern_items *items)
{
	const uint32_t fields = items->ip == HY_FLOW_IPV6 ? driver->fields6 : driver->fields;
	uint32_t takes = (driver->fields & HY_FLOW_MACS) | HY_FLOW_FORM_ANY |
		(driver->mac_masks ? HY_FLOW_FORM_MAC : 0);

	if (items->ip == 0)
		return takes | (driver->fields & HY_FLOW_ETHER_TYPE);
	/* An item that a driver does not know may be skipped: net/cnxk, cnxk_map_pattern(). */
	if ((items->fields & HY_FLOW_ICMP) != 0 && (fields & HY_FLOW_ICMP) == 0)
		return 0;
	if (fields == 0 || (items->proto == 0 && driver->protocols[0] != 0) ||
		!driver_has_protocol(driver, items->proto))
		return 0;
	takes |= (fields & (HY_FLOW_IP4 & ~HY_FLOW_PROTO)) |
		(driver->prefixes ? HY_FLOW_FORM_PREFIX : 0);
	if (items->proto == 0)
		return takes | (fields & HY_FLOW_PROTO);
	takes |= (fields & items->fields) | HY_FLOW_FORM_BARE;
	if (items->ip == HY_FLOW_IPV6 ? driver->says_whole6 : driver->says_whole)
		takes |= HY_FLOW_FORM_WHOLE;
	return takes;
}

void
hy_flow_limits_declared(const struct hy_flow_driver *driver, struct hy_flow_limits *limits)
{
	const unsigned int tags = (driver->fields & HY_FLOW_VLAN) != 0 ? 2 : 1;

	*limits = (struct hy_flow_limits){
		.mark_max = driver->mark_max,
		.priorities = driver->priorities,
		.whole_tags = driver->whole_tags,
		.drops = driver->drops,
		.reason = "as the driver declares",
	};
	for (unsigned int tag = 0; tag < tags; tag++)
		for (unsigned int p = 0; p < HY_FLOW_PATTERNS; p++)
			limits->takes[tag][p] = declared(driver, &hy_flow_patterns[p]);
}

/* What a NIC's parser must find in a packet to match a rule. */
#define TYPED 1
#define PORTS 2 /* the begin of a header behind IP, which a short frame may have */
#define TUNNEL 4
#define FLAGS 8
#define CHAIN 16 /* the protocol behind IPv6's extension headers */
#define BASE \
	32 /* a value in IPv6's own header, where the NIC finds zeros before extension headers */
#define OUTER 64 /* the outermost ether type: none of a tagged frame's */

static unsigned int
headers_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *m)
{
	const uint32_t ip = hy_flow_ip_of(m);
	const bool typed = ip != 0 || (m->fields & HY_FLOW_ETHER_TYPE) != 0;
	const bool item = hy_flow_patterns[hy_flow_pattern_of(driver, limits, m)].proto != 0;
	const bool l4 = (m->fields & L4) != 0 || item;
	const bool base = (m->fields & (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_DSCP)) != 0 ||
		(protocol(m) != 0 && !item);

	return (typed ? TYPED : 0) | (l4 ? PORTS : 0) |
		((m->fields & HY_FLOW_TUNNEL) != 0 ? TUNNEL : 0) |
		((m->fields & HY_FLOW_TCP_FLAGS) != 0 ? FLAGS : 0) |
		(ip == HY_FLOW_IPV6 && protocol(m) != 0 ? CHAIN : 0) |
		(ip == HY_FLOW_IPV6 && driver->zeros_ip6 && base ? BASE : 0) |
		(ip == 0 && typed ? OUTER : 0);
}

/*
 * Parsers, software's included, differ for two tags, for a TCP header truncated after its ports,
 * for extension headers of IPv6, and for malformed tunnels. The mark of the lower rule proves that
 * the NIC found that rule's headers, but no others. So the upper rule must not need a header that the
 * lower one does not need. Drivers also differ in how patterns with and without a VLAN item match
 * tagged frames.
 */
bool
hy_flow_sees_all_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *upper, const struct hy_flow_match *lower)
{
	return hy_flow_is_tagged(upper) == hy_flow_is_tagged(lower) &&
		(headers_of(driver, limits, upper) & ~headers_of(driver, limits, lower)) == 0;
}
