/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that look up, stall in the middle of a burst, rest and wake, while few slots are used for ever
 * other megaflows. Each key has two actions of its own, so that an action of another key is seen. A
 * megaflow that was deleted before a worker reported is not found by it.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "flows_fixture.h"

#define WORKERS 2
#define KEYS 64
#define LIMIT 40
#define BURST 32
#define CHANGES 100000
#define CHANGES_MOST 20000000

static struct rte_rcu_qsbr *variable;
static struct hy_flows_key keys[KEYS];
static struct hy_flows_key masks[4];
static atomic_bool stop;
static uint32_t switched; /* times that the caches were */

/* Odd while a key's megaflow cannot be there. */
static atomic_uint absent[KEYS];

static struct worker {
	unsigned int id;
	uint64_t seed;
	uint64_t faults, late, hits, misses, stalls, rests, checked;
	pthread_t thread;
} workers[WORKERS];

static void
look(struct worker *worker)
{
	uint32_t number[BURST], hash[BURST], flow[BURST], action[BURST], bytes[BURST],
		before[BURST];
	const uint32_t parse = hy_flows_parse(flows);
	struct hy_flows_key key[BURST];

	for (uint32_t i = 0; i < BURST; i++) {
		number[i] = flows_random(&worker->seed) % KEYS;
		key[i] = keys[number[i]];
		bytes[i] = 64;
		before[i] = atomic_load(&absent[number[i]]);
	}
	hy_flows_hashes(flows, key, hash, BURST);
	worker->misses += hy_flows_lookup(flows, worker->id, HY_FLOWS_PARSE_ALL | parse, key, hash,
		flow, BURST);
	if (flows_random(&worker->seed) % 256 == 0) {
		rte_delay_us_sleep(50);
		worker->stalls++;
	}
	hy_flows_actions(flows, flow, action, BURST);
	hy_flows_count(flows, worker->id, flow, bytes, BURST);
	for (uint32_t i = 0; i < BURST; i++) {
		if (flow[i] == HY_FLOWS_MISS)
			continue;
		worker->hits++;
		worker->faults += action[i] / 2 != number[i];
		if (before[i] % 2 == 1 && atomic_load(&absent[number[i]]) == before[i])
			worker->late++; /* absent all the time, and found */
	}
	for (uint32_t i = 0; i < BURST; i++)
		worker->checked += before[i] % 2;
}

static void *
work(void *arg)
{
	struct worker *worker = arg;

	rte_rcu_qsbr_thread_online(variable, worker->id);
	while (!atomic_load(&stop)) {
		look(worker);
		if (flows_random(&worker->seed) % 512 != 0) {
			rte_rcu_qsbr_quiescent(variable, worker->id);
			continue;
		}
		rte_rcu_qsbr_thread_offline(variable, worker->id);
		rte_delay_us_sleep(50);
		__atomic_fetch_add(&worker->rests, 1, __ATOMIC_RELAXED);
		rte_rcu_qsbr_thread_online(variable, worker->id);
	}
	rte_rcu_qsbr_thread_offline(variable, worker->id);
	return NULL;
}

/* Marks a key that has no megaflow from now on until the mark is taken away. */
static void
gone(uint32_t number)
{
	if (atomic_load(&absent[number]) % 2 == 0)
		atomic_fetch_add(&absent[number], 1);
}

static void
change(uint32_t i, uint64_t *seed)
{
	const uint32_t number = flows_random(seed) % KEYS, what = flows_random(seed) % 64;
	const struct hy_flows_flow flow = {
		.key = keys[number], .mask = masks[number % 4], .action = number * 2 + what % 2
	};

	if (what < 36) {
		if (atomic_load(&absent[number]) % 2 == 1)
			atomic_fetch_add(&absent[number], 1);
		if (hy_flows_add(flows, &flow) != 0 && hy_flows_modify(flows, &flow) != 0)
			gone(number);
	} else if (what < 62) {
		/* Workers may have found it before; whoever looks later must not. */
		if (hy_flows_delete(flows, &flow.key, &flow.mask) == 0)
			gone(number);
	} else if (what == 62) {
		hy_flows_poll(flows, i, UINT32_MAX);
	} else if (i % 16 == 0) {
		const struct hy_flows_caches kinds = {
			.exact = (enum hy_flows_exact)(flows_random(seed) % HY_FLOWS_EXACTS),
			.exact_one_in = 1 + flows_random(seed) % 4,
			.index = (enum hy_flows_index)(flows_random(seed) % HY_FLOWS_INDEXES),
			.lines_log = 4,
		};

		/* All that a stalled worker keeps from being freed may be too much. */
		switched += hy_flows_caches_set(flows, &kinds) == 0;
		hy_flows_flush(flows, HY_FLOWS_ANY);
		for (uint32_t k = 0; k < KEYS; k++)
			gone(k);
	}
}

/*
 * Whether the test has seen enough. It depends on the scheduler how often workers rest, and how soon
 * they report, so that deleted megaflows make room for others.
 */
