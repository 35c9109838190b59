/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated event device that calls itself event_cn10k: queues are rings, and ports take one event
 * at a time, as that hardware does. Where an event is atomic or ordered, the port that has it in
 * hand keeps its whole queue to itself until it gives it back: coarser than by flow, and no less.
 */

#include <string.h>

#include <eventdev_pmd_vdev.h>
#include <rte_cycles.h>
#include <rte_ring_elem.h>

#include "hal/internal/dpdk.h"

#include "event.h"
#include "event_common.h"

#define DRIVER "event_cn10k"
#define ALIAS "sim_event_cn10k"

/* event/cnxk/cnxk_eventdev.c of DPDK v22.11, cnxk_sso_info_get(). */
static void
info(struct rte_eventdev *dev, struct rte_event_dev_info *to)
{
	RTE_SET_USED(dev);
	event_info_begin(to);
	to->driver_name = DRIVER;
	to->min_dequeue_timeout_ns = 1;
	to->max_dequeue_timeout_ns = UINT32_MAX;
	to->max_event_queues = EVENT_QUEUES;
	to->max_event_queue_flows = 1u << 20;
	to->max_event_queue_priority_levels = 8;
	to->max_event_priority_levels = 1;
	to->max_event_ports = EVENT_PORTS;
	to->max_event_port_dequeue_depth = 1;
	to->max_event_port_enqueue_depth = 1;
	to->max_num_events = EVENT_MAX;
	to->event_dev_cap |= RTE_EVENT_DEV_CAP_QUEUE_QOS | RTE_EVENT_DEV_CAP_DISTRIBUTED_SCHED |
		RTE_EVENT_DEV_CAP_QUEUE_ALL_TYPES | RTE_EVENT_DEV_CAP_RUNTIME_PORT_LINK |
		RTE_EVENT_DEV_CAP_MULTIPLE_QUEUE_PORT | RTE_EVENT_DEV_CAP_NONSEQ_MODE |
		RTE_EVENT_DEV_CAP_CARRY_FLOW_ID | RTE_EVENT_DEV_CAP_MAINTENANCE_FREE;
}

static int
configure(const struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	device->nb_queues = (uint8_t)dev->data->dev_conf.nb_event_queues;
	return 0;
}

static void
queue_default(struct rte_eventdev *dev, uint8_t queue, struct rte_event_queue_conf *conf)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	conf->nb_atomic_flows = 1u << 20;
	conf->nb_atomic_order_sequences = 1u << 20;
	conf->event_queue_cfg = RTE_EVENT_QUEUE_CFG_ALL_TYPES;
	conf->priority = RTE_EVENT_DEV_PRIORITY_NORMAL;
}

static int
queue_setup(struct rte_eventdev *dev, uint8_t id, const struct rte_event_queue_conf *conf)
{
	struct event_device *device = dev->data->dev_private;
	struct event_queue *queue = &device->queues[id];
	char name[RTE_RING_NAMESIZE];

	RTE_SET_USED(conf);
	if (queue->ring != NULL)
		return 0;
	snprintf(name, sizeof(name), "simevent%u_%u", dev->data->dev_id, id);
	queue->ring = rte_ring_create_elem(name, sizeof(struct rte_event), EVENT_MAX,
		dev->data->socket_id, RING_F_EXACT_SZ);
	return queue->ring != NULL ? 0 : -rte_errno;
}

static void
port_default(struct rte_eventdev *dev, uint8_t port, struct rte_event_port_conf *conf)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(port);
	conf->new_event_threshold = EVENT_MAX;
	conf->dequeue_depth = 1;
	conf->enqueue_depth = 1;
}

static int
port_setup(struct rte_eventdev *dev, uint8_t id, const struct rte_event_port_conf *conf)
{
	struct event_device *device = dev->data->dev_private;
	struct event_port *port = &device->ports[id];

	RTE_SET_USED(conf);
	port->device = device;
	port->id = id;
	port->holds = -1;
	port->in_hand = false;
	dev->data->ports[id] = port;
	return 0;
}

static int
port_link(struct rte_eventdev *dev, void *arg, const uint8_t queues[], const uint8_t priorities[],
	uint16_t n)
{
	struct event_port *port = arg;

	RTE_SET_USED(dev);
	RTE_SET_USED(priorities);
	for (uint16_t i = 0; i < n; i++)
		__atomic_store_n(&port->linked[queues[i]], true, __ATOMIC_RELEASE);
	return n;
}

static int
port_unlink(struct rte_eventdev *dev, void *arg, uint8_t queues[], uint16_t n)
{
	struct event_port *port = arg;

	RTE_SET_USED(dev);
	return event_unlink(port->linked, queues, n);
}

static int
start(struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	__atomic_store_n(&device->started, true, __ATOMIC_RELEASE);
	return 0;
}

static void
stop(struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	__atomic_store_n(&device->started, false, __ATOMIC_RELEASE);
	for (uint8_t q = 0; q < device->nb_queues; q++) {
		event_flush(dev, device->queues[q].ring);
		device->queues[q].owner = 0;
	}
	for (int p = 0; p < EVENT_PORTS; p++)
		device->ports[p].holds = -1;
}

static int
close_device(struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	for (int q = 0; q < EVENT_QUEUES; q++) {
		rte_ring_free(device->queues[q].ring);
		device->queues[q].ring = NULL;
	}
	return 0;
}

