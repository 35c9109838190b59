/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated flow engine: what it refuses, what it matches, and what it does to packets. */

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_random.h>

#include <hy_flow.h>
#include <hy_flow_sim.h>

#include "sim_fixture.h"

static const struct rte_eth_rss_conf rss = { .rss_hf = RTE_ETH_RSS_IP };

static struct hy_flow_sim *
engine(const char *profile, uint32_t table_size)
{
	const struct hy_flow_sim_params params = { .profile = profile, .table_size = table_size };
	struct hy_flow_sim *sim = NULL;

	assert_int_equal(hy_flow_sim_create(&params, &sim), 0);
	hy_flow_sim_configure(sim, SIM_RULES_QUEUES, &rss);
	return sim;
}

/* Adds a flow on a packet; the handle, or NULL and *rc. */
static void *
add(struct hy_flow_sim *sim, const struct sim_packet *packet, uint32_t mark, int *rc)
{
	const char *profile = hy_flow_sim_profile(sim);
	const bool fate = strcmp(profile, "mlx5") == 0;
	struct rte_flow_error flow_error = { 0 };
	struct sim_match flow;
	void *handle = NULL;

	sim_match(&flow, packet, mark, sim_counts(profile), fate);
	*rc = hy_flow_sim_add(sim, &flow.attr, flow.items, flow.actions, &handle, &flow_error);
	assert_int_equal(*rc == 0, flow_error.message == NULL);
	return handle;
}

static void *
added(struct hy_flow_sim *sim, const struct sim_packet *packet, uint32_t mark)
{
	int rc;
	void *flow = add(sim, packet, mark, &rc);

	assert_int_equal(rc, 0);
	return flow;
}

static void
each_rule_refuses_one_flow_and_takes_another(void **state)
{
	struct rte_flow_error flow_error;
	unsigned int refused = 0, taken = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < sim_rules_count; i++) {
		const struct sim_rule *rule = &sim_rules[i];
		struct hy_flow_sim *sim = engine(rule->profile, 0);
		int rc;

		hy_flow_sim_configure(sim, SIM_RULES_QUEUES, rule->without_rss ? NULL : &rss);
		memset(&flow_error, 0, sizeof(flow_error));
		rc = hy_flow_sim_check(sim, &rule->refused.attr, rule->refused.items,
			rule->refused.actions, &flow_error);
		if (rc == 0)
			fail_msg("%s takes what is against \"%s\"", rule->profile, rule->why);
		assert_string_equal(flow_error.message, rule->why);
		assert_int_equal(rte_errno, -rc);
		refused++;
		hy_flow_sim_configure(sim, SIM_RULES_QUEUES, &rss);
		rc = hy_flow_sim_check(sim, &rule->taken.attr, rule->taken.items,
			rule->taken.actions, &flow_error);
		if (rc != 0)
			fail_msg("%s refuses what goes with \"%s\": %s", rule->profile, rule->why,
				flow_error.message);
		taken++;
		hy_flow_sim_destroy(sim);
	}
	assert_int_equal(refused, SIM_RULES);
	assert_int_equal(taken, refused);
}

static const char *const profiles[] = { "generic", "cnxk", "mlx5", "ice", "i40e", "iavf" };

static void
a_full_table_and_a_twin_are_refused_in_the_words_of_the_driver(void **state)
{
	static const int full[] = { -ENOSPC, -EIO, -ENOMEM, -EINVAL, -ENOBUFS, -EINVAL };
	static const int twin[] = { -EEXIST, 0, 0, -EEXIST, -EINVAL, -EINVAL };

	RTE_SET_USED(state);
	for (size_t p = 0; p < RTE_DIM(profiles); p++) {
		struct hy_flow_sim *sim = engine(profiles[p], 3);
		struct hy_flow_sim_stats stats;
		void *first;
		int rc;

		hy_flow_sim_start(sim);
		first = added(sim, &(struct sim_packet){ .dst = 1 }, 1);
		added(sim, &(struct sim_packet){ .dst = 2 }, 2);
		add(sim, &(struct sim_packet){ .dst = 2 }, 3, &rc);
		assert_int_equal(rc, twin[p]);
		if (rc != 0)
			added(sim, &(struct sim_packet){ .dst = 3 }, 3);
		add(sim, &(struct sim_packet){ .dst = 4 }, 4, &rc);
		assert_int_equal(rc, full[p]);
		assert_int_equal(hy_flow_sim_remove(sim, first, NULL), 0);
		added(sim, &(struct sim_packet){ .dst = 4 }, 4);
		hy_flow_sim_stats(sim, &stats);
		assert_int_equal(stats.rules, 3);
		assert_int_equal(stats.created, 4);
		assert_int_equal(stats.refused, twin[p] != 0 ? 2 : 1);
		hy_flow_sim_destroy(sim);
	}
}

