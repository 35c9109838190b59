/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated event device that calls itself event_dlb2_pf, after DPDK v22.11, drivers/event/dlb2:
 * bursts, credits in quanta, few links, no internal ports and no flow id that it would carry.
 *
 * Flows are told apart by few bits. A port that has atomic or ordered events in hand keeps all flows
 * of the same bits to itself until it takes the next ones: coarser than by flow, and no less.
 */

#include <string.h>

#include <eventdev_pmd_vdev.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring_elem.h>

#include "hal/internal/dpdk.h"

#include "event_common.h"

#define DRIVER "event_dlb2_pf" /* pf/dlb2_pf.c, RTE_PMD_REGISTER_PCI() */
#define ALIAS "sim_event_dlb2"

/* dlb2_priv.h. */
#define QUEUES 32         /* DLB2_MAX_NUM_LDB_QUEUES */
#define PORTS 64          /* DLB2_MAX_NUM_LDB_PORTS */
#define FLOWS (64 * 1024) /* DLB2_MAX_NUM_FLOWS */
#define CREDITS 8192      /* DLB2_MAX_NUM_LDB_CREDITS */
#define LINKS 8           /* DLB2_MAX_NUM_QIDS_PER_LDB_CQ */
#define DEPTH 32          /* DLB2_DEFAULT_CQ_DEPTH, DLB2_MAX_ENQUEUE_DEPTH */
#define PRIORITIES 8      /* DLB2_QID_PRIORITIES */
#define GROUPS 2          /* DLB2_NUM_SN_GROUPS */
#define SEQUENCES 1024    /* DLB2_MAX_LDB_SN_ALLOC, of a group */
#define SEQUENCES_LEAST 64
#define LANES 8
#define QUANTA 32 /* DLB2_SW_CREDIT_QUANTA_DEFAULT */

/* Flows of a queue whose ids have the same lower bits. */
struct lane {
	struct rte_ring *ring; /* of struct rte_event */
	uint32_t owner;        /* port that has events of it in hand, plus one; 0: none */
};

struct queue {
	uint8_t type; /* RTE_SCHED_TYPE_ */
	struct lane lanes[LANES];
};

struct port {
	struct device *device;
	uint8_t id, next, lane; /* queue and lane to look at first */
	bool set_up, linked[QUEUES];
	uint8_t holds;     /* queue of which it owns */
	uint32_t lanes;    /* these, by bit */
	uint32_t in_hand;  /* events taken, neither forwarded nor released */
	uint32_t credits;  /* of its own, for new events */
	uint32_t most_new; /* events in flight at which it makes no new ones */
} __rte_cache_aligned;

/* Sequence numbers, of which each ordered queue of a group has as many. */
struct group {
	uint32_t each, nb_queues;
};

struct device {
	uint8_t nb_queues;
	struct group groups[GROUPS];
	bool started;
	uint32_t limit, in_flight; /* credits: there are, and given to ports */
	struct queue queues[QUEUES];
	struct port ports[PORTS];
};

/* dlb2.c, evdev_dlb2_default_info. */
static void
info(struct rte_eventdev *dev, struct rte_event_dev_info *to)
{
	RTE_SET_USED(dev);
	event_info_begin(to);
	to->driver_name = DRIVER;
	to->min_dequeue_timeout_ns = 1;
	to->max_dequeue_timeout_ns = UINT32_MAX - 1;
	to->max_event_queues = QUEUES;
	to->max_event_queue_flows = FLOWS;
	to->max_event_queue_priority_levels = PRIORITIES;
	to->max_event_priority_levels = PRIORITIES;
	to->max_event_ports = PORTS;
	to->max_event_port_dequeue_depth = DEPTH;
	to->max_event_port_enqueue_depth = DEPTH;
	to->max_event_port_links = LINKS;
	to->max_num_events = CREDITS;
	to->event_dev_cap |= RTE_EVENT_DEV_CAP_EVENT_QOS | RTE_EVENT_DEV_CAP_NONSEQ_MODE |
		RTE_EVENT_DEV_CAP_DISTRIBUTED_SCHED | RTE_EVENT_DEV_CAP_QUEUE_ALL_TYPES |
		RTE_EVENT_DEV_CAP_BURST_MODE | RTE_EVENT_DEV_CAP_IMPLICIT_RELEASE_DISABLE |
		RTE_EVENT_DEV_CAP_RUNTIME_PORT_LINK | RTE_EVENT_DEV_CAP_MULTIPLE_QUEUE_PORT |
		RTE_EVENT_DEV_CAP_MAINTENANCE_FREE;
}

