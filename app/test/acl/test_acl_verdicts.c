/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of packets, by each action, and what is counted. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ip.h>

#include "acl_fixture.h"

#define FRAME_LEN (14 + 20 + 40)

enum { PERMIT = 100, DENY, CLASS7, CLASS8, CLASS9, PORT1, PORT2, COUNT, OTHER };

static struct hy_policy *
list_of_all(const char *name)
{
	struct hy_policy *policy = list_make(name);

	rule_add(policy, 1, PERMIT, HY_RULE_PERMIT, 0, false);
	rule_add(policy, 2, DENY, HY_RULE_DENY, 0, false);
	rule_add(policy, 3, CLASS7, HY_RULE_CLASSIFY, 7, false);
	rule_add(policy, 4, CLASS8, HY_RULE_CLASSIFY, 8, false);
	rule_add(policy, 5, CLASS9, HY_RULE_CLASSIFY, 9, false);
	rule_add(policy, 6, PORT1, HY_RULE_TO_PORT, 1, false);
	rule_add(policy, 7, PORT2, HY_RULE_TO_PORT, 2, false);
	rule_add(policy, 8, COUNT, HY_RULE_COUNT, 0, false);
	rules_commit(policy);
	return policy;
}

static void
assert_counts(const char *name, struct hy_acl_counts wanted)
{
	struct hy_acl_counts got;

	assert_int_equal(hy_acl_counts(acl, name, &got), 0);
	assert_int_equal(got.permitted, wanted.permitted);
	assert_int_equal(got.denied, wanted.denied);
	assert_int_equal(got.redirected, wanted.redirected);
	assert_int_equal(got.unmatched, wanted.unmatched);
	assert_int_equal(got.truncated, wanted.truncated);
	assert_int_equal(got.unknown, wanted.unknown);
}

/* Fails unless a sink got just these ports, in their order, with these classes. */
static void
assert_out(unsigned int sink, const uint16_t dports[], const uint32_t classes[], unsigned int n)
{
	assert_int_equal(out[sink].n, n);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t frame[FRAME_MAX];

		udp_write(frame, dports[i]);
		assert_packet(out[sink].packets[i], frame, FRAME_LEN, 1);
		if (classes != NULL)
			assert_int_equal(out[sink].lane[i], classes[i]);
	}
}

static void
each_action_does_what_it_says(void **state)
{
	static const uint16_t sent[] = { DENY, PERMIT, CLASS7, CLASS8, CLASS9, PORT1, PORT2, COUNT,
		OTHER };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_of_all("a");
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	assert_out(0, (const uint16_t[]){ PERMIT, CLASS8, COUNT, OTHER },
		(const uint32_t[]){ 0, 8, 0, 0 }, 4);
	assert_out(1, (const uint16_t[]){ CLASS7, PORT1 }, (const uint32_t[]){ 7, 0 }, 2);
	assert_out(RIG_DROP, (const uint16_t[]){ DENY, CLASS9, PORT2 }, NULL, 3);
	assert_int_equal(dropped("acl", "acl_in-3", "acl_denied"), 1);
	assert_int_equal(dropped("acl", "acl_in-3", "denied"), 1);
	assert_int_equal(dropped("acl", "acl_in-3", "no_port"), 1);
	assert_int_equal(dropped("acl", "acl_in-3", "acl_truncated"), 0);
	assert_int_equal(dropped("acl", "acl_in-3", "no_list"), 0);
	assert_counts("a",
		(struct hy_acl_counts){
			.permitted = 5, .denied = 2, .redirected = 2, .unmatched = 1 });
}

