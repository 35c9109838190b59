/* SPDX-License-Identifier: BSD-3-Clause */
/* Extracts the fields of a frame that rules can match. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vxlan.h>
#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

#include "key.h"

#define TAGS_MAX 2
#define ETHER_TYPE_QINQ_OLD 0x9100 /* a tag stacked outside, from before 802.1ad */
#define VXLAN_HAS_VNI 0x08         /* the flag I of RFC 7348 */

/* Least bytes of headers. */
#define PORTS_SIZE 4
#define SCTP_SIZE 12
#define ICMP_SIZE 8
#define ICMP6_SIZE 4
#define EXTENSION_SIZE 8

static inline uint16_t
read_be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t
read_be32(const uint8_t *at)
{
	return (uint32_t)read_be16(at) << 16 | read_be16(at + 2);
}

/* Reads two bytes more than the address has. */
static inline uint64_t
read_mac(const uint8_t *at)
{
	rte_be64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return rte_be_to_cpu_64(bytes) >> 16;
}

static inline bool
is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ ||
		type == ETHER_TYPE_QINQ_OLD;
}

/* Always 0: a header is cut or malformed. */
static uint32_t
truncated(struct hy_flow_key *key)
{
	key->has |= HY_FLOW_TRUNCATED;
	return 0;
}

/* Reads the addresses and the ether type after the tags. Returns where that header starts, or 0. */
static inline uint32_t
key_l2(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	uint32_t at = RTE_ETHER_HDR_LEN;
	uint16_t type;

	if (unlikely(len < at))
		return truncated(key);
	key->has = HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC;
	key->dst_mac = read_mac(frame);
	key->src_mac = read_mac(frame + RTE_ETHER_ADDR_LEN);
	type = read_be16(frame + at - 2);
	for (unsigned int tags = 0; is_tag(type) && tags < TAGS_MAX; tags++) {
		if (len < at + RTE_VLAN_HLEN)
			return truncated(key);
		if (tags == 0) {
			key->has |= HY_FLOW_VLAN;
			key->vlan = read_be16(frame + at) & 0xfff;
		}
		type = read_be16(frame + at + 2);
		at += RTE_VLAN_HLEN;
	}
	key->has |= HY_FLOW_ETHER_TYPE;
	key->ether_type = type;
	return at;
}

/* VXLAN behind a UDP header. Its port is a convention: without its header, nothing is cut. */
static inline void
key_tunnel(const uint8_t *vxlan, uint32_t left, struct hy_flow_key *key)
{
	if (key->dport != HY_FLOW_VXLAN_PORT || left < sizeof(struct rte_vxlan_hdr) ||
		(vxlan[0] & VXLAN_HAS_VNI) == 0)
		return;
	key->has |= HY_FLOW_TUNNEL;
	key->tunnel = read_be32(vxlan + 4) >> 8;
}

static inline void
key_flags(uint8_t flags, struct hy_flow_key *key)
{
	key->has |= HY_FLOW_TCP_FLAGS;
	if ((flags & (RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)) != 0)
		key->has |= HY_FLOW_ESTABLISHED;
	key->tcp_flags = flags;
}

static inline void
key_icmp(const uint8_t *icmp, uint32_t left, uint32_t least, struct hy_flow_key *key)
{
	if (left < least)
		truncated(key);
	if (left < 2)
		return;
	key->has |= HY_FLOW_ICMP;
	key->icmp_type = icmp[0];
	key->icmp_code = icmp[1];
}

/* TCP, UDP and SCTP start with their ports. */
static __rte_always_inline void
key_ports(const uint8_t *l4, uint32_t left, bool ip4, struct hy_flow_key *key)
{
	const uint32_t least = key->proto == IPPROTO_TCP ? sizeof(struct rte_tcp_hdr)
		: key->proto == IPPROTO_UDP              ? sizeof(struct rte_udp_hdr)
							 : SCTP_SIZE;

	if (unlikely(left < least)) {
		truncated(key);
		if (left < PORTS_SIZE)
			return;
	}
	key->has |= HY_FLOW_PORTS;
	key->sport = read_be16(l4);
	key->dport = read_be16(l4 + 2);
	if (key->proto == IPPROTO_TCP && left > offsetof(struct rte_tcp_hdr, tcp_flags))
		key_flags(l4[offsetof(struct rte_tcp_hdr, tcp_flags)], key);
	else if (ip4 && key->proto == IPPROTO_UDP && left > least)
		key_tunnel(l4 + least, left - least, key);
}

