/* SPDX-License-Identifier: BSD-3-Clause */
/* The octeontx2 pack's variants: what they do, and what becomes of ports. */

#include <pthread.h>
#include <stdatomic.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_eventdev.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include <hy_offload.h>
#include <hy_policy.h>

#include "octeontx2_rig.h"

#define FED (64 * 300 + 5) /* the last vector is not full */

/* Every packet, in its order; which parallel scheduling keeps for one worker only. */
static void
go_round(uint8_t sched_type)
{
	const struct oct_spec spec = { .vector_size = 32,
		.sched_type = sched_type,
		.workers = sched_type == RTE_SCHED_TYPE_PARALLEL ? 1 : 2 };

	oct_open(&spec);
	assert_chosen("sso_vector", "sso_vector");
	oct_send(FED, 2 * FED);
	oct_forward(2 * FED, FED);
	assert_int_equal(oct_objs("event_rx-oct", NULL), 3 * FED);
	assert_int_equal(oct_objs("ethdev_tx-0", NULL), 2 * FED);
	assert_int_equal(oct_objs("ethdev_tx-1", NULL), FED);
	assert_int_equal(oct_close(), 0);
}

static void
atomic_packets_go_round_by_vectors(void **state)
{
	RTE_SET_USED(state);
	go_round(RTE_SCHED_TYPE_ATOMIC);
}

static void
ordered_packets_go_round_by_vectors(void **state)
{
	RTE_SET_USED(state);
	go_round(RTE_SCHED_TYPE_ORDERED);
}

static void
parallel_packets_go_round_by_vectors(void **state)
{
	RTE_SET_USED(state);
	go_round(RTE_SCHED_TYPE_PARALLEL);
}

static void
without_vectors_packets_come_one_by_one(void **state)
{
	const struct oct_spec spec = { .sched_type = RTE_SCHED_TYPE_ATOMIC,
		.workers = 2, /* two workers have an order to keep */
		.deny = "ethdev_tx=sso_vector" };

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso", "single");
	assert_refused(oct_selected("event_rx", R.device), "sso_vector", HY_FATE_REJECTED,
		"nobody wants vectors");
	oct_send(FED, 0);
	for (unsigned int w = 0; w < 10; w++) /* the SSO gives one at a time */
		assert_int_equal(hy_graph_walk(R.graphs[0]), 1);
	oct_forward(0, FED);
	assert_int_equal(oct_close(), 0);
}

static void
vectors_that_cannot_be_had_fall_back_to_single_events(void **state)
{
	const struct oct_spec spec = { .vector_size = 33, .sched_type = RTE_SCHED_TYPE_PARALLEL };
	char reason[HY_REASON_SIZE];

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso_vector", "single");
	snprintf(reason, sizeof(reason),
		"cannot be bound: port %u: event vectors of 33 packets are not supported; 4 to "
		"2048 are, powers of 2",
		R.nic[0]);
	assert_refused(oct_selected("event_rx", R.device), "sso_vector", HY_FATE_BIND_FAILED,
		reason);
	oct_send(FED, FED);
	oct_forward(FED, FED);
	assert_int_equal(oct_close(), 0);
}

/* It is the walk's budget that counts; what is in hand holds its flow. */
static void
a_vector_longer_than_a_burst_comes_in_parts_and_in_order(void **state)
{
	const struct oct_spec spec = {
		.vector_size = 1024, .sched_type = RTE_SCHED_TYPE_ATOMIC, .workers = 2, .burst = 24
	};
	unsigned int full = 0, idle = 0;

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso_vector", "sso_vector");
	oct_send(FED, 0);
	while (R.out[1] < FED) {
		const unsigned int made = hy_graph_walk(R.graphs[0]);

		assert_true(made <= 24);
		full += made == 24;
		idle = made > 0 ? 0 : idle + 1;
		assert_true(idle < PATIENCE);
		if (made > 0)
			assert_int_equal(hy_graph_walk(R.graphs[1]), 0);
		oct_drain(1);
	}
	assert_true(full > 0);
	assert_int_equal(oct_objs("event_rx-oct", NULL), FED);
	assert_int_equal(oct_close(), 0);
}

/* The next one would give up the flow of the one before. */
static void
of_two_workers_each_takes_a_vector_a_walk(void **state)
{
	const struct oct_spec spec = {
		.vector_size = 4, .sched_type = RTE_SCHED_TYPE_ATOMIC, .workers = 2
	};

	RTE_SET_USED(state);
	oct_open(&spec);
	oct_send(FED, 0);
	for (unsigned int w = 0; w < 100; w++)
		assert_int_equal(hy_graph_walk(R.graphs[0]), 4);
	oct_forward(0, FED);
	assert_int_equal(oct_close(), 0);
}

