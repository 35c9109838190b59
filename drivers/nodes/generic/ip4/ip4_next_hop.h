/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next hops: what ip4_next_hop_table.c stores, for ip4_next_hop.c. Called under the table's mutex. Each
 * id stands for one port and MAC address, and each of these pairs has one id.
 */
#pragma once

#include "ip4_fib.h"

#define IP4_NO_ID UINT32_MAX

/* Whether an id is that of a next hop or of a group. */
static inline bool
ip4_is_id(const struct hy_ip4_fib *fib, uint32_t id)
{
	return id < fib->nb_next_hops && fib->next_hops[id].used;
}

/* Whether an id is that of a next hop, not of a group. */
static inline bool
ip4_is_next_hop(const struct hy_ip4_fib *fib, uint32_t id)
{
	return ip4_is_id(fib, id) && fib->next_hops[id].group == NULL;
}

/* The group of an id; NULL: it is not a group's. */
static inline struct ip4_group *
ip4_group_find(const struct hy_ip4_fib *fib, uint32_t id)
{
	return ip4_is_id(fib, id) ? fib->next_hops[id].group : NULL;
}

/* A copy of the array of adjacencies with room for so many, to be changed and then to replace it. */
int ip4_adjacencies_copy(struct hy_ip4_fib *fib, uint32_t room, struct hy_ip4_adjacency **copy);
void ip4_adjacencies_replace(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *by);
/* Publishes the array: a worker that finds a route finds its next hop from now on. */
void ip4_adjacencies_show(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacencies);
/* Writes a slot of a copy, or one whose id no worker can hold. */
void ip4_adjacency_write(const struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_next_hop *next_hop);

/* Takes an id that no worker can hold: the one deleted first, or one never used. */
int ip4_id_take(struct hy_ip4_fib *fib, uint32_t *id);
/* Returns an id, to be taken again once the token passes. */
void ip4_id_give_back(struct hy_ip4_fib *fib, uint32_t id, uint64_t token);
/* The id of a next hop; IP4_NO_ID: it has none. */
uint32_t ip4_id_find(const struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop);
/* Lets ip4_id_find() find it. Returns a negative value if there is no memory. */
int ip4_id_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t id);
/* Lets it no longer find the next hop that workers read under this id. */
void ip4_id_forget(struct hy_ip4_fib *fib, uint32_t id);
