/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches by chance, and frames that fit them. */

#include <netinet/in.h>

#include <rte_common.h>
#include <rte_random.h>

#include <hy_flow_cls_node.h>

#include "suite_flow_match.h"

#define THIRD_TAG 0x8100 /* an ether type after two tags */

uint32_t
hy_suite_flow_number(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* A prefix that matches often, or rarely if narrow. */
static uint32_t
prefix(uint32_t *x, bool narrow, uint8_t *len)
{
	*len = (uint8_t)(1 +
		hy_suite_flow_number(x) % (narrow || hy_suite_flow_number(x) % 3 == 0 ? 32 : 6));
	if (narrow)
		*len = (uint8_t)RTE_MAX(*len, 8);
	return (hy_suite_flow_number(x) << 16 ^ hy_suite_flow_number(x)) &
		UINT32_MAX << (32 - *len);
}

/* A range of ports; one in four begins at 0. */
static void
range(uint32_t *x, uint16_t ports[2])
{
	ports[0] = hy_suite_flow_number(x) % 4 == 0 ? 0 : (uint16_t)hy_suite_flow_number(x);
	ports[1] = (uint16_t)(ports[0] + hy_suite_flow_number(x) % (UINT16_MAX - ports[0] + 1));
}

struct hy_flow_match
hy_suite_flow_match(uint32_t *x, bool narrow)
{
	static const uint16_t types[] = { 0x0800, 0x0806, 0x86dd, THIRD_TAG };
	static const uint8_t protocols[] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_SCTP };
	const uint32_t fields = hy_suite_flow_number(x);
	struct hy_flow_match match = { 0 };

	if (hy_suite_flow_number(x) % 8 == 0) {
		match.fields = HY_FLOW_ETHER_TYPE | (fields & HY_FLOW_VLAN);
		match.ether_type = types[hy_suite_flow_number(x) % RTE_DIM(types)];
	} else if (hy_suite_flow_number(x) % 8 == 0) {
		match.fields = HY_FLOW_TUNNEL;
		match.tunnel = hy_suite_flow_number(x) & 0xffffff;
	} else {
		match.fields = fields & (HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DSCP);
		if (match.fields == 0 || narrow) /* else it would match too many packets */
			match.fields = HY_FLOW_DST;
		if (hy_suite_flow_number(x) % 4 == 0)
			match.fields |= HY_FLOW_VLAN;
	}
	if (match.fields & HY_FLOW_SRC)
		match.src = prefix(x, narrow, &match.src_len);
	if (match.fields & HY_FLOW_DST)
		match.dst = prefix(x, narrow, &match.dst_len);
	if (match.fields & HY_FLOW_PROTO) {
		match.proto = protocols[hy_suite_flow_number(x) % RTE_DIM(protocols)];
		match.fields |= fields & HY_FLOW_PORTS;
	}
	if (match.fields & HY_FLOW_VLAN)
		match.vlan = (uint16_t)(1 + hy_suite_flow_number(x) % 4094);
	if (match.fields & HY_FLOW_DSCP)
		match.dscp = (uint8_t)(hy_suite_flow_number(x) % 64);
	if (match.fields & HY_FLOW_SPORT)
		range(x, match.sport);
	if (match.fields & HY_FLOW_DPORT)
		range(x, match.dport);
	return match;
}

