/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_cls in a graph: lanes, edges, drops and counters, by all its variants, while rules change. */

#include <errno.h>
#include <string.h>

#include <rte_rcu_qsbr.h>

#include <hy_flow_cls.h>
#include <hy_mbuf.h>
#include <hy_policy_view.h>

#include "node_fixture.h"

static const char *const variants[] = { "linear", "acl" };

static struct hy_policy *policy;

static union {
	struct rte_rcu_qsbr v;
	uint8_t room[4096];
} qsbr;

static void
rule_add(uint32_t id, uint16_t class_id, uint32_t dst)
{
	const struct hy_flow_rule rule = { .id = id,
		.class_id = class_id,
		.match = { .fields = HY_FLOW_DST, .dst = dst, .dst_len = 32 } };

	assert_int_equal(hy_policy_add(policy, &rule), 0);
}

static void
policy_new(unsigned int workers, struct rte_rcu_qsbr *used)
{
	const struct hy_policy_params params = {
		.max_rules = 100, .workers = workers, .socket = SOCKET_ID_ANY, .qsbr = used
	};

	assert_int_equal(hy_policy_create("rig", &params, &policy), 0);
}

/* rig_source, flow_cls, rig_out-0 and -1; class 2 takes the second edge, class 3 is denied. */
static const struct hy_flow_way ways[] = { { 2, 1 }, { 3, HY_FLOW_DENY } };

static void
node_make(const char *variant)
{
	const struct hy_flow_cls_config config = {
		.policy = policy, .ways = ways, .nb_ways = RTE_DIM(ways)
	};
	hy_node_id id;
	uint16_t edge;

	rig_lane = HY_FLOW_CLASS_LANE;
	rig_qsbr = hy_policy_qsbr(policy);
	rig_nodes("flow_cls-rig");
	id = rig_clone("flow_cls", variant, "rig_out-0");
	assert_int_equal(hy_node_edge_add(id, "rig_out-1", &edge), 0);
	assert_int_equal(edge, 1);
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
}

static uint64_t
counted(const char *name)
{
	uint64_t n = UINT64_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read("rig", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *s = &stats->nodes[i];

		for (unsigned int c = 0; c < s->nb_counters; c++)
			if (strcmp(s->counters[c].name, name) == 0)
				n = s->counters[c].value;
	}
	hy_stats_free(stats);
	return n;
}

static void
done(void)
{
	rig_clear();
	hy_policy_destroy(policy);
	policy = NULL;
}

#define PACKETS 256

/* Packet i is to 10.0.0.(i % 8): some in one piece, some in many. */
static void
packets_make(struct rte_mbuf *packets[PACKETS])
{
	uint8_t frame[FRAME_MAX];

	for (unsigned int i = 0; i < PACKETS; i++) {
		const uint32_t len = FRAME(frame, .dst = IP4(10, 0, 0, i % 8), .payload = 30);

		packets[i] = i / 8 % 2 == 0 ? packet(frame, len)
					    : packet_pieces(frame, len, 1 + i / 16);
	}
}

static void
assert_kept(unsigned int sink, uint32_t class_id, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < out[sink].n; i++)
		found += out[sink].lane[i] == class_id;
	if (found != n)
		fail_msg("sink %u: %u packets of class %u, not %u", sink, found, class_id, n);
}

static void
run_variant(const char *variant, uint16_t burst)
{
	struct rte_mbuf *packets[PACKETS];

	policy_new(1, NULL);
	rule_add(1, 1, IP4(10, 0, 0, 1));
	rule_add(2, 2, IP4(10, 0, 0, 2));
	rule_add(3, 3, IP4(10, 0, 0, 3));
	rule_add(4, 4, IP4(10, 0, 0, 4));
	rule_add(5, 1, IP4(10, 0, 0, 5));
	assert_int_equal(hy_policy_commit(policy), 0);
	node_make(variant);
	packets_make(packets);
	rig_send(rig_graph(burst), packets, NULL, PACKETS);
	/* Of each eight packets: three without a class, two of class 1, one each of 2, 3, 4. */
	assert_int_equal(out[0].n, PACKETS / 8 * 6);
	assert_kept(0, HY_FLOW_NO_CLASS, PACKETS / 8 * 3);
	assert_kept(0, 1, PACKETS / 8 * 2);
	assert_kept(0, 4, PACKETS / 8);
	assert_int_equal(out[1].n, PACKETS / 8);
	assert_kept(1, 2, PACKETS / 8);
	assert_int_equal(out[RIG_DROP].n, PACKETS / 8);
	assert_int_equal(dropped("rig", "flow_cls-rig", "denied"), PACKETS / 8);
	for (uint32_t id = 1; id <= 5; id++)
		assert_int_equal(hy_policy_hits(policy, id), PACKETS / 8);
	assert_int_equal(hy_policy_class_hits(policy, 1), PACKETS / 8 * 2);
	assert_int_equal(counted("sw_hits"), PACKETS / 8 * 5);
	assert_int_equal(counted("sw_misses"), PACKETS / 8 * 3);
	assert_int_equal(counted("hw_hits"), 0);
	/* Order is kept: sink 1 got packets 2, 10, 18 and so on. */
	for (unsigned int i = 0; i < out[1].n; i++)
		assert_ptr_equal(out[1].packets[i], packets[8 * i + 2]);
	done();
}

static void
packets_get_the_class_and_the_way_of_their_rule(void **state)
{
	static const uint16_t bursts[] = { 1, 7, 64, 256 };

	RTE_SET_USED(state);
	for (unsigned int v = 0; v < RTE_DIM(variants); v++)
		for (unsigned int b = 0; b < RTE_DIM(bursts); b++)
			run_variant(variants[v], bursts[b]);
}

