/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker, a thread that changes its graph, and a reader of statistics, all at once. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "graph_fixture.h"

#define STOPS 12 /* nodes that come and go; the last is always there */

/* What the threads share; objects are the worker's alone, but for those that destruction frees. */
static struct {
	struct hy_graph *graph;
	uint64_t taken, reads; /* walks and snapshots, for the control thread to wait by */
	int stop;
	uint64_t made, released, faults;
	int contexts, inits, finis;
} rig;

struct stop {
	uint32_t magic, inside;
	uint64_t seen;
};
#define MAGIC 0xc0ffee11u

/* Freed by the worker, or by the control thread after it; each object is a counter in an array. */
static uint8_t under_way[1 << 16];

static void
release(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *obj = objs[i];

		if (obj < under_way || obj >= under_way + sizeof(under_way) || *obj != 1)
			rig.faults++;
		*obj = 0;
	}
	rig.released += n;
}

static const struct hy_object_ops ops = { .release = release };

static int
stop_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct stop *stop = node->ctx;

	RTE_SET_USED(graph);
	RTE_SET_USED(config);
	stop->magic = MAGIC;
	__atomic_fetch_add(&rig.inits, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Plain accesses: a context that the worker has not left is a race that TSan reports. */
static void
stop_fini(const struct hy_graph *graph, struct hy_node *node)
{
	struct stop *stop = node->ctx;

	RTE_SET_USED(graph);
	if (stop->magic != MAGIC || stop->inside != 0)
		__atomic_fetch_add(&rig.contexts, 1, __ATOMIC_RELAXED);
	stop->magic = 0;
	__atomic_fetch_add(&rig.finis, 1, __ATOMIC_RELAXED);
}

static void
enter(struct hy_node *node, uint16_t n)
{
	struct stop *stop = node->ctx;

	rig.faults += stop->magic != MAGIC;
	stop->inside = 1;
	stop->seen += n;
}

static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static uint32_t at;
	uint16_t made = 0;

	enter(node, n);
	while (made < n && under_way[at % sizeof(under_way)] == 0) {
		under_way[at % sizeof(under_way)] = 1;
		objs[made] = &under_way[at++ % sizeof(under_way)];
		hy_lane(graph, node, 0)[made++] = at;
	}
	rig.made += made;
	hy_stream_move(graph, node, 0, made);
	((struct stop *)node->ctx)->inside = 0;
	return made;
}

