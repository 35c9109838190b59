/* SPDX-License-Identifier: BSD-3-Clause */
/* How l2_input judges a frame; l2_forward does the same. */
#pragma once

#include <rte_byteorder.h>

#include "l2_node.h"

#define L2_TAG_AT (2 * RTE_ETHER_ADDR_LEN)
#define L2_HEADERS (RTE_ETHER_HDR_LEN + 4) /* with a tag */
#define L2_VID_RESERVED 4095

/* Frames may start at odd addresses. */
static inline uint16_t
l2_word_at(const uint8_t *frame, unsigned int at)
{
	rte_be16_t word;

	memcpy(&word, frame + at, sizeof(word));
	return rte_be_to_cpu_16(word);
}

/* An address that no bridge forwards to: 01:80:C2:00:00:00 to 0F (IEEE 802.1Q 8.6.3). */
static inline bool
l2_is_reserved(const uint8_t *frame)
{
	const uint64_t word = hy_l2_key_load(frame, 0) & HY_L2_KEY_MAC;

	return (word & ~(UINT64_C(0xf) << 40)) == UINT64_C(0x0000c28001);
}

/* A source that no station has. */
static inline bool
l2_is_bad_source(const uint8_t *frame)
{
	const uint64_t word = hy_l2_key_load(frame + RTE_ETHER_ADDR_LEN, 0) & HY_L2_KEY_MAC;

	return (word & RTE_ETHER_GROUP_ADDR) != 0 || word == 0;
}

static inline bool
l2_admits(const struct hy_l2_port *port, enum hy_l2_tag tag)
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
l2_vlan_find(const struct hy_l2_setup *setup, uint8_t in, const uint8_t *frame, uint32_t *lane)
{
	const struct hy_l2_port *port = &setup->port[in];
	enum hy_l2_tag tag = HY_L2_TAG_NONE;
	uint16_t vid = port->pvid;

	if (l2_word_at(frame, L2_TAG_AT) == setup->tag_type) {
		const uint16_t named = l2_word_at(frame, L2_TAG_AT + 2) & (HY_L2_VIDS - 1);

		if (unlikely(named == L2_VID_RESERVED))
			return HY_DROP(HY_L2_INPUT_VLAN_INVALID);
		tag = named == 0 ? HY_L2_TAG_ZERO : HY_L2_TAG_VID;
		vid = named == 0 ? vid : named;
	}
	if (unlikely(vid == 0 || !l2_admits(port, tag)))
		return HY_DROP(HY_L2_INPUT_NOT_ADMITTED);
	if (unlikely(port->filter && (setup->vlan[vid].members >> in & 1) == 0))
		return HY_DROP(HY_L2_INPUT_VLAN_FILTERED);
	*lane = hy_l2_lane(vid, in, tag) | (port->learn ? HY_L2_LANE_LEARN : 0) |
		(port->state == HY_L2_LEARNING ? HY_L2_LANE_ONLY : 0);
	return HY_L2_INPUT_NEXT_LEARN;
}

/*
 * Where a frame goes from l2_input, whose lane it writes.
 *
 * bounce: room for L2_HEADERS bytes; frame: its first bytes, if it enters.
 */
static inline uint16_t
l2_input_next(const struct hy_l2_setup *setup, const struct rte_mbuf *m, uint8_t *bounce,
	const uint8_t **frame, uint32_t *lane)
{
	const uint8_t in = m->port < RTE_DIM(setup->number) ? setup->number[m->port]
							    : HY_L2_NO_PORT;
	const uint8_t *head = hy_mbuf_peek(m, L2_HEADERS, bounce);

	*frame = head;
	if (unlikely(in >= HY_L2_BRIDGE_PORTS))
		return HY_DROP(HY_L2_INPUT_NOT_A_PORT);
	if (unlikely(m->pkt_len < L2_HEADERS) &&
		(m->pkt_len < RTE_ETHER_HDR_LEN || l2_word_at(head, L2_TAG_AT) == setup->tag_type))
		return HY_DROP(HY_L2_INPUT_TRUNCATED);
	if (unlikely(l2_is_reserved(head)))
		return HY_DROP(HY_L2_INPUT_RESERVED);
	if (unlikely(setup->port[in].state == HY_L2_BLOCKING))
		return HY_DROP(HY_L2_INPUT_BLOCKED);
	if (unlikely(l2_is_bad_source(head)))
		return HY_DROP(HY_L2_INPUT_BAD_SRC);
	return l2_vlan_find(setup, in, head, lane);
}
