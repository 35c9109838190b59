/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated event device under the name event_dlb2_pf, after DPDK v22.11, drivers/event/dlb2:
 * bursts, credits in quanta, few links, no internal ports, and no flow id carried through.
 *
 * Flows are distinguished by their lowest bits. A port that holds atomic or ordered events locks
 * all flows with the same bits until its next dequeue: stricter than a lock for each flow.
 */

#include <string.h>

#include <rte_ring_elem.h>

#include "event_common.h"

/* dlb2_priv.h. */
#define QUEUES EVENT_QUEUES /* DLB2_MAX_NUM_LDB_QUEUES */
#define PORTS 64            /* DLB2_MAX_NUM_LDB_PORTS */
#define FLOWS (64 * 1024)   /* DLB2_MAX_NUM_FLOWS */
#define CREDITS 8192        /* DLB2_MAX_NUM_LDB_CREDITS */
#define LINKS 8             /* DLB2_MAX_NUM_QIDS_PER_LDB_CQ */
#define DEPTH 32            /* DLB2_DEFAULT_CQ_DEPTH, DLB2_MAX_ENQUEUE_DEPTH */
#define PRIORITIES 8        /* DLB2_QID_PRIORITIES */
#define GROUPS 2            /* DLB2_NUM_SN_GROUPS */
#define SEQUENCES 1024      /* DLB2_MAX_LDB_SN_ALLOC, of a group */
#define SEQUENCES_LEAST 64
#define LANES 8
#define QUANTA 32 /* DLB2_SW_CREDIT_QUANTA_DEFAULT */

/* The flows of a queue whose ids have the same lowest bits. */
struct lane {
	struct rte_ring *ring; /* of struct rte_event */
	uint32_t owner;        /* the port that holds events of the lane, plus one; 0: none */
};

struct queue {
	uint8_t type; /* RTE_SCHED_TYPE_ */
	struct lane lanes[LANES];
};

struct port {
	struct event_links links;
	struct device *device;
	uint8_t id, lane; /* lane to look at first */
	bool set_up;
	uint8_t holds;     /* queue of the locked lanes */
	uint32_t lanes;    /* bit per locked lane */
	uint32_t in_hand;  /* events dequeued, neither forwarded nor released yet */
	uint32_t credits;  /* held by the port, for new events */
	uint32_t most_new; /* events in flight at which the port may not add new ones */
} __rte_cache_aligned;

/* Sequence numbers. All ordered queues of a group have the same number of them. */
struct group {
	uint32_t each, nb_queues;
};

struct device {
	struct event_state state;
	struct group groups[GROUPS];
	uint32_t limit, in_flight; /* credits: in total, and held by ports */
	struct queue queues[QUEUES];
	struct port ports[PORTS];
};

/* dlb2.c, dlb2_eventdev_configure(): reconfiguration resets all ports and groups. */
static int
configure(const struct rte_eventdev *dev)
{
	const struct rte_event_dev_config *conf = &dev->data->dev_conf;
	struct device *device = dev->data->dev_private;

	device->state.nb_queues = conf->nb_event_queues;
	device->limit = (uint32_t)conf->nb_events_limit;
	device->in_flight = 0;
	memset(device->groups, 0, sizeof(device->groups));
	for (int p = 0; p < PORTS; p++)
		device->ports[p] = (struct port){ .links.state = &device->state, .device = device };
	return 0;
}

/* dlb2.c, dlb2_hw_create_ldb_queue(): a queue for all types is ordered if it asks for sequences. */
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
 * takes a group whose queues have this many sequences and that has room, or else an empty group.
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

/* dlb2.c, dlb2_eventdev_port_setup(): only once until the device is configured again. */
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

/* dlb2.c, dlb2_eventdev_port_link(): links as many queues as there is room for. */
static int
port_link(struct rte_eventdev *dev __rte_unused, void *arg, const uint8_t queues[],
	const uint8_t priorities[] __rte_unused, uint16_t n)
{
	struct port *port = arg;
	bool *const linked = port->links.linked;
	unsigned int links = 0;
	uint16_t i;

	for (int q = 0; q < QUEUES; q++)
		links += linked[q];
	for (i = 0; i < n && (linked[queues[i]] || links < LINKS); i++) {
		links += !linked[queues[i]];
		__atomic_store_n(&linked[queues[i]], true, __ATOMIC_RELEASE);
	}
	return i;
}

