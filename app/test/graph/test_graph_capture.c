/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures: which objects are taken at a node, along an edge, and for a drop reason. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture_fixture.h"

static void
what_comes_to_a_node_is_taken_until_there_is_enough(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);

	RTE_SET_USED(state);
	hy_graph_walk(graph);
	CAPTURE(graph, POINTS({ "pass" }, { "sink" }), .max_objs = 8);
	expect_capture(graph, (struct hy_capture_state){ .running = true });
	hy_graph_walk(graph);
	expect_capture(graph, (struct hy_capture_state){ .running = true, .captured = 6 });
	assert_int_equal(graph->attention, HY_ATTEND_CAPTURE);
	hy_graph_walk(graph);
	expect_capture(graph, (struct hy_capture_state){ .captured = 8 });
	assert_int_equal(graph->attention, 0);
	expect_taken(graph, "0:3 0:4 0:5 1:3 1:4 1:5 0:6 0:7 ");
	expect_taken(graph, "");
}

/* Two sources of a burst each: "pass" is called twice, and its stream goes on in its place. */
static void
what_a_node_passes_on_in_parts_is_taken(void **state)
{
	struct probe src[2] = { { .budget = 8 }, { .budget = 4 } }, pass = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src[0], "a", "pass");
	source_add(&src[1], "b", "pass");
	pass_add(&pass, "pass", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 4, .ops = &capture_ops);
	CAPTURE(graph, POINTS({ "pass", "sink" }));
	hy_graph_walk(graph);
	assert_int_equal(pass.calls, 2);
	expect_taken(graph, "0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7 ");
	hy_capture_stop(graph);
	hy_graph_walk(graph);
	assert_int_equal(pass.objs, 12);
	assert_int_equal(edge_objs(graph, "pass", 0), 12);
}

static bool
id_is_odd(const void *obj, void *arg)
{
	++*(unsigned int *)arg;
	return ((const struct obj *)obj)->id % 2 == 1;
}

static void
the_predicate_chooses_and_is_asked_at_the_points_only(void **state)
{
	struct probe src = { .budget = 6 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	unsigned int asked = 0;

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "sink" }), .match = id_is_odd, .arg = &asked);
	hy_graph_walk(graph);
	assert_int_equal(asked, 6);
	expect_taken(graph, "0:1 0:3 0:5 ");
}

static void
of_a_source_what_it_has_sent_is_taken(void **state)
{
	struct probe src = { .budget = 4, .nb_edges = 2 }, other = { .budget = 2 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&other, "other", "left");
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = spread_source,
		.edges = { "left", "right", "bin" }, .drops = { { "one", HY_SEV_INFO, "" } });
	sink_add(NULL, "left");
	sink_add(NULL, "right");
	sink_add(NULL, "bin");
	graph = GRAPH("g", .ops = &capture_ops, .drop_node = "bin");
	CAPTURE(graph, POINTS({ "src" }, { "src", .edge = "right" }, { "other" }));
	hy_graph_walk(graph);
	/* "other" made 0 and 1; of the others, every fourth was dropped, and its neighbour took edge 2. */
	expect_taken(graph, "2:0 2:1 0:2 0:3 0:4 0:5 1:3 ");
}

/* Sends by what the object's number says: 0 on, 1 and 2 are drop reasons, 3 is the edge to "bin". */
static uint16_t
way(const void *obj)
{
	static const uint16_t ways[] = { 0, HY_DROP(0), HY_DROP(1), 1 };

	return ways[((const struct obj *)obj)->id % RTE_DIM(ways)];
}

static uint16_t
sieve_next(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = way(objs[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* The same, without saying so beforehand. */
static uint16_t
sieve_each(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		hy_enqueue_x1(graph, node, way(objs[i]), objs + i);
	return n;
}

/* The first half by one call, the rest one by one. */
static uint16_t
sieve_both(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	sieve_next(graph, node, objs, n / 2);
	sieve_each(graph, node, objs + n / 2, n - n / 2);
	return n;
}

static struct hy_graph *
sieve_add(struct probe *src, hy_node_process_t *process)
{
	source_add(src, "src", "sieve");
	NODE(NULL, .name = "sieve", .impl.process = process, .edges = { "sink", "bin" },
		.drops = { { "one", HY_SEV_INFO, "" }, { "two", HY_SEV_INFO, "" } });
	sink_add(NULL, "sink");
	sink_add(NULL, "bin");
	return GRAPH("g", .ops = &capture_ops, .drop_node = "bin");
}

#define SIEVE_POINTS \
	POINTS({ "sieve", .edge = "sink" }, { "sieve", .drop = "one" }, \
		{ "sieve", .drop = "two" }, { "sieve", .edge = "bin" })

static void
edges_and_reasons_are_told_apart_though_they_lead_to_one_node(void **state)
{
	struct probe src = { .budget = 21, .per_call = 18 };
	struct hy_graph *graph = sieve_add(&src, sieve_next);

	RTE_SET_USED(state);
	CAPTURE(graph, SIEVE_POINTS);
	hy_graph_walk(graph);
	expect_taken(graph,
		"1:1 1:5 1:9 1:13 1:17 2:2 2:6 2:10 2:14 3:3 3:7 3:11 3:15 "
		"0:0 0:4 0:8 0:12 0:16 ");
	hy_graph_walk(graph); /* fewer than a table is made for */
	expect_taken(graph, "2:18 3:19 0:20 ");
	expect_capture(graph, (struct hy_capture_state){ .running = true, .captured = 21 });
	assert_int_equal(edge_objs(graph, "sieve", HY_DROP(0)), 5);
}

static void
a_reason_that_cannot_be_told_is_counted_and_not_guessed(void **state)
{
	struct probe src = { .budget = 8, .per_call = 2 };
	struct hy_graph *graph = sieve_add(&src, sieve_each);

	RTE_SET_USED(state);
	CAPTURE(graph, SIEVE_POINTS);
	hy_graph_walk(graph); /* 0 and 1: one way to "bin" only */
	expect_taken(graph, "0:0 1:1 ");
	hy_graph_walk(graph); /* 2 and 3: two */
	expect_taken(graph, "");
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 2, .unsure = 2 });
}

static void
a_node_that_drops_in_both_manners_is_taken_for_what_is_sure(void **state)
{
	struct probe src = { .budget = 8 };
	struct hy_graph *graph = sieve_add(&src, sieve_both);

	RTE_SET_USED(state);
	CAPTURE(graph, SIEVE_POINTS);
	hy_graph_walk(graph);
	expect_taken(graph, "1:1 2:2 3:3 0:0 0:4 ");
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 5, .unsure = 3 });
}