/* Reads what stands `left` bytes before the end of a frame of IPv4 or IPv6. */
static __rte_always_inline void
key_l4(const uint8_t *l4, uint32_t left, bool ip4, struct hy_flow_key *key)
{
	if (key->proto == IPPROTO_TCP || key->proto == IPPROTO_UDP || key->proto == IPPROTO_SCTP)
		key_ports(l4, left, ip4, key);
	else if (key->proto == (ip4 ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		key_icmp(l4, left, ip4 ? ICMP_SIZE : ICMP6_SIZE, key);
}

static __rte_always_inline void
key_ip4(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flow_key *key)
{
	const uint8_t *ip = frame + at;
	uint32_t header;
	uint16_t offset;

	if (len < at + sizeof(struct rte_ipv4_hdr)) {
		truncated(key);
		return;
	}
	header = (ip[0] & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	if (ip[0] >> 4 != IPVERSION || header < sizeof(struct rte_ipv4_hdr) || len < at + header) {
		truncated(key);
		return;
	}
	key->has |= HY_FLOW_IPV4 | HY_FLOW_IP;
	key->dscp = ip[offsetof(struct rte_ipv4_hdr, type_of_service)] >> 2;
	key->proto = ip[offsetof(struct rte_ipv4_hdr, next_proto_id)];
	key->src = read_be32(ip + offsetof(struct rte_ipv4_hdr, src_addr));
	key->dst = read_be32(ip + offsetof(struct rte_ipv4_hdr, dst_addr));
	offset = read_be16(ip + offsetof(struct rte_ipv4_hdr, fragment_offset)) &
		(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG);
	if (likely(offset == 0)) {
		key->fragment = HY_FLOW_NO_FRAGMENT;
		key_l4(ip + header, len - at - header, true, key);
	} else {
		key->fragment = (offset & RTE_IPV4_HDR_OFFSET_MASK) == 0 ? HY_FLOW_FIRST_FRAGMENT
									 : HY_FLOW_LATER_FRAGMENT;
	}
}

/* Headers between IPv6 and what it carries (RFC 8200, section 4; RFC 4302). */
static inline bool
is_extension(uint8_t next)
{
	const uint64_t extensions = UINT64_C(1) << IPPROTO_HOPOPTS |
		UINT64_C(1) << IPPROTO_ROUTING | UINT64_C(1) << IPPROTO_FRAGMENT |
		UINT64_C(1) << IPPROTO_AH | UINT64_C(1) << IPPROTO_DSTOPTS;

	return next < 64 && (extensions >> next & 1) != 0;
}

static inline uint32_t
extension_size(uint8_t type, uint8_t units)
{
	if (type == IPPROTO_FRAGMENT)
		return EXTENSION_SIZE;
	return type == IPPROTO_AH ? (units + 2u) * 4 : (units + 1u) * 8;
}

/* Always 0: what the packet carries is not known. */
static uint32_t
unknown(struct hy_flow_key *key)
{
	key->fragment = HY_FLOW_UNKNOWN_FRAGMENT;
	return 0;
}

/*
 * Walks the extension headers, of which `next` is the first. A fragment header in later fragments is
 * the last one that can be read: it names the header that the first fragment has behind its own.
 * Returns the offset after them; 0: a fragment, or unknown.
 */
static uint32_t
key_extensions(const uint8_t *frame, uint32_t len, uint32_t at, uint8_t next,
	struct hy_flow_key *key)
{
	const uint32_t end = at + HY_FLOW_EXTENSION_BYTES;

	for (unsigned int n = 0; is_extension(next); n++) {
		const uint8_t type = next;
		uint32_t size;

		if (n == HY_FLOW_EXTENSIONS)
			return unknown(key);
		if (len < at + EXTENSION_SIZE)
			return unknown(key) + truncated(key);
		size = extension_size(type, frame[at + 1]);
		if (len < at + size)
			return unknown(key) + truncated(key);
		if (at + size > end)
			return unknown(key);
		next = frame[at];
		if (type == IPPROTO_FRAGMENT) {
			const uint16_t offset = read_be16(frame + at + 2);

			if ((offset & RTE_IPV6_EHDR_FO_MASK) != 0) {
				key->fragment = HY_FLOW_LATER_FRAGMENT;
				break;
			}
			if ((offset & RTE_IPV6_EHDR_MF_MASK) != 0)
				key->fragment = HY_FLOW_FIRST_FRAGMENT;
		}
		at += size;
	}
	if (is_extension(next))
		return 0;
	key->has |= HY_FLOW_PROTO;
	key->proto = next;
	return key->fragment == HY_FLOW_NO_FRAGMENT ? at : 0;
}

/* Apart, so that keys of IPv4 need fewer registers. */
static __rte_noinline void
key_ip6(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flow_key *key)
{
	const uint8_t *ip = frame + at;

	if (len < at + sizeof(struct rte_ipv6_hdr) || ip[0] >> 4 != 6) {
		truncated(key);
		return;
	}
	key->has |= HY_FLOW_IPV6 | (HY_FLOW_IP & ~HY_FLOW_PROTO);
	key->dscp = read_be16(ip) >> 6 & 0x3f;
	for (unsigned int word = 0; word < 4; word++) {
		key->src6[word] = read_be32(ip + 8 + 4 * word);
		key->dst6[word] = read_be32(ip + 24 + 4 * word);
	}
	key->fragment = HY_FLOW_NO_FRAGMENT;
	at = key_extensions(frame, len, at + (uint32_t)sizeof(struct rte_ipv6_hdr),
		ip[offsetof(struct rte_ipv6_hdr, proto)], key);
	if (at != 0)
		key_l4(frame + at, len - at, false, key);
}

void
policy_key_any(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	uint32_t at;

	*key = (struct hy_flow_key){ 0 };
	at = key_l2(frame, len, key);
	if (at == 0)
		return;
	if (key->ether_type == RTE_ETHER_TYPE_IPV4)
		key_ip4(frame, len, at, key);
	else if (key->ether_type == RTE_ETHER_TYPE_IPV6)
		key_ip6(frame, len, at, key);
}

#define PLAIN_VERSION 0x45 /* IPv4 without options */
#define PLAIN_L4 (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))
#define PLAIN_LEN (PLAIN_L4 + sizeof(struct rte_tcp_hdr))

/*
 * Whether a frame is what most are: IPv4 in Ethernet without a tag, options or fragments, and with
 * enough bytes for every header that may follow.
 */
static inline bool
is_plain(const uint8_t *frame, uint32_t len)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN;

	/* The ether type and the version are three bytes of one word. */
	return len >= PLAIN_LEN &&
		read_be32(ip - 2) >> 8 == (RTE_ETHER_TYPE_IPV4 << 8 | PLAIN_VERSION) &&
		(read_be16(ip + offsetof(struct rte_ipv4_hdr, fragment_offset)) &
			(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG)) == 0;
}

typedef uint64_t __attribute__((may_alias)) key_word;

/* A word that has two values, or four, in the order of memory. */
static inline uint64_t
pair(uint32_t first, uint32_t second)
{
	return RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? first | (uint64_t)second << 32
						   : (uint64_t)first << 32 | second;
}

static inline uint32_t
half(uint16_t first, uint16_t second)
{
	return RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? first | (uint32_t)second << 16
						   : (uint32_t)first << 16 | second;
}

static inline uint16_t
quarter(uint8_t first, uint8_t second)
{
	return RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? (uint16_t)(first | second << 8)
						   : (uint16_t)(first << 8 | second);
}

/* What protocols have: masks, since a branch by the protocol is often mispredicted. */
static const struct {
	uint32_t ports;
	uint16_t has;
	uint8_t flags, reserved;
} plain[256] = {
	[IPPROTO_TCP] = { UINT32_MAX, HY_FLOW_PORTS | HY_FLOW_TCP_FLAGS, UINT8_MAX, 0 },
	[IPPROTO_UDP] = { UINT32_MAX, HY_FLOW_PORTS, 0, 0 },
	[IPPROTO_SCTP] = { UINT32_MAX, HY_FLOW_PORTS, 0, 0 },
};

/* The addresses of both layers, in words 1 to 6 of a key. */
static inline void
addresses_plain(const uint8_t *frame, key_word *to)
{
	const uint8_t *src = frame + RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv4_hdr, src_addr);
#ifdef __SSSE3__
	const __m128i first = _mm_setr_epi8(3, 2, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		-1);
	const __m128i second = _mm_setr_epi8(7, 6, 5, 4, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		-1);
	const __m128i macs = _mm_setr_epi8(11, 10, 9, 8, 7, 6, -1, -1, 5, 4, 3, 2, 1, 0, -1, -1);
	const __m128i ip = _mm_loadl_epi64((const __m128i *)src);

	_mm_storeu_si128((__m128i *)&to[1], _mm_shuffle_epi8(ip, first));
	_mm_storeu_si128((__m128i *)&to[3], _mm_shuffle_epi8(ip, second));
	_mm_storeu_si128((__m128i *)&to[5],
		_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)frame), macs));
