/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that a port refuses only after packets got their marks. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "failing_fixture.h"
#include "flow_fixture.h"
#include "hal/flow/offload.h"

static struct rte_mbuf *packets[1];
static uint8_t frame[FRAME_MAX];

/* net/cnxk writes the rule to the NIC first, and then runs out of RSS groups. */
static void
late_take(void)
{
	if (flow_hold(packets, frame, flow_exact_frame(frame, 1), 1) != 1)
		fail_msg("no packet came");
}

static void
mark_of_a_rule_that_was_refused_after_all_is_stale(void **state)
{
	RTE_SET_USED(state);
	memset(&failing, 0, sizeof(failing));
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){
			.provider = &failing_provider, .sample_every = 1000000 });
	flow_exact_rules(1, 1);
	failing.calls = 0;
	failing.fail_at = 1;
	failing.fail_for = 1;
	failing.fail_with = -EINVAL;
	failing.late = late_take;
	flow_settle();
	failing.late = NULL;
	assert_string_equal(hy_offload_reason(R->offload, 1),
		"the port refuses it: refused by the test");
	flow_exact_rules(2, 1);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	flow_send(packets, 1);
	assert_int_equal(R->compared, 1);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().stale, 1);
}

#define GENERATIONS 7

static unsigned int refusals;

/* The first packet is that of rule 1. As many rules are refused as a slot has generations. */
static void
late_take_of_the_first(void)
{
	if (refusals++ == 0)
		late_take();
	if (refusals == GENERATIONS)
		failing.fail_at = 0;
}

/* Within one poll, each further rule would have the slot of the one before, and the last its mark. */
static void
slot_of_a_rule_that_was_refused_is_in_quarantine(void **state)
{
	RTE_SET_USED(state);
	memset(&failing, 0, sizeof(failing));
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .mark_max = 15 },
		(struct hy_offload_params){
			.provider = &failing_provider, .max_rules = 1, .sample_every = 1000000 });
	assert_int_equal(R->offload->generations, GENERATIONS);
	flow_exact_rules(1, GENERATIONS + 1);
	usleep(2 * R->offload->params.settle_us);
	refusals = 0;
	failing.calls = 0;
	failing.fail_at = 1;
	failing.fail_with = -EINVAL;
	failing.late = late_take_of_the_first;
	hy_offload_poll(R->offload);
	failing.late = NULL;
	assert_true(refusals > 0);
	flow_send(packets, 1);
	assert_int_equal(R->compared, 1);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(refusals, R->offload->nb_slots);
	failing.fail_at = 0;
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
}

static struct rte_mbuf *many[64];

/* Packets of three rules in hardware, for a time in which missing marks are noticed. */
static void
traffic(unsigned int rounds)
{
	for (unsigned int r = 0; r < rounds; r++) {
		for (unsigned int i = 0; i < RTE_DIM(many); i++)
			flow_send(many, flow_hold(many, frame, flow_exact_frame(frame, i % 3), 1));
		rte_delay_us_sleep(50000);
		hy_offload_poll(R->offload);
	}
}

/* The port leaves promiscuous mode, and refuses each rule that would lead to the policy's for a moment. */
static void
jump_is_refused_once(int rc, unsigned int nb_calls)
{
	uint64_t marked;

	memset(&failing, 0, sizeof(failing));
	flow_open(&flow_profiles[2], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .provider = &failing_provider });
	assert_int_equal(R->offload->params.driver->group, 1);
	assert_int_equal(rte_eth_promiscuous_enable(R->port->id), 0);
	flow_exact_rules(0, 3);
	flow_settle();
	traffic(2);
	marked = flow_stats().marked;
	assert_true(marked > 0);
	assert_int_equal(rte_eth_promiscuous_disable(R->port->id), 0);
	failing.fail_at = failing.calls + 1;
	failing.fail_for = nb_calls;
	failing.fail_with = rc;
	hy_offload_poll(R->offload);
	assert_non_null(strstr(unit_log(), "no rule leads to the policy's rules, until"));
	assert_true(hy_offload_is_cut(R->offload));
	marked = flow_stats().marked;
	traffic(10);
	assert_int_equal(flow_stats().marked, marked);
	traffic(25);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
	assert_false(hy_offload_is_cut(R->offload));
	assert_true(flow_stats().marked > marked);
	assert_non_null(strstr(unit_log(), "a rule leads to the policy's rules again"));
	assert_int_equal(R->wrong, 0);
	flow_assert_counted();
}

static void
a_jump_that_was_refused_for_a_moment_demoted_an_honest_port(void **state)
{
	RTE_SET_USED(state);
	jump_is_refused_once(-EBUSY, 4); /* at each priority */
}

static void
a_jump_for_which_no_memory_was_left_demoted_an_honest_port(void **state)
{
	RTE_SET_USED(state);
	jump_is_refused_once(-ENOMEM, 4);
}

static void
a_jump_that_was_not_answered_demoted_an_honest_port(void **state)
{
	RTE_SET_USED(state);
	jump_is_refused_once(-ETIMEDOUT, 1);
}

static const struct CMUnitTest offload_refused_tests[] = {
	FLOW_TEST(mark_of_a_rule_that_was_refused_after_all_is_stale),
	FLOW_TEST(slot_of_a_rule_that_was_refused_is_in_quarantine),
	FLOW_TEST(a_jump_that_was_refused_for_a_moment_demoted_an_honest_port),
	FLOW_TEST(a_jump_for_which_no_memory_was_left_demoted_an_honest_port),
	FLOW_TEST(a_jump_that_was_not_answered_demoted_an_honest_port),
};

UNIT_SUITE(offload_refused_tests)
