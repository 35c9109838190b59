/* SPDX-License-Identifier: BSD-3-Clause */
/* The tag that a frame of a bridge leaves with. */
#pragma once

#include <rte_byteorder.h>

#include "drivers/nodes/generic/vlan/vlan_tag.h"
#include "l2_node.h"

/* Whether a frame has another tag than it is to leave with. */
static inline bool
l2_tag_differs(uint32_t lane, bool untagged)
{
	return hy_l2_lane_tag(lane) != (untagged ? HY_L2_TAG_NONE : HY_L2_TAG_VID);
}

/* The tag of a frame that had none, with priority 0. */
static inline void
l2_tag_make(const struct hy_l2_setup *setup, uint32_t lane, uint8_t tag[HY_VLAN_TAG])
{
	const rte_be16_t words[] = { rte_cpu_to_be_16(setup->tag_type),
		rte_cpu_to_be_16(hy_l2_lane_vid(lane)) };

	memcpy(tag, words, sizeof(words));
}

/* Names the VLAN in a tag that has only a priority. */
void l2_tag_name(struct rte_mbuf *m, uint16_t vid);

/*
 * Gives a frame, which nobody shares, another tag. Returns false, and has changed nothing, if its first
 * buffer has no room.
 */
static inline bool
l2_tag_change(struct rte_mbuf *m, const struct hy_l2_setup *setup, uint32_t lane, bool untagged)
{
	uint8_t tag[HY_VLAN_TAG];

	if (untagged) {
		vlan_tag_pop(m);
		return true;
	}
	if (hy_l2_lane_tag(lane) == HY_L2_TAG_ZERO) {
		l2_tag_name(m, hy_l2_lane_vid(lane));
		return true;
	}
	l2_tag_make(setup, lane, tag);
	return vlan_tag_push(m, tag);
}

/*
 * Makes a frame like l2_tag_change(), of a buffer with addresses and tag, and one that refers to the rest of
 * the original. What that has in front of the rest may change afterwards, but for a push without headroom.
 *
 * Returns NULL if there are no buffers.
 */
struct rte_mbuf *l2_tag_copy(struct rte_mbuf *m, const struct hy_l2_setup *setup, uint32_t lane,
	bool untagged);
