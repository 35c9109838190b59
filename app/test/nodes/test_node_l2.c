/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_input, l2_learn and l2_lookup: which VLAN a frame gets, what is learned, where it goes. */

#include <errno.h>
#include <string.h>

#include <rte_ring_elem.h>

#include <hy_mbuf.h>

#include "l2_rig.h"

static const uint8_t mac_a[6] = { 2, 0, 0, 0, 0, 0xa }, mac_b[6] = { 2, 0, 0, 0, 0, 0xb };
static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };
static const uint8_t group[6] = { 1, 0, 0x5e, 0, 0, 1 };

/* Sends one frame in pieces of some bytes, 0: whole, and returns what came to rig_out-0. */
static unsigned int
send_one(struct hy_graph *graph, const uint8_t *frame, uint32_t len, uint32_t piece, uint16_t port,
	uint32_t lane)
{
	struct rte_mbuf *m = piece == 0 ? packet(frame, len) : packet_pieces(frame, len, piece);

	m->port = port;
	rig_send(graph, &m, &lane, 1);
	return out[0].n;
}

/* Port 0 admits all; 1 what has a VLAN; 2 what has none; 3 has no pvid; 4 is no port. */
static const struct {
	const char *drop;   /* NULL: it enters, */
	uint16_t vid;       /* this VLAN, */
	enum hy_l2_tag tag; /* with this tag */
	uint32_t word;      /* behind the addresses; 0: no tag */
	uint16_t port, len;
	uint8_t dst_last; /* of 01:80:c2:00:00:XX; 0xff: another destination */
	uint8_t src_first;
} ways[] = {
	{ NULL, 1, HY_L2_TAG_NONE, 0, 0, 60, 0xff, 2 },
	{ NULL, 1, HY_L2_TAG_NONE, 0, 2, 14, 0xff, 2 },
	{ NULL, 1, HY_L2_TAG_ZERO, 0x8100e000, 0, 60, 0xff, 2 },
	{ NULL, 1, HY_L2_TAG_ZERO, 0x81000000, 2, 18, 0xff, 2 },
	{ NULL, 7, HY_L2_TAG_VID, 0x8100f007, 0, 60, 0xff, 2 },
	{ NULL, 4094, HY_L2_TAG_VID, 0x81000ffe, 1, 18, 0xff, 2 },
	{ NULL, 7, HY_L2_TAG_VID, 0x81000007, 3, 60, 0xff, 2 },
	{ NULL, 1, HY_L2_TAG_NONE, 0x88a80007, 0, 60, 0xff, 2 }, /* payload */
	{ NULL, 1, HY_L2_TAG_NONE, 0x88a80007, 0, 16, 0xff, 2 },
	{ NULL, 1, HY_L2_TAG_NONE, 0, 0, 60, 0x10, 2 },
	{ "not_a_port", 0, 0, 0, 4, 60, 0xff, 2 },
	{ "not_a_port", 0, 0, 0, UINT16_MAX, 60, 0xff, 2 },
	{ "truncated", 0, 0, 0, 0, 13, 0xff, 2 },
	{ "truncated", 0, 0, 0x81000007, 0, 17, 0xff, 2 },
	{ "truncated", 0, 0, 0x81000007, 0, 14, 0x00, 2 }, /* before all others */
	{ "reserved_dst", 0, 0, 0, 0, 60, 0x00, 2 },
	{ "reserved_dst", 0, 0, 0x81000fff, 2, 60, 0x0f, 3 },
	{ "bad_src", 0, 0, 0, 0, 60, 0xff, 3 },
	{ "bad_src", 0, 0, 0x81000fff, 0, 60, 0xff, 0 }, /* all 0 */
	{ "vlan_invalid", 0, 0, 0x81000fff, 0, 60, 0xff, 2 },
	{ "vlan_invalid", 0, 0, 0x8100ffff, 2, 60, 0xff, 2 },
	{ "not_admitted", 0, 0, 0, 1, 60, 0xff, 2 },
	{ "not_admitted", 0, 0, 0x8100e000, 1, 60, 0xff, 2 },
	{ "not_admitted", 0, 0, 0x81000001, 2, 60, 0xff, 2 },
	{ "not_admitted", 0, 0, 0, 3, 60, 0xff, 2 },
	{ "vlan_filtered", 0, 0, 0x81000008, 0, 60, 0xff, 2 },
	{ "vlan_filtered", 0, 0, 0x81000008, 1, 60, 0xff, 2 },
};

