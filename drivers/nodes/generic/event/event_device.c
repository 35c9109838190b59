/* SPDX-License-Identifier: BSD-3-Clause */
/* The event device of a feed: one queue, linked to the port of each worker. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_feed.h"

/* One for each worker, and one for a producer without an internal port. */
static unsigned int
nb_ports(const struct event_feed *feed)
{
	return feed->params.nb_workers + feed->software;
}

static int
configure(const struct event_feed *feed, const struct rte_event_dev_info *info, char *reason,
	size_t size)
{
	const struct hy_event_params *p = &feed->params;
	struct rte_event_dev_config config = {
		.nb_event_queues = 1,
		.nb_event_ports = (uint8_t)nb_ports(feed),
		.nb_event_queue_flows = info->max_event_queue_flows,
		.nb_event_port_dequeue_depth = RTE_MIN(info->max_event_port_dequeue_depth,
			(uint32_t)HY_BURST_MAX),
		.nb_event_port_enqueue_depth = RTE_MIN(info->max_event_port_enqueue_depth,
			(uint32_t)HY_BURST_MAX),
		/* Negative: the device has no limit and accepts none. */
		.nb_events_limit = RTE_MIN(info->max_num_events, HY_EVENT_MOST),
	};
	int rc;

	if (nb_ports(feed) > info->max_event_ports)
		return event_refuse(-ENOTSUP, reason, size,
			"event device %u (%s) has %u event ports; %u workers%s need %u", p->device,
			info->driver_name, info->max_event_ports, p->nb_workers,
			feed->software ? " and an adapter in software" : "", nb_ports(feed));
	rc = rte_event_dev_configure(p->device, &config);
	if (rc < 0)
		return event_refuse(rc, reason, size,
			"event device %u (%s) cannot be configured: %s", p->device,
			info->driver_name, strerror(-rc));
	return 0;
}

static int
queue_setup(const struct event_feed *feed, const struct rte_event_dev_info *info, char *reason,
	size_t size)
{
	const struct hy_event_params *p = &feed->params;
	static const char *const types[] = { [RTE_SCHED_TYPE_ORDERED] = "ordered",
		[RTE_SCHED_TYPE_ATOMIC] = "atomic",
		[RTE_SCHED_TYPE_PARALLEL] = "parallel" };
	struct rte_event_queue_conf conf;
	int rc = rte_event_queue_default_conf_get(p->device, EVENT_QUEUE, &conf);

	if (rc == 0) {
		/* Not RTE_EVENT_QUEUE_CFG_ALL_TYPES: DLB2 would make an ordered queue. */
		conf.schedule_type = p->sched_type;
		conf.event_queue_cfg = 0;
		rc = rte_event_queue_setup(p->device, EVENT_QUEUE, &conf);
	}
	if (rc == -ENOTSUP)
		return event_refuse(rc, reason, size, "event device %u (%s) has no %s queues",
			p->device, info->driver_name, types[p->sched_type]);
	if (rc < 0)
		return event_refuse(rc, reason, size, "event device %u (%s): its queue: %s",
			p->device, info->driver_name, strerror(-rc));
	return 0;
}

/* Depths are those of bursts. A producer may fill the whole device. */
static int
port_setup(const struct event_feed *feed, uint8_t port, const struct rte_event_dev_info *info)
{
	const uint8_t queue = EVENT_QUEUE, device = feed->params.device;
	struct rte_event_port_conf conf;
	int rc = rte_event_port_default_conf_get(device, port, &conf);

	if (rc < 0)
		return rc;
	if ((info->event_dev_cap & RTE_EVENT_DEV_CAP_BURST_MODE) != 0) {
		conf.dequeue_depth = (uint16_t)RTE_MIN(info->max_event_port_dequeue_depth,
			(uint32_t)HY_BURST_MAX);
		conf.enqueue_depth = (uint16_t)RTE_MIN(info->max_event_port_enqueue_depth,
			(uint32_t)HY_BURST_MAX);
	}
	if (info->max_num_events > 0)
		conf.new_event_threshold = RTE_MIN(info->max_num_events, HY_EVENT_MOST);
	rc = rte_event_port_setup(device, port, &conf);
	if (rc < 0 || port >= feed->params.nb_workers)
		return rc;
	rte_errno = 0; /* drivers without a free link need not set it */
	rc = rte_event_port_link(device, port, &queue, NULL, 1);
	if (rc == 1)
		return 0;
	/* Drivers return the error or set rte_errno, and dlb2's is negative. */
	return rc < 0 ? rc : rte_errno != 0 ? -abs(rte_errno) : -ENOSPC;
}

int
event_device_configure(struct event_feed *feed, char *reason, size_t size)
{
	const uint8_t device = feed->params.device;
	struct rte_event_dev_info info;
	int rc = rte_event_dev_info_get(device, &info);

	if (rc == 0)
		rc = configure(feed, &info, reason, size);
	if (rc == 0)
		rc = queue_setup(feed, &info, reason, size);
	for (unsigned int p = 0; rc == 0 && p < nb_ports(feed); p++) {
		rc = port_setup(feed, (uint8_t)p, &info);
		if (rc < 0)
			rc = event_refuse(rc, reason, size, "event device %u (%s): its port %u: %s",
				device, info.driver_name, p,
				rc == -ENOSPC ? "the device linked no queue to it" : strerror(-rc));
	}
	return rc;
}

static void
flush(uint8_t device __rte_unused, struct rte_event event, void *arg)
{
	struct event_feed *feed = arg;

	feed->freed += event_free(&event);
}

int
event_device_start(struct event_feed *feed)
{
	const int rc = rte_event_dev_stop_flush_callback_register(feed->params.device, flush, feed);

	return rc < 0 ? rc : rte_event_dev_start(feed->params.device);
}

void
event_device_stop(struct event_feed *feed)
{
	rte_event_dev_stop(feed->params.device);
	rte_event_dev_stop_flush_callback_register(feed->params.device, NULL, NULL);
}
