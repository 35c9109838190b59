/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated event device, with a simulated NIC of its kind, through rte_event. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_event_eth_rx_adapter.h>
#include <rte_event_eth_tx_adapter.h>
#include <rte_eventdev.h>
#include <rte_ring.h>

#include <hy_flow_sim.h>

#include "simnic_fixture.h"

#define DEVICE "sim_event_cn10k0"
#define QUEUES 2
#define PORTS 2
#define ADAPTER 0

static uint8_t device;
static uint16_t nic;

/* Two event queues of all types and two ports linked to both; not started. */
static void
device_make(void)
{
	const struct rte_event_dev_config conf = { .nb_event_queues = QUEUES,
		.nb_event_ports = PORTS,
		.nb_events_limit = 4096,
		.nb_event_queue_flows = 1024,
		.nb_event_port_dequeue_depth = 1,
		.nb_event_port_enqueue_depth = 1 };

	assert_int_equal(rte_vdev_init(DEVICE, NULL), 0);
	device = (uint8_t)rte_event_dev_get_dev_id(DEVICE);
	assert_int_equal(rte_event_dev_configure(device, &conf), 0);
	for (uint8_t q = 0; q < QUEUES; q++)
		assert_int_equal(rte_event_queue_setup(device, q, NULL), 0);
	for (uint8_t p = 0; p < PORTS; p++) {
		assert_int_equal(rte_event_port_setup(device, p, NULL), 0);
		assert_int_equal(rte_event_port_link(device, p, NULL, NULL, 0), QUEUES);
	}
}

static void
device_drop(void)
{
	rte_event_dev_stop(device);
	assert_int_equal(rte_vdev_uninit(DEVICE), 0);
}

/* Connects the NIC's queue 0 with event queue 0, and its transmit queues; starts all. */
static void
adapters_make(struct rte_event_eth_rx_adapter_queue_conf *conf)
{
	struct rte_event_port_conf port = {
		.new_event_threshold = 4096, .dequeue_depth = 1, .enqueue_depth = 1
	};

	conf->ev.queue_id = 0;
	assert_int_equal(rte_event_eth_rx_adapter_create(ADAPTER, device, &port), 0);
	assert_int_equal(rte_event_eth_rx_adapter_queue_add(ADAPTER, nic, 0, conf), 0);
	assert_int_equal(rte_event_eth_tx_adapter_create(ADAPTER, device, &port), 0);
	assert_int_equal(rte_event_eth_tx_adapter_queue_add(ADAPTER, nic, -1), 0);
	assert_int_equal(rte_event_eth_rx_adapter_start(ADAPTER), 0);
	assert_int_equal(rte_event_eth_tx_adapter_start(ADAPTER), 0);
	assert_int_equal(rte_event_dev_start(device), 0);
}

static void
adapters_drop(void)
{
	assert_int_equal(rte_event_eth_rx_adapter_stop(ADAPTER), 0);
	assert_int_equal(rte_event_eth_tx_adapter_stop(ADAPTER), 0);
	assert_int_equal(rte_event_eth_rx_adapter_queue_del(ADAPTER, nic, 0), 0);
	assert_int_equal(rte_event_eth_tx_adapter_queue_del(ADAPTER, nic, -1), 0);
	assert_int_equal(rte_event_eth_rx_adapter_free(ADAPTER), 0);
	assert_int_equal(rte_event_eth_tx_adapter_free(ADAPTER), 0);
}

