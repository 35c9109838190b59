/* SPDX-License-Identifier: BSD-3-Clause */
/* All kernels that this CPU can run find the same slots, and those are right. */

#include <string.h>

#include <hy_graph.h>

#include "drivers/nodes/generic/l2_table/l2_find.h"
#include "l2_fixture.h"
#include "unit_cpu.h"

struct kernel {
	const char *name;
	hy_l2_find_t *find;
	bool (*can_run)(void);
	uint64_t compared;
};

static struct kernel kernels[] = {
#ifdef RTE_ARCH_X86_64
	{ "avx2", hy_l2_find_avx2, has_avx2, 0 },
	{ "avx512", hy_l2_find_avx512, has_avx512, 0 },
#else
	{ "neon", hy_l2_find_neon, always, 0 },
#endif
};

static struct {
	uint64_t hits, overflow_hits, misses;
} outcome;

/* Looks keys up with all kernels, and compares. */
static void
compare(const uint64_t key[], uint32_t n)
{
	uint32_t right[HY_BURST_MAX + 1], slot[HY_BURST_MAX + 1];

	hy_l2_find_scalar(view, key, right, n);
	for (uint32_t i = 0; i < n; i++) {
		outcome.misses += right[i] == view->none;
		outcome.overflow_hits += right[i] != view->none && right[i] >= view->overflow_base;
		outcome.hits += right[i] < view->overflow_base;
		if (right[i] < view->overflow_base)
			assert_int_equal(view->words[right[i]], key[i]);
	}
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++) {
		if (!kernels[k].can_run())
			continue;
		memset(slot, 0xa5, sizeof(slot));
		kernels[k].find(view, key, slot, n);
		for (uint32_t i = 0; i < n; i++)
			if (slot[i] != right[i])
				fail_msg("%s: key %u of %u, %jx, is in slot %u, not %u",
					kernels[k].name, i, n, (uintmax_t)key[i], right[i],
					slot[i]);
		assert_int_equal(slot[n], 0xa5a5a5a5); /* no more than n are written */
		kernels[k].compared += n;
	}
}

/* Compares all keys in bursts of 1 to HY_BURST_MAX. */
static void
compare_all(const uint64_t keys[], uint32_t n, uint64_t *seed)
{
	for (uint32_t at = 0, burst; at < n; at += burst) {
		burst = 1 + l2_random(seed) % HY_BURST_MAX;
		burst = l2_random(seed) % 4 == 0 ? HY_BURST_MAX : burst;
		burst = RTE_MIN(burst, n - at);
		compare(keys + at, burst);
	}
}

static void
begin(void)
{
	memset(&outcome, 0, sizeof(outcome));
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++)
		kernels[k].compared = 0;
}

/* So many comparisons by each kernel that can run, and so many of each outcome. */
static void
end(uint64_t compared, uint64_t hits, uint64_t overflow_hits, uint64_t misses)
{
	for (unsigned int k = 0; k < RTE_DIM(kernels); k++)
		if (kernels[k].can_run())
			assert_true(kernels[k].compared >= compared);
		else
			print_message("%s: this CPU cannot run it\n", kernels[k].name);
	assert_true(outcome.hits >= hits);
	assert_true(outcome.overflow_hits >= overflow_hits);
	assert_true(outcome.misses >= misses);
	print_message("%ju hits, %ju in the overflow, %ju misses\n", (uintmax_t)outcome.hits,
		(uintmax_t)outcome.overflow_hits, (uintmax_t)outcome.misses);
}

static void
shuffle(uint64_t keys[], uint32_t n, uint64_t *seed)
{
	for (uint32_t i = n; i-- > 1;) {
		const uint32_t other = l2_random(seed) % (i + 1);
		const uint64_t key = keys[i];

		keys[i] = keys[other];
		keys[other] = key;
	}
}

/* A third of the keys is in a full table, of which a fifth is then deleted. */
static void
kernels_agree_on_random_keys(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 7, 8, 64, 200, 1024, 16384 };
	static uint64_t keys[3 * 16384];
	uint64_t seed = 1;

	RTE_SET_USED(state);
	begin();
	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		const uint32_t size = sizes[s];

		table_new(size, NULL);
		for (uint32_t i = 0; i < 3 * size; i++)
			keys[i] = key_of(l2_random(&seed),
				(uint16_t)(l2_random(&seed) % HY_L2_VIDS));
		for (uint32_t i = 0; i < size; i++)
			assert_int_equal(learn(keys[i], (uint16_t)(i % 16)), HY_L2_LEARNED);
		for (uint32_t i = 1; i < size; i += 5)
			assert_int_equal(hy_l2_delete(table, keys[i]), 0);
		shuffle(keys, 3 * size, &seed);
		compare_all(keys, 3 * size, &seed);
		hy_l2_table_destroy(table);
		table = NULL;
	}
	end(50000, 13000, 70, 35000);
}

/* One bucket, with each number of keys, and with each subset of them deleted. */
static void
kernels_agree_on_a_bucket_in_each_state(void **state)
{
	enum { N = HY_L2_WAYS + 4 };
	uint64_t keys[N + 4], seed = 2;

	RTE_SET_USED(state);
	begin();
	for (uint32_t count = 0; count <= N; count++) {
		for (uint32_t gone = 0; gone < 1u << RTE_MIN(count, (uint32_t)HY_L2_WAYS); gone++) {
			table_new(32, NULL);
			keys_of_bucket(gone % 8, keys, N + 4);
			for (uint32_t i = 0; i < count; i++)
				assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
			for (uint32_t i = 0; i < HY_L2_WAYS; i++)
				if ((gone >> i & 1) != 0)
					assert_int_equal(hy_l2_delete(table, keys[i]), 0);
			compare_all(keys, N + 4, &seed);
			hy_l2_table_destroy(table);
			table = NULL;
		}
	}
	end(10000, 5000, 1000, 5000);
}

/* Keys that differ in one bit from one that is there, and those of VLANs 0 and 4095. */
static void
kernels_agree_on_keys_that_nearly_match(void **state)
{
	uint64_t keys[64], near[64], seed = 3;
	uint32_t n;

	RTE_SET_USED(state);
	begin();
	table_new(4, NULL); /* two buckets: a near miss is in the bucket of the key half the time */
	for (uint32_t round = 0; round < 50; round++) {
		hy_l2_flush(table, HY_L2_ANY, HY_L2_ANY, true);
		for (uint32_t i = 0; i < 4; i++) {
			const uint16_t vid = i == 0 ? 0 : i == 1 ? 4095 : (uint16_t)(round * 80);

			keys[i] = round == 0 && i == 0 ? HY_L2_KEY : key_of(l2_random(&seed), vid);
			assert_int_equal(learn(keys[i], 1), HY_L2_LEARNED);
		}
		for (uint32_t i = 0; i < 4; i++) {
			n = 0;
			for (uint32_t bit = 0; bit < 60; bit++) /* of the MAC address and VLAN */
				near[n++] = keys[i] ^ UINT64_C(1) << bit;
			near[n++] = keys[i];
			compare_all(near, n, &seed);
		}
	}
	end(50 * 4 * 61, 50 * 4, 0, 50 * 4 * 60 - 100);
}

static const struct CMUnitTest tests[] = {
	L2_TEST(kernels_agree_on_random_keys),
	L2_TEST(kernels_agree_on_a_bucket_in_each_state),
	L2_TEST(kernels_agree_on_keys_that_nearly_match),
};
UNIT_SUITE(tests)
