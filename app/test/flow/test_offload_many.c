/* SPDX-License-Identifier: BSD-3-Clause */
/* Offload to providers that take many rules at once: some of a batch fail, and some get no answer. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hal/flow/offload.h"

#include "flow_fixture.h"

#define REFUSED 7 /* one of so many requests */
#define SILENT 41 /* one of so many gets no answer, though the rule is there */

static unsigned int batches, asked, refused, silent;

static void
create_many(uint16_t port, struct hy_flow_request *requests, unsigned int n)
{
	batches += n > 0;
	for (struct hy_flow_request *r = requests; r < requests + n; r++) {
		if (++asked % REFUSED == 0) {
			r->rc = -EINVAL;
			refused++;
			continue;
		}
		r->rc = hy_flow_simulator.create(port, r->attr, r->items, r->actions, &r->flow,
			&r->error);
		refused += r->rc != 0;
		if (r->rc == 0 && asked % SILENT == 0) {
			r->rc = -ETIMEDOUT;
			silent++;
		}
	}
}

static void
destroy_many(uint16_t port, struct hy_flow_request *requests, unsigned int n)
{
	for (struct hy_flow_request *r = requests; r < requests + n; r++)
		r->rc = hy_flow_simulator.destroy(port, r->flow, &r->error);
}

static struct hy_flow_provider many;

static void
open_many(const char *profile)
{
	unsigned int p = 0;

	many = hy_flow_simulator;
	many.create_many = create_many;
	many.destroy_many = destroy_many;
	batches = asked = refused = silent = 0;
	while (strcmp(flow_profiles[p].name, profile) != 0)
		p++;
	flow_open(&flow_profiles[p], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .provider = &many, .sample_every = 4 });
}

/* Counts slots that are stuck, and fails where a mark of one is told to workers. */
static uint32_t
stuck_slots(void)
{
	const struct hy_mark_table *table = hy_policy_marks(R->policy, R->port->id);
	uint32_t n = 0;

	for (uint32_t i = 0; i < R->offload->nb_slots; i++) {
		if (R->offload->flows[i].state != FLOW_STUCK)
			continue;
		assert_int_equal(table->slots[i].mark, 0);
		n++;
	}
	return n;
}

static void
churn_in_batches(const char *profile)
{
	struct hy_offload_stats s;

	open_many(profile);
	flow_rules_add(0, 100);
	flow_settle();
	for (uint32_t i = 1; i <= 20; i++) {
		flow_rules_add(100 * i, 10);
		for (uint32_t id = 0; id < 5; id++)
			assert_int_equal(hy_policy_remove(R->policy,
						 (i == 1 ? 0 : 100 * (i - 1)) + id),
				0);
		flow_commit();
		flow_settle();
		flow_traffic(200);
	}
	s = flow_stats();
	print_message("%s: %u requests in %u batches, %u refused, %u not answered; %u rules in "
		      "hardware, %ju packets by marks, %ju stale\n",
		profile, asked, batches, refused, silent, s.hw_rules, (uintmax_t)s.marked,
		(uintmax_t)s.stale);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 4000);
	flow_assert_counted();
	assert_int_equal(s.mismatches, 0);
	assert_int_equal(s.failed, silent);
	assert_int_equal(s.installed, asked - refused - silent);
	assert_int_equal(stuck_slots(), silent);
	assert_true(batches * 2 < asked && refused > 5 && silent > 0 && s.marked > 100);
}

static void
batch_of_which_some_fail_changes_no_class(void **state)
{
	RTE_SET_USED(state);
	churn_in_batches("mlx5");
}