#else
	to[1] = pair(read_be32(src), 0);
	to[2] = 0;
	to[3] = pair(read_be32(src + 4), 0);
	to[4] = 0;
	to[5] = read_mac(frame + RTE_ETHER_ADDR_LEN);
	to[6] = read_mac(frame);
#endif
}

/*
 * Of such a frame, with few branches, and written once word by word: a key with all fields of
 * IPv6 is long, and stores are what it costs.
 */
static inline void
key_plain(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN, *l4 = frame + PLAIN_L4;
	const uint8_t dscp = ip[offsetof(struct rte_ipv4_hdr, type_of_service)] >> 2;
	const uint8_t proto = ip[offsetof(struct rte_ipv4_hdr, next_proto_id)];
	const uint8_t flags = l4[offsetof(struct rte_tcp_hdr, tcp_flags)] & plain[proto].flags;
	const uint32_t ports = read_be32(l4) & plain[proto].ports;
	const uint32_t has = plain[proto].has | HY_FLOW_SRC_MAC | HY_FLOW_DST_MAC |
		HY_FLOW_ETHER_TYPE | HY_FLOW_IPV4 | HY_FLOW_IP |
		((flags & (RTE_TCP_ACK_FLAG | RTE_TCP_RST_FLAG)) != 0 ? HY_FLOW_ESTABLISHED : 0);
	key_word *to = (key_word *)key;

	to[0] = pair(has, 0);
	addresses_plain(frame, to);
	to[7] = pair(half(RTE_ETHER_TYPE_IPV4, 0), half((uint16_t)(ports >> 16), (uint16_t)ports));
	to[8] = pair(half(quarter(proto, dscp), quarter(HY_FLOW_NO_FRAGMENT, flags)), 0);
	if (unlikely(((uint64_t)proto << 16 | (ports & UINT16_MAX)) ==
		    (IPPROTO_UDP << 16 | HY_FLOW_VXLAN_PORT)))
		key_tunnel(l4 + sizeof(struct rte_udp_hdr),
			len - (uint32_t)(PLAIN_L4 + sizeof(struct rte_udp_hdr)), key);
	else if (unlikely(proto == IPPROTO_ICMP))
		key_icmp(l4, ICMP_SIZE, ICMP_SIZE, key);
}

_Static_assert(offsetof(struct hy_flow_key, src) == 8 && offsetof(struct hy_flow_key, dst) == 24 &&
		offsetof(struct hy_flow_key, src_mac) == 40 &&
		offsetof(struct hy_flow_key, ether_type) == 56 &&
		offsetof(struct hy_flow_key, proto) == 64 && sizeof(struct hy_flow_key) == 72,
	"key_plain() writes these words");

void
hy_flow_key(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	if (likely(is_plain(frame, len)))
		key_plain(frame, len, key);
	else
		policy_key_any(frame, len, key);
}
