/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group and the rule that leads to it: at no moment, and whatever fails, does a port lose a packet
 * because no rule matches it (mlx5 drops it then, unless it is in group 0).
 */

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include "driver_rig.h"

#define RULES 6
#define HANDLES 64

/* What a rule of the port is for. */
enum kind { JUMP, DEFAULT, MARKS, KINDS };
static const char letters[KINDS] = "JDM";

/* A provider that lets calls through, writes down what they do, fails one, and looks at packets. */
static const struct hy_flow_provider *real;
static struct {
	void *flow;
	enum kind kind;
} handles[HANDLES];
static unsigned int there[KINDS];
static char story[512]; /* + and -, and the kind, of each call */
static size_t told;
static unsigned int calls, fail_at;
static int fail_with;
static bool no_handle;           /* of what was created without an answer */
static unsigned int looks, lost; /* packets */

/*
 * Packets that meet a rule, and none, come out of the port. Called under the offload's lock: a test
 * that fails here would not end.
 */
static void
look(void)
{
	const struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 };
	const struct sim_packet met = driver_packet(looks++ % RULES);
	const bool fine = nic_marked(D->port, &none) == -1 && nic_marked(D->port, &met) >= -1 &&
		(there[JUMP] == 0 || there[DEFAULT] > 0);

	if (!fine && lost++ == 0)
		print_error("after \"%s\", call %u of which fails with %d, a packet is lost\n",
			story, fail_at, fail_with);
}

static bool
fails(struct rte_flow_error *error)
{
	look();
	if (++calls != fail_at)
		return false;
	error->message = "refused by the test";
	return true;
}

static void
tell(char sign, enum kind kind)
{
	assert_true(told + 2 < sizeof(story));
	story[told++] = sign;
	story[told++] = letters[kind];
	story[told] = '\0';
}

static enum kind
kind_of(const struct rte_flow_attr *attr, const struct rte_flow_action *actions)
{
	if (attr->group == 0)
		return JUMP;
	return actions[0].type == RTE_FLOW_ACTION_TYPE_MARK ? MARKS : DEFAULT;
}

static int
witness_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *error)
{
	const enum kind kind = kind_of(attr, actions);
	const bool failed = fails(error);
	unsigned int i = 0;
	int rc;

	if (failed && fail_with != -ETIMEDOUT)
		return fail_with;
	rc = real->create(port, attr, items, actions, flow, error);
	if (rc != 0)
		return rc;
	tell('+', kind);
	there[kind]++;
	while (handles[i].flow != NULL)
		assert_true(++i < HANDLES);
	handles[i].flow = *flow;
	handles[i].kind = kind;
	look();
	if (failed && no_handle)
		*flow = NULL;
	return failed ? fail_with : 0;
}

static int
witness_destroy(uint16_t port, void *flow, struct rte_flow_error *error)
{
	const bool failed = fails(error);
	unsigned int i = 0;
	int rc;

	if (failed && fail_with != -ETIMEDOUT)
		return fail_with;
	while (handles[i].flow != flow)
		assert_true(++i < HANDLES);
	rc = real->destroy(port, flow, error);
	if (rc != 0)
		return rc;
	tell('-', handles[i].kind);
	there[handles[i].kind]--;
	handles[i].flow = NULL;
	look();
	return failed ? fail_with : 0;
}

static int
witness_validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	return real->validate(port, attr, items, actions, error);
}

static const struct hy_flow_provider witness = {
	.name = "witness",
	.validate = witness_validate,
	.create = witness_create,
	.destroy = witness_destroy,
};

static void
story_begin(unsigned int nth, int rc)
{
	real = hy_flow_rte_of(D->port);
	memset(handles, 0, sizeof(handles));
	memset(there, 0, sizeof(there));
	story[told = 0] = '\0';
	calls = 0;

	fail_at = nth;
	fail_with = rc;
}

static void
offload_end(void)
{
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	look();
}

/* Up, down and up again, demoted, destroyed. */
static void
whole_life(void)
{
	if (driver_offload(&witness) != 0) {
		assert_null(D->offload);
		look();
		return;
	}
	driver_settle();
	hy_offload_down(D->offload, true);
	look();
	hy_offload_up(D->offload);
	driver_settle();
	driver_demote();
	driver_settle();
	offload_end();
}

