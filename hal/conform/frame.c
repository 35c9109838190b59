/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: random ones, which are mostly valid, and adversarial ones, which are at the limits. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_random.h>

#include "conform.h"

#define VXLAN_PORT 4789
#define ETHER_TYPE_QINQ_OLD 0x9100

static uint32_t
below(uint32_t n)
{
	return (uint32_t)rte_rand_max(n);
}

static void
random_bytes(uint8_t *bytes, uint32_t n)
{
	for (uint32_t at = 0; at < n; at += sizeof(uint64_t)) {
		const uint64_t word = rte_rand();

		memcpy(bytes + at, &word, RTE_MIN(n - at, (uint32_t)sizeof(word)));
	}
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* The IPv4 header of a frame without tags. */
static struct rte_ipv4_hdr *
ip4(struct hy_suite_packet *packet)
{
	return (struct rte_ipv4_hdr *)(packet->bytes + RTE_ETHER_HDR_LEN);
}

/* Sets the checksum of a header with its IHL, even if the header is invalid. */
static void
ip4_sum(struct rte_ipv4_hdr *ip)
{
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ~rte_raw_cksum(ip, rte_ipv4_hdr_len(ip));
}

/* Most packets in networks are either short or of full size. */
static uint32_t
payload_length(void)
{
	switch (below(8)) {
	case 0:
		return 1400 + below(200);
	case 1:
		return below(600);
	default:
		return below(80);
	}
}

/* Writes an IPv4 header after the Ethernet header, and sets the frame's length. */
static void
ip4_write(struct hy_suite_packet *packet, uint32_t header, uint32_t payload)
{
	static const uint8_t protocols[] = { IPPROTO_UDP, IPPROTO_UDP, IPPROTO_TCP, IPPROTO_TCP,
		IPPROTO_ICMP, IPPROTO_ESP, IPPROTO_GRE, IPPROTO_IPIP };
	struct rte_ipv4_hdr *ip = ip4(packet);
	uint8_t *behind = (uint8_t *)ip + header;

	put16(packet->bytes + 12, RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = (uint8_t)(IPVERSION << 4 | header / RTE_IPV4_IHL_MULTIPLIER);
	ip->total_length = rte_cpu_to_be_16((uint16_t)(header + payload));
	ip->time_to_live = (uint8_t)(2 + below(254));
	ip->next_proto_id = protocols[below(RTE_DIM(protocols))];
	/* One in eight is a fragment. */
	ip->fragment_offset = below(8) == 0 ? rte_cpu_to_be_16((uint16_t)below(1 << 14)) : 0;
	ip->dst_addr = rte_cpu_to_be_32(0x01000000 + below(0xdf000000 - 0x01000000));
	if (payload >= 36 && below(16) == 0) { /* VXLAN, for rules on tunnels */
		ip->next_proto_id = IPPROTO_UDP;
		put16(behind + 2, VXLAN_PORT);
		memcpy(behind + 8, (const uint8_t[]){ 0x08, 0, 0, 0 }, 4);
	}
	ip4_sum(ip);
	packet->len = RTE_ETHER_HDR_LEN + header + payload;
	if (packet->len < 60 && below(2) == 0) /* padded */
		packet->len = 60;
}

/* A frame that can mostly be forwarded. */
static void
random_frame(struct hy_suite_packet *packet)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_VLAN, RTE_ETHER_TYPE_QINQ,
		ETHER_TYPE_QINQ_OLD, RTE_ETHER_TYPE_ARP, RTE_ETHER_TYPE_IPV6, RTE_ETHER_TYPE_LLDP,
		46 };
	const uint32_t header = 20 + (below(4) == 0 ? 4 * below(11) : 0);
	const uint32_t payload = payload_length();

	random_bytes(packet->bytes, RTE_ETHER_HDR_LEN + header + payload + 60);
	packet->bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	ip4_write(packet, header, payload);
	if (below(32) == 0)
		packet->bytes[0] |= RTE_ETHER_GROUP_ADDR;
	if (below(16) == 0)
		put16(packet->bytes + 12, types[below(RTE_DIM(types))]);
	if (below(32) == 0 && packet->len + 4 < HY_SUITE_FRAME_MAX) { /* tagged */
		memmove(packet->bytes + 16, packet->bytes + 12, packet->len - 12);
		put16(packet->bytes + 12, RTE_ETHER_TYPE_VLAN);
		put16(packet->bytes + 14, below(4096));
		packet->len += 4;
	}
}

