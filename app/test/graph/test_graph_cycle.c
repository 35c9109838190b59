/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk of graphs with cycles: bounded, lossless, with sources that are held back. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"

/* Sends an object back (edge 1) until it was here mark times, then on (edge 0). */
static uint16_t
turn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct probe *probe = probe_hit(node, n);
	const uint32_t turns = (uint32_t)(uintptr_t)probe->arg;
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		next[i] = obj->hops++ < turns;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

struct ring {
	struct probe src, turn, back, sink;
};

/* src → turn → sink, with turn → back → turn. */
static struct hy_graph *
ring_add(struct ring *ring, uint32_t turns, uint16_t burst, uint16_t max_sweeps)
{
	ring->turn.arg = (void *)(uintptr_t)turns;
	source_add(&ring->src, "src", "turn");
	NODE(&ring->turn, .name = "turn", .impl.process = turn, .edges = { "sink", "back" });
	pass_add(&ring->back, "back", "turn");
	sink_add(&ring->sink, "sink");
	return GRAPH("g", .burst = burst, .max_sweeps = max_sweeps);
}

/* A cycle could make a walk endless. */
static void
an_endless_cycle_is_left_after_max_sweeps(void **state)
{
	static const uint16_t sweeps[] = { 1, 2, 3, 8, 100 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(sweeps); i++) {
		struct ring ring = { .src.budget = 10 };
		struct hy_graph *graph = ring_add(&ring, UINT32_MAX, 16, sweeps[i]);

		for (unsigned int walk = 1; walk <= 4; walk++) {
			hy_graph_walk(graph);
			assert_int_equal(ring.turn.calls, walk * sweeps[i]);
			assert_int_equal(ring.back.calls, walk * sweeps[i]);
			assert_int_equal(waiting(graph), 10);
			assert_int_equal(ring.sink.objs, 0);
			compared++;
		}
		registry_clear(); /* releases what goes round */
		assert_int_equal(obj_under_way, 0);
	}
	assert_int_equal(compared, 20);
}

static void
a_cycle_that_ends_within_the_sweeps_leaves_nothing(void **state)
{
	struct ring ring = { .src.budget = 64 };
	struct hy_graph *graph = ring_add(&ring, 7, 64, 8);

	RTE_SET_USED(state);
	hy_graph_walk(graph);
	assert_int_equal(ring.sink.objs, 64);
	assert_int_equal(ring.turn.calls, 8);
	assert_int_equal(ring.back.calls, 7);
	assert_int_equal(waiting(graph), 0);
}

static void
sweeps_end_when_nothing_is_left(void **state)
{
	struct ring ring = { .src.budget = 64 };
	struct hy_graph *graph = ring_add(&ring, 0, 64, 8);

	RTE_SET_USED(state);
	hy_graph_walk(graph);
	assert_int_equal(ring.sink.objs, 64);
	assert_int_equal(ring.turn.calls, 1);
	assert_int_equal(ring.back.calls, 0);
}

static void
sources_make_less_by_what_stayed_over(void **state)
{
	struct ring ring = { .src = { .budget = 1000000, .per_call = 10 } };
	struct hy_graph *graph = ring_add(&ring, UINT32_MAX, 32, 2);
	static const unsigned int left[] = { 10, 20, 30, 32, 32, 32 };

	RTE_SET_USED(state);
	for (unsigned int walk = 0; walk < RTE_DIM(left); walk++) {
		hy_graph_walk(graph);
		assert_int_equal(waiting(graph), left[walk]);
		assert_int_equal(obj_made, left[walk]);
	}
	assert_int_equal(ring.src.calls, 4); /* with no credit a source is not called */
	assert_int_equal(stream_full(graph), 0);
	assert_int_equal(ring.turn.most, 32);
}

static void
nothing_is_lost_in_cycles_whatever_the_burst(void **state)
{
	static const uint16_t bursts[] = { 1, 2, 3, 7, 16, 31, 64, 100, 255, 256 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t b = 0; b < RTE_DIM(bursts); b++) {
		for (uint16_t sweeps = 1; sweeps <= 5; sweeps++) {
			const uint32_t budget = 20u * bursts[b] + 3;
			struct ring ring = { .src.budget = budget };
			struct hy_graph *graph = ring_add(&ring, 12, bursts[b], sweeps);
			unsigned int walks = 0;

			obj_made = 0;
			while (ring.sink.objs < budget && ++walks < 2000)
				hy_graph_walk(graph);
			assert_int_equal(ring.sink.objs, budget);
			assert_int_equal(ring.turn.objs, 13u * budget);
			assert_int_equal(ring.back.objs, 12u * budget);
			assert_int_equal(ring.turn.most, bursts[b]);
			assert_int_equal(stream_full(graph), 0);
			assert_int_equal(waiting(graph), 0);
			assert_int_equal(obj_under_way, 0);
			hy_graph_destroy(graph);
			registry_clear();
			compared++;
		}
	}
	assert_int_equal(compared, 50);
}

