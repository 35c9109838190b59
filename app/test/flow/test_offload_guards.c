/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps marks honest: residue, generations, random samples. Each guard has a test of the harm
 * that it prevents, which is run once more with the guard off and must find the harm then.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <hy_hal.h>

#include "hal/flow/offload.h"

#include "failing_fixture.h"
#include "flow_fixture.h"

static struct rte_mbuf *packets[512];
static uint8_t frame[FRAME_MAX];

/* A rule in hardware for a prefix; before it one that only software can hold, for a range in it. */
static void
residue_harm(bool guard)
{
	struct hy_flow_rule wide = { .id = 1, .precedence = 2, .class_id = 10 };
	struct hy_flow_rule range = { .id = 2, .precedence = 1, .class_id = 20 };

	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000 });
	R->offload->safety.residue = guard;
	wide.match = (struct hy_flow_match){
		.fields = HY_FLOW_DST, .dst = 0xc6000000, .dst_len = 8
	};
	range.match = (struct hy_flow_match){ .fields = HY_FLOW_DPORT, .dport = { 50, 90 } };
	assert_int_equal(hy_policy_add(R->policy, &wide), 0);
	assert_int_equal(hy_policy_add(R->policy, &range), 0);
	flow_commit();
	flow_settle();
	assert_null(hy_offload_reason(R->offload, 1));
	assert_string_equal(hy_offload_reason(R->offload, 2), "a range of ports");
	flow_traffic(2000);
	assert_int_equal(R->compared, 2000);
	assert_true(flow_stats().marked > 500);
}

static void
marked_packet_goes_to_an_earlier_rule_of_software(void **state)
{
	RTE_SET_USED(state);
	residue_harm(true);
	assert_int_equal(R->wrong, 0);
	assert_true(flow_stats().residue > 500);
	flow_assert_counted();
}

static void
without_residue_marked_packets_miss_earlier_rules(void **state)
{
	RTE_SET_USED(state);
	residue_harm(false);
	assert_true(R->wrong > 100);
}

/* Packets lie in a queue so long that their rule's slot belongs to another rule meanwhile. */
static void
generation_harm(bool guard)
{
	unsigned int n;

	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000 });
	R->offload->safety.generation = guard;
	flow_exact_rules(7, 1);
	flow_settle();
	n = flow_hold(packets, frame, flow_exact_frame(frame, 7), 32);
	assert_int_equal(hy_policy_remove(R->policy, 7), 0);
	flow_commit();
	flow_settle();
	flow_exact_rules(8, 1);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	flow_send(packets, n);
	assert_int_equal(R->compared, 32);
}

static void
mark_of_a_rule_that_is_gone_is_stale_when_its_slot_has_another(void **state)
{
	RTE_SET_USED(state);
	generation_harm(true);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().stale, 32);
	flow_assert_counted();
}

static void
without_generations_a_late_mark_is_taken_for_another_rules(void **state)
{
	RTE_SET_USED(state);
	generation_harm(false);
	assert_int_equal(R->wrong, 32);
}

/* Twenty rules, one after the other, beside one that marks on: each mark is its, and of no rule. */
static void
rules_follow(void)
{
	for (uint32_t id = 2; id < 22; id++) {
		flow_exact_rules(id, 1);
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 1);
		flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 1), 32));
		assert_int_equal(hy_policy_remove(R->policy, id), 0);
		flow_commit();
		flow_settle();
	}
	assert_int_equal(R->compared, 20 * 32);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_stats().stale, 20 * 32);
}

/* Marks up to 15 make two slots of seven generations: twenty rules would use each mark again. */
static void
rule_that_the_port_will_not_remove_never_marks_for_another(void **state)
{
	static struct hy_flow_provider provider; /* the offload goes after the test */

	RTE_SET_USED(state);
	provider = hy_flow_simulator;
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .mark_max = 15 },
		(struct hy_offload_params){
			.provider = &provider, .max_rules = 1, .sample_every = 1000000 });
	assert_int_equal(R->offload->nb_slots, 2);
	assert_int_equal(R->offload->generations, 7);
	flow_exact_rules(1, 1);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	provider.destroy = refuse_destroy;
	assert_int_equal(hy_policy_remove(R->policy, 1), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().failed, 1);
	provider.destroy = hy_flow_simulator.destroy;
	rules_follow();
	assert_int_equal(flow_stats().failed, 1);
}