static void
ways_set_up(void)
{
	l2_setup.port[1].admit = HY_L2_ADMIT_TAGGED;
	l2_setup.port[2].admit = HY_L2_ADMIT_UNTAGGED;
	l2_setup.port[3].pvid = 0;
	l2_setup.vlan[1].members = l2_setup.vlan[7].members = 0xf;
	l2_setup.vlan[4094].members = 2;
}

static void
frame_gets_its_vlan_or_is_refused(void **state)
{
	uint64_t drops[RTE_DIM(ways)] = { 0 };
	unsigned int entered = 0;
	struct hy_graph *graph;
	uint8_t frame[64];

	RTE_SET_USED(state);
	l2_rig("l2_input", "scalar");
	ways_set_up();
	graph = rig_graph(32);
	for (unsigned int i = 0; i < RTE_DIM(ways) * 20; i++) {
		const unsigned int w = i % RTE_DIM(ways);
		const uint8_t dst[] = { 1, 0x80, 0xc2, 0, 0, ways[w].dst_last };
		const uint8_t src[] = { ways[w].src_first, 0, 0, 0, 0,
			ways[w].src_first == 0 ? 0 : 0xa };
		const uint32_t len = l2_frame(frame, ways[w].dst_last == 0xff ? mac_b : dst, src,
			ways[w].word, ways[w].len);
		const unsigned int n = send_one(graph, frame, len, i / RTE_DIM(ways), ways[w].port,
			0);

		if (n != (ways[w].drop == NULL))
			fail_msg("frame %u in pieces of %zu: %u came through", w, i / RTE_DIM(ways),
				n);
		if (n == 1)
			assert_int_equal(out[0].lane[0],
				hy_l2_lane(ways[w].vid, (uint8_t)ways[w].port, ways[w].tag) |
					HY_L2_LANE_LEARN);
		else
			for (unsigned int d = 0; d < RTE_DIM(ways); d++)
				drops[d] += ways[d].drop != NULL &&
					strcmp(ways[d].drop, ways[w].drop) == 0;
		entered += n;
		rig_free();
	}
	assert_int_equal(entered, 200);
	for (unsigned int w = 0; w < RTE_DIM(ways); w++)
		if (ways[w].drop != NULL)
			assert_int_equal(dropped("rig", "l2_input-rig", ways[w].drop), drops[w]);
	l2_rig_end();
}

static void
port_states_and_properties_decide_what_enters(void **state)
{
	struct hy_graph *graph;
	uint8_t frame[64];

	RTE_SET_USED(state);
	l2_rig("l2_input", "scalar");
	l2_setup.port[0].state = HY_L2_BLOCKING;
	l2_setup.port[1].state = HY_L2_LEARNING;
	l2_setup.port[2].learn = false;
	l2_setup.port[3].filter = false; /* VLAN 1 has no members at all */
	l2_setup.vlan[1].members = 7;
	l2_setup.tag_type = 0x88a8;
	graph = rig_graph(32);
	l2_frame(frame, mac_b, mac_a, 0x81000007, 60); /* payload behind a service tag's place */
	assert_int_equal(send_one(graph, frame, 60, 0, 0, 0), 0);
	assert_int_equal(dropped("rig", "l2_input-rig", "port_blocked"), 1);
	assert_int_equal(send_one(graph, frame, 60, 0, 1, 0), 1);
	assert_int_equal(out[0].lane[0],
		hy_l2_lane(1, 1, HY_L2_TAG_NONE) | HY_L2_LANE_LEARN | HY_L2_LANE_ONLY);
	assert_int_equal(send_one(graph, frame, 60, 0, 2, 0), 2);
	assert_int_equal(out[0].lane[1], hy_l2_lane(1, 2, HY_L2_TAG_NONE));
	assert_int_equal(send_one(graph, frame, 60, 0, 3, 0), 3);
	l2_frame(frame, mac_b, mac_a, 0x88a80009, 60);
	assert_int_equal(send_one(graph, frame, 60, 0, 3, 0), 4);
	assert_int_equal(out[0].lane[3], hy_l2_lane(9, 3, HY_L2_TAG_VID) | HY_L2_LANE_LEARN);
	assert_int_equal(send_one(graph, frame, 60, 0, 2, 0), 4);
	assert_int_equal(dropped("rig", "l2_input-rig", "vlan_filtered"), 1);
	l2_rig_end();
}

