/* SPDX-License-Identifier: BSD-3-Clause */
/* The event device in place of the workers' polling: its feed, and the nodes that take from it. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_eventdev.h>

#include <hy_event.h>

#include "feed.h"

static int
refuse(const char *reason)
{
	fprintf(stderr, "l3fwd-graph: --mode=eventdev: %s\n", reason);
	return -1;
}

int
feed_create(const struct options *options, unsigned int nb_workers)
{
	const struct event_options *e = &options->event;
	struct hy_ethdev_rx_config queues[QUEUES_MAX];
	struct hy_event_params params = {
		.device = (uint8_t)e->device,
		.sched_type = e->sched,
		.nb_workers = (uint16_t)nb_workers,
		.queues = queues,
		.nb_queues = options->nb_queues,
		.vector_size = (uint16_t)e->vector_size,
		.vector_timeout_ns = e->vector_tmo_ns,
		.socket = SOCKET_ID_ANY,
	};
	char reason[HY_REASON_SIZE] = "";

	if (!e->on)
		return 0;
	if (options->numa)
		params.socket = rte_event_dev_socket_id(params.device);
	for (unsigned int q = 0; q < options->nb_queues; q++)
		queues[q] = (struct hy_ethdev_rx_config){ .port = options->queues[q].port,
			.queue = options->queues[q].queue };
	return hy_event_create(&params, reason, sizeof(reason)) < 0 ? refuse(reason) : 0;
}

int
feed_check(const struct options *options, char *reason, size_t size)
{
	return options->event.on ? hy_event_check((uint8_t)options->event.device, reason, size) : 0;
}

int
feed_start(const struct options *options, struct hy_hal *hal)
{
	char reason[HY_REASON_SIZE] = "";
	int rc;

	if (!options->event.on)
		return 0;
	if (feed_check(options, reason, sizeof(reason)) < 0)
		return refuse(reason);
	rc = hy_event_follow((uint8_t)options->event.device, hal);
	return rc < 0 ? refuse(strerror(-rc)) : 0;
}

void
feed_classifier(const struct options *options, uint16_t port, char name[HY_NAME_SIZE])
{
	snprintf(name, HY_NAME_SIZE, "%s-%u", options->policy != NULL ? "flow_cls" : "pkt_cls",
		port);
}

void
feed_print(const struct options *options, FILE *out)
{
	const struct hy_event_params *feed = hy_event_of((uint8_t)options->event.device);

	if (!options->event.on)
		return;
	fprintf(out, "Packets come by event device %u, %s", options->event.device,
		option_sched_name(options));
	if (feed->vector_timeout_ns > 0)
		fprintf(out, ", in vectors of at most %u that wait for %" PRIu64 " ns",
			feed->vector_size, feed->vector_timeout_ns);
	fprintf(out, ".\n");
	if (options->event.vector && feed->vector_timeout_ns == 0)
		fprintf(out, "There are no event vectors here (--explain says why).\n");
}

uint64_t
feed_destroy(const struct options *options)
{
	return options->event.on ? hy_event_destroy((uint8_t)options->event.device) : 0;
}
