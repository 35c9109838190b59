/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The nodes at a graph's ends: ethdev_rx and ethdev_tx. Both are cloned, one for each port (and
 * receive queue), and configured with hy_node_config().
 */
#ifndef HY_ETHDEV_H
#define HY_ETHDEV_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
