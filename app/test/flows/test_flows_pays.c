/* SPDX-License-Identifier: BSD-3-Clause */
/* Caches that do not pay are skipped, and come back: with clocks that are made up, and with real ones. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flows/cache/flows_pays.h"
#include "lib/flows/key/flows_hash.h"

#include "flows_fixture.h"

#define BURST 32
#define MEGAFLOWS 64
#define BURSTS 200000 /* of a time with one kind of traffic */

/* A kind of traffic: clocks of a packet with no cache, the exact one or that of frames, the index, and both. */
struct traffic {
	const char *name;
	uint32_t clocks[4];
	uint32_t best; /* of these */
};

/* Which of these a set of levels is. */
static uint32_t
choice_of(uint32_t levels)
{
	const uint32_t first = PAYS_BIT(PAYS_EXACT) | PAYS_BIT(PAYS_FRAMES);

	return ((levels & first) != 0) | (uint32_t)((levels & PAYS_BIT(PAYS_INDEX)) != 0) << 1;
}

static const struct traffic kinds_of_traffic[] = {
	{ "one mask, few flows", { 60, 50, 40, 55 }, 2 },
	{ "64 masks, many flows", { 600, 540, 60, 100 }, 2 },
	{ "one mask, a million flows", { 60, 190, 90, 220 }, 0 },
	{ "64 masks, eight flows", { 600, 30, 60, 31 }, 1 },
	{ "every packet new", { 200, 320, 260, 380 }, 0 },
	{ "a burst is found in part by each", { 600, 300, 200, 120 }, 3 },
	{ "all the same", { 100, 100, 100, 100 }, UINT32_MAX },
};

/* Clocks with noise of a tenth, and one burst in a hundred that something interrupts. */
static uint64_t
noisy(uint64_t clocks, uint64_t *seed)
{
	clocks += clocks * (flows_random(seed) % 64) / 640;
	return flows_random(seed) % 100 == 0 ? clocks + 100000 : clocks;
}

/* Bursts of one kind of traffic. Returns the clocks of all but the first `learning` ones. */
static uint64_t
traffic_run(struct flows_pays *pays, const struct traffic *t, uint32_t learning, uint64_t *seed)
{
	uint64_t sum = 0;

	for (uint32_t b = 0; b < BURSTS; b++) {
		const uint32_t levels = flows_pays_next(pays);
		const uint32_t n = 1 + flows_random(seed) % BURST;
		const uint64_t clocks = (uint64_t)t->clocks[choice_of(levels)] * n;

		flows_pays_count(pays, PAYS_EXACT, n, n / 2);
		flows_pays_count(pays, PAYS_FRAMES, n, n / 2);
		flows_pays_count(pays, PAYS_INDEX, n, n);
		flows_pays_take(pays, noisy(clocks, seed), n);
		sum += b < learning ? 0 : (uint64_t)t->clocks[choice_of(levels)] * BURST;
	}
	return sum;
}

static void
pays_try(const struct hy_flows_caches *kinds)
{
	uint32_t compared = 0, changed = 0;
	struct flows_pays pays;
	uint64_t seed = 1;

	flows_pays_init(&pays, kinds);
	for (uint32_t round = 0; round < 40; round++) {
		const struct traffic *t =
			&kinds_of_traffic[flows_random(&seed) % RTE_DIM(kinds_of_traffic)];
		const uint32_t before = pays.levels, learning = BURSTS / 2;
		const uint64_t sum = traffic_run(&pays, t, learning, &seed);
		const uint64_t best = (uint64_t)(BURSTS - learning) * BURST *
			t->clocks[t->best == UINT32_MAX ? 0 : t->best];

		if (t->best != UINT32_MAX && choice_of(pays.levels) != t->best)
			fail_msg("%s: levels %#x, not choice %u", t->name, pays.levels, t->best);
		if (sum > best + best / 25)
			fail_msg("%s: %ju clocks, more than 4 %% above %ju", t->name,
				(uintmax_t)sum, (uintmax_t)best);
		changed += before != pays.levels;
		compared++;
	}
	print_message("%u times of traffic, levels changed after %u\n", compared, changed);
	assert_true(changed > 15);
	for (uint32_t level = 0; level < PAYS_LEVELS; level++) {
		const struct hy_flows_level *view = &pays.view[level];

		assert_int_equal(view->present, (pays.all >> level & 1) != 0);
		if (!view->present)
			continue;
		assert_true(view->changes > 5 && view->changes < 40);
		assert_int_equal(view->skipped, (pays.levels >> level & 1) == 0);
	}
}

