/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes, times and traffic, against a list of megaflows. Some overlap; then each that matches
 * may be found. An action is the number of a change, so that a megaflow is recognized.
 */

#include <errno.h>
#include <string.h>

#include "flows_fixture.h"

#define MOST 60 /* below seven eighths of the cache, so that no pressure arises */
#define KEYS 40
#define STEPS 150000

struct known {
	struct hy_flows_flow flow;
	uint64_t packets, bytes;
	uint32_t created, last; /* when the clock showed so */
	uint32_t born, used;    /* when that truly was */
};

static struct {
	struct known flow[MOST];
	uint32_t n, action;
	uint32_t now, clock, gap; /* the time, as last told, and the longest between two polls */
	struct hy_flows_stats stats;
	uint64_t hits, misses;
} model;

static struct hy_flows_key keys[KEYS], masks[8];

static struct known *
model_find(const struct hy_flows_key *key, const struct hy_flows_key *mask)
{
	for (uint32_t i = 0; i < model.n; i++) {
		struct known *k = &model.flow[i];

		if (memcmp(&k->flow.mask, mask, sizeof(*mask)) == 0 &&
			k->flow.key.port == key->port && hy_flows_equal(&k->flow.key, key, mask))
			return k;
	}
	return NULL;
}

static void
model_remove(struct known *k)
{
	*k = model.flow[--model.n];
	model.stats.flows--;
}

static struct known *
model_of_action(uint32_t action)
{
	for (uint32_t i = 0; i < model.n; i++)
		if (model.flow[i].flow.action == action)
			return &model.flow[i];
	return NULL;
}

static bool
model_matches(const struct known *k, const struct hy_flows_key *key)
{
	return k->flow.key.port == key->port && hy_flows_equal(&k->flow.key, key, &k->flow.mask);
}

static void
step_change(uint64_t *seed)
{
	struct hy_flows_flow flow = { .key = keys[flows_random(seed) % KEYS],
		.mask = masks[flows_random(seed) % RTE_DIM(masks)],
		.action = ++model.action,
		.idle = flows_random(seed) % 2 * (1 + flows_random(seed) % 500),
		.hard = flows_random(seed) % 4 == 0 ? 1 + flows_random(seed) % 1000 : 0 };
	struct known *k = model_find(&flow.key, &flow.mask);

	switch (flows_random(seed) % 4) {
	case 0:
		assert_int_equal(hy_flows_modify(flows, &flow), k == NULL ? -ENOENT : 0);
		if (k != NULL) {
			k->flow.action = flow.action;
			k->flow.idle = flow.idle;
			k->flow.hard = flow.hard;
			model.stats.modified++;
		}
		break;
	case 1:
		assert_int_equal(hy_flows_delete(flows, &flow.key, &flow.mask),
			k == NULL ? -ENOENT : 0);
		if (k != NULL) {
			model_remove(k);
			model.stats.deleted++;
		}
		break;
	default:
		if (k == NULL && model.n == MOST)
			break;
		assert_int_equal(hy_flows_add(flows, &flow), k != NULL ? -EEXIST : 0);
		if (k == NULL) {
			model.flow[model.n++] = (struct known){ .flow = flow,
				.created = model.clock,
				.last = model.clock,
				.born = model.now,
				.used = model.now };
			model.stats.added++;
			model.stats.flows++;
		}
	}
}

static void
step_traffic(uint64_t *seed)
{
	uint32_t flow[200], action[200], bytes[200], n = 1 + flows_random(seed) % 200;
	struct hy_flows_key key[200];

	for (uint32_t i = 0; i < n; i++) {
		key[i] = keys[flows_random(seed) % KEYS];
		if (flows_random(seed) % 2 == 0)
			key[i].words[flows_random(seed) % 7] ^= UINT64_C(1)
				<< flows_random(seed) % 64;
		bytes[i] = flows_random(seed) % 1500;
	}
	flows_find(key, flow, n);
	hy_flows_actions(flows, flow, action, n);
	for (uint32_t i = 0; i < n; i++) {
		struct known *k = NULL;

		for (uint32_t m = 0; m < model.n && k == NULL; m++)
			if (model_matches(&model.flow[m], &key[i]))
				k = &model.flow[m];
		assert_int_equal(flow[i] != HY_FLOWS_MISS, k != NULL);
		model.hits += k != NULL;
		model.misses += k == NULL;
		if (k == NULL)
			continue;
		k = model_of_action(action[i]);
		assert_true(k != NULL && model_matches(k, &key[i]));
		k->packets++;
		k->bytes += bytes[i];
		k->last = model.clock;
		k->used = model.now;
	}
	hy_flows_count(flows, 0, flow, bytes, n);
}