/* The rule marks on. An offload after that one begins with the same slots, and knows nothing of it. */
static void
rule_that_the_port_will_not_remove_never_marks_for_the_next_offload(void **state)
{
	static struct hy_flow_provider provider;
	const struct hy_offload_params params = { .provider = &provider,
		.driver = hy_flow_driver_of(flow_profiles[0].driver),
		.max_rules = 1,
		.sample_every = 1000000,
		.settle_us = 1000,
		.age_us = 1 };
	char reason[256];

	RTE_SET_USED(state);
	provider = hy_flow_simulator;
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .mark_max = 15 }, params);
	flow_exact_rules(1, 1);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	provider.destroy = refuse_destroy;
	assert_int_equal(hy_policy_remove(R->policy, 1), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().failed, 1);
	hy_offload_destroy(R->offload);
	provider.destroy = hy_flow_simulator.destroy;
	assert_int_equal(hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
				 sizeof(reason)),
		0);
	rules_follow();
}

/*
 * Every 16th packet has a forged mark: another rule's. A fixed distance of 16 meets all of them or,
 * as here where it starts beside them, none.
 */
static uint64_t
random_harm(bool guard)
{
	uint32_t other;

	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 16, .demote_after = 1000000 });
	flow_exact_rules(0, 2);
	flow_settle();
	flow_hold(packets, frame, flow_exact_frame(frame, 1), 1);
	other = packets[0]->hash.fdir.hi;
	rte_pktmbuf_free(packets[0]);
	R->offload->worker[0].periodic = !guard;
	R->offload->worker[0].gap = 8;
	for (int i = 0; i < 20; i++) {
		const unsigned int n = flow_hold(packets, frame, flow_exact_frame(frame, 0), 320);

		for (unsigned int p = 0; p < n; p += 16)
			packets[p]->hash.fdir.hi = other;
		flow_send(packets, n);
	}
	assert_int_equal(R->compared, 6400);
	assert_int_equal(flow_counter("hw_hits") + flow_counter("sw_hits"), 6400);
	assert_int_equal(flow_counter("sw_hits"), flow_stats().mismatches);
	return flow_stats().mismatches;
}

static void
random_samples_meet_what_is_wrong_periodically(void **state)
{
	const uint64_t found = random_harm(true);

	RTE_SET_USED(state);
	/* 400 samples of which one in 16 is forged; all others forged got the wrong class. */
	assert_in_range(found, 8, 60);
	assert_int_equal(R->wrong, 400 - found);
}

static void
periodic_samples_miss_what_is_wrong_periodically(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(random_harm(false), 0);
	assert_int_equal(R->wrong, 400);
}

/* Bursts that no sample falls into are counted as a whole: those between count in full all the same. */
static void
every_so_many_marked_packets_one_is_a_sample(void **state)
{
	unsigned int sent = 0;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 500 });
	flow_exact_rules(0, 2);
	flow_settle();
	R->offload->worker[0].periodic = true;
	R->offload->worker[0].gap = 500;
	for (unsigned int n = 1; n <= 200; n++) {
		flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 0), n));
		sent += n;
		assert_int_equal(flow_stats().sampled, sent / 500);
	}
	assert_int_equal(R->compared, 20100);
	assert_int_equal(flow_stats().marked, 20100);
	assert_int_equal(R->wrong, 0);
}

/* The other port's packets carry marks of this one's rules, and no one has said what they stand for. */
static void
marks_count_for_packets_of_their_own_port_only(void **state)
{
	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000 });
	flow_exact_rules(0, 2);
	flow_settle();
	for (int i = 0; i < 10; i++) {
		const unsigned int n = flow_hold(packets, frame, flow_exact_frame(frame, 0), 64);

		for (unsigned int p = 0; p < n; p++)
			if (p / 7 % 2 == 1)
				packets[p]->port = RTE_MAX_ETHPORTS - 1;
		flow_send(packets, n);
	}
	assert_int_equal(R->compared, 640);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(flow_counter("hw_hits"), 350); /* five times 7 of 64 */
	assert_int_equal(flow_counter("sw_hits"), 290);
}

