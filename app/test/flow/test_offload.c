/* SPDX-License-Identifier: BSD-3-Clause */
/* Classification by marks of a port is the policy's, whatever becomes of the rules in hardware. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hal/flow/offload.h"

#include <hy_plugin.h>

#include "app/test/unit_plugin.h"
#include "flow_fixture.h"

static void
assert_all_right(uint64_t at_least)
{
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, R->packets);
	assert_true(R->compared >= at_least);
	flow_assert_counted();
}

/* One random change: a rule comes, goes, or becomes another. */
static void
churn(uint32_t ids)
{
	const uint32_t id = rnd(&R->seed) % ids;
	const struct hy_flow_rule rule = flow_rule(id, &R->seed);

	if (hy_policy_replace(R->policy, &rule) == 0) {
		if (rnd(&R->seed) % 3 == 0)
			assert_int_equal(hy_policy_remove(R->policy, id), 0);
	} else {
		assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	}
	flow_commit();
}

#define PROFILE_TEST(test, index, name) \
	static void test##_##name(void **state) \
	{ \
		RTE_SET_USED(state); \
		test(&flow_profiles[index]); \
	}
#define PROFILE_TESTS(test) \
	PROFILE_TEST(test, 0, generic) \
	PROFILE_TEST(test, 1, cnxk) \
	PROFILE_TEST(test, 2, mlx5) \
	PROFILE_TEST(test, 3, ice) \
	PROFILE_TEST(test, 4, i40e) \
	PROFILE_TEST(test, 5, iavf)

#ifdef SANITIZED
#define CHURN 20
#else
#define CHURN 100
#endif

static void
classes_are_the_policys_while_rules_change(const struct flow_profile *profile)
{
	struct hy_offload_stats s;

	flow_open(profile, (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 4 });
	flow_rules_add(0, 60);
	flow_settle();
	flow_traffic(4000);
	for (int i = 0; i < CHURN; i++) {
		churn(100);
		flow_traffic(50);
		hy_offload_poll(R->offload);
		flow_traffic(50);
		if (i % 10 == 0)
			flow_settle();
	}
	assert_all_right(4000 + 100 * CHURN);
	s = flow_stats();
	print_message("%s: %u of %u rules in hardware, %ju of %ju packets by marks, %ju stale, %ju "
		      "held to software's rules\n",
		profile->name, s.hw_rules, s.hw_rules + s.sw_rules, (uintmax_t)s.marked,
		(uintmax_t)R->packets, (uintmax_t)s.stale, (uintmax_t)s.residue);
	assert_true(s.hw_rules > 0);
	assert_true(s.marked > CHURN / 2);
	assert_int_equal(s.mismatches, 0);
	assert_true(s.sampled > 0);
}

PROFILE_TESTS(classes_are_the_policys_while_rules_change)

/* The port takes eight rules. What is hit most gets in, though it was last. */
static void
full_table_keeps_what_is_hit_most(const struct flow_profile *profile)
{
	struct rte_mbuf *packets[32];
	struct hy_offload_stats s;
	static uint8_t frame[FRAME_MAX];
	uint32_t len;

	flow_open(profile, (struct hy_flow_sim_params){ .table_size = 8 },
		(struct hy_offload_params){ 0 });
	flow_exact_rules(0, 50);
	flow_settle();
	s = flow_stats();
	assert_true(s.full);
	assert_true(s.hw_rules > 0 && s.hw_rules <= 8);
	assert_string_equal(hy_offload_reason(R->offload, 49), "the port has no room");
	len = flow_exact_frame(frame, 49);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(flow_hold(packets, frame, len, 32), 32);
		flow_send(packets, 32);
	}
	flow_settle();
	assert_null(hy_offload_reason(R->offload, 49));
	s = flow_stats();
	assert_true(s.evicted > 0);
	flow_hold(packets, frame, len, 32);
	flow_send(packets, 32);
	assert_int_equal(flow_stats().marked - s.marked, 32);
	flow_traffic(2000);
	assert_all_right(2160);
}

PROFILE_TESTS(full_table_keeps_what_is_hit_most)

static void
commit_texts(const char *const texts[], unsigned int n)
{
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	for (unsigned int i = 0; i < n; i++) {
		if (hy_flow_rule_parse(texts[i], &rule, error) != 0 ||
			hy_policy_add(R->policy, &rule) != 0)
			fail_msg("%s: %s", texts[i], error);
	}
	flow_commit();
}

/*
 * A flow director says -EINVAL to a rule of other fields than its neighbours', as it does when it is
 * full. Only then are the rules behind it not even tried.
 */