static void
stop(struct rte_eventdev *dev)
{
	struct device *device = dev->data->dev_private;

	__atomic_store_n(&device->state.started, false, __ATOMIC_RELEASE);
	for (uint8_t q = 0; q < device->state.nb_queues; q++) {
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

	fprintf(out, "ports hold %u of %u credits\n", device->in_flight, device->limit);
}

/* dlb2.c, dlb2_replenish_sw_credits(): a port returns its surplus, in quanta. */
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

/* Releases all events that the port holds, and unlocks their lanes. */
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

/* Takes events from a lane that is not locked, and locks it unless the queue is parallel. */
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
		events[i].flow_id &= UINT16_MAX; /* a queue entry has 16 bits for it */
	if (taken > 0 && queue->type != RTE_SCHED_TYPE_PARALLEL)
		port->lanes |= 1u << l;
	else
		__atomic_store_n(&lane->owner, 0, __ATOMIC_RELEASE);
	return taken;
}

/* Takes events from one lane only: the others stay free for other ports. */
static uint16_t
take(void *arg, uint8_t id, struct rte_event events[], uint16_t n)
{
	struct port *port = arg;
	struct queue *queue = &port->device->queues[id];
	uint16_t taken = 0;

	port->holds = id;
	for (int l = 0; l < LANES && taken == 0; l++)
		taken = take_lane(port, queue, port->lane++ % LANES, events, RTE_MIN(n, DEPTH));
	port->in_hand = taken;
	return taken;
}

/* dlb2.c, dlb2_event_dequeue_burst(). */
static uint16_t
dequeue_burst(void *arg, struct rte_event events[], uint16_t n, uint64_t ticks)
{
	struct port *port = arg;

	done(port);
	return event_dequeue(&port->links, events, n, ticks, take);
}

/* dlb2.c, dlb2_event_enqueue_prep(): it sets rte_errno to negative numbers. */
static bool
put(struct port *port, struct rte_event event)
{
	struct device *device = port->device;
	struct queue *queue = &device->queues[event.queue_id];

	if (event.queue_id >= device->state.nb_queues ||
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

	if (!event_started(&port->device->state))
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

/* Without operations on adapters: they run in software. */
static struct eventdev_ops ops = {
	.dev_configure = configure,
	.dev_stop = stop,
	.dev_close = close_device,
	.queue_setup = queue_setup,
	.port_setup = port_setup,
	.port_link = port_link,
	.dump = dump,
};

const struct event_driver event_dlb2 = {
	.name = "event_dlb2_pf", /* pf/dlb2_pf.c, RTE_PMD_REGISTER_PCI() */
	.alias = "sim_event_dlb2",
	.device_size = sizeof(struct device),
	.ops = &ops,
	.info = {
		/* dlb2.c, evdev_dlb2_default_info. */
		.min_dequeue_timeout_ns = 1,
		.max_dequeue_timeout_ns = UINT32_MAX - 1,
		.max_event_queues = QUEUES,
		.max_event_queue_flows = FLOWS,
		.max_event_queue_priority_levels = PRIORITIES,
		.max_event_priority_levels = PRIORITIES,
		.max_event_ports = PORTS,
		.max_event_port_dequeue_depth = DEPTH,
		.max_event_port_enqueue_depth = DEPTH,
		.max_event_port_links = LINKS,
		.max_num_events = CREDITS,
		.event_dev_cap = RTE_EVENT_DEV_CAP_EVENT_QOS | RTE_EVENT_DEV_CAP_NONSEQ_MODE |
			RTE_EVENT_DEV_CAP_DISTRIBUTED_SCHED | RTE_EVENT_DEV_CAP_QUEUE_ALL_TYPES |
			RTE_EVENT_DEV_CAP_BURST_MODE | RTE_EVENT_DEV_CAP_IMPLICIT_RELEASE_DISABLE |
			RTE_EVENT_DEV_CAP_RUNTIME_PORT_LINK | RTE_EVENT_DEV_CAP_MULTIPLE_QUEUE_PORT |
			RTE_EVENT_DEV_CAP_MAINTENANCE_FREE,
	},
	/* dlb2.c, dlb2_eventdev_queue_default_conf_get(). */
	.queue = { .nb_atomic_flows = 1024, .nb_atomic_order_sequences = 64 },
	.port = { .dequeue_depth = DEPTH, .enqueue_depth = DEPTH },
	.enqueue_burst = enqueue_burst,
	.enqueue_new_burst = enqueue_burst,
	.dequeue_burst = dequeue_burst,
};
