/* SPDX-License-Identifier: BSD-3-Clause */
/* Twins: rules that a port cannot tell apart, of which it takes one. */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include <hy_flow.h>

#include "hal/flow/offload.h"

#include "flow_fixture.h"

/* Adds a rule that is said in words. */
static void
rule_add(uint32_t id, uint32_t precedence, const char *words)
{
	char text[HY_FLOW_TEXT_SIZE], error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule;

	snprintf(text, sizeof(text), "rule %u class %u precedence %u %s", id, id + 1, precedence,
		words);
	if (hy_flow_rule_parse(text, &rule, error) != 0 || hy_policy_add(R->policy, &rule) != 0)
		fail_msg("%s: %s", text, error);
}

/* A port of few priorities, which gives twins the same, and refuses the second. */
static void
open_with_few_priorities(struct hy_offload_params params)
{
	static struct hy_flow_driver few;

	few = *hy_flow_driver_of("");
	few.priorities = 2;
	params.driver = &few;
	flow_open(&flow_profiles[0], (struct hy_flow_sim_params){ 0 }, params);
}

static uint64_t
refused(void)
{
	struct hy_flow_sim_stats s;

	hy_flow_sim_stats(R->sim, &s);
	return s.refused;
}

#define TWINS 6
static const char twin_reason[] = "a rule in hardware has the same pattern";

static void
assert_right(uint64_t packets)
{
	flow_traffic((unsigned int)packets);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, R->packets);
	assert_true(R->compared >= packets);
	flow_assert_counted();
}

static void
rule_whose_pattern_is_in_hardware_goes_in_when_that_has_gone(void **state)
{
	static const char *const twins[][2] = {
		{ "src 192.0.2.1 proto udp dport 80", "src 192.0.2.1 proto udp dport 80" },
		{ "src 192.0.2.1 proto udp dport 80",
			"src 192.0.2.1 proto udp dport 80 type 0x0800" },
		{ "vlan 5 dscp 46 type 0x0800", "vlan 5 dscp 46" },
		{ "tunnel 7", "tunnel 7 type 0x0800" },
		{ "tunnel 7", "tunnel 7 proto udp" },
		{ "tunnel 7 dport 4789", "tunnel 7" },
		{ "tunnel 7 sport 9", "tunnel 7 sport 9 proto udp dport 4000-5000" },
	};

	RTE_SET_USED(state);
	open_with_few_priorities((struct hy_offload_params){ 0 });
	for (uint32_t i = 0; i < RTE_DIM(twins); i++) {
		const uint32_t first = 10 * i, twin = first + 1;
		uint64_t before;

		rule_add(first, 1, twins[i][0]);
		rule_add(twin, 2, twins[i][1]);
		flow_commit();
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 1);
		assert_null(hy_offload_reason(R->offload, first));
		assert_string_equal(hy_offload_reason(R->offload, twin), twin_reason);
		/* The port is not asked over and over. */
		before = refused();
		assert_true(before > i);
		flow_settle();
		assert_int_equal(refused(), before);
		/* Whatever else changes, it stays so; and then the other goes. */
		rule_add(first + 2, 3, "src 198.51.100.1 proto tcp");
		flow_commit();
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 2);
		assert_string_equal(hy_offload_reason(R->offload, twin), twin_reason);
		assert_int_equal(hy_policy_remove(R->policy, first), 0);
		flow_commit();
		flow_settle();
		assert_null(hy_offload_reason(R->offload, twin));
		assert_int_equal(flow_stats().hw_rules, 2);
		assert_right(500);
		assert_int_equal(hy_policy_remove(R->policy, twin), 0);
		assert_int_equal(hy_policy_remove(R->policy, first + 2), 0);
		flow_commit();
		flow_settle();
		assert_int_equal(flow_stats().hw_rules, 0);
	}
}

static uint32_t
rank_of(uint32_t id)
{
	return hy_offload_plan_find(R->offload->plan, id);
}

