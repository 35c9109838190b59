/* SPDX-License-Identifier: BSD-3-Clause */
/* Arcs in a graph over several workers, which rest, while features, pins and images change at once. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include <hy_arc.h>
#include <hy_dispatch.h>

#include "app/test/graph/graph_fixture.h"

#define WORKERS_NB 3
#define FEATURES 3
#define INDEXES 4
#define IN_FLIGHT 8192 /* objects of one source, at most */
#ifdef SANITIZED
#define CHANGES 25
#else
#define CHANGES 600
#endif
/* A change of an index's features has a number; its features' cookies are that and their set. */
#define COOKIE(change, set) ((uint32_t)(change) << FEATURES | (set))
#define SET(cookie) ((cookie) & ((1u << FEATURES) - 1))

struct item {
	uint32_t flow, seq;
	uint32_t cookie, seen; /* of the features that it has met */
	int taken;             /* under way: written by who frees it, read by its source */
};

static struct {
	struct hy_dispatch *dispatch;
	struct hy_arc *arc;
	struct item items[2][IN_FLIGHT]; /* of two sources */
	uint64_t made[2], out, aside, released, dropped, faults, featured;
	uint64_t arcs_changed;
	int stop;
} rig;

static const char *const features[FEATURES] = { "a", "b", "c" };

struct feature {
	struct hy_arc_place place;
	unsigned int number;
};

static void
count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static uint64_t
counted(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void
end_of(void **objs, unsigned int n, uint64_t *counter)
{
	for (unsigned int i = 0; i < n; i++)
		if (__atomic_exchange_n(&((struct item *)objs[i])->taken, 0, __ATOMIC_RELEASE) != 1)
			count(&rig.faults, 1);
	count(counter, n);
}

static void
release(void **objs, unsigned int n)
{
	end_of(objs, n, &rig.released);
}

static void
flow_of(void *const *objs, uint32_t *hash, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		hash[i] = ((const struct item *)objs[i])->flow;
}

static void
index_of(void *const objs[], uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = ((const struct item *)objs[i])->flow % INDEXES;
}

static int
feature_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct feature *feature = node->ctx;

	feature->number = *(const unsigned int *)config;
	return hy_arc_join(graph, node, 0, &feature->place);
}

/* An object meets features of one change only, in their order. Some leave by an edge of "b". */
static uint16_t
feature_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct feature *feature = node->ctx;
	struct hy_arc_hop hop[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];

	hy_arc_hops(graph, node, &feature->place, hop, n);
	for (uint16_t i = 0; i < n; i++) {
		struct item *item = objs[i];

		if (item->seen == 0)
			item->cookie = hop[i].cookie;
		if (item->cookie != hop[i].cookie || item->seen >> feature->number != 0)
			count(&rig.faults, 1);
		item->seen |= 1u << feature->number;
		next[i] = feature->number == 1 && item->seq % 5 == 0 ? 0 : hop[i].edge;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const unsigned int own = hy_graph_node_name(graph, node)[3] == '1';
	uint16_t m;

	for (m = 0; m < n; m++) {
		const uint64_t seq = rig.made[own] + m;
		struct item *item = &rig.items[own][seq % IN_FLIGHT];

		if (__atomic_load_n(&item->taken, __ATOMIC_ACQUIRE))
			break;
		*item = (struct item){
			.flow = (uint32_t)(seq % 64), .seq = (uint32_t)seq, .taken = 1
		};
		objs[m] = item;
	}
	hy_stream_move(graph, node, 0, m);
	count(&rig.made[own], m);
	return m;
}

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* Behind all features: an object must have met all of its change. */
static uint16_t
end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	for (uint16_t i = 0; i < n; i++) {
		const struct item *item = objs[i];

		if (item->seen != SET(item->cookie))
			count(&rig.faults, 1);
		if (item->seen != 0)
			count(&rig.featured, 1);
	}
	end_of(objs, n, &rig.out);
	return n;
}

/* "aside", where an edge of a feature leads, and "gone", the drop_node. */
static uint16_t
leave(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const bool is_aside = hy_graph_node_name(graph, node)[0] == 'a';

	end_of(objs, n, is_aside ? &rig.aside : &rig.dropped);
	return n;
}

