/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's parser of frames: what a NIC extracts from the headers to match its rules. */

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_sctp.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include "sim.h"

#define TAGS_MAX 2

/* A NIC parses a header only if it is complete. */
static void
parse_l4(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_sim_key *key)
{
	static const struct {
		uint32_t layer, size;
	} kinds[] = {
		[IPPROTO_UDP] = { HY_SIM_UDP, sizeof(struct rte_udp_hdr) },
		[IPPROTO_TCP] = { HY_SIM_TCP, sizeof(struct rte_tcp_hdr) },
		[IPPROTO_SCTP] = { HY_SIM_SCTP, sizeof(struct rte_sctp_hdr) },
		[IPPROTO_ICMP] = { HY_SIM_ICMP, 8 },
		[IPPROTO_ICMPV6] = { HY_SIM_ICMP6, 8 },
	};
	const uint32_t ip = (key->layers & HY_SIM_IP6) != 0 ? HY_SIM_ICMP : HY_SIM_ICMP6;
	const struct rte_udp_hdr *ports = (const void *)(frame + at);
	const uint32_t layer = key->proto < RTE_DIM(kinds) ? kinds[key->proto].layer : 0;

	if (layer == 0 || layer == ip || len - at < kinds[key->proto].size)
		return;
	key->layers |= layer;
	if ((layer & (HY_SIM_ICMP | HY_SIM_ICMP6)) != 0) {
		key->icmp_type = frame[at];
		key->icmp_code = frame[at + 1];
		return;
	}
	key->sport = ports->src_port;
	key->dport = ports->dst_port;
	if (layer == HY_SIM_TCP)
		key->tcp_flags = ((const struct rte_tcp_hdr *)ports)->tcp_flags;
	at += kinds[key->proto].size;
	if (layer == HY_SIM_UDP && key->dport == RTE_BE16(RTE_VXLAN_DEFAULT_PORT) &&
		len - at >= sizeof(struct rte_vxlan_hdr)) { /* drivers compare no flags */
		key->layers |= HY_SIM_VXLAN;
		memcpy(key->vni, frame + at + offsetof(struct rte_vxlan_hdr, vx_vni),
			sizeof(key->vni));
	}
}

static void
parse_ip4(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_sim_key *key)
{
	const struct rte_ipv4_hdr *ip = (const void *)(frame + at);

	if (len - at < sizeof(*ip) || ip->version_ihl >> 4 != IPVERSION ||
		rte_ipv4_hdr_len(ip) < sizeof(*ip) || len - at < rte_ipv4_hdr_len(ip))
		return;
	key->layers |= HY_SIM_IP4;
	key->src = ip->src_addr;
	key->dst = ip->dst_addr;
	key->tos = ip->type_of_service;
	key->ttl = ip->time_to_live;
	key->proto = ip->next_proto_id;
	key->frag = ip->fragment_offset;
	if ((key->frag & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) != 0)
		key->layers |= HY_SIM_FRAG;
	if ((key->frag & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) == 0)
		parse_l4(frame, len, at + rte_ipv4_hdr_len(ip), key);
}

/*
 * Two extension headers are skipped, fewer than software skips; behind more, no protocol is found. As
 * with IPv4, a first fragment has a header of layer 4.
 */
static void
parse_ip6(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_sim_key *key)
{
	const struct rte_ipv6_hdr *ip = (const void *)(frame + at);
	bool later = false;

	if (len - at < sizeof(*ip) || frame[at] >> 4 != 6)
		return;
	key->layers |= HY_SIM_IP6;
	key->vtc = ip->vtc_flow;
	memcpy(key->src6, &ip->src_addr, sizeof(key->src6));
	memcpy(key->dst6, &ip->dst_addr, sizeof(key->dst6));
	key->ttl = ip->hop_limits;
	key->proto = ip->proto;
	at += sizeof(*ip);
	for (int skipped = 0; skipped < 2 && len - at >= 8; skipped++) {
		const bool fragment = key->proto == IPPROTO_FRAGMENT;

		if (!fragment && key->proto != IPPROTO_HOPOPTS && key->proto != IPPROTO_ROUTING &&
			key->proto != IPPROTO_DSTOPTS)
			break;
		if (!fragment && len - at < 8u * (1 + frame[at + 1]))
			return;
		key->layers |= fragment ? HY_SIM_EXT | HY_SIM_FRAG : HY_SIM_EXT;
		later |= fragment && ((frame[at + 2] << 8 | frame[at + 3]) & 0xfff8) != 0;
		key->proto = frame[at];
		at += fragment ? 8 : 8u * (1 + frame[at + 1]);
		if (later)
			return;
	}
	parse_l4(frame, len, at, key);
}

void
hy_sim_parse(const uint8_t *frame, uint32_t len, struct hy_sim_key *key)
{
	uint32_t at = RTE_ETHER_HDR_LEN;
	unsigned int tags = 0;

	memset(key, 0, sizeof(*key));
	if (len < at)
		return;
	memcpy(key->dst_mac, frame, sizeof(key->dst_mac));
	memcpy(key->src_mac, frame + RTE_ETHER_ADDR_LEN, sizeof(key->src_mac));
	memcpy(&key->type, frame + 2 * RTE_ETHER_ADDR_LEN, sizeof(key->type));
	while (tags < TAGS_MAX && len - at >= sizeof(struct rte_vlan_hdr) &&
		(key->type == RTE_BE16(RTE_ETHER_TYPE_VLAN) ||
			key->type == RTE_BE16(RTE_ETHER_TYPE_QINQ))) {
		const struct rte_vlan_hdr *vlan = (const void *)(frame + at);

		if (tags == 0)
			key->tci = vlan->vlan_tci;
		key->layers |= tags == 0 ? HY_SIM_TAG : HY_SIM_TAGS;
		key->type = vlan->eth_proto;
		at += sizeof(*vlan);
		tags++;
	}
	if (key->type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		parse_ip4(frame, len, at, key);
	else if (key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		parse_ip6(frame, len, at, key);
}