/* Of some that wait for one, the first goes in, and the others wait for that. */
static void
twins_wait_for_the_one_that_is_in_hardware(void **state)
{
	RTE_SET_USED(state);
	open_with_few_priorities((struct hy_offload_params){ 0 });
	for (uint32_t id = 0; id < TWINS; id++)
		rule_add(id, id, "src 192.0.2.1 proto udp dport 80");
	flow_commit();
	for (uint32_t in = 0; in < TWINS; in++) {
		const struct rule_state *rules;
		uint64_t before;

		flow_settle();
		rules = R->offload->plan->rules;
		before = refused();
		assert_int_equal(flow_stats().hw_rules, 1);
		assert_null(hy_offload_reason(R->offload, in));
		for (uint32_t id = in + 1; id < TWINS; id++) {
			assert_string_equal(hy_offload_reason(R->offload, id), twin_reason);
			assert_int_equal(rules[rank_of(id)].twin, rules[rank_of(in)].slot);
		}
		flow_settle();
		assert_int_equal(refused(), before);
		assert_int_equal(hy_policy_remove(R->policy, in), 0);
		flow_commit();
	}
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, 0);
	assert_right(500);
}

/* Commits a rule that asks for what that of an id does. */
static void
twin_add(uint32_t id, uint32_t precedence, uint32_t of)
{
	struct hy_flow_rule twin = hy_policy_view(R->policy)->rules[rank_of(of)].rule;

	twin.id = id;
	twin.precedence = precedence;
	twin.class_id = 77;
	assert_int_equal(hy_policy_add(R->policy, &twin), 0);
	flow_commit();
}

/* Without a commit: a rule that is hit more displaces the other one. */
static void
twin_of_a_displaced_rule_waits_for_room_like_others(void **state)
{
	static struct rte_mbuf *packets[32];
	static uint8_t frame[FRAME_MAX];
	uint32_t len;

	RTE_SET_USED(state);
	open_with_few_priorities((struct hy_offload_params){ .max_rules = 2 });
	flow_exact_rules(0, 3);
	twin_add(100, 0, 0);
	flow_settle();
	assert_null(hy_offload_reason(R->offload, 0));
	assert_null(hy_offload_reason(R->offload, 1));
	assert_string_equal(hy_offload_reason(R->offload, 100), twin_reason);
	for (uint32_t id = 1; id < 3; id++) {
		len = flow_exact_frame(frame, id);
		flow_send(packets, flow_hold(packets, frame, len, 32));
	}
	flow_settle();
	assert_null(hy_offload_reason(R->offload, 1));
	assert_null(hy_offload_reason(R->offload, 2));
	assert_string_equal(hy_offload_reason(R->offload, 0), "the port has no room");
	assert_string_equal(hy_offload_reason(R->offload, 100), "the port has no room");
	assert_right(500);
}

/* Refuses the last two of the first batch. */
static unsigned int asked;

static void
create_many(uint16_t port, struct hy_flow_request *requests, unsigned int n)
{
	for (struct hy_flow_request *r = requests; r < requests + n; r++) {
		asked++;
		r->rc = asked == BATCH - 1 || asked == BATCH
			? -EINVAL
			: hy_flow_simulator.create(port, r->attr, r->items, r->actions, &r->flow,
				  &r->error);
	}
}

/* One seems to be kept out by the other, which has gone and left its slot to a third by then. */
static void
twin_of_a_rule_that_is_refused_in_its_batch_goes_in(void **state)
{
	static struct hy_flow_provider many;

	RTE_SET_USED(state);
	many = hy_flow_simulator;
	many.create_many = create_many;
	many.destroy_many = NULL;
	asked = 0;
	open_with_few_priorities((struct hy_offload_params){ .provider = &many });
	R->offload->pace = BATCH; /* as of a port that is known to answer in time */
	flow_exact_rules(0, BATCH - 1);
	twin_add(100, BATCH - 2, BATCH - 2);
	flow_exact_rules(BATCH - 1, 1);
	flow_settle();
	assert_true(asked > BATCH);
	assert_null(hy_offload_reason(R->offload, BATCH - 2));
	assert_non_null(strstr(hy_offload_reason(R->offload, 100), "the port refuses it"));
	assert_int_equal(flow_stats().hw_rules, BATCH);
	assert_right(500);
}

static void
rule_that_the_port_may_have_is_no_twin_of_itself(void **state)
{
	RTE_SET_USED(state);
	open_with_few_priorities((struct hy_offload_params){ 0 });
	hy_flow_sim_fail(R->sim, 1, -ETIMEDOUT);
	flow_exact_rules(3, 1);
	flow_settle();
	assert_non_null(strstr(hy_offload_reason(R->offload, 3), "the port refuses it"));
	assert_right(500);
}

