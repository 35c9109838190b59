/* SPDX-License-Identifier: BSD-3-Clause */
/* What ethdev_rx and ethdev_wait share: the queue that a node polls, and whether it can wake. */
#ifndef ETHDEV_RX_H
#define ETHDEV_RX_H

#include <hy_ethdev.h>
#include <hy_graph_worker.h>

struct ethdev_rx_ctx {
	struct hy_ethdev_rx_config rx;
	bool wakes; /* the queue can interrupt a thread that sleeps */
};

hy_node_process_t ethdev_rx_process;
hy_node_process_t ethdev_rx_parked; /* without a context */

/* Whether a queue of a port that runs can interrupt a thread. */
bool ethdev_wakes(uint16_t port, uint16_t queue);
/* For hy_mbuf_ops; see struct hy_object_ops. */
int ethdev_arm(struct hy_graph *graph, bool on);
int ethdev_wait(struct hy_graph *graph, unsigned int usec);

#endif