static void
dump(struct rte_eventdev *dev, FILE *out)
{
	const struct event_device *device = dev->data->dev_private;

	for (uint8_t q = 0; q < device->nb_queues; q++)
		if (device->queues[q].ring != NULL)
			fprintf(out, "queue %u: %u events\n", q,
				rte_ring_count(device->queues[q].ring));
}

/* Gives back the queue of the event in hand. */
static void
give_back(struct event_port *port)
{
	if (port->holds < 0)
		return;
	__atomic_store_n(&port->device->queues[port->holds].owner, 0, __ATOMIC_RELEASE);
	port->holds = -1;
}

static bool
take(struct event_port *port, uint8_t id, struct rte_event *event)
{
	struct event_queue *queue = &port->device->queues[id];
	uint32_t nobody = 0;

	if (rte_ring_empty(queue->ring) ||
		!__atomic_compare_exchange_n(&queue->owner, &nobody, port->id + 1u, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	port->holds = id;
	if (rte_ring_dequeue_elem(queue->ring, event, sizeof(*event)) != 0) {
		give_back(port);
		return false;
	}
	port->in_hand = true;
	if (event->sched_type == RTE_SCHED_TYPE_PARALLEL)
		give_back(port);
	simnic_sync();
	return true;
}

static uint16_t
dequeue_burst(void *arg, struct rte_event events[], uint16_t n, uint64_t ticks)
{
	struct event_port *port = arg;
	struct event_device *device = port->device;
	const uint64_t from = rte_rdtsc();

	give_back(port);
	port->in_hand = false;
	if (n == 0 || !__atomic_load_n(&device->started, __ATOMIC_ACQUIRE))
		return 0;
	do {
		for (uint8_t i = 0; i < device->nb_queues; i++) {
			const uint8_t q = (uint8_t)((port->next + i) % device->nb_queues);

			if (!__atomic_load_n(&port->linked[q], __ATOMIC_ACQUIRE))
				continue;
			if (rte_ring_empty(device->queues[q].ring))
				event_rx_poll(device, q);
			if (!take(port, q, events))
				continue;
			port->next = (uint8_t)((q + 1) % device->nb_queues);
			return 1;
		}
	} while (rte_rdtsc() - from < ticks);
	return 0;
}

static bool
put(struct event_device *device, struct rte_event event)
{
	if (event.queue_id >= device->nb_queues)
		rte_errno = EINVAL;
	else if (rte_ring_enqueue_elem(device->queues[event.queue_id].ring, &event,
			 sizeof(event)) != 0)
		rte_errno = ENOSPC;
	else
		return true;
	return false;
}

/* event/cnxk/cn10k_worker.c: one event a call, however many it is given, unless all are new. */
static uint16_t
enqueue_burst(void *arg, const struct rte_event events[], uint16_t n)
{
	struct event_port *port = arg;
	struct event_device *device = port->device;

	if (n == 0 || !__atomic_load_n(&device->started, __ATOMIC_ACQUIRE))
		return 0;
	if (events->op != RTE_EVENT_OP_RELEASE && !put(device, *events))
		return 0;
	if (events->op != RTE_EVENT_OP_NEW) {
		give_back(port);
		port->in_hand = false;
	}
	return 1;
}

static uint16_t
enqueue_new_burst(void *port, const struct rte_event events[], uint16_t n)
{
	uint16_t i = 0;

	while (i < n && enqueue_burst(port, &events[i], 1) == 1)
		i++;
	return i;
}

#if HY_DPDK_EVENT_BY_ONE
static uint16_t
enqueue(void *port, const struct rte_event *event)
{
	return enqueue_burst(port, event, 1);
}

static uint16_t
dequeue(void *port, struct rte_event *event, uint64_t ticks)
{
	return dequeue_burst(port, event, 1, ticks);
}
#endif

struct eventdev_ops event_ops = {
	.dev_infos_get = info,
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_device,
	.queue_def_conf = queue_default,
	.queue_setup = queue_setup,
	.queue_release = event_queue_release,
	.port_def_conf = port_default,
	.port_setup = port_setup,
	.port_release = event_port_release,
	.port_link = port_link,
	.port_unlink = port_unlink,
	.timeout_ticks = event_timeout_ticks,
	.dump = dump,
};

static int
probe(struct rte_vdev_device *vdev)
{
	struct rte_eventdev *dev = rte_event_pmd_vdev_init(rte_vdev_device_name(vdev),
		sizeof(struct event_device), vdev->device.numa_node, vdev);

	if (dev == NULL)
		return -ENOMEM;
	event_adapter_ops(&event_ops);
	dev->dev_ops = &event_ops;
#if HY_DPDK_EVENT_BY_ONE
	dev->enqueue = enqueue;
	dev->dequeue = dequeue;
#endif
	dev->enqueue_burst = enqueue_burst;
	dev->enqueue_new_burst = enqueue_new_burst;
	dev->enqueue_forward_burst = enqueue_burst;
	dev->dequeue_burst = dequeue_burst;
	dev->txa_enqueue = event_tx;
	dev->txa_enqueue_same_dest = event_tx;
	event_dev_probing_finish(dev);
	return 0;
}

static struct rte_vdev_driver driver = {
	.probe = probe,
	.remove = event_remove,
	.driver.name = DRIVER,
	.driver.alias = ALIAS,
};

RTE_INIT(event_register)
{
	rte_vdev_register(&driver);
}

RTE_FINI(event_unregister)
{
	rte_vdev_unregister(&driver);
}
