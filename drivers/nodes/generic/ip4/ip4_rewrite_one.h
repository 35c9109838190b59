/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For kernels: the scalar rewrite of one packet, and how a port is read at once. For both families: the
 * ports, and what a trace shows.
 */
#pragma once

#include <stddef.h>

#include <hy_ip4_rewrite.h>

struct hy_trace_record;
struct rte_mbuf;

/* hy_ip4_rewrite_one() of a packet of any length and in any segments. */
uint16_t ip4_rewrite_packet(struct rte_mbuf *m, const struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_rewrite_port *port);

/* Copies the table's ports, which are fixed while the table is in use. For inits. */
int ip4_rewrite_ports(const struct hy_graph *graph, struct hy_node *node,
	const struct hy_ip4_fib *fib, const uint16_t edge[], struct hy_ip4_rewrite_port port[]);

/* Stores the next hop that a packet takes, of that id or as a member of that group. Returns the size. */
size_t ip4_hop_snapshot(const struct hy_ip4_view *view, uint32_t id, const struct rte_mbuf *m,
	uint32_t (*member_of)(const struct hy_ip4_adjacency *group, const struct rte_mbuf *m),
	void *data);
/* Writes it; route is the lane's value. Returns what snprintf() does. */
int ip4_hop_format(const struct hy_trace_record *record, uint32_t route, char *text, size_t size);

/* The length is in the lower half of the word, the edge above it. */
static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "halves of words are told by their shift");
static_assert(offsetof(struct hy_ip4_rewrite_port, max_len) == 0, "max_len is the lower half");
static_assert(offsetof(struct hy_ip4_rewrite_port, edge) == 4, "edge starts the upper half");
static_assert(sizeof(struct hy_ip4_rewrite_port) == sizeof(uint64_t), "a port is one word");