static void
mlx5_takes_rules_while_it_runs_and_forgets_them_when_it_stops(void **state)
{
	RTE_SET_USED(state);
	for (size_t p = 0; p < RTE_DIM(profiles); p++) {
		const bool mlx5 = strcmp(profiles[p], "mlx5") == 0;
		const struct sim_packet packet = { .dst = 1, .proto = IPPROTO_ICMP };
		struct hy_flow_sim *sim = engine(profiles[p], 0);
		struct hy_flow_sim_stats stats;
		void *flow;
		int rc;

		flow = add(sim, &(struct sim_packet){ .dst = 1 }, 7, &rc);
		assert_int_equal(rc, mlx5 ? -ENODEV : 0);
		hy_flow_sim_start(sim);
		if (mlx5)
			flow = added(sim, &(struct sim_packet){ .dst = 1 }, 7);
		assert_int_equal(sim_marked(sim, &packet), 7);
		hy_flow_sim_stop(sim);
		hy_flow_sim_start(sim);
		assert_int_equal(sim_marked(sim, &packet), mlx5 ? -1 : 7);
		hy_flow_sim_stats(sim, &stats);
		assert_int_equal(stats.lost, mlx5 ? 1 : 0);
		assert_int_equal(hy_flow_sim_remove(sim, flow, NULL), mlx5 ? -ENOENT : 0);
		hy_flow_sim_destroy(sim);
	}
}

static void
a_cnxk_mark_beyond_its_limit_is_taken_and_drops(void **state)
{
	struct hy_flow_sim *sim = engine("cnxk", 0);

	RTE_SET_USED(state);
	added(sim, &(struct sim_packet){ .dst = 1 }, 0xfffd);
	added(sim, &(struct sim_packet){ .dst = 2 }, 0xfffe);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 1 }), 0xfffd);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 2 }), -2);
	hy_flow_sim_destroy(sim);
}

static void
a_profile_tells_the_largest_mark_that_it_accepts(void **state)
{
	struct hy_flow_sim_params params = { .profile = "cnxk" };
	struct hy_flow_sim *sim;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_sim_mark_max("cnxk"), 0xfffd);
	assert_int_equal(hy_flow_sim_mark_max("mlx5"), 0xffffef);
	assert_int_equal(hy_flow_sim_mark_max(NULL), UINT32_MAX);
	assert_int_equal(hy_flow_sim_mark_max("cnxk2"), 0);
	params.mark_max = hy_flow_sim_mark_max(params.profile);
	assert_int_equal(hy_flow_sim_create(&params, &sim), 0);
	hy_flow_sim_destroy(sim);
	params.mark_max++;
	assert_int_equal(hy_flow_sim_create(&params, &sim), -EINVAL);
}

static void
a_mark_wider_than_configured_is_refused(void **state)
{
	const struct hy_flow_sim_params params = { .profile = "mlx5", .mark_max = 0xffef },
					too_much = { .profile = "mlx5", .mark_max = 0xfffff0 };
	struct hy_flow_sim *sim;
	int rc;

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_sim_create(&too_much, &sim), -EINVAL);
	assert_int_equal(hy_flow_sim_create(&params, &sim), 0);
	hy_flow_sim_start(sim);
	added(sim, &(struct sim_packet){ .dst = 1 }, 0xffef);
	add(sim, &(struct sim_packet){ .dst = 2 }, 0xfff0, &rc);
	assert_int_equal(rc, -EINVAL);
	hy_flow_sim_destroy(sim);
}