/* Sends an object round again and a copy of it on, as often as probe->arg says. */
static uint16_t
echo(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct probe *probe = probe_hit(node, n);
	const uint32_t turns = (uint32_t)(uintptr_t)probe->arg;

	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		if (obj->hops++ < turns) {
			obj_ref(&objs[i], 1);
			hy_enqueue_x1(graph, node, 1, &objs[i]);
		}
		hy_enqueue_x1(graph, node, 0, &objs[i]);
	}
	return n;
}

static void
a_replicating_node_in_a_cycle_loses_nothing(void **state)
{
	static const uint16_t bursts[] = { 1, 5, 64, 256 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t b = 0; b < RTE_DIM(bursts); b++) {
		struct probe src = { .budget = 1000 }, echoes = { .arg = (void *)9 };
		struct probe back = { 0 }, sink = { 0 };
		struct hy_graph *graph;
		unsigned int walks = 0;

		source_add(&src, "src", "echo");
		NODE(&echoes, .name = "echo", .replicates = 2, .impl.process = echo,
			.edges = { "sink", "back" });
		pass_add(&back, "back", "echo");
		sink_add(&sink, "sink");
		graph = GRAPH("g", .burst = bursts[b], .max_sweeps = 3);
		assert_true(graph->plan.cyclic && graph->plan.throttled);
		while (sink.objs < 10000 && ++walks < 20000)
			hy_graph_walk(graph);
		assert_int_equal(sink.objs, 10000);
		assert_int_equal(echoes.objs, 10000);
		assert_int_equal(back.objs, 9000);
		assert_int_equal(stream_full(graph), 0);
		assert_int_equal(obj_under_way, 0);
		registry_clear();
		compared++;
	}
	assert_int_equal(compared, 4);
}

static void
full_streams_in_a_circle_are_broken_and_the_loss_is_counted(void **state)
{
	struct probe src = { .budget = 100000 }, a = { .copies = 2, .nb_edges = 1 };
	struct probe b = { .copies = 2, .nb_edges = 2 }, sink = { 0 };
	struct hy_graph *graph;
	struct hy_stats *stats;
	uint64_t copies, full = 0;
	unsigned int stuck = 0;

	RTE_SET_USED(state);
	/* Each turn doubles what goes round; one of b's two copies leaves: a → 2b → 2a, 2 out. */
	source_add(&src, "src", "a");
	NODE(&a, .name = "a", .replicates = 2, .impl.process = probe_replicate, .edges = { "b" });
	NODE(&b, .name = "b", .replicates = 2, .impl.process = probe_replicate,
		.edges = { "a", "sink" });
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 64, .max_sweeps = 4);
	assert_true(graph->plan.throttled);
	for (unsigned int walk = 0; walk < 500; walk++) {
		const uint64_t before = sink.objs + a.objs + b.objs;

		hy_graph_walk(graph);
		stuck += sink.objs + a.objs + b.objs == before;
		copies = a.objs + b.objs; /* each call makes one more of each object */
		full = stream_full(graph);
		assert_int_equal(obj_made + copies, sink.objs + full + waiting(graph));
		assert_int_equal(obj_under_way, waiting(graph));
	}
	assert_int_equal(stuck, 0);
	assert_true(full > 0);
	assert_true(sink.objs > 10000);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_true(hy_stats_find(stats, 0, "a")->replicates);
	assert_false(hy_stats_find(stats, 0, "sink")->replicates);
	hy_stats_free(stats);
	hy_graph_destroy(graph);
	assert_int_equal(obj_under_way, 0);
}

