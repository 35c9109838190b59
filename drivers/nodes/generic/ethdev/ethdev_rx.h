/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by ethdev_rx and ethdev_wait: the queue that a node polls, and whether it can interrupt. */
#pragma once

#include <rte_mbuf.h>

#include <hy_ethdev.h>
#include <hy_graph_worker.h>
#include <hy_mark.h>

struct ethdev_rx_ctx {
	struct hy_ethdev_rx_config rx;
	bool wakes; /* the queue can interrupt a sleeping thread */
};

/*
 * Code that reads marks relies on the port number in each mbuf. Checking one packet of a burst is
 * enough: a driver that writes a wrong number does so always, or is caught soon.
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

/* Whether a queue of a started port can interrupt a thread. */
bool ethdev_wakes(uint16_t port, uint16_t queue);
/* For hy_mbuf_ops; see struct hy_object_ops. */
int ethdev_arm(struct hy_graph *graph, bool on);
int ethdev_wait(struct hy_graph *graph, unsigned int usec);
