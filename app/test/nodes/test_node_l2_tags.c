/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_flood and l2_output: who gets a frame, with which tag, and who shares its buffers. */

#include <string.h>

#include <rte_mempool.h>

#include "l2_rig.h"

#define VID 0x123
#define LEN 60

static const uint8_t dst[6] = { 2, 0, 0, 0, 0, 0xd }, src[6] = { 2, 0, 0, 0, 0, 0xe };

/* A frame of the rig as it comes and as it leaves: without a tag, with one; or with a priority only. */
static uint32_t
frame_make(uint8_t *frame, enum hy_l2_tag tag, unsigned int priority)
{
	static uint8_t bare[LEN];
	const uint16_t tci = (uint16_t)(priority << 13 | (tag == HY_L2_TAG_VID ? VID : 0));
	const uint8_t word[] = { 0x81, 0, (uint8_t)(tci >> 8), (uint8_t)tci };

	l2_frame(bare, dst, src, 0, LEN);
	memcpy(frame, bare, LEN);
	if (tag == HY_L2_TAG_NONE)
		return LEN;
	memcpy(frame + 12, word, sizeof(word));
	memcpy(frame + 16, bare + 12, LEN - 12);
	return LEN + 4;
}

static void
assert_bytes(const struct rte_mbuf *m, const uint8_t *frame, uint32_t len)
{
	uint8_t copy[LEN + 4];
	const char *why;

	assert_int_equal(m->pkt_len, len);
	assert_memory_equal(rte_pktmbuf_read(m, 0, len, copy), frame, len);
	assert_int_equal(rte_mbuf_check(m, 1, &why), 0);
}

/* Whole, in pieces of all sizes, and in random ones, of which some are empty. */
static struct rte_mbuf *
cut(const uint8_t *frame, uint32_t len, unsigned int piece)
{
	static uint64_t seed = 3;

	if (piece == 0)
		return packet(frame, len);
	return piece < 30 ? packet_pieces(frame, len, piece)
			  : packet_random(frame, len, piece - 29, &seed);
}

/* A frame that leaves with a tag has the priority of the one that it came with. */
static void
assert_tag(const struct rte_mbuf *m, bool untagged, enum hy_l2_tag came, unsigned int priority)
{
	uint8_t frame[LEN + 4];
	const uint32_t len = frame_make(frame, untagged ? HY_L2_TAG_NONE : HY_L2_TAG_VID,
		came == HY_L2_TAG_NONE ? 0 : priority);

	assert_bytes(m, frame, len);
}

/* Ports 1 to 3 get it from port 0, those of a set without a tag. */
static void
flooded_frame_has_the_tag_that_each_port_sends(void **state)
{
	const unsigned int live = rte_mempool_in_use_count(pool);
	unsigned int shared = 0, second = 0;
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];

	RTE_SET_USED(state);
	l2_rig("l2_flood", NULL);
	graph = rig_graph(32);
	for (unsigned int i = 0; i < 16 * 3 * 40; i++) {
		const enum hy_l2_tag came = (enum hy_l2_tag)(i % 3);
		const uint64_t untagged = i / 3 % 16;
		const uint32_t lane = hy_l2_lane(VID, 0, came) | HY_L2_LANE_LEARN;
		struct rte_mbuf *m = cut(frame, frame_make(frame, came, i % 8), i / 48);
		int heads = 1;

		m->port = 0;
		l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 0xf, .untagged = untagged };
		rig_send(graph, &m, &lane, 1);
		assert_int_equal(out[0].n, 3);
		for (unsigned int k = 0; k < 3; k++) {
			const uint8_t port = hy_l2_lane_out(out[0].lane[k]);
			const bool bare = (untagged >> port & 1) != 0;

			assert_in_range(port, 1, 3);
			assert_int_equal(hy_l2_lane_in(out[0].lane[k]), 0);
			assert_int_equal(hy_l2_lane_vid(out[0].lane[k]), VID);
			assert_true((out[0].lane[k] & HY_L2_LANE_SHARED) != 0);
			assert_int_equal(hy_l2_lane_tag(out[0].lane[k]),
				bare ? HY_L2_TAG_NONE : HY_L2_TAG_VID);
			assert_tag(out[0].packets[k], bare, came, i % 8);
			assert_int_equal(out[0].packets[k]->port, 0);
			heads += k > 0 && out[0].packets[k] != out[0].packets[k - 1];
		}
		assert_true(heads == 1 + ((untagged & 0xe) != 0 && (untagged & 0xe) != 0xe));
		shared += heads == 1;
		second += heads == 2;
		rig_free();
		assert_int_equal(rte_mempool_in_use_count(pool), live);
	}
	assert_true(shared == 16 * 3 * 40 / 4 && second == 3 * shared);
	assert_int_equal(l2_counter("l2_flood-rig", "copies"), 2 * 16 * 3 * 40);
	assert_int_equal(l2_worker.flooded_by_port[0], 16 * 3 * 40);
	assert_int_equal(l2_worker.flooded_by_vlan[VID], 16 * 3 * 40);
	l2_rig_end();
}

