/* SPDX-License-Identifier: BSD-3-Clause */
/* Extracts the fields of a frame that rules can match. */

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include <hy_policy_view.h>

#define TAGS_MAX 2
#define ETHER_TYPE_QINQ_OLD 0x9100 /* a tag stacked outside, from before 802.1ad */
#define VXLAN_HAS_VNI 0x08         /* the flag I of RFC 7348 */

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

static inline bool
is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ ||
		type == ETHER_TYPE_QINQ_OLD;
}

/* Reads the ether type after the tags. Returns where that header starts; 0: the frame is shorter. */
static uint32_t
key_l2(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	uint32_t at = RTE_ETHER_HDR_LEN;
	uint16_t type;

	if (len < at)
		return 0;
	type = read_be16(frame + at - 2);
	for (unsigned int tags = 0; is_tag(type) && tags < TAGS_MAX; tags++) {
		if (len < at + RTE_VLAN_HLEN)
			return 0;
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

/* Returns the offset after the header; 0: there is no header, or only a fragment. */
static uint32_t
key_ip4(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flow_key *key)
{
	const uint8_t *ip = frame + at;
	uint32_t header;

	if (key->ether_type != RTE_ETHER_TYPE_IPV4 || len < at + sizeof(struct rte_ipv4_hdr))
		return 0;
	header = (ip[0] & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	if (ip[0] >> 4 != IPVERSION || header < sizeof(struct rte_ipv4_hdr) || len < at + header)
		return 0;
	key->has |= HY_FLOW_IP4;
	key->dscp = ip[offsetof(struct rte_ipv4_hdr, type_of_service)] >> 2;
	key->proto = ip[offsetof(struct rte_ipv4_hdr, next_proto_id)];
	key->src = read_be32(ip + offsetof(struct rte_ipv4_hdr, src_addr));
	key->dst = read_be32(ip + offsetof(struct rte_ipv4_hdr, dst_addr));
	if ((read_be16(ip + offsetof(struct rte_ipv4_hdr, fragment_offset)) &
		    (RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG)) != 0)
		return 0;
	return at + header;
}

/* TCP, UDP and SCTP start with their ports. */
static void
key_ports(const uint8_t *frame, uint32_t len, uint32_t at, struct hy_flow_key *key)
{
	if ((key->proto != IPPROTO_TCP && key->proto != IPPROTO_UDP &&
		    key->proto != IPPROTO_SCTP) ||
		len < at + 4)
		return;
	key->has |= HY_FLOW_PORTS;
	key->sport = read_be16(frame + at);
	key->dport = read_be16(frame + at + 2);
	at += sizeof(struct rte_udp_hdr);
	if (key->proto != IPPROTO_UDP || key->dport != HY_FLOW_VXLAN_PORT ||
		len < at + sizeof(struct rte_vxlan_hdr) || (frame[at] & VXLAN_HAS_VNI) == 0)
		return;
	key->has |= HY_FLOW_TUNNEL;
	key->tunnel = read_be32(frame + at + 4) >> 8;
}

void
hy_flow_key(const uint8_t *frame, uint32_t len, struct hy_flow_key *key)
{
	uint32_t at;

	*key = (struct hy_flow_key){ 0 };
	at = key_l2(frame, len, key);
	if (at != 0)
		at = key_ip4(frame, len, at, key);
	if (at != 0)
		key_ports(frame, len, at, key);
}