static unsigned int
handed_over(struct hy_l2_source *source)
{
	return rte_ring_sc_dequeue_burst_elem(l2_worker.learn, source, sizeof(*source), L2_RING,
		NULL);
}

static void
unknown_source_is_handed_over_or_counted(void **state)
{
	const uint32_t lane = hy_l2_lane(5, 2, HY_L2_TAG_NONE) | HY_L2_LANE_LEARN;
	const struct hy_l2_source known = { .key = hy_l2_key(mac_a, 5), .port = 2 };
	struct hy_l2_source source[L2_RING];
	struct hy_graph *graph;
	uint8_t frame[64], outcome;

	RTE_SET_USED(state);
	l2_rig("l2_learn", "scalar");
	graph = rig_graph(32);
	l2_frame(frame, mac_b, mac_a, 0, 60);
	send_one(graph, frame, 60, 0, 2, lane & ~HY_L2_LANE_LEARN);
	assert_int_equal(handed_over(source), 0);
	for (uint32_t piece = 0; piece < 16; piece++) {
		send_one(graph, frame, 60, piece, 2, lane);
		assert_int_equal(handed_over(source), 1);
		assert_int_equal(source[0].key, hy_l2_key(mac_a, 5));
		assert_int_equal(source[0].port, 2);
	}
	hy_l2_learn(l2_table, &known, &outcome, 1);
	send_one(graph, frame, 60, 0, 2, lane);
	assert_int_equal(handed_over(source), 0); /* known */
	send_one(graph, frame, 60, 0, 1, hy_l2_lane(5, 1, HY_L2_TAG_NONE) | HY_L2_LANE_LEARN);
	assert_int_equal(handed_over(source), 1); /* moved */
	assert_int_equal(hy_l2_add(l2_table, known.key, 3), 0);
	send_one(graph, frame, 60, 0, 2, lane);
	assert_int_equal(handed_over(source), 0);
	assert_int_equal(l2_counter("l2_learn-rig", "fixed"), 1);
	assert_int_equal(l2_counter("l2_learn-rig", "unknown"), 17);
	for (unsigned int i = 0; i < 2 * L2_RING; i++) {
		frame[11] = (uint8_t)i;
		frame[10] = 1;
		send_one(graph, frame, 60, 0, 2, lane);
	}
	assert_int_equal(l2_counter("l2_learn-rig", "unknown"), 17 + 2 * L2_RING);
	assert_int_equal(l2_counter("l2_learn-rig", "ring_full"), L2_RING + 1);
	assert_int_equal(handed_over(source), L2_RING - 1);
	assert_int_equal(out[0].n, 20 + 2 * L2_RING); /* all go on */
	send_one(graph, frame, 60, 0, 2, lane | HY_L2_LANE_ONLY);
	assert_int_equal(handed_over(source), 1);
	assert_int_equal(dropped("rig", "l2_learn-rig", "port_learning"), 1);
	l2_rig_end();
}

/* rig_out-0 takes what has an entry, rig_out-1 what is flooded, null what is the router's. */
static struct hy_graph *
lookup_make(void)
{
	const hy_node_id id = l2_rig("l2_lookup", "scalar");

	assert_int_equal(hy_node_edge_set(id, HY_L2_LOOKUP_NEXT_FLOOD, "rig_out-1"), 0);
	assert_int_equal(hy_node_edge_set(id, HY_L2_LOOKUP_NEXT_LOCAL, "null"), 0);
	assert_int_equal(hy_l2_add(l2_table, hy_l2_key(mac_a, 5), 3), 0);
	assert_int_equal(hy_l2_add(l2_table, hy_l2_key(mac_b, 5), HY_L2_LOCAL), 0);
	assert_int_equal(hy_l2_add(l2_table, hy_l2_key(group, 6), 1), 0);
	return rig_graph(32);
}

