/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets as text, and which of them are usual; see packet.h. */

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_tcp.h>

#include "packet.h"

#define FRAGMENTS (HY_FLOW_FIRST_FRAGMENT | HY_FLOW_LATER_FRAGMENT)

static const struct {
	uint8_t proto;
	const char *name;
} protocols[] = {
	{ IPPROTO_TCP, "tcp" },
	{ IPPROTO_UDP, "udp" },
	{ IPPROTO_ICMP, "icmp" },
	{ IPPROTO_ICMPV6, "icmp6" },
	{ IPPROTO_SCTP, "sctp" },
};

/* Takes out the protocols with headers that the shape lacks. Returns false if none is left. */
static bool
without_cut_protocols(struct box *part)
{
	const enum shape shape = box_shape(part);

	octets_remove(&part->proto, IPPROTO_TCP);
	if (shape == SHAPE_IP4 || shape == SHAPE_IP6) {
		octets_remove(&part->proto, IPPROTO_UDP);
		octets_remove(&part->proto, IPPROTO_SCTP);
		octets_remove(&part->proto, shape == SHAPE_IP4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	}
	return !octets_empty(&part->proto);
}

/* Leaves a range of types that are not of IP, a common one if possible. */
static bool
without_ip_types(struct box *part)
{
	static const uint32_t ranges[][2] = {
		{ RTE_ETHER_TYPE_ARP, RTE_ETHER_TYPE_ARP },
		{ RTE_ETHER_TYPE_IPV4 + 1, RTE_ETHER_TYPE_IPV6 - 1 },
		{ RTE_ETHER_TYPE_IPV6 + 1, UINT16_MAX },
		{ 0, RTE_ETHER_TYPE_IPV4 - 1 },
	};
	uint32_t *type = part->range[RANGE_TYPE];

	for (size_t i = 0; i < RTE_DIM(ranges); i++) {
		if (type[0] > ranges[i][1] || type[1] < ranges[i][0])
			continue;
		type[0] = RTE_MAX(type[0], ranges[i][0]);
		type[1] = RTE_MIN(type[1], ranges[i][1]);
		return true;
	}
	return false;
}

bool
packet_whole(const struct box *part, struct box *whole)
{
	*whole = *part;
	switch (box_shape(part)) {
	case SHAPE_CUT:
	case SHAPE_TAG:
		return false;
	case SHAPE_L2:
		return without_ip_types(whole);
	case SHAPE_IP4:
	case SHAPE_IP6:
		whole->fragments &= HY_FLOW_NO_FRAGMENT;
		if (whole->fragments != 0 && without_cut_protocols(whole))
			return true;
		*whole = *part;
		whole->fragments &= FRAGMENTS;
		return whole->fragments != 0;
	case SHAPE_PORTS4:
	case SHAPE_PORTS6:
		return without_cut_protocols(whole);
	default:
		return true;
	}
}

static void
pick_octet(struct octets *set, unsigned int value)
{
	memset(set, 0, sizeof(*set));
	octets_add(set, value);
}

static void
pick_proto(struct octets *set)
{
	unsigned int value = 0;

	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (octets_has(set, protocols[i].proto)) {
			pick_octet(set, protocols[i].proto);
			return;
		}
	}
	while (!octets_has(set, value))
		value++;
	pick_octet(set, value);
}

static void
pick_flags(struct octets *set)
{
	static const uint8_t usual[] = { RTE_TCP_SYN_FLAG, RTE_TCP_ACK_FLAG };
	unsigned int value = 0;

	for (size_t i = 0; i < RTE_DIM(usual); i++) {
		if (octets_has(set, usual[i])) {
			pick_octet(set, usual[i]);
			return;
		}
	}
	while (!octets_has(set, value))
		value++;
	pick_octet(set, value);
}

