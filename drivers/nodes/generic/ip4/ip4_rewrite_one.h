/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernels: the scalar rewrite of one packet, and how a port is read at once. */
#pragma once

#include <stddef.h>

#include <hy_ip4_rewrite.h>

struct rte_mbuf;

/* hy_ip4_rewrite_one() of a packet of any length and in any segments. */
uint16_t ip4_rewrite_packet(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port);

/* The length is in the lower half of the word, the edge above it. */
static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "halves of words are told by their shift");
static_assert(offsetof(struct hy_ip4_rewrite_port, max_len) == 0, "max_len is the lower half");
static_assert(offsetof(struct hy_ip4_rewrite_port, edge) == 4, "edge starts the upper half");
static_assert(sizeof(struct hy_ip4_rewrite_port) == sizeof(uint64_t), "a port is one word");
