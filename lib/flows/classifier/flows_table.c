/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hash table of one port and mask. A bucket is a cache line of signatures and slots; one that is
 * full is continued by another. A table that is full is copied to one of twice the size, which workers
 * use once it is complete. Entries do not move, so that none can be missed.
 *
 * A worker that reads a signature, and the slot of a later entry with it, finds that its record does not
 * match: what it looked for was deleted.
 */

#include <errno.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "lib/flows/flows.h"

#define BUCKETS_LEAST 4u
#define LOAD 4 /* megaflows of a bucket, on average, at most */

/* Of so many buckets, a power of two, and some that continue others. */
static struct flows_buckets *
buckets_create(const struct hy_flows *f, uint32_t n)
{
	const uint32_t all = n + n / 4 + 2;
	struct flows_buckets *b = flows_alloc(f,
		sizeof(*b) + (size_t)all * sizeof(struct flows_bucket));

	if (b == NULL)
		return NULL;
	b->mask = n - 1;
	b->nb_all = all;
	b->next = n;
	return b;
}

/* Returns -ENOSPC if no bucket is left to continue a full one. */
static int
buckets_insert(struct flows_buckets *b, uint32_t slot, uint32_t hash)
{
	struct flows_bucket *bucket = &b->bucket[hash & b->mask];

	for (;;) {
		for (uint32_t way = 0; way < FLOWS_WAYS; way++) {
			if (bucket->signature[way] != 0)
				continue;
			__atomic_store_n(&bucket->index[way], slot, __ATOMIC_RELAXED);
			FLOWS_STORE(bucket->signature[way], flows_signature(hash));
			return 0;
		}
		if (bucket->next == 0) {
			if (b->next == b->nb_all)
				return -ENOSPC;
			FLOWS_STORE(bucket->next, b->next);
			b->next++;
		}
		bucket = &b->bucket[bucket->next];
	}
}

/* Returns -ENOSPC if they do not fit. */
static int
buckets_copy(const struct hy_flows *f, const struct flows_buckets *from, struct flows_buckets *to)
{
	for (uint32_t i = 0; i < from->next; i++) {
		for (uint32_t way = 0; way < FLOWS_WAYS; way++) {
			const uint32_t slot = from->bucket[i].index[way];

			if (from->bucket[i].signature[way] != 0 &&
				buckets_insert(to, slot, f->records[slot].hash) < 0)
				return -ENOSPC;
		}
	}
	return 0;
}

static int
grow(struct hy_flows *f, struct flows_table *table)
{
	struct flows_buckets *old = table->buckets;

	/* Twice as large is enough, unless hashes collide, which senders cannot bring about. */
	for (uint32_t n = 2 * (old->mask + 1); n <= 8 * rte_align32pow2(f->nb_slots); n *= 2) {
		struct flows_buckets *new = buckets_create(f, n);

		if (new == NULL)
			return -ENOMEM;
		if (buckets_copy(f, old, new) == 0) {
			FLOWS_STORE(table->buckets, new);
			flows_discard(f, &old->garbage, flows_release);
			return 0;
		}
		flows_release(f, &new->garbage);
	}
	return -ENOMEM;
}

int
flows_table_insert(struct hy_flows *f, struct flows_table *table, uint32_t slot)
{
	const uint32_t hash = f->records[slot].hash;
	int rc = 0;

	if (table->nb_flows >= LOAD * (table->buckets->mask + 1))
		rc = grow(f, table);
	if (rc == 0 && buckets_insert(table->buckets, slot, hash) < 0) {
		rc = grow(f, table);
		if (rc == 0)
			rc = buckets_insert(table->buckets, slot, hash) < 0 ? -ENOMEM : 0;
	}
	table->nb_flows += rc == 0;
	return rc;
}

