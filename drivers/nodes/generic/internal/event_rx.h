/* SPDX-License-Identifier: BSD-3-Clause */
/* What the variants of event_rx share. */
#ifndef EVENT_RX_H
#define EVENT_RX_H

#include <hy_event.h>
#include <hy_graph_worker.h>

#include "drivers/nodes/generic/event/event_feed.h"

enum { EVENT_RX_DROP_PORT_UNKNOWN };
enum { EVENT_RX_FOREIGN };

/* Of one worker, first in a variant's own; event_rx_init() fills it in. */
struct event_rx_ctx {
	struct event_worker worker;
	uint16_t edge[RTE_MAX_ETHPORTS];
};

/* The family's. */
int event_rx_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/* Sends the first n objects of the source's stream on, each by its packet's port. */
void event_rx_send(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);

#endif
