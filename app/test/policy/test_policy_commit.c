/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes: staged, published together or not at all, and in order. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_rcu_qsbr.h>

#include "policy_fixture.h"

static union {
	struct rte_rcu_qsbr v;
	uint8_t room[4096];
} qsbr;

static void
staged_rules_are_seen_by_nobody_until_commit(void **state)
{
	struct hy_flow_rule rules[2];

	RTE_SET_USED(state);
	policy_new(10, 1, NULL);
	add_dport(1, 0, 100, 80);
	assert_int_equal(class_of(80), HY_FLOW_NO_CLASS);
	assert_int_equal(hy_policy_view(policy)->version, 0);
	commit();
	assert_int_equal(class_of(80), 100);
	assert_int_equal(hy_policy_view(policy)->version, 1);
	assert_int_equal(hy_policy_remove(policy, 1), 0);
	add_dport(2, 0, 200, 81);
	assert_int_equal(class_of(80), 100);
	assert_int_equal(hy_policy_rules_get(policy, rules, 2), 1);
	assert_int_equal(rules[0].id, 1);
	commit();
	assert_int_equal(class_of(80), HY_FLOW_NO_CLASS);
	assert_int_equal(class_of(81), 200);
	assert_int_equal(hy_policy_rules_get(policy, rules, 2), 1);
	assert_int_equal(rules[0].id, 2);
	commit(); /* nothing staged: nothing published */
	assert_int_equal(hy_policy_view(policy)->version, 2);
}

static void
lower_precedence_wins_and_then_the_lower_id(void **state)
{
	struct hy_flow_rule rules[4];

	RTE_SET_USED(state);
	policy_new(10, 1, NULL);
	add_dport(9, 5, 9, 80);
	add_dport(3, 7, 3, 80);
	add_dport(4, 5, 4, 80);
	add_dport(1, UINT32_MAX, 1, 80);
	commit();
	assert_int_equal(class_of(80), 4);
	assert_int_equal(hy_policy_rules_get(policy, rules, 4), 4);
	assert_int_equal(rules[0].id, 4);
	assert_int_equal(rules[1].id, 9);
	assert_int_equal(rules[2].id, 3);
	assert_int_equal(rules[3].id, 1);
	assert_int_equal(hy_policy_remove(policy, 4), 0);
	commit();
	assert_int_equal(class_of(80), 9);
	rules[0] = rules[3];
	rules[0].precedence = 0;
	assert_int_equal(hy_policy_replace(policy, &rules[0]), 0);
	commit();
	assert_int_equal(class_of(80), 1);
}

static void
what_cannot_be_staged_changes_nothing(void **state)
{
	struct hy_flow_rule rule = { .id = 5, .class_id = 5 };

	RTE_SET_USED(state);
	policy_new(2, 1, NULL);
	assert_int_equal(hy_policy_remove(policy, 5), -ENOENT);
	assert_int_equal(hy_policy_replace(policy, &rule), -ENOENT);
	add_dport(5, 0, 1, 80);
	assert_int_equal(hy_policy_add(policy, &rule), -EEXIST);
	add_dport(4, 0, 2, 81);
	rule.id = 6;
	assert_int_equal(hy_policy_add(policy, &rule), -ENOSPC);
	commit();
	assert_int_equal(class_of(80), 1);
	assert_int_equal(class_of(81), 2);
	assert_int_equal(class_of(82), HY_FLOW_NO_CLASS);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 2);
}

static void
abort_forgets_what_was_staged(void **state)
{
	struct hy_flow_rule rule = { .id = 1, .class_id = 9 };

	RTE_SET_USED(state);
	policy_new(200, 1, NULL);
	for (uint32_t id = 0; id < 100; id++)
		add_dport(id * 2, 0, (uint16_t)(id + 1), (uint16_t)id);
	commit();
	for (uint32_t id = 0; id < 100; id++)
		assert_int_equal(hy_policy_remove(policy, id * 2), 0);
	assert_int_equal(hy_policy_add(policy, &rule), 0);
	hy_policy_abort(policy);
	commit();
	assert_int_equal(hy_policy_view(policy)->version, 1);
	for (uint16_t port = 0; port < 100; port++)
		assert_int_equal(class_of(port), port + 1);
	/* And it is known again what is there. */
	assert_int_equal(hy_policy_remove(policy, 1), -ENOENT);
	assert_int_equal(hy_policy_remove(policy, 198), 0);
	commit();
	assert_int_equal(class_of(99), HY_FLOW_NO_CLASS);
	assert_int_equal(class_of(98), 99);
}

