/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers do besides lookups: hash keys, read actions, count. */

#include <rte_prefetch.h>

#include "lib/flows/flows.h"

uint32_t
hy_flows_parse(const struct hy_flows *f)
{
	return FLOWS_LOAD(f->looked_at)->parse;
}

/* As flows_union_hash(), for each number of words. */
static __rte_always_inline void
hashes(const struct flows_secret *secret, const struct flows_union *u,
	const struct hy_flows_key key[], uint32_t hash[], uint32_t n, const uint32_t nb_words)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t sum = 0;

		for (uint32_t w = 0; w < nb_words; w++)
			sum += flows_hash_word(secret, u->word[w],
				key[i].words[u->word[w]] & u->mask[w]);
		hash[i] = flows_hash_end(sum);
	}
}

void
hy_flows_hashes(const struct hy_flows *f, const struct hy_flows_key key[], uint32_t hash[],
	uint32_t n)
{
	const struct flows_union *u = FLOWS_LOAD(f->looked_at);

	switch (u->nb_words) {
	case 1:
		hashes(&f->secret, u, key, hash, n, 1);
		break;
	case 2:
		hashes(&f->secret, u, key, hash, n, 2);
		break;
	case 3:
		hashes(&f->secret, u, key, hash, n, 3);
		break;
	case 4:
		hashes(&f->secret, u, key, hash, n, 4);
		break;
	case 5:
		hashes(&f->secret, u, key, hash, n, 5);
		break;
	default:
		hashes(&f->secret, u, key, hash, n, u->nb_words);
	}
}

uint32_t
hy_flows_named(const struct hy_flows *f, const struct hy_flows_ref *const ref[], uint32_t flow[],
	uint32_t n)
{
	uint32_t misses = 0;

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(&f->records[ref[i]->slot]);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t tag = __atomic_load_n(&ref[i]->tag, __ATOMIC_RELAXED);
		const bool there = tag != 0 && FLOWS_LOAD(f->records[ref[i]->slot].tag) == tag;

		flow[i] = there ? ref[i]->slot : HY_FLOWS_MISS;
		misses += !there;
	}
	return misses;
}

bool
hy_flows_match(const struct hy_flows *f, uint32_t flow, uint32_t parse,
	const struct hy_flows_key *key)
{
	return flows_matches(f, flow, parse, key);
}

void
hy_flows_actions(const struct hy_flows *f, const uint32_t flow[], uint32_t action[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (flow[i] != HY_FLOWS_MISS)
			action[i] = FLOWS_LOAD(f->records[flow[i]].action);
}

void
hy_flows_count(struct hy_flows *f, unsigned int worker, const uint32_t flow[],
	const uint32_t bytes[], uint32_t n)
{
	struct flows_counts *counts = f->workers[worker].counts;
	const uint32_t now = __atomic_load_n(&f->clock, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n; i++)
		if (flow[i] != HY_FLOWS_MISS)
			rte_prefetch0(&counts[flow[i]]);
	for (uint32_t i = 0; i < n; i++) {
		struct flows_counts *c = &counts[flow[i]];

		if (flow[i] == HY_FLOWS_MISS)
			continue;
		flows_add(&c->packets, 1);
		flows_add(&c->bytes, bytes[i]);
		__atomic_store_n(&c->last, now, __ATOMIC_RELAXED);
	}
}

void
hy_flows_lookups(const struct hy_flows *f, unsigned int worker, struct hy_flows_lookups *lookups)
{
	const struct hy_flows_lookups *from = &f->workers[worker].lookups;

	*lookups = (struct hy_flows_lookups){
		.packets = __atomic_load_n(&from->packets, __ATOMIC_RELAXED),
		.frames = __atomic_load_n(&from->frames, __ATOMIC_RELAXED),
		.exact = __atomic_load_n(&from->exact, __ATOMIC_RELAXED),
		.index = __atomic_load_n(&from->index, __ATOMIC_RELAXED),
		.masks = __atomic_load_n(&from->masks, __ATOMIC_RELAXED),
		.misses = __atomic_load_n(&from->misses, __ATOMIC_RELAXED),
		.tables = __atomic_load_n(&from->tables, __ATOMIC_RELAXED),
	};
}
