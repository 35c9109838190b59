/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_apply in a graph: outcomes, copies, shared and awkward buffers, order. Bytes in all of their
 * variety are compared by tests/test_flow_apply.py. */

#include <errno.h>
#include <string.h>

#include <hy_flow_apply.h>
#include <hy_flow_lookup.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define BURST 64
#define MOST 64
#define VXLAN4 (14 + 20 + 8 + 8)
#define LONG_FRAME (HY_FLOW_OPS_HEADERS + 600)

static struct hy_flow_ops *ops;
static struct hy_graph *graph;

#define OUT(edge_) \
	{ \
		.type = HY_FLOW_OP_OUTPUT, .edge = (edge_) \
	}
#define DEC \
	{ \
		.type = HY_FLOW_OP_DEC_TTL \
	}
#define TO \
	{ \
		.type = HY_FLOW_OP_DST_MAC, .mac = { 2, 1, 1, 1, 1, 1 } \
	}
#define FROM \
	{ \
		.type = HY_FLOW_OP_SRC_MAC, .mac = { 2, 2, 2, 2, 2, 2 } \
	}
#define PUSH \
	{ \
		.type = HY_FLOW_OP_PUSH_VLAN, .type16 = RTE_BE16(0x8100), .tci = RTE_BE16(0x2005) \
	}
#define ENCAP \
	{ \
		.type = HY_FLOW_OP_ENCAP, .vxlan = { \
			.ttl = 64, \
			.port = RTE_BE16(4789), \
			.src = { 10, 0, 0, 1 }, \
			.dst = { 10, 0, 0, 2 } \
		} \
	}

/* The action of a new list. */
#define LIST(...) \
	list_add((const struct hy_flow_op[]){ __VA_ARGS__ }, \
		sizeof((const struct hy_flow_op[]){ __VA_ARGS__ }) / sizeof(struct hy_flow_op))

static uint32_t
list_add(const struct hy_flow_op list[], uint32_t n)
{
	uint16_t number;

	assert_int_equal(hy_flow_ops_add(ops, list, n, &number), 0);
	return hy_flow_action(0x1234, number);
}

/* rig_source → flow_apply → rig_out-0 and -1. */
static void
begin(void)
{
	const struct hy_flow_ops_params params = {
		.name = "test", .most = MOST, .workers = 1, .socket = SOCKET_ID_ANY
	};
	struct hy_flow_apply_config config;
	hy_node_id id;

	assert_int_equal(hy_flow_ops_create(&params, &ops), 0);
	config.ops = ops;
	rig_lane = HY_FLOW_ACTION_LANE;
	rig_nodes("flow_apply-rig");
	id = rig_clone("flow_apply", NULL, NULL);
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", NULL), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", NULL), 0);
	graph = rig_graph(BURST);
}

static void
end(void)
{
	rig_free();
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	assert_int_equal(hy_flow_ops_destroy(ops), -EBUSY);
	rig_clear();
	assert_int_equal(hy_flow_ops_destroy(ops), 0);
}

static uint64_t
counter(unsigned int i)
{
	const struct hy_node_stats *s;
	struct hy_stats *stats;
	uint64_t value;

	assert_int_equal(hy_stats_read("rig", &stats), 0);
	s = hy_stats_find(stats, 0, "flow_apply-rig");
	assert_non_null(s);
	value = s->counters[i].value;
	hy_stats_free(stats);
	return value;
}

static void
send1(struct rte_mbuf *m, uint32_t action)
{
	rig_send(graph, &m, &action, 1);
}

/* Fails unless a packet has these bytes, in whatever segments. */
static void
assert_bytes(const struct rte_mbuf *m, const uint8_t *frame, uint32_t len)
{
	uint8_t copy[FRAME_MAX];
	uint32_t sum = 0, segments = 0;

	for (const struct rte_mbuf *s = m; s != NULL; s = s->next, segments++)
		sum += s->data_len;
	assert_int_equal(m->pkt_len, len);
	assert_int_equal(sum, len);
	assert_int_equal(m->nb_segs, segments);
	assert_memory_equal(rte_pktmbuf_read(m, 0, len, copy), frame, len);
}