/* Frames of a burst keep their order on each port. */
static void
flood_keeps_order_and_drops_what_has_nowhere_to_go(void **state)
{
	struct rte_mbuf *packets[32];
	uint32_t lane[32], seen[4] = { 0 };
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];

	RTE_SET_USED(state);
	l2_rig("l2_flood", NULL);
	l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 0xf, .untagged = 0xf };
	l2_setup.vlan[VID + 1] = (struct hy_l2_vlan){ .members = 1, .untagged = 1 };
	l2_setup.reach[3] = 0;
	graph = rig_graph(32);
	for (unsigned int i = 0; i < 32; i++) {
		frame_make(frame, HY_L2_TAG_NONE, 0);
		frame[20] = (uint8_t)i;
		packets[i] = packet(frame, LEN);
		lane[i] = hy_l2_lane(i % 4 == 0 ? VID + 1 : VID, i % 4 == 1 ? 3 : 0,
			HY_L2_TAG_NONE);
	}
	rig_send(graph, packets, lane, 32);
	assert_int_equal(dropped("rig", "l2_flood-rig", "nowhere"), 16);
	assert_int_equal(out[RIG_DROP].n, 16);
	assert_int_equal(out[0].n, 48);
	for (unsigned int k = 0; k < 48; k++) {
		const uint8_t number = *rte_pktmbuf_mtod_offset(out[0].packets[k], uint8_t *, 20);
		uint32_t *last = &seen[hy_l2_lane_out(out[0].lane[k])];

		assert_true(number > *last && number % 4 > 1);
		*last = number;
	}
	l2_rig_end();
}

/* With fewer and fewer buffers, until there is one for each. */
static void
flood_without_buffers_loses_only_frames_that_need_one(void **state)
{
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];
	unsigned int n;

	RTE_SET_USED(state);
	l2_rig("l2_flood", NULL);
	l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 0xf, .untagged = 2 };
	graph = rig_graph(32);
	for (unsigned int left = 0; left < 3; left++) {
		const uint32_t lane = hy_l2_lane(VID, 0, HY_L2_TAG_VID);
		struct rte_mbuf *m = packet(frame, frame_make(frame, HY_L2_TAG_VID, 5));
		struct rte_mbuf **all = malloc(rte_mempool_avail_count(pool) *
			sizeof(struct rte_mbuf *));

		assert_non_null(all);
		for (n = 0; rte_mempool_avail_count(pool) > left; n++)
			assert_non_null(all[n] = rte_pktmbuf_alloc(pool));
		rig_send(graph, &m, &lane, 1);
		assert_int_equal(out[0].n, left < 2 ? 2 : 3);
		assert_int_equal(l2_counter("l2_flood-rig", "lost"), left < 2 ? left + 1 : 2);
		rig_free();
		assert_int_equal(rte_mempool_avail_count(pool), left + 1);
		rte_pktmbuf_free_bulk(all, n);
		free(all);
	}
	assert_int_equal(l2_counter("l2_flood-rig", "copies"), 1 + 1 + 2);
	l2_rig_end();
}

static void
frame_leaves_with_the_tag_of_its_port(void **state)
{
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];

	RTE_SET_USED(state);
	l2_rig("l2_output", "scalar");
	l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 0xf, .untagged = 1 };
	graph = rig_graph(32);
	for (unsigned int i = 0; i < 6 * 60; i++) {
		const enum hy_l2_tag came = (enum hy_l2_tag)(i % 3);
		const uint8_t port = i % 2;
		const uint32_t lane = hy_l2_lane(VID, 2, came) | (uint32_t)port << HY_L2_LANE_OUT;
		struct rte_mbuf *m = cut(frame, frame_make(frame, came, i % 8), i / 6);

		rig_send(graph, &m, &lane, 1);
		assert_int_equal(out[port].n, 1);
		assert_tag(out[port].packets[0], port == 0, came, i % 8);
		rig_free();
	}
	l2_rig_end();
}

static void
frame_that_may_not_leave_is_counted_by_reason(void **state)
{
	static const struct {
		uint8_t in, out;
		uint16_t vid;
		const char *reason;
	} ways[] = { { 2, 2, VID, "same_port" }, { 2, 3, VID, "port_blocked" },
		{ 2, 9, VID, "port_blocked" }, { 1, 0, VID, "split_horizon" },
		{ 2, 1, VID + 1, "no_member" }, { 2, 2, VID + 1, "same_port" } };
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];

	RTE_SET_USED(state);
	l2_rig("l2_output", "scalar");
	l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = UINT64_MAX, .untagged = UINT64_MAX };
	l2_setup.vlan[VID + 1] = (struct hy_l2_vlan){ .members = 1, .untagged = 1 };
	l2_setup.forwarding = 7;
	l2_setup.reach[1] = 4;
	l2_setup.reach[2] = 3;
	graph = rig_graph(32);
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		const uint32_t lane = hy_l2_lane(ways[i].vid, ways[i].in, HY_L2_TAG_NONE) |
			(uint32_t)ways[i].out << HY_L2_LANE_OUT;
		const uint64_t before = dropped("rig", "l2_output-rig", ways[i].reason);
		struct rte_mbuf *m = packet(frame, frame_make(frame, HY_L2_TAG_NONE, 0));

		rig_send(graph, &m, &lane, 1);
		assert_int_equal(dropped("rig", "l2_output-rig", ways[i].reason), before + 1);
	}
	assert_int_equal(out[RIG_DROP].n, RTE_DIM(ways));
	l2_rig_end();
}

