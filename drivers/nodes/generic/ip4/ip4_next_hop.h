/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next hops: what their files share. Called under the mutex of a table that users have.
 *
 * ip4_adjacency.c     the array that workers index by id, and how it is replaced under them
 * ip4_next_hop_id.c   ids: which leads where, which is free, and room for more
 * ip4_next_hop.c      what users do with next hops
 */
#ifndef HY_IP4_NEXT_HOP_H
#define HY_IP4_NEXT_HOP_H

#include "ip4_fib.h"

#define IP4_NO_ID UINT32_MAX

/* A copy of the array with more room, or as much, to be changed, and then shown in its place. */
int ip4_adjacencies_copy(struct hy_ip4_fib *fib, uint32_t room, struct hy_ip4_adjacency **copy);
void ip4_adjacencies_replace(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *by);
void ip4_adjacencies_destroy(struct hy_ip4_fib *fib);
/* Writes a slot of a copy, or one of the array itself whose id no worker can have. */
void ip4_adjacency_write(const struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_next_hop *next_hop);
/* From now on a worker that finds a route to a next hop finds the next hop too. */
void ip4_adjacencies_show(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacencies);

/* An id that no worker can have in hand; and back, to be taken again when the token passes. */
int ip4_id_take(struct hy_ip4_fib *fib, uint32_t *id);
void ip4_id_give_back(struct hy_ip4_fib *fib, uint32_t id, uint64_t token);
/* The id that leads somewhere, or IP4_NO_ID. */
uint32_t ip4_id_find(const struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop);
/* From now on it is found; a negative errno if there is no memory for it. */
int ip4_id_remember(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t id);
/* From now on it is not found by where the adjacency that workers read leads. */
void ip4_id_forget(struct hy_ip4_fib *fib, uint32_t id);

/* Adds a next hop, or finds it, which nobody can delete until it is released as often. */
int ip4_next_hop_hold(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id);
void ip4_next_hop_release(struct hy_ip4_fib *fib, uint32_t id);

#endif
