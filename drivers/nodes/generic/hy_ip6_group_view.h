/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How a node finds the member of a group that an IPv6 packet takes. For variants of ip6_rewrite.
 * hy_ip4_group_view.h says how groups are read.
 *
 * A flow has one source, one destination, one next header, and, depending on that header:
 *
 * - the ports of TCP, UDP and SCTP, if that header follows the fixed one and the packet has them. Its
 *   flow label does not count, as senders may leave it 0 (RFC 6437 section 2);
 * - nothing more, if a Fragment header follows: the first fragment has ports and others have none, and
 *   addresses and next header are what all fragments of a datagram have alike;
 * - else the flow label (RFC 6438), also of packets that end before their ports. Extension headers are
 *   not searched for ports, nor for a Fragment header behind others. Fragments have the flow label of
 *   the packet that they are parts of (RFC 8200 section 4.5), so that these stay together, too.
 */
#pragma once

#include <stddef.h>

#include <hy_ip4_group_view.h>

HY_API_BEGIN

/** Most bytes of a frame that hy_ip6_flow_hash() reads: to the ports. */
#define HY_IP6_FLOW_BYTES (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr) + 4)
/** The flow label in the first word of a header (RFC 8200 section 3). */
#define HY_IP6_FLOW_LABEL RTE_BE32(RTE_IPV6_HDR_FL_MASK)

/** A hash of an address, for hy_flow_hash(): addresses that differ in one word have different ones. */
static __rte_always_inline uint32_t
hy_ip6_address_hash(const uint8_t *address)
{
	uint32_t word[4], hash;

	memcpy(word, address, sizeof(word));
	hash = (word[0] ^ word[0] >> 16) * HY_FLOW_HASH_SRC + word[1];
	hash = (hash ^ hash >> 15) * HY_FLOW_HASH_DST + word[2];
	return (hash ^ hash >> 16) * HY_FLOW_HASH_PORTS + word[3];
}

/**
 * @return What counts of a packet besides its addresses and next header, as it lies in memory: ports, a
 * flow label, or 0; see hy_ip6_flow_hash().
 */
static __rte_always_inline uint32_t
hy_ip6_flow_word(const uint8_t *frame, uint32_t len)
{
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)(frame + RTE_ETHER_HDR_LEN);
	uint32_t word;

	if (ip->proto == IPPROTO_FRAGMENT)
		return 0;
	if ((ip->proto == IPPROTO_TCP || ip->proto == IPPROTO_UDP || ip->proto == IPPROTO_SCTP) &&
		rte_be_to_cpu_16(ip->payload_len) >= sizeof(word) && len >= HY_IP6_FLOW_BYTES) {
		memcpy(&word, ip + 1, sizeof(word));
		return word;
	}
	memcpy(&word, ip, sizeof(word));
	return word & HY_IP6_FLOW_LABEL;
}

/**
 * The hash of an IPv6 packet's flow. Reads no byte beyond @p len or beyond HY_IP6_FLOW_BYTES.
 *
 * @param len Length of the frame in bytes, at least that of Ethernet and IPv6 headers.
 */
static __rte_always_inline uint32_t
hy_ip6_flow_hash(const uint32_t seed[2], const uint8_t *frame, uint32_t len)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN;

	return hy_flow_hash(seed, ip[offsetof(struct rte_ipv6_hdr, proto)],
		hy_ip6_address_hash(ip + offsetof(struct rte_ipv6_hdr, src_addr)),
		hy_ip6_address_hash(ip + offsetof(struct rte_ipv6_hdr, dst_addr)),
		hy_ip6_flow_word(frame, len));
}

/**
 * The adjacency by which an IPv6 packet leaves: that of its id, or of the member that its flow takes.
 * Worker only.
 *
 * @param view Of the table's next hops.
 * @param frame As of hy_ip6_flow_hash().
 * @param len Likewise.
 */
static __rte_always_inline const struct hy_ip4_adjacency *
hy_ip6_adjacency_of(const struct hy_ip4_view *view, uint32_t id, const uint8_t *frame, uint32_t len)
{
	const struct hy_ip4_adjacency *adjacency = &hy_ip4_adjacencies(view)[id];
	const struct hy_ip4_buckets *buckets;

	if (likely(!hy_ip4_is_group(adjacency)))
		return adjacency;
	buckets = hy_ip4_group_buckets(adjacency);
	id = hy_ip4_group_member(buckets, hy_ip6_flow_hash(buckets->seed, frame, len));
	return &hy_ip4_adjacencies(view)[id];
}

HY_API_END
