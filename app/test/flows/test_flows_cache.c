/* SPDX-License-Identifier: BSD-3-Clause */
/* Caches in front of the tables: kernels, what is entered and forgotten, memory, what is printed. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "lib/flows/cache/flows_cache.h"
#include "lib/flows/cache/flows_lines.h"

#include "flows_fixture.h"
#include "unit_cpu.h"

#define LINES 64
#define BURST 200

static const struct {
	const char *name;
	flows_ways_t *ways;
	bool (*can_run)(void);
} kernels[] = {
#ifdef RTE_ARCH_X86_64
	{ "avx2", flows_ways_avx2, has_avx2 },
	{ "avx512", flows_ways_avx512, has_avx512 },
#else
	{ "neon", flows_ways_neon, always },
#endif
};

/* Random lines of few signatures; a part of an older generation, or one that differs in one half. */
static void
lines_fill(struct flows_lines *lines, uint64_t *seed)
{
	for (uint32_t l = 0; l < LINES; l++) {
		for (uint32_t i = 0; i < 2 * LINES_LANES; i++)
			lines->line[l][i] = (uint16_t)(flows_random(seed) % 8);
		memcpy(&lines->line[l][lines->ways], &lines->expected[lines->ways], 4);
		if (flows_random(seed) % 4 == 0)
			lines->line[l][lines->ways + flows_random(seed) % 2] ^= (uint16_t)(1
				<< flows_random(seed) % 16);
	}
}

static void
kernels_agree_on_ways(void **state)
{
	const struct hy_flows_caches kinds = { .lines_log = 6 };
	const struct flows_index_ops *all[] = { &flows_lines16, &flows_lines32 };
	uint32_t compared = 0, old = 0, several = 0;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	for (uint32_t round = 0; round < 2000; round++) {
		const struct flows_index_ops *ops = all[round % 2];
		struct flows_lines *lines = rte_zmalloc(NULL, ops->bytes(&kinds), 64);
		uint16_t right[BURST], way[BURST + 1];
		uint32_t hash[BURST];

		assert_non_null(lines);
		ops->init(lines, &kinds);
		for (uint32_t n = flows_random(&seed) % 4; n > 0; n--)
			ops->forget(lines);
		lines_fill(lines, &seed);
		for (uint32_t i = 0; i < BURST; i++)
			hash[i] = (flows_random(&seed) % 8) << 16 | (flows_random(&seed) & 0xffff);
		flows_ways_scalar(lines, hash, right, BURST);
		for (uint32_t i = 0; i < BURST; i++) {
			old += right[i] == 0;
			several += (right[i] & (right[i] - 1)) != 0;
		}
		for (uint32_t k = 0; k < RTE_DIM(kernels); k++) {
			if (!kernels[k].can_run())
				continue;
			memset(way, 0xa5, sizeof(way));
			kernels[k].ways(lines, hash, way, BURST);
			for (uint32_t i = 0; i < BURST; i++)
				if (way[i] != right[i])
					fail_msg("%s: ways %x, not %x", kernels[k].name, way[i],
						right[i]);
			assert_int_equal(way[BURST], 0xa5a5);
			compared += BURST;
		}
		rte_free(lines);
	}
	assert_true(compared >= 2000 * BURST);
	assert_true(old > 50000 && several > 50000);
}

/* Whether an index finds a megaflow of the cache that matches a key. */
static bool
index_finds(const struct flows_index_ops *ops, void *index, uint32_t hash,
	const struct hy_flows_key *key)
{
	uint32_t flow;
	const struct flows_burst b = {
		.key = key, .hash = &hash, .flow = &flow, .parse = HY_FLOWS_PARSE_ALL
	};

	return ops->find(flows, index, &b, 1) == 1;
}

static void
add_all(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hy_flows_flow flow = {
			.key = key_of(i), .mask = MASK_DST, .action = i
		};

		assert_int_equal(hy_flows_add(flows, &flow), 0);
	}
}

