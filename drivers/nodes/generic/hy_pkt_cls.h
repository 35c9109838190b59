/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family pkt_cls, for its variants: which frames are IPv4 packets to forward
 * (RFC 1812 5.2), and the check of one frame that variants share. hy_pkt_cls_ip6.h adds IPv6.
 *
 * While IPv6 is off, every frame leaves by the edge to ip4_lookup or is dropped. A frame with several
 * faults counts under the first matching drop reason of enum hy_pkt_cls_drop. The node writes its one
 * lane: the destination address in host byte order if the frame is forwarded, an undefined value if it
 * is dropped. It reads frames and never writes them; it reads no byte beyond the frame's length or beyond
 * HY_PKT_CLS_HEADERS.
 *
 * The family has no configuration but that of IPv6. Everything here is for the worker.
 */
#pragma once

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_pkt_cls_ip6.h>

HY_API_BEGIN

/** Edges. A program adds that to ip6_lookup (struct hy_pkt_cls_config). */
enum hy_pkt_cls_next { HY_PKT_CLS_NEXT_IP4_LOOKUP };

/** Drop reasons. The first one that applies counts. */
enum hy_pkt_cls_drop {
	HY_PKT_CLS_TRUNCATED,      /**< Shorter than its headers or its IP length. */
	HY_PKT_CLS_L2_NOT_UNICAST, /**< Group bit in the destination MAC address. */
	HY_PKT_CLS_VLAN_UNKNOWN,   /**< A VLAN tag. */
	HY_PKT_CLS_NOT_IP4,        /**< The ether type is not IPv4, nor IPv6 while that is on. */
	HY_PKT_CLS_BAD_HEADER,   /**< Wrong version, header length or total length; a jumbogram. */
	HY_PKT_CLS_BAD_CHECKSUM, /**< Wrong header checksum. */
	HY_PKT_CLS_MARTIAN_DST,  /**< A destination that must not be forwarded to. */
	HY_PKT_CLS_MARTIAN_SRC,  /**< IPv6 only: a source that must not be forwarded. */
};

/** Lanes: "ip4_route". */
enum hy_pkt_cls_lane { HY_PKT_CLS_LANE_ROUTE };

/** Most bytes of a frame that the checks read: an Ethernet header and the longest IPv4 header. */
#define HY_PKT_CLS_HEADERS (RTE_ETHER_HDR_LEN + 15 * RTE_IPV4_IHL_MULTIPLIER)

/** Ether type 0x9100: an outer tag as used before 802.1ad. */
#define HY_PKT_CLS_ETHER_TYPE_QINQ_OLD 0x9100

/** @return Whether RFC 1812 5.3.7 forbids forwarding to @p dst: 0/8, 127/8, 224/4 and 240/4. */
static inline bool
hy_pkt_cls_is_martian(uint32_t dst)
{
	const uint32_t net = dst >> 24;

	return net == 0 || net == 127 || net >= 224;
}

/**
 * Checks the IPv4 header that follows 14 bytes of Ethernet (RFC 1812 5.2.2 and 4.2.2.5).
 *
 * @param len Length of the frame in bytes.
 * @param[out] dst Destination address in host byte order; undefined if the frame is dropped.
 * @return As hy_pkt_cls_one().
 */
static inline uint16_t
hy_pkt_cls_ip4(const uint8_t *frame, uint32_t len, uint32_t *dst)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	uint32_t header, total;

	if (len < RTE_ETHER_HDR_LEN + sizeof(*ip))
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	len -= RTE_ETHER_HDR_LEN;
	header = (ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	total = rte_be_to_cpu_16(ip->total_length);
	if (ip->version_ihl >> 4 != IPVERSION || header < sizeof(*ip))
		return HY_DROP(HY_PKT_CLS_BAD_HEADER);
	if (header > len || total > len)
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	if (total < header)
		return HY_DROP(HY_PKT_CLS_BAD_HEADER);
	if (rte_raw_cksum(ip, header) != 0xffff)
		return HY_DROP(HY_PKT_CLS_BAD_CHECKSUM);
	*dst = rte_be_to_cpu_32(ip->dst_addr);
	if (hy_pkt_cls_is_martian(*dst))
		return HY_DROP(HY_PKT_CLS_MARTIAN_DST);
	return HY_PKT_CLS_NEXT_IP4_LOOKUP;
}

