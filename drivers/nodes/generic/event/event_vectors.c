/* SPDX-License-Identifier: BSD-3-Clause */
/* Event vectors: checks that all ports of a feed support the requested ones, and creates their pool. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_event_eth_rx_adapter.h>

#include "event_feed.h"

#define VECTORS_LEAST 1024 /* in the pool */

/* Range of timeouts, in nanoseconds. */
struct range {
	uint64_t min, max;
};

/*
 * Checks whether a port's packets can arrive in vectors of the requested size. Narrows the range of
 * timeouts to those that the port supports.
 */
static int
vectors_check(const struct event_feed *feed, uint16_t port, struct range *wait, char *reason,
	size_t size)
{
	const struct hy_event_params *p = &feed->params;
	struct rte_event_eth_rx_adapter_vector_limits limits;
	uint32_t caps = 0;
	int rc = rte_event_eth_rx_adapter_caps_get(p->device, port, &caps);

	if (rc < 0)
		return event_refuse(rc, reason, size, "port %u: %s", port, strerror(-rc));
	/* rxa_create_event_vector() of DPDK 22.11 to 26.07 overwrites events. */
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
			"port %u: event vectors of %u packets are not supported; %u to %u are%s",
			port, p->vector_size, limits.min_sz, limits.max_sz,
			limits.log2_sz != 0 ? ", powers of 2" : "");
	wait->min = RTE_MAX(wait->min, limits.min_timeout_ns);
	wait->max = RTE_MIN(wait->max, limits.max_timeout_ns);
	if (wait->min > wait->max && feed->vector_wish_ns == 0)
		return event_refuse(-ENOTSUP, reason, size,
			"port %u: event vectors wait for %" PRIu64 " to %" PRIu64
			" ns; those of other ports do not",
			port, limits.min_timeout_ns, limits.max_timeout_ns);
	if (wait->min > wait->max)
		return event_refuse(-ENOTSUP, reason, size,
			"port %u: event vectors cannot wait for %" PRIu64 " ns; %" PRIu64
			" to %" PRIu64 " are accepted",
			port, feed->vector_wish_ns, limits.min_timeout_ns, limits.max_timeout_ns);
	return 0;
}

int
event_vectors_create(struct event_feed *feed, char *reason, size_t size)
{
	struct hy_event_params *p = &feed->params;
	const uint64_t wish = feed->vector_wish_ns;
	struct range wait = { wish, wish == 0 ? UINT64_MAX : wish };
	char name[RTE_MEMPOOL_NAMESIZE];
	int rc = 0;

	if (p->vector_size == 0)
		return event_refuse(-ENOTSUP, reason, size, "event vectors were not asked for");
	for (unsigned int q = 0; q < p->nb_queues && rc == 0; q++)
		rc = vectors_check(feed, p->queues[q].port, &wait, reason, size);
	if (rc < 0)
		return rc;
	snprintf(name, sizeof(name), "hy_event_vectors_%u", p->device);
	feed->vectors = rte_event_vector_pool_create(name,
		VECTORS_LEAST + HY_EVENT_MOST / p->vector_size, 0, p->vector_size, p->socket);
	if (feed->vectors == NULL)
		return event_refuse(-rte_errno, reason, size, "no pool of event vectors: %s",
			rte_strerror(rte_errno));
	p->vector_timeout_ns = RTE_MAX(wait.min,
		RTE_MIN(wait.max, (uint64_t)HY_EVENT_VECTOR_TIMEOUT_NS));
	return 0;
}

void
event_vectors_free(struct event_feed *feed)
{
	rte_mempool_free(feed->vectors);
	feed->vectors = NULL;
	feed->params.vector_timeout_ns = 0;
}
