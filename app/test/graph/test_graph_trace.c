/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces: which records objects leave on their ways, and in which order. */

#include <string.h>

#include "trace_fixture.h"

static void
objects_leave_a_record_at_each_node_until_all_have_left(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = graph_chain(&src, NULL);

	RTE_SET_USED(state);
	hy_graph_walk(graph);
	assert_int_equal(START(graph, .nb_objs = 4), 0);
	STATUS(graph, .running = true);
	hy_graph_walk(graph);
	STATUS(graph, .running = true, .marked = 3, .recorded = 9);
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 4, .recorded = 12);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 src 0/3\n2 src 1/3\n3 src 2/3\n"
		"1 pass 0/3\n2 pass 1/3\n3 pass 2/3\n"
		"1 sink 0/3.\n2 sink 1/3.\n3 sink 2/3.\n"
		"4 src 0/3\n4 pass 0/3\n4 sink 0/3.\n");
	expect_records(graph, "");
}

/* Two sources of a burst each: "pass" is called twice, and its stream could go on in its place. */
static void
objects_are_followed_through_a_node_that_passes_them_on_in_parts(void **state)
{
	struct probe src[2] = { { .budget = 2 }, { .budget = 2 } };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src[0], "a", "pass");
	source_add(&src[1], "b", "pass");
	pass_add(NULL, "pass", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 2);
	assert_int_equal(START(graph, .nb_objs = 4, .at = "pass"), 0);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 pass 0/2\n2 pass 1/2\n3 pass 0/2\n4 pass 1/2\n"
		"1 sink 0/2.\n2 sink 1/2.\n3 sink 0/2.\n4 sink 1/2.\n");
	STATUS(graph, .running = false, .marked = 4, .recorded = 8);
}

static bool
id_is_odd(const void *obj, void *arg)
{
	++*(unsigned int *)arg;
	return ((const struct obj *)obj)->id % 2 == 1;
}

static void
the_predicate_chooses_and_is_asked_no_more_when_there_are_enough(void **state)
{
	struct probe src = { .budget = 100, .per_call = 6 };
	struct hy_graph *graph = graph_chain(&src, NULL);
	unsigned int asked = 0;

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 2, .match = id_is_odd, .arg = &asked), 0);
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	assert_int_equal(asked, 4);
	expect_records(graph,
		"1 src 1/6\n2 src 3/6\n1 pass 1/6\n2 pass 3/6\n1 sink 1/6.\n2 sink 3/6.\n");
}

static void
a_node_that_is_named_marks_what_comes_to_it(void **state)
{
	struct probe src = { .budget = 100, .per_call = 2 }, other = { .budget = 100 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	other.per_call = 1;
	source_add(&src, "src", "pass");
	source_add(&other, "other", "pass");
	pass_add(NULL, "pass", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g");
	assert_int_equal(START(graph, .nb_objs = 2, .at = "sink"), 0);
	hy_graph_walk(graph);
	expect_records(graph, "1 sink 0/3.\n2 sink 1/3.\n");
	assert_int_equal(START(graph, .nb_objs = 2, .at = "other"), 0);
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 other 0/1\n1 pass 2/3\n1 sink 2/3.\n2 other 0/1\n2 pass 2/3\n2 sink 2/3.\n");
}

/* Drops by what the object's number says: 0 goes on, 1 and 2 are reasons. */
static uint16_t
sieve_next(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t what = ((const struct obj *)objs[i])->id % 3;

		next[i] = what == 0 ? 0 : (uint16_t)HY_DROP(what - 1);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* The same, without saying so beforehand. */
static uint16_t
sieve_each(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t what = ((const struct obj *)objs[i])->id % 3;

		hy_enqueue_x1(graph, node, what == 0 ? 0 : (uint16_t)HY_DROP(what - 1), objs + i);
	}
	return n;
}

static struct hy_graph *
sieve_add(struct probe *src, hy_node_process_t *process)
{
	source_add(src, "src", "sieve");
	NODE(NULL, .name = "sieve", .impl.process = process, .edges = { "sink" },
		.drops = { { "one", HY_SEV_INFO, "" }, { "two", HY_SEV_INFO, "" } });
	sink_add(NULL, "sink");
	sink_add(NULL, "bin");
	return GRAPH("g", .drop_node = "bin");
}

static void
a_dropped_object_has_its_reason_in_the_record_of_the_node_that_dropped_it(void **state)
{
	struct probe src = { .budget = 6 };
	struct hy_graph *graph = sieve_add(&src, sieve_next);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 6, .at = "sieve"), 0);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 sieve 0/6\n2 sieve 1/6 one\n3 sieve 2/6 two\n"
		"4 sieve 3/6\n5 sieve 4/6 one\n6 sieve 5/6 two\n"
		"1 sink 0/2.\n4 sink 1/2.\n"
		"2 bin 0/4.\n3 bin 1/4.\n5 bin 2/4.\n6 bin 3/4.\n");
}

