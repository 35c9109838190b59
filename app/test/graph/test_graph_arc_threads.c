/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers and a thread that enables and disables features. A cookie holds the whole chain that
 * it belongs to, so that each object can be held to what it was told: all features of one chain, in
 * their order, whatever is changed meanwhile.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "arc_fixture.h"

#define WORKERS 2
#define FEATURES 5
#define IN_USE 12 /* indexes that have features at a time */
#define INDEXES_MOST (IN_USE << 5)
#define CHANGES 400    /* at least */
#define DISABLES 20000 /* some 5000 were enough to see an object overtaken */
#define RESTS 4000     /* changes beside workers that rest; some 600 were enough to see a crash */
#define CHANGES_MOST 200000
#define SLOTS 64

/* Its cookie: a number for each change, and bit f for each feature of the chain. */
#define COOKIE(change, mask) ((change) << FEATURES | (mask))
#define MASK(cookie) ((cookie) & ((1u << FEATURES) - 1))

struct traveller {
	uint32_t index;
	uint32_t cookie; /* that the first feature was told */
	uint32_t seen;   /* bit f: by feature f */
	uint64_t made;   /* how many its index had before */
};

struct worker {
	struct hy_graph *graph;
	bool rests; /* now and then, for up to 200 us */
	struct traveller slots[SLOTS];
	uint64_t seed;
	uint64_t made, ended, featured, faults;
	uint64_t made_of[INDEXES_MOST], ended_of[INDEXES_MOST]; /* by index */
	uint64_t overtaken; /* objects, by later ones of their index */
};

static struct {
	struct worker workers[WORKERS];
	pthread_t threads[WORKERS];
	struct rte_rcu_qsbr *qsbr;
	uint32_t indexes; /* those drawn are less */
	int stop;
} rig;

struct feature_ctx {
	struct hy_arc_place place;
	unsigned int f;
};

static int
feature_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct feature_ctx *ctx = node->ctx;

	ctx->f = *(const unsigned int *)config;
	return hy_arc_join(graph, node, 0, &ctx->place);
}

static struct worker *
worker_of(const struct hy_graph *graph)
{
	return &rig.workers[hy_graph_worker(graph)];
}

static uint16_t
feature_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct feature_ctx *ctx = node->ctx;
	struct worker *worker = worker_of(graph);
	struct hy_arc_hop hop[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];

	hy_arc_hops(graph, node, &ctx->place, hop, n);
	for (uint16_t i = 0; i < n; i++) {
		struct traveller *t = objs[i];

		if (t->seen == 0)
			t->cookie = hop[i].cookie;
		worker->faults += t->cookie != hop[i].cookie; /* of two chains */
		worker->faults += t->seen >> ctx->f != 0;     /* out of order, or twice */
		t->seen |= 1u << ctx->f;
		next[i] = hop[i].edge;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *worker = worker_of(graph);
	const uint32_t indexes = __atomic_load_n(&rig.indexes, __ATOMIC_RELAXED);

	n = (uint16_t)RTE_MIN(n, SLOTS);
	for (uint16_t i = 0; i < n; i++) {
		struct traveller *t = &worker->slots[i];

		*t = (struct traveller){ .index = rnd(&worker->seed) % indexes };
		t->made = worker->made_of[t->index]++;
		objs[i] = t;
	}
	worker->made += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* The model: who was told of a chain has seen all of it, and nothing else. */
static uint16_t
end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct worker *worker = worker_of(graph);

	RTE_SET_USED(node);
	for (uint16_t i = 0; i < n; i++) {
		const struct traveller *t = objs[i];

		worker->faults += t->seen != MASK(t->cookie);
		worker->overtaken += t->made != worker->ended_of[t->index];
		worker->ended_of[t->index] = t->made + 1;
		__atomic_fetch_add(&worker->featured, t->seen != 0, __ATOMIC_RELAXED);
	}
	worker->ended += n;
	return n;
}

static void
index_of(void *const objs[], uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = ((const struct traveller *)objs[i])->index;
}

static void *
work(void *arg)
{
	struct worker *worker = arg;

	for (uint64_t walks = 1; !__atomic_load_n(&rig.stop, __ATOMIC_ACQUIRE); walks++) {
		hy_graph_walk(worker->graph);
		if (!worker->rests || walks % 20 != 0)
			continue;
		hy_graph_rest(worker->graph);
		usleep(rnd(&worker->seed) % 200);
	}
	hy_graph_rest(worker->graph);
	return NULL;
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	rig.workers[0].faults += n; /* nothing is ever dropped */
}