/* Values that nobody gave out: 0, of free slots, of other generations, beyond the table. */
static void
forged_marks_stand_for_nothing(void **state)
{
	uint64_t seed = 1;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	flow_exact_rules(0, 20);
	flow_settle();
	for (int i = 0; i < 10; i++) {
		const unsigned int n = flow_hold(packets, frame, flow_exact_frame(frame, 5), 100);

		for (unsigned int p = 0; p < n; p++)
			packets[p]->hash.fdir.hi = p % 4 == 0 ? 0
				: p % 4 == 1
				? packets[p]->hash.fdir.hi + (1u << R->offload->slot_bits)
				: p % 4 == 2 ? R->offload->nb_slots + 4000 + p
					     : rnd(&seed) | 0x80000000;
		flow_send(packets, n);
	}
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 1000);
	assert_int_equal(flow_stats().stale, 1000);
	flow_assert_counted();
}

/* Slots have mark 0 when no rule has them. */
static void
mark_0_stands_for_no_rule(void **state)
{
	unsigned int n;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000 });
	flow_exact_rules(0, 2);
	flow_settle();
	n = flow_hold(packets, frame, flow_exact_frame(frame, 1), 32);
	assert_int_equal(packets[0]->hash.fdir.hi & (R->offload->nb_slots - 1), 1);
	assert_int_equal(hy_policy_remove(R->policy, 0), 0);
	flow_commit();
	flow_settle();
	for (unsigned int i = 0; i < n; i++)
		packets[i]->hash.fdir.hi = 0;
	flow_send(packets, n);
	assert_int_equal(R->compared, 32);
	assert_int_equal(flow_stats().stale, 32);
}

/* Some engines find ports in the first fragment. It has none in software, as the others. */
static void
fragment_does_not_match_a_rule_on_ports(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++) {
		uint32_t len;

		flow_open(&flow_profiles[p], (struct hy_flow_sim_params){ 0 },
			(struct hy_offload_params){ .sample_every = 1000000 });
		flow_exact_rules(0, 2);
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 2);
		len = flow_exact_frame(frame, 1);
		flow_send(packets, flow_hold(packets, frame, len, 32));
		assert_int_equal(flow_stats().marked, 32);
		frame[20] = 0x20; /* more fragments follow */
		flow_send(packets, flow_hold(packets, frame, len, 32));
		assert_int_equal(R->wrong, 0);
		assert_int_equal(R->hits[HY_FLOW_NO_CLASS], 32);
		assert_int_equal(flow_teardown(state), 0);
	}
}

#define SETTLE_US 1000000 /* all of the following fits into it, however busy the machine */

/* Packets were marked by a rule's own before one ahead of it was created. */
static void
new_rule_gets_packets_that_waited_since_before_it(void **state)
{
	struct hy_flow_rule wide = { .id = 100,
		.precedence = 1000,
		.class_id = 500,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6000000, .dst_len = 8 } };
	unsigned int n;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1000000, .settle_us = SETTLE_US });
	assert_int_equal(hy_policy_add(R->policy, &wide), 0);
	flow_commit();
	usleep(SETTLE_US + 10000);
	hy_offload_poll(R->offload);
	assert_int_equal(flow_stats().hw_rules, 1);
	n = flow_hold(packets, frame, flow_exact_frame(frame, 1), 32);
	flow_exact_rules(1, 1);
	hy_offload_poll(R->offload);
	assert_int_equal(flow_stats().hw_rules, 2);
	flow_send(packets, n);
	assert_int_equal(flow_stats().marked, 32);
	assert_int_equal(R->hits[2], 32);
	assert_int_equal(R->wrong, 0);
}

static void
port_without_priorities_has_no_two_rules_that_overlap(void **state)
{
	struct hy_flow_rule twin;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[3], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	flow_exact_rules(0, 2);
	twin = hy_policy_view(R->policy)->rules[1].rule;
	twin.id = 5;
	assert_int_equal(hy_policy_add(R->policy, &twin), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 2);
	assert_string_equal(hy_offload_reason(R->offload, 5),
		"it overlaps a rule in hardware, which has no priorities");
}

