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
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include "lower.h"

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

/* The first byte is the highest of 48 bits. */
static void
mac_set(uint64_t value, struct rte_ether_addr *mac)
{
	for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		mac->addr_bytes[i] = (uint8_t)(value >> 8 * (RTE_ETHER_ADDR_LEN - 1 - i));
}

static void
lower_l2(const struct hy_flow_limits *limits, const struct hy_flow_match *m,
	struct hy_flow_lowered *out)
{
	/* The next item implies the type of IP: drivers refuse it here. */
	const bool type = (m->fields & HY_FLOW_ETHER_TYPE) != 0 && hy_flow_ip_of(m) == 0;
	const bool tag = hy_flow_is_tagged(m);

	/* Without the field, both are 0. */
	mac_set(m->src_mac, &out->spec.eth.hdr.src_addr);
	mac_set(m->src_mac_mask, &out->mask.eth.hdr.src_addr);
	mac_set(m->dst_mac, &out->spec.eth.hdr.dst_addr);
	mac_set(m->dst_mac_mask, &out->mask.eth.hdr.dst_addr);
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
lower_ip4(const struct hy_flow_match *m, uint8_t proto, bool whole, struct hy_flow_lowered *out)
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
	mask->next_proto_id = proto;
	spec->next_proto_id = (uint8_t)(m->proto & proto);
	if (whole)
		mask->fragment_offset = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	item_add(out, RTE_FLOW_ITEM_TYPE_IPV4, &out->spec.ip4, &out->mask.ip4,
		sizeof(out->mask.ip4));
}

static void
address_set(const uint32_t address[4], uint8_t len, void *spec, void *mask)
{
	rte_be32_t words[2][4];

	for (unsigned int i = 0; i < 4; i++, len = (uint8_t)(len - RTE_MIN(len, 32))) {
		words[0][i] = rte_cpu_to_be_32(address[i]);
		words[1][i] = rte_cpu_to_be_32(prefix_mask(RTE_MIN(len, 32)));
	}
	memcpy(spec, words[0], sizeof(words[0]));
	memcpy(mask, words[1], sizeof(words[1]));
}

static void
lower_ip6(const struct hy_flow_match *m, uint8_t proto, bool whole, struct hy_flow_lowered *out)
{
	struct rte_ipv6_hdr *spec = &out->spec.ip6.hdr, *mask = &out->mask.ip6.hdr;

	if ((m->fields & HY_FLOW_SRC) != 0)
		address_set(m->src6, m->src_len, &spec->src_addr, &mask->src_addr);
	if ((m->fields & HY_FLOW_DST) != 0)
		address_set(m->dst6, m->dst_len, &spec->dst_addr, &mask->dst_addr);
	if ((m->fields & HY_FLOW_DSCP) != 0) {
		mask->vtc_flow = RTE_BE32(0x0fc00000);
		spec->vtc_flow = rte_cpu_to_be_32((uint32_t)m->dscp << 22);
	}
	mask->proto = proto;
	spec->proto = m->proto & proto;
	out->mask.ip6.has_frag_ext = whole;
	item_add(out, RTE_FLOW_ITEM_TYPE_IPV6, &out->spec.ip6, &out->mask.ip6,
		sizeof(out->mask.ip6));
}

static void
lower_ports(const struct hy_flow_match *m, struct rte_udp_hdr *spec, struct rte_udp_hdr *mask)
{
	const bool tunnel = (m->fields & HY_FLOW_TUNNEL) != 0;

	if ((m->fields & HY_FLOW_SPORT) != 0) {
		mask->src_port = RTE_BE16(0xffff);
		spec->src_port = rte_cpu_to_be_16(m->sport[0]);
	}
	if (tunnel || (m->fields & HY_FLOW_DPORT) != 0) {
		mask->dst_port = RTE_BE16(0xffff);
		spec->dst_port = rte_cpu_to_be_16(tunnel ? HY_FLOW_VXLAN_PORT : m->dport[0]);
	}
}