static bool
is_enough(void)
{
	const struct hy_flows_stats stats = flows_stats();

	for (unsigned int w = 0; w < WORKERS; w++) {
		struct hy_flows_lookups l;

		hy_flows_lookups(flows, w, &l);
		if (__atomic_load_n(&workers[w].rests, __ATOMIC_RELAXED) < 20 ||
			l.packets - l.misses < 2000 || l.misses < 2000)
			return false;
	}
	return stats.added > 1000 && stats.deleted > 1000 && stats.modified > 1000 &&
		stats.refused_flows > 0;
}

static void
workers_never_use_the_action_of_another_key_or_time(void **state)
{
	const struct hy_flows_key some[] = { MASK_DST, MASK_5_TUPLE,
		{ .dst = UINT32_MAX, .src = UINT32_MAX }, { .sport = UINT16_MAX } };
	uint64_t seed = 3, counted = 0, hits = 0;
	uint32_t i = 0;

	RTE_SET_USED(state);
	variable = qsbr_new(WORKERS);
	flows_new(LIMIT, 16, WORKERS, variable);
	for (uint32_t k = 0; k < KEYS; k++) {
		keys[k] = key_of(k);
		atomic_store(&absent[k], 1);
	}
	for (uint32_t m = 0; m < RTE_DIM(masks); m++)
		masks[m] = some[m];
	atomic_store(&stop, false);
	for (unsigned int w = 0; w < WORKERS; w++) {
		workers[w] = (struct worker){ .id = w, .seed = w + 100 };
		rte_rcu_qsbr_thread_register(variable, w);
		assert_int_equal(pthread_create(&workers[w].thread, NULL, work, &workers[w]), 0);
	}
	for (; i < CHANGES || (i < CHANGES_MOST && !is_enough()); i++)
		change(i, &seed);
	atomic_store(&stop, true);
	for (unsigned int w = 0; w < WORKERS; w++) {
		struct worker *worker = &workers[w];
		struct hy_flows_lookups lookups;

		pthread_join(worker->thread, NULL);
		print_message("%ju hits, %ju misses, %ju stalls, %ju rests\n",
			(uintmax_t)worker->hits, (uintmax_t)worker->misses,
			(uintmax_t)worker->stalls, (uintmax_t)worker->rests);
		assert_int_equal(worker->faults, 0);
		assert_int_equal(worker->late, 0);
		assert_true(worker->hits > 1000 && worker->misses > 1000 && worker->checked > 1000);
		assert_true(worker->stalls > 0 && worker->rests >= 20);
		hy_flows_lookups(flows, w, &lookups);
		assert_int_equal(lookups.exact + lookups.index + lookups.masks, worker->hits);
		assert_int_equal(lookups.misses, worker->misses);
		hits += worker->hits;
	}
	print_message("caches were switched %u times\n", switched);
	assert_true(switched > 10);
	assert_true(flows_stats().added > 1000 && flows_stats().deleted > 1000);
	assert_true(flows_stats().modified > 1000 && flows_stats().refused_flows > 0);
	for (uint32_t k = 0; k < KEYS; k++) {
		struct hy_flows_entry entry = { 0 };

		if (hy_flows_get(flows, &keys[k], &masks[k % 4], &entry) == 0)
			counted += entry.packets;
	}
	print_message("%ju of %ju hits are of megaflows that are there\n", (uintmax_t)counted,
		(uintmax_t)hits);
	assert_true(counted <= hits);
}

#define ACTIONS 100000

static uint32_t meaning[ACTIONS]; /* of an action; written before a megaflow gets it */

/* Reads the action of one megaflow, and what it means, until it is the last. */
static void *
read_meanings(void *arg)
{
	const struct hy_flows_key key = key_of(1);
	uint32_t flow, action = 0, *wrong = arg;

	rte_rcu_qsbr_thread_online(variable, 0);
	flows_find(&key, &flow, 1);
	while (action != ACTIONS - 1) {
		hy_flows_actions(flows, &flow, &action, 1);
		*wrong += meaning[action] != ~action;
	}
	rte_rcu_qsbr_thread_offline(variable, 0);
	return NULL;
}

/* On x86 only ThreadSanitizer can see this fail. */
static void
what_a_modified_action_means_is_seen_with_it(void **state)
{
	struct hy_flows_flow flow = { .key = key_of(1), .mask = MASK_DST };
	uint32_t wrong = 0;
	pthread_t thread;

	RTE_SET_USED(state);
	variable = qsbr_new(1);
	flows_new(LIMIT, 16, 1, variable);
	meaning[0] = ~0u;
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	assert_int_equal(pthread_create(&thread, NULL, read_meanings, &wrong), 0);
	for (flow.action = 1; flow.action < ACTIONS; flow.action++) {
		meaning[flow.action] = ~flow.action;
		assert_int_equal(hy_flows_modify(flows, &flow), 0);
	}
	pthread_join(thread, NULL);
	assert_int_equal(wrong, 0);
	assert_int_equal(flows_stats().modified, ACTIONS - 1);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(workers_never_use_the_action_of_another_key_or_time),
	FLOWS_TEST(what_a_modified_action_means_is_seen_with_it),
};
UNIT_SUITE(tests)
