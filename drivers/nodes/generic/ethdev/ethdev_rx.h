/* SPDX-License-Identifier: BSD-3-Clause */
/* What ethdev_rx and ethdev_wait share: the queue that a node polls, and whether it can wake. */
#ifndef ETHDEV_RX_H
#define ETHDEV_RX_H

#include <rte_mbuf.h>

#include <hy_ethdev.h>
#include <hy_graph_worker.h>
#include <hy_mark.h>

struct ethdev_rx_ctx {
	struct hy_ethdev_rx_config rx;
	bool wakes; /* the queue can interrupt a thread that sleeps */
};

/*
 * What reads marks goes by the port that each packet names. One packet of a burst is compared: a
 * driver that writes another number does so always, or is caught in time.
 */
static __rte_always_inline void
ethdev_rx_check(const struct ethdev_rx_ctx *ctx, void **objs, uint16_t n)
{
	const struct rte_mbuf *m;

	if (n == 0)
		return;
	m = objs[0];
	if (unlikely(m->port != ctx->rx.port))
		hy_mark_foreign(ctx->rx.port, m->port);
}

hy_node_process_t ethdev_rx_process;
hy_node_process_t ethdev_rx_parked; /* without a context */

/* Whether a queue of a port that runs can interrupt a thread. */
bool ethdev_wakes(uint16_t port, uint16_t queue);
/* For hy_mbuf_ops; see struct hy_object_ops. */
int ethdev_arm(struct hy_graph *graph, bool on);
int ethdev_wait(struct hy_graph *graph, unsigned int usec);

#endif
