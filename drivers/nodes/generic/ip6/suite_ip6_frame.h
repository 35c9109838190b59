/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes frames of the suites IPv6 packets. */
#pragma once

#include <string.h>

#include <netinet/in.h>

#include <rte_random.h>

#include <hy_conform.h>
#include <hy_ip6_lookup.h>

static inline uint8_t *
suite_ip6_at(struct hy_suite_packet *packet, size_t at)
{
	return packet->bytes + RTE_ETHER_HDR_LEN + at;
}

/*
 * Makes a frame one that pkt_cls passes as IPv6, with any next header and a hop limit that is mostly
 * enough. Addresses stay, if they may be forwarded.
 */
static inline void
suite_ip6_mend(struct hy_suite_packet *packet)
{
	static const uint8_t type[] = { RTE_ETHER_TYPE_IPV6 >> 8, RTE_ETHER_TYPE_IPV6 & 0xff };
	static const uint8_t next[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMPV6,
		IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_DSTOPTS, IPPROTO_NONE };
	uint8_t *hops = suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, hop_limits));
	uint8_t *proto = suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, proto));
	uint8_t *length = suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, payload_len));
	uint32_t payload;

	packet->len = RTE_MAX(packet->len, (uint32_t)HY_IP6_LOOKUP_HEADERS);
	packet->bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	memcpy(packet->bytes + offsetof(struct rte_ether_hdr, ether_type), type, sizeof(type));
	*suite_ip6_at(packet, 0) = (uint8_t)(0x60 | (rte_rand() & 0xf));
	payload = packet->len - (uint32_t)HY_IP6_LOOKUP_HEADERS;
	payload -= RTE_MIN(payload, rte_rand_max(4) == 0 ? (uint32_t)rte_rand_max(8) : 0);
	*proto = next[rte_rand_max(RTE_DIM(next))];
	if (payload == 0 && *proto == IPPROTO_HOPOPTS)
		*proto = IPPROTO_NONE;
	length[0] = (uint8_t)(payload >> 8);
	length[1] = (uint8_t)payload;
	if (*hops < 3 && rte_rand_max(2) == 0)
		*hops = 64;
	for (size_t at = offsetof(struct rte_ipv6_hdr, src_addr); at < sizeof(struct rte_ipv6_hdr);
		at += HY_IP6_BYTES)
		if (*suite_ip6_at(packet, at) >= 0xfe || *suite_ip6_at(packet, at) == 0)
			*suite_ip6_at(packet, at) = 0x20;
}

static inline void
suite_ip6_put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* One fault, or what is nearly one. */
static inline void
suite_ip6_twist(struct hy_suite_packet *packet)
{
	/* The first 16 bits of addresses at the limits of fe80::/10 and ff00::/8. */
	static const uint16_t starts[] = { 0xfe7f, 0xfe80, 0xfebf, 0xfec0, 0xfeff, 0xff00, 0xffff,
		0x0000 };
	uint8_t *address = suite_ip6_at(packet, 8 + 16 * (size_t)rte_rand_max(2));
	const uint32_t payload = packet->len - (uint32_t)HY_IP6_LOOKUP_HEADERS;

	switch (rte_rand_max(6)) {
	case 0:
		*suite_ip6_at(packet, 0) = (uint8_t)rte_rand();
		break;
	case 1:
		suite_ip6_put16(suite_ip6_at(packet, 4), payload + (uint32_t)rte_rand_max(3) - 1);
		break;
	case 2: /* a jumbogram */
		suite_ip6_put16(suite_ip6_at(packet, 4), 0);
		*suite_ip6_at(packet, 6) = IPPROTO_HOPOPTS;
		break;
	case 3: /* :: and its neighbours */
		memset(address, 0, HY_IP6_BYTES);
		address[rte_rand_max(4) == 0 ? rte_rand_max(HY_IP6_BYTES) : 15] = (uint8_t)
			rte_rand_max(4);
		break;
	case 4:
		suite_ip6_put16(address, starts[rte_rand_max(RTE_DIM(starts))]);
		break;
	default:
		packet->len -= RTE_MIN(packet->len, (uint32_t)rte_rand_max(64));
	}
}
