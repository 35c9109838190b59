/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is stored of next hops: the array of adjacencies that workers index by id, and the ids.
 *
 * A slot of the array is written only while no worker can have its id. Every other change (growth,
 * another MAC address) goes into a copy of the array, which then replaces it, so that no worker sees
 * half a change. The previous array is kept until the next copy is made.
 *
 * Deleted ids are reused in the order of their deletion, once no worker can have them any more.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include <hy_ip4_group_view.h>

#include "drivers/nodes/generic/group/ip4_group.h"
#include "ip4_next_hop.h"

#define ROOM_FIRST 16u

static_assert(sizeof(struct hy_ip4_next_hop) == 8, "a key of a hash has no padding");

void
ip4_adjacencies_show(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacencies)
{
	__atomic_store_n(&fib->view.adjacencies, adjacencies, __ATOMIC_RELEASE);
	rte_smp_wmb(); /* engines store some entries with no order of their own */
}

int
ip4_adjacencies_copy(struct hy_ip4_fib *fib, uint32_t room, struct hy_ip4_adjacency **copy)
{
	if (ip4_fib_frozen(fib))
		return -EBUSY;
	if (fib->retired != NULL && ip4_fib_wait(fib, fib->retired_token) < 0)
		return -ETIMEDOUT;
	rte_free(fib->retired);
	rte_free(fib->retired_buckets);
	fib->retired = NULL;
	fib->retired_buckets = NULL;
	*copy = rte_zmalloc_socket("hy_ip4_adjacencies", room * sizeof(**copy), RTE_CACHE_LINE_SIZE,
		fib->params.socket);
	if (*copy == NULL)
		return -ENOMEM;
	if (fib->nb_next_hops > 0)
		memcpy(*copy, fib->view.adjacencies, fib->nb_next_hops * sizeof(**copy));
	return 0;
}

void
ip4_adjacencies_replace(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *by)
{
	fib->retired = fib->view.adjacencies;
	ip4_adjacencies_show(fib, by);
	fib->retired_token = ip4_fib_token(fib);
}

void
ip4_adjacency_write(const struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_next_hop *next_hop)
{
	adjacency->l2.dst_addr = next_hop->mac;
	adjacency->l2.src_addr = fib->ports[next_hop->port].mac;
	adjacency->l2.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	adjacency->port = next_hop->port;
}

struct hy_ip4_next_hop
ip4_adjacency_read(const struct hy_ip4_adjacency *adjacency)
{
	struct hy_ip4_next_hop hop = { .port = adjacency->port };

	if (!hy_ip4_is_group(adjacency))
		hop.mac = adjacency->l2.dst_addr;
	return hop;
}

/*
 * Ids by port and address. One entry more, as set() adds before it deletes; rte_hash needs 8.
 *
 * The extendable table has room for all entries, however they collide (hash/rte_cuckoo_hash.c, DPDK 22.11
 * to 26.07): it has as many buckets to chain as buckets, of 8 entries each, and as many in all as entries
 * at least. A bucket is chained to one only when all before it in the chain are full, and a deletion moves
 * the chain's last entry into the gap (__rte_hash_compact_ll()) and frees the last bucket when it is empty:
 * b chained buckets hold or follow more than 8 b entries.
 */
static struct rte_hash *
ids_create(const struct hy_ip4_fib *fib, uint32_t room)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters params = {
		.name = name,
		.entries = RTE_MAX(room + 1, 8u),
		.key_len = sizeof(struct hy_ip4_next_hop),
		.socket_id = fib->params.socket,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	/* Two hashes exist while one replaces the other. rte_hash truncates longer names. */
	snprintf(name, sizeof(name), "%s.%u", fib->name, rte_log2_u32(room));
	return rte_hash_create(&params);
}

static int
ids_add(struct rte_hash *ids, const struct hy_ip4_next_hop *next_hop, uint32_t id)
{
	return rte_hash_add_key_data(ids, next_hop, (void *)(uintptr_t)id);
}

int
ip4_id_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t id)
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

/* Fills arrays of more room from the present ones. */
static int
room_fill(const struct hy_ip4_fib *fib, struct ip4_next_hop *next_hops, struct rte_hash *ids)
{
	int rc = 0;

	for (uint32_t id = 0; id < fib->nb_next_hops && rc == 0; id++) {
		const struct hy_ip4_next_hop key = ip4_adjacency_read(&fib->view.adjacencies[id]);

		next_hops[id] = fib->next_hops[id];
		if (next_hops[id].used && next_hops[id].group == NULL && ids_add(ids, &key, id) < 0)
			rc = -ENOMEM;
	}
	return rc;
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
	next_hops = rte_zmalloc_socket("hy_ip4_next_hops", room * sizeof(*next_hops), 0,
		fib->params.socket);
	rte_errno = 0;
	ids = ids_create(fib, room);
	if (next_hops == NULL || ids == NULL) /* EEXIST: a table of another engine has the name */
		rc = ids == NULL && rte_errno == EEXIST ? -EEXIST : -ENOMEM;
	else
		rc = room_fill(fib, next_hops, ids);
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
	for (uint32_t id = 0; id < fib->nb_next_hops; id++)
		ip4_group_free(fib->next_hops[id].group);
	rte_hash_free(fib->next_hop_ids);
	rte_free(fib->next_hops);
	rte_free(fib->retired);
	rte_free(fib->retired_buckets);
	rte_free(fib->view.adjacencies);
}

void
ip4_id_give_back(struct hy_ip4_fib *fib, uint32_t id, uint64_t token)
{
	fib->next_hops[id] = (struct ip4_next_hop){
		.next = IP4_NO_ID, .token = token, .group = fib->next_hops[id].group
	};
	if (fib->deleted_first == IP4_NO_ID)
		fib->deleted_first = id;
	else
		fib->next_hops[fib->deleted_last].next = id;
	fib->deleted_last = id;
}

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
			ip4_group_free(fib->next_hops[oldest].group);
			fib->next_hops[oldest].group = NULL;
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
