/* SPDX-License-Identifier: BSD-3-Clause */
/* Access lists in hardware: nothing is dropped that the list permits, and each drop is counted once. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "access_fixture.h"
#include "failing_fixture.h"

static void
traffic(unsigned int n)
{
	static uint8_t frame[FRAME_MAX];

	for (unsigned int i = 0; i < n; i++) {
		const uint32_t len = flow_frame(frame, &A.seed);

		memcpy(frame, &A.mac, sizeof(A.mac));
		access_pass(frame, len);
	}
}

/* Addresses of flow_frame(), and a network of each. */
static void
addresses_draw(struct hy_flow_match *m)
{
	static const uint32_t sources[] = { 0x0a000001, 0x0a000002, 0x0a010001, 0xc0000201 };
	static const uint32_t dests[] = { 0xc6120001, 0xc6120101, 0xc6130001, 0x08080808 };

	m->fields = 1 + rnd(&A.seed) % 3 == 1 ? HY_FLOW_SRC : HY_FLOW_SRC | HY_FLOW_DST;
	m->src_len = rnd(&A.seed) % 4 == 0 ? 16 : 32;
	m->src = sources[rnd(&A.seed) % 4] & UINT32_MAX << (32 - m->src_len);
	if ((m->fields & HY_FLOW_DST) == 0)
		return;
	m->dst_len = rnd(&A.seed) % 4 == 0 ? 16 : 32;
	m->dst = dests[rnd(&A.seed) % 4] & UINT32_MAX << (32 - m->dst_len);
}

/* A random rule, such as many lists have: by addresses; by ports, too; or by whatever there is. */
static struct hy_flow_rule
rule_draw(uint32_t id)
{
	static const uint8_t actions[] = { HY_RULE_DENY, HY_RULE_DENY, HY_RULE_PERMIT,
		HY_RULE_PERMIT, HY_RULE_COUNT, HY_RULE_CLASSIFY };
	struct hy_flow_rule rule = flow_rule(id, &A.seed);
	const bool ports = A.by_ports || rnd(&A.seed) % 16 == 0;

	if (!ports) {
		memset(&rule.match, 0, sizeof(rule.match));
		addresses_draw(&rule.match);
	} else if (A.by_ports) {
		addresses_draw(&rule.match);
		rule.match = (struct hy_flow_match){ .fields = HY_FLOW_5_TUPLE,
			.src = rule.match.src | 1,
			.dst = 0xc6120001,
			.src_len = 32,
			.dst_len = 32,
			.proto = 6,
			.sport = { 53, 53 },
			.dport = { 80, 80 } };
		rule.match.sport[0] = rule.match.sport[1] = rnd(&A.seed) % 2 == 0 ? 53 : 443;
		rule.match.dport[0] = rule.match.dport[1] = rnd(&A.seed) % 2 == 0 ? 80 : 1024;
	}
	rule.action = actions[rnd(&A.seed) % RTE_DIM(actions)];
	if (rule.action != HY_RULE_CLASSIFY)
		rule.class_id = HY_FLOW_NO_CLASS;
	rule.log = rnd(&A.seed) % 16 == 0;
	return rule;
}

static bool
is_deny(uint32_t id)
{
	const struct hy_policy_view *view = hy_policy_view_hold(A.policy);
	const struct hy_policy_rule *rule = hy_policy_view_find(view, id);
	const bool is = rule != NULL && rule->rule.action == HY_RULE_DENY;

	hy_policy_view_release(A.policy, view);
	return is;
}

/* One random change. A rule that is no deny any more, or is gone, counts anew. */
static void
churn(void)
{
	const uint32_t id = rnd(&A.seed) % IDS;
	const struct hy_flow_rule rule = rule_draw(id);

	if (rnd(&A.seed) % 4 == 0)
		hy_policy_remove(A.policy, id);
	else
		access_rule_set(&rule);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	if (!is_deny(id))
		A.by_rule[id] = 0;
}

#ifdef SANITIZED
#define ROUNDS 30
#else
#define ROUNDS 200
#endif

