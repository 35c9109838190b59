/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_steer: classes and their next hops, which stay while a graph sends packets there. */

#include <errno.h>
#include <string.h>

#include <hy_flow_cls.h>
#include <hy_ip4_steer.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define PACKETS 200

/* No route leads to the first; to the second there is one. */
static struct hy_ip4_steer steers[] = {
	{ .class_id = 7, .next_hop = { .port = 1, .mac = { { 2, 0, 0, 0, 7, 7 } } } },
	{ .class_id = UINT16_MAX, .next_hop = { .port = 0 } },
};

static struct hy_ip4_fib *fib;
static hy_node_id steer_id;

/* rig_source → ip4_steer → ip4_rewrite → rig_out-0 and -1. */
static void
nodes_make(unsigned int nb_steers)
{
	struct hy_ip4_rewrite_config rewrite;
	struct hy_ip4_steer_config config = { .steers = steers, .nb_steers = nb_steers };
	hy_node_id id;

	rig_lane = HY_FLOW_CLASS_LANE;
	rig_nodes("ip4_steer-rig");
	id = rig_clone("ip4_rewrite", "scalar", NULL);
	fib = rig_table("scalar");
	steers[1].next_hop.mac = *rig_mac(1, 0);
	memset(&rewrite, 0xff, sizeof(rewrite));
	rewrite.tables = (struct hy_ip4_lookup_config){ .fibs = { fib }, .nb_fibs = 1 };
	config.tables = rewrite.tables;
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", &rewrite.edge[0]), 0);
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", &rewrite.edge[1]), 0);
	assert_int_equal(hy_node_config(id, &rewrite, sizeof(rewrite)), 0);
	steer_id = rig_clone("ip4_steer", "scalar", "ip4_rewrite-rig");
	assert_int_equal(hy_node_config(steer_id, &config, sizeof(config)), 0);
}

static int
graph_make(struct hy_graph **graph)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_CLASS_LANE, "ip4_route" },
		.burst = 32,
		.socket = SOCKET_ID_ANY };

	return hy_graph_create("steer", &params, graph);
}

static void
done(struct hy_graph *graph)
{
	rig_free();
	hy_graph_destroy(graph);
	rig_clear();
}

static void
class_goes_to_its_next_hop_whatever_routes_there_are(void **state)
{
	static const uint32_t classes[] = { 7, UINT16_MAX, 8, 0 };
	static uint8_t sent[PACKETS][FRAME_MAX];
	struct rte_mbuf *packets[PACKETS];
	uint32_t lane[PACKETS], len = 0;
	struct hy_graph *graph;
	unsigned int n[RIG_OUTS] = { 0 };

	RTE_SET_USED(state);
	nodes_make(RTE_DIM(steers));
	assert_int_equal(graph_make(&graph), 0);
	for (uint32_t i = 0; i < PACKETS; i++) {
		/* Routes would have these go to ports 0 and 1, and those to 192.0.2.1 nowhere. */
		const uint32_t dst = i % 3 == 2 ? IP4(192, 0, 2, 1) : IP4(198, 18, i % 3, 1);

		len = FRAME(sent[i], .dst = dst, .id = (uint16_t)i, .payload = 30);
		packets[i] = packet(sent[i], len);
		lane[i] = classes[i % RTE_DIM(classes)];
	}
	rig_send(graph, packets, lane, PACKETS);
	for (uint32_t i = 0; i < PACKETS; i++) {
		const unsigned int sink = i % 4 == 0 ? 1 : i % 4 == 1 ? 0 : RIG_DROP;

		if (sink != RIG_DROP)
			frame_forward(sent[i], &steers[i % 4].next_hop.mac,
				rig_mac(0, (uint16_t)sink));
		assert_packet(out[sink].packets[n[sink]++], sent[i], len, 1);
	}
	assert_int_equal(n[0], PACKETS / 4);
	assert_int_equal(n[1], PACKETS / 4);
	assert_int_equal(n[RIG_DROP], PACKETS / 2);
	assert_int_equal(out[0].n + out[1].n + out[RIG_DROP].n, PACKETS);
	assert_int_equal(dropped("steer", "ip4_steer-rig", "no_next_hop"), PACKETS / 2);
	done(graph);
}

static uint32_t
id_of(const struct hy_ip4_next_hop *next_hop)
{
	uint32_t id;

	assert_int_equal(hy_ip4_next_hop_add(fib, next_hop, &id), 0);
	return id;
}

static void
next_hop_of_a_class_cannot_be_deleted_while_a_graph_sends_there(void **state)
{
	struct hy_graph *graph;
	uint32_t id;

	RTE_SET_USED(state);
	nodes_make(1);
	id = id_of(&steers[0].next_hop);
	assert_int_equal(hy_ip4_next_hop_delete(fib, id), 0);
	assert_int_equal(graph_make(&graph), 0);
	id = id_of(&steers[0].next_hop);
	assert_int_equal(hy_ip4_next_hop_delete(fib, id), -EBUSY);
	hy_graph_destroy(graph);
	assert_int_equal(hy_ip4_next_hop_delete(fib, id), 0);
	done(NULL);
}

static void
assert_refused(const struct hy_ip4_steer *wrong, unsigned int n, const char *why)
{
	struct hy_ip4_steer_config config = {
		.tables = { .fibs = { fib }, .nb_fibs = 1 }, .steers = wrong, .nb_steers = n
	};
	struct hy_graph *graph;

	assert_int_equal(hy_node_config(steer_id, &config, sizeof(config)), 0);
	unit_log_clear();
	assert_true(graph_make(&graph) < 0);
	if (strstr(unit_log(), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", unit_log(), why);
}

static void
configuration_that_makes_no_sense_is_refused(void **state)
{
	struct hy_ip4_steer twice[] = { steers[0], steers[0] }, nowhere = steers[0];
	const struct hy_ip4_steer_config none = { .nb_steers = 0 };
	struct hy_graph *graph;
	uint32_t id;

	RTE_SET_USED(state);
	nodes_make(1);
	nowhere.next_hop.port = 9;
	assert_refused(twice, 2, "has two next hops for class 7");
	assert_refused(&nowhere, 1, "sends class 7 to port 9, which its table does not have");
	assert_int_equal(hy_node_config(steer_id, &none, sizeof(none)), 0);
	unit_log_clear();
	assert_true(graph_make(&graph) < 0);
	assert_non_null(strstr(unit_log(), "needs a struct hy_ip4_steer_config with a table"));
	id = id_of(&steers[0].next_hop);
	assert_int_equal(hy_ip4_next_hop_delete(fib, id), 0); /* nothing is kept */
	done(NULL);
}

static const struct CMUnitTest steer_tests[] = {
	NODE_TEST(class_goes_to_its_next_hop_whatever_routes_there_are),
	NODE_TEST(next_hop_of_a_class_cannot_be_deleted_while_a_graph_sends_there),
	NODE_TEST(configuration_that_makes_no_sense_is_refused),
};

UNIT_SUITE(steer_tests)
