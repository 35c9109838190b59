/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Megaflows against the rules that made them: each packet gets the action that a search of all rules
 * gives, and a megaflow matches all packets that are the same in the bits of its mask, and no others.
 */

#include <errno.h>
#include <string.h>

#include "flows_fixture.h"

#define BURST 256

static struct {
	uint64_t packets, hits, misses, refused, masks_most;
	struct hy_flows_lookups by[HY_FLOWS_EXACTS][HY_FLOWS_INDEXES];
} seen;

/* Caches at present, and what had been counted when they were switched. */
static struct hy_flows_caches kinds;
static struct hy_flows_lookups earlier;

static void
caches_count(void)
{
	struct hy_flows_lookups *by = &seen.by[kinds.exact][kinds.index], now;

	hy_flows_lookups(flows, 0, &now);
	by->packets += now.packets - earlier.packets;
	by->exact += now.exact - earlier.exact;
	by->index += now.index - earlier.index;
	by->masks += now.masks - earlier.masks;
	earlier = now;
}

/* Switches caches in the middle of the traffic; at times to a small index, whose lines overflow. */
static void
caches_switch(uint64_t *seed)
{
	caches_count();
	kinds = (struct hy_flows_caches){
		.exact = (enum hy_flows_exact)(flows_random(seed) % HY_FLOWS_EXACTS),
		.exact_one_in = 1 + flows_random(seed) % 2 * 9,
		.index = (enum hy_flows_index)(flows_random(seed) % HY_FLOWS_INDEXES),
		.lines_log = flows_random(seed) % 2 * 4,
	};
	assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
}

/* Deletes some megaflows. Caches still have entries for them, which must not match. */
static void
delete_some(uint64_t *seed)
{
	uint32_t cursor = flows_random(seed) % 500;
	struct hy_flows_entry entry;

	if (hy_flows_dump(flows, &cursor, &entry, 1) == 1)
		assert_int_equal(hy_flows_delete(flows, &entry.flow.key, &entry.flow.mask), 0);
}

/* What is missed is asked of the rules, and installed as far as there is room. */
static void
install(const struct rules *rules, const struct hy_flows_key *key)
{
	struct hy_flows_flow flow = { .key = *key };
	int rc;

	flow.action = rules_answer(rules, key, &flow.mask);
	rc = hy_flows_add(flows, &flow);
	/* The same packet may have been missed twice in a burst. */
	assert_true(rc == 0 || rc == -EEXIST || rc == -ENOSPC);
	seen.refused += rc == -ENOSPC;
}

static void
burst_compare(const struct rules *rules, const struct hy_flows_key key[], uint32_t n)
{
	uint32_t flow[BURST + 1], action[BURST];
	struct hy_flows_key looked_at;

	flow[n] = 0xa5a5a5a5;
	seen.misses += flows_find(key, flow, n);
	assert_int_equal(flow[n], 0xa5a5a5a5); /* no more than n are written */
	hy_flows_actions(flows, flow, action, n);
	for (uint32_t i = 0; i < n; i++) {
		if (flow[i] == HY_FLOWS_MISS) {
			install(rules, &key[i]);
			continue;
		}
		seen.hits++;
		assert_int_equal(action[i], rules_answer(rules, &key[i], &looked_at));
	}
	seen.packets += n;
}

/* Random packets, of which many come again. */
static void
compare(const struct rules *rules, uint32_t packets, uint64_t *seed)
{
	static struct hy_flows_key pool[4096], key[BURST];

	for (uint32_t i = 0; i < RTE_DIM(pool); i++)
		pool[i] = rules_key(rules, seed);
	for (uint32_t at = 0, n; at < packets; at += n) {
		n = flows_random(seed) % 4 == 0 ? BURST : 1 + flows_random(seed) % BURST;
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t which = flows_random(seed) % RTE_DIM(pool);

			if (flows_random(seed) % 16 == 0)
				pool[which] = rules_key(rules, seed);
			key[i] = pool[which];
		}
		burst_compare(rules, key, n);
		if (flows_random(seed) % 64 == 0)
			hy_flows_poll(flows, at, 100);
		if (flows_random(seed) % 16 == 0)
			caches_switch(seed);
		delete_some(seed);
	}
}