/* Changes to a valid frame. */

static void
twist_length(struct hy_suite_packet *packet)
{
	static const uint8_t ends[] = { 0, 1, 6, 12, 13, 14, 15, 18, 33, 34, 35, 38, 41, 42, 59, 60,
		64, 74 };

	packet->len = RTE_MIN(packet->len, (uint32_t)ends[below(RTE_DIM(ends))]);
}

static void
twist_cut(struct hy_suite_packet *packet)
{
	packet->len = below(packet->len + 1);
}

static void
twist_version_ihl(struct hy_suite_packet *packet)
{
	ip4(packet)->version_ihl = below(2) ? (uint8_t)(0x40 | below(16)) : (uint8_t)rte_rand();
	ip4_sum(ip4(packet));
}

/* Near the length of the header, near that of the frame, and at the limits. */
static void
twist_total_length(struct hy_suite_packet *packet)
{
	const uint32_t header = rte_ipv4_hdr_len(ip4(packet));
	const uint32_t lengths[] = { 0, 19, 20, header - 1, header, header + 1,
		packet->len - RTE_ETHER_HDR_LEN - 1, packet->len - RTE_ETHER_HDR_LEN,
		packet->len - RTE_ETHER_HDR_LEN + 1, 0xffff };

	ip4(packet)->total_length = rte_cpu_to_be_16((uint16_t)lengths[below(RTE_DIM(lengths))]);
	ip4_sum(ip4(packet));
}

static void
twist_ttl(struct hy_suite_packet *packet)
{
	static const uint8_t ttls[] = { 0, 1, 2, 3, 127, 128, 254, 255 };

	ip4(packet)->time_to_live = ttls[below(RTE_DIM(ttls))];
	ip4_sum(ip4(packet));
}

/* A valid checksum where the sum nearly carries: the identification compensates. */
static void
twist_checksum_carry(struct hy_suite_packet *packet)
{
	static const uint16_t sums[] = { 0x0000, 0x0001, 0x00ff, 0x0100, 0xfeff, 0xff00, 0xfffe,
		0xfefe };
	struct rte_ipv4_hdr *ip = ip4(packet);
	uint32_t rest;

	ip->packet_id = 0;
	ip->hdr_checksum = rte_cpu_to_be_16(sums[below(RTE_DIM(sums))]);
	rest = rte_raw_cksum(ip, rte_ipv4_hdr_len(ip));
	ip->packet_id = (uint16_t)~rest;
}

/* A wrong checksum: by a bit, by a carry, or one of the two representations of zero. */
static void
twist_checksum_wrong(struct hy_suite_packet *packet)
{
	const uint16_t right = rte_be_to_cpu_16(ip4(packet)->hdr_checksum);
	const uint16_t wrong[] = { (uint16_t)(right + 1), (uint16_t)(right - 1),
		(uint16_t)(right ^ 1u << below(16)), (uint16_t)(right + 0x100), 0x0000, 0xffff,
		rte_bswap16(right), (uint16_t)~right };

	ip4(packet)->hdr_checksum = rte_cpu_to_be_16(wrong[below(RTE_DIM(wrong))]);
}

static void
twist_address(struct hy_suite_packet *packet)
{
	static const uint32_t nets[] = { 0x00000000, 0x00ffffff, 0x01000000, 0x7effffff, 0x7f000000,
		0x7fffffff, 0x80000000, 0xdfffffff, 0xe0000000, 0xefffffff, 0xf0000000,
		0xffffffff };

	ip4(packet)->dst_addr = rte_cpu_to_be_32(nets[below(RTE_DIM(nets))]);
	ip4_sum(ip4(packet));
}