static void
bad_parameters_are_refused(void **state)
{
	const struct hy_policy_params good = { .max_rules = 1, .workers = 1 };
	struct hy_policy_params bad;
	struct hy_policy *none;

	RTE_SET_USED(state);
	assert_int_equal(hy_policy_create("", &good, &none), -EINVAL);
	assert_int_equal(hy_policy_create("a234567890123456x", &good, &none), -EINVAL);
	bad = good;
	bad.max_rules = 0;
	assert_int_equal(hy_policy_create("a", &bad, &none), -EINVAL);
	bad.max_rules = (1 << 20) + 1;
	assert_int_equal(hy_policy_create("a", &bad, &none), -EINVAL);
	bad = good;
	bad.workers = 0;
	assert_int_equal(hy_policy_create("a", &bad, &none), -EINVAL);
	bad.workers = RTE_MAX_LCORE + 1;
	assert_int_equal(hy_policy_create("a", &bad, &none), -EINVAL);
	assert_int_equal(hy_policy_create("a234567890123456", &good, &policy), 0);
	assert_string_equal(hy_policy_name(policy), "a234567890123456");
}

/* Each allocation fails in turn, until none is left to fail. */
static void
failed_allocations_leave_all_as_it_was(void **state)
{
	const struct hy_policy_params params = { .max_rules = 100, .workers = 2 };
	unsigned int creates = 0, commits = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(++creates);
		rc = hy_policy_create("memory", &params, &policy);
	} while (rc == -ENOMEM);
	assert_int_equal(rc, 0);
	unit_alloc_fail(0);
	add_dport(1, 0, 1, 80);
	commit();
	add_dport(2, 0, 2, 81);
	do {
		unit_alloc_fail(++commits);
		rc = hy_policy_commit(policy);
		unit_alloc_fail(0);
		if (rc == -ENOMEM) {
			assert_int_equal(class_of(80), 1);
			assert_int_equal(class_of(81), HY_FLOW_NO_CLASS);
			assert_int_equal(hy_policy_view(policy)->version, 1);
		}
	} while (rc == -ENOMEM);
	assert_int_equal(rc, 0);
	assert_int_equal(class_of(81), 2); /* it had stayed staged */
	assert_true(creates > 6 && commits > 3);
}

static void
policy_in_use_without_qsbr_does_not_change(void **state)
{
	RTE_SET_USED(state);
	policy_new(10, 1, NULL);
	add_dport(1, 0, 1, 80);
	commit();
	hy_policy_use(policy);
	add_dport(2, 0, 2, 81);
	assert_int_equal(hy_policy_commit(policy), -EBUSY);
	assert_int_equal(class_of(81), HY_FLOW_NO_CLASS);
	hy_policy_unuse(policy);
	commit();
	assert_int_equal(class_of(81), 2);
}

static void
commit_waits_for_workers_and_for_the_one_before(void **state)
{
	const struct hy_policy_view *before;

	RTE_SET_USED(state);
	assert_true(rte_rcu_qsbr_get_memsize(1) <= sizeof(qsbr));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	policy_new(10, 1, &qsbr.v);
	add_dport(1, 0, 1, 80);
	commit();
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
	before = hy_policy_view(policy);
	add_dport(2, 0, 2, 81);
	commit(); /* in vain for a second; it is published all the same */
	assert_int_equal(class_of(81), 2);
	assert_int_equal(before->nb_rules, 1); /* and what the worker has still stands */
	assert_int_equal(before->rules[0].rule.class_id, 1);
	add_dport(3, 0, 3, 82);
	assert_int_equal(hy_policy_commit(policy), -ETIMEDOUT);
	assert_int_equal(class_of(82), HY_FLOW_NO_CLASS);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	commit();
	assert_int_equal(class_of(82), 3);
}

static void
held_view_outlives_commits(void **state)
{
	const struct hy_policy_view *held[2];

	RTE_SET_USED(state);
	policy_new(10, 1, NULL);
	add_dport(1, 0, 1, 80);
	commit();
	held[0] = hy_policy_view_hold(policy);
	held[1] = hy_policy_view_hold(policy);
	assert_ptr_equal(held[0], held[1]);
	for (uint32_t id = 2; id < 8; id++) {
		add_dport(id, 0, (uint16_t)id, (uint16_t)(80 + id));
		commit();
		if (id == 4)
			hy_policy_view_release(policy, held[0]);
	}
	assert_int_equal(held[1]->version, 1);
	assert_int_equal(held[1]->nb_rules, 1);
	assert_int_equal(held[1]->rules[0].rule.match.dport[0], 80);
	hy_policy_view_release(policy, held[1]);
}