static void
jump_is_there_only_while_the_default_rule_is(const char *nic)
{
	char *at = story;

	driver_open(nic, NULL, 1, 0);
	driver_rules(RULES);
	story_begin(0, 0);
	whole_life();
	/* Probing, then the two, six rules, all of it away; the same again, demoted. */
	for (unsigned int life = 0; life < 2; life++) {
		assert_int_equal(strncmp(at, "+M-M+D+J+M+M+M+M+M+M-J-M-M-M-M-M-M-D", 36), 0);
		at += 36;
	}
	assert_int_equal(*at, '\0');
	assert_int_equal(driver_sim().rules, 0);
	assert_true(looks > 70);
	assert_int_equal(lost + driver_sim().missed, 0);
}

static void
jump_is_there_only_while_the_default_rule_is_by_rules(void **state)
{
	RTE_SET_USED(state);
	jump_is_there_only_while_the_default_rule_is("sim_mlx5_0");
}

static void
jump_is_there_only_while_the_default_rule_is_by_templates(void **state)
{
	RTE_SET_USED(state);
	jump_is_there_only_while_the_default_rule_is("sim_hws0");
}

/* Each call of a whole life fails once: it is refused, or no answer comes though it was done. */
static void
no_failure_loses_a_packet(const char *nic, bool handles_of_all)
{
	static const int codes[] = { -EIO, -ETIMEDOUT };
	unsigned int nth, failed = 0;

	driver_open(nic, NULL, 1, 0);
	driver_rules(RULES);
	no_handle = !handles_of_all;
	for (size_t c = 0; c < RTE_DIM(codes); c++) {
		for (nth = 1;; nth++) {
			story_begin(nth, codes[c]);
			whole_life();
			if (calls < nth)
				break;
			failed++;
			/* What a failure left behind goes when the port stops. */
			assert_int_equal(rte_eth_dev_stop(D->port), 0);
			driver_start();
		}
		assert_true(nth > 36);
	}
	assert_true(failed >= 72);
	assert_int_equal(lost + driver_sim().missed, 0);
}

static void
no_failure_loses_a_packet_by_rules(void **state)
{
	RTE_SET_USED(state);
	no_failure_loses_a_packet("sim_mlx5_0", true);
}

static void
no_failure_loses_a_packet_by_templates(void **state)
{
	RTE_SET_USED(state);
	no_failure_loses_a_packet("sim_hws0", true);
}

/* As rte_flow_create() fails: the rule may be there, and cannot be removed. */
static void
no_failure_without_a_handle_loses_a_packet(void **state)
{
	RTE_SET_USED(state);
	no_failure_loses_a_packet("sim_mlx5_0", false);
}

/* An offload by a queue that is silent from the nth answer on. Returns whether it came about. */
static bool
silenced_offload(uint32_t answers)
{
	const struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 };
	bool taken;

	simnic_mute(D->port, true, answers);
	taken = driver_offload(NULL) == 0;
	if (taken)
		driver_settle();
	assert_int_equal(nic_marked(D->port, &none), -1);
	hy_offload_destroy(D->offload);
	D->offload = NULL;
	assert_int_equal(nic_marked(D->port, &none), -1);
	simnic_mute(D->port, false, 0);
	assert_int_equal(rte_eth_dev_stop(D->port), 0);
	driver_start();
	return taken;
}

/* The queue that rules are put on is silent, whatever is pushed. */
static void
silent_queue_loses_no_packet(void **state)
{
	unsigned int taken = 0;

	RTE_SET_USED(state);
	driver_open("sim_hws0", NULL, 1, 0);
	driver_rules(1);
	for (uint32_t answers = 0; answers < 6; answers++)
		taken += silenced_offload(answers);
	assert_int_equal(taken,
		2); /* not without the trial rule in and out, the default rule, the jump */
	assert_int_equal(driver_sim().missed, 0);
}

/* Rules that each become several by templates, one for each protocol: any TCP, UDP or other packet. */
static void
parted_rules(void)
{
	for (uint32_t i = 0; i < RULES; i++) {
		const struct hy_flow_rule rule = { .id = i,
			.precedence = i,
			.class_id = (uint16_t)(i + 1),
			.match = { .fields = HY_FLOW_DST,
				.dst = driver_packet(i).dst,
				.dst_len = 32 } };

		assert_int_equal(hy_policy_add(D->policy, &rule), 0);
	}
	assert_int_equal(hy_policy_commit(D->policy), 0);
}

