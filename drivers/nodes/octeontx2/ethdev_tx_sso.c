/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ethdev_tx through the event device that schedules the workers (cnxk's SSO). It sends packets in
 * the order in which they arrived, whichever worker finishes first. So all workers send on the
 * port's first transmit queue, which the device serializes; the NIC would serve several queues in
 * any order.
 *
 * The transmit queue of a packet overwrites the upper half of its mark (hash.txadapter.txq is at
 * byte 50, hash.fdir.hi at 48), which is not needed any more.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <hy_ethdev.h>
#include <hy_event_rx.h>

#include "sso_tx.h"

uint16_t
sso_tx_packets(const struct sso_tx_ctx *ctx, void **objs, uint16_t n)
{
	uint16_t sent = 0;

	for (; sent < n; sent++) {
		struct rte_event event = { .event_type = RTE_EVENT_TYPE_ETHDEV,
			.mbuf = objs[sent] };

		event.mbuf->port = ctx->port;
		rte_event_eth_tx_adapter_txq_set(event.mbuf, SSO_TX_QUEUE);
		if (!sso_tx_enqueue(ctx, &event))
			break;
	}
	return sent;
}

static uint16_t
sso_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t sent = sso_tx_packets(node->ctx, objs, n);

	hy_enqueue(graph, node, HY_DROP(HY_ETHDEV_TX_FULL), objs + sent, n - sent);
	return n;
}

/*
 * Another source than event_rx of that device, or NULL. To send a packet that is not of the event
 * in hand, the driver waits until the worker is at the head of its queue, for ever if it has no
 * event: common/cnxk/roc_sso.h (later roc_sso_dp.h), roc_sso_hws_head_wait(), by
 * event/cnxk/cn10k_worker.h (cn10k_tx_worker.h), cn10k_sso_hws_event_tx().
 *
 * Sources are the first nodes by rank, and initialised before this one.
 */
static const struct hy_node *
foreign_source(const struct hy_graph *graph, const struct hy_node *node, uint8_t device)
{
	static const char family[] = "event_rx";

	for (const struct hy_node *source = node - node->rank;
		(hy_graph_node_flags(graph, source) & HY_NODE_SOURCE) != 0; source++) {
		const struct hy_event_rx_ctx *rx = source->ctx; /* NULL: inherited, and looked at */
		const char *name = hy_graph_node_name(graph, source);
		char after = '?';

		if (strncmp(name, family, sizeof(family) - 1) == 0)
			after = name[sizeof(family) - 1];
		if ((after != '\0' && after != '-') || (rx != NULL && rx->worker.device != device))
			return source;
	}
	return NULL;
}

int
sso_tx_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ethdev_tx_config *tx = config;
	const struct hy_event_params *feed;
	struct sso_tx_ctx *ctx = node->ctx;
	const struct hy_node *other;

	if (tx == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_ethdev_tx_config");
	feed = hy_event_of_port(tx->port);
	if (feed == NULL)
		return hy_node_refuse(graph, node, "port %u feeds no event device", tx->port);
	if (hy_graph_worker(graph) >= feed->nb_workers)
		return hy_node_refuse(graph, node, "worker %u has no event port, there are %u",
			hy_graph_worker(graph), feed->nb_workers);
	other = foreign_source(graph, node, feed->device);
	if (other != NULL)
		return hy_node_refuse(graph, node,
			"source %s brings packets that event device %u did not hand out: to send "
			"them would never end; use own_queue",
			hy_graph_node_name(graph, other), feed->device);
	*ctx = (struct sso_tx_ctx){ .device = feed->device,
		.event_port = (uint8_t)hy_graph_worker(graph),
		.sched_type = feed->sched_type,
		.port = tx->port };
	return 0;
}

bool
sso_tx_has(const struct hy_hal *hal, uint16_t port, enum hy_cap cap, char *reason, size_t size)
{
	const struct hy_event_params *feed = hy_event_of_port(port);
	struct hy_target pair = { .kind = HY_TARGET_EVENT_PORT, .peer = port };
	const struct hy_capability *found;

	if (feed == NULL)
		return HY_REASON(false, reason, size, "the port feeds no event device");
	pair.id = feed->device;
	found = hy_hal_capability(hal, pair, cap);
	return found->level >= HY_LEVEL_YES ||
		HY_REASON(false, reason, size, "event device %u with it lacks %s: %s", pair.id,
			hy_cap_name(cap), found->reason);
}

static bool
sso_fits(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	return sso_tx_has(hal, target.id, HY_CAP_EVENT_TX_INTERNAL, reason, size);
}

/*
 * Creates an adapter for each port, with the port's id. This runs before event_rx, which is later
 * by name, starts the event device: drivers choose their transmit function by the queues added so
 * far.
 */
int
sso_tx_bind(const struct hy_hal *hal __rte_unused, struct hy_target target, char *reason,
	size_t size)
{
	struct rte_event_port_conf unused = { 0 }; /* the device sends by itself */
	const uint8_t adapter = (uint8_t)target.id;
	int rc = -ENOSPC;

	if (target.id < RTE_EVENT_ETH_TX_ADAPTER_MAX_INSTANCE)
		rc = rte_event_eth_tx_adapter_create(adapter, hy_event_of_port(target.id)->device,
			&unused);
	if (rc < 0)
		return HY_REASON(rc, reason, size, "there is no tx adapter %u for it: %s",
			target.id, strerror(-rc));
	rc = rte_event_eth_tx_adapter_queue_add(adapter, target.id, SSO_TX_QUEUE);
	if (rc == 0)
		rc = rte_event_eth_tx_adapter_start(adapter);
	if (rc < 0) {
		snprintf(reason, size, "the tx adapter does not take its queue %u: %s",
			SSO_TX_QUEUE, strerror(-rc));
		rte_event_eth_tx_adapter_queue_del(adapter, target.id, SSO_TX_QUEUE);
		rte_event_eth_tx_adapter_free(adapter);
		return rc;
	}
	hy_event_tx_ordered(target.id, true);
	return 0;
}

void
sso_tx_unbind(const struct hy_hal *hal __rte_unused, struct hy_target target)
{
	const uint8_t adapter = (uint8_t)target.id;

	hy_event_tx_ordered(target.id, false);
	rte_event_eth_tx_adapter_stop(adapter);
	/* A closed device has released the queue, and cannot be called. */
	if (hy_event_of_port(target.id) != NULL)
		rte_event_eth_tx_adapter_queue_del(adapter, target.id, SSO_TX_QUEUE);
	rte_event_eth_tx_adapter_free(adapter);
}

HY_NODE_VARIANT(ethdev_tx, sso,
	.text = "Has the event device send, in its order, packet by packet",
	.impl.process = sso_process,
	.impl.init = sso_tx_init,
	.impl.ctx_size = sizeof(struct sso_tx_ctx),
	.fits = sso_fits,
	.bind = sso_tx_bind,
	.unbind = sso_tx_unbind,
	.apart = SSO_TX_APART,
	.score = 20);
