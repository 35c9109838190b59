/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family event_rx, for its variants: a source that dequeues packets from the
 * worker's port of an event device, and sends each along the edge of the port that received it.
 *
 * The program adds the edges and passes them in struct hy_event_rx_config (hy_event.h). Packets of a
 * port without an edge are dropped as "port_unknown". Events that are not received packets are counted
 * as "foreign_events" and ignored. The family has no lanes.
 *
 * A variant's bind attaches the feed of its device in the form that it supports (hy_event_attach());
 * its unbind detaches the feed. Its context begins with a struct hy_event_rx_ctx, which
 * hy_event_rx_init() fills in; a variant without init, fini and ctx_size inherits the family's.
 * Between two calls of process, the worker holds the flows of the events that it dequeued last, or
 * their places in the order; see hy_event_gathers().
 */
#pragma once

#include <rte_eventdev.h>

#include <hy_event.h>
#include <hy_graph_worker.h>
#include <hy_plugin.h>

HY_API_BEGIN

/** Drop reasons: "port_unknown". */
enum hy_event_rx_drop { HY_EVENT_RX_PORT_UNKNOWN };
/** Counters: "foreign_events". */
enum hy_event_rx_counter { HY_EVENT_RX_FOREIGN };

#define HY_EVENT_SERVICES 2 /**< Most services of a feed: the device's and the rx adapter's. */

/** How a worker dequeues events. Each has its own copy, constant while the graph exists. */
struct hy_event_worker {
	uint8_t device;                 /**< Event device id. */
	uint8_t port;                   /**< Event port id. */
	bool orderless;                 /**< No order to keep. */
	const unsigned int *nb_ordered; /**< Count of ports whose packets the device transmits. */
	bool maintains;      /**< The device needs rte_event_maintain() after an empty dequeue. */
	uint8_t nb_services; /**< Entries of services. */
	uint32_t services[HY_EVENT_SERVICES]; /**< To run after an empty dequeue. */
};

/** Context of a variant, or its first member. */
struct hy_event_rx_ctx {
	struct hy_event_worker worker;   /**< How this worker dequeues. */
	uint16_t edge[RTE_MAX_ETHPORTS]; /**< Edge or HY_DROP() by receiving port. */
};

/** The family's init. The feed must be attached. Control plane, as every init. */
int hy_event_rx_init(const struct hy_graph *graph, struct hy_node *node, const void *config);

/** Sends the first @p n objects of the source's stream, each along the edge of its packet's port. @p n
 * is at least 1. */
void hy_event_rx_send(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);

/**
 * Dequeues events: once, or repeatedly until none are left if no order would break. This releases the
 * flows or places of the events that the worker dequeued before. Never blocks. Runs services if the
 * worker has to.
 *
 * @param n Most events to dequeue.
 * @return Number of events.
 */
uint16_t hy_event_take(const struct hy_event_worker *worker, struct rte_event *events, uint16_t n);

/**
 * Frees the packet of an event, or all packets of its vector and the vector, and counts them as
 * packets that no worker has taken (hy_event_destroy()). For fini. Ignores other events.
 */
void hy_event_drop(uint8_t device, const struct rte_event *event);

/**
 * @return Whether a worker may dequeue several times a walk. It may not if the device transmits: the
 * device may require that the transmitting worker still holds an event, and the last of several
 * dequeues returns none (cn10k then waits to become the head of its queue).
 */
static inline bool
hy_event_gathers(const struct hy_event_worker *worker)
{
	return worker->orderless && __atomic_load_n(worker->nb_ordered, __ATOMIC_RELAXED) == 0;
}

/** @return Whether an event is a received packet: of ethdev if the device has an internal port for the
 * NIC, else of the adapter. */
static inline bool
hy_event_is_packet(const struct rte_event *event)
{
	return event->event_type == RTE_EVENT_TYPE_ETHDEV ||
		event->event_type == RTE_EVENT_TYPE_ETH_RX_ADAPTER;
}

/** @return Whether an event is a vector of received packets. */
static inline bool
hy_event_is_vector(const struct rte_event *event)
{
	return event->event_type == RTE_EVENT_TYPE_ETHDEV_VECTOR ||
		event->event_type == RTE_EVENT_TYPE_ETH_RX_ADAPTER_VECTOR;
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_EVENT_RX_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_event_rx_ctx), HY_PLUGIN_SIZE(struct hy_event_worker), \
		HY_PLUGIN_OFFSET(hy_event_worker, nb_ordered), \
		HY_PLUGIN_OFFSET(hy_event_worker, services)

HY_PLUGIN_NUMBERS(event_rx, HY_EVENT_RX_NUMBERS);
/** @endcond */

HY_API_END
