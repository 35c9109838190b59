/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports whose marks do not arrive, are wrong, or come in packets that name another port: each is
 * noticed in time and software takes over; and nothing that is in order is taken for it.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hy_hal_live.h>

#include "failing_fixture.h"
#include "flow_fixture.h"
#include "hal/flow/offload.h"

#define RULES 3
#define SECOND 1000 /* packets: the rate at which a fault must be noticed within a second */

static struct rte_mbuf *packets[512];
static uint8_t frame[FRAME_MAX];

static void
open_with_rules(struct hy_offload_params params)
{
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 }, params);
	flow_exact_rules(0, RULES);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RULES);
}

/* Packets of which each matches a rule. */
static void
matching(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		flow_send(packets,
			flow_hold(packets, frame, flow_exact_frame(frame, i % RULES), 1));
}

/* About 1,000 matching packets a second, polled every 50 ms. Returns how many until a demotion. */
static unsigned int
packets_until_demoted(void (*send)(unsigned int n), unsigned int most)
{
	unsigned int sent = 0;

	while (sent < most && flow_stats().state == HY_OFFLOAD_UP) {
		for (int i = 0; i < 5; i++, sent += 10) {
			send(10);
			usleep(10000);
		}
		hy_offload_poll(R->offload);
	}
	return sent;
}

/* Times that the port was judged. */
static void
judged(unsigned int times)
{
	for (; times > 0; times--) {
		usleep(101000);
		hy_offload_poll(R->offload);
	}
}

static void
assert_demoted(const char *why, const char *reason)
{
	const struct hy_offload_stats s = flow_stats();

	assert_int_equal(s.state, HY_OFFLOAD_DEMOTED);
	if (strstr(s.demoted, why) == NULL)
		fail_msg("demoted since \"%s\", not since \"%s\"", s.demoted, why);
	if (strstr(unit_log(), s.demoted) == NULL)
		fail_msg("the log does not say \"%s\": %s", s.demoted, unit_log());
	assert_string_equal(hy_offload_reason(R->offload, 1), reason);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules + flow_stats().leaving, 0);
	matching(100);
	assert_int_equal(R->wrong, 0);
	flow_assert_counted();
}

static void
noticed_within_a_second(struct hy_flow_sim_faults faults)
{
	open_with_rules((struct hy_offload_params){ 0 });
	matching(SECOND);
	judged(2);
	assert_int_equal(flow_stats().marked, SECOND);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
	hy_flow_sim_fault(R->sim, &faults);
	assert_in_range(packets_until_demoted(matching, 2 * SECOND), 32, SECOND);
}

static void
marks_that_never_arrive_are_noticed(void **state)
{
	RTE_SET_USED(state);
	noticed_within_a_second((struct hy_flow_sim_faults){ .no_marks = 1 });
	assert_int_equal(flow_stats().marked, SECOND);
	assert_demoted("3 rules are in hardware, and of ", "marks of the port do not arrive");
}

static void
marks_that_have_never_arrived_are_noticed(void **state)
{
	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .faults.no_marks = 1 },
		(struct hy_offload_params){ 0 });
	flow_exact_rules(0, RULES);
	assert_in_range(packets_until_demoted(matching, 2 * SECOND), 32, SECOND);
	assert_int_equal(flow_stats().marked, 0);
	assert_demoted("came with a mark", "marks of the port do not arrive");
}

static void
marks_that_stop_after_a_while_are_noticed(void **state)
{
	struct hy_flow_sim_stats s;

	RTE_SET_USED(state);
	noticed_within_a_second((struct hy_flow_sim_faults){ .mark_until = 77 });
	hy_flow_sim_stats(R->sim, &s);
	assert_int_equal(s.marked, SECOND + 77);
	assert_true(s.withheld > 32);
	assert_demoted("came with a mark", "marks of the port do not arrive");
}

static void
marks_for_one_packet_in_ten_are_noticed(void **state)
{
	RTE_SET_USED(state);
	noticed_within_a_second((struct hy_flow_sim_faults){ .mark_every = 10 });
	assert_true(flow_stats().marked > SECOND);
	assert_demoted("came with a mark", "marks of the port do not arrive");
}

/* Marks that are mangled on their way stand for no rule. */
static void
mangled(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(flow_hold(packets, frame, flow_exact_frame(frame, i % RULES), 1),
			1);
		packets[0]->hash.fdir.hi = rte_bswap32(packets[0]->hash.fdir.hi);
		flow_send(packets, 1);
	}
}

