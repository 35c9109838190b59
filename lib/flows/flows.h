/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow cache, for the files that implement it:
 *
 * classifier/flows.c          creation and destruction, what is counted
 * classifier/flows_garbage.c  what is freed after a grace period
 * classifier/flows_slot.c     numbers of megaflows: taken, given up, reused
 * classifier/flows_table.c    a hash table of one port and mask
 * classifier/flows_bucket_*.c kernels that compare signatures in a table's buckets
 * classifier/flows_port.c     the tables of a port in their order, and what masks look at
 * classifier/flows_change.c   megaflows: added, modified, deleted, read
 * classifier/flows_sweep.c    all megaflows: timed out, flushed, dumped
 * classifier/flows_find.c     lookups of workers in tables
 * cache/                      caches in front of the tables (cache/flows_cache.h)
 * upcall/                     packets that are not found, rules that change (upcall/flows_upcall.h)
 */
#pragma once

#include <pthread.h>
#include <stdalign.h>

#include <rte_common.h>

#include <hy_flows_cache.h>
#include <hy_flows_worker.h>

#include "lib/flows/key/flows_hash.h"

#define FLOWS_BURST 64 /* packets whose state is a bitmap */

/* What is unpublished, until workers have left it. The first member of what has it. */
struct flows_garbage {
	struct flows_garbage *next;
	uint64_t token;
	void (*release)(struct hy_flows *flows, struct flows_garbage *garbage);
};

/*
 * A megaflow as workers compare it. What stands behind the tag does not change while the tag names a
 * table, nor for a grace period after that.
 */
struct flows_record {
	/* The number of its table in the lower 16 bits, 0: deleted. Above, how often it was reused. */
	alignas(2 * RTE_CACHE_LINE_MIN_SIZE) uint64_t tag;
	uint32_t action;
	uint32_t hash;                  /* under its mask */
	uint64_t words[HY_FLOWS_WORDS]; /* those of its mask, in their order, masked */
};

#define FLOWS_TABLE(tag) ((uint16_t)(tag))

#define FLOWS_WAYS 7

/* A way is free if its signature is 0. */
struct flows_bucket {
	alignas(RTE_CACHE_LINE_MIN_SIZE) uint32_t signature[FLOWS_WAYS];
	uint32_t next; /* bucket that continues this one; 0: none */
	uint32_t index[FLOWS_WAYS];
	uint32_t spare;
};

struct flows_buckets {
	struct flows_garbage garbage;
	uint32_t mask;   /* of hashes */
	uint32_t nb_all; /* with those that continue others */
	uint32_t next;   /* of these, the first that is not used */
	struct flows_bucket bucket[];
};

/* Writes which ways of the buckets of hashes have their signatures, as bits (classifier/flows_bucket.h). */
typedef void flows_bucket_ways_t(const struct flows_buckets *buckets, const uint32_t hash[],
	uint8_t ways[], uint32_t n);

/* The megaflows of a port that have one mask. */
struct flows_table {
	struct flows_garbage garbage;
	struct flows_buckets *buckets;
	uint16_t number, port;
	uint8_t parse;                /* hy_flows_parse_of() the mask */
	uint8_t nb_words;             /* of the mask */
	uint8_t word[HY_FLOWS_WORDS]; /* which they are */
	uint64_t mask[HY_FLOWS_WORDS];

	struct hy_flows_key full; /* the mask */
	uint32_t nb_flows;
	uint64_t hits, recent; /* as read last, and between the last two readings */
};

/* The tables of a port as workers search them. */
struct flows_order {
	struct flows_garbage garbage;
	uint32_t n;
	struct flows_table *table[];
};

/* Bits of a plain frame (key/flows_plain.h), as they lie there (cache/flows_frames.c). */
struct flows_frame_bits {
	uint64_t words[4];
	uint64_t rest; /* its port, the word about fragments, and TCP's flags */
};

/* What the masks of all tables look at. */
struct flows_union {
	struct flows_garbage garbage;
	uint32_t parse;
	uint32_t nb_words;
	uint8_t word[HY_FLOWS_WORDS];
	uint64_t mask[HY_FLOWS_WORDS];
	struct flows_frame_bits frame; /* the same, of plain frames */
};

