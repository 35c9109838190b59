/* SPDX-License-Identifier: BSD-3-Clause */
/* The l3fwd benchmark: what of contenders it measures and skips, and its rig. */

#include "bench_l3fwd_fixture.h"

/* A contender with one node. */
struct one_node {
	unsigned int cycles_a_lap;
	bool loses;
	uint64_t cycles, drops;
	unsigned int destroyed;
};

static void
one_node_run(void *arg, uint64_t turns)
{
	struct one_node *o = arg;

	RTE_SET_USED(turns);
	o->cycles += o->cycles_a_lap;
	if (!o->loses)
		o->drops += forward(NULL, 0);
}

static uint64_t
one_node_drops(void *arg)
{
	return ((const struct one_node *)arg)->drops;
}

static unsigned int
one_node_nodes(void *arg, struct l3fwd_node nodes[NODES_MAX])
{
	return l3fwd_node_add(nodes, 0, "node-7", ((const struct one_node *)arg)->cycles);
}

static void
one_node_destroy(void *arg)
{
	((struct one_node *)arg)->destroyed++;
}

static void
measure_nodes(struct one_node *o)
{
	const struct l3fwd_way way = { .name = "contender",
		.users = USERS_ALL,
		.rewrites = true,
		.burst = 1,
		.arg = o,
		.run = one_node_run,
		.drops = one_node_drops,
		.nodes = one_node_nodes,
		.destroy = one_node_destroy };

	memset(&stand_in_measured, 0, sizeof(stand_in_measured));
	l3fwd_nodes("work", &rig, way);
}

static void
busy_node_is_measured_by_packet(void **state)
{
	struct one_node o = { .cycles_a_lap = 2 * PACKETS };

	RTE_SET_USED(state);
	measure_nodes(&o);
	assert_int_equal(stand_in_measured.contenders, 1);
	assert_string_equal(stand_in_measured.name, "node");
	assert_true(stand_in_measured.figure == 2.0);
	assert_true(stand_in_measured.right);
	assert_int_equal(o.destroyed, 1);
}

static void
busy_node_in_a_wrong_lap_is_wrong(void **state)
{
	struct one_node o = { .cycles_a_lap = 2 * PACKETS, .loses = true };

	RTE_SET_USED(state);
	measure_nodes(&o);
	assert_int_equal(stand_in_measured.contenders, 1);
	assert_false(stand_in_measured.right);
}

static void
contender_without_a_busy_node_is_wrong(void **state)
{
	struct one_node idle[] = { { .loses = true }, { .loses = false } };
	unsigned int i;

	RTE_SET_USED(state);
	for (i = 0; i < RTE_DIM(idle); i++) {
		stand_in_wrong[0] = '\0';
		measure_nodes(&idle[i]);
		assert_int_equal(stand_in_measured.contenders, 0);
		assert_string_equal(stand_in_wrong,
			"work: contender: no node had anything to do in the first lap");
		assert_int_equal(idle[i].destroyed, 1);
	}
	assert_int_equal(i, 2);
}

static void
way_that_cannot_be_made_is_skipped_and_others_go_on(void **state)
{
	struct one_node o = { .cycles_a_lap = 2 * PACKETS };
	const struct l3fwd_way good = { .name = "good",
		.users = USERS_ALL,
		.rewrites = true,
		.burst = 1,
		.arg = &o,
		.run = one_node_run,
		.drops = one_node_drops,
		.destroy = one_node_destroy };
	const struct l3fwd_way none = { .name = "none" };
	struct field f = { .work = "work" };

	RTE_SET_USED(state);
	l3fwd_enter(&f, &rig, good, NULL, ROLE_PEER);
	bench_cannot("no memory for %d things", 7);
	bench_cannot("what followed from that");
	l3fwd_enter(&f, &rig, none, NULL, ROLE_SUBJECT);
	assert_int_equal(stand_in_skipped.n, 1);
	assert_string_equal(stand_in_skipped.work, "work");
	assert_string_equal(stand_in_skipped.contender, "none");
	assert_string_equal(stand_in_skipped.reason, "no memory for 7 things");
	assert_int_equal(f.n, 1);
	field_measure(&f, CYCLES_PACKET);
	assert_int_equal(stand_in_measured.contenders, 1);
	assert_string_equal(stand_in_measured.name, "good");
	assert_true(stand_in_measured.right);
	assert_int_equal(o.destroyed, 1);

	bench_cannot("no memory");
	l3fwd_nodes("nodes", &rig, none);
	assert_int_equal(stand_in_skipped.n, 2);
	assert_string_equal(stand_in_skipped.work, "nodes");
	assert_string_equal(stand_in_skipped.contender, "");
}

static void
rig_without_room_says_so_and_can_be_closed(void **state)
{
	struct l3fwd_rig small;
	const uint32_t many = 1 << 18; /* a ring holds one fewer */
	struct l3fwd_address *dst = calloc(many, sizeof(*dst));

	RTE_SET_USED(state);
	assert_non_null(dst);
	assert_int_equal(rig_open(&small, 0, PORTS, false, NULL), -1);
	rig_close(&small);
	assert_int_equal(rig_open(&small, 0, PORTS, false, traffic_create(dst, many, TTL, table)),
		-1);
	assert_string_equal(stand_in_noted, "262144 packets do not fit in a ring");
	rig_close(&small);
	free(dst);
}

static void
burst_of_a_receive_call_is_limited(void **state)
{
	struct rte_mbuf *mbufs[PACKETS];
	const uint16_t port = rig.port[USERS_ALL][0];

	RTE_SET_USED(state);
	rig_fill(&rig);
	rig_burst(8);
	assert_int_equal(rte_eth_rx_burst(port, 0, mbufs, 32), 8);
	assert_int_equal(rte_eth_rx_burst(port, 0, mbufs, 4), 4);
	rig_burst(0);
	assert_int_equal(rte_eth_rx_burst(port, 0, mbufs, 32), 20);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(busy_node_is_measured_by_packet, setup, teardown),
	cmocka_unit_test_setup_teardown(busy_node_in_a_wrong_lap_is_wrong, setup, teardown),
	cmocka_unit_test_setup_teardown(contender_without_a_busy_node_is_wrong, setup, teardown),
	cmocka_unit_test_setup_teardown(way_that_cannot_be_made_is_skipped_and_others_go_on, setup,
		teardown),
	cmocka_unit_test_setup_teardown(rig_without_room_says_so_and_can_be_closed, setup,
		teardown),
	cmocka_unit_test_setup_teardown(burst_of_a_receive_call_is_limited, setup, teardown),
};

UNIT_SUITE(tests)