static void
marks_that_stand_for_nothing_are_noticed(void **state)
{
	RTE_SET_USED(state);
	open_with_rules((struct hy_offload_params){ 0 });
	judged(1);
	assert_in_range(packets_until_demoted(mangled, 2 * SECOND), 32, SECOND);
	assert_true(flow_stats().garbled >= 32);
	assert_int_equal(flow_stats().missing, 0);
	assert_demoted("0 came with a mark", "marks of the port do not arrive");
}

static void
packets_that_name_another_port_are_noticed(void **state)
{
	RTE_SET_USED(state);
	open_with_rules((struct hy_offload_params){ 0 });
	flow_traffic(SECOND);
	judged(1);
	assert_int_equal(flow_stats().foreign, 0);
	hy_flow_sim_fault(R->sim, &(struct hy_flow_sim_faults){ .port_add = 5 });
	assert_in_range(packets_until_demoted(flow_traffic, 2 * SECOND), 8, SECOND);
	assert_true(flow_stats().foreign >= 8);
	assert_demoted("packets that it received say that they came by port ",
		"packets of the port name another port");
}

static void
hal_is_told_why_and_selects_software(void **state)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT };
	const struct hy_capability *cap;
	char error[HY_HAL_ERROR_SIZE];
	int rc;

	RTE_SET_USED(state);
	flow_open_followed(&flow_profiles[0], (struct hy_flow_sim_params){ .faults.no_marks = 1 },
		(struct hy_offload_params){ 0 });
	flow_exact_rules(0, RULES);
	do {
		rc = hy_hal_poll(R->hal, &R->graph, 1, NULL, error);
		hy_graph_walk(R->graph);
		hy_graph_rest(R->graph);
	} while (rc > 0);
	assert_string_equal(hy_hal_placement(R->hal, "flow_cls-rig")->variant, "mark");
	packets_until_demoted(matching, 2 * SECOND);
	cap = hy_hal_capability(R->hal,
		(struct hy_target){ .kind = target.kind, .id = R->port->id }, HY_CAP_FLOW_MARK);
	assert_int_equal(cap->level, HY_LEVEL_NO);
	assert_int_equal(cap->origin, HY_ORIGIN_OBSERVED);
	assert_non_null(strstr(cap->reason, "0 came with a mark"));
	do {
		rc = hy_hal_poll(R->hal, &R->graph, 1, NULL, error);
		hy_graph_walk(R->graph);
		hy_graph_rest(R->graph);
	} while (rc > 0);
	assert_string_equal(hy_hal_placement(R->hal, "flow_cls-rig")->variant, "linear");
}

/* Random rules and frames, of every profile: nothing is missing; and with the fault, something is. */
static void
nothing_is_missing_where_hardware_does_as_its_rules_say(void **state)
{
	RTE_SET_USED(state);
	for (int p = 0; p < FLOW_PROFILES; p++) {
		flow_open(&flow_profiles[p], (struct hy_flow_sim_params){ 0 },
			(struct hy_offload_params){ 0 });
		for (uint32_t set = 0; set < 12; set++) {
			flow_rules_add(20 * set, 20);
			flow_settle();
			flow_traffic(500);
			judged(1);
			for (uint32_t r = 0; r < 20; r++)
				hy_policy_remove(R->policy, 20 * set + r);
		}
		if (flow_stats().missing + flow_stats().garbled > 0)
			fail_msg("%s: %ju missing, %ju garbled", flow_profiles[p].name,
				(uintmax_t)flow_stats().missing, (uintmax_t)flow_stats().garbled);
		assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
		assert_true(flow_stats().marked > 100 && flow_stats().looked > 500);
		hy_flow_sim_fault(R->sim, &(struct hy_flow_sim_faults){ .no_marks = 1 });
		flow_traffic(500);
		assert_true(flow_stats().missing > 0);
		assert_int_equal(R->wrong, 0);
		assert_int_equal(flow_teardown(state), 0);
		assert_int_equal(flow_setup(state), 0);
	}
}

static void
assert_no_alarm(uint64_t looked_at_least)
{
	judged(3);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
	assert_int_equal(flow_stats().missing, 0);
	assert_true(flow_stats().looked >= looked_at_least);
	assert_string_equal(flow_stats().demoted, "");
}

