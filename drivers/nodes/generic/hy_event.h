/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receives packets through an event device, which takes them from receive queues, schedules them over
 * the workers, and keeps the order of each flow. A graph has the node event_rx instead of ethdev_rx.
 *
 * A *feed* is an event device with one event queue and an event port for each worker, together with
 * its eth rx adapter and the receive queues added to that. The worker with index w (hy_graph_worker())
 * uses event port w; the adapter uses one more port.
 *
 * Call in this order: configure and start the ports; hy_event_create() for the device;
 * hy_hal_select(), in which the variant of event_rx that is selected for the device attaches the feed
 * (if that fails, the next variant is tried); hy_event_check(); hy_event_follow(); hy_hal_node_for()
 * for the node event_rx, which all graphs share. Call hy_event_destroy() when no graph has that node
 * any more, before the ports are stopped.
 *
 * Order. A worker holds the flows of the events that it dequeued (atomic) or their places (ordered)
 * until it dequeues again. So event_rx dequeues once a walk, and the walk sends these packets before
 * the next one begins: packets of an atomic flow leave in the order of their arrival, whichever
 * workers had them. Three things break that order: graphs with cycles, which keep objects from walk to
 * walk (max_sweeps); a NIC that serves the transmit queues of a port in another order than the workers
 * filled them, since each worker of ethdev_tx/own_queue has its own queue; and parallel scheduling,
 * which promises no order. If there is no order to keep, with parallel scheduling or one worker, and
 * the device does not transmit, event_rx dequeues until its burst is full.
 *
 * Services. Software devices and adapters need a thread to run them: service lcores if EAL has any
 * (-s), else the workers, whenever they find nothing to dequeue.
 *
 * Functions are for one control thread and return 0 or a negative errno. Those with @p reason write
 * one sentence about the error there; HY_REASON_SIZE bytes are enough.
 */
#pragma once

#include <stdint.h>

#include <rte_config.h>

#include <hy_ethdev.h>
#include <hy_hal_live.h>

HY_API_BEGIN

/** Most packets in a feed that no worker has taken yet, for devices with a limit. */
#define HY_EVENT_MOST 4096

/** Default timeout of an event vector. */
#define HY_EVENT_VECTOR_TIMEOUT_NS 1000000

/** Parameters of a feed. */
struct hy_event_params {
	uint8_t device; /**< Event device id. The device must be unused: the feed configures and starts it. */
	uint8_t sched_type;  /**< RTE_SCHED_TYPE_ATOMIC, _ORDERED or _PARALLEL. */
	uint16_t nb_workers; /**< Graphs that have event_rx. Their workers count from 0. */
	/** Receive queues that feed it, of started ports. Copied. */
	const struct hy_ethdev_rx_config *queues;
	/** Entries of queues. 0: the caller owns event port nb_workers, and enqueues events there. */
	unsigned int nb_queues;
	uint16_t vector_size; /**< Most packets in an event vector; 0: no vectors. */
	/** Longest wait of a vector that is not full. 0: HY_EVENT_VECTOR_TIMEOUT_NS, or the nearest
	 * value that the ports support. */
	uint64_t vector_timeout_ns;
	int socket; /**< NUMA node, or SOCKET_ID_ANY. */
};

/**
 * Configures an event device for a feed, within the limits that it reports. No packet arrives before
 * hy_event_attach(). Some devices (event_dsw) can be configured only once.
 *
 * @return 0; -EINVAL a parameter is out of range, or a queue does not belong to a configured port;
 * -ENODEV no such event device; -EEXIST the device has a feed, or another feed has the port; -ENOTSUP
 * the device does not support the schedule type or that many ports, or cannot transmit a port's
 * packets in order, which ordered scheduling requires (HY_CAP_EVENT_TX_INTERNAL); -ENOMEM; or the
 * driver's error. After an error the device is not started.
 */
int hy_event_create(const struct hy_event_params *params, char *reason, size_t size);

