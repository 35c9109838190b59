/* SPDX-License-Identifier: BSD-3-Clause */
/* The l3fwd benchmark's own parts: it must notice a contender that does not forward right. */

#include "bench_l3fwd_fixture.h"

/* Whether the rig takes a round with such a fault for right. */
static bool
passes(fault_t *fault)
{
	uint64_t drops;

	rig_fill(&rig);
	drops = forward(fault, 5);
	return rig_check(&rig, "contender", true, PACKETS, drops);
}

static int
setup_ip6(void **state)
{
	RTE_SET_USED(state);
	return setup_with(0, true, 0);
}

static int
setup_mixed(void **state)
{
	RTE_SET_USED(state);
	return setup_with(10, true, 3);
}

static int
setup_drops(void **state)
{
	RTE_SET_USED(state);
	return setup_with(10, false, 0);
}

static void
contender_that_forwards_all_is_right(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 3; round++)
		assert_true(passes(NULL));
	assert_int_equal(traffic->routed, PACKETS);
}

static void
packets_without_a_route_are_to_be_dropped_and_freed(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(traffic->routed, PACKETS - 10);
	for (unsigned int round = 0; round < 3; round++)
		assert_true(passes(NULL));
}

static void
wrong_destination(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	l2_of(m)->dst_addr.addr_bytes[5] ^= 1;
}

static void
wrong_source(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	l2_of(m)->src_addr.addr_bytes[5] ^= 1;
}

static void
wrong_type(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	l2_of(m)->ether_type = 0;
}

static void
ttl_kept(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	ip_of(m)->time_to_live++;
	sum_write(m);
}

static void
wrong_checksum(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	ip_of(m)->hdr_checksum ^= 1;
}

static void
wrong_port(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(m);
	*port ^= 1;
}

static void
dropped(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(m);
	*port = PORTS;
}

static void
wrong_payload(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	rte_pktmbuf_mtod(m, uint8_t *)[FRAME_LEN - 1] ^= 1;
}

static void
wrong_address(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	ip_of(m)->src_addr ^= 1;
	sum_write(m);
}

static void
cut(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	rte_pktmbuf_trim(m, 1);
}

/* Packet 0, which was sent before, once more. */
static void
another_again(struct rte_mbuf *m, unsigned int *port)
{
	const struct rte_mbuf *before = rig.mbufs[0];

	RTE_SET_USED(port);
	memcpy(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_mtod(before, void *), FRAME_LEN);
}

static void
unknown(struct rte_mbuf *m, unsigned int *port)
{
	const uint32_t index = PACKETS;

	RTE_SET_USED(port);
	memcpy(rte_pktmbuf_mtod_offset(m, void *, FRAME_LEN - 18), &index, sizeof(index));
}

/* What the check says of packet 8, after packet 0 has passed, with such a fault. */
static const char *
said_of(fault_t *fault)
{
	struct rte_mbuf *m = rig.mbufs[8];
	unsigned int port;

	rig_fill(&rig);
	port = hop_port(route(rig.mbufs[0]));
	assert_null(traffic_check(traffic, rig.mbufs[0], port, 1));
	port = hop_port(route(m));
	fault(m, &port);
	return traffic_check(traffic, m, port, 1);
}

struct expected {
	fault_t *fault;
	const char *said;
};

/* Returns how many faults are said as expected, and not taken for right. */
static unsigned int
noticed(const struct expected faults[], unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		const char *said = said_of(faults[i].fault);

		assert_non_null(said);
		assert_string_equal(said, faults[i].said);
		found += !passes(faults[i].fault);
	}
	return found;
}

static void
every_fault_is_noticed(void **state)
{
	static const struct expected faults[] = {
		{ wrong_destination, "its destination MAC address is not the next hop's" },
		{ wrong_source, "its source MAC address is not the port's" },
		{ wrong_type, "its content has changed" },
		{ ttl_kept, "its TTL is wrong" },
		{ wrong_checksum, "its header checksum is wrong" },
		{ wrong_port, "it left by the wrong port" },
		{ wrong_payload, "its content has changed" },
		{ wrong_address, "its content has changed" },
		{ cut, "its length has changed" },
		{ another_again, "it was sent twice" },
		{ unknown, "it is none of the packets received" },
	};

	RTE_SET_USED(state);
	assert_int_equal(noticed(faults, RTE_DIM(faults)), 11);
	assert_true(passes(NULL));
}

static void
hop_limit_kept(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	ip6_of(m)->hop_limits++;
}

static void
wrong_label(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	ip6_of(m)->vtc_flow ^= RTE_BE32(1);
}

static void
wrong_address6(struct rte_mbuf *m, unsigned int *port)
{
	RTE_SET_USED(port);
	((uint8_t *)&ip6_of(m)->src_addr)[15] ^= 1;
}

