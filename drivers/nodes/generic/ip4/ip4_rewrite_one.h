/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar rewrite of one packet, for kernels. */
#pragma once

#include <hy_ip4_rewrite.h>

struct rte_mbuf;

/* hy_ip4_rewrite_one() of a packet of any length and in any segments. */
uint16_t ip4_rewrite_packet(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port);
