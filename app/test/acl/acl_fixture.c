/* SPDX-License-Identifier: BSD-3-Clause */
/* See acl_fixture.h. */

#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "acl_fixture.h"

struct hy_acl *acl;
struct rte_rcu_qsbr *acl_qsbr;

static struct hy_flow_way ways[2];
static struct hy_graph *rig;
int acl_socket = SOCKET_ID_ANY;

void
acl_make(const struct hy_acl_params *params)
{
	struct hy_acl_params all = *params;

	all.qsbr = acl_qsbr;
	all.workers = ACL_WORKERS;
	all.socket = SOCKET_ID_ANY;
	if (all.policy.max_rules == 0)
		all.policy.max_rules = 64;
	assert_int_equal(hy_acl_create(&all, &acl), 0);
}

struct hy_policy *
list_make(const char *name)
{
	struct hy_policy *policy = NULL;

	assert_int_equal(hy_acl_list_create(acl, name, NULL, &policy), 0);
	assert_ptr_equal(hy_acl_list(acl, name), policy);
	return policy;
}

void
rule_add(struct hy_policy *policy, uint32_t id, uint16_t dport, enum hy_rule_action action,
	uint16_t arg, bool log)
{
	struct hy_flow_rule rule = { .id = id, .action = (uint8_t)action, .log = log };

	if (action == HY_RULE_CLASSIFY)
		rule.class_id = arg;
	else
		rule.port = arg;
	if (dport != 0) {
		rule.match.fields = HY_FLOW_PROTO | HY_FLOW_DPORT;
		rule.match.proto = IPPROTO_UDP;
		rule.match.dport[0] = rule.match.dport[1] = dport;
	}
	assert_int_equal(hy_policy_add(policy, &rule), 0);
}

void
rules_commit(struct hy_policy *policy)
{
	assert_int_equal(hy_policy_commit(policy), 0);
}

uint32_t
udp_write(uint8_t *frame, uint16_t dport)
{
	const uint32_t len = FRAME(frame, .payload = 40);

	frame[36] = (uint8_t)(dport >> 8);
	frame[37] = (uint8_t)dport;
	return len;
}

struct rte_mbuf *
udp_packet(uint16_t dport)
{
	uint8_t frame[FRAME_MAX];
	struct rte_mbuf *m = packet(frame, udp_write(frame, dport));

	m->port = RIG_PORT;
	return m;
}

struct hy_graph *
acl_rig(enum hy_acl_way way)
{
	static const char *const patterns[] = { "rig_source" };
	static const char *const to_port[RTE_MAX_ETHPORTS] = { [1] = "rig_out-1" };
	static const char *const to_class[] = { "rig_out-1", NULL };
	const struct hy_acl_place place = { .port = RIG_PORT,
		.way = way,
		.end = "rig_out-0",
		.to_port = to_port,
		.to_class = to_class,
		.ways = ways,
		.nb_ways = RTE_DIM(ways) };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { HY_FLOW_CLASS_LANE, HY_ARC_LANE },
		.burst = 64,
		.socket = acl_socket,
		.qsbr = acl_qsbr };
	int rc;

	ways[0] = (struct hy_flow_way){ .class_id = 7 };
	ways[1] = (struct hy_flow_way){ .class_id = 9 };
	rig_lane = HY_FLOW_CLASS_LANE;
	rig_nodes("rig_out-0");
	assert_int_equal(hy_acl_place(acl, &place), 0);
	rc = hy_graph_create("acl", &params, &rig);
	if (rc != 0)
		fail_msg("the graph is refused: %d: %s", rc, unit_log());
	return rig;
}

void
acl_send(struct hy_graph *graph, const uint16_t dports[], unsigned int n)
{
	struct rte_mbuf *packets[KEEP_MAX];

	for (unsigned int i = 0; i < n; i++)
		packets[i] = udp_packet(dports[i]);
	rig_send(graph, packets, NULL, n);
	hy_graph_rest(graph);
}

void
acl_done(void)
{
	rig_free();
	hy_graph_destroy(rig);
	rig = NULL;
	hy_acl_destroy(acl);
	acl = NULL;
	rig_clear();
}

int
acl_setup(void **state)
{
	acl_qsbr = rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(ACL_WORKERS), RTE_CACHE_LINE_SIZE);
	return acl_qsbr == NULL || rte_rcu_qsbr_init(acl_qsbr, ACL_WORKERS) != 0
		? -1
		: node_setup(state);
}

int
acl_teardown(void **state)
{
	int rc;

	acl_done();
	acl_socket = SOCKET_ID_ANY;
	rig_lane = "ip4_route";
	rc = node_teardown(state);
	rte_free(acl_qsbr);
	return rc;
}
