/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every engine against the oracle: rules of all fields, keys at their edges, all bursts, and each of
 * rte_acl's methods that the CPU has. And the choice among them.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_vect.h>

#include "any_fixture.h"
#include "app/hy-policy/generate.h"
#include "lib/policy/policy.h"

#define KEYS 1024
#define BURST_MAX 256

struct compared {
	uint64_t keys, hits, misses;
};

static struct hy_flow_key keys[KEYS];

static void
assert_same(const uint32_t expected[], uint32_t first, uint32_t n, struct compared *c)
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	uint32_t rank[BURST_MAX + 1];

	memset(rank, 0xa5, sizeof(rank));
	hy_policy_classify_compiled(view, keys + first, rank, n);
	for (uint32_t i = 0; i < n; i++) {
		if (rank[i] != expected[first + i])
			fail_msg("%s, key %u of %u among %u rules: rank %u, not %u",
				view->compiled->base->tables.engine->name, i, n, view->nb_rules,
				rank[i], expected[first + i]);
		c->hits += rank[i] != HY_POLICY_NONE;
		c->misses += rank[i] == HY_POLICY_NONE;
	}
	assert_int_equal(rank[n], 0xa5a5a5a5);
	c->keys += n;
}

/* Keys near the rules, in every burst, by the present policy. */
static void
compare_all(uint64_t *seed, struct compared *c)
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	uint32_t expected[KEYS];

	for (unsigned int i = 0; i < KEYS; i++) {
		keys[i] = any_key(&view->rules[rnd(seed) % view->nb_rules].rule.match, seed);
		expected[i] = hy_policy_classify(view, &keys[i]);
	}
	for (uint32_t burst = 1; burst <= BURST_MAX; burst++)
		assert_same(expected, rnd(seed) % (KEYS - BURST_MAX), burst, c);
}

static void
any_policy(const char *engine, uint32_t n, bool few, uint64_t *seed)
{
	policy_new(1000, 1, NULL);
	policy->params.access = true;
	policy->only = engine;
	for (uint32_t id = 0; id < n; id++) {
		struct hy_flow_rule rule = any_rule(few, seed);

		rule.id = id;
		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	commit();
}

/* One engine, with the methods of one width of vectors. */
static void
engine_run(const char *engine, uint16_t width)
{
	static const uint32_t sizes[] = { 1, 2, 7, 20, 60 };
	struct compared c = { 0 };
	uint64_t seed = width;

	assert_int_equal(rte_vect_set_max_simd_bitwidth(width), 0);
	for (unsigned int round = 0; round < 2 * RTE_DIM(sizes); round++) {
		struct hy_policy_engine_info info;

		any_policy(engine, sizes[round / 2], round % 2 == 0, &seed);
		assert_int_equal(hy_policy_engine(policy, &info), 0);
		assert_string_equal(info.name, engine);
		assert_int_equal(info.base_rules, sizes[round / 2]);
		compare_all(&seed, &c);
		hy_policy_destroy(policy);
		policy = NULL;
	}
	print_message("%s, %u bits: %ju keys, %ju hits, %ju misses\n", engine, width,
		(uintmax_t)c.keys, (uintmax_t)c.hits, (uintmax_t)c.misses);
	assert_int_equal(c.keys, 2 * RTE_DIM(sizes) * BURST_MAX * (BURST_MAX + 1) / 2);
	assert_true(c.hits > c.keys / 8 && c.misses > c.keys / 50);
}

static void
every_engine_finds_what_the_oracle_finds(void **state)
{
	static const uint16_t widths[] = { RTE_VECT_SIMD_DISABLED, RTE_VECT_SIMD_128,
		RTE_VECT_SIMD_256, RTE_VECT_SIMD_512 };
	const uint16_t before = rte_vect_get_max_simd_bitwidth();

	RTE_SET_USED(state);
	for (unsigned int w = 0; w < RTE_DIM(widths); w++)
		engine_run("rte_acl", widths[w]);
	assert_int_equal(rte_vect_set_max_simd_bitwidth(before), 0);
	engine_run("linear", before);
	engine_run("tuple", before);
}

static void
generate(enum generate_kind kind, bool ip6, uint32_t n)
{
	struct hy_flow_rule *rules = calloc(n, sizeof(*rules));
	const struct policy_staged staged = {
		.rules = rules, .n = n, .default_action = HY_RULE_PERMIT
	};

	assert_non_null(rules);
	assert_int_equal(policy_generate(kind, ip6, 7, n, rules), 0);
	for (uint32_t i = 0; i < n; i++)
		rules[i].precedence = i;
	assert_int_equal(policy_stage_all(policy, &staged), 0);
	free(rules);
}

/* Sets as they are in use, in the engines that may get them. */
static void
generated_sets_are_found(void **state)
{
	struct compared c = { 0 };
	unsigned int seen = 0;
	uint64_t seed = 3;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 3 * GENERATE_KINDS; i++) {
		const char *engine = i < 2 * GENERATE_KINDS ? "tuple" : "rte_acl";
		const bool ip6 = i / GENERATE_KINDS == 1;

		policy_new(4000, 1, NULL);
		policy->params.access = true;
		policy->only = engine;
		generate(i % GENERATE_KINDS, ip6, i < 2 * GENERATE_KINDS ? 4000 : 300);
		commit();
		compare_all(&seed, &c);
		hy_policy_destroy(policy);
		policy = NULL;
		seen++;
	}
	assert_int_equal(seen, 9);
	assert_int_equal(c.keys, 9 * BURST_MAX * (BURST_MAX + 1) / 2);
	assert_true(c.hits > c.keys / 2 && c.misses > 0);
}

