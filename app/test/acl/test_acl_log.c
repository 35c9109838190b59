/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: packets that are reported, sums of those that are not, and records that are lost. */

#include <errno.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_cycles.h>
#include <rte_ring_elem.h>

#include "acl_fixture.h"
#include "lib/acl/acl.h"

#define LONG_MS 3600000 /* no interval ends within a test */
#define MOST 64

static struct {
	struct hy_acl_event events[MOST];
	char list[MOST][HY_ACL_NAME_MAX + 1];
	unsigned int n;
} told;

static void
tell(const struct hy_acl_event *event, void *arg)
{
	assert_ptr_equal(arg, &told);
	assert_true(told.n < MOST);
	strcpy(told.list[told.n], event->list);
	told.events[told.n++] = *event;
}

static void
drain(bool all)
{
	told.n = 0;
	hy_acl_log_drain(acl, all, tell, &told);
}

static void
assert_one(unsigned int i, const char *list, uint32_t rule)
{
	assert_true(i < told.n);
	assert_string_equal(told.list[i], list);
	assert_int_equal(told.events[i].rule, rule);
	assert_int_equal(told.events[i].more, 0);
}

static void
assert_more(unsigned int i, const char *list, uint32_t rule, uint64_t more)
{
	assert_true(i < told.n);
	assert_string_equal(told.list[i], list);
	assert_int_equal(told.events[i].rule, rule);
	assert_int_equal(told.events[i].more, more);
}

static void
assert_log(uint64_t logged, uint64_t more, uint64_t lost)
{
	struct hy_acl_log_counts counts;

	hy_acl_log_counts(acl, &counts);
	assert_int_equal(counts.logged, logged);
	assert_int_equal(counts.more, more);
	assert_int_equal(counts.lost, lost);
}

static void
one_packet_of_a_rule_is_told_and_others_are_summed_up(void **state)
{
	static const uint16_t sent[] = { 53, 53, 80, 53, 53, 99 };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	rule_add(policy, 10, 53, HY_RULE_DENY, 0, true);
	rule_add(policy, 20, 80, HY_RULE_PERMIT, 0, true);
	rule_add(policy, 30, 99, HY_RULE_PERMIT, 0, false);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	drain(false);
	assert_int_equal(told.n, 2);
	assert_one(0, "a", 10);
	assert_one(1, "a", 20);
	assert_true(told.events[0].record.denied && !told.events[1].record.denied);
	assert_int_equal(told.events[0].record.port, RIG_PORT);
	acl_send(graph, sent, RTE_DIM(sent));
	drain(false);
	assert_int_equal(told.n, 0);
	drain(true);
	assert_int_equal(told.n, 2);
	assert_more(0, "a", 10, 7);
	assert_more(1, "a", 20, 1);
	drain(true);
	assert_int_equal(told.n, 0);
	assert_log(2, 8, 0);
}

static void
the_first_packet_of_a_rule_with_an_earlier_ones_counter_is_told(void **state)
{
	static const uint16_t sent[] = { 53, 53 };
	const struct hy_policy_view *view;
	struct hy_policy *policy;
	struct hy_graph *graph;
	uint32_t index = 0;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	for (uint32_t id = 1; id <= 3; id++) {
		view = hy_policy_view_hold(policy);
		if (id > 1)
			assert_int_equal(view->rules[0].index, index);
		index = view->rules[0].index;
		hy_policy_view_release(policy, view);
		acl_send(graph, sent, RTE_DIM(sent));
		drain(true);
		assert_int_equal(told.n, 2);
		assert_one(0, "a", id);
		assert_more(1, "a", id, 1);
		assert_int_equal(hy_policy_remove(policy, id), 0);
		rules_commit(policy);
		drain(false);
		assert_int_equal(told.n, 0);
		rule_add(policy, id + 1, 0, HY_RULE_DENY, 0, true);
		rules_commit(policy);
	}
}

