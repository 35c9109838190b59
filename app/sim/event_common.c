/* SPDX-License-Identifier: BSD-3-Clause */
#include <dpdk.h>

#include "event_common.h"

/* Drivers that cannot switch between profiles have one: with none, DPDK refuses all links. */
void
event_info_begin(struct rte_event_dev_info *to)
{
	*to = (struct rte_event_dev_info)
	{
#if HY_DPDK_EVENT_PROFILES
		.max_profiles_per_port = 1,
#endif
#if HY_DPDK_EVENT_TYPES
		.event_dev_cap = RTE_EVENT_DEV_CAP_ATOMIC | RTE_EVENT_DEV_CAP_ORDERED |
			RTE_EVENT_DEV_CAP_PARALLEL,
#endif
	};
}
