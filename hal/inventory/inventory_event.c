/* SPDX-License-Identifier: BSD-3-Clause */
/* What an event device can do. */

#include <errno.h>

#include <rte_dev.h>
#include <rte_eventdev.h>

#include "hal/internal/hal.h"
#include "lib/graph/internal/dpdk.h"

#define FLAG(cap, flag) HY_CAP_FLAG(HY_CAP_EVENT_##cap, RTE_EVENT_DEV_CAP_, flag)

static const struct hy_cap_flag flags[] = {
	FLAG(ALL_TYPES, QUEUE_ALL_TYPES),
	FLAG(FLOW_ID, CARRY_FLOW_ID),
	FLAG(NO_SERVICE, DISTRIBUTED_SCHED),
#if HY_DPDK_EVENT_TYPES
	FLAG(ATOMIC, ATOMIC),
	FLAG(ORDERED, ORDERED),
	FLAG(PARALLEL, PARALLEL),
#endif
};

static void
probe_device(const struct rte_event_dev_info *info, struct hy_capability *caps)
{
	hy_cap_limit(&caps[HY_CAP_EVENT_QUEUES], info->max_event_queues);
	hy_cap_limit(&caps[HY_CAP_EVENT_PORTS], info->max_event_ports);
	for (enum hy_cap c = HY_CAP_EVENT_ATOMIC; c <= HY_CAP_EVENT_PARALLEL; c++)
		hy_cap_fill(&caps[c], HY_LEVEL_UNKNOWN, 0,
			"this DPDK has no way for a driver to report it");
	hy_cap_flags(caps, info->event_dev_cap, flags, RTE_DIM(flags));
	hy_cap_fill(&caps[HY_CAP_EVENT_RECONFIGURE], HY_LEVEL_YES, 0, "as DPDK's API promises");
}

int
hy_probe_event(struct hy_device_list *list)
{
	unsigned int left = rte_event_dev_count();

	/* Stops after the last device: DPDK logs an error for other ids. */
	for (uint8_t id = 0; id < RTE_EVENT_MAX_DEVS && left > 0; id++) {
		struct rte_event_dev_info info;
		struct hy_hal_device *dev;

		if (rte_event_dev_info_get(id, &info) < 0)
			continue;
		left--;
		dev = hy_device_add(list, (struct hy_target){ .kind = HY_TARGET_EVENT, .id = id },
			info.dev == NULL ? NULL : rte_dev_name(info.dev), info.driver_name);
		if (dev == NULL)
			return -ENOMEM;
		probe_device(&info, dev->caps);
	}
	return 0;
}
