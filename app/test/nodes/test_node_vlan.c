/* SPDX-License-Identifier: BSD-3-Clause */
/* vlan_input, vlan_pop and vlan_push: a tag that spans segments, buffers without room, refusals. */

#include <string.h>

#include <hy_mbuf.h>
#include <hy_vlan.h>

#include "node_fixture.h"

#define TAG_AT 12
#define VID 0x0abc

static hy_node_id input_id, push_id;

static struct hy_graph *
graph_make(void)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.burst = 32,
		.lanes = { "ip4_route" },
		.socket = SOCKET_ID_ANY };
	struct hy_graph *graph = NULL;

	unit_log_clear();
	hy_graph_create("vlan", &params, &graph);
	return graph;
}

/* rig_source → vlan_input → rig_out-0; of VLAN 1, → vlan_pop → vlan_push → rig_out-1. */
static void
nodes_make(void)
{
	const struct hy_vlan_push_config push = { .vid = VID };
	struct hy_vlan_input_config config = { 0 };

	rig_nodes("vlan_input-rig");
	push_id = rig_clone("vlan_push", "scalar", "rig_out-1");
	assert_int_equal(hy_node_config(push_id, &push, sizeof(push)), 0);
	rig_clone("vlan_pop", "scalar", "vlan_push-rig");
	input_id = rig_clone("vlan_input", "scalar", "rig_out-0");
	assert_int_equal(hy_node_edge_add(input_id, "vlan_pop-rig", &config.edge[1]), 0);
	assert_int_equal(hy_node_config(input_id, &config, sizeof(config)), 0);
}

static void
done(struct hy_graph *graph)
{
	rig_free();
	hy_graph_destroy(graph);
	rig_clear();
}

/* Writes a tag into a frame, of which it returns the new length. */
static uint32_t
tag_write(uint8_t *frame, uint32_t len, uint16_t tci)
{
	const uint8_t tag[] = { 0x81, 0, (uint8_t)(tci >> 8), (uint8_t)tci };

	memmove(frame + TAG_AT + HY_VLAN_TAG, frame + TAG_AT, len - TAG_AT);
	memcpy(frame + TAG_AT, tag, sizeof(tag));
	return len + HY_VLAN_TAG;
}

static void
assert_bytes(const struct rte_mbuf *m, const uint8_t *frame, uint32_t len)
{
	static uint8_t copy[FRAME_MAX];
	const uint8_t *got = rte_pktmbuf_read(m, 0, len, copy);
	const char *why;

	assert_int_equal(m->pkt_len, len);
	assert_memory_equal(got, frame, len);
	assert_int_equal(rte_mbuf_check(m, 1, &why), 0);
}

/* In segments of 1 to 24 bytes, all cuts of headers occur; random ones may be empty. */
static void
tag_that_spans_segments_is_popped_and_pushed(void **state)
{
	static uint8_t plain[FRAME_MAX], tagged[FRAME_MAX], left[FRAME_MAX];
	struct rte_mbuf *packets[3];
	struct hy_graph *graph;
	uint64_t seed = 7;
	uint32_t len;

	RTE_SET_USED(state);
	nodes_make();
	graph = graph_make();
	assert_non_null(graph);
	for (uint32_t i = 0; i < 400; i++) {
		const uint32_t size = 1 + i % 24;

		len = FRAME(plain, .id = (uint16_t)i, .payload = (uint16_t)(i % 9));
		memcpy(left, plain, len);
		memcpy(tagged, plain, len);
		tag_write(left, len, VID);
		tag_write(tagged, len, 0xe001);
		packets[0] = i < 200 ? packet_pieces(tagged, len + HY_VLAN_TAG, size)
				     : packet_random(tagged, len + HY_VLAN_TAG, size, &seed);
		memcpy(tagged, plain, len);
		tag_write(tagged, len, 0xf000); /* a priority only */
		packets[1] = packet_pieces(tagged, len + HY_VLAN_TAG, size);
		packets[2] = packet_pieces(plain, len, size);
		rig_send(graph, packets, NULL, 3);
		assert_int_equal(out[0].n, 2);
		assert_int_equal(out[1].n, 1);
		assert_bytes(out[0].packets[0], plain, len);
		assert_bytes(out[0].packets[1], plain, len);
		assert_bytes(out[1].packets[0], left, len + HY_VLAN_TAG);
		rig_free();
	}
	done(graph);
}