static void
rules_count_packets_bytes_and_time_until_they_are_cleared(void **state)
{
	static const uint16_t sent[] = { DENY, DENY, DENY, PERMIT };
	const uint64_t before = rte_rdtsc();
	struct hy_policy_counts counts;
	struct hy_policy *policy;
	struct hy_graph *graph;
	uint64_t last;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_of_all("a");
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	assert_int_equal(hy_policy_counts(policy, 2, &counts), 0);
	assert_int_equal(counts.packets, 3);
	assert_int_equal(counts.bytes, 3 * FRAME_LEN);
	assert_true(counts.last > before && counts.last <= rte_rdtsc());
	last = counts.last;
	assert_int_equal(hy_policy_counts(policy, 8, &counts), 0);
	assert_true(counts.packets == 0 && counts.bytes == 0 && counts.last == 0);
	assert_int_equal(hy_acl_clear(acl, "b"), -ENOENT);
	assert_int_equal(hy_acl_clear(acl, "a"), 0);
	assert_counts("a", (struct hy_acl_counts){ 0 });
	assert_int_equal(hy_policy_counts(policy, 2, &counts), 0);
	assert_true(counts.packets == 0 && counts.bytes == 0 && counts.last == 0);
	acl_send(graph, sent, 1);
	assert_int_equal(hy_policy_counts(policy, 2, &counts), 0);
	assert_true(counts.packets == 1 && counts.bytes == FRAME_LEN && counts.last > last);
	assert_counts("a", (struct hy_acl_counts){ .denied = 1 });
	assert_int_equal(hy_policy_class_hits(policy, 0), 5);
}

static void
a_packet_of_a_clock_that_is_ahead_was_just_now(void **state)
{
	struct hy_policy *policy;
	char json[1024] = "";
	FILE *file = fmemopen(json, sizeof(json), "w");

	RTE_SET_USED(state);
	assert_non_null(file);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_make("a");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, false);
	rules_commit(policy);
	hy_policy_hit_bytes(hy_policy_counters(policy, 1), 0, 60,
		rte_rdtsc() + 3600 * rte_get_tsc_hz());
	hy_acl_json(acl, file);
	assert_int_equal(fclose(file), 0);
	assert_non_null(strstr(json, "\"packets\": 1, \"bytes\": 60, \"last_seconds\": 0.000}"));
}

static void
a_list_without_rules_permits(void **state)
{
	static const uint16_t sent[] = { 1, 2, 3 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_make("a");
	graph = acl_rig(HY_ACL_OUT);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_OUT, "a"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	assert_out(0, sent, (const uint32_t[]){ 0, 0, 0 }, 3);
	assert_counts("a", (struct hy_acl_counts){ .permitted = 3, .unmatched = 3 });
}

static void
what_no_rule_matches_follows_the_default(void **state)
{
	static const uint16_t sent[] = { PERMIT, COUNT, OTHER, CLASS8, PORT1 };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ .policy.deny_unmatched = true });
	list_make("empty");
	policy = list_of_all("a");
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "empty"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	assert_counts("empty", (struct hy_acl_counts){ .denied = 5, .unmatched = 5 });
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, RTE_DIM(sent));
	assert_out(0, (const uint16_t[]){ PERMIT, CLASS8 }, NULL, 2);
	assert_int_equal(dropped("acl", "acl_in-3", "acl_denied"), 5 + 2);
	assert_int_equal(hy_policy_hits(policy, 8), 1);
	assert_counts("a",
		(struct hy_acl_counts){
			.permitted = 2, .denied = 2, .redirected = 1, .unmatched = 1 });
	assert_int_equal(hy_policy_default_set(policy, HY_RULE_PERMIT), 0);
	rules_commit(policy);
	acl_send(graph, sent, RTE_DIM(sent));
	assert_int_equal(out[0].n, 2 + 4);
}