static void
nothing_is_dropped_that_is_permitted(const char *profile, const char *driver, bool by_ports,
	bool drops)
{
	uint32_t most = 0, guards = 0;

	access_open(profile, driver);
	A.by_ports = by_ports;
	for (uint32_t id = 0; id < IDS; id++) {
		const struct hy_flow_rule rule = rule_draw(id);

		access_rule_set(&rule);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (int i = 0; i < ROUNDS; i++) {
		churn();
		traffic(30);
		hy_offload_poll(A.offload);
		traffic(30);
		if (i % 5 == 0) {
			access_settle();
			traffic(100);
		}
		access_assert_counted();
		most = RTE_MAX(most, access_stats().drop_rules);
		guards = RTE_MAX(guards, access_stats().hw_rules - access_stats().drop_rules);
	}
	print_message(
		"%s: up to %u rules that drop, %u before them; %ju of %ju packets dropped, %ju "
		"marked\n",
		profile, most, guards, (uintmax_t)A.dropped, (uintmax_t)(A.dropped + A.arrived),
		(uintmax_t)A.marked);
	assert_int_equal(A.wrong, 0);
	assert_int_equal(access_stats().dropped, A.dropped);
	if (drops) {
		assert_true(most > 1);
		assert_true(A.dropped > ROUNDS / (by_ports ? 50 : 4) && A.arrived > 10 * ROUNDS);
	} else {
		assert_int_equal(most + guards + A.dropped + A.marked, 0);
		assert_true(A.arrived > 60 * ROUNDS);
	}
	access_close();
}

static void
nothing_is_dropped_that_is_permitted_by_ports_that_count(void **state)
{
	RTE_SET_USED(state);
	nothing_is_dropped_that_is_permitted("mlx5", "mlx5_pci", false, true);
	nothing_is_dropped_that_is_permitted("cnxk", "net_cn10k", false, true);
	nothing_is_dropped_that_is_permitted("cnxk_wide", "net_cn10k", false, true);
	nothing_is_dropped_that_is_permitted("ice", "net_ice", true, true);
}

/* They drop, but do not count; and of an unknown driver nothing is known. */
static void
ports_that_do_not_count_drop_nothing(void **state)
{
	RTE_SET_USED(state);
	nothing_is_dropped_that_is_permitted("i40e", "net_i40e", true, false);
	nothing_is_dropped_that_is_permitted("iavf", "net_iavf", true, false);
	nothing_is_dropped_that_is_permitted("generic", "net_other", false, false);
}

/* Rule 10 permits a host, rule 20 denies its network: both are in hardware. */
static void
pair_open(void)
{
	access_open("mlx5", "mlx5_pci");
	access_source_set(10, HY_RULE_PERMIT, HOST(1), 32);
	access_source_set(20, HY_RULE_DENY, HOST(0), 24);
	access_settle();
	assert_null(hy_offload_reason(A.offload, 10));
	assert_null(hy_offload_reason(A.offload, 20));
	assert_true(access_arrives(HOST(1)));
	assert_int_equal(A.marked, 1);
	assert_false(access_arrives(HOST(2)));
	assert_int_equal(A.wrong, 0);
}

static void
a_deny_waits_until_the_rule_before_it_is_there(void **state)
{
	RTE_SET_USED(state);
	access_open("mlx5", "mlx5_pci");
	access_source_set(20, HY_RULE_DENY, HOST(0), 24);
	access_source_set(10, HY_RULE_PERMIT, HOST(1), 32);
	for (int i = 0; i < 20; i++) {
		hy_offload_poll(A.offload);
		assert_true(access_arrives(HOST(1)));
		access_arrives(HOST(2));
		rte_delay_us_sleep(300);
	}
	access_settle();
	assert_false(access_arrives(HOST(2)));
	assert_true(access_arrives(HOST(1)));
	assert_int_equal(A.wrong, 0);
	assert_int_equal(access_stats().drop_rules, 1);
	assert_int_equal(access_stats().hw_rules, 2);
}

static void
a_new_permit_is_in_effect_when_its_commit_returns(void **state)
{
	RTE_SET_USED(state);
	pair_open();
	access_source_set(5, HY_RULE_PERMIT, HOST(2), 32);
	assert_true(access_arrives(HOST(2)));
	access_settle();
	assert_true(access_arrives(HOST(2)));
	assert_false(access_arrives(HOST(3)));
	assert_int_equal(hy_policy_remove(A.policy, 20), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	assert_true(access_arrives(HOST(3)));
	access_settle(); /* what was permitted needs no rule any more */
	assert_int_equal(access_stats().hw_rules, 0);
	assert_string_equal(hy_offload_reason(A.offload, 5),
		"hardware needs it only before one that drops packets there");
	assert_int_equal(A.wrong, 0);
}

static void
counts_survive_changes_and_a_reset_of_the_port(void **state)
{
	RTE_SET_USED(state);
	pair_open();
	for (int i = 0; i < 4; i++) {
		access_source_set(5 + (uint32_t)i, HY_RULE_PERMIT, HOST(2 + i), 32);
		access_settle();
		assert_false(access_arrives(HOST(9)));
		hy_offload_down(A.offload, i % 2 == 0);
		if (i % 2 == 1) { /* a reset deletes rules without a last look at their counters */
			hy_flow_sim_flush(A.sim);
			A.dropped--, A.by_rule[20]--;
		}
		assert_true(access_arrives(HOST(9)));
		assert_int_equal(hy_offload_up(A.offload), 0);
		access_settle();
		assert_false(access_arrives(HOST(9)));
		access_assert_counted();
	}
	assert_true(A.by_rule[20] >= 7);
	hy_policy_clear(A.policy);
	assert_false(access_arrives(HOST(9)));
	A.by_rule[20] = 1;
	access_assert_counted();
	assert_int_equal(A.wrong, 0);
}

static void
what_is_logged_or_depends_on_cut_packets_stays_in_software(void **state)
{
	struct hy_flow_rule rule = access_source(20, HY_RULE_DENY, HOST(0), 24);

	RTE_SET_USED(state);
	pair_open();
	rule.log = true;
	access_rule_set(&rule);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	assert_true(access_arrives(HOST(2)));
	access_settle();
	assert_true(access_arrives(HOST(2)));
	assert_string_equal(hy_offload_reason(A.offload, 20), "its packets are logged");
	access_source_set(30, HY_RULE_DENY, HOST(128), 25);
	access_settle();
	assert_string_equal(hy_offload_reason(A.offload, 30),
		"a rule before it that it overlaps cannot be in hardware");
	rule.log = false;
	access_rule_set(&rule);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_false(access_arrives(HOST(2)));
	assert_null(hy_offload_reason(A.offload, 30));
	assert_int_equal(hy_policy_truncated_set(A.policy, HY_RULE_DENY), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	assert_true(access_arrives(HOST(2)));
	access_settle();
	assert_true(access_arrives(HOST(2)));
	assert_int_equal(access_stats().hw_rules, 0);
	assert_string_equal(hy_offload_reason(A.offload, 10),
		"the list drops cut packets, which hardware does not recognize");
	assert_int_equal(A.wrong, 0);
}

/* Hardware may find no ports where software does. */
static void
a_deny_without_ports_does_not_follow_a_rule_with_them(void **state)
{
	struct hy_flow_rule rule = access_source(10, HY_RULE_PERMIT, HOST(1), 32);

	RTE_SET_USED(state);
	access_open("mlx5", "mlx5_pci");
	rule.match.fields |= HY_FLOW_PROTO | HY_FLOW_DPORT;
	rule.match.proto = IPPROTO_UDP;
	rule.match.dport[0] = rule.match.dport[1] = 53;
	access_rule_set(&rule);
	access_source_set(20, HY_RULE_DENY, HOST(0), 24);
	access_settle();
	assert_string_equal(hy_offload_reason(A.offload, 20),
		"hardware may not recognize a rule before it that it overlaps");
	assert_int_equal(access_stats().hw_rules, 0);
}

/* Nested networks, permitted and denied in turn: each needs a priority of its own, and cnxk has three. */
static void
a_deny_for_which_no_priority_is_left_was_tried_again_and_again(void **state)
{
	static const char *const beyond = "the port has too few priorities for the rules before it";
	static const char *const behind = "a rule before it that it overlaps cannot be in hardware";
	uint32_t first = 0, others = 0;
	uint64_t installed;

	RTE_SET_USED(state);
	access_open("cnxk", "net_cn10k");
	for (uint32_t id = 1; id <= 9; id++)
		access_source_set(id, id % 2 == 0 ? HY_RULE_DENY : HY_RULE_PERMIT, HOST(0),
			(uint8_t)(33 - id));
	access_settle();
	for (uint32_t id = 2; id <= 8; id += 2) {
		const char *reason = hy_offload_reason(A.offload, id);

		if (reason == NULL)
			assert_int_equal(first, 0);
		else if (first == 0)
			first = id;
		if (first == id)
			assert_string_equal(reason, beyond);
		else if (first != 0 && strcmp(reason, beyond) != 0)
			assert_string_equal(reason, behind);
		others += first != 0 && first != id;
	}
	assert_true(first > 2 && others > 0);
	installed = access_stats().installed;
	A.offload->retry = true; /* as when a neighbour leaves */
	access_settle();
	assert_int_equal(access_stats().installed, installed);
	assert_string_equal(hy_offload_reason(A.offload, first), beyond);
	for (unsigned int n = 0; n < 256; n++)
		access_arrives(HOST(n));
	assert_int_equal(A.wrong, 0);
	assert_true(A.dropped > 0);
	/* With fewer rules before it, there is room. */
	for (uint32_t id = 1; id < first; id++)
		assert_int_equal(hy_policy_remove(A.policy, id), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_null(hy_offload_reason(A.offload, first));
}

static void
a_commit_that_fails_leaves_the_list_as_it_is(void **state)
{
	const struct hy_policy_listener listener = { .prepare = access_refuse };
	const struct hy_flow_rule rule = access_source(5, HY_RULE_PERMIT, HOST(2), 32);

	RTE_SET_USED(state);
	pair_open();
	assert_int_equal(hy_policy_listen(A.policy, &listener), 0);
	access_rule_set(&rule);
	assert_int_equal(hy_policy_commit(A.policy), -EPERM);
	hy_policy_unlisten(A.policy, &listener);
	hy_policy_abort(A.policy);
	assert_true(access_arrives(HOST(2))); /* to software, which denies it */
	access_settle();
	assert_false(access_arrives(HOST(2)));
	access_assert_counted();
}

static int
query_fails(uint16_t port, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	RTE_SET_USED(port);
	RTE_SET_USED(flow);
	RTE_SET_USED(count);
	return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "no counters");
}

static void
a_port_that_does_not_tell_its_counts_drops_nothing(void **state)
{
	RTE_SET_USED(state);
	pair_open();
	hy_offload_read(A.offload);
	A.provider.query = query_fails;
	access_settle();
	assert_true(access_arrives(HOST(2)));
	assert_string_equal(hy_offload_reason(A.offload, 20), "the port refuses it: no counters");
	access_assert_counted();
}

/* The port drops on. So what precedes the rule must stay, or more would be dropped. */
static void
a_port_that_keeps_a_dropping_rule_is_demoted_and_keeps_those_before(void **state)
{
	RTE_SET_USED(state);
	pair_open();
	A.provider.destroy = refuse_destroy;
	assert_int_equal(hy_policy_remove(A.policy, 20), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	A.provider.destroy = hy_flow_simulator.destroy;
	assert_non_null(strstr(unit_log(), "a rule that drops packets was not removed"));
	access_settle();
	assert_int_equal(access_stats().state, HY_OFFLOAD_DEMOTED);
	assert_string_equal(access_stats().demoted, "it may have kept a rule that drops packets");
	assert_true(access_arrives(HOST(1)));
	assert_true(access_arrives(HOST(2))); /* no packet comes to the group any more */
	assert_int_equal(A.wrong, 0);
}

static void
a_full_port_drops_what_it_has_room_for(void **state)
{
	RTE_SET_USED(state);
	access_open_sized("mlx5", "mlx5_pci", 8);
	for (uint32_t id = 1; id < 20; id++)
		access_source_set(id, HY_RULE_DENY, HOST(id), 32);
	access_settle();
	assert_int_equal(access_stats().drop_rules,
		6); /* a jump and a default rule are there, too */
	for (uint32_t id = 1; id < 20; id++)
		access_arrives(HOST(id));
	assert_int_equal(A.dropped, 6);
	assert_int_equal(A.arrived, 13);
	assert_int_equal(A.wrong, 0);
	access_assert_counted();
}

static const struct CMUnitTest offload_access_tests[] = {
	ACCESS_TEST(nothing_is_dropped_that_is_permitted_by_ports_that_count),
	ACCESS_TEST(ports_that_do_not_count_drop_nothing),
	ACCESS_TEST(a_deny_waits_until_the_rule_before_it_is_there),
	ACCESS_TEST(a_new_permit_is_in_effect_when_its_commit_returns),
	ACCESS_TEST(counts_survive_changes_and_a_reset_of_the_port),
	ACCESS_TEST(what_is_logged_or_depends_on_cut_packets_stays_in_software),
	ACCESS_TEST(a_deny_without_ports_does_not_follow_a_rule_with_them),
	ACCESS_TEST(a_deny_for_which_no_priority_is_left_was_tried_again_and_again),
	ACCESS_TEST(a_commit_that_fails_leaves_the_list_as_it_is),
	ACCESS_TEST(a_port_that_does_not_tell_its_counts_drops_nothing),
	ACCESS_TEST(a_port_that_keeps_a_dropping_rule_is_demoted_and_keeps_those_before),
	ACCESS_TEST(a_full_port_drops_what_it_has_room_for),
};

UNIT_SUITE(offload_access_tests)
