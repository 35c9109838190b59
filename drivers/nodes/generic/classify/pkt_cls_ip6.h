/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of one IPv6 frame. */
#pragma once

#include <hy_pkt_cls.h>

/* Where fields are in a frame. */
#define IP6_PROTO (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, proto))
#define IP6_DST (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, dst_addr))

/* Whether an address is neither unspecified nor loopback nor link-local nor multicast. */
static inline bool
ip6_is_plain(const uint8_t *address)
{
	rte_be64_t word[2];
	uint64_t high, low;

	memcpy(word, address, sizeof(word));
	high = rte_be_to_cpu_64(word[0]);
	low = rte_be_to_cpu_64(word[1]);
	/* fe80::/10 and ff00::/8 (RFC 4291 2.5.6, 2.7); :: and ::1 (RFC 4291 2.5.2, 2.5.3). */
	return high >> 54 != 0x3fa && high >> 56 != 0xff && (high | low >> 1) != 0;
}

/*
 * Checks the IPv6 header that follows 14 bytes of Ethernet. A payload length of 0 with hop-by-hop
 * options is a jumbogram's (RFC 2675 3), or wrong.
 */
static inline uint16_t
pkt_cls_ip6_one(const uint8_t *frame, uint32_t len, uint16_t edge)
{
	const uint8_t *ip = frame + RTE_ETHER_HDR_LEN;
	rte_be16_t field;
	uint32_t payload;

	if (unlikely(len < HY_PKT_CLS_IP6_LEAST))
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	memcpy(&field, ip + offsetof(struct rte_ipv6_hdr, payload_len), sizeof(field));
	payload = rte_be_to_cpu_16(field);
	if (unlikely(ip[0] >> 4 != 6 ||
		    (payload == 0 && ip[offsetof(struct rte_ipv6_hdr, proto)] == IPPROTO_HOPOPTS)))
		return HY_DROP(HY_PKT_CLS_BAD_HEADER);
	if (unlikely(payload > len - HY_PKT_CLS_IP6_LEAST))
		return HY_DROP(HY_PKT_CLS_TRUNCATED);
	if (unlikely(!ip6_is_plain(ip + offsetof(struct rte_ipv6_hdr, dst_addr))))
		return HY_DROP(HY_PKT_CLS_MARTIAN_DST);
	if (unlikely(!ip6_is_plain(ip + offsetof(struct rte_ipv6_hdr, src_addr))))
		return HY_DROP(HY_PKT_CLS_MARTIAN_SRC);
	return edge;
}

/*
 * Checks frames. Returns how many pass before the first that does not, and adds to options how many of
 * these have hop-by-hop options.
 */
typedef uint32_t(pkt_cls_ip6_pass_t)(const uint8_t *const frame[], const uint32_t len[],
	uint32_t *options, uint32_t n);

pkt_cls_ip6_pass_t pkt_cls_ip6_pass; /* one after another */
#ifdef RTE_ARCH_X86_64
pkt_cls_ip6_pass_t pkt_cls_ip6_pass_avx2, pkt_cls_ip6_pass_avx512;
#elif defined(RTE_ARCH_ARM64)
pkt_cls_ip6_pass_t pkt_cls_ip6_pass_neon;
#endif
