/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk of graphs without cycles: how often nodes run, on how much, how far a walk goes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph_fixture.h"

/* First in, first out once ran the join of an uneven diamond on every part that came. */
static void
a_join_of_uneven_ways_runs_once_with_all_that_its_parents_made(void **state)
{
	struct probe src = { .budget = 1000, .per_call = 32 }, spread = { .nb_edges = 3 };
	struct probe way[4] = { 0 }, join = { 0 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	/* spread → join at once, after one node, and after three. */
	source_add(&src, "src", "spread");
	NODE(&spread, .name = "spread", .impl.process = probe_spread,
		.edges = { "join", "short", "long1" });
	pass_add(&way[0], "short", "join");
	pass_add(&way[1], "long1", "long2");
	pass_add(&way[2], "long2", "long3");
	pass_add(&way[3], "long3", "join");
	pass_add(&join, "join", "sink");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 64);
	for (unsigned int walk = 1; walk <= 20; walk++) {
		hy_graph_walk(graph);
		assert_int_equal(join.calls, walk);
		assert_int_equal(sink.calls, walk);
		assert_int_equal(sink.objs, 32 * walk);
		assert_int_equal(waiting(graph), 0);
	}
	assert_int_equal(join.least, 32);
	assert_true(src.order < spread.order && spread.order < way[1].order);
	assert_true(way[1].order < way[2].order && way[2].order < way[3].order);
	assert_true(way[0].order < join.order && way[3].order < join.order);
	assert_true(join.order < sink.order);
}

static void
a_node_without_objects_does_not_run(void **state)
{
	struct probe src = { .budget = 3 }, pass = { 0 }, idle = { 0 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "pass", "idle" });
	pass_add(&pass, "pass", "sink");
	pass_add(&idle, "idle", "sink");
	sink_add(&sink, "sink");
	graph = GRAPH("g");
	for (unsigned int i = 0; i < 5; i++)
		hy_graph_walk(graph);
	assert_int_equal(src.calls, 5); /* a source is asked in every walk */
	assert_int_equal(src.objs, 3);
	assert_int_equal(pass.calls, 1);
	assert_int_equal(idle.calls, 0);
	assert_int_equal(sink.calls, 1);
	assert_int_equal(sink.objs, 3);
}

/*
 * Nodes with an array of one burst on the stack overflowed as soon as two sources led to one.
 * Every number of objects is handed on in ceil(n / burst) calls, none above the burst.
 */
static void
many_sources_never_make_a_call_of_more_than_a_burst(void **state)
{
	static const uint16_t bursts[] = { 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 65, 100, 127, 128,
		129, 200, 255, 256 };
	enum { SOURCES = 9 };
	unsigned int walks = 0, split = 0;

	RTE_SET_USED(state);
	for (size_t b = 0; b < RTE_DIM(bursts); b++) {
		const uint16_t burst = bursts[b];
		struct probe src[SOURCES] = { 0 }, join = { 0 }, sink = { 0 };
		struct hy_graph *graph;
		uint64_t seed = burst;

		for (unsigned int s = 0; s < SOURCES; s++) {
			char name[HY_NAME_SIZE];

			snprintf(name, sizeof(name), "src-%u", s);
			source_add(&src[s], name, "join");
		}
		NODE(&join, .name = "join", .impl.process = probe_spread, .edges = { "sink" });
		join.nb_edges = 1;
		sink_add(&sink, "sink");
		graph = GRAPH("g", .burst = burst);
		assert_int_equal(hy_graph_stream_capacity(graph), SOURCES * burst);
		for (unsigned int walk = 0; walk < 12; walk++) {
			const uint64_t calls = join.calls, objs = join.objs;
			uint64_t made = 0;

			for (unsigned int s = 0; s < SOURCES; s++) {
				/* The first walk is full. */
				src[s].budget = walk == 0 ? burst : rnd(&seed) % (burst + 1u);
				made += src[s].budget;
			}
			hy_graph_walk(graph);
			assert_int_equal(join.objs - objs, made);
			assert_int_equal(join.calls - calls, (made + burst - 1) / burst);
			assert_int_equal(sink.calls, join.calls);
			assert_int_equal(sink.objs, join.objs);
			split += join.calls - calls > 1;
			walks++;
		}
		assert_int_equal(join.most, burst);
		assert_int_equal(sink.most, burst);
		assert_int_equal(stream_full(graph), 0);
		registry_clear();
	}
	assert_int_equal(walks, 19 * 12);
	assert_true(split > 150);
}

static uint16_t
ordered_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct probe *probe = probe_hit(node, n);

	/* Objects come in the order in which they were made. */
	for (uint16_t i = 0; i < n; i++)
		obj_faults += ((struct obj *)objs[i])->id != probe->objs - n + i;
	hy_release(graph, objs, n);
	return n;
}