static void
nodes_add(struct rte_rcu_qsbr *qsbr)
{
	const struct hy_arc_params params = {
		.end = "end", .index = index_of, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};

	for (unsigned int f = 0; f < FEATURES; f++) {
		char name[2] = { 'a' + (char)f };
		const struct hy_arc_feature feature = { .arc = "arc", .node = name };
		const hy_node_id id = NODE(NULL, .name = name,
			.impl = { .process = feature_process,
				.init = feature_init,
				.ctx_size = sizeof(struct feature_ctx) },
			.lanes = { HY_ARC_LANE });

		assert_int_equal(hy_node_config(id, &f, sizeof(f)), 0);
		assert_int_equal(hy_arc_feature_register(&feature), 0);
	}
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = make,
		.edges = { "end" });
	NODE(NULL, .name = "end", .impl.process = end);
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
}

/* Gives an index a chain of features, perhaps none. */
static void
chain_set(uint32_t index, uint32_t mask, uint32_t change)
{
	static const char *const names[FEATURES] = { "a", "b", "c", "d", "e" };
	struct hy_arc_setting settings[FEATURES];
	unsigned int n = 0;
	int rc;

	for (unsigned int f = 0; f < FEATURES; f++)
		if ((mask >> f & 1) != 0)
			settings[n++] = (struct hy_arc_setting){ names[f], COOKIE(change, mask) };
	do /* on a machine with much to do, a worker may have no CPU for a second */
		rc = hy_arc_set(arc, index, settings, n);
	while (rc == -ETIMEDOUT);
	if (rc != 0)
		fail_msg("features 0x%x of index %u: %d, %s", mask, index, rc, unit_log());
}

/* How far the threads get beside the changes is the scheduler's choice. */
static bool
is_enough(void)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		if (__atomic_load_n(&rig.workers[w].featured, __ATOMIC_RELAXED) < 2000)
			return false;
	return true;
}

static void
start(bool rests)
{
	static const struct hy_object_ops ops = { .release = release };
	static const char *const names[] = { "g", "h" };

	memset(&rig, 0, sizeof(rig));
	rig.qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(WORKERS), RTE_CACHE_LINE_SIZE);
	assert_non_null(rig.qsbr);
	assert_int_equal(rte_rcu_qsbr_init(rig.qsbr, WORKERS), 0);
	rig.indexes = IN_USE;
	nodes_add(rig.qsbr);
	for (unsigned int w = 0; w < WORKERS; w++) {
		rig.workers[w].rests = rests;
		rig.workers[w].seed = w + 1;
		rig.workers[w].graph = GRAPH(names[w], .patterns = (const char *[]){ "src" },
			.nb_patterns = 1, .ops = &ops, .lanes = { HY_ARC_LANE },
			.worker = (uint16_t)w, .qsbr = rig.qsbr, .burst = SLOTS);
	}
	for (unsigned int w = 0; w < WORKERS; w++)
		assert_int_equal(pthread_create(&rig.threads[w], NULL, work, &rig.workers[w]), 0);
}

static void
stop(uint32_t changes, uint32_t empties)
{
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELEASE);
	for (unsigned int w = 0; w < WORKERS; w++)
		pthread_join(rig.threads[w], NULL);
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct worker *worker = &rig.workers[w];

		print_message("# worker %u: %ju objects, %ju with features; %u changes, the arc "
			      "left %u times\n",
			w, (uintmax_t)worker->made, (uintmax_t)worker->featured, changes, empties);
		assert_int_equal(worker->faults, 0);
		assert_int_equal(worker->overtaken, 0);
		assert_int_equal(worker->made, worker->ended);
		hy_graph_destroy(worker->graph);
	}
	assert_true(is_enough());
	assert_int_equal(hy_arc_destroy(arc), 0);
	for (char name[2] = "a"; name[0] < 'a' + FEATURES; name[0]++)
		assert_int_equal(hy_arc_feature_unregister(name), 0);
	rte_free(rig.qsbr);
}