static void
a_record_says_whether_its_packet_was_dropped(void **state)
{
	static const struct {
		enum hy_rule_action action;
		uint16_t arg;
		bool dropped;
	} rules[] = { { HY_RULE_CLASSIFY, 9, true }, { HY_RULE_CLASSIFY, 7, false },
		{ HY_RULE_TO_PORT, 1, false }, { HY_RULE_TO_PORT, 2, true },
		{ HY_RULE_COUNT, 0, false }, { HY_RULE_DENY, 0, true },
		{ HY_RULE_PERMIT, 0, false } };
	uint16_t sent[RTE_DIM(rules)];
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	for (uint16_t i = 0; i < RTE_DIM(rules); i++) {
		sent[i] = (uint16_t)(100 + i);
		rule_add(policy, i, sent[i], rules[i].action, rules[i].arg, true);
	}
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	drain(false);
	assert_int_equal(told.n, RTE_DIM(rules));
	for (unsigned int i = 0; i < RTE_DIM(rules); i++) {
		assert_one(i, "a", i);
		assert_int_equal(told.events[i].record.denied, rules[i].dropped);
	}
	assert_int_equal(out[RIG_DROP].n, 3);
}

static void
a_rule_is_told_of_again_when_the_interval_is_over(void **state)
{
	static const uint16_t sent[] = { 53, 53, 53 };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = 20 });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_COUNT, 0, true);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_OUT);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_OUT, "a"), 0);
	for (unsigned int round = 1; round <= 3; round++) {
		acl_send(graph, sent, 3);
		rte_delay_us_sleep(30000);
		drain(false);
		assert_int_equal(told.n, 2);
		assert_one(0, "a", 1);
		assert_true(told.events[0].record.out);
		assert_more(1, "a", 1, 2);
		assert_log(round, 2 * round, 0);
	}
}

static void
what_a_full_ring_has_no_room_for_is_lost_and_yet_summed_up(void **state)
{
	uint16_t sent[32];
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS, .log_records = 7 });
	policy = list_make("a");
	for (unsigned int i = 0; i < 32; i++) {
		sent[i] = (uint16_t)(100 + i);
		rule_add(policy, i, sent[i], HY_RULE_DENY, 0, true);
	}
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, 32);
	drain(true);
	assert_int_equal(told.n, 7 + 25);
	for (unsigned int i = 0; i < 7; i++)
		assert_one(i, "a", i);
	for (unsigned int i = 7; i < 32; i++)
		assert_more(i, "a", i, 1);
	assert_log(7, 25, 25);
	assert_int_equal(out[RIG_DROP].n, 32);
}

static void
records_of_a_destroyed_list_are_lost_and_not_another_lists(void **state)
{
	static const uint16_t sent[] = { 53 };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, 1);
	assert_int_equal(hy_acl_unbind(acl, RIG_PORT, HY_ACL_IN), 0);
	assert_int_equal(hy_acl_list_destroy(acl, "a"), 0);
	policy = list_make("b"); /* with the same number */
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	drain(true);
	assert_int_equal(told.n, 0);
	assert_log(0, 0, 1);
}

static void
sums_follow_rules_that_change(void **state)
{
	static const uint16_t sent[] = { 53, 53, 53, 53 };
	struct hy_flow_rule rule = { .id = 1, .action = HY_RULE_PERMIT };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	assert_int_equal(hy_policy_add(policy, &rule), 0);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	drain(true);
	acl_send(graph, sent, 4); /* not logged */
	rule.log = true;
	assert_int_equal(hy_policy_replace(policy, &rule), 0);
	rules_commit(policy);
	drain(true);
	assert_int_equal(told.n, 0);
	acl_send(graph, sent, 4);
	drain(true);
	assert_int_equal(told.n, 2);
	assert_one(0, "a", 1);
	assert_more(1, "a", 1, 3);
	rule.action = HY_RULE_DENY; /* its counter starts at 0 */
	assert_int_equal(hy_policy_replace(policy, &rule), 0);
	rules_commit(policy);
	acl_send(graph, sent, 3);
	drain(true);
	assert_int_equal(told.n, 2);
	assert_more(1, "a", 1, 2);
	acl_send(graph, sent, 2);
	assert_int_equal(hy_acl_clear(acl, "a"), 0);
	acl_send(graph, sent, 1);
	drain(true);
	assert_int_equal(told.n, 1);
	assert_more(0, "a", 1, 3); /* of packets, whatever was cleared */
}

