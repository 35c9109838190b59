/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets in many segments through pkt_cls, ip4_lookup and ip4_rewrite in a real graph: what comes
 * out is what comes out of the same packet in one segment, and no other byte is written.
 */

#include <string.h>

#include <hy_ip4_rewrite.h>
#include "drivers/nodes/generic/classify/pkt_cls_kernels.h"
#include "node_fixture.h"

#define IHLS 3

static const uint8_t ihls[IHLS] = { 5, 6, 15 };
static const char *const classifiers[] = { "scalar", "ptype" };

/* Sends one packet in, and takes it out of the only sink that got one. */
static struct rte_mbuf *
pass(struct hy_graph *graph, struct rte_mbuf *m, unsigned int sink)
{
	struct rte_mbuf *sent = m;

	rig_send(graph, &m, NULL, 1);
	for (unsigned int i = 0; i < RIG_OUTS; i++)
		assert_int_equal(out[i].n, i == sink ? 1 : 0);
	assert_ptr_equal(out[sink].packets[0], sent);
	out[sink].n = 0;
	return sent;
}

/* The packet is forwarded to port 1, byte by byte as it should be, its segments as they were. */
static void
assert_forwards(struct hy_graph *graph, struct rte_mbuf *m, const uint8_t *frame, uint32_t len)
{
	uint8_t expected[FRAME_MAX];
	const unsigned int segments = m->nb_segs;

	memcpy(expected, frame, len);
	frame_forward(expected, rig_mac(1, 1), rig_mac(0, 1));
	m = pass(graph, m, 1);
	assert_packet(m, expected, len, segments);
	rte_pktmbuf_free(m);
}

static void
assert_drops(struct hy_graph *graph, struct rte_mbuf *m, const uint8_t *frame, uint32_t len)
{
	const unsigned int segments = m->nb_segs;

	m = pass(graph, m, RIG_DROP);
	assert_packet(m, frame, len, segments);
	rte_pktmbuf_free(m);
}

static void
boundary_at_every_byte_of_the_headers_changes_nothing(void **state)
{
	uint8_t frame[FRAME_MAX];
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t c = 0; c < RTE_DIM(classifiers); c++) {
		struct hy_graph *graph = rig_chain(classifiers[c], "scalar", 32, NULL);

		for (unsigned int h = 0; h < IHLS; h++) {
			const uint32_t len = FRAME(frame, .ihl = ihls[h], .payload = 50,
				.padding = 7, .dst = IP4(198, 18, 1, 9), .id = (uint16_t)h);

			assert_forwards(graph, packet(frame, len), frame, len);
			for (uint32_t cut = 0; cut <= len; cut++, compared++) {
				struct rte_mbuf *m = packet_cut(frame, len, cut);

				m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4;
				assert_forwards(graph, m, frame, len);
			}
		}
		rig_clear();
	}
	assert_int_equal(compared, 2 * (92 + 96 + 132));
}

static void
two_boundaries_anywhere_in_the_headers_change_nothing(void **state)
{
	struct hy_graph *graph = rig_chain("scalar", "scalar", 32, NULL);
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 6, .dst = IP4(198, 18, 1, 9));
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (uint32_t first = 0; first <= len; first++) {
		for (uint32_t second = first; second <= len; second++, compared++) {
			struct rte_mbuf *m = packet_cut(frame, second, first);

			assert_int_equal(rte_pktmbuf_chain(m, packet(frame + second, len - second)),
				0);
			assert_forwards(graph, m, frame, len);
		}
	}
	assert_int_equal(compared, 41 * 42 / 2);
}

static void
segments_of_one_byte_and_other_sizes_change_nothing(void **state)
{
	struct hy_graph *graph = rig_chain("scalar", "scalar", 32, NULL);
	uint8_t frame[FRAME_MAX];
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (unsigned int h = 0; h < IHLS; h++) {
		const uint32_t len = FRAME(frame, .ihl = ihls[h], .payload = 90, .padding = 3,
			.dst = IP4(198, 18, 1, 9));

		for (uint32_t size = 1; size <= 80; size++, compared++)
			assert_forwards(graph, packet_pieces(frame, len, size), frame, len);
	}
	assert_int_equal(compared, 3 * 80);
}

static void
frames_of_full_length_in_random_segments_keep_every_byte(void **state)
{
	struct hy_graph *graph = rig_chain("scalar", "scalar", 32, NULL);
	uint8_t frame[FRAME_MAX];
	uint64_t seed = 5;

	RTE_SET_USED(state);
	for (uint16_t i = 0; i < 300; i++) {
		const uint32_t len = FRAME(frame, .ihl = (uint8_t)(5 + rnd(&seed) % 11),
			.payload = (uint16_t)(rnd(&seed) % 1441), .id = i,
			.ttl = (uint8_t)(2 + rnd(&seed) % 254), .dst = IP4(198, 18, 1, 9));

		assert_true(len <= 1514);
		assert_forwards(graph, packet_random(frame, len, 1 + rnd(&seed) % 100, &seed),
			frame, len);
	}
}