/* One mask a flow type; ice and its virtual functions: IPv4 excludes the protocols above, and the reverse. */
static void
flow_types_hold_one_mask_each(void **state)
{
	static const char *const intel[] = { "i40e", "ice", "iavf" };
	const struct sim_packet udp = { .dst = 1, .dport = 53, .proto = IPPROTO_UDP },
				udp_other = { .dst = 2, .dport = 99, .proto = IPPROTO_UDP },
				udp_src = { .src = 1, .dport = 53, .proto = IPPROTO_UDP },
				tcp = { .dst = 1, .proto = IPPROTO_TCP }, ip = { .dst = 1 };

	RTE_SET_USED(state);
	for (size_t p = 0; p < RTE_DIM(intel); p++) {
		struct hy_flow_sim *sim = engine(intel[p], 0);
		const bool ice = p > 0;
		void *a, *b, *c;
		int rc;

		a = added(sim, &udp, 1);
		b = added(sim, &udp_other, 2);
		add(sim, &udp_src, 3, &rc);
		assert_int_equal(rc, -EINVAL);
		c = added(sim, &tcp, 4);
		add(sim, &ip, 5, &rc);
		assert_int_equal(rc, ice ? -EINVAL : 0);
		assert_int_equal(hy_flow_sim_remove(sim, a, NULL), 0);
		assert_int_equal(hy_flow_sim_remove(sim, b, NULL), 0);
		added(sim, &udp_src, 3);
		assert_int_equal(hy_flow_sim_remove(sim, c, NULL), 0);
		hy_flow_sim_flush(sim);
		added(sim, &ip, 5);
		add(sim, &udp, 6, &rc);
		assert_int_equal(rc, ice ? -EINVAL : 0);
		hy_flow_sim_destroy(sim);
	}
}

/* As ice does not: where there is no field, the protocol is one, and others do not go with it. */
static void
iavf_takes_a_rule_on_nothing_but_udp_or_tcp(void **state)
{
	const struct sim_packet udp = { .proto = IPPROTO_UDP }, tcp = { .proto = IPPROTO_TCP };
	struct hy_flow_sim *sim = engine("iavf", 0);
	int rc;

	RTE_SET_USED(state);
	added(sim, &udp, 7);
	added(sim, &tcp, 8);
	assert_int_equal(sim_marked(sim, &udp), 7);
	assert_int_equal(sim_marked(sim, &tcp), 8);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .proto = IPPROTO_ICMP }), -1);
	add(sim, &(struct sim_packet){ .dport = 53, .proto = IPPROTO_UDP }, 9, &rc);
	assert_int_equal(rc, -EINVAL);
	hy_flow_sim_destroy(sim);
}

/* What a rule on a prefix marks where the hardware knows whole addresses only. */
static void
i40e_leaves_out_half_a_field_without_a_word(void **state)
{
	struct hy_flow_sim *sim = engine("i40e", 0);
	struct sim_match flow;
	void *handle;

	RTE_SET_USED(state);
	sim_match(&flow, &(struct sim_packet){ .src = 9, .dst = 0x0a000000 }, 7, false, false);
	flow.ip_mask.hdr.dst_addr = RTE_BE32(0xff000000);
	assert_int_equal(hy_flow_sim_add(sim, &flow.attr, flow.items, flow.actions, &handle, NULL),
		0);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .src = 9, .dst = 0x0a010203 }), 7);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .src = 9, .dst = 0x14010203 }), 7);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .src = 8, .dst = 0x0a010203 }), -1);
	hy_flow_sim_destroy(sim);
}

/* Ports of a first fragment are seen by cnxk and mlx5, not by the packet types of Intel's. */
static void
fragments_meet_rules_on_ports_where_the_parser_sees_them(void **state)
{
	static const int64_t first[] = { 7, 7, 7, -1, -1, -1 };
	const struct sim_packet rule = { .dst = 1, .dport = 53, .proto = IPPROTO_UDP };

	RTE_SET_USED(state);
	for (size_t p = 0; p < RTE_DIM(profiles); p++) {
		struct hy_flow_sim *sim = engine(profiles[p], 0);
		struct sim_packet packet = rule;

		hy_flow_sim_start(sim);
		added(sim, &rule, 7);
		assert_int_equal(sim_marked(sim, &packet), 7);
		packet.frag = 0x2000;
		assert_int_equal(sim_marked(sim, &packet), first[p]);
		packet.frag = 0x0001;
		assert_int_equal(sim_marked(sim, &packet), -1);
		hy_flow_sim_destroy(sim);
	}
}

#define RULES 300
#define PACKETS 20000

/* Fields of few values, so that rules overlap and packets meet them. */
static struct sim_packet
random_packet(bool rule)
{
	const uint64_t r = rte_rand();
	struct sim_packet packet = { .src = 1 + (r & 3), .dst = 1 + (r >> 2 & 7) };

	packet.proto = (r >> 5 & 1) != 0 ? IPPROTO_UDP : IPPROTO_TCP;
	packet.sport = (uint16_t)(1 + (r >> 6 & 3));
	packet.dport = (uint16_t)(1 + (r >> 8 & 7));
	if (rule) {
		packet.src = (r >> 16 & 1) != 0 ? packet.src : 0;
		packet.dst = (r >> 17 & 1) != 0 ? packet.dst : 0;
		packet.sport = (r >> 18 & 1) != 0 ? packet.sport : 0;
		packet.dport = (r >> 19 & 1) != 0 ? packet.dport : 0;
	}
	return packet;
}

