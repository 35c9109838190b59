/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev_tx: sends on the worker's own transmit queue of a port, and drops what the port refuses. */

#include <rte_ethdev.h>

#include <hy_ethdev.h>
#include <hy_node.h>

struct ethdev_tx_ctx {
	uint16_t port;
	uint16_t queue;
};

static uint16_t
ethdev_tx_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct ethdev_tx_ctx *ctx = node->ctx;
	const uint16_t sent = rte_eth_tx_burst(ctx->port, ctx->queue, (struct rte_mbuf **)objs, n);

	hy_enqueue(graph, node, HY_DROP(HY_ETHDEV_TX_FULL), objs + sent, n - sent);
	return n;
}

static int
ethdev_tx_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ethdev_tx_config *tx = config;
	struct ethdev_tx_ctx *ctx = node->ctx;

	if (tx == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_ethdev_tx_config");
	if (hy_graph_worker(graph) >= tx->nb_queues)
		return hy_node_refuse(graph, node,
			"worker %u has no transmit queue, port %u has %u", hy_graph_worker(graph),
			tx->port, tx->nb_queues);
	ctx->port = tx->port;
	ctx->queue = hy_graph_worker(graph);
	return 0;
}

HY_NODE_FAMILY(ethdev_tx,
	.text = "Sends on the worker's own transmit queue",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "ethdev_tx",
		.impl = {
			.variant = "own_queue",
			.process = ethdev_tx_process,
			.init = ethdev_tx_init,
			.ctx_size = sizeof(struct ethdev_tx_ctx),
		},
		.drops = {
			[HY_ETHDEV_TX_FULL] = {
				"tx_full", HY_SEV_ERROR, "The port's queue was full" },
			[HY_ETHDEV_TX_PORT_DOWN] = {
				"port_down", HY_SEV_ERROR, "The port was being reset or had been removed" },
		},
	});
