/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph over several threads, under more load than they can take, while pins change. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <hy_dispatch.h>
#include <hy_idle.h>

#include "app/test/graph/graph_fixture.h"

#define WORKERS_NB 3
#define FLOWS 64
#ifdef SANITIZED
#define CHANGES 12
#define OBJS_BETWEEN 2000
#else
#define CHANGES 60
#define OBJS_BETWEEN 20000
#endif
#define IN_FLIGHT 8192 /* objects of one source, at most */

struct item {
	uint32_t flow, seq;
	int taken; /* under way: written by who frees it, read by its source */
};

static struct {
	struct hy_dispatch *dispatch;
	struct item items[2][IN_FLIGHT]; /* of two sources */
	uint32_t last[FLOWS];            /* seq that came out last, plus 1 */
	uint64_t made[2], out, dropped, faults;
	unsigned int asleep_rings;
	int stop;
	pthread_mutex_t lock[WORKERS_NB];
	pthread_cond_t bell[WORKERS_NB];
	bool rung[WORKERS_NB];
} rig;

static void
count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void
release(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (__atomic_exchange_n(&((struct item *)objs[i])->taken, 0, __ATOMIC_RELEASE) != 1)
			count(&rig.faults, 1);
}

static void
flow_of(void *const *objs, uint32_t *hash, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		hash[i] = ((const struct item *)objs[i])->flow;
}

/* Two sources, of the even and of the odd flows. */
static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const unsigned int odd = hy_graph_node_name(graph, node)[3] - '0';
	uint16_t made = 0;

	for (; made < n; made++) {
		const uint64_t seq = rig.made[odd] + made;
		struct item *item = &rig.items[odd][seq % IN_FLIGHT];

		if (__atomic_load_n(&item->taken, __ATOMIC_ACQUIRE) != 0)
			break;
		item->taken = 1;
		item->flow = (uint32_t)(2 * (seq % (FLOWS / 2)) + odd);
		item->seq = (uint32_t)seq;
		objs[made] = item;
		hy_lane(graph, node, 0)[made] = ~item->seq;
		for (unsigned int w = 0; w < 16; w++)
			((uint32_t(*)[16])hy_lane_wide(graph, node, 0))[made][w] = item->seq + w;
	}
	hy_stream_move(graph, node, 0, made);
	__atomic_store_n(&rig.made[odd], rig.made[odd] + made, __ATOMIC_RELAXED);
	return made;
}

static bool
key_right(const struct hy_graph *graph, const struct hy_node *node, uint16_t i, uint32_t seq)
{
	const uint32_t *words = (const uint32_t *)hy_lane_wide(graph, node, 0) + 16 * (size_t)i;
	bool right = true;

	for (unsigned int w = 0; w < 16; w++)
		right = right && words[w] == seq + w;
	return right;
}

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		if (hy_lane(graph, node, 0)[i] != ~((const struct item *)objs[i])->seq)
			count(&rig.faults, 1);
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* A flow comes out in order, wherever its nodes ran: its objects are numbered. */
static uint16_t
check(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct item *item = objs[i];
		const uint32_t before = __atomic_exchange_n(&rig.last[item->flow], item->seq + 1,
			__ATOMIC_RELAXED);

		if (before != 0 && item->seq + 1 != before + FLOWS / 2)
			count(&rig.faults, 1);
		if (hy_lane(graph, node, 0)[i] != ~item->seq ||
			!key_right(graph, node, i, item->seq))
			count(&rig.faults, 1);
	}
	count(&rig.out, n);
	hy_release(graph, objs, n);
	return n;
}

static uint16_t
drop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	count(&rig.dropped, n);
	hy_release(graph, objs, n);
	return n;
}

static int
bed_arm(struct hy_graph *graph, bool on)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(on);
	return 0;
}

