/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that no megaflow matches: order, balance, room, adversaries, rules that change. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "upcall_fixture.h"

static struct sim sim;
static struct rte_rcu_qsbr *variable;

static struct hy_flows_upcall_stats
upcall_stats(void)
{
	struct hy_flows_upcall_stats stats;

	hy_flows_upcall_stats(sim.upcalls, 0, &stats);
	return stats;
}

static void
a_miss_is_answered_and_installed_with_what_was_looked_at(void **state)
{
	static const uint32_t number[] = { 4, 17, 2, 3 };
	struct hy_flows_entry entries[8];
	uint32_t cursor = 0, n;

	RTE_SET_USED(state);
	flows_new(100, 100, 1, NULL);
	sim_open(&sim, 16);
	sim_burst(&sim, number, 4);
	assert_int_equal(sim.out, 0);
	assert_int_equal(hy_flows_handle(sim.upcalls, 0, 100), 4);
	sim_answers(&sim);
	assert_int_equal(sim.out, 4);
	n = hy_flows_dump(flows, &cursor, entries, RTE_DIM(entries));
	assert_int_equal(n, 3); /* one wanted none */
	for (uint32_t i = 0; i < n; i++) {
		const struct hy_flows_flow *flow = &entries[i].flow;
		struct hy_flows_flow answer = { 0 };

		assert_int_equal(rte_be_to_cpu_32(flow->key.dst), number[i]);
		sim_rules(NULL, &flow->key, &answer);
		answer.mask.port = UINT16_MAX;
		assert_memory_equal(&flow->mask, &answer.mask, sizeof(answer.mask));
		assert_int_equal(flow->action, answer.action);
		assert_int_equal(flow->idle, 1000);
	}
	sim_burst(&sim, number, 4);
	assert_int_equal(sim.out, 7);
	assert_int_equal(upcall_stats().single, 1);
	sim_close(&sim);
}

static void
wrong_parameters_of_upcalls_are_refused(void **state)
{
	struct hy_flows_upcall_params bad[5];

	RTE_SET_USED(state);
	flows_new(1, 1, 1, NULL);
	for (uint32_t i = 0; i < RTE_DIM(bad); i++)
		bad[i] = (struct hy_flows_upcall_params){ .rules = sim_rules, .room = 4 };
	bad[0].rules = NULL;
	bad[1].room = 0;
	bad[2].room = 1;
	bad[3].room = 12;
	bad[4].room = 2 * HY_FLOWS_UPCALLS_MOST;
	for (uint32_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(hy_flows_upcalls_create(flows, &bad[i], &sim.upcalls), -EINVAL);
		assert_null(sim.upcalls);
	}
	assert_int_equal(unit_log_lines(), RTE_DIM(bad));
}

/* A worker and a handler of which now one runs, now the other, while flows and masks come and go. */
static void
run_in_turn(uint32_t room, struct hy_flows_upcall_stats *sum)
{
	uint64_t seed = room;

	flows_new(200, 64, 1, NULL);
	sim_open(&sim, room);
	for (uint32_t step = 0; step < 40000; step++) {
		uint32_t number[SIM_BURST], n = 1 + flows_random(&seed) % SIM_BURST;
		const uint32_t what = flows_random(&seed) % 8;

		for (uint32_t i = 0; i < n; i++)
			number[i] = flows_random(&seed) % (flows_random(&seed) % 2 ? 8 : 300);
		if (what < 4)
			sim_burst(&sim, number, n);
		else if (what < 6)
			hy_flows_handle(sim.upcalls, 0, flows_random(&seed) % 40);
		else if (what == 6)
			hy_flows_poll(flows, step / 10, UINT32_MAX);
		else if (flows_random(&seed) % 64 == 0)
			hy_flows_flush(flows, HY_FLOWS_ANY);
	}
	sum->behind += upcall_stats().behind;
	sum->known += upcall_stats().known;
	sum->refused += upcall_stats().refused;
	sum->full += sim.full;
	sum->taken += sim.out;
	sim_close(&sim);
	hy_flows_destroy(flows);
	flows = NULL;
}

static void
packets_of_a_flow_stay_in_order(void **state)
{
	struct hy_flows_upcall_stats sum = { 0 };

	RTE_SET_USED(state);
	run_in_turn(16, &sum);
	run_in_turn(64, &sum);
	run_in_turn(1024, &sum);
	print_message("%ju out, %ju behind others, %ju full\n", (uintmax_t)sum.taken,
		(uintmax_t)sum.behind, (uintmax_t)sum.full);
	assert_true(sum.behind > 1000 && sum.known > 1000 && sum.refused > 10);
	assert_true(sum.full > 1000 && sum.taken > 300000);
}

