/* SPDX-License-Identifier: BSD-3-Clause */
/* event_rx: dequeues packets from the worker's port of an event device, and sends them by rx port. */

#include <errno.h>

#include <rte_mbuf.h>

#include <hy_node.h>

#include "event_feed.h"

void
hy_event_rx_send(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_event_rx_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX], same = 0, i = 0;

	do {
		const uint16_t port = ((const struct rte_mbuf *)objs[i])->port;

		next[i] = port < RTE_DIM(ctx->edge) ? ctx->edge[port]
						    : HY_DROP(HY_EVENT_RX_PORT_UNKNOWN);
		same += next[i] == next[0];
	} while (++i < n);
	if (same == n)
		hy_stream_move(graph, node, next[0], n);
	else
		hy_enqueue_next(graph, node, next, objs, n);
}

static uint16_t
event_rx_single(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_event_rx_ctx *ctx = node->ctx;
	struct rte_event events[HY_BURST_MAX];
	const uint16_t taken = hy_event_take(&ctx->worker, events, n);
	uint16_t made = 0;

	for (uint16_t i = 0; i < taken; i++) {
		objs[made] = events[i].mbuf;
		made += hy_event_is_packet(&events[i]);
	}
	if (unlikely(made < taken))
		hy_counter_add(node, HY_EVENT_RX_FOREIGN, taken - made);
	if (made > 0)
		hy_event_rx_send(graph, node, objs, made);
	return made;
}

/* Checks edges here once, instead of for each packet. */
static int
edges_read(const struct hy_graph *graph, const struct hy_node *node,
	const struct hy_event_rx_config *config, struct hy_event_rx_ctx *ctx)
{
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);

	for (unsigned int p = 0; p < RTE_DIM(ctx->edge); p++) {
		ctx->edge[p] = config->edge[p];
		if (config->edge[p] == HY_EVENT_NO_EDGE)
			ctx->edge[p] = HY_DROP(HY_EVENT_RX_PORT_UNKNOWN);
		else if (config->edge[p] >= nb_edges)
			return hy_node_refuse(graph, node, "port %u: no edge %u, there are %u", p,
				config->edge[p], nb_edges);
	}
	return 0;
}

int
hy_event_rx_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_event_rx_config *rx = config;
	struct hy_event_rx_ctx *ctx = node->ctx;
	const struct event_feed *feed;
	int rc;

	if (rx == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_event_rx_config");
	feed = event_feed_of(rx->device);
	if (feed == NULL)
		return hy_node_refuse(graph, node, "nothing feeds event device %u", rx->device);
	rc = event_worker_get(feed, hy_graph_worker(graph), &ctx->worker);
	if (rc == -ERANGE)
		return hy_node_refuse(graph, node, "worker %u has no event port, there are %u",
			hy_graph_worker(graph), feed->params.nb_workers);
	if (rc < 0)
		return hy_node_refuse(graph, node, "event device %u is not attached", rx->device);
	return edges_read(graph, node, rx, ctx);
}

static int
single_bind(const struct hy_hal *hal __rte_unused, struct hy_target target, char *reason,
	size_t size)
{
	return hy_event_attach((uint8_t)target.id, HY_EVENT_SINGLE, reason, size);
}

static void
single_unbind(const struct hy_hal *hal __rte_unused, struct hy_target target)
{
	hy_event_detach((uint8_t)target.id);
}

HY_NODE_FAMILY(event_rx,
	.text = "Dequeues packets from the worker's port of an event device",
	.target = HY_TARGET_EVENT,
	.score = 10,
	.bind = single_bind,
	.unbind = single_unbind,
	.node = {
		.name = "event_rx",
		.flags = HY_NODE_SOURCE,
		.impl = {
			.variant = "single",
			.process = event_rx_single,
			.init = hy_event_rx_init,
			.ctx_size = sizeof(struct hy_event_rx_ctx),
		},
		.drops = {
			[HY_EVENT_RX_PORT_UNKNOWN] = {
				"port_unknown", HY_SEV_ERROR, "The receiving port has no edge" },
		},
		.counters = {
			[HY_EVENT_RX_FOREIGN] = {
				"foreign_events", "events", HY_SEV_ERROR,
				"Events other than received packets: ignored" },
		},
	});
