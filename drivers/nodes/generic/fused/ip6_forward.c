/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_forward: checks all headers, then looks up all destinations, then rewrites all frames. */

#include <netinet/in.h>

#include "drivers/nodes/generic/classify/pkt_cls_ip6.h"
#include "drivers/nodes/generic/ip6/ip6_lookup_kernels.h"
#include "ip6_forward.h"

void
ip6_forward_uncount(uint8_t *const frame[], uint32_t *options, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		*options -= frame[i][IP6_PROTO] == IPPROTO_HOPOPTS;
}

static __rte_always_inline uint32_t
forward(const struct ip6_forward *forward, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n, hy_ip6_lookup_kernel_t *look_up)
{
	const struct hy_ip4_adjacency *adjacencies;
	const uint8_t *dst[HY_BURST_MAX];
	uint32_t route[HY_BURST_MAX], i;

	n = pkt_cls_ip6_pass((const uint8_t *const *)frame, len, options, n);
	if (unlikely(n == 0))
		return 0;
	for (i = 0; i < n; i++)
		dst[i] = frame[i] + IP6_DST;
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
		ip6_forward_uncount(frame + i, options, n - i);
	return i;
}

static uint32_t
forward_singly(const struct ip6_forward *with, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n)
{
	return forward(with, frame, len, next, options, n, hy_ip6_lookup_scalar);
}

static uint32_t
forward_batch(const struct ip6_forward *with, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t *options, uint32_t n)
{
	return forward(with, frame, len, next, options, n, hy_ip6_lookup_batch);
}

static uint16_t
run_singly(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs,
	uint16_t n, uint16_t next[])
{
	return ip6_forward_run(nodes, objs, n, next, forward_singly);
}

static uint16_t
run_batch(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs,
	uint16_t n, uint16_t next[])
{
	return ip6_forward_run(nodes, objs, n, next, forward_batch);
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
void
ip6_forward_pick(struct hy_node *const nodes[], void *const objs[], uint16_t n,
	uint64_t mine[HY_FUSE_WORDS])
{
	uint8_t bounce[HY_BURST_MAX][RTE_ETHER_HDR_LEN];
	const uint8_t *frame[HY_BURST_MAX];
	uint16_t i = 0;

	if (!ip6_forward_leads_here(nodes[0])) {
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
	for (i = 0; i < n; i += 64) {
		const unsigned int here = RTE_MIN(n - i, 64);
		uint64_t word = 0;

		for (unsigned int bit = 0; bit < here; bit++)
			word |= (uint64_t)hy_pkt_cls_says_ip6(frame[i + bit]) << bit;
		mine[i / 64] = word;
	}
}

HY_NODE_FUSION(ip6_forward, scalar, .text = "Looks up one address at a time", .run = run_singly,
	IP6_FORWARD_CHAIN("scalar", "scalar", "scalar"));
HY_NODE_FUSION(ip6_forward, batch, .text = "Looks up all addresses of a burst side by side",
	.run = run_batch, IP6_FORWARD_CHAIN("scalar", "batch", "scalar"));