static void
twist_type(struct hy_suite_packet *packet)
{
	static const uint16_t types[] = { 0x0000, 0x0008, 0x0600, 0x07ff, 0x0801, 0x8000, 0x8100,
		0x88a8, 0x9100, 0x9200, 0x86dd, 0xffff };

	put16(packet->bytes + 12, types[below(RTE_DIM(types))]);
}

static void
twist_group(struct hy_suite_packet *packet)
{
	memset(packet->bytes, below(2) ? 0xff : 0x01, RTE_ETHER_ADDR_LEN);
}

static void
twist_ports(struct hy_suite_packet *packet)
{
	static const uint16_t ports[] = { 0, 1, 53, 1023, 1024, VXLAN_PORT - 1, VXLAN_PORT,
		VXLAN_PORT + 1, 0xffff };
	uint8_t *behind = (uint8_t *)ip4(packet) + rte_ipv4_hdr_len(ip4(packet));

	put16(behind, ports[below(RTE_DIM(ports))]);
	put16(behind + 2, ports[below(RTE_DIM(ports))]);
}

static void
twist_bit(struct hy_suite_packet *packet)
{
	packet->bytes[below(64)] ^= (uint8_t)(1u << below(8));
}

static void
twist_fill(struct hy_suite_packet *packet)
{
	memset(packet->bytes, below(2) ? 0xff : 0x00, packet->len);
}

static void
twist_noise(struct hy_suite_packet *packet)
{
	random_bytes(packet->bytes, packet->len);
}

static void
adversarial_frame(struct hy_suite_packet *packet)
{
	static void (*const twists[])(struct hy_suite_packet * packet) = { twist_version_ihl,
		twist_total_length, twist_ttl, twist_checksum_carry, twist_checksum_carry,
		twist_checksum_wrong, twist_address, twist_type, twist_group, twist_ports,
		twist_bit, twist_fill, twist_noise };
	static void (*const ends[])(struct hy_suite_packet * packet) = { twist_length, twist_cut };

	random_frame(packet);
	if (below(4) == 0) { /* two faults in one frame: which takes precedence? */
		twists[below(RTE_DIM(twists))](packet);
		ip4(packet)->version_ihl |= 0x45; /* twists rely on a header of 20 bytes or more */
	}
	if (below(4) != 0)
		twists[below(RTE_DIM(twists))](packet);
	if (below(3) == 0)
		ends[below(RTE_DIM(ends))](packet);
}

/* Short packets to random destinations, which cost a router most. */
static void
typical_frame(struct hy_suite_packet *packet)
{
	random_bytes(packet->bytes, 64);
	packet->bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	ip4_write(packet, sizeof(struct rte_ipv4_hdr), 26);
	packet->len = 60;
}

void
conform_frame(enum hy_suite_kind kind, const struct hy_frames *captures,
	struct hy_suite_packet *packet)
{
	uint32_t i;

	memset(packet->lanes, 0, sizeof(packet->lanes));
	memset(packet->wide, 0, sizeof(packet->wide));
	packet->packet_type = 0;
	packet->mark = 0;
	packet->mark_flags = 0;
	packet->port = RTE_MBUF_PORT_INVALID;
	packet->tight = false;
	switch (kind) {
	case HY_SUITE_ADVERSARIAL:
		adversarial_frame(packet);
		return;
	case HY_SUITE_CAPTURED:
		i = below(captures->n);
		packet->len = RTE_MIN(captures->len[i], (uint32_t)HY_SUITE_FRAME_MAX);
		memcpy(packet->bytes, captures->bytes[i], packet->len);
		return;
	case HY_SUITE_TYPICAL:
		typical_frame(packet);
		return;
	case HY_SUITE_PASSING: /* its suite makes it pass */
	default:
		random_frame(packet);
	}
}
