/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next hops: ids of an array of adjacencies. A slot is written only while no worker can have its
 * id; all else (growth, another MAC address) is done to a copy of the array, which is then shown in
 * its place, so that a worker sees no half of it. The array before is kept until the next copy.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "ip4_fib.h"

#define ROOM_FIRST 16u
#define NO_ID UINT32_MAX

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

static struct hy_ip4_adjacency *
adjacencies_create(const struct hy_ip4_fib *fib, uint32_t room)
{
	return rte_zmalloc_socket("hy_ip4_adjacencies", room * sizeof(struct hy_ip4_adjacency),
		RTE_CACHE_LINE_SIZE, fib->params.socket);
}

/* After this a worker that finds a route to a next hop finds the next hop too. */
static void
adjacencies_show(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacencies)
{
	__atomic_store_n(&fib->adjacencies, adjacencies, __ATOMIC_RELEASE);
	rte_smp_wmb(); /* engines store some entries with no order of their own */
}

/* Frees the array before, as it must be before there is another one. */
static int
retired_free(struct hy_ip4_fib *fib)
{
	const int rc = fib->retired == NULL ? 0 : ip4_fib_wait(fib, fib->retired_token);

	if (rc < 0)
		return rc;
	rte_free(fib->retired);
	fib->retired = NULL;
	return 0;
}

/* A copy of the array with more room, or as much, to be changed and shown. */
static int
adjacencies_copy(struct hy_ip4_fib *fib, uint32_t room, struct hy_ip4_adjacency **copy)
{
	int rc;

	if (ip4_fib_frozen(fib))
		return -EBUSY;
	rc = retired_free(fib);
	if (rc < 0)
		return rc;
	*copy = adjacencies_create(fib, room);
	if (*copy == NULL)
		return -ENOMEM;
	if (fib->nb_next_hops > 0)
		memcpy(*copy, fib->adjacencies, fib->nb_next_hops * sizeof(**copy));
	return 0;
}

static void
adjacencies_replace(struct hy_ip4_fib *fib, struct hy_ip4_adjacency *by)
{
	fib->retired = fib->adjacencies;
	adjacencies_show(fib, by);
	fib->retired_token = ip4_fib_token(fib);
}

static void
adjacency_write(const struct hy_ip4_fib *fib, struct hy_ip4_adjacency *adjacency,
	const struct hy_ip4_next_hop *next_hop)
{
	adjacency->l2.dst_addr = next_hop->mac;
	adjacency->l2.src_addr = fib->ports[next_hop->port].mac;
	adjacency->l2.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	adjacency->port = next_hop->port;
}

struct hy_ip4_next_hop
ip4_next_hop_read(const struct hy_ip4_adjacency *adjacency)
{
	return (struct hy_ip4_next_hop){ .port = adjacency->port, .mac = adjacency->l2.dst_addr };
}

static int
id_remember(struct rte_hash *ids, const struct hy_ip4_next_hop *next_hop, uint32_t id)
{
	return rte_hash_add_key_data(ids, next_hop, (void *)(uintptr_t)id);
}

static uint32_t
id_find(const struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop)
{
	void *data;

	return rte_hash_lookup_data(fib->next_hop_ids, next_hop, &data) < 0
		? NO_ID
		: (uint32_t)(uintptr_t)data;
}

/* Everything for more next hops, beside what there is. */
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
		const struct hy_ip4_next_hop key = ip4_next_hop_read(&fib->adjacencies[id]);

		(*next_hops)[id] = fib->next_hops[id];
		if (fib->next_hops[id].used && id_remember(*ids, &key, id) < 0)
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
	rc = adjacencies_copy(fib, room, &adjacencies);
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
	adjacencies_replace(fib, adjacencies);
	return 0;
}

int
ip4_next_hops_create(struct hy_ip4_fib *fib)
{
	fib->deleted_first = NO_ID;
	return room_double(fib);
}

void
ip4_next_hops_destroy(struct hy_ip4_fib *fib)
{
	rte_hash_free(fib->next_hop_ids);
	rte_free(fib->next_hops);
	rte_free(fib->retired);
	rte_free(fib->adjacencies);
}

static void
id_give_back(struct hy_ip4_fib *fib, uint32_t id, uint64_t token)
{
	fib->next_hops[id] = (struct ip4_next_hop){ .next = NO_ID, .token = token };
	if (fib->deleted_first == NO_ID)
		fib->deleted_first = id;
	else
		fib->next_hops[fib->deleted_last].next = id;
	fib->deleted_last = id;
}