/* Fills the target with objects of its own before it sends those that it was given. */
static uint16_t
flood(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];
	void *own[3];

	for (unsigned int i = 0; i < RTE_DIM(own); i++)
		own[i] = obj_new();
	hy_enqueue(graph, node, HY_DROP(1), own, RTE_DIM(own));
	for (uint16_t i = 0; i < n; i++)
		next[i] = HY_DROP(0);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static void
what_finds_no_room_was_not_sent_and_is_not_taken(void **state)
{
	struct probe src = { .budget = 4 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sieve");
	NODE(NULL, .name = "sieve", .impl.process = flood, .edges = { "bin" },
		.drops = { { "one", HY_SEV_INFO, "" }, { "two", HY_SEV_INFO, "" } });
	sink_add(NULL, "bin");
	graph = GRAPH("g", .ops = &capture_ops, .drop_node = "bin", .burst = 4);
	CAPTURE(graph, POINTS({ "sieve", .drop = "one" }));
	hy_graph_walk(graph);
	assert_int_equal(stream_full(graph), 3);
	assert_int_equal(edge_objs(graph, "sieve", HY_DROP(0)), 1);
	expect_taken(graph, "0:0 ");
}

static void
points_are_found_again_in_each_image(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	hy_node_id id;

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "pass" }, { "src", .edge = "pass" }, { "sink" }));
	hy_graph_walk(graph);
	expect_taken(graph, "1:0 0:0 2:0 ");
	assert_int_equal(hy_node_lookup("src", &id), 0);
	assert_int_equal(hy_node_edge_set(id, 0, "sink"), 0);
	assert_int_equal(hy_graph_update(graph,
				 &(const struct hy_graph_params){ .ops = &capture_ops,
					 .patterns = (const char *[]){ "src" },
					 .nb_patterns = 1,
					 .burst = 8 }),
		0);
	hy_graph_walk(graph);
	expect_taken(graph, "2:1 ");
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 4, .missing = 2 });
	assert_int_equal(hy_node_edge_set(id, 0, "pass"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	expect_taken(graph, "1:2 0:2 2:2 ");
	expect_capture(graph, (struct hy_capture_state){ .running = true, .captured = 7 });
}

static void
a_trace_and_a_capture_go_together(void **state)
{
	struct probe src = { .budget = 8 };
	struct hy_graph *graph = sieve_add(&src, sieve_next);
	const struct hy_trace_params trace = { .nb_objs = 8, .at = "sieve" };
	static const char *const reasons[] = { "", "one", "two", "" };
	struct hy_trace_record records[16];

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "sieve", .drop = "two" }));
	assert_int_equal(hy_trace_start(graph, &trace), 0);
	hy_graph_walk(graph);
	expect_taken(graph, "0:2 0:6 ");
	assert_int_equal(hy_trace_read(graph, records, RTE_DIM(records)), 16);
	for (unsigned int i = 0; i < 8; i++)
		assert_string_equal(records[i].drop, reasons[(records[i].serial - 1) % 4]);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(what_comes_to_a_node_is_taken_until_there_is_enough),
	GRAPH_TEST(what_a_node_passes_on_in_parts_is_taken),
	GRAPH_TEST(the_predicate_chooses_and_is_asked_at_the_points_only),
	GRAPH_TEST(of_a_source_what_it_has_sent_is_taken),
	GRAPH_TEST(edges_and_reasons_are_told_apart_though_they_lead_to_one_node),
	GRAPH_TEST(a_reason_that_cannot_be_told_is_counted_and_not_guessed),
	GRAPH_TEST(a_node_that_drops_in_both_manners_is_taken_for_what_is_sure),
	GRAPH_TEST(what_finds_no_room_was_not_sent_and_is_not_taken),
	GRAPH_TEST(points_are_found_again_in_each_image),
	GRAPH_TEST(a_trace_and_a_capture_go_together),
};

UNIT_SUITE(tests)
