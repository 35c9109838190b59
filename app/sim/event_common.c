/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_ring_elem.h>

#include "hal/internal/dpdk.h"

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

void
event_flush(const struct rte_eventdev *dev, struct rte_ring *ring)
{
	struct rte_event event;

	while (ring != NULL && rte_ring_dequeue_elem(ring, &event, sizeof(event)) == 0)
		if (dev->dev_ops->dev_stop_flush != NULL)
			dev->dev_ops->dev_stop_flush(dev->data->dev_id, event,
				dev->data->dev_stop_flush_arg);
}

int
event_unlink(bool linked[], const uint8_t queues[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		__atomic_store_n(&linked[queues[i]], false, __ATOMIC_RELEASE);
	return n;
}

void
event_queue_release(struct rte_eventdev *dev, uint8_t queue)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
}

void
event_port_release(void *port)
{
	RTE_SET_USED(port);
}

int
event_timeout_ticks(struct rte_eventdev *dev, uint64_t ns, uint64_t *ticks)
{
	RTE_SET_USED(dev);
	*ticks = (uint64_t)((double)ns * (double)rte_get_tsc_hz() / NS_PER_S);
	return 0;
}

int
event_remove(struct rte_vdev_device *vdev)
{
	return rte_event_pmd_vdev_uninit(rte_vdev_device_name(vdev));
}