void
flows_table_remove(struct flows_table *table, uint32_t slot, uint32_t hash)
{
	struct flows_buckets *b = table->buckets;

	for (uint32_t i = hash & b->mask;; i = b->bucket[i].next) {
		for (uint32_t way = 0; way < FLOWS_WAYS; way++) {
			if (b->bucket[i].signature[way] == 0 || b->bucket[i].index[way] != slot)
				continue;
			__atomic_store_n(&b->bucket[i].signature[way], 0, __ATOMIC_RELAXED);
			table->nb_flows--;
			return;
		}
	}
}

uint32_t
flows_table_find(const struct hy_flows *f, const struct flows_table *table,
	const struct hy_flows_key *key)
{
	const uint32_t hash = flows_table_hash(&f->secret, table, key, table->nb_words);
	const struct flows_buckets *b = FLOWS_LOAD(table->buckets);

	for (uint32_t i = hash & b->mask;;) {
		const struct flows_bucket *bucket = &b->bucket[i];

		for (uint32_t way = 0; way < FLOWS_WAYS; way++) {
			uint32_t slot;

			if (FLOWS_LOAD(bucket->signature[way]) != flows_signature(hash))
				continue;
			slot = __atomic_load_n(&bucket->index[way], __ATOMIC_RELAXED);
			if (FLOWS_TABLE(FLOWS_LOAD(f->records[slot].tag)) == table->number &&
				flows_same(table, f->records[slot].words, key, table->nb_words))
				return slot;
		}
		i = FLOWS_LOAD(bucket->next);
		if (i == 0)
			return HY_FLOWS_MISS;
	}
}

/* A number that no worker knows, or 0. */
static uint16_t
free_number(const struct hy_flows *f)
{
	for (uint32_t number = 1; number <= 2 * f->params.max_masks; number++)
		if (f->tables[number] == NULL)
			return (uint16_t)number;
	return 0;
}

static void
table_release(struct hy_flows *f, struct flows_garbage *garbage)
{
	struct flows_table *table = (struct flows_table *)garbage;

	__atomic_store_n(&f->tables[table->number], NULL, __ATOMIC_RELAXED);
	flows_release(f, &table->buckets->garbage);
	flows_release(f, garbage);
}

void
flows_table_discard(struct hy_flows *f, struct flows_table *table)
{
	flows_discard(f, &table->garbage, table_release);
}

static uint64_t
hits_of(const struct hy_flows *f, uint16_t number)
{
	uint64_t hits = 0;

	for (unsigned int w = 0; w < f->params.workers; w++)
		hits += __atomic_load_n(&f->workers[w].hits[number], __ATOMIC_RELAXED);
	return hits;
}

int
flows_table_create(struct hy_flows *f, uint16_t port, const struct hy_flows_key *mask,
	struct flows_table **out)
{
	const uint16_t number = free_number(f);
	struct flows_table *table;

	if (number == 0)
		return -EAGAIN;
	table = flows_alloc(f, sizeof(*table));
	if (table == NULL)
		return -ENOMEM;
	table->buckets = buckets_create(f, BUCKETS_LEAST);
	if (table->buckets == NULL) {
		flows_release(f, &table->garbage);
		return -ENOMEM;
	}
	table->number = number;
	table->port = port;
	table->full = *mask;
	table->parse = (uint8_t)hy_flows_parse_of(mask);
	table->hits = hits_of(f, number);
	for (uint8_t i = 0; i < HY_FLOWS_WORDS; i++) {
		if (mask->words[i] == 0)
			continue;
		table->word[table->nb_words] = i;
		table->mask[table->nb_words++] = mask->words[i];
	}
	FLOWS_STORE(f->tables[number], table);
	*out = table;
	return 0;
}

struct flows_table *
flows_table_of(const struct hy_flows *f, uint16_t port, const struct hy_flows_key *mask)
{
	const struct flows_order *order = f->order[port];

	for (uint32_t i = 0; order != NULL && i < order->n; i++)
		if (memcmp(&order->table[i]->full, mask, sizeof(*mask)) == 0)
			return order->table[i];
	return NULL;
}
