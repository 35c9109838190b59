/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_input: finds the VLAN of each frame, and refuses what must not enter the bridge. */

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "l2_node.h"

#define TAG_AT (2 * RTE_ETHER_ADDR_LEN)
#define HEADERS (RTE_ETHER_HDR_LEN + 4) /* with a tag */
#define VID_RESERVED 4095

/* Frames may start at odd addresses. */
static inline uint16_t
word_at(const uint8_t *frame, unsigned int at)
{
	rte_be16_t word;

	memcpy(&word, frame + at, sizeof(word));
	return rte_be_to_cpu_16(word);
}

/* An address that no bridge forwards to: 01:80:C2:00:00:00 to 0F (IEEE 802.1Q 8.6.3). */
static inline bool
is_reserved(const uint8_t *frame)
{
	const uint64_t word = hy_l2_key_load(frame, 0) & HY_L2_KEY_MAC;

	return (word & ~(UINT64_C(0xf) << 40)) == UINT64_C(0x0000c28001);
}

/* A source that no station has. */
static inline bool
is_bad_source(const uint8_t *frame)
{
	const uint64_t word = hy_l2_key_load(frame + RTE_ETHER_ADDR_LEN, 0) & HY_L2_KEY_MAC;

	return (word & RTE_ETHER_GROUP_ADDR) != 0 || word == 0;
}

static inline bool
admits(const struct hy_l2_port *port, enum hy_l2_tag tag)
{
	switch (port->admit) {
	case HY_L2_ADMIT_TAGGED:
		return tag == HY_L2_TAG_VID;
	case HY_L2_ADMIT_UNTAGGED:
		return tag != HY_L2_TAG_VID;
	default:
		return true;
	}
}

/* Of a frame that is long enough and may enter if it has a VLAN. */
static inline uint16_t
vlan_find(const struct hy_l2_setup *setup, uint8_t in, const uint8_t *frame, uint32_t *lane)
{
	const struct hy_l2_port *port = &setup->port[in];
	enum hy_l2_tag tag = HY_L2_TAG_NONE;
	uint16_t vid = port->pvid;

	if (word_at(frame, TAG_AT) == setup->tag_type) {
		const uint16_t named = word_at(frame, TAG_AT + 2) & (HY_L2_VIDS - 1);

		if (unlikely(named == VID_RESERVED))
			return HY_DROP(HY_L2_INPUT_VLAN_INVALID);
		tag = named == 0 ? HY_L2_TAG_ZERO : HY_L2_TAG_VID;
		vid = named == 0 ? vid : named;
	}
	if (unlikely(vid == 0 || !admits(port, tag)))
		return HY_DROP(HY_L2_INPUT_NOT_ADMITTED);
	if (unlikely(port->filter && (setup->vlan[vid].members >> in & 1) == 0))
		return HY_DROP(HY_L2_INPUT_VLAN_FILTERED);
	*lane = hy_l2_lane(vid, in, tag) | (port->learn ? HY_L2_LANE_LEARN : 0) |
		(port->state == HY_L2_LEARNING ? HY_L2_LANE_ONLY : 0);
	return HY_L2_INPUT_NEXT_LEARN;
}

static inline uint16_t
next_of(const struct hy_l2_setup *setup, const struct rte_mbuf *m, uint32_t *lane)
{
	const uint8_t in = m->port < RTE_DIM(setup->number) ? setup->number[m->port]
							    : HY_L2_NO_PORT;
	uint8_t bounce[HEADERS];
	const uint8_t *frame = hy_mbuf_peek(m, HEADERS, bounce);

	if (unlikely(in >= HY_L2_BRIDGE_PORTS))
		return HY_DROP(HY_L2_INPUT_NOT_A_PORT);
	if (unlikely(m->pkt_len < HEADERS) &&
		(m->pkt_len < RTE_ETHER_HDR_LEN || word_at(frame, TAG_AT) == setup->tag_type))
		return HY_DROP(HY_L2_INPUT_TRUNCATED);
	if (unlikely(is_reserved(frame)))
		return HY_DROP(HY_L2_INPUT_RESERVED);
	if (unlikely(setup->port[in].state == HY_L2_BLOCKING))
		return HY_DROP(HY_L2_INPUT_BLOCKED);
	if (unlikely(is_bad_source(frame)))
		return HY_DROP(HY_L2_INPUT_BAD_SRC);
	return vlan_find(setup, in, frame, lane);
}

static uint16_t
l2_input_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_setup *setup = hy_l2_setup_load(node->ctx);
	uint32_t *lane = hy_lane(graph, node, 0);
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod((const struct rte_mbuf *)objs[i], const void *));
	for (uint32_t i = 0; i < n; i++)
		next[i] = next_of(setup, objs[i], &lane[i]);
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