static const char *
chosen(struct hy_policy_engine_info *info)
{
	assert_int_equal(hy_policy_engine(policy, info), 0);
	return info->name;
}

static void
few_rules_are_scanned_and_many_are_hashed(void **state)
{
	struct hy_policy_engine_info info;

	RTE_SET_USED(state);
	policy_new(4000, 1, NULL);
	policy->params.access = true;
	assert_string_equal(chosen(&info), "none");
	generate(GENERATE_ACL, false, 3);
	commit();
	assert_string_equal(chosen(&info), "linear");
	generate(GENERATE_FW, false, 4000);
	commit();
	assert_string_equal(chosen(&info), "tuple");
	assert_int_equal(info.base_rules, 4000);
	assert_true(info.bytes > 4000 * 32 && info.bytes < 4000 * 100);
	assert_non_null(strstr(info.why, "rte_acl: "));
}

/* Where nothing fits, the rules before stay, and the log says what would. */
static void
budgets_are_kept_or_the_commit_is_refused(void **state)
{
	struct hy_policy_engine_info info;

	RTE_SET_USED(state);
	policy_new(4000, 1, NULL);
	policy->params.access = true;
	add_dport(1, 0, 9, 80);
	commit();
	generate(GENERATE_FW, false, 4000);
	policy->only = "rte_acl";
	policy->params.max_memory = 1 << 20;
	unit_log_clear();
	assert_int_equal(hy_policy_commit(policy), -E2BIG);
	assert_non_null(strstr(unit_log(), "no engine takes 4000 rules in 1048576 bytes"));
	policy->params.max_memory = 0;
	policy->params.max_build_ms = 1;
	assert_int_equal(hy_policy_commit(policy), -E2BIG);
	assert_int_equal(class_of(80), 9);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 1);
	policy->params.max_build_ms = 0;
	policy->params.max_memory = 1 << 20;
	policy->only = NULL;
	commit(); /* it was still staged */
	assert_string_equal(chosen(&info), "tuple");
	assert_true(info.bytes <= 1 << 20);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 4000);
}

/* A scan takes no memory, but is no way to serve thousands of rules. */
static void
a_budget_that_only_a_scan_of_all_rules_fits_is_refused(void **state)
{
	struct hy_policy_engine_info info;

	RTE_SET_USED(state);
	policy_new(4000, 1, NULL);
	policy->params.access = true;
	policy->params.max_memory = 1 << 16;
	add_dport(1, 0, 9, 80);
	commit();
	generate(GENERATE_FW, false, 4000);
	unit_log_clear();
	assert_int_equal(hy_policy_commit(policy), -E2BIG);
	assert_non_null(strstr(unit_log(), "tuple needs about "));
	assert_null(strstr(unit_log(), "about 0 bytes"));
	assert_int_equal(class_of(80), 9);
	generate(GENERATE_FW, false, 1000); /* 48 bytes each fit */
	commit();
	assert_int_equal(hy_policy_engine(policy, &info), 0);
	assert_true(info.bytes <= 1 << 16);
	assert_int_equal(info.base_rules, 1000);
}

