/* SPDX-License-Identifier: BSD-3-Clause */
/* How l2_output judges a frame, and gives it its tag; l2_forward does the same. */
#pragma once

#include "l2_tag.h"

/* Why a frame does not leave by a port: a drop reason. */
uint16_t l2_output_refusal(const struct hy_l2_setup *setup, uint8_t in, uint8_t out);

/* Where a frame goes from l2_output. One that is dropped is not changed. */
static inline uint16_t
l2_output_next(const struct hy_l2_ctx *ctx, const struct hy_l2_setup *setup, struct rte_mbuf *m,
	uint32_t lane)
{
	const struct hy_l2_vlan *vlan = &setup->vlan[hy_l2_lane_vid(lane)];
	const uint8_t in = hy_l2_lane_in(lane), out = hy_l2_lane_out(lane);
	const bool untagged = (vlan->untagged >> out & 1) != 0;

	if (unlikely(((setup->reach[in] & vlan->members) >> out & 1) == 0))
		return l2_output_refusal(setup, in, out);
	if (!l2_tag_differs(lane, untagged) || unlikely((int16_t)ctx->edge[out] < 0))
		return ctx->edge[out];
	/* l2_flood made the tags right, by a set-up that was exchanged since. */
	if (unlikely((lane & HY_L2_LANE_SHARED) != 0))
		return HY_DROP(HY_L2_OUTPUT_OUTDATED);
	if (unlikely(!l2_tag_change(m, setup, lane, untagged)))
		return HY_DROP(HY_L2_OUTPUT_NO_ROOM);
	return ctx->edge[out];
}