/* No megaflow is deleted early, nor stays for the longest time between two polls after it could go. */
static void
step_time(uint64_t *seed)
{
	uint32_t deleted, gone = 0, only_idle = 0, only_hard = 0;
	struct hy_flows_stats stats;

	if (flows_random(seed) % 4 == 0)
		model.now += flows_random(seed) % 300;
	model.gap = RTE_MAX(model.gap, model.now - model.clock);
	model.clock = model.now;
	deleted = hy_flows_poll(flows, model.now, UINT32_MAX);
	for (uint32_t i = model.n; i-- > 0;) {
		struct known *k = &model.flow[i];
		const uint32_t idle = k->flow.idle, hard = k->flow.hard;
		const bool idled = idle != 0 && model.now - k->used >= idle;
		const bool ended = hard != 0 && model.now - k->born >= hard;
		struct hy_flows_entry entry;

		if (hy_flows_get(flows, &k->flow.key, &k->flow.mask, &entry) == 0) {
			assert_true(idle == 0 || model.now - k->last < idle + model.gap);
			assert_true(hard == 0 || model.now - k->created < hard + model.gap);
			continue;
		}
		assert_true(idled || ended);
		only_idle += !ended;
		only_hard += !idled;
		gone++;
		model_remove(k);
	}
	assert_int_equal(gone, deleted);
	stats = flows_stats();
	assert_true(stats.idled >= model.stats.idled + only_idle);
	assert_true(stats.ended >= model.stats.ended + only_hard);
	model.stats.idled = stats.idled;
	model.stats.ended = stats.ended;
}

static void
step_caches(uint64_t *seed)
{
	const struct hy_flows_caches kinds = {
		.exact = (enum hy_flows_exact)(flows_random(seed) % HY_FLOWS_EXACTS),
		.exact_one_in = 1 + flows_random(seed) % 4,
		.index = (enum hy_flows_index)(flows_random(seed) % HY_FLOWS_INDEXES),
		.lines_log = 4,
	};

	assert_int_equal(hy_flows_caches_set(flows, &kinds), 0);
}

static void
step_dump(void)
{
	struct hy_flows_entry entries[7];
	uint32_t cursor = 0, n = 0;

	while (cursor != HY_FLOWS_END) {
		const uint32_t some = hy_flows_dump(flows, &cursor, entries, RTE_DIM(entries));

		for (uint32_t i = 0; i < some; i++) {
			const struct known *k = model_of_action(entries[i].flow.action);

			assert_non_null(k);
			assert_true(hy_flows_equal(&entries[i].flow.key, &k->flow.key,
				&entries[i].flow.mask));
			assert_int_equal(entries[i].packets, k->packets);
			assert_int_equal(entries[i].bytes, k->bytes);
			assert_int_equal(entries[i].age, model.clock - k->created);
			assert_int_equal(entries[i].unused, model.clock - k->last);
		}
		n += some;
	}
	assert_int_equal(n, model.n);
}

static void
random_changes_times_and_traffic_do_what_the_model_does(void **state)
{
	const struct hy_flows_key some[] = { MASK_DST, MASK_5_TUPLE, { .ttl = 0 },
		{ .src = UINT32_MAX, .dport = UINT16_MAX }, { .proto = UINT8_MAX },
		{ .dst_mac = { 1 } }, { .src6 = { UINT8_MAX }, .ttl = UINT8_MAX },
		{ .dst = UINT32_MAX, .src = UINT32_MAX } };
	struct hy_flows_stats stats;
	uint64_t seed = 5;

	RTE_SET_USED(state);
	memset(&model, 0, sizeof(model));
	memcpy(masks, some, sizeof(masks));
	for (uint32_t i = 0; i < KEYS; i++) {
		keys[i] = key_of(i);
		keys[i].port = (uint16_t)(i % 3);
	}
	flows_new(80, 64, 1, NULL);
	hy_flows_poll(flows, 0, 0);
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint32_t what = flows_random(&seed) % 16;

		model.now += flows_random(&seed) % 20;
		if (step % 500 == 0)
			step_caches(&seed);
		if (what < 12)
			step_change(&seed);
		else if (what < 14)
			step_traffic(&seed);
		else if (what < 15)
			step_time(&seed);
		else
			step_dump();
		stats = flows_stats();
		model.stats.masks = stats.masks;
		assert_memory_equal(&stats, &model.stats, sizeof(stats));
	}
	print_message("%ju hits, %ju misses, %ju added, %ju idled, %ju ended\n",
		(uintmax_t)model.hits, (uintmax_t)model.misses, (uintmax_t)stats.added,
		(uintmax_t)stats.idled, (uintmax_t)stats.ended);
	assert_true(model.hits > 10000 && model.misses > 10000);
	assert_true(stats.added > 1000 && stats.modified > 1000 && stats.deleted > 1000);
	assert_true(stats.idled > 1000 && stats.ended > 1000);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(random_changes_times_and_traffic_do_what_the_model_does),
};
UNIT_SUITE(tests)
