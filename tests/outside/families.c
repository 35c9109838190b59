/* SPDX-License-Identifier: BSD-3-Clause */
/* A pack with a variant of every family, made of nothing but what is installed. */

#include <string.h>

#include <rte_ethdev.h>
#include <rte_fib.h>

#include <hy_ethdev.h>
#include <hy_event_rx.h>
#include <hy_flow_cls_node.h>
#include <hy_ip4_lookup.h>
#include <hy_ip4_rewrite.h>
#include <hy_ip4_steer.h>
#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_pkt_cls.h>
#include <hy_plugin.h>

HY_PLUGIN("families", "1.0", "A variant of every family");

static uint16_t
release(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

HY_NODE_VARIANT(null, outside, .impl.process = release);
HY_NODE_VARIANT(pkt_drop, outside, .impl.process = release);

static uint16_t
receive(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ethdev_rx_config *rx = node->ctx;

	n = rte_eth_rx_burst(rx->port, rx->queue, (struct rte_mbuf **)objs, n);
	hy_stream_move(graph, node, HY_ETHDEV_RX_NEXT, n);
	return n;
}

static int
receive_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_ethdev_rx_config");
	*(struct hy_ethdev_rx_config *)node->ctx = *(const struct hy_ethdev_rx_config *)config;
	return 0;
}

HY_NODE_VARIANT(ethdev_rx, outside,
	.impl.process = receive,
	.impl.init = receive_init,
	.impl.ctx_size = sizeof(struct hy_ethdev_rx_config));

static uint16_t
transmit(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ethdev_rx_config *to = node->ctx;
	const uint16_t sent = rte_eth_tx_burst(to->port, to->queue, (struct rte_mbuf **)objs, n);

	hy_enqueue(graph, node, HY_DROP(HY_ETHDEV_TX_FULL), objs + sent, n - sent);
	return n;
}

static int
transmit_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_ethdev_tx_config *tx = config;

	if (tx == NULL || hy_graph_worker(graph) >= tx->nb_queues)
		return hy_node_refuse(graph, node, "needs a queue for worker %u",
			hy_graph_worker(graph));
	*(struct hy_ethdev_rx_config *)node->ctx = (struct hy_ethdev_rx_config){ .port = tx->port,
		.queue = hy_graph_worker(graph) };
	return 0;
}

HY_NODE_VARIANT(ethdev_tx, outside,
	.impl.process = transmit,
	.impl.init = transmit_init,
	.impl.ctx_size = sizeof(struct hy_ethdev_rx_config));

static uint16_t
take(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_event_rx_ctx *ctx = node->ctx;
	struct rte_event events[HY_BURST_MAX];
	const uint16_t taken = hy_event_take(&ctx->worker, events, n);
	uint16_t made = 0;

	for (uint16_t i = 0; i < taken; i++) {
		if (hy_event_is_packet(&events[i]))
			objs[made++] = events[i].mbuf;
		else
			hy_counter_add(node, HY_EVENT_RX_FOREIGN, 1);
	}
	if (made > 0)
		hy_event_rx_send(graph, node, objs, made);
	return made;
}

static int
take_bind(const struct hy_hal *hal, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(hal);
	return hy_event_attach((uint8_t)target.id, HY_EVENT_SINGLE, reason, size);
}

static void
take_unbind(const struct hy_hal *hal, struct hy_target target)
{
	RTE_SET_USED(hal);
	hy_event_detach((uint8_t)target.id);
}

HY_NODE_VARIANT(event_rx, outside,
	.impl.process = take,
	.bind = take_bind,
	.unbind = take_unbind);

static uint16_t
classify(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_flow_cls_process(graph, node, objs, n, hy_policy_classify_linear);
}

HY_NODE_VARIANT(flow_cls, outside, .impl.process = classify);

static void
check(const uint8_t *const frame[], const uint32_t len[], uint16_t next[], uint32_t dst[],
	uint32_t n)
{
	for (uint32_t i = n; i-- > 0;)
		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
}

static uint16_t
check_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_pkt_cls_process(graph, node, objs, n, check);
}

HY_NODE_VARIANT(pkt_cls, outside, .impl.process = check_process);

/* A table of rte_fib, which the engine's name says. */
static void
look_up(const struct hy_ip4_view *view, uint32_t route[], uint16_t next[], uint32_t n)
{
	const struct hy_ip4_copy *copy = __atomic_load_n(&view->copy, __ATOMIC_ACQUIRE);
	const uint32_t other = __atomic_load_n(&copy->default_entry, __ATOMIC_ACQUIRE);
	uint64_t ids[HY_BURST_MAX];

	rte_fib_lookup_bulk(copy->rte_fib, route, ids, (int)n);
	for (uint32_t i = 0; i < n; i++) {
		const bool found = ids[i] != view->rte_fib_none;

		next[i] = found || other != 0 ? HY_IP4_LOOKUP_NEXT_REWRITE
					      : HY_DROP(HY_IP4_LOOKUP_NO_ROUTE);
		route[i] = found ? (uint32_t)ids[i] : other & HY_IP4_ID_MASK;
	}
}

static uint16_t
look_up_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip4_lookup_process(graph, node, objs, n, look_up);
}

HY_NODE_VARIANT(ip4_lookup, outside,
	.impl.process = look_up_process,
	.engine = HY_IP4_ENGINE_FIB);

static uint16_t
rewrite(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_rewrite_ctx *ctx = node->ctx;
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(ctx->view);
	const uint32_t *route = hy_lane(graph, node, HY_IP4_REWRITE_LANE_ROUTE);
	uint8_t copy[HY_IP4_REWRITE_HEADERS];
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *to = &adjacencies[route[i]];
		const struct hy_ip4_rewrite_port *port = &ctx->port[to->port];
		struct rte_mbuf *m = objs[i];

		memmove(copy, hy_mbuf_peek(m, sizeof(copy), copy), sizeof(copy));
		next[i] = hy_ip4_rewrite_one(copy, m->pkt_len, to, port);
		if (next[i] == port->edge)
			hy_mbuf_poke(m, copy, sizeof(copy));
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_rewrite, outside, .impl.process = rewrite);

static uint16_t
steer(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip4_steer_ctx *ctx = node->ctx;
	const uint32_t *class_id = hy_lane(graph, node, HY_IP4_STEER_LANE_CLASS);
	uint32_t *route = hy_lane(graph, node, HY_IP4_STEER_LANE_ROUTE);
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		route[i] = class_id[i] < ctx->nb_classes ? ctx->id[class_id[i]]
							 : HY_IP4_STEER_NO_ID;
		next[i] = route[i] != HY_IP4_STEER_NO_ID ? HY_IP4_STEER_NEXT_REWRITE
							 : HY_DROP(HY_IP4_STEER_NO_NEXT_HOP);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_steer, outside, .impl.process = steer);