void
packet_pick(const struct box *part, struct box *packet)
{
	if (!packet_whole(part, packet))
		*packet = *part;
	for (int i = 0; i < RANGES; i++) {
		if (i == RANGE_VLAN && packet->range[i][1] == NO_VLAN)
			packet->range[i][0] = NO_VLAN;
		packet->range[i][1] = packet->range[i][0];
	}
	for (int side = 0; side < SIDES; side++) {
		packet->address[side][1] = packet->address[side][0];
		if (packet->mac_mask[side] != 0 || box_shape(packet) == SHAPE_TAG)
			packet->mac_mask[side] = (UINT64_C(1) << 48) - 1;
	}
	packet->fragments &= (uint8_t)-packet->fragments; /* the lowest: none, first, … */
	pick_proto(&packet->proto);
	pick_flags(&packet->flags);
}

static void
print_mac(const char *name, uint64_t mac)
{
	printf(" %s ", name);
	for (int shift = 40; shift >= 0; shift -= 8)
		printf("%02x%s", (unsigned int)(mac >> shift & 0xff), shift > 0 ? ":" : "");
}

static void
print_address(const char *name, wide address, bool ip6)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t word[4];

	for (int w = 0; w < 4; w++)
		word[w] = htonl((uint32_t)(address >> (96 - 32 * w)));
	printf(" %s %s", name, inet_ntop(ip6 ? AF_INET6 : AF_INET, word, text, sizeof(text)));
}

static void
print_proto(const struct octets *set, bool ip6)
{
	unsigned int value = 0;

	while (!octets_has(set, value))
		value++;
	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (protocols[i].proto == value && (value != IPPROTO_ICMPV6 || ip6)) {
			printf(" proto %s", protocols[i].name);
			return;
		}
	}
	printf(" proto %u", value);
}

static void
print_flags(const struct octets *set)
{
	static const char letters[] = "FSRPAUEC";
	unsigned int value = 0;

	while (!octets_has(set, value))
		value++;
	printf(" flags %s", value == 0 ? "none" : "");
	for (int i = 0; i < 8; i++)
		if ((value >> i & 1) != 0)
			putchar(letters[i]);
}

static void
print_ip(const struct box *packet)
{
	const enum shape shape = box_shape(packet);
	const bool ip6 = shape >= SHAPE_UNKNOWN6;

	print_address("src", packet->address[SRC][0], ip6);
	print_address("dst", packet->address[DST][0], ip6);
	if (shape != SHAPE_UNKNOWN6)
		print_proto(&packet->proto, ip6);
	if (packet->range[RANGE_DSCP][0] != 0)
		printf(" dscp %u", packet->range[RANGE_DSCP][0]);
	if (packet->fragments != HY_FLOW_NO_FRAGMENT)
		printf(" fragment %s",
			packet->fragments == HY_FLOW_FIRST_FRAGMENT           ? "first"
				: packet->fragments == HY_FLOW_LATER_FRAGMENT ? "later"
									      : "unknown");
}

static void
print_l4(const struct box *packet)
{
	const enum shape shape = box_shape(packet);

	if (shape == SHAPE_ICMP4 || shape == SHAPE_ICMP6)
		printf(" icmp %u code %u", packet->range[RANGE_ICMP_TYPE][0],
			packet->range[RANGE_ICMP_CODE][0]);
	else if (shape != SHAPE_IP4 && shape != SHAPE_IP6 && shape != SHAPE_UNKNOWN6)
		printf(" sport %u dport %u", packet->range[RANGE_SPORT][0],
			packet->range[RANGE_DPORT][0]);
	if (shape == SHAPE_TCP4 || shape == SHAPE_TCP6)
		print_flags(&packet->flags);
	if (shape == SHAPE_TUNNEL)
		printf(" tunnel %u", packet->range[RANGE_TUNNEL][0]);
}

void
packet_print(const struct box *packet)
{
	const enum shape shape = box_shape(packet);
	struct box whole;

	if (packet->range[RANGE_VLAN][0] != NO_VLAN)
		printf(" vlan %u", packet->range[RANGE_VLAN][0]);
	if (packet->mac_mask[SRC] != 0)
		print_mac("smac", packet->mac[SRC]);
	if (packet->mac_mask[DST] != 0)
		print_mac("dmac", packet->mac[DST]);
	if (shape == SHAPE_L2)
		printf(" type 0x%04x", packet->range[RANGE_TYPE][0]);
	if (shape >= SHAPE_IP4) {
		print_ip(packet);
		print_l4(packet);
	}
	if (!packet_whole(packet, &whole))
		printf(" truncated");
}