static void
order_is_kept_along_a_way(void **state)
{
	struct probe src = { .budget = 1000 }, src2 = { .budget = 1000 }, pass = { 0 };
	struct probe sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "pass");
	source_add(&src2, "src2", "pass");
	pass_add(&pass, "pass", "sink");
	NODE(&sink, .name = "sink", .impl.process = ordered_sink);
	graph = GRAPH("g", .burst = 33);
	for (unsigned int i = 0; i < 40; i++)
		hy_graph_walk(graph);
	assert_int_equal(sink.objs, 2000);
	assert_int_equal(obj_faults, 0);
}

/* A chain of n nodes behind the source, each with a bit of its own in the bitmap. */
static void
walk_chain(unsigned int n)
{
	struct probe *probes = calloc(n + 1, sizeof(*probes));
	struct hy_graph *graph;
	unsigned int once = 0;

	assert_non_null(probes);
	probes[0].budget = 10;
	/* Registered against the order of the walk. */
	sink_add(&probes[n], "end");
	for (unsigned int i = n; i-- > 0;) {
		char name[HY_NAME_SIZE], to[HY_NAME_SIZE];

		snprintf(name, sizeof(name), "n%u", i);
		snprintf(to, sizeof(to), i == n - 1 ? "end" : "n%u", i + 1);
		if (i == 0)
			source_add(&probes[i], name, to);
		else
			pass_add(&probes[i], name, to);
	}
	graph = GRAPH("g", .burst = 2);
	assert_int_equal(graph->plan.nb_words, (n + 1) / 64 + 1);
	for (unsigned int walk = 1; walk <= 5; walk++) {
		hy_graph_walk(graph);
		assert_int_equal(probes[n].objs, 2 * walk);
	}
	for (unsigned int i = 0; i <= n; i++)
		once += probes[i].calls == 5 && probes[i].objs == 10;
	assert_int_equal(once, n + 1);
	assert_int_equal(probes[n].order - probes[0].order, n);
	hy_graph_destroy(graph);
	free(probes);
}

static void
more_nodes_than_a_word_of_the_bitmap_are_walked(void **state)
{
	RTE_SET_USED(state);
	walk_chain(200);
}

static void
the_last_bit_of_a_word_is_walked(void **state)
{
	RTE_SET_USED(state);
	walk_chain(63); /* 64 nodes */
}

static void
more_than_4096_nodes_are_walked(void **state)
{
	RTE_SET_USED(state);
	walk_chain(4200);
}

static void
replication_that_is_declared_has_room(void **state)
{
	struct probe src = { .budget = 640 }, by3 = { .copies = 3, .nb_edges = 2 };
	struct probe by5 = { .copies = 5, .nb_edges = 1 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "by3");
	NODE(&by3, .name = "by3", .replicates = 3, .impl.process = probe_replicate,
		.edges = { "by5", "sink" });
	NODE(&by5, .name = "by5", .replicates = 5, .impl.process = probe_replicate,
		.edges = { "sink" });
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 64);
	assert_int_equal(hy_graph_stream_capacity(graph), 64 * 15);
	for (unsigned int walk = 1; walk <= 10; walk++) {
		hy_graph_walk(graph);
		assert_int_equal(by3.objs, walk * 64);
		assert_int_equal(by5.objs, walk * 128);
		assert_int_equal(sink.objs, walk * (128 * 5 + 64));
		assert_int_equal(waiting(graph), 0);
	}
	assert_int_equal(by5.calls, 20);
	assert_int_equal(sink.most, 64);
	assert_int_equal(stream_full(graph), 0);
}

/* Streams grew by a 16-bit number: beyond 65,535 objects they shrank, and the process ended. */
static void
more_objects_than_a_stream_can_ever_hold_are_held_back(void **state)
{
	struct probe src = { .budget = 1024 }, many = { .copies = 600, .nb_edges = 1 };
	struct probe sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "many");
	NODE(&many, .name = "many", .replicates = 600, .impl.process = probe_replicate,
		.edges = { "sink" });
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 256, .max_sweeps = 2);
	/* One burst can become 153,600 objects. */
	assert_int_equal(hy_graph_stream_capacity(graph), HY_STREAM_MAX);
	for (unsigned int walk = 0; walk < 40 && (walk < 4 || waiting(graph) > 0); walk++) {
		hy_graph_walk(graph);
		assert_in_range(graph->plan.nodes[2].waiting, 0, HY_STREAM_MAX);
	}
	assert_int_equal(many.objs, 1024);
	assert_int_equal(many.most, 109); /* 65,536 / 600 */
	assert_int_equal(sink.objs, 1024 * 600);
	assert_int_equal(sink.most, 256);
	assert_int_equal(stream_full(graph), 0);
	assert_int_equal(obj_under_way, 0);
}

