/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes keys of frames: one pass over the headers, as far as masks look. */

#include <assert.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include <hy_flows_key.h>

#include "lib/flows/internal/headers.h"

#include "flows_plain.h"

#define TAGS_MAX 2

/* Least bytes of headers. */
#define PORTS_SIZE 4
#define SCTP_SIZE 12
#define ICMP_SIZE 8
#define ICMP6_SIZE 4

/* Always 0: a header is cut or malformed, and nothing behind it is read. */
static inline uint32_t
truncated(struct hy_flows_key *key)
{
	key->kind |= HY_FLOWS_TRUNCATED;
	return 0;
}

/* Reads addresses, tags and the ether type. Returns where the next header starts, or 0. */
static __rte_always_inline uint32_t
read_link(const uint8_t *frame, uint32_t len, uint32_t parse, struct hy_flows_key *key)
{
	uint32_t at = RTE_ETHER_HDR_LEN;
	rte_be16_t type;

	if (unlikely(len < at))
		return truncated(key);
	if ((parse & HY_FLOWS_PARSE_MAC) != 0) {
		memcpy(key->dst_mac, frame, sizeof(key->dst_mac));
		memcpy(key->src_mac, frame + RTE_ETHER_ADDR_LEN, sizeof(key->src_mac));
	}
	type = flow_load16(frame + at - 2);
	for (unsigned int tags = 0; flow_is_tag(type) && tags < TAGS_MAX; tags++) {
		if (len < at + RTE_VLAN_HLEN)
			return truncated(key);
		if ((parse & HY_FLOWS_PARSE_MAC) != 0)
			*(tags == 0 ? &key->vlan : &key->vlan2) = flow_load16(frame + at) |
				HY_FLOWS_TAGGED;
		type = flow_load16(frame + at + 2);
		at += RTE_VLAN_HLEN;
	}
	key->type = type;
	return at;
}

/* Reads IPv4. Returns where what it carries starts; 0: a fragment, or truncated. */
static __rte_always_inline uint32_t
read_ip4(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flows_key *key)
{
	const uint8_t *ip = frame + at;
	rte_be16_t offset;
	uint32_t header;

	if (len < at + sizeof(struct rte_ipv4_hdr))
		return truncated(key);
	header = (ip[0] & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	if (ip[0] >> 4 != IPVERSION || header < sizeof(struct rte_ipv4_hdr) || len < at + header)
		return truncated(key);
	key->kind |= HY_FLOWS_IP;
	key->tos = ip[offsetof(struct rte_ipv4_hdr, type_of_service)];
	key->ttl = ip[offsetof(struct rte_ipv4_hdr, time_to_live)];
	key->proto = ip[offsetof(struct rte_ipv4_hdr, next_proto_id)];
	memcpy(&key->src, ip + offsetof(struct rte_ipv4_hdr, src_addr), 4);
	memcpy(&key->dst, ip + offsetof(struct rte_ipv4_hdr, dst_addr), 4);
	offset = flow_load16(ip + offsetof(struct rte_ipv4_hdr, fragment_offset));
	if (likely((offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG)) == 0))
		return at + header;
	key->kind |= (offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) == 0 ? HY_FLOWS_FIRST_FRAGMENT
									: HY_FLOWS_LATER_FRAGMENT;
	return 0;
}

/* Always 0: what the packet carries is not known. */
static uint32_t
unknown(struct hy_flows_key *key)
{
	key->kind &= (uint8_t)~HY_FLOWS_FIRST_FRAGMENT;
	key->kind |= HY_FLOWS_UNKNOWN_FRAGMENT;
	return 0;
}

/* Of several fragment headers, the last one that says something counts. */
static void
note_fragment(const uint8_t *header, struct hy_flows_key *key)
{
	const uint16_t offset = rte_be_to_cpu_16(flow_load16(header + 2));

	if ((offset & RTE_IPV6_EHDR_FO_MASK) != 0) {
		key->kind &= (uint8_t)~HY_FLOWS_FIRST_FRAGMENT;
		key->kind |= HY_FLOWS_LATER_FRAGMENT;
	} else if ((offset & RTE_IPV6_EHDR_MF_MASK) != 0) {
		key->kind |= HY_FLOWS_FIRST_FRAGMENT;
	}
}