static void
a_line_holds_as_many_as_it_has_ways(void **state)
{
	const struct flows_index_ops *all[] = { &flows_lines16, &flows_lines32 };
	const uint32_t ways[] = { LINES_WAYS16, LINES_WAYS32 };
	const struct hy_flows_caches kinds = { .lines_log = 4 };

	RTE_SET_USED(state);
	flows_new(100, 8, 1, NULL);
	add_all(40);
	for (uint32_t w = 0; w < 2; w++) {
		void *index = rte_zmalloc(NULL, all[w]->bytes(&kinds), 64);
		uint32_t found = 0, hash[40], slot[40];
		struct hy_flows_key key[40];

		for (uint32_t i = 0; i < 40; i++) {
			key[i] = key_of(i);
			hash[i] = (i + 1) << 16 | 3;
		}
		flows_find(key, slot, 40);
		all[w]->init(index, &kinds);
		for (uint32_t i = 0; i < 40; i++) {
			all[w]->enter(flows, index, hash[i], slot[i]);
			all[w]->enter(flows, index, hash[i], slot[i]); /* takes no second way */
			if (i < ways[w])
				for (uint32_t j = 0; j <= i; j++)
					assert_true(index_finds(all[w], index, hash[j], &key[j]));
		}
		for (uint32_t i = 0; i < 40; i++)
			found += index_finds(all[w], index, hash[i], &key[i]);
		assert_int_equal(found, ways[w]);
		rte_free(index);
	}
}

static void
all_lines_are_forgotten_at_once_also_when_the_generation_wraps(void **state)
{
	const struct hy_flows_caches kinds = { .lines_log = 4 };
	struct flows_lines *index = rte_zmalloc(NULL, flows_lines16.bytes(&kinds), 64);
	const struct hy_flows_key key = key_of(0);
	uint32_t slot;

	RTE_SET_USED(state);
	flows_new(100, 8, 1, NULL);
	add_all(1);
	flows_find(&key, &slot, 1);
	flows_lines16.init(index, &kinds);
	for (uint32_t round = 0; round < 4; round++) {
		if (round == 1) {
			/* As after so many of them. */
			index->generation = UINT32_MAX;
			memset(&index->expected[LINES_WAYS16], 0xff, 4);
		}
		flows_lines16.enter(flows, index, 0, slot); /* its signature would be 0 */
		assert_true(index_finds(&flows_lines16, index, 0, &key));
		flows_lines16.forget(index);
		assert_false(index_finds(&flows_lines16, index, 0, &key));
	}
	assert_int_equal(index->generation, 3);
	rte_free(index);
}

/* Looks flows up in an index, each once, and enters those that are missed. Returns how many are found. */
static uint32_t
round_of(const struct flows_index_ops *ops, struct flows_lines *index, uint32_t nb_flows)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < nb_flows; i++) {
		const struct hy_flows_key key = key_of(i % 100);
		const uint32_t hash = flows_hash_mix(i + 1);
		uint32_t slot;

		if (index_finds(ops, index, hash, &key)) {
			found++;
			continue;
		}
		flows_find(&key, &slot, 1);
		ops->enter(flows, index, hash, slot);
	}
	return found;
}

static void
lines_in_use_follow_the_number_of_flows(void **state)
{
	static const uint32_t nb_flows[] = { 40, 400, 5000, 50000 };
	const struct flows_index_ops *all[] = { &flows_lines16, &flows_lines32 };
	const struct hy_flows_caches kinds = { .lines_log = 13 };

	RTE_SET_USED(state);
	flows_new(100, 8, 1, NULL);
	add_all(100);
	for (uint32_t w = 0; w < 2; w++) {
		struct flows_lines *index = rte_zmalloc(NULL, all[w]->bytes(&kinds), 64);

		all[w]->init(index, &kinds);
		for (uint32_t i = 0; i < RTE_DIM(nb_flows); i++) {
			const uint32_t n = nb_flows[i];
			uint32_t found = 0;

			for (uint32_t round = 0; round < 20; round++)
				found = round_of(all[w], index, n);
			print_message("%u of %u flows found in %u lines\n", found, n,
				index->mask + 1);
			assert_true(found >= n - n / 32);
			assert_true(index->mask + 1 == 64 || index->mask + 1 <= n / 2);
		}
		assert_int_equal(index->mask + 1, 1 << 13); /* all */
		/* As after so many packets. */
		index->looked = UINT64_C(4096) * (1 << 13) * index->ways - 1;
		all[w]->sweep(flows, index);
		assert_int_equal(index->mask + 1, 1 << 13);
		index->looked++;
		all[w]->sweep(flows, index);
		assert_int_equal(index->mask + 1, 64);
		for (uint32_t round = 0; round < 20; round++)
			round_of(all[w], index, 400);
		assert_true(round_of(all[w], index, 400) >= 390);
		assert_true(index->mask + 1 <= 128);
		rte_free(index);
	}
}

static void
set(enum hy_flows_exact exact, enum hy_flows_index index)
{
	const struct hy_flows_caches kinds = { .exact = exact, .exact_one_in = 1, .index = index };

	assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
}

