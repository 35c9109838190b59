/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets are of one flow: what a NIC's RSS tells, or what the headers do. */

#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_jhash.h>

#include <hy_mbuf.h>

#include "mbuf_flow.h"

#define TAGS_MAX 2
/* Up to the ports of IPv6, or of IPv4 with all options that there can be. */
#define HEADERS \
	(sizeof(struct rte_ether_hdr) + TAGS_MAX * sizeof(struct rte_vlan_hdr) + 60 + \
		sizeof(uint32_t))

/* The ports of a transport header at the given place; 0 if it has none, or is cut off. */
static uint32_t
ports(const uint8_t *frame, uint32_t at, uint32_t end, uint8_t proto)
{
	uint32_t both;

	if ((proto != IPPROTO_TCP && proto != IPPROTO_UDP && proto != IPPROTO_SCTP) ||
		at + sizeof(both) > end)
		return 0;
	memcpy(&both, frame + at, sizeof(both));
	return both;
}

static uint32_t
ip4_hash(const uint8_t *frame, uint32_t at, uint32_t end)
{
	const uint16_t part = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	struct rte_ipv4_hdr ip;
	uint32_t transport = 0;

	memcpy(&ip, frame + at, sizeof(ip));
	if ((ip.fragment_offset & part) == 0)
		transport = ports(frame, at + (ip.version_ihl & 0xfu) * 4, end, ip.next_proto_id);
	return rte_jhash_3words(ip.src_addr, ip.dst_addr, transport, ip.next_proto_id);
}

static uint32_t
ip6_hash(const uint8_t *frame, uint32_t at, uint32_t end)
{
	const uint32_t addresses = at + offsetof(struct rte_ipv6_hdr, src_addr);
	const uint8_t proto = frame[at + offsetof(struct rte_ipv6_hdr, proto)];
	uint32_t key[9];

	memcpy(key, frame + addresses, 8 * sizeof(*key));
	key[8] = ports(frame, at + sizeof(struct rte_ipv6_hdr), end, proto);
	return rte_jhash_32b(key, RTE_DIM(key), proto);
}

static uint32_t
headers_hash(const struct rte_mbuf *m)
{
	const uint32_t end = RTE_MIN(m->pkt_len, (uint32_t)HEADERS);
	uint32_t at = offsetof(struct rte_ether_hdr, ether_type);
	uint8_t bounce[HEADERS];
	const uint8_t *frame = hy_mbuf_peek(m, end, bounce);
	rte_be16_t type;

	if (end < sizeof(struct rte_ether_hdr))
		return 0;
	memcpy(&type, frame + at, sizeof(type));
	for (unsigned int tag = 0; tag < TAGS_MAX; tag++) {
		if ((type != RTE_BE16(RTE_ETHER_TYPE_VLAN) &&
			    type != RTE_BE16(RTE_ETHER_TYPE_QINQ)) ||
			at + sizeof(struct rte_vlan_hdr) + sizeof(type) > end)
			break;
		at += sizeof(struct rte_vlan_hdr);
		memcpy(&type, frame + at, sizeof(type));
	}
	at += sizeof(type);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && at + sizeof(struct rte_ipv4_hdr) <= end)
		return ip4_hash(frame, at, end);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && at + sizeof(struct rte_ipv6_hdr) <= end)
		return ip6_hash(frame, at, end);
	return rte_jhash(frame, 2 * RTE_ETHER_ADDR_LEN, 0);
}

void
mbuf_flow_hash(void *const *objs, uint32_t *hash, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];

		hash[i] = (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0 ? m->hash.rss
								      : headers_hash(m);
	}
}
