/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: what nodes are handed, and what becomes of what they send on. */

#include <stdlib.h>
#include <string.h>

#include <hy_stats.h>

#include "compat_fixture.h"

/* Checks that each of the first n objects came to a sink once, or that k were released instead. */
static void
each_seen_once(uint32_t n)
{
	uint32_t compared = 0;

	assert_int_equal(objs_made, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(objs_all[i].seen, 1);
		assert_int_equal(objs_all[i].released, 0);
		compared++;
	}
	assert_int_equal(compared, n);
}

/* Lesson: two sources on one node handed it 512 objects, which overran arrays of 256. */
static void
no_node_is_handed_more_than_a_burst(void **state)
{
	struct probe src[3] = { { .budget = 256 }, { .budget = 255 }, { .budget = 64 } };
	struct probe pass = { 0 }, sink = { 0 };

	RTE_SET_USED(state);
	NODE(&src[0], N("src0"), probe_source, N("pass"));
	NODE(&src[1], N("src1"), probe_source, N("pass"));
	NODE(&src[2], N("src2"), probe_source, N("pass"));
	NODE(&pass, N("pass"), probe_pass, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	rte_graph_walk(graph_add("g", N("*")));
	assert_int_equal(pass.calls, 3);
	assert_int_equal(pass.most, 256);
	assert_int_equal(sink.most, 256);
	assert_int_equal(sink.objs, 575);
	assert_int_equal(sink.backwards, 0);
	each_seen_once(575);
}

/* A stream holds a burst of each source; here one node makes 20 of one. */
static void
what_a_full_stream_has_no_room_for_runs_after_it(void **state)
{
	struct probe src = { .budget = 2 * BURST }, copy = { .copies = 20 }, pass = { 0 },
		     sink = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("copy"));
	NODE(&copy, N("copy"), probe_copy, N("pass"));
	NODE(&pass, N("pass"), probe_pass, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	graph = graph_add("g", N("*"));
	rte_graph_walk(graph);
	assert_int_equal(pass.objs, 20 * BURST);
	assert_int_equal(pass.most, BURST);
	assert_int_equal(sink.objs, 20 * BURST);
	/* Copies come one after the other: each but the first starts again at the first object. */
	assert_int_equal(sink.backwards, 19);
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, 40 * BURST);
	assert_int_equal(sink.node->total_objs, 40 * BURST);
	for (uint32_t i = 0; i < 2 * BURST; i++)
		assert_int_equal(objs_all[i].seen, 20);
	assert_int_equal(objs_released, 0);
}