/* dlb2.c, dlb2_eventdev_configure(): a second time begins anew. */
static int
configure(const struct rte_eventdev *dev)
{
	const struct rte_event_dev_config *conf = &dev->data->dev_conf;
	struct device *device = dev->data->dev_private;

	device->nb_queues = conf->nb_event_queues;
	device->limit = (uint32_t)conf->nb_events_limit;
	device->in_flight = 0;
	memset(device->groups, 0, sizeof(device->groups));
	for (int p = 0; p < PORTS; p++)
		device->ports[p] = (struct port){ .device = device };
	return 0;
}

/* dlb2.c, dlb2_eventdev_queue_default_conf_get(). */
static void
queue_default(struct rte_eventdev *dev, uint8_t queue, struct rte_event_queue_conf *conf)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	conf->nb_atomic_flows = 1024;
	conf->nb_atomic_order_sequences = 64;
}

/* dlb2.c, dlb2_hw_create_ldb_queue(): a queue for all types is ordered, if it may have sequences. */
static uint8_t
type_of(const struct rte_event_queue_conf *conf)
{
	if ((conf->event_queue_cfg & RTE_EVENT_QUEUE_CFG_ALL_TYPES) == 0)
		return conf->schedule_type;
	return conf->nb_atomic_order_sequences != 0 ? RTE_SCHED_TYPE_ORDERED
						    : RTE_SCHED_TYPE_PARALLEL;
}

/*
 * dlb2.c, dlb2_program_sn_allocation(); pf/base/dlb2_resource.c, dlb2_set_group_sequence_numbers():
 * a group with such queues and room, or else one without queues, for a number that it can have.
 */
static bool
sequences_take(struct device *device, uint32_t each)
{
	struct group *group = NULL;

	for (int g = GROUPS - 1; g >= 0; g--)
		if (device->groups[g].nb_queues == 0)
			group = &device->groups[g];
	for (int g = GROUPS - 1; g >= 0; g--)
		if (device->groups[g].nb_queues > 0 && device->groups[g].each == each &&
			device->groups[g].nb_queues < SEQUENCES / each)
			group = &device->groups[g];
	if (group == NULL || each < SEQUENCES_LEAST || each > SEQUENCES || !rte_is_power_of_2(each))
		return false;
	group->each = each;
	group->nb_queues++;
	return true;
}

static int
queue_setup(struct rte_eventdev *dev, uint8_t id, const struct rte_event_queue_conf *conf)
{
	struct device *device = dev->data->dev_private;
	struct queue *queue = &device->queues[id];
	char name[RTE_RING_NAMESIZE];

	queue->type = type_of(conf);
	if (queue->type == RTE_SCHED_TYPE_ORDERED &&
		!sequences_take(device, conf->nb_atomic_order_sequences))
		return -EINVAL;
	for (int l = 0; l < LANES && queue->lanes[l].ring == NULL; l++) {
		snprintf(name, sizeof(name), "simdlb%u_%u_%d", dev->data->dev_id, id, l);
		queue->lanes[l].ring = rte_ring_create_elem(name, sizeof(struct rte_event), CREDITS,
			dev->data->socket_id, RING_F_EXACT_SZ);
		if (queue->lanes[l].ring == NULL)
			return -rte_errno;
	}
	return 0;
}

static void
port_default(struct rte_eventdev *dev, uint8_t port, struct rte_event_port_conf *conf)
{
	RTE_SET_USED(port);
	conf->new_event_threshold = (int32_t)((struct device *)dev->data->dev_private)->limit;
	conf->dequeue_depth = DEPTH;
	conf->enqueue_depth = DEPTH;
}

/* dlb2.c, dlb2_eventdev_port_setup(): once, until the device is configured again. */
static int
port_setup(struct rte_eventdev *dev, uint8_t id, const struct rte_event_port_conf *conf)
{
	struct device *device = dev->data->dev_private;
	struct port *port = &device->ports[id];

	if (port->set_up || conf->dequeue_depth > DEPTH || conf->enqueue_depth > DEPTH)
		return -EINVAL;
	port->set_up = true;
	port->id = id;
	port->most_new = (uint32_t)conf->new_event_threshold;
	dev->data->ports[id] = port;
	return 0;
}