struct flows_counts {
	uint64_t packets, bytes;
	uint64_t last; /* the clock */
};

struct flows_caches;

struct flows_worker {
	alignas(RTE_CACHE_LINE_SIZE) struct flows_caches *caches; /* NULL: none */
	struct flows_counts *counts;                              /* by slot */
	uint64_t *hits;                                           /* by number of table */
	bool begun; /* it has caches, if there are any */
	struct hy_flows_lookups lookups;
};

/* What only the control plane knows of a megaflow. */
struct flows_slot {
	uint64_t token;          /* while it waits */
	uint64_t packets, bytes; /* of earlier megaflows in this slot */
	uint32_t created, idle, hard;
	uint32_t credited; /* the clock when it was last; `created` if never */
	uint32_t next;     /* free, or waiting */
};

#define FLOWS_NOWHERE UINT32_MAX

/* The times between two polls that are at least 2^k, and less than twice that. */
struct flows_gap {
	uint32_t begin;  /* of the last one */
	uint32_t length; /* of the longest one; 0: none was */
};

struct hy_flows {
	/* What workers read. */
	struct flows_record *records;
	struct flows_table **tables; /* by number, which is not 0 */
	struct flows_order *order[RTE_MAX_ETHPORTS];
	struct flows_union *looked_at;
	struct flows_worker *workers;
	flows_bucket_ways_t *bucket_ways;
	uint32_t clock; /* since the time was told first */
	uint32_t epoch; /* changes when keys are hashed otherwise */
	struct flows_secret secret;

	alignas(RTE_CACHE_LINE_SIZE) pthread_mutex_t lock;
	struct hy_flows_params params;
	struct flows_slot *slots;
	uint64_t *used; /* a bit for each slot that has a megaflow */
	struct hy_flows_caches kinds;
	uint32_t nb_slots;
	uint32_t free;                  /* the first free slot */
	uint32_t waiting, waiting_last; /* slots in the order of their tokens */
	struct flows_garbage *garbage, **garbage_end;
	bool told;                 /* the time, at least once */
	uint32_t start;            /* when it was told first, and the clock was 0 */
	struct flows_gap gaps[32]; /* by the logarithm of their length */
	uint32_t sorted;           /* the clock when tables were sorted last */
	uint32_t sweep;            /* the slot that hy_flows_poll() looks at next */
	struct hy_flows_stats stats;
};

#define FLOWS_USED_WORDS(slots) (((size_t)(slots) + 63) / 64)

#define FLOWS_LOAD(pointer) __atomic_load_n(&(pointer), __ATOMIC_ACQUIRE)
#define FLOWS_STORE(pointer, value) __atomic_store_n(&(pointer), value, __ATOMIC_RELEASE)

/* Adds to a counter that one thread writes and others read. */
static inline void
flows_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Whether a key, made with these bits of enum hy_flows_parse_bit, has the bits of a table's megaflow. */
static __rte_always_inline bool
flows_same(const struct flows_table *table, const uint64_t words[], const struct hy_flows_key *key,
	const uint32_t nb_words)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < nb_words; i++)
		differ |= (key->words[table->word[i]] & table->mask[i]) ^ words[i];
	return differ == 0;
}

static __rte_always_inline uint32_t
flows_table_hash(const struct flows_secret *secret, const struct flows_table *table,
	const struct hy_flows_key *key, const uint32_t nb_words)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nb_words; i++)
		sum += flows_hash_word(secret, table->word[i],
			key->words[table->word[i]] & table->mask[i]);
	return flows_hash_end(sum);
}

/* The hash of a key by what all masks look at. */
static __rte_always_inline uint32_t
flows_union_hash(const struct flows_secret *secret, const struct flows_union *u,
	const struct hy_flows_key *key)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < u->nb_words; i++)
		sum += flows_hash_word(secret, u->word[i], key->words[u->word[i]] & u->mask[i]);
	return flows_hash_end(sum);
}

