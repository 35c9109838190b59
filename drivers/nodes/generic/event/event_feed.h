/* SPDX-License-Identifier: BSD-3-Clause */
/* A feed, for the files that implement it. */
#pragma once

#include <rte_eventdev.h>

#include <hy_event_rx.h>

#define EVENT_QUEUE 0 /* the only queue of the device */

struct event_feed {
	struct hy_event_params params;  /* queues is a copy */
	bool software;                  /* an adapter in software needs an event port */
	unsigned int attached;          /* number of attachments */
	enum hy_event_form form;        /* form of the attachments */
	bool added[RTE_MAX_ETHPORTS];   /* the port's queues are in the adapter */
	bool ordered[RTE_MAX_ETHPORTS]; /* the device transmits the port's packets */
	unsigned int nb_ordered;        /* ports; read by workers */
	struct rte_mempool *vectors;
	uint64_t vector_wish_ns;              /* params.vector_timeout_ns as requested */
	uint32_t services[HY_EVENT_SERVICES]; /* running services */
	uint8_t nb_services;
	struct hy_hal *hal; /* whose ports the feed follows, or NULL */
	bool quiet;         /* no worker walks when ports come back */
	uint64_t freed;     /* packets that no worker has taken */
};

/* Writes a reason. Its value is rc, to be returned. */
#define event_refuse(rc, reason, size, ...) (snprintf(reason, size, __VA_ARGS__), (rc))

/* event_feed.c: the feed of a device, and of a port; or NULL. */
struct event_feed *event_feed_of(uint8_t device);
struct event_feed *event_feed_of_port(uint16_t port);

/* event_life.c: stops the feed. */
void event_feed_end(struct event_feed *feed);

/* event_device.c: configures the device, so that the feed can be attached. */
int event_device_configure(struct event_feed *feed, char *reason, size_t size);
/* Starts it; stops it, which frees the packets in it. */
int event_device_start(struct event_feed *feed);
void event_device_stop(struct event_feed *feed);

/* event_adapter.c: creates and starts it; stops and frees it, with the packets that it holds. */
int event_adapter_start(struct event_feed *feed, char *reason, size_t size);
void event_adapter_stop(struct event_feed *feed);
/* Adds a port's queues, and removes them. */
int event_adapter_add(struct event_feed *feed, uint16_t port);
int event_adapter_remove(struct event_feed *feed, uint16_t port);

/* event_vectors.c: checks the request, chooses an unspecified timeout, and creates the pool. */
int event_vectors_create(struct event_feed *feed, char *reason, size_t size);
void event_vectors_free(struct event_feed *feed);

/* event_drain.c: before the last port is removed, lets workers take what the service holds. */
void event_flush(struct event_feed *feed, uint16_t port);
/* Without workers: stops the adapter, and frees the packets in it and in the device. */
void event_drain(struct event_feed *feed);

/* event_worker.c: fills in worker. Returns 0; -ENOTCONN not attached; -ERANGE no such worker. */
int event_worker_get(const struct event_feed *feed, uint16_t index, struct hy_event_worker *worker);
/* Called after an empty dequeue; never blocks. Returns whether events may have arrived by now. */
bool event_worker_idle(const struct hy_event_worker *worker);
/* Frees the packets of an event. Returns how many; 0 for other events. */
unsigned int event_free(const struct rte_event *event);
