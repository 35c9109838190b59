/* SPDX-License-Identifier: BSD-3-Clause */
/* A feed, as its own files see it, and what a worker needs of it. */
#ifndef EVENT_FEED_H
#define EVENT_FEED_H

#include <rte_eventdev.h>

#include <hy_event_rx.h>

#define EVENT_QUEUE 0 /* of the device: the only one */

struct event_feed {
	struct hy_event_params params;  /* queues is our own copy */
	bool software;                  /* some adapter is, and wants an event port */
	unsigned int attached;          /* how many times */
	enum hy_event_form form;        /* in which */
	bool added[RTE_MAX_ETHPORTS];   /* the port's queues are in the adapter */
	bool ordered[RTE_MAX_ETHPORTS]; /* the port's packets are sent by the device */
	unsigned int nb_ordered;        /* ports; workers look */
	struct rte_mempool *vectors;
	uint64_t vector_wish_ns;              /* as params.vector_timeout_ns was given */
	uint32_t services[HY_EVENT_SERVICES]; /* that run */
	uint8_t nb_services;
	struct hy_hal *hal; /* whose ports it follows, or NULL */
	uint64_t freed;     /* packets that no worker took */
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
int event_worker_get(const struct event_feed *feed, uint16_t index, struct hy_event_worker *worker);
/* What a worker does that found nothing to take. Never blocks. Whether there may be something now. */
bool event_worker_idle(const struct hy_event_worker *worker);
/* Frees packets that are not to be sent. Returns how many; 0 for events that are none. */
unsigned int event_free(const struct rte_event *event);

#endif
