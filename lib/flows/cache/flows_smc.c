/* SPDX-License-Identifier: BSD-3-Clause */
/* The signature-match cache: 2^18 buckets of four signatures and numbers of 16 bits. */

#include <rte_branch_prediction.h>

#include "flows_cache.h"

#define BUCKETS (1u << 18)
#define WAYS 4

struct bucket {
	uint16_t signature[WAYS];
	uint16_t slot[WAYS]; /* 1 more than it is; 0: empty */
};

struct smc {
	uint32_t random;
	alignas(RTE_CACHE_LINE_SIZE) struct bucket bucket[BUCKETS];
};

static __rte_always_inline void
fetch(const struct smc *index, uint32_t hash)
{
	__builtin_prefetch(&index->bucket[hash & (BUCKETS - 1)]);
}

static __rte_always_inline void
ways(const struct smc *index, const uint32_t hash[], uint16_t way[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct bucket *bucket = &index->bucket[hash[i] & (BUCKETS - 1)];
		uint32_t bits = 0;

		for (uint32_t w = 0; w < WAYS; w++)
			bits |= (uint32_t)(bucket->signature[w] == hash[i] >> 16 &&
					bucket->slot[w] != 0)
				<< w;
		way[i] = (uint16_t)bits;
	}
}

static __rte_always_inline uint32_t
slot_of(const struct hy_flows *f, const struct smc *index, uint32_t hash, uint32_t way)
{
	RTE_SET_USED(f);
	return index->bucket[hash & (BUCKETS - 1)].slot[way] - 1u;
}

#define FIND smc_find
#define FIND_BODY smc_find_body
#define OTHERS smc_others
#define INDEX struct smc
#include "flows_index_find.h"

static size_t
smc_bytes(const struct hy_flows_caches *caches)
{
	RTE_SET_USED(caches);
	return sizeof(struct smc);
}

static void
smc_init(void *index, const struct hy_flows_caches *caches)
{
	RTE_SET_USED(index);
	RTE_SET_USED(caches);
}

/* In place of the same signature, or into an empty way, or in place of any. */
static bool
smc_enter(const struct hy_flows *f, void *memory, uint32_t hash, uint32_t slot)
{
	struct smc *index = memory;
	struct bucket *bucket = &index->bucket[hash & (BUCKETS - 1)];
	uint32_t way = flows_random_next(&index->random) % WAYS;
	bool empty;

	RTE_SET_USED(f);
	if (slot >= UINT16_MAX)
		return false;
	for (uint32_t w = 0; w < WAYS; w++)
		if (bucket->slot[w] == 0)
			way = w;
	for (uint32_t w = 0; w < WAYS; w++)
		if (bucket->slot[w] != 0 && bucket->signature[w] == hash >> 16)
			way = w;
	empty = bucket->slot[way] == 0;
	bucket->signature[way] = (uint16_t)(hash >> 16);
	bucket->slot[way] = (uint16_t)(slot + 1);
	return empty;
}

const struct flows_index_ops flows_smc = {
	.name = "smc",
	.bytes = smc_bytes,
	.init = smc_init,
	.find = smc_find,
	.enter = smc_enter,
};
