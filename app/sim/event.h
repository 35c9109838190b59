/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the simulated event_cn10k. */
#pragma once

#include <pthread.h>

#include <eventdev_pmd.h>
#include <rte_event_eth_rx_adapter.h>
#include <rte_event_eth_tx_adapter.h>

#include "event_common.h"
#include "nic.h"

#define EVENT_PORTS 32
#define EVENT_RX 64     /* receive queues that can feed the device */
#define EVENT_MAX 16384 /* events in flight, and in each queue */

struct event_queue {
	struct rte_ring *ring; /* of struct rte_event */
	/* The port that holds an atomic or ordered event of the queue, plus one; 0: none. */
	uint32_t owner;
};

struct event_port {
	struct event_links links;
	struct event_device *device;
	uint8_t id;
	int holds;    /* queue that the port has locked; -1: none */
	int thread;   /* that dequeued last; 0: none; atomic */
	bool in_hand; /* the port holds an event of any type */
} __rte_cache_aligned;

/* A receive queue of a NIC that feeds an event queue, polled by the ports linked to that queue. */
struct event_rx {
	pthread_mutex_t lock; /* zeroed: not locked */
	struct nic *nic;      /* NULL: free */
	uint16_t port, queue;
	bool marks; /* negotiated before the queue was added; if not, its packets carry no mark */
	bool own_flow_id;
	struct rte_event event; /* template of its events */
	uint16_t vector_size;   /* 0: no vectors */
	uint64_t vector_cycles;
	struct rte_mempool *vector_pool;
	struct rte_event_vector *open; /* being filled */
	uint64_t opened;               /* TSC */
};

struct event_device {
	struct event_state state;
	struct event_queue queues[EVENT_QUEUES];
	struct event_port ports[EVENT_PORTS];
	struct event_rx rx[EVENT_RX];
	uint64_t tx_added[RTE_MAX_ETHPORTS]; /* bit per transmit queue */
};

/* Moves packets from the receive queues that feed an event queue into that queue. */
void event_rx_poll(struct event_device *device, uint8_t queue);

/*
 * Stops the device and starts it again, which frees the events in it, if it runs. Ends the process if
 * other threads have dequeued: the driver would reset the ports under them.
 */
void event_restart(const struct rte_eventdev *dev);

uint16_t event_tx(void *port, struct rte_event events[], uint16_t n);

/* Fills in the operations on adapters. */
void event_adapter_ops(struct eventdev_ops *ops);
