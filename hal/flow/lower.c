/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lowering: a rule of the policy becomes the rte_flow rule that a driver takes.
 *
 * Only what hardware compares as software does is lowered: a rule that it would match more widely
 * is refused, one that it matches more narrowly is not, since what it overlooks goes to software.
 */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_policy_view.h>

#include "hy_flow.h"

static bool
is_ip4(const struct hy_flow_match *m)
{
	return (m->fields & (HY_FLOW_IP4 | HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0 ||
		((m->fields & HY_FLOW_ETHER_TYPE) != 0 && m->ether_type == RTE_ETHER_TYPE_IPV4);
}

/* The protocol that a rule is for, also where a tunnel implies it; 0: any. */
static uint8_t
protocol(const struct hy_flow_match *m)
{
	if ((m->fields & HY_FLOW_TUNNEL) != 0)
		return IPPROTO_UDP;
	return (m->fields & HY_FLOW_PROTO) != 0 ? m->proto : 0;
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
	/* A tunnel's destination port is known, whatever range the rule names. */
	return ((m->fields & HY_FLOW_SPORT) != 0 && m->sport[0] != m->sport[1]) ||
		((m->fields & (HY_FLOW_DPORT | HY_FLOW_TUNNEL)) == HY_FLOW_DPORT &&
			m->dport[0] != m->dport[1]);
}

/* Why a driver cannot take a rule; NULL: it can. */
static const char *
objection(const struct hy_flow_driver *driver, const struct hy_flow_match *m)
{
	const uint8_t proto = protocol(m);

	if ((m->fields & ~driver->fields) != 0)
		return "the driver does not match one of its fields";
	if ((driver->needs & ~m->fields) != 0)
		return "the driver wants fields that the rule does not name";
	if (is_range(m))
		return "a range of ports";
	if (is_prefix(m) && !driver->prefixes)
		return "the driver matches whole addresses only";
	if ((m->fields & HY_FLOW_PORTS) != 0 && proto != IPPROTO_TCP && proto != IPPROTO_UDP &&
		proto != IPPROTO_SCTP)
		return "ports, and not one of the protocols TCP, UDP and SCTP";
	if (is_ip4(m) && !driver_has_protocol(driver, proto))
		return "the driver has a table for each protocol, and none for the rule's";
	return NULL;
}

/* Appends an item; an all-zero mask means that the item need only be there. */
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
lower_l2(const struct hy_flow_driver *driver, const struct hy_flow_match *m,
	struct hy_flow_lowered *out)
{
	/* What is IPv4 is said by the item that follows: drivers refuse its type here. */
	const bool type = (m->fields & HY_FLOW_ETHER_TYPE) != 0 && !is_ip4(m);
	const bool tag = (m->fields & HY_FLOW_VLAN) != 0;

	if (type && !tag) {
		out->spec.eth.hdr.ether_type = rte_cpu_to_be_16(m->ether_type);
		out->mask.eth.hdr.ether_type = RTE_BE16(0xffff);
	}
	item_add(out, RTE_FLOW_ITEM_TYPE_ETH, &out->spec.eth, &out->mask.eth,
		sizeof(out->mask.eth));
	if (!tag)
		return;
	out->spec.vlan.hdr.vlan_tci = rte_cpu_to_be_16(m->vlan);
	out->mask.vlan.hdr.vlan_tci = driver->whole_tags ? RTE_BE16(0xffff) : RTE_BE16(0x0fff);
	if (type) {
		out->spec.vlan.hdr.eth_proto = rte_cpu_to_be_16(m->ether_type);
		out->mask.vlan.hdr.eth_proto = RTE_BE16(0xffff);
	}
	item_add(out, RTE_FLOW_ITEM_TYPE_VLAN, &out->spec.vlan, &out->mask.vlan,
		sizeof(out->mask.vlan));
}

static void
lower_ip4(const struct hy_flow_driver *driver, const struct hy_flow_match *m, bool l4,
	struct hy_flow_lowered *out)
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
	if ((m->fields & HY_FLOW_PROTO) != 0 && !l4) {
		mask->next_proto_id = 0xff;
		spec->next_proto_id = m->proto;
	}
	/* A fragment has no ports in software, not even the first one. */
	if (l4 && driver->says_whole)
		mask->fragment_offset = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	item_add(out, RTE_FLOW_ITEM_TYPE_IPV4, &out->spec.ip4, &out->mask.ip4,
		sizeof(out->mask.ip4));
}

static enum rte_flow_item_type
l4_item(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return RTE_FLOW_ITEM_TYPE_TCP;
	case IPPROTO_SCTP:
		return RTE_FLOW_ITEM_TYPE_SCTP;
	default:
		return RTE_FLOW_ITEM_TYPE_UDP;
	}
}