static void
what_does_not_pay_is_skipped_until_traffic_changes(void **state)
{
	const struct hy_flows_caches exact = { .exact = HY_FLOWS_EXACT_8K,
		.exact_one_in = 1,
		.index = HY_FLOWS_INDEX_LINES,
		.automatic = true };
	const struct hy_flows_caches frames = {
		.frames = true, .index = HY_FLOWS_INDEX_LINES, .automatic = true
	};

	RTE_SET_USED(state);
	pays_try(&exact);
	pays_try(&frames);
}

static void
a_cache_that_is_being_filled_is_not_judged(void **state)
{
	const struct hy_flows_caches kinds = { .index = HY_FLOWS_INDEX_LINES, .automatic = true };
	const struct traffic bad = { "no use", { 60, 0, 90, 0 }, 0 };
	struct flows_pays pays;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	flows_pays_init(&pays, &kinds);
	for (uint32_t b = 0; b < 100000; b++) {
		const uint32_t levels = flows_pays_next(&pays);

		flows_pays_count(&pays, PAYS_INDEX, BURST, 0);
		pays.filled[PAYS_INDEX] += 3;
		flows_pays_take(&pays, bad.clocks[levels] * BURST, BURST);
	}
	assert_int_equal(pays.levels, PAYS_BIT(PAYS_INDEX));
	assert_true(pays.view[PAYS_INDEX].with > 8900 && pays.view[PAYS_INDEX].without < 6100);
	traffic_run(&pays, &bad, 0, &seed);
	assert_int_equal(pays.levels, 0);
	assert_true(pays.view[PAYS_INDEX].skipped);
	assert_false(pays.view[PAYS_EXACT].present);
}

/* A poll of ports that find nothing is a burst of none. */
static void
empty_bursts_kept_a_cache_in_use_that_does_not_pay(void **state)
{
	const struct hy_flows_caches kinds = { .index = HY_FLOWS_INDEX_LINES, .automatic = true };
	uint32_t empty = 0;
	struct flows_pays pays;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	flows_pays_init(&pays, &kinds);
	for (uint32_t b = 0; b < 100000; b++) {
		const uint32_t clocks = flows_pays_next(&pays) == 0 ? 60 : 90;
		const uint32_t n = flows_random(&seed) % 5 < 3 ? 0 : BURST;

		flows_pays_count(&pays, PAYS_INDEX, n, n / 2);
		flows_pays_take(&pays, n == 0 ? 40 : clocks * n, n);
		empty += n == 0;
	}
	assert_true(empty > 50000);
	assert_int_equal(pays.levels, 0);
	assert_in_range(pays.view[PAYS_INDEX].with, 8900, 9000);
	assert_in_range(pays.view[PAYS_INDEX].without, 5900, 6000);
}

static void
caches_that_are_not_automatic_are_always_asked(void **state)
{
	const struct hy_flows_caches kinds = { .index = HY_FLOWS_INDEX_LINES };
	struct flows_pays pays;

	RTE_SET_USED(state);
	flows_pays_init(&pays, &kinds);
	pays.wait = 2; /* as after so many bursts */
	for (uint32_t b = 0; b < 100; b++) {
		assert_int_equal(flows_pays_next(&pays), PAYS_BIT(PAYS_INDEX));
		assert_int_equal(pays.step, 0);
	}
}

