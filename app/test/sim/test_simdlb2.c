/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated DLB2, through rte_event: what it limits, and what its driver does differently. */

#include <errno.h>

#include <rte_bus_vdev.h>
#include <rte_event_eth_rx_adapter.h>
#include <rte_eventdev.h>

#include "simnic_fixture.h"

#define DEVICE "sim_event_dlb2_0"
#define QUEUES 10
#define CREDITS 64

static uint8_t device;

/* A device with one port; queue 0 is atomic, 1 ordered, 2 parallel, others are for all types. */
static void
device_make(void)
{
	const struct rte_event_dev_config conf = { .nb_event_queues = QUEUES,
		.nb_event_ports = 2,
		.nb_events_limit = CREDITS,
		.nb_event_queue_flows = 1024,
		.nb_event_port_dequeue_depth = 32,
		.nb_event_port_enqueue_depth = 32 };
	static const uint8_t types[] = { RTE_SCHED_TYPE_ATOMIC, RTE_SCHED_TYPE_ORDERED,
		RTE_SCHED_TYPE_PARALLEL };

	assert_int_equal(rte_vdev_init(DEVICE, NULL), 0);
	device = (uint8_t)rte_event_dev_get_dev_id(DEVICE);
	assert_int_equal(rte_event_dev_configure(device, &conf), 0);
	for (uint8_t q = 0; q < QUEUES; q++) {
		struct rte_event_queue_conf queue;

		assert_int_equal(rte_event_queue_default_conf_get(device, q, &queue), 0);
		queue.schedule_type = types[q % 3];
		queue.event_queue_cfg = q < 3 ? 0 : RTE_EVENT_QUEUE_CFG_ALL_TYPES;
		assert_int_equal(rte_event_queue_setup(device, q, &queue), 0);
	}
	for (uint8_t p = 0; p < 2; p++)
		assert_int_equal(rte_event_port_setup(device, p, NULL), 0);
}

static void
device_drop(void)
{
	rte_event_dev_stop(device);
	assert_int_equal(rte_vdev_uninit(DEVICE), 0);
}

static uint16_t
put(uint8_t port, uint8_t queue, uint8_t type, uint8_t op, uint32_t flow)
{
	const struct rte_event event = { .queue_id = queue,
		.sched_type = type,
		.op = op,
		.event_type = RTE_EVENT_TYPE_CPU,
		.flow_id = flow & 0xfffff };

	return rte_event_enqueue_burst(device, port, &event, 1);
}

static void
a_dlb2_says_what_its_driver_says(void **state)
{
	const uint16_t nic = nic_add("sim_ice0", NULL);
	struct rte_event_dev_info info;
	uint32_t caps;

	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_dev_info_get(device, &info), 0);
	assert_string_equal(info.driver_name, "event_dlb2_pf");
	assert_int_equal(info.max_event_port_links, 8);
	assert_int_equal(info.max_num_events, 8192);
	assert_int_equal(info.event_dev_cap & RTE_EVENT_DEV_CAP_CARRY_FLOW_ID, 0);
	assert_int_equal(rte_event_eth_rx_adapter_caps_get(device, nic, &caps), 0);
	assert_int_equal(caps & RTE_EVENT_ETH_RX_ADAPTER_CAP_INTERNAL_PORT, 0);
	device_drop();
}

static void
a_port_has_eight_links_and_is_set_up_once(void **state)
{
	static const uint8_t queues[QUEUES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_port_link(device, 0, queues, NULL, QUEUES), 8);
	assert_int_equal(rte_event_port_link(device, 0, queues, NULL, 1), 1); /* has it already */
	assert_int_equal(rte_event_port_setup(device, 0, NULL), -EINVAL);
	device_drop();
}

static void
ordered_events_want_a_queue_with_sequences(void **state)
{
	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_port_link(device, 0, (const uint8_t[]){ 0 }, NULL, 1), 1);
	assert_int_equal(rte_event_dev_start(device), 0);
	assert_int_equal(put(0, 0, RTE_SCHED_TYPE_ORDERED, RTE_EVENT_OP_NEW, 1), 0);
	assert_int_equal(rte_errno, -EINVAL);
	assert_int_equal(put(0, 2, RTE_SCHED_TYPE_ORDERED, RTE_EVENT_OP_NEW, 1), 0);
	assert_int_equal(put(0, 1, RTE_SCHED_TYPE_ORDERED, RTE_EVENT_OP_NEW, 1), 1);
	assert_int_equal(put(0, 3, RTE_SCHED_TYPE_ORDERED, RTE_EVENT_OP_NEW, 1), 1);
	assert_int_equal(put(0, 0, RTE_SCHED_TYPE_ATOMIC, RTE_EVENT_OP_NEW, 1), 1);
	device_drop();
}

