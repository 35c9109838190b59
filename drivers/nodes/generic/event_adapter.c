/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx adapter of a feed. It has the id of its event device. Ports whose packets reach the device
 * by themselves and ports that a service polls can be in one.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_event_eth_rx_adapter.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include "event_feed.h"

#define POLL_MOST 128      /* packets that a run of the service takes, about */
#define VECTORS_LEAST 1024 /* in the pool */
#define DRAIN_MOST 1024    /* times that workers' ports are emptied: traffic may go on */
#define DRAIN_VAIN 1024    /* times in a row that nothing comes, for event_dsw to come to rest */

/* The service enqueues at the event port behind the workers'. The device is configured already. */
static int
service_configure(uint8_t id __rte_unused, uint8_t device __rte_unused,
	struct rte_event_eth_rx_adapter_conf *conf, void *arg)
{
	const struct event_feed *feed = arg;

	conf->event_port_id = (uint8_t)feed->params.nb_workers;
	conf->max_nb_rx = POLL_MOST;
	return 0;
}

/* Whether a port's packets can come in vectors as long as wanted; if not, says why not. */
static int
vectors_check(const struct event_feed *feed, uint16_t port, char *reason, size_t size)
{
	const struct hy_event_params *p = &feed->params;
	struct rte_event_eth_rx_adapter_vector_limits limits;
	uint32_t caps = 0;
	int rc = rte_event_eth_rx_adapter_caps_get(p->device, port, &caps);

	if (rc < 0)
		return event_refuse(rc, reason, size, "port %u: %s", port, strerror(-rc));
	/* rxa_create_event_vector() of DPDK 22.11 to 26.07 writes over events. */
	if ((caps & RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT) == 0)
		return event_refuse(-ENOTSUP, reason, size,
			"port %u reaches event device %u by an adapter in software, whose event "
			"vectors are broken",
			port, p->device);
	if ((caps & RTE_EVENT_ETH_RX_ADAPTER_CAP_EVENT_VECTOR) == 0)
		return event_refuse(-ENOTSUP, reason, size,
			"event device %u makes no event vectors of packets of port %u", p->device,
			port);
	rc = rte_event_eth_rx_adapter_vector_limits_get(p->device, port, &limits);
	if (rc < 0)
		return event_refuse(rc, reason, size, "port %u: its event vectors: %s", port,
			strerror(-rc));
	if (p->vector_size < limits.min_sz || p->vector_size > limits.max_sz ||
		(limits.log2_sz != 0 && !rte_is_power_of_2(p->vector_size)))
		return event_refuse(-ENOTSUP, reason, size,
			"port %u: event vectors of %u packets are not to be had; %u to %u are%s",
			port, p->vector_size, limits.min_sz, limits.max_sz,
			limits.log2_sz != 0 ? ", powers of 2" : "");
	if (p->vector_timeout_ns < limits.min_timeout_ns ||
		p->vector_timeout_ns > limits.max_timeout_ns)
		return event_refuse(-ENOTSUP, reason, size,
			"port %u: event vectors cannot wait for %" PRIu64 " ns; %" PRIu64
			" to %" PRIu64 " are accepted",
			port, p->vector_timeout_ns, limits.min_timeout_ns, limits.max_timeout_ns);
	return 0;
}

static int
vectors_create(struct event_feed *feed, char *reason, size_t size)
{
	const struct hy_event_params *p = &feed->params;
	char name[RTE_MEMPOOL_NAMESIZE];
	int rc = 0;

	if (p->vector_size == 0)
		return event_refuse(-ENOTSUP, reason, size, "event vectors were not asked for");
	for (unsigned int q = 0; q < p->nb_queues && rc == 0; q++)
		rc = vectors_check(feed, p->queues[q].port, reason, size);
	if (rc < 0)
		return rc;
	snprintf(name, sizeof(name), "hy_event_vectors_%u", p->device);
	feed->vectors = rte_event_vector_pool_create(name,
		VECTORS_LEAST + HY_EVENT_MOST / p->vector_size, 0, p->vector_size, p->socket);
	if (feed->vectors == NULL)
		return event_refuse(-rte_errno, reason, size, "no pool of event vectors: %s",
			rte_strerror(rte_errno));
	return 0;
}

int
event_adapter_add(struct event_feed *feed, uint16_t port)
{
	const struct hy_event_params *p = &feed->params;
	const struct rte_event_eth_rx_adapter_queue_conf conf = {
		.rx_queue_flags = feed->vectors != NULL
			? RTE_EVENT_ETH_RX_ADAPTER_QUEUE_EVENT_VECTOR
			: 0,
		.servicing_weight = 1,
		.ev = { .queue_id = EVENT_QUEUE,
			.sched_type = p->sched_type,
			.priority = RTE_EVENT_DEV_PRIORITY_NORMAL },
		.vector_sz = p->vector_size,
		.vector_timeout_ns = p->vector_timeout_ns,
		.vector_mp = feed->vectors,
	};
	int rc = 0;

	for (unsigned int q = 0; q < p->nb_queues && rc == 0; q++)
		if (p->queues[q].port == port)
			rc = rte_event_eth_rx_adapter_queue_add(p->device, port, p->queues[q].queue,
				&conf);
	feed->added[port] = true; /* some, if not all: all are to go */
	if (rc < 0)
		event_adapter_remove(feed, port);
	return rc;
}

