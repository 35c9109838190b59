/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets as objects of a graph: release, sleep, trace, capture, flow hash. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_jhash.h>

#include <hy_capture.h>
#include <hy_mbuf.h>
#include <hy_trace.h>

#include "drivers/nodes/generic/ethdev/ethdev_rx.h"

#define TAGS_MAX 2
/* Up to the ports behind IPv6, or behind IPv4 with the most options. */
#define HEADERS \
	(sizeof(struct rte_ether_hdr) + TAGS_MAX * sizeof(struct rte_vlan_hdr) + 60 + \
		sizeof(uint32_t))

static void
mbuf_release(void **objs, unsigned int n)
{
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
}

/* What a trace stores of a packet. */
struct mbuf_snapshot {
	uint32_t len; /* of the frame */
	uint8_t frame[HY_TRACE_DATA - sizeof(uint32_t)];
};

/* Copies the first bytes of a frame, at most size of them; returns how many. */
static uint32_t
frame_copy(const struct rte_mbuf *m, uint8_t *to, size_t size)
{
	const uint32_t n = RTE_MIN(m->pkt_len, (uint32_t)size);
	const void *frame = rte_pktmbuf_read(m, 0, n, to);

	if (frame != to) /* one segment holds them all */
		memcpy(to, frame, n);
	return n;
}

static size_t
mbuf_snapshot(const void *obj, void *data, size_t size __rte_unused)
{
	const struct rte_mbuf *m = obj;
	struct mbuf_snapshot *shot = data;

	shot->len = m->pkt_len;
	return offsetof(struct mbuf_snapshot, frame) +
		frame_copy(m, shot->frame, sizeof(shot->frame));
}

/* A frame of IPv6, in the words of IPv4's; without the MAC address if there is no room for it. */
static int
ip6_format(const struct mbuf_snapshot *shot, const char *mac, char *text, size_t size)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], rest[HY_TEXT_SIZE];
	struct rte_ipv6_hdr ip;
	int n;

	memcpy(&ip, shot->frame + sizeof(struct rte_ether_hdr), sizeof(ip));
	inet_ntop(AF_INET6, &ip.src_addr, src, sizeof(src));
	inet_ntop(AF_INET6, &ip.dst_addr, dst, sizeof(dst));
	snprintf(rest, sizeof(rest), "%s > %s proto %u ttl %u", src, dst, ip.proto, ip.hop_limits);
	n = snprintf(text, size, "%u B to %s, %s", shot->len, mac, rest);
	return n < (int)size ? n : snprintf(text, size, "%u B, %s", shot->len, rest);
}

static int
mbuf_format(const struct hy_trace_record *record, char *text, size_t size)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct mbuf_snapshot shot = { 0 };
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	const uint8_t *src = (const uint8_t *)&ip.src_addr, *dst = (const uint8_t *)&ip.dst_addr;

	memcpy(&shot, record->data, record->size);
	if (shot.len < sizeof(eth))
		return snprintf(text, size, "%u B", shot.len);
	memcpy(&eth, shot.frame, sizeof(eth));
	memcpy(&ip, shot.frame + sizeof(eth), sizeof(ip));
	rte_ether_format_addr(mac, sizeof(mac), &eth.dst_addr);
	if (eth.ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6) &&
		shot.len >= sizeof(eth) + sizeof(struct rte_ipv6_hdr))
		return ip6_format(&shot, mac, text, size);
	if (eth.ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || shot.len < sizeof(eth) + sizeof(ip))
		return snprintf(text, size, "%u B to %s, type 0x%04x", shot.len, mac,
			rte_be_to_cpu_16(eth.ether_type));
	return snprintf(text, size, "%u B to %s, %u.%u.%u.%u > %u.%u.%u.%u proto %u ttl %u",
		shot.len, mac, src[0], src[1], src[2], src[3], dst[0], dst[1], dst[2], dst[3],
		ip.next_proto_id, ip.time_to_live);
}

static size_t
mbuf_copy(const void *obj, struct hy_capture_record *record, size_t size)
{
	const struct rte_mbuf *m = obj;

	record->length = m->pkt_len;
	record->origin = m->port;
	return frame_copy(m, record->data, size);
}

/* Both ports of the transport header at that offset; 0 if it has none or is truncated. */
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

static void
mbuf_flow_hash(void *const *objs, uint32_t *hash, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];

		hash[i] = (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0 ? m->hash.rss
								      : headers_hash(m);
	}
}

const struct hy_object_ops hy_mbuf_ops = {
	.release = mbuf_release,
	.arm = ethdev_arm,
	.wait = ethdev_wait,
	.snapshot = mbuf_snapshot,
	.format = mbuf_format,
	.copy = mbuf_copy,
	.flow_hash = mbuf_flow_hash,
};

void
hy_mbuf_ports(void *const objs[], uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = ((const struct rte_mbuf *)objs[i])->port;
}

void
hy_mbuf_poke(struct rte_mbuf *m, const uint8_t *bytes, uint32_t n)
{
	for (; n > 0; m = m->next) {
		const uint32_t here = RTE_MIN(n, (uint32_t)m->data_len);

		memcpy(rte_pktmbuf_mtod(m, void *), bytes, here);
		bytes += here;
		n -= here;
	}
}
