/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The nodes at the ends of a graph: ethdev_rx and ethdev_tx. A program clones ethdev_rx for each
 * receive queue of a port and ethdev_tx for each port, and configures the clones with
 * hy_node_config(). This is the contract of both families, for programs and for variants.
 *
 * ethdev_rx is a source with one edge. It sends the received packets along it, in the order of the
 * queue. ethdev_tx has no edge: it drops packets that the port does not take. Neither has lanes. A
 * variant without init, fini and ctx_size inherits the family's context, whose layout is private: a
 * variant with its own process function copies the members that it needs from the configuration.
 */
#pragma once

#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

/** Edges of ethdev_rx. */
enum hy_ethdev_rx_next { HY_ETHDEV_RX_NEXT };

/** Drop reasons of ethdev_tx: "tx_full"; and "port_down", by the variant for stopped ports. */
enum hy_ethdev_tx_drop { HY_ETHDEV_TX_FULL, HY_ETHDEV_TX_PORT_DOWN };

/** Configuration of an ethdev_rx clone, for one graph only. The port must be started. */
struct hy_ethdev_rx_config {
	uint16_t port;  /**< ethdev port id. */
	uint16_t queue; /**< Receive queue of the port. */
};

/**
 * Configuration of an ethdev_tx clone. All graphs may share it: the graph of worker w sends on
 * transmit queue w, so that no two workers share a queue. Graph creation refuses a worker without a
 * queue.
 */
struct hy_ethdev_tx_config {
	uint16_t port;      /**< ethdev port id. */
	uint16_t nb_queues; /**< Transmit queues that the port is configured with. */
};

HY_API_END