static struct hy_flows_lookups
lookups(void)
{
	struct hy_flows_lookups l;

	hy_flows_lookups(flows, 0, &l);
	assert_int_equal(l.packets, l.frames + l.exact + l.index + l.masks + l.misses);
	return l;
}

static void
each_cache_finds_what_it_was_told(void **state)
{
	RTE_SET_USED(state);
	flows_new(100, 8, 1, NULL);
	add_all(50);
	for (int exact = 0; exact < HY_FLOWS_EXACTS; exact++) {
		for (int index = 0; index < HY_FLOWS_INDEXES; index++) {
			struct hy_flows_lookups before, after;
			uint32_t flow[50];
			struct hy_flows_key key[50];

			set((enum hy_flows_exact)exact, (enum hy_flows_index)index);
			for (uint32_t i = 0; i < 50; i++)
				key[i] = key_of(i);
			before = lookups();
			for (uint32_t round = 0; round < 10; round++)
				assert_int_equal(flows_find(key, flow, 50), 0);
			after = lookups();
			after.exact -= before.exact;
			after.index -= before.index;
			after.masks -= before.masks;
			/* A few share a place of the exact cache. */
			assert_true(exact != 0 ? after.exact >= 400 && after.exact <= 450
					       : after.exact == 0);
			assert_int_equal(after.index,
				index == 0           ? 0
					: exact != 0 ? 450 - after.exact
						     : 450);
			assert_int_equal(after.masks,
				index != 0           ? 50
					: exact != 0 ? 500 - after.exact
						     : 500);
		}
	}
}

/* A megaflow goes, and another one with the slot comes; nothing tells the caches. */
static void
a_deleted_megaflow_is_found_in_no_cache(void **state)
{
	const struct hy_flows_key key = key_of(7), dst = MASK_DST, all = MASK_5_TUPLE;

	RTE_SET_USED(state);
	for (int exact = 0; exact < HY_FLOWS_EXACTS; exact++) {
		for (int index = 0; index < HY_FLOWS_INDEXES; index++) {
			struct hy_flows_flow flow = { .key = key, .mask = dst, .action = 1 };

			flows_new(1, 8, 1, NULL);
			set((enum hy_flows_exact)exact, (enum hy_flows_index)index);
			/* The slots are used round and round. */
			for (uint32_t i = 0; i < 300; i++) {
				flow.mask = i % 3 == 0 ? all : dst;
				flow.key = i % 2 == 0 ? key : key_of(i + 100);
				flow.action = i;
				assert_int_equal(hy_flows_add(flows, &flow), 0);
				for (uint32_t times = 0; times < 3; times++) {
					assert_int_equal(action_of(&flow.key), i);
					assert_int_equal(action_of(&key),
						i % 2 == 0 ? i : HY_FLOWS_MISS);
				}
				assert_int_equal(hy_flows_delete(flows, &flow.key, &flow.mask), 0);
				assert_int_equal(action_of(&key), HY_FLOWS_MISS);
				assert_int_equal(action_of(&flow.key), HY_FLOWS_MISS);
			}
			hy_flows_destroy(flows);
			flows = NULL;
		}
	}
}

static void
the_exact_cache_is_entered_by_chance(void **state)
{
	const struct hy_flows_caches kinds = { .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 100 };
	struct hy_flows_key key[1];
	uint32_t flow, late = 0;

	RTE_SET_USED(state);
	flows_new(1000, 8, 1, NULL);
	add_all(300);
	assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
	for (uint32_t i = 0; i < 300; i++) {
		const uint64_t before = lookups().exact;

		key[0] = key_of(i);
		for (uint32_t times = 0; lookups().exact == before; times++) {
			assert_true(times < 3000);
			flows_find(key, &flow, 1);
			late++;
		}
	}
	print_message("%u packets until 300 flows were entered\n", late);
	assert_true(late > 300 * 80 && late < 300 * 122); /* 101 on average */
}

static void
wrong_caches_are_refused(void **state)
{
	struct hy_flows_caches bad[6] = { 0 };

	RTE_SET_USED(state);
	flows_new(1, 1, 1, NULL);
	bad[0].exact = HY_FLOWS_EXACTS;
	bad[0].exact_one_in = 1;
	bad[1].index = HY_FLOWS_INDEXES;
	bad[2].exact = HY_FLOWS_EXACT_8K;
	bad[3].lines_log = 3;
	bad[4].lines_log = 25;
	bad[5].index = (enum hy_flows_index) - 1;
	for (uint32_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(hy_flows_caches_set(flows, &bad[i]), -EINVAL);
		assert_int_equal(hy_flows_caches_bytes(flows, &bad[i]), 0);
	}
	assert_int_equal(unit_log_lines(), RTE_DIM(bad));
}