static void
frame_whose_buffer_has_no_room_for_a_tag_is_dropped(void **state)
{
	/* Bytes before and behind the data. */
	static const struct {
		uint16_t before, behind;
		bool fits;
	} rooms[] = { { 0, 0, false }, { 3, 3, false }, { 0, 4, true }, { 3, 4, true },
		{ 4, 0, true }, { 0, 3, false } };
	static uint8_t frame[FRAME_MAX], left[FRAME_MAX];
	struct hy_graph *graph;
	uint64_t drops = 0;

	RTE_SET_USED(state);
	nodes_make();
	/* Straight to vlan_push, which else gets the room of the tag that vlan_pop removed. */
	assert_int_equal(hy_node_edge_set(input_id, 0, "vlan_push-rig"), 0);
	assert_int_equal(hy_node_config(input_id, &(struct hy_vlan_input_config){ 0 },
				 sizeof(struct hy_vlan_input_config)),
		0);
	assert_int_equal(hy_node_edge_shrink(input_id, 1), 0);
	graph = graph_make();
	assert_non_null(graph);
	for (unsigned int i = 0; i < RTE_DIM(rooms); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		const uint16_t len = (uint16_t)(m->buf_len - rooms[i].before - rooms[i].behind);

		assert_in_range(len, 64, sizeof(frame) - HY_VLAN_TAG);
		FRAME(frame, .payload = (uint16_t)(len - 34));
		memcpy(left, frame, len);
		tag_write(left, len, VID);
		m->data_off = rooms[i].before;
		m->data_len = len;
		m->pkt_len = len;
		memcpy(rte_pktmbuf_mtod(m, void *), frame, len);
		rig_send(graph, &m, NULL, 1);
		assert_int_equal(out[1].n, rooms[i].fits);
		assert_int_equal(out[RIG_DROP].n, !rooms[i].fits);
		if (rooms[i].fits)
			assert_bytes(out[1].packets[0], left, len + HY_VLAN_TAG);
		drops += !rooms[i].fits;
		assert_int_equal(dropped("vlan", "vlan_push-rig", "no_room"), drops);
		rig_free();
	}
	assert_int_equal(drops, 3);
	done(graph);
}

static void
assert_refused(const char *why)
{
	assert_null(graph_make());
	if (strstr(unit_log(), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", unit_log(), why);
}

static void
vlan_node_without_a_sound_configuration_is_refused(void **state)
{
	static const struct {
		uint16_t vid, edge;
		const char *why;
	} wrong[] = { { 0, 1, "VLANs 1 to 4094 are accepted" },
		{ 4095, 1, "VLANs 1 to 4094 are accepted" },
		{ 2, 2, "VLAN 2: no edge 2; 0 to 1 are accepted" } };

	RTE_SET_USED(state);
	nodes_make();
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		struct hy_vlan_input_config config = { 0 };

		config.edge[wrong[i].vid] = wrong[i].edge;
		assert_int_equal(hy_node_config(input_id, &config, sizeof(config)), 0);
		assert_refused(wrong[i].why);
	}
	assert_int_equal(hy_node_config(input_id, NULL, 0), 0);
	assert_refused("needs a struct hy_vlan_input_config");
	done(NULL);
	nodes_make();
	for (unsigned int vid = 0; vid <= UINT16_MAX; vid += 4095) {
		const struct hy_vlan_push_config config = { .vid = (uint16_t)vid };

		assert_int_equal(hy_node_config(push_id, &config, sizeof(config)), 0);
		assert_refused("1 to 4094 are accepted");
	}
	assert_int_equal(hy_node_config(push_id, NULL, 0), 0);
	assert_refused("needs a struct hy_vlan_push_config");
	done(NULL);
}

static const struct CMUnitTest vlan_tests[] = {
	NODE_TEST(tag_that_spans_segments_is_popped_and_pushed),
	NODE_TEST(frame_whose_buffer_has_no_room_for_a_tag_is_dropped),
	NODE_TEST(vlan_node_without_a_sound_configuration_is_refused),
};

UNIT_SUITE(vlan_tests)
