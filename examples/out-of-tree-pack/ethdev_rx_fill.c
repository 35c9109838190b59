/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev_rx for a driver that returns few packets per call: polls until the burst is full. */

#include <fnmatch.h>
#include <stdio.h>

#include <rte_ethdev.h>

#include <hy_ethdev.h>
#include <hy_node.h>

#define DRIVER "net_pcap" /* a pattern, such as net_acme* */
#define CALL 32           /* most packets that the driver returns per call */

static uint16_t
fill_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ethdev_rx_config *rx = node->ctx;
	uint16_t made = 0, got;

	do {
		got = rte_eth_rx_burst(rx->port, rx->queue, (struct rte_mbuf **)objs + made,
			RTE_MIN(n - made, CALL));
		made += got;
	} while (got == CALL && made < n);
	hy_stream_move(graph, node, HY_ETHDEV_RX_NEXT, made);
	return made;
}

static int
fill_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_ethdev_rx_config");
	*(struct hy_ethdev_rx_config *)node->ctx = *(const struct hy_ethdev_rx_config *)config;
	return 0;
}

static bool
fill_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	struct rte_eth_dev_info info;

	RTE_SET_USED(hal);
	if (rte_eth_dev_info_get(target.id, &info) != 0) {
		snprintf(reason, size, "the driver of the port is unknown");
		return false;
	}
	if (fnmatch(DRIVER, info.driver_name, 0) == 0)
		return true;
	snprintf(reason, size, "is for ports of %s, not of %s", DRIVER, info.driver_name);
	return false;
}

HY_NODE_VARIANT(ethdev_rx, fill,
	.text = "Polls the queue until the burst is full or the queue is empty",
	.impl.process = fill_process,
	.impl.init = fill_init,
	.impl.ctx_size = sizeof(struct hy_ethdev_rx_config),
	.fits = fill_fits,
	.score = 20);
