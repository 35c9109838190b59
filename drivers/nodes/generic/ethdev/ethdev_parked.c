/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants of ethdev_rx and ethdev_tx for stopped ports. They touch no device. */

#include <hy_node.h>

#include "ethdev_rx.h"

uint16_t
ethdev_rx_parked(struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused,
	void **objs __rte_unused, uint16_t n __rte_unused)
{
	return 0;
}

static uint16_t
ethdev_tx_parked(struct hy_graph *graph, struct hy_node *node, void **objs __rte_unused, uint16_t n)
{
	hy_stream_move(graph, node, HY_DROP(HY_ETHDEV_TX_PORT_DOWN), n);
	return n;
}

/* Replaces the families' init, which queries the port. */
static int
parked_init(const struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused,
	const void *config __rte_unused)
{
	return 0;
}

HY_NODE_VARIANT(ethdev_rx, parked,
	.text = "Receives nothing while the port is stopped",
	.impl.process = ethdev_rx_parked, .impl.init = parked_init,
	.parked = true);

HY_NODE_VARIANT(ethdev_tx, parked,
	.text = "Drops everything while the port is stopped",
	.impl.process = ethdev_tx_parked, .impl.init = parked_init,
	.parked = true);