/**
 * Checks one frame. Reads no byte beyond @p len or beyond HY_PKT_CLS_HEADERS.
 *
 * @param len Length of the frame in bytes.
 * @param known_ip4 The NIC has reported the ether type 0x0800.
 * @param[out] dst Destination address in host byte order; undefined if the frame is dropped.
 * @return HY_PKT_CLS_NEXT_IP4_LOOKUP, or HY_DROP() of the reason.
 */
static inline uint16_t
hy_pkt_cls_one(const uint8_t *frame, uint32_t len, bool known_ip4, uint32_t *dst)
{
	rte_be16_t type;

	if (unlikely(len < RTE_ETHER_HDR_LEN))
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	if (unlikely((frame[0] & RTE_ETHER_GROUP_ADDR) != 0))
		return HY_DROP(HY_PKT_CLS_L2_NOT_UNICAST);
	/* Frames may start at odd addresses; struct rte_ether_hdr may not. */
	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	if (!known_ip4 && unlikely(type != RTE_BE16(RTE_ETHER_TYPE_IPV4))) {
		switch (rte_be_to_cpu_16(type)) {
		case RTE_ETHER_TYPE_VLAN:
		case RTE_ETHER_TYPE_QINQ:
		case HY_PKT_CLS_ETHER_TYPE_QINQ_OLD:
			return HY_DROP(HY_PKT_CLS_VLAN_UNKNOWN);
		default:
			return HY_DROP(HY_PKT_CLS_NOT_IP4);
		}
	}
	return hy_pkt_cls_ip4(frame, len, dst);
}

/**
 * A kernel: checks a burst. A pure function of its arguments, without graph and mbufs.
 *
 * @param frame @p n frames. The bytes that hy_pkt_cls_one() reads are contiguous in each.
 * @param len Their lengths in bytes.
 * @param[out] next HY_PKT_CLS_NEXT_IP4_LOOKUP or HY_DROP() for each frame.
 * @param[out] dst Destination addresses in host byte order; undefined for dropped frames.
 * @param n 1 to HY_BURST_MAX.
 */
typedef void(hy_pkt_cls_kernel_t)(const uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t dst[], uint32_t n);

/** The reference variant's kernel, one frame at a time. Other kernels use it for their tails. */
hy_pkt_cls_kernel_t hy_pkt_cls_scalar;

/**
 * Finds the frames of a burst and prefetches them.
 *
 * @param n At least 1.
 * @param bounce Room for headers that span segments.
 * @param[out] len Lengths in bytes.
 */
static __rte_always_inline void
hy_pkt_cls_frames(void **objs, uint32_t n, uint8_t bounce[][HY_PKT_CLS_HEADERS],
	const uint8_t *frame[], uint32_t len[])
{
	uint32_t i = 0;

	do { /* n is at least 1 */
		const struct rte_mbuf *m = (const struct rte_mbuf *)objs[i];

		frame[i] = hy_mbuf_peek(m, HY_PKT_CLS_HEADERS, bounce[i]);
		rte_prefetch0(frame[i]); /* all are under way when the first is checked */
		len[i] = m->pkt_len;
	} while (++i < n);
}

/** Process function of a variant with kernel @p kernel. */
static __rte_always_inline uint16_t
hy_pkt_cls_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_pkt_cls_kernel_t *kernel)
{
	uint8_t bounce[HY_BURST_MAX][HY_PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	uint32_t *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE);

	hy_pkt_cls_frames(objs, n, bounce, frame, len);
	kernel(frame, len, next, dst, n);
	if (hy_pkt_cls_ip6_on(node))
		hy_pkt_cls_ip6_rest(node, frame, len, next, dst, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_API_END
