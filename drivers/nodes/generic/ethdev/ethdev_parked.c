/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in for ethdev_rx and ethdev_tx while their port does not run: touches no device. */

#include <hy_node.h>

#include "ethdev_rx.h"

uint16_t
ethdev_rx_parked(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	return 0;
}

static uint16_t
ethdev_tx_parked(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	hy_stream_move(graph, node, HY_DROP(HY_ETHDEV_TX_PORT_DOWN), n);
	return n;
}

/* In place of the families' own, which ask the port. */
static int
parked_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	return 0;
}

HY_NODE_VARIANT(ethdev_rx, parked,
	.text = "Receives nothing, while the port does not run",
	.impl.process = ethdev_rx_parked, .impl.init = parked_init,
	.parked = true);

HY_NODE_VARIANT(ethdev_tx, parked,
	.text = "Drops everything, while the port does not run",
	.impl.process = ethdev_tx_parked, .impl.init = parked_init,
	.parked = true);