static void
the_pair_tells_internal_ports_for_its_own_nics_only(void **state)
{
	struct rte_event_dev_info info;
	const uint16_t other = nic_add("sim_ice0", NULL);
	uint32_t caps;

	RTE_SET_USED(state);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	assert_int_equal(rte_event_dev_info_get(device, &info), 0);
	assert_string_equal(info.driver_name, "event_cn10k");
	assert_int_equal(rte_event_eth_rx_adapter_caps_get(device, nic, &caps), 0);
	assert_int_equal(caps,
		RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT |
			RTE_EVENT_ETH_RX_ADAPTER_CAP_MULTI_EVENTQ |
			RTE_EVENT_ETH_RX_ADAPTER_CAP_OVERRIDE_FLOW_ID |
			RTE_EVENT_ETH_RX_ADAPTER_CAP_EVENT_VECTOR);
	assert_int_equal(rte_event_eth_tx_adapter_caps_get(device, nic, &caps), 0);
	assert_int_equal(caps,
		RTE_EVENT_ETH_TX_ADAPTER_CAP_INTERNAL_PORT |
			RTE_EVENT_ETH_TX_ADAPTER_CAP_EVENT_VECTOR);
	assert_int_equal(rte_event_eth_rx_adapter_caps_get(device, other, &caps), 0);
	assert_int_equal(caps & RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT, 0);
	assert_int_equal(rte_event_eth_tx_adapter_caps_get(device, other, &caps), 0);
	assert_int_equal(caps, 0);
	device_drop();
}

#define FED 200000
#define FRAMES 64

static uint8_t data[FRAMES][FRAME_SIZE];
static struct simnic_frame frames[FRAMES];

static void
frames_make(void)
{
	for (unsigned int f = 0; f < FRAMES; f++) {
		sim_frame(&(struct sim_packet){ .dst = 1 + f, .proto = IPPROTO_UDP }, data[f]);
		frames[f] = (struct simnic_frame){ data[f], FRAME_SIZE };
	}
}

/* Takes what is on the wire, which must be whole and in order. */
static uint64_t
wire_drain(struct rte_ring *wire, uint64_t from)
{
	void *pkt;

	for (; rte_ring_dequeue(wire, &pkt) == 0; from++) {
		assert_int_equal(sim_dst_of(pkt), 1 + from % FRAMES);
		rte_pktmbuf_free(pkt);
	}
	return from;
}

/* From the NIC by events through two stages and out again, in order, marked. */
static void
packets_go_round_by_internal_ports(void **state)
{
	struct rte_event_eth_rx_adapter_queue_conf conf = {
		.ev.sched_type = RTE_SCHED_TYPE_ATOMIC
	};
	uint64_t first = 0, second = 0, out = 0;
	struct rte_ring *wire;
	struct rte_event event;

	RTE_SET_USED(state);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	assert_non_null(nic_rule(nic, &(struct sim_packet){ .dst = 5, .proto = IPPROTO_UDP }, 7));
	adapters_make(&conf);
	wire = simnic_tx_wire(nic, 3);
	frames_make();
	simnic_feed(nic, 0, frames, FRAMES, FED);
	while (out < FED) {
		assert_int_equal(rte_event_dequeue_burst(device, 0, &event, 1, 0), 1);
		if (event.queue_id == 0) {
			assert_int_equal(event.event_type, RTE_EVENT_TYPE_ETHDEV);
			assert_int_equal(sim_mark_of(event.mbuf),
				sim_dst_of(event.mbuf) == 5 ? 7 : -1);
			assert_int_equal(event.flow_id, event.mbuf->hash.rss & 0xfffff);
			event.queue_id = 1;
			event.op = RTE_EVENT_OP_FORWARD;
			assert_int_equal(rte_event_enqueue_burst(device, 0, &event, 1), 1);
			first++;
			continue;
		}
		rte_event_eth_tx_adapter_txq_set(event.mbuf, 3);
		assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 1);
		second++;
		out = wire_drain(wire, out);
	}
	assert_int_equal(first, FED);
	assert_int_equal(second, FED);
	assert_int_equal(rte_event_dequeue_burst(device, 0, &event, 1, 1000), 0);
	adapters_drop();
	device_drop();
}