static void
every_fault_in_ip6_is_noticed(void **state)
{
	static const struct expected faults[] = {
		{ wrong_destination, "its destination MAC address is not the next hop's" },
		{ wrong_source, "its source MAC address is not the port's" },
		{ hop_limit_kept, "its hop limit is wrong" },
		{ wrong_label, "its content has changed" },
		{ wrong_port, "it left by the wrong port" },
		{ wrong_payload, "its content has changed" },
		{ wrong_address6, "its content has changed" },
		{ cut, "its length has changed" },
		{ another_again, "it was sent twice" },
	};

	RTE_SET_USED(state);
	assert_int_equal(traffic->ip6, PACKETS);
	assert_int_equal(noticed(faults, RTE_DIM(faults)), RTE_DIM(faults));
	assert_true(passes(NULL));
}

/* 22 of 64 are IPv4; ten have no route. */
static void
both_families_are_checked_in_one_lap(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(traffic->ip6, PACKETS - 22);
	assert_int_equal(traffic->routed, PACKETS - 10);
	assert_true(passes(NULL));
	assert_false(passes(dropped));
}

static void
packet_without_a_route_that_was_sent_is_noticed(void **state)
{
	RTE_SET_USED(state);
	rig_fill(&rig);
	assert_int_equal(traffic->packets[0].hop, HOP_NONE);
	assert_string_equal(traffic_check(traffic, rig.mbufs[0], 0, 1),
		"it must be dropped, and was sent");
}

static void
dropped_packet_is_noticed(void **state)
{
	RTE_SET_USED(state);
	assert_false(passes(dropped));
}

/* The contender counts nothing, and keeps it. */
static void
lost_packet_is_noticed(void **state)
{
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	rig_fill(&rig);
	assert_int_equal(rte_eth_rx_burst(rig.port[USERS_ALL][0], 0, &m, 1), 1);
	forward(NULL, 0);
	assert_false(rig_check(&rig, "contender", true, PACKETS, 0));
}

static void
miscounted_drops_are_noticed(void **state)
{
	RTE_SET_USED(state);
	rig_fill(&rig);
	assert_int_equal(forward(NULL, 0), 10);
	assert_false(rig_check(&rig, "contender", true, PACKETS, 9));
}

static void
dropped_packet_that_is_not_freed_is_noticed(void **state)
{
	struct rte_mbuf *kept;

	RTE_SET_USED(state);
	rig_fill(&rig);
	assert_int_equal(forward(NULL, 0), 10);
	kept = rte_pktmbuf_alloc(rig.pool);
	assert_non_null(kept);
	assert_false(rig_check(&rig, "contender", true, PACKETS, 10));
}

/* What is sent as it came has no TTL to tell how many there were. */
static void
packet_lost_without_rewriting_is_noticed(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int lost = 0; lost < 2; lost++) {
		rig_fill(&rig);
		for (unsigned int i = lost; i < PACKETS; i++)
			rte_ring_enqueue(rig.tx[0], rig.mbufs[i]);
		assert_int_equal(rig_check(&rig, "contender", false, PACKETS, 0), lost == 0);
	}
}

static void
loop_counts_hops_by_ttl(void **state)
{
	uint64_t hops = 0;

	RTE_SET_USED(state);
	rig.loop = true;
	rig_fill(&rig);
	for (unsigned int i = 0; i < PACKETS; i++) {
		struct rte_mbuf *m = rig.mbufs[i];
		const unsigned int turns = 1 + i % 3;
		uint16_t port = 0;

		for (unsigned int t = 0; t < turns; t++)
			port = hop_port(route(m));
		hops += turns;
		rte_ring_enqueue(rig.tx[port], m);
	}
	assert_true(rig_check(&rig, "contender", true, hops, 0));
	for (unsigned int i = 0; i < PACKETS; i++)
		rte_ring_enqueue(rig.tx[hop_port(table_hop(table,
					 rte_be_to_cpu_32(ip_of(rig.mbufs[i])->dst_addr)))],
			rig.mbufs[i]);
	traffic_lap(traffic);
	assert_false(rig_check(&rig, "contender", true, hops + 1, 0));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(contender_that_forwards_all_is_right, setup, teardown),
	cmocka_unit_test_setup_teardown(packets_without_a_route_are_to_be_dropped_and_freed,
		setup_drops, teardown),
	cmocka_unit_test_setup_teardown(every_fault_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(every_fault_in_ip6_is_noticed, setup_ip6, teardown),
	cmocka_unit_test_setup_teardown(both_families_are_checked_in_one_lap, setup_mixed,
		teardown),
	cmocka_unit_test_setup_teardown(packet_without_a_route_that_was_sent_is_noticed,
		setup_drops, teardown),
	cmocka_unit_test_setup_teardown(dropped_packet_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(lost_packet_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(miscounted_drops_are_noticed, setup_drops, teardown),
	cmocka_unit_test_setup_teardown(dropped_packet_that_is_not_freed_is_noticed, setup_drops,
		teardown),
	cmocka_unit_test_setup_teardown(packet_lost_without_rewriting_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(loop_counts_hops_by_ttl, setup, teardown),
};

UNIT_SUITE(tests)
