/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a policy's rules and tables on NUMA nodes. EAL without huge pages takes any node's number. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "any_fixture.h"
#include "lib/policy/policy.h"

#define RULES 300
#define KEYS 256
#define NODES (1u << 1 | 1u << 3 | 1u << 6)

static union {
	struct rte_rcu_qsbr v;
	uint8_t room[4096];
} qsbr;

static void
policy_on(uint32_t nodes)
{
	const struct hy_policy_params params = { .max_rules = 2 * RULES,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.nodes = nodes,
		.qsbr = &qsbr.v };

	assert_true(rte_rcu_qsbr_get_memsize(1) <= sizeof(qsbr));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(hy_policy_create("nodes", &params, &policy), 0);
}

static void
rules_add(uint32_t first, uint32_t n, uint64_t *seed)
{
	for (uint32_t id = first; id < first + n; id++) {
		const struct hy_flow_rule rule = rule_random(id, seed);

		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	commit();
}

/* Each copy has its own rules and tables, with the same counters, and finds what the scan finds. */
static uint64_t
copies_compare(uint64_t *seed)
{
	static const int nodes[] = { 1, 3, 6 };
	const struct hy_policy_view *first = hy_policy_view(policy);
	struct hy_flow_key keys[KEYS];
	uint32_t rank[KEYS];
	uint64_t hits = 0;

	for (unsigned int i = 0; i < KEYS; i++)
		keys[i] = any_key(&first->rules[rnd(seed) % first->nb_rules].rule.match, seed);
	for (unsigned int n = 0; n < RTE_DIM(nodes); n++) {
		const struct hy_policy_view *view = hy_policy_view_on(policy, nodes[n]);

		assert_int_equal(((const struct policy_view *)view)->socket, nodes[n]);
		assert_int_equal(view->version, first->version);
		assert_int_equal(view->nb_rules, first->nb_rules);
		for (unsigned int m = 0; m < n; m++) {
			const struct hy_policy_view *other = hy_policy_view_on(policy, nodes[m]);

			assert_ptr_not_equal(view->rules, other->rules);
			assert_ptr_not_equal(view->compiled->tables, other->compiled->tables);
			assert_ptr_equal(view->compiled->base->tables.engine,
				other->compiled->base->tables.engine);
		}
		for (uint32_t r = 0; r < view->nb_rules; r++)
			assert_memory_equal(&view->rules[r], &first->rules[r],
				sizeof(view->rules[r]));
		hy_policy_classify_compiled(view, keys, rank, KEYS);
		for (unsigned int i = 0; i < KEYS; i++) {
			assert_int_equal(rank[i], hy_policy_classify(first, &keys[i]));
			hits += rank[i] != HY_POLICY_NONE;
		}
	}
	return hits;
}

static void
each_node_has_a_copy_before_and_after_tables_are_built(void **state)
{
	uint64_t seed = 44, hits = 0;
	struct hy_policy_engine_info info;

	RTE_SET_USED(state);
	policy_on(NODES);
	rules_add(0, RULES, &seed);
	hits += copies_compare(&seed);
	assert_int_equal(info_now().copies, 3);
	pthread_mutex_lock(&policy->lock); /* no tables replace the overlays */
	rules_add(RULES, 3, &seed);
	assert_int_equal(hy_policy_remove(policy, 7), 0);
	commit();
	for (int node = 1; node <= 6; node++)
		assert_non_null(hy_policy_view_on(policy, node)->compiled->overlay);
	hits += copies_compare(&seed);
	pthread_mutex_unlock(&policy->lock);
	for (unsigned int i = 0; i < 5000 && info_now().overlay_rules + info_now().removed > 0; i++)
		rte_delay_us_sleep(1000);
	info = info_now();
	assert_int_equal(info.overlay_rules + info.removed, 0);
	for (int node = 1; node <= 6; node++)
		assert_null(hy_policy_view_on(policy, node)->compiled->overlay);
	hits += copies_compare(&seed);
	print_message("%ju hits\n", (uintmax_t)hits);
	assert_true(hits > 3 * KEYS);
}

static void
workers_of_other_nodes_read_the_first_copy(void **state)
{
	uint64_t seed = 45;

	RTE_SET_USED(state);
	policy_on(NODES);
	rules_add(0, 10, &seed);
	for (int node = SOCKET_ID_ANY; node < RTE_MAX_NUMA_NODES; node++)
		assert_true((hy_policy_view_on(policy, node) == hy_policy_view(policy)) ==
			(node != 3 && node != 6));
	assert_int_equal(((const struct policy_view *)hy_policy_view(policy))->socket, 1);
}

static void
one_node_has_no_copy(void **state)
{
	uint64_t seed = 46, bytes;

	RTE_SET_USED(state);
	policy_on(1u << 3);
	policy->only = "tuple";
	rules_add(0, RULES, &seed);
	for (int node = SOCKET_ID_ANY; node < RTE_MAX_NUMA_NODES; node++)
		assert_ptr_equal(hy_policy_view_on(policy, node), hy_policy_view(policy));
	assert_int_equal(info_now().copies, 1);
	bytes = info_now().bytes;
	hy_policy_destroy(policy);
	policy_on(NODES);
	policy->only = "tuple";
	seed = 46;
	rules_add(0, RULES, &seed);
	assert_int_equal(info_now().bytes, 3 * bytes);
}

static void
explain_says_how_many_copies_there_are(void **state)
{
	uint64_t seed = 47;
	char *text = NULL;
	size_t size;
	FILE *out;

	RTE_SET_USED(state);
	policy_on(NODES);
	rules_add(0, 20, &seed);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	hy_policy_engine_print(policy, out);
	fclose(out);
	assert_non_null(strstr(text, ", 3 copies, "));
	free(text);
}

static void
failed_copies_leave_all_as_it_was(void **state)
{
	uint64_t seed = 48;
	unsigned int failed = 0;
	int rc = -ENOMEM;

	RTE_SET_USED(state);
	policy_on(NODES);
	policy->only = "tuple"; /* rte_acl's allocations do not fail here */
	rules_add(0, 20, &seed);
	assert_int_equal(hy_policy_remove(policy, 3), 0);
	for (unsigned int n = 1; rc != 0; n++) {
		unit_alloc_fail(n);
		rc = hy_policy_commit(policy);
		unit_alloc_fail(0);
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(hy_policy_view_on(policy, 6)->nb_rules, rc == 0 ? 19 : 20);
		failed += rc != 0;
	}
	assert_true(failed > 20);
	copies_compare(&seed);
}

/* The committing thread's allocation before which it is held up until the builder is done. */
static struct {
	pthread_t thread;
	unsigned int left;
	bool held;
} hold;

static void
hold_up(void)
{
	const struct hy_policy_view *view = hy_policy_view(policy);

	if (!pthread_equal(hold.thread, pthread_self()) || --hold.left > 0) {
		unit_alloc_hook = hold_up;
		return;
	}
	for (unsigned int ms = 0; ms < 5000 && !hold.held; ms++) {
		hold.held = __atomic_load_n(&view->compiled, __ATOMIC_ACQUIRE)->overlay == NULL;
		rte_delay_us_sleep(1000);
	}
}

static bool
has_overlay(int socket)
{
	const struct hy_policy_view *view = hy_policy_view_on(policy, socket);

	return __atomic_load_n(&view->compiled, __ATOMIC_ACQUIRE)->overlay != NULL;
}

/* Wherever between the two the tables of the view before are exchanged. */
static void
a_copy_beside_a_built_one_kept_its_overlay(void **state)
{
	unsigned int held = 0, built = 0;

	RTE_SET_USED(state);
	for (unsigned int allocation = 1; allocation <= 24; allocation++) {
		uint64_t seed = 5;

		policy_on(1u << 1 | 1u << 3);
		policy->only = "tuple";
		rules_add(0, RULES, &seed);
		rules_add(RULES, 3, &seed);
		hold.thread = pthread_self();
		hold.left = allocation;
		hold.held = false;
		unit_alloc_hook = hold_up;
		rules_add(RULES + 3, 62, &seed);
		unit_alloc_hook = NULL;
		held += hold.held;
		built += !has_overlay(1);
		if (!has_overlay(1))
			assert_false(has_overlay(3));
		hy_policy_destroy(policy);
		policy = NULL;
	}
	assert_true(held > 10 && built > 0);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(each_node_has_a_copy_before_and_after_tables_are_built),
	POLICY_TEST(workers_of_other_nodes_read_the_first_copy),
	POLICY_TEST(one_node_has_no_copy),
	POLICY_TEST(explain_says_how_many_copies_there_are),
	POLICY_TEST(failed_copies_leave_all_as_it_was),
	POLICY_TEST(a_copy_beside_a_built_one_kept_its_overlay),
};
UNIT_SUITE(tests)
