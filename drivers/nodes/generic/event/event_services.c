/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who runs what a feed does in software: service lcores, which EAL was given for that, or the
 * workers themselves (event_worker_idle()).
 */

#include <rte_event_eth_rx_adapter.h>
#include <rte_lcore.h>
#include <rte_service.h>

#include "event_feed.h"

/* Deals the services out to the service lcores, if there are any. */
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

int
event_services_start(struct event_feed *feed)
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
		/* EAL need not know of lcores that run it: workers do without being mapped. */
		rc = rte_service_set_runstate_mapped_check(feed->services[s], 0);
		if (rc == 0)
			rc = rte_service_runstate_set(feed->services[s], 1);
	}
	return rc < 0 ? rc : deal(feed, true);
}

void
event_services_stop(struct event_feed *feed)
{
	for (unsigned int s = 0; s < feed->nb_services; s++) {
		rte_service_runstate_set(feed->services[s], 0);
		/* An lcore that is not asked to run it any more never says that it does not. */
		while (rte_service_may_be_active(feed->services[s]) == 1)
			rte_pause();
	}
	deal(feed, false);
	feed->nb_services = 0;
}
