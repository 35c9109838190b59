/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of rules while packets wait for answers: these come in between, and are none of the old rules. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "upcall_fixture.h"

#define MEGAFLOWS 2048 /* that a slow revalidation asks about, 0.2 ms each */
#define ROUNDS 200
#define SECONDS_MOST 60

static struct sim sim;
static atomic_uint asked, over, slow;
static atomic_bool stop;

/* In the middle of an answer. */
static void
rules_take_time(void)
{
	atomic_fetch_add(&asked, 1);
	if (atomic_load(&slow) > 0)
		rte_delay_us_sleep(atomic_load(&slow));
}

static void *
revalidator(void *arg)
{
	struct hy_flows_revalidated *done = arg;

	hy_flows_revalidate_some(sim.upcalls, NULL, done);
	atomic_fetch_add(&over, 1);
	return NULL;
}

/* So many different flows, without those that the rules want none of. */
static uint32_t
number_of(uint32_t i)
{
	return i * 64 + 4;
}

static void
send(uint32_t from)
{
	uint32_t number[SIM_BURST];

	for (uint32_t i = 0; i < SIM_BURST; i++)
		number[i] = number_of(from + i);
	sim_burst(&sim, number, SIM_BURST);
}

static void
packets_are_answered_before_a_revalidation_ends(void **state)
{
	struct hy_flows_revalidated done;
	struct rte_rcu_qsbr *variable = qsbr_new(1);
	pthread_t thread;

	RTE_SET_USED(state);
	flows_new(2 * MEGAFLOWS, 64, 1, variable);
	sim_open(&sim, 64);
	worker_begins();
	for (uint32_t i = 0; i < MEGAFLOWS; i += SIM_BURST) {
		send(i);
		hy_flows_handle(sim.upcalls, 0, SIM_BURST);
		sim_answers(&sim);
		worker_reports();
	}
	assert_int_equal(flows_stats().flows, MEGAFLOWS);
	sim_rules_wait = rules_take_time;
	atomic_store(&asked, 0);
	atomic_store(&over, 0);
	atomic_store(&slow, 200);
	sim_version = 1;
	assert_int_equal(pthread_create(&thread, NULL, revalidator, &done), 0);
	while (atomic_load(&asked) == 0)
		sched_yield();
	send(MEGAFLOWS);
	assert_int_equal(hy_flows_handle(sim.upcalls, 0, SIM_BURST), SIM_BURST);
	assert_int_equal(atomic_load(&over), 0);
	print_message("answered when the rules had been asked about %u of %u\n",
		atomic_load(&asked) - SIM_BURST, MEGAFLOWS);
	atomic_store(&slow, 0);
	sim_answers(&sim);
	for (uint32_t i = 0; i < SIM_BURST; i++)
		assert_int_equal(sim.action[number_of(MEGAFLOWS + i) % SIM_FLOWS],
			sim_action_of(number_of(MEGAFLOWS + i)));
	pthread_join(thread, NULL);
	/* Those that were added meanwhile are asked about, too, if they are behind the cursor. */
	assert_in_range(done.asked, MEGAFLOWS, MEGAFLOWS + SIM_BURST);
	assert_int_equal(done.changed, MEGAFLOWS);
	assert_int_equal(done.kept, 0);
	worker_rests();
	sim_rules_wait = NULL;
	sim_version = 0;
	sim_close(&sim);
}

/* Of flows that are 4 modulo 64: by three bits above these, some are kept, some looked at. */
static enum hy_flows_touch
touched_by_action(void *arg, uint32_t action)
{
	const uint32_t kind = action / 16 / 64 % 8;

	++*(uint32_t *)arg;
	return kind < 3 ? HY_FLOWS_KEEP : kind < 5 ? HY_FLOWS_ASK : HY_FLOWS_LOOK;
}

static bool
touched_by_key(void *arg, const struct hy_flows_flow *flow)
{
	const uint32_t number = rte_be_to_cpu_32(flow->key.dst);

	RTE_SET_USED(arg);
	assert_int_equal(flow->mask.dst, UINT32_MAX);
	assert_true(number / 64 % 8 >= 5);
	return number / 64 % 8 == 7;
}