static void
packets_are_dropped_for_each_reason(void **state)
{
	static const char *const reasons[] = { "no_list", "no_output", "no_edge", "no_header",
		"too_long", "ttl_expired" };
	static uint8_t big[UINT16_MAX];
	uint8_t frame[FRAME_MAX];
	uint32_t n = 0;

	RTE_SET_USED(state);
	begin();
	FRAME(big, .payload = 8);
	send1(packet(frame, FRAME(frame, .payload = 8)), hy_flow_action(0, MOST - 1));
	assert_packet(out[RIG_DROP].packets[n++], frame, 42, 1);
	send1(packet(frame, 42), hy_flow_action(0, UINT16_MAX));
	assert_packet(out[RIG_DROP].packets[n++], frame, 42, 1);
	send1(packet(frame, 42), LIST(DEC, TO));
	assert_packet(out[RIG_DROP].packets[n++], frame, 42, 1);
	send1(packet(frame, 42), LIST(OUT(2)));
	assert_packet(out[RIG_DROP].packets[n++], frame, 42, 1);
	send1(packet(frame, 13), LIST(TO, OUT(0)));
	assert_packet(out[RIG_DROP].packets[n++], frame, 13, 1);
	send1(packet_pieces(big, UINT16_MAX - 35, 2000), LIST(ENCAP, OUT(0)));
	assert_packet(out[RIG_DROP].packets[n++], big, UINT16_MAX - 35, 33);
	for (uint8_t ttl = 0; ttl < 2; ttl++) {
		FRAME(frame, .payload = 8);
		frame[22] = ttl;
		frame_sum(frame);
		send1(packet(frame, 42), LIST(DEC, OUT(0)));
		assert_packet(out[RIG_DROP].packets[n++], frame, 42, 1);
	}
	assert_int_equal(out[RIG_DROP].n, n);
	assert_int_equal(out[0].n + out[1].n, 0);
	for (uint32_t i = 0; i < RTE_DIM(reasons); i++)
		assert_int_equal(dropped("rig", "flow_apply-rig", reasons[i]),
			i == 0 || i == 5 ? 2 : 1);
	send1(packet_pieces(big, UINT16_MAX - 36, 2000), LIST(ENCAP, OUT(0)));
	assert_int_equal(out[0].n, 1);
	assert_int_equal(out[0].packets[0]->pkt_len, UINT16_MAX - 36 + VXLAN4);
	end();
}

static void
list_without_changes_sends_the_packet_by_reference(void **state)
{
	const uint32_t len = 300;
	uint8_t frame[FRAME_MAX];
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	begin();
	FRAME(frame, .payload = 300 - 34);
	m = packet_pieces(frame, len, 100);
	send1(m, LIST(OUT(0), OUT(1), OUT(0), TO)); /* nothing is changed for nobody */
	assert_int_equal(out[0].n, 2);
	assert_int_equal(out[1].n, 1);
	for (uint32_t i = 0; i < 3; i++) {
		const struct kept *kept = &out[i == 2];

		assert_ptr_equal(kept->packets[i % 2], m);
		assert_int_equal(kept->lane[i % 2] & 0xffff, 0x1234);
	}
	assert_int_equal(rte_mbuf_refcnt_read(m), 3);
	assert_packet(m, frame, len, 3);
	assert_int_equal(counter(HY_FLOW_APPLY_COPIES), 2);
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), 0);
	end();
}