static void
packets_from_before_a_rule_are_no_alarm(void **state)
{
	unsigned int n;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .settle_us = 200000 });
	n = flow_hold(packets, frame, flow_exact_frame(frame, 1), 200);
	flow_exact_rules(0, RULES);
	/* No poll after the one that installs the rules: it could find them settled. */
	for (int polls = 0; polls < 100 && flow_stats().hw_rules == 0; polls++)
		judged(1);
	assert_int_equal(flow_stats().hw_rules, RULES);
	flow_send(packets, n);
	assert_no_alarm(n);
	flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 1), 10));
	assert_int_equal(flow_stats().marked, 10);
}

static void
traffic_that_stops_is_no_alarm(void **state)
{
	RTE_SET_USED(state);
	open_with_rules((struct hy_offload_params){ 0 });
	matching(100);
	assert_no_alarm(0);
	assert_int_equal(flow_stats().marked, 100);
}

static void
traffic_of_rules_in_software_is_no_alarm(void **state)
{
	const struct hy_flow_rule range = { .id = 9,
		.class_id = 4,
		.match = { .fields = HY_FLOW_PROTO | HY_FLOW_DPORT,
			.proto = 17,
			.dport = { 1, 60000 } } };

	RTE_SET_USED(state);
	open_with_rules((struct hy_offload_params){ 0 });
	for (uint32_t id = 0; id < RULES; id++)
		assert_int_equal(hy_policy_remove(R->policy, id), 0);
	assert_int_equal(hy_policy_add(R->policy, &range), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 0);
	for (int i = 0; i < 5; i++) {
		matching(200);
		judged(1);
	}
	assert_no_alarm(500);
	assert_int_equal(R->hits[4], 1000);
}

/* What a NIC may see less of than software does: it is no evidence, though no mark comes with it. */
static void
packets_that_hardware_may_overlook_are_no_alarm(void **state)
{
	static const struct {
		unsigned int at;
		uint8_t value;
	} changes[] = {
		{ 14, 0x46 },      /* options */
		{ 14 + 6, 0x20 },  /* the first fragment */
		{ 14 + 7, 1 },     /* a later one */
		{ 14 + 2, 5 },     /* longer than the packet */
		{ 14 + 10, 0xee }, /* damaged */
		{ 14 + 9, 47 },    /* a tunnel */
		{ 14 + 9, 50 },    /* encrypted */
		{ 22, 1 },         /* damaged */
	};
	const struct hy_flow_rule to = { .id = 1,
		.class_id = 2,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6120001, .dst_len = 32 } };
	uint64_t looked = 0;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ .faults.no_marks = 1 },
		(struct hy_offload_params){ 0 });
	assert_int_equal(hy_policy_add(R->policy, &to), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	for (size_t c = 0; c < RTE_DIM(changes); c++) {
		const uint32_t len = flow_exact_frame(frame, 0);

		frame[changes[c].at] = changes[c].value;
		flow_send(packets, flow_hold(packets, frame, len, 100));
		assert_no_alarm(looked + 100);
		looked = flow_stats().looked;
	}
	assert_int_equal(R->hits[2], 100 * RTE_DIM(changes));
	/* The frame as it was is evidence. */
	flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 0), 100));
	assert_int_equal(flow_stats().missing, 100);
}

static void
port_that_is_reset_is_no_alarm(void **state)
{
	RTE_SET_USED(state);
	open_with_rules((struct hy_offload_params){ 0 });
	for (int i = 0; i < 3; i++) {
		unsigned int n;

		hy_offload_down(R->offload, false);
		hy_flow_sim_flush(R->sim);
		matching(200);
		assert_int_equal(hy_offload_up(R->offload), 0);
		matching(200);
		n = flow_hold(packets, frame, flow_exact_frame(frame, 1), 64);
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, RULES);
		rte_pktmbuf_free_bulk(packets, n);
		matching(200);
		judged(2);
	}
	assert_no_alarm(0);
	assert_int_equal(flow_stats().marked, 600);
}

/* Packets that were marked for a rule that left, and for which a rule below it is due. */
static void
marks_of_a_rule_that_left_are_no_alarm(void **state)
{
	const struct hy_flow_rule below = { .id = 7,
		.class_id = 7,
		.precedence = 900,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6120001, .dst_len = 32 } };
	unsigned int n;

	RTE_SET_USED(state);
	open_with_rules((struct hy_offload_params){ 0 });
	assert_int_equal(hy_policy_add(R->policy, &below), 0);
	flow_commit();
	flow_settle();
	judged(1);
	n = flow_hold(packets, frame, flow_exact_frame(frame, 1), 200);
	assert_int_equal(hy_policy_remove(R->policy, 1), 0);
	flow_commit();
	flow_send(packets, n);
	assert_true(flow_stats().garbled >= 100);
	assert_no_alarm(100);
	assert_int_equal(R->wrong, 0);
}

