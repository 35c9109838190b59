/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The nodes at a graph's ends: ethdev_rx and ethdev_tx. Both are cloned, one for each port (and
 * receive queue), and configured with hy_node_config(). This is the contract of both families, for
 * their variants too.
 *
 * ethdev_rx is a source with one edge, by which it sends what it received, in the order of the queue.
 * ethdev_tx has no edge: what the port does not take is dropped. Neither has lanes. A variant without
 * init, fini and ctx_size is given the family's context, which is the family's own: a variant with a
 * process function of its own copies from the configuration what it needs.
 */
#ifndef HY_ETHDEV_H
#define HY_ETHDEV_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Edges of ethdev_rx. */
enum hy_ethdev_rx_next { HY_ETHDEV_RX_NEXT };

/** Drop reasons of ethdev_tx: "tx_full", and "port_down" of the variant for ports that do not run. */
enum hy_ethdev_tx_drop { HY_ETHDEV_TX_FULL, HY_ETHDEV_TX_PORT_DOWN };

/** Configuration of an ethdev_rx clone. Only one graph may have it, and only while port runs. */
struct hy_ethdev_rx_config {
	uint16_t port;  /**< ethdev port id. */
	uint16_t queue; /**< Receive queue of the port. */
};

/**
 * Configuration of an ethdev_tx clone. All graphs may have it: the graph of worker w sends on
 * transmit queue w, so that no queue is shared. A graph whose worker has no queue is refused.
 */
struct hy_ethdev_tx_config {
	uint16_t port;      /**< ethdev port id. */
	uint16_t nb_queues; /**< Transmit queues that the port was configured with. */
};

#ifdef __cplusplus
}
#endif

#endif