static void
lower_l4(const struct hy_flow_match *m, struct hy_flow_lowered *out)
{
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
	item_add(out, l4_item(protocol(m)), &out->spec.l4, &out->mask.l4, sizeof(out->mask.l4));
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
 * The port's own types and key, explicitly: mlx5 takes others for granted, RTE_ETH_RSS_IP and a key
 * that is built in (net/mlx5/mlx5_flow.c, flow_list_create(); mlx5_flow_dv.c, flow_dv_translate();
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

int
hy_flow_lower(const struct hy_flow_driver *driver, const struct hy_flow_match *match, uint32_t mark,
	uint32_t priority, const struct hy_flow_spread *spread, struct hy_flow_lowered *out,
	const char **reason)
{
	const bool l4 = (match->fields & (HY_FLOW_PORTS | HY_FLOW_TUNNEL)) != 0 ||
		(driver->protocols[0] != 0 && is_ip4(match));

	*reason = objection(driver, match);
	if (*reason == NULL && spread->nb_queues > HY_FLOW_QUEUES)
		*reason = "the port has more receive queues than a rule spreads packets over";
	if (*reason != NULL)
		return -ENOTSUP;
	memset(out, 0, sizeof(*out));
	out->attr.ingress = 1;
	out->attr.group = driver->group;
	out->attr.priority = priority;
	lower_l2(driver, match, out);
	if (is_ip4(match))
		lower_ip4(driver, match, l4, out);
	if (l4)
		lower_l4(match, out);
	item_add(out, RTE_FLOW_ITEM_TYPE_END, NULL, NULL, 0);
	out->mark.id = mark;
	action_add(out, RTE_FLOW_ACTION_TYPE_MARK, &out->mark);
	if (driver->fate == HY_FLOW_FATE_RSS)
		lower_fate(spread, out);
	else
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
	struct hy_flow_lowered *out)
{
	lower_any(out);
	out->attr.priority = priority;
	out->jump.group = driver->group;
	action_add(out, RTE_FLOW_ACTION_TYPE_JUMP, &out->jump);
	action_add(out, RTE_FLOW_ACTION_TYPE_END, NULL);
}

/* Headers that a NIC's parser has to find in a packet before it can compare what a rule asks for. */
#define TYPED 1
#define PORTS 2
#define TUNNEL 4

static unsigned int
headers_of(const struct hy_flow_match *m)
{
	const bool tunnel = (m->fields & HY_FLOW_TUNNEL) != 0;

	return (is_ip4(m) || (m->fields & HY_FLOW_ETHER_TYPE) != 0 ? TYPED : 0) |
		(tunnel || (m->fields & HY_FLOW_PORTS) != 0 ? PORTS : 0) | (tunnel ? TUNNEL : 0);
}

/*
 * Parsers differ in what they make of two tags, of a TCP header that is cut off behind its ports, of
 * a tunnel that is not well formed; software's is one of them. A packet that is marked for the lower
 * rule has shown that the NIC found that rule's headers, and nothing of others. So the upper rule may
 * need no header that the lower one does without. Patterns with and without a VLAN item differ in
 * what drivers make of tagged frames.
 */
bool
hy_flow_sees_all_of(const struct hy_flow_match *upper, const struct hy_flow_match *lower)
{
	return ((upper->fields ^ lower->fields) & HY_FLOW_VLAN) == 0 &&
		(headers_of(upper) & ~headers_of(lower)) == 0;
}
