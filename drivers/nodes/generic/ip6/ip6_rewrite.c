/* SPDX-License-Identifier: BSD-3-Clause */
/* ip6_rewrite: next hop to MAC addresses and port; hop limit (RFC 8200 3). */

#include <rte_mbuf.h>

#include <hy_ip6_rewrite.h>
#include <hy_mbuf.h>
#include <hy_trace.h>

#include "ip6_fib.h"
#include "ip6_rewrite_one.h"

/* The member of a group that a packet takes. */
static uint32_t
member_of(const struct hy_ip4_adjacency *group, const struct rte_mbuf *m)
{
	const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(group);
	uint8_t bounce[HY_IP6_FLOW_BYTES];

	return hy_ip4_group_member(buckets,
		hy_ip6_flow_hash(buckets->seed, hy_mbuf_peek(m, HY_IP6_FLOW_BYTES, bounce),
			m->pkt_len));
}

/* For headers that span segments: rewrites a copy and writes it back. */
static uint16_t
rewrite_in_pieces(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port)
{
	uint8_t copy[HY_IP6_REWRITE_HEADERS];
	const void *headers = rte_pktmbuf_read(m, 0, sizeof(copy), copy);
	uint16_t next;

	if (headers != copy) /* contiguous, after empty segments */
		memcpy(copy, headers, sizeof(copy));
	next = hy_ip6_rewrite_one(copy, m->pkt_len, adjacency, port);
	if (next == port->edge)
		hy_mbuf_poke(m, copy, sizeof(copy));
	return next;
}

uint16_t
ip6_rewrite_packet(const struct hy_ip6_rewrite_ctx *ctx, struct rte_mbuf *m,
	const struct hy_ip4_adjacency *adjacency)
{
	const struct hy_ip4_rewrite_port *port;

	if (hy_ip4_is_group(adjacency)) {
		const uint32_t id = member_of(adjacency, m); /* which may be newer than the array */

		adjacency = &hy_ip4_adjacencies(ctx->view->next_hops)[id];
	}
	port = &ctx->port[adjacency->port];
	if (m->data_len < HY_IP6_REWRITE_HEADERS)
		return rewrite_in_pieces(m, adjacency, port);
	return hy_ip6_rewrite_one(rte_pktmbuf_mtod(m, uint8_t *), m->pkt_len, adjacency, port);
}

static uint16_t
ip6_rewrite_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip6_rewrite_ctx *ctx = node->ctx;
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(ctx->view->next_hops);
	const uint32_t *route = hy_lane(graph, node, HY_IP6_REWRITE_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[route[i]];
		const struct hy_ip4_rewrite_port *port = &ctx->port[adjacency->port];
		struct rte_mbuf *m = objs[i];

		/* Once here, the rewrite need not compare the length again. */
		if (likely(m->data_len >= HY_IP6_REWRITE_HEADERS && m->pkt_len <= port->max_len))
			next[i] = hy_ip6_rewrite_one(rte_pktmbuf_mtod(m, uint8_t *), m->pkt_len,
				adjacency, port);
		else
			next[i] = ip6_rewrite_packet(ctx, m, adjacency);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

int
hy_ip6_rewrite_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ip6_rewrite_config *rewrite = config;
	struct hy_ip6_rewrite_ctx *ctx = node->ctx;
	int rc;

	ctx->fib = hy_ip6_fib_for(graph, rewrite == NULL ? NULL : &rewrite->tables);
	if (ctx->fib == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_ip6_rewrite_config with a table");
	ctx->view = hy_ip6_fib_view(ctx->fib);
	rc = hy_ip6_fib_use(graph, node, ctx->fib);
	if (rc < 0)
		return rc;
	rc = ip4_rewrite_ports(graph, node, ctx->fib->next_hops, rewrite->edge, ctx->port);
	if (rc < 0)
		hy_ip6_fib_unuse(ctx->fib);
	return rc;
}

void
hy_ip6_rewrite_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_ip6_rewrite_ctx *ctx = node->ctx;

	hy_ip6_fib_unuse(ctx->fib);
}

static size_t
ip6_rewrite_snapshot(const struct hy_node *node, const void *obj, const uint32_t *lanes, void *data,
	size_t size __rte_unused)
{
	const struct hy_ip6_rewrite_ctx *ctx = node->ctx;

	return ip4_hop_snapshot(ctx->view->next_hops, lanes[HY_IP6_REWRITE_LANE_ROUTE], obj,
		member_of, data);
}

static int
ip6_rewrite_format(const struct hy_trace_record *record, char *text, size_t size)
{
	return ip4_hop_format(record, record->lanes[HY_IP6_REWRITE_LANE_ROUTE], text, size);
}

HY_NODE_FAMILY(ip6_rewrite,
	.text = "Writes the next hop's MAC addresses and the hop limit",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "ip6_rewrite",
		.impl = {
			.variant = "scalar",
			.process = ip6_rewrite_process,
			.init = hy_ip6_rewrite_init,
			.fini = hy_ip6_rewrite_fini,
			.ctx_size = sizeof(struct hy_ip6_rewrite_ctx),
		},
		.lanes = { [HY_IP6_REWRITE_LANE_ROUTE] = "ip4_route" },
		.drops = {
			[HY_IP6_REWRITE_TTL_EXPIRED] = { "ttl_expired", HY_SEV_INFO,
				"The hop limit was 0 or 1 (RFC 8200 3)" },
			[HY_IP6_REWRITE_MTU_EXCEEDED] = { "mtu_exceeded", HY_SEV_WARN,
				"The frame is longer than the port sends" },
		},
		.trace = { .snapshot = ip6_rewrite_snapshot, .format = ip6_rewrite_format },
	});
