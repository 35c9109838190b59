/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_forward: checks all headers, then looks up all destinations, then rewrites all frames. */

#include <netinet/in.h>

#include "drivers/nodes/generic/classify/pkt_cls_ip6.h"
#include "drivers/nodes/generic/ip6/ip6_lookup_kernels.h"
#include "forward.h"
#include "ip6_forward.h"

#define PROTO (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, proto))
#define DST (RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, dst_addr))

/*
 * Checks frames as pkt_cls does. Returns how many pass before the first that does not. Adds to options
 * how many have hop-by-hop options.
 */
static uint32_t
check(uint8_t *const frame[], const uint32_t len[], const uint8_t *dst[], uint32_t *options,
	uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (len[i] < HY_PKT_CLS_IP6_LEAST || (*frame[i] & RTE_ETHER_GROUP_ADDR) != 0 ||
			!hy_pkt_cls_says_ip6(frame[i]) ||
			pkt_cls_ip6_one(frame[i], len[i], IP6_FORWARD_EDGE) != IP6_FORWARD_EDGE)
			break;
		*options += frame[i][PROTO] == IPPROTO_HOPOPTS;
		dst[i] = frame[i] + DST;
	}
	return i;
}

/* Of frames that were checked but stay, nothing is to be counted. */
static __rte_noinline void
uncount(uint8_t *const frame[], uint32_t *options, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		*options -= frame[i][PROTO] == IPPROTO_HOPOPTS;
}

static __rte_always_inline uint32_t
forward(const struct ip6_forward *forward, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n, hy_ip6_lookup_kernel_t *look_up)
{
	const struct hy_ip4_adjacency *adjacencies;
	const uint8_t *dst[HY_BURST_MAX];
	uint32_t route[HY_BURST_MAX], i;

	n = check(frame, len, dst, options, n);
	if (unlikely(n == 0))
		return 0;
	look_up(forward->trie, dst, route, next, n);
	/* After all routes, and so once: each time is a barrier on Arm. */
	adjacencies = hy_ip4_adjacencies(forward->hops);
	for (i = 0; i < n && next[i] == HY_IP6_LOOKUP_NEXT_REWRITE; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[route[i]];

		next[i] = hy_ip6_rewrite_one(frame[i], len[i], adjacency,
			&forward->ports[adjacency->port]);
		if (unlikely((int16_t)next[i] < 0))
			break;
	}
	if (unlikely(i < n))
		uncount(frame + i, options, n - i);
	return i;
}

uint32_t
ip6_forward_singly(const struct ip6_forward *with, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n)
{
	return forward(with, frame, len, next, options, n, hy_ip6_lookup_scalar);
}

uint32_t
ip6_forward_batch(const struct ip6_forward *with, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n)
{
	return forward(with, frame, len, next, options, n, hy_ip6_lookup_batch);
}

/* Whether pkt_cls sends IPv6 along the chain, as long as it is on. */
static inline bool
leads_here(const struct hy_node *cls)
{
	const struct hy_pkt_cls_ctx *ctx = cls->ctx;

	return ctx->ip6_edge == IP6_FORWARD_EDGE && hy_pkt_cls_ip6_on(cls);
}

static __rte_always_inline uint16_t
run(struct hy_node *const nodes[], void **objs, uint16_t n, uint16_t next[], ip6_forward_t *kernel)
{
	const struct hy_ip6_lookup_ctx *lookup = nodes[1]->ctx;
	const struct hy_ip6_rewrite_ctx *rewrite = nodes[2]->ctx;
	const struct ip6_forward with = { .trie = hy_ip6_trie(lookup->view),
		.hops = rewrite->view->next_hops,
		.ports = rewrite->port };
	uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], options = 0, done;

	if (!leads_here(nodes[0]) || with.trie == NULL || !forward_frames(objs, n, frame, len))
		return 0;
	done = kernel(&with, frame, len, next, &options, n);
	if (unlikely(options != 0))
		hy_counter_add(nodes[1], HY_IP6_LOOKUP_HOP_BY_HOP, options);
	return (uint16_t)done;
}

static uint16_t
run_singly(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs,
	uint16_t n, uint16_t next[])
{
	return run(nodes, objs, n, next, ip6_forward_singly);
}

static uint16_t
run_batch(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs,
	uint16_t n, uint16_t next[])
{
	return run(nodes, objs, n, next, ip6_forward_batch);
}

/* A copy of an Ethernet header that is in pieces, or too short: then with zeros behind it. */
static __rte_noinline const uint8_t *
ether_copy(const struct rte_mbuf *m, uint8_t copy[RTE_ETHER_HDR_LEN])
{
	const uint32_t n = RTE_MIN(m->pkt_len, (uint32_t)RTE_ETHER_HDR_LEN);
	const void *bytes = rte_pktmbuf_read(m, 0, n, copy);

	memset(copy + n, 0, RTE_ETHER_HDR_LEN - n);
	if (bytes != copy) /* contiguous */
		memcpy(copy, bytes, n);
	return copy;
}

/* By ether type. */
static void
pick(struct hy_node *const nodes[], void *const objs[], uint16_t n, uint64_t mine[HY_FUSE_WORDS])
{
	uint8_t bounce[HY_BURST_MAX][RTE_ETHER_HDR_LEN];
	const uint8_t *frame[HY_BURST_MAX];
	uint64_t word = 0;
	uint16_t i = 0;

	if (!leads_here(nodes[0])) {
		memset(mine, 0, HY_FUSE_WORDS * sizeof(*mine));
		return;
	}
	do { /* n is at least 1 */
		const struct rte_mbuf *m = objs[i];

		frame[i] = rte_pktmbuf_mtod(m, const uint8_t *);
		rte_prefetch0(frame[i]); /* all are under way when the first is looked at */
		if (unlikely(m->data_len < RTE_ETHER_HDR_LEN))
			frame[i] = ether_copy(m, bounce[i]);
	} while (++i < n);
	for (i = 0; i < n; i++) {
		word |= (uint64_t)hy_pkt_cls_says_ip6(frame[i]) << i % 64;
		if (i % 64 == 63 || i + 1 == n) {
			mine[i / 64] = word;
			word = 0;
		}
	}
}

#define CHAIN(cls_, lookup_) \
	.pick = pick, .stops = forward_stops, \
	.chain = { { "pkt_cls", cls_ }, { "ip6_lookup", lookup_ }, { "ip6_rewrite", "scalar" } }, \
	.edge = { IP6_FORWARD_EDGE, HY_IP6_LOOKUP_NEXT_REWRITE }

HY_NODE_FUSION(ip6_forward, scalar, .text = "Looks up one address at a time", .run = run_singly,
	CHAIN("scalar", "scalar"));
HY_NODE_FUSION(ip6_forward, batch, .text = "Looks up all addresses of a burst side by side",
	.run = run_batch, CHAIN("scalar", "batch"));
#ifdef RTE_ARCH_X86_64
HY_NODE_FUSION(ip6_forward, avx2, .text = "The same, where pkt_cls has AVX2", .run = run_batch,
	CHAIN("avx2", "batch"));
HY_NODE_FUSION(ip6_forward, avx512, .text = "The same, where pkt_cls has AVX-512", .run = run_batch,
	CHAIN("avx512", "batch"));
#elif defined(RTE_ARCH_ARM64)
HY_NODE_FUSION(ip6_forward, neon, .text = "The same, where pkt_cls has NEON", .run = run_batch,
	CHAIN("neon", "batch"));
#endif