static void
marks_get_into_events_if_negotiated_before_the_queue_was_added(void **state)
{
	struct rte_event_eth_rx_adapter_queue_conf conf = {
		.ev.sched_type = RTE_SCHED_TYPE_PARALLEL,
		.ev.flow_id = 77,
		.rx_queue_flags = RTE_EVENT_ETH_RX_ADAPTER_QUEUE_FLOW_ID_VALID
	};
	const struct sim_packet packet = { .dst = 1 };
	struct rte_event event;

	RTE_SET_USED(state);
	nic = nic_probe("sim_cn10k0", NULL);
	nic_up(nic);
	device_make();
	assert_non_null(nic_rule(nic, &packet, 7));
	adapters_make(&conf);
	/* The NIC delivers them from now on, as newer drivers do with the first rule: too late. */
	hy_flow_sim_deliver(simnic_engine(nic), true);
	assert_int_equal(rte_ring_enqueue(simnic_rx_wire(nic, 0), sim_mbuf(&packet)), 0);
	assert_int_equal(rte_event_dequeue_burst(device, 0, &event, 1, 0), 1);
	assert_int_equal(sim_mark_of(event.mbuf), -1);
	assert_int_equal(event.flow_id, 77);
	rte_pktmbuf_free(event.mbuf);
	adapters_drop();
	device_drop();
}

#define VECTOR 16
#define VECTOR_FED (VECTOR * 1000 + 5)

static void
packets_go_round_by_event_vectors(void **state)
{
	struct rte_mempool *pool = rte_event_vector_pool_create("vectors", 255, 0, VECTOR,
		SOCKET_ID_ANY);
	struct rte_event_eth_rx_adapter_queue_conf conf = {
		.ev.sched_type = RTE_SCHED_TYPE_PARALLEL,
		.rx_queue_flags = RTE_EVENT_ETH_RX_ADAPTER_QUEUE_EVENT_VECTOR,
		.vector_sz = VECTOR,
		.vector_timeout_ns = 50000,
		.vector_mp = pool
	};
	unsigned int full = 0, part = 0;
	struct rte_event event;
	struct rte_ring *wire;
	uint64_t out = 0;

	RTE_SET_USED(state);
	assert_non_null(pool);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	adapters_make(&conf);
	wire = simnic_tx_wire(nic, 0);
	frames_make();
	simnic_feed(nic, 0, frames, FRAMES, VECTOR_FED);
	while (out < VECTOR_FED) {
		if (rte_event_dequeue_burst(device, 0, &event, 1, 0) == 0)
			continue; /* the last vector waits for its time */
		assert_int_equal(event.event_type, RTE_EVENT_TYPE_ETHDEV_VECTOR);
		assert_int_equal(event.vec->attr_valid, 1);
		assert_int_equal(event.vec->port, nic);
		assert_int_equal(event.vec->queue, 0);
		full += event.vec->nb_elem == VECTOR;
		part += event.vec->nb_elem < VECTOR;
		assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 1);
		out = wire_drain(wire, out);
	}
	assert_int_equal(full, 1000);
	assert_int_equal(part, 1);
	adapters_drop();
	device_drop();
	assert_int_equal(rte_mempool_avail_count(pool), 255);
	rte_mempool_free(pool);
}

/* Gives port 0 something to hold. */
static void
hand(void)
{
	struct rte_event event = { .op = RTE_EVENT_OP_NEW,
		.event_type = RTE_EVENT_TYPE_CPU,
		.sched_type = RTE_SCHED_TYPE_PARALLEL };

	assert_int_equal(rte_event_enqueue_burst(device, 0, &event, 1), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 0, &event, 1, 0), 1);
}

/* Where cn10k would wait for ever. */
static void
a_port_without_an_event_in_hand_sends_nothing_in_order(void **state)
{
	struct rte_event_eth_rx_adapter_queue_conf conf = { 0 };
	struct rte_event event = { .event_type = RTE_EVENT_TYPE_ETHDEV,
		.sched_type = RTE_SCHED_TYPE_ORDERED };
	struct rte_event none;

	RTE_SET_USED(state);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	adapters_make(&conf);
	event.mbuf = sim_mbuf(&(struct sim_packet){ .dst = 1 });
	event.mbuf->port = nic;
	rte_event_eth_tx_adapter_txq_set(event.mbuf, 0);
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 0);
	hand();
	assert_int_equal(rte_event_dequeue_burst(device, 0, &none, 1, 0), 0);
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 0);
	hand();
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 1);
	adapters_drop();
	device_drop();
}