/* Frames with something wrong, and the node and reason that find it. */
static const struct {
	const char *node, *reason;
	uint8_t at, value;
	bool sum;
	uint16_t payload;
} wrongs[] = {
	{ "pkt_cls-rig", "l2_not_unicast", 0, 0xff, true, 30 },
	{ "pkt_cls-rig", "vlan_unknown", 12, 0x81, true, 30 },
	{ "pkt_cls-rig", "not_ip4", 13, 6, true, 30 },
	{ "pkt_cls-rig", "bad_header", 14, 0x55, true, 30 },
	{ "pkt_cls-rig", "bad_header", 17, 11, true, 30 },
	{ "pkt_cls-rig", "truncated", 16, 0x70, true, 30 },
	{ "pkt_cls-rig", "bad_checksum", 25, 0, false, 30 },
	{ "pkt_cls-rig", "martian_dst", 30, 127, true, 30 },
	{ "ip4_lookup-rig", "no_route", 30, 55, true, 30 },
	{ "ip4_rewrite-rig", "ttl_expired", 22, 1, true, 30 },
	{ "ip4_rewrite-rig", "ttl_expired", 22, 0, true, 30 },
	{ "ip4_rewrite-rig", "mtu_exceeded", 18, 1, true, 1481 },
};

static void
drops_are_the_same_at_every_boundary_and_write_nothing(void **state)
{
	struct hy_graph *graph = rig_chain("scalar", "scalar", 32, NULL);
	uint8_t frame[FRAME_MAX];
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t w = 0; w < RTE_DIM(wrongs); w++) {
		const uint32_t len = FRAME(frame, .payload = wrongs[w].payload);
		uint64_t before = dropped("rig", wrongs[w].node, wrongs[w].reason);

		frame[wrongs[w].at] = wrongs[w].value;
		if (wrongs[w].sum)
			frame_sum(frame);
		assert_drops(graph, packet(frame, len), frame, len);
		for (uint32_t cut = 0; cut <= 40; cut++, compared++)
			assert_drops(graph, packet_cut(frame, len, cut), frame, len);
		assert_drops(graph, packet_pieces(frame, len, len > 1000 ? 20 : 1), frame, len);
		if (dropped("rig", wrongs[w].node, wrongs[w].reason) != before + 43)
			fail_msg("%s: %ju, not %ju", wrongs[w].reason,
				(uintmax_t)dropped("rig", wrongs[w].node, wrongs[w].reason),
				(uintmax_t)before + 43);
	}
	assert_int_equal(compared, RTE_DIM(wrongs) * 41);
}

static void
short_frames_are_truncated_at_every_length_and_boundary(void **state)
{
	struct hy_graph *graph = rig_chain("scalar", "scalar", 32, NULL);
	uint8_t frame[FRAME_MAX];
	unsigned int sent = 0;

	RTE_SET_USED(state);
	FRAME(frame, .ihl = 15, .payload = 1);
	for (uint32_t len = 0; len < 75; len++)
		for (uint32_t cut = 0; cut <= len; cut++, sent++)
			assert_drops(graph, packet_cut(frame, len, cut), frame, len);
	assert_drops(graph, packet(frame, 0), frame, 0);
	assert_int_equal(sent, 75 * 76 / 2);
	assert_int_equal(dropped("rig", "pkt_cls-rig", "truncated"), sent + 1);
}

/* Each variant of pkt_cls, with bursts in which packets of all kinds stand beside each other. */
static void
mixed_bursts_keep_their_order_on_every_edge(void **state)
{
	static struct rte_mbuf *packets[1000];
	static uint8_t frames[1000][160];
	uint64_t seed = 6;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 4; round++) {
		struct hy_graph *graph = rig_chain(classifiers[round % 2], "scalar",
			round < 2 ? 256 : 7, NULL);
		unsigned int at[RIG_OUTS] = { 0 };

		for (unsigned int i = 0; i < RTE_DIM(packets); i++) {
			const uint32_t len = FRAME(frames[i], .payload = 60, .id = (uint16_t)i,
				.dst = IP4(198, 18, rnd(&seed) % 3, 1));

			packets[i] = packet_random(frames[i], len, rnd(&seed) % 4 ? 200 : 9, &seed);
		}
		rig_send(graph, packets, NULL, RTE_DIM(packets));
		for (unsigned int i = 0; i < RTE_DIM(packets); i++) {
			const unsigned int sink = frames[i][32];

			assert_true(at[sink] < out[sink].n);
			assert_ptr_equal(out[sink].packets[at[sink]++], packets[i]);
			if (sink < 2)
				frame_forward(frames[i], rig_mac(1, (uint16_t)sink),
					rig_mac(0, (uint16_t)sink));
			assert_packet(packets[i], frames[i], 94, packets[i]->nb_segs);
		}
		for (unsigned int i = 0; i < RIG_OUTS; i++) {
			assert_true(at[i] > 250);
			assert_int_equal(at[i], out[i].n);
		}
		assert_int_equal(dropped("rig", "ip4_lookup-rig", "no_route"), at[RIG_DROP]);
		rig_clear();
	}
}

static const struct CMUnitTest node_segments_tests[] = {
	NODE_TEST(boundary_at_every_byte_of_the_headers_changes_nothing),
	NODE_TEST(two_boundaries_anywhere_in_the_headers_change_nothing),
	NODE_TEST(segments_of_one_byte_and_other_sizes_change_nothing),
	NODE_TEST(frames_of_full_length_in_random_segments_keep_every_byte),
	NODE_TEST(drops_are_the_same_at_every_boundary_and_write_nothing),
	NODE_TEST(short_frames_are_truncated_at_every_length_and_boundary),
	NODE_TEST(mixed_bursts_keep_their_order_on_every_edge),
};

UNIT_SUITE(node_segments_tests)
