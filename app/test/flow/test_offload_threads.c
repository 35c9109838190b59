/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker classifies while rules come and go, the table is full, and the port stops and starts. */

#include <pthread.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "hal/flow/offload.h"

#include "flow_fixture.h"

#define STABLE 20   /* rules that stay, before all others */
#define CHURNED 100 /* rules that do not, and overlap those */

static bool stop;

/*
 * What the rings of the port and of the pool order, for ThreadSanitizer: they are in libraries that
 * are not built with it. Packets handed over, and walks that gave some back; pools are first in,
 * first out, so that one comes again long after the walk that freed it.
 */
static uint64_t handed, walked;

static uint16_t
on_packets(uint16_t port, uint16_t queue, struct rte_mbuf **packets, uint16_t n, uint16_t room,
	void *arg)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(packets);
	RTE_SET_USED(room);
	(void)__atomic_load_n((uint64_t *)arg, __ATOMIC_ACQUIRE);
	return n;
}

static void *
worker(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		(void)hy_graph_walk(R->graph);
		__atomic_fetch_add(&walked, 1, __ATOMIC_RELEASE);
	}
	while (hy_graph_walk(R->graph) > 0)
		continue;
	hy_graph_rest(R->graph);
	return arg;
}

/* Packets for the rules that stay. */
static void
feed(uint64_t *sent)
{
	static uint8_t frame[FRAME_MAX];
	struct rte_mbuf *packets[32];

	(void)__atomic_load_n(&walked, __ATOMIC_ACQUIRE);
	for (unsigned int i = 0; i < RTE_DIM(packets); i++, (*sent)++) {
		packets[i] = packet(frame, flow_exact_frame(frame, *sent % STABLE));
		packets[i]->port = R->port->id;
	}
	__atomic_fetch_add(&handed, 1, __ATOMIC_RELEASE);
	while (rte_ring_enqueue_bulk(R->port->rx[0], (void **)packets, 32, NULL) == 0)
		usleep(10);
}

static void
churn(void)
{
	struct hy_flow_rule rule = flow_rule(1000 + rnd(&R->seed) % CHURNED, &R->seed);

	rule.precedence += 1000;
	rule.class_id += 1000;
	if (hy_policy_replace(R->policy, &rule) != 0)
		assert_int_equal(hy_policy_add(R->policy, &rule), 0);
	else if (rnd(&R->seed) % 2 == 0)
		assert_int_equal(hy_policy_remove(R->policy, rule.id), 0);
	flow_commit();
}

static void
restart(void)
{
	hy_offload_down(R->offload, true);
	hy_flow_sim_stop(R->sim);
	hy_flow_sim_start(R->sim);
	assert_int_equal(hy_offload_up(R->offload), 0);
}

static void
worker_never_sees_a_wrong_class(void **state)
{
	uint64_t sent = 0, classified = 0;
	const struct rte_eth_rxtx_callback *callback;
	pthread_t thread;
	int i = 0;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ .table_size = 24 },
		(struct hy_offload_params){ .sample_every = 64, .age_us = 2000 });
	flow_exact_rules(0, STABLE);
	stop = false;
	callback = rte_eth_add_first_rx_callback(R->port->id, 0, on_packets, &handed);
	assert_non_null(callback);
	assert_int_equal(pthread_create(&thread, NULL, worker, NULL), 0);
	/* Rules go in when the worker has passed, which is the scheduler's choice. */
	for (; i < 300 || (i < 10000 && flow_stats().marked <= 1000); i++) {
		feed(&sent);
		if (i % 4 == 0)
			churn();
		feed(&sent);
		hy_offload_poll(R->offload);
		if (i % 100 == 99)
			restart();
		usleep(200);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(rte_eth_remove_rx_callback(R->port->id, 0, callback), 0);
	rte_free((void *)(uintptr_t)callback);
	assert_int_equal(sent, (uint64_t)i * 64);
	for (uint16_t c = 1; c <= STABLE; c++) {
		const uint64_t of_class = sent / STABLE + (c <= sent % STABLE);

		assert_int_equal(hy_policy_class_hits(R->policy, c), of_class);
		classified += of_class;
	}
	assert_int_equal(classified, sent);
	assert_int_equal(flow_counter("hw_hits") + flow_counter("sw_hits"), sent);
	assert_int_equal(flow_stats().mismatches, 0);
	assert_true(flow_stats().marked > 1000);
	assert_true(flow_stats().lost > 0);
}