/* dlb2.c, dlb2_eventdev_port_link(): as many as there is room for. */
static int
port_link(struct rte_eventdev *dev, void *arg, const uint8_t queues[], const uint8_t priorities[],
	uint16_t n)
{
	struct port *port = arg;
	unsigned int links = 0;
	uint16_t i;

	RTE_SET_USED(dev);
	RTE_SET_USED(priorities);
	for (int q = 0; q < QUEUES; q++)
		links += port->linked[q];
	for (i = 0; i < n && (port->linked[queues[i]] || links < LINKS); i++) {
		links += !port->linked[queues[i]];
		__atomic_store_n(&port->linked[queues[i]], true, __ATOMIC_RELEASE);
	}
	return i;
}

static int
port_unlink(struct rte_eventdev *dev, void *arg, uint8_t queues[], uint16_t n)
{
	struct port *port = arg;

	RTE_SET_USED(dev);
	return event_unlink(port->linked, queues, n);
}

static int
start(struct rte_eventdev *dev)
{
	struct device *device = dev->data->dev_private;

	__atomic_store_n(&device->started, true, __ATOMIC_RELEASE);
	return 0;
}

static void
stop(struct rte_eventdev *dev)
{
	struct device *device = dev->data->dev_private;

	__atomic_store_n(&device->started, false, __ATOMIC_RELEASE);
	for (uint8_t q = 0; q < device->nb_queues; q++) {
		for (struct lane *lane = device->queues[q].lanes;
			lane < &device->queues[q].lanes[LANES]; lane++) {
			event_flush(dev, lane->ring);
			lane->owner = 0;
		}
	}
	for (int p = 0; p < PORTS; p++)
		device->ports[p].lanes = device->ports[p].in_hand = device->ports[p].credits = 0;
	device->in_flight = 0;
}

static int
close_device(struct rte_eventdev *dev)
{
	struct device *device = dev->data->dev_private;

	for (int q = 0; q < QUEUES; q++)
		for (int l = 0; l < LANES; l++) {
			rte_ring_free(device->queues[q].lanes[l].ring);
			device->queues[q].lanes[l].ring = NULL;
		}
	return 0;
}

static void
dump(struct rte_eventdev *dev, FILE *out)
{
	const struct device *device = dev->data->dev_private;

	fprintf(out, "%u of %u credits are with ports\n", device->in_flight, device->limit);
}

/* dlb2.c, dlb2_replenish_sw_credits(): what a port has too many of. */
static void
credits_back(struct port *port, uint32_t n)
{
	port->credits += n;
	while (port->credits >= 2 * QUANTA) {
		port->credits -= QUANTA;
		__atomic_fetch_sub(&port->device->in_flight, QUANTA, __ATOMIC_SEQ_CST);
	}
}

/* dlb2.c, dlb2_check_enqueue_sw_credits(). */
static bool
credit_take(struct port *port)
{
	struct device *device = port->device;
	const uint32_t in_flight = __atomic_load_n(&device->in_flight, __ATOMIC_SEQ_CST);

	if (port->most_new < in_flight ||
		(port->credits == 0 && in_flight + QUANTA > device->limit))
		return false;
	if (port->credits == 0) {
		__atomic_fetch_add(&device->in_flight, QUANTA, __ATOMIC_SEQ_CST);
		port->credits = QUANTA;
	}
	port->credits--;
	return true;
}

/* What is in hand is done with; its flows go to whoever asks next. */
static void
done(struct port *port)
{
	struct queue *queue = &port->device->queues[port->holds];

	credits_back(port, port->in_hand);
	port->in_hand = 0;
	for (int l = 0; l < LANES; l++)
		if ((port->lanes >> l & 1) != 0)
			__atomic_store_n(&queue->lanes[l].owner, 0, __ATOMIC_RELEASE);
	port->lanes = 0;
}

