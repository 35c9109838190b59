/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_learn: finds source addresses that the forwarding table does not have, and has them learned. */

#include <rte_ring_elem.h>

#include <hy_l2_table.h>

#include "l2_learn.h"

void
l2_learn_unknown(struct hy_node *node, const uint64_t key[], const uint16_t port[],
	const uint8_t verdict[], uint32_t n)
{
	const struct hy_l2_ctx *ctx = node->ctx;
	struct hy_l2_source source[HY_BURST_MAX];
	uint32_t fixed = 0, k = 0, kept;

	for (uint32_t i = 0; i < n; i++) {
		source[k] = (struct hy_l2_source){ .key = key[i], .port = port[i] };
		fixed += verdict[i] == HY_L2_SOURCE_FIXED;
		k += verdict[i] == HY_L2_SOURCE_NEW || verdict[i] == HY_L2_SOURCE_MOVED;
	}
	kept = rte_ring_sp_enqueue_burst_elem(ctx->worker->learn, source, sizeof(source[0]), k,
		NULL);
	hy_counter_add(node, HY_L2_LEARN_UNKNOWN, k);
	hy_counter_add(node, HY_L2_LEARN_RING_FULL, k - kept);
	hy_counter_add(node, HY_L2_LEARN_FIXED, fixed);
}

void
l2_learn_end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint32_t *lane = hy_lane(graph, node, 0);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		next[i] = (lane[i] & HY_L2_LANE_ONLY) != 0 ? HY_DROP(HY_L2_LEARN_ONLY)
							   : (uint16_t)HY_L2_LEARN_NEXT_LOOKUP;
	hy_enqueue_next(graph, node, next, objs, n);
}

static uint16_t
scalar_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return l2_learn_process(graph, node, objs, n, hy_l2_find_scalar);
}

HY_NODE_FAMILY(l2_learn,
	.text = "Compares words of the forwarding table one by one",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "l2_learn",
		.impl = {
			.variant = "scalar",
			.process = scalar_process,
			.init = l2_node_init,
			.ctx_size = sizeof(struct hy_l2_ctx),
		},
		.edges = { [HY_L2_LEARN_NEXT_LOOKUP] = "l2_lookup" },
		.lanes = { HY_L2_LANE },
		.drops = {
			[HY_L2_LEARN_ONLY] = { "port_learning", HY_SEV_INFO,
				"The receiving port learns, and does not forward yet" },
		},
		.counters = {
			[HY_L2_LEARN_UNKNOWN] = { "unknown", "frames", HY_SEV_INFO,
				"From sources without an entry of the port" },
			[HY_L2_LEARN_RING_FULL] = { "ring_full", "frames", HY_SEV_WARN,
				"Of these, from sources that are not learned, as the ring was full" },
			[HY_L2_LEARN_FIXED] = { "fixed", "frames", HY_SEV_WARN,
				"From sources with a static entry of another port" },
		},
	});
