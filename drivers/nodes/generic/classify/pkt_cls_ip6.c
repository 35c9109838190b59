/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_cls: IPv6 frames of a burst, while IPv6 is on, and the node's configuration. */

#include "pkt_cls_ip6.h"

static const struct hy_ip6_view off; /* of nodes without a configuration */

int
hy_pkt_cls_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_pkt_cls_config *of = config;
	struct hy_pkt_cls_ctx *ctx = node->ctx;

	*ctx = (struct hy_pkt_cls_ctx){ .ip6 = &off };
	if (of == NULL)
		return 0;
	ctx->fib = hy_ip6_fib_for(graph, &of->ip6);
	if (ctx->fib == NULL)
		return hy_node_refuse(graph, node,
			"has a struct hy_pkt_cls_config without a table");
	if (of->ip6_edge == HY_PKT_CLS_NEXT_IP4_LOOKUP ||
		of->ip6_edge >= hy_graph_edge_count(graph, node))
		return hy_node_refuse(graph, node,
			"has no edge %u for IPv6; edges 1 to %d are accepted", of->ip6_edge,
			hy_graph_edge_count(graph, node) - 1);
	ctx->ip6 = hy_ip6_fib_view(ctx->fib);
	ctx->ip6_edge = of->ip6_edge;
	return hy_ip6_fib_use(graph, node, ctx->fib);
}

void
hy_pkt_cls_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_pkt_cls_ctx *ctx = node->ctx;

	if (ctx->fib != NULL)
		hy_ip6_fib_unuse(ctx->fib);
}

uint32_t
pkt_cls_ip6_pass(const uint8_t *const frame[], const uint32_t len[], uint32_t *options, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (len[i] < HY_PKT_CLS_IP6_LEAST || (*frame[i] & RTE_ETHER_GROUP_ADDR) != 0 ||
			!hy_pkt_cls_says_ip6(frame[i]) || pkt_cls_ip6_one(frame[i], len[i], 0) != 0)
			break;
		*options += frame[i][IP6_PROTO] == IPPROTO_HOPOPTS;
	}
	return i;
}

void
hy_pkt_cls_ip6_rest(const struct hy_node *node, const uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t dst[], uint32_t n)
{
	const struct hy_pkt_cls_ctx *ctx = node->ctx;

	for (uint32_t i = 0; i < n; i++) {
		if (next[i] != HY_DROP(HY_PKT_CLS_NOT_IP4) || !hy_pkt_cls_says_ip6(frame[i]))
			continue;
		next[i] = pkt_cls_ip6_one(frame[i], len[i], ctx->ip6_edge);
		dst[i] = 0;
	}
}

uint32_t
hy_pkt_cls_ip6_first(const struct hy_node *node, const uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t dst[], uint32_t n)
{
	const struct hy_pkt_cls_ctx *ctx = node->ctx;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (len[i] < RTE_ETHER_HDR_LEN || (frame[i][0] & RTE_ETHER_GROUP_ADDR) != 0 ||
			!hy_pkt_cls_says_ip6(frame[i]))
			break;
		next[i] = pkt_cls_ip6_one(frame[i], len[i], ctx->ip6_edge);
		dst[i] = 0;
	}
	return i;
}
