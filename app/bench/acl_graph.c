/* SPDX-License-Identifier: BSD-3-Clause */
/* See acl_graph.h. */

#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_rcu_qsbr.h>
#include <rte_tcp.h>

#include <hy_graph_worker.h>

#include "acl_graph.h"
#include "l3fwd_ours.h"
#include "lib/policy/policy.h"

#define TTL 64
#define LIST "bench"

bool
acl_graph_ports(void)
{
	static enum { UNKNOWN, THERE, FAILED } ports;

	if (ports == UNKNOWN)
		ports = rig_ports(1) == 0 ? THERE : FAILED;
	return ports == THERE || bench_cannot("the ports could not be created") == 0;
}

static bool
is_forwardable(const struct hy_flow_key *key)
{
	return (key->has & HY_FLOW_IPV4) != 0 &&
		table_forwardable(&(struct bench_route){ .prefix = key->dst, .depth = 32 });
}

/* Gives a frame the 5-tuple of a key. A header of TCP is whole. */
static void
frame_take(uint8_t *frame, const struct hy_flow_key *key)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);
	const rte_be16_t ports[] = { rte_cpu_to_be_16(key->sport), rte_cpu_to_be_16(key->dport) };
	uint8_t *l4 = (uint8_t *)(ip + 1);

	ip->src_addr = rte_cpu_to_be_32(key->src);
	ip->next_proto_id = key->proto;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	memcpy(l4, ports, sizeof(ports));
	if (key->proto == IPPROTO_TCP)
		l4[offsetof(struct rte_tcp_hdr, data_off)] = sizeof(struct rte_tcp_hdr) / 4 << 4;
}

struct l3fwd_traffic *
acl_graph_traffic(const struct l3fwd_table *table, struct acl_set *const sets[],
	unsigned int nb_sets, uint32_t n)
{
	const struct hy_flow_key **keys = bench_alloc(n, sizeof(const struct hy_flow_key *));
	struct l3fwd_address *dst = bench_alloc(n, sizeof(*dst));
	struct l3fwd_traffic *traffic;
	uint32_t taken = 0;

	/* Of the sets in turn. */
	for (uint32_t i = 0; i < nb_sets * ACL_PACKETS && taken < n; i++) {
		const struct hy_flow_key *key = &sets[i % nb_sets]->keys[i / nb_sets];

		if (!is_forwardable(key))
			continue;
		dst[taken].ip4 = key->dst;
		keys[taken++] = key;
	}
	traffic = traffic_create(dst, taken, TTL, table);
	for (uint32_t i = 0; i < taken; i++)
		frame_take(traffic->packets[i].frame, keys[i]);
	free(keys);
	free(dst);
	return traffic;
}

bool
acl_graph_permits(const struct acl_set *set, const struct l3fwd_traffic *traffic, uint32_t i)
{
	struct hy_flow_key key;
	uint32_t rank;

	hy_flow_key(traffic->packets[i].frame, FRAME_LEN, &key);
	rank = acl_set_rank(set, &key);
	return rank == HY_POLICY_NONE || set->rules[rank].action != HY_RULE_DENY;
}

static int
lists_make(struct acl_graph *g, uint32_t max_rules)
{
	const struct hy_acl_params params = { .qsbr = g->qsbr,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.policy.max_rules = max_rules };
	char tx[HY_NAME_SIZE];
	struct hy_acl_place place = {
		.port = g->rig.port[USERS_ALL][0], .way = HY_ACL_IN, .end = "pkt_cls"
	};
	int rc = hy_acl_create(&params, &g->acl);

	if (rc == 0)
		rc = hy_acl_list_create(g->acl, LIST, NULL, &g->policy);
	if (rc == 0)
		rc = hy_acl_place(g->acl, &place);
	snprintf(tx, sizeof(tx), "ethdev_tx-%u", place.port);
	place.way = HY_ACL_OUT;
	place.end = tx;
	return rc == 0 ? hy_acl_place(g->acl, &place) : rc;
}

bool
acl_graph_make(struct acl_graph *g, struct l3fwd_table *table, struct l3fwd_traffic *traffic,
	uint32_t max_rules)
{
	struct ours_params params = { .lists = true };
	int rc;

	*g = (struct acl_graph){ .table = table };
	g->qsbr = bench_alloc(1, rte_rcu_qsbr_get_memsize(1));
	rte_rcu_qsbr_init(g->qsbr, 1);
	params.qsbr = g->qsbr;
	if (rig_open(&g->rig, 0, 1, false, traffic) < 0 || ours_table_create(table, false) < 0)
		return false;
	rc = lists_make(g, max_rules);
	if (rc < 0)
		return bench_cannot("the lists: %s", strerror(-rc)) == 0;
	g->way = ours_create(&g->rig, &params);
	return g->way.run != NULL;
}

void
acl_graph_free(struct acl_graph *g)
{
	if (g->way.run != NULL)
		g->way.destroy(g->way.arg);
	hy_acl_destroy(g->acl);
	ours_table_destroy();
	rig_close(&g->rig);
	table_free(g->table);
	free(g->qsbr);
}

int
acl_graph_rules(struct acl_graph *g, const struct acl_set *set)
{
	const struct policy_staged staged = {
		.rules = set->rules, .n = set->n, .default_action = HY_RULE_PERMIT
	};
	const int rc = policy_stage_all(g->policy, &staged);

	return rc == 0 ? hy_policy_commit(g->policy) : rc;
}

int
acl_graph_bind(struct acl_graph *g, enum acl_at at)
{
	static const enum acl_at places[HY_ACL_WAYS] = {
		[HY_ACL_IN] = ACL_AT_IN, [HY_ACL_OUT] = ACL_AT_OUT
	};
	const uint16_t port = g->rig.port[USERS_ALL][0];
	struct hy_graph *graph = ours_graph(&g->way);
	int rc = 0;

	hy_graph_rest(graph);
	for (enum hy_acl_way way = HY_ACL_IN; way < HY_ACL_WAYS && rc == 0; way++)
		rc = places[way] == at ? hy_acl_bind(g->acl, port, way, LIST)
				       : hy_acl_unbind(g->acl, port, way);
	(void)hy_graph_walk(graph); /* no packet waits: it switches to the graph with the change */
	return rc;
}
