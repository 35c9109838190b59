/* SPDX-License-Identifier: BSD-3-Clause */
/* What an event device can do. */

#include <errno.h>

#include <rte_dev.h>
#include <rte_eventdev.h>

#include "hal/internal/dpdk.h"
#include "hal/internal/hal.h"

static void
probe_types(const struct rte_event_dev_info *info, struct hy_capability *caps)
{
#if HY_DPDK_EVENT_TYPES
	const uint32_t has = info->event_dev_cap;

	hy_cap_flag(&caps[HY_CAP_EVENT_ATOMIC], (has & RTE_EVENT_DEV_CAP_ATOMIC) != 0, "ATOMIC");
	hy_cap_flag(&caps[HY_CAP_EVENT_ORDERED], (has & RTE_EVENT_DEV_CAP_ORDERED) != 0, "ORDERED");
	hy_cap_flag(&caps[HY_CAP_EVENT_PARALLEL], (has & RTE_EVENT_DEV_CAP_PARALLEL) != 0,
		"PARALLEL");
#else
	static const enum hy_cap types[] = { HY_CAP_EVENT_ATOMIC, HY_CAP_EVENT_ORDERED,
		HY_CAP_EVENT_PARALLEL };

	RTE_SET_USED(info);
	for (unsigned int i = 0; i < RTE_DIM(types); i++)
		hy_cap_fill(&caps[types[i]], HY_LEVEL_UNKNOWN, 0,
			"this DPDK has no way for a driver to say it");
#endif
}

static void
probe_device(const struct rte_event_dev_info *info, struct hy_capability *caps)
{
	const uint32_t has = info->event_dev_cap;

	hy_cap_limit(&caps[HY_CAP_EVENT_QUEUES], info->max_event_queues);
	hy_cap_limit(&caps[HY_CAP_EVENT_PORTS], info->max_event_ports);
	probe_types(info, caps);
	hy_cap_flag(&caps[HY_CAP_EVENT_ALL_TYPES], (has & RTE_EVENT_DEV_CAP_QUEUE_ALL_TYPES) != 0,
		"QUEUE_ALL_TYPES");
	hy_cap_flag(&caps[HY_CAP_EVENT_FLOW_ID], (has & RTE_EVENT_DEV_CAP_CARRY_FLOW_ID) != 0,
		"CARRY_FLOW_ID");
	hy_cap_flag(&caps[HY_CAP_EVENT_NO_SERVICE],
		(has & RTE_EVENT_DEV_CAP_DISTRIBUTED_SCHED) != 0, "DISTRIBUTED_SCHED");
	hy_cap_fill(&caps[HY_CAP_EVENT_RECONFIGURE], HY_LEVEL_YES, 0, "as DPDK's API promises");
}

int
hy_probe_event(struct hy_device_list *list)
{
	unsigned int left = rte_event_dev_count();

	/* No further than the last one: EAL logs ids that are none. */
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
