/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker of a graph of packets sleeps on the receive interrupts of the queues that it polls. They
 * are in the epoll instance that EAL has for the thread only from arm(true) to arm(false), so that
 * nothing is left behind when a port is closed or another thread takes over the graph.
 *
 * Two kinds of drivers exist, both in DPDK 22.11:
 * - NICs signal an eventfd once their interrupt is enabled (rte_eth_dev_rx_intr_enable()), but not for
 *   packets that had already arrived. The walk between arm and wait finds those.
 * - net_tap (drivers/net/tap/tap_intr.c) has no operation to enable interrupts, -ENOTSUP. Its event
 *   descriptor is the queue's TUN descriptor itself, always enabled, and readable while packets wait.
 *   EAL adds it edge-triggered, but adding a readable descriptor counts as an edge. Its rx_burst polls
 *   the queue only after a signal has reached some thread of the process (rte_eth_tap.c: tap_trigger),
 *   which may be slightly later than the wake-up.
 */

#include <errno.h>

#include <rte_epoll.h>
#include <rte_ethdev.h>

#include "ethdev_rx.h"

#define EVENTS 16 /* per wait; the walk polls every queue anyway */

bool
ethdev_wakes(uint16_t port, uint16_t queue)
{
	struct rte_eth_conf conf;

	/* Many ports are configured without interrupts, and ethdev would log an error for them. */
	return rte_eth_dev_conf_get(port, &conf) == 0 && conf.intr_conf.rxq != 0 &&
		rte_eth_dev_rx_intr_ctl_q_get_fd(port, queue) >= 0;
}

static void
queue_disarm(const struct hy_ethdev_rx_config *rx)
{
	rte_eth_dev_rx_intr_disable(rx->port, rx->queue);
	rte_eth_dev_rx_intr_ctl_q(rx->port, rx->queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_DEL,
		NULL);
}

static int
queue_arm(const struct hy_ethdev_rx_config *rx)
{
	int rc = rte_eth_dev_rx_intr_ctl_q(rx->port, rx->queue, RTE_EPOLL_PER_THREAD,
		RTE_INTR_EVENT_ADD, NULL);

	if (rc < 0)
		return rc;
	rc = rte_eth_dev_rx_intr_enable(rx->port, rx->queue);
	if (rc < 0 && rc != -ENOTSUP) {
		queue_disarm(rx);
		return rc;
	}
	return 0;
}

/* The queue that wakes the worker for a source; NULL: the port is stopped, or the source wakes it. */
static const struct hy_ethdev_rx_config *
queue_of(const struct hy_graph *graph, const struct hy_node *source)
{
	const struct ethdev_rx_ctx *ctx = source->ctx;
	const bool needs_none = source->process == ethdev_rx_parked ||
		(hy_graph_node_flags(graph, source) & HY_NODE_WAKES) != 0;

	return needs_none ? NULL : &ctx->rx;
}

/* Disarms the queues of the first n sources. */
static void
disarm(const struct hy_graph *graph, unsigned int n)
{
	while (n > 0) {
		const struct hy_ethdev_rx_config *rx = queue_of(graph, &graph->plan.nodes[--n]);

		if (rx != NULL)
			queue_disarm(rx);
	}
}

static bool
can_wake(const struct hy_graph *graph, const struct hy_node *source)
{
	const struct ethdev_rx_ctx *ctx = source->ctx;

	return queue_of(graph, source) == NULL ||
		(source->process == ethdev_rx_process && ctx->wakes);
}

int
ethdev_arm(struct hy_graph *graph, bool on)
{
	if (!on) {
		disarm(graph, graph->plan.nb_sources);
		return 0;
	}
	for (unsigned int s = 0; s < graph->plan.nb_sources; s++)
		if (!can_wake(graph, &graph->plan.nodes[s]))
			return -ENOTSUP;
	for (unsigned int s = 0; s < graph->plan.nb_sources; s++) {
		const struct hy_ethdev_rx_config *rx = queue_of(graph, &graph->plan.nodes[s]);
		const int rc = rx == NULL ? 0 : queue_arm(rx);

		if (rc < 0) {
			disarm(graph, s);
			return rc;
		}
	}
	return 0;
}

int
ethdev_wait(struct hy_graph *graph __rte_unused, unsigned int usec)
{
	const unsigned int ms = usec / 1000 + (usec % 1000 != 0);
	struct rte_epoll_event events[EVENTS];

	/* A signal ends the wait and counts as a wake-up: net_tap's arrives with a packet. */
	return rte_epoll_wait_interruptible(RTE_EPOLL_PER_THREAD, events, EVENTS, (int)ms) != 0;
}