static void
rule_that_does_not_go_with_its_neighbours_is_not_taken_for_want_of_room(void **state)
{
	static const char *const texts[] = {
		"rule 1 class 1 precedence 1 proto udp dport 53",
		"rule 2 class 2 precedence 2 proto tcp",
		"rule 3 class 3 precedence 3 proto udp",
		"rule 4 class 4 precedence 4 proto udp sport 80 dport 443",
		"rule 5 class 5 precedence 5 proto udp dport 1024",
		"rule 6 class 6 precedence 6 proto sctp sport 80",
		"rule 7 class 7 precedence 7 proto udp dport 80",
	};

	RTE_SET_USED(state);
	flow_open(&flow_profiles[3], (struct hy_flow_sim_params){ .table_size = 4 },
		(struct hy_offload_params){ 0 });
	commit_texts(texts, 6);
	flow_settle();
	assert_false(flow_stats().full);
	assert_int_equal(flow_stats().hw_rules, 4);
	assert_string_equal(hy_offload_reason(R->offload, 3),
		"it overlaps a rule in hardware, which has no priorities");
	assert_string_equal(hy_offload_reason(R->offload, 4),
		"the port refuses it: rules of this flow type match on other fields");
	flow_traffic(2000);
	commit_texts(&texts[6], 1);
	flow_settle();
	assert_true(flow_stats().full);
	assert_int_equal(flow_stats().hw_rules, 4);
	assert_string_equal(hy_offload_reason(R->offload, 7), "the port has no room");
	flow_traffic(2000);
	assert_all_right(4000);
}

/* Whether the port keeps its rules over a stop or not: they are put there anew. */
static void
restarted_port_gets_its_rules_again(const struct flow_profile *profile)
{
	struct hy_offload_stats before, after;
	struct rte_mbuf *packets[32];
	static uint8_t frame[FRAME_MAX];
	const uint32_t len = flow_exact_frame(frame, 3);

	flow_open(profile, (struct hy_flow_sim_params){ 0 }, (struct hy_offload_params){ 0 });
	flow_exact_rules(0, 20);
	flow_settle();
	flow_traffic(500);
	before = flow_stats();
	assert_int_equal(before.hw_rules, 20);
	flow_hold(packets, frame, len, 32); /* marked before, classified after */
	hy_offload_down(R->offload, true);
	hy_flow_sim_stop(R->sim);
	flow_traffic(500);
	assert_string_equal(hy_offload_reason(R->offload, 3), "the port does not run");
	hy_flow_sim_start(R->sim);
	assert_int_equal(hy_offload_up(R->offload), 0);
	flow_settle();
	after = flow_stats();
	assert_int_equal(after.hw_rules, 20);
	assert_int_equal(after.lost, 20);
	assert_int_equal(after.stale, before.stale);
	flow_send(packets, 32);
	assert_int_equal(flow_stats().stale - after.stale, 32);
	flow_traffic(500);
	assert_true(flow_stats().marked > after.marked);
	assert_all_right(1532);
}

PROFILE_TESTS(restarted_port_gets_its_rules_again)

static void
destroyed_offload_leaves_no_rule_in_the_port(const struct flow_profile *profile)
{
	struct hy_flow_sim_stats sim;

	flow_open(profile, (struct hy_flow_sim_params){ 0 }, (struct hy_offload_params){ 0 });
	flow_exact_rules(0, 20);
	flow_settle();
	flow_traffic(500);
	hy_flow_sim_stats(R->sim, &sim);
	assert_true(sim.rules >= 20);
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	hy_flow_sim_stats(R->sim, &sim);
	assert_int_equal(sim.rules, 0);
	flow_traffic(500);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 1000);
}

PROFILE_TESTS(destroyed_offload_leaves_no_rule_in_the_port)

static unsigned int destroyed;

static int
count_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	destroyed++;
	return hy_flow_simulator.destroy(port, flow, error);
}

static void
removed_port_is_left_alone(void **state)
{
	struct hy_flow_provider provider = hy_flow_simulator;

	RTE_SET_USED(state);
	provider.destroy = count_destroy;
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .provider = &provider });
	flow_exact_rules(0, 20);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 20);
	destroyed = 0;
	hy_offload_gone(R->offload);
	flow_rules_add(1000, 20);
	flow_traffic(500);
	flow_settle();
	assert_int_equal(hy_offload_up(R->offload), -ENODEV);
	assert_int_equal(flow_stats().hw_rules, 0);
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	assert_int_equal(destroyed, 0);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 500);
}

/* A create that fails once is a rule in software, and tried again. */
static void
rule_that_the_port_failed_to_take_stays_in_software(void **state)
{
	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	flow_exact_rules(0, 5);
	hy_flow_sim_fail(R->sim, 3, -EINVAL);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 4);
	flow_traffic(500);
	hy_offload_down(R->offload, true); /* starts afresh */
	assert_int_equal(hy_offload_up(R->offload), 0);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 5);
	flow_traffic(500);
	assert_all_right(1000);
}

static uint32_t largest_mark;

