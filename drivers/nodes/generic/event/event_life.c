/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches and detaches a feed as variants are bound, and follows its ports. */

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include <rte_ethdev.h>

#include "event_feed.h"
#include "lib/graph/internal/log.h"

int
hy_event_attach(uint8_t device, enum hy_event_form form, char *reason, size_t size)
{
	struct event_feed *feed = event_feed_of(device);
	int rc = 0;

	if (feed == NULL)
		return 0;
	if (feed->attached > 0 && feed->form != form)
		return event_refuse(-EBUSY, reason, size,
			"event device %u is started with %s, which cannot change", device,
			feed->form == HY_EVENT_VECTOR ? "event vectors" : "single events");
	if (feed->attached == 0) {
		feed->form = form;
		rc = event_adapter_start(feed, reason, size);
	}
	feed->attached += rc == 0;
	return rc;
}

static void
stop(struct event_feed *feed)
{
	event_adapter_stop(feed);
	feed->attached = 0;
}

void
hy_event_detach(uint8_t device)
{
	struct event_feed *feed = event_feed_of(device);

	if (feed == NULL || feed->attached == 0)
		return;
	if (feed->attached > 1)
		feed->attached--;
	else
		stop(feed);
}

void
hy_event_tx_ordered(uint16_t port, bool on)
{
	struct event_feed *feed = event_feed_of_port(port);

	if (feed == NULL || feed->ordered[port] == on)
		return;
	feed->ordered[port] = on;
	__atomic_store_n(&feed->nb_ordered, on ? feed->nb_ordered + 1 : feed->nb_ordered - 1,
		__ATOMIC_RELAXED);
}

/*
 * Whether the feed's packets may leave by a port: one of the feed, or one that belongs to no feed and
 * can transmit. While a port is down, its ethdev_tx drops them.
 */
static bool
may_send(const struct event_feed *feed, uint16_t port)
{
	const struct event_feed *other = event_feed_of_port(port);
	struct rte_eth_dev_info info;

	if (feed->hal != NULL && hy_hal_port_state(feed->hal, port) != HY_PORT_UP)
		return false;
	if (other != NULL)
		return other == feed;
	return rte_eth_dev_info_get(port, &info) == 0 && info.nb_tx_queues > 0;
}

int
hy_event_check(uint8_t device, char *reason, size_t size)
{
	const struct event_feed *feed = event_feed_of(device);
	uint16_t port;

	if (feed == NULL)
		return event_refuse(-ENODEV, reason, size, "event device %u has no feed", device);
	if (feed->params.sched_type != RTE_SCHED_TYPE_ORDERED)
		return 0;
	RTE_ETH_FOREACH_DEV(port)
		if (may_send(feed, port) && !feed->ordered[port])
			return event_refuse(-ENOTSUP, reason, size,
				"ordered needs event device %u to transmit packets and put them in "
				"order; ethdev_tx of port %u has no variant for that, or another "
				"one was selected: use atomic",
				device, port);
	return 0;
}

/*
 * event/cnxk/cnxk_eventdev_adptr.c, cnxk_sso_rx_adapter_queue_add(), stops the device and starts it
 * again for each queue (from DPDK 25.03 on, for a pool that is new to it): cnxk_sso_cleanup() resets
 * the ports of the workers, and dequeues by the first. cn10k_eventdev.c, cn10k_sso_updt_tx_adptr_data(),
 * reallocates them.
 */
static int
guard(uint16_t port, char *reason, size_t size, void *arg)
{
	const struct event_feed *feed = arg;
	struct rte_event_dev_info info;

	if (event_feed_of_port(port) != feed || feed->attached == 0 || feed->quiet ||
		rte_event_dev_info_get(feed->params.device, &info) < 0 ||
		fnmatch("event_cn*k", info.driver_name, 0) != 0)
		return 0;
	return event_refuse(-EBUSY, reason, size,
		"it feeds event device %u, and %s can change no queues while workers dequeue",
		feed->params.device, info.driver_name);
}

/*
 * A port that stops must not be polled. A port that is up again starts afresh; guard() has allowed it.
 */
static void
on_port(struct hy_hal *hal __rte_unused, uint16_t port, enum hy_port_state state, void *arg)
{
	struct event_feed *feed = arg;
	const bool up = state == HY_PORT_UP;
	int rc;

	if (event_feed_of_port(port) != feed || feed->attached == 0)
		return;
	if (!up && feed->added[port])
		event_flush(feed, port);
	rc = up ? event_adapter_add(feed, port) : event_adapter_remove(feed, port);
	if (rc < 0)
		HY_LOG(ERR, "port %u cannot be %s event device %u: %s", port,
			up ? "put back into" : "taken from", feed->params.device, strerror(-rc));
}

int
hy_event_follow(uint8_t device, struct hy_hal *hal, bool quiet)
{
	struct event_feed *feed = event_feed_of(device);
	int rc;

	if (feed == NULL)
		return -ENODEV;
	if (feed->hal != NULL)
		return -EEXIST;
	rc = hy_hal_port_observe(hal, on_port, feed);
	if (rc < 0)
		return rc;
	feed->quiet = quiet;
	rc = hy_hal_port_guard(hal, guard, feed);
	if (rc == 0)
		feed->hal = hal;
	else
		hy_hal_port_unobserve(hal, on_port, feed);
	return rc;
}

void
event_feed_end(struct event_feed *feed)
{
	if (feed->hal != NULL) {
		hy_hal_port_unguard(feed->hal, guard, feed);
		hy_hal_port_unobserve(feed->hal, on_port, feed);
	}
	if (feed->attached > 0)
		stop(feed);
}
