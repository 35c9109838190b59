/* SPDX-License-Identifier: BSD-3-Clause */
/* How a worker dequeues from its event port. */

#include <errno.h>

#include <rte_mbuf.h>
#include <rte_service.h>

#include "event_feed.h"

/* Empty runs of services to allow: event_sw finds room in one run and fills it in the next. */
#define RUNS_MOST 2

int
event_worker_get(const struct event_feed *feed, uint16_t index, struct hy_event_worker *worker)
{
	const struct hy_event_params *p = &feed->params;
	struct rte_event_dev_info info;
	const int rc = rte_event_dev_info_get(p->device, &info);

	if (rc < 0)
		return rc;
	if (feed->attached == 0)
		return -ENOTCONN;
	if (index >= p->nb_workers)
		return -ERANGE;
	*worker = (struct hy_event_worker){ .device = p->device,
		.port = (uint8_t)index,
		.orderless = p->nb_workers == 1 || p->sched_type == RTE_SCHED_TYPE_PARALLEL,
		.nb_ordered = &feed->nb_ordered,
		.maintains = (info.event_dev_cap & RTE_EVENT_DEV_CAP_MAINTENANCE_FREE) == 0 };
	/* Service lcores run all services if there are any. */
	if (rte_service_lcore_count() > 0)
		return 0;
	worker->nb_services = feed->nb_services;
	memcpy(worker->services, feed->services, sizeof(worker->services));
	return 0;
}

/* Tells ThreadSanitizer about the order in which the device passes packets between threads. */
static inline void
order_say(void)
{
#ifdef __SANITIZE_THREAD__
	static unsigned int handed;

	__atomic_fetch_add(&handed, 1, __ATOMIC_ACQ_REL);
#endif
}

/* The first worker runs it; the others do not wait. */
static void
service_run(uint32_t service)
{
#ifdef __SANITIZE_THREAD__
	/* ThreadSanitizer does not see the lock that a service runs under: DPDK is not built with it. */
	static bool running;

	if (__atomic_test_and_set(&running, __ATOMIC_ACQUIRE))
		return;
#endif
	rte_service_run_iter_on_app_lcore(service, 1);
#ifdef __SANITIZE_THREAD__
	__atomic_clear(&running, __ATOMIC_RELEASE);
#endif
}

bool
event_worker_idle(const struct hy_event_worker *worker)
{
	for (unsigned int s = 0; s < worker->nb_services; s++)
		service_run(worker->services[s]);
	if (worker->maintains)
		rte_event_maintain(worker->device, worker->port, 0);
	return worker->nb_services > 0;
}

uint16_t
hy_event_take(const struct hy_event_worker *worker, struct rte_event *events, uint16_t n)
{
	const bool gathers = hy_event_gathers(worker);
	unsigned int runs = 0;
	uint16_t taken = 0;

	while (taken < n) {
		uint16_t got;

		order_say();
		got = rte_event_dequeue_burst(worker->device, worker->port, events + taken,
			n - taken, 0);
		order_say();
		taken += got;
		/* Dequeueing again would release the flows of the events that it has. */
		if (taken > 0 && !gathers)
			break;
		if (got > 0)
			runs = 0;
		else if (runs++ == RUNS_MOST || !event_worker_idle(worker))
			break;
	}
	return taken;
}

void
hy_event_drop(uint8_t device, const struct rte_event *event)
{
	struct event_feed *feed = event_feed_of(device);

	feed->freed += event_free(event);
}

unsigned int
event_free(const struct rte_event *event)
{
	unsigned int n = 0;

	if (hy_event_is_packet(event)) {
		rte_pktmbuf_free(event->mbuf);
		n = 1;
	} else if (hy_event_is_vector(event)) {
		n = event->vec->nb_elem;
		rte_pktmbuf_free_bulk(&event->vec->mbufs[event->vec->elem_offset], n);
		rte_mempool_put(rte_mempool_from_obj(event->vec), event->vec);
	}
	return n;
}