/*
 * Walks the extension headers, of which `next` is the first. A fragment header in later fragments is
 * the last one that can be read. Returns where what the packet carries starts; 0: a fragment, or
 * unknown.
 */
static uint32_t
walk_extensions(const uint8_t *frame, uint32_t len, uint32_t at, uint8_t next,
	struct hy_flows_key *key)
{
	const uint32_t end = at + FLOW_EXTENSION_BYTES;

	for (unsigned int n = 0; flow_is_extension(next); n++) {
		const uint8_t type = next;
		uint32_t size;

		if (n == FLOW_EXTENSIONS)
			return unknown(key);
		if (len < at + FLOW_EXTENSION_SIZE ||
			len < at + flow_extension_size(type, frame[at + 1]))
			return unknown(key) + truncated(key);
		size = flow_extension_size(type, frame[at + 1]);
		if (at + size > end)
			return unknown(key);
		next = frame[at];
		if (type == IPPROTO_FRAGMENT)
			note_fragment(frame + at, key);
		if ((key->kind & HY_FLOWS_LATER_FRAGMENT) != 0)
			break;
		at += size;
	}
	if (flow_is_extension(next)) /* behind a later fragment: which protocol is not known */
		return 0;
	key->proto = next;
	return (key->kind & (HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT)) == 0 ? at : 0;
}

/* Reads IPv6. Returns as read_ip4() does. Apart, so that keys of IPv4 need fewer registers. */
static __rte_noinline uint32_t
read_ip6(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flows_key *key)
{
	const uint8_t *ip = frame + at;

	if (len < at + sizeof(struct rte_ipv6_hdr) || ip[0] >> 4 != 6)
		return truncated(key);
	key->kind |= HY_FLOWS_IP;
	key->tos = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
	key->ttl = ip[offsetof(struct rte_ipv6_hdr, hop_limits)];
	memcpy(key->src6, ip + offsetof(struct rte_ipv6_hdr, src_addr), sizeof(key->src6));
	memcpy(key->dst6, ip + offsetof(struct rte_ipv6_hdr, dst_addr), sizeof(key->dst6));
	return walk_extensions(frame, len, at + (uint32_t)sizeof(struct rte_ipv6_hdr),
		ip[offsetof(struct rte_ipv6_hdr, proto)], key);
}

/* Reads ARP of IPv4 over Ethernet (RFC 826). An operation that 8 bits do not hold reads as 0. */
static __rte_noinline void
read_arp(const uint8_t *arp, uint32_t left, struct hy_flows_key *key)
{
	static const uint8_t kind[] = { 0, RTE_ARP_HRD_ETHER, 0x08, 0x00, 6, 4 };
	const uint8_t *operation = arp + offsetof(struct rte_arp_hdr, arp_opcode);

	if (left < sizeof(struct rte_arp_hdr) || memcmp(arp, kind, sizeof(kind)) != 0)
		return;
	key->proto = operation[0] == 0 ? operation[1] : 0;
	memcpy(&key->src, arp + offsetof(struct rte_arp_hdr, arp_data.arp_sip), 4);
	memcpy(&key->dst, arp + offsetof(struct rte_arp_hdr, arp_data.arp_tip), 4);
}

/* Returns whether the header is whole. */
static __rte_always_inline bool
read_ports(const uint8_t *l4, uint32_t left, struct hy_flows_key *key)
{
	const uint32_t least = key->proto == IPPROTO_TCP ? sizeof(struct rte_tcp_hdr)
		: key->proto == IPPROTO_UDP              ? sizeof(struct rte_udp_hdr)
							 : SCTP_SIZE;

	if (likely(left >= PORTS_SIZE)) {
		key->sport = flow_load16(l4);
		key->dport = flow_load16(l4 + 2);
	}
	if (key->proto == IPPROTO_TCP && left > offsetof(struct rte_tcp_hdr, tcp_flags))
		key->tcp_flags = l4[offsetof(struct rte_tcp_hdr, tcp_flags)];
	if (unlikely(left < least))
		truncated(key);
	return left >= least;
}

static __rte_always_inline void
read_icmp(const uint8_t *icmp, uint32_t left, uint32_t least, struct hy_flows_key *key)
{
	if (left < least)
		truncated(key);
	if (left < 2)
		return;
	key->sport = rte_cpu_to_be_16(icmp[0]);
	key->dport = rte_cpu_to_be_16(icmp[1]);
}