static void
packets_of_a_rule_that_goes_are_in_its_last_sum(void **state)
{
	static const uint16_t sent[] = { 53, 53, 53, 53 };
	struct hy_flow_rule rule = { .id = 1, .action = HY_RULE_PERMIT, .log = true };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	assert_int_equal(hy_policy_add(policy, &rule), 0);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	drain(false);
	acl_send(graph, sent, 4);
	rule.action = HY_RULE_DENY; /* with another counter */
	assert_int_equal(hy_policy_replace(policy, &rule), 0);
	rules_commit(policy);
	acl_send(graph, sent, 3);
	drain(false);
	assert_int_equal(told.n, 3);
	assert_one(0, "a", 1);
	assert_one(1, "a", 1);
	assert_more(2, "a", 1, 3);
	drain(true);
	assert_int_equal(told.n, 1);
	assert_more(0, "a", 1, 2);
	acl_send(graph, sent, 2);
	assert_int_equal(hy_policy_remove(policy, 1), 0);
	rules_commit(policy);
	drain(false);
	assert_int_equal(told.n, 1);
	assert_more(0, "a", 1, 2);
	drain(true);
	assert_int_equal(told.n, 0);
	assert_log(2, 7, 0);
}

static void
a_rule_that_comes_back_is_summed_up_whole(void **state)
{
	static const uint16_t sent[] = { 53, 53, 53, 53 };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, 4);
	drain(true);
	assert_more(1, "a", 1, 3);
	assert_int_equal(hy_policy_remove(policy, 1), 0);
	rules_commit(policy);
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	acl_send(graph, sent, 3);
	drain(true);
	assert_int_equal(told.n, 1);
	assert_more(0, "a", 1, 3);
}

static void
a_record_that_comes_after_its_sum_is_made_up_for(void **state)
{
	struct hy_acl_record record = { .rule = 1 };
	const struct hy_policy_view *view;
	struct hy_policy_counts *counters;
	struct hy_policy *policy;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .log_ms = LONG_MS });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, true);
	rules_commit(policy);
	drain(true);
	view = hy_policy_view_hold(policy);
	record.index = view->rules[0].index;
	hy_policy_view_release(policy, view);
	record.serial = acl->lists[0]->shown.serial;
	counters = hy_policy_counters(policy, 0);
	hy_policy_hit_bytes(counters, record.index, 60, 1);
	drain(true);
	assert_more(0, "a", 1, 1);
	assert_int_equal(rte_ring_sp_enqueue_elem(acl->table.logs[0].records, &record,
				 sizeof(record)),
		0);
	drain(true);
	assert_int_equal(told.n, 1);
	assert_one(0, "a", 1);
	hy_policy_hit_bytes(counters, record.index, 60, 2);
	drain(true);
	assert_int_equal(told.n, 0);
	assert_log(1, 1, 0);
	hy_policy_hit_bytes(counters, record.index, 60, 3);
	drain(true);
	assert_more(0, "a", 1, 1);
}

static void
assert_text(const struct hy_acl_event *event, const char *wanted)
{
	char text[HY_ACL_EVENT_SIZE];

	assert_int_equal(hy_acl_event_format(event, text, sizeof(text)), strlen(wanted));
	assert_string_equal(text, wanted);
	assert_int_equal(hy_acl_event_format(event, text, 8), strlen(wanted));
	assert_int_equal(strlen(text), 7);
}

