/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drains a feed at its end: packets that its service holds back, packets in the device, and packets
 * that move between the ports of the device.
 */

#include <rte_cycles.h>
#include <rte_event_eth_rx_adapter.h>

#include "event_feed.h"

#define FLUSH_MS 100     /* for workers to take what the service holds */
#define DRAIN_EMPTY 1024 /* empty rounds in a row, for event_dsw to settle */
#define DRAIN_MOST (16 * DRAIN_EMPTY)

/* Frees received packets instead of enqueueing them. */
static uint16_t
discard_all(uint16_t port __rte_unused, uint16_t queue __rte_unused, uint32_t room __rte_unused,
	uint32_t held __rte_unused, struct rte_event *events, uint16_t n, void *arg,
	uint16_t *dropped)
{
	struct event_feed *feed = arg;

	for (uint16_t e = 0; e < n; e++)
		__atomic_fetch_add(&feed->freed, event_free(&events[e]), __ATOMIC_RELAXED);
	*dropped = n;
	return 0;
}

/* Makes the service discard packets of a port, or stop doing so. Ports with an internal port have none. */
static void
discard(struct event_feed *feed, uint16_t port, bool on)
{
	uint32_t caps;

	if (rte_event_eth_rx_adapter_caps_get(feed->params.device, port, &caps) < 0 ||
		(caps & RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT) != 0)
		return;
	rte_event_eth_rx_adapter_cb_register(feed->params.device, port, on ? discard_all : NULL,
		feed);
}

/* Whether the service holds packets that did not fit into the device. Nothing else can reach them. */
static bool
holds_back(const struct event_feed *feed)
{
	struct rte_event_eth_rx_adapter_stats stats;

	return rte_event_eth_rx_adapter_stats_get(feed->params.device, &stats) == 0 &&
		stats.rx_packets != stats.rx_enq_count + stats.rx_dropped;
}

static bool
is_last(const struct event_feed *feed, uint16_t port)
{
	for (unsigned int q = 0; q < feed->params.nb_queues; q++)
		if (feed->params.queues[q].port != port && feed->added[feed->params.queues[q].port])
			return false;
	return true;
}

void
event_flush(struct event_feed *feed, uint16_t port)
{
	/* Without a queue, the service would not run and would keep its packets. */
	if (!is_last(feed, port))
		return;
	discard(feed, port, true);
	for (unsigned int i = 0; i < FLUSH_MS && holds_back(feed); i++)
		rte_delay_us_sleep(1000);
	discard(feed, port, false);
}

/* Frees the packets at the workers' ports. Returns how many. */
static uint64_t
drain_once(struct event_feed *feed)
{
	struct rte_event events[HY_BURST_MAX];
	struct hy_event_worker worker;
	uint64_t freed = 0;

	for (uint16_t w = 0; event_worker_get(feed, w, &worker) == 0; w++) {
		const uint16_t n = hy_event_take(&worker, events, HY_BURST_MAX);

		for (uint16_t e = 0; e < n; e++)
			freed += event_free(&events[e]);
	}
	__atomic_fetch_add(&feed->freed, freed, __ATOMIC_RELAXED);
	return freed;
}

/*
 * A device that stops flushes its events, except event_dsw: it loses packets that migrate from one
 * worker to another. They arrive while all of its ports are polled.
 */
void
event_drain(struct event_feed *feed)
{
	const struct hy_event_params *p = &feed->params;

	for (unsigned int q = 0; q < p->nb_queues; q++)
		discard(feed, p->queues[q].port, true);
	for (unsigned int i = 0; i < DRAIN_MOST && holds_back(feed); i++)
		drain_once(feed);
	rte_event_eth_rx_adapter_stop(p->device);
	for (unsigned int i = 0, empty = 0; i < DRAIN_MOST && empty < DRAIN_EMPTY; i++) {
		if (feed->software)
			rte_event_maintain(p->device, (uint8_t)p->nb_workers,
				RTE_EVENT_DEV_MAINT_OP_FLUSH);
		empty = drain_once(feed) > 0 ? 0 : empty + 1;
	}
}
