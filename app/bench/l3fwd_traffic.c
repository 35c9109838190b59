/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the l3fwd benchmark: those received, and the check of those sent. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "l3fwd.h"

#define SEEN_NEVER 0
#define PAYLOAD_LEN 18

/* A packet of either family; the payload has its number. */
struct frame {
	struct rte_ether_hdr l2;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	uint32_t index;
	uint8_t rest[PAYLOAD_LEN - sizeof(uint32_t)];
} __attribute__((packed, aligned(2)));

/* No header follows that of IPv6, so that the frame is no longer (RFC 8200 4.7). */
struct frame6 {
	struct rte_ether_hdr l2;
	struct rte_ipv6_hdr ip;
	uint32_t index;
	uint8_t rest[2];
} __attribute__((packed, aligned(2)));

static_assert(sizeof(struct frame) == FRAME_LEN && sizeof(struct frame6) == FRAME_LEN,
	"a frame of 64 bytes with its checksum");

struct rte_ether_addr
l3fwd_port_mac(unsigned int port)
{
	return (struct rte_ether_addr){ { 2, 0, 0, 0, 0, (uint8_t)port } };
}

struct rte_ether_addr
l3fwd_hop_mac(unsigned int hop)
{
	return (struct rte_ether_addr){ { 2, 0, 0, 0, 1, (uint8_t)hop } };
}

struct rte_ether_hdr
l3fwd_hop_header(unsigned int hop)
{
	return (struct rte_ether_hdr){ .dst_addr = l3fwd_hop_mac(hop),
		.src_addr = l3fwd_port_mac(hop_port(hop)),
		.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
}

static void
frame_write(struct frame *frame, uint32_t index, uint32_t dst, uint8_t ttl)
{
	*frame = (struct frame){
		.l2 = { .dst_addr = l3fwd_port_mac(0),
			.src_addr = { { 2, 0, 0, 0, 2, 0 } },
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
		.ip = { .version_ihl = RTE_IPV4_VHL_DEF,
			.total_length = RTE_BE16(FRAME_LEN - RTE_ETHER_HDR_LEN),
			.packet_id = rte_cpu_to_be_16((uint16_t)index),
			.time_to_live = ttl,
			.next_proto_id = IPPROTO_UDP,
			.src_addr = RTE_BE32(IP4(192, 0, 2, 1)),
			.dst_addr = rte_cpu_to_be_32(dst) },
		.udp = { .src_port = RTE_BE16(49152),
			.dst_port = RTE_BE16(9),
			.dgram_len = RTE_BE16(sizeof(struct rte_udp_hdr) + PAYLOAD_LEN) },
		.index = index,
	};
	for (unsigned int i = 0; i < sizeof(frame->rest); i++)
		frame->rest[i] = (uint8_t)(index + 31 * i);
	frame->ip.hdr_checksum = rte_ipv4_cksum(&frame->ip);
}

static void
frame6_write(struct frame6 *frame, uint32_t index, const uint8_t dst[HY_IP6_BYTES], uint8_t ttl)
{
	/* 2001:2::/48, for benchmarks (RFC 5180), outside the routes to it. */
	static const uint8_t src[HY_IP6_BYTES] = { 0x20, 0x01, 0x00, 0x02, 0, 0, 0xff };

	*frame = (struct frame6){
		.l2 = { .dst_addr = l3fwd_port_mac(0),
			.src_addr = { { 2, 0, 0, 0, 2, 0 } },
			.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6) },
		.ip = { .vtc_flow = RTE_BE32(6u << 28),
			.payload_len = RTE_BE16(FRAME_LEN - RTE_ETHER_HDR_LEN -
				sizeof(struct rte_ipv6_hdr)),
			.proto = IPPROTO_NONE,
			.hop_limits = ttl },
		.index = index,
		.rest = { (uint8_t)index, (uint8_t)(index >> 8) },
	};
	memcpy(&frame->ip.src_addr, src, HY_IP6_BYTES);
	memcpy(&frame->ip.dst_addr, dst, HY_IP6_BYTES);
}

static bool
is_ip6(const void *frame)
{
	return ((const struct rte_ether_hdr *)frame)->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6);
}

struct l3fwd_traffic *
traffic_create(const struct l3fwd_address *dst, uint32_t n, uint8_t ttl,
	const struct l3fwd_table *table)
{
	struct l3fwd_traffic *traffic = bench_alloc(1,
		sizeof(*traffic) + n * sizeof(traffic->packets[0]));

	for (uint32_t i = 0; i < n; i++) {
		struct l3fwd_packet *packet = &traffic->packets[i];
		void *frame = packet->frame;

		if (dst[i].is_ip6) {
			frame6_write(frame, i, dst[i].ip6, ttl);
			packet->hop = (uint16_t)table_hop6(table, dst[i].ip6);
		} else {
			frame_write(frame, i, dst[i].ip4, ttl);
			packet->hop = (uint16_t)table_hop(table, dst[i].ip4);
		}
		traffic->ip6 += dst[i].is_ip6;
		traffic->routed += packet->hop != HOP_NONE;
	}
	traffic->n = n;
	return traffic;
}

