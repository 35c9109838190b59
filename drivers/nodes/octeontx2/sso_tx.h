/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the variants of ethdev_tx that send through the event device. */
#pragma once

#include <rte_event_eth_tx_adapter.h>

#include <hy_event.h>
#include <hy_node.h>

#include "lib/graph/internal/log.h"

#define SSO_TX_QUEUE 0 /* of the port, for all workers */
#define SSO_TX_APART "sends by an event device that feeds the workers, which no suite has"

struct sso_tx_ctx {
	uint8_t device;
	uint8_t event_port;
	uint8_t sched_type;
	uint16_t port;
	struct rte_mempool *vectors; /* of the variant that sends vectors */
};

/* Passes one event to the driver: such drivers take only one in a call. */
static inline bool
sso_tx_enqueue(const struct sso_tx_ctx *ctx, struct rte_event *event)
{
	/* The type tells the device that ordered events must wait for their turn. */
	event->sched_type = ctx->sched_type;
	return rte_event_eth_tx_adapter_enqueue(ctx->device, ctx->event_port, event, 1,
		       RTE_EVENT_ETH_TX_ADAPTER_ENQUEUE_SAME_DEST) == 1;
}

/* Sends packet by packet. Returns how many packets, the first ones, were sent. */
uint16_t sso_tx_packets(const struct sso_tx_ctx *ctx, void **objs, uint16_t n);

int sso_tx_init(const struct hy_graph *graph, struct hy_node *node, const void *config);

/* Whether a port's event device has a capability together with that port. */
bool sso_tx_has(const struct hy_hal *hal, uint16_t port, enum hy_cap cap, char *reason,
	size_t size);
int sso_tx_bind(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size);
void sso_tx_unbind(const struct hy_hal *hal, struct hy_target target);
