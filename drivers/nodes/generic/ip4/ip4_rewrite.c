/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite: next hop to L2 header and port; TTL and checksum (RFC 1812 5.2.3, 5.3.1). */

#include <stdio.h>

#include <rte_mbuf.h>

#include <hy_ip4_rewrite.h>
#include <hy_mbuf.h>
#include <hy_trace.h>

#include "ip4_fib.h"
#include "ip4_rewrite_one.h"

/* For headers that span segments: rewrites a copy and writes it back. */
static uint16_t
rewrite_in_pieces(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port)
{
	uint8_t copy[HY_IP4_REWRITE_HEADERS];
	const void *headers = rte_pktmbuf_read(m, 0, sizeof(copy), copy);
	uint16_t next;

	if (headers != copy) /* contiguous, after empty segments */
		memcpy(copy, headers, sizeof(copy));
	next = hy_ip4_rewrite_one(copy, m->pkt_len, adjacency, port);
	if (next == port->edge)
		hy_mbuf_poke(m, copy, sizeof(copy));
	return next;
}

uint16_t
ip4_rewrite_packet(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port)
{
	if (likely(m->data_len >= HY_IP4_REWRITE_HEADERS))
		return hy_ip4_rewrite_one(rte_pktmbuf_mtod(m, uint8_t *), m->pkt_len, adjacency,
			port);
	return rewrite_in_pieces(m, adjacency, port);
}

static uint16_t
ip4_rewrite_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_rewrite_ctx *ctx = node->ctx;
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(ctx->view);
	const uint32_t *route = hy_lane(graph, node, HY_IP4_REWRITE_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[route[i]];

		next[i] = ip4_rewrite_packet(objs[i], adjacency, &ctx->port[adjacency->port]);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* Copies the table's ports, which are fixed while the table is in use. */
static int
ports_copy(const struct hy_graph *graph, struct hy_node *node, const uint16_t edge[])
{
	struct hy_ip4_rewrite_ctx *ctx = node->ctx;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!ctx->fib->has_port[p])
			continue;
		if (edge[p] == HY_IP4_NO_EDGE)
			return hy_node_refuse(graph, node, "has no edge for port %u of its table",
				p);
		if (edge[p] >= hy_graph_edge_count(graph, node))
			return hy_node_refuse(graph, node,
				"has no edge %u for port %u; edges 0 to %d are accepted", edge[p],
				p, hy_graph_edge_count(graph, node) - 1);
		ctx->port[p].edge = edge[p];
		ctx->port[p].max_len = ctx->fib->ports[p].max_len;
	}
	return 0;
}

int
hy_ip4_rewrite_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ip4_rewrite_config *rewrite = config;
	struct hy_ip4_rewrite_ctx *ctx = node->ctx;
	int rc;

	ctx->fib = hy_ip4_fib_for(graph, rewrite == NULL ? NULL : &rewrite->tables);
	if (ctx->fib == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_ip4_rewrite_config with a table");
	ctx->view = hy_ip4_fib_view(ctx->fib);
	rc = hy_ip4_fib_use(graph, node, ctx->fib);
	if (rc < 0)
		return rc;
	rc = ports_copy(graph, node, rewrite->edge);
	if (rc < 0)
		hy_ip4_fib_unuse(ctx->fib);
	return rc;
}

void
hy_ip4_rewrite_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_ip4_rewrite_ctx *ctx = node->ctx;

	hy_ip4_fib_unuse(ctx->fib);
}

static size_t
ip4_rewrite_snapshot(const struct hy_node *node, const void *obj __rte_unused,
	const uint32_t *lanes, void *data, size_t size __rte_unused)
{
	const struct hy_ip4_rewrite_ctx *ctx = node->ctx;

	memcpy(data, &hy_ip4_adjacencies(ctx->view)[lanes[HY_IP4_REWRITE_LANE_ROUTE]],
		sizeof(struct hy_ip4_adjacency));
	return sizeof(struct hy_ip4_adjacency);
}

static int
ip4_rewrite_format(const struct hy_trace_record *record, char *text, size_t size)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct hy_ip4_adjacency adjacency;

	memcpy(&adjacency, record->data, sizeof(adjacency));
	rte_ether_format_addr(mac, sizeof(mac), &adjacency.l2.dst_addr);
	return snprintf(text, size, "next hop %u, port %u, %s",
		record->lanes[HY_IP4_REWRITE_LANE_ROUTE], adjacency.port, mac);
}

HY_NODE_FAMILY(ip4_rewrite,
	.text = "Writes the next hop's L2 header, TTL and checksum",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "ip4_rewrite",
		.impl = {
			.variant = "scalar",
			.process = ip4_rewrite_process,
			.init = hy_ip4_rewrite_init,
			.fini = hy_ip4_rewrite_fini,
			.ctx_size = sizeof(struct hy_ip4_rewrite_ctx),
		},
		.lanes = { [HY_IP4_REWRITE_LANE_ROUTE] = "ip4_route" },
		.drops = {
			[HY_IP4_REWRITE_TTL_EXPIRED] = { "ttl_expired", HY_SEV_INFO,
				"TTL was 0 or 1 (RFC 1812 5.3.1)" },
			[HY_IP4_REWRITE_MTU_EXCEEDED] = { "mtu_exceeded", HY_SEV_WARN,
				"The frame is longer than the port sends" },
		},
		.trace = { .snapshot = ip4_rewrite_snapshot, .format = ip4_rewrite_format },
	});