/* ICMP and ICMPv6 begin alike. */
static void
lower_icmp(const struct hy_flow_match *m, struct rte_flow_item_icmp6 *spec,
	struct rte_flow_item_icmp6 *mask)
{
	if ((m->fields & HY_FLOW_ICMP_TYPE) != 0) {
		mask->type = 0xff;
		spec->type = m->icmp_type[0];
	}
	if ((m->fields & HY_FLOW_ICMP_CODE) != 0) {
		mask->code = 0xff;
		spec->code = m->icmp_code[0];
	}
}

static void
lower_l4(const struct hy_flow_match *m, enum hy_flow_pattern pattern, struct hy_flow_lowered *out)
{
	const struct hy_flow_pattern_items *items = &hy_flow_patterns[pattern];

	if ((items->fields & HY_FLOW_ICMP) != 0)
		lower_icmp(m, &out->spec.l4.icmp6, &out->mask.l4.icmp6);
	else
		lower_ports(m, &out->spec.l4.udp.hdr, &out->mask.l4.udp.hdr);
	if ((m->fields & HY_FLOW_TCP_FLAGS) != 0) {
		out->spec.l4.tcp.hdr.tcp_flags = m->tcp_flags;
		out->mask.l4.tcp.hdr.tcp_flags = m->tcp_mask;
	}
	item_add(out, items->item, &out->spec.l4, &out->mask.l4, sizeof(out->mask.l4));
	if ((m->fields & HY_FLOW_TUNNEL) == 0)
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

/* Says where hardware matches more packets than the rule. */
static void
doubts(const struct hy_flow_driver *driver, const struct hy_flow_match *m,
	enum hy_flow_pattern pattern, bool lacks_whole, struct hy_flow_lowered *out)
{
	const struct hy_flow_pattern_items *items = &hy_flow_patterns[pattern];
	/* The protocol of the first header excludes all tunnels but those over UDP. */
	const bool inner = driver->inner_ports && items->proto != 0 &&
		(!driver->names_protocol || items->item == RTE_FLOW_ITEM_TYPE_UDP);

	/* Readers look for ports to tell fragments: ICMP has none. */
	out->fragments = lacks_whole && (items->fields & HY_FLOW_PORTS) != 0;
	/*
	 * Software finds a tunnel only with flag I. Drivers do not compare it: mlx5_flow_dv.c,
	 * flow_dv_translate_item_vxlan().
	 */
	out->wider = inner || (m->fields & HY_FLOW_TUNNEL) != 0 || (lacks_whole && !out->fragments);
}

/* Everything but the actions. */
static int
lower_items(const struct hy_flow_driver *driver, const struct hy_flow_limits *limits,
	const struct hy_flow_match *match, uint32_t priority, struct hy_flow_lowered *out,
	const char **reason)
{
	const enum hy_flow_pattern pattern = hy_flow_pattern_of(driver, limits, match);
	const struct hy_flow_pattern_items *items = &hy_flow_patterns[pattern];
	const bool l4 = items->proto != 0;
	/* In software fragments have no fields behind IP, not even the first one. */
	const bool wants_whole = driver->says_whole &&
		(match->fields &
			(HY_FLOW_PORTS | HY_FLOW_TUNNEL | HY_FLOW_TCP_FLAGS | HY_FLOW_ICMP)) != 0;
	const bool takes_whole = (limits->takes[hy_flow_is_tagged(match)][pattern] &
					 HY_FLOW_FORM_WHOLE) != 0;
	const bool named = (match->fields & HY_FLOW_PROTO) != 0 && (!l4 || driver->names_protocol);

	*reason = hy_flow_objection(driver, limits, match, pattern);
	if (*reason != NULL)
		return -ENOTSUP;
	memset(out, 0, sizeof(*out));
	out->attr.ingress = 1;
	out->attr.group = driver->group;
	out->attr.priority = priority;
	doubts(driver, match, pattern, wants_whole && !takes_whole, out);
	lower_l2(limits, match, out);
	if (items->ip == HY_FLOW_IPV4)
		lower_ip4(match, named ? 0xff : 0, wants_whole && takes_whole, out);
	else if (items->ip == HY_FLOW_IPV6)
		lower_ip6(match, named ? 0xff : 0, wants_whole && takes_whole, out);
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
