/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4_rewrite in NEON: compares the lengths of four packets, and changes their TTL and checksum, side
 * by side. Four of which one is dropped or has a short first segment are rewritten one by one.
 */

#include <rte_common.h>

#ifdef RTE_ARCH_ARM64

#include <stddef.h>
#include <string.h>

#include <arm_neon.h>

#include <rte_mbuf.h>

#include <hy_node.h>

#include "ip4_neon.h"
#include "ip4_rewrite_one.h"

#define VECTOR /* any 64-bit Arm CPU has it */
#define WIDTH 4

/* Two 32-bit words, which are neighbours in memory, of each packet. */
struct words {
	uint32x4_t first, second;
};

static __rte_always_inline struct words
words_of(const uint64_t pair[WIDTH])
{
	const uint32x4_t low = (uint32x4_t)(uint64x2_t){ pair[0], pair[1] };
	const uint32x4_t high = (uint32x4_t)(uint64x2_t){ pair[2], pair[3] };

	return (struct words){ vuzp1q_u32(low, high), vuzp2q_u32(low, high) };
}

static_assert(offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, pkt_len) + 4,
	"data_len is the lower half of the word after pkt_len");

/* Whether all packets have their headers in one piece, and none is longer than its port sends. */
static __rte_always_inline bool
all_fit(struct words lens, uint32x4_t max_len)
{
	const uint32x4_t data_len = vandq_u32(lens.second, vdupq_n_u32(UINT16_MAX));
	const uint32x4_t whole = vcgeq_u32(data_len, vdupq_n_u32(HY_IP4_REWRITE_HEADERS));

	return vminvq_u32(vandq_u32(whole, vcleq_u32(lens.first, max_len))) != 0;
}

#define write_l2 ip4_write_l2_neon
#define MEMBERS ip4_members_neon

/* For ip4_rewrite_vector.h. */
static __rte_always_inline bool
side_by_side(const struct hy_ip4_rewrite_port *ports, const struct hy_ip4_adjacency *adjacencies,
	const uint32_t route[], void *const objs[], uint16_t next[])
{
	const struct hy_ip4_adjacency *to[WIDTH];
	uint32x4_t word = vdupq_n_u32(0);
	uint64_t port[WIDTH], len[WIDTH];
	uint8_t *frame[WIDTH];
	struct words by_port;

	for (unsigned int i = 0; i < WIDTH; i++) {
		to[i] = &adjacencies[route[i]];
		memcpy(&port[i], &ports[to[i]->port], sizeof(port[i]));
		memcpy(&len[i], (const uint8_t *)objs[i] + offsetof(struct rte_mbuf, pkt_len),
			sizeof(len[i]));
	}
	by_port = words_of(port);
	if (unlikely(!all_fit(words_of(len), by_port.first)))
		return false;
	for (unsigned int i = 0; i < WIDTH; i++) {
		uint32_t field; /* see hy_ip4_rewrite_one() */

		frame[i] = rte_pktmbuf_mtod((struct rte_mbuf *)objs[i], uint8_t *);
		memcpy(&field, frame[i] + 22, sizeof(field));
		word[i] = field;
	}
	if (unlikely(vminvq_u32(vtstq_u32(word, vdupq_n_u32(0xfe))) == 0)) /* a TTL of 0 or 1 */
		return false;
	word += 0xffff + (vcgeq_u32(word, vdupq_n_u32(0xfffe0000)) & 0x10000);
	for (unsigned int i = 0; i < WIDTH; i++) {
		const uint32_t field = word[i];

		write_l2(frame[i], &to[i]->l2);
		memcpy(frame[i] + 22, &field, sizeof(field));
	}
	vst1_u16(next, vmovn_u32(by_port.second));
	return true;
}

#include "ip4_rewrite_vector.h"

HY_NODE_VARIANT(ip4_rewrite, neon,
	.text = "Changes TTL and checksum of four packets at a time",
	.impl.process = process,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 20);

#endif
