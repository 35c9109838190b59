/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernels of ip6_rewrite: packets that are not as usual. */
#pragma once

#include <hy_ip6_rewrite.h>

#include "drivers/nodes/generic/ip4/ip4_rewrite_one.h"

/*
 * Rewrites a packet of any length, in any segments, to a next hop or a group. Returns its edge or reason,
 * as hy_ip6_rewrite_one().
 */
uint16_t ip6_rewrite_packet(const struct hy_ip6_rewrite_ctx *ctx, struct rte_mbuf *m,
	const struct hy_ip4_adjacency *adjacency);
