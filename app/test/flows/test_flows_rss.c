/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes that NICs deliver: taken from ports that promise them, until they say nothing. */

#include <string.h>

#include <rte_mbuf.h>

#include "flows_fixture.h"

#define BURST 64

static struct rte_mbuf packets[BURST], *mbufs[BURST];
static struct hy_flows_key key[BURST];
static struct hy_flows_rss rss;

/* So many different keys at port 1, and a cache whose masks tell them apart. */
static void
begin(uint32_t keys)
{
	const struct hy_flows_flow flow = { .key = key_of(0), .mask = MASK_DST };

	flows_new(100, 10, 1, NULL);
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	memset(&rss, 0, sizeof(rss));
	for (uint32_t i = 0; i < BURST; i++) {
		packets[i] = (struct rte_mbuf){
			.port = 1, .ol_flags = RTE_MBUF_F_RX_RSS_HASH, .hash.rss = 1000 + i
		};
		mbufs[i] = &packets[i];
		key[i] = key_of(i % keys);
	}
}

/* The last step of MurmurHash3. */
static uint32_t
mixed(uint32_t h)
{
	h = (h ^ (h >> 16)) * 0x85ebca6b;
	h = (h ^ (h >> 13)) * 0xc2b2ae35;
	return h ^ (h >> 16);
}

/* How many packets have the NIC's hash; the others have ours. */
static uint32_t
nics(void)
{
	uint32_t own[BURST], hash[BURST + 1], n = 0;

	hash[BURST] = 0xa5a5a5a5;
	hy_flows_hashes(flows, key, own, BURST);
	hy_flows_rss_hashes(flows, &rss, mbufs, key, hash, BURST);
	assert_int_equal(hash[BURST], 0xa5a5a5a5);
	for (uint32_t i = 0; i < BURST; i++) {
		n += hash[i] == mixed(packets[i].hash.rss);
		assert_true(hash[i] == mixed(packets[i].hash.rss) || hash[i] == own[i]);
	}
	return n;
}

static void
the_nics_hash_is_taken_if_promised_and_there(void **state)
{
	RTE_SET_USED(state);
	begin(BURST);
	assert_int_equal(nics(), 0);
	rss.promised[1] = true;
	assert_int_equal(nics(), BURST);
	packets[3].ol_flags = 0;
	packets[4].port = 2;
	packets[5].port = UINT16_MAX;
	assert_int_equal(nics(), BURST - 3);
}

static void
a_constant_hash_is_noticed_and_not_taken(void **state)
{
	uint32_t bursts = 0;

	RTE_SET_USED(state);
	begin(BURST);
	rss.promised[1] = true;
	for (uint32_t i = 0; i < BURST; i++)
		packets[i].hash.rss = 7;
	for (; nics() == BURST; bursts++)
		assert_true(bursts < 10000);
	assert_int_equal(bursts, 4 * 64); /* in each 64th, 63 pairs */
	assert_true(rss.constant[1]);
	assert_int_equal(nics(), 0);
}

/* Few keys in a row that differ, and have hashes that differ too. */
static void
a_hash_that_tells_keys_apart_stays(void **state)
{
	static const uint32_t keys[] = { 1, 2, BURST };

	RTE_SET_USED(state);
	for (uint32_t k = 0; k < RTE_DIM(keys); k++) {
		begin(keys[k]);
		rss.promised[1] = true;
		for (uint32_t i = 0; i < BURST; i++)
			packets[i].hash.rss = i % keys[k];
		for (uint32_t bursts = 0; bursts < 2000; bursts++)
			assert_int_equal(nics(), BURST);
		assert_false(rss.constant[1]);
		hy_flows_destroy(flows);
		flows = NULL;
	}
}

/*
 * Looks up so many flows of a queue in four rounds. Returns how many of a thousand caches found in the
 * last one.
 */
static uint32_t
cached(const struct hy_flows_caches *caches, uint32_t n, uint32_t queues)
{
	struct hy_flows_lookups before = { 0 }, after;
	uint32_t hash[BURST], flow[BURST];

	begin(BURST);
	rss.promised[1] = true;
	for (uint32_t i = 1; i < BURST; i++) {
		const struct hy_flows_flow f = { .key = key_of(i), .mask = MASK_DST };

		assert_int_equal(hy_flows_add(flows, &f), 0);
	}
	assert_int_equal(hy_flows_caches_set(flows, caches), 0);
	for (uint32_t round = 0; round < 4; round++) {
		uint64_t seed = 1;

		hy_flows_lookups(flows, 0, &before);
		for (uint32_t at = 0; at < n; at += BURST) {
			for (uint32_t i = 0; i < BURST; i++) {
				packets[i].hash.rss = flows_random(&seed) / queues * queues;
				key[i].src = at + i;
			}
			hy_flows_rss_hashes(flows, &rss, mbufs, key, hash, BURST);
			assert_int_equal(hy_flows_lookup(flows, 0, HY_FLOWS_PARSE_ALL, key, hash,
						 flow, BURST),
				0);
		}
	}
	hy_flows_lookups(flows, 0, &after);
	hy_flows_destroy(flows);
	flows = NULL;
	assert_false(rss.constant[1]);
	return (uint32_t)((after.exact + after.index - before.exact - before.index) * 1000 /
		(after.packets - before.packets));
}

static void
hashes_of_one_queue_of_sixteen_fill_all_of_a_cache(void **state)
{
	static const struct {
		struct hy_flows_caches caches;
		uint32_t flows;
	} kinds[] = {
		{ { .exact = HY_FLOWS_EXACT_8K, .exact_one_in = 1 }, 4096 },
		{ { .exact = HY_FLOWS_EXACT_16K, .exact_one_in = 1 }, 4096 },
		{ { .exact_one_in = 1, .index = HY_FLOWS_INDEX_DFC_POINTERS }, 262144 },
		{ { .exact_one_in = 1, .index = HY_FLOWS_INDEX_DFC }, 262144 },
		{ { .exact_one_in = 1, .index = HY_FLOWS_INDEX_SMC }, 262144 },
		{ { .exact_one_in = 1, .index = HY_FLOWS_INDEX_LINES }, 524288 },
	};

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(kinds); i++) {
		const uint32_t all = cached(&kinds[i].caches, kinds[i].flows, 1);
		const uint32_t one = cached(&kinds[i].caches, kinds[i].flows, 16);

		print_message("kind %u: caches find %u of 1000, and %u of one queue\n", i, all,
			one);
		assert_true(all > 600);
		assert_true(one * 100 > all * 95);
	}
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(the_nics_hash_is_taken_if_promised_and_there),
	FLOWS_TEST(a_constant_hash_is_noticed_and_not_taken),
	FLOWS_TEST(a_hash_that_tells_keys_apart_stays),
	FLOWS_TEST(hashes_of_one_queue_of_sixteen_fill_all_of_a_cache),
};
UNIT_SUITE(tests)
