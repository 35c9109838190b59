/* SPDX-License-Identifier: BSD-3-Clause */
/* --mode and the options that come with it, named as DPDK's l3fwd has them. */

#include <string.h>

#include <rte_eventdev.h>

#include "option.h"
#include "options.h"

#define VECTOR_SIZE HY_BURST_DEFAULT

static const char *const scheds[] = { [RTE_SCHED_TYPE_ORDERED] = "ordered",
	[RTE_SCHED_TYPE_ATOMIC] = "atomic",
	[RTE_SCHED_TYPE_PARALLEL] = "parallel" };

const char *
option_sched_name(const struct options *options)
{
	return scheds[options->event.sched];
}

int
option_read_mode(const char *text, struct options *options)
{
	options->event.on = strcmp(text, "eventdev") == 0;
	options->dispatch.on = strcmp(text, "dispatch") == 0;
	if (!options->event.on && !options->dispatch.on && strcmp(text, "poll") != 0)
		return hy_option_refuse("--mode", "'%s' is not poll, eventdev or dispatch", text);
	return 0;
}

int
option_read_sched(const char *text, struct options *options)
{
	for (unsigned int s = 0; s < RTE_DIM(scheds); s++) {
		if (strcmp(text, scheds[s]) != 0)
			continue;
		options->event.sched = (uint8_t)s;
		options->event.sched_set = true;
		return 0;
	}
	return hy_option_refuse("--eventq-sched", "'%s' is not atomic, ordered or parallel", text);
}

int
option_read_event_device(const char *text, struct options *options)
{
	options->event.device_set = true;
	return hy_option_number("--event-device", text, 0, RTE_EVENT_MAX_DEVS - 1,
		&options->event.device);
}

/* Without --event-device, the only one. */
static int
choose_device(struct event_options *e)
{
	struct rte_event_dev_info info;
	const unsigned int n = rte_event_dev_count();

	if (n == 0)
		return hy_option_refuse("--mode",
			"eventdev needs an event device, and none was found; EAL's "
			"--vdev=event_sw0 and --vdev=event_dsw0 make one in software");
	if (!e->device_set && n > 1)
		return hy_option_refuse("--event-device", "is required: there are %u event devices",
			n);
	while (!e->device_set && rte_event_dev_info_get((uint8_t)e->device, &info) < 0)
		e->device++;
	if (rte_event_dev_info_get((uint8_t)e->device, &info) < 0)
		return hy_option_refuse("--event-device",
			"there is no event device %u; there are %u", e->device, n);
	return 0;
}

static int
check_vectors(struct event_options *e)
{
	if (!e->vector && (e->vector_size > 0 || e->vector_tmo_ns > 0))
		return hy_option_refuse("--event-vector-size, --event-vector-tmo",
			"require --event-vector");
	if (!e->vector)
		return 0;
	e->vector_size = e->vector_size > 0 ? e->vector_size : VECTOR_SIZE;
	return 0;
}

int
option_check_event(struct options *options)
{
	struct event_options *e = &options->event;

	if (!e->on) {
		if (e->sched_set || e->device_set || e->vector || e->vector_size > 0 ||
			e->vector_tmo_ns > 0)
			return hy_option_refuse("--eventq-sched, --event-device, --event-vector*",
				"require --mode=eventdev");
		return 0;
	}
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (options->rx_budget[p] > 0)
			return hy_option_refuse("--rx-budget",
				"is for --mode=poll and --mode=dispatch: an event device mixes "
				"what ports bring");
	return check_vectors(e) < 0 ? -1 : choose_device(e);
}
