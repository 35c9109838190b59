/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * l2_flood: makes a frame as many as its VLAN has ports for it. Ports that send the same tag share its
 * buffers, by references; for ports that send another one, there is a second frame, which shares what
 * follows the tag.
 */

#include "l2_tag.h"

/* Counted by the worker alone, read by others. */
static inline void
count_up(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* Sends a frame, whose tag is right, to each port of a set. Returns to how many. */
static uint16_t
send(struct hy_graph *graph, struct hy_node *node, struct rte_mbuf *m, uint32_t lane,
	uint64_t ports)
{
	uint16_t n = (uint16_t)__builtin_popcountll(ports), room = n;
	void **objs = hy_stream_get(graph, node, HY_L2_FLOOD_NEXT_OUTPUT, &room);
	uint32_t *lanes = hy_stream_get_lane(graph, node, HY_L2_FLOOD_NEXT_OUTPUT, 0);

	if (room > 1)
		rte_pktmbuf_refcnt_update(m, (int16_t)(room - 1));
	for (uint16_t i = 0; i < room; i++, ports &= ports - 1) {
		objs[i] = m;
		lanes[i] = lane | (uint32_t)__builtin_ctzll(ports) << HY_L2_LANE_OUT;
	}
	hy_stream_put(graph, node, HY_L2_FLOOD_NEXT_OUTPUT, room);
	hy_counter_add(node, HY_L2_FLOOD_LOST, n - room);
	return room;
}

static inline uint32_t
lane_of(uint32_t lane, bool untagged)
{
	return HY_L2_LANE_SHARED |
		hy_l2_lane(hy_l2_lane_vid(lane), hy_l2_lane_in(lane),
			untagged ? HY_L2_TAG_NONE : HY_L2_TAG_VID);
}

/* Sends a second frame to ports that want another tag than the first has. Returns to how many. */
static uint16_t
send_other(struct hy_graph *graph, struct hy_node *node, const struct hy_l2_setup *setup,
	struct rte_mbuf *m, uint32_t lane, bool untagged, uint64_t ports)
{
	struct rte_mbuf *other = l2_tag_copy(m, setup, lane, untagged);
	uint16_t n;

	if (other == NULL) {
		hy_counter_add(node, HY_L2_FLOOD_LOST, (uint64_t)__builtin_popcountll(ports));
		return 0;
	}
	n = send(graph, node, other, lane_of(lane, untagged), ports);
	if (n == 0)
		rte_pktmbuf_free(other);
	return n;
}

/* Returns how many frames one was made, or 0: it is still there, and is to be dropped. */
static uint16_t
flood(struct hy_graph *graph, struct hy_node *node, const struct hy_l2_setup *setup,
	struct rte_mbuf *m, uint32_t lane, uint64_t ports)
{
	const uint64_t bare = ports & setup->vlan[hy_l2_lane_vid(lane)].untagged;
	const uint64_t tagged = ports & ~bare;
	/* The frame itself goes without a tag if nobody wants one, or most easily. */
	const bool untagged = tagged == 0 || (bare != 0 && !l2_tag_differs(lane, true));
	const uint64_t others = untagged ? tagged : bare;
	uint16_t n = 0, more = 0;

	if (others != 0)
		more = send_other(graph, node, setup, m, lane, !untagged, others);
	if (!l2_tag_differs(lane, untagged) || l2_tag_change(m, setup, lane, untagged))
		n = send(graph, node, m, lane_of(lane, untagged), ports & ~others);
	hy_counter_add(node, HY_L2_FLOOD_COPIES, more + n - (n > 0));
	return n;
}

static uint16_t
l2_flood_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_ctx *ctx = node->ctx;
	const struct hy_l2_setup *setup = hy_l2_setup_load(ctx);
	const uint32_t *lane = hy_lane(graph, node, 0);

	for (uint32_t i = 0; i < n; i++) {
		const uint16_t vid = hy_l2_lane_vid(lane[i]);
		const uint8_t in = hy_l2_lane_in(lane[i]);
		const uint64_t ports = setup->reach[in] & setup->vlan[vid].members;

		if (ports == 0) {
			hy_enqueue_x1(graph, node, HY_DROP(HY_L2_FLOOD_NOWHERE), &objs[i]);
			continue;
		}
		count_up(&ctx->worker->flooded_by_port[in]);
		count_up(&ctx->worker->flooded_by_vlan[vid]);
		if (flood(graph, node, setup, objs[i], lane[i], ports) == 0)
			hy_enqueue_x1(graph, node, HY_DROP(HY_L2_FLOOD_NO_ROOM), &objs[i]);
	}
	return n;
}

/* No family: conformance follows each packet to one place. */
static const struct hy_node_desc l2_flood = {
	.name = "l2_flood",
	.replicates = HY_L2_BRIDGE_PORTS,
	.impl = {
		.variant = "scalar",
		.process = l2_flood_process,
		.init = l2_node_init,
		.ctx_size = sizeof(struct hy_l2_ctx),
	},
	.edges = { [HY_L2_FLOOD_NEXT_OUTPUT] = "l2_output" },
	.lanes = { HY_L2_LANE },
	.drops = {
		[HY_L2_FLOOD_NOWHERE] = { "nowhere", HY_SEV_INFO,
			"No other port that forwards is a member of the VLAN" },
		[HY_L2_FLOOD_NO_ROOM] = { "no_room", HY_SEV_ERROR,
			"There is no room for a tag" },
	},
	.counters = {
		[HY_L2_FLOOD_COPIES] = { "copies", "frames", HY_SEV_INFO,
			"Sent beyond the first of each frame" },
		[HY_L2_FLOOD_LOST] = { "lost", "frames", HY_SEV_ERROR,
			"Not made, as there were no buffers" },
	},
};

HY_NODE_REGISTER(l2_flood)