/* Takes from a lane that nobody has, and keeps it unless the queue's events are parallel. */
static uint16_t
take_lane(struct port *port, struct queue *queue, int l, struct rte_event events[], uint16_t n)
{
	struct lane *lane = &queue->lanes[l];
	uint32_t nobody = 0;
	uint16_t taken;

	if (rte_ring_empty(lane->ring) ||
		!__atomic_compare_exchange_n(&lane->owner, &nobody, port->id + 1u, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	taken = (uint16_t)rte_ring_dequeue_burst_elem(lane->ring, events, sizeof(events[0]), n,
		NULL);
	for (uint16_t i = 0; i < taken; i++)
		events[i].flow_id &= UINT16_MAX; /* as much as a queue entry has */
	if (taken > 0 && queue->type != RTE_SCHED_TYPE_PARALLEL)
		port->lanes |= 1u << l;
	else
		__atomic_store_n(&lane->owner, 0, __ATOMIC_RELEASE);
	return taken;
}

/* From one lane, so that other ports have the others. */
static uint16_t
take(struct port *port, uint8_t id, struct rte_event events[], uint16_t n)
{
	struct queue *queue = &port->device->queues[id];
	uint16_t taken = 0;

	port->holds = id;
	for (int l = 0; l < LANES && taken == 0; l++)
		taken = take_lane(port, queue, port->lane++ % LANES, events, n);
	port->in_hand = taken;
	return taken;
}

/* dlb2.c, dlb2_event_dequeue_burst(). */
static uint16_t
dequeue_burst(void *arg, struct rte_event events[], uint16_t n, uint64_t ticks)
{
	struct port *port = arg;
	struct device *device = port->device;
	const uint64_t from = rte_rdtsc();

	done(port);
	if (n == 0 || !__atomic_load_n(&device->started, __ATOMIC_ACQUIRE))
		return 0;
	do {
		for (uint8_t i = 0; i < device->nb_queues; i++) {
			const uint8_t q = (uint8_t)((port->next + i) % device->nb_queues);
			uint16_t taken = 0;

			if (__atomic_load_n(&port->linked[q], __ATOMIC_ACQUIRE))
				taken = take(port, q, events, RTE_MIN(n, DEPTH));
			if (taken == 0)
				continue;
			port->next = (uint8_t)((q + 1) % device->nb_queues);
			return taken;
		}
	} while (rte_rdtsc() - from < ticks);
	return 0;
}

/* dlb2.c, dlb2_event_enqueue_prep(). An error number is negative there; so it is here. */
static bool
put(struct port *port, struct rte_event event)
{
	struct device *device = port->device;
	struct queue *queue = &device->queues[event.queue_id];

	if (event.queue_id >= device->nb_queues ||
		(event.sched_type == RTE_SCHED_TYPE_ORDERED &&
			queue->type != RTE_SCHED_TYPE_ORDERED)) {
		rte_errno = -EINVAL;
		return false;
	}
	if ((event.op == RTE_EVENT_OP_NEW && !credit_take(port)) ||
		rte_ring_enqueue_elem(queue->lanes[event.flow_id % LANES].ring, &event,
			sizeof(event)) != 0) {
		rte_errno = -ENOSPC;
		return false;
	}
	return true;
}

static uint16_t
enqueue_burst(void *arg, const struct rte_event events[], uint16_t n)
{
	struct port *port = arg;
	uint16_t i = 0;

	if (!__atomic_load_n(&port->device->started, __ATOMIC_ACQUIRE))
		return 0;
	for (; i < n; i++) {
		if (events[i].op != RTE_EVENT_OP_RELEASE && !put(port, events[i]))
			break;
		if (events[i].op == RTE_EVENT_OP_NEW)
			continue;
		port->in_hand--;
		if (events[i].op == RTE_EVENT_OP_RELEASE)
			credits_back(port, 1);
		if (port->in_hand == 0)
			done(port);
	}
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

/* No operations on adapters: they are in software. */
static struct eventdev_ops ops = {
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
		sizeof(struct device), vdev->device.numa_node, vdev);

	if (dev == NULL)
		return -ENOMEM;
	dev->dev_ops = &ops;
#if HY_DPDK_EVENT_BY_ONE
	dev->enqueue = enqueue;
	dev->dequeue = dequeue;
#endif
	dev->enqueue_burst = enqueue_burst;
	dev->enqueue_new_burst = enqueue_burst;
	dev->enqueue_forward_burst = enqueue_burst;
	dev->dequeue_burst = dequeue_burst;
	event_dev_probing_finish(dev);
	return 0;
}

static struct rte_vdev_driver driver = {
	.probe = probe,
	.remove = event_remove,
	.driver.name = DRIVER,
	.driver.alias = ALIAS,
};

RTE_INIT(dlb2_register)
{
	rte_vdev_register(&driver);
}

RTE_FINI(dlb2_unregister)
{
	rte_vdev_unregister(&driver);
}
