/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite: next hop to L2 header and port; TTL and checksum (RFC 1812 5.2.3, 5.3.1). */

#include <rte_mbuf.h>

#include <hy_ip4_rewrite.h>
#include <hy_mbuf.h>
#include <hy_trace.h>

#include "drivers/nodes/generic/group/ip4_group.h"
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

/* Of a packet that the adjacency of its route dropped, because it is a group's. */
static __rte_noinline uint16_t
rewrite_for_member(const struct hy_ip4_rewrite_ctx *ctx, struct rte_mbuf *m,
	const struct hy_ip4_adjacency *group)
{
	const uint32_t id = ip4_member_of(group, m); /* which may be newer than the array */
	const struct hy_ip4_adjacency *adjacency = &hy_ip4_adjacencies(ctx->view)[id];

	return ip4_rewrite_packet(m, adjacency, &ctx->port[adjacency->port]);
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
		if (unlikely((int16_t)next[i] < 0 && hy_ip4_is_group(adjacency)))
			next[i] = rewrite_for_member(ctx, objs[i], adjacency);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

int
ip4_rewrite_ports(const struct hy_graph *graph, struct hy_node *node, const struct hy_ip4_fib *fib,
	const uint16_t edge[], struct hy_ip4_rewrite_port port[])
{
	for (unsigned int p = 0; p < HY_IP4_PORTS; p++) {
		if (!fib->has_port[p])
			continue;
		if (edge[p] == HY_IP4_NO_EDGE)
			return hy_node_refuse(graph, node, "has no edge for port %u of its table",
				p);
		if (edge[p] >= hy_graph_edge_count(graph, node))
			return hy_node_refuse(graph, node,
				"has no edge %u for port %u; edges 0 to %d are accepted", edge[p],
				p, hy_graph_edge_count(graph, node) - 1);
		port[p].edge = edge[p];
		port[p].max_len = fib->ports[p].max_len;
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
	rc = ip4_rewrite_ports(graph, node, ctx->fib, rewrite->edge, ctx->port);
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
ip4_rewrite_snapshot(const struct hy_node *node, const void *obj, const uint32_t *lanes, void *data,
	size_t size __rte_unused)
{
	const struct hy_ip4_rewrite_ctx *ctx = node->ctx;

	return ip4_hop_snapshot(ctx->view, lanes[HY_IP4_REWRITE_LANE_ROUTE], obj, ip4_member_of,
		data);
}

static int
ip4_rewrite_format(const struct hy_trace_record *record, char *text, size_t size)
{
	return ip4_hop_format(record, record->lanes[HY_IP4_REWRITE_LANE_ROUTE], text, size);
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
