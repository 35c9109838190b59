/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics between two walks of a worker that goes on, of one that rests, and of none. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "graph_fixture.h"

#define READS 2000
#define CHANGES 200

/* The worker's alone, but for what is atomic. */
static struct {
	struct hy_graph *graph;
	int stop;
	int held;              /* 1: the worker is to stay between two walks; 2: it does */
	unsigned int slow;     /* microseconds that "part" takes */
	unsigned int taken_up; /* images, by walks in the middle of a reading */
} rig;

static int objects[HY_BURST_MAX];

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static const struct hy_object_ops ops = { .release = release };

static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		objs[i] = &objects[i];
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* Half of them one way, half of them the other, and one is dropped. Slow: counters disagree for long. */
static uint16_t
part(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = i == 0 ? HY_DROP(0) : (uint16_t)(i % 2);
	if (rig.slow)
		rte_delay_us_block(rig.slow);
	hy_counter_add(node, 0, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

static void *
walk(void *arg)
{
	RTE_SET_USED(arg);
	while (!__atomic_load_n(&rig.stop, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&rig.held, __ATOMIC_ACQUIRE) == 0)
			hy_graph_walk(rig.graph);
		else
			__atomic_compare_exchange_n(&rig.held, &(int){ 1 }, 2, false,
				__ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
	hy_graph_rest(rig.graph);
	return NULL;
}

static void
setup(void)
{
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = make,
		.edges = { "part" });
	NODE(NULL, .name = "part", .impl.process = part, .edges = { "a", "b" },
		.drops = { { "one", HY_SEV_INFO, "The first." } }, .counters = { { "all" } });
	NODE(NULL, .name = "a", .impl.process = end);
	NODE(NULL, .name = "b", .impl.process = end);
	NODE(NULL, .name = "drop", .impl.process = end);
	rig.graph = GRAPH("g", .ops = &ops, .burst = 32, .drop_node = "drop");
	rig.stop = rig.held = 0;
	rig.slow = rig.taken_up = 0;
}

/* Whether what nodes have sent is what the next ones have taken. */
static bool
agree(const struct hy_stats *stats)
{
	uint64_t objs[5] = { 0 }, sum;

	assert_int_equal(stats->nb_graphs, 1);
	assert_int_equal(stats->nb_nodes, 5);
	for (unsigned int i = 0; i < 5; i++)
		objs[i] = stats->nodes[i].objs;
	sum = objs[2] + objs[3] + objs[4];
	return objs[0] == objs[1] && objs[1] == sum && stats->nodes[0].edges[0].objs == objs[0] &&
		stats->nodes[1].counters[0].value == objs[1] &&
		stats->nodes[1].edges[0].objs + stats->nodes[1].edges[1].objs +
			stats->nodes[1].drops[HY_CORE_DROPS].objs ==
		objs[1];
}

static void
nodes_agree_while_a_worker_walks(void **state)
{
	unsigned int torn = 0;
	uint64_t before = 0;
	pthread_t worker;

	RTE_SET_USED(state);
	setup();
	assert_int_equal(pthread_create(&worker, NULL, walk, NULL), 0);
	for (unsigned int i = 0; i < READS; i++) {
		struct hy_stats *stats;

		/* As long as it takes: the machine may be busy. */
		assert_int_equal(hy_stats_read_between_walks("g", 60000000, &stats), 0);
		assert_true(agree(stats));
		assert_true(stats->nodes[0].objs >= before);
		before = stats->nodes[0].objs;
		hy_stats_free(stats);
		if (i % 100 == 0)
			assert_int_equal(hy_graph_update(rig.graph, NULL), 0);
	}
	assert_true(before > 0);
	/* Else this would have been easy. */
	for (unsigned int i = 0; i < 1000 * READS && torn == 0; i++) {
		struct hy_stats *stats;

		assert_int_equal(hy_stats_read("g", &stats), 0);
		torn += !agree(stats);
		hy_stats_free(stats);
	}
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELAXED);
	pthread_join(worker, NULL);
	assert_true(torn > 0);
}

static void
hold(void)
{
	__atomic_store_n(&rig.held, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&rig.held, __ATOMIC_ACQUIRE) != 2)
		sched_yield();
}

/* In the place of the worker, which is held: takes up what was published. */
static void
take_up(void)
{
	const struct hy_image *before = rig.graph->image;

	hy_graph_walk(rig.graph);
	rig.taken_up += rig.graph->image != before;
	__atomic_store_n(&rig.held, 0, __ATOMIC_RELEASE);
}

/* The copy was then of an image that the reader did not expect, and it read beside the walk. */
static void
nodes_agree_if_an_image_is_taken_up_just_before_the_worker_is_asked(void **state)
{
	unsigned int torn = 0;
	pthread_t worker;

	RTE_SET_USED(state);
	setup();
	rig.slow = 20;
	hy_graph_walk(rig.graph); /* it rests until then, and is not asked */
	assert_int_equal(pthread_create(&worker, NULL, walk, NULL), 0);
	for (unsigned int i = 0; i < CHANGES; i++) {
		struct hy_stats *stats;

		hold();
		assert_int_equal(hy_graph_update(rig.graph, NULL), 0);
		unit_alloc_hook = take_up; /* the memory for the copy, when the image is known */
		assert_int_equal(hy_stats_read_between_walks("g", 60000000, &stats), 0);
		torn += !agree(stats);
		hy_stats_free(stats);
	}
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELAXED);
	pthread_join(worker, NULL);
	assert_int_equal(rig.taken_up, CHANGES);
	assert_int_equal(torn, 0);
}

/* A worker that rests, or does not come back, is not waited for longer than allowed. */
static void
a_graph_that_is_not_walked_is_read_as_it_is(void **state)
{
	struct hy_stats *stats;

	RTE_SET_USED(state);
	setup();
	for (int rests = 0; rests < 2; rests++) {
		hy_graph_walk(rig.graph);
		if (rests)
			hy_graph_rest(rig.graph);
		assert_int_equal(hy_stats_read_between_walks("g", 1000, &stats), 0);
		assert_true(agree(stats));
		assert_int_equal(stats->nodes[0].objs, 32 * (rests + 1));
		hy_stats_free(stats);
	}
	/* What was asked for is not done later. */
	hy_graph_walk(rig.graph);
	assert_int_equal(hy_stats_read_between_walks("none", 1000, &stats), -ENOENT);
}

static const struct CMUnitTest moment_tests[] = {
	GRAPH_TEST(nodes_agree_while_a_worker_walks),
	GRAPH_TEST(nodes_agree_if_an_image_is_taken_up_just_before_the_worker_is_asked),
	GRAPH_TEST(a_graph_that_is_not_walked_is_read_as_it_is),
};

UNIT_SUITE(moment_tests)
