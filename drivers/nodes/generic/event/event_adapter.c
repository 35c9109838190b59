/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx adapter of a feed. It has the id of its event device. It can hold ports whose packets reach
 * the device directly together with ports that a service polls. Services of the device and of the
 * adapter run on service lcores if EAL has any, and else in the workers (event_worker_idle()).
 */

#include <errno.h>
#include <string.h>

#include <rte_event_eth_rx_adapter.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include "event_feed.h"

#define POLL_MOST 128 /* about as many packets per run of the service */

/* The service uses the event port after the workers'. The device is already configured. */
static int
service_configure(uint8_t id __rte_unused, uint8_t device __rte_unused,
	struct rte_event_eth_rx_adapter_conf *conf, void *arg)
{
	const struct event_feed *feed = arg;

	conf->event_port_id = (uint8_t)feed->params.nb_workers;
	conf->max_nb_rx = POLL_MOST;
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
	feed->added[port] = true; /* perhaps only some: removal handles both */
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

static void
queues_remove(struct event_feed *feed)
{
	for (unsigned int q = 0; q < feed->params.nb_queues; q++)
		event_adapter_remove(feed, feed->params.queues[q].port);
}

/* Frees the adapter and what it used. */
static void
adapter_free(struct event_feed *feed)
{
	const uint8_t id = feed->params.device;
	uint32_t service;
	const bool serves = rte_event_eth_rx_adapter_service_id_get(id, &service) == 0;

	queues_remove(feed);
	rte_event_eth_rx_adapter_free(id);
	/* DPDK 22.11 to 26.07 leave it registered. */
	if (serves)
		rte_service_component_unregister(service);
	event_vectors_free(feed);
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
			rc = event_refuse(rc, reason, size,
				"event device %u does not take packets of port %u: %s", p->device,
				port, strerror(-rc));
	}
	return rc;
}

/* Maps the services to the service lcores round robin, if there are any. */
static int
deal(const struct event_feed *feed, bool on)
{
	uint32_t lcores[RTE_MAX_LCORE];
	const int32_t n = rte_service_lcore_list(lcores, RTE_MAX_LCORE);
	int rc = 0;

	for (unsigned int s = 0; n > 0 && s < feed->nb_services && rc == 0; s++) {
		const uint32_t lcore = lcores[s % (uint32_t)n];

		rc = rte_service_map_lcore_set(feed->services[s], lcore, on);
		if (rc == 0 && on) {
			rc = rte_service_lcore_start(lcore);
			rc = rc == -EALREADY ? 0 : rc;
		}
	}
	return rc;
}

static int
services_start(struct event_feed *feed)
{
	const uint8_t device = feed->params.device;
	int rc = 0;

	feed->nb_services = 0;
	if (rte_event_dev_service_id_get(device, &feed->services[feed->nb_services]) == 0)
		feed->nb_services++;
	if (rte_event_eth_rx_adapter_service_id_get(device, &feed->services[feed->nb_services]) ==
		0)
		feed->nb_services++;
	for (unsigned int s = 0; s < feed->nb_services && rc == 0; s++) {
		/* Workers run it without being mapped, so EAL must not check for mapped lcores. */
		rc = rte_service_set_runstate_mapped_check(feed->services[s], 0);
		if (rc == 0)
			rc = rte_service_runstate_set(feed->services[s], 1);
	}
	return rc < 0 ? rc : deal(feed, true);
}

static void
services_stop(struct event_feed *feed)
{
	for (unsigned int s = 0; s < feed->nb_services; s++) {
		rte_service_runstate_set(feed->services[s], 0);
		/* Wait before unmapping: an unmapped lcore never marks the service inactive. */
		while (rte_service_may_be_active(feed->services[s]) == 1)
			rte_pause();
	}
	deal(feed, false);
	feed->nb_services = 0;
}

int
event_adapter_start(struct event_feed *feed, char *reason, size_t size)
{
	const uint8_t id = feed->params.device;
	int rc = 0;

	if (feed->form == HY_EVENT_VECTOR)
		rc = event_vectors_create(feed, reason, size);
	if (rc < 0)
		return rc;
	rc = rte_event_eth_rx_adapter_create_ext(id, id, service_configure, feed);
	if (rc < 0) {
		event_vectors_free(feed);
		return event_refuse(rc, reason, size, "event device %u: no rx adapter: %s", id,
			strerror(-rc));
	}
	rc = queues_add(feed, reason, size);
	if (rc == 0) {
		rc = services_start(feed);
		if (rc == 0)
			rc = event_device_start(feed);
		if (rc == 0) {
			rc = rte_event_eth_rx_adapter_start(id);
			if (rc < 0)
				event_device_stop(feed);
		}
		if (rc < 0)
			rc = event_refuse(rc, reason, size, "event device %u cannot be started: %s",
				id, strerror(-rc));
	}
	if (rc < 0) {
		services_stop(feed);
		adapter_free(feed);
	}
	return rc;
}

void
event_adapter_stop(struct event_feed *feed)
{
	event_drain(feed);
	queues_remove(feed); /* some drivers do not stop with queues added */
	event_device_stop(feed);
	services_stop(feed);
	adapter_free(feed);
}
