/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a simulated event device that is the same for all: see event_common.h. */

#include <string.h>

#include <eventdev_pmd_vdev.h>
#include <rte_cycles.h>
#include <rte_ring_elem.h>

#include "lib/graph/internal/dpdk.h"

#include "event_common.h"

static const struct event_driver *const devices[] = { &event_cn10k, &event_dlb2 };

static struct rte_vdev_driver drivers[RTE_DIM(devices)];

void
event_flush(const struct rte_eventdev *dev, struct rte_ring *ring)
{
	struct rte_event event;

	while (ring != NULL && rte_ring_dequeue_elem(ring, &event, sizeof(event)) == 0)
		if (dev->dev_ops->dev_stop_flush != NULL)
			dev->dev_ops->dev_stop_flush(dev->data->dev_id, event,
				dev->data->dev_stop_flush_arg);
}

uint16_t
event_dequeue(struct event_links *port, struct rte_event events[], uint16_t n, uint64_t ticks,
	event_take_t *take)
{
	const struct event_state *state = port->state;
	const uint64_t from = rte_rdtsc();

	if (n == 0 || !event_started(state))
		return 0;
	do {
		for (uint8_t i = 0; i < state->nb_queues; i++) {
			const uint8_t q = (uint8_t)((port->next + i) % state->nb_queues);
			uint16_t taken = 0;

			if (__atomic_load_n(&port->linked[q], __ATOMIC_ACQUIRE))
				taken = take(port, q, events, n);
			if (taken == 0)
				continue;
			port->next = (uint8_t)((q + 1) % state->nb_queues);
			return taken;
		}
	} while (rte_rdtsc() - from < ticks);
	return 0;
}

#if HY_DPDK_EVENT_BY_ONE
static uint16_t
enqueue(void *port, const struct rte_event *event)
{
	return ((struct event_links *)port)->state->driver->enqueue_burst(port, event, 1);
}

static uint16_t
dequeue(void *port, struct rte_event *event, uint64_t ticks)
{
	return ((struct event_links *)port)->state->driver->dequeue_burst(port, event, 1, ticks);
}
#endif

static const struct event_driver *
driver_of_dev(const struct rte_eventdev *dev)
{
	return ((const struct event_state *)dev->data->dev_private)->driver;
}

/*
 * A driver without link profiles reports one: with none, DPDK refuses all links. DPDK zeroes the
 * structure for programs, but not for its own checks.
 */
static void
info(struct rte_eventdev *dev, struct rte_event_dev_info *to)
{
	*to = driver_of_dev(dev)->info;
	to->driver_name = driver_of_dev(dev)->name;
#if HY_DPDK_EVENT_PROFILES
	to->max_profiles_per_port = 1;
#endif
#if HY_DPDK_EVENT_TYPES
	to->event_dev_cap |= RTE_EVENT_DEV_CAP_ATOMIC | RTE_EVENT_DEV_CAP_ORDERED |
		RTE_EVENT_DEV_CAP_PARALLEL;
#endif
}

static void
queue_default(struct rte_eventdev *dev, uint8_t queue __rte_unused,
	struct rte_event_queue_conf *conf)
{
	*conf = driver_of_dev(dev)->queue;
}

static void
port_default(struct rte_eventdev *dev, uint8_t port __rte_unused, struct rte_event_port_conf *conf)
{
	*conf = driver_of_dev(dev)->port;
	if (conf->new_event_threshold == 0)
		conf->new_event_threshold = dev->data->dev_conf.nb_events_limit;
}

static int
start(struct rte_eventdev *dev)
{
	struct event_state *state = dev->data->dev_private;

	__atomic_store_n(&state->started, true, __ATOMIC_RELEASE);
	return 0;
}

static int
port_unlink(struct rte_eventdev *dev __rte_unused, void *port, uint8_t queues[], uint16_t n)
{
	struct event_links *links = port;

	for (uint16_t i = 0; i < n; i++)
		__atomic_store_n(&links->linked[queues[i]], false, __ATOMIC_RELEASE);
	return n;
}

/* The memory of queues and ports is freed with the device. */
static void
queue_release(struct rte_eventdev *dev __rte_unused, uint8_t queue __rte_unused)
{
}

static void
port_release(void *port __rte_unused)
{
}

static int
timeout_ticks(struct rte_eventdev *dev __rte_unused, uint64_t ns, uint64_t *ticks)
{
	*ticks = (uint64_t)((double)ns * (double)rte_get_tsc_hz() / NS_PER_S);
	return 0;
}

static const struct event_driver *
driver_of(const char *name)
{
	size_t d = 0;

	while (strncmp(name, devices[d]->alias, strlen(devices[d]->alias)) != 0 &&
		strncmp(name, devices[d]->name, strlen(devices[d]->name)) != 0)
		d++;
	return devices[d];
}

static int
probe(struct rte_vdev_device *vdev)
{
	const struct event_driver *driver = driver_of(rte_vdev_device_name(vdev));
	struct rte_eventdev *dev = rte_event_pmd_vdev_init(rte_vdev_device_name(vdev),
		driver->device_size, vdev->device.numa_node, vdev);

	if (dev == NULL)
		return -ENOMEM;
	((struct event_state *)dev->data->dev_private)->driver = driver;
	driver->ops->dev_infos_get = info;
	driver->ops->queue_def_conf = queue_default;
	driver->ops->port_def_conf = port_default;
	driver->ops->dev_start = start;
	driver->ops->queue_release = queue_release;
	driver->ops->port_release = port_release;
	driver->ops->port_unlink = port_unlink;
	driver->ops->timeout_ticks = timeout_ticks;
	dev->dev_ops = driver->ops;
#if HY_DPDK_EVENT_BY_ONE
	dev->enqueue = enqueue;
	dev->dequeue = dequeue;
#endif
	dev->enqueue_burst = driver->enqueue_burst;
	dev->enqueue_new_burst = driver->enqueue_new_burst;
	dev->enqueue_forward_burst = driver->enqueue_burst;
	dev->dequeue_burst = driver->dequeue_burst;
	if (driver->tx_burst != NULL)
		dev->txa_enqueue = dev->txa_enqueue_same_dest = driver->tx_burst;
	event_dev_probing_finish(dev);
	return 0;
}

static int
remove_device(struct rte_vdev_device *vdev)
{
	return rte_event_pmd_vdev_uninit(rte_vdev_device_name(vdev));
}

RTE_INIT(events_register)
{
	for (size_t d = 0; d < RTE_DIM(devices); d++) {
		drivers[d].probe = probe;
		drivers[d].remove = remove_device;
		drivers[d].driver.name = devices[d]->name;
		drivers[d].driver.alias = devices[d]->alias;
		rte_vdev_register(&drivers[d]);
	}
}

RTE_FINI(events_unregister)
{
	for (size_t d = 0; d < RTE_DIM(devices); d++)
		rte_vdev_unregister(&drivers[d]);
}