/* A UDP frame cut inside its ports; and one whole, of the same rule. */
static void
cut_packets_are_classified_or_denied_and_always_counted(void **state)
{
	struct hy_policy *policy;
	struct hy_graph *graph;
	uint8_t frame[FRAME_MAX];
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_make("a");
	rule_add(policy, 1, DENY, HY_RULE_DENY, 0, false);
	rule_add(policy, 2, 0, HY_RULE_PERMIT, 0, false);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	for (unsigned int round = 0; round < 2; round++) {
		udp_write(frame, DENY);
		m = packet(frame, 14 + 20 + 3);
		rig_send(graph, &m, NULL, 1);
		acl_send(graph, (const uint16_t[]){ DENY, PERMIT }, 2);
		if (round == 0) {
			assert_counts("a",
				(struct hy_acl_counts){
					.permitted = 2, .denied = 1, .truncated = 1 });
			assert_int_equal(hy_policy_truncated_set(policy, HY_RULE_DENY), 0);
			rules_commit(policy);
		}
	}
	assert_counts("a", (struct hy_acl_counts){ .permitted = 3, .denied = 3, .truncated = 2 });
	assert_int_equal(hy_policy_hits(policy, 2), 3);
	assert_int_equal(dropped("acl", "acl_in-3", "acl_truncated"), 1);
	assert_int_equal(dropped("acl", "acl_in-3", "acl_denied"), 2);
}

/* More extension headers than are walked: what is behind them is not known. */
static void
headers_that_are_not_walked_to_their_end_are_counted(void **state)
{
	struct hy_flow_rule rule = { .id = 1,
		.action = HY_RULE_DENY,
		.match = { .fields = HY_FLOW_IPV6 | HY_FLOW_FRAGMENT,
			.fragments = HY_FLOW_UNKNOWN_FRAGMENT } };
	struct hy_policy *policy;
	struct hy_graph *graph;
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	policy = list_make("a");
	assert_int_equal(hy_policy_add(policy, &rule), 0);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	for (unsigned int headers = 1; headers <= HY_FLOW_EXTENSIONS + 2; headers++) {
		uint8_t frame[FRAME_MAX] = { [12] = 0x86, [13] = 0xdd, [14] = 0x60, [20] = 60 };

		frame[19] = (uint8_t)(headers * 8 + 8);
		for (unsigned int h = 0; h < headers; h++)
			frame[54 + 8 * h] = h == headers - 1 ? IPPROTO_UDP : 60;
		m = packet(frame, 54 + headers * 8 + 8);
		rig_send(graph, &m, NULL, 1);
	}
	hy_graph_rest(graph);
	assert_counts("a",
		(struct hy_acl_counts){ .permitted = HY_FLOW_EXTENSIONS,
			.denied = 2,
			.unmatched = HY_FLOW_EXTENSIONS,
			.unknown = 2 });
}

static void
the_list_bound_last_decides(void **state)
{
	static const uint16_t sent[] = { DENY, PERMIT };
	struct hy_policy *policy;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_of_all("a");
	policy = list_make("b");
	rule_add(policy, 1, 0, HY_RULE_DENY, 0, false);
	rule_add(policy, 0, DENY, HY_RULE_PERMIT, 0, false);
	rules_commit(policy);
	graph = acl_rig(HY_ACL_IN);
	acl_send(graph, sent, 2);
	assert_out(0, sent, NULL, 2);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	acl_send(graph, sent, 2);
	assert_int_equal(out[0].n, 3);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "b"), 0);
	acl_send(graph, sent, 2);
	assert_out(0, (const uint16_t[]){ DENY, PERMIT, PERMIT, DENY }, NULL, 4);
	assert_out(RIG_DROP, (const uint16_t[]){ DENY, PERMIT }, NULL, 2);
	assert_int_equal(hy_acl_unbind(acl, RIG_PORT, HY_ACL_IN), 0);
	acl_send(graph, sent, 2);
	assert_int_equal(out[0].n, 6);
	assert_counts("a", (struct hy_acl_counts){ .permitted = 1, .denied = 1 });
	assert_counts("b", (struct hy_acl_counts){ .permitted = 1, .denied = 1 });
}