static void
caches_take_the_memory_that_they_say(void **state)
{
	static const size_t exact[] = { 0, 8192 * 592, 16384 * 256 };
	static const size_t index[] = { 0, 8 << 20, 4 << 20, 4 << 20, 8 << 20 };

	RTE_SET_USED(state);
	flows_new(10, 1, 1, NULL);
	for (int k = 0; k < 2 * HY_FLOWS_EXACTS * HY_FLOWS_INDEXES; k++) {
		const int e = k / 2 % HY_FLOWS_EXACTS, i = k / 2 / HY_FLOWS_EXACTS;
		const struct hy_flows_caches kinds = { .frames = k % 2,
			.exact = (enum hy_flows_exact)e,
			.exact_one_in = 1,
			.index = (enum hy_flows_index)i };
		const size_t least = (size_t)(k % 2) * 4096 * 64 + exact[e] + index[i];

		assert_in_range(hy_flows_caches_bytes(flows, &kinds), least, least + 512);
	}
}

static void
without_memory_caches_stay_as_they_are(void **state)
{
	const struct hy_flows_caches kinds = { .frames = true,
		.exact = HY_FLOWS_EXACT_16K,
		.exact_one_in = 1,
		.index = HY_FLOWS_INDEX_DFC };
	const struct hy_flows_key key = key_of(0);
	uint32_t failed = 0, flow;

	RTE_SET_USED(state);
	flows_new(10, 1, 2, NULL);
	add_all(1);
	set(HY_FLOWS_EXACT_NONE, HY_FLOWS_INDEX_LINES);
	flows_find(&key, &flow, 1);
	for (unsigned int nth = 1;; nth++) {
		const uint64_t before = lookups().index;
		int rc;

		unit_alloc_fail(nth);
		rc = hy_flows_caches_set(flows, &kinds);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		flows_find(&key, &flow, 1);
		assert_int_equal(lookups().index, before + 1);
		failed++;
	}
	assert_int_equal(failed, 8); /* of two workers: four each */
}

static void
what_caches_are_and_find_is_printed(void **state)
{
	const struct hy_flows_key key[4] = { key_of(0), key_of(0), key_of(0), key_of(1) };
	uint32_t flow[4];
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	RTE_SET_USED(state);
	flows_new(10, 1, 2, NULL);
	hy_flows_print(flows, out);
	add_all(1);
	set(HY_FLOWS_EXACT_8K, HY_FLOWS_INDEX_SMC);
	flows_find(key, flow, 1);
	flows_find(key + 1, flow, 1);
	flows_find(key, flow, 2);
	flows_find(key + 3, flow, 1);
	hy_flows_print(flows, out);
	fclose(out);
	assert_string_equal(text,
		"frames: none, exact: none, index: none; 0 KiB a worker\n"
		"worker 0: 0 packets, 0.0 % frames, 0.0 % exact, 0.0 % index, 0.0 % masks, 0.0 % missed; 0.0 "
		"tables a hit\n"
		"worker 1: 0 packets, 0.0 % frames, 0.0 % exact, 0.0 % index, 0.0 % masks, 0.0 % missed; 0.0 "
		"tables a hit\n"
		"frames: none, exact: 8192 entries, index: smc; 8832 KiB a worker\n"
		"worker 0: 5 packets, 0.0 % frames, 60.0 % exact, 0.0 % index, 20.0 % masks, 20.0 % missed; 1.0 "
		"tables a hit\n"
		"worker 1: 0 packets, 0.0 % frames, 0.0 % exact, 0.0 % index, 0.0 % masks, 0.0 % missed; 0.0 "
		"tables a hit\n");
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(kernels_agree_on_ways),
	FLOWS_TEST(a_line_holds_as_many_as_it_has_ways),
	FLOWS_TEST(all_lines_are_forgotten_at_once_also_when_the_generation_wraps),
	FLOWS_TEST(lines_in_use_follow_the_number_of_flows),
	FLOWS_TEST(each_cache_finds_what_it_was_told),
	FLOWS_TEST(a_deleted_megaflow_is_found_in_no_cache),
	FLOWS_TEST(the_exact_cache_is_entered_by_chance),
	FLOWS_TEST(wrong_caches_are_refused),
	FLOWS_TEST(caches_take_the_memory_that_they_say),
	FLOWS_TEST(without_memory_caches_stay_as_they_are),
	FLOWS_TEST(what_caches_are_and_find_is_printed),
};
UNIT_SUITE(tests)
