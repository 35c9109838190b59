/* SPDX-License-Identifier: BSD-3-Clause */
/* The feeds of the process, and the checks of a new one. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_event_eth_tx_adapter.h>

#include "event_feed.h"

static struct event_feed *feeds[RTE_EVENT_MAX_DEVS];

struct event_feed *
event_feed_of(uint8_t device)
{
	return device < RTE_EVENT_MAX_DEVS ? feeds[device] : NULL;
}

struct event_feed *
event_feed_of_port(uint16_t port)
{
	for (unsigned int d = 0; d < RTE_DIM(feeds); d++)
		for (unsigned int q = 0; feeds[d] != NULL && q < feeds[d]->params.nb_queues; q++)
			if (feeds[d]->params.queues[q].port == port)
				return feeds[d];
	return NULL;
}

const struct hy_event_params *
hy_event_of(uint8_t device)
{
	const struct event_feed *feed = event_feed_of(device);

	return feed == NULL ? NULL : &feed->params;
}

const struct hy_event_params *
hy_event_of_port(uint16_t port)
{
	const struct event_feed *feed = event_feed_of_port(port);

	return feed == NULL ? NULL : &feed->params;
}

static int
params_check(const struct hy_event_params *p, char *reason, size_t size)
{
	struct rte_event_dev_info info;

	if (p->sched_type != RTE_SCHED_TYPE_ATOMIC && p->sched_type != RTE_SCHED_TYPE_ORDERED &&
		p->sched_type != RTE_SCHED_TYPE_PARALLEL)
		return event_refuse(-EINVAL, reason, size,
			"%u is no schedule type; RTE_SCHED_TYPE_ATOMIC, _ORDERED and _PARALLEL are",
			p->sched_type);
	if (p->nb_workers == 0 || p->nb_workers >= UINT8_MAX)
		return event_refuse(-EINVAL, reason, size, "%u workers; 1 to %u are accepted",
			p->nb_workers, UINT8_MAX - 1);
	if (rte_event_dev_info_get(p->device, &info) < 0)
		return event_refuse(-ENODEV, reason, size,
			"there is no event device %u; there are %u", p->device,
			rte_event_dev_count());
	if (event_feed_of(p->device) != NULL)
		return event_refuse(-EEXIST, reason, size, "event device %u has a feed already",
			p->device);
	return 0;
}

static int
queue_check(const struct hy_event_params *p, unsigned int i, char *reason, size_t size)
{
	const struct hy_ethdev_rx_config *q = &p->queues[i];
	struct rte_eth_dev_info info;

	if (!rte_eth_dev_is_valid_port(q->port) || rte_eth_dev_info_get(q->port, &info) < 0)
		return event_refuse(-EINVAL, reason, size, "there is no port %u", q->port);
	if (q->queue >= info.nb_rx_queues)
		return event_refuse(-EINVAL, reason, size,
			"port %u has %u receive queues, and no queue %u", q->port,
			info.nb_rx_queues, q->queue);
	if (event_feed_of_port(q->port) != NULL)
		return event_refuse(-EEXIST, reason, size, "port %u feeds event device %u already",
			q->port, event_feed_of_port(q->port)->params.device);
	for (unsigned int j = 0; j < i; j++)
		if (p->queues[j].port == q->port && p->queues[j].queue == q->queue)
			return event_refuse(-EINVAL, reason, size,
				"queue %u of port %u is listed twice", q->queue, q->port);
	return 0;
}

/* Checks how packets of a port reach the device, and how the device transmits them. */
static int
pair_check(struct event_feed *feed, uint16_t port, char *reason, size_t size)
{
	const struct hy_event_params *p = &feed->params;
	uint32_t rx = 0, tx = 0;
	int rc = rte_event_eth_rx_adapter_caps_get(p->device, port, &rx);

	if (rc == 0)
		rc = rte_event_eth_tx_adapter_caps_get(p->device, port, &tx);
	if (rc < 0)
		return event_refuse(rc, reason, size, "event device %u with port %u: %s", p->device,
			port, strerror(-rc));
	feed->software |= (rx & RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT) == 0;
	if (p->sched_type == RTE_SCHED_TYPE_ORDERED &&
		(tx & RTE_EVENT_ETH_TX_ADAPTER_CAP_INTERNAL_PORT) == 0)
		return event_refuse(-ENOTSUP, reason, size,
			"ordered needs an event device that transmits the packets that it orders; "
			"event device %u does not send packets of port %u: use atomic",
			p->device, port);
	return 0;
}

static int
queues_check(struct event_feed *feed, char *reason, size_t size)
{
	const struct hy_event_params *p = &feed->params;
	int rc = 0;

	feed->software = p->nb_queues == 0; /* the caller enqueues */
	for (unsigned int i = 0; i < p->nb_queues && rc == 0; i++) {
		rc = queue_check(p, i, reason, size);
		if (rc == 0)
			rc = pair_check(feed, p->queues[i].port, reason, size);
	}
	return rc;
}

static void
feed_free(struct event_feed *feed)
{
	free((void *)(uintptr_t)feed->params.queues);
	free(feed);
}

static struct event_feed *
feed_alloc(const struct hy_event_params *params)
{
	struct event_feed *feed = calloc(1, sizeof(*feed));
	const size_t size = params->nb_queues * sizeof(*params->queues);
	struct hy_ethdev_rx_config *queues = malloc(size + 1);

	if (feed == NULL || queues == NULL) {
		free(queues);
		free(feed);
		return NULL;
	}
	if (size > 0)
		memcpy(queues, params->queues, size);
	feed->params = *params;
	feed->params.queues = queues;
	feed->params.vector_timeout_ns = 0;
	feed->vector_wish_ns = params->vector_timeout_ns;
	return feed;
}

int
hy_event_create(const struct hy_event_params *params, char *reason, size_t size)
{
	struct event_feed *feed;
	int rc = params_check(params, reason, size);

	if (rc < 0)
		return rc;
	feed = feed_alloc(params);
	if (feed == NULL)
		return event_refuse(-ENOMEM, reason, size, "out of memory");
	rc = queues_check(feed, reason, size);
	if (rc == 0)
		rc = event_device_configure(feed, reason, size);
	if (rc < 0)
		feed_free(feed);
	else
		feeds[params->device] = feed;
	return rc;
}

uint64_t
hy_event_destroy(uint8_t device)
{
	struct event_feed *feed = event_feed_of(device);
	uint64_t freed;

	if (feed == NULL)
		return 0;
	event_feed_end(feed);
	rte_event_dev_close(device);
	freed = feed->freed;
	feeds[device] = NULL;
	feed_free(feed);
	return freed;
}