/* What listeners were called for, in order: p1 is prepare of listener 1. */
static char calls[64];
static int prepare_result;

static void
call(char what, void *arg)
{
	const size_t n = strlen(calls);

	assert_true(n + 2 < sizeof(calls));
	calls[n] = what;
	calls[n + 1] = *(const char *)arg;
	calls[n + 2] = '\0';
}

static int
on_prepare(void *arg, const struct hy_policy_view *next)
{
	call('p', arg);
	/* What it may build on, while workers see the old one; and it may ask the policy. */
	assert_int_equal(next->version, hy_policy_view(policy)->version + 1);
	assert_int_equal(next->nb_rules, hy_policy_rules_get(policy, NULL, 0) + 1);
	return *(const char *)arg == '2' ? prepare_result : 0;
}

static void
on_cancel(void *arg)
{
	call('c', arg);
}

static void
on_publish(void *arg)
{
	call('s', arg);
}

static void
on_after(void *arg)
{
	call('a', arg);
}

static void
listeners_prepare_publish_and_clean_up_in_order(void **state)
{
	static char names[] = "123";
	struct hy_policy_listener listeners[3];

	RTE_SET_USED(state);
	policy_new(10, 1, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		listeners[i] = (struct hy_policy_listener){ .prepare = on_prepare,
			.cancel = on_cancel,
			.publish = on_publish,
			.after = on_after,
			.arg = &names[i] };
		assert_int_equal(hy_policy_listen(policy, &listeners[i]), 0);
	}
	calls[0] = '\0';
	prepare_result = 0;
	add_dport(1, 0, 1, 80);
	commit();
	assert_string_equal(calls, "p1p2p3s1s2s3a1a2a3");
	calls[0] = '\0';
	prepare_result = -ENOSPC;
	add_dport(2, 0, 2, 81);
	assert_int_equal(hy_policy_commit(policy), -ENOSPC);
	assert_string_equal(calls, "p1p2c1");
	assert_int_equal(class_of(81), HY_FLOW_NO_CLASS);
	calls[0] = '\0';
	prepare_result = 0;
	hy_policy_unlisten(policy, &listeners[0]);
	commit();
	assert_string_equal(calls, "p2p3s2s3a2a3");
	assert_int_equal(class_of(81), 2);
	hy_policy_unlisten(policy, &listeners[2]);
	hy_policy_unlisten(policy, &listeners[1]);
	calls[0] = '\0';
	add_dport(3, 0, 3, 82);
	commit();
	assert_string_equal(calls, "");
}

static void
hits_are_summed_over_workers(void **state)
{
	const struct hy_policy_view *view;

	RTE_SET_USED(state);
	policy_new(10, 3, NULL);
	add_dport(7, 0, 70, 80);
	add_dport(8, 0, 80, 81);
	add_dport(9, 0, 70, 82);
	commit();
	view = hy_policy_view(policy);
	for (unsigned int w = 0; w < 3; w++)
		for (unsigned int i = 0; i <= w; i++)
			hy_policy_hit(hy_policy_counters(policy, w), view->rules[0].index);
	hy_policy_hit(hy_policy_counters(policy, 1), view->rules[2].index);
	assert_int_equal(hy_policy_hits(policy, 7), 6);
	assert_int_equal(hy_policy_hits(policy, 8), 0);
	assert_int_equal(hy_policy_hits(policy, 9), 1);
	assert_int_equal(hy_policy_hits(policy, 10), 0);
	assert_int_equal(hy_policy_class_hits(policy, 70), 7);
	assert_int_equal(hy_policy_class_hits(policy, 80), 0);
}

