/* SPDX-License-Identifier: BSD-3-Clause */
/* Options for how packets reach workers: see hy_mode_options.h. */

#include <rte_eventdev.h>

#include "readers.h"

static const char *const scheds[] = { [RTE_SCHED_TYPE_ORDERED] = "ordered",
	[RTE_SCHED_TYPE_ATOMIC] = "atomic",
	[RTE_SCHED_TYPE_PARALLEL] = "parallel" };

const char *
hy_mode_sched_name(const struct hy_mode_options *o)
{
	return scheds[o->sched];
}

static int
read_mode(const char *text, void *to)
{
	static const char *const modes[] = { [HY_MODE_POLL] = "poll",
		[HY_MODE_EVENTDEV] = "eventdev",
		[HY_MODE_DISPATCH] = "dispatch" };
	struct hy_mode_options *o = to;
	unsigned int mode = 0;
	const int rc = hy_option_word("--mode", text, modes, RTE_DIM(modes),
		"poll, eventdev or dispatch", &mode);

	o->mode = (enum hy_mode)mode;
	return rc;
}

static int
read_sched(const char *text, void *to)
{
	struct hy_mode_options *o = to;
	unsigned int sched = RTE_SCHED_TYPE_ATOMIC;
	const int rc = hy_option_word("--eventq-sched", text, scheds, RTE_DIM(scheds),
		"atomic, ordered or parallel", &sched);

	o->sched = (uint8_t)sched;
	return rc;
}

static int
read_device(const char *text, void *to)
{
	struct hy_mode_options *o = to;

	o->device_set = true;
	return hy_option_number("--event-device", text, 0, RTE_EVENT_MAX_DEVS - 1, &o->device);
}

/* Without --event-device, the only one. */
static int
choose_device(struct hy_mode_options *o)
{
	struct rte_event_dev_info info;
	const unsigned int n = rte_event_dev_count();

	if (n == 0)
		return hy_option_refuse("--mode",
			"eventdev needs an event device, and none was found; EAL's "
			"--vdev=event_sw0 and --vdev=event_dsw0 make one in software");
	if (!o->device_set && n > 1)
		return hy_option_refuse("--event-device", "is required: there are %u event devices",
			n);
	while (!o->device_set && rte_event_dev_info_get((uint8_t)o->device, &info) < 0)
		o->device++;
	if (rte_event_dev_info_get((uint8_t)o->device, &info) < 0)
		return hy_option_refuse("--event-device",
			"there is no event device %u; there are %u", o->device, n);
	return 0;
}

static int
check(void *to)
{
	struct hy_mode_options *o = to;

	if (!o->vector)
		o->vector_size = 0;
	if (o->mode == HY_MODE_EVENTDEV)
		return choose_device(o);
	if (o->mode == HY_MODE_DISPATCH && o->nb_pins == 0)
		return hy_option_refuse("--mode",
			"dispatch requires --pin: without one, all nodes run where packets come in, "
			"as with poll");
	return hy_pins_check(o);
}

#define AT(field) offsetof(struct hy_mode_options, field)

static const struct hy_option options[] = {
	{ "mode", HY_OPTION_READ, .read = read_mode, .value = "=poll|eventdev|dispatch",
		.help = "workers poll the queues of --config (default), take packets from an event "
			"device, or poll and hand packets over to the workers of --pin" },
	{ "pin", HY_OPTION_READ, .read = hy_pin_read, .value = "PATTERN=LCORE[+LCORE...]",
		.help = "run matching nodes there; with several lcores, each flow on one of them",
		.needs = "mode=dispatch" },
	{ "eventq-sched", HY_OPTION_READ, .read = read_sched, .value = "=TYPE",
		.help = "atomic (default), ordered or parallel", .needs = "mode=eventdev" },
	{ "event-device", HY_OPTION_READ, .read = read_device, .value = "=N",
		.help = "which event device, if there are several", .needs = "mode=eventdev" },
	{ "event-vector", HY_OPTION_SET, AT(vector),
		.help = "receive several packets per event, if supported",
		.needs = "mode=eventdev" },
	{ "event-vector-size", HY_OPTION_NUMBER, AT(vector_size), "=N", .min = 1,
		.max = HY_BURST_MAX, .help = "most packets per event (1 to 256, default 64)",
		.needs = "event-vector" },
	{ "event-vector-tmo", HY_OPTION_NUMBER, AT(vector_tmo_ns), "=NS", .min = 1,
		.max = 1000000000,
		.help = "longest wait for a vector to fill (default 1000000, or the nearest value "
			"that the device supports)",
		.needs = "event-vector" },
};

struct hy_option_group
hy_mode_options(struct hy_mode_options *o, struct hy_port_options *with)
{
	*o = (struct hy_mode_options){
		.sched = RTE_SCHED_TYPE_ATOMIC, .vector_size = HY_BURST_DEFAULT, .ports = with
	};
	return (struct hy_option_group){ "How packets reach workers", options, RTE_DIM(options), o,
		check };
}
