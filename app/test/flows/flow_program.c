/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that sends packets where its rules say, through a table of flows, and checks each packet that
 * leaves. hy-test-flow-program [EAL options] -- EXACT INDEX; these are numbers of enums.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_ethdev.h>
#include <hy_flow_lookup.h>
#include <hy_mbuf.h>
#include <hy_stats.h>

#include "flows_frames.h"

#define BURST 64
#define QUIET 1000 /* walks without a packet, after which the captures have ended */

/* The rules: the first that matches decides. */

enum { EDGE_MAIN, EDGE_SIDE, EDGES };

struct rule {
	struct hy_flows_key key, mask;
	uint32_t action;
};

#define FROM(net_, mask_) .key.src = RTE_BE32(net_), .mask.src = RTE_BE32(mask_)
#define TYPE(type_) .key.type = RTE_BE16(type_), .mask.type = UINT16_MAX
#define PROTO(proto_) .key.proto = (proto_), .mask.proto = UINT8_MAX
#define TO_PORT(port_) .key.dport = RTE_BE16(port_), .mask.dport = UINT16_MAX

static const struct rule rules[] = {
	{ TYPE(0x0806), .action = HY_FLOW_ACTION_DENY },
	{ .key.kind = HY_FLOWS_LATER_FRAGMENT,
		.mask.kind = HY_FLOWS_LATER_FRAGMENT,
		.action = HY_FLOW_ACTION_DENY },
	{ PROTO(17), TO_PORT(53), .action = EDGE_SIDE | 1 << 16 },
	{ PROTO(6), .key.tcp_flags = 0x02, .mask.tcp_flags = 0x12, .action = EDGE_SIDE | 2 << 16 },
	{ FROM(0x0a000000, 0xff000000), .action = EDGE_SIDE | 3 << 16 },
	{ TYPE(0x86dd), PROTO(58), .action = EDGE_MAIN | 4 << 16 },
	{ .action = EDGE_MAIN }, /* all others */
};

/* Answers a packet that no megaflow matches, with all bits that were looked at. */
static int
rules_ask(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	const struct rule *rule = rules;

	RTE_SET_USED(arg);
	for (;; rule++) {
		for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
			answer->mask.words[w] |= rule->mask.words[w];
		if (hy_flows_equal(key, &rule->key, &rule->mask))
			break;
	}
	answer->action = rule->action;
	answer->idle = 10000;
	return 0;
}

/* The end of a path: holds each packet against the rules. */

static uint64_t came[EDGES + 1], wrong, unasked; /* unasked: dropped, and the rules would not */

static uint16_t
check_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t at = *(const uint16_t *)node->ctx;
	const uint32_t *action = hy_lane(graph, node, 0);

	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];
		static uint8_t bounce[UINT16_MAX];
		const struct hy_flows_key key = flows_key_slowly(rte_pktmbuf_read(m, 0, m->pkt_len,
									 bounce),
			m->pkt_len, m->port, false);
		struct hy_flows_flow answer = { 0 };
		uint16_t edge;

		rules_ask(NULL, &key, &answer);
		edge = (uint16_t)answer.action;
		came[at]++;
		if (at < EDGES)
			wrong += action[i] != answer.action || edge != at;
		else
			unasked += edge < EDGES;
	}
	hy_release(graph, objs, n);
	return n;
}

static int
check_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(uint16_t *)node->ctx = *(const uint16_t *)config;
	return 0;
}

static const struct hy_node_desc check = {
	.name = "check",
	.impl = { .process = check_process, .init = check_init, .ctx_size = sizeof(uint16_t) },
	.lanes = { HY_FLOW_ACTION_LANE },
};

/* begin: set-up */

static const char *const ends[] = { "check-main", "check-side" };
/* The graph reports to it, so that the table's thread knows what it has left. */
static struct rte_rcu_qsbr *qsbr;

static int
qsbr_make(uint32_t workers)
{
	qsbr = rte_zmalloc_socket("flows", rte_rcu_qsbr_get_memsize(workers), RTE_CACHE_LINE_SIZE,
		SOCKET_ID_ANY);
	return qsbr == NULL ? -ENOMEM : -rte_rcu_qsbr_init(qsbr, workers);
}

/* A copy of a node of the pack, with the configuration and the edges of a table's nodes. */
static int
table_node(const char *name, struct hy_flow_table *table)
{
	const struct hy_flow_lookup_config config = { .table = table };
	hy_node_id id;
	int rc = hy_node_lookup(name, &id);

	if (rc == 0)
		rc = hy_node_clone(id, "0", &id);
	if (rc == 0)
		rc = hy_node_config(id, &config, sizeof(config));
	for (unsigned int e = 0; e < EDGES && rc == 0; e++)
		rc = hy_node_edge_add(id, ends[e], NULL); /* edge e: the same in both nodes */
	return rc;
}

