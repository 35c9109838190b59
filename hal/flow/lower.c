/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lowering: turns a rule of the policy into an rte_flow rule that a port takes.
 *
 * A rule that hardware would match more widely than software is refused. One that hardware matches
 * more narrowly is not: packets that hardware misses are classified in software. The exceptions are
 * rules for ports on a NIC that also finds ports in fragments or inside tunnels, and rules for
 * tunnels: their marks are checked.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_policy_view.h>

#include "probe.h"

#define ETHER_TYPE_QINQ_OLD 0x9100

static bool
is_ip4(const struct hy_flow_match *m)
{
	return (m->fields & (HY_FLOW_IP4 | HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0 ||
		((m->fields & HY_FLOW_ETHER_TYPE) != 0 && m->ether_type == RTE_ETHER_TYPE_IPV4);
}

/* The protocol that a rule asks for or that its tunnel implies; 0: any. */
static uint8_t
protocol(const struct hy_flow_match *m)
{
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		return IPPROTO_UDP;
	return (m->fields & HY_FLOW_PROTO) != 0 ? m->proto : 0;
}

const uint8_t hy_flow_protocols[HY_FLOW_PATTERNS] = {
	[HY_FLOW_PATTERN_TCP] = IPPROTO_TCP,
	[HY_FLOW_PATTERN_UDP] = IPPROTO_UDP,
	[HY_FLOW_PATTERN_SCTP] = IPPROTO_SCTP,
};

/* A protocol without an item of its own is matched in the IPv4 header. */
static enum hy_flow_pattern
pattern_of_protocol(uint8_t proto)
{
	unsigned int p = HY_FLOW_PATTERNS - 1;

	while (p > HY_FLOW_PATTERN_IPV4 && hy_flow_protocols[p] != proto)
		p--;
	return (enum hy_flow_pattern)p;
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
	return ((m->fields & HY_FLOW_SRC) != 0 && m->src_len < 32) ||
		((m->fields & HY_FLOW_DST) != 0 && m->dst_len < 32);
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

/* Why a driver cannot take a rule; NULL: it can. */
static const char *
objection(const struct hy_flow_driver *driver, const struct hy_flow_match *m)
{
	const uint8_t proto = protocol(m);

	if ((m->fields & ~driver->fields) != 0)
		return "the driver does not match one of its fields";
	if (is_type_of_tag(m))
		return "the ether type of a tag, which NICs find in any tagged packet";
	if (is_range(m))
		return "a range of ports";
	if (is_prefix(m) && !driver->prefixes)
		return "the driver matches whole addresses only";
	if ((m->fields & HY_FLOW_PORTS) != 0 && pattern_of_protocol(proto) == HY_FLOW_PATTERN_IPV4)
		return "ports, and not one of the protocols TCP, UDP and SCTP";
	if (is_ip4(m) && !driver_has_protocol(driver, proto))
		return "the driver has a table for each protocol, and none for the rule's";
	return NULL;
}

static bool
is_tagged(const struct hy_flow_match *m)
{
	return (m->fields & HY_FLOW_VLAN) != 0;
}

/*
 * The items of a rule. A protocol without ports is matched in the IPv4 header or, if the port does
 * not take that, by the item of its own header.
 */
static enum hy_flow_pattern
pattern_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *m)
{
	const bool by_item = driver->protocols[0] != 0 ||
		(m->fields & (HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0 ||
		(limits->takes[is_tagged(m)][HY_FLOW_PATTERN_IPV4] & HY_FLOW_PROTO) == 0;

	if (!is_ip4(m))
		return HY_FLOW_PATTERN_L2;
	return by_item ? pattern_of_protocol(protocol(m)) : HY_FLOW_PATTERN_IPV4;
}

/* What a rule requires of the port in its pattern: bits as in hy_flow_limits.takes. */
static uint32_t
asked(const struct hy_flow_match *m, enum hy_flow_pattern pattern)
{
	const bool l4 = pattern >= HY_FLOW_PATTERN_TCP;
	uint32_t bits = m->fields & ~HY_FLOW_VLAN;

	if (pattern != HY_FLOW_PATTERN_L2)
		bits &= ~HY_FLOW_ETHER_TYPE;
	if (l4)
		bits &= ~HY_FLOW_PROTO;
	if ((bits & HY_FLOW_TUNNEL) != 0)
		bits |= HY_FLOW_DPORT;
	if (bits == 0)
		bits |= HY_FLOW_FORM_ANY;
	if (l4 && (bits & HY_FLOW_PORTS) == 0)
		bits |= HY_FLOW_FORM_BARE;
	return is_prefix(m) ? bits | HY_FLOW_FORM_PREFIX : bits;
}

/* Why a port does not take a rule that the driver supports; NULL: it does. */
static const char *
refusal(const struct hy_flow_limits *limits, const struct hy_flow_match *m,
	enum hy_flow_pattern pattern)
{
	static const struct {
		uint32_t bit;
		const char *reason;
	} why[] = {
		{ HY_FLOW_SRC, "the port does not compare source addresses" },
		{ HY_FLOW_DST, "the port does not compare destination addresses" },
		{ HY_FLOW_FORM_PREFIX, "the port matches whole addresses only" },
		{ HY_FLOW_PROTO, "the port does not compare the protocol in the IPv4 header" },
		{ HY_FLOW_DSCP, "the port does not compare the DSCP" },
		{ HY_FLOW_TUNNEL, "the port does not compare VXLAN network identifiers" },
		{ HY_FLOW_SPORT, "the port does not compare source ports of this protocol" },
		{ HY_FLOW_DPORT, "the port does not compare destination ports of this protocol" },
		{ HY_FLOW_ETHER_TYPE, "the port does not compare the ether type" },
		{ HY_FLOW_FORM_BARE, "the port requires a port number in rules for this protocol" },
		{ HY_FLOW_FORM_ANY, "the port requires more fields in such a rule" },
	};
	const uint32_t takes = limits->takes[is_tagged(m)][pattern];
	const uint32_t missing = asked(m, pattern) & ~takes;

	if (is_tagged(m) && limits->tags_change)
		return "the port changes VLAN tags before software sees them";
	if (missing == 0)
		return NULL;
	if (takes == 0 && is_tagged(m) && limits->takes[0][pattern] != 0)
		return "the port does not compare VLAN tags in such a rule";
	if (takes == 0 && pattern >= HY_FLOW_PATTERN_TCP)
		return "the port does not look into headers of this protocol";
	for (size_t i = 0; i < RTE_DIM(why); i++)
		if ((missing & why[i].bit) != 0)
			return why[i].reason;
	return "the port takes no such rule";
}

/* Appends an item. With a mask of zeros, only its presence is required. */
static void
item_add(struct hy_flow_lowered *out, enum rte_flow_item_type type, const void *spec,
	const void *mask, size_t size)
{
	struct rte_flow_item *item = &out->items[out->nb_items++];
	bool any = true;

	for (size_t i = 0; i < size; i++)
		any &= ((const uint8_t *)mask)[i] == 0;
	item->type = type;
	item->spec = any ? NULL : spec;
	item->mask = any ? NULL : mask;
}

static uint32_t
prefix_mask(uint8_t len)
{
	return len == 0 ? 0 : UINT32_MAX << (32 - len);
}

static void
lower_l2(const struct hy_flow_limits *limits, const struct hy_flow_match *m,
	struct hy_flow_lowered *out)
{
	/* The next item implies IPv4: drivers refuse its ether type here. */
	const bool type = (m->fields & HY_FLOW_ETHER_TYPE) != 0 && !is_ip4(m);
	const bool tag = is_tagged(m);

	if (type && !tag) {
		out->spec.eth.hdr.ether_type = rte_cpu_to_be_16(m->ether_type);
		out->mask.eth.hdr.ether_type = RTE_BE16(0xffff);
	}
	item_add(out, RTE_FLOW_ITEM_TYPE_ETH, &out->spec.eth, &out->mask.eth,
		sizeof(out->mask.eth));
	if (!tag)
		return;
	out->spec.vlan.hdr.vlan_tci = rte_cpu_to_be_16(m->vlan);
	out->mask.vlan.hdr.vlan_tci = limits->whole_tags ? RTE_BE16(0xffff) : RTE_BE16(0x0fff);
	if (type) {
		out->spec.vlan.hdr.eth_proto = rte_cpu_to_be_16(m->ether_type);
		out->mask.vlan.hdr.eth_proto = RTE_BE16(0xffff);
	}
	item_add(out, RTE_FLOW_ITEM_TYPE_VLAN, &out->spec.vlan, &out->mask.vlan,
		sizeof(out->mask.vlan));
}

static void
lower_ip4(const struct hy_flow_match *m, bool proto, bool whole, struct hy_flow_lowered *out)
{
	struct rte_ipv4_hdr *spec = &out->spec.ip4.hdr, *mask = &out->mask.ip4.hdr;

	if ((m->fields & HY_FLOW_SRC) != 0) {
		mask->src_addr = rte_cpu_to_be_32(prefix_mask(m->src_len));
		spec->src_addr = rte_cpu_to_be_32(m->src) & mask->src_addr;
	}
	if ((m->fields & HY_FLOW_DST) != 0) {
		mask->dst_addr = rte_cpu_to_be_32(prefix_mask(m->dst_len));
		spec->dst_addr = rte_cpu_to_be_32(m->dst) & mask->dst_addr;
	}
	if ((m->fields & HY_FLOW_DSCP) != 0) {
		mask->type_of_service = 0xfc;
		spec->type_of_service = (uint8_t)(m->dscp << 2);
	}
	if ((m->fields & HY_FLOW_PROTO) != 0 && proto) {
		mask->next_proto_id = 0xff;
		spec->next_proto_id = m->proto;
	}
	if (whole)
		mask->fragment_offset = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	item_add(out, RTE_FLOW_ITEM_TYPE_IPV4, &out->spec.ip4, &out->mask.ip4,
		sizeof(out->mask.ip4));
}

static void
lower_l4(const struct hy_flow_match *m, enum hy_flow_pattern pattern, struct hy_flow_lowered *out)
{
	static const enum rte_flow_item_type item[] = {
		[HY_FLOW_PATTERN_TCP] = RTE_FLOW_ITEM_TYPE_TCP,
		[HY_FLOW_PATTERN_UDP] = RTE_FLOW_ITEM_TYPE_UDP,
		[HY_FLOW_PATTERN_SCTP] = RTE_FLOW_ITEM_TYPE_SCTP,
	};
	const bool tunnel = (m->fields & HY_FLOW_TUNNEL) != 0;
	struct rte_udp_hdr *spec = &out->spec.l4.udp.hdr, *mask = &out->mask.l4.udp.hdr;

	if ((m->fields & HY_FLOW_SPORT) != 0) {
		mask->src_port = RTE_BE16(0xffff);
		spec->src_port = rte_cpu_to_be_16(m->sport[0]);
	}
	if (tunnel || (m->fields & HY_FLOW_DPORT) != 0) {
		mask->dst_port = RTE_BE16(0xffff);
		spec->dst_port = rte_cpu_to_be_16(tunnel ? HY_FLOW_VXLAN_PORT : m->dport[0]);
	}
	item_add(out, item[pattern], &out->spec.l4, &out->mask.l4, sizeof(out->mask.l4));
	if (!tunnel)
		return;
	out->spec.vxlan.hdr.vx_vni = rte_cpu_to_be_32(m->tunnel << 8);
	out->mask.vxlan.hdr.vx_vni = RTE_BE32(0xffffff00);
	item_add(out, RTE_FLOW_ITEM_TYPE_VXLAN, &out->spec.vxlan, &out->mask.vxlan,
		sizeof(out->mask.vxlan));
}

static void
action_add(struct hy_flow_lowered *out, enum rte_flow_action_type type, const void *conf)
{
	struct rte_flow_action *action = &out->actions[out->nb_actions++];

	action->type = type;
	action->conf = conf;
}

/*
 * Names the port's types and key explicitly: the defaults of mlx5 are RTE_ETH_RSS_IP and a built-in
 * key (net/mlx5/mlx5_flow.c, flow_list_create(); mlx5_flow_dv.c, flow_dv_translate();
 * mlx5_flow_hw.c, flow_hw_tir_action_register()).
 */
static void
lower_fate(const struct hy_flow_spread *spread, struct hy_flow_lowered *out)
{
	if (spread->nb_queues > 1) {
		for (uint16_t q = 0; q < spread->nb_queues; q++)
			out->queues[q] = q;
		out->rss.queue = out->queues;
		out->rss.queue_num = spread->nb_queues;
		out->rss.types = spread->types & ~RTE_ETH_RSS_LEVEL_MASK;
		out->rss.level = (uint32_t)RTE_ETH_RSS_LEVEL(spread->types);
		if (spread->key_len > 0) {
			memcpy(out->key, spread->key, spread->key_len);
			out->rss.key = out->key;
			out->rss.key_len = spread->key_len;
		}
		action_add(out, RTE_FLOW_ACTION_TYPE_RSS, &out->rss);
	} else {
		action_add(out, RTE_FLOW_ACTION_TYPE_QUEUE, &out->queue);
	}
	action_add(out, RTE_FLOW_ACTION_TYPE_END, NULL);
}

/* A rule that matches every packet. */
static void
lower_any(struct hy_flow_lowered *out)
{
	memset(out, 0, sizeof(*out));
	out->attr.ingress = 1;
	item_add(out, RTE_FLOW_ITEM_TYPE_ETH, &out->spec.eth, &out->mask.eth,
		sizeof(out->mask.eth));
	item_add(out, RTE_FLOW_ITEM_TYPE_END, NULL, NULL, 0);
}

void
hy_flow_limits_declared(const struct hy_flow_driver *driver, struct hy_flow_limits *limits)
{
	const uint32_t ip4 = (driver->fields & (HY_FLOW_IP4 & ~HY_FLOW_PROTO)) | HY_FLOW_FORM_ANY |
		(driver->prefixes ? HY_FLOW_FORM_PREFIX : 0);
	const uint32_t l4 = ip4 | (driver->fields & HY_FLOW_PORTS) | HY_FLOW_FORM_BARE |
		(driver->says_whole ? HY_FLOW_FORM_WHOLE : 0);
	const unsigned int tags = (driver->fields & HY_FLOW_VLAN) != 0 ? 2 : 1;

	*limits = (struct hy_flow_limits){
		.mark_max = driver->mark_max,
		.priorities = driver->priorities,
		.whole_tags = driver->whole_tags,
		.drops = driver->drops,
		.reason = "as the driver declares",
	};
	for (unsigned int tag = 0; tag < tags; tag++) {
		uint32_t *takes = limits->takes[tag];

		takes[HY_FLOW_PATTERN_L2] = (driver->fields & HY_FLOW_ETHER_TYPE) |
			HY_FLOW_FORM_ANY;
		if (driver->protocols[0] == 0)
			takes[HY_FLOW_PATTERN_IPV4] = ip4 | (driver->fields & HY_FLOW_PROTO);
		for (unsigned int p = HY_FLOW_PATTERN_TCP; p < HY_FLOW_PATTERNS; p++)
			if (driver_has_protocol(driver, hy_flow_protocols[p]))
				takes[p] = l4;
		if (takes[HY_FLOW_PATTERN_UDP] != 0)
			takes[HY_FLOW_PATTERN_UDP] |= driver->fields & HY_FLOW_TUNNEL;
	}
}

/* Everything but the actions. */
static int
lower_items(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t priority, struct hy_flow_lowered *out,
	const char **reason)
{
	const enum hy_flow_pattern pattern = pattern_of(driver, limits, match);
	const bool l4 = pattern >= HY_FLOW_PATTERN_TCP;
	/* In software fragments have no ports, not even the first one. */
	const bool wants_whole = driver->says_whole &&
		(match->fields & (HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0;
	/* The protocol of the first header excludes all tunnels but those over UDP. */
	const bool inner = driver->inner_ports && l4 &&
		(!driver->names_protocol || pattern == HY_FLOW_PATTERN_UDP);
	const bool takes_whole = (limits->takes[is_tagged(match)][pattern] & HY_FLOW_FORM_WHOLE) !=
		0;

	*reason = objection(driver, match);
	if (*reason == NULL)
		*reason = refusal(limits, match, pattern);
	if (*reason != NULL)
		return -ENOTSUP;
	memset(out, 0, sizeof(*out));
	out->attr.ingress = 1;
	out->attr.group = driver->group;
	out->attr.priority = priority;
	out->fragments = wants_whole && !takes_whole;
	/*
	 * Software finds a tunnel only with flag I. Drivers do not compare it: mlx5_flow_dv.c,
	 * flow_dv_translate_item_vxlan().
	 */
	out->wider = inner || (match->fields & HY_FLOW_TUNNEL) != 0;
	lower_l2(limits, match, out);
	if (is_ip4(match))
		lower_ip4(match, !l4 || driver->names_protocol, wants_whole && takes_whole, out);
	if (l4)
		lower_l4(match, pattern, out);
	item_add(out, RTE_FLOW_ITEM_TYPE_END, NULL, NULL, 0);
	return 0;
}

int
hy_flow_lower(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t mark, uint32_t priority,
	const struct hy_flow_spread *spread, struct hy_flow_lowered *out, const char **reason)
{
	static const struct hy_flow_spread first = { .nb_queues = 1 };
	int rc = lower_items(driver, limits, match, priority, out, reason);

	if (rc == 0 && spread->nb_queues > HY_FLOW_QUEUES) {
		*reason = "the port has more receive queues than a rule spreads packets over";
		rc = -ENOTSUP;
	}
	if (rc != 0)
		return rc;
	out->mark.id = mark;
	action_add(out, RTE_FLOW_ACTION_TYPE_MARK, &out->mark);
	/* What types of 0 mean is the driver's choice (rte_flow.rst, RSS). A port without RSS has queue 0. */
	if (driver->fate == HY_FLOW_FATE_RSS)
		lower_fate(spread->types == 0 && strcmp(driver->driver, "*") == 0 ? &first : spread,
			out);
	else
		action_add(out, RTE_FLOW_ACTION_TYPE_END, NULL);
	return 0;
}

/* COUNT has a conf though it says nothing: net/ice copies it (ice_fdir_filter.c, ice_fdir_parse_action()). */
int
hy_flow_lower_drop(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t priority, struct hy_flow_lowered *out,
	const char **reason)
{
	int rc = lower_items(driver, limits, match, priority, out, reason);

	if (rc != 0)
		return rc;
	if (!limits->drops)
		*reason = "the port takes no rule that drops packets and counts them";
	else if (out->fragments)
		*reason = "the port would also drop fragments, which have no ports";
	else if (out->wider)
		*reason = "the port would also drop packets in tunnels, or other ones";
	if (*reason != NULL)
		return -ENOTSUP;
	action_add(out, RTE_FLOW_ACTION_TYPE_COUNT, &out->count);
	action_add(out, RTE_FLOW_ACTION_TYPE_DROP, NULL);
	action_add(out, RTE_FLOW_ACTION_TYPE_END, NULL);
	return 0;
}

int
hy_flow_lower_default(const struct hy_flow_driver *driver, const struct hy_flow_spread *spread,
	struct hy_flow_lowered *out)
{
	if (spread->nb_queues > HY_FLOW_QUEUES)
		return -ENOTSUP;
	lower_any(out);
	out->attr.group = driver->group;
	out->attr.priority = driver->priorities;
	lower_fate(spread, out);
	return 0;
}

void
hy_flow_lower_jump(const struct hy_flow_driver *driver, uint32_t priority,
	const struct rte_ether_addr *to, struct hy_flow_lowered *out)
{
	lower_any(out);
	if (to != NULL) {
		out->spec.eth.hdr.dst_addr = *to;
		memset(&out->mask.eth.hdr.dst_addr, 0xff, sizeof(*to));
		out->items[0].spec = &out->spec.eth;
		out->items[0].mask = &out->mask.eth;
	}
	out->attr.priority = priority;
	out->jump.group = driver->group;
	action_add(out, RTE_FLOW_ACTION_TYPE_JUMP, &out->jump);
	action_add(out, RTE_FLOW_ACTION_TYPE_END, NULL);
}

/* The headers that a NIC's parser must find in a packet to match a rule. */
#define TYPED 1
#define PORTS 2
#define TUNNEL 4

static unsigned int
headers_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *m)
{
	const bool typed = is_ip4(m) || (m->fields & HY_FLOW_ETHER_TYPE) != 0;
	const bool l4 = (m->fields & (HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0 ||
		pattern_of(driver, limits, m) >= HY_FLOW_PATTERN_TCP;

	return (typed ? TYPED : 0) | (l4 ? PORTS : 0) |
		((m->fields & HY_FLOW_TUNNEL) != 0 ? TUNNEL : 0);
}

/*
 * Parsers, software's included, differ for two tags, for a TCP header truncated after its ports,
 * and for malformed tunnels. The mark of the lower rule proves that the NIC found that rule's
 * headers, but no others. So the upper rule must not need a header that the lower one does not
 * need. Drivers also differ in how patterns with and without a VLAN item match tagged frames.
 */
bool
hy_flow_sees_all_of(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *upper, const struct hy_flow_match *lower)
{
	return is_tagged(upper) == is_tagged(lower) &&
		(headers_of(driver, limits, upper) & ~headers_of(driver, limits, lower)) == 0;
}