struct walker {
	struct hy_graph *graph;
	atomic_bool *stop;
	uint64_t made;
};

static void *
walk_on(void *arg)
{
	struct walker *walker = arg;

	while (!atomic_load_explicit(walker->stop, memory_order_relaxed))
		__atomic_fetch_add(&walker->made, hy_graph_walk(walker->graph), __ATOMIC_RELAXED);
	hy_graph_rest(walker->graph);
	return NULL;
}

#define THREADED_FED 1024  /* packets by each NIC, time and again, */
#define THREADED_LEAST 100 /* until each of the workers has had so many */

/* However they overtake each other: what leaves is in the order of its arrival. */
static void
two_workers_at_once(uint16_t vector_size, const char *deny)
{
	const struct oct_spec spec = { .vector_size = vector_size,
		.timeout_ns = 1000,
		.sched_type = RTE_SCHED_TYPE_ATOMIC,
		.workers = 2,
		.deny = deny };
	struct walker walkers[2] = { 0 };
	pthread_t threads[2];
	atomic_bool stop = false;
	uint64_t sent = 0;

	oct_open(&spec);
	for (int t = 0; t < 2; t++) {
		walkers[t] = (struct walker){ .graph = R.graphs[t], .stop = &stop };
		assert_int_equal(pthread_create(&threads[t], NULL, walk_on, &walkers[t]), 0);
	}
	do {
		oct_send(THREADED_FED, THREADED_FED);
		sent += THREADED_FED;
		while (R.out[0] < sent || R.out[1] < sent) {
			rte_delay_us_sleep(100); /* the workers need the CPUs */
			oct_drain(0);
			oct_drain(1);
		}
	} while (__atomic_load_n(&walkers[0].made, __ATOMIC_RELAXED) < THREADED_LEAST ||
		__atomic_load_n(&walkers[1].made, __ATOMIC_RELAXED) < THREADED_LEAST);
	atomic_store(&stop, true);
	for (int t = 0; t < 2; t++)
		assert_int_equal(pthread_join(threads[t], NULL), 0);
	assert_int_equal(walkers[0].made + walkers[1].made, 2 * sent);
	assert_int_equal(R.out[0] + R.out[1], 2 * sent);
	assert_int_equal(oct_close(), 0);
}

static void
two_workers_at_once_keep_the_order_with_vectors(void **state)
{
	RTE_SET_USED(state);
	two_workers_at_once(32, NULL);
}

static void
two_workers_at_once_keep_the_order_of_packets(void **state)
{
	RTE_SET_USED(state);
	two_workers_at_once(0, "ethdev_tx=sso_vector");
}

/* The driver sends for a port that has something in hand: another dequeue could leave it empty. */
static void
a_worker_keeps_in_hand_what_the_device_is_to_send(void **state)
{
	const struct oct_spec spec = {
		.vector_size = 4, .sched_type = RTE_SCHED_TYPE_ORDERED, .burst = 30
	};

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("sso_vector", "sso_vector");
	oct_send(6, 0);
	for (unsigned int w = 0; w < PATIENCE && oct_objs("event_rx-oct", NULL) < 6; w++)
		assert_in_range(hy_graph_walk(R.graphs[0]), 0, 4);
	assert_int_equal(oct_objs("ethdev_tx-1", "tx_full"), 0);
	oct_drain(1);
	assert_int_equal(R.out[1], 6);
	assert_int_equal(oct_close(), 0);
}

/* Where there is no order to keep, a walk takes vectors until it is full. */
static void
one_worker_gathers_short_vectors(void **state)
{
	const struct oct_spec spec = { .vector_size = 4,
		.sched_type = RTE_SCHED_TYPE_ATOMIC,
		.burst = 30,
		.force = "ethdev_tx=own_queue" };

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_chosen("own_queue", "sso_vector");
	oct_send(FED, 0);
	for (unsigned int w = 0; w < 100; w++)
		assert_int_equal(hy_graph_walk(R.graphs[0]), 30);
	oct_forward(0, FED);
	assert_int_equal(oct_close(), 0);
}