/* What did not fit on the wire stays in the vector, in order. */
static void
a_vector_that_the_wire_has_no_room_for_is_sent_in_parts(void **state)
{
	struct rte_event_eth_rx_adapter_queue_conf conf = { 0 };
	struct rte_mempool *pool = rte_event_vector_pool_create("vectors", 3, 0, VECTOR,
		SOCKET_ID_ANY);
	struct rte_event event = { .event_type = RTE_EVENT_TYPE_ETHDEV_VECTOR };
	struct rte_ring *wire;
	unsigned int filler = 0;
	void *pkt;

	RTE_SET_USED(state);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	adapters_make(&conf);
	wire = simnic_tx_wire(nic, 0);
	while (rte_ring_free_count(wire) > 10) {
		assert_int_equal(rte_ring_enqueue(wire, &filler), 0);
		filler++;
	}
	assert_int_equal(rte_mempool_get(pool, (void **)&event.vec), 0);
	event.vec->attr_valid = 1;
	event.vec->port = nic;
	event.vec->queue = 0;
	event.vec->elem_offset = 0;
	event.vec->nb_elem = VECTOR;
	for (uint32_t i = 0; i < VECTOR; i++)
		event.vec->mbufs[i] = sim_mbuf(&(struct sim_packet){ .dst = 1 + i });
	hand();
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 0);
	assert_int_equal(event.vec->nb_elem, VECTOR - 10);
	assert_int_equal(event.vec->elem_offset, 10);
	while (filler-- > 0)
		assert_int_equal(rte_ring_dequeue(wire, &pkt), 0);
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 1);
	assert_int_equal(wire_drain(wire, 0), VECTOR);
	assert_int_equal(rte_mempool_avail_count(pool), 3);
	adapters_drop();
	device_drop();
	rte_mempool_free(pool);
}

static void
a_transmit_queue_that_was_not_added_takes_nothing(void **state)
{
	struct rte_event_eth_rx_adapter_queue_conf conf = { 0 };
	struct rte_event event = { .event_type = RTE_EVENT_TYPE_ETHDEV,
		.sched_type = RTE_SCHED_TYPE_ATOMIC };

	RTE_SET_USED(state);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	adapters_make(&conf);
	assert_int_equal(rte_event_eth_tx_adapter_queue_del(ADAPTER, nic, 2), 0);
	event.mbuf = sim_mbuf(&(struct sim_packet){ .dst = 1 });
	event.mbuf->port = nic;
	rte_event_eth_tx_adapter_txq_set(event.mbuf, 2);
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 0);
	rte_event_eth_tx_adapter_txq_set(event.mbuf, 1);
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, &event, 1, 0), 1);
	adapters_drop();
	device_drop();
}

/* As that hardware's driver: who hands it more and does not look loses them. */
static void
one_event_is_taken_a_call_unless_all_are_new(void **state)
{
	struct rte_event_eth_rx_adapter_queue_conf conf = { 0 };
	struct rte_event events[5];
	struct rte_ring *wire;

	RTE_SET_USED(state);
	nic = nic_add("sim_cn10k0", NULL);
	device_make();
	adapters_make(&conf);
	wire = simnic_tx_wire(nic, 0);
	for (unsigned int e = 0; e < RTE_DIM(events); e++) {
		events[e] = (struct rte_event){ .op = RTE_EVENT_OP_NEW,
			.event_type = RTE_EVENT_TYPE_ETHDEV,
			.sched_type = RTE_SCHED_TYPE_ATOMIC };
		events[e].mbuf = sim_mbuf(&(struct sim_packet){ .dst = 1 + e });
		events[e].mbuf->port = nic;
		rte_event_eth_tx_adapter_txq_set(events[e].mbuf, 0);
	}
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, events, 5, 0), 1);
	assert_int_equal(rte_event_eth_tx_adapter_enqueue(device, 0, events + 1, 4,
				 RTE_EVENT_ETH_TX_ADAPTER_ENQUEUE_SAME_DEST),
		1);
	assert_int_equal(wire_drain(wire, 0), 2);
	assert_int_equal(rte_event_enqueue_burst(device, 0, events + 2, 3), 1);
	assert_int_equal(rte_event_enqueue_new_burst(device, 0, events + 3, 2), 2);
	for (unsigned int e = 2; e < RTE_DIM(events); e++) {
		assert_int_equal(rte_event_dequeue_burst(device, 0, events, 5, 0), 1);
		assert_int_equal(sim_dst_of(events[0].mbuf), 1 + e);
		rte_pktmbuf_free(events[0].mbuf);
	}
	adapters_drop();
	device_drop();
}

