/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that outlive their use: the port refused to remove them, or its driver restored them. */

#include <errno.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include <hy_hal_live.h>

#include "app/test/hal/port_event.h"
#include "hal/flow/offload.h"

#include "failing_fixture.h"
#include "flow_fixture.h"

#define RULES 4u

static struct rte_mbuf *packets[64];
static uint8_t frame[FRAME_MAX];
static struct hy_flow_provider provider;

static struct hy_offload_params
few_slots(void)
{
	provider = hy_flow_simulator;
	return (struct hy_offload_params){
		.provider = &provider, .max_rules = RULES, .sample_every = 1000000
	};
}

/* All rules are in hardware, and the port stops without removing any. */
static void
open_with_rules_that_stay(void)
{
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .mark_max = 255 }, few_slots());
	flow_exact_rules(0, RULES);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RULES);
	provider.destroy = refuse_destroy;
	hy_offload_down(R->offload, true);
	provider.destroy = hy_flow_simulator.destroy;
	assert_int_equal(flow_stats().failed, RULES);
	assert_int_equal(R->offload->stuck, RULES);
}

/* The reset follows the stop. */
static void
rule_that_stayed_in_a_stopped_port_is_gone_with_its_reset(void **state)
{
	RTE_SET_USED(state);
	open_with_rules_that_stay();
	hy_offload_down(R->offload, false);
	assert_int_equal(R->offload->stuck, 0);
	hy_flow_sim_flush(R->sim);
	assert_int_equal(hy_offload_up(R->offload), 0);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RULES);
	flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 1), 32));
	assert_int_equal(flow_stats().marked, 32);
	assert_int_equal(R->wrong, 0);
}

/* Another device has its name. */
static void
rule_that_stayed_in_a_removed_port_is_none_of_the_next_one(void **state)
{
	struct hy_offload_params params;
	char reason[256];

	RTE_SET_USED(state);
	open_with_rules_that_stay();
	params = few_slots();
	params.driver = R->offload->params.driver;
	hy_offload_gone(R->offload);
	hy_offload_destroy(R->offload);
	hy_flow_sim_flush(R->sim);
	assert_int_equal(hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
				 sizeof(reason)),
		0);
	assert_int_equal(R->offload->stuck, 0);
}

/* Notes each mark of few_slots() for a device that then leaves its port id to the next one. */
static uint16_t
device_with_rules_that_stay(void)
{
	struct flow flows[1 << 3] = { 0 };
	struct hy_offload o = { .slot_bits = 3, .flows = flows };

	assert_int_equal(rte_vdev_init("net_null_kept", NULL), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null_kept", &o.port), 0);
	for (uint32_t slot = 0; slot < RTE_DIM(flows); slot++) {
		flows[slot].generation = 1;
		hy_offload_kept_note(&o, slot);
	}
	assert_int_equal(rte_vdev_uninit("net_null_kept"), 0);
	return o.port;
}

static void
rule_that_stayed_is_noted_although_another_device_had_its_mark(void **state)
{
	const uint16_t port = device_with_rules_that_stay();
	struct hy_offload_params params;
	char reason[256];

	RTE_SET_USED(state);
	open_with_rules_that_stay();
	assert_int_equal(R->port->id, port);
	assert_int_equal(R->offload->slot_bits, 3);
	params = few_slots();
	params.driver = R->offload->params.driver;
	params.settle_us = 1000;
	hy_offload_destroy(R->offload);
	assert_int_equal(hy_offload_create(R->policy, port, &params, &R->offload, reason,
				 sizeof(reason)),
		0);
	assert_int_equal(R->offload->stuck, RULES);
	for (uint32_t id = 0; id < RULES; id++)
		assert_int_equal(hy_policy_remove(R->policy, id), 0);
	flow_exact_rules(RULES, RULES);
	flow_settle();
	for (uint32_t id = 0; id < 2 * RULES; id++)
		flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, id), 4));
	assert_int_equal(R->wrong, 0);
	assert_true(flow_stats().marked > 0 && flow_stats().stale > 0);
}

static void
poll_hal(void)
{
	char error[HY_HAL_ERROR_SIZE];
	int rc;

	do {
		rc = hy_hal_poll(R->hal, &R->graph, 1, NULL, error);
		assert_true(rc >= 0);
		hy_graph_walk(R->graph);
		hy_graph_rest(R->graph);
	} while (rc > 0);
}

