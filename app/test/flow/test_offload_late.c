/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that answer late: what one poll, one look at the counters and the end take of them is bounded. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "access_fixture.h"

#define LATE_US 4000
#define DENIES 60
#define CALLS_OF_A_POLL (20000 / LATE_US + 1) /* hy_offload.h: 20 ms, and the call under way */

static unsigned int created, queried, destroyed;

static int
refuse_late(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	RTE_SET_USED(port);
	RTE_SET_USED(attr);
	RTE_SET_USED(items);
	RTE_SET_USED(actions);
	RTE_SET_USED(flow);
	created++;
	rte_delay_us_sleep(LATE_US);
	return rte_flow_error_set(error, EREMOTEIO, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "late");
}

static int
query_counted(uint16_t port, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	queried++;
	return hy_flow_simulator.query(port, flow, count, error);
}

static int
destroy_counted(uint16_t port, void *flow, struct rte_flow_error *error)
{
	destroyed++;
	return hy_flow_simulator.destroy(port, flow, error);
}

static void
denies_commit(void)
{
	for (uint32_t id = 1; id <= DENIES; id++) {
		const struct hy_flow_rule rule = access_source(id, HY_RULE_DENY, HOST(id), 32);

		access_rule_set(&rule);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
}

/* All denies are in hardware, without a jump before them; from now on the port answers late. */
static void
late_open(void)
{
	const struct hy_flow_sim_faults late = { .slow_us = LATE_US };

	access_open("cnxk", "net_cn10k");
	denies_commit();
	access_settle();
	assert_int_equal(access_stats().drop_rules, DENIES);
	A.provider.query = query_counted;
	A.provider.destroy = destroy_counted;
	hy_flow_sim_fault(A.sim, &late);
	queried = destroyed = 0;
}

static void
one_poll_asked_a_port_that_refuses_late_for_every_rule(void **state)
{
	unsigned int polls = 0;

	RTE_SET_USED(state);
	access_open("mlx5", "mlx5_pci");
	A.provider.create = refuse_late;
	denies_commit();
	rte_delay_us_sleep(2000);
	created = 0;
	for (unsigned int before = 0; created < DENIES && polls < 2 * DENIES; before = created) {
		const bool pending = hy_offload_poll(A.offload) > 0;

		assert_int_equal(pending, created < DENIES); /* until the last is tried */
		assert_in_range(created - before, 1, CALLS_OF_A_POLL);
		polls++;
	}
	print_message("%u rules refused in %u polls\n", created, polls);
	assert_int_equal(created, DENIES);
	assert_true(polls >= DENIES / CALLS_OF_A_POLL);
	assert_string_equal(hy_offload_reason(A.offload, 1), "the port refuses it: late");
}

static void
put_off(void)
{
	rte_delay_us_sleep(50000);
}

/* The time of day counted: a machine under load got one rule a poll into hardware. */
static void
a_poll_that_the_machine_put_off_tried_one_rule(void **state)
{
	RTE_SET_USED(state);
	access_open("mlx5", "mlx5_pci");
	denies_commit();
	rte_delay_us_sleep(2000);
	unit_alloc_hook = put_off; /* the memory for the ranks of rules to install */
	hy_offload_poll(A.offload);
	assert_null(unit_alloc_hook);
	assert_in_range(access_stats().drop_rules, 2, DENIES);
}

static void
one_poll_read_every_counter_of_a_late_port(void **state)
{
	RTE_SET_USED(state);
	late_open();
	for (unsigned int before = 0, i = 0; i < 10; before = queried, i++) {
		hy_offload_poll(A.offload);
		assert_in_range(queried - before, 1, CALLS_OF_A_POLL);
	}
	queried = 0;
	hy_offload_read(A.offload);
	assert_in_range(queried, 1, DENIES); /* as many as it tells in 250 ms */
}

/* They go poll by poll, and software denies meanwhile. */
static void
a_demotion_removed_every_deny_of_a_late_port_at_once(void **state)
{
	unsigned int polls = 0;

	RTE_SET_USED(state);
	late_open();
	A.offload->params.demote_after = 1;
	A.offload->worker[0].mismatches = 1;
	for (unsigned int before = 0; destroyed < DENIES && polls < 2 * DENIES;
		before = destroyed) {
		hy_offload_poll(A.offload);
		assert_in_range(destroyed - before, 1, CALLS_OF_A_POLL);
		polls++;
	}
	assert_int_equal(access_stats().state, HY_OFFLOAD_DEMOTED);
	assert_int_equal(destroyed, DENIES);
	assert_int_equal(access_stats().leaving, 0);
	assert_true(polls >= DENIES / CALLS_OF_A_POLL);
	assert_true(access_arrives(HOST(1)));
}

/* What a commit promises, it keeps, also of rules that are on their way out. */
static void
a_commit_after_a_demotion_waits_for_the_denies_of_a_late_port(void **state)
{
	RTE_SET_USED(state);
	late_open();
	A.offload->params.demote_after = 1;
	A.offload->worker[0].mismatches = 1;
	hy_offload_poll(A.offload);
	assert_in_range(destroyed, 1, CALLS_OF_A_POLL);
	assert_int_equal(hy_policy_remove(A.policy, DENIES), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	assert_int_equal(destroyed, DENIES);
	assert_true(access_arrives(HOST(DENIES)));
}

static void
the_end_waited_until_a_late_port_had_removed_each_rule(void **state)
{
	const struct hy_flow_sim_faults later = { .slow_us = 50000 };

	RTE_SET_USED(state);
	late_open();
	hy_flow_sim_fault(A.sim, &later);
	hy_offload_closing(A.offload);
	hy_offload_destroy(A.offload);
	A.offload = NULL;
	assert_in_range(destroyed, 1, DENIES / 2);
	assert_non_null(strstr(unit_log(), "flow rules are left to its driver"));
}

static const struct CMUnitTest offload_late_tests[] = {
	ACCESS_TEST(one_poll_asked_a_port_that_refuses_late_for_every_rule),
	ACCESS_TEST(a_poll_that_the_machine_put_off_tried_one_rule),
	ACCESS_TEST(one_poll_read_every_counter_of_a_late_port),
	ACCESS_TEST(a_demotion_removed_every_deny_of_a_late_port_at_once),
	ACCESS_TEST(a_commit_after_a_demotion_waits_for_the_denies_of_a_late_port),
	ACCESS_TEST(the_end_waited_until_a_late_port_had_removed_each_rule),
};

UNIT_SUITE(offload_late_tests)