/* Three packets are on the way, and one is answered, when a packet comes that differs from them. */
static void
packets_of_a_connection_are_not_reordered_by_flags_tos_or_ttl(void **state)
{
	static const uint32_t differ[] = { SIM_TCP_FLAGS, SIM_TOS, SIM_TTL };
	const uint32_t number[] = { 4, 4, 4 };

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < RTE_DIM(differ); i++) {
		flows_new(10, 10, 1, NULL);
		sim_open(&sim, 16);
		sim.differ = differ[i];
		sim_burst(&sim, number, 3);
		assert_int_equal(hy_flows_handle(sim.upcalls, 0, 1), 1);
		sim_burst(&sim, number, 1);
		assert_int_equal(upcall_stats().behind, 1);
		assert_int_equal(hy_flows_handle(sim.upcalls, 0, 100), 3);
		sim_answers(&sim);
		assert_int_equal(sim.out, 4);
		sim_close(&sim);
		hy_flows_destroy(flows);
		flows = NULL;
	}
}

static void
rules_that_change_reach_all_megaflows(void **state)
{
	uint32_t number[SIM_BURST], changed;
	struct hy_flows_entry entries[100];
	uint32_t cursor = 0, n;

	RTE_SET_USED(state);
	flows_new(100, 100, 1, NULL);
	sim_open(&sim, 64);
	for (uint32_t i = 0; i < SIM_BURST; i++)
		number[i] = i;
	sim_burst(&sim, number, SIM_BURST);
	hy_flows_handle(sim.upcalls, 0, 64);
	assert_int_equal(hy_flows_revalidate(sim.upcalls), 0);
	sim_version = 1;
	/* One more, which the rules would not have installed, or not so. */
	assert_int_equal(hy_flows_add(flows,
				 &(struct hy_flows_flow){ .key = { .dst = RTE_BE32(50) },
					 .mask = { .dst = RTE_BE32(0xff) } }),
		0);
	changed = hy_flows_revalidate(sim.upcalls);
	assert_int_equal(changed, SIM_BURST); /* of 31, and that one */
	assert_int_equal(hy_flows_revalidate(sim.upcalls), 0);
	n = hy_flows_dump(flows, &cursor, entries, RTE_DIM(entries));
	assert_int_equal(n, SIM_BURST - 1);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(entries[i].flow.action,
			sim_action_of(rte_be_to_cpu_32(entries[i].flow.key.dst)));
	sim_answers(&sim);
	sim_close(&sim);
}

/* The megaflow that the rules install for a flow. */
static struct hy_flows_flow
flow_of(uint32_t number)
{
	struct hy_flows_flow flow = { .key = { .dst = rte_cpu_to_be_32(number),
					      .port = number % 16 == 1 } };

	sim_rules(NULL, &flow.key, &flow);
	return flow;
}

static void
answered_packet_has_no_action_of_a_flow_that_was_deleted(void **state)
{
	uint32_t number[SIM_BURST];
	struct hy_flows_flow flow;

	RTE_SET_USED(state);
	variable = qsbr_new(1);
	flows_new(100, 100, 1, variable);
	sim_open(&sim, 64);
	worker_begins();
	for (uint32_t i = 0; i < SIM_BURST; i++)
		number[i] = i;
	sim_burst(&sim, number, SIM_BURST);
	assert_int_equal(hy_flows_handle(sim.upcalls, 0, 64), SIM_BURST);
	for (uint32_t i = 8; i < 24; i++) {
		flow = flow_of(i);
		assert_int_equal(hy_flows_delete(flows, &flow.key, &flow.mask), 0);
	}
	flow = flow_of(8); /* there is another one for its packet */
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	sim_version = 7;
	assert_int_equal(hy_flows_revalidate(sim.upcalls), 16);
	worker_reports();
	sim_answers(&sim);
	worker_rests();
	assert_int_equal(sim.gone, 15);
	assert_int_equal(sim.out, SIM_BURST - 15);
	/* Number 3 has no megaflow, but the rules' own answer, as they were. */
	for (uint32_t i = 0; i < SIM_BURST; i++)
		if (i <= 8 || i >= 24)
			assert_int_equal(sim.action[i], i == 3 ? 3 * 16 : sim_action_of(i));
	sim_close(&sim);
}

