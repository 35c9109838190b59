/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_cls with the engine that the policy has chosen for its rules. */

#include <hy_flow_cls_node.h>

static uint16_t
acl_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_flow_cls_process(graph, node, objs, n, hy_policy_classify_compiled);
}

/* hy-bench classify measured the number of rules from which it is faster: see doc/benchmarks.rst. */
HY_NODE_VARIANT(flow_cls, acl,
	.text = "The engine that the policy has chosen for its rules",
	.impl.process = acl_process,
	.needs = { { .declared = HY_FLOW_RULES, .at_least = 12, .bonus = 15 } },
	.score = 5);
