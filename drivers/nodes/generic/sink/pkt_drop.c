/* SPDX-License-Identifier: BSD-3-Clause */
/* pkt_drop: where dropped packets end. The reason was counted by the node that dropped them. */

#include <hy_node.h>

static uint16_t
pkt_drop_process(struct hy_graph *graph, struct hy_node *node __rte_unused, void **objs, uint16_t n)
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
		.impl = { .variant = "scalar", .process = pkt_drop_process },
	});
