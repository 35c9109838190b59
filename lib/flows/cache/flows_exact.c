/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exact cache: entries with all of a key, and the tag of the record that the megaflow had then. A tag
 * that differs means that the megaflow was deleted, also if its slot has another one since.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_malloc.h>

#include "flows_cache.h"

struct entry {
	uint64_t tag; /* 0: the entry is empty */
	uint32_t hash;
	uint32_t slot;
	struct hy_flows_key key;
	uint32_t parse; /* bits with which the key was made */
};

struct flows_exact {
	uint32_t mask;  /* of entries */
	uint32_t shift; /* of the hash, for the second place; 0: there is none */
	uint32_t size;  /* of an entry, in bytes */
	uint32_t sweep;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t entries[];
};

static const struct {
	uint32_t entries, size, shift;
} kinds[] = { [HY_FLOWS_EXACT_8K] = { 8192, 592, 13 }, [HY_FLOWS_EXACT_16K] = { 16384, 256, 0 } };

static_assert(sizeof(struct entry) <= 256, "all keys fit into the smaller entries");

size_t
flows_exact_bytes(enum hy_flows_exact kind)
{
	return kind == HY_FLOWS_EXACT_NONE
		? 0
		: sizeof(struct flows_exact) + (size_t)kinds[kind].entries * kinds[kind].size;
}

struct flows_exact *
flows_exact_create(const struct hy_flows *f, enum hy_flows_exact kind)
{
	struct flows_exact *exact = flows_alloc(f, flows_exact_bytes(kind));

	if (exact == NULL)
		return NULL;
	exact->mask = kinds[kind].entries - 1;
	exact->size = kinds[kind].size;
	exact->shift = kinds[kind].shift;
	return exact;
}

static __rte_always_inline struct entry *
entry_at(struct flows_exact *exact, uint32_t number)
{
	return (struct entry *)&exact->entries[(size_t)(number & exact->mask) * exact->size];
}

static __rte_always_inline bool
is_alive(const struct hy_flows *f, const struct entry *entry)
{
	return entry->tag != 0 && FLOWS_LOAD(f->records[entry->slot].tag) == entry->tag;
}

static __rte_always_inline bool
is_of(const struct entry *entry, const struct flows_burst *b, uint32_t i)
{
	return entry->hash == b->hash[i] && entry->parse == b->parse &&
		memcmp(&entry->key, &b->key[i], sizeof(entry->key)) == 0;
}

uint64_t
flows_exact_find(const struct hy_flows *f, struct flows_exact *exact, const struct flows_burst *b,
	uint64_t wanted)
{
	uint64_t found = 0;

	FLOWS_EACH(i, wanted) {
		const struct entry *entry = entry_at(exact, b->hash[i]);

		__builtin_prefetch(entry);
		__builtin_prefetch((const uint8_t *)entry + RTE_CACHE_LINE_SIZE);
	}
	FLOWS_EACH(i, wanted) {
		const struct entry *entry = entry_at(exact, b->hash[i]);

		if (!is_of(entry, b, (uint32_t)i) && exact->shift != 0)
			entry = entry_at(exact, b->hash[i] >> exact->shift);
		if (!is_of(entry, b, (uint32_t)i) || !is_alive(f, entry))
			continue;
		b->flow[i] = entry->slot;
		found |= UINT64_C(1) << i;
	}
	return found;
}

/* The entry that gives way: that of the key, or a dead one, or the one with the lower hash. */
static struct entry *
victim(const struct hy_flows *f, struct flows_exact *exact, const struct flows_burst *b, uint32_t i)
{
	struct entry *first = entry_at(exact, b->hash[i]), *second;

	if (exact->shift == 0 || is_of(first, b, i) || !is_alive(f, first))
		return first;
	second = entry_at(exact, b->hash[i] >> exact->shift);
	return is_of(second, b, i) || !is_alive(f, second) || second->hash < first->hash ? second
											 : first;
}

bool
flows_exact_enter(const struct hy_flows *f, struct flows_exact *exact, const struct flows_burst *b,
	uint32_t i)
{
	const uint32_t slot = b->flow[i];
	const uint64_t tag = FLOWS_LOAD(f->records[slot].tag);

	struct entry *entry;
	bool empty;

	if (FLOWS_TABLE(tag) == 0)
		return false;
	entry = victim(f, exact, b, i);
	empty = entry->tag == 0;
	*entry = (struct entry){
		.tag = tag, .hash = b->hash[i], .slot = slot, .key = b->key[i], .parse = b->parse
	};
	return empty;
}

void
flows_exact_sweep(const struct hy_flows *f, struct flows_exact *exact)
{
	struct entry *entry = entry_at(exact, exact->sweep++);

	if (!is_alive(f, entry))
		entry->tag = 0;
}
