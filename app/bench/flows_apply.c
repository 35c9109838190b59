/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What flow_apply takes for a packet: a graph of a source of 64-byte frames, flow_apply with one list, and a
 * sink; `gen` goes from the source to the sink. The first packet of each burst is held against a frame that is
 * written here by hand.
 */

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#include "flows.h"

#define FRAME_LEN 64
#define BURST 64
#define PACKETS 8192 /* of a run */
#define MBUFS 1023
#define ROOM 128 /* bytes of a frame that is held against */
#define NAME "bench_apply"
#define LISTS 4

enum { TO_APPLY, TO_SINK };

/* A list, and what it makes of the frame. */
struct list {
	const char *name;
	uint16_t edge; /* of the source */
	uint16_t number;
	uint32_t length;     /* of the frame that comes out */
	uint8_t frame[ROOM]; /* that */
	uint64_t in, out, compared, wrong;
};

static struct {
	struct hy_flow_ops *ops;
	struct rte_mempool *pool;
	struct hy_graph *graph;
	struct list lists[LISTS + 1]; /* the first is that of `gen` */
	struct list *now;
} rig;

static const uint8_t dst_mac[] = { 2, 0, 0, 0, 0, 1 }, src_mac[] = { 2, 0, 0, 0, 0, 2 };

struct headers {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __attribute__((packed)) __rte_aligned(2);

static void
ip_write(struct rte_ipv4_hdr *ip, uint32_t length, uint8_t ttl)
{
	*ip = (struct rte_ipv4_hdr){ .version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)length),
		.time_to_live = ttl,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = RTE_BE32(0x0a000001),
		.dst_addr = RTE_BE32(0x0a000002) };
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

/* UDP over IPv4. */
static void
frame_write(uint8_t *frame, uint8_t ttl)
{
	struct headers *h = (struct headers *)frame;

	memset(frame, 0, FRAME_LEN);
	h->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip_write(&h->ip, FRAME_LEN - RTE_ETHER_HDR_LEN, ttl);
	h->udp.src_port = RTE_BE16(1000);
	h->udp.dst_port = RTE_BE16(53);
	h->udp.dgram_len = RTE_BE16(FRAME_LEN - RTE_ETHER_HDR_LEN - sizeof(h->ip));
}

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint32_t *lane = hy_lane(graph, node, 0);

	(void)n;
	if (rte_pktmbuf_alloc_bulk(rig.pool, (struct rte_mbuf **)objs, BURST) < 0)
		return 0;
	for (uint32_t i = 0; i < BURST; i++) {
		struct rte_mbuf *m = objs[i];

		memcpy(rte_pktmbuf_mtod(m, void *), rig.lists[0].frame, FRAME_LEN);
		m->data_len = FRAME_LEN;
		m->pkt_len = FRAME_LEN;
		lane[i] = hy_flow_action(0, rig.now->number);
	}
	rig.now->in += BURST;
	hy_stream_move(graph, node, rig.now->edge, BURST);
	return BURST;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct list *now = rig.now;
	struct rte_mbuf *first = objs[0];
	uint8_t *frame = rte_pktmbuf_mtod(first, uint8_t *);

	(void)node;
	for (uint16_t i = 0; i < n; i++)
		now->wrong += ((const struct rte_mbuf *)objs[i])->pkt_len != now->length;
	if (now->length > FRAME_LEN + RTE_VLAN_HLEN) /* the port is a hash of the frame inside */
		memset(frame + offsetof(struct headers, udp.src_port), 0, sizeof(rte_be16_t));
	now->wrong += rte_pktmbuf_data_len(first) != now->length ||
		memcmp(frame, now->frame, now->length) != 0;
	now->compared++;
	now->out += n;
	hy_release(graph, objs, n);
	return n;
}

static uint16_t
drop_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	rig.now->wrong += n;
	hy_release(graph, objs, n);
	return n;
}

static uint64_t
apply_run(void *arg)
{
	rig.now = arg;
	for (uint32_t k = 0; k < PACKETS; k += BURST)
		hy_graph_walk(rig.graph);
	return PACKETS;
}