/* As net/hns3 does: rules survive the driver's recovery, and the port does not say so. */
static void
recover(void)
{
	assert_int_equal(port_event_raise(R->port->id, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	poll_hal();
	assert_int_equal(flow_stats().state, HY_OFFLOAD_DOWN);
	assert_int_equal(port_event_raise(R->port->id, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	poll_hal();
	assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
	flow_settle();
}

/* Marks up to 15 make two slots of seven generations: eight recoveries would use a mark again. */
static void
rules_that_outlive_a_recovery_mark_for_no_others(void **state)
{
	struct hy_offload_params params = few_slots();
	uint32_t sent = 0;

	RTE_SET_USED(state);
	params.max_rules = 1;
	flow_open_followed(&flow_profiles[0], (struct hy_flow_sim_params){ .mark_max = 15 },
		params);
	poll_hal();
	assert_int_equal(R->offload->nb_slots, 2);
	flow_exact_rules(1, 1);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	assert_int_equal(hy_policy_remove(R->policy, 1), 0);
	for (uint32_t id = 2; id < 22; id++) {
		recover();
		flow_exact_rules(id, 1); /* commits the removal of the rule before */
		flow_settle();
		assert_true(flow_hold(packets, frame, flow_exact_frame(frame, 1), 16) == 16);
		assert_true((packets[0]->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0); /* it marks on */
		flow_send(packets, 16);
		sent += 16;
		assert_int_equal(hy_policy_remove(R->policy, id), 0);
	}
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().stale, sent);
}

#define IDS 6u
#define STEPS 400

/* What the port did with the offload's calls. */
static struct moods {
	bool calm; /* while the port is tried */
	unsigned int stayed, refused_late, unanswered;
} moods;

static bool
one_of(uint32_t n)
{
	return rnd(&R->seed) % n == 0;
}

static int
moody_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	if (moods.calm || !one_of(3))
		return hy_flow_simulator.destroy(port, flow, error);
	moods.stayed++;
	return refuse_destroy(port, flow, error);
}

/* Of the rules that it refuses, some are there all the same; so are some without an answer. */
static int
moody_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	int rc = hy_flow_simulator.create(port, attr, items, actions, flow, error);

	if (rc != 0 || moods.calm || !one_of(4))
		return rc;
	if (one_of(2)) {
		moods.unanswered++;
		*flow = NULL;
		return -ETIMEDOUT;
	}
	moods.refused_late++;
	hy_flow_simulator.destroy(port, *flow, error);
	return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "not now");
}

static void
port_returns(void)
{
	moods.calm = true;
	assert_int_equal(hy_offload_up(R->offload), 0);
	moods.calm = false;
}

static void
moody_step(bool there[IDS])
{
	const uint32_t id = (uint32_t)(rnd(&R->seed) % IDS);

	switch (rnd(&R->seed) % 8) {
	case 0:
		hy_offload_down(R->offload, true);
		port_returns();
		break;
	case 1:
		hy_offload_recovers(R->offload);
		port_returns();
		break;
	case 2:
		hy_offload_down(R->offload, one_of(2));
		hy_offload_down(R->offload, false);
		hy_flow_sim_flush(R->sim);
		port_returns();
		break;
	default:
		if (there[id]) {
			assert_int_equal(hy_policy_remove(R->policy, id), 0);
			flow_commit();
		} else {
			flow_exact_rules(id, 1);
		}
		there[id] = !there[id];
	}
	flow_settle();
}

/* Four slots of three generations, which come round. */
static void
rules_that_stay_by_chance_never_mark_for_others(void **state)
{
	struct hy_offload_params params = few_slots();
	bool there[IDS] = { false };

	RTE_SET_USED(state);
	memset(&moods, 0, sizeof(moods));
	params.max_rules = 2;
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .mark_max = 15 }, params);
	assert_int_equal(R->offload->generations, 3);
	provider.create = moody_create;
	provider.destroy = moody_destroy;
	for (unsigned int s = 0; s < STEPS; s++) {
		moody_step(there);
		for (uint32_t id = 0; id < IDS; id++)
			flow_send(packets,
				flow_hold(packets, frame, flow_exact_frame(frame, id), 4));
		assert_int_equal(R->wrong, 0);
	}
	print_message(
		"%u rules stayed, %u were refused late, %u not answered; %ju packets by marks, "
		"%ju with stale ones\n",
		moods.stayed, moods.refused_late, moods.unanswered, (uintmax_t)flow_stats().marked,
		(uintmax_t)flow_stats().stale);
	assert_true(moods.stayed > 0 && moods.refused_late > 0 && moods.unanswered > 0);
	assert_true(flow_stats().marked > 0 && flow_stats().stale > 0);
	flow_assert_counted();
	provider = hy_flow_simulator;
}

static const struct CMUnitTest offload_kept_tests[] = {
	FLOW_TEST(rule_that_stayed_in_a_stopped_port_is_gone_with_its_reset),
	FLOW_TEST(rule_that_stayed_in_a_removed_port_is_none_of_the_next_one),
	FLOW_TEST(rule_that_stayed_is_noted_although_another_device_had_its_mark),
	FLOW_TEST(rules_that_outlive_a_recovery_mark_for_no_others),
	FLOW_TEST(rules_that_stay_by_chance_never_mark_for_others),
};

UNIT_SUITE(offload_kept_tests)