/* A rule that the port will not remove, in a provider that the offload keeps beyond the test. */
static struct hy_flow_provider stubborn;

static void
stays(uint32_t id)
{
	stubborn.destroy = refuse_destroy;
	assert_int_equal(hy_policy_remove(R->policy, id), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().failed, 1);
	stubborn.destroy = hy_flow_simulator.destroy;
}

/* The rule that stayed goes on marking packets for which the next offload's rule is due. */
static void
rule_that_stays_is_no_alarm_for_the_next_offload(void **state)
{
	const struct hy_flow_rule below = { .id = 7,
		.class_id = 7,
		.precedence = 900,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6120001, .dst_len = 32 } };
	const struct hy_offload_params params = { .provider = &stubborn,
		.driver = hy_flow_driver_of(flow_profiles[0].driver),
		.settle_us = 1000,
		.age_us = 1 };
	char reason[256];

	RTE_SET_USED(state);
	stubborn = hy_flow_simulator;
	open_with_rules(params);
	stays(1);
	hy_offload_destroy(R->offload);
	assert_int_equal(hy_policy_add(R->policy, &below), 0);
	flow_commit();
	assert_int_equal(hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
				 sizeof(reason)),
		0);
	flow_settle();
	assert_null(hy_offload_reason(R->offload, below.id));
	judged(1);
	flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, 1), 200));
	assert_int_equal(flow_stats().stale, 200);
	assert_int_equal(flow_stats().garbled, 0);
	assert_no_alarm(200);
	assert_int_equal(R->wrong, 0);
}

/* Its own marks are known; those that stand for nothing were forgiven with them for ever. */
static void
rule_that_stays_excuses_no_marks_but_its_own(void **state)
{
	const struct hy_flow_rule below = { .id = 7,
		.class_id = 7,
		.precedence = 900,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6120001, .dst_len = 32 } };

	RTE_SET_USED(state);
	stubborn = hy_flow_simulator;
	open_with_rules((struct hy_offload_params){ .provider = &stubborn, .settle_us = 1000 });
	assert_int_equal(hy_policy_add(R->policy, &below), 0);
	flow_exact_rules(RULES, 1);
	flow_settle();
	stays(RULES);
	judged(2);
	/* For these the rule below is due. */
	flow_send(packets, flow_hold(packets, frame, flow_exact_frame(frame, RULES), 200));
	assert_int_equal(flow_stats().stale, 200);
	assert_no_alarm(200);
	assert_int_equal(flow_stats().garbled, 0);
	assert_in_range(packets_until_demoted(mangled, 2 * SECOND), 32, SECOND);
	assert_true(flow_stats().garbled >= 32);
	assert_demoted("0 came with a mark", "marks of the port do not arrive");
}

/* A reset takes the rule that stayed, and so the excuse for marks that stand for nothing. */
static void
rule_that_stayed_until_a_reset_excuses_no_mark_after_it(void **state)
{
	RTE_SET_USED(state);
	stubborn = hy_flow_simulator;
	open_with_rules((struct hy_offload_params){ .provider = &stubborn });
	flow_exact_rules(RULES, 1);
	flow_settle();
	stays(RULES);
	hy_offload_down(R->offload, false);
	hy_flow_sim_flush(R->sim);
	assert_int_equal(hy_offload_up(R->offload), 0);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RULES);
	judged(1);
	assert_in_range(packets_until_demoted(mangled, 2 * SECOND), 32, SECOND);
	assert_true(flow_stats().garbled >= 32);
	assert_demoted("0 came with a mark", "marks of the port do not arrive");
}

/*
 * doc/offload.rst: packets until a demotion are K * S / p in the mean, K mismatches, one in S sampled,
 * a share p of marks wrong. With K = 8 one run deviates by a third of that; 40 runs, by 6 %.
 */