static void
classes_with_hits_are_listed_in_order(void **state)
{
	struct hy_policy_class *classes;
	uint32_t n;

	RTE_SET_USED(state);
	policy_new(10, 1, NULL);
	assert_int_equal(hy_policy_classes(policy, &classes, &n), 0);
	assert_int_equal(n, 0);
	assert_null(classes);
	add_dport(1, 0, 65535, 80);
	add_dport(2, 1, 7, 81);
	add_dport(3, 2, 9, 82);
	commit();
	for (unsigned int i = 0; i < 2; i++)
		hy_policy_hit(hy_policy_counters(policy, 0),
			hy_policy_view(policy)->rules[i].index);
	hy_policy_hit(hy_policy_counters(policy, 0), hy_policy_view(policy)->rules[0].index);
	assert_int_equal(hy_policy_remove(policy, 1), 0);
	commit();
	assert_int_equal(hy_policy_classes(policy, &classes, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(classes[0].class_id, 7);
	assert_int_equal(classes[0].hits, 1);
	assert_int_equal(classes[1].class_id, 65535);
	assert_int_equal(classes[1].hits, 2);
	free(classes);
}

static uint32_t
index_of(uint32_t id)
{
	const struct hy_policy_view *view = hy_policy_view(policy);

	for (uint32_t rank = 0; rank < view->nb_rules; rank++)
		if (view->rules[rank].rule.id == id)
			return view->rules[rank].index;
	return UINT32_MAX;
}

static void
hits_stay_with_a_rule_of_one_class_and_with_the_class_for_ever(void **state)
{
	struct hy_flow_rule rule = { .id = 1, .precedence = 9, .class_id = 10 };
	struct hy_policy_counts *counters;

	RTE_SET_USED(state);
	policy_new(2, 1, NULL);
	counters = hy_policy_counters(policy, 0);
	add_dport(1, 0, 10, 80);
	commit();
	hy_policy_hit(counters, index_of(1));
	assert_int_equal(hy_policy_replace(policy, &rule), 0); /* matches all, the same class */
	commit();
	hy_policy_hit(counters, index_of(1));
	assert_int_equal(hy_policy_hits(policy, 1), 2);
	rule.class_id = 11;
	assert_int_equal(hy_policy_replace(policy, &rule), 0);
	commit();
	hy_policy_hit(counters, index_of(1));
	assert_int_equal(hy_policy_hits(policy, 1), 1);
	assert_int_equal(hy_policy_class_hits(policy, 10), 2);
	assert_int_equal(hy_policy_class_hits(policy, 11), 1);
	/* Counters are used again, and start at 0 for whom they are given to. */
	for (uint32_t id = 2; id < 20; id++) {
		assert_int_equal(hy_policy_remove(policy, id - 1), 0);
		add_dport(id, 0, 12, 80);
		commit();
		assert_int_equal(hy_policy_hits(policy, id), 0);
		hy_policy_hit(counters, index_of(id));
		assert_int_equal(hy_policy_hits(policy, id), 1);
		assert_int_equal(hy_policy_class_hits(policy, 12), id - 1);
	}
	assert_int_equal(hy_policy_class_hits(policy, 11), 1);
}

static void
counter_is_not_given_away_while_a_worker_may_have_it_in_hand(void **state)
{
	uint32_t gone;

	RTE_SET_USED(state);
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	policy_new(2, 1, &qsbr.v);
	add_dport(1, 0, 10, 80);
	commit();
	gone = index_of(1);
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
	assert_int_equal(hy_policy_remove(policy, 1), 0);
	add_dport(2, 0, 20, 80);
	commit(); /* the worker does not report within a second */
	assert_int_not_equal(index_of(2), gone);
	hy_policy_hit(hy_policy_counters(policy, 0), gone);
	assert_int_equal(hy_policy_hits(policy, 2), 0);
	assert_int_equal(hy_policy_class_hits(policy, 10), 1);
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	add_dport(3, 0, 30, 80);
	hy_policy_abort(policy);
	commit();
	assert_int_equal(hy_policy_class_hits(policy, 10), 1);
	assert_int_equal(hy_policy_class_hits(policy, 20), 0);
}

#define MODEL_IDS 40

/* What a policy must have, by id, and the counters that rules had before. */
struct model {
	struct hy_flow_rule rule[MODEL_IDS];
	bool there[MODEL_IDS], keeps[MODEL_IDS];
	uint32_t index[MODEL_IDS];
	unsigned int kept, renewed, removed, reordered;
};

static void
model_change(struct model *m, uint32_t id, uint64_t *seed)
{
	struct hy_flow_rule rule = rule_random(id, seed);

	rule.precedence = rnd(seed) % 8;
	rule.class_id = (uint16_t)(1 + rnd(seed) % 2);
	if (m->there[id] && rnd(seed) % 3 == 0) {
		assert_int_equal(hy_policy_remove(policy, id), 0);
		m->there[id] = m->keeps[id] = false;
		m->removed++;
		return;
	}
	if (m->there[id]) {
		assert_int_equal(hy_policy_replace(policy, &rule), 0);
		m->keeps[id] &= m->rule[id].class_id == rule.class_id;
		m->reordered += m->rule[id].precedence != rule.precedence;
	} else {
		assert_int_equal(hy_policy_add(policy, &rule), 0);
		m->keeps[id] = false;
	}
	m->rule[id] = rule;
	m->there[id] = true;
}

static bool
comes_before(const struct hy_flow_rule *a, const struct hy_flow_rule *b)
{
	return a->precedence != b->precedence ? a->precedence < b->precedence : a->id < b->id;
}

/* The published rules are the model's, in order; each has a counter of its own. */
static void
model_compare(struct model *m)
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	bool taken[2 * MODEL_IDS] = { false };
	uint32_t n = 0;

	for (uint32_t rank = 0; rank < view->nb_rules; rank++) {
		const struct hy_policy_rule *rule = &view->rules[rank];
		const uint32_t id = rule->rule.id;

		assert_true(m->there[id] && hy_policy_view_find(view, id) == rule);
		assert_true(hy_flow_match_equal(&rule->rule.match, &m->rule[id].match));
		assert_int_equal(rule->rule.precedence, m->rule[id].precedence);
		assert_int_equal(rule->rule.class_id, m->rule[id].class_id);
		assert_true(rank == 0 || comes_before(&rule[-1].rule, &rule->rule));
		assert_true(rule->index < 2 * MODEL_IDS && !taken[rule->index]);
		taken[rule->index] = true;
		if (m->keeps[id])
			assert_int_equal(rule->index, m->index[id]);
		m->kept += m->keeps[id];
		m->renewed += !m->keeps[id];
		m->keeps[id] = true;
		m->index[id] = rule->index;
	}
	for (uint32_t id = 0; id < MODEL_IDS; id++)
		n += m->there[id];
	assert_int_equal(view->nb_rules, n);
}

/* Also after a round that is aborted, and with changes of nearly all rules at once. */
static void
sets_made_from_the_one_before_have_all_rules_in_order_with_their_counters(void **state)
{
	struct model m = { 0 };
	uint64_t seed = 2020;

	RTE_SET_USED(state);
	policy_new(MODEL_IDS, 1, NULL);
	for (unsigned int round = 0; round < 2000; round++) {
		const uint32_t n = round % 16 == 0 ? MODEL_IDS : 1 + rnd(&seed) % 4;
		const bool aborted = round % 5 == 4;
		struct model before = m;

		for (uint32_t i = 0; i < n; i++)
			model_change(&m, rnd(&seed) % MODEL_IDS, &seed);
		if (aborted) {
			hy_policy_abort(policy);
			m = before;
		}
		commit();
		model_compare(&m);
	}
	print_message("%u counters kept, %u new; %u rules removed, %u moved\n", m.kept, m.renewed,
		m.removed, m.reordered);
	assert_true(m.kept > 20000 && m.renewed > 2000 && m.removed > 1000 && m.reordered > 1000);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(staged_rules_are_seen_by_nobody_until_commit),
	POLICY_TEST(lower_precedence_wins_and_then_the_lower_id),
	POLICY_TEST(what_cannot_be_staged_changes_nothing),
	POLICY_TEST(abort_forgets_what_was_staged),
	POLICY_TEST(bad_parameters_are_refused),
	POLICY_TEST(failed_allocations_leave_all_as_it_was),
	POLICY_TEST(policy_in_use_without_qsbr_does_not_change),
	POLICY_TEST(commit_waits_for_workers_and_for_the_one_before),
	POLICY_TEST(held_view_outlives_commits),
	POLICY_TEST(listeners_prepare_publish_and_clean_up_in_order),
	POLICY_TEST(hits_are_summed_over_workers),
	POLICY_TEST(classes_with_hits_are_listed_in_order),
	POLICY_TEST(hits_stay_with_a_rule_of_one_class_and_with_the_class_for_ever),
	POLICY_TEST(sets_made_from_the_one_before_have_all_rules_in_order_with_their_counters),
	POLICY_TEST(counter_is_not_given_away_while_a_worker_may_have_it_in_hand),
};
UNIT_SUITE(tests)