static void
events_of_tcp_are_told_in_words(void **state)
{
	struct hy_acl_event event = { .list = "edge", .rule = 7 };
	struct hy_acl_record *r = &event.record;

	RTE_SET_USED(state);
	r->action = HY_RULE_DENY;
	r->denied = true;
	r->len = 153;
	r->key = (struct hy_flow_key){ .has = HY_FLOW_IPV4 | HY_FLOW_ETHER_TYPE | HY_FLOW_5_TUPLE |
			HY_FLOW_TCP_FLAGS,
		.ether_type = 0x800,
		.src = IP4(10, 0, 0, 1),
		.dst = IP4(192, 0, 2, 1),
		.proto = IPPROTO_TCP,
		.sport = 1234,
		.dport = 22,
		.tcp_flags = 2 };
	assert_text(&event,
		"acl edge rule 7 deny: port 0 tcp 10.0.0.1:1234 > 192.0.2.1:22 flags S, "
		"153 bytes");
	r->out = true;
	r->port = 5;
	r->action = HY_RULE_TO_PORT;
	r->to = 3;
	r->key.tcp_flags = 0x12;
	r->key.has |= HY_FLOW_VLAN;
	r->key.vlan = 100;
	assert_text(&event,
		"acl edge rule 7 port 3: to port 5 vlan 100 tcp 10.0.0.1:1234 > "
		"192.0.2.1:22 flags SA, 153 bytes");
}

static void
events_of_other_packets_are_told_in_words(void **state)
{
	struct hy_acl_event event = { .list = "edge", .rule = 7 };
	struct hy_acl_record *r = &event.record;

	RTE_SET_USED(state);
	r->denied = r->out = true;
	r->len = 153;
	r->port = 5;
	r->to = 3;
	r->key = (struct hy_flow_key){ .has = HY_FLOW_IPV6 | HY_FLOW_SRC | HY_FLOW_DST |
			HY_FLOW_PROTO | HY_FLOW_ICMP,
		.src6 = { 0x20010db8, 0, 0, 1 },
		.dst6 = { 0xff020000, 0, 0, 2 },
		.proto = IPPROTO_ICMPV6,
		.icmp_type = 128,
		.icmp_code = 0 };
	r->action = HY_RULE_CLASSIFY;
	assert_text(&event,
		"acl edge rule 7 class 3: to port 5 icmp6 2001:db8::1 > ff02::2 type 128 "
		"code 0, 153 bytes");
	r->key.has = HY_FLOW_IPV6 | HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_PORTS;
	r->key.proto = IPPROTO_UDP;
	r->key.dport = 53;
	r->action = HY_RULE_COUNT;
	assert_text(&event,
		"acl edge rule 7 count, denied: to port 5 udp [2001:db8::1]:0 > "
		"[ff02::2]:53, 153 bytes");
	r->key = (struct hy_flow_key){ .has = HY_FLOW_ETHER_TYPE | HY_FLOW_TRUNCATED,
		.ether_type = 0x806,
		.src_mac = 0x020000000001,
		.dst_mac = 0xffffffffffff };
	r->action = HY_RULE_PERMIT;
	r->out = false;
	assert_text(&event,
		"acl edge rule 7 permit: port 5 type 0x0806 02:00:00:00:00:01 > "
		"ff:ff:ff:ff:ff:ff truncated, 153 bytes");
	event.more = 1204;
	assert_text(&event, "acl edge rule 7: 1204 more packets");
	event.more = 1;
	assert_text(&event, "acl edge rule 7: 1 more packet");
}

static const struct CMUnitTest tests[] = {
	ACL_TEST(one_packet_of_a_rule_is_told_and_others_are_summed_up),
	ACL_TEST(the_first_packet_of_a_rule_with_an_earlier_ones_counter_is_told),
	ACL_TEST(a_record_says_whether_its_packet_was_dropped),
	ACL_TEST(a_rule_is_told_of_again_when_the_interval_is_over),
	ACL_TEST(what_a_full_ring_has_no_room_for_is_lost_and_yet_summed_up),
	ACL_TEST(records_of_a_destroyed_list_are_lost_and_not_another_lists),
	ACL_TEST(sums_follow_rules_that_change),
	ACL_TEST(packets_of_a_rule_that_goes_are_in_its_last_sum),
	ACL_TEST(a_rule_that_comes_back_is_summed_up_whole),
	ACL_TEST(a_record_that_comes_after_its_sum_is_made_up_for),
	ACL_TEST(events_of_tcp_are_told_in_words),
	ACL_TEST(events_of_other_packets_are_told_in_words),
};

UNIT_SUITE(tests)
