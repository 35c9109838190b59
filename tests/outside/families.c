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
#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_l2_patch.h>
#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_pkt_cls.h>
#include <hy_plugin.h>
#include <hy_vlan.h>

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
	const uint32_t *route = hy_lane(graph, node, HY_IP4_REWRITE_LANE_ROUTE);
	uint8_t copy[HY_IP4_REWRITE_HEADERS], bounce[HY_IP4_FLOW_BYTES];
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];
		const uint8_t *frame = hy_mbuf_peek(m, sizeof(bounce), bounce);
		const struct hy_ip4_adjacency *to = hy_ip4_adjacency_of(ctx->view, route[i], frame,
			m->pkt_len);
		const struct hy_ip4_rewrite_port *port = &ctx->port[to->port];

		memmove(copy, hy_mbuf_peek(m, sizeof(copy), copy), sizeof(copy));
		next[i] = hy_ip4_rewrite_one(copy, m->pkt_len, to, port);
		if (next[i] == port->edge)
			hy_mbuf_poke(m, copy, sizeof(copy));
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip4_rewrite, outside, .impl.process = rewrite);

static void
look_up6(const struct hy_ip6_trie *trie, const uint8_t *const dst[], uint32_t route[],
	uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t found = hy_ip6_find(trie, dst[i]);

		next[i] = found != 0 ? HY_IP6_LOOKUP_NEXT_REWRITE : HY_DROP(HY_IP6_LOOKUP_NO_ROUTE);
		route[i] = found - (found != 0);
	}
}

static uint16_t
look_up6_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_ip6_lookup_process(graph, node, objs, n, look_up6);
}

HY_NODE_VARIANT(ip6_lookup, outside, .impl.process = look_up6_process);

static uint16_t
rewrite6(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_ip6_rewrite_ctx *ctx = node->ctx;
	const uint32_t *route = hy_lane(graph, node, HY_IP6_REWRITE_LANE_ROUTE);
	uint8_t copy[HY_IP6_REWRITE_HEADERS], bounce[HY_IP6_FLOW_BYTES];
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];
		const struct hy_ip4_adjacency *to = hy_ip6_adjacency_of(ctx->view->next_hops,
			route[i], hy_mbuf_peek(m, sizeof(bounce), bounce), m->pkt_len);
		const struct hy_ip4_rewrite_port *port = &ctx->port[to->port];

		memmove(copy, hy_mbuf_peek(m, sizeof(copy), copy), sizeof(copy));
		next[i] = hy_ip6_rewrite_one(copy, m->pkt_len, to, port);
		if (next[i] == port->edge)
			hy_mbuf_poke(m, copy, sizeof(copy));
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(ip6_rewrite, outside, .impl.process = rewrite6);

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

static uint16_t
word(const uint8_t *frame, unsigned int at)
{
	return (uint16_t)(frame[at] << 8 | frame[at + 1]);
}

static bool
is_tag(uint16_t type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

/* Copies the frame without its bytes 12 to 15. */
static void
untag(struct rte_mbuf *m)
{
	uint8_t copy[16];

	memmove(copy, hy_mbuf_peek(m, sizeof(copy), copy), sizeof(copy));
	memmove(copy + HY_VLAN_TAG, copy, 12);
	hy_mbuf_poke(m, copy, sizeof(copy));
	m->pkt_len -= HY_VLAN_TAG;
	for (uint16_t left = HY_VLAN_TAG, n; left > 0; left -= n, m = m->next) {
		n = RTE_MIN(left, m->data_len);
		m->data_off += n;
		m->data_len -= n;
	}
}

static uint16_t
sort(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_vlan_input_config *config = node->ctx;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];
		uint8_t copy[18];
		const uint8_t *frame = hy_mbuf_peek(m, sizeof(copy), copy);
		uint16_t to = HY_VLAN_INPUT_NEXT_FRAME;

		if (m->pkt_len >= sizeof(copy) && is_tag(word(frame, 12))) {
			if (is_tag(word(frame, 16)))
				to = HY_DROP(HY_VLAN_INPUT_STACKED);
			else if (word(frame, 12) == 0x8100) {
				to = config->edge[word(frame, 14) % HY_VLAN_VIDS];
				if (word(frame, 14) % HY_VLAN_VIDS == 0)
					untag(m);
			}
		}
		hy_enqueue(graph, node, to, &objs[i], 1);
	}
	return n;
}

HY_NODE_VARIANT(vlan_input, outside, .impl.process = sort);

static uint16_t
pop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = n; i-- > 0;)
		untag(objs[i]);
	hy_enqueue(graph, node, HY_VLAN_POP_NEXT_FRAME, objs, n);
	return n;
}

HY_NODE_VARIANT(vlan_pop, outside, .impl.process = pop);

static uint16_t
patch(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_patch_config *config = node->ctx;
	uint8_t addresses[12];

	memcpy(addresses, config->dst.addr_bytes, 6);
	memcpy(addresses + 6, config->src.addr_bytes, 6);
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];

		if (config->update && m->pkt_len >= 14)
			hy_mbuf_poke(m, addresses, sizeof(addresses));
		hy_enqueue(graph, node,
			m->pkt_len < 14 ? HY_DROP(HY_L2_PATCH_TRUNCATED) : HY_L2_PATCH_NEXT_FRAME,
			&objs[i], 1);
	}
	return n;
}

HY_NODE_VARIANT(l2_patch, outside, .impl.process = patch);

static uint16_t
push(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_vlan_push_ctx *ctx = node->ctx;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];
		uint8_t copy[16];

		memmove(copy, hy_mbuf_peek(m, 12, copy), 12);
		memcpy(copy + 12, ctx->tag, sizeof(ctx->tag));
		if (rte_pktmbuf_headroom(m) < HY_VLAN_TAG) {
			memmove(rte_pktmbuf_mtod_offset(m, uint8_t *, HY_VLAN_TAG),
				rte_pktmbuf_mtod(m, uint8_t *), m->data_len);
			m->data_len += HY_VLAN_TAG;
			m->pkt_len += HY_VLAN_TAG;
		} else {
			rte_pktmbuf_prepend(m, HY_VLAN_TAG);
		}
		hy_mbuf_poke(m, copy, sizeof(copy));
	}
	hy_enqueue(graph, node, HY_VLAN_PUSH_NEXT_FRAME, objs, n);
	return n;
}

HY_NODE_VARIANT(vlan_push, outside, .impl.process = push);