static void
frame_goes_where_its_destination_is(void **state)
{
	const uint32_t lane = hy_l2_lane(5, 2, HY_L2_TAG_VID);
	const uint8_t *const dst[] = { mac_a, mac_b, group, broadcast };
	struct hy_graph *graph = lookup_make();
	uint8_t frame[64];

	RTE_SET_USED(state);
	for (unsigned int d = 0; d < 4 * 16; d++) {
		l2_frame(frame, dst[d % 4], mac_a, 0x81000005, 60);
		send_one(graph, frame, 60, d / 4, 2, lane);
	}
	l2_frame(frame, mac_a, mac_a, 0, 60);
	send_one(graph, frame, 60, 0, 2, hy_l2_lane(6, 2, HY_L2_TAG_NONE)); /* another VLAN */
	l2_frame(frame, group, mac_a, 0, 60);
	send_one(graph, frame, 60, 0, 2, hy_l2_lane(6, 2, HY_L2_TAG_NONE));
	assert_int_equal(out[0].n, 17);
	assert_int_equal(out[1].n, 33);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(out[0].lane[i], lane | 3u << HY_L2_LANE_OUT);
	assert_int_equal(hy_l2_lane_out(out[0].lane[16]), 1);
	l2_rig_end();
}

/* Frames of each kind at once from a port that limits one of them. */
static void
storm_is_limited_by_port_and_kind(void **state)
{
	static const char *const reasons[] = { "storm_broadcast", "storm_multicast",
		"storm_unknown" };
	const uint8_t *const dst[HY_L2_STORMS] = { broadcast, group, mac_a };
	struct hy_graph *graph = lookup_make();
	uint8_t frame[64];

	RTE_SET_USED(state);
	for (unsigned int s = 0; s < HY_L2_STORMS; s++) {
		struct rte_meter_srtcm_params params = { .cir = 1, .cbs = 10 };

		l2_setup.limited[s] = 1u << s;
		assert_int_equal(rte_meter_srtcm_profile_config(&l2_setup.storm[s][s], &params), 0);
		for (unsigned int i = 0; i < 100; i++)
			for (unsigned int k = 0; k < HY_L2_STORMS; k++) {
				l2_frame(frame, dst[k], mac_b, 0, 60);
				send_one(graph, frame, 60, 0, (uint16_t)s,
					hy_l2_lane(9, (uint8_t)s, HY_L2_TAG_NONE));
			}
		/* A token a second, for as long as this takes. */
		assert_in_range(out[1].n, 210, 240);
		assert_int_equal(dropped("rig", "l2_lookup-rig", reasons[s]), 300 - out[1].n);
		rig_free();
	}
	l2_rig_end();
}

static void
bridge_node_without_a_sound_configuration_is_refused(void **state)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_L2_LANE },
		.socket = SOCKET_ID_ANY };
	struct hy_graph *graph;
	struct hy_l2_config config;
	const hy_node_id id = l2_rig("l2_output", "scalar");

	RTE_SET_USED(state);
	config = l2_rig_defaults();
	for (unsigned int i = 0; i < 4; i++) {
		static const char *const why[] = { "needs a struct hy_l2_config",
			"the bridge has 0 workers, and none is number 0",
			"does not report to the bridge's QSBR variable",
			"port 1: there is no edge 2" };

		config.nb_workers = i != 1;
		config.qsbr = i == 2 ? (struct rte_rcu_qsbr *)&config : NULL;
		config.edge[1] = i == 3 ? 2 : 1;
		assert_int_equal(hy_node_config(id, i == 0 ? NULL : &config,
					 i == 0 ? 0 : sizeof(config)),
			0);
		unit_log_clear();
		assert_int_equal(hy_graph_create("bad", &params, &graph), -EINVAL);
		if (strstr(unit_log(), why[i]) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", unit_log(), why[i]);
	}
	l2_rig_end();
}

static const struct CMUnitTest l2_node_tests[] = {
	NODE_TEST(frame_gets_its_vlan_or_is_refused),
	NODE_TEST(port_states_and_properties_decide_what_enters),
	NODE_TEST(unknown_source_is_handed_over_or_counted),
	NODE_TEST(frame_goes_where_its_destination_is),
	NODE_TEST(storm_is_limited_by_port_and_kind),
	NODE_TEST(bridge_node_without_a_sound_configuration_is_refused),
};

UNIT_SUITE(l2_node_tests)
