/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets by way of an event device: it takes them from receive queues, schedules them over the
 * workers, and keeps the order of each flow. In place of ethdev_rx, a graph has the node event_rx.
 *
 * A *feed* is all that leads there: an event device with one event queue and an event port for each
 * worker, and its eth rx adapter, to which receive queues were added. The worker with index w
 * (hy_graph_worker()) has event port w; one port more is the adapter's.
 *
 * Use, in this order: configure and start the ports; hy_event_create() for the device;
 * hy_hal_select(), in which the variant of event_rx that is chosen for the device attaches the
 * feed, so that what cannot be attached falls to the next one; hy_event_check();
 * hy_event_follow(); hy_hal_node_for() for the node event_rx, which all graphs share. In the end,
 * when no graph has that node any more and before the ports are stopped, hy_event_destroy().
 *
 * Order. A worker holds the flows of what it has taken (atomic), or their places (ordered), until
 * it takes more. So event_rx takes from the device once a walk, and a walk sends all that it was
 * given, before the next one: packets of an atomic flow are sent in the order of their arrival,
 * whichever workers had them. What breaks that: graphs with cycles, which let objects stay over
 * (max_sweeps); transmit queues of one port that the NIC serves in another order than they were
 * filled, since each worker of ethdev_tx/own_queue has its own; and parallel scheduling, which
 * promises nothing. Where there is nothing to keep, with parallel scheduling or one worker, and the
 * device does not send itself, event_rx goes on taking until its burst is full.
 *
 * Services. Devices and adapters in software want a thread to run them: service lcores, if EAL has
 * any (-s), and else the workers, whenever they find nothing to take.
 *
 * Functions are for one control thread, return 0 or a negative errno, and where they take
 * @p reason, write there one sentence on what was wrong; HY_REASON_SIZE is room enough.
 */
#ifndef HY_EVENT_H
#define HY_EVENT_H

#include <stdint.h>

#include <rte_config.h>

#include <hy_ethdev.h>
#include <hy_hal_live.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Packets that a feed holds and no worker has taken, at most, where the device has a limit. */
#define HY_EVENT_MOST 4096

/** What a vector waits if nobody says how long. */
#define HY_EVENT_VECTOR_TIMEOUT_NS 1000000

/** What a feed is to be. */
struct hy_event_params {
	uint8_t device;      /**< Event device id. Not in use: it is configured, and started. */
	uint8_t sched_type;  /**< RTE_SCHED_TYPE_ATOMIC, _ORDERED or _PARALLEL. */
	uint16_t nb_workers; /**< Graphs that have event_rx, with workers from 0 on. */
	/** Receive queues that feed it, of ports that run. Copied. */
	const struct hy_ethdev_rx_config *queues;
	/** Entries of queues. 0: events come by event port nb_workers, which is the caller's then. */
	unsigned int nb_queues;
	uint16_t vector_size; /**< Most packets in an event vector; 0: no vectors. */
	/** A vector that is not full waits no longer. 0: HY_EVENT_VECTOR_TIMEOUT_NS, or what its
	 * ports can do that is nearest. */
	uint64_t vector_timeout_ns;
	int socket; /**< NUMA node, or SOCKET_ID_ANY. */
};

/**
 * Configures an event device for a feed, within the limits that it tells. No packet comes before
 * hy_event_attach(). Once for a device that cannot be configured again (event_dsw).
 *
 * @return 0; -EINVAL a parameter is out of range, or a queue is not of a port that is set up;
 * -ENODEV; -EEXIST the device has a feed, or another one has the queue; -ENOTSUP the device has not
 * got the schedule type, or as many ports, or cannot send a port's packets in order, which ordered
 * wants (HY_CAP_EVENT_TX_INTERNAL); -ENOMEM; or what the driver returned. The device is not
 * started then.
 */
int hy_event_create(const struct hy_event_params *params, char *reason, size_t size);

/**
 * Stops a feed, and closes its device. No graph with event_rx may exist. The program's ports still
 * run, and are left as they are. A device without a feed is allowed.
 *
 * @return Packets that were in it, and that no worker has taken: they are freed.
 */
uint64_t hy_event_destroy(uint8_t device);

/**
 * The parameters of a device's feed, until it is destroyed; NULL: it has none. vector_timeout_ns is
 * what its vectors wait, once it is attached; and 0 while packets come one by one.
 */
const struct hy_event_params *hy_event_of(uint8_t device);

/** Of the feed that has a queue of that port. As hy_event_of(). */
const struct hy_event_params *hy_event_of_port(uint16_t port);

/** How packets come from the device. */
enum hy_event_form {
	HY_EVENT_SINGLE, /**< One an event, RTE_EVENT_TYPE_ETHDEV or _ETH_RX_ADAPTER. */
	/** Many an event, of the same types with RTE_EVENT_TYPE_VECTOR: whoever takes one puts
	 * ev.vec back into its pool. Each vector is of one receive queue. */
	HY_EVENT_VECTOR,
};

/**
 * Makes the rx adapter, adds the queues, and starts it all. For the bind of variants of event_rx:
 * their device is target.id. Attached once more in the same form, it counts.
 *
 * @return 0, also for a device without a feed, which nothing runs on; -ENOTSUP vectors are not
 * wanted, or a port's adapter is software, which cannot make them, or takes none of that size or
 * timeout; -EBUSY it is attached in the other form; -ENOMEM; or what the driver returned. Nothing
 * is left of it then.
 */
int hy_event_attach(uint8_t device, enum hy_event_form form, char *reason, size_t size);

/** Undoes one hy_event_attach(), the last one by stopping the device; also without a feed. */
void hy_event_detach(uint8_t device);

/**
 * Said by variants of ethdev_tx in bind and unbind: a port's packets are sent by the event device,
 * which puts ordered ones back in order. As long as one port's are, event_rx takes once a walk, so
 * that a worker has in hand what it sends. Nothing happens to a port that no feed has.
 */
void hy_event_tx_ordered(uint16_t port, bool on);

/**
 * Whether order is kept as the schedule type promises, once variants are selected: to be asked
 * again whenever hy_hal_poll() has selected others, since a port that comes back from a reset may
 * get none that the device sends for. Ports that are down do not count once a feed follows them.
 *
 * @return 0; -ENODEV no feed; -ENOTSUP scheduling is ordered, and a port's ethdev_tx sends by
 * itself: one of the feed's, or any with transmit queues that no feed has.
 */
int hy_event_check(uint8_t device, char *reason, size_t size);

/**
 * Has a feed follow its ports: a queue is taken out before its port is reset or goes, and added
 * again when the port is up. What fails then is logged, and the port stays out.
 *
 * @param hal Must outlive the feed.
 * @return 0; -ENODEV no feed; -EEXIST it follows already; -ENOMEM.
 */
int hy_event_follow(uint8_t device, struct hy_hal *hal);

#define HY_EVENT_NO_EDGE UINT16_MAX /**< Packets of that port drop as "port_unknown". */

/** Configuration of event_rx, for hy_node_config(); one node for all workers. */
struct hy_event_rx_config {
	uint8_t device; /**< With a feed, which is attached. */
	/** The node's edge for packets of each port, by their mbuf's port. */
	uint16_t edge[RTE_MAX_ETHPORTS];
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
