/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulated event devices share. */
#pragma once

#include <stdbool.h>

#include <eventdev_pmd.h>

#define EVENT_QUEUES 32

/* A simulated device: its names, and its functions beside those that all devices share. */
struct event_driver {
	const char *name, *alias;
	size_t device_size;
	struct eventdev_ops *ops;
	struct rte_event_dev_info info;    /* but what depends on DPDK's version */
	struct rte_event_queue_conf queue; /* default */
	struct rte_event_port_conf port;   /* default; no threshold: the device's limit */
	event_enqueue_burst_t enqueue_burst, enqueue_new_burst;
	event_dequeue_burst_t dequeue_burst;
	event_tx_adapter_enqueue_t tx_burst; /* NULL: no internal port */
};

extern const struct event_driver event_cn10k, event_dlb2;

/* The first member of a device. */
struct event_state {
	const struct event_driver *driver;
	uint8_t nb_queues;
	bool started;
};

/* The first member of a port. */
struct event_links {
	const struct event_state *state; /* of its device */
	uint8_t next;                    /* queue to look at first */
	bool linked[EVENT_QUEUES];
};

static inline bool
event_started(const struct event_state *state)
{
	return __atomic_load_n(&state->started, __ATOMIC_ACQUIRE);
}

/* Empties a queue, if it is set up; its events go to the program's flush function, if any. */
void event_flush(const struct rte_eventdev *dev, struct rte_ring *ring);

/* Takes events for a port from a queue. Returns how many. */
typedef uint16_t(event_take_t)(void *port, uint8_t queue, struct rte_event events[], uint16_t n);

/* Dequeues from the first linked queue that has events, in turn; waits so many ticks for one. */
uint16_t event_dequeue(struct event_links *port, struct rte_event events[], uint16_t n,
	uint64_t ticks, event_take_t *take);
