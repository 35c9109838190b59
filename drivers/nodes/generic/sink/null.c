/* SPDX-License-Identifier: BSD-3-Clause */
/* null: a sink for packets that are wanted nowhere and are no loss: tests, and edges not in use. */

#include <hy_node.h>

static uint16_t
null_process(struct hy_graph *graph, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	hy_release(graph, objs, n);
	return n;
}

HY_NODE_FAMILY(null,
	.text = "Frees packets that are no loss",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "null",
		.impl = { .variant = "scalar", .process = null_process },
	});