/* Sleeps until it is rung for; only a lost call makes it sleep to the end. */
static int
bed_wait(struct hy_graph *graph, unsigned int usec)
{
	const uint16_t w = hy_graph_worker(graph);
	int rc;

	RTE_SET_USED(usec);
	pthread_mutex_lock(&rig.lock[w]);
	while (!rig.rung[w])
		pthread_cond_wait(&rig.bell[w], &rig.lock[w]);
	rc = rig.rung[w];
	rig.rung[w] = false;
	pthread_mutex_unlock(&rig.lock[w]);
	return rc;
}

static void
ring(uint16_t w, void *arg)
{
	RTE_SET_USED(arg);
	pthread_mutex_lock(&rig.lock[w]);
	rig.rung[w] = true;
	pthread_cond_signal(&rig.bell[w]);
	pthread_mutex_unlock(&rig.lock[w]);
	__atomic_fetch_add(&rig.asleep_rings, 1, __ATOMIC_RELAXED);
}

static const struct hy_object_ops ops = { .release = release, .flow_hash = flow_of };
static const struct hy_object_ops sleepy_ops = {
	.release = release, .flow_hash = flow_of, .arm = bed_arm, .wait = bed_wait
};

static void *
work(void *arg)
{
	struct hy_graph *graph = hy_dispatch_graph(rig.dispatch, (uint16_t)(uintptr_t)arg);
	const struct hy_idle_params soon = {
		.polls = 3, .pauses = 1, .pause_most = 1, .wait_us = 1000
	};
	struct hy_idle idle;

	hy_idle_init(&idle, &soon);
	while (!__atomic_load_n(&rig.stop, __ATOMIC_ACQUIRE)) {
		const uint32_t made = hy_graph_walk(graph);

		hy_idle_step(&idle, graph, made);
		if (made == 0)
			sched_yield(); /* there may be fewer CPUs than workers */
	}
	hy_graph_rest(graph);
	return NULL;
}

static void
nodes_add(void)
{
	static const char *const names[] = { "src0", "src1" };
	static const char *const chain[] = { "p0", "p1", "p2", "end" };

	memset(&rig, 0, sizeof(rig));
	for (unsigned int i = 0; i < 2; i++)
		NODE(NULL, .name = names[i], .flags = HY_NODE_SOURCE, .impl.process = make,
			.edges = { "p0" }, .lanes = { "l" }, .wide = { { "key", 64 } });
	for (unsigned int i = 0; i < 3; i++)
		NODE(NULL, .name = chain[i], .impl.process = pass, .edges = { chain[i + 1] },
			.lanes = { "l" });
	NODE(NULL, .name = "end", .impl.process = check, .lanes = { "l" },
		.wide = { { "key", 64 } });
	NODE(NULL, .name = "gone", .impl.process = drop);
	for (unsigned int w = 0; w < WORKERS_NB; w++) {
		pthread_mutex_init(&rig.lock[w], NULL);
		pthread_cond_init(&rig.bell[w], NULL);
	}
}

static void
dispatch_add(const struct hy_object_ops *object_ops, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins)
{
	static const char *const sources[] = { "src0", "src1" };
	const struct hy_graph_params graph = { .patterns = sources,
		.nb_patterns = 2,
		.ops = object_ops,
		.drop_node = "gone",
		.lanes = { "l" },
		.wide = &(const struct hy_wide_lane){ "key", 64 },
		.nb_wide = 1,
		.burst = 32 };

	assert_int_equal(hy_dispatch_create("d",
				 &(const struct hy_dispatch_params){ .graph = &graph,
					 .nb_workers = WORKERS_NB,
					 .pins = pins,
					 .nb_pins = nb_pins,
					 .ring_bursts = 2,
					 .patience_ms = 60000,
					 .notify = ring },
				 &rig.dispatch),
		0);
}

static void
threads_run(pthread_t threads[WORKERS_NB])
{
	for (uintptr_t w = 0; w < WORKERS_NB; w++)
		assert_int_equal(pthread_create(&threads[w], NULL, work, (void *)w), 0);
}