static void
every_packet_gets_the_action_of_the_rules(void **state)
{
	static const uint32_t numbers[] = { 1, 2, 3, 4, 6, 8, 16, 24, 32, 48, 64 };
	const uint32_t wanted = flows_packets(400000);
	const uint32_t packets = wanted / RTE_DIM(numbers) + 1;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	memset(&seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < RTE_DIM(numbers); i++) {
		const struct rules rules = rules_any(numbers[i], &seed);

		flows_new(i % 2 == 0 ? 16384 : 500, 256, 1, NULL);
		kinds = (struct hy_flows_caches){ 0 };
		memset(&earlier, 0, sizeof(earlier));
		compare(&rules, packets, &seed);
		caches_count();
		seen.masks_most = RTE_MAX(seen.masks_most, flows_stats().masks);
		assert_true(flows_stats().masks <= 4 * numbers[i]);
		hy_flows_destroy(flows);
		flows = NULL;
	}
	print_message("%ju packets, %ju hits, up to %ju masks, %ju refused\n",
		(uintmax_t)seen.packets, (uintmax_t)seen.hits, (uintmax_t)seen.masks_most,
		(uintmax_t)seen.refused);
	assert_int_equal(seen.packets, seen.hits + seen.misses);
	assert_true(seen.packets >= wanted);
	assert_true(seen.hits > seen.packets / 3 && seen.misses > seen.packets / 50);
	assert_true(seen.refused > 100 && seen.masks_most > 64);
	for (int e = 0; e < HY_FLOWS_EXACTS; e++) {
		for (int i = 0; i < HY_FLOWS_INDEXES; i++) {
			const struct hy_flows_lookups *by = &seen.by[e][i];

			assert_true(by->packets > seen.packets / 100 && by->masks > 100);
			assert_true(e == 0 ? by->exact == 0 : by->exact > by->packets / 50);
			assert_true(i == 0 ? by->index == 0 : by->index > by->packets / 50);
		}
	}
}

/* A key that differs from another in one bit. */
static struct hy_flows_key
flipped(const struct hy_flows_key *key, uint32_t bit)
{
	struct hy_flows_key other = *key;

	other.words[bit / 64] ^= UINT64_C(1) << bit % 64;
	return other;
}

/* All pairs of one bit, of a megaflow. Returns how many of them its mask has. */
static uint32_t
pairs_compare(const struct rules *rules, const struct hy_flows_entry *entry, uint64_t *seed)
{
	struct hy_flows_key key = entry->flow.key, looked_at;
	uint32_t inside = 0, own, flow;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		key.words[w] |= flows_random64(seed) & ~entry->flow.mask.words[w];
	flows_find(&key, &own, 1);
	assert_int_not_equal(own, HY_FLOWS_MISS);
	for (uint32_t bit = 16; bit < 64 * HY_FLOWS_WORDS; bit++) { /* behind the port */
		const struct hy_flows_key other = flipped(&key, bit);
		const bool in_mask = (entry->flow.mask.words[bit / 64] >> bit % 64 & 1) != 0;

		flows_find(&other, &flow, 1);
		if (in_mask)
			assert_int_not_equal(flow, own);
		else
			assert_int_equal(flow, own);
		if (!in_mask) /* and rightly so */
			assert_int_equal(entry->flow.action,
				rules_answer(rules, &other, &looked_at));
		inside += in_mask;
	}
	return inside;
}

static void
a_megaflow_matches_what_differs_outside_its_mask_only(void **state)
{
	static const uint32_t numbers[] = { 1, 4, 16, 64 };
	static struct hy_flows_entry entries[512];
	uint32_t inside = 0, megaflows = 0;
	uint64_t seed = 2;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(numbers); i++) {
		const struct rules rules = rules_any(numbers[i], &seed);
		uint32_t cursor = 0, n;

		flows_new(16384, 256, 1, NULL);
		memset(&earlier, 0, sizeof(earlier));
		compare(&rules, 2000, &seed);
		n = hy_flows_dump(flows, &cursor, entries, RTE_DIM(entries));
		assert_true(n > 1);
		for (uint32_t e = 0; e < n; e++)
			inside += pairs_compare(&rules, &entries[e], &seed);
		megaflows += n;
		hy_flows_destroy(flows);
		flows = NULL;
	}
	print_message("%u megaflows, %u bits in their masks\n", megaflows, inside);
	assert_true(megaflows > 1000 && inside > 8 * megaflows);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(every_packet_gets_the_action_of_the_rules),
	FLOWS_TEST(a_megaflow_matches_what_differs_outside_its_mask_only),
};
UNIT_SUITE(tests)