/* What lies in hand, in vectors and in the device when a feed goes is freed, and told. */
static void
packets_in_hand_are_freed_and_told_when_the_feed_goes(void **state)
{
	const struct oct_spec spec = {
		.vector_size = 64, .sched_type = RTE_SCHED_TYPE_ATOMIC, .workers = 2, .burst = 16
	};
	const unsigned int before = rte_mempool_avail_count(sim_pool);
	unsigned int made;
	uint64_t taken;

	RTE_SET_USED(state);
	oct_open(&spec);
	oct_send(640, 0);
	do { /* the last vector is taken, and is longer than a burst */
		made = hy_graph_walk(R.graphs[0]);
	} while (simnic_feed_left(R.nic[0], 0) > 0 || made == 0);
	taken = oct_objs("event_rx-oct", NULL);
	assert_true(taken < 640);
	oct_drain(1);
	assert_int_equal(R.out[1], taken);
	assert_int_equal(oct_close(), 640 - taken);
	assert_int_equal(rte_mempool_avail_count(sim_pool), before);
}

#define ROOM 21

/* The first ones are sent; the rest drops, and the vector comes back. */
static void
fill_up(bool vectors)
{
	const struct oct_spec spec = { .vector_size = 64,
		.sched_type = RTE_SCHED_TYPE_ATOMIC,
		.deny = vectors ? NULL : "ethdev_tx=sso_vector" };
	unsigned int filler = 0;
	char name[32];
	void *pkt;

	oct_open(&spec);
	assert_chosen(vectors ? "sso_vector" : "sso", "sso_vector");
	for (; rte_ring_free_count(R.wire[1]) > ROOM; filler++)
		assert_int_equal(rte_ring_enqueue(R.wire[1], &filler), 0);
	oct_send(64, 0);
	for (unsigned int w = 0; oct_objs("event_rx-oct", NULL) < 64; w++) {
		assert_true(w < PATIENCE);
		hy_graph_walk(R.graphs[0]);
	}
	assert_int_equal(oct_objs("ethdev_tx-1", NULL), 64);
	assert_int_equal(oct_objs("ethdev_tx-1", "tx_full"), 64 - ROOM);
	while (filler-- > 0)
		assert_int_equal(rte_ring_dequeue(R.wire[1], &pkt), 0);
	oct_drain(1);
	assert_int_equal(R.out[1], ROOM);
	if (vectors) {
		snprintf(name, sizeof(name), "hy_sso_tx_%u", R.nic[1]);
		assert_true(rte_mempool_full(rte_mempool_lookup(name)));
	}
	assert_int_equal(oct_close(), 0);
}

static void
a_full_port_drops_what_it_refuses_of_a_vector(void **state)
{
	RTE_SET_USED(state);
	fill_up(true);
}

static void
a_full_port_drops_what_it_refuses_of_packets(void **state)
{
	RTE_SET_USED(state);
	fill_up(false);
}

static int
op_reset(uint16_t port, void *arg)
{
	RTE_SET_USED(arg);
	assert_int_equal(rte_eth_dev_reset(port), 0);
	oct_nic_start(port);
	return 0;
}

/* It is taken from the device and from its tx adapter, and put back; the other one goes on. */
static void
a_port_that_is_reset_comes_back(void **state)
{
	const struct oct_spec spec = { .vector_size = 32, .sched_type = RTE_SCHED_TYPE_ATOMIC };
	const struct hy_port_ops ops = { .reset = op_reset };
	char error[HY_HAL_ERROR_SIZE] = "";
	unsigned int downs = 0;
	int rc;

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_int_equal(hy_event_follow((uint8_t)R.device.id, R.hal, true), 0);
	assert_int_equal(hy_hal_watch(R.hal), 0);
	oct_send(FED, FED);
	oct_forward(FED, FED);
	simnic_break(R.nic[1]);
	do {
		rc = hy_hal_poll(R.hal, R.graphs, R.nb_graphs, &ops, error);
		if (rc < 0)
			fail_msg("the HAL fails: %s", error);
		downs += hy_hal_port_state(R.hal, R.nic[1]) != HY_PORT_UP;
		hy_graph_walk(R.graphs[0]);
	} while (rc > 0);
	assert_true(downs > 0);
	assert_int_equal(hy_hal_port_state(R.hal, R.nic[1]), HY_PORT_UP);
	assert_chosen("sso_vector", "sso_vector");
	R.out[0] = R.out[1] = 0;
	oct_send(FED, FED);
	oct_forward(FED, FED);
	assert_int_equal(oct_close(), 0);
}

#define DST 5 /* of the packets that a rule marks */