static inline uint32_t
flows_signature(uint32_t hash)
{
	return hash | 1u << 31;
}

/* Whether a slot has a megaflow that matches a key. */
static __rte_always_inline bool
flows_matches(const struct hy_flows *f, uint32_t slot, uint32_t parse,
	const struct hy_flows_key *key)
{
	const struct flows_record *record = &f->records[slot];
	const uint16_t number = FLOWS_TABLE(FLOWS_LOAD(record->tag));
	const struct flows_table *table;

	if (number == 0)
		return false;
	table = FLOWS_LOAD(f->tables[number]);
	return (table->parse & ~parse) == 0 &&
		flows_same(table, record->words, key, table->nb_words);
}

/* Starts a grace period, and whether it has passed. */
uint64_t flows_token(const struct hy_flows *f);
bool flows_passed(const struct hy_flows *f, uint64_t token);
/* Has something freed after a grace period; frees what can be. */
void flows_discard(struct hy_flows *f, struct flows_garbage *garbage,
	void (*release)(struct hy_flows *f, struct flows_garbage *garbage));
void flows_reap(struct hy_flows *f);
/* Frees garbage that workers have left, or cannot have seen. */
void flows_release(struct hy_flows *f, struct flows_garbage *garbage);

void *flows_alloc(const struct hy_flows *f, size_t size);

/* A free slot, or FLOWS_NOWHERE. One that is given up is free after a grace period. */
uint32_t flows_slot_take(struct hy_flows *f);
void flows_slot_give_up(struct hy_flows *f, uint32_t slot);
struct flows_counts flows_slot_counts(const struct hy_flows *f, uint32_t slot);

/* The table of a port and mask, or NULL. */
struct flows_table *flows_table_of(const struct hy_flows *f, uint16_t port,
	const struct hy_flows_key *mask);
int flows_table_create(struct hy_flows *f, uint16_t port, const struct hy_flows_key *mask,
	struct flows_table **out);
/* Of a table without megaflows. */
void flows_table_discard(struct hy_flows *f, struct flows_table *table);
/* The slot of a key in a table, or HY_FLOWS_MISS. */
uint32_t flows_table_find(const struct hy_flows *f, const struct flows_table *table,
	const struct hy_flows_key *key);
/* Shows a slot, whose record is complete, to workers, or hides it. */
int flows_table_insert(struct hy_flows *f, struct flows_table *table, uint32_t slot);
void flows_table_remove(struct flows_table *table, uint32_t slot, uint32_t hash);

/*
 * Has keys and frames be looked at as far as a mask does, before the first megaflow that has it is written: an
 * old entry of an index may lead workers to that before it is in a table that they search.
 */
int flows_mask_show(struct hy_flows *f, const struct hy_flows_key *mask);
/* Adds or removes a table; removes empty ones; sorts all by what they were hit since the last time. */
int flows_order_add(struct hy_flows *f, struct flows_table *table);
void flows_order_remove(struct hy_flows *f, const struct flows_table *table);
void flows_order_clean(struct hy_flows *f);
void flows_order_sort(struct hy_flows *f);

/* A megaflow as it was found: it is there as long as its record has this tag. */
struct flows_found {
	uint64_t tag;
	uint32_t slot; /* HY_FLOWS_MISS: none */
	uint32_t action;
};

/* The megaflow that matches a key, made with all bits. */
struct flows_found flows_find_key(struct hy_flows *f, const struct hy_flows_key *key);
/* As hy_flows_add(). */
int flows_add_found(struct hy_flows *f, const struct hy_flows_flow *flow,
	struct flows_found *found);
/* The slot of the megaflow that matches a key, without the lock, by a worker; or HY_FLOWS_MISS. */
uint32_t flows_search(const struct hy_flows *f, const struct hy_flows_key *key);

/* Deletes the megaflow of a slot. Its table stays, even if it is empty. */
void flows_delete(struct hy_flows *f, uint32_t slot);
struct hy_flows_entry flows_entry(const struct hy_flows *f, uint32_t slot);
