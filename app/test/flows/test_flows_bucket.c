/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that compare signatures in a table's buckets, against the scalar one. */

#include <stdlib.h>
#include <string.h>

#include "lib/flows/classifier/flows_bucket.h"

#include "flows_fixture.h"
#include "unit_cpu.h"

#define BUCKETS 64
#define BURST FLOWS_BURST
#define ROUNDS 5000

static const struct {
	const char *name;
	flows_bucket_ways_t *ways;
	bool (*can_run)(void);
} kernels[] = {
#ifdef RTE_ARCH_X86_64
	{ "avx2", flows_bucket_ways_avx2, has_avx2 },
	{ "avx512", flows_bucket_ways_avx512, has_avx512 },
#else
	{ "neon", flows_bucket_ways_neon, always },
#endif
};

/* A hash of few signatures. */
static uint32_t
hash_any(uint64_t *seed)
{
	return flows_random(seed) % BUCKETS | (flows_random(seed) % 4) << 20 |
		(flows_random(seed) % 2) << 31;
}

/* A third of the ways are free, half of the buckets are continued, some by one that looks like a hash. */
static void
buckets_fill(struct flows_buckets *buckets, uint64_t *seed)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct flows_bucket *bucket = &buckets->bucket[i];

		for (uint32_t way = 0; way < FLOWS_WAYS; way++)
			bucket->signature[way] = flows_random(seed) % 3 == 0
				? 0
				: flows_signature(hash_any(seed) & ~(BUCKETS - 1)) | i;
		bucket->next = flows_random(seed) % 2 == 0 ? 0
			: flows_random(seed) % 2 == 0      ? 1
							   : flows_signature(i);
	}
}

static void
kernels_agree_on_ways_of_buckets(void **state)
{
	struct flows_buckets *buckets;
	uint32_t compared = 0, none = 0, several = 0, continued = 0;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	buckets = aligned_alloc(RTE_CACHE_LINE_SIZE,
		sizeof(*buckets) + BUCKETS * sizeof(struct flows_bucket));
	assert_non_null(buckets);
	memset(buckets, 0, sizeof(*buckets));
	buckets->mask = BUCKETS - 1;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t n = 1 + round % BURST;
		uint8_t right[BURST], ways[BURST + 1];
		uint32_t hash[BURST];

		buckets_fill(buckets, &seed);
		for (uint32_t i = 0; i < n; i++)
			hash[i] = hash_any(&seed);
		flows_bucket_ways_scalar(buckets, hash, right, n);
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t bits = right[i] & (BUCKET_CONTINUED - 1);

			none += bits == 0;
			several += (bits & (bits - 1)) != 0;
			continued += (right[i] & BUCKET_CONTINUED) != 0;
		}
		for (uint32_t k = 0; k < RTE_DIM(kernels); k++) {
			if (!kernels[k].can_run())
				continue;
			memset(ways, 0xa5, sizeof(ways));
			kernels[k].ways(buckets, hash, ways, n);
			for (uint32_t i = 0; i < n; i++)
				if (ways[i] != right[i])
					fail_msg("%s: ways %x, not %x", kernels[k].name, ways[i],
						right[i]);
			assert_int_equal(ways[n], 0xa5);
			compared += n;
		}
	}
	free(buckets);
	print_message("%u compared, %u without, %u with several\n", compared, none, several);
	assert_true(compared == 0 || compared >= ROUNDS * BURST / 2);
#ifndef __SANITIZE_THREAD__
	assert_true(flows_bucket_ways_best() != flows_bucket_ways_scalar || compared == 0);
#endif
	assert_true(none > 20000 && several > 20000 && continued > 60000);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(kernels_agree_on_ways_of_buckets),
};
UNIT_SUITE(tests)
