/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_lookup: finds the port of each frame's destination, and limits what is flooded. */

#include <rte_cycles.h>

#include "l2_lookup.h"

static inline enum hy_l2_storm
storm_of(const struct rte_mbuf *m)
{
	const uint64_t to = l2_key(m, 0, 0) & HY_L2_KEY_MAC;

	if (to == HY_L2_KEY_MAC)
		return HY_L2_STORM_BROADCAST;
	return (to & RTE_ETHER_GROUP_ADDR) != 0 ? HY_L2_STORM_MULTICAST : HY_L2_STORM_UNKNOWN;
}

uint16_t
l2_lookup_miss(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup,
	const struct rte_mbuf *m, uint32_t lane)
{
	const enum hy_l2_storm storm = storm_of(m);
	const uint8_t in = hy_l2_lane_in(lane);
	struct rte_meter_srtcm_profile profile;

	static_assert((int)HY_L2_LOOKUP_STORM_BROADCAST == (int)HY_L2_STORM_BROADCAST &&
			(int)HY_L2_LOOKUP_STORM_UNKNOWN == (int)HY_L2_STORM_UNKNOWN,
		"drop reasons are kinds of storms");
	if (likely((setup->limited[storm] >> in & 1) == 0))
		return HY_L2_LOOKUP_NEXT_FLOOD;
	profile = setup->storm[in][storm]; /* rte_meter takes no constant one */
	return rte_meter_srtcm_color_blind_check(&ctx->worker->storm[in][storm], &profile,
		       rte_rdtsc(), 1) == RTE_COLOR_RED
		? HY_DROP(storm)
		: (uint16_t)HY_L2_LOOKUP_NEXT_FLOOD;
}

static uint16_t
scalar_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return l2_lookup_process(graph, node, objs, n, hy_l2_find_scalar);
}

HY_NODE_FAMILY(l2_lookup,
	.text = "Compares words of the forwarding table one by one",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "l2_lookup",
		.impl = {
			.variant = "scalar",
			.process = scalar_process,
			.init = l2_node_init,
			.ctx_size = sizeof(struct hy_l2_ctx),
		},
		.edges = {
			[HY_L2_LOOKUP_NEXT_OUTPUT] = "l2_output",
			[HY_L2_LOOKUP_NEXT_FLOOD] = "l2_flood",
			[HY_L2_LOOKUP_NEXT_LOCAL] = "pkt_cls",
		},
		.lanes = { HY_L2_LANE },
		.drops = {
			[HY_L2_LOOKUP_STORM_BROADCAST] = { "storm_broadcast", HY_SEV_WARN,
				"Beyond the receiving port's limit of broadcast" },
			[HY_L2_LOOKUP_STORM_MULTICAST] = { "storm_multicast", HY_SEV_WARN,
				"Beyond the receiving port's limit of multicast" },
			[HY_L2_LOOKUP_STORM_UNKNOWN] = { "storm_unknown", HY_SEV_WARN,
				"Beyond the receiving port's limit of unknown destinations" },
		},
	});