/* Every frame of any length, whole or in pieces: the verdict does not depend on the segments. */
static void
segments_make_no_difference(void **state)
{
	uint64_t seed = 20, n[3] = { 0 };
	struct hy_graph *graph;
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	acl_make(&(const struct hy_acl_params){ 0 });
	list_of_all("a");
	graph = acl_rig(HY_ACL_IN);
	assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		static const uint16_t dports[] = { DENY, PERMIT, PORT1 };
		const unsigned int kind = rnd(&seed) % 3;
		uint8_t frame[FRAME_MAX];

		udp_write(frame, dports[kind]);
		m = i % 2 == 0 ? packet_random(frame, FRAME_LEN, 20, &seed)
			       : packet_pieces(frame, FRAME_LEN, 1 + rnd(&seed) % 16);
		m->port = RIG_PORT;
		rig_send(graph, &m, NULL, 1);
		n[kind]++;
		assert_int_equal(out[RIG_DROP].n, kind == 0);
		assert_int_equal(out[0].n, kind == 1);
		assert_int_equal(out[1].n, kind == 2);
		rig_free();
	}
	hy_graph_rest(graph);
	assert_true(n[0] > 200 && n[1] > 200 && n[2] > 200);
	assert_counts("a",
		(struct hy_acl_counts){ .denied = n[0], .permitted = n[1], .redirected = n[2] });
}

/* A node whose packets have lists by port: one burst has several, and numbers that no list has. */
#define MIXED 60

static struct {
	struct hy_acl_shown shown[2];
	struct hy_acl_worker workers[2];
	struct hy_acl_log log;
	struct hy_acl_table table;
	struct hy_graph *graph;
	struct hy_arc *arc;
	struct rte_mbuf *packets[MIXED];
} mixed;

static void
mixed_lists(void)
{
	memset(&mixed, 0, sizeof(mixed));
	acl_make(&(const struct hy_acl_params){ 0 });
	for (unsigned int l = 0; l < 2; l++) {
		struct hy_policy *policy = list_make(l == 0 ? "a" : "b");

		rule_add(policy, 1, 53, l == 0 ? HY_RULE_DENY : HY_RULE_CLASSIFY, l == 0 ? 0 : 5,
			false);
		rules_commit(policy);
		mixed.shown[l] = (struct hy_acl_shown){ .policy = policy,
			.workers = &mixed.workers[l] };
	}
	mixed.table = (struct hy_acl_table){ .logs = &mixed.log,
		.nb_workers = 1,
		.qsbr = acl_qsbr,
		.lists = { &mixed.shown[0], &mixed.shown[1] } };
}

/* Ports 0 and 1 have a list, 2 and 3 numbers of none, and port 4 is not enabled. */
static void
mixed_rig(void)
{
	static const char *const patterns[] = { "rig_source" };
	static const uint32_t numbers[] = { 0, 1, HY_ACL_LISTS - 1, HY_ACL_LISTS };
	const struct hy_arc_params params = { .end = "rig_out-0",
		.index = hy_mbuf_ports,
		.qsbr = acl_qsbr,
		.socket = SOCKET_ID_ANY };
	const struct hy_arc_feature feature = { .arc = "acl_test", .node = "acl_in-rig" };
	const struct hy_graph_params graph = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_CLASS_LANE, HY_ARC_LANE },
		.socket = SOCKET_ID_ANY,
		.qsbr = acl_qsbr };
	struct hy_acl_node_config config = { .table = &mixed.table };

	memset(config.to_port, 0xff, sizeof(config.to_port));
	rig_lane = HY_FLOW_CLASS_LANE;
	rig_nodes("rig_out-0");
	assert_int_equal(hy_node_config(rig_clone("acl_in", NULL, NULL), &config, sizeof(config)),
		0);
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	assert_int_equal(hy_arc_create("acl_test", &params, &mixed.arc), 0);
	assert_int_equal(hy_graph_create("mixed", &graph, &mixed.graph), 0);
	for (uint32_t p = 0; p < RTE_DIM(numbers); p++)
		assert_int_equal(hy_arc_enable(mixed.arc, "acl_in-rig", p, numbers[p]), 0);
}

/* Packets of a port, which are 5 apart, are still in their order. */
static void
assert_mixed(void)
{
	unsigned int at[5] = { 0 };

	for (unsigned int i = 0; i < out[0].n; i++) {
		const struct rte_mbuf *m = out[0].packets[i];
		const bool matched = m->port == 1 && rte_pktmbuf_mtod(m, uint8_t *)[37] == 53;

		assert_int_equal(out[0].lane[i], m->port == 4 ? 0xbad0bad0 : matched ? 5u : 0u);
		while (mixed.packets[at[m->port] * 5 + m->port] != m)
			assert_true(++at[m->port] < MIXED / 5);
	}
}