void
traffic_write(const struct l3fwd_traffic *traffic, uint32_t i, struct rte_mbuf *m)
{
	rte_pktmbuf_reset_headroom(m);
	m->port = traffic->port;
	m->ol_flags = 0;
	if (traffic->marks != NULL) {
		m->ol_flags = RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
		m->hash.fdir.hi = traffic->marks[i];
	}
	m->packet_type = RTE_PTYPE_L2_ETHER |
		(is_ip6(traffic->packets[i].frame) ? RTE_PTYPE_L3_IPV6 : RTE_PTYPE_L3_IPV4);
	m->data_len = FRAME_LEN;
	m->pkt_len = FRAME_LEN;
	memcpy(rte_pktmbuf_mtod(m, void *), traffic->packets[i].frame, FRAME_LEN);
}

unsigned int
traffic_hops(const struct l3fwd_traffic *traffic, const struct rte_mbuf *m)
{
	const struct frame *first = (const void *)traffic->packets[0].frame;
	const struct frame *got = rte_pktmbuf_mtod(m, const struct frame *);

	return (uint8_t)(first->ip.time_to_live - got->ip.time_to_live);
}

void
traffic_lap(struct l3fwd_traffic *traffic)
{
	if (++traffic->lap != SEEN_NEVER)
		return;
	for (uint32_t i = 0; i < traffic->n; i++)
		traffic->packets[i].seen = SEEN_NEVER;
	traffic->lap = SEEN_NEVER + 1;
}

/* The next hop that a packet was sent to, by its address; HOP_NONE: it is none. */
static unsigned int
hop_taken(const struct rte_ether_hdr *got)
{
	const unsigned int hop = got->dst_addr.addr_bytes[RTE_ETHER_ADDR_LEN - 1];

	return hop < HOPS ? hop : HOP_NONE;
}

/* Checks the headers of IP, of which `want` has what they were; makes that what they must be. */
static const char *
headers_check(const struct frame *got, struct frame *want, unsigned int hops)
{
	want->ip.time_to_live = (uint8_t)(want->ip.time_to_live - hops);
	if (got->ip.time_to_live != want->ip.time_to_live)
		return "its TTL is wrong";
	/* 0 has two representations, and routers may write either. */
	if (rte_raw_cksum(&got->ip, sizeof(got->ip)) != 0xffff)
		return "its header checksum is wrong";
	want->ip.hdr_checksum = got->ip.hdr_checksum;
	return NULL;
}

static const char *
headers6_check(const struct frame6 *got, struct frame6 *want, unsigned int hops)
{
	want->ip.hop_limits = (uint8_t)(want->ip.hop_limits - hops);
	return got->ip.hop_limits == want->ip.hop_limits ? NULL : "its hop limit is wrong";
}

const char *
traffic_check(struct l3fwd_traffic *traffic, const struct rte_mbuf *m, unsigned int port,
	unsigned int hops)
{
	const void *got = rte_pktmbuf_mtod(m, const void *);
	const struct rte_ether_hdr *got_l2 = got;
	struct l3fwd_packet *packet;
	const char *wrong;
	uint32_t index;
	union {
		struct rte_ether_hdr l2;
		struct frame ip4;
		struct frame6 ip6;
		uint8_t bytes[FRAME_LEN];
	} want;

	if (m->data_len != FRAME_LEN || m->pkt_len != FRAME_LEN || m->nb_segs != 1)
		return "its length has changed";
	index = is_ip6(got) ? ((const struct frame6 *)got)->index
			    : ((const struct frame *)got)->index;
	if (index >= traffic->n)
		return "it is none of the packets received";
	packet = &traffic->packets[index];
	memcpy(&want, packet->frame, sizeof(want));
	if (packet->seen == traffic->lap)
		return "it was sent twice";
	packet->seen = traffic->lap;
	if (hops > 0) {
		const unsigned int hop = traffic->any_hop ? hop_taken(got_l2) : packet->hop;
		const struct rte_ether_hdr l2 = l3fwd_hop_header(hop);

		if (packet->hop == HOP_NONE)
			return "it must be dropped, and was sent";
		if (port != hop_port(hop))
			return "it left by the wrong port";
		if (memcmp(&got_l2->dst_addr, &l2.dst_addr, sizeof(l2.dst_addr)) != 0)
			return "its destination MAC address is not the next hop's";
		if (memcmp(&got_l2->src_addr, &l2.src_addr, sizeof(l2.src_addr)) != 0)
			return "its source MAC address is not the port's";
		want.l2.dst_addr = l2.dst_addr;
		want.l2.src_addr = l2.src_addr;
	}
	wrong = is_ip6(&want) ? headers6_check(got, &want.ip6, hops)
			      : headers_check(got, &want.ip4, hops);
	if (wrong != NULL)
		return wrong;
	return memcmp(got, want.bytes, sizeof(want.bytes)) == 0 ? NULL : "its content has changed";
}