/* Reads what IP carries. Returns where a whole UDP header ends, else 0. */
static __rte_always_inline uint32_t
read_transport(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flows_key *key)
{
	const bool ip4 = key->type == RTE_BE16(RTE_ETHER_TYPE_IPV4);
	const uint32_t left = len - at;

	switch (key->proto) {
	case IPPROTO_UDP:
		if (read_ports(frame + at, left, key))
			return at + (uint32_t)sizeof(struct rte_udp_hdr);
		break;
	case IPPROTO_TCP:
	case IPPROTO_SCTP:
		read_ports(frame + at, left, key);
		break;
	case IPPROTO_ICMP:
		if (ip4)
			read_icmp(frame + at, left, ICMP_SIZE, key);
		break;
	case IPPROTO_ICMPV6:
		if (!ip4)
			read_icmp(frame + at, left, ICMP6_SIZE, key);
		break;
	}
	return 0;
}

/* Reads the headers of a frame. Returns where a whole UDP header ends, else 0. */
static __rte_always_inline uint32_t
read_headers(const uint8_t *frame, uint32_t len, uint32_t parse, struct hy_flows_key *key)
{
	uint32_t at = read_link(frame, len, parse, key);

	if (at == 0 || (parse & (HY_FLOWS_PARSE_IP | HY_FLOWS_PARSE_L4)) == 0)
		return 0;
	if (key->type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		at = read_ip4(frame, len, at, key);
	} else if (key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		at = read_ip6(frame, len, at, key);
	} else {
		if (key->type == RTE_BE16(RTE_ETHER_TYPE_ARP))
			read_arp(frame + at, len - at, key);
		return 0;
	}
	if (at == 0 || (parse & HY_FLOWS_PARSE_L4) == 0)
		return 0;
	return read_transport(frame, len, at, key);
}

/* Replaces the key of a frame that is VXLAN by that of the frame inside, which starts at `at`. */
static __rte_noinline void
read_inside(const uint8_t *frame, uint32_t len, uint32_t at, uint32_t parse,
	struct hy_flows_key *key)
{
	const uint8_t *vxlan = frame + at;
	const struct hy_flows_key outer = *key;

	at += (uint32_t)sizeof(struct rte_vxlan_hdr);
	if (len < at || (vxlan[0] & FLOW_VXLAN_HAS_VNI) == 0)
		return;
	*key = (struct hy_flows_key){ .port = outer.port,
		.kind = HY_FLOWS_TUNNELLED,
		.tunnel_src = outer.src,
		.tunnel_dst = outer.dst };
	memcpy(key->vni, vxlan + 4, sizeof(key->vni));
	memcpy(key->tunnel_src6, outer.src6, sizeof(key->tunnel_src6));
	memcpy(key->tunnel_dst6, outer.dst6, sizeof(key->tunnel_dst6));
	read_headers(frame + at, len - at, parse, key);
}

static __rte_always_inline void
make_key(const uint8_t *frame, uint32_t len, uint16_t port, uint32_t parse,
	struct hy_flows_key *key)
{
	uint32_t at;

	memset(key, 0, sizeof(*key));
	key->port = port;
	if (likely((parse & HY_FLOWS_PARSE_TUNNEL) == 0)) {
		read_headers(frame, len, parse, key);
		return;
	}
	at = read_headers(frame, len, HY_FLOWS_PARSE_ALL, key);
	if (at != 0 && key->dport == FLOW_VXLAN_PORT)
		read_inside(frame, len, at, parse, key);
}

void
hy_flows_key(const uint8_t *frame, uint32_t len, uint16_t port, uint32_t parse,
	struct hy_flows_key *key)
{
	make_key(frame, len, port, parse, key);
}

#define PLAIN_WORDS 5 /* of a key, in which a plain frame has bits */

/* The bits of these words that are kept, and whether what is inside VXLAN is read. */
struct plain {
	uint64_t keep[PLAIN_WORDS];
	bool tunnels;
};