static void
a_reason_that_cannot_be_told_is_not_guessed(void **state)
{
	struct probe src = { .budget = 5, .per_call = 2 };
	struct hy_graph *graph = sieve_add(&src, sieve_each);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 6, .at = "sieve"), 0);
	hy_graph_walk(graph); /* one reason only */
	expect_records(graph, "1 sieve 0/2\n2 sieve 1/2 one\n1 sink 0/1.\n2 bin 0/1.\n");
	hy_graph_walk(graph); /* 2 and 3 */
	expect_records(graph, "3 sieve 0/2 two\n4 sieve 1/2\n4 sink 0/1.\n3 bin 0/1.\n");
	src.budget = 2;
	obj_made = 1; /* 1 and 2: both reasons in one call */
	hy_graph_walk(graph);
	expect_records(graph, "5 sieve 0/2 ?\n6 sieve 1/2 ?\n5 bin 0/2.\n6 bin 1/2.\n");
}

static void
an_edge_to_the_drop_node_is_no_drop(void **state)
{
	struct probe src = { .budget = 2 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sieve");
	NODE(NULL, .name = "sieve", .impl.process = probe_pass, .edges = { "bin" },
		.drops = { { "one", HY_SEV_INFO, "" } });
	sink_add(NULL, "bin");
	graph = GRAPH("g", .drop_node = "bin");
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	expect_records(graph, "1 src 0/2\n1 sieve 0/2\n1 bin 0/2.\n");
}

/* Fills the target with objects of its own before it sends those that it was given. */
static void
flood(struct hy_graph *graph, struct hy_node *node, uint16_t n)
{
	void *own[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		own[i] = obj_new();
	hy_enqueue(graph, node, 0, own, n);
}

static uint16_t
flood_next(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t next[HY_BURST_MAX] = { 0 };

	flood(graph, node, 3);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
flood_move(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	flood(graph, node, 3);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static void
an_object_that_finds_no_room_ends_as_stream_full(void **state)
{
	struct probe src = { .budget = 8, .per_call = 4 };
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(&src, "src", "flood");
	id = NODE(NULL, .name = "flood", .impl.process = flood_next, .edges = { "sink" });
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 4);
	assert_int_equal(START(graph, .nb_objs = 4, .at = "flood"), 0);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 flood 0/4\n2 flood 1/4 stream_full.\n3 flood 2/4 stream_full.\n"
		"4 flood 3/4 stream_full.\n1 sink 3/4.\n");
	assert_int_equal(stream_full(graph), 3);
	assert_int_equal(hy_node_impl_set(id,
				 &(const struct hy_node_impl){ .process = flood_move }),
		0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(START(graph, .nb_objs = 2, .at = "flood"), 0);
	hy_graph_walk(graph);
	expect_records(graph, "1 flood 0/4\n2 flood 1/4 ?.\n1 sink 3/4.\n");
	assert_int_equal(stream_full(graph), 3);
}

static uint16_t
dropping_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = probe_make(probe_of(node), objs, n);
	hy_enqueue(graph, node, 0, objs, (uint16_t)RTE_MIN(n, 1));
	hy_enqueue(graph, node, HY_DROP(0), objs + 1, (uint16_t)(n - RTE_MIN(n, 1)));
	return n;
}

static void
what_a_source_drops_has_its_reason(void **state)
{
	struct probe src = { .budget = 2 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = dropping_source,
		.edges = { "sink" }, .drops = { { "spoilt", HY_SEV_INFO, "" } });
	sink_add(NULL, "sink");
	sink_add(NULL, "bin");
	graph = GRAPH("g", .drop_node = "bin");
	assert_int_equal(START(graph, .nb_objs = 2), 0);
	hy_graph_walk(graph);
	expect_records(graph, "1 src 0/2\n2 src 1/2 spoilt\n1 sink 0/1.\n2 bin 0/1.\n");
}

static void
objects_are_followed_where_they_part(void **state)
{
	struct probe src = { .budget = 4 }, spread = { .nb_edges = 2 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "spread");
	NODE(&spread, .name = "spread", .impl.process = probe_spread, .edges = { "a", "b" });
	pass_add(NULL, "a", "b");
	sink_add(NULL, "b");
	graph = GRAPH("g");
	assert_int_equal(START(graph, .nb_objs = 3, .at = "spread"), 0);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 spread 0/4\n2 spread 1/4\n3 spread 2/4\n1 a 0/2\n3 a 1/2\n"
		"2 b 0/4.\n1 b 2/4.\n3 b 3/4.\n");
}

static void
copies_share_a_number_and_the_last_one_to_leave_ends_it(void **state)
{
	struct probe src = { .budget = 2 }, copy = { .copies = 3, .nb_edges = 2 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "copy");
	NODE(&copy, .name = "copy", .impl.process = probe_replicate, .replicates = 3,
		.edges = { "a", "b" });
	sink_add(NULL, "a");
	sink_add(NULL, "b");
	/* Four objects at "a", in bursts of two: the second burst has the same ones again. */
	graph = GRAPH("g", .burst = 2);
	assert_int_equal(START(graph, .nb_objs = 2), 0);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 src 0/2\n2 src 1/2\n1 copy 0/2\n2 copy 1/2\n"
		"1 a 0/2\n2 a 1/2\n1 a 0/2\n2 a 1/2\n1 b 0/2.\n2 b 1/2.\n");
	STATUS(graph, .running = false, .marked = 2, .recorded = 10);
}

