/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_filter and ip6_filter: which packets they drop, by the list that their cookie names. */

#include <errno.h>
#include <string.h>

#include <hy_arc.h>
#include <hy_ip_filter.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define PACKETS 200
#define NODE HY_IP4_FILTER_NODE "-rig" /* a clone, so that the pack's own stays as it was */

/* The first filter has every condition, the second none but the destination. */
static const struct hy_ip_filter filters[] = {
	{ .src = { HY_IP_V4, 24, { 192, 0, 2 } },
		.dst = { HY_IP_V4, 16, { 198, 18 } },
		.has_proto = true,
		.proto = IPPROTO_UDP },
	{ .dst = { HY_IP_V4, 32, { 198, 18, 1, 1 } } },
};
static const struct hy_ip_filter_list lists[] = { { NULL, 0 }, { filters, 1 }, { filters, 2 } };

static struct hy_arc *arc;
static struct hy_graph *graph;
static hy_node_id filter_id;

static int
graph_make(void)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { rig_lane, HY_ARC_LANE },
		.burst = 32,
		.socket = SOCKET_ID_ANY };

	return hy_graph_create("filter", &params, &graph);
}

/* rig_source → rig_out-0, with the arc in between. */
static void
rig_make(void)
{
	const struct hy_ip_filter_config config = { lists, RTE_DIM(lists) };
	const struct hy_arc_params params = {
		.end = "rig_out-0", .index = hy_mbuf_ports, .socket = SOCKET_ID_ANY
	};
	const struct hy_arc_feature feature = {
		.arc = HY_IP4_INPUT_ARC, .node = NODE, .after = { HY_IP4_FILTER_NODE }
	};
	hy_node_id id;

	rig_nodes("rig_out-0");
	assert_int_equal(hy_node_lookup(HY_IP4_FILTER_NODE, &id), 0);
	assert_int_equal(hy_node_clone(id, "rig", &filter_id), 0);
	assert_int_equal(hy_node_config(filter_id, &config, sizeof(config)), 0);
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	assert_int_equal(hy_arc_create(HY_IP4_INPUT_ARC, &params, &arc), 0);
	assert_string_equal(hy_arc_feature_at(arc, 0), HY_IP4_FILTER_NODE);
	assert_string_equal(hy_arc_feature_at(arc, 1), NODE);
}

static void
done(void)
{
	rig_free();
	hy_graph_destroy(graph);
	graph = NULL;
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister(NODE), 0);
	assert_int_equal(hy_node_unregister(filter_id), 0);
	rig_clear();
}

/* Packet i: its port; from 192.0.2.0/24 or not; UDP or not; to 198.18.1.1 or not. */
static const unsigned int ports = 5;
#define FROM(i) ((i) / 5 % 2 == 0)
#define UDP(i) ((i) / 10 % 2 == 0)
#define TO(i) ((i) / 20 % 2 == 0)

static uint32_t
frame_make(unsigned int i, uint8_t *frame)
{
	const uint8_t src[] = { FROM(i) ? 192 : 193, 0, 2, 9 };
	const uint32_t len = FRAME(frame, .dst = IP4(198, 18, 1, TO(i) ? 1 : 2), .id = (uint16_t)i);

	memcpy(frame + 26, src, sizeof(src));
	frame[23] = UDP(i) ? IPPROTO_UDP : IPPROTO_TCP;
	frame_sum(frame);
	return len;
}

/* Whether the list of packet i's port lets it through, said without the code under test. */
static bool
passes(unsigned int i)
{
	switch (i % ports) {
	case 1:
		return !(FROM(i) && UDP(i));
	case 2:
		return !(FROM(i) && UDP(i)) && !TO(i);
	default:
		return true;
	}
}

/* Packets of one port stay in order; others may pass them by. */
static unsigned int
assert_passed(uint8_t sent[][FRAME_MAX], uint32_t len, unsigned int port)
{
	unsigned int at = 0, n = 0;

	for (unsigned int i = port; i < PACKETS; i += ports) {
		if (!passes(i))
			continue;
		while (at < out[0].n && out[0].packets[at]->port != port)
			at++;
		assert_true(at < out[0].n);
		assert_packet(out[0].packets[at++], sent[i], len, 1);
		n++;
	}
	return n;
}

static void
packets_that_match_the_list_of_their_port_are_dropped(void **state)
{
	static uint8_t sent[PACKETS][FRAME_MAX];
	struct rte_mbuf *packets[PACKETS];
	unsigned int n = 0;
	uint32_t len = 0;

	RTE_SET_USED(state);
	rig_make();
	assert_int_equal(graph_make(), 0);
	/* Port p has list p; there is no list 3, and port 4 has no feature. */
	for (uint32_t p = 0; p < 4; p++)
		assert_int_equal(hy_arc_enable(arc, NODE, p, p), 0);
	for (unsigned int i = 0; i < PACKETS; i++) {
		len = frame_make(i, sent[i]);
		packets[i] = packet(sent[i], len);
		packets[i]->port = (uint16_t)(i % ports);
	}
	rig_send(graph, packets, NULL, PACKETS);
	for (unsigned int port = 0; port < ports; port++)
		n += port == 3 ? 0 : assert_passed(sent, len, port);
	assert_int_equal(n, 40 + 30 + 15 + 40);
	assert_int_equal(out[0].n, n);
	assert_int_equal(dropped("filter", NODE, "filtered"), 10 + 25);
	assert_int_equal(dropped("filter", NODE, "no_list"), 40);
	done();
}

static void
a_filter_without_configuration_is_refused(void **state)
{
	RTE_SET_USED(state);
	rig_make();
	assert_int_equal(graph_make(), 0);
	assert_int_equal(hy_node_config(filter_id, NULL, 0), 0);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, NODE, 0, 0), -EINVAL);
	assert_non_null(strstr(unit_log(), "needs a struct hy_ip_filter_config"));
	assert_int_equal(hy_arc_get(arc, NODE, 0, NULL), -ENODATA);
	done();
}

static const struct CMUnitTest filter_tests[] = {
	NODE_TEST(packets_that_match_the_list_of_their_port_are_dropped),
	NODE_TEST(a_filter_without_configuration_is_refused),
};

UNIT_SUITE(filter_tests)