static void
copies_do_not_see_later_changes(void **state)
{
	uint8_t frame[FRAME_MAX], routed[FRAME_MAX];
	const uint32_t lens[] = { 60, HY_FLOW_OPS_HEADERS, HY_FLOW_OPS_HEADERS + 1, LONG_FRAME };
	const struct rte_ether_addr to = { { 2, 1, 1, 1, 1, 1 } }, from = { { 2, 2, 2, 2, 2, 2 } };
	uint32_t action, heads = 0;

	RTE_SET_USED(state);
	begin();
	action = LIST(OUT(0), DEC, TO, FROM, OUT(1), OUT(1));
	for (uint32_t i = 0; i < RTE_DIM(lens); i++)
		for (uint32_t size = 1; size <= LONG_FRAME; size = size * 3 + 5) {
			struct rte_mbuf *m;
			uint32_t segments;

			FRAME(frame, .payload = (uint16_t)(lens[i] - 34));
			memcpy(routed, frame, lens[i]);
			frame_forward(routed, &to, &from);
			m = packet_pieces(frame, lens[i], size);
			segments = m->nb_segs;
			send1(m, action);
			assert_int_equal(out[0].n, 1);
			assert_int_equal(out[1].n, 2);
			assert_ptr_equal(out[0].packets[0], m);
			assert_packet(m, frame, lens[i], segments);
			assert_ptr_equal(out[1].packets[0], out[1].packets[1]);
			assert_bytes(out[1].packets[0], routed, lens[i]);
			assert_true(out[1].lane[1] == action);
			/* What is short is a packet by itself, in one piece. */
			assert_int_equal(out[1].packets[0]->nb_segs == 1, i < 2);
			rig_free();
			heads++;
		}
	assert_int_equal(heads, 4 * 6);
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), heads);
	assert_int_equal(counter(HY_FLOW_APPLY_COPIES), 2 * heads);
	end();
}

/* A node that writes to its packet changes no other copy. A packet that is not shared is not copied. */
static void
packet_of_its_own_is_shared_by_no_copy(void **state)
{
	uint8_t frame[FRAME_MAX];
	const struct hy_flow_op own = { .type = HY_FLOW_OP_OWN };
	uint32_t alone, between;

	RTE_SET_USED(state);
	begin();
	FRAME(frame, .payload = LONG_FRAME - 34);
	alone = LIST(own, OUT(1));
	between = LIST(OUT(0), own, OUT(1), own, OUT(2));
	send1(packet_pieces(frame, LONG_FRAME, 400), alone);
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), 0);
	rig_free();
	send1(packet_pieces(frame, LONG_FRAME, 400), between);
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), 1);
	for (uint32_t edge = 0; edge < 3; edge++)
		assert_int_equal(out[edge].n, 1);
	memset(rte_pktmbuf_mtod(out[1].packets[0], void *), 0xee, 64);
	assert_bytes(out[0].packets[0], frame, LONG_FRAME);
	assert_bytes(out[2].packets[0], frame, LONG_FRAME);
	assert_int_equal(rte_mbuf_refcnt_read(out[1].packets[0]), 1);
	assert_int_equal(rte_mbuf_refcnt_read(out[2].packets[0]), 1);
	rig_free();
	end();
}

/* The packet keeps what is known of it when it gets another buffer. */
static void
shared_packets_are_not_written_to(void **state)
{
	uint8_t frame[FRAME_MAX], routed[FRAME_MAX];
	const struct rte_ether_addr to = { { 2, 1, 1, 1, 1, 1 } }, from = { { 2, 2, 2, 2, 2, 2 } };
	uint32_t action;

	RTE_SET_USED(state);
	begin();
	action = LIST({ .type = HY_FLOW_OP_MARK, .mark = 0xabcd }, DEC, TO, FROM, OUT(0));
	for (uint32_t way = 0; way < 3; way++) {
		struct rte_mbuf *m, *sent, *got;

		FRAME(frame, .payload = LONG_FRAME - 34);
		memcpy(routed, frame, LONG_FRAME);
		frame_forward(routed, &to, &from);
		m = packet_pieces(frame, LONG_FRAME, 400);
		m->port = 7;
		m->hash.rss = 99;
		m->ol_flags = RTE_MBUF_F_RX_RSS_HASH;
		sent = m;
		if (way == 0)
			rte_pktmbuf_refcnt_update(m, 1);
		else
			sent = rte_pktmbuf_clone(m, pool);
		if (way == 2) /* the clone alone refers to the bytes */
			rte_pktmbuf_free(m);
		send1(sent, action);
		assert_int_equal(out[0].n, 1);
		got = out[0].packets[0];
		assert_ptr_not_equal(got, m);
		assert_bytes(got, routed, LONG_FRAME);
		assert_int_equal(got->port, 7);
		assert_int_equal(got->hash.rss, 99);
		assert_int_equal(got->hash.fdir.hi, 0xabcd);
		assert_int_equal(got->ol_flags,
			RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID);
		if (way < 2) {
			assert_int_equal(m->ol_flags, RTE_MBUF_F_RX_RSS_HASH);
			assert_packet(m, frame, LONG_FRAME, 3);
			rte_pktmbuf_free(m);
		}
		rig_free();
	}
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), 3);
	end();
}

