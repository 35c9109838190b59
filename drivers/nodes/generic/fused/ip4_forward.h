/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ip4_forward: pkt_cls, ip4_lookup and ip4_rewrite fused (hy_fuse.h). A header is read once, checked,
 * looked up and rewritten. It handles the packets before the first that any of the nodes would drop, and
 * none of a burst in which one has several segments.
 */
#pragma once

#include <rte_lpm.h>

#include <hy_ip4_lookup.h>
#include <hy_ip4_rewrite.h>
#include <hy_pkt_cls.h>

#include "forward.h"

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
 * Checks frames, and returns how many pass before the first that does not, apart from group addresses
 * and lengths. Of these, writes the destination, and the word from TTL to checksum as it is to be.
 * There is room for a vector more.
 */
typedef uint32_t(ip4_check_t)(const uint8_t *const frame[], const uint32_t len[], uint32_t dst[],
	uint32_t word[], uint32_t n);

#ifdef RTE_ARCH_X86_64
ip4_check_t ip4_check_avx2, ip4_check_avx512;
#elif defined(RTE_ARCH_ARM64)
ip4_check_t ip4_check_neon;
#endif

/* The nodes and the edges of the chain, for HY_NODE_FUSION. */
#define IP4_FORWARD_CHAIN(variant_) \
	.chain = { { "pkt_cls", variant_ }, { "ip4_lookup", variant_ }, \
		{ "ip4_rewrite", variant_ } }, \
	.edge = { HY_PKT_CLS_NEXT_IP4_LOOKUP, HY_IP4_LOOKUP_NEXT_REWRITE }

/*
 * Where a kernel stops: at a burst with segments; and if it takes width frames at a time, before a frame
 * with options, which it leaves to the nodes, and before a vector with a frame too short for headers.
 */
static inline uint16_t
ip4_forward_stops(void *const objs[], uint16_t n, uint16_t width, const char **why)
{
	uint16_t least = n;

	if (forward_stops(objs, n, why) < n)
		return 0;
	for (uint16_t i = 0; i < n && width > 1; i++) {
		const struct rte_mbuf *m = objs[i];

		if (m->pkt_len < HY_IP4_REWRITE_HEADERS && i - i % width < least) {
			*why = "a frame is shorter than its headers";
			least = i - i % width;
		} else if (m->pkt_len >= HY_IP4_REWRITE_HEADERS && i < least &&
			*rte_pktmbuf_mtod_offset(m, const uint8_t *, RTE_ETHER_HDR_LEN) !=
				RTE_IPV4_VHL_DEF) {
			*why = "a header has options";
			least = i;
		}
	}
	return least;
}

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
	uint32_t len[HY_BURST_MAX];

	if (unlikely(!forward_frames(objs, n, frame, len)))
		return 0;
	return (uint16_t)kernel(&forward, frame, len, next, n);
}