static void
wrong_marks_are_found_after_as_many_packets_as_the_book_says(void **state)
{
	enum { RUNS = 40, K = 8, S = 16, EVERY = 10, STEP = 8 };
	const double expected = (double)K * S * EVERY;
	uint64_t sent = 0;

	for (int run = 0; run < RUNS; run++) {
		rte_srand((uint64_t)run + 1);
		open_with_rules((struct hy_offload_params){ .sample_every = S, .demote_after = K });
		hy_flow_sim_fault(R->sim, &(struct hy_flow_sim_faults){ .lie_every = EVERY });
		while (flow_stats().state == HY_OFFLOAD_UP && flow_stats().marked < 20 * expected) {
			flow_send(packets,
				flow_hold(packets, frame, flow_exact_frame(frame, 1), STEP));
			hy_offload_poll(R->offload);
		}
		assert_int_equal(flow_stats().state, HY_OFFLOAD_DEMOTED);
		assert_true(R->wrong > 0); /* those that were not sampled kept the wrong class */
		sent += flow_stats().marked;
		assert_int_equal(flow_teardown(state), 0);
		assert_int_equal(flow_setup(state), 0);
	}
	if ((double)sent < 0.7 * RUNS * expected || (double)sent > 1.3 * RUNS * expected)
		fail_msg("%ju packets in %d runs, expected %.0f", (uintmax_t)sent, RUNS,
			RUNS * expected);
}

/* A packet for the rule of tagged_open(), of a priority that its tag says. */
static void
tagged(unsigned int n)
{
	const uint32_t len = flow_exact_frame(frame, 0);

	memmove(frame + 16, frame + 12, len - 12);
	memcpy(frame + 12, (const uint8_t[]){ 0x81, 0x00, 0x60, 100 }, 4);
	for (unsigned int i = 0; i < n; i++)
		flow_send(packets, flow_hold(packets, frame, len + 4, 1));
}

/* Where tags are compared in full, rules are for packets of priority 0: no mark is due to others. */
static void
packets_with_a_priority_are_not_missed_where_tags_are_whole(void **state)
{
	struct hy_flow_rule rule = { .id = 1, .class_id = 2 };
	struct hy_flow_match *m = &rule.match;
	struct hy_flow_key key;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[4], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	hy_flow_key(frame, flow_exact_frame(frame, 0), &key);
	m->fields = HY_FLOW_5_TUPLE | HY_FLOW_VLAN;
	m->src = key.src;
	m->dst = key.dst;
	m->src_len = m->dst_len = 32;
	m->proto = key.proto;
	m->sport[0] = m->sport[1] = key.sport;
	m->dport[0] = m->dport[1] = key.dport;
	m->vlan = 100;
	assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	flow_commit();
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 1);
	assert_true(flow_stats().limits.whole_tags);
	for (unsigned int i = 0; i < 4; i++) {
		tagged(300);
		judged(1);
	}
	assert_int_equal(R->hits[2], 1200);
	assert_int_equal(flow_stats().marked, 0);
	assert_true(flow_stats().looked > 500);
	assert_int_equal(flow_stats().missing, 0);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_UP);
}

static const struct CMUnitTest offload_trust_tests[] = {
	FLOW_TEST(marks_that_never_arrive_are_noticed),
	FLOW_TEST(marks_that_have_never_arrived_are_noticed),
	FLOW_TEST(marks_that_stop_after_a_while_are_noticed),
	FLOW_TEST(marks_for_one_packet_in_ten_are_noticed),
	FLOW_TEST(marks_that_stand_for_nothing_are_noticed),
	FLOW_TEST(packets_that_name_another_port_are_noticed),
	FLOW_TEST(hal_is_told_why_and_selects_software),
	FLOW_TEST(nothing_is_missing_where_hardware_does_as_its_rules_say),
	FLOW_TEST(packets_from_before_a_rule_are_no_alarm),
	FLOW_TEST(traffic_that_stops_is_no_alarm),
	FLOW_TEST(traffic_of_rules_in_software_is_no_alarm),
	FLOW_TEST(packets_that_hardware_may_overlook_are_no_alarm),
	FLOW_TEST(port_that_is_reset_is_no_alarm),
	FLOW_TEST(marks_of_a_rule_that_left_are_no_alarm),
	FLOW_TEST(rule_that_stays_is_no_alarm_for_the_next_offload),
	FLOW_TEST(rule_that_stays_excuses_no_marks_but_its_own),
	FLOW_TEST(rule_that_stayed_until_a_reset_excuses_no_mark_after_it),
	FLOW_TEST(wrong_marks_are_found_after_as_many_packets_as_the_book_says),
	FLOW_TEST(packets_with_a_priority_are_not_missed_where_tags_are_whole),
};

UNIT_SUITE(offload_trust_tests)