/* Lesson: streams grew by a 16-bit size, and ended the process above 65,535. */
static void
beyond_65535_objects_are_released_and_counted(void **state)
{
	struct probe src = { .budget = BURST }, copy = { .copies = 300 }, sink = { 0 };
	struct rte_graph *graph;
	struct hy_stats *stats;
	uint64_t full = 0;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("copy"));
	NODE(&copy, N("copy"), probe_copy, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	graph = graph_add("g", N("*"));
	rte_graph_walk(graph);
	assert_int_equal(sink.objs, BURST + 65535);
	assert_int_equal(objs_released, 300 * BURST - BURST - 65535);
	assert_int_equal(hy_stats_read(hy_graph_name(graph->core), &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		full += stats->nodes[i].drops[HY_CORE_DROP_STREAM_FULL].objs;
	assert_int_equal(full, objs_released);
	hy_stats_free(stats);
}

/* What a node does that guesses the edge of most objects, and sends the others one by one. */
static PROCESS(speculate)
{
	void **to = rte_node_next_stream_get(graph, node, 0, n);
	uint16_t held = 0;

	probe_hit(node, objs, n);
	for (uint16_t i = 0; i < n; i++) {
		if (i % 3 == 2)
			rte_node_enqueue_x1(graph, node, 1, objs[i]);
		else
			to[held++] = objs[i];
	}
	rte_node_next_stream_put(graph, node, 0, held);
	return n;
}

/* Fills the rooms of two edges at a time. */
static PROCESS(fill_both)
{
	void **to[] = { rte_node_next_stream_get(graph, node, 0, n),
		rte_node_next_stream_get(graph, node, 1, n) };
	uint16_t held[] = { 0, 0 };

	probe_hit(node, objs, n);
	for (uint16_t i = 0; i < n; i++)
		to[i % 2][held[i % 2]++] = objs[i];
	rte_node_next_stream_put(graph, node, 0, held[0]);
	rte_node_next_stream_put(graph, node, 1, held[1]);
	return n;
}

/* A source, a node with two edges to one sink, and that sink. */
static void
send_over_two_edges(const char *test, const char *variant, rte_node_process_t process)
{
	struct probe src = { .budget = 1000 }, mid = { 0 }, sink = { 0 };
	char names[3][RTE_NODE_NAMESIZE], *pattern = names[0];
	struct rte_graph *graph;

	for (unsigned int i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "%s.%u", name_of(test, variant), i);
	objs_made = 0;
	NODE(&src, names[0], probe_source, names[1]);
	NODE(&mid, names[1], process, names[2], names[2]);
	NODE(&sink, names[2], probe_sink, NULL);
	graph = graph_add("g", pattern);
	assert_int_equal(mid.node->nb_edges, 2);
	for (unsigned int walk = 0; walk < 4; walk++)
		rte_graph_walk(graph);
	assert_int_equal(sink.objs, 1000);
	each_seen_once(1000);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
}

/* Lesson: a guess with two edges to one node lost objects, and sent others twice. */
static void
two_edges_to_one_node_lose_and_double_nothing(void **state)
{
	RTE_SET_USED(state);
	send_over_two_edges(__func__, "speculate", speculate);
	send_over_two_edges(__func__, "both", fill_both);
	send_over_two_edges(__func__, "spread", probe_spread);
}

/* Lesson: a cycle could make a walk endless. */
static void
a_walk_leaves_an_endless_cycle(void **state)
{
	struct probe src = { .budget = 10 }, there = { 0 }, back = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("there"));
	NODE(&there, N("there"), probe_pass, N("back"));
	NODE(&back, N("back"), probe_pass, N("there"));
	graph = graph_add("g", N("*"));
	for (unsigned int walk = 1; walk <= 3; walk++) {
		rte_graph_walk(graph);
		assert_int_equal(there.calls, 8 * walk);
		assert_int_equal(back.objs, 80 * walk);
	}
	/* They wait, and go with the graph. */
	assert_int_equal(objs_released, 0);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(objs_released, 10);
}

/* A source makes a whole burst, unasked: while a cycle holds objects, there may not be room. */
static void
a_source_waits_for_room_for_a_whole_burst(void **state)
{
	struct probe src = { .budget = 1000 }, there = { 0 }, back = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("there"));
	NODE(&there, N("there"), probe_pass, N("back"));
	NODE(&back, N("back"), probe_pass, N("there"));
	graph = graph_add("g", N("*"));
	for (unsigned int walk = 0; walk < 5; walk++)
		rte_graph_walk(graph);
	assert_int_equal(src.calls, 1);
	assert_int_equal(there.most, BURST);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(objs_released, BURST);
}

static PROCESS(every_width)
{
	rte_edge_t nexts[BURST];

	probe_hit(node, objs, n);
	rte_node_enqueue_x1(graph, node, 0, objs[0]);
	rte_node_enqueue_x2(graph, node, 1, objs[1], objs[2]);
	rte_node_enqueue_x4(graph, node, 2, objs[3], objs[4], objs[5], objs[6]);
	rte_node_enqueue(graph, node, 0, &objs[7], 13);
	for (uint16_t i = 20; i < n; i++)
		nexts[i] = i % 7 < 4 ? 1 : 2;
	rte_node_enqueue_next(graph, node, &nexts[20], &objs[20], n - 20);
	return n;
}