/* An id that no worker can have: the one that was deleted first, or one that was never used. */
static int
id_take(struct hy_ip4_fib *fib, uint32_t *id)
{
	const bool full = fib->nb_next_hops == fib->params.max_next_hops;
	const uint32_t oldest = fib->deleted_first;
	int rc = 0;

	if (oldest != NO_ID && (full || ip4_fib_passed(fib, fib->next_hops[oldest].token))) {
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

static bool
port_known(const struct hy_ip4_fib *fib, uint16_t port)
{
	return port < RTE_MAX_ETHPORTS && fib->has_port[port];
}

static bool
id_known(const struct hy_ip4_fib *fib, uint32_t id)
{
	return id < fib->nb_next_hops && fib->next_hops[id].used;
}

static int
next_hop_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id)
{
	uint32_t taken = id_find(fib, next_hop);
	int rc;

	if (taken == NO_ID) {
		if (!port_known(fib, next_hop->port))
			return -ENODEV;
		rc = id_take(fib, &taken);
		if (rc < 0)
			return rc;
		if (id_remember(fib->next_hop_ids, next_hop, taken) < 0) {
			id_give_back(fib, taken, 0);
			return -ENOMEM;
		}
		adjacency_write(fib, &fib->adjacencies[taken], next_hop);
		adjacencies_show(fib, fib->adjacencies);
		fib->next_hops[taken] = (struct ip4_next_hop){ .used = true };
	}
	*id = taken;
	return 0;
}

int
hy_ip4_next_hop_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = next_hop_add(fib, next_hop, id);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

static int
next_hop_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_next_hop *next_hop)
{
	struct hy_ip4_adjacency *adjacencies;
	struct hy_ip4_next_hop old;
	uint32_t other;
	int rc;

	if (!id_known(fib, id))
		return -ENOENT;
	if (!port_known(fib, next_hop->port))
		return -ENODEV;
	other = id_find(fib, next_hop);
	if (other != NO_ID)
		return other == id ? 0 : -EEXIST;
	rc = adjacencies_copy(fib, fib->next_hop_room, &adjacencies);
	if (rc < 0)
		return rc;
	if (id_remember(fib->next_hop_ids, next_hop, id) < 0) {
		rte_free(adjacencies);
		return -ENOMEM;
	}
	old = ip4_next_hop_read(&adjacencies[id]);
	rte_hash_del_key(fib->next_hop_ids, &old);
	adjacency_write(fib, &adjacencies[id], next_hop);
	adjacencies_replace(fib, adjacencies);
	return 0;
}

int
hy_ip4_next_hop_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_next_hop *next_hop)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = next_hop_set(fib, id, next_hop);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

int
hy_ip4_next_hop_get(struct hy_ip4_fib *fib, uint32_t id, struct hy_ip4_next_hop *next_hop,
	uint32_t *routes)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&fib->lock);
	if (id_known(fib, id)) {
		*next_hop = ip4_next_hop_read(&fib->adjacencies[id]);
		if (routes != NULL)
			*routes = fib->next_hops[id].routes;
		rc = 0;
	}
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

static int
next_hop_delete(struct hy_ip4_fib *fib, uint32_t id)
{
	struct hy_ip4_next_hop old;

	if (!id_known(fib, id))
		return -ENOENT;
	if (fib->next_hops[id].routes > 0 || ip4_fib_frozen(fib))
		return -EBUSY;
	old = ip4_next_hop_read(&fib->adjacencies[id]);
	rte_hash_del_key(fib->next_hop_ids, &old);
	id_give_back(fib, id, ip4_fib_token(fib));
	return 0;
}

int
hy_ip4_next_hop_delete(struct hy_ip4_fib *fib, uint32_t id)
{
	int rc;

	pthread_mutex_lock(&fib->lock);
	rc = next_hop_delete(fib, id);
	pthread_mutex_unlock(&fib->lock);
	return rc;
}

uint32_t
hy_ip4_next_hops(struct hy_ip4_fib *fib)
{
	uint32_t n;

	pthread_mutex_lock(&fib->lock);
	n = fib->nb_next_hops;
	pthread_mutex_unlock(&fib->lock);
	return n;
}