static void
a_burst_of_several_lists_is_judged_by_each(void **state)
{
	RTE_SET_USED(state);
	mixed_lists();
	mixed_rig();
	for (unsigned int i = 0; i < MIXED; i++) {
		mixed.packets[i] = udp_packet(i % 2 == 0 ? 53 : 54);
		mixed.packets[i]->port = (uint16_t)(i % 5);
	}
	rig_send(mixed.graph, mixed.packets, NULL, MIXED);
	hy_graph_rest(mixed.graph);
	/* Of 12 packets each, half are to port 53. */
	assert_int_equal(mixed.workers[0].counts.denied, 6);
	assert_int_equal(mixed.workers[0].counts.permitted, 6);
	assert_int_equal(mixed.workers[1].counts.permitted, 12);
	assert_int_equal(mixed.workers[1].counts.unmatched, 6);
	assert_int_equal(dropped("mixed", "acl_in-rig", "acl_denied"), 6);
	assert_int_equal(dropped("mixed", "acl_in-rig", "no_list"), 24);
	assert_int_equal(out[0].n, 6 + 12 + 12);
	assert_mixed();
	rig_free();
	hy_graph_destroy(mixed.graph);
	assert_int_equal(hy_arc_destroy(mixed.arc), 0);
	assert_int_equal(hy_arc_feature_unregister("acl_in-rig"), 0);
}

/* The copy of node 2 is made to deny what the list permits: only a graph there does so. */
static void
a_graph_reads_the_copy_of_its_numa_node(void **state)
{
	static const int sockets[] = { SOCKET_ID_ANY, 0, 1, 2 };

	RTE_SET_USED(state);
	for (unsigned int s = 0; s < RTE_DIM(sockets); s++) {
		const bool denied = sockets[s] == 2;
		struct hy_policy_rule *rule;
		struct hy_policy *policy;
		struct hy_graph *graph;

		acl_make(&(const struct hy_acl_params){ .policy.nodes = 1u << 0 | 1u << 2 });
		policy = list_make("a");
		rule_add(policy, 1, PERMIT, HY_RULE_PERMIT, 0, false);
		rules_commit(policy);
		rule = (struct hy_policy_rule *)(uintptr_t)hy_policy_view_on(policy, 2)->rules;
		assert_ptr_not_equal(rule, hy_policy_view(policy)->rules);
		rule->rule.action = HY_RULE_DENY;
		acl_socket = sockets[s];
		graph = acl_rig(HY_ACL_IN);
		assert_int_equal(hy_acl_bind(acl, RIG_PORT, HY_ACL_IN, "a"), 0);
		acl_send(graph, (const uint16_t[]){ PERMIT, PERMIT }, 2);
		assert_counts("a",
			(struct hy_acl_counts){
				.permitted = denied ? 0 : 2, .denied = denied ? 2 : 0 });
		acl_done();
	}
}

static const struct CMUnitTest tests[] = {
	ACL_TEST(each_action_does_what_it_says),
	ACL_TEST(rules_count_packets_bytes_and_time_until_they_are_cleared),
	ACL_TEST(a_packet_of_a_clock_that_is_ahead_was_just_now),
	ACL_TEST(a_list_without_rules_permits),
	ACL_TEST(what_no_rule_matches_follows_the_default),
	ACL_TEST(cut_packets_are_classified_or_denied_and_always_counted),
	ACL_TEST(headers_that_are_not_walked_to_their_end_are_counted),
	ACL_TEST(the_list_bound_last_decides),
	ACL_TEST(a_graph_reads_the_copy_of_its_numa_node),
	ACL_TEST(segments_make_no_difference),
	ACL_TEST(a_burst_of_several_lists_is_judged_by_each),
};

UNIT_SUITE(tests)