/* A listener before the offload: when a commit is over, a worker wakes up that had read an older token. */
static uint64_t woke_with;

static void
wake_late(void *arg)
{
	struct rte_rcu_qsbr *qsbr = arg;

	__atomic_store_n(&qsbr->qsbr_cnt[0].cnt, woke_with, __ATOMIC_RELEASE);
}

/* Live blocks of malloc(3) after a commit in which that happens, or does not, and polls. */
static int64_t
live_after_commit(struct rte_rcu_qsbr *qsbr, bool late)
{
	static uint16_t class_id = 100;
	const struct hy_policy_view *view = hy_policy_view(R->policy);
	struct hy_flow_rule rule = view->rules[view->nb_rules - 1].rule;

	rule.class_id = class_id++;
	assert_int_equal(hy_policy_replace(R->policy, &rule), 0);
	woke_with = late ? __atomic_load_n(&qsbr->token, __ATOMIC_RELAXED) : 0;
	flow_commit();
	__atomic_store_n(&qsbr->qsbr_cnt[0].cnt, 0, __ATOMIC_RELEASE); /* it rests again */
	flow_settle();
	return unit_alloc_live();
}

/* rte_rcu_qsbr_thread_online() reads the token, and stores it as the worker's some time later. */
static void
plan_that_a_worker_kept_by_waking_late_was_freed_by_a_view_that_was_gone(void **state)
{
	struct hy_offload_params params;
	struct hy_policy_listener first = { .after = wake_late };
	struct rte_rcu_qsbr *qsbr;
	char reason[256];
	int64_t live;

	RTE_SET_USED(state);
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	params = R->offload->params;
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	qsbr = hy_policy_qsbr(R->policy);
	first.arg = qsbr;
	assert_int_equal(hy_policy_listen(R->policy, &first), 0);
	assert_int_equal(hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
				 sizeof(reason)),
		0);
	flow_rules_add(0, 40);
	flow_settle();
	assert_true(flow_stats().hw_rules > 0);
	for (int i = 0; i < 3; i++) /* as many blocks as the rules need */
		live = live_after_commit(qsbr, false);
	for (int i = 0; i < 3; i++)
		assert_int_equal(live_after_commit(qsbr, true), live);
	hy_policy_unlisten(R->policy, &first);
}

/* Its rings had the names of the next ones, and its marks were given anew while it held packets with them. */
static void
port_whose_worker_hung_at_the_end_of_an_offload_had_no_other(void **state)
{
	struct hy_offload_params params;
	struct rte_rcu_qsbr *qsbr;
	struct hy_offload *old;
	char reason[256];

	RTE_SET_USED(state);
	flow_open(&flow_profiles[1], (struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ 0 });
	flow_rules_add(0, 40);
	flow_settle();
	assert_true(flow_stats().hw_rules > 0);
	params = R->offload->params;
	qsbr = hy_policy_qsbr(R->policy);
	old = R->offload;
	R->offload = NULL;
	/* It is in a walk, and stays there. */
	__atomic_store_n(&qsbr->qsbr_cnt[0].cnt, __atomic_load_n(&qsbr->token, __ATOMIC_RELAXED),
		__ATOMIC_RELEASE);
	hy_offload_destroy(old);
	assert_non_null(strstr(unit_log(), "a worker does not release the port's marks"));
	assert_int_equal(hy_offload_create(R->policy, R->port->id, &params, &R->offload, reason,
				 sizeof(reason)),
		0);
	for (int i = 0; i < 10; i++) {
		rte_delay_us_sleep(1200);
		hy_offload_poll(R->offload);
	}
	assert_int_equal(flow_stats().hw_rules, 0);
	__atomic_store_n(&qsbr->qsbr_cnt[0].cnt, 0, __ATOMIC_RELEASE);
	flow_settle();
	assert_true(flow_stats().hw_rules > 0);
	hy_offload_collect(old);
	hy_offload_free(old);
}

static const struct CMUnitTest offload_thread_tests[] = {
	FLOW_TEST(worker_never_sees_a_wrong_class),
	FLOW_TEST(plan_that_a_worker_kept_by_waking_late_was_freed_by_a_view_that_was_gone),
	FLOW_TEST(port_whose_worker_hung_at_the_end_of_an_offload_had_no_other),
};

UNIT_SUITE(offload_thread_tests)