/* To the first two edges by turns; every node but the last has two. */
static uint16_t
deal(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	enter(node, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = (hy_lane(graph, node, 0)[i] += 7) % 16 < 5;
	hy_enqueue_next(graph, node, next, objs, n);
	((struct stop *)node->ctx)->inside = 0;
	return n;
}

static uint16_t
end(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	enter(node, n);
	hy_release(graph, objs, n);
	((struct stop *)node->ctx)->inside = 0;
	return n;
}

static void *
work(void *arg)
{
	RTE_SET_USED(arg);
	while (!__atomic_load_n(&rig.stop, __ATOMIC_ACQUIRE)) {
		hy_graph_walk(rig.graph);
		__atomic_fetch_add(&rig.taken, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Counters never go back, whatever changes. */
static void *
read_on(void *arg)
{
	uint64_t before[STOPS + 2] = { 0 };
	FILE *null = fopen("/dev/null", "w");
	int backwards = 0;

	RTE_SET_USED(arg);
	while (null != NULL && !__atomic_load_n(&rig.stop, __ATOMIC_ACQUIRE)) {
		struct hy_stats *stats = NULL;

		if (hy_stats_read("live", &stats) != 0)
			continue;
		for (unsigned int i = 0; i < stats->nb_nodes; i++) {
			const struct hy_node_stats *s = &stats->nodes[i];
			const unsigned int which = s->is_source ? STOPS : s->name[1] - 'a';

			backwards += s->objs < before[which];
			before[which] = s->objs;
		}
		hy_stats_free(stats);
		hy_graph_export_dot(rig.graph, null);
		__atomic_fetch_add(&rig.reads, 1, __ATOMIC_RELEASE);
	}
	if (null != NULL)
		fclose(null);
	__atomic_fetch_add(&rig.contexts, backwards, __ATOMIC_RELAXED);
	return NULL;
}

static void
stop_name(unsigned int i, char name[3])
{
	snprintf(name, 3, "s%c", 'a' + (char)i);
}

static void
edges_draw(unsigned int i, uint64_t *seed, hy_node_id id)
{
	char name[3];

	/* Forward mostly, to the end at the latest; at times back. */
	for (unsigned int e = 0; e < 2; e++) {
		unsigned int to = i + 1 + rnd(seed) % (STOPS - 1 - i);
		int rc;

		if (rnd(seed) % 3 == 0)
			to = rnd(seed) % STOPS;
		stop_name(to, name);
		rc = hy_node_edge_set(id, (uint16_t)e, name);
		if (rc != 0 && rc != -EEXIST && rc != -EINVAL)
			fail_msg("edge %u of node %u to %u: %d", e, i, to, rc);
	}
}

static void
nodes_add(hy_node_id ids[STOPS + 1])
{
	const struct hy_node_impl impl = { .process = deal,
		.init = stop_init,
		.fini = stop_fini,
		.ctx_size = sizeof(struct stop) };
	struct hy_node_impl source;

	for (unsigned int i = 0; i < STOPS; i++) {
		char name[3], edges[2][3];
		struct hy_node_desc desc = { .name = name, .impl = impl, .lanes = { "hash" } };

		stop_name(i, name);
		for (unsigned int e = 0; e < 2 && i < STOPS - 1; e++) {
			stop_name(e == 0 ? STOPS - 1 : i == 0 ? 1 : 0, edges[e]);
			desc.edges[e] = edges[e];
		}
		if (i == STOPS - 1)
			desc.impl.process = end;
		assert_int_equal(hy_node_register(&desc, &ids[i]), 0);
	}
	source = impl;
	source.process = make;
	ids[STOPS] = NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl = source,
		.edges = { "sa" }, .lanes = { "hash" });
}

/* One random change; whether the worker has taken it up is not waited for every time. */
static unsigned int
change(uint64_t *seed, const hy_node_id ids[])
{
	static const char *const lanes[][3] = { { "hash" }, { "b", "hash" }, { "c", "b", "hash" } };
	struct hy_graph_params params;
	const unsigned int l = rnd(seed) % 3, i = rnd(seed) % (STOPS - 1);
	uint64_t seen, reads;

	for (unsigned int k = 0; k < 3; k++) {
		const unsigned int n = rnd(seed) % (STOPS - 1);

		edges_draw(n, seed, ids[n]);
	}
	if (rnd(seed) % 4 == 0)
		assert_int_equal(hy_node_config(ids[i], seed, sizeof(*seed)), 0);
	hy_graph_params_get(rig.graph, &params);
	params.burst = (uint16_t)(1 + rnd(seed) % HY_BURST_MAX);
	params.sample_every = (uint16_t)(1 + rnd(seed) % 20);
	params.max_sweeps = (uint16_t)(1 + rnd(seed) % 2);
	memcpy(params.lanes, lanes[l], sizeof(lanes[l]));
	if (hy_graph_update(rig.graph, &params) != 0)
		fail_msg("a change is refused: %s", unit_log());
	seen = __atomic_load_n(&rig.taken, __ATOMIC_ACQUIRE);
	reads = __atomic_load_n(&rig.reads, __ATOMIC_ACQUIRE);
	while (rnd(seed) % 3 != 0 && __atomic_load_n(&rig.taken, __ATOMIC_ACQUIRE) < seen + 2)
		sched_yield();
	while (i == 0 && __atomic_load_n(&rig.reads, __ATOMIC_ACQUIRE) == reads)
		sched_yield();
	return 1;
}

static uint64_t
sum_removed_and_lost(void)
{
	struct hy_stats *stats;
	uint64_t n = 0;

	assert_int_equal(hy_stats_read("live", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		n += stats->nodes[i].drops[HY_CORE_DROP_NODE_REMOVED].objs +
			1000000000 * stats->nodes[i].drops[HY_CORE_DROP_STREAM_FULL].objs;
	hy_stats_free(stats);
	return n;
}

static uint64_t
objs_of(const char *node)
{
	struct hy_stats *stats;
	uint64_t n = 0;

	assert_int_equal(hy_stats_read("live", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, node) == 0)
			n = stats->nodes[i].objs;
	hy_stats_free(stats);
	return n;
}

/* How far the threads get beside the changes is the scheduler's choice: change until it was enough. */
static int
is_enough(void)
{
	return __atomic_load_n(&rig.reads, __ATOMIC_ACQUIRE) > 10 &&
		__atomic_load_n(&rig.taken, __ATOMIC_ACQUIRE) > 100 &&
		__atomic_load_n(&rig.inits, __ATOMIC_RELAXED) > 50 && objs_of("src") > 1000 &&
		sum_removed_and_lost() > 0;
}

static void
nothing_is_lost_while_a_graph_changes_under_load(void **state)
{
	char sink[3];
	hy_node_id ids[STOPS + 1];
	uint64_t seed = 20240229, removed, waits;
	unsigned int changes = 0;
	pthread_t worker, reader;

	RTE_SET_USED(state);
	memset(&rig, 0, sizeof(rig));
	memset(under_way, 0, sizeof(under_way));
	nodes_add(ids);
	rig.graph = GRAPH("live", .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.ops = &ops, .lanes = { "hash" }, .max_sweeps = 2);
	assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_on, NULL), 0);
	while (changes < 150 || (changes < 5000 && !is_enough()))
		changes += change(&seed, ids);
	__atomic_store_n(&rig.stop, 1, __ATOMIC_RELEASE);
	pthread_join(worker, NULL);
	pthread_join(reader, NULL);
	hy_graph_walk(rig.graph); /* takes up what may be left */
	removed = sum_removed_and_lost();
	waits = waiting(rig.graph);
	stop_name(STOPS - 1, sink);
	print_message("# %u changes, %ju walks, %ju reads: %ju objects in, %ju out, %ju removed, "
		      "%ju wait; %d contexts\n",
		changes, (uintmax_t)rig.taken, (uintmax_t)rig.reads, (uintmax_t)rig.made,
		(uintmax_t)objs_of(sink), (uintmax_t)removed, (uintmax_t)waits, rig.inits);
	assert_int_equal(rig.made, objs_of("src"));
	assert_int_equal(rig.made, objs_of(sink) + removed + waits);
	assert_int_equal(rig.released, objs_of(sink) + removed);
	assert_true(is_enough());
	hy_graph_destroy(rig.graph);
	assert_int_equal(rig.released, rig.made);
	assert_int_equal(rig.faults, 0);
	assert_int_equal(rig.contexts, 0);
	assert_int_equal(rig.inits, rig.finis);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(nothing_is_lost_while_a_graph_changes_under_load),
};

UNIT_SUITE(tests)