static bool
apply_check(void *arg)
{
	const struct list *list = arg;

	return list->in > 0 && list->in == list->out && list->wrong == 0 &&
		list->compared >= list->in / BURST;
}

/* Routed: other addresses, a TTL that is 1 less. */
static void
expect_route(struct list *list)
{
	frame_write(list->frame, 63);
	memcpy(list->frame, dst_mac, sizeof(dst_mac));
	memcpy(list->frame + sizeof(dst_mac), src_mac, sizeof(src_mac));
}

/* With a tag of VLAN 5. */
static void
expect_tag(struct list *list)
{
	static const uint8_t tag[] = { 0x81, 0, 0, 5 };
	uint8_t frame[FRAME_LEN];

	frame_write(frame, 64);
	memcpy(list->frame, frame, 12);
	memcpy(list->frame + 12, tag, sizeof(tag));
	memcpy(list->frame + 16, frame + 12, FRAME_LEN - 12);
	list->length = FRAME_LEN + sizeof(tag);
}

/* Inside VXLAN, with the port of the sender as 0. */
static void
expect_vxlan(struct list *list)
{
	struct headers *h = (struct headers *)list->frame;
	struct rte_vxlan_hdr *vxlan = (struct rte_vxlan_hdr *)(h + 1);

	memset(list->frame, 0, sizeof(list->frame));
	list->length = sizeof(*h) + sizeof(*vxlan) + FRAME_LEN;
	memcpy(&h->ether.dst_addr, dst_mac, sizeof(dst_mac));
	memcpy(&h->ether.src_addr, src_mac, sizeof(src_mac));
	h->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip_write(&h->ip, list->length - RTE_ETHER_HDR_LEN, 64);
	h->ip.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
	h->ip.hdr_checksum = 0;
	h->ip.hdr_checksum = rte_ipv4_cksum(&h->ip);
	h->udp.dst_port = RTE_BE16(RTE_VXLAN_DEFAULT_PORT);
	h->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(list->length - RTE_ETHER_HDR_LEN -
		sizeof(h->ip)));
	vxlan->vx_flags = RTE_BE32(0x08000000);
	vxlan->vx_vni = RTE_BE32(42 << 8);
	frame_write((uint8_t *)(vxlan + 1), 64);
}

static int
lists_add(void)
{
	static const struct hy_flow_op output[] = { { .type = HY_FLOW_OP_OUTPUT } };
	static const struct hy_flow_op route[] = { { .type = HY_FLOW_OP_DEC_TTL },
		{ .type = HY_FLOW_OP_DST_MAC, .mac = { 2, 0, 0, 0, 0, 1 } },
		{ .type = HY_FLOW_OP_SRC_MAC, .mac = { 2, 0, 0, 0, 0, 2 } },
		{ .type = HY_FLOW_OP_OUTPUT } };
	static const struct hy_flow_op push[] = {
		{ .type = HY_FLOW_OP_PUSH_VLAN, .type16 = RTE_BE16(0x8100), .tci = RTE_BE16(5) },
		{ .type = HY_FLOW_OP_OUTPUT }
	};
	static const struct hy_flow_op encap[] = {
		{ .type = HY_FLOW_OP_ENCAP,
			.vxlan = { .dst_mac = { 2, 0, 0, 0, 0, 1 },
				.src_mac = { 2, 0, 0, 0, 0, 2 },
				.ttl = 64,
				.vni = { 0, 0, 42 },
				.src = { 10, 0, 0, 1 },
				.dst = { 10, 0, 0, 2 },
				.port = RTE_BE16(4789) } },
		{ .type = HY_FLOW_OP_OUTPUT }
	};
	static const struct {
		const char *name;
		const struct hy_flow_op *ops;
		uint32_t n;
		void (*expect)(struct list *list);
	} all[LISTS] = { { "output", output, RTE_DIM(output), NULL },
		{ "route", route, RTE_DIM(route), expect_route },
		{ "push_vlan", push, RTE_DIM(push), expect_tag },
		{ "vxlan", encap, RTE_DIM(encap), expect_vxlan } };
	int rc = 0;

	for (uint32_t i = 0; i <= LISTS && rc == 0; i++) {
		struct list *list = &rig.lists[i];

		*list = (struct list){ .name = "gen", .edge = TO_SINK, .length = FRAME_LEN };
		frame_write(list->frame, 64);
		if (i == 0)
			continue;
		list->name = all[i - 1].name;
		list->edge = TO_APPLY;
		if (all[i - 1].expect != NULL)
			all[i - 1].expect(list);
		rc = hy_flow_ops_add(rig.ops, all[i - 1].ops, all[i - 1].n, &list->number);
	}
	return rc;
}

