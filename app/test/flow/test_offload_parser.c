/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software finds ports in the first four bytes behind IPv4's header, a NIC where the whole header is
 * there. Which of two rules a packet is for must not be left to hardware that sees one of them only.
 */

#include <rte_ether.h>

#include <hy_flow.h>

#include "flow_fixture.h"

#define WITH_PRIORITIES 3 /* profiles; the others never decide between two rules */
#define PAIRS 6000        /* of rules, for each of those */
#define FRAMES 2048

static struct {
	uint8_t data[FRAME_MAX];
	struct hy_flow_key key;
	uint32_t len;
} frames[FRAMES];

/* As they come, cut off anywhere, or with a wrong bit in the headers. */
static void
frames_make(uint64_t *seed)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t len = flow_frame(frames[i].data, seed);

		if (i % 3 == 1)
			len = 14 + rnd(seed) % (len - 14);
		else if (i % 3 == 2)
			frames[i].data[12 + rnd(seed) % 46] ^= (uint8_t)(1 << rnd(seed) % 8);
		frames[i].len = len;
		hy_flow_key(frames[i].data, len, &frames[i].key);
	}
}

static bool
rule_install(struct hy_flow_sim *sim, const struct hy_flow_driver *driver,
	const struct hy_flow_match *match, uint32_t mark)
{
	static const struct hy_flow_spread one_queue = { .nb_queues = 1 };
	struct hy_flow_lowered lowered;
	struct hy_flow_limits limits;
	struct rte_flow_error error;
	const char *reason;
	void *flow;

	hy_flow_limits_declared(driver, &limits);
	return hy_flow_lower(driver, &limits, match, mark, mark - 1, &one_queue, &lowered,
		       &reason) == 0 &&
		hy_flow_sim_add(sim, &lowered.attr, lowered.items, lowered.actions, &flow,
			&error) == 0;
}

/* An engine behind no port, that leads packets to the driver's group. */
static struct hy_flow_sim *
engine_make(const struct flow_profile *profile, const struct hy_flow_driver *driver)
{
	const struct hy_flow_sim_params params = { .profile = profile->name };
	static const struct hy_flow_spread one_queue = { .nb_queues = 1 };
	struct hy_flow_lowered rules[2];
	struct rte_flow_error error;
	struct hy_flow_sim *sim;
	void *flow;

	assert_int_equal(hy_flow_sim_create(&params, &sim), 0);
	hy_flow_sim_start(sim);
	if (driver->group > 0) {
		assert_int_equal(hy_flow_lower_default(driver, &one_queue, &rules[0]), 0);
		hy_flow_lower_jump(driver, 0, NULL, &rules[1]);
		for (unsigned int i = 0; i < RTE_DIM(rules); i++)
			assert_int_equal(hy_flow_sim_add(sim, &rules[i].attr, rules[i].items,
						 rules[i].actions, &flow, &error),
				0);
	}
	return sim;
}

