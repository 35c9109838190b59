/* SPDX-License-Identifier: BSD-3-Clause */
/* A pack with a variant of every family, made of nothing but what is installed. */

#include <string.h>

#include <rte_ethdev.h>
#include <rte_fib.h>
#include <rte_ring_elem.h>

#include <hy_ethdev.h>
#include <hy_event_rx.h>
#include <hy_flow_cls_node.h>
#include <hy_ip4_lookup.h>
#include <hy_ip4_rewrite.h>
#include <hy_ip4_steer.h>
#include <hy_ip6_lookup.h>
#include <hy_ip6_rewrite.h>
#include <hy_l2.h>
#include <hy_l2_lane.h>
#include <hy_l2_patch.h>
#include <hy_l2_table.h>
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

/* Makes room for a tag in front of a frame. */
static bool
make_room(struct rte_mbuf *m)
{
	if (rte_pktmbuf_headroom(m) >= HY_VLAN_TAG)
		return rte_pktmbuf_prepend(m, HY_VLAN_TAG) != NULL;
	if (rte_pktmbuf_tailroom(m) < HY_VLAN_TAG)
		return false;
	memmove(rte_pktmbuf_mtod_offset(m, uint8_t *, HY_VLAN_TAG), rte_pktmbuf_mtod(m, uint8_t *),
		m->data_len);
	m->data_len += HY_VLAN_TAG;
	m->pkt_len += HY_VLAN_TAG;
	return true;
}

static uint16_t
push(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_vlan_push_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		uint8_t copy[16];

		memmove(copy, hy_mbuf_peek(objs[i], 12, copy), 12);
		memcpy(copy + 12, ctx->tag, sizeof(ctx->tag));
		next[i] = make_room(objs[i]) ? 0 : HY_DROP(HY_VLAN_PUSH_NO_ROOM);
		if (next[i] == HY_VLAN_PUSH_NEXT_FRAME)
			hy_mbuf_poke(objs[i], copy, sizeof(copy));
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_VARIANT(vlan_push, outside, .impl.process = push);

/* The first bytes of a frame, with zeros behind its end. */
static void
head(const struct rte_mbuf *m, uint8_t bytes[24])
{
	const uint32_t n = m->pkt_len < 24 ? m->pkt_len : 24;
	const void *at = rte_pktmbuf_read(m, 0, n, bytes);

	if (at != bytes && n > 0)
		memcpy(bytes, at, n);
	memset(bytes + n, 0, 24 - n);
}

static uint16_t
enter_one(const struct hy_l2_setup *setup, const struct rte_mbuf *m, uint32_t *lane)
{
	static const uint8_t reserved[5] = { 0x01, 0x80, 0xc2, 0, 0 };
	const uint8_t in = m->port < RTE_MAX_ETHPORTS ? setup->number[m->port] : HY_L2_NO_PORT;
	enum hy_l2_tag tag = HY_L2_TAG_NONE;
	const struct hy_l2_port *port;
	uint8_t h[24];
	uint16_t vid;

	head(m, h);
	if (in == HY_L2_NO_PORT)
		return HY_DROP(HY_L2_INPUT_NOT_A_PORT);
	port = &setup->port[in];
	vid = port->pvid;
	if (m->pkt_len < 14 || ((h[12] << 8 | h[13]) == setup->tag_type && m->pkt_len < 18))
		return HY_DROP(HY_L2_INPUT_TRUNCATED);
	if (memcmp(h, reserved, 5) == 0 && h[5] < 16)
		return HY_DROP(HY_L2_INPUT_RESERVED);
	if (port->state == HY_L2_BLOCKING)
		return HY_DROP(HY_L2_INPUT_BLOCKED);
	if (h[6] % 2 != 0 || (h[6] | h[7] | h[8] | h[9] | h[10] | h[11]) == 0)
		return HY_DROP(HY_L2_INPUT_BAD_SRC);
	if ((h[12] << 8 | h[13]) == setup->tag_type) {
		const uint16_t named = (uint16_t)((h[14] & 15) << 8 | h[15]);

		if (named == 4095)
			return HY_DROP(HY_L2_INPUT_VLAN_INVALID);
		tag = named == 0 ? HY_L2_TAG_ZERO : HY_L2_TAG_VID;
		vid = named == 0 ? vid : named;
	}
	if (vid == 0 || (port->admit == HY_L2_ADMIT_TAGGED && tag != HY_L2_TAG_VID) ||
		(port->admit == HY_L2_ADMIT_UNTAGGED && tag == HY_L2_TAG_VID))
		return HY_DROP(HY_L2_INPUT_NOT_ADMITTED);
	if (port->filter && (setup->vlan[vid].members & UINT64_C(1) << in) == 0)
		return HY_DROP(HY_L2_INPUT_VLAN_FILTERED);
	*lane = hy_l2_lane(vid, in, tag);
	if (port->learn)
		*lane |= HY_L2_LANE_LEARN;
	if (port->state == HY_L2_LEARNING)
		*lane |= HY_L2_LANE_ONLY;
	return HY_L2_INPUT_NEXT_LEARN;
}

static uint16_t
enter(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_setup *setup = hy_l2_setup_load(node->ctx);
	uint32_t *lane = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n; i++)
		hy_enqueue(graph, node, enter_one(setup, objs[i], &lane[i]), &objs[i], 1);
	return n;
}

HY_NODE_VARIANT(l2_input, outside, .impl.process = enter);

