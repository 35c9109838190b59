/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ids of next hops: which leads where, which is free, and room for more. What was deleted is given
 * out again in the order of its deletion, when no worker can have it in hand any more.
 */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "ip4_next_hop.h"

#define ROOM_FIRST 16u

static_assert(sizeof(struct hy_ip4_next_hop) == 8, "a key of a hash has no padding");

/* The ids by what they lead to. One entry more: set() adds before it deletes. 8 are the fewest. */
static struct rte_hash *
ids_create(const struct hy_ip4_fib *fib, uint32_t room)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters params = {
		.name = name,
		.entries = RTE_MAX(room + 1, 8u),
		.key_len = sizeof(struct hy_ip4_next_hop),
		.socket_id = fib->params.socket,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all of its entries */
	};

	/* Two exist while one replaces the other. Two digits: rte_hash cuts longer names. */
	snprintf(name, sizeof(name), "%s.%u", fib->name, rte_log2_u32(room));
	return rte_hash_create(&params);
}

static int
ids_add(struct rte_hash *ids, const struct hy_ip4_next_hop *next_hop, uint32_t id)
{
	return rte_hash_add_key_data(ids, next_hop, (void *)(uintptr_t)id);
}

int
ip4_id_remember(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t id)
{
	return ids_add(fib->next_hop_ids, next_hop, id);
}

void
ip4_id_forget(struct hy_ip4_fib *fib, uint32_t id)
{
	const struct hy_ip4_next_hop key = ip4_adjacency_read(&fib->view.adjacencies[id]);

	rte_hash_del_key(fib->next_hop_ids, &key);
}

uint32_t
ip4_id_find(const struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop)
{
	void *data;

	return rte_hash_lookup_data(fib->next_hop_ids, next_hop, &data) < 0
		? IP4_NO_ID
		: (uint32_t)(uintptr_t)data;
}

/* Everything for more next hops, beside the present arrays. */
static int
room_create(struct hy_ip4_fib *fib, uint32_t room, struct ip4_next_hop **next_hops,
	struct rte_hash **ids)
{
	*next_hops = rte_zmalloc_socket("hy_ip4_next_hops", room * sizeof(**next_hops), 0,
		fib->params.socket);
	rte_errno = 0;
	*ids = ids_create(fib, room);
	if (*next_hops == NULL || *ids == NULL) /* of the same name: a table of another engine */
		return *ids == NULL && rte_errno == EEXIST ? -EEXIST : -ENOMEM;
	for (uint32_t id = 0; id < fib->nb_next_hops; id++) {
		const struct hy_ip4_next_hop key = ip4_adjacency_read(&fib->view.adjacencies[id]);

		(*next_hops)[id] = fib->next_hops[id];
		if (fib->next_hops[id].used && ids_add(*ids, &key, id) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int
room_double(struct hy_ip4_fib *fib)
{
	const uint32_t most = fib->params.max_next_hops;
	const uint32_t more = fib->next_hop_room == 0 ? ROOM_FIRST : 2 * fib->next_hop_room;
	/* Without a QSBR variable the array cannot be replaced while it is in use. */
	const uint32_t room = fib->params.qsbr == NULL ? most : RTE_MIN(more, most);
	struct hy_ip4_adjacency *adjacencies;
	struct ip4_next_hop *next_hops;
	struct rte_hash *ids;
	int rc;

	if (fib->next_hop_room == most)
		return -ENOSPC;
	rc = ip4_adjacencies_copy(fib, room, &adjacencies);
	if (rc < 0)
		return rc;
	rc = room_create(fib, room, &next_hops, &ids);
	if (rc < 0) {
		rte_hash_free(ids);
		rte_free(next_hops);
		rte_free(adjacencies);
		return rc;
	}
	rte_hash_free(fib->next_hop_ids);
	rte_free(fib->next_hops);
	fib->next_hop_ids = ids;
	fib->next_hops = next_hops;
	fib->next_hop_room = room;
	ip4_adjacencies_replace(fib, adjacencies);
	return 0;
}

int
ip4_next_hops_create(struct hy_ip4_fib *fib)
{
	fib->deleted_first = IP4_NO_ID;
	return room_double(fib);
}

void
ip4_next_hops_destroy(struct hy_ip4_fib *fib)
{
	rte_hash_free(fib->next_hop_ids);
	rte_free(fib->next_hops);
	ip4_adjacencies_destroy(fib);
}

void
ip4_id_give_back(struct hy_ip4_fib *fib, uint32_t id, uint64_t token)
{
	fib->next_hops[id] = (struct ip4_next_hop){ .next = IP4_NO_ID, .token = token };
	if (fib->deleted_first == IP4_NO_ID)
		fib->deleted_first = id;
	else
		fib->next_hops[fib->deleted_last].next = id;
	fib->deleted_last = id;
}

/* An id that no worker can have: the one that was deleted first, or one that was never used. */
int
ip4_id_take(struct hy_ip4_fib *fib, uint32_t *id)
{
	const bool full = fib->nb_next_hops == fib->params.max_next_hops;
	const uint32_t oldest = fib->deleted_first;
	int rc = 0;

	if (oldest != IP4_NO_ID && (full || ip4_fib_passed(fib, fib->next_hops[oldest].token))) {
		rc = ip4_fib_wait(fib, fib->next_hops[oldest].token);
		if (rc == 0) {
			fib->deleted_first = fib->next_hops[oldest].next;
			*id = oldest;
		}
		return rc;
	}
	if (fib->nb_next_hops == fib->next_hop_room)
		rc = room_double(fib);
	if (rc == 0)
		*id = fib->nb_next_hops++;
	return rc;
}