static void
an_object_sees_all_features_of_one_chain_whatever_is_enabled_meanwhile(void **state)
{
	uint32_t in_use[IN_USE] = { 0 }, changes = 0, empties = 0;
	uint64_t seed = 7;

	RTE_SET_USED(state);
	start(false);
	while (changes < CHANGES || (changes < CHANGES_MOST && !is_enough())) {
		const unsigned int i = rnd(&seed) % IN_USE;

		if (++changes % 50 == 0) { /* the arc leaves the graphs; other indexes are used */
			for (unsigned int k = 0; k < IN_USE; k++) {
				chain_set(in_use[k], 0, changes);
				in_use[k] = k == 0 ? rig.indexes - 1 : rnd(&seed) % rig.indexes;
			}
			empties++;
			/* The table grows from 16 on; then they meet again. */
			__atomic_store_n(&rig.indexes, empties < 6 ? IN_USE << empties : IN_USE,
				__ATOMIC_RELAXED);
			continue;
		}
		chain_set(in_use[i], rnd(&seed) % (1u << FEATURES), changes);
	}
	stop(changes, empties);
}

/* A worker that sleeps keeps nobody waiting: it finds several changes at once when it wakes. */
static void
workers_that_rest_wake_to_chains_whose_edges_they_have(void **state)
{
	uint32_t changes = 0, empties = 0;
	uint64_t seed = 11;

	RTE_SET_USED(state);
	start(true);
	__atomic_store_n(&rig.indexes, 1, __ATOMIC_RELAXED);
	while (changes < RESTS || (changes < CHANGES_MOST && !is_enough())) {
		uint32_t mask = 0;

		/* One by one in any order, so that each brings an edge, and of another number. */
		for (unsigned int n = 1 + rnd(&seed) % FEATURES; n > 0; n--) {
			mask |= 1u << rnd(&seed) % FEATURES;
			chain_set(0, mask, ++changes);
		}
		chain_set(0, 0, ++changes);
		empties++;
	}
	stop(changes, empties);
}

/* One index, disabled and enabled over and over: each change falls into some walk's burst. */
static void
objects_of_an_index_keep_their_order_while_features_are_disabled(void **state)
{
	uint32_t changes = 0;
	uint64_t seed = 13;

	RTE_SET_USED(state);
	start(false);
	__atomic_store_n(&rig.indexes, 1, __ATOMIC_RELAXED);
	chain_set(1, (1u << FEATURES) - 1, 0); /* the arc stays in the graphs */
	while (changes < DISABLES || (changes < CHANGES_MOST && !is_enough())) {
		chain_set(0, 1 + rnd(&seed) % ((1u << FEATURES) - 1), ++changes);
		chain_set(0, 0, ++changes);
	}
	stop(changes, 0);
}

#define ROUNDS 500

/* Creates and destroys an arc over and over: the list of all is never read beside a change. */
static void *
come_and_go(void *name)
{
	char end_name[HY_NAME_SIZE];
	const struct hy_arc_params params = {
		.end = end_name, .index = index_of, .socket = SOCKET_ID_ANY
	};
	uintptr_t created = 0;

	snprintf(end_name, sizeof(end_name), "end-of-%s", (const char *)name);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct hy_arc *own;

		created += hy_arc_create(name, &params, &own) == 0 && hy_arc_destroy(own) == 0;
	}
	return (void *)created;
}

static void
arcs_come_and_go_on_several_threads(void **state)
{
	static char names[][2] = { "p", "q" };
	pthread_t threads[RTE_DIM(names)];

	RTE_SET_USED(state);
	for (unsigned int t = 0; t < RTE_DIM(names); t++)
		assert_int_equal(pthread_create(&threads[t], NULL, come_and_go, names[t]), 0);
	for (unsigned int t = 0; t < RTE_DIM(names); t++) {
		void *created;

		pthread_join(threads[t], &created);
		assert_int_equal((uintptr_t)created, ROUNDS);
	}
}

static const struct CMUnitTest tests[] = {
	ARC_TEST(arcs_come_and_go_on_several_threads),
	ARC_TEST(an_object_sees_all_features_of_one_chain_whatever_is_enabled_meanwhile),
	ARC_TEST(objects_of_an_index_keep_their_order_while_features_are_disabled),
	ARC_TEST(workers_that_rest_wake_to_chains_whose_edges_they_have),
};

UNIT_SUITE(tests)