/* The i-th of all sets of fields, with few values each, 0 among them; false: there can be no such. */
static bool
match_make(unsigned int i, struct hy_flow_match *m)
{
	static const uint16_t types[] = { RTE_ETHER_TYPE_IPV4, RTE_ETHER_TYPE_IPV6 };
	static const uint8_t protos[] = { IPPROTO_UDP, IPPROTO_TCP }, lens[] = { 8, 32 };
	static const uint16_t dports[][2] = { { 0, 0 }, { 4789, 4789 }, { 4000, 5000 } };
	const unsigned int type = i % 2, proto = i / 2 % 2, len = i / 4 % 2, dport = i / 8 % 3;
	struct hy_flow_rule rule = { .class_id = 1 };
	const uint32_t f = i / 24;

	/* What is not named has one value, so that no match comes twice. */
	if (((f & HY_FLOW_ETHER_TYPE) == 0 && type > 0) ||
		((f & HY_FLOW_PROTO) == 0 && proto > 0) || ((f & HY_FLOW_SRC) == 0 && len > 0) ||
		((f & HY_FLOW_DPORT) == 0 && dport > 0))
		return false;
	*m = (struct hy_flow_match){ .fields = f };
	m->ether_type = (f & HY_FLOW_ETHER_TYPE) != 0 ? types[type] : 0;
	m->vlan = (f & HY_FLOW_VLAN) != 0;
	m->src_len = (f & HY_FLOW_SRC) != 0 ? lens[len] : 0;
	m->dst_len = (f & HY_FLOW_DST) != 0 ? 32 : 0;
	m->proto = (f & HY_FLOW_PROTO) != 0 ? protos[proto] : 0;
	if ((f & HY_FLOW_DPORT) != 0)
		memcpy(m->dport, dports[dport], sizeof(m->dport));
	rule.match = *m;
	return hy_flow_rule_check(&rule, NULL) == 0;
}
#define MATCHES ((HY_FLOW_ALL + 1) * 24)

/* Whether a port is told the same, whatever it is told to do then. */
static bool
same_pattern(const struct hy_flow_lowered *a, const struct hy_flow_lowered *b)
{
	if (a->nb_items != b->nb_items || memcmp(&a->spec, &b->spec, sizeof(a->spec)) != 0 ||
		memcmp(&a->mask, &b->mask, sizeof(a->mask)) != 0)
		return false;
	for (unsigned int i = 0; i < a->nb_items; i++)
		if (a->items[i].type != b->items[i].type)
			return false;
	return true;
}

static void
rules_are_lowered_to_one_pattern_exactly_if_they_are_the_same(void **state)
{
	static struct {
		struct hy_flow_match match;
		struct hy_flow_lowered lowered;
	} of[MATCHES];

	RTE_SET_USED(state);
	for (unsigned int p = 0; p < FLOW_PROFILES; p++) {
		const struct hy_flow_driver *driver = hy_flow_driver_of(flow_profiles[p].driver);
		static const struct hy_flow_spread one_queue = { .nb_queues = 1 };
		unsigned int n = 0, same = 0;
		struct hy_flow_limits limits;
		const char *reason;

		hy_flow_limits_declared(driver, &limits);
		for (unsigned int i = 0; i < MATCHES; i++)
			n += match_make(i, &of[n].match) &&
				hy_flow_lower(driver, &limits, &of[n].match, 1, 0, &one_queue,
					&of[n].lowered, &reason) == 0;
		for (unsigned int a = 0; a < n; a++)
			for (unsigned int b = 0; b < a; b++) {
				const bool one = same_pattern(&of[a].lowered, &of[b].lowered);

				same += one;
				if (hy_flow_same(&of[a].match, &of[b].match) != one)
					fail_msg("%s: fields 0x%x and 0x%x: %d", driver->driver,
						of[a].match.fields, of[b].match.fields, !one);
			}
		print_message("%s: %u rules, %u pairs of one pattern\n", driver->driver, n, same);
		assert_true(n > 0 && same > 0);
	}
}

static const struct CMUnitTest offload_twin_tests[] = {
	FLOW_TEST(rule_whose_pattern_is_in_hardware_goes_in_when_that_has_gone),
	FLOW_TEST(twins_wait_for_the_one_that_is_in_hardware),
	FLOW_TEST(twin_of_a_displaced_rule_waits_for_room_like_others),
	FLOW_TEST(twin_of_a_rule_that_is_refused_in_its_batch_goes_in),
	FLOW_TEST(rule_that_the_port_may_have_is_no_twin_of_itself),
	FLOW_TEST(rules_are_lowered_to_one_pattern_exactly_if_they_are_the_same),
};

UNIT_SUITE(offload_twin_tests)
