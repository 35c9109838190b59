/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ethdev_tx that tries packets which the port refused once more. Many drivers reclaim the descriptors
 * of sent packets on the next burst. Then the second try finds room, and fewer packets are dropped.
 */

#include <rte_ethdev.h>

#include <hy_ethdev.h>
#include <hy_node.h>

enum { DROP_TX_FULL }; /* the family's first drop reason */

struct retry_ctx {
	uint16_t port;
	uint16_t queue;
};

static uint16_t
retry_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct retry_ctx *ctx = node->ctx;
	struct rte_mbuf **packets = (struct rte_mbuf **)objs;
	uint16_t sent = rte_eth_tx_burst(ctx->port, ctx->queue, packets, n);

	if (sent < n)
		sent += rte_eth_tx_burst(ctx->port, ctx->queue, packets + sent, n - sent);
	hy_enqueue(graph, node, HY_DROP(DROP_TX_FULL), objs + sent, n - sent);
	return n;
}

static int
retry_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ethdev_tx_config *tx = config;
	struct retry_ctx *ctx = node->ctx;

	if (tx == NULL || hy_graph_worker(graph) >= tx->nb_queues)
		return hy_node_refuse(graph, node,
			"needs a struct hy_ethdev_tx_config with a queue for worker %u",
			hy_graph_worker(graph));
	ctx->port = tx->port;
	ctx->queue = hy_graph_worker(graph);
	return 0;
}

/* The reference variant scores 10, so loading the pack selects this one. */
HY_NODE_VARIANT(ethdev_tx, retry,
	.text = "Tries packets that the port refused once more",
	.impl.process = retry_process,
	.impl.init = retry_init,
	.impl.ctx_size = sizeof(struct retry_ctx),
	.score = 20);
