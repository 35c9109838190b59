/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge beside a router: frames to the router's address reach pkt_cls by way of its VLAN interfaces. */

#include <string.h>

#include <hy_mbuf.h>
#include <hy_pkt_cls.h>
#include <hy_vlan.h>

#include "l2_rig.h"

#define VID 5
#define TAG 0x81000000u

static const uint8_t router[6] = { 2, 0, 0, 0, 0, 0x99 }, station[6] = { 2, 0, 0, 0, 0, 0xa };

static void
chain_make(void)
{
	const struct hy_l2_config config = l2_rig_defaults();
	struct hy_vlan_input_config vlans = { 0 };
	hy_node_id id;

	rig_clone("pkt_cls", "scalar", "rig_out-0");
	rig_clone("vlan_pop", "scalar", "pkt_cls-rig");
	id = rig_clone("vlan_input", "scalar", "pkt_cls-rig");
	assert_int_equal(hy_node_edge_add(id, "vlan_pop-rig", &vlans.edge[VID]), 0);
	assert_int_equal(hy_node_config(id, &vlans, sizeof(vlans)), 0);
	id = rig_clone("l2_lookup", "scalar", "null");
	assert_int_equal(hy_node_edge_set(id, HY_L2_LOOKUP_NEXT_FLOOD, "rig_out-1"), 0);
	assert_int_equal(hy_node_edge_set(id, HY_L2_LOOKUP_NEXT_LOCAL, "vlan_input-rig"), 0);
	l2_rig_config(id, &config);
	l2_rig_config(rig_clone("l2_learn", "scalar", "l2_lookup-rig"), &config);
}

/* With a tag of an interface, with none, with a priority only; and in a VLAN without an interface. */
static void
frame_to_the_router_passes_its_vlan_interfaces(void **state)
{
	static const struct {
		uint32_t tag;
		bool routed;
	} frames[] = { { 0, true }, { TAG | 0xe000, true }, { TAG | VID, true },
		{ TAG | 6, false } };
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_L2_LANE, "ip4_route" },
		.socket = SOCKET_ID_ANY };
	static uint8_t plain[FRAME_MAX], frame[FRAME_MAX];
	struct hy_graph *graph;
	struct rte_mbuf *m;
	hy_node_id id;

	RTE_SET_USED(state);
	id = l2_rig("l2_input", "scalar");
	chain_make();
	assert_int_equal(hy_node_edge_set(id, HY_L2_INPUT_NEXT_LEARN, "l2_learn-rig"), 0);
	for (unsigned int i = 0; i < 3; i++) {
		static const uint16_t vids[] = { 1, VID, 6 };

		l2_setup.vlan[vids[i]].members = 0xf;
		assert_int_equal(hy_l2_add(l2_table, hy_l2_key(router, vids[i]), HY_L2_LOCAL), 0);
	}
	assert_int_equal(hy_graph_create("rig", &params, &graph), 0);
	for (unsigned int i = 0; i < RTE_DIM(frames); i++) {
		const uint32_t len = FRAME(plain, .payload = 40), tag = frames[i].tag;
		const uint8_t word[] = { tag >> 24, tag >> 16 & 0xff, tag >> 8 & 0xff, tag & 0xff };

		memcpy(plain, router, 6);
		memcpy(plain + 6, station, 6);
		memcpy(frame, plain, len);
		if (tag != 0) {
			memcpy(frame + 12, word, sizeof(word));
			memcpy(frame + 16, plain + 12, len - 12);
		}
		m = packet(frame, len + (tag != 0 ? 4 : 0));
		m->port = 1;
		rig_send(graph, &m, NULL, 1);
		assert_int_equal(out[0].n, frames[i].routed);
		if (frames[i].routed) {
			assert_int_equal(out[0].packets[0]->pkt_len, len);
			assert_memory_equal(rte_pktmbuf_mtod(out[0].packets[0], void *), plain,
				len);
		}
		rig_free();
	}
	assert_int_equal(dropped("rig", "pkt_cls-rig", "vlan_unknown"), 1);
	/* Another station's frame is none of the router's. */
	memcpy(plain, station, 6);
	m = packet(plain, 60);
	m->port = 1;
	rig_send(graph, &m, NULL, 1);
	assert_int_equal(out[1].n, 1);
	rig_free();
	hy_graph_destroy(graph);
	l2_rig_end();
}

static const struct CMUnitTest l2_router_tests[] = {
	NODE_TEST(frame_to_the_router_passes_its_vlan_interfaces),
};

UNIT_SUITE(l2_router_tests)
