/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes where packets end. pkt_drop frees dropped packets: the node that dropped them has counted
 * the reason. null frees packets that nobody wants and that are no loss, in tests and behind unused
 * edges.
 */

#include <hy_node.h>

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	hy_release(graph, objs, n);
	return n;
}

HY_NODE_FAMILY(pkt_drop,
	.text = "Frees dropped packets",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "pkt_drop",
		.impl = { .variant = "scalar", .process = sink_process },
	});

HY_NODE_FAMILY(null,
	.text = "Frees packets that are no loss",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "null",
		.impl = { .variant = "scalar", .process = sink_process },
	});