/* Lets each frame through once; how many leave with a mark. */
static unsigned int
marked_on_the_way(void)
{
	unsigned int marked = 0, n = 0;
	struct rte_mbuf *pkt;

	oct_send(FRAMES, 0);
	for (unsigned int w = 0; n < FRAMES; w++) {
		assert_true(w < PATIENCE);
		hy_graph_walk(R.graphs[0]);
		for (; rte_ring_dequeue(R.wire[1], (void **)&pkt) == 0; n++) {
			if (sim_mark_of(pkt) >= 0) {
				assert_int_equal(sim_dst_of(pkt), DST);
				marked++;
			}
			rte_pktmbuf_free(pkt);
		}
	}
	return marked;
}

/* The event device looks once, when a queue is added: that is what the sentinel is for. */
static void
marks_come_by_events_if_an_offload_was_there_first(void **state)
{
	const struct oct_spec spec = { .vector_size = 32, .by_rules = true };
	const struct hy_flow_rule rule = { .id = 1,
		.class_id = 7,
		.match = { .fields = HY_FLOW_DST, .dst = DST, .dst_len = 32 } };
	struct rte_rcu_qsbr *qsbr = rte_zmalloc("oct", rte_rcu_qsbr_get_memsize(1),
		RTE_CACHE_LINE_SIZE);
	const struct hy_policy_params params = {
		.max_rules = 4, .workers = 1, .socket = SOCKET_ID_ANY, .qsbr = qsbr
	};
	struct hy_offload_stats stats;
	unsigned int polls = 0;
	struct hy_offload *offload;
	struct hy_policy *policy;
	char reason[256];

	RTE_SET_USED(state);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, 1), 0);
	oct_devices(&spec);
	assert_int_equal(hy_policy_create("oct", &params, &policy), 0);
	assert_int_equal(hy_offload_create(policy, R.nic[0], NULL, &offload, reason,
				 sizeof(reason)),
		0);
	oct_run(&spec);
	assert_int_equal(marked_on_the_way(), 0);
	assert_int_equal(hy_policy_add(policy, &rule), 0);
	assert_int_equal(hy_policy_commit(policy), 0);
	do {
		assert_true(polls++ < PATIENCE);
		hy_offload_poll(offload);
		hy_offload_stats(offload, &stats);
	} while (stats.hw_rules == 0);
	assert_int_equal(marked_on_the_way(), 1);
	hy_offload_destroy(offload);
	hy_policy_destroy(policy);
	rte_free(qsbr);
	assert_int_equal(oct_close(), 0);
}

static void
marks_are_lost_in_events_if_the_first_rule_comes_later(void **state)
{
	const struct oct_spec spec = { .vector_size = 32, .by_rules = true };

	RTE_SET_USED(state);
	oct_open(&spec);
	assert_non_null(nic_rule(R.nic[0], &(struct sim_packet){ .dst = DST }, 7));
	assert_int_equal(marked_on_the_way(), 0);
	assert_int_equal(oct_close(), 0);
}

static const struct CMUnitTest octeontx2[] = {
	OCT_TEST(atomic_packets_go_round_by_vectors),
	OCT_TEST(ordered_packets_go_round_by_vectors),
	OCT_TEST(parallel_packets_go_round_by_vectors),
	OCT_TEST(without_vectors_packets_come_one_by_one),
	OCT_TEST(vectors_that_cannot_be_had_fall_back_to_single_events),
	OCT_TEST(a_vector_longer_than_a_burst_comes_in_parts_and_in_order),
	OCT_TEST(of_two_workers_each_takes_a_vector_a_walk),
	OCT_TEST(two_workers_at_once_keep_the_order_with_vectors),
	OCT_TEST(two_workers_at_once_keep_the_order_of_packets),
	OCT_TEST(a_worker_keeps_in_hand_what_the_device_is_to_send),
	OCT_TEST(one_worker_gathers_short_vectors),
	OCT_TEST(packets_in_hand_are_freed_and_told_when_the_feed_goes),
	OCT_TEST(a_full_port_drops_what_it_refuses_of_a_vector),
	OCT_TEST(a_full_port_drops_what_it_refuses_of_packets),
	OCT_TEST(a_port_that_is_reset_comes_back),
	OCT_TEST(marks_come_by_events_if_an_offload_was_there_first),
	OCT_TEST(marks_are_lost_in_events_if_the_first_rule_comes_later),
};

UNIT_SUITE(octeontx2)