static bool
field_meets(uint32_t rule, uint32_t packet)
{
	return rule == 0 || rule == packet;
}

static bool
meets(const struct sim_packet *rule, const struct sim_packet *packet)
{
	return field_meets(rule->src, packet->src) && field_meets(rule->dst, packet->dst) &&
		rule->proto == packet->proto && field_meets(rule->sport, packet->sport) &&
		field_meets(rule->dport, packet->dport);
}

/* The table against a walk over the rules, with rules removed on the way, and counters. */
static void
a_packet_meets_the_rule_that_a_walk_over_them_finds(void **state)
{
	struct hy_flow_sim *sim = engine("generic", 0);
	struct sim_packet rules[RULES];
	uint32_t priority[RULES];
	void *flows[RULES] = { 0 };
	uint64_t hits[RULES] = { 0 };
	struct hy_flow_sim_stats stats;
	unsigned int hit = 0, missed = 0;

	RTE_SET_USED(state);
	rte_srand(1);
	for (unsigned int i = 0; i < RULES; i++) {
		struct sim_match flow;

		rules[i] = random_packet(true);
		priority[i] = (uint32_t)rte_rand_max(4);
		sim_match(&flow, &rules[i], i, true, false);
		flow.attr.priority = priority[i];
		if (hy_flow_sim_add(sim, &flow.attr, flow.items, flow.actions, &flows[i], NULL) !=
			0)
			flows[i] = NULL; /* a twin of one before */
	}
	for (unsigned int n = 0; n < PACKETS; n++) {
		const struct sim_packet packet = random_packet(false);
		int64_t best = -1;

		for (unsigned int i = 0; i < RULES; i++)
			if (flows[i] != NULL && meets(&rules[i], &packet) &&
				(best < 0 || priority[i] < priority[best]))
				best = i;
		assert_int_equal(sim_marked(sim, &packet), best);
		hit += best >= 0;
		missed += best < 0;
		if (best >= 0)
			hits[best]++;
		if (n % 100 == 99 && best >= 0) {
			struct rte_flow_query_count count = { 0 };

			assert_int_equal(hy_flow_sim_count(sim, flows[best], &count, NULL), 0);
			assert_int_equal(count.hits, hits[best]);
			assert_int_equal(count.bytes, hits[best] * FRAME_SIZE);
			assert_int_equal(hy_flow_sim_remove(sim, flows[best], NULL), 0);
			flows[best] = NULL;
		}
	}
	for (unsigned int i = 0; i < RULES; i++)
		if (flows[i] != NULL)
			assert_int_equal(hy_flow_sim_remove(sim, flows[i], NULL), 0);
	hy_flow_sim_stats(sim, &stats);
	assert_int_equal(stats.rules, 0);
	assert_int_equal(stats.masks, 0);
	assert_int_equal(hit + missed, PACKETS);
	assert_true(hit > PACKETS / 10);
	assert_true(missed > PACKETS / 100);
	hy_flow_sim_destroy(sim);
}

static void
lies_are_as_rare_as_said_and_counted(void **state)
{
	struct hy_flow_sim *sim = engine("generic", 0);
	const struct sim_packet packet = { .dst = 1 };
	struct hy_flow_sim_stats stats;
	unsigned int wrong = 0;

	RTE_SET_USED(state);
	added(sim, &packet, 1);
	added(sim, &(struct sim_packet){ .dst = 2 }, 2);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(sim_marked(sim, &packet), 1);
	hy_flow_sim_fault(sim, &(struct hy_flow_sim_faults){ .lie_every = 10 });
	for (int i = 0; i < 10000; i++) {
		const int64_t mark = sim_marked(sim, &packet);

		assert_true(mark == 1 || mark == 2);
		wrong += mark == 2;
	}
	hy_flow_sim_stats(sim, &stats);
	assert_int_equal(stats.packets, 11000);
	assert_int_equal(stats.marked, 11000);
	assert_int_equal(stats.lied, wrong);
	assert_in_range(wrong, 800, 1200);
	hy_flow_sim_destroy(sim);
}

static void
the_nth_rule_fails_when_told_to(void **state)
{
	struct hy_flow_sim *sim = engine("cnxk", 0);
	int rc;

	RTE_SET_USED(state);
	hy_flow_sim_fail(sim, 2, -EBUSY);
	added(sim, &(struct sim_packet){ .dst = 1 }, 1);
	add(sim, &(struct sim_packet){ .dst = 2 }, 2, &rc);
	assert_int_equal(rc, -EBUSY);
	added(sim, &(struct sim_packet){ .dst = 2 }, 2);
	hy_flow_sim_destroy(sim);
}

