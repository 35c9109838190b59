/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the l3fwd benchmark: those received, and the check of those sent. */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "l3fwd.h"

#define SEEN_NEVER 0
#define PAYLOAD_LEN 18

/* A packet; the payload has its number. */
struct frame {
	struct rte_ether_hdr l2;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	uint32_t index;
	uint8_t rest[PAYLOAD_LEN - sizeof(uint32_t)];
} __attribute__((packed, aligned(2)));

static_assert(sizeof(struct frame) == FRAME_LEN, "a frame of 64 bytes with its checksum");

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

struct l3fwd_traffic *
traffic_create(const uint32_t *dst, uint32_t n, uint8_t ttl, const struct l3fwd_table *table)
{
	struct l3fwd_traffic *traffic = bench_alloc(1,
		sizeof(*traffic) + n * sizeof(traffic->packets[0]));

	for (traffic->n = 0; traffic->n < n; traffic->n++) {
		struct l3fwd_packet *packet = &traffic->packets[traffic->n];

		frame_write((struct frame *)(void *)packet->frame, traffic->n, dst[traffic->n],
			ttl);
		packet->hop = (uint16_t)table_hop(table, dst[traffic->n]);
		traffic->routed += packet->hop != HOP_NONE;
	}
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
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4;
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

const char *
traffic_check(struct l3fwd_traffic *traffic, const struct rte_mbuf *m, unsigned int port,
	unsigned int hops)
{
	const struct frame *got = rte_pktmbuf_mtod(m, const struct frame *);
	struct l3fwd_packet *packet;
	struct frame want;

	if (m->data_len != FRAME_LEN || m->pkt_len != FRAME_LEN || m->nb_segs != 1)
		return "its length has changed";
	if (got->index >= traffic->n)
		return "it is none of the packets received";
	packet = &traffic->packets[got->index];
	memcpy(&want, packet->frame, sizeof(want));
	if (packet->seen == traffic->lap)
		return "it was sent twice";
	packet->seen = traffic->lap;
	if (hops > 0) {
		const struct rte_ether_hdr l2 = l3fwd_hop_header(packet->hop);

		if (packet->hop == HOP_NONE)
			return "it has no route, and was sent";
		if (port != hop_port(packet->hop))
			return "it left by the wrong port";
		if (memcmp(&got->l2.dst_addr, &l2.dst_addr, sizeof(l2.dst_addr)) != 0)
			return "its destination MAC address is not the next hop's";
		if (memcmp(&got->l2.src_addr, &l2.src_addr, sizeof(l2.src_addr)) != 0)
			return "its source MAC address is not the port's";
		want.l2 = l2;
	}
	want.ip.time_to_live = (uint8_t)(want.ip.time_to_live - hops);
	if (got->ip.time_to_live != want.ip.time_to_live)
		return "its TTL is wrong";
	/* 0 has two representations, and routers may write either. */
	if (rte_raw_cksum(&got->ip, sizeof(got->ip)) != 0xffff)
		return "its header checksum is wrong";
	want.ip.hdr_checksum = got->ip.hdr_checksum;
	return memcmp(got, &want, sizeof(want)) == 0 ? NULL : "its content has changed";
}