static void
packets_that_miss_take_the_way_of_no_class(void **state)
{
	static const struct hy_flow_way deny_misses[] = { { HY_FLOW_NO_CLASS, HY_FLOW_DENY } };
	struct rte_mbuf *packets[PACKETS];
	struct hy_flow_cls_config config;
	hy_node_id id;

	RTE_SET_USED(state);
	for (unsigned int v = 0; v < RTE_DIM(variants); v++) {
		policy_new(1, NULL);
		rule_add(1, 2, IP4(10, 0, 0, 1));
		assert_int_equal(hy_policy_commit(policy), 0);
		node_make(variants[v]);
		config = (struct hy_flow_cls_config){
			.policy = policy, .ways = deny_misses, .nb_ways = 1
		};
		assert_int_equal(hy_node_lookup("flow_cls-rig", &id), 0);
		assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
		packets_make(packets);
		rig_send(rig_graph(64), packets, NULL, PACKETS);
		assert_int_equal(out[0].n, PACKETS / 8);
		assert_kept(0, 2, PACKETS / 8);
		assert_int_equal(out[RIG_DROP].n, PACKETS / 8 * 7);
		done();
	}
}

/* A commit between two walks: the second follows the new rules, and no hit is lost. */
static void
walks_follow_commits(void **state)
{
	struct rte_mbuf *packets[PACKETS];
	struct hy_graph *graph;

	RTE_SET_USED(state);
	for (unsigned int v = 0; v < RTE_DIM(variants); v++) {
		assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
		policy_new(1, &qsbr.v);
		node_make(variants[v]);
		graph = rig_graph(64);
		for (uint32_t round = 0; round < 4; round++) {
			/* Only this thread walks, and a graph that has reported rests. */
			if (round > 0)
				assert_int_equal(hy_policy_remove(policy, round - 1), 0);
			rule_add(round, 5, IP4(10, 0, 0, round));
			hy_graph_rest(graph);
			assert_int_equal(hy_policy_commit(policy), 0);
			packets_make(packets);
			rig_send(graph, packets, NULL, PACKETS);
			assert_int_equal(out[0].n, PACKETS);
			assert_kept(0, 5, PACKETS / 8);
			for (unsigned int i = 0; i < PACKETS; i++)
				assert_int_equal(out[0].lane[i], i % 8 == round ? 5 : 0);
			assert_int_equal(hy_policy_hits(policy, round), PACKETS / 8);
			rig_free();
		}
		hy_graph_rest(graph);
		assert_int_equal(hy_policy_class_hits(policy, 5), 4 * PACKETS / 8);
		done();
	}
}

static int
graph_try(uint16_t worker, struct rte_rcu_qsbr *reports)
{
	static const char *const patterns[] = { "rig_source" };
	const struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_CLASS_LANE },
		.worker = worker,
		.socket = SOCKET_ID_ANY,
		.qsbr = reports,
	};
	struct hy_graph *graph;

	unit_log_clear();
	return hy_graph_create("try", &params, &graph);
}

static void
graph_that_does_not_fit_the_policy_is_refused(void **state)
{
	hy_node_id id;

	RTE_SET_USED(state);
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	policy_new(2, &qsbr.v);
	node_make("acl");
	assert_int_equal(graph_try(0, NULL), -EINVAL);
	assert_non_null(strstr(unit_log(), "policy 'rig', and its graph does not report to that "));
	assert_int_equal(hy_node_lookup("flow_cls-rig", &id), 0);
	assert_int_equal(hy_node_config(id, NULL, 0), 0);
	assert_int_equal(graph_try(0, NULL), -EINVAL);
	assert_non_null(strstr(unit_log(), "needs a struct hy_flow_cls_config with a policy"));
	done();
	policy_new(2, NULL);
	node_make("linear");
	assert_int_equal(graph_try(2, NULL), -EINVAL);
	assert_non_null(strstr(unit_log(), "belongs to worker 2; policy 'rig' has 2 workers"));
	done();
}

static void
way_along_an_edge_that_is_not_there_is_refused(void **state)
{
	uint16_t nb_edges;
	hy_node_id id;

	RTE_SET_USED(state);
	policy_new(1, NULL);
	node_make("acl");
	assert_int_equal(hy_node_lookup("flow_cls-rig", &id), 0);
	assert_int_equal(hy_node_edge_count(id, &nb_edges), 0);
	assert_true(nb_edges > 0);
	for (uint16_t edge = nb_edges; edge < nb_edges + 2; edge++) {
		const struct hy_flow_way astray[] = { { 7, 0 }, { 8, HY_FLOW_DENY }, { 9, edge } };
		const struct hy_flow_cls_config config = {
			.policy = policy, .ways = astray, .nb_ways = RTE_DIM(astray)
		};
		char text[80];

		snprintf(text, sizeof(text), "has no edge %u for class 9; edges 0 to %u are", edge,
			nb_edges - 1);
		assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
		assert_int_equal(graph_try(0, NULL), -EINVAL);
		assert_non_null(strstr(unit_log(), text));
	}
	done();
}

static const struct CMUnitTest tests[] = {
	NODE_TEST(packets_get_the_class_and_the_way_of_their_rule),
	NODE_TEST(packets_that_miss_take_the_way_of_no_class),
	NODE_TEST(walks_follow_commits),
	NODE_TEST(graph_that_does_not_fit_the_policy_is_refused),
	NODE_TEST(way_along_an_edge_that_is_not_there_is_refused),
};
UNIT_SUITE(tests)
