/* SPDX-License-Identifier: BSD-3-Clause */
/* Long lists: what polls and commits compare of them is bounded, and finds all rules that overlap. */

#include <errno.h>
#include <string.h>

#include "access_fixture.h"
#include "app/test/policy/any_fixture.h"

#define LONG 6000
#define SHORT 2000

/* Denies of one source each. */
static void
denies_commit(uint32_t first, uint32_t n)
{
	for (uint32_t id = first; id < first + n; id++) {
		const struct hy_flow_rule rule = access_source(id, HY_RULE_DENY,
			IP4(10, 0, 0, 0) + id, 32);

		assert_int_equal(hy_policy_add(A.policy, &rule), 0);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
}

static void
long_open(void)
{
	const struct hy_flow_sim_params sim = { .profile = "mlx5" };

	access_open_long("mlx5_pci", &sim, LONG + 16);
}

/* A permit of a range of ports keeps all denies behind it in software. */
static void
one_poll_compared_each_rule_of_a_long_list_with_all_before_it(void **state)
{
	struct hy_flow_rule permit = { .id = 1,
		.precedence = 1,
		.action = HY_RULE_PERMIT,
		.match = { .fields = HY_FLOW_PROTO | HY_FLOW_DPORT,
			.proto = 6,
			.dport = { 80, 90 } } };
	const uint64_t one = (uint64_t)2 * (HY_OFFLOAD_PAIR + 1) *
		LONG; /* what one rule may need */
	unsigned int polls = 0, busy = 0;
	uint64_t before;
	uint32_t done;

	RTE_SET_USED(state);
	long_open();
	access_rule_set(&permit);
	denies_commit(2, LONG - 1);
	do {
		before = A.offload->plan->compared;
		done = hy_offload_poll(A.offload);
		assert_true(A.offload->plan->compared - before < HY_OFFLOAD_PAIRS + one);
		busy += A.offload->plan->compared > before;
		polls++;
	} while (done > 0);
	print_message("%u polls compared %ju pairs\n", polls, (uintmax_t)A.offload->plan->compared);
	assert_in_range(busy, 4, 10); /* 18 million pairs */
	for (uint32_t id = 2; id <= LONG; id++)
		assert_string_equal(hy_offload_reason(A.offload, id),
			"hardware may not recognize a rule before it that it overlaps");
	/* Without the permit, all of them go to hardware, and what was found out is kept. */
	assert_int_equal(hy_policy_remove(A.policy, 1), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (polls = 0; access_stats().drop_rules < LONG - 1 && polls < 100; polls++)
		access_settle();
	assert_int_equal(access_stats().drop_rules, LONG - 1);
	before = A.offload->plan->compared;
	A.offload->dirty = true;
	assert_int_equal(hy_offload_poll(A.offload), 1);
	assert_int_equal(A.offload->plan->compared, before);
}

/* One rule of many changes: the others are compared with it, and not with each other. */
static void
a_commit_compared_all_pairs_of_rules_in_hardware(void **state)
{
	RTE_SET_USED(state);
	long_open();
	denies_commit(1, SHORT);
	while (access_stats().drop_rules < SHORT)
		access_settle();
	access_source_set(1, HY_RULE_PERMIT, IP4(10, 0, 0, 0), 24);
	assert_in_range(A.offload->plan->compared, SHORT - 1, 4 * SHORT);
	assert_int_equal(access_stats().drop_rules, SHORT - 255);
	assert_true(access_arrives(IP4(10, 0, 0, 2)));
	assert_false(access_arrives(IP4(10, 0, 1, 2)));
}

#ifdef SANITIZED
#define RULES 150
#else
#define RULES 300
#endif

static void
any_set(uint32_t id)
{
	struct hy_flow_rule rule = { .id = id,
		.precedence = rnd(&A.seed) % 16,
		.action = rnd(&A.seed) % 2 == 0 ? HY_RULE_DENY : HY_RULE_PERMIT };

	rule.match = any_rule(rnd(&A.seed) % 8 != 0, &A.seed).match;
	access_rule_set(&rule);
}

/* Holds the lists of the plan against all pairs. Returns how many overlap. */
static uint64_t
lists_check(struct plan *plan)
{
	const struct hy_policy_rule *rules = plan->view->rules;
	uint64_t pairs = 0;

	for (uint32_t r = 0; r < plan->view->nb_rules; r++) {
		uint32_t at = 0;

		for (uint32_t u = 0; u < r; u++) {
			const bool overlap = hy_flow_overlap(&rules[u].rule.match,
				&rules[r].rule.match);

			assert_int_equal(hy_offload_overlap(plan, u, r), overlap);
			if (!overlap)
				continue;
			assert_int_equal(hy_offload_before(plan, r, &at), u);
			pairs++;
		}
		assert_int_equal(hy_offload_before(plan, r, &at), NO_SLOT);
		assert_int_equal(hy_offload_before(plan, r, &at), NO_SLOT);
	}
	return pairs;
}

/* Lists that the last commit took over. */
static uint32_t
lists_count(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < plan->view->nb_rules; r++)
		n += plan->before[r] != NULL;
	return n;
}

/* Few rules change, or more than of which all lists are brought up to date. */
static void
lists_of_overlapping_rules_are_right_after_each_change(void **state)
{
	const struct hy_flow_sim_params sim = { .profile = "mlx5" };
	uint64_t pairs = 0, all = 0;
	uint32_t carried = 0, fresh = 0;

	RTE_SET_USED(state);
	access_open_long("mlx5_pci", &sim, RULES + 16);
	for (uint32_t id = 1; id <= RULES; id++)
		any_set(id);
	for (int i = 0; i < 60; i++) {
		const uint32_t changes = i % 10 == 9 ? 100 : 1 + rnd(&A.seed) % 20;
		const struct plan *plan;

		for (uint32_t c = 0; c < changes; c++) {
			const uint32_t id = 1 + rnd(&A.seed) % RULES;

			if (rnd(&A.seed) % 4 == 0)
				hy_policy_remove(A.policy, id);
			else
				any_set(id);
		}
		assert_int_equal(hy_policy_commit(A.policy), 0);
		plan = A.offload->plan;
		carried += lists_count(plan);
		fresh += plan->view->nb_rules - lists_count(plan);
		pairs += lists_check(A.offload->plan);
		all += (uint64_t)plan->view->nb_rules * (plan->view->nb_rules - 1) / 2;
		hy_offload_poll(A.offload);
	}
	print_message("%ju of %ju pairs overlap; %u lists were taken over, %u made anew\n",
		(uintmax_t)pairs, (uintmax_t)all, carried, fresh);
	assert_true(pairs > all / 100 && pairs < all - all / 10);
	assert_true(carried > 20 * RULES && fresh > RULES);
}

#define MANY 100

static void
class_add(uint32_t id, uint32_t fields, uint32_t address)
{
	const struct hy_flow_rule rule = { .id = id,
		.precedence = id,
		.class_id = (uint16_t)id,
		.match = { .fields = fields,
			.src = fields == HY_FLOW_SRC ? address : 0,
			.src_len = fields == HY_FLOW_SRC ? 32 : 0,
			.dst = fields == HY_FLOW_DST ? address : 0,
			.dst_len = fields == HY_FLOW_DST ? 32 : 0 } };

	assert_int_equal(hy_policy_add(R->policy, &rule), 0);
}

/* Lists end after 64 rules; those that overlap more are compared for each table. */
static void
rules_that_overlap_hundreds_made_each_table_take_longer(void **state)
{
	unsigned int mlx5 = 0;

	RTE_SET_USED(state);
	while (strcmp(flow_profiles[mlx5].name, "mlx5") != 0)
		mlx5++;
	flow_open(&flow_profiles[mlx5], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	for (uint32_t id = 1; id <= MANY; id++)
		class_add(id, HY_FLOW_DST, IP4(198, 18, 0, 0) + id);
	flow_commit();
	flow_settle();
	assert_int_equal(R->offload->again, 0);
	for (uint32_t id = MANY + 1; id <= MANY + 3; id++)
		class_add(id, HY_FLOW_SRC, IP4(10, 0, 0, 0) + id);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, MANY + 3);
	assert_int_equal(R->offload->again, 3 * (MANY - 64) + 1 + 2);
	/* Had that been too many, only rules would be installed that do not add to it. */
	class_add(MANY + 4, HY_FLOW_SRC, IP4(10, 0, 1, 0));
	class_add(MANY + 5, HY_FLOW_DST, IP4(198, 18, 1, 0));
	flow_commit();
	R->offload->again = HY_OFFLOAD_PAIRS;
	hy_offload_poll(R->offload);
	assert_string_equal(hy_offload_reason(R->offload, MANY + 4),
		"it overlaps too many rules before it");
	assert_null(hy_offload_reason(R->offload, MANY + 5));
	flow_settle(); /* it was not too many */
	assert_null(hy_offload_reason(R->offload, MANY + 4));
	flow_traffic(1000);
	assert_int_equal(R->wrong, 0);
}

/* It was counted for the cancelled list: rules could stay in software until the next change. */
static void
a_cancelled_commit_counted_for_rules_that_add_to_the_comparison(void **state)
{
	const struct hy_policy_listener listener = { .prepare = access_refuse };
	unsigned int mlx5 = 0;
	uint64_t again;

	RTE_SET_USED(state);
	while (strcmp(flow_profiles[mlx5].name, "mlx5") != 0)
		mlx5++;
	flow_open(&flow_profiles[mlx5], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	for (uint32_t id = 1; id <= MANY; id++)
		class_add(2 * id, HY_FLOW_DST, IP4(198, 18, 0, 0) + id);
	class_add(2 * MANY + 2, HY_FLOW_SRC, IP4(10, 0, 0, 1));
	flow_commit();
	flow_settle();
	again = R->offload->again;
	assert_int_equal(again, MANY - 64);
	for (uint32_t id = 1; id <= 10; id++)
		class_add(2 * id + 1, HY_FLOW_DST, IP4(198, 18, 1, 0) + id);
	assert_int_equal(hy_policy_listen(R->policy, &listener), 0);
	assert_int_equal(hy_policy_commit(R->policy), -EPERM);
	assert_int_equal(R->offload->again, again);
	hy_policy_unlisten(R->policy, &listener);
	flow_commit();
	assert_int_equal(R->offload->again, again + 10);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, MANY + 11);
}

#define PERMITS 500
#define BETWEEN 3000

/* Of permits that late denies need: each searched for its deny behind all those between, at each poll. */
static void
a_permit_was_compared_with_all_denies_before_the_one_that_needs_it(void **state)
{
	uint64_t before;

	RTE_SET_USED(state);
	long_open();
	for (uint32_t i = 0; i < PERMITS; i++) {
		struct hy_flow_rule permit = access_source(1 + i, HY_RULE_PERMIT,
			IP4(10, 0, 0, 0) + i, 32);

		permit.match.fields |= HY_FLOW_PROTO;
		permit.match.proto = 6;
		access_rule_set(&permit);
	}
	for (uint32_t i = 0; i < BETWEEN + PERMITS; i++) {
		const uint32_t source = i < BETWEEN ? IP4(30, 0, 0, 0) + i
						    : IP4(10, 0, 0, 0) + BETWEEN + PERMITS - 1 - i;
		const struct hy_flow_rule deny = access_source(1 + PERMITS + i, HY_RULE_DENY,
			source, 32);

		access_rule_set(&deny);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (int polls = 0; access_stats().drop_rules < BETWEEN + PERMITS && polls < 400; polls++)
		access_settle();
	assert_int_equal(access_stats().drop_rules, BETWEEN + PERMITS);
	access_settle();
	before = A.offload->plan->compared;
	A.offload->dirty = true;
	hy_offload_poll(A.offload);
	/* Each with its deny, in two tables. */
	assert_in_range(A.offload->plan->compared - before, PERMITS,
		4 * PERMITS * (HY_OFFLOAD_PAIR + 1));
}

#define CROWD 70 /* overlapping rules, more than a list of them has */

static void
crowd_open(void)
{
	const struct hy_flow_sim_params sim = { .profile = "mlx5" };
	struct hy_flow_rule deny;

	access_open_long("mlx5_pci", &sim, 512);
	for (uint32_t i = 0; i < 10; i++) {
		deny = access_source(1 + i, HY_RULE_DENY, IP4(11, 0, 0, 1) + i, 32);
		deny.precedence = 1 + i;
		access_rule_set(&deny);
	}
	for (uint32_t i = 0; i < CROWD; i++) {
		deny = (struct hy_flow_rule){ .id = 100 + i,
			.precedence = 20 + 2 * i,
			.action = HY_RULE_DENY,
			.match = { .fields = HY_FLOW_DST,
				.dst = IP4(198, 18, 0, 1) + i,
				.dst_len = 32 } };
		access_rule_set(&deny);
	}
	deny = access_source(400, HY_RULE_DENY, IP4(10, 0, 0, 0), 24);
	deny.precedence = 1000;
	access_rule_set(&deny);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 10 + CROWD + 1);
	assert_false(access_arrives(IP4(10, 0, 0, 7)));
}

/* A list was there for a part of a search only, which then left out rules: one of them a permit. */
static void
a_failed_allocation_of_a_list_let_hardware_drop_what_is_permitted(void **state)
{
	struct hy_flow_rule permit = access_source(401, HY_RULE_PERMIT, IP4(10, 0, 0, 7), 32);
	unsigned int nth = 0, done = 0, refused = 0, count;
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 40);
	const rte_be32_t src = RTE_BE32(IP4(10, 0, 0, 7)), dst = RTE_BE32(IP4(198, 19, 0, 1));

	RTE_SET_USED(state);
	permit.precedence = 21;
	permit.match.fields |= HY_FLOW_DST;
	permit.match.dst = IP4(198, 19, 0, 1);
	permit.match.dst_len = 32;
	do {
		int rc;

		crowd_open();
		assert_int_equal(hy_policy_add(A.policy, &permit), 0);
		unit_alloc_fail(++nth);
		rc = hy_policy_commit(A.policy);
		count = unit_alloc_count();
		unit_alloc_fail(0);
		done += rc == 0;
		refused += rc == -ENOMEM;
		memcpy(frame, &A.mac, sizeof(A.mac));
		memcpy(frame + 26, &src, sizeof(src));
		memcpy(frame + 30, &dst, sizeof(dst));
		frame_sum(frame);
		if (rc == 0)
			assert_true(access_pass(frame, len));
		assert_int_equal(A.wrong, 0);
		access_close();
	} while (count >= nth);
	assert_int_equal(done + refused, nth);
	assert_true(done > CROWD && refused > 10);
}

static const struct CMUnitTest offload_long_tests[] = {
	ACCESS_TEST(a_permit_was_compared_with_all_denies_before_the_one_that_needs_it),
	ACCESS_TEST(a_failed_allocation_of_a_list_let_hardware_drop_what_is_permitted),
	ACCESS_TEST(one_poll_compared_each_rule_of_a_long_list_with_all_before_it),
	ACCESS_TEST(a_commit_compared_all_pairs_of_rules_in_hardware),
	FLOW_TEST(rules_that_overlap_hundreds_made_each_table_take_longer),
	FLOW_TEST(a_cancelled_commit_counted_for_rules_that_add_to_the_comparison),
	ACCESS_TEST(lists_of_overlapping_rules_are_right_after_each_change),
};

UNIT_SUITE(offload_long_tests)
