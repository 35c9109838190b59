/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker that reads a block of memory while another thread replaces and frees it. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_grace.h>

#include "graph_fixture.h"

#define WORDS 16
#define SWAPS 20000
#define SECONDS_MOST 3 /* for more than must be: the threads may have one core, and others on it */
#define OBJECTS 32
#define ROUNDS 3 /* walks that an object sees: it waits in the graph between them */

struct block {
	uint64_t words[WORDS]; /* all of them the block's number; 0 once it is freed */
};

/* What an object has looked up, and will look into as long as it is under way. */
struct finder {
	const struct block *block;
	uint64_t number;
	unsigned int rounds;
};

static struct {
	struct rte_rcu_qsbr *qsbr;
	struct hy_graph *graph;
	struct block *block; /* the one to find; exchanged by the writer */
	atomic_bool stop;
	/* The worker's. */
	struct finder finders[OBJECTS];
	uint64_t under_way, reads, rests, faults, numbers, last;
} rig;

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	rig.under_way -= n;
}

static const struct hy_object_ops ops = { .release = release };

/* The next lot when the one before is through: the graph holds nothing in between. */
static uint16_t
find(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	if (rig.under_way > 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		struct finder *f = objs[i] = &rig.finders[i];

		f->block = __atomic_load_n(&rig.block, __ATOMIC_ACQUIRE);
		f->number = f->block->words[0];
		f->rounds = 0;
		__atomic_fetch_add(&rig.numbers, f->number != rig.last, __ATOMIC_RELAXED);
		rig.last = f->number;
	}
	rig.under_way = n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* Plain reads: what is freed too early is a wrong number, a fault, or a race that TSan reports. */
static uint16_t
look(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct finder *f = objs[i];

		for (unsigned int w = 0; w < WORDS; w++)
			rig.faults += f->block->words[w] != f->number;
		rig.reads++;
		next[i] = ++f->rounds < ROUNDS ? 0 : 1;
	}
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

/*
 * Rests now and then. Lets the writer run where there is only one core, but not at rest: it would
 * replace all blocks at once.
 */
static void *
work(void *arg)
{
	RTE_SET_USED(arg);
	while (!atomic_load(&rig.stop)) {
		sched_yield();
		hy_graph_walk(rig.graph);
		if (rig.graph->walks % 64 != 0)
			continue;
		hy_graph_rest(rig.graph);
		__atomic_fetch_add(&rig.rests, 1, __ATOMIC_RELAXED);
		hy_graph_walk(rig.graph);
	}
	while (rig.under_way > 0)
		hy_graph_walk(rig.graph);
	hy_graph_rest(rig.graph);
	return NULL;
}

static struct block *
block_new(uint64_t number)
{
	struct block *block = malloc(sizeof(*block));

	assert_non_null(block);
	for (unsigned int w = 0; w < WORDS; w++)
		block->words[w] = number;
	return block;
}

static void
block_free(struct block *block)
{
	/* volatile: written though nobody will read it */
	for (unsigned int w = 0; w < WORDS; w++)
		*(volatile uint64_t *)&block->words[w] = 0;
	free(block);
}

static void
swap(uint64_t number)
{
	struct block *old = __atomic_exchange_n(&rig.block, block_new(number), __ATOMIC_ACQ_REL);
	const uint64_t token = rte_rcu_qsbr_start(rig.qsbr);

	while (!rte_rcu_qsbr_check(rig.qsbr, token, false))
		sched_yield();
	block_free(old);
}

/* What the worker finds while blocks are replaced is the scheduler's choice. */
static bool
is_enough(void)
{
	return __atomic_load_n(&rig.numbers, __ATOMIC_RELAXED) > 200 &&
		__atomic_load_n(&rig.rests, __ATOMIC_RELAXED) > 10;
}

static void
no_block_is_freed_while_a_worker_may_look_into_it(void **state)
{
	uint64_t number = 1, deadline;
	pthread_t worker;

	RTE_SET_USED(state);
	memset(&rig, 0, sizeof(rig));
	rig.qsbr = rte_malloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	assert_non_null(rig.qsbr);
	assert_int_equal(rte_rcu_qsbr_init(rig.qsbr, 1), 0);
	NODE(NULL, .name = "find", .flags = HY_NODE_SOURCE, .impl.process = find,
		.edges = { "pass" });
	pass_add(NULL, "pass", "look");
	NODE(NULL, .name = "look", .impl.process = look, .edges = { "pass", "end" });
	NODE(NULL, .name = "end", .impl.process = end);
	rig.graph = GRAPH("g", .ops = &ops, .qsbr = rig.qsbr, .burst = OBJECTS, .max_sweeps = 1);
	rig.block = block_new(1);

	assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
	while (__atomic_load_n(&rig.graph->walks, __ATOMIC_RELAXED) == 0)
		sched_yield();
	deadline = rte_get_timer_cycles() + SECONDS_MOST * rte_get_timer_hz();
	while ((number <= SWAPS && rte_get_timer_cycles() < deadline) || !is_enough())
		swap(++number);
	atomic_store(&rig.stop, true);
	pthread_join(worker, NULL);
	hy_graph_destroy(rig.graph);
	block_free(rig.block);
	rte_free(rig.qsbr);
	print_message("# %ju blocks replaced, %ju of them found, %ju looks, %ju rests\n",
		(uintmax_t)number - 1, (uintmax_t)rig.numbers, (uintmax_t)rig.reads,
		(uintmax_t)rig.rests);
	assert_int_equal(rig.faults, 0);
	assert_true(rig.reads >= rig.numbers * ROUNDS);
}

static struct {
	struct rte_rcu_qsbr *qsbr;
	uint64_t token, word, seen;
	bool checked;
} apart;

static void *
reader_reports(void *arg)
{
	RTE_SET_USED(arg);
	apart.seen = apart.word;
	rte_rcu_qsbr_quiescent(apart.qsbr, 0);
	return NULL;
}

/* Tells in a way that orders nothing. */
static void *
another_checks(void *arg)
{
	RTE_SET_USED(arg);
	while (!hy_grace_wait(apart.qsbr, apart.token))
		;
	__atomic_store_n(&apart.checked, true, __ATOMIC_RELAXED);
	return NULL;
}

/* ThreadSanitizer reports a race of the word's reader and writer if it is not so. */
static void
what_another_thread_found_reported_is_ordered_too(void **state)
{
	pthread_t reader, other;

	RTE_SET_USED(state);
	memset(&apart, 0, sizeof(apart));
	apart.qsbr = rte_malloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	assert_non_null(apart.qsbr);
	assert_int_equal(rte_rcu_qsbr_init(apart.qsbr, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(apart.qsbr, 0), 0);
	rte_rcu_qsbr_thread_online(apart.qsbr, 0);
	apart.word = 1;
	apart.token = hy_grace_start(apart.qsbr);
	assert_false(hy_grace_over(apart.qsbr, apart.token));
	assert_int_equal(pthread_create(&reader, NULL, reader_reports, NULL), 0);
	assert_int_equal(pthread_create(&other, NULL, another_checks, NULL), 0);
	while (!__atomic_load_n(&apart.checked, __ATOMIC_RELAXED))
		sched_yield();
	assert_true(hy_grace_over(apart.qsbr, apart.token));
	apart.word = 2;
	pthread_join(reader, NULL);
	pthread_join(other, NULL);
	assert_int_equal(apart.seen, 1);
	rte_free(apart.qsbr);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(what_another_thread_found_reported_is_ordered_too),
	GRAPH_TEST(no_block_is_freed_while_a_worker_may_look_into_it),
};

UNIT_SUITE(tests)
