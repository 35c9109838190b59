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

/* A port with rules that traffic meets, and by one more rule that leads there, in promiscuous mode. */
static void
led_open(const struct hy_flow_provider *provider)
{
	memset(&failing, 0, sizeof(failing));
	flow_open(&flow_profiles[2], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .provider = provider });
	assert_int_equal(R->offload->params.driver->group, 1);
	assert_int_equal(rte_eth_promiscuous_enable(R->port->id), 0);
	flow_exact_rules(0, 3);
	flow_settle();
	traffic(2);
	assert_true(flow_stats().marked > 0);
	assert_null(hy_offload_reason(R->offload, 1));
}

/* It leaves promiscuous mode, and does not take the new jump; soon it does. */
static void
jump_is_cut_for_a_moment(bool marks)
{
	uint64_t marked;

	assert_int_equal(rte_eth_promiscuous_disable(R->port->id), 0);
	hy_offload_poll(R->offload);
	assert_non_null(strstr(unit_log(), "no rule leads to the policy's rules, until"));
	assert_true(hy_offload_is_cut(R->offload));
	assert_string_equal(hy_offload_reason(R->offload, 1), "no rule of the port leads to it");
	marked = flow_stats().marked;
	traffic(10);
	assert_true(marks ? flow_stats().marked > marked : flow_stats().marked == marked);
	traffic(25);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
	assert_false(hy_offload_is_cut(R->offload));
	assert_null(hy_offload_reason(R->offload, 1));
	assert_true(flow_stats().marked > marked);
	assert_non_null(strstr(unit_log(), "a rule leads to the policy's rules again"));
	assert_int_equal(R->wrong, 0);
	flow_assert_counted();
}

static void
jump_is_refused_once(int rc, unsigned int nb_calls)
{
	led_open(&failing_provider);
	failing.fail_at = failing.calls + 1;
	failing.fail_for = nb_calls;
	failing.fail_with = rc;
	jump_is_cut_for_a_moment(false);
}

static bool unanswered, created; /* the next rule; and it is there all the same */
static int nothing;              /* the handle of one that is not */

static int
create_unanswered(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions, void **flow,
	struct rte_flow_error *error)
{
	if (!unanswered)
		return hy_flow_simulator.create(port, attr, items, actions, flow, error);
	unanswered = false;
	*flow = &nothing;
	if (created && hy_flow_simulator.create(port, attr, items, actions, flow, error) != 0)
		fail_msg("the rule was refused");
	return -ETIMEDOUT;
}

static int
destroy_unanswered(uint16_t port, void *flow, struct rte_flow_error *error)
{
	return flow == &nothing ? -ENOENT : hy_flow_simulator.destroy(port, flow, error);
}

static void
jump_is_unanswered_once(bool is_created)
{
	static struct hy_flow_provider provider;

	provider = hy_flow_simulator;
	provider.create = create_unanswered;
	provider.destroy = destroy_unanswered;
	unanswered = false;
	led_open(&provider);
	unanswered = true;
	created = is_created;
	jump_is_cut_for_a_moment(is_created);
	assert_false(unanswered);
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

static void
a_jump_with_a_handle_that_was_not_answered_demoted_an_honest_port(void **state)
{
	RTE_SET_USED(state);
	jump_is_unanswered_once(false);
}

static void
a_jump_that_was_created_and_not_answered_is_replaced(void **state)
{
	RTE_SET_USED(state);
	jump_is_unanswered_once(true);
}

static const struct CMUnitTest offload_refused_tests[] = {
	FLOW_TEST(mark_of_a_rule_that_was_refused_after_all_is_stale),
	FLOW_TEST(slot_of_a_rule_that_was_refused_is_in_quarantine),
	FLOW_TEST(a_jump_that_was_refused_for_a_moment_demoted_an_honest_port),
	FLOW_TEST(a_jump_for_which_no_memory_was_left_demoted_an_honest_port),
	FLOW_TEST(a_jump_that_was_not_answered_demoted_an_honest_port),
	FLOW_TEST(a_jump_with_a_handle_that_was_not_answered_demoted_an_honest_port),
	FLOW_TEST(a_jump_that_was_created_and_not_answered_is_replaced),
};

UNIT_SUITE(offload_refused_tests)
