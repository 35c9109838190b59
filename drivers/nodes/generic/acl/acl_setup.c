/* SPDX-License-Identifier: BSD-3-Clause */
/* acl_in and acl_out: what happens once a graph, and once a packet that is logged. */

#include <errno.h>

#include <rte_malloc.h>
#include <rte_ring_elem.h>

#include "acl_node.h"

void
acl_log(const struct acl_ctx *ctx, const struct hy_acl_shown *list,
	const struct hy_policy_rule *rule, const struct hy_flow_key *key, const struct rte_mbuf *m,
	uint64_t now, bool dropped)
{
	struct hy_acl_last *last = &list->workers[ctx->worker].logged[rule->index];
	struct hy_acl_record record;

	if (last->when != 0 && last->rule == rule->rule.id &&
		now - last->when < ctx->table->log_interval)
		return;
	*last = (struct hy_acl_last){ .when = now, .rule = rule->rule.id };
	record = (struct hy_acl_record){
		.serial = list->serial,
		.rule = rule->rule.id,
		.index = rule->index,
		.when = now,
		.len = m->pkt_len,
		.port = ctx->out ? ctx->port : m->port,
		.to = rule->rule.action == HY_RULE_TO_PORT ? rule->rule.port : rule->rule.class_id,
		.action = rule->rule.action,
		.out = ctx->out,
		.denied = dropped,
		.key = *key,
	};
	if (rte_ring_sp_enqueue_elem(ctx->log->records, &record, sizeof(record)) != 0)
		__atomic_store_n(&ctx->log->lost, ctx->log->lost + 1, __ATOMIC_RELAXED);
}

static int
ways_fill(const struct hy_graph *graph, struct hy_node *node,
	const struct hy_acl_node_config *config)
{
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);
	struct acl_ctx *ctx = node->ctx;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		ctx->to_port[p] = config->to_port[p];
		if (ctx->to_port[p] != HY_ACL_NO_EDGE && ctx->to_port[p] >= nb_edges)
			return hy_node_refuse(graph, node, "has no edge %u for port %u",
				ctx->to_port[p], p);
	}
	for (uint32_t c = 0; config->nb_ways > 0 && c <= UINT16_MAX; c++)
		ctx->ways[c] = ACL_ONWARD;
	for (unsigned int w = 0; w < config->nb_ways; w++) {
		const struct hy_flow_way *way = &config->ways[w];

		if (way->edge != HY_FLOW_DENY && way->edge >= nb_edges)
			return hy_node_refuse(graph, node, "has no edge %u for class %u", way->edge,
				way->class_id);
		ctx->ways[way->class_id] = way->edge == HY_FLOW_DENY ? HY_DROP(HY_ACL_CLASS)
								     : way->edge;
	}
	return 0;
}

int
acl_init(const struct hy_graph *graph, struct hy_node *node, const void *arg)
{
	const struct hy_acl_node_config *config = arg;
	struct acl_ctx *ctx = node->ctx;
	int rc;

	if (config == NULL || config->table == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_acl_node_config");
	ctx->table = config->table;
	ctx->worker = hy_graph_worker(graph);
	ctx->socket = hy_graph_socket(graph);
	ctx->port = config->port;
	ctx->out = config->out;
	if (ctx->worker >= ctx->table->nb_workers || hy_graph_qsbr(graph) != ctx->table->qsbr)
		return hy_node_refuse(graph, node,
			"belongs to worker %u; the lists have %u workers, of their QSBR variable",
			ctx->worker, ctx->table->nb_workers);
	ctx->log = &ctx->table->logs[ctx->worker];
	if (config->nb_ways > 0)
		ctx->ways = rte_malloc_socket("acl", (UINT16_MAX + 1) * sizeof(*ctx->ways),
			RTE_CACHE_LINE_SIZE, hy_graph_socket(graph));
	if (config->nb_ways > 0 && ctx->ways == NULL)
		return -ENOMEM;
	rc = ways_fill(graph, node, config);
	if (rc == 0)
		rc = hy_arc_join(graph, node, HY_ACL_LANE_ARC, &ctx->place);
	if (rc < 0)
		rte_free(ctx->ways);
	return rc;
}

void
acl_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	const struct acl_ctx *ctx = node->ctx;

	rte_free(ctx->ways);
}