static void
a_frame_that_is_cut_anywhere_is_read_within_its_bytes(void **state)
{
	const struct sim_packet packet = {
		.vlan = 7, .dst = 1, .dport = 4789, .proto = IPPROTO_UDP
	};
	struct hy_flow_sim *sim = engine("generic", 0);
	uint8_t frame[FRAME_SIZE];

	RTE_SET_USED(state);
	added(sim, &(struct sim_packet){ .dst = 1, .dport = 4789, .proto = IPPROTO_UDP }, 7);
	sim_frame(&packet, frame);
	for (uint16_t len = 0; len <= FRAME_SIZE; len++) {
		struct rte_mbuf pkt = { .data_off = 0 };
		struct rte_mbuf *burst = &pkt;
		uint8_t *copy = malloc(RTE_MAX(len, 1)); /* so that ASan sees the end */

		memcpy(copy, frame, len);
		pkt.buf_addr = copy;
		pkt.data_len = len;
		pkt.pkt_len = len;
		assert_int_equal(hy_flow_sim_rx(sim, &burst, 1), 1);
		assert_int_equal(sim_mark_of(&pkt), len >= 14 + 4 + 20 + 8 ? 7 : -1);
		free(copy);
	}
	hy_flow_sim_destroy(sim);
}

#define CHURN 2000

static struct hy_flow_sim *churned;
static bool done, looked;

/* Replaces the rules for destination 1 again and again; a moment without one is allowed. */
static void *
churn(void *arg)
{
	const struct sim_packet packet = { .dst = 1 };

	RTE_SET_USED(arg);
	/* On a machine with one core to spare this could be over before it is looked at. */
	while (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE))
		sched_yield();
	for (uint32_t i = 0; i < CHURN; i++) {
		struct sim_match flow;
		void *handle;

		sim_match(&flow, &packet, 100 + i, true, false);
		if (hy_flow_sim_add(churned, &flow.attr, flow.items, flow.actions, &handle, NULL) !=
				0 ||
			hy_flow_sim_remove(churned, handle, NULL) != 0)
			return (void *)1;
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void
packets_pass_while_rules_change(void **state)
{
	unsigned int constant = 0, changing = 0, none = 0;
	pthread_t thread;
	void *failed;

	RTE_SET_USED(state);
	churned = engine("cnxk", 0);
	done = false;
	looked = false;
	added(churned, &(struct sim_packet){ .dst = 2 }, 2);
	assert_int_equal(pthread_create(&thread, NULL, churn, NULL), 0);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		const int64_t mark = sim_marked(churned, &(struct sim_packet){ .dst = 1 });

		assert_true(mark == -1 || (mark >= 100 && mark < 100 + CHURN));
		changing += mark >= 0;
		none += mark < 0;
		assert_int_equal(sim_marked(churned, &(struct sim_packet){ .dst = 2 }), 2);
		constant++;
		__atomic_store_n(&looked, true, __ATOMIC_RELEASE);
	}
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(changing + none, constant);
	assert_true(constant > 0);
	hy_flow_sim_destroy(churned);
}

static const struct CMUnitTest flow_sim[] = {
	SIM_TEST(each_rule_refuses_one_flow_and_takes_another),
	SIM_TEST(a_full_table_and_a_twin_are_refused_in_the_words_of_the_driver),
	SIM_TEST(mlx5_takes_rules_while_it_runs_and_forgets_them_when_it_stops),
	SIM_TEST(a_cnxk_mark_beyond_its_limit_is_taken_and_drops),
	SIM_TEST(a_profile_tells_the_largest_mark_that_it_accepts),
	SIM_TEST(a_mark_wider_than_configured_is_refused),
	SIM_TEST(flow_types_hold_one_mask_each),
	SIM_TEST(iavf_takes_a_rule_on_nothing_but_udp_or_tcp),
	SIM_TEST(i40e_leaves_out_half_a_field_without_a_word),
	SIM_TEST(fragments_meet_rules_on_ports_where_the_parser_sees_them),
	SIM_TEST(a_packet_meets_the_rule_that_a_walk_over_them_finds),
	SIM_TEST(lies_are_as_rare_as_said_and_counted),
	SIM_TEST(the_nth_rule_fails_when_told_to),
	SIM_TEST(a_frame_that_is_cut_anywhere_is_read_within_its_bytes),
	SIM_TEST(packets_pass_while_rules_change),
};

UNIT_SUITE(flow_sim)