/* Of a rule and of the default rule: a packet of each protocol, marked by all parts or by none. */
static void
assert_no_part_alone(void)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, 99 };
	const struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 };

	assert_int_equal(nic_marked(D->port, &none), -1);
	for (uint32_t i = 0; i < RULES; i++) {
		struct sim_packet packet = driver_packet(i);
		const int64_t mark = nic_marked(D->port, &packet);

		assert_true(mark >= -1);
		for (size_t p = 0; p < RTE_DIM(protos); p++) {
			packet.proto = protos[p];
			assert_int_equal(nic_marked(D->port, &packet), mark);
		}
	}
}

/* A rule of which the NIC refuses a part is not there at all, and neither is one that was destroyed. */
static void
refused_part_of_a_rule_leaves_nothing_of_it(void **state)
{
	struct simnic_templates t;
	unsigned int refused = 0, short_of_one = 0;
	uint32_t nth = 0;

	RTE_SET_USED(state);
	driver_open("sim_hws0", NULL, 4, RIG_RSS);
	parted_rules();
	do {
		const uint64_t before = driver_sim().refused;

		hy_flow_sim_fail(simnic_engine(D->port), ++nth, -EIO);
		if (driver_offload(NULL) == 0) {
			driver_settle();
			assert_no_part_alone();
			short_of_one += driver_stats().hw_rules == RULES - 1;
		} else {
			refused++;
		}
		hy_offload_destroy(D->offload);
		D->offload = NULL;
		assert_no_part_alone();
		assert_int_equal(driver_sim().rules, 0);
		simnic_templates(D->port, &t);
		assert_int_equal(t.patterns + t.actions + t.tables + t.unanswered, 0);
		if (driver_sim().refused == before)
			break;
	} while (nth < 100);
	hy_flow_sim_fail(simnic_engine(D->port), 0, 0);
	assert_int_equal(refused, 3 + 7); /* the trial rule and the default rule */
	assert_int_equal(short_of_one, RULES * 3);
	assert_int_equal(nth, 3 + 7 + 1 + RULES * 3 + 1); /* the jump: at the next priority */
	assert_int_equal(driver_sim().missed, 0);
}

/* The queue falls silent at each answer in turn, among those for parts of a rule, too. */
static void
silence_in_the_midst_of_a_rule_loses_no_packet(void **state)
{
	unsigned int taken = 0;

	RTE_SET_USED(state);
	driver_open("sim_hws0", NULL, 4, RIG_RSS);
	parted_rules();
	for (uint32_t answers = 4; answers < 40; answers += 3)
		taken += silenced_offload(answers);
	assert_true(taken > 4);
	assert_int_equal(driver_sim().missed, 0);
}

/* It breaks before each call in turn; after the reset all is as at the start. */
static void
reset_in_between_loses_no_packet(const char *nic)
{
	const struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 };
	struct simnic_offences offences;

	driver_open(nic, NULL, 1, 0);
	driver_rules(RULES);
	for (unsigned int round = 0; round < 8; round++) {
		assert_int_equal(driver_offload(NULL), 0);
		for (unsigned int i = 0; i < round; i++)
			hy_offload_poll(D->offload);
		if (round % 2 == 1) {
			driver_demote();
			hy_offload_poll(D->offload);
		}
		simnic_break(D->port);
		hy_offload_down(D->offload, false);
		assert_int_equal(rte_eth_dev_stop(D->port), 0);
		assert_int_equal(rte_eth_dev_reset(D->port), 0);
		driver_start();
		assert_int_equal(nic_marked(D->port, &none), -1);
		assert_int_equal(hy_offload_up(D->offload), 0);
		driver_settle();
		assert_int_equal(driver_stats().hw_rules, round % 2 == 1 ? 0 : RULES);
		assert_int_equal(driver_sim().rules, round % 2 == 1 ? 0 : RULES + 2);
		assert_int_equal(nic_marked(D->port, &none), -1);
		hy_offload_destroy(D->offload);
		D->offload = NULL;
		assert_int_equal(driver_sim().rules, 0);
	}
	simnic_offences(D->port, &offences);
	assert_int_equal(offences.flow_when_broken, 0);
	assert_int_equal(driver_sim().missed, 0);
}

static void
reset_in_between_loses_no_packet_by_rules(void **state)
{
	RTE_SET_USED(state);
	reset_in_between_loses_no_packet("sim_mlx5_0");
}