static struct plain
plain_of(uint32_t parse)
{
	const bool tunnels = (parse & HY_FLOWS_PARSE_TUNNEL) != 0;
	const bool l4 = tunnels || (parse & HY_FLOWS_PARSE_L4) != 0;
	const bool ip = l4 || (parse & HY_FLOWS_PARSE_IP) != 0;
	const bool link = tunnels || (parse & HY_FLOWS_PARSE_MAC) != 0;
	const uint64_t mac = link ? UINT64_MAX >> 16 : 0;

	return (struct plain){ .keep = { ip ? UINT64_MAX : UINT32_MAX, l4 ? UINT64_MAX : 0,
				       ip ? UINT64_MAX : 0, mac, mac },
		.tunnels = tunnels };
}

/* Makes the key of a frame of FLOWS_PLAIN_LEN bytes or more, as make_key() would. Returns whether it is plain. */
static __rte_always_inline bool
make_plain(const uint8_t *frame, uint16_t port, const struct plain *plain, struct hy_flows_key *key)
{
	const uint64_t start = flow_load64(frame + 12), ip = flow_load64(frame + 16);
	const uint64_t proto = ip >> 56, ports = flow_load64(frame + 34) & UINT32_MAX;

	if (!flows_is_plain(frame) || (plain->tunnels && ports >> 16 == FLOW_VXLAN_PORT))
		return false;
	key->words[0] = (port | (start & UINT16_MAX) << 16 | proto << 32 |
				(uint64_t)HY_FLOWS_IP << 40 | (start >> 24 & UINT8_MAX) << 48 |
				(ip >> 48) << 56) &
		plain->keep[0];
	key->words[1] = (ports | (uint64_t)(frame[47] & -(proto == IPPROTO_TCP)) << 32) &
		plain->keep[1];
	key->words[2] = flow_load64(frame + 26) & plain->keep[2];
	key->words[3] = flow_load64(frame) & plain->keep[3];
	key->words[4] = flow_load64(frame + 6) & plain->keep[4];
	memset(&key->words[PLAIN_WORDS], 0, sizeof(*key) - PLAIN_WORDS * sizeof(uint64_t));
	return true;
}

/* Apart, so that the loop over plain frames needs fewer registers. */
static __rte_noinline void
make_any(const struct rte_mbuf *m, uint32_t parse, struct hy_flows_key *key)
{
	const uint32_t len = rte_pktmbuf_pkt_len(m);
	uint8_t copy[HY_FLOWS_HEADERS];

	make_key(rte_pktmbuf_read(m, 0, RTE_MIN(len, (uint32_t)HY_FLOWS_HEADERS), copy), len,
		m->port, parse, key);
}

void
hy_flows_keys(struct rte_mbuf *const mbufs[], uint32_t parse, struct hy_flows_key key[], uint32_t n)
{
	const struct plain plain = plain_of(parse);

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint32_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = mbufs[i];

		if (unlikely(rte_pktmbuf_data_len(m) < FLOWS_PLAIN_LEN ||
			    !make_plain(rte_pktmbuf_mtod(m, const uint8_t *), m->port, &plain,
				    &key[i])))
			make_any(m, parse, &key[i]);
	}
}

uint32_t
hy_flows_parse_of(const struct hy_flows_key *mask)
{
	const struct hy_flows_key link = { .words = { [3] = UINT64_MAX, [4] = UINT64_MAX } };
	struct hy_flows_key l4 = { .sport = UINT16_MAX,
		.dport = UINT16_MAX,
		.tcp_flags = UINT8_MAX,
		.kind = HY_FLOWS_TRUNCATED };
	struct hy_flows_key ip = { .proto = UINT8_MAX,
		.kind = UINT8_MAX & ~HY_FLOWS_TUNNELLED,
		.tos = UINT8_MAX,
		.ttl = UINT8_MAX };
	const struct hy_flows_key none = { 0 };
	uint32_t parse = 0;

	for (uint32_t i = 2; i < 10; i++)
		if (i != 3 && i != 4 && i != 5)
			ip.words[i] = UINT64_MAX;
	if (!hy_flows_equal(mask, &none, &link))
		parse |= HY_FLOWS_PARSE_MAC;
	if (!hy_flows_equal(mask, &none, &l4))
		parse |= HY_FLOWS_PARSE_L4 | HY_FLOWS_PARSE_IP;
	if (!hy_flows_equal(mask, &none, &ip))
		parse |= HY_FLOWS_PARSE_IP;
	return parse;
}
