/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Missing marks: finds packets without a valid mark that hardware should have marked. Only plain
 * packets are evidence: in fragments, tunnels, damaged packets and packets with options a NIC may see
 * less than software does.
 */

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_geneve.h>
#include <rte_gtp.h>
#include <rte_ip.h>
#include <rte_sctp.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "flow_cls_mark.h"

/* UDP ports that NICs parse as tunnels: ESP, GTP-C, GTP-U, VXLAN, VXLAN-GPE, Geneve, MPLS. */
static const uint16_t tunnels[] = { 4500, RTE_GTPC_UDP_PORT, RTE_GTPU_UDP_PORT,
	RTE_VXLAN_DEFAULT_PORT, RTE_VXLAN_GPE_DEFAULT_PORT, RTE_GENEVE_DEFAULT_PORT, 6635 };

static bool
is_tunnel(const struct hy_flow_key *key)
{
	for (size_t i = 0; i < RTE_DIM(tunnels); i++)
		if (key->sport == tunnels[i] || key->dport == tunnels[i])
			return true;
	return false;
}

/* Least bytes after the IP header of a plain packet; UINT32_MAX: packets of the protocol are not plain. */
static uint32_t
l4_least(const struct hy_flow_key *key)
{
	switch (key->proto) {
	case IPPROTO_UDP:
		return is_tunnel(key) ? UINT32_MAX : sizeof(struct rte_udp_hdr);
	case IPPROTO_TCP:
		return sizeof(struct rte_tcp_hdr);
	case IPPROTO_SCTP:
		return sizeof(struct rte_sctp_hdr);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 8;
	default:
		return UINT32_MAX;
	}
}

/* Intact, without options, not a fragment, and not longer than the frame. */
static bool
is_plain_ip4(const uint8_t *header, uint32_t len, const struct hy_flow_key *key)
{
	const uint32_t least = l4_least(key);
	struct rte_ipv4_hdr ip;
	uint32_t total;

	if (least == UINT32_MAX || len < sizeof(ip) + least)
		return false;
	memcpy(&ip, header, sizeof(ip));
	total = rte_be_to_cpu_16(ip.total_length);
	return ip.version_ihl == RTE_IPV4_VHL_DEF && total >= sizeof(ip) + least && total <= len &&
		(ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) ==
		0 &&
		rte_raw_cksum(&ip, sizeof(ip)) == 0xffff;
}

/* Likewise, without extension headers. */
static bool
is_plain_ip6(const uint8_t *header, uint32_t len, const struct hy_flow_key *key)
{
	const uint32_t least = l4_least(key);
	struct rte_ipv6_hdr ip;
	uint32_t payload;

	if (least == UINT32_MAX || len < sizeof(ip) + least)
		return false;
	memcpy(&ip, header, sizeof(ip));
	payload = rte_be_to_cpu_16(ip.payload_len);
	return ip.proto == key->proto && payload >= least && payload <= len - sizeof(ip);
}

uint8_t
flow_cls_kind(const struct rte_mbuf *m, const uint8_t *frame, const struct hy_flow_key *key)
{
	const bool tagged = (key->has & HY_FLOW_VLAN) != 0;
	const uint32_t l3 = RTE_ETHER_HDR_LEN + (tagged ? RTE_VLAN_HLEN : 0);

	if ((m->ol_flags & (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED)) != 0 ||
		(key->has & HY_FLOW_ETHER_TYPE) == 0 || key->ether_type < RTE_ETHER_TYPE_IPV4)
		return 0;
	/* Exactly one tag. */
	if (tagged &&
		(frame[12] != 0x81 || frame[13] != 0 ||
			(frame[16] << 8 | frame[17]) != key->ether_type))
		return 0;
	if (key->ether_type == RTE_ETHER_TYPE_IPV4 &&
		((key->has & HY_FLOW_IPV4) == 0 || !is_plain_ip4(frame + l3, m->pkt_len - l3, key)))
		return 0;
	if (key->ether_type == RTE_ETHER_TYPE_IPV6 &&
		((key->has & HY_FLOW_IPV6) == 0 || !is_plain_ip6(frame + l3, m->pkt_len - l3, key)))
		return 0;
	return tagged ? HY_MARK_DUE_TAGGED : HY_MARK_DUE;
}

/* What hardware should have done to a packet: the bits of its rule, or 0. */
static uint8_t
due_to(const struct hy_mark_table *table, const struct rte_mbuf *m)
{
	uint8_t bounce[HY_FLOW_HEADERS];
	const uint8_t *frame = hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce);
	struct hy_flow_key key;
	uint32_t rank;
	uint8_t kind;

	hy_flow_key(frame, m->pkt_len, &key);
	kind = flow_cls_kind(m, frame, &key);
	if (kind == 0 || !flow_cls_reaches(table, frame))
		return 0;
	hy_policy_classify_compiled(table->view, &key, &rank, 1);
	return rank == HY_POLICY_NONE || (table->due[rank] & kind) == 0 ? 0 : table->due[rank];
}

bool
flow_cls_is_left_over(const struct hy_mark_table *table, uint32_t mark)
{
	const struct hy_mark_slot *slot = &table->slots[mark & table->slot_mask];

	return slot->mark == 0 && slot->checks == HY_MARK_STAYS &&
		(slot->index == 0 || slot->index == mark);
}

void
flow_cls_look(const struct hy_mark_table *table, struct hy_mark_worker *worker, void **objs,
	const uint32_t places[], uint32_t n)
{
	const uint32_t most = (uint32_t)RTE_MIN((uint64_t)n, hy_mark_looks(worker));
	uint32_t missing = 0, garbled = 0, leaked = 0;

	for (uint32_t i = 0; i < most; i++) {
		const struct rte_mbuf *m = objs[places[i]];
		const bool marked = (m->ol_flags & FLOW_CLS_MARKED) == FLOW_CLS_MARKED;
		const uint8_t due = due_to(table, m);

		if ((due & HY_MARK_DROPS) != 0)
			leaked += !marked;
		else if (due != 0 && !marked)
			missing++;
		else if (due != 0)
			garbled += !flow_cls_is_left_over(table, m->hash.fdir.hi);
	}
	mark_count(&worker->looked, most);
	mark_count(&worker->missing, missing);
	mark_count(&worker->garbled, garbled);
	if (unlikely(leaked > 0))
		mark_count(&worker->leaked, leaked);
}