static uint32_t
mark_of(struct hy_flow_sim *sim, uint32_t frame)
{
	struct rte_mbuf *m = packet(frames[frame].data, frames[frame].len);
	uint32_t mark = 0;

	assert_int_equal(hy_flow_sim_rx(sim, &m, 1), 1);
	if ((m->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0)
		mark = m->hash.fdir.hi;
	rte_pktmbuf_free(m);
	return mark;
}

struct tally {
	unsigned int left;     /* packets that both rules match, where hardware is left to decide */
	unsigned int for_both; /* the others that both match */
	unsigned int unseen;   /* of those, marked for the rule that comes second */
};

static void
pair_try(const struct flow_profile *profile, uint64_t *seed, struct tally *tally)
{
	const struct hy_flow_driver *driver = hy_flow_driver_of(profile->driver);
	const struct hy_flow_match upper = flow_rule(1, seed).match;
	const struct hy_flow_match lower = flow_rule(2, seed).match;
	struct hy_flow_sim *sim = engine_make(profile, driver);
	struct hy_flow_limits limits;

	hy_flow_limits_declared(driver, &limits);
	if (rule_install(sim, driver, &upper, 1) && rule_install(sim, driver, &lower, 2)) {
		const bool left = hy_flow_sees_all_of(driver, &limits, &upper, &lower);

		for (uint32_t i = 0; i < FRAMES; i++) {
			if (!hy_flow_matches(&upper, &frames[i].key) ||
				!hy_flow_matches(&lower, &frames[i].key))
				continue;
			tally->left += left;
			tally->for_both += !left;
			if (mark_of(sim, i) == 2 && left)
				fail_msg("%s: hardware is left to decide about frame %u, and "
					 "overlooks rule 1: fields 0x%x before 0x%x",
					profile->name, i, upper.fields, lower.fields);
			tally->unseen += !left && mark_of(sim, i) == 2;
		}
	}
	hy_flow_sim_destroy(sim);
}

static void
hardware_decides_only_between_rules_that_it_sees_both_of(void **state)
{
	uint64_t seed = 1;

	RTE_SET_USED(state);
	frames_make(&seed);
	for (unsigned int p = 0; p < WITH_PRIORITIES; p++) {
		struct tally tally = { 0 };

		for (unsigned int i = 0; i < PAIRS; i++)
			pair_try(&flow_profiles[p], &seed, &tally);
		print_message("%s: %u packets left to hardware, %u not, which overlooked %u\n",
			flow_profiles[p].name, tally.left, tally.for_both, tally.unseen);
		assert_true(tally.left > 10000);
		assert_true(tally.unseen > 20);
	}
}

static void
rule_that_needs_a_header_more_is_not_sure_to_be_seen(void **state)
{
	static const struct {
		uint32_t upper, lower;
		bool seen;
	} pairs[] = {
		{ HY_FLOW_DST, HY_FLOW_SRC, true },
		{ HY_FLOW_DST, HY_FLOW_ETHER_TYPE, true },
		{ HY_FLOW_DST, HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DPORT, true },
		{ HY_FLOW_SPORT, HY_FLOW_DPORT, true },
		{ HY_FLOW_SPORT, HY_FLOW_TUNNEL, true },
		{ HY_FLOW_TUNNEL, HY_FLOW_TUNNEL | HY_FLOW_SRC, true },
		{ HY_FLOW_VLAN, HY_FLOW_VLAN | HY_FLOW_SRC, true },
		{ HY_FLOW_DPORT, HY_FLOW_DST, false },
		{ HY_FLOW_TUNNEL, HY_FLOW_PROTO, false },
		{ HY_FLOW_TUNNEL, HY_FLOW_DPORT, false },
		{ HY_FLOW_VLAN | HY_FLOW_DST, HY_FLOW_VLAN, false },
		{ HY_FLOW_VLAN, HY_FLOW_DST, false },
		{ HY_FLOW_DST, HY_FLOW_VLAN | HY_FLOW_DST, false },
	};

	const struct hy_flow_driver *driver = hy_flow_driver_of("net_cn10k");
	struct hy_flow_limits limits;

	RTE_SET_USED(state);
	hy_flow_limits_declared(driver, &limits);
	for (unsigned int i = 0; i < RTE_DIM(pairs); i++) {
		const struct hy_flow_match upper = { .fields = pairs[i].upper };
		const struct hy_flow_match lower = { .fields = pairs[i].lower,
			.ether_type = RTE_ETHER_TYPE_IPV4 };

		if (hy_flow_sees_all_of(driver, &limits, &upper, &lower) != pairs[i].seen)
			fail_msg("fields 0x%x before 0x%x: %d", upper.fields, lower.fields,
				!pairs[i].seen);
	}
}

/* Of a header that is cut off behind its ports, software has the ports; the NIC has no header. */
static void
packet_whose_ports_hardware_overlooks_gets_their_rule(void **state)
{
	const struct hy_flow_rule wide = { .id = 100,
		.precedence = 1000,
		.class_id = 500,
		.match = { .fields = HY_FLOW_DST, .dst = 0xc6000000, .dst_len = 8 } };
	static struct rte_mbuf *packets[32];
	static uint8_t frame[FRAME_MAX];

	for (unsigned int p = 0; p < WITH_PRIORITIES; p++) {
		uint32_t len;

		flow_open(&flow_profiles[p], (struct hy_flow_sim_params){ 0 },
			(struct hy_offload_params){ .sample_every = 1000000 });
		assert_int_equal(hy_policy_add(R->policy, &wide), 0);
		flow_exact_rules(1, 1);
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 2);
		len = flow_exact_frame(frame, 1);
		flow_send(packets, flow_hold(packets, frame, len, 32));
		assert_int_equal(flow_stats().residue, 0);
		flow_send(packets, flow_hold(packets, frame, 34 + 4, 32));
		assert_int_equal(flow_stats().marked, 64);
		assert_int_equal(flow_stats().residue, 32);
		assert_int_equal(R->compared, 64);
		assert_int_equal(R->hits[2], 64);
		assert_int_equal(R->wrong, 0);
		assert_int_equal(flow_teardown(state), 0);
	}
}

static const struct CMUnitTest offload_parser_tests[] = {
	FLOW_TEST(hardware_decides_only_between_rules_that_it_sees_both_of),
	FLOW_TEST(rule_that_needs_a_header_more_is_not_sure_to_be_seen),
	FLOW_TEST(packet_whose_ports_hardware_overlooks_gets_their_rule),
};

UNIT_SUITE(offload_parser_tests)