/* Half of the packets are of 64 flows at work; the others are all new. */
static void
new_flows_without_end(bool same_hash, uint32_t room)
{
	const uint32_t good = 64;
	uint64_t seed = 2, arrived = 0, lost = 0;
	uint32_t attacker = good;

	flows_new(1000, 64, 1, NULL);
	assert_int_equal(hy_flows_caches_set(flows,
				 &(struct hy_flows_caches){ .exact = HY_FLOWS_EXACT_8K,
					 .exact_one_in = 1,
					 .index = HY_FLOWS_INDEX_LINES }),
		0);
	sim_open(&sim, room);
	sim.same_hash = same_hash;
	for (uint32_t step = 0; step < 20000; step++) {
		uint32_t number[SIM_BURST];

		for (uint32_t i = 0; i < SIM_BURST; i++) {
			number[i] = flows_random(&seed) % good;
			if (step > 100 && i % 2 == 1)
				number[i] = attacker++;
			if (attacker % SIM_FLOWS == 0)
				attacker += good; /* which have the others' counters */
		}
		if (step == 100) /* when all good ones are installed */
			memset(sim.full_of, 0, sizeof(sim.full_of));
		sim_burst(&sim, number, SIM_BURST);
		hy_flows_handle(sim.upcalls, 0, 2); /* too slow for all */
		hy_flows_poll(flows, step, 64);
		if (step < 100)
			hy_flows_handle(sim.upcalls, 0, 64);
	}
	for (uint32_t i = 0; i < good; i++) {
		arrived += sim.out_of[i];
		lost += i % 64 == 3 ? 0 : sim.full_of[i]; /* that one has no megaflow */
	}
	print_message("%ju of the good ones arrived, %ju lost; %ju full\n", (uintmax_t)arrived,
		(uintmax_t)lost, (uintmax_t)sim.full);
	assert_true(arrived > 300000 && lost < arrived / 10);
	assert_true(sim.full > 100000);
	assert_true(flows_stats().flows <= 1000);
	assert_true(flows_stats().evicted + flows_stats().idled > 100);
	sim_close(&sim);
}

static void
flows_at_work_go_on_while_every_other_packet_is_new(void **state)
{
	RTE_SET_USED(state);
	new_flows_without_end(false, 1024);
}

static void
flows_at_work_go_on_while_all_hashes_are_the_same(void **state)
{
	RTE_SET_USED(state);
	new_flows_without_end(true, 1024);
}

/* A sender at port 1 has each of his packets make a mask; the packets at port 0 do not care. */
static void
masks_of_one_port_are_no_burden_to_another(void **state)
{
	const struct hy_flows_key good = key_of(1);
	struct hy_flows_lookups before, after;
	uint32_t refused = 0, flow;

	RTE_SET_USED(state);
	flows_new(10000, 1000, 1, NULL);
	assert_int_equal(hy_flows_add(flows,
				 &(struct hy_flows_flow){ .key = good, .mask = MASK_DST }),
		0);
	for (uint32_t i = 1; i < 5000; i++) {
		struct hy_flows_flow bad = { .key = key_of(i), .mask = { .src = i } };

		bad.key.port = 1;
		refused += hy_flows_add(flows, &bad) == -ENOSPC;
	}
	assert_int_equal(flows_stats().masks, 65);
	assert_int_equal(refused, 4999 - 64);
	assert_int_equal(flows_stats().refused_masks, refused);
	hy_flows_lookups(flows, 0, &before);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(flows_find(&good, &flow, 1), 0);
	hy_flows_lookups(flows, 0, &after);
	assert_int_equal(after.tables - before.tables, 1000); /* one each */
}

/* One flow sends more than is answered; it must not be answered packet by packet for ever. */
static void
a_fast_flow_does_not_stay_on_the_way(void **state)
{
	uint32_t number[SIM_BURST] = { 0 };
	uint64_t before;

	RTE_SET_USED(state);
	flows_new(10, 10, 1, NULL);
	sim_open(&sim, 128);
	for (uint32_t step = 0; step < 100; step++) {
		sim_burst(&sim, number, SIM_BURST);
		hy_flows_handle(sim.upcalls, 0, SIM_BURST / 2);
	}
	assert_true(sim.full > 0);
	before = sim.out;
	sim_burst(&sim, number, SIM_BURST);
	assert_int_equal(sim.out, before + SIM_BURST);
	assert_int_equal(upcall_stats().sent, upcall_stats().taken);
	sim_close(&sim);
}

