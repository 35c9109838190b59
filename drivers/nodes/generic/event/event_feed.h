/* SPDX-License-Identifier: BSD-3-Clause */
/* A feed, as its own files see it, and what a worker needs of it. */
#ifndef EVENT_FEED_H
#define EVENT_FEED_H

#include <rte_eventdev.h>

#include <hy_event.h>

#define EVENT_QUEUE 0    /* of the device: the only one */
#define EVENT_SERVICES 2 /* of a feed: the device's and the rx adapter's */

struct event_feed {
	struct hy_event_params params;  /* queues is our own copy */
	bool software;                  /* some adapter is, and wants an event port */
	unsigned int attached;          /* how many times */
	enum hy_event_form form;        /* in which */
	bool added[RTE_MAX_ETHPORTS];   /* the port's queues are in the adapter */
	bool ordered[RTE_MAX_ETHPORTS]; /* the port's packets are sent by the device */
	unsigned int nb_ordered;        /* ports; workers look */
	struct rte_mempool *vectors;
	uint64_t vector_wish_ns;           /* as params.vector_timeout_ns was given */
	uint32_t services[EVENT_SERVICES]; /* that run */
	uint8_t nb_services;
	struct hy_hal *hal; /* whose ports it follows, or NULL */
	uint64_t freed;     /* packets that no worker took */
};

/* How a worker takes events. Its own copy, in its node's context. */
struct event_worker {
	uint8_t device;
	uint8_t port;
	bool orderless;                 /* there is no order to keep */
	const unsigned int *nb_ordered; /* the feed's */
	bool maintains;                 /* the device wants a call when nothing is taken */
	uint8_t nb_services;
	uint32_t services[EVENT_SERVICES]; /* to be run when nothing is taken */
};

/* Writes a reason; returns rc. */
int event_refuse(int rc, char *reason, size_t size, const char *format, ...)
	__rte_format_printf(4, 5);

/* event_feed.c: of a device, and of a port; or NULL. */
struct event_feed *event_feed_of(uint8_t device);
struct event_feed *event_feed_of_port(uint16_t port);

/* event_life.c: stops all that goes on. */
void event_feed_end(struct event_feed *feed);

/* event_device.c: brings the device into a state in which the feed can be attached. */
int event_device_configure(struct event_feed *feed, char *reason, size_t size);
/* Starts it; stops it, which frees what is in it. */
int event_device_start(struct event_feed *feed);
void event_device_stop(struct event_feed *feed);

/* event_adapter.c: makes and starts it; the other way round, with all that it still holds. */
int event_adapter_start(struct event_feed *feed, char *reason, size_t size);
void event_adapter_stop(struct event_feed *feed);
/* Lets a port's queues in, and takes them out. */
int event_adapter_add(struct event_feed *feed, uint16_t port);
int event_adapter_remove(struct event_feed *feed, uint16_t port);

/* event_vectors.c: checks what is wanted, fits what is not said, and makes the pool. */
int event_vectors_create(struct event_feed *feed, char *reason, size_t size);
void event_vectors_free(struct event_feed *feed);

/* event_drain.c: before the last port is taken out, for packets that workers may still take; */
void event_flush(struct event_feed *feed, uint16_t port);
/* and when there are no workers any more: stops the adapter, and frees what it and the device have. */
void event_drain(struct event_feed *feed);

/* event_services.c: finds somebody to run the services of device and adapter. */
int event_services_start(struct event_feed *feed);
void event_services_stop(struct event_feed *feed);

/* event_worker.c: fills it in. Returns 0; -ENOTCONN nothing is attached; -ERANGE no such worker. */
int event_worker_get(const struct event_feed *feed, uint16_t index, struct event_worker *worker);
/*
 * Whether it may take several times a walk. Not where the device sends: it may want to be told that
 * by whoever has something in hand, and the last time of several gives nothing (cn10k waits for that
 * to be the head of its queue).
 */
static inline bool
event_worker_gathers(const struct event_worker *worker)
{
	return worker->orderless && __atomic_load_n(worker->nb_ordered, __ATOMIC_RELAXED) == 0;
}

/* What a worker does that found nothing to take. Never blocks. Whether there may be something now. */
bool event_worker_idle(const struct event_worker *worker);
/*
 * Takes up to n events: once, or where that breaks no order until there are no more. What it took
 * before is over by that.
 */
uint16_t event_worker_take(const struct event_worker *worker, struct rte_event *events, uint16_t n);
/* Packets are ethdev's where the device has an internal port for them, else the adapter's. */
static inline bool
event_is_packet(const struct rte_event *event)
{
	return event->event_type == RTE_EVENT_TYPE_ETHDEV ||
		event->event_type == RTE_EVENT_TYPE_ETH_RX_ADAPTER;
}

static inline bool
event_is_vector(const struct rte_event *event)
{
	return event->event_type == RTE_EVENT_TYPE_ETHDEV_VECTOR ||
		event->event_type == RTE_EVENT_TYPE_ETH_RX_ADAPTER_VECTOR;
}

/* Frees packets that are not to be sent. Returns how many; 0 for events that are none. */
unsigned int event_free(const struct rte_event *event);

#endif
