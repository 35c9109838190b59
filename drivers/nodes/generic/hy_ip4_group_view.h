/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How a node finds the member of a group (hy_ip4_group.h) that a packet takes. For variants of
 * ip4_rewrite, and for nodes that send by next hops of a table, for other protocols too.
 *
 * The adjacency of a group has HY_IP4_PORT_GROUP for a port, and no L2 header. A node need not look
 * for it: of its ports, that one sends frames of up to 0 bytes, so that every packet to a group fails
 * the check of its length, which the node makes anyway. There, it asks for the port, finds the member by
 * hy_ip4_group_member(), and goes on with the member's id. Packets to a next hop cost nothing more.
 *
 * Buckets change while workers read them, and may name a next hop that is newer than the array of
 * adjacencies that the group was found in: call hy_ip4_adjacencies() again, after the last
 * hy_ip4_group_member() of a burst.
 */
#pragma once

#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ip.h>

#include <hy_ip4_view.h>

HY_API_BEGIN

/** What workers read of a group. */
struct hy_ip4_buckets {
	uint32_t mask;     /**< Their number, which is a power of two, minus 1. */
	uint32_t seed[2];  /**< For hashes; the same for all groups of a table. */
	uint32_t member[]; /**< Ids of next hops. Read them with hy_ip4_group_member() only. */
};

/** @return Whether an adjacency is a group's. */
static __rte_always_inline bool
hy_ip4_is_group(const struct hy_ip4_adjacency *adjacency)
{
	return adjacency->port == HY_IP4_PORT_GROUP;
}

/** @return The buckets of a group, valid until the end of the walk. */
static __rte_always_inline const struct hy_ip4_buckets *
hy_ip4_group_buckets(const struct hy_ip4_adjacency *group)
{
	const struct hy_ip4_buckets *buckets;

	memcpy(&buckets, &group->l2, sizeof(buckets)); /* in place of the header */
	return buckets;
}

/** @return The id of the next hop that flows with a hash take. */
static __rte_always_inline uint32_t
hy_ip4_group_member(const struct hy_ip4_buckets *buckets, uint32_t hash)
{
	return __atomic_load_n(&buckets->member[hash & buckets->mask], __ATOMIC_RELAXED);
}

/** @name Factors of hy_flow_hash().
 * @{ */
#define HY_FLOW_HASH_PROTO 0x9e3779b1u /**< Of the protocol. */
#define HY_FLOW_HASH_SRC 0x85ebca6bu   /**< Once the source is in. */
#define HY_FLOW_HASH_DST 0xc2b2ae35u   /**< Once the destination is in. */
#define HY_FLOW_HASH_PORTS 0x7feb352du /**< Once the ports are in. */
#define HY_FLOW_HASH_LAST 0x846ca68bu  /**< At the end. */
/** @} */

/**
 * The hash of a flow: each word is mixed with those before by a shift and a multiplication, so that
 * vectors compute as many at a time as they have lanes.
 *
 * @param src Source address, as it lies in memory; of 16 bytes, hy_ip6_address_hash().
 * @param dst Destination address, likewise.
 * @param ports Both ports, as they lie in memory; 0 for none. Of IPv6, also a flow label.
 */
static __rte_always_inline uint32_t
hy_flow_hash(const uint32_t seed[2], uint32_t proto, uint32_t src, uint32_t dst, uint32_t ports)
{
	uint32_t hash = (proto * HY_FLOW_HASH_PROTO ^ seed[0]) ^ src;

	hash = (hash ^ hash >> 16) * HY_FLOW_HASH_SRC + dst;
	hash = (hash ^ hash >> 15) * HY_FLOW_HASH_DST + seed[1];
	hash ^= ports;
	hash = (hash ^ hash >> 16) * HY_FLOW_HASH_PORTS;
	hash = (hash ^ hash >> 15) * HY_FLOW_HASH_LAST;
	return hash ^ hash >> 16;
}

/** Most bytes of a frame that hy_ip4_flow_hash() reads: to the ports after the longest header. */
#define HY_IP4_FLOW_BYTES (RTE_ETHER_HDR_LEN + 15 * RTE_IPV4_IHL_MULTIPLIER + 4)

/** @return The ports of a frame as they lie in memory, 0 for none; see hy_ip4_flow_hash(). */
static __rte_always_inline uint32_t
hy_ip4_flow_ports(const uint8_t *frame, uint32_t len)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	const uint32_t header = (ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	const uint32_t end = header + 4;
	uint32_t ports;

	if (ip->next_proto_id != IPPROTO_TCP && ip->next_proto_id != IPPROTO_UDP &&
		ip->next_proto_id != IPPROTO_SCTP)
		return 0;
	if ((ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) != 0)
		return 0;
	if (rte_be_to_cpu_16(ip->total_length) < end || len < RTE_ETHER_HDR_LEN + end)
		return 0;
	memcpy(&ports, frame + RTE_ETHER_HDR_LEN + header, sizeof(ports));
	return ports;
}

/**
 * The hash of an IPv4 packet's flow. Reads no byte beyond @p len or beyond HY_IP4_FLOW_BYTES.
 *
 * @param len Length of the frame in bytes, at least that of Ethernet and an IPv4 header without options.
 */
static __rte_always_inline uint32_t
hy_ip4_flow_hash(const uint32_t seed[2], const uint8_t *frame, uint32_t len)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);

	return hy_flow_hash(seed, ip->next_proto_id, ip->src_addr, ip->dst_addr,
		hy_ip4_flow_ports(frame, len));
}

/**
 * The adjacency by which an IPv4 packet leaves: that of its id, or of the member that its flow takes.
 * Worker only.
 *
 * @param frame As of hy_ip4_flow_hash().
 * @param len Likewise.
 */
static __rte_always_inline const struct hy_ip4_adjacency *
hy_ip4_adjacency_of(const struct hy_ip4_view *view, uint32_t id, const uint8_t *frame, uint32_t len)
{
	const struct hy_ip4_adjacency *adjacency = &hy_ip4_adjacencies(view)[id];
	const struct hy_ip4_buckets *buckets;

	if (likely(!hy_ip4_is_group(adjacency)))
		return adjacency;
	buckets = hy_ip4_group_buckets(adjacency);
	id = hy_ip4_group_member(buckets, hy_ip4_flow_hash(buckets->seed, frame, len));
	return &hy_ip4_adjacencies(view)[id];
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_GROUP_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_buckets), HY_PLUGIN_OFFSET(hy_ip4_buckets, member)

HY_PLUGIN_NUMBERS(ip4_group, HY_IP4_GROUP_NUMBERS);
/** @endcond */

HY_API_END