static void *
work(void *arg)
{
	struct hy_graph *graph = hy_dispatch_graph(rig.dispatch, (uint16_t)(uintptr_t)arg);
	uint64_t seed = 3 + (uintptr_t)arg;
	unsigned int walks = 1;

	while (!__atomic_load_n(&rig.stop, __ATOMIC_ACQUIRE)) {
		if (hy_graph_walk(graph) == 0)
			sched_yield();
		if (--walks > 0)
			continue;
		walks = 1 + (unsigned int)(rnd(&seed) % 30);
		hy_graph_rest(graph);
		usleep((useconds_t)(rnd(&seed) % 200));
	}
	hy_graph_rest(graph);
	return NULL;
}

/* Changes the features of one index after another; of one in eight, to none. */
static void *
arcs_change(void *arg)
{
	uint64_t seed = 77;

	RTE_SET_USED(arg);
	for (uint32_t change = 1; !__atomic_load_n(&rig.stop, __ATOMIC_ACQUIRE); change++) {
		const uint32_t set = (uint32_t)(rnd(&seed) % (1u << FEATURES));
		struct hy_arc_setting settings[FEATURES];
		unsigned int n = 0;

		for (unsigned int f = 0; f < FEATURES; f++)
			if (set >> f & 1)
				settings[n++] = (struct hy_arc_setting){ features[f],
					COOKIE(change, set) };
		if (hy_arc_set(rig.arc, (uint32_t)(rnd(&seed) % INDEXES), settings, n) != 0)
			count(&rig.faults, 1);
		count(&rig.arcs_changed, 1);
		usleep((useconds_t)(rnd(&seed) % 300));
	}
	return NULL;
}

/* Moves a source, a node before the arc, its end, and what a feature's own edge leads to. */
static int
pins_change(uint64_t *seed)
{
	static const uint16_t workers[][WORKERS_NB] = { { 0 }, { 1 }, { 2 }, { 0, 1, 2 }, { 1, 2 },
		{ 2, 0 } };
	static const unsigned int nb[] = { 1, 1, 1, 3, 2, 2 };
	static const char *const nodes[] = { "src1", "pass", "end", "aside" };
	struct hy_dispatch_pin pins[RTE_DIM(nodes)];

	for (unsigned int i = 0; i < RTE_DIM(nodes); i++) {
		const uint64_t k = rnd(seed) % (i == 0 ? 3 : RTE_DIM(nb)); /* a source has one */

		pins[i] = (struct hy_dispatch_pin){ nodes[i], workers[k], nb[k] };
	}
	return hy_dispatch_pin(rig.dispatch, pins, RTE_DIM(pins));
}

static void
nodes_add(void)
{
	for (unsigned int f = 0; f < FEATURES; f++) {
		const struct hy_arc_feature feature = { .arc = "arc", .node = features[f] };
		const hy_node_id id = NODE(NULL, .name = features[f],
			.impl = { .process = feature_process,
				.init = feature_init,
				.ctx_size = sizeof(struct feature) },
			.lanes = { HY_ARC_LANE }, .edges = { f == 1 ? "aside" : NULL });

		assert_int_equal(hy_node_config(id, &f, sizeof(f)), 0);
		assert_int_equal(hy_arc_feature_register(&feature), 0);
	}
	NODE(NULL, .name = "src0", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "pass" });
	NODE(NULL, .name = "src1", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "pass" });
	NODE(NULL, .name = "pass", .impl.process = pass, .edges = { "end" });
	NODE(NULL, .name = "end", .impl.process = end);
	NODE(NULL, .name = "aside", .impl.process = leave);
	NODE(NULL, .name = "gone", .impl.process = leave);
}

