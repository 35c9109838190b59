/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The default route changes together with another one, while a worker looks up: what follows the
 * one before the call and the other after it has a route all the time.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "drivers/nodes/generic/ip4/ip4_lookup_kernels.h"
#include "node_fixture.h"

#define ROUNDS 5000
#define OTHERS 64 /* changes of other routes */
#define ROUNDS_LEAST 10
#define SECONDS_MOST 3 /* for more than the least */

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[1024];
} qsbr;

static struct {
	struct hy_ip4_fib *fib;
	hy_ip4_lookup_kernel_t *kernel;
	uint32_t id[2]; /* of the /24's next hop, and of the default route's */
	atomic_bool stop;
	atomic_uint bursts;
	uint64_t lost, strange, by_id[2];
} t;

/* Whole bursts: from the first address to the last, much can change. */
static void *
look_up(void *arg)
{
	uint32_t route[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	cpu_set_t all;

	/* EAL has bound the program to one CPU, but the two threads are to run at once. */
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
	while (!atomic_load(&t.stop)) {
		for (unsigned int i = 0; i < HY_BURST_MAX; i++)
			route[i] = IP4(10, 0, 0, i);
		t.kernel(hy_ip4_fib_view(t.fib), route, next, HY_BURST_MAX);
		for (unsigned int i = 0; i < HY_BURST_MAX; i++) {
			if (next[i] != HY_IP4_LOOKUP_NEXT_REWRITE)
				t.lost++;
			else if (route[i] != t.id[0] && route[i] != t.id[1])
				t.strange++;
			else
				t.by_id[route[i] == t.id[1]]++;
		}
		atomic_fetch_add(&t.bursts, 1);
		rte_rcu_qsbr_quiescent(&qsbr.v, 0);
	}
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	return arg;
}

/* One of the two routes comes, the other goes, in one call, which goes on for a while. */
static void
exchange(bool to_default)
{
	struct hy_ip4_change changes[2 + OTHERS];

	changes[to_default] = (struct hy_ip4_change){ to_default ? HY_IP4_DELETE : HY_IP4_ADD,
		{ IP4(10, 0, 0, 0), 24, t.id[0] } };
	changes[!to_default] = (struct hy_ip4_change){ to_default ? HY_IP4_ADD : HY_IP4_DELETE,
		{ 0, 0, t.id[1] } };
	for (unsigned int i = 0; i < OTHERS; i++)
		changes[2 + i] = (struct hy_ip4_change){ i % 2 == 0 ? HY_IP4_ADD : HY_IP4_DELETE,
			{ IP4(20, 0, i / 2, 0), 24, t.id[0] } };
	assert_int_equal(hy_ip4_routes_change(t.fib, changes, RTE_DIM(changes), NULL), 0);
}

/* Both threads may have only one CPU: the other one gets to see each route alone too. */
static void
burst_await(void)
{
	const unsigned int before = atomic_load(&t.bursts);

	while (atomic_load(&t.bursts) - before < 2)
		rte_delay_us_sleep(1);
}

static void
run(enum hy_ip4_engine engine, hy_ip4_lookup_kernel_t *kernel)
{
	const struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = 16,
		.max_tbl8s = 4,
		.max_next_hops = 4,
		.socket = SOCKET_ID_ANY,
		.qsbr = &qsbr.v };
	const struct hy_ip4_port port = { .port = 0, .max_len = 1514 };
	const uint64_t end = rte_get_timer_cycles() + SECONDS_MOST * rte_get_timer_hz();
	unsigned int rounds = 0;
	pthread_t thread;

	memset(&t, 0, sizeof(t));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	assert_int_equal(hy_ip4_fib_create("default", &params, &t.fib), 0);
	assert_int_equal(hy_ip4_port_add(t.fib, &port), 0);
	for (uint8_t i = 0; i < 2; i++)
		assert_int_equal(hy_ip4_next_hop_add(t.fib,
					 &(struct hy_ip4_next_hop){ .mac = { { 2, i } } },
					 &t.id[i]),
			0);
	assert_int_equal(hy_ip4_route_add(t.fib,
				 &(struct hy_ip4_route){ IP4(10, 0, 0, 0), 24, t.id[0] }),
		0);
	t.kernel = kernel;
	t.fib->nb_users = 1; /* as if a node of a graph read it */
	assert_int_equal(pthread_create(&thread, NULL, look_up, NULL), 0);
	for (; rounds < ROUNDS && (rounds < ROUNDS_LEAST || rte_get_timer_cycles() < end);
		rounds++) {
		exchange(rounds % 2 == 0);
		burst_await();
	}
	atomic_store(&t.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	t.fib->nb_users = 0;
	hy_ip4_fib_destroy(t.fib);
	if (t.by_id[0] == 0 || t.by_id[1] == 0 || t.strange > 0)
		fail_msg("%u changes; %ju and %ju addresses by each route, %ju by none of them",
			rounds, (uintmax_t)t.by_id[0], (uintmax_t)t.by_id[1], (uintmax_t)t.strange);
	if (t.lost > 0)
		fail_msg("%ju of %ju addresses had no route, in %u changes", (uintmax_t)t.lost,
			(uintmax_t)(t.lost + t.by_id[0] + t.by_id[1]), rounds);
}

static void
addresses_follow_the_default_route_or_the_other_in_rte_lpm(void **state)
{
	RTE_SET_USED(state);
	run(HY_IP4_LPM, hy_ip4_lookup_scalar);
}

static void
addresses_follow_the_default_route_or_the_other_in_rte_fib(void **state)
{
	RTE_SET_USED(state);
	run(HY_IP4_FIB, hy_ip4_lookup_fib);
}

static const struct CMUnitTest node_default_route_tests[] = {
	NODE_TEST(addresses_follow_the_default_route_or_the_other_in_rte_lpm),
	NODE_TEST(addresses_follow_the_default_route_or_the_other_in_rte_fib),
};

UNIT_SUITE(node_default_route_tests)
