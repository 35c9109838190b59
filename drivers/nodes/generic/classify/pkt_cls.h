/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of the family pkt_cls, and the check of one frame that its variants share.
 *
 * Edges, drop reasons and their order of precedence: a frame that is wrong in two ways counts
 * under the first. Lane: the destination address of what goes on, in host byte order.
 */
#ifndef HY_PKT_CLS_H
#define HY_PKT_CLS_H

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <hy_mbuf.h>
#include <hy_node.h>

enum pkt_cls_next { PKT_CLS_NEXT_IP4_LOOKUP };

enum pkt_cls_drop {
	PKT_CLS_TRUNCATED,
	PKT_CLS_L2_NOT_UNICAST,
	PKT_CLS_VLAN_UNKNOWN,
	PKT_CLS_NOT_IP4,
	PKT_CLS_BAD_HEADER,
	PKT_CLS_BAD_CHECKSUM,
	PKT_CLS_MARTIAN_DST,
};

enum pkt_cls_lane { PKT_CLS_LANE_ROUTE };

/* Bytes of a frame that the checks may read: an Ethernet header and the longest IPv4 header. */
#define PKT_CLS_HEADERS (RTE_ETHER_HDR_LEN + 15 * RTE_IPV4_IHL_MULTIPLIER)

/* Ether type 0x9100: a tag stacked outside, from before 802.1ad. */
#define PKT_CLS_ETHER_TYPE_QINQ_OLD 0x9100

/* RFC 1812 5.3.7: 0/8, 127/8, 224/4 and 240/4 are never forwarded to. */
static inline bool
pkt_cls_is_martian(uint32_t dst)
{
	const uint32_t net = dst >> 24;

	return net == 0 || net == 127 || net >= 224;
}

/* RFC 1812 5.2.2 and 4.2.2.5: the header behind 14 bytes of Ethernet in a frame of len bytes. */
static inline uint16_t
pkt_cls_ip4(const uint8_t *frame, uint32_t len, uint32_t *dst)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	uint32_t header, total;

	if (len < RTE_ETHER_HDR_LEN + sizeof(*ip))
		return HY_DROP(PKT_CLS_TRUNCATED);
	len -= RTE_ETHER_HDR_LEN;
	header = (ip->version_ihl & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	total = rte_be_to_cpu_16(ip->total_length);
	if (ip->version_ihl >> 4 != IPVERSION || header < sizeof(*ip))
		return HY_DROP(PKT_CLS_BAD_HEADER);
	if (header > len || total > len)
		return HY_DROP(PKT_CLS_TRUNCATED);
	if (total < header)
		return HY_DROP(PKT_CLS_BAD_HEADER);
	if (rte_raw_cksum(ip, header) != 0xffff)
		return HY_DROP(PKT_CLS_BAD_CHECKSUM);
	*dst = rte_be_to_cpu_32(ip->dst_addr);
	if (pkt_cls_is_martian(*dst))
		return HY_DROP(PKT_CLS_MARTIAN_DST);
	return PKT_CLS_NEXT_IP4_LOOKUP;
}

/*
 * Where one frame goes. Reads no byte beyond len, nor beyond PKT_CLS_HEADERS.
 *
 * known_ip4: the NIC has seen that the ether type is 0x0800.
 */
static inline uint16_t
pkt_cls_one(const uint8_t *frame, uint32_t len, bool known_ip4, uint32_t *dst)
{
	rte_be16_t type;

	if (unlikely(len < RTE_ETHER_HDR_LEN))
		return HY_DROP(PKT_CLS_TRUNCATED);
	if (unlikely((frame[0] & RTE_ETHER_GROUP_ADDR) != 0))
		return HY_DROP(PKT_CLS_L2_NOT_UNICAST);
	/* Frames may start at odd addresses, struct rte_ether_hdr must not. */
	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	if (!known_ip4 && unlikely(type != RTE_BE16(RTE_ETHER_TYPE_IPV4))) {
		switch (rte_be_to_cpu_16(type)) {
		case RTE_ETHER_TYPE_VLAN:
		case RTE_ETHER_TYPE_QINQ:
		case PKT_CLS_ETHER_TYPE_QINQ_OLD:
			return HY_DROP(PKT_CLS_VLAN_UNKNOWN);
		default:
			return HY_DROP(PKT_CLS_NOT_IP4);
		}
	}
	return pkt_cls_ip4(frame, len, dst);
}

/*
 * A kernel. Pure: no graph, no mbuf.
 *
 * frame, len: n frames. As much of them as pkt_cls_one() reads is in one piece.
 * next: PKT_CLS_NEXT_IP4_LOOKUP or the drop each. dst: addresses in host byte order; of dropped
 * frames, anything.
 */
typedef void(pkt_cls_kernel)(const uint8_t *const frame[], const uint32_t len[], uint16_t next[],
	uint32_t dst[], uint32_t n);

pkt_cls_kernel hy_pkt_cls_scalar;
#ifdef RTE_ARCH_X86_64
pkt_cls_kernel hy_pkt_cls_avx2;
pkt_cls_kernel hy_pkt_cls_avx512;
#elif defined(RTE_ARCH_ARM64)
pkt_cls_kernel hy_pkt_cls_neon;
#endif

/* Like hy_pkt_cls_scalar(), but believes packet types of frames that have one. */
void hy_pkt_cls_ptype(const uint8_t *const frame[], const uint32_t len[], const uint32_t ptype[],
	uint16_t next[], uint32_t dst[], uint32_t n);

/* The frames of a burst, and their lengths. bounce has room for those that are in pieces. */
static __rte_always_inline void
pkt_cls_frames(void **objs, uint32_t n, uint8_t bounce[][PKT_CLS_HEADERS], const uint8_t *frame[],
	uint32_t len[])
{
	uint32_t i = 0;

	do { /* n is at least 1 */
		const struct rte_mbuf *m = objs[i];

		frame[i] = hy_mbuf_peek(m, PKT_CLS_HEADERS, bounce[i]);
		rte_prefetch0(frame[i]); /* all are on their way when the first is checked */
		len[i] = m->pkt_len;
	} while (++i < n);
}

static __rte_always_inline uint16_t
pkt_cls_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	pkt_cls_kernel *kernel)
{
	uint8_t bounce[HY_BURST_MAX][PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];

	pkt_cls_frames(objs, n, bounce, frame, len);
	kernel(frame, len, next, hy_lane(graph, node, PKT_CLS_LANE_ROUTE), n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

#endif