static uint16_t
learn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_ctx *ctx = node->ctx;
	const uint32_t *lane = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n; i++) {
		struct hy_l2_source source = { .port = hy_l2_lane_in(lane[i]) };
		uint8_t h[24], verdict = HY_L2_SOURCE_KNOWN;
		uint32_t slot;

		head(objs[i], h);
		source.key = hy_l2_key(h + 6, hy_l2_lane_vid(lane[i]));
		if ((lane[i] & HY_L2_LANE_LEARN) != 0) {
			hy_l2_find_scalar(ctx->table, &source.key, &slot, 1);
			hy_l2_sources(ctx->table, &slot, &source.port, &verdict, 1);
		}
		if (verdict == HY_L2_SOURCE_FIXED) {
			hy_counter_add(node, HY_L2_LEARN_FIXED, 1);
		} else if (verdict != HY_L2_SOURCE_KNOWN) {
			hy_counter_add(node, HY_L2_LEARN_UNKNOWN, 1);
			if (rte_ring_sp_enqueue_elem(ctx->worker->learn, &source, sizeof(source)) !=
				0)
				hy_counter_add(node, HY_L2_LEARN_RING_FULL, 1);
		}
		hy_enqueue(graph, node,
			(lane[i] & HY_L2_LANE_ONLY) != 0 ? HY_DROP(HY_L2_LEARN_ONLY)
							 : HY_L2_LEARN_NEXT_LOOKUP,
			&objs[i], 1);
	}
	return n;
}

HY_NODE_VARIANT(l2_learn, outside, .impl.process = learn);

static uint16_t
find_one(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup, const uint8_t *dst,
	uint32_t *lane)
{
	static const uint8_t all[6] = { 255, 255, 255, 255, 255, 255 };
	const uint64_t key = hy_l2_key(dst, hy_l2_lane_vid(*lane));
	const uint8_t in = hy_l2_lane_in(*lane);
	enum hy_l2_storm kind = HY_L2_STORM_UNKNOWN;
	struct rte_meter_srtcm_profile profile;
	uint32_t slot;
	uint16_t port;

	hy_l2_find_scalar(ctx->table, &key, &slot, 1);
	hy_l2_ports(ctx->table, &slot, &port, 1);
	if (port < HY_L2_BRIDGE_PORTS) {
		*lane |= (uint32_t)port << HY_L2_LANE_OUT;
		return HY_L2_LOOKUP_NEXT_OUTPUT;
	}
	if (port == HY_L2_LOCAL)
		return HY_L2_LOOKUP_NEXT_LOCAL;
	if (dst[0] % 2 != 0)
		kind = memcmp(dst, all, 6) == 0 ? HY_L2_STORM_BROADCAST : HY_L2_STORM_MULTICAST;
	profile = setup->storm[in][kind];
	if ((setup->limited[kind] & UINT64_C(1) << in) != 0 &&
		rte_meter_srtcm_color_blind_check(&ctx->worker->storm[in][kind], &profile,
			rte_rdtsc(), 1) == RTE_COLOR_RED)
		return HY_DROP(kind);
	return HY_L2_LOOKUP_NEXT_FLOOD;
}

static uint16_t
find(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_setup *setup = hy_l2_setup_load(node->ctx);
	uint32_t *lane = hy_lane(graph, node, 0);
	uint8_t h[24];

	for (uint16_t i = 0; i < n; i++) {
		head(objs[i], h);
		hy_enqueue(graph, node, find_one(node->ctx, setup, h, &lane[i]), &objs[i], 1);
	}
	return n;
}

HY_NODE_VARIANT(l2_lookup, outside, .impl.process = find);

static uint16_t
leave_one(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup, struct rte_mbuf *m,
	uint32_t lane)
{
	const struct hy_l2_vlan *vlan = &setup->vlan[hy_l2_lane_vid(lane)];
	const uint8_t in = hy_l2_lane_in(lane), out = hy_l2_lane_out(lane);
	const uint64_t bit = UINT64_C(1) << out;
	const enum hy_l2_tag tag = hy_l2_lane_tag(lane);
	uint8_t h[24];

	if (in == out)
		return HY_DROP(HY_L2_OUTPUT_SAME_PORT);
	if ((setup->forwarding & bit) == 0)
		return HY_DROP(HY_L2_OUTPUT_BLOCKED);
	if ((setup->reach[in] & bit) == 0)
		return HY_DROP(HY_L2_OUTPUT_SPLIT);
	if ((vlan->members & bit) == 0)
		return HY_DROP(HY_L2_OUTPUT_NO_MEMBER);
	if (tag != ((vlan->untagged & bit) != 0 ? HY_L2_TAG_NONE : HY_L2_TAG_VID) &&
		(lane & HY_L2_LANE_SHARED) != 0)
		return HY_DROP(HY_L2_OUTPUT_OUTDATED);
	if ((vlan->untagged & bit) != 0) {
		if (tag != HY_L2_TAG_NONE)
			untag(m);
		return ctx->edge[out];
	}
	head(m, h);
	if (tag == HY_L2_TAG_NONE) {
		if (!make_room(m))
			return HY_DROP(HY_L2_OUTPUT_NO_ROOM);
		h[12] = (uint8_t)(setup->tag_type >> 8);
		h[13] = (uint8_t)setup->tag_type;
		h[14] = 0;
	}
	h[14] = (uint8_t)((h[14] & 0xf0) | hy_l2_lane_vid(lane) >> 8);
	h[15] = (uint8_t)hy_l2_lane_vid(lane);
	hy_mbuf_poke(m, h, 16);
	return ctx->edge[out];
}

static uint16_t
leave(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_setup *setup = hy_l2_setup_load(node->ctx);
	const uint32_t *lane = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n; i++)
		hy_enqueue(graph, node, leave_one(node->ctx, setup, objs[i], lane[i]), &objs[i], 1);
	return n;
}

HY_NODE_VARIANT(l2_output, outside, .impl.process = leave);