/**
 * Stops a feed and closes its device. No graph with event_rx may exist. The ports must still be
 * started, and stay so. A device without a feed is allowed.
 *
 * @return Packets in the feed that no worker had taken. They are freed.
 */
uint64_t hy_event_destroy(uint8_t device);

/**
 * @return The parameters of a device's feed, valid until it is destroyed; NULL if the device has none.
 * vector_timeout_ns is the actual timeout once event vectors are attached, and 0 otherwise.
 */
const struct hy_event_params *hy_event_of(uint8_t device);

/** @return The same for the feed that has a queue of that port; NULL if none has. */
const struct hy_event_params *hy_event_of_port(uint16_t port);

/** Form of the events that carry packets. */
enum hy_event_form {
	HY_EVENT_SINGLE, /**< One packet per event, RTE_EVENT_TYPE_ETHDEV or _ETH_RX_ADAPTER. */
	/** Many packets per event, of the same types with RTE_EVENT_TYPE_VECTOR, all from one receive
	 * queue. The consumer returns ev.vec to its pool. */
	HY_EVENT_VECTOR,
};

/**
 * Creates the rx adapter, adds the queues, and starts adapter and device. For the bind of variants of
 * event_rx, whose device is target.id. Further calls with the same form are counted.
 *
 * @return 0, also for a device without a feed (nothing is started then); -ENOTSUP vectors were not
 * requested, or a port uses a software adapter, which cannot build them, or does not support their
 * size or timeout; -EBUSY the feed is attached in the other form; -ENOMEM; or the driver's error. After
 * an error nothing is left behind.
 */
int hy_event_attach(uint8_t device, enum hy_event_form form, char *reason, size_t size);

/** Undoes one hy_event_attach(). The last one stops the device. A device without a feed is allowed. */
void hy_event_detach(uint8_t device);

/**
 * For bind and unbind of variants of ethdev_tx: states that the event device transmits a port's
 * packets, and restores the order of ordered ones. As long as it does so for any port, event_rx
 * dequeues once a walk, so that a worker still holds the events that it sends. Ignored for a port
 * without a feed.
 */
void hy_event_tx_ordered(uint16_t port, bool on);

/**
 * Checks that the selected variants keep the order that the schedule type promises. Call it again
 * whenever hy_hal_poll() has selected other variants, since a port may return from a reset without a
 * variant through which the device transmits. Ports that are down are ignored once a feed follows them.
 *
 * @return 0; -ENODEV no feed; -ENOTSUP scheduling is ordered, and the ethdev_tx of a port bypasses the
 * device: a port of the feed, or any port with transmit queues that belongs to no feed.
 */
int hy_event_check(uint8_t device, char *reason, size_t size);

/**
 * Makes a feed follow its ports: it removes a queue before its port is reset or removed, and adds the
 * queue again when the port is up. If that fails, it is logged, and the port stays out. Some drivers
 * restart their event device to add a queue, or move its event ports, which they must not do while
 * workers dequeue. With these and without @p quiet, a port that was down stays so (hy_hal_port_guard()),
 * whether it asks for a reset, its driver has recovered it, or the program starts it again.
 *
 * @param hal Must outlive the feed.
 * @param quiet No worker walks while hy_hal_poll() runs: one thread does both in turn.
 * @return 0; -ENODEV no feed; -EEXIST the feed already follows its ports; -ENOMEM.
 */
int hy_event_follow(uint8_t device, struct hy_hal *hal, bool quiet);

#define HY_EVENT_NO_EDGE UINT16_MAX /**< Packets of that port are dropped as "port_unknown". */

/** Configuration of event_rx, for hy_node_config(). All workers share the node. */
struct hy_event_rx_config {
	uint8_t device; /**< A device whose feed is attached. */
	/** The node's edge by the port that received the packet (mbuf port). */
	uint16_t edge[RTE_MAX_ETHPORTS];
};

HY_API_END