static void
dispatch_begin(struct rte_rcu_qsbr *qsbr)
{
	static const struct hy_object_ops ops = { .release = release, .flow_hash = flow_of };
	static const char *const sources[] = { "src0", "src1" };
	const struct hy_arc_params arc = {
		.end = "end", .index = index_of, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};
	const struct hy_graph_params graph = { .patterns = sources,
		.nb_patterns = RTE_DIM(sources),
		.ops = &ops,
		.drop_node = "gone",
		.lanes = { HY_ARC_LANE },
		.burst = 32,
		.qsbr = qsbr };
	const struct hy_dispatch_params params = {
		.graph = &graph, .nb_workers = WORKERS_NB, .ring_bursts = 2, .patience_ms = 5000
	};

	nodes_add();
	assert_int_equal(hy_arc_create("arc", &arc, &rig.arc), 0);
	assert_int_equal(hy_dispatch_create("d", &params, &rig.dispatch), 0);
}

/* Pins; then a drain, new images, or nothing; until more has come out by other features. */
static int
change_once(unsigned int number, struct hy_graph *graphs[], uint64_t *seed)
{
	const uint64_t out = counted(&rig.out), arcs = counted(&rig.arcs_changed);
	int rc = pins_change(seed);

	if (rc == 0 && number % 3 == 0)
		rc = hy_dispatch_drain(rig.dispatch);
	if (rc == 0 && number % 3 == 1)
		rc = hy_graph_update_all(graphs, WORKERS_NB);
	for (unsigned int waits = 0;
		rc == 0 && (counted(&rig.out) < out + 1000 || counted(&rig.arcs_changed) == arcs);
		waits++) {
		usleep(100);
		if (waits == 300000)
			rc = -ETIME; /* nothing moves for half a minute */
	}
	return rc;
}

static void
objects_meet_whole_chains_while_pins_arcs_and_images_change(void **state)
{
	pthread_t workers[WORKERS_NB], changer;
	struct hy_graph *graphs[WORKERS_NB];
	struct rte_rcu_qsbr *qsbr;
	uint64_t seed = 9, in, left;
	unsigned int changes;
	int rc = 0;

	RTE_SET_USED(state);
	memset(&rig, 0, sizeof(rig));
	qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(WORKERS_NB), RTE_CACHE_LINE_SIZE);
	assert_non_null(qsbr);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, WORKERS_NB), 0);
	dispatch_begin(qsbr);
	for (uintptr_t w = 0; w < WORKERS_NB; w++) {
		graphs[w] = hy_dispatch_graph(rig.dispatch, (uint16_t)w);
		assert_int_equal(pthread_create(&workers[w], NULL, work, (void *)w), 0);
	}
	assert_int_equal(pthread_create(&changer, NULL, arcs_change, NULL), 0);
	for (changes = 0; changes < CHANGES && rc == 0; changes++)
		rc = change_once(changes, graphs, &seed);
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELEASE);
	for (unsigned int w = 0; w < WORKERS_NB; w++)
		pthread_join(workers[w], NULL);
	pthread_join(changer, NULL);
	left = hy_dispatch_destroy(rig.dispatch);
	in = rig.made[0] + rig.made[1];
	print_message(
		"%ju objects, %ju of them by features, %ju aside, %ju left in rings; %u changes of "
		"pins, %ju of arcs\n",
		(uintmax_t)in, (uintmax_t)rig.featured, (uintmax_t)rig.aside, (uintmax_t)left,
		changes, (uintmax_t)rig.arcs_changed);
	assert_int_equal(rc, 0);
	assert_int_equal(rig.faults, 0);
	assert_int_equal(rig.dropped, 0);
	assert_int_equal(rig.released, left);
	assert_int_equal(in, rig.out + rig.aside + rig.released);
	assert_true(rig.featured > 0 && rig.featured < rig.out && rig.aside > 0);
	assert_true(rig.arcs_changed >= CHANGES);
	assert_int_equal(hy_arc_destroy(rig.arc), 0);
	for (unsigned int f = 0; f < FEATURES; f++)
		assert_int_equal(hy_arc_feature_unregister(features[f]), 0);
	rte_free(qsbr);
}

static const struct CMUnitTest dispatch_arc_tests[] = {
	GRAPH_TEST(objects_meet_whole_chains_while_pins_arcs_and_images_change),
};

UNIT_SUITE(dispatch_arc_tests)
