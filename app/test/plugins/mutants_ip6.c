/* SPDX-License-Identifier: BSD-3-Clause */
/* More variants of the pack of mutants.c, of IPv6. */

#define HY_PACK "mutants"

#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_mbuf.h>
#include <hy_pkt_cls.h>

/* The family's lookup, of the headers: kernels are not exported. */
static void
look_up(const struct hy_ip6_trie *trie, const uint8_t *const dst[], uint32_t route[],
	uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t entry = hy_ip6_find(trie, dst[i]);

		route[i] = entry == 0 ? 0 : entry - 1;
		next[i] = entry == 0 ? HY_DROP(HY_IP6_LOOKUP_NO_ROUTE) : HY_IP6_LOOKUP_NEXT_REWRITE;
	}
}

static uint16_t
uncounted_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint64_t *counter = &node->edges[HY_COUNTER_SLOT(HY_IP6_LOOKUP_HOP_BY_HOP)].objs;
	const uint64_t before = *counter;

	hy_ip6_lookup_process(graph, node, objs, n, look_up);
	if (n == 33)
		*counter = before;
	return n;
}

HY_NODE_VARIANT(ip6_lookup, uncounted,
	.text = "Does not count hop-by-hop options in bursts of 33",
	.impl.process = uncounted_process);

/* Looks at 64 bits of addresses. */
static void
look_up_half(const struct hy_ip6_trie *trie, const uint8_t *const dst[], uint32_t route[],
	uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t address[HY_IP6_BYTES] = { 0 };
		const uint8_t *half = address;

		memcpy(address, dst[i], HY_IP6_BYTES / 2);
		look_up(trie, &half, &route[i], &next[i], 1);
	}
}

static uint16_t
half_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip6_lookup_process(graph, node, objs, n, look_up_half);
}

HY_NODE_VARIANT(ip6_lookup, half,
	.text = "Ignores the second half of addresses",
	.impl.process = half_process);

/* Rewrites one packet, as the family's contract wants it; or with the ether type of IPv4. */
static uint16_t
rewrite(const struct hy_ip6_rewrite_ctx *ctx, struct rte_mbuf *m,
	const struct hy_ip4_adjacency *adjacency, bool as_ip4)
{
	const struct hy_ip4_rewrite_port *port = &ctx->port[adjacency->port];
	uint8_t copy[HY_IP6_REWRITE_HEADERS];
	const void *headers = rte_pktmbuf_read(m, 0, sizeof(copy), copy);
	uint16_t next;

	if (headers != copy)
		memcpy(copy, headers, sizeof(copy));
	next = hy_ip6_rewrite_one(copy, m->pkt_len, adjacency, port);
	if (next != port->edge)
		return next;
	if (as_ip4)
		memcpy(copy, &adjacency->l2, sizeof(adjacency->l2));
	hy_mbuf_poke(m, copy, sizeof(copy));
	return next;
}

typedef const struct hy_ip4_adjacency *(find_t)(const struct hy_ip4_view *view, uint32_t id,
	const uint8_t *frame, uint32_t len);

static uint16_t
rewrite_all(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n, find_t *find,
	bool as_ip4)
{
	const struct hy_ip6_rewrite_ctx *ctx = node->ctx;
	const uint32_t *route = hy_lane(graph, node, HY_IP6_REWRITE_LANE_ROUTE);
	uint8_t bounce[HY_IP6_FLOW_BYTES];
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];

		next[i] = rewrite(ctx, m,
			find(ctx->view->next_hops, route[i],
				hy_mbuf_peek(m, sizeof(bounce), bounce), m->pkt_len),
			as_ip4);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
as_ip4_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return rewrite_all(graph, node, objs, n, hy_ip6_adjacency_of, true);
}

HY_NODE_VARIANT(ip6_rewrite, as_ip4,
	.text = "Writes the ether type of IPv4",
	.impl.process = as_ip4_process);

/* The adjacency by which a packet leaves if flow labels of fragments count. */
static const struct hy_ip4_adjacency *
adjacency_of(const struct hy_ip4_view *view, uint32_t id, const uint8_t *frame, uint32_t len)
{
	const struct hy_ip4_adjacency *adjacency = &hy_ip4_adjacencies(view)[id];
	const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(adjacency);
	uint32_t word = hy_ip6_flow_word(frame, len);

	if (!hy_ip4_is_group(adjacency))
		return adjacency;
	if (frame[RTE_ETHER_HDR_LEN + 6] == IPPROTO_FRAGMENT) {
		memcpy(&word, frame + RTE_ETHER_HDR_LEN, sizeof(word));
		word &= HY_IP6_FLOW_LABEL;
	}
	id = hy_ip4_group_member(buckets,
		hy_flow_hash(buckets->seed, frame[RTE_ETHER_HDR_LEN + 6],
			hy_ip6_address_hash(frame + RTE_ETHER_HDR_LEN + 8),
			hy_ip6_address_hash(frame + RTE_ETHER_HDR_LEN + 24), word));
	return &hy_ip4_adjacencies(view)[id];
}

static uint16_t
parts_fragments_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return rewrite_all(graph, node, objs, n, adjacency_of, false);
}

HY_NODE_VARIANT(ip6_rewrite, parts_fragments,
	.text = "Takes the flow labels of fragments into the hash",
	.impl.process = parts_fragments_process);

static uint16_t
only_ip4_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint8_t bounce[HY_BURST_MAX][HY_PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	hy_pkt_cls_frames(objs, n, bounce, frame, len);
	for (uint16_t i = 0; i < n; i++)
		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, only_ip4,
	.text = "Knows no IPv6",
	.impl.process = only_ip4_process);

static uint16_t
always_on_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint8_t bounce[HY_BURST_MAX][HY_PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE);
	const struct hy_pkt_cls_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	hy_pkt_cls_frames(objs, n, bounce, frame, len);
	for (uint16_t i = 0; i < n; i++)
		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
	if (ctx->fib != NULL) /* whether or not it has routes */
		hy_pkt_cls_ip6_rest(node, frame, len, next, dst, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(pkt_cls, always_on,
	.text = "Does not see that IPv6 was turned off",
	.impl.process = always_on_process);