/* 64 credits are two quanta, and each of the ports can have one. */
static void
new_events_cost_credits_that_come_back_with_the_next_dequeue(void **state)
{
	struct rte_event events[32];
	unsigned int made = 0, taken = 0;

	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_port_link(device, 1, (const uint8_t[]){ 0 }, NULL, 1), 1);
	assert_int_equal(rte_event_dev_start(device), 0);
	while (put(0, 0, RTE_SCHED_TYPE_ATOMIC, RTE_EVENT_OP_NEW, 0x12345) == 1)
		made++;
	assert_int_equal(rte_errno, -ENOSPC);
	assert_int_equal(made, CREDITS);
	for (uint16_t n; (n = rte_event_dequeue_burst(device, 1, events, 32, 0)) > 0; taken += n) {
		assert_int_equal(n, 32);
		assert_int_equal(events[0].flow_id, 0x2345);
	}
	assert_int_equal(taken, CREDITS);
	/* One quantum stays with the port that gave the events back. */
	for (made = 0; put(0, 0, RTE_SCHED_TYPE_ATOMIC, RTE_EVENT_OP_NEW, 1) == 1;)
		made++;
	assert_int_equal(made, 32);
	device_drop();
}

static void
atomic_events_of_a_flow_are_with_one_port_at_a_time(void **state)
{
	struct rte_event events[32];

	RTE_SET_USED(state);
	device_make();
	for (uint8_t p = 0; p < 2; p++)
		assert_int_equal(rte_event_port_link(device, p, (const uint8_t[]){ 0, 2 }, NULL, 2),
			2);
	assert_int_equal(rte_event_dev_start(device), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(put(0, 0, RTE_SCHED_TYPE_ATOMIC, RTE_EVENT_OP_NEW, 1), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 0, events, 10, 0), 10);
	assert_int_equal(rte_event_dequeue_burst(device, 1, events, 32, 0), 0);
	assert_int_equal(put(1, 0, RTE_SCHED_TYPE_ATOMIC, RTE_EVENT_OP_NEW, 2), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 1, events, 32, 0), 1); /* another flow */
	assert_int_equal(put(0, 2, RTE_SCHED_TYPE_PARALLEL, RTE_EVENT_OP_FORWARD, 1), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 1, events, 32, 0), 1);
	assert_int_equal(rte_event_dequeue_burst(device, 0, events, 32, 0), 10);
	assert_int_equal(rte_event_dequeue_burst(device, 0, events, 32, 0), 0);
	device_drop();
}

static void
what_waits_in_a_dlb2_that_stops_is_given_to_the_program(void **state)
{
	RTE_SET_USED(state);
	device_make();
	assert_int_equal(rte_event_dev_start(device), 0);
	for (uint64_t i = 0; i < 32; i++) {
		const struct rte_event event = { .queue_id = (uint8_t)(i % QUEUES),
			.flow_id = i & 0xff,
			.sched_type = RTE_SCHED_TYPE_ATOMIC,
			.op = RTE_EVENT_OP_NEW,
			.u64 = i };

		assert_int_equal(rte_event_enqueue_burst(device, 0, &event, 1), 1);
	}
	flushed_expect(device, 32);
	device_drop();
}

static const struct CMUnitTest simdlb2[] = {
	SIMNIC_TEST(a_dlb2_says_what_its_driver_says),
	SIMNIC_TEST(a_port_has_eight_links_and_is_set_up_once),
	SIMNIC_TEST(ordered_events_want_a_queue_with_sequences),
	SIMNIC_TEST(new_events_cost_credits_that_come_back_with_the_next_dequeue),
	SIMNIC_TEST(atomic_events_of_a_flow_are_with_one_port_at_a_time),
	SIMNIC_TEST(what_waits_in_a_dlb2_that_stops_is_given_to_the_program),
};

UNIT_SUITE(simdlb2)
