/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_cls: assigns to each packet the class of the first policy rule that it matches. */

#include <errno.h>

#include <rte_malloc.h>

#include <hy_flow_cls_node.h>

static uint16_t
linear_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_flow_cls_process(graph, node, objs, n, hy_policy_classify_linear);
}

static int
policy_check(const struct hy_graph *graph, struct hy_node *node, struct hy_policy *policy)
{
	struct rte_rcu_qsbr *qsbr = hy_policy_qsbr(policy);

	if (qsbr != NULL && hy_graph_qsbr(graph) != qsbr)
		return hy_node_refuse(graph, node,
			"reads policy '%s', and its graph does not report to that policy's QSBR "
			"variable",
			hy_policy_name(policy));
	if (hy_graph_worker(graph) >= hy_policy_workers(policy))
		return hy_node_refuse(graph, node,
			"belongs to worker %u; policy '%s' has %u workers", hy_graph_worker(graph),
			hy_policy_name(policy), hy_policy_workers(policy));
	return 0;
}

/* Checks edges here once, since process() indexes memory by them for each packet. */
static int
ways_fill(const struct hy_graph *graph, struct hy_node *node,
	const struct hy_flow_cls_config *config, uint16_t next[])
{
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);

	for (unsigned int i = 0; i < config->nb_ways; i++) {
		const struct hy_flow_way *way = &config->ways[i];

		if (way->edge != HY_FLOW_DENY && way->edge >= nb_edges)
			return hy_node_refuse(graph, node,
				"has no edge %u for class %u; edges 0 to %d are accepted",
				way->edge, way->class_id, nb_edges - 1);
		next[way->class_id] = way->edge == HY_FLOW_DENY ? HY_DROP(HY_FLOW_CLS_DENIED)
								: way->edge;
	}
	return 0;
}

int
hy_flow_cls_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_flow_cls_config *cls = config;
	struct hy_flow_cls_ctx *ctx = node->ctx;
	int rc;

	if (cls == NULL || cls->policy == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_flow_cls_config with a policy");
	rc = policy_check(graph, node, cls->policy);
	if (rc < 0)
		return rc;
	/* Zeroes are HY_FLOW_CLS_NEXT_PKT_CLS. */
	ctx->next = rte_zmalloc_socket("flow_cls", (UINT16_MAX + 1) * sizeof(*ctx->next),
		RTE_CACHE_LINE_SIZE, hy_graph_socket(graph));
	if (ctx->next == NULL)
		return -ENOMEM;
	rc = ways_fill(graph, node, cls, ctx->next);
	if (rc < 0) {
		rte_free(ctx->next);
		return rc;
	}
	ctx->one_way = cls->nb_ways == 0;
	ctx->policy = cls->policy;
	ctx->socket = hy_graph_socket(graph);
	ctx->hits = hy_policy_counters(cls->policy, hy_graph_worker(graph));
	hy_policy_use(ctx->policy);
	return 0;
}

void
hy_flow_cls_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	struct hy_flow_cls_ctx *ctx = node->ctx;

	hy_policy_unuse(ctx->policy);
	rte_free(ctx->next);
}

HY_NODE_FAMILY(flow_cls,
	.text = "Tries the rules of a policy one after the other",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "flow_cls",
		.impl = {
			.variant = "linear",
			.process = linear_process,
			.init = hy_flow_cls_init,
			.fini = hy_flow_cls_fini,
			.ctx_size = sizeof(struct hy_flow_cls_ctx),
		},
		.edges = { [HY_FLOW_CLS_NEXT_PKT_CLS] = "pkt_cls" },
		.lanes = { [HY_FLOW_CLS_LANE_CLASS] = HY_FLOW_CLASS_LANE },
		.drops = {
			[HY_FLOW_CLS_DENIED] = { "denied", HY_SEV_INFO,
				"Packets of this class must not be forwarded" },
		},
		.counters = {
			[HY_FLOW_CLS_SW_HITS] = { "sw_hits", "packets", HY_SEV_INFO,
				"Software found a rule" },
			[HY_FLOW_CLS_SW_MISSES] = { "sw_misses", "packets", HY_SEV_INFO,
				"Software found no matching rule" },
			[HY_FLOW_CLS_HW_HITS] = { "hw_hits", "packets", HY_SEV_INFO,
				"The mark of the hardware named the rule" },
			[HY_FLOW_CLS_HW_STALE] = { "hw_stale", "packets", HY_SEV_INFO,
				"The mark named no current rule: classified in software" },
			[HY_FLOW_CLS_RESIDUE_CHECKS] = { "residue_checks", "packets", HY_SEV_INFO,
				"Marked, and compared with earlier rules that only software has" },
			[HY_FLOW_CLS_SAMPLED] = { "sampled", "packets", HY_SEV_INFO,
				"Marked, and classified again in software" },
			[HY_FLOW_CLS_MISMATCHES] = { "mismatches", "packets", HY_SEV_ERROR,
				"Sampled, and the mark was wrong: software's result was used" },
		},
	});