/* Puts two events into queue 0. */
static void
two_events(uint8_t sched_type)
{
	struct rte_event event = {
		.op = RTE_EVENT_OP_NEW, .sched_type = sched_type, .event_type = RTE_EVENT_TYPE_CPU
	};

	for (event.u64 = 1; event.u64 <= 2; event.u64++)
		assert_int_equal(rte_event_enqueue_burst(device, 0, &event, 1), 1);
}

static void
an_atomic_event_keeps_others_waiting_until_it_is_given_back(void **state)
{
	struct rte_event a, b;

	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_dev_start(device), 0);
	two_events(RTE_SCHED_TYPE_ATOMIC);
	assert_int_equal(rte_event_dequeue_burst(device, 0, &a, 1, 0), 1);
	assert_int_equal(a.u64, 1);
	assert_int_equal(rte_event_dequeue_burst(device, 1, &b, 1, 0), 0);
	a.op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(rte_event_enqueue_burst(device, 0, &a, 1), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 1, &b, 1, 0), 1);
	assert_int_equal(b.u64, 2);
	assert_int_equal(rte_event_dequeue_burst(device, 1, &b, 1, 0), 0);
	two_events(RTE_SCHED_TYPE_PARALLEL);
	assert_int_equal(rte_event_dequeue_burst(device, 0, &a, 1, 0), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 1, &b, 1, 0), 1);
	assert_int_equal(a.u64 + b.u64, 3);
	device_drop();
}

static void
what_waits_in_a_device_that_stops_is_given_to_the_program(void **state)
{
	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_dev_start(device), 0);
	for (uint64_t i = 0; i < 8; i++) {
		const struct rte_event event = { .queue_id = (uint8_t)(i % QUEUES),
			.sched_type = RTE_SCHED_TYPE_PARALLEL,
			.op = RTE_EVENT_OP_NEW,
			.u64 = i };

		assert_int_equal(rte_event_enqueue_burst(device, 0, &event, 1), 1);
	}
	flushed_expect(device, 8);
	device_drop();
}

static const struct CMUnitTest simevent[] = {
	SIMNIC_TEST(the_pair_tells_internal_ports_for_its_own_nics_only),
	SIMNIC_TEST(packets_go_round_by_internal_ports),
	SIMNIC_TEST(marks_get_into_events_if_negotiated_before_the_queue_was_added),
	SIMNIC_TEST(packets_go_round_by_event_vectors),
	SIMNIC_TEST(a_port_without_an_event_in_hand_sends_nothing_in_order),
	SIMNIC_TEST(a_vector_that_the_wire_has_no_room_for_is_sent_in_parts),
	SIMNIC_TEST(a_transmit_queue_that_was_not_added_takes_nothing),
	SIMNIC_TEST(one_event_is_taken_a_call_unless_all_are_new),
	SIMNIC_TEST(an_atomic_event_keeps_others_waiting_until_it_is_given_back),
	SIMNIC_TEST(what_waits_in_a_device_that_stops_is_given_to_the_program),
};

UNIT_SUITE(simevent)
