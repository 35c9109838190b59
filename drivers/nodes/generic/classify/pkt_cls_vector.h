/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_cls in vector instructions: what its kernels have in common. WIDTH headers at a time, turned
 * so that a vector holds one field of all of them; then each check is one comparison. A vector
 * finds what is right: IPv4 without options, to be forwarded. What is not goes through the check of
 * one frame, which knows the reasons.
 *
 * A file that includes this defines before:
 * VECTOR: the target attribute of its instruction set;
 * WIDTH: 32-bit lanes of a vector, at least 4;
 * lanes: the type of a vector, a GCC vector of uint32_t;
 * pieces(frame, at): 16 bytes, from byte at on, of frames 0, 4, 8 and so on;
 * low32(a, b), high32(a, b), low64(a, b), high64(a, b): halves of 16 bytes of a and b, interleaved;
 * swap32(v): lanes of the other byte order;
 * true_lanes(v): bit i is set if lane i is not 0, and then it is all ones.
 */
#ifndef HY_PKT_CLS_VECTOR_H
#define HY_PKT_CLS_VECTOR_H

#include "pkt_cls_kernels.h"

/* The shortest frame that is read as a vector: Ethernet, and IPv4 without options. */
#define SHORTEST (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))
#define TOO_FEW 4 /* frames for a vector to pay */

/* Four neighbouring dwords of frames, each in a vector of its own. */
struct columns {
	lanes dword[4];
};

VECTOR static inline struct columns
columns(const uint8_t *const frame[], unsigned int at)
{
	const lanes a = pieces(frame, at), b = pieces(frame + 1, at);
	const lanes c = pieces(frame + 2, at), d = pieces(frame + 3, at);
	const lanes first_ab = low32(a, b), last_ab = high32(a, b);
	const lanes first_cd = low32(c, d), last_cd = high32(c, d);

	return (struct columns){ { low64(first_ab, first_cd), high64(first_ab, first_cd),
		low64(last_ab, last_cd), high64(last_ab, last_cd) } };
}

/* The sum of the header's 16-bit words: 0xffff if the checksum is right. */
VECTOR static inline lanes
header_sum(lanes first, const struct columns *rest)
{
	lanes sum = (first & 0xffff) + (first >> 16);

	for (unsigned int i = 0; i < 4; i++)
		sum += (rest->dword[i] & 0xffff) + (rest->dword[i] >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Which of WIDTH frames are sent to a group of stations: few, so that all are asked at once first. */
static __rte_always_inline uint32_t
to_groups(const uint8_t *const frame[])
{
	uint32_t bits = 0;
	uint8_t any = 0;

	for (unsigned int i = 0; i < WIDTH; i++)
		any |= frame[i][0];
	if (likely((any & RTE_ETHER_GROUP_ADDR) == 0))
		return 0;
	for (unsigned int i = 0; i < WIDTH; i++)
		bits |= (frame[i][0] & UINT32_C(1)) << i; /* RTE_ETHER_GROUP_ADDR */
	return bits;
}

/* Which of WIDTH frames, none shorter than SHORTEST, are right. dst is written for all. */
VECTOR static inline uint32_t
right_ones(const uint8_t *const frame[], lanes len, lanes *dst)
{
	/* Bytes 2 to 17: the ether type ends the third dword, the IPv4 header starts the fourth. */
	const struct columns start = columns(frame, 2), rest = columns(frame, 18);
	const lanes type = start.dword[2] >> 16, first = start.dword[3];
	const lanes total = swap32(first) & 0xffff;
	lanes net, right;

	*dst = swap32(rest.dword[3]);
	net = *dst >> 24;
	right = (lanes)(type == RTE_BE16(RTE_ETHER_TYPE_IPV4));
	right &= (lanes)((first & 0xff) == RTE_IPV4_VHL_DEF);
	right &= (lanes)(total >= sizeof(struct rte_ipv4_hdr));
	right &= (lanes)(total <= len - RTE_ETHER_HDR_LEN);
	right &= (lanes)(header_sum(first, &rest) == 0xffff);
	right &= (lanes)(net > 0) & (lanes)(net != 127) & (lanes)(net < 224);
	return true_lanes(right) & ~to_groups(frame);
}

/* WIDTH frames. */
VECTOR static __rte_always_inline void
classify_vector(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[])
{
	lanes lengths, addresses;
	uint32_t wrong;

	memcpy(&lengths, len, sizeof(lengths));
	if (unlikely(true_lanes((lanes)(lengths < SHORTEST)) != 0)) {
		hy_pkt_cls_scalar(frame, len, next, dst, WIDTH);
		return;
	}
	wrong = ~right_ones(frame, lengths, &addresses) & (uint32_t)((UINT64_C(1) << WIDTH) - 1);
	memcpy(dst, &addresses, sizeof(addresses));
	static_assert(HY_PKT_CLS_NEXT_IP4_LOOKUP == 0, "what is right is zeroed");
	memset(next, 0, WIDTH * sizeof(*next));
	for (; wrong != 0; wrong &= wrong - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(wrong);

		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
	}
}

/* Fewer than WIDTH frames: the first one stands in for those that lack. */
VECTOR static inline void
classify_tail(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	const uint8_t *frames[WIDTH];
	uint32_t lens[WIDTH], dsts[WIDTH];
	uint16_t nexts[WIDTH];

	for (uint32_t i = 0; i < WIDTH; i++) {
		frames[i] = frame[i < n ? i : 0];
		lens[i] = len[i < n ? i : 0];
	}
	classify_vector(frames, lens, nexts, dsts);
	memcpy(next, nexts, n * sizeof(*next));
	memcpy(dst, dsts, n * sizeof(*dst));
}

VECTOR static inline void
classify(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	uint32_t i;

	for (i = 0; i + WIDTH <= n; i += WIDTH)
		classify_vector(frame + i, len + i, next + i, dst + i);
	if (n - i >= TOO_FEW)
		classify_tail(frame + i, len + i, next + i, dst + i, n - i);
	else
		hy_pkt_cls_scalar(frame + i, len + i, next + i, dst + i, n - i);
}

#endif