static int
graph_make(void)
{
	const struct hy_node_desc descs[] = {
		{ .name = NAME "_source",
			.flags = HY_NODE_SOURCE,
			.impl.process = source_process,
			.edges = { [TO_APPLY] = HY_FLOW_APPLY_NODE "-" NAME,
				[TO_SINK] = NAME "_sink" },
			.lanes = { HY_FLOW_ACTION_LANE } },
		{ .name = NAME "_sink", .impl.process = sink_process },
		{ .name = NAME "_drop", .impl.process = drop_process },
	};
	static const char *const patterns[] = { NAME "_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = RTE_DIM(patterns),
		.ops = &hy_mbuf_ops,
		.drop_node = NAME "_drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY };
	const struct hy_flow_apply_config config = { .ops = rig.ops };
	hy_node_id id;
	int rc = 0;

	for (unsigned int i = 0; i < RTE_DIM(descs) && rc == 0; i++)
		rc = hy_node_register(&descs[i], &id);
	if (rc == 0)
		rc = hy_node_lookup(HY_FLOW_APPLY_NODE, &id);
	if (rc == 0)
		rc = hy_node_clone(id, NAME, &id);
	if (rc == 0)
		rc = hy_node_config(id, &config, sizeof(config));
	if (rc == 0)
		rc = hy_node_edge_add(id, NAME "_sink", NULL);
	return rc == 0 ? hy_graph_create(NAME, &params, &rig.graph) : rc;
}

static void
graph_free(void)
{
	static const char *const names[] = { NAME "_source", HY_FLOW_APPLY_NODE "-" NAME,
		NAME "_drop", NAME "_sink" };
	hy_node_id id;

	if (rig.graph != NULL)
		hy_graph_destroy(rig.graph);
	rig.graph = NULL;
	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		if (hy_node_lookup(names[i], &id) == 0)
			hy_node_unregister(id);
}

static int
apply_make(void)
{
	const struct hy_flow_ops_params params = {
		.name = NAME, .most = LISTS, .workers = 1, .socket = SOCKET_ID_ANY
	};

	rig.pool = rte_pktmbuf_pool_create(NAME, MBUFS, 128, 0, RTE_PKTMBUF_HEADROOM + ROOM,
		SOCKET_ID_ANY);
	if (rig.pool == NULL || hy_flow_ops_create(&params, &rig.ops) < 0 || lists_add() < 0)
		return bench_cannot("no memory for %d packets and %d lists", MBUFS, LISTS);
	if (graph_make() < 0)
		return bench_cannot("the graph could not be created");
	return 0;
}

void
flows_apply(void)
{
	const char *work = "apply";
	struct field f = { .work = work };

	if (!bench_wanted(work))
		return;
	if (apply_make() < 0) {
		bench_skip(work, NULL);
	} else {
		for (uint32_t i = 0; i <= LISTS; i++)
			field_enter(&f,
				&(struct contender){ .name = rig.lists[i].name,
					.arg = &rig.lists[i],
					.run = apply_run,
					.check = apply_check },
				field_keep);
		field_measure(&f, CYCLES_PACKET);
	}
	graph_free();
	hy_flow_ops_destroy(rig.ops);
	rte_mempool_free(rig.pool);
}
