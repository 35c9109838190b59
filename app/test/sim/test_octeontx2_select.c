/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the octeontx2 pack's variants are chosen, and what refuses to go with them. */

#include <errno.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_eventdev.h>

#include <hy_conform.h>
#include <hy_mbuf.h>

#include "octeontx2_rig.h"

static void
what_its_devices_are_built_for_is_chosen(void **state)
{
	const struct oct_spec spec = { .vector_size = 32, .sched_type = RTE_SCHED_TYPE_ATOMIC };
	const struct hy_selection *rx;

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso_vector", "sso_vector");
	for (unsigned int i = 0; i < NICS; i++) {
		rx = hy_hal_selection(R.hal, "ethdev_rx", R.nic[i]);
		assert_string_equal(rx->chosen->impl.variant, "npa");
		assert_string_equal(hy_hal_port_plan(R.hal, R.nic[i])->mempool_ops, SIMNIC_POOL);
	}
}

static void
ordered_packets_must_be_sent_by_the_device(void **state)
{
	const struct oct_spec spec = { .sched_type = RTE_SCHED_TYPE_ORDERED };
	char reason[HY_REASON_SIZE] = "", error[HY_HAL_ERROR_SIZE], wanted[HY_REASON_SIZE];

	RTE_SET_USED(state);
	oct_devices(&spec);
	oct_feed(&spec);
	oct_select();
	assert_int_equal(hy_event_check((uint8_t)R.device.id, reason, sizeof(reason)), 0);
	snprintf(wanted, sizeof(wanted), "ethdev_tx@%u=own_queue", R.nic[1]);
	assert_int_equal(hy_hal_force(R.hal, wanted, error), 0);
	oct_select();
	assert_int_equal(hy_event_check((uint8_t)R.device.id, reason, sizeof(reason)), -ENOTSUP);
	snprintf(wanted, sizeof(wanted), "ethdev_tx of port %u", R.nic[1]);
	assert_non_null(strstr(reason, wanted));
}

static void
ports_that_feed_no_event_device_are_polled_and_send_by_themselves(void **state)
{
	const struct oct_spec spec = { 0 };

	RTE_SET_USED(state);
	oct_devices(&spec);
	oct_select();
	assert_chosen("own_queue", "single");
	assert_refused(hy_hal_selection(R.hal, "ethdev_tx", R.nic[0]), "sso", HY_FATE_REJECTED,
		"the port feeds no event device");
	assert_refused(oct_selected("event_rx", R.device), "sso_vector", HY_FATE_REJECTED,
		"nothing feeds it");
}

/* NICs of other vendors reach it by an adapter in software, and are sent to by ethdev. */
static void
nics_of_others_get_no_variant_of_the_pack(void **state)
{
	const struct hy_ethdev_rx_config queue = { .queue = 0 };
	struct hy_event_params params = { .sched_type = RTE_SCHED_TYPE_ATOMIC,
		.nb_workers = 1,
		.nb_queues = 1,
		.vector_size = 32,
		.vector_timeout_ns = 50000,
		.socket = SOCKET_ID_ANY };
	struct hy_ethdev_rx_config queues[1] = { queue };
	char reason[HY_REASON_SIZE], wanted[HY_REASON_SIZE];

	RTE_SET_USED(state);
	queues[0].port = R.nic[0] = nic_probe("sim_ice0", NULL);
	assert_int_equal(rte_vdev_init(OCT_DEVICE, NULL), 0);
	R.device = (struct hy_target){ .kind = HY_TARGET_EVENT,
		.id = (uint16_t)rte_event_dev_get_dev_id(OCT_DEVICE) };
	assert_int_equal(hy_hal_create(&R.hal), 0);
	assert_int_equal(hy_hal_plan(R.hal, wanted), 0);
	oct_nic_start(R.nic[0]);
	params.device = (uint8_t)R.device.id;
	params.queues = queues;
	assert_int_equal(hy_event_create(&params, reason, sizeof(reason)), 0);
	R.fed = true;
	oct_select();
	assert_string_equal(oct_selected("event_rx", R.device)->chosen->impl.variant, "single");
	snprintf(wanted, sizeof(wanted),
		"with port %u it lacks rx_internal: the driver does not report INTERNAL_PORT",
		R.nic[0]);
	assert_refused(oct_selected("event_rx", R.device), "sso_vector", HY_FATE_REJECTED, wanted);
	assert_refused(hy_hal_selection(R.hal, "ethdev_rx", R.nic[0]), "npa", HY_FATE_REJECTED,
		"the driver does not ask for pools of " SIMNIC_POOL);
	snprintf(wanted, sizeof(wanted),
		"event device %u with it lacks tx_internal: the driver does not report INTERNAL_PORT",
		R.device.id);
	assert_refused(hy_hal_selection(R.hal, "ethdev_tx", R.nic[0]), "sso", HY_FATE_REJECTED,
		wanted);
}