int
event_adapter_remove(struct event_feed *feed, uint16_t port)
{
	int rc = 0;

	if (!feed->added[port])
		return 0;
	feed->added[port] = false;
	for (unsigned int q = 0; q < feed->params.nb_queues; q++) {
		if (feed->params.queues[q].port != port)
			continue;
		const int one = rte_event_eth_rx_adapter_queue_del(feed->params.device, port,
			feed->params.queues[q].queue);

		rc = rc < 0 ? rc : one;
	}
	return rc;
}

/* Takes all ports out, and forgets the adapter and what it needed. */
static void
adapter_free(struct event_feed *feed)
{
	const uint8_t id = feed->params.device;
	uint32_t service;
	const bool serves = rte_event_eth_rx_adapter_service_id_get(id, &service) == 0;

	for (unsigned int q = 0; q < feed->params.nb_queues; q++)
		event_adapter_remove(feed, feed->params.queues[q].port);
	rte_event_eth_rx_adapter_free(id);
	/* What DPDK 22.11 to 26.07 leave behind. */
	if (serves)
		rte_service_component_unregister(service);
	rte_mempool_free(feed->vectors);
	feed->vectors = NULL;
}

static int
queues_add(struct event_feed *feed, char *reason, size_t size)
{
	const struct hy_event_params *p = &feed->params;
	int rc = 0;

	for (unsigned int q = 0; q < p->nb_queues && rc == 0; q++) {
		const uint16_t port = p->queues[q].port;

		if (feed->added[port])
			continue;
		rc = event_adapter_add(feed, port);
		if (rc < 0)
			event_refuse(rc, reason, size,
				"event device %u does not take packets of port %u: %s", p->device,
				port, strerror(-rc));
	}
	return rc;
}

int
event_adapter_start(struct event_feed *feed, char *reason, size_t size)
{
	const uint8_t id = feed->params.device;
	int rc = 0;

	if (feed->form == HY_EVENT_VECTOR)
		rc = vectors_create(feed, reason, size);
	if (rc < 0)
		return rc;
	rc = rte_event_eth_rx_adapter_create_ext(id, id, service_configure, feed);
	if (rc < 0) {
		rte_mempool_free(feed->vectors);
		feed->vectors = NULL;
		return event_refuse(rc, reason, size, "event device %u: no rx adapter: %s", id,
			strerror(-rc));
	}
	rc = queues_add(feed, reason, size);
	if (rc == 0) {
		rc = event_services_start(feed);
		if (rc == 0)
			rc = event_device_start(feed);
		if (rc == 0) {
			rc = rte_event_eth_rx_adapter_start(id);
			if (rc < 0)
				event_device_stop(feed);
		}
		if (rc < 0)
			event_refuse(rc, reason, size, "event device %u cannot be started: %s", id,
				strerror(-rc));
	}
	if (rc < 0) {
		event_services_stop(feed);
		adapter_free(feed);
	}
	return rc;
}

/* Frees what the workers' ports give. Returns how much that was. */
static uint64_t
drain_once(struct event_feed *feed)
{
	const uint64_t before = feed->freed;
	struct rte_event events[HY_BURST_MAX];
	struct event_worker worker;

	for (uint16_t w = 0; event_worker_get(feed, w, &worker) == 0; w++) {
		const uint16_t n = event_worker_take(&worker, events, HY_BURST_MAX);

		for (uint16_t e = 0; e < n; e++)
			feed->freed += event_free(&events[e]);
	}
	return feed->freed - before;
}

/* Whether the adapter has packets that found no room in the device: nobody else gets at those. */
static bool
holds_back(const struct event_feed *feed)
{
	struct rte_event_eth_rx_adapter_stats stats;

	return rte_event_eth_rx_adapter_stats_get(feed->params.device, &stats) == 0 &&
		stats.rx_packets != stats.rx_enq_count;
}

/*
 * A device that stops tells of what is in it, but for event_dsw, which forgets packets on their way
 * from one worker to another. They arrive while all of its ports are looked after.
 */
static void
drain(struct event_feed *feed)
{
	const struct hy_event_params *p = &feed->params;

	for (unsigned int i = 0; i < DRAIN_MOST && holds_back(feed); i++)
		drain_once(feed);
	rte_event_eth_rx_adapter_stop(p->device);
	for (unsigned int vain = 0; vain < DRAIN_VAIN; vain++) {
		if (feed->software)
			rte_event_maintain(p->device, (uint8_t)p->nb_workers,
				RTE_EVENT_DEV_MAINT_OP_FLUSH);
		if (drain_once(feed) > 0)
			vain = 0;
	}
}

void
event_adapter_stop(struct event_feed *feed)
{
	drain(feed);
	event_services_stop(feed);
	event_device_stop(feed);
	adapter_free(feed);
}