/* Probing this driver is to create rules. */
static int
create_small(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	const struct rte_flow_action_mark *mark = actions[0].conf;

	if (actions[0].type == RTE_FLOW_ACTION_TYPE_MARK && mark->id > largest_mark)
		return -EINVAL;
	return hy_flow_simulator.create(port, attr, items, actions, flow, error);
}

/* Of a driver that wants a rule of its own beside those of the policy. */
static void
port_that_takes_fewer_marks_than_before_is_left_without_rules(void **state)
{
	static struct hy_flow_provider provider; /* the offload goes after the test */
	struct hy_flow_sim_stats sim;

	RTE_SET_USED(state);
	provider = hy_flow_simulator;
	provider.create = create_small;
	largest_mark = UINT32_MAX;
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .provider = &provider });
	flow_exact_rules(0, 5);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 5);
	hy_offload_down(R->offload, true);
	largest_mark = 1000;
	assert_int_equal(hy_offload_up(R->offload), -ENOTSUP);
	hy_flow_sim_stats(R->sim, &sim);
	assert_int_equal(sim.rules, 0);
	flow_traffic(500);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_DOWN);
	largest_mark = UINT32_MAX;
	assert_int_equal(hy_offload_up(R->offload), 0);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 5);
	assert_all_right(500);
}

static void
residue_without_a_limit_takes_no_more_memory_than_there_are_rules(void **state)
{
	RTE_SET_USED(state);
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .max_residue = UINT32_MAX });
	flow_rules_add(0, 60);
	flow_settle();
	assert_true(flow_stats().hw_rules > 20);
	flow_traffic(1000);
	assert_true(flow_stats().residue > 0);
	assert_all_right(1000);
}

static void
sample_that_is_too_rare_to_count_is_refused(void **state)
{
	const struct hy_offload_params params = { .provider = &hy_flow_simulator,
		.sample_every = (1u << 31) + 1 };
	struct hy_offload *offload = NULL;
	char reason[256];

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1u << 31 });
	assert_in_range(R->offload->worker[0].gap, 1, UINT32_MAX);
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	assert_int_equal(hy_offload_create(R->policy, R->port->id, &params, &offload, reason,
				 sizeof(reason)),
		-EINVAL);
	assert_null(offload);
	assert_non_null(strstr(reason, "one in 2147483648"));
}

/* Its pattern is compared with each port's driver, and rules are made by what it says. */
static void
flow_driver_of_a_plugin_goes_with_it_and_not_before_the_offload(void **state)
{
	static char error[HY_PLUGIN_ERROR_SIZE];
	const struct hy_flow_driver *before = hy_flow_driver_of("net_null"), *theirs;
	struct hy_plugin *plugin = NULL;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 2; i++) {
		if (hy_plugin_load(unit_plugin("hy-test-plugin-flow.so", "flow.so"), &plugin,
			    error) != 0)
			fail_msg("%s", error);
		theirs = hy_flow_driver_of("net_null");
		assert_ptr_not_equal(theirs, before);
		assert_int_equal(theirs->mark_max, 1000);
		flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
			(struct hy_offload_params){ .driver = theirs });
		assert_int_equal(hy_plugin_unload(plugin, error), -EBUSY);
		assert_non_null(strstr(error,
			"makes rules by its flow driver \"net_null\"; destroy that first"));
		flow_teardown(state);
		flow_setup(state);
		if (hy_plugin_unload(plugin, error) != 0)
			fail_msg("%s", error);
		assert_ptr_equal(hy_flow_driver_of("net_null"), before);
	}
}

static const struct CMUnitTest offload_tests[] = {
#define PROFILED(test) \
	FLOW_TEST(test##_generic), FLOW_TEST(test##_cnxk), FLOW_TEST(test##_mlx5), \
		FLOW_TEST(test##_ice), FLOW_TEST(test##_i40e), FLOW_TEST(test##_iavf)
	PROFILED(classes_are_the_policys_while_rules_change),
	PROFILED(full_table_keeps_what_is_hit_most),
	FLOW_TEST(flow_driver_of_a_plugin_goes_with_it_and_not_before_the_offload),
	FLOW_TEST(rule_that_does_not_go_with_its_neighbours_is_not_taken_for_want_of_room),
	PROFILED(restarted_port_gets_its_rules_again),
	PROFILED(destroyed_offload_leaves_no_rule_in_the_port),
	FLOW_TEST(removed_port_is_left_alone),
	FLOW_TEST(rule_that_the_port_failed_to_take_stays_in_software),
	FLOW_TEST(port_that_takes_fewer_marks_than_before_is_left_without_rules),
	FLOW_TEST(residue_without_a_limit_takes_no_more_memory_than_there_are_rules),
	FLOW_TEST(sample_that_is_too_rare_to_count_is_refused),
};

UNIT_SUITE(offload_tests)
