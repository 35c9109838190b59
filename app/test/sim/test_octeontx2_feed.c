/* SPDX-License-Identifier: BSD-3-Clause */
/* What a feed asks of devices that do by themselves what it takes. */

#include <errno.h>
#include <string.h>

#include <rte_event_eth_tx_adapter.h>
#include <rte_eventdev.h>

#include "octeontx2_rig.h"

#define FED 1000

static void
vectors_wait_as_long_as_the_ports_can_if_nobody_says(void **state)
{
	struct oct_spec spec = {
		.vector_size = 32, .sched_type = RTE_SCHED_TYPE_ATOMIC, .any_timeout = true
	};

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso_vector", "sso_vector");
	assert_int_equal(hy_event_of((uint8_t)R.device.id)->vector_timeout_ns, 51100);
	oct_send(FED, FED);
	oct_forward(FED, FED);
	hy_event_detach((uint8_t)R.device.id);
	assert_int_equal(hy_event_of((uint8_t)R.device.id)->vector_timeout_ns, 0);
}

static void
vectors_that_are_to_wait_too_long_fall_back_to_single_events(void **state)
{
	const struct oct_spec spec = {
		.vector_size = 32, .sched_type = RTE_SCHED_TYPE_ATOMIC, .timeout_ns = 51101
	};
	char reason[HY_REASON_SIZE];

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso_vector", "single");
	assert_int_equal(hy_event_of((uint8_t)R.device.id)->vector_timeout_ns, 0);
	snprintf(reason, sizeof(reason),
		"cannot be bound: port %u: event vectors cannot wait for 51101 ns; 100 to 51100 "
		"are accepted",
		R.nic[0]);
	assert_refused(oct_selected("event_rx", R.device), "sso_vector", HY_FATE_BIND_FAILED,
		reason);
}

/* One for all types would be an ordered one to DLB2. */
static void
a_feed_has_a_queue_of_its_one_type(void **state)
{
	const struct oct_spec spec = { .sched_type = RTE_SCHED_TYPE_ATOMIC };
	uint32_t type = UINT32_MAX;

	RTE_SET_USED(state);
	oct_devices(&spec);
	oct_feed(&spec);
	/* -EOVERFLOW for one of all types. */
	assert_int_equal(rte_event_queue_attr_get((uint8_t)R.device.id, 0,
				 RTE_EVENT_QUEUE_ATTR_SCHEDULE_TYPE, &type),
		0);
	assert_int_equal(type, RTE_SCHED_TYPE_ATOMIC);
}

/* It has no queue in the feed, so nothing of the device's sends by it. */
static void
ordered_packets_must_not_leave_by_a_port_that_only_sends(void **state)
{
	const struct oct_spec spec = { .sched_type = RTE_SCHED_TYPE_ORDERED };
	char reason[HY_REASON_SIZE] = "", wanted[HY_REASON_SIZE];
	uint16_t only_sends;

	RTE_SET_USED(state);
	oct_devices(&spec);
	only_sends = nic_probe("sim_cn10k2", NULL);
	oct_feed(&spec);
	oct_select();
	assert_int_equal(hy_event_check((uint8_t)R.device.id, reason, sizeof(reason)), 0);
	oct_nic_start(only_sends);
	assert_int_equal(hy_event_check((uint8_t)R.device.id, reason, sizeof(reason)), -ENOTSUP);
	snprintf(wanted, sizeof(wanted), "ethdev_tx of port %u", only_sends);
	assert_non_null(strstr(reason, wanted));
}

static void
poll_until_done(void)
{
	char error[HY_HAL_ERROR_SIZE] = "";
	unsigned int polls = 0;
	int rc;

	do {
		rc = hy_hal_poll(R.hal, R.graphs, R.nb_graphs, NULL, error);
		if (rc < 0)
			fail_msg("the HAL fails: %s", error);
		hy_graph_walk(R.graphs[0]);
		assert_true(++polls < PATIENCE);
	} while (rc > 0);
}

/* Somebody takes its tx adapter while it is down. */
static void
a_port_that_comes_back_without_order_is_told_of(void **state)
{
	const struct oct_spec spec = { .sched_type = RTE_SCHED_TYPE_ORDERED };
	struct rte_event_port_conf unused = { 0 };
	char reason[HY_REASON_SIZE] = "", wanted[HY_REASON_SIZE];
	const uint8_t device = 0;

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_int_equal(R.device.id, device);
	assert_chosen("sso_vector", "single");
	assert_int_equal(hy_event_follow(device, R.hal, true), 0);
	assert_int_equal(hy_event_check(device, reason, sizeof(reason)), 0);
	assert_int_equal(hy_hal_port_stop(R.hal, R.nic[1]), 0);
	poll_until_done();
	assert_int_equal(hy_hal_port_state(R.hal, R.nic[1]), HY_PORT_DOWN);
	assert_int_equal(hy_event_check(device, reason, sizeof(reason)), 0);

	assert_int_equal(rte_event_eth_tx_adapter_create((uint8_t)R.nic[1], device, &unused), 0);
	assert_int_equal(hy_hal_port_start(R.hal, R.nic[1]), 0);
	poll_until_done();
	assert_int_equal(hy_hal_port_state(R.hal, R.nic[1]), HY_PORT_UP);
	snprintf(wanted, sizeof(wanted), "cannot be bound: there is no tx adapter %u for it: %s",
		R.nic[1], strerror(EEXIST));
	assert_refused(hy_hal_selection(R.hal, "ethdev_tx", R.nic[1]), "sso_vector",
		HY_FATE_BIND_FAILED, wanted);
	assert_int_equal(hy_event_check(device, reason, sizeof(reason)), -ENOTSUP);
	snprintf(wanted, sizeof(wanted), "ethdev_tx of port %u", R.nic[1]);
	assert_non_null(strstr(reason, wanted));
	oct_send(FED, FED);
	oct_forward(FED, FED);
	assert_int_equal(oct_close(), 0);
	assert_int_equal(rte_event_eth_tx_adapter_free((uint8_t)R.nic[1]), 0);
}

static const struct CMUnitTest octeontx2_feed[] = {
	OCT_TEST(vectors_wait_as_long_as_the_ports_can_if_nobody_says),
	OCT_TEST(vectors_that_are_to_wait_too_long_fall_back_to_single_events),
	OCT_TEST(a_feed_has_a_queue_of_its_one_type),
	OCT_TEST(ordered_packets_must_not_leave_by_a_port_that_only_sends),
	OCT_TEST(a_port_that_comes_back_without_order_is_told_of),
};

UNIT_SUITE(octeontx2_feed)