static void
reset_in_between_loses_no_packet_by_templates(void **state)
{
	RTE_SET_USED(state);
	reset_in_between_loses_no_packet("sim_hws0");
}

/* A worker: takes what the port gives out, and reports to the policy's variable. */
static bool stop;
static uint64_t received, marked;

static void *
work(void *arg)
{
	struct rte_mbuf *pkts[32];

	rte_rcu_qsbr_thread_register(D->qsbr, 0);
	rte_rcu_qsbr_thread_online(D->qsbr, 0);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		const uint16_t n = rte_eth_rx_burst(D->port, 0, pkts, RTE_DIM(pkts));

		for (uint16_t i = 0; i < n; i++)
			marked += sim_mark_of(pkts[i]) >= 0;
		rte_pktmbuf_free_bulk(pkts, n);
		__atomic_fetch_add(&received, n, __ATOMIC_RELEASE);
		rte_rcu_qsbr_quiescent(D->qsbr, 0);
	}
	rte_rcu_qsbr_thread_offline(D->qsbr, 0);
	rte_rcu_qsbr_thread_unregister(D->qsbr, 0);
	return arg;
}

#define FED (UINT64_C(1) << 40) /* more than anybody waits for */

static void
no_packet_is_lost_while_traffic_flows(const char *nic)
{
	static uint8_t data[RULES + 1][FRAME_SIZE];
	static struct simnic_frame frames[RULES + 1];
	struct sim_packet none = { .src = 1, .dst = 2, .proto = 99 };
	uint64_t fed, before;
	pthread_t thread;

	driver_open(nic, NULL, 1, 0);
	driver_rules(RULES);
	for (uint32_t i = 0; i <= RULES; i++) {
		const struct sim_packet p = i < RULES ? driver_packet(i) : none;

		sim_frame(&p, data[i]);
		frames[i] = (struct simnic_frame){ .data = data[i], .len = FRAME_SIZE };
	}
	stop = false;
	received = marked = 0;
	simnic_feed(D->port, 0, frames, RULES + 1, FED);
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	for (unsigned int round = 0; round < 40; round++) {
		assert_int_equal(driver_offload(NULL), 0);
		driver_settle();
		before = __atomic_load_n(&received, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&received, __ATOMIC_ACQUIRE) < before + 500)
			usleep(100);
		if (round % 4 == 1) {
			hy_offload_down(D->offload, true);
			assert_int_equal(hy_offload_up(D->offload), 0);
			driver_settle();
		}
		if (round % 4 == 2) {
			driver_demote();
			driver_settle();
		}
		hy_offload_destroy(D->offload);
		D->offload = NULL;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	fed = FED - simnic_feed_left(D->port, 0);
	assert_int_equal(driver_sim().missed, 0);
	assert_int_equal(received, fed);
	assert_true(received >= 20000);
	assert_true(marked > received / 100 && marked < received);
}

static void
no_packet_is_lost_while_traffic_flows_by_rules(void **state)
{
	RTE_SET_USED(state);
	no_packet_is_lost_while_traffic_flows("sim_mlx5_0");
}

static void
no_packet_is_lost_while_traffic_flows_by_templates(void **state)
{
	RTE_SET_USED(state);
	no_packet_is_lost_while_traffic_flows("sim_hws0");
}

static const struct CMUnitTest driver_group[] = {
	DRIVER_TEST(jump_is_there_only_while_the_default_rule_is_by_rules),
	DRIVER_TEST(jump_is_there_only_while_the_default_rule_is_by_templates),
	DRIVER_TEST(no_failure_loses_a_packet_by_rules),
	DRIVER_TEST(no_failure_loses_a_packet_by_templates),
	DRIVER_TEST(no_failure_without_a_handle_loses_a_packet),
	DRIVER_TEST(silent_queue_loses_no_packet),
	DRIVER_TEST(refused_part_of_a_rule_leaves_nothing_of_it),
	DRIVER_TEST(silence_in_the_midst_of_a_rule_loses_no_packet),
	DRIVER_TEST(reset_in_between_loses_no_packet_by_rules),
	DRIVER_TEST(reset_in_between_loses_no_packet_by_templates),
	DRIVER_TEST(no_packet_is_lost_while_traffic_flows_by_rules),
	DRIVER_TEST(no_packet_is_lost_while_traffic_flows_by_templates),
};

UNIT_SUITE(driver_group)