/* Bursts of flows; with 0, each packet is a new one. All are found with their action. */
static void
look(uint32_t nb_flows, uint32_t bursts, uint64_t *seed)
{
	static uint32_t next;
	uint32_t flow[BURST], action[BURST], number[BURST], hash[BURST];
	struct hy_flows_key key[BURST];

	for (; bursts > 0; bursts--) {
		for (uint32_t i = 0; i < BURST; i++) {
			const uint32_t which = nb_flows == 0 ? next++
							     : flows_random(seed) % nb_flows;

			number[i] = which % MEGAFLOWS;
			hash[i] = flows_hash_mix(which + 1);
			key[i] = key_of(number[i]);
		}
		assert_int_equal(hy_flows_lookup(flows, 0, HY_FLOWS_PARSE_ALL, key, hash, flow,
					 BURST),
			0);
		hy_flows_actions(flows, flow, action, BURST);
		for (uint32_t i = 0; i < BURST; i++)
			assert_int_equal(action[i], number[i] + 1);
	}
}

/* Megaflows by destination, under one mask, or each under its own, of bits that are 0 in packets. */
static void
megaflows_set(bool own)
{
	hy_flows_flush(flows, HY_FLOWS_ANY);
	hy_flows_poll(flows, 0, 0);
	for (uint32_t i = 0; i < MEGAFLOWS; i++) {
		struct hy_flows_flow flow = { .key = key_of(i), .mask = MASK_DST, .action = i + 1 };

		flow.mask.vni[0] = own ? (uint8_t)(i + 1) : 0;
		assert_int_equal(hy_flows_add(flows, &flow), 0);
	}
}

/* Looks flows up until the index is judged, and skipped or not as expected. */
static struct hy_flows_lookups
look_until(bool skipped, uint32_t nb_flows, uint64_t *seed)
{
	struct hy_flows_lookups before, after;
	struct hy_flows_levels levels;
	uint32_t rounds = 0;

	do {
		look(nb_flows, 512, seed);
		hy_flows_levels(flows, 0, &levels);
	} while (++rounds < 4000 && (levels.index.skipped != skipped || levels.index.with == 0));
	assert_true(levels.index.present && !levels.exact.present);
	assert_int_equal(levels.index.skipped, skipped);
	hy_flows_lookups(flows, 0, &before);
	look(nb_flows, 512, seed);
	hy_flows_lookups(flows, 0, &after);
	after.packets -= before.packets;
	after.index -= before.index;
	after.masks -= before.masks;
	assert_int_equal(after.packets, after.index + after.masks);
	return after;
}

static void
the_index_is_skipped_while_every_packet_is_new(void **state)
{
	const struct hy_flows_caches kinds = {
		.index = HY_FLOWS_INDEX_LINES, .lines_log = 10, .automatic = true
	};
	struct hy_flows_lookups found;
	uint64_t seed = 1;
	char *text = NULL;
	size_t size;
	FILE *out;

	RTE_SET_USED(state);
	flows_new(2 * MEGAFLOWS, 128, 1, NULL);
	assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
	for (uint32_t round = 0; round < 3; round++) {
		megaflows_set(false);
		found = look_until(true, 0, &seed);
		assert_true(found.masks > found.packets / 2);
		megaflows_set(true);
		found = look_until(false, 500, &seed);
		assert_true(found.index > found.packets / 2);
	}
	out = open_memstream(&text, &size);
	hy_flows_print(flows, out);
	fclose(out);
	assert_non_null(strstr(text, "worker 0: index used: "));
	assert_null(strstr(text, "worker 0: exact"));
	free(text);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(what_does_not_pay_is_skipped_until_traffic_changes),
	FLOWS_TEST(a_cache_that_is_being_filled_is_not_judged),
	FLOWS_TEST(empty_bursts_kept_a_cache_in_use_that_does_not_pay),
	FLOWS_TEST(caches_that_are_not_automatic_are_always_asked),
	FLOWS_TEST(the_index_is_skipped_while_every_packet_is_new),
};
UNIT_SUITE(tests)