static void
an_object_that_goes_in_a_circle_is_followed_from_walk_to_walk(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph = cycle_add(&src, 4);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	expect_records(graph, "1 src 0/1\n1 in 0/1\n1 turn 0/1\n1 in 0/1\n1 turn 0/1\n");
	assert_int_equal(waiting(graph), 1);
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 1, .recorded = 10);
	expect_records(graph, "1 in 0/1\n1 turn 0/1\n1 in 0/1\n1 turn 0/1\n1 sink 0/1.\n");
}

/* A source of one and the same object, which is always the next one again. */
static uint16_t
source_of_one(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(n);
	obj_made = 0;
	objs[0] = obj_new();
	hy_stream_move(graph, node, 0, 1);
	return 1;
}

static void
memory_that_is_used_again_is_another_object(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source_of_one,
		.edges = { "sink" });
	sink_add(NULL, "sink");
	graph = GRAPH("g");
	assert_int_equal(START(graph, .nb_objs = 2), 0);
	for (int i = 0; i < 4; i++)
		hy_graph_walk(graph);
	expect_records(graph, "1 src 0/1\n1 sink 0/1.\n2 src 0/1\n2 sink 0/1.\n");
	STATUS(graph, .running = false, .marked = 2, .recorded = 4);
}

static void
objects_are_followed_through_a_live_change(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph = cycle_add(&src, 4);
	hy_node_id in;

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 1);
	pass_add(NULL, "new", "turn");
	assert_int_equal(hy_node_lookup("in", &in), 0);
	assert_int_equal(hy_node_edge_set(in, 0, "new"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	expect_records(graph,
		"1 src 0/1\n1 in 0/1\n1 turn 0/1\n1 in 0/1\n1 turn 0/1\n"
		"1 in 0/1\n1 new 0/1\n1 turn 0/1\n1 in 0/1\n1 new 0/1\n1 turn 0/1\n1 sink 0/1.\n");
	assert_false(hy_graph_updating(graph));
}

static void
what_a_live_change_releases_is_followed_no_more(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph = cycle_add(&src, 4);
	hy_node_id in;

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph); /* it waits on "in" */
	assert_int_equal(hy_node_lookup("src", &in), 0);
	assert_int_equal(hy_node_edge_set(in, 0, "sink"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	src.budget = 1;
	obj_made = 0; /* the same memory again */
	hy_graph_walk(graph);
	assert_int_equal(obj_under_way, 0);
	STATUS(graph, .running = false, .marked = 1, .recorded = 5);
	expect_records(graph, "1 src 0/1\n1 in 0/1\n1 turn 0/1\n1 in 0/1\n1 turn 0/1\n");
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(objects_leave_a_record_at_each_node_until_all_have_left),
	GRAPH_TEST(objects_are_followed_through_a_node_that_passes_them_on_in_parts),
	GRAPH_TEST(the_predicate_chooses_and_is_asked_no_more_when_there_are_enough),
	GRAPH_TEST(a_node_that_is_named_marks_what_comes_to_it),
	GRAPH_TEST(a_dropped_object_has_its_reason_in_the_record_of_the_node_that_dropped_it),
	GRAPH_TEST(a_reason_that_cannot_be_told_is_not_guessed),
	GRAPH_TEST(an_edge_to_the_drop_node_is_no_drop),
	GRAPH_TEST(an_object_that_finds_no_room_ends_as_stream_full),
	GRAPH_TEST(what_a_source_drops_has_its_reason),
	GRAPH_TEST(objects_are_followed_where_they_part),
	GRAPH_TEST(copies_share_a_number_and_the_last_one_to_leave_ends_it),
	GRAPH_TEST(an_object_that_goes_in_a_circle_is_followed_from_walk_to_walk),
	GRAPH_TEST(memory_that_is_used_again_is_another_object),
	GRAPH_TEST(objects_are_followed_through_a_live_change),
	GRAPH_TEST(what_a_live_change_releases_is_followed_no_more),
};

UNIT_SUITE(tests)
