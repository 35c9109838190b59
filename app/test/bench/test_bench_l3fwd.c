/* SPDX-License-Identifier: BSD-3-Clause */
/* The l3fwd benchmark's own parts: it must notice a contender that does not forward right. */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ip.h>

#include "app/bench/l3fwd.h"

#include "app/test/unit.h"
#include "bench_stand_in.h"

#define PACKETS 64
#define PORTS 2
#define TTL 64

static struct l3fwd_table *table;
static struct l3fwd_traffic *traffic;
static struct l3fwd_rig rig;

/* What a contender does to a packet, and the fault in one of them. */
typedef void fault_t(struct rte_mbuf *m, unsigned int *port);

static struct rte_ether_hdr *
l2_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
}

static struct rte_ipv4_hdr *
ip_of(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
}

static void
sum_write(const struct rte_mbuf *m)
{
	ip_of(m)->hdr_checksum = 0;
	ip_of(m)->hdr_checksum = rte_ipv4_cksum(ip_of(m));
}

/* A router by the book, that searches the table itself. Returns the next hop. */
static uint32_t
route(struct rte_mbuf *m)
{
	const uint32_t hop = table_hop(table, rte_be_to_cpu_32(ip_of(m)->dst_addr));

	if (hop == HOP_NONE)
		return hop;
	*l2_of(m) = l3fwd_hop_header(hop);
	ip_of(m)->time_to_live--;
	sum_write(m);
	return hop;
}

/* Forwards a round, with a fault in the packet received as number `odd`. */
static uint64_t
forward(fault_t *fault, unsigned int odd)
{
	struct rte_mbuf *m;
	unsigned int number = 0;
	uint64_t drops = 0;

	for (unsigned int p = 0; p < rig.nb_ports; p++) {
		while (rte_eth_rx_burst(rig.port[USERS_ALL][p], 0, &m, 1) == 1) {
			const uint32_t hop = route(m);
			unsigned int port = hop_port(hop);

			if (fault != NULL && number++ == odd)
				fault(m, &port);
			if (port < rig.nb_ports) {
				assert_int_equal(rte_eth_tx_burst(rig.port[USERS_ALL][port], 0, &m,
							 1),
					1);
			} else {
				drops++;
				rte_pktmbuf_free(m);
			}
		}
	}
	return drops;
}

/* Whether the rig takes a round with such a fault for right. */
static bool
passes(fault_t *fault)
{
	uint64_t drops;

	rig_fill(&rig);
	drops = forward(fault, 5);
	return rig_check(&rig, "contender", true, PACKETS, drops);
}

/* A rig with so many packets of a hundred without a route. */
static int
setup_with(unsigned int lost)
{
	static bool ports;
	uint32_t dst[PACKETS];

	stand_in_noted[0] = stand_in_wrong[0] = '\0';
	memset(&stand_in_skipped, 0, sizeof(stand_in_skipped));
	if (!ports)
		assert_int_equal(rig_ports(1), 0);
	ports = true;
	table = table_eight(TABLE_EIGHT, PORTS);
	for (unsigned int i = 0; i < PACKETS; i++)
		dst[i] = i % 100 < lost ? IP4(203, 0, 113, 1) : table->routes[i % 8].prefix + i;
	traffic = traffic_create(dst, PACKETS, TTL, table);
	assert_int_equal(rig_open(&rig, 0, PORTS, false, traffic), 0);
	return 0;
}

static int
setup(void **state)
{
	RTE_SET_USED(state);
	return setup_with(0);
}

static int
setup_drops(void **state)
{
	RTE_SET_USED(state);
	return setup_with(10);
}

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	rig_close(&rig);
	table_free(table);
	return 0;
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

static void
every_fault_is_noticed(void **state)
{
	static const struct {
		fault_t *fault;
		const char *said;
	} faults[] = {
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
	unsigned int noticed = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(faults); i++) {
		const char *said = said_of(faults[i].fault);

		assert_non_null(said);
		assert_string_equal(said, faults[i].said);
		noticed += !passes(faults[i].fault);
	}
	assert_int_equal(noticed, 11);
	assert_true(passes(NULL));
}

static void
packet_without_a_route_that_was_sent_is_noticed(void **state)
{
	RTE_SET_USED(state);
	rig_fill(&rig);
	assert_int_equal(traffic->packets[0].hop, HOP_NONE);
	assert_string_equal(traffic_check(traffic, rig.mbufs[0], 0, 1),
		"it has no route, and was sent");
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
	uint32_t *dst = calloc(many, sizeof(*dst));

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
	cmocka_unit_test_setup_teardown(contender_that_forwards_all_is_right, setup, teardown),
	cmocka_unit_test_setup_teardown(packets_without_a_route_are_to_be_dropped_and_freed,
		setup_drops, teardown),
	cmocka_unit_test_setup_teardown(every_fault_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(packet_without_a_route_that_was_sent_is_noticed,
		setup_drops, teardown),
	cmocka_unit_test_setup_teardown(dropped_packet_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(lost_packet_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(miscounted_drops_are_noticed, setup_drops, teardown),
	cmocka_unit_test_setup_teardown(dropped_packet_that_is_not_freed_is_noticed, setup_drops,
		teardown),
	cmocka_unit_test_setup_teardown(packet_lost_without_rewriting_is_noticed, setup, teardown),
	cmocka_unit_test_setup_teardown(loop_counts_hops_by_ttl, setup, teardown),
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
