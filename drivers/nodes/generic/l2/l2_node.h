/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nodes of a bridge share. */
#pragma once

#include <rte_ether.h>

#include <hy_l2.h>
#include <hy_l2_lane.h>
#include <hy_mbuf.h>
#include <hy_node.h>

/* The function of all of these nodes that prepares a struct hy_l2_ctx. */
hy_node_init_t l2_node_init;

/*
 * Makes the key of one of the addresses of a frame, with its VLAN.
 *
 * at: of the address in the frame, 0 or RTE_ETHER_ADDR_LEN.
 */
static __rte_always_inline uint64_t
l2_key(const struct rte_mbuf *m, unsigned int at, uint32_t lane)
{
	uint8_t bounce[RTE_ETHER_HDR_LEN];

	return hy_l2_key_load(hy_mbuf_peek(m, sizeof(bounce), bounce) + at, hy_l2_lane_vid(lane));
}