/* Rules of a batch do not overlap, though none of them is in hardware when it is put together. */
static void
batch_for_a_port_without_priorities_has_no_two_rules_that_overlap(void **state)
{
	const struct plan *plan;
	uint32_t pairs = 0;

	RTE_SET_USED(state);
	open_many("generic");
	R->offload->limits.priorities = 1;
	flow_rules_add(0, 60);
	flow_rules_add(1000, 200);
	flow_settle();
	plan = R->offload->plan;
	for (uint32_t r = 0; r < plan->view->nb_rules; r++)
		for (uint32_t q = 0; q < r; q++) {
			if (plan->rules[r].slot == NO_SLOT || plan->rules[q].slot == NO_SLOT)
				continue;
			assert_false(hy_flow_overlap(&plan->view->rules[r].rule.match,
				&plan->view->rules[q].rule.match));
			pairs++;
		}
	print_message("%u pairs of rules, %u requests\n", pairs, asked);
	assert_true(pairs > 20);
	flow_traffic(1000);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 1000);
}

/* With changes in each poll, those were tried before all others each time, up to a batch of them. */
static void
rules_that_overlap_one_keep_no_others_from_being_tried(void **state)
{
	struct hy_flow_rule rule = {
		.id = 900, .class_id = 1, .match = { .fields = HY_FLOW_PROTO, .proto = IPPROTO_UDP }
	};

	RTE_SET_USED(state);
	open_many("generic");
	R->offload->limits.priorities = 1;
	R->offload->params.batch = 4;
	assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	flow_commit();
	flow_settle();
	flow_exact_rules(1, 20);
	flow_settle();
	for (uint32_t id = 1; id <= 20; id++)
		assert_string_equal(hy_offload_reason(R->offload, id),
			"it overlaps a rule in hardware, which has no priorities");
	rule.id = rule.precedence = 901;
	rule.match.proto = IPPROTO_SCTP;
	assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	flow_commit();
	for (int i = 0; i < 3; i++) {
		usleep(1100);
		R->offload->retry = true;
		hy_offload_poll(R->offload);
	}
	assert_int_equal(asked, 2);
	assert_null(hy_offload_reason(R->offload, 901));
}

/* Of three rules that come at once, one is taken, one finds no room, and one is no good. */
static void
create_until_full(uint16_t port, struct hy_flow_request *requests, unsigned int n)
{
	static const int answers[] = { 0, -ENOSPC, -EINVAL };

	for (struct hy_flow_request *r = requests; r < requests + n; r++) {
		r->rc = asked < RTE_DIM(answers) ? answers[asked] : -ENOSPC;
		asked++;
		if (r->rc == 0)
			r->rc = hy_flow_simulator.create(port, r->attr, r->items, r->actions,
				&r->flow, &r->error);
	}
}

static void
port_that_was_full_is_full_whatever_else_it_refuses_in_the_batch(void **state)
{
	RTE_SET_USED(state);
	open_many("generic");
	many.create_many = create_until_full;
	R->offload->params.age_us = 1000000000; /* nothing else makes it try again */
	R->offload->aged = hy_offload_now();
	flow_exact_rules(0, 3);
	for (int i = 0; i < 1000 && asked == 0; i++) {
		hy_offload_poll(R->offload);
		usleep(1000); /* quarantine of slots */
	}
	assert_int_equal(asked, 3);
	assert_true(flow_stats().full);
	assert_int_equal(flow_stats().hw_rules, 1);
	assert_null(hy_offload_reason(R->offload, 0));
	assert_string_equal(hy_offload_reason(R->offload, 1), "the port has no room");
	assert_non_null(strstr(hy_offload_reason(R->offload, 2), "the port refuses it"));
	flow_settle();
	assert_int_equal(asked, 3);
}

static const struct CMUnitTest offload_many_tests[] = {
	FLOW_TEST(batch_of_which_some_fail_changes_no_class),
	FLOW_TEST(batch_for_a_port_without_priorities_has_no_two_rules_that_overlap),
	FLOW_TEST(rules_that_overlap_one_keep_no_others_from_being_tried),
	FLOW_TEST(port_that_was_full_is_full_whatever_else_it_refuses_in_the_batch),
};

UNIT_SUITE(offload_many_tests)
