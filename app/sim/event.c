/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated event device under the name event_cn10k. Queues are rings, and a dequeue returns one
 * event, as on that hardware. A port that holds an atomic or ordered event locks the event's whole
 * queue until it releases the event: stricter than a lock for each flow.
 */

#include <rte_debug.h>
#include <rte_ring_elem.h>

#include "event.h"

static int
configure(const struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	device->state.nb_queues = dev->data->dev_conf.nb_event_queues;
	return 0;
}

static int
queue_setup(struct rte_eventdev *dev, uint8_t id,
	const struct rte_event_queue_conf *conf __rte_unused)
{
	struct event_device *device = dev->data->dev_private;
	struct event_queue *queue = &device->queues[id];
	char name[RTE_RING_NAMESIZE];

	if (queue->ring != NULL)
		return 0;
	snprintf(name, sizeof(name), "simevent%u_%u", dev->data->dev_id, id);
	queue->ring = rte_ring_create_elem(name, sizeof(struct rte_event), EVENT_MAX,
		dev->data->socket_id, RING_F_EXACT_SZ);
	return queue->ring != NULL ? 0 : -rte_errno;
}

static int
port_setup(struct rte_eventdev *dev, uint8_t id,
	const struct rte_event_port_conf *conf __rte_unused)
{
	struct event_device *device = dev->data->dev_private;
	struct event_port *port = &device->ports[id];

	port->links.state = &device->state;
	port->device = device;
	port->id = id;
	port->holds = -1;
	port->in_hand = false;
	dev->data->ports[id] = port;
	return 0;
}

static int
port_link(struct rte_eventdev *dev __rte_unused, void *arg, const uint8_t queues[],
	const uint8_t priorities[] __rte_unused, uint16_t n)
{
	struct event_port *port = arg;

	for (uint16_t i = 0; i < n; i++)
		__atomic_store_n(&port->links.linked[queues[i]], true, __ATOMIC_RELEASE);
	return n;
}

static void
stop(struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	__atomic_store_n(&device->state.started, false, __ATOMIC_RELEASE);
	for (uint8_t q = 0; q < device->state.nb_queues; q++) {
		event_flush(dev, device->queues[q].ring);
		device->queues[q].owner = 0;
	}
	for (int p = 0; p < EVENT_PORTS; p++)
		device->ports[p].holds = -1;
}

/* As the driver does when it makes room for more events, by the ports of workers. */
void
event_restart(const struct rte_eventdev *dev)
{
	struct event_device *device = dev->data->dev_private;

	if (!dev->data->dev_started)
		return;
	for (int p = 0; p < EVENT_PORTS; p++) {
		const int thread = __atomic_load_n(&device->ports[p].thread, __ATOMIC_RELAXED);

		if (thread != 0 && thread != rte_gettid())
			rte_panic("event_cn10k: restarted while workers dequeue\n");
		device->ports[p].holds = -1;
	}
	for (uint8_t q = 0; q < device->state.nb_queues; q++) {
		event_flush((struct rte_eventdev *)(uintptr_t)dev, device->queues[q].ring);
		device->queues[q].owner = 0;
	}
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

	for (uint8_t q = 0; q < device->state.nb_queues; q++)
		if (device->queues[q].ring != NULL)
			fprintf(out, "queue %u: %u events\n", q,
				rte_ring_count(device->queues[q].ring));
}

/* Unlocks the queue of the event that the port holds. */
static void
give_back(struct event_port *port)
{
	if (port->holds < 0)
		return;
	__atomic_store_n(&port->device->queues[port->holds].owner, 0, __ATOMIC_RELEASE);
	port->holds = -1;
}