static void
ext_free(void *addr, void *opaque)
{
	RTE_SET_USED(addr);
	++*(unsigned int *)opaque;
}

/* A buffer that a driver lent, as mlx5's of several packets: written to unless another packet has it. */
static void
external_buffers_are_written_to_unless_they_are_shared(void **state)
{
	static uint8_t room[2048];
	uint8_t frame[FRAME_MAX];
	unsigned int freed = 0;
	uint32_t action;

	RTE_SET_USED(state);
	begin();
	action = LIST(TO, OUT(0));
	for (uint32_t shared = 0; shared < 2; shared++) {
		uint16_t size = sizeof(room);
		struct rte_mbuf_ext_shared_info *info = rte_pktmbuf_ext_shinfo_init_helper(room,
			&size, ext_free, &freed);
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *other = NULL;

		rte_pktmbuf_attach_extbuf(m, room, RTE_BAD_IOVA, size, info);
		FRAME(frame, .payload = 100);
		m->data_off = 128;
		memcpy(rte_pktmbuf_append(m, 134), frame, 134);
		if (shared != 0)
			other = rte_pktmbuf_clone(m, pool);
		send1(m, action);
		assert_int_equal(out[0].packets[0] == m, !shared);
		assert_int_equal(room[128 + 1], shared ? frame[1] : 1);
		rte_pktmbuf_free(other);
		memcpy(frame, (const uint8_t[]){ 2, 1, 1, 1, 1, 1 }, 6);
		assert_bytes(out[0].packets[0], frame, 134);
		rig_free();
		assert_int_equal(freed, shared + 1);
	}
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), 1);
	end();
}

static void
packets_without_headroom_get_a_buffer_that_has_some(void **state)
{
	uint8_t frame[FRAME_MAX], copy[FRAME_MAX];
	const uint32_t len = 600;
	uint32_t push, encap;

	RTE_SET_USED(state);
	begin();
	push = LIST(PUSH, OUT(0));
	encap = LIST(ENCAP, OUT(0));
	FRAME(frame, .payload = 600 - 34);
	for (uint16_t headroom = 0; headroom <= VXLAN4; headroom++)
		for (uint32_t k = 0; k < 2; k++) {
			struct rte_mbuf *m = packet(frame, len);
			const uint32_t more = k == 0 ? 4 : VXLAN4;
			const uint8_t *got;

			m->data_off = headroom;
			memcpy(rte_pktmbuf_mtod(m, void *), frame, len);
			send1(m, k == 0 ? push : encap);
			assert_int_equal(out[0].n, 1);
			assert_int_equal(out[0].packets[0] == m, headroom >= more);
			assert_int_equal(out[0].packets[0]->pkt_len, len + more);
			got = rte_pktmbuf_read(out[0].packets[0], more, len, copy);
			/* A tag lies behind the addresses. */
			assert_memory_equal(got + 12, frame + 12, len - 12);
			rig_free();
		}
	assert_int_equal(counter(HY_FLOW_APPLY_HEADS), 4 + VXLAN4);
	end();
}

