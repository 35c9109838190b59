/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_input: finds the VLAN of each frame, and refuses what must not enter the bridge. */

#include <rte_prefetch.h>

#include "l2_input.h"

static uint16_t
l2_input_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_setup *setup = hy_l2_setup_load(node->ctx);
	uint32_t *lane = hy_lane(graph, node, 0);
	uint16_t next[HY_BURST_MAX];
	uint8_t bounce[L2_HEADERS];
	const uint8_t *frame;

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod((const struct rte_mbuf *)objs[i], const void *));
	for (uint32_t i = 0; i < n; i++)
		next[i] = l2_input_next(setup, objs[i], bounce, &frame, &lane[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_FAMILY(l2_input,
	.text = "Finds the VLANs of frames",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "l2_input",
		.impl = {
			.variant = "scalar",
			.process = l2_input_process,
			.init = l2_node_init,
			.ctx_size = sizeof(struct hy_l2_ctx),
		},
		.edges = { [HY_L2_INPUT_NEXT_LEARN] = "l2_learn" },
		.lanes = { HY_L2_LANE },
		.drops = {
			[HY_L2_INPUT_NOT_A_PORT] = { "not_a_port", HY_SEV_WARN,
				"The receiving port is no port of the bridge" },
			[HY_L2_INPUT_TRUNCATED] = { "truncated", HY_SEV_WARN,
				"Shorter than its Ethernet header and tag" },
			[HY_L2_INPUT_RESERVED] = { "reserved_dst", HY_SEV_INFO,
				"To 01:80:C2:00:00:00 to 0F (IEEE 802.1Q 8.6.3)" },
			[HY_L2_INPUT_BLOCKED] = { "port_blocked", HY_SEV_INFO,
				"The receiving port is blocking" },
			[HY_L2_INPUT_BAD_SRC] = { "bad_src", HY_SEV_WARN,
				"From a group address, or from address 0" },
			[HY_L2_INPUT_VLAN_INVALID] = { "vlan_invalid", HY_SEV_WARN,
				"VID 4095, which is reserved (IEEE 802.1Q 9.6)" },
			[HY_L2_INPUT_NOT_ADMITTED] = { "not_admitted", HY_SEV_INFO,
				"The port admits other frames, or has no VLAN for those without a tag" },
			[HY_L2_INPUT_VLAN_FILTERED] = { "vlan_filtered", HY_SEV_INFO,
				"The port is no member of the VLAN (IEEE 802.1Q 8.6.2)" },
		},
	});
