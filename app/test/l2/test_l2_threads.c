/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that look up, stall in the middle of a burst, rest and wake, while a few slots are taken for
 * ever other keys. Each key has two ports of its own, so that a port of another key is seen.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "drivers/nodes/generic/l2_table/l2_find.h"
#include "l2_fixture.h"

#define WORKERS 2
#define KEYS 64
#define LIMIT 16
#define BURST 32
#define CHANGES 200000
#define CHANGES_MOST 20000000

static struct rte_rcu_qsbr *variable;
static uint64_t keys[KEYS];
static atomic_bool stop;
static uint32_t added, timed_out; /* by hy_l2_add() */

static struct worker {
	unsigned int id;
	uint64_t seed;
	uint64_t faults, hits, misses, stalls, rests, unknown, known;
	uint64_t of_port[2]; /* hits, by which of its ports a key has */
	pthread_t thread;
} workers[WORKERS];

/* The two ports of a key. */
static uint16_t
port_of_key(uint32_t number, uint32_t which)
{
	return (uint16_t)(number % 8 * 2 + which);
}

/* ThreadSanitizer takes vectors that are loaded while a word of them is stored for races. */
static hy_l2_find_t *
kernel_of(const struct worker *worker)
{
#if defined(RTE_ARCH_X86_64) && !defined(SANITIZED)
	if (worker->id == 1 && rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		return hy_l2_find_avx2;
#elif defined(RTE_ARCH_ARM64) && !defined(SANITIZED)
	if (worker->id == 1)
		return hy_l2_find_neon;
#endif
	RTE_SET_USED(worker);
	return hy_l2_find_scalar;
}

static void
look(struct worker *worker, hy_l2_find_t *find)
{
	uint32_t number[BURST], slot[BURST];
	uint16_t port[BURST], from[BURST];
	uint8_t verdict[BURST];
	uint64_t key[BURST];

	for (uint32_t i = 0; i < BURST; i++) {
		number[i] = l2_random(&worker->seed) % KEYS;
		key[i] = keys[number[i]];
		from[i] = port_of_key(number[i], i % 2);
	}
	find(view, key, slot, BURST);
	if (l2_random(&worker->seed) % 256 == 0) {
		rte_delay_us_sleep(50);
		worker->stalls++;
	}
	worker->unknown += hy_l2_sources(view, slot, from, verdict, BURST);
	hy_l2_ports(view, slot, port, BURST);
	for (uint32_t i = 0; i < BURST; i++) {
		worker->known += verdict[i] == HY_L2_SOURCE_KNOWN;
		if (port[i] == HY_L2_MISS) {
			worker->misses++;
			continue;
		}
		worker->hits++;
		worker->of_port[port[i] % 2]++;
		worker->faults += port[i] / 2 != number[i] % 8;
	}
}

static void *
work(void *arg)
{
	struct worker *worker = arg;
	hy_l2_find_t *find = kernel_of(worker);

	rte_rcu_qsbr_thread_online(variable, worker->id);
	while (!atomic_load(&stop)) {
		look(worker, find);
		if (l2_random(&worker->seed) % 512 != 0) {
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

static void
change(uint32_t i, uint64_t *seed)
{
	const uint32_t number = l2_random(seed) % KEYS, what = l2_random(seed) % 64;
	const uint16_t port = port_of_key(number, what % 2);
	struct hy_l2_entry entry;

	if (what < 36) {
		learn(keys[number], port);
	} else if (what < 60) {
		hy_l2_delete(table, keys[number]);
	} else if (what == 60) {
		const int rc = hy_l2_add(table, keys[number], port);

		/* On a busy machine, a worker may not run for a second. */
		assert_true(rc == 0 || rc == -ENOSPC || rc == -ETIMEDOUT);
		added += rc == 0;
		timed_out += rc == -ETIMEDOUT;
	} else if (what == 61) {
		hy_l2_age(table, i / 100, 1, hy_l2_buckets(table));
	} else if (what == 62) {
		hy_l2_flush(table, port, HY_L2_ANY, true);
	} else if (hy_l2_get(table, keys[number], &entry) == 0) {
		assert_int_equal(entry.port / 2, number % 8);
	}
}

/* How often a worker rests is the scheduler's choice. */
static bool
is_enough(void)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		if (__atomic_load_n(&workers[w].rests, __ATOMIC_RELAXED) < 20)
			return false;
	return true;
}

static void
workers_never_see_the_port_of_another_key(void **state)
{
	uint64_t seed = 3;
	uint32_t i = 0;

	RTE_SET_USED(state);
	variable = qsbr_new(WORKERS);
	table_new(LIMIT, variable);
	keys_of_bucket(1, keys, KEYS / 2); /* most of them in the overflow */
	for (uint32_t k = KEYS / 2; k < KEYS; k++)
		keys[k] = key_of(1000000 + k, 1);
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

		pthread_join(worker->thread, NULL);
		print_message("%ju hits, %ju misses, %ju stalls, %ju rests\n",
			(uintmax_t)worker->hits, (uintmax_t)worker->misses,
			(uintmax_t)worker->stalls, (uintmax_t)worker->rests);
		assert_int_equal(worker->faults, 0);
		assert_true(worker->hits > 1000 && worker->misses > 1000);
		assert_true(worker->of_port[0] > 100 && worker->of_port[1] > 100);
		assert_true(worker->known > 100 && worker->unknown > 100);
		assert_true(worker->stalls > 0 && worker->rests >= 20);
	}
	assert_true(stats().learn[HY_L2_LEARNED] > 1000);
	assert_true(stats().learn[HY_L2_MOVED] > 1000);
	assert_true(stats().aged > 0);
	print_message("%u added, %u timed out\n", added, timed_out);
	assert_true(added > 100);
}

static const struct CMUnitTest tests[] = {
	L2_TEST(workers_never_see_the_port_of_another_key),
};
UNIT_SUITE(tests)