static void
threads_join(pthread_t threads[WORKERS_NB])
{
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELEASE);
	for (uint16_t w = 0; w < WORKERS_NB; w++)
		ring(w, NULL);
	for (unsigned int w = 0; w < WORKERS_NB; w++)
		pthread_join(threads[w], NULL);
}

static void
wait_for_objects(uint64_t n)
{
	const uint64_t start = __atomic_load_n(&rig.out, __ATOMIC_RELAXED);

	while (__atomic_load_n(&rig.out, __ATOMIC_RELAXED) - start < n)
		sched_yield();
}

/* All that was made came out, was dropped and counted, or was in a ring at the end. */
static void
assert_nothing_lost(void)
{
	const uint64_t made = rig.made[0] + rig.made[1];
	uint64_t left = 0;

	left = hy_dispatch_destroy(rig.dispatch);
	for (unsigned int s = 0; s < 2; s++)
		for (unsigned int i = 0; i < IN_FLIGHT; i++)
			assert_int_equal(rig.items[s][i].taken, 0);
	assert_int_equal(rig.faults, 0);
	assert_int_equal(rig.dropped, 0); /* no circle: nothing is ever dropped */
	assert_int_equal(rig.out + left, made);
	print_message("# %ju objects, %ju left in rings, %u calls\n", (uintmax_t)made,
		(uintmax_t)left, rig.asleep_rings);
}

static void
nothing_is_lost_or_overtaken_while_pins_change_under_load(void **state)
{
	static const uint16_t w[][3] = { { 0, 1, 2 }, { 1, 2 }, { 2, 0 }, { 2 }, { 1 }, { 0 } };
	static const unsigned int n[] = { 3, 2, 2, 1, 1, 1 };
	uint64_t seed = 11;
	pthread_t threads[WORKERS_NB];

	RTE_SET_USED(state);
	nodes_add();
	dispatch_add(&ops, NULL, 0);
	threads_run(threads);
	for (unsigned int change = 0; change < CHANGES; change++) {
		static const char *const names[] = { "src1", "p0", "p1", "p2", "end" };
		struct hy_dispatch_pin pins[RTE_DIM(names)];

		for (unsigned int p = 0; p < RTE_DIM(names); p++) {
			const unsigned int pick = rnd(&seed) % RTE_DIM(w);
			const unsigned int k = p == 0 ? 3 + pick % 3 : pick;

			pins[p] = (struct hy_dispatch_pin){ names[p], w[k], n[k] };
		}
		assert_int_equal(hy_dispatch_pin(rig.dispatch, pins, RTE_DIM(names)), 0);
		wait_for_objects(OBJS_BETWEEN);
	}
	threads_join(threads);
	assert_nothing_lost();
}

static void
no_worker_sleeps_on_objects_that_are_there(void **state)
{
	static const uint16_t one[] = { 1 }, two[] = { 2 };
	const struct hy_dispatch_pin pins[] = { { "p0", one, 1 }, { "p2", two, 1 } };
	pthread_t threads[WORKERS_NB];

	RTE_SET_USED(state);
	nodes_add();
	dispatch_add(&sleepy_ops, pins, 2);
	threads_run(threads);
	/* Worker 0 sleeps only when all its objects are under way, and nobody rings for what comes
	 * back: so the test does, as a device would. A call that is lost elsewhere stops everything. */
	while (__atomic_load_n(&rig.out, __ATOMIC_RELAXED) < 20 * OBJS_BETWEEN) {
		ring(0, NULL);
		sched_yield();
	}
	threads_join(threads);
	assert_nothing_lost();
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(nothing_is_lost_or_overtaken_while_pins_change_under_load),
	GRAPH_TEST(no_worker_sleeps_on_objects_that_are_there),
};

UNIT_SUITE(tests)