static void
undeclared_replication_in_a_cycle_is_safe_and_counted(void **state)
{
	struct probe src = { .budget = 1000 }, liar = { .copies = 3, .nb_edges = 2 };
	struct probe back = { 0 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "liar");
	NODE(&liar, .name = "liar", .impl.process = probe_replicate, .edges = { "back", "sink" });
	pass_add(&back, "back", "liar");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 32, .max_sweeps = 5);
	assert_false(graph->plan.throttled);
	for (unsigned int walk = 0; walk < 300; walk++) {
		hy_graph_walk(graph);
		assert_int_equal(obj_made + 2 * liar.objs,
			sink.objs + stream_full(graph) + waiting(graph));
	}
	assert_true(stream_full(graph) > 1000);
	assert_true(sink.objs > 1000);
	hy_graph_destroy(graph);
	assert_int_equal(obj_under_way, 0);
}

/* Only a way through drops closes the circle: the drop node sends on to a node that can drop. */
static void
a_cycle_through_drops_is_a_cycle(void **state)
{
	struct probe src = { .budget = 50 }, judge = { 0 }, drop = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "judge");
	NODE(&judge, .name = "judge", .impl.process = probe_drop, .drops = { { "always" } });
	pass_add(&drop, "drop", "judge");
	graph = GRAPH("g", .burst = 64, .max_sweeps = 6, .drop_node = "drop");
	assert_true(graph->plan.cyclic);
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	assert_int_equal(judge.calls, 12);
	assert_int_equal(drop.calls, 12);
	assert_int_equal(waiting(graph), 50);
	assert_int_equal(edge_objs(graph, "judge", HY_DROP(0)), 600);
}

static void
destroying_a_graph_releases_what_is_under_way(void **state)
{
	struct ring ring = { .src.budget = 200 };
	struct hy_graph *graph = ring_add(&ring, UINT32_MAX, 50, 1);

	RTE_SET_USED(state);
	for (unsigned int walk = 0; walk < 10; walk++)
		hy_graph_walk(graph);
	assert_int_equal(obj_made, 50);
	assert_int_equal(obj_under_way, 50);
	hy_graph_destroy(graph);
	assert_int_equal(obj_under_way, 0);
	assert_int_equal(obj_faults, 0);
}

/* What stays over leaves credit for one source a walk: not always the same one may take it. */
static void
credit_that_is_short_goes_to_each_source_in_turn(void **state)
{
	struct probe src[4] = { 0 }, turns = { .arg = (void *)3 }, back = { 0 }, sink = { 0 };
	struct hy_graph *graph;
	unsigned int served = 0;

	RTE_SET_USED(state);
	for (unsigned int s = 0; s < 4; s++) {
		char name[HY_NAME_SIZE];

		snprintf(name, sizeof(name), "src-%u", s);
		source_add(&src[s], name, "turn");
	}
	NODE(&turns, .name = "turn", .impl.process = turn, .edges = { "sink", "back" });
	pass_add(&back, "back", "turn");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 16, .max_sweeps = 1);
	/* Objects stay for four walks. From the fourth on, those of the last three are there. */
	src[0].budget = 48;
	for (unsigned int walk = 0; walk < 3; walk++)
		hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 48);
	for (unsigned int s = 0; s < 4; s++) {
		src[s].budget = 100000;
		src[s].objs = 0;
	}
	for (unsigned int walk = 0; walk < 400; walk++) {
		hy_graph_walk(graph);
		assert_in_range(waiting(graph), 0, 64);
	}
	assert_int_equal(src[0].objs + src[1].objs + src[2].objs + src[3].objs, 400 * 16);
	for (unsigned int s = 0; s < 4; s++)
		served += src[s].objs == 100 * 16;
	assert_int_equal(served, 4);
	assert_int_equal(stream_full(graph), 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(an_endless_cycle_is_left_after_max_sweeps),
	GRAPH_TEST(a_cycle_that_ends_within_the_sweeps_leaves_nothing),
	GRAPH_TEST(sweeps_end_when_nothing_is_left),
	GRAPH_TEST(sources_make_less_by_what_stayed_over),
	GRAPH_TEST(nothing_is_lost_in_cycles_whatever_the_burst),
	GRAPH_TEST(a_replicating_node_in_a_cycle_loses_nothing),
	GRAPH_TEST(full_streams_in_a_circle_are_broken_and_the_loss_is_counted),
	GRAPH_TEST(undeclared_replication_in_a_cycle_is_safe_and_counted),
	GRAPH_TEST(a_cycle_through_drops_is_a_cycle),
	GRAPH_TEST(destroying_a_graph_releases_what_is_under_way),
	GRAPH_TEST(credit_that_is_short_goes_to_each_source_in_turn),
};

UNIT_SUITE(tests)
