/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_patch: addresses that span segments, frames about as long as their header, refusals. */

#include <string.h>

#include <hy_l2_patch.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define ADDRESSES 12

static const struct hy_l2_patch_config updating = {
	.update = true, .dst = { { 0x02, 0, 0, 0, 0, 7 } }, .src = { { 0x02, 1, 2, 3, 4, 5 } }
};
static hy_node_id patch_id;

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
	hy_graph_create("patch", &params, &graph);
	return graph;
}

/* rig_source → l2_patch → rig_out-0. */
static struct hy_graph *
rig_make(const struct hy_l2_patch_config *config)
{
	rig_nodes("l2_patch-rig");
	patch_id = rig_clone("l2_patch", "scalar", "rig_out-0");
	if (config != NULL)
		assert_int_equal(hy_node_config(patch_id, config, sizeof(*config)), 0);
	return graph_make();
}

static void
done(struct hy_graph *graph)
{
	rig_free();
	hy_graph_destroy(graph);
	rig_clear();
}

static void
addresses_that_span_segments_are_replaced(void **state)
{
	static uint8_t frame[FRAME_MAX], left[FRAME_MAX];
	struct hy_graph *graph = rig_make(&updating);
	unsigned int spanned = 0;

	RTE_SET_USED(state);
	assert_non_null(graph);
	for (uint32_t size = 1; size <= 20; size++) {
		const uint32_t len = FRAME(frame, .id = (uint16_t)size, .payload = 30);
		struct rte_mbuf *m = packet_pieces(frame, len, size);
		const unsigned int segments = m->nb_segs;

		memcpy(left, frame, len);
		memcpy(left, &updating.dst, RTE_ETHER_ADDR_LEN);
		memcpy(left + RTE_ETHER_ADDR_LEN, &updating.src, RTE_ETHER_ADDR_LEN);
		spanned += m->data_len < ADDRESSES;
		rig_send(graph, &m, NULL, 1);
		assert_int_equal(out[0].n, 1);
		assert_packet(out[0].packets[0], left, len, segments);
		rig_free();
	}
	assert_int_equal(spanned, ADDRESSES - 1);
	done(graph);
}

/* Updated or not: without a header it is no frame. */
static void
frame_shorter_than_its_header_is_dropped_and_counted(void **state)
{
	static uint8_t frame[FRAME_MAX];

	RTE_SET_USED(state);
	for (unsigned int update = 0; update < 2; update++) {
		struct hy_l2_patch_config config = updating;
		struct hy_graph *graph;
		uint64_t drops = 0;

		config.update = update != 0;
		graph = rig_make(&config);
		assert_non_null(graph);
		FRAME(frame, .id = 9);
		for (uint32_t len = 0; len < RTE_ETHER_HDR_LEN + 3; len++) {
			struct rte_mbuf *m = packet(frame, len);
			const bool whole = len >= RTE_ETHER_HDR_LEN;

			rig_send(graph, &m, NULL, 1);
			assert_int_equal(out[0].n, whole);
			assert_int_equal(out[RIG_DROP].n, !whole);
			drops += !whole;
			if (!whole)
				assert_packet(out[RIG_DROP].packets[0], frame, len, 1);
			else if (update == 0)
				assert_packet(out[0].packets[0], frame, len, 1);
			rig_free();
		}
		assert_int_equal(drops, RTE_ETHER_HDR_LEN);
		assert_int_equal(dropped("patch", "l2_patch-rig", "truncated"), drops);
		done(graph);
	}
}

static void
patch_without_a_configuration_is_refused(void **state)
{
	RTE_SET_USED(state);
	assert_null(rig_make(NULL));
	if (strstr(unit_log(), "needs a struct hy_l2_patch_config") == NULL)
		fail_msg("\"%s\"", unit_log());
	done(NULL);
}

static const struct CMUnitTest patch_tests[] = {
	NODE_TEST(addresses_that_span_segments_are_replaced),
	NODE_TEST(frame_shorter_than_its_header_is_dropped_and_counted),
	NODE_TEST(patch_without_a_configuration_is_refused),
};

UNIT_SUITE(patch_tests)