static void
a_refusal_names_no_cost_of_an_engine_that_was_not_asked(void **state)
{
	RTE_SET_USED(state);
	policy_new(4000, 1, NULL);
	policy->params.access = true;
	policy->params.max_memory = 1 << 12;
	policy->only = "rte_acl";
	generate(GENERATE_FW, false, 300);
	unit_log_clear();
	assert_int_equal(hy_policy_commit(policy), -E2BIG);
	assert_non_null(strstr(unit_log(), "rte_acl needs about "));
	assert_null(strstr(unit_log(), "tuple"));
}

struct built {
	struct policy_estimate estimate; /* rte_acl's, made apart */
	uint64_t said_us, took_us;
};

/* Builds tables of a few rules of a firewall's; returns what policy_tables_build() does. */
static int
tables_of_some(uint32_t n, const struct policy_budget *budget, struct built *built)
{
	struct policy_tables tables = { 0 };
	uint64_t start;
	struct policy_build build = { .n = n, .socket = SOCKET_ID_ANY };
	struct policy_list list;
	struct policy_rules *set;
	int rc;

	policy_new(n, 1, NULL);
	policy->params.access = true;
	generate(GENERATE_FW, false, n);
	list = (struct policy_list){ policy->staged, policy->places, n };
	assert_int_equal(policy_rules_create(&list, NULL, SOCKET_ID_ANY, &set), 0);
	build.rules = set->rules;
	assert_int_equal(policy_engine_acl.estimate(&build, &built->estimate), 0);
	start = rte_get_timer_cycles();
	rc = policy_tables_build("test", &build, budget, &tables);
	built->took_us = (rte_get_timer_cycles() - start) * 1000000 / rte_get_timer_hz();
	built->said_us = tables.build_us;
	policy_tables_free(&tables);
	policy_rules_drop(set);
	hy_policy_destroy(policy);
	policy = NULL;
	return rc;
}

static void
time_of_estimates_counts_as_build_time(void **state)
{
	const struct policy_budget none = { 0 };
	double share = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 20 && share < 0.9; i++) {
		struct built built;

		assert_int_equal(tables_of_some(250, &none, &built), 0);
		assert_true(built.said_us <= built.took_us);
		share = RTE_MAX(share, (double)built.said_us / (double)built.took_us);
	}
	print_message("%.2f of the time is told\n", share);
	assert_true(share >= 0.9);
}

/* The estimate alone fits the limit. With the time that it took, it does not. */
static void
time_of_estimates_counts_for_the_limit(void **state)
{
	unsigned int refused = 0, unlimited = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 5; i++) {
		struct policy_budget budget = { .only = "rte_acl" };
		struct built built;

		unlimited += tables_of_some(64, &budget, &built) == 0;
		budget.max_build_ms = (uint32_t)(built.estimate.build_us * 5 / 4000 + 1);
		refused += tables_of_some(64, &budget, &built) == -E2BIG;
	}
	print_message("%u of 5 refused\n", refused);
	assert_int_equal(unlimited, 5);
	assert_true(refused >= 4);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(every_engine_finds_what_the_oracle_finds),
	POLICY_TEST(generated_sets_are_found),
	POLICY_TEST(few_rules_are_scanned_and_many_are_hashed),
	POLICY_TEST(budgets_are_kept_or_the_commit_is_refused),
	POLICY_TEST(a_budget_that_only_a_scan_of_all_rules_fits_is_refused),
	POLICY_TEST(a_refusal_names_no_cost_of_an_engine_that_was_not_asked),
	POLICY_TEST(time_of_estimates_counts_as_build_time),
	POLICY_TEST(time_of_estimates_counts_for_the_limit),
};
UNIT_SUITE(tests)
