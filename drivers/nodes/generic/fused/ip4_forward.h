/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4_forward: pkt_cls, ip4_lookup and ip4_rewrite fused (hy_fuse.h). A header is read once, checked,
 * looked up and rewritten. It handles the packets before the first that any of the nodes would drop, and
 * none of a burst in which one has several segments.
 */
#pragma once

#include <rte_lpm.h>
#include <rte_mbuf.h>

#include <hy_ip4_lookup.h>
#include <hy_ip4_rewrite.h>
#include <hy_pkt_cls.h>

/* What the nodes have, for one burst. */
struct ip4_forward {
	const struct rte_lpm *lpm;
	uint32_t none;                  /* the default entry */
	const struct hy_ip4_view *hops; /* to be read after routes */
	const struct hy_ip4_rewrite_port *ports;
};

/*
 * Forwards the frames before the first that does not pass, and returns how many these are. Writes
 * the edges that they take.
 */
typedef uint32_t(ip4_forward_t)(const struct ip4_forward *forward, uint8_t *const frame[],
	const uint32_t len[], uint16_t next[], uint32_t n);

/* One after another. */
ip4_forward_t ip4_forward_singly;

/*
 * Looks at frames, and returns how many pass before the first that does not, apart from group
 * addresses and lengths. Of these, writes the id of the next hop, and the word from TTL to checksum as
 * it is to be. There is room for a vector more.
 */
typedef uint32_t(ip4_look_t)(const struct ip4_forward *forward, const uint8_t *const frame[],
	const uint32_t len[], uint32_t id[], uint32_t word[], uint32_t n);

#ifdef RTE_ARCH_X86_64
ip4_look_t ip4_look_avx2, ip4_look_avx512;
#endif

/* The nodes and the edges of the chain, for HY_NODE_FUSION. */
#define IP4_FORWARD_CHAIN(variant_) \
	.chain = { { "pkt_cls", variant_ }, { "ip4_lookup", variant_ }, \
		{ "ip4_rewrite", variant_ } }, \
	.edge = { HY_PKT_CLS_NEXT_IP4_LOOKUP, HY_IP4_LOOKUP_NEXT_REWRITE }

/* The first four fields of 16 bits in an mbuf, read as one word. */
#define REARM_FIELD(word, i) \
	((uint16_t)((word) >> 16 * (RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? (i) : 3 - (i))))

/* The body of a fusion's function. */
static __rte_always_inline uint16_t
ip4_forward_run(struct hy_node *const nodes[], void **objs, uint16_t n, uint16_t next[],
	ip4_forward_t *kernel)
{
	const struct hy_ip4_lookup_ctx *lookup = nodes[1]->ctx;
	const struct hy_ip4_rewrite_ctx *rewrite = nodes[2]->ctx;
	const struct ip4_forward forward = { .lpm = lookup->view->lpm,
		.none = __atomic_load_n(&lookup->view->default_entry, __ATOMIC_ACQUIRE),
		.hops = rewrite->view,
		.ports = rewrite->port };
	uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], i = 0;
	uint64_t segments = 0;

	do { /* n is at least 1 */
		const struct rte_mbuf *m = objs[i];
		uint64_t word; /* data_off, refcnt, nb_segs, port */

		memcpy(&word, &m->rearm_data, sizeof(word));
		frame[i] = (uint8_t *)m->buf_addr + REARM_FIELD(word, 0);
		rte_prefetch0(frame[i]); /* all are under way when the first is checked */
		len[i] = m->pkt_len;
		segments |= word;
	} while (++i < n);
	if (unlikely(REARM_FIELD(segments, 2) != 1))
		return 0;
	return (uint16_t)kernel(&forward, frame, len, next, n);
}