static int
graph_make(struct hy_flow_table *table, struct hy_graph **graph)
{
	static const char *const patterns[] = { "ethdev_rx-*", "flow_reinject-0" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 2,
		.ops = &hy_mbuf_ops,
		.drop_node = "check-drop",
		.lanes = { HY_FLOW_ACTION_LANE },
		.burst = BURST,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr };
	int rc = table_node("flow_lookup", table);

	if (rc == 0)
		rc = table_node("flow_reinject", table);
	return rc == 0 ? hy_graph_create("flows", &params, graph) : rc;
}

static int
table_make(struct hy_flows_caches caches, struct hy_flow_table **table)
{
	const struct hy_flow_table_params params = { .name = "example",
		.flows = { .max_flows = 10000,
			.max_masks = 64,
			.max_port_masks = 16,
			.pressed_idle = 1000,
			.workers = 1,
			.socket = SOCKET_ID_ANY,
			.qsbr = qsbr },
		.caches = caches,
		.upcalls = { .rules = rules_ask, .room = 1024 } };
	int rc = hy_flow_table_create(&params, table);

	return rc == 0 ? hy_flow_table_run(*table) : rc; /* a thread asks the rules */
}

/* end: set-up */

static int
port_make(uint16_t port, struct rte_mempool *pool)
{
	const struct rte_eth_conf conf = { 0 };
	const struct hy_ethdev_rx_config config = { .port = port };
	char suffix[8];
	hy_node_id id;
	int rc = rte_eth_dev_configure(port, 1, 1, &conf);

	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port, 0, 512, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(port);
	if (rc == 0)
		rc = hy_node_lookup("ethdev_rx", &id);
	snprintf(suffix, sizeof(suffix), "%u", port);
	if (rc == 0)
		rc = hy_node_clone(id, suffix, &id);
	if (rc == 0)
		rc = hy_node_config(id, &config, sizeof(config));
	return rc == 0 ? hy_node_edge_set(id, HY_ETHDEV_RX_NEXT, "flow_lookup-0") : rc;
}

static int
ends_make(void)
{
	static const char *const suffix[] = { "main", "side", "drop" };
	hy_node_id id, clone;
	int rc = hy_node_register(&check, &id);

	for (uint16_t e = 0; e <= EDGES && rc == 0; e++) {
		rc = hy_node_clone(id, suffix[e], &clone);
		if (rc == 0)
			rc = hy_node_config(clone, &e, sizeof(e));
	}
	return rc;
}

static void
counters_print(const char *node)
{
	const struct hy_node_stats *s;
	struct hy_stats *stats;

	if (hy_stats_read("flows", &stats) < 0)
		return;
	s = hy_stats_find(stats, 0, node);
	for (unsigned int c = 0; c < s->nb_counters; c++)
		printf("%s.%s %" PRIu64 "\n", node, s->counters[c].name, s->counters[c].value);
	for (unsigned int d = 0; d < s->nb_drops; d++)
		printf("%s.%s %" PRIu64 "\n", node, s->drops[d].name, s->drops[d].objs);
	hy_stats_free(stats);
}

static void
packets_run(struct hy_flow_table *table, struct hy_graph *graph)
{
	struct hy_flows_upcall_stats s;
	uint64_t received = 0;

	for (unsigned int quiet = 0; quiet < QUIET; quiet++) {
		const uint32_t objs = hy_graph_walk(graph);

		hy_flows_upcall_stats(hy_flow_table_upcalls(table), 0, &s);
		if (objs > 0 || s.sent != s.taken)
			quiet = 0;
		received += objs;
	}
	printf("received %" PRIu64 "\n", received - s.taken);
	printf("main %" PRIu64 "\nside %" PRIu64 "\ndrop %" PRIu64 "\nwrong %" PRIu64
	       "\nunasked %" PRIu64 "\n",
		came[0], came[1], came[2], wrong, unasked);
	counters_print("flow_lookup-0");
	counters_print("flow_reinject-0");
}

static int
run(struct hy_flows_caches caches)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("packets", 8191, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct hy_flow_table *table;
	struct hy_graph *graph;
	uint16_t port;
	int rc = pool == NULL ? -ENOMEM : ends_make();

	if (rc == 0)
		rc = qsbr_make(1);
	if (rc == 0)
		rc = table_make(caches, &table);
	RTE_ETH_FOREACH_DEV(port)
		if (rc == 0)
			rc = port_make(port, pool);
	if (rc == 0)
		rc = graph_make(table, &graph);
	if (rc < 0)
		return rc;
	packets_run(table, graph);
	hy_graph_destroy(graph);
	rc = hy_flow_table_destroy(table);
	rte_free(qsbr);
	printf("in_use %u\n", rte_mempool_in_use_count(pool));
	return rc;
}

int
main(int argc, char **argv)
{
	const int parsed = rte_eal_init(argc, argv);
	int rc = -EINVAL;

	if (parsed < 0)
		return EXIT_FAILURE;
	if (argc - parsed == 4)
		rc = run((struct hy_flows_caches){ .frames = atoi(argv[parsed + 1]),
			.exact = atoi(argv[parsed + 2]),
			.exact_one_in = 2,
			.index = atoi(argv[parsed + 3]) });
	rte_eal_cleanup();
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