static void
every_enqueue_keeps_the_order_on_its_edge(void **state)
{
	struct probe src = { .budget = 4 * 250, .per_call = 250 }, mid = { 0 }, sinks[3] = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("mid"));
	NODE(&mid, N("mid"), every_width, N("0"), N("1"), N("2"));
	NODE(&sinks[0], N("0"), probe_sink, NULL);
	NODE(&sinks[1], N("1"), probe_sink, NULL);
	NODE(&sinks[2], N("2"), probe_sink, NULL);
	graph = graph_add("g", N("*"));
	for (unsigned int walk = 0; walk < 4; walk++)
		rte_graph_walk(graph);
	assert_int_equal(sinks[0].objs, 4 * 14);
	assert_int_equal(sinks[1].objs, 4 * (2 + 132));
	assert_int_equal(sinks[2].objs, 4 * (4 + 98));
	assert_int_equal(sinks[0].backwards + sinks[1].backwards + sinks[2].backwards, 0);
	each_seen_once(1000);
}

/* More room than a burst; and a put of less than was asked for. */
static PROCESS(ask_for_much)
{
	void **to = rte_node_next_stream_get(graph, node, 0, UINT16_MAX);

	probe_hit(node, objs, n);
	for (uint32_t i = 0; i < UINT16_MAX; i++)
		to[i] = objs[i % n];
	rte_node_next_stream_put(graph, node, 0, 3 * n);
	to = rte_node_next_stream_get(graph, node, 0, n);
	to[0] = NULL; /* is not put, so is not sent */
	return n;
}

static void
a_stream_has_all_the_room_that_is_asked_for(void **state)
{
	struct probe src = { .budget = 100 }, mid = { 0 }, sink = { 0 };

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("mid"));
	NODE(&mid, N("mid"), ask_for_much, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	rte_graph_walk(graph_add("g", N("*")));
	assert_int_equal(sink.objs, 300);
	assert_int_equal(objs_all[0].seen, 3);
	assert_int_equal(objs_all[99].seen, 3);
}

static PROCESS(never)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	obj_faults++;
	return n;
}

static void
init_may_choose_another_process(void **state)
{
	struct probe src = { .budget = 40 }, sink = { .process = probe_sink };

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), never, NULL);
	rte_graph_walk(graph_add("g", N("*")));
	assert_int_equal(sink.objs, 40);
}

static uint16_t
nobody_runs_this(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	obj_faults++;
	return n;
}

/* A node of this name exists in the core, as of any pack. */
static void
names_of_the_core_are_free(void **state)
{
	const struct hy_node_desc desc = { .name = N("sink"), .impl.process = nobody_runs_this };
	struct probe src = { .budget = 40 }, sink = { 0 };
	hy_node_id id;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_register(&desc, &id), 0);
	NODE(&src, N("src"), probe_source, N("sink"));
	NODE(&sink, N("sink"), probe_sink, NULL);
	rte_graph_walk(graph_add("g", N("*")));
	assert_int_equal(sink.objs, 40);
	assert_int_equal(hy_node_unregister(id), 0);
}

static void
objects_are_forgotten_with_a_word_unless_a_release_is_set(void **state)
{
	struct probe src = { .budget = 10 }, there = { 0 }, back = { 0 };
	struct rte_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, N("src"), probe_source, N("there"));
	NODE(&there, N("there"), probe_pass, N("back"));
	NODE(&back, N("back"), probe_pass, N("there"));
	graph = graph_add("g", N("*"));
	hy_compat_graph_objects(graph, NULL);
	rte_graph_walk(graph);
	unit_log_clear();
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(objs_released, 0);
	assert_non_null(strstr(unit_log(), "10 objects"));
}

static const struct CMUnitTest compat_walk[] = {
	COMPAT_TEST(no_node_is_handed_more_than_a_burst),
	COMPAT_TEST(what_a_full_stream_has_no_room_for_runs_after_it),
	COMPAT_TEST(beyond_65535_objects_are_released_and_counted),
	COMPAT_TEST(two_edges_to_one_node_lose_and_double_nothing),
	COMPAT_TEST(a_walk_leaves_an_endless_cycle),
	COMPAT_TEST(a_source_waits_for_room_for_a_whole_burst),
	COMPAT_TEST(every_enqueue_keeps_the_order_on_its_edge),
	COMPAT_TEST(a_stream_has_all_the_room_that_is_asked_for),
	COMPAT_TEST(init_may_choose_another_process),
	COMPAT_TEST(names_of_the_core_are_free),
	COMPAT_TEST(objects_are_forgotten_with_a_word_unless_a_release_is_set),
};
UNIT_SUITE(compat_walk)