static void
no_suite_tries_what_the_device_sends(void **state)
{
	static const char *const variants[] = { "sso", "sso_vector" };
	const struct hy_conform_params params = { .cases = 1 };
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_create(&R.hal), 0);
	for (size_t v = 0; v < RTE_DIM(variants); v++) {
		assert_int_equal(hy_conform_run(R.hal, "ethdev_tx", variants[v], &params, &result),
			0);
		assert_int_equal(result.outcome, HY_CONFORM_SKIPPED);
		assert_string_equal(result.text,
			"sends by an event device that feeds the workers, which no suite has");
	}
}

static uint16_t
nothing_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	return 0;
}

/* The driver would wait for ever to send what the device has not handed out. */
static void
graph_with_another_source(const char *force, int wanted)
{
	const struct oct_spec spec = { .force = force };
	const struct hy_node_desc other = { .name = "oct_other",
		.flags = HY_NODE_SOURCE,
		.impl.process = nothing_process,
		.edges = { "ethdev_tx-0" } };
	static const char *const patterns[] = { "event_rx-oct", "oct_other" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 2,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.burst = 64,
		.socket = SOCKET_ID_ANY };
	struct hy_graph *graph = NULL;
	hy_node_id id;

	oct_open(&spec);
	assert_int_equal(hy_node_register(&other, &id), 0);
	hy_graph_destroy(R.graphs[--R.nb_graphs]); /* its worker's place */
	assert_int_equal(hy_graph_create("oct-other", &params, &graph), wanted);
	if (wanted != 0)
		assert_non_null(strstr(unit_log(),
			"source oct_other brings packets that event device 0 did not hand out"));
	hy_graph_destroy(graph);
	hy_node_unregister(id);
	assert_int_equal(oct_close(), 0);
}

static void
sending_by_the_device_refuses_a_graph_with_another_source(void **state)
{
	RTE_SET_USED(state);
	graph_with_another_source("ethdev_tx=sso", -EINVAL);
}

static void
sending_vectors_by_the_device_refuses_it_too(void **state)
{
	RTE_SET_USED(state);
	graph_with_another_source("ethdev_tx=sso_vector", -EINVAL);
}

static void
own_queues_send_for_another_source(void **state)
{
	RTE_SET_USED(state);
	graph_with_another_source("ethdev_tx=own_queue", 0);
}

static const struct CMUnitTest octeontx2_select[] = {
	OCT_TEST(what_its_devices_are_built_for_is_chosen),
	OCT_TEST(ordered_packets_must_be_sent_by_the_device),
	OCT_TEST(ports_that_feed_no_event_device_are_polled_and_send_by_themselves),
	OCT_TEST(nics_of_others_get_no_variant_of_the_pack),
	OCT_TEST(no_suite_tries_what_the_device_sends),
	OCT_TEST(sending_by_the_device_refuses_a_graph_with_another_source),
	OCT_TEST(sending_vectors_by_the_device_refuses_it_too),
	OCT_TEST(own_queues_send_for_another_source),
};

UNIT_SUITE(octeontx2_select)
