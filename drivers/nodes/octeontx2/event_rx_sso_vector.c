/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_rx for an event device that makes vectors of packets itself (cnxk's SSO): one dequeue, and
 * one flow or position in the order, for all packets of a vector. If a vector has more packets than
 * fit into a walk, the node keeps it, and with it the flow.
 */

#include <stdio.h>
#include <string.h>

#include <hy_event_rx.h>
#include <hy_node.h>

#include "lib/graph/internal/log.h"

struct sso_vector_ctx {
	struct hy_event_rx_ctx rx;       /* first, for hy_event_rx_send() */
	struct rte_event_vector *vector; /* not empty yet; NULL: none */
};

/* Dequeues the next vector; a single packet goes directly to the burst. */
static uint16_t
vector_take(struct sso_vector_ctx *ctx, struct hy_node *node, void **objs)
{
	struct rte_event event;

	if (hy_event_take(&ctx->rx.worker, &event, 1) == 0)
		return 0;
	if (hy_event_is_vector(&event)) {
		ctx->vector = event.vec;
		return 0;
	}
	if (!hy_event_is_packet(&event)) {
		hy_counter_add(node, HY_EVENT_RX_FOREIGN, 1);
		return 0;
	}
	*objs = event.mbuf;
	return 1;
}

/* Moves packets from the vector to the burst, and frees an empty vector. */
static uint16_t
vector_unpack(struct sso_vector_ctx *ctx, void **objs, uint16_t room)
{
	struct rte_event_vector *vector = ctx->vector;
	const uint16_t n = RTE_MIN(vector->nb_elem, room);

	memcpy(objs, &vector->mbufs[vector->elem_offset], n * sizeof(*objs));
	vector->elem_offset += n;
	vector->nb_elem -= n;
	if (vector->nb_elem > 0)
		return n;
	vector->elem_offset = 0;
	rte_mempool_put(rte_mempool_from_obj(vector), vector);
	ctx->vector = NULL;
	return n;
}

static uint16_t
sso_vector_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct sso_vector_ctx *ctx = node->ctx;
	uint16_t made = 0, got;

	do {
		got = 0;
		if (ctx->vector == NULL)
			got = vector_take(ctx, node, objs + made);
		if (ctx->vector != NULL)
			got = vector_unpack(ctx, objs + made, n - made);
		made += got;
		/* Another dequeue would release the flow of this vector. */
	} while (hy_event_gathers(&ctx->rx.worker) && got > 0 && made < n);
	if (made > 0)
		hy_event_rx_send(graph, node, objs, made);
	return made;
}

static int
sso_vector_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct sso_vector_ctx *ctx = node->ctx;

	ctx->vector = NULL;
	return hy_event_rx_init(graph, node, config);
}

/* Packets left in the vector are treated like events that no worker has dequeued. */
static void
sso_vector_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct sso_vector_ctx *ctx = node->ctx;
	const struct rte_event event = { .event_type = RTE_EVENT_TYPE_ETHDEV_VECTOR,
		.vec = ctx->vector };

	if (ctx->vector != NULL)
		hy_event_drop(ctx->rx.worker.device, &event);
}

/* The device must make vectors itself for every port of the feed. */
static bool
sso_vector_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	static const enum hy_cap wanted[] = { HY_CAP_EVENT_RX_INTERNAL, HY_CAP_EVENT_RX_VECTOR };
	const struct hy_event_params *feed = hy_event_of((uint8_t)target.id);

	if (feed == NULL || feed->vector_size == 0)
		return HY_REASON(false, reason, size, "%s",
			feed == NULL ? "nothing feeds it" : "nobody wants vectors");
	for (unsigned int q = 0; q < feed->nb_queues; q++) {
		const struct hy_target pair = {
			.kind = HY_TARGET_EVENT_PORT, .id = target.id, .peer = feed->queues[q].port
		};

		for (unsigned int c = 0; c < RTE_DIM(wanted); c++) {
			const struct hy_capability *cap = hy_hal_capability(hal, pair, wanted[c]);

			if (cap->level >= HY_LEVEL_YES)
				continue;
			return HY_REASON(false, reason, size, "with port %u it lacks %s: %s",
				pair.peer, hy_cap_name(wanted[c]), cap->reason);
		}
	}
	return true;
}

static int
sso_vector_bind(const struct hy_hal *hal __rte_unused, struct hy_target target, char *reason,
	size_t size)
{
	return hy_event_attach((uint8_t)target.id, HY_EVENT_VECTOR, reason, size);
}

static void
sso_vector_unbind(const struct hy_hal *hal __rte_unused, struct hy_target target)
{
	hy_event_detach((uint8_t)target.id);
}

HY_NODE_VARIANT(event_rx, sso_vector,
	.text = "Takes vectors of packets that the event device made",
	.impl.process = sso_vector_process,
	.impl.init = sso_vector_init,
	.impl.fini = sso_vector_fini,
	.impl.ctx_size = sizeof(struct sso_vector_ctx),
	.fits = sso_vector_fits,
	.bind = sso_vector_bind,
	.unbind = sso_vector_unbind,
	.score = 20);
