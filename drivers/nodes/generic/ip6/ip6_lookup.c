/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_lookup: destination address to next hop, by longest prefix match. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <hy_ip6_lookup.h>
#include <hy_trace.h>

void
hy_ip6_lookup_scalar(const struct hy_ip6_trie *trie, const uint8_t *const dst[], uint32_t route[],
	uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t entry = hy_ip6_find(trie, dst[i]);

		route[i] = entry == 0 ? 0 : entry - 1;
		next[i] = entry == 0 ? HY_DROP(HY_IP6_LOOKUP_NO_ROUTE) : HY_IP6_LOOKUP_NEXT_REWRITE;
	}
}

/* IPv6 was turned off after pkt_cls had checked these packets. */
static void
find_none(uint32_t route[], uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		route[i] = 0;
		next[i] = HY_DROP(HY_IP6_LOOKUP_NO_ROUTE);
	}
}

uint16_t
hy_ip6_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_ip6_lookup_kernel_t *kernel)
{
	const struct hy_ip6_lookup_ctx *ctx = node->ctx;
	const struct hy_ip6_trie *trie = hy_ip6_trie(ctx->view);
	uint32_t *route = hy_lane(graph, node, HY_IP6_LOOKUP_LANE_ROUTE);
	uint8_t bounce[HY_BURST_MAX][HY_IP6_LOOKUP_HEADERS];
	const uint8_t *dst[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	uint32_t i = 0, options = 0;

	do { /* n is at least 1 */
		const uint8_t *ip = hy_mbuf_peek(objs[i], HY_IP6_LOOKUP_HEADERS, bounce[i]) +
			RTE_ETHER_HDR_LEN;

		options += ip[offsetof(struct rte_ipv6_hdr, proto)] == IPPROTO_HOPOPTS;
		dst[i] = ip + offsetof(struct rte_ipv6_hdr, dst_addr);
	} while (++i < n);
	if (unlikely(options != 0))
		hy_counter_add(node, HY_IP6_LOOKUP_HOP_BY_HOP, options);
	if (likely(trie != NULL))
		kernel(trie, dst, route, next, n);
	else
		find_none(route, next, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
scalar_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip6_lookup_process(graph, node, objs, n, hy_ip6_lookup_scalar);
}

int
hy_ip6_lookup_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct hy_ip6_lookup_ctx *ctx = node->ctx;

	ctx->fib = hy_ip6_fib_for(graph, config);
	if (ctx->fib == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_ip6_lookup_config with a table");
	ctx->view = hy_ip6_fib_view(ctx->fib);
	return hy_ip6_fib_use(graph, node, ctx->fib);
}

void
hy_ip6_lookup_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_ip6_lookup_ctx *ctx = node->ctx;

	hy_ip6_fib_unuse(ctx->fib);
}

static size_t
ip6_lookup_snapshot(const struct hy_node *node __rte_unused, const void *obj,
	const uint32_t *lanes __rte_unused, void *data, size_t size __rte_unused)
{
	uint8_t bounce[HY_IP6_LOOKUP_HEADERS];
	const uint8_t *frame = hy_mbuf_peek(obj, HY_IP6_LOOKUP_HEADERS, bounce);

	memcpy(data, frame + RTE_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, dst_addr),
		HY_IP6_BYTES);
	return HY_IP6_BYTES;
}

static int
ip6_lookup_format(const struct hy_trace_record *record, char *text, size_t size)
{
	char dst[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, record->data, dst, sizeof(dst));
	return snprintf(text, size, "%s", dst);
}

HY_NODE_FAMILY(ip6_lookup,
	.text = "Longest prefix match in a trie, one address at a time",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "ip6_lookup",
		.impl = {
			.variant = "scalar",
			.process = scalar_process,
			.init = hy_ip6_lookup_init,
			.fini = hy_ip6_lookup_fini,
			.ctx_size = sizeof(struct hy_ip6_lookup_ctx),
		},
		.edges = { [HY_IP6_LOOKUP_NEXT_REWRITE] = "ip6_rewrite" },
		.lanes = { [HY_IP6_LOOKUP_LANE_ROUTE] = "ip4_route" },
		.drops = {
			[HY_IP6_LOOKUP_NO_ROUTE] = { "no_route", HY_SEV_WARN,
				"No route to the destination (RFC 4443 3.1)" },
		},
		.counters = {
			[HY_IP6_LOOKUP_HOP_BY_HOP] = { "hop_by_hop", "packets", HY_SEV_INFO,
				"Have hop-by-hop options, which are not processed (RFC 8200 4)" },
		},
		.trace = { .snapshot = ip6_lookup_snapshot, .format = ip6_lookup_format },
	});
