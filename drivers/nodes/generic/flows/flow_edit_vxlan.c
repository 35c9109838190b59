/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts frames into VXLAN, and takes them out: RFC 7348. */

#include <rte_udp.h>
#include <rte_vxlan.h>

#include <hy_mbuf.h>

#include "flow_edit.h"

#define PORT_LEAST 49152u /* of dynamic ports, of which there are 2^14 */
#define PORT_BITS 14

/* What a NIC said of the headers that are no longer the first ones. */
#define SAID \
	(RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK | \
		RTE_MBUF_F_RX_OUTER_L4_CKSUM_MASK | RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD)

static inline void
store16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void
said_forget(struct rte_mbuf *m)
{
	m->ol_flags &= ~SAID;
	m->packet_type = 0;
}

/* A port from all bits of a hash, of which the lower ones may have chosen the queue. */
static rte_be16_t
port_of(struct rte_mbuf *m)
{
	void *const objs[] = { m };
	uint32_t hash;

	hy_mbuf_ops.flow_hash(objs, &hash, 1);
	return rte_cpu_to_be_16((uint16_t)(PORT_LEAST | (hash * 0x9e3779b1u) >> (32 - PORT_BITS)));
}

bool
flow_encap(struct flow_packet *p, const struct flow_outer *outer)
{
	const uint32_t inside = p->m->pkt_len;
	uint8_t *at, *udp;
	rte_be16_t port, counted;

	if (!flow_reach(p, RTE_ETHER_HDR_LEN))
		return false;
	if (inside + outer->counted > UINT16_MAX)
		return flow_fail(p, HY_FLOW_APPLY_TOO_LONG);
	if (!flow_room(p, outer->size))
		return false;
	port = port_of(p->m);
	counted = rte_cpu_to_be_16((uint16_t)(inside + outer->counted));
	at = (uint8_t *)rte_pktmbuf_prepend(p->m, outer->size);
	memcpy(at, outer->bytes, outer->size);
	udp = at + outer->udp;
	at += RTE_ETHER_HDR_LEN;
	if (outer->sum == 0) {
		store16(at + offsetof(struct rte_ipv6_hdr, payload_len), counted);
	} else {
		store16(at + offsetof(struct rte_ipv4_hdr, total_length), counted);
		/* That of no words, to which all are added. */
		store16(at + offsetof(struct rte_ipv4_hdr, hdr_checksum), UINT16_MAX);
		flow_sum_change(at + offsetof(struct rte_ipv4_hdr, hdr_checksum),
			outer->sum + counted);
	}
	store16(udp + offsetof(struct rte_udp_hdr, src_port), port);
	store16(udp + offsetof(struct rte_udp_hdr, dgram_len),
		rte_cpu_to_be_16((uint16_t)(inside + sizeof(struct rte_udp_hdr) +
			sizeof(struct rte_vxlan_hdr))));
	said_forget(p->m);
	flow_packet_begin(p);
	return true;
}

bool
flow_decap(struct flow_packet *p)
{
	const uint8_t *udp;
	uint32_t at;

	if (!flow_ip(p) || !flow_l4(p))
		return false;
	if (p->l4_is != FLOW_L4_UDP || p->parted)
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	at = p->l4 + (uint32_t)(sizeof(struct rte_udp_hdr) + sizeof(struct rte_vxlan_hdr));
	if (!flow_reach(p, at + RTE_ETHER_HDR_LEN))
		return false;
	udp = p->head + p->l4;
	if (flow_load16(udp + offsetof(struct rte_udp_hdr, dst_port)) != FLOW_VXLAN_PORT ||
		(udp[sizeof(struct rte_udp_hdr)] & FLOW_VXLAN_HAS_VNI) == 0)
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	rte_pktmbuf_adj(p->m, (uint16_t)at);
	said_forget(p->m);
	flow_packet_begin(p);
	return true;
}