/* A frame that fills its buffer can be popped and named, but not pushed. */
static void
frame_whose_buffer_is_full_gets_no_tag(void **state)
{
	const char *const nodes[] = { "l2_output", "l2_flood" };
	unsigned int fit = 0, lost = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 12; i++) {
		const enum hy_l2_tag came = (enum hy_l2_tag)(i % 3);
		const bool untagged = i / 3 % 2 != 0;
		const uint32_t lane = hy_l2_lane(VID, 2, came) | 1u << HY_L2_LANE_OUT;
		const bool fits = came != HY_L2_TAG_NONE || untagged;
		struct hy_graph *graph;
		struct rte_mbuf *m;

		l2_rig(nodes[i / 6], i < 6 ? "scalar" : NULL);
		l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 2,
			.untagged = untagged ? 2 : 0 };
		graph = rig_graph(32);
		m = rte_pktmbuf_alloc(pool);
		m->data_off = 0;
		assert_non_null(rte_pktmbuf_append(m, m->buf_len));
		frame_make(rte_pktmbuf_mtod(m, uint8_t *), came, 1);
		rig_send(graph, &m, &lane, 1);
		assert_int_equal(out[i < 6 ? 1 : 0].n, fits);
		if (!fits)
			assert_int_equal(dropped("rig", i < 6 ? "l2_output-rig" : "l2_flood-rig",
						 "no_room"),
				1);
		fit += fits;
		lost += !fits;
		l2_rig_end();
	}
	assert_true(fit == 10 && lost == 2);
}

/* The set-up is exchanged after l2_flood: ports that shared a frame without a tag now want one. */
static void
shared_frame_gets_no_second_tag_after_an_exchange(void **state)
{
	const uint32_t shared = hy_l2_lane(VID, 2, HY_L2_TAG_NONE) | HY_L2_LANE_SHARED;
	const uint32_t lane[] = { shared, shared | 1u << HY_L2_LANE_OUT };
	struct rte_mbuf *packets[2];
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];

	RTE_SET_USED(state);
	l2_rig("l2_output", "scalar");
	l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 3, .untagged = 0 };
	graph = rig_graph(32);
	packets[0] = packets[1] = packet(frame, frame_make(frame, HY_L2_TAG_NONE, 0));
	rte_mbuf_refcnt_update(packets[0], 1);
	rig_send(graph, packets, lane, 2);
	assert_int_equal(packets[0]->pkt_len, LEN);
	assert_int_equal(out[0].n + out[1].n, 0);
	assert_int_equal(dropped("rig", "l2_output-rig", "outdated"), 2);
	l2_rig_end();
}

/* Flags that say that a field is valid are copied: so must the fields be. */
static void
second_frame_has_the_metadata_of_the_first(void **state)
{
	const uint32_t lane = hy_l2_lane(VID, 0, HY_L2_TAG_VID);
	struct hy_graph *graph;
	uint8_t frame[LEN + 4];
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	l2_rig("l2_flood", NULL);
	l2_setup.vlan[VID] = (struct hy_l2_vlan){ .members = 7, .untagged = 2 };
	graph = rig_graph(32);
	m = packet(frame, frame_make(frame, HY_L2_TAG_VID, 0));
	m->vlan_tci = 0x777;
	m->tx_offload = 0x1234;
	m->packet_type = RTE_PTYPE_L2_ETHER_VLAN;
	m->hash.rss = 0xabcdef;
	m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	rig_send(graph, &m, &lane, 1);
	assert_int_equal(out[0].n, 2);
	assert_ptr_not_equal(out[0].packets[0], out[0].packets[1]);
	for (unsigned int k = 0; k < 2; k++) {
		const struct rte_mbuf *p = out[0].packets[k];

		assert_true(p->vlan_tci == 0x777 && p->tx_offload == 0x1234);
		assert_int_equal(p->packet_type, RTE_PTYPE_L2_ETHER_VLAN);
		assert_int_equal(p->hash.rss, 0xabcdef);
		assert_true((p->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0);
	}
	l2_rig_end();
}

static const struct CMUnitTest l2_tag_tests[] = {
	NODE_TEST(flooded_frame_has_the_tag_that_each_port_sends),
	NODE_TEST(flood_keeps_order_and_drops_what_has_nowhere_to_go),
	NODE_TEST(flood_without_buffers_loses_only_frames_that_need_one),
	NODE_TEST(frame_leaves_with_the_tag_of_its_port),
	NODE_TEST(frame_that_may_not_leave_is_counted_by_reason),
	NODE_TEST(frame_whose_buffer_is_full_gets_no_tag),
	NODE_TEST(second_frame_has_the_metadata_of_the_first),
	NODE_TEST(shared_frame_gets_no_second_tag_after_an_exchange),
};

UNIT_SUITE(l2_tag_tests)
