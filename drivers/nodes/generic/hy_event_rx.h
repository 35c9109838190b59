/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The contract of the family event_rx, for its variants: packets out of the worker's port of an event
 * device, sent on by the port that received them.
 *
 * Edges are those that the program adds, as struct hy_event_rx_config (hy_event.h) says; packets of a
 * port without one are dropped as "port_unknown". Events that are no received packets are counted as
 * foreign, and forgotten. There are no lanes.
 *
 * A variant's bind attaches the feed of its device in the form that it takes (hy_event_attach()), its
 * unbind detaches it. Its context begins with a struct hy_event_rx_ctx, which hy_event_rx_init() fills
 * in; a variant without init, fini and ctx_size is given the family's. Between two calls of process,
 * the worker holds the flows, or places in the order, of what it took last; see hy_event_gathers().
 */
#ifndef HY_EVENT_RX_H
#define HY_EVENT_RX_H

#include <rte_eventdev.h>

#include <hy_event.h>
#include <hy_graph_worker.h>
#include <hy_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Drop reasons: "port_unknown". */
enum hy_event_rx_drop { HY_EVENT_RX_PORT_UNKNOWN };
/** Counters: "foreign_events". */
enum hy_event_rx_counter { HY_EVENT_RX_FOREIGN };

#define HY_EVENT_SERVICES 2 /**< Services of a feed: the device's and the rx adapter's. */

/** How a worker takes events: its own copy, which does not change while the graph exists. */
struct hy_event_worker {
	uint8_t device;                 /**< Event device id. */
	uint8_t port;                   /**< Event port id. */
	bool orderless;                 /**< There is no order to keep. */
	const unsigned int *nb_ordered; /**< Ports whose packets the device sends; see below. */
	bool maintains;                 /**< The device wants a call when nothing is taken. */
	uint8_t nb_services;            /**< Entries of services. */
	uint32_t services[HY_EVENT_SERVICES]; /**< To be run when nothing is taken. */
};

/** Context of a variant, or its first member. */
struct hy_event_rx_ctx {
	struct hy_event_worker worker;   /**< How this worker takes events. */
	uint16_t edge[RTE_MAX_ETHPORTS]; /**< Edge or HY_DROP() by receiving port. */
};

/** The family's init. The feed must be attached. As any init: control plane. */
int hy_event_rx_init(const struct hy_graph *graph, struct hy_node *node, const void *config);

/** Sends the first @p n objects of the source's stream on, each by its packet's port. At least 1. */
void hy_event_rx_send(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);

/**
 * Takes events: once, or where that breaks no order until there are no more. What the worker took
 * before is over by that. Never blocks; runs services where the worker has to.
 *
 * @param n Most events.
 * @return How many.
 */
uint16_t hy_event_take(const struct hy_event_worker *worker, struct rte_event *events, uint16_t n);

/**
 * Frees packets that are not to be sent, one or a vector of them with the vector, and counts them as
 * packets that no worker took (hy_event_destroy()). For fini. Other events are left alone.
 */
void hy_event_drop(uint8_t device, const struct rte_event *event);

/**
 * @return Whether a worker may take several times a walk. Not where the device sends: it may want to
 * be told that by whoever has something in hand, and the last time of several gives nothing (cn10k
 * waits for that to be the head of its queue).
 */
static inline bool
hy_event_gathers(const struct hy_event_worker *worker)
{
	return worker->orderless && __atomic_load_n(worker->nb_ordered, __ATOMIC_RELAXED) == 0;
}

/** @return Whether an event is a received packet: ethdev's where the device has an internal port for
 * it, else the adapter's. */
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

/** @cond What packs have of this header: see HY_PLUGIN_NUMBERS(). */
#define HY_EVENT_RX_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_event_rx_ctx), HY_PLUGIN_SIZE(struct hy_event_worker), \
		HY_PLUGIN_OFFSET(hy_event_worker, nb_ordered), \
		HY_PLUGIN_OFFSET(hy_event_worker, services)

HY_PLUGIN_NUMBERS(event_rx, HY_EVENT_RX_NUMBERS);
/** @endcond */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