/* With every number of buffers left: in and copies are out and drops, and nothing is written twice. */
static void
packets_for_which_there_are_no_buffers_are_dropped(void **state)
{
	static struct rte_mbuf *taken[8192];
	uint8_t frame[FRAME_MAX];
	uint64_t whole = 0, lost = 0;
	uint32_t action;

	RTE_SET_USED(state);
	begin();
	FRAME(frame, .payload = LONG_FRAME - 34);
	action = LIST(OUT(0), DEC, OUT(0), PUSH, OUT(1));
	for (unsigned int left = 0; left < 12; left++) {
		struct rte_mbuf *m = packet_pieces(frame, LONG_FRAME, 400);
		const unsigned int n = rte_mempool_avail_count(pool) - left;

		assert_int_equal(rte_pktmbuf_alloc_bulk(pool, taken, n), 0);
		send1(m, action);
		assert_packet(m, frame, LONG_FRAME, 3);
		assert_ptr_equal(out[0].packets[0], m);
		assert_int_equal(out[0].n + out[1].n + out[RIG_DROP].n, out[0].n == 1 ? 2 : 3);
		whole += out[1].n;
		lost += out[RIG_DROP].n;
		rig_free();
		rte_pktmbuf_free_bulk(taken, n);
	}
	/* A head and references to three buffers; then a head and references to four. */
	assert_int_equal(lost, 9);
	assert_int_equal(whole, 3);
	assert_int_equal(dropped("rig", "flow_apply-rig", "no_room"), lost);
	end();
}

static void
order_on_each_edge_is_that_of_arrival(void **state)
{
	static const uint8_t order[] = { 0, 1, 2, 0, 0, 2, 2, 1, 3, 3, 0, 2, 1 };
	uint32_t lists[4], lane[RTE_DIM(order)], due[3] = { 0 };
	struct rte_mbuf *burst[RTE_DIM(order)];
	uint8_t frame[FRAME_MAX];

	RTE_SET_USED(state);
	begin();
	lists[0] = LIST(OUT(0));
	lists[1] = LIST(TO, OUT(0));
	lists[2] = LIST(OUT(0), TO, OUT(0));
	lists[3] = LIST(OUT(2), OUT(0)); /* there is no edge 2 */
	for (uint32_t i = 0; i < RTE_DIM(order); i++) {
		FRAME(frame, .payload = 8, .id = (uint16_t)i);
		burst[i] = packet(frame, 42);
		lane[i] = lists[order[i]];
	}
	rig_send(graph, burst, lane, RTE_DIM(order));
	for (uint32_t i = 0; i < RTE_DIM(order); i++)
		for (uint32_t k = 0; k < (order[i] == 2 ? 2 : 1); k++) {
			const struct rte_mbuf *m = out[0].packets[due[0]];

			assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[19], i);
			assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[1],
				order[i] == 1 || (order[i] == 2 && k == 1));
			assert_int_equal(out[0].lane[due[0]++], lane[i]);
		}
	assert_int_equal(out[0].n, due[0]);
	assert_int_equal(out[RIG_DROP].n, 2);
	assert_int_equal(dropped("rig", "flow_apply-rig", "no_edge"), 2);
	assert_int_equal(counter(HY_FLOW_APPLY_COPIES), 4 + 2);
	end();
}