static void
port_that_lies_is_caught_and_demoted(void **state)
{
	struct hy_mark_mismatch m;
	struct hy_offload_stats s;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 8, .demote_after = 5 });
	flow_exact_rules(0, 20);
	flow_settle();
	flow_traffic(1000);
	assert_int_equal(flow_stats().mismatches, 0);
	hy_flow_sim_fault(R->sim, &(struct hy_flow_sim_faults){ .lie_every = 4 });
	for (int i = 0; i < 200 && flow_stats().state == HY_OFFLOAD_UP; i++) {
		const unsigned int n = flow_hold(packets, frame,
			flow_exact_frame(frame, (uint32_t)i % 20), 64);

		flow_send(packets, n);
		hy_offload_poll(R->offload);
	}
	s = flow_stats();
	assert_int_equal(s.state, HY_OFFLOAD_DEMOTED);
	assert_true(s.mismatches >= 5);
	assert_int_equal(hy_offload_mismatch(R->offload, &m), 0);
	assert_int_not_equal(m.hw_class, m.sw_class);
	assert_int_equal(m.sw_class, m.sw_rule + 1);
	assert_int_equal(m.hw_class, m.hw_rule + 1);
	assert_int_equal(m.len, flow_exact_frame(frame, m.sw_rule));
	assert_memory_equal(m.frame, frame, HY_MISMATCH_FRAME);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules + flow_stats().leaving, 0);
	assert_string_equal(hy_offload_reason(R->offload, 3), "marks of the port were found wrong");
	R->wrong = 0;
	flow_traffic(1000);
	assert_int_equal(R->wrong, 0);
}

static void
assert_selected(struct hy_hal *hal, const char *variant)
{
	char error[HY_HAL_ERROR_SIZE];

	assert_int_equal(hy_offload_declare(R->offload, hal), 0);
	assert_int_equal(hy_hal_select(hal, error), 0);
	assert_string_equal(hy_hal_selection(hal, "flow_cls", R->port->id)->chosen->impl.variant,
		variant);
}

static void
hal_selects_marks_until_the_port_is_demoted(void **state)
{
	const struct hy_capability *cap;
	struct hy_hal *hal;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 1, .demote_after = 5 });
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_selected(hal, "mark");
	cap = hy_hal_capability(hal,
		(struct hy_target){ .kind = HY_TARGET_PORT, .id = R->port->id }, HY_CAP_FLOW_MARK);
	assert_int_equal(cap->value, 0xfffd);
	assert_int_equal(cap->origin, HY_ORIGIN_PROBED);
	flow_exact_rules(0, 20);
	flow_settle();
	hy_flow_sim_fault(R->sim, &(struct hy_flow_sim_faults){ .lie_every = 2 });
	flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 3), 64));
	assert_int_equal(R->wrong, 0); /* all were classified again */
	hy_offload_poll(R->offload);
	assert_selected(hal, "linear");
	assert_int_equal(cap->level, HY_LEVEL_NO);
	assert_int_equal(cap->origin, HY_ORIGIN_OBSERVED);
	hy_hal_destroy(hal);
}

static const struct CMUnitTest offload_guard_tests[] = {
	FLOW_TEST(marked_packet_goes_to_an_earlier_rule_of_software),
	FLOW_TEST(without_residue_marked_packets_miss_earlier_rules),
	FLOW_TEST(mark_of_a_rule_that_is_gone_is_stale_when_its_slot_has_another),
	FLOW_TEST(without_generations_a_late_mark_is_taken_for_another_rules),
	FLOW_TEST(rule_that_the_port_will_not_remove_never_marks_for_another),
	FLOW_TEST(rule_that_the_port_will_not_remove_never_marks_for_the_next_offload),
	FLOW_TEST(random_samples_meet_what_is_wrong_periodically),
	FLOW_TEST(periodic_samples_miss_what_is_wrong_periodically),
	FLOW_TEST(every_so_many_marked_packets_one_is_a_sample),
	FLOW_TEST(marks_count_for_packets_of_their_own_port_only),
	FLOW_TEST(forged_marks_stand_for_nothing),
	FLOW_TEST(mark_0_stands_for_no_rule),
	FLOW_TEST(fragment_does_not_match_a_rule_on_ports),
	FLOW_TEST(new_rule_gets_packets_that_waited_since_before_it),
	FLOW_TEST(port_without_priorities_has_no_two_rules_that_overlap),
	FLOW_TEST(port_that_lies_is_caught_and_demoted),
	FLOW_TEST(hal_selects_marks_until_the_port_is_demoted),
};

UNIT_SUITE(offload_guard_tests)
