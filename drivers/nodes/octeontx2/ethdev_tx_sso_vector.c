/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev_tx through the event device, like ethdev_tx_sso.c, with a burst as an event vector. */

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include <hy_ethdev.h>

#include "sso_tx.h"

#define VECTORS_EACH 8 /* for a worker, which needs one at a time unless the driver is slow */

/*
 * Returns how many packets, the first ones, were sent. The driver frees a vector that it sent
 * whole.
 */
static uint16_t
send_vector(const struct sso_tx_ctx *ctx, void **objs, uint16_t n)
{
	struct rte_event event = { .event_type = RTE_EVENT_TYPE_ETHDEV_VECTOR };
	uint16_t left;

	if (n == 1 || rte_mempool_get(ctx->vectors, (void **)&event.vec) != 0)
		return sso_tx_packets(ctx, objs, n);
	event.vec->nb_elem = n;
	event.vec->elem_offset = 0;
	event.vec->attr_valid = 1; /* one port and queue for all */
	event.vec->port = ctx->port;
	event.vec->queue = SSO_TX_QUEUE;
	memcpy(event.vec->mbufs, objs, n * sizeof(*objs));
	if (sso_tx_enqueue(ctx, &event))
		return n;
	left = event.vec->nb_elem;
	rte_mempool_put(ctx->vectors, event.vec);
	return n - left;
}

static uint16_t
sso_vector_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t sent = send_vector(node->ctx, objs, n);

	hy_enqueue(graph, node, HY_DROP(HY_ETHDEV_TX_FULL), objs + sent, n - sent);
	return n;
}

static void
vectors_name(uint16_t port, char name[RTE_MEMPOOL_NAMESIZE])
{
	snprintf(name, RTE_MEMPOOL_NAMESIZE, "hy_sso_tx_%u", port);
}

static int
sso_vector_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct sso_tx_ctx *ctx = node->ctx;
	const int rc = sso_tx_init(graph, node, config);
	char name[RTE_MEMPOOL_NAMESIZE];

	if (rc < 0)
		return rc;
	vectors_name(ctx->port, name);
	ctx->vectors = rte_mempool_lookup(name);
	if (ctx->vectors == NULL)
		return hy_node_refuse(graph, node, "no vectors for port %u: it is not bound",
			ctx->port);
	return 0;
}

static bool
sso_vector_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	return sso_tx_has(hal, target.id, HY_CAP_EVENT_TX_INTERNAL, reason, size) &&
		sso_tx_has(hal, target.id, HY_CAP_EVENT_TX_VECTOR, reason, size);
}

static int
sso_vector_bind(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	const struct hy_event_params *feed = hy_event_of_port(target.id);
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *vectors;
	int rc;

	vectors_name(target.id, name);
	vectors = rte_event_vector_pool_create(name, VECTORS_EACH * feed->nb_workers, 0,
		HY_BURST_MAX, feed->socket);
	if (vectors == NULL)
		return HY_REASON(-rte_errno, reason, size, "no pool of event vectors: %s",
			rte_strerror(rte_errno));
	rc = sso_tx_bind(hal, target, reason, size);
	if (rc < 0)
		rte_mempool_free(vectors);
	return rc;
}

static void
sso_vector_unbind(const struct hy_hal *hal, struct hy_target target)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	sso_tx_unbind(hal, target);
	vectors_name(target.id, name);
	rte_mempool_free(rte_mempool_lookup(name));
}

HY_NODE_VARIANT(ethdev_tx, sso_vector,
	.text = "Has the event device send, in its order, bursts as vectors",
	.impl.process = sso_vector_process,
	.impl.init = sso_vector_init,
	.impl.ctx_size = sizeof(struct sso_tx_ctx),
	.fits = sso_vector_fits,
	.bind = sso_vector_bind,
	.unbind = sso_vector_unbind,
	.apart = SSO_TX_APART,
	.score = 30);