static void
packets_and_bytes_of_each_list_are_counted(void **state)
{
	uint64_t seed = 5, packets[3] = { 0 }, bytes[3] = { 0 }, p, b;
	uint32_t lists[3];

	RTE_SET_USED(state);
	begin();
	lists[0] = LIST(OUT(0));
	lists[1] = LIST(OUT(0), ENCAP, OUT(1));
	lists[2] = LIST(TO);
	for (uint32_t step = 0; step < 200; step++) {
		struct rte_mbuf *burst[BURST];
		uint32_t lane[BURST];
		const uint32_t n = 1 + rnd(&seed) % BURST;

		for (uint32_t i = 0; i < n; i++) {
			const uint32_t k = rnd(&seed) % 3;
			const uint16_t payload = (uint16_t)(rnd(&seed) % 1000);
			uint8_t frame[FRAME_MAX];

			burst[i] = packet(frame, FRAME(frame, .payload = payload));
			lane[i] = lists[k];
			packets[k]++;
			bytes[k] += 34 + payload;
		}
		rig_send(graph, burst, lane, n);
		rig_free();
	}
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(hy_flow_ops_count(ops, (uint16_t)(lists[k] >> 16), &p, &b), 0);
		assert_int_equal(p, packets[k]);
		assert_int_equal(b, bytes[k]);
		assert_true(p > 1000);
	}
	end();
}

/* Every TTL and type of service, with every carry of the checksum. */
static void
checksums_of_ip4_are_what_they_would_be_anew(void **state)
{
	uint32_t dec, set, compared = 0;

	RTE_SET_USED(state);
	begin();
	dec = LIST(DEC, OUT(0));
	set = LIST({ .type = HY_FLOW_OP_TTL, .value8 = 7 },
		{ .type = HY_FLOW_OP_TOS, .value8 = 0xa7, .mask8 = 0x3f }, OUT(0));
	for (uint32_t id = 0; id < 65536; id += 3) {
		const uint8_t ttl = (uint8_t)(id % 254 + 2);
		uint8_t frame[FRAME_MAX];

		FRAME(frame, .payload = 8, .ttl = ttl, .id = (uint16_t)id);
		send1(packet(frame, 42), id % 2 == 0 ? dec : set);
		frame[22] = id % 2 == 0 ? ttl - 1 : 7;
		frame[15] = id % 2 == 0 ? 0 : 0x27;
		frame_sum(frame);
		assert_int_equal(out[0].n, 1);
		assert_packet(out[0].packets[0], frame, 42, 1);
		rig_free();
		compared++;
	}
	assert_int_equal(compared, 21846);
	end();
}

static void
node_refuses_lists_of_other_workers(void **state)
{
	static const char *const patterns[] = { "rig_source" };
	struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.worker = 1,
		.socket = SOCKET_ID_ANY };
	struct hy_graph *other;

	RTE_SET_USED(state);
	begin();
	unit_log_clear();
	assert_int_equal(hy_graph_create("other", &params, &other), -EINVAL);
	assert_non_null(strstr(unit_log(), "lists of operations 'test' have 1 workers"));
	end();
	rig_lane = HY_FLOW_ACTION_LANE;
	rig_nodes("flow_apply-rig");
	rig_clone("flow_apply", NULL, NULL);
	params.worker = 0;
	unit_log_clear();
	assert_int_equal(hy_graph_create("other", &params, &other), -EINVAL);
	assert_non_null(strstr(unit_log(), "needs a struct hy_flow_apply_config"));
	rig_clear();
}

static const struct CMUnitTest flow_apply_tests[] = {
	NODE_TEST(packets_are_dropped_for_each_reason),
	NODE_TEST(list_without_changes_sends_the_packet_by_reference),
	NODE_TEST(copies_do_not_see_later_changes),
	NODE_TEST(packet_of_its_own_is_shared_by_no_copy),
	NODE_TEST(shared_packets_are_not_written_to),
	NODE_TEST(external_buffers_are_written_to_unless_they_are_shared),
	NODE_TEST(packets_without_headroom_get_a_buffer_that_has_some),
	NODE_TEST(packets_for_which_there_are_no_buffers_are_dropped),
	NODE_TEST(order_on_each_edge_is_that_of_arrival),
	NODE_TEST(packets_and_bytes_of_each_list_are_counted),
	NODE_TEST(checksums_of_ip4_are_what_they_would_be_anew),
	NODE_TEST(node_refuses_lists_of_other_workers),
};

UNIT_SUITE(flow_apply_tests)