static void
only_what_is_touched_is_asked_about(void **state)
{
	uint32_t seen = 0, cursor = 0, new[8] = { 0 };
	const struct hy_flows_touched touched = {
		.by_action = touched_by_action, .by_key = touched_by_key, .arg = &seen
	};
	struct hy_flows_revalidated done;
	struct hy_flows_entry entries[64];

	RTE_SET_USED(state);
	flows_new(2 * MEGAFLOWS, 64, 1, NULL);
	sim_open(&sim, 64);
	for (uint32_t i = 0; i < MEGAFLOWS; i += SIM_BURST) {
		send(i);
		hy_flows_handle(sim.upcalls, 0, SIM_BURST);
		sim_answers(&sim);
	}
	sim_version = 5;
	hy_flows_revalidate_some(sim.upcalls, &touched, &done);
	assert_true(seen >= MEGAFLOWS);
	assert_int_equal(done.asked, MEGAFLOWS / 8 * 3);
	assert_int_equal(done.kept, MEGAFLOWS / 8 * 5);
	assert_int_equal(done.changed, done.asked);
	while (cursor != HY_FLOWS_END) {
		const uint32_t n = hy_flows_dump(flows, &cursor, entries, RTE_DIM(entries));

		for (uint32_t i = 0; i < n; i++)
			if (entries[i].flow.action % 16 == 5)
				new[entries[i].flow.action / 16 / 64 % 8]++;
	}
	for (uint32_t kind = 0; kind < 8; kind++)
		assert_int_equal(new[kind],
			kind == 3 || kind == 4 || kind == 7 ? MEGAFLOWS / 8 : 0);
	sim_version = 0;
	sim_close(&sim);
}

/* Changes the rules, and looks whether all megaflows are of the new ones. */
struct changes {
	uint32_t rounds, seen;
	uint32_t old; /* megaflows of rules that were gone */
	uint64_t modified;
};

static void *
changer(void *arg)
{
	struct changes *c = arg;

	while (!atomic_load(&stop)) {
		const uint32_t version = (c->rounds + 1) % 16;
		struct hy_flows_entry entries[32];
		uint32_t cursor = 0;

		__atomic_store_n(&sim_version, version, __ATOMIC_RELAXED);
		c->modified += hy_flows_revalidate(sim.upcalls);
		while (cursor != HY_FLOWS_END) {
			const uint32_t n = hy_flows_dump(flows, &cursor, entries, RTE_DIM(entries));

			c->seen += n;
			for (uint32_t i = 0; i < n; i++)
				c->old += entries[i].flow.action % 16 != version;
		}
		__atomic_fetch_add(&c->rounds, 1, __ATOMIC_RELAXED);
		if (c->rounds % 4 == 0)
			hy_flows_flush(flows, HY_FLOWS_ANY);
		rte_delay_us_sleep(100);
	}
	return NULL;
}

static void
no_answer_of_old_rules_outlives_a_revalidation(void **state)
{
	const uint64_t start = rte_get_timer_cycles(), hz = rte_get_timer_hz();
	struct rte_rcu_qsbr *variable = qsbr_new(1);
	struct changes changes = { 0 };
	pthread_t thread;
	uint64_t seed = 3;

	RTE_SET_USED(state);
	flows_new(1024, 64, 1, variable);
	sim_open(&sim, 64);
	worker_begins();
	sim_rules_wait = rules_take_time;
	atomic_store(&asked, 0);
	atomic_store(&slow, 20);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, changer, &changes), 0);
	while (__atomic_load_n(&changes.rounds, __ATOMIC_RELAXED) < ROUNDS &&
		rte_get_timer_cycles() - start < SECONDS_MOST * hz) {
		uint32_t number = number_of(flows_random(&seed) % 512);

		sim_burst(&sim, &number, 1);
		hy_flows_handle(sim.upcalls, 0, 1);
		worker_reports();
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	sim_answers(&sim);
	worker_rests();
	print_message("%u changes, %u megaflows seen after them, %ju changed\n", changes.rounds,
		changes.seen, (uintmax_t)changes.modified);
	assert_int_equal(changes.old, 0);
	assert_true(changes.rounds >= ROUNDS && changes.seen > ROUNDS && changes.modified > ROUNDS);
	sim_rules_wait = NULL;
	__atomic_store_n(&sim_version, 0, __ATOMIC_RELAXED);
	sim_close(&sim);
}

static const struct CMUnitTest follow_tests[] = {
	FLOWS_TEST(packets_are_answered_before_a_revalidation_ends),
	FLOWS_TEST(only_what_is_touched_is_asked_about),
	FLOWS_TEST(no_answer_of_old_rules_outlives_a_revalidation),
};

UNIT_SUITE(follow_tests)
