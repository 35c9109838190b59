/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets and flows for the tests of simulated hardware; see sim_fixture.h. */

#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <hy_flow_sim.h>

#include "sim_fixture.h"

struct rte_mempool *sim_pool;

void
sim_frame(const struct sim_packet *packet, uint8_t *frame)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)frame;
	struct rte_vlan_hdr vlan = { .vlan_tci = rte_cpu_to_be_16(packet->vlan),
		.eth_proto = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
	struct rte_ipv4_hdr ip = { .version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = packet->tos,
		.total_length = RTE_BE16(40),
		.fragment_offset = rte_cpu_to_be_16(packet->frag),
		.time_to_live = 64,
		.next_proto_id = packet->proto,
		.src_addr = rte_cpu_to_be_32(packet->src),
		.dst_addr = rte_cpu_to_be_32(packet->dst) };
	struct rte_udp_hdr udp = { .src_port = rte_cpu_to_be_16(packet->sport),
		.dst_port = rte_cpu_to_be_16(packet->dport) };
	uint8_t *at = frame + sizeof(*eth);

	memset(frame, 0, FRAME_SIZE);
	eth->ether_type = vlan.eth_proto;
	if (packet->vlan != 0) {
		eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
		memcpy(at, &vlan, sizeof(vlan));
		at += sizeof(vlan);
	}
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), &udp, sizeof(udp));
}

struct rte_mbuf *
sim_mbuf(const struct sim_packet *packet)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(sim_pool);

	assert_non_null(pkt);
	sim_frame(packet, (uint8_t *)rte_pktmbuf_append(pkt, FRAME_SIZE));
	return pkt;
}

uint32_t
sim_dst_of(const struct rte_mbuf *pkt)
{
	rte_be32_t dst;

	memcpy(&dst, rte_pktmbuf_mtod_offset(pkt, const void *, 30), sizeof(dst));
	return rte_be_to_cpu_32(dst);
}

int64_t
sim_mark_of(const struct rte_mbuf *pkt)
{
	const uint64_t both = RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;

	return (pkt->ol_flags & both) == both ? (int64_t)pkt->hash.fdir.hi : -1;
}

/* A mask of all ones where a value is not 0. */
#define ALL(value) ((value) != 0 ? UINT32_MAX : 0)

int64_t
sim_marked(struct hy_flow_sim *sim, const struct sim_packet *packet)
{
	struct rte_mbuf *pkt = sim_mbuf(packet);
	int64_t mark;

	if (hy_flow_sim_rx(sim, &pkt, 1) == 0)
		return -2;
	mark = sim_mark_of(pkt);
	rte_pktmbuf_free(pkt);
	return mark;
}

bool
sim_counts(const char *profile)
{
	return strcmp(profile, "i40e") != 0 && strcmp(profile, "iavf") != 0;
}

void
sim_match(struct sim_match *flow, const struct sim_packet *packet, uint32_t mark, bool count,
	bool fate)
{
	const bool ports = packet->sport != 0 || packet->dport != 0;
	struct rte_flow_action *action = flow->actions;

	memset(flow, 0, sizeof(*flow));
	flow->attr.ingress = 1;
	flow->ip.hdr.src_addr = rte_cpu_to_be_32(packet->src);
	flow->ip.hdr.dst_addr = rte_cpu_to_be_32(packet->dst);
	flow->ip_mask.hdr.src_addr = ALL(packet->src);
	flow->ip_mask.hdr.dst_addr = ALL(packet->dst);
	flow->l4.hdr.src_port = flow->tcp.hdr.src_port = rte_cpu_to_be_16(packet->sport);
	flow->l4.hdr.dst_port = flow->tcp.hdr.dst_port = rte_cpu_to_be_16(packet->dport);
	flow->l4_mask.hdr.src_port = flow->tcp_mask.hdr.src_port = (uint16_t)ALL(packet->sport);
	flow->l4_mask.hdr.dst_port = flow->tcp_mask.hdr.dst_port = (uint16_t)ALL(packet->dport);
	flow->items[0].type = RTE_FLOW_ITEM_TYPE_ETH;
	flow->items[1] = (struct rte_flow_item){
		.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &flow->ip, .mask = &flow->ip_mask
	};
	if (packet->proto == IPPROTO_UDP)
		flow->items[2] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_UDP,
			.spec = ports ? &flow->l4 : NULL,
			.mask = ports ? &flow->l4_mask : NULL };
	else if (packet->proto == IPPROTO_TCP)
		flow->items[2] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_TCP,
			.spec = ports ? &flow->tcp : NULL,
			.mask = ports ? &flow->tcp_mask : NULL };
	flow->mark.id = mark;
	*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_MARK, &flow->mark };
	if (count)
		*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_COUNT, &flow->count };
	if (fate)
		*action++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_QUEUE, &flow->queue };
}

int
sim_setup(void **state)
{
	RTE_SET_USED(state);
	sim_pool = rte_pktmbuf_pool_create("sim", 16383, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	return sim_pool == NULL;
}

int
sim_teardown(void **state)
{
	const bool whole = rte_mempool_full(sim_pool);

	RTE_SET_USED(state);
	if (!whole)
		print_error("%u packets are missing from the pool\n",
			rte_mempool_in_use_count(sim_pool));
	rte_mempool_free(sim_pool);
	return !whole;
}