/*
 * Of a connection, one packet in four has a megaflow; the rules want none for the others, so that some
 * are always on the way.
 */
static void
a_flow_is_not_dropped_for_ever_after_one_busy_moment(void **state)
{
	const struct hy_flows_flow flow = { .key = { .dst = RTE_BE32(3), .tos = SIM_DIFFERS },
		.mask = { .dst = UINT32_MAX, .tos = UINT8_MAX },
		.action = 3 * 16 };
	uint32_t number[SIM_BURST];
	uint64_t full, behind;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < SIM_BURST; i++)
		number[i] = 3;
	flows_new(10, 10, 1, NULL);
	sim_open(&sim, 64);
	sim.differ = SIM_TOS;
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	for (uint32_t i = 0; i < 3; i++)
		sim_burst(&sim, number, SIM_BURST);
	full = sim.full;
	behind = upcall_stats().behind;
	assert_true(full > 0);
	for (uint32_t i = 0; i < 1000; i++) {
		const uint64_t sent = upcall_stats().sent;

		/* One stays on the way. */
		hy_flows_handle(sim.upcalls, 0, (uint32_t)(sent - upcall_stats().taken) - 1);
		sim_burst(&sim, number, 4);
		assert_true(upcall_stats().sent > upcall_stats().taken);
	}
	assert_int_equal(sim.full, full);
	assert_int_equal(upcall_stats().behind, behind + 1000);
	sim_close(&sim);
}

/* ThreadSanitizer looks up names for each access to a ring, to find that it is suppressed. */
#ifdef SANITIZED
static const uint64_t added_least = 10, behind_least = 0, changed_least = 0;
#else
static const uint64_t added_least = 300, behind_least = 5, changed_least = 1;
#endif

static atomic_bool stop;

static void *
handler(void *arg)
{
	uint32_t round = 0;

	RTE_SET_USED(arg);
	while (!atomic_load(&stop)) {
		if (hy_flows_handle(sim.upcalls, 0, 32) == 0)
			rte_delay_us_sleep(20);
		if (++round % 64 == 0)
			hy_flows_poll(flows, round / 8, UINT32_MAX);
		if (round % 256 == 0) {
			__atomic_store_n(&sim_version, round / 256 % 16, __ATOMIC_RELAXED);
			hy_flows_revalidate(sim.upcalls);
		}
		if (round % 512 == 0)
			hy_flows_flush(flows, HY_FLOWS_ANY);
	}
	return NULL;
}

static void
a_worker_and_a_handler_lose_and_reorder_nothing(void **state)
{
	uint64_t seed = 9, hz = rte_get_timer_hz(), start;
	pthread_t thread;

	RTE_SET_USED(state);
	variable = qsbr_new(1);
	flows_new(300, 64, 1, variable);
	assert_int_equal(hy_flows_caches_set(flows,
				 &(struct hy_flows_caches){ .exact = HY_FLOWS_EXACT_16K,
					 .exact_one_in = 2,
					 .index = HY_FLOWS_INDEX_LINES,
					 .lines_log = 4 }),
		0);
	sim_open(&sim, 256);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, handler, NULL), 0);
	worker_begins();
	start = rte_get_timer_cycles();
	/* Two seconds; on a busy machine until enough has happened. */
	while (rte_get_timer_cycles() - start < 2 * hz ||
		((upcall_stats().added < added_least || upcall_stats().behind < behind_least) &&
			rte_get_timer_cycles() - start < 60 * hz)) {
		uint32_t number[SIM_BURST];

		for (uint32_t i = 0; i < SIM_BURST; i++)
			number[i] = flows_random(&seed) % (i % 2 ? 400 : 32);
		sim_burst(&sim, number, SIM_BURST);
		worker_reports();
		if (flows_random(&seed) % 256 == 0) {
			worker_rests();
			rte_delay_us_sleep(50);
			worker_begins();
		}
	}
	worker_rests();
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	sim_answers(&sim);
	print_message("%ju out, %ju added, %ju behind others, %ju full\n", (uintmax_t)sim.out,
		(uintmax_t)upcall_stats().added, (uintmax_t)upcall_stats().behind,
		(uintmax_t)sim.full);
	assert_true(upcall_stats().added >= added_least && upcall_stats().behind >= behind_least);
	assert_true(flows_stats().modified >= changed_least &&
		flows_stats().deleted >= changed_least);
	sim_close(&sim);
}