/* 257 sources can make more in one walk than the stream of the node that they lead to holds. */
static void
more_sources_than_fit_a_stream_lose_nothing_and_all_get_their_turn(void **state)
{
	enum { SOURCES = 257 };
	static struct probe src[SOURCES];
	struct probe sink = { 0 };
	struct hy_graph *graph;
	unsigned int asked = 0;

	RTE_SET_USED(state);
	for (unsigned int s = 0; s < SOURCES; s++) {
		char name[HY_NAME_SIZE];

		src[s] = (struct probe){ .budget = 1024 };
		snprintf(name, sizeof(name), "src-%u", s);
		source_add(&src[s], name, "sink");
	}
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 256);
	assert_int_equal(hy_graph_stream_capacity(graph), HY_STREAM_MAX);
	for (unsigned int walk = 1; walk <= 3; walk++) {
		hy_graph_walk(graph);
		assert_int_equal(sink.objs, walk * HY_STREAM_MAX);
		assert_int_equal(waiting(graph), 0);
	}
	for (unsigned int s = 0; s < SOURCES; s++)
		asked += src[s].calls > 0;
	assert_int_equal(stream_full(graph), 0);
	assert_int_equal(asked, SOURCES);
}

/* Sends everything copies times, while its descriptor says once. */
static void
replication_that_is_not_declared_is_released_and_counted(void **state)
{
	static const uint16_t bursts[] = { 1, 7, 64, 256 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t b = 0; b < RTE_DIM(bursts); b++) {
		const uint64_t burst = bursts[b];
		struct probe src = { .budget = 100000 }, liar = { .copies = 5, .nb_edges = 1 };
		struct probe pass = { 0 }, sink = { 0 };
		struct hy_graph *graph;

		source_add(&src, "src", "liar");
		NODE(&liar, .name = "liar", .impl.process = probe_replicate, .edges = { "pass" });
		pass_add(&pass, "pass", "sink");
		sink_add(&sink, "sink");
		graph = GRAPH("g", .burst = bursts[b]);
		for (unsigned int walk = 1; walk <= 10; walk++) {
			hy_graph_walk(graph);
			assert_int_equal(liar.objs, walk * burst);
			assert_int_equal(sink.objs, walk * burst); /* what the stream held */
			assert_int_equal(edge_objs(graph, "liar", 0), walk * burst);
			assert_int_equal(stream_full(graph), walk * burst * 4);
			assert_int_equal(obj_under_way, 0);
			compared++;
		}
		assert_int_equal(edge_objs(graph, "liar", (uint16_t)-1), 40 * burst);
		registry_clear();
	}
	assert_int_equal(compared, 40);
}

static void
walks_are_counted(void **state)
{
	struct probe src = { .budget = 5 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	graph = GRAPH("g");
	assert_int_equal(graph->walks, 0);
	for (unsigned int i = 1; i <= 100; i++) {
		hy_graph_walk(graph);
		assert_int_equal(graph->walks, i);
	}
	assert_int_equal(sink.objs, 5);
}

/* Timed walks and others, acyclic graphs and those with a cycle, each have a way of their own. */
static void
a_walk_says_how_many_objects_its_sources_made(void **state)
{
	static const uint32_t want[] = { 64 + 7, 64 + 7, 22 + 7, 7, 7, 2, 0, 0 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (unsigned int form = 0; form < 4; form++) {
		struct probe fast = { .budget = 150 }, slow = { .budget = 37, .per_call = 7 };
		struct probe pass = { 0 }, back = { 0 }, sink = { 0 };
		struct hy_graph *graph;

		source_add(&fast, "fast", "pass");
		source_add(&slow, "slow", "pass");
		NODE(&pass, .name = "pass", .impl.process = probe_pass,
			.edges = { "sink", "back" });
		pass_add(&back, "back", form < 2 ? "sink" : "pass");
		sink_add(&sink, "sink");
		graph = GRAPH("g", .burst = 64, .sample_every = form % 2 == 0 ? 1 : 1000);
		assert_int_equal(graph->plan.cyclic, form >= 2);
		for (size_t walk = 0; walk < RTE_DIM(want); walk++) {
			assert_int_equal(hy_graph_walk(graph), want[walk]);
			compared++;
		}
		assert_int_equal(sink.objs, 187);
		registry_clear();
	}
	assert_int_equal(compared, 4 * RTE_DIM(want));
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_join_of_uneven_ways_runs_once_with_all_that_its_parents_made),
	GRAPH_TEST(a_node_without_objects_does_not_run),
	GRAPH_TEST(many_sources_never_make_a_call_of_more_than_a_burst),
	GRAPH_TEST(order_is_kept_along_a_way),
	GRAPH_TEST(the_last_bit_of_a_word_is_walked),
	GRAPH_TEST(more_nodes_than_a_word_of_the_bitmap_are_walked),
	GRAPH_TEST(more_than_4096_nodes_are_walked),
	GRAPH_TEST(replication_that_is_declared_has_room),
	GRAPH_TEST(more_objects_than_a_stream_can_ever_hold_are_held_back),
	GRAPH_TEST(more_sources_than_fit_a_stream_lose_nothing_and_all_get_their_turn),
	GRAPH_TEST(replication_that_is_not_declared_is_released_and_counted),
	GRAPH_TEST(walks_are_counted),
	GRAPH_TEST(a_walk_says_how_many_objects_its_sources_made),
};

UNIT_SUITE(tests)