static void
put(uint8_t *at, uint32_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

/* Writes the tags and the ether type. One tagged frame in four has two tags. Returns what follows. */
static uint8_t *
tags_write(const struct hy_flow_match *match, uint8_t *frame)
{
	static const uint16_t outer[] = { 0x8100, 0x88a8, 0x9100 };
	const bool third = (match->fields & HY_FLOW_ETHER_TYPE) != 0 &&
		match->ether_type == THIRD_TAG;
	const bool tagged = (match->fields & HY_FLOW_VLAN) != 0 || third;
	const bool two = third || (tagged && rte_rand_max(4) == 0);
	uint8_t *at = frame + 12;

	if (tagged) {
		put(at, two ? outer[rte_rand_max(RTE_DIM(outer))] : 0x8100, 2);
		put(at + 2, match->vlan, 2);
		at += 4;
	}
	if (two) {
		put(at, 0x8100, 2);
		put(at + 2, match->vlan ^ 1, 2);
		at += 4;
	}
	put(at,
		match->fields & HY_FLOW_ETHER_TYPE     ? match->ether_type
			: match->fields & HY_FLOW_IPV6 ? 0x86dd
						       : 0x0800,
		2);
	return at + 2;
}

/* Returns where the next header starts. */
static uint8_t *
ip4_write(const struct hy_flow_match *match, uint8_t *ip)
{
	static const uint16_t offsets[] = { [HY_FLOW_NO_FRAGMENT] = 0,
		[HY_FLOW_FIRST_FRAGMENT] = 0x2000,
		[HY_FLOW_LATER_FRAGMENT] = 0x0101 };
	const uint8_t proto = hy_suite_flow_proto(match);

	ip[0] = 0x45;
	put(ip + 6, offsets[hy_suite_flow_fragment(match)], 2);
	if (match->fields & HY_FLOW_DSCP)
		ip[1] = (uint8_t)(match->dscp << 2);
	if (proto != 0)
		ip[9] = proto;
	if (match->fields & HY_FLOW_SRC)
		put(ip + 12, match->src | (uint32_t)(rte_rand() >> 32 >> match->src_len), 4);
	if (match->fields & HY_FLOW_DST)
		put(ip + 16, match->dst | (uint32_t)(rte_rand() >> 32 >> match->dst_len), 4);
	return ip + 20;
}

uint8_t *
hy_suite_flow_write(const struct hy_flow_match *match, struct hy_suite_packet *packet)
{
	uint8_t *ip = tags_write(match, packet->bytes);
	const unsigned int last = (unsigned int)rte_rand_max(2);
	uint8_t *l4;

	hy_suite_flow_macs_write(match, packet->bytes);
	l4 = match->fields & HY_FLOW_IPV6 ? hy_suite_flow_ip6_write(match, ip)
					  : ip4_write(match, ip);
	if (match->fields & (HY_FLOW_IPV6 | HY_FLOW_TCP | HY_FLOW_ICMP))
		hy_suite_flow_l4_write(match, l4, packet);
	if (match->fields & HY_FLOW_SPORT)
		put(l4, match->sport[last], 2);
	if (match->fields & HY_FLOW_DPORT)
		put(l4 + 2, match->dport[last], 2);
	if (match->fields & HY_FLOW_TUNNEL) {
		put(l4 + 2, HY_FLOW_VXLAN_PORT, 2);
		put(l4 + 8, 0x08000000, 4);
		put(l4 + 12, match->tunnel, 3);
	}
	return ip;
}

static void
bit_flip(uint8_t *bytes, unsigned int bit)
{
	bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

void
hy_suite_flow_miss(const struct hy_flow_match *match, struct hy_suite_packet *packet)
{
	uint8_t *ip = hy_suite_flow_write(match, packet);
	const bool ip6 = (match->fields & HY_FLOW_IPV6) != 0;

	switch (rte_rand_max(4)) {
	case 0:
		if ((match->fields & HY_FLOW_SRC) != 0)
			bit_flip(ip + (ip6 ? 8 : 12), match->src_len - 1u);
		return;
	case 1:
		if ((match->fields & HY_FLOW_DST) != 0)
			bit_flip(ip + (ip6 ? 24 : 16), match->dst_len - 1u);
		return;
	case 2:
		if ((match->fields & HY_FLOW_PORTS) != 0)
			packet->len = (uint32_t)(ip - packet->bytes) + 20 +
				(uint32_t)rte_rand_max(4);
		return;
	default:
		bit_flip(packet->bytes + 12, (unsigned int)rte_rand_max(44 * 8));
	}
}