/* Flows that a rule answers each time: nothing is installed for them. */
#define FLOOD(n) (3 + 64 * (n))
#define IS_FLOOD(number) ((number) % 64 == 3)

/* With as much room as there may be, and all of it taken by a sender of new flows. */
static void
flows_at_work_were_dropped_with_much_room_on_the_way(void **state)
{
	const uint32_t at_work = 1024, steps = 6000;
	uint64_t seed = 1, dropped = 0, passed = 0, flood = 0;
	uint32_t number[SIM_BURST];

	RTE_SET_USED(state);
	flows_new(4096, 64, 1, NULL);
	sim_open(&sim, HY_FLOWS_UPCALLS_MOST);
	for (uint32_t n = 0; n < at_work; n++) {
		number[0] = 16 * (n / 8) + 4 + n % 8;
		sim_burst(&sim, number, 1);
	}
	assert_int_equal(hy_flows_handle(sim.upcalls, 0, at_work), at_work);
	for (uint32_t step = 0; step < steps; step++) {
		for (uint32_t i = 0; i < SIM_BURST; i += 2) {
			const uint32_t n = flows_random(&seed) % at_work;

			number[i] = 16 * (n / 8) + 4 + n % 8;
			number[i + 1] = FLOOD(step * SIM_BURST + i);
		}
		sim_burst(&sim, number, SIM_BURST);
		hy_flows_handle(sim.upcalls, 0, 4);
	}
	while (hy_flows_handle(sim.upcalls, 0, 1000) > 0)
		sim_answers(&sim);
	for (uint32_t flow = 0; flow < SIM_FLOWS; flow++) {
		flood += IS_FLOOD(flow) ? sim.full_of[flow] : 0;
		dropped += IS_FLOOD(flow) ? 0 : sim.full_of[flow];
		passed += IS_FLOOD(flow) ? 0 : sim.out_of[flow];
	}
	print_message("at work: %ju packets passed, %ju dropped; flood: %ju dropped\n",
		(uintmax_t)passed, (uintmax_t)dropped, (uintmax_t)flood);
	assert_true(flood > steps * SIM_BURST / 4);
	assert_int_equal(passed + dropped, at_work + steps * SIM_BURST / 2);
	assert_true(dropped < passed / 32);
	sim_close(&sim);
}

static void
upcalls_without_memory_are_refused(void **state)
{
	const struct hy_flows_upcall_params params = { .rules = sim_rules, .room = 4 };
	uint32_t failed = 0;

	RTE_SET_USED(state);
	flows_new(1, 1, 2, NULL);
	for (unsigned int nth = 1;; nth++) {
		struct hy_flows_upcalls *u;
		int rc;

		unit_alloc_fail(nth);
		rc = hy_flows_upcalls_create(flows, &params, &u);
		unit_alloc_fail(0);
		if (rc == 0) {
			hy_flows_upcalls_destroy(u);
			break;
		}
		assert_int_equal(rc, -ENOMEM);
		assert_null(u);
		failed++;
	}
	assert_true(failed >= 3);
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(a_miss_is_answered_and_installed_with_what_was_looked_at),
	FLOWS_TEST(wrong_parameters_of_upcalls_are_refused),
	FLOWS_TEST(packets_of_a_flow_stay_in_order),
	FLOWS_TEST(packets_of_a_connection_are_not_reordered_by_flags_tos_or_ttl),
	FLOWS_TEST(rules_that_change_reach_all_megaflows),
	FLOWS_TEST(answered_packet_has_no_action_of_a_flow_that_was_deleted),
	FLOWS_TEST(flows_at_work_go_on_while_every_other_packet_is_new),
	FLOWS_TEST(flows_at_work_go_on_while_all_hashes_are_the_same),
	FLOWS_TEST(a_fast_flow_does_not_stay_on_the_way),
	FLOWS_TEST(a_flow_is_not_dropped_for_ever_after_one_busy_moment),
	FLOWS_TEST(masks_of_one_port_are_no_burden_to_another),
	FLOWS_TEST(a_worker_and_a_handler_lose_and_reorder_nothing),
	FLOWS_TEST(flows_at_work_were_dropped_with_much_room_on_the_way),
	FLOWS_TEST(upcalls_without_memory_are_refused),
};
UNIT_SUITE(tests)
