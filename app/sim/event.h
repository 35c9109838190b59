/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated event device inside. */
#ifndef EVENT_H
#define EVENT_H

#include <eventdev_pmd.h>
#include <rte_event_eth_rx_adapter.h>
#include <rte_event_eth_tx_adapter.h>

#include "lock.h"
#include "nic.h"

#define EVENT_QUEUES 32
#define EVENT_PORTS 32
#define EVENT_RX 64     /* receive queues that feed it, at most */
#define EVENT_MAX 16384 /* events in flight, and in each queue */

struct event_queue {
	struct rte_ring *ring; /* of struct rte_event */
	/* The port that has an atomic or ordered event of it in hand, plus one; 0: none. */
	uint32_t owner;
};

struct event_port {
	struct event_device *device;
	uint8_t id, next; /* queue to look at first */
	bool linked[EVENT_QUEUES];
	int holds;    /* queue that it owns; -1: none */
	bool in_hand; /* it has an event, of whichever type */
} __rte_cache_aligned;

/* A receive queue of a NIC that feeds an event queue, polled by whichever port looks there. */
struct event_rx {
	struct lock lock;
	struct nic *nic; /* NULL: free */
	uint16_t port, queue;
	bool marks; /* as negotiated when the queue was added; its packets have none otherwise */
	bool own_flow_id;
	struct rte_event event; /* of which its events are copies */
	uint16_t vector_size;   /* 0: no vectors */
	uint64_t vector_cycles;
	struct rte_mempool *vector_pool;
	struct rte_event_vector *open; /* being filled */
	uint64_t opened;
};

struct event_device {
	uint8_t nb_queues;
	bool started;
	struct event_queue queues[EVENT_QUEUES];
	struct event_port ports[EVENT_PORTS];
	struct event_rx rx[EVENT_RX];
	uint64_t tx_added[RTE_MAX_ETHPORTS]; /* bit per transmit queue */
};

/* Brings what the NICs received into an event queue. */
void event_rx_poll(struct event_device *device, uint8_t queue);
/* Whether a NIC is one that this event device is built together with. */
bool event_is_kin(const struct rte_eth_dev *eth);

uint16_t event_tx(void *port, struct rte_event events[], uint16_t n);

extern struct eventdev_ops event_ops;
/* Fills in the operations on adapters. */
void event_adapter_ops(struct eventdev_ops *ops);

#endif
