/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev_rx: polls one receive queue of a port, and passes the packets to the classifier. */

#include <rte_ethdev.h>

#include <hy_node.h>

#include "ethdev_rx.h"

uint16_t
ethdev_rx_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct ethdev_rx_ctx *ctx = node->ctx;

	n = rte_eth_rx_burst(ctx->rx.port, ctx->rx.queue, (struct rte_mbuf **)objs, n);
	ethdev_rx_check(ctx, objs, n);
	hy_stream_move(graph, node, HY_ETHDEV_RX_NEXT, n);
	return n;
}

static int
ethdev_rx_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct ethdev_rx_ctx *ctx = node->ctx;

	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_ethdev_rx_config");
	ctx->rx = *(const struct hy_ethdev_rx_config *)config;
	ctx->wakes = ethdev_wakes(ctx->rx.port, ctx->rx.queue);
	return 0;
}

HY_NODE_FAMILY(ethdev_rx,
	.text = "Polls a receive queue of a port",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "ethdev_rx",
		.flags = HY_NODE_SOURCE,
		.impl = {
			.variant = "poll",
			.process = ethdev_rx_process,
			.init = ethdev_rx_init,
			.ctx_size = sizeof(struct ethdev_rx_ctx),
		},
		.edges = { [HY_ETHDEV_RX_NEXT] = "pkt_cls" },
	});