static uint16_t
take(void *arg, uint8_t id, struct rte_event *event, uint16_t n __rte_unused)
{
	struct event_port *port = arg;
	struct event_queue *queue = &port->device->queues[id];
	uint32_t nobody = 0;

	if (rte_ring_empty(queue->ring))
		event_rx_poll(port->device, id);
	if (rte_ring_empty(queue->ring) ||
		!__atomic_compare_exchange_n(&queue->owner, &nobody, port->id + 1u, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	port->holds = id;
	if (rte_ring_dequeue_elem(queue->ring, event, sizeof(*event)) != 0) {
		give_back(port);
		return 0;
	}
	port->in_hand = true;
	if (event->sched_type == RTE_SCHED_TYPE_PARALLEL)
		give_back(port);
	simnic_sync();
	return 1;
}

static uint16_t
dequeue_burst(void *arg, struct rte_event events[], uint16_t n, uint64_t ticks)
{
	struct event_port *port = arg;

	__atomic_store_n(&port->thread, rte_gettid(), __ATOMIC_RELAXED);
	give_back(port);
	port->in_hand = false;
	return event_dequeue(&port->links, events, n, ticks, take);
}

static bool
put(struct event_device *device, struct rte_event event)
{
	if (event.queue_id >= device->state.nb_queues)
		rte_errno = EINVAL;
	else if (rte_ring_enqueue_elem(device->queues[event.queue_id].ring, &event,
			 sizeof(event)) != 0)
		rte_errno = ENOSPC;
	else
		return true;
	return false;
}

/* event/cnxk/cn10k_worker.c: takes one event a call, whatever n is, unless all events are new. */
static uint16_t
enqueue_burst(void *arg, const struct rte_event events[], uint16_t n)
{
	struct event_port *port = arg;
	struct event_device *device = port->device;

	if (n == 0 || !event_started(&device->state))
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

static struct eventdev_ops ops = {
	.dev_configure = configure,
	.dev_stop = stop,
	.dev_close = close_device,
	.queue_setup = queue_setup,
	.port_setup = port_setup,
	.port_link = port_link,
	.dump = dump,
};

RTE_INIT(event_ops_complete)
{
	event_adapter_ops(&ops);
}

const struct event_driver event_cn10k = {
	.name = "event_cn10k",
	.alias = "sim_event_cn10k",
	.device_size = sizeof(struct event_device),
	.ops = &ops,
	.info = {
		/* event/cnxk/cnxk_eventdev.c of DPDK v22.11, cnxk_sso_info_get(). */
		.min_dequeue_timeout_ns = 1,
		.max_dequeue_timeout_ns = UINT32_MAX,
		.max_event_queues = EVENT_QUEUES,
		.max_event_queue_flows = 1u << 20,
		.max_event_queue_priority_levels = 8,
		.max_event_priority_levels = 1,
		.max_event_ports = EVENT_PORTS,
		.max_event_port_dequeue_depth = 1,
		.max_event_port_enqueue_depth = 1,
		.max_num_events = EVENT_MAX,
		.event_dev_cap = RTE_EVENT_DEV_CAP_QUEUE_QOS | RTE_EVENT_DEV_CAP_DISTRIBUTED_SCHED |
			RTE_EVENT_DEV_CAP_QUEUE_ALL_TYPES | RTE_EVENT_DEV_CAP_RUNTIME_PORT_LINK |
			RTE_EVENT_DEV_CAP_MULTIPLE_QUEUE_PORT | RTE_EVENT_DEV_CAP_NONSEQ_MODE |
			RTE_EVENT_DEV_CAP_CARRY_FLOW_ID | RTE_EVENT_DEV_CAP_MAINTENANCE_FREE,
	},
	.queue = { .nb_atomic_flows = 1u << 20,
		.nb_atomic_order_sequences = 1u << 20,
		.event_queue_cfg = RTE_EVENT_QUEUE_CFG_ALL_TYPES,
		.priority = RTE_EVENT_DEV_PRIORITY_NORMAL },
	.port = { .new_event_threshold = EVENT_MAX, .dequeue_depth = 1, .enqueue_depth = 1 },
	.enqueue_burst = enqueue_burst,
	.enqueue_new_burst = enqueue_new_burst,
	.dequeue_burst = dequeue_burst,
	.tx_burst = event_tx,
};
