/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces: which records objects leave, in which order, and what is counted instead. */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <hy_trace.h>

#include "control.h"
#include "graph_fixture.h"

#define START(graph, ...) hy_trace_start(graph, &(const struct hy_trace_params){ __VA_ARGS__ })

/*
 * Takes all records and checks them. A line each: the object's number, the node, its place in the
 * burst, the reason if it was dropped, and a full stop if it left the graph.
 */
static void
expect_records(struct hy_graph *graph, const char *expected)
{
	static struct hy_trace_record records[512];
	const unsigned int n = hy_trace_read(graph, records, RTE_DIM(records));
	static char text[8192];
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < n && at < sizeof(text); i++) {
		const struct hy_trace_record *r = &records[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u %s %u/%u%s%s%s\n",
			r->serial, r->name, r->index, r->burst, r->drop[0] == '\0' ? "" : " ",
			r->drop, r->last ? "." : "");
	}
	if (strcmp(text, expected) != 0)
		print_error("records:\n%s\ninstead of\n%s\n", text, expected);
	assert_true(strcmp(text, expected) == 0);
}

static void
expect_status(struct hy_graph *graph, struct hy_trace_state expected)
{
	struct hy_trace_state status;

	assert_int_equal(hy_trace_status(graph, &status), 0);
	assert_int_equal(status.running, expected.running);
	assert_int_equal(status.marked, expected.marked);
	assert_int_equal(status.unmarked, expected.unmarked);
	assert_int_equal(status.recorded, expected.recorded);
	assert_int_equal(status.lost, expected.lost);
}
#define STATUS(graph, ...) expect_status(graph, (struct hy_trace_state){ __VA_ARGS__ })

static struct hy_graph *
chain_add(struct probe *src)
{
	source_add(src, "src", "pass");
	pass_add(NULL, "pass", "sink");
	sink_add(NULL, "sink");
	return GRAPH("g", .burst = 8);
}

static void
objects_leave_a_record_at_each_node_until_all_have_left(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = chain_add(&src);

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

static void
a_graph_is_asked_for_attention_only_while_its_trace_runs(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = chain_add(&src);
	struct hy_trace_state status;
	struct hy_trace_record record;

	RTE_SET_USED(state);
	assert_int_equal(hy_trace_status(graph, &status), -ENOENT);
	assert_int_equal(hy_trace_read(graph, &record, 1), 0);
	hy_trace_stop(graph);
	hy_graph_walk(graph);
	assert_int_equal(graph->attention, 0);
	assert_int_equal(START(graph, .nb_objs = 3), 0);
	assert_int_equal(graph->attention, HY_ATTEND_TRACE);
	hy_graph_walk(graph);
	assert_int_equal(graph->attention, 0);
	assert_int_equal(START(graph, .nb_objs = 3), 0);
	hy_trace_stop(graph);
	assert_int_equal(graph->attention, 0);
	hy_graph_walk(graph);
	STATUS(graph, .running = false);
	expect_records(graph, "");
}

static void
what_was_recorded_can_be_read_after_the_stop(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = chain_add(&src);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 9), 0);
	hy_graph_walk(graph);
	hy_trace_stop(graph);
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 1, .recorded = 3);
	expect_records(graph, "1 src 0/1\n1 pass 0/1\n1 sink 0/1.\n");
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
	struct hy_graph *graph = chain_add(&src);
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

static void
what_is_wrong_is_refused_and_changes_nothing(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = chain_add(&src);

	RTE_SET_USED(state);
	sink_add(NULL, "elsewhere");
	assert_int_equal(START(graph, .nb_objs = 0), -EINVAL);
	assert_non_null(strstr(unit_log(), "at least 1"));
	assert_int_equal(hy_trace_start(graph, NULL), -EINVAL);
	assert_int_equal(START(graph, .nb_objs = 1, .nb_records = HY_TRACE_RECORDS_MAX + 1),
		-EINVAL);
	assert_non_null(strstr(unit_log(), "at most 1048576"));
	assert_int_equal(START(graph, .nb_objs = 1, .at = "elsewhere"), -ENOENT);
	assert_non_null(strstr(unit_log(), "'elsewhere'"));
	assert_int_equal(graph->attention, 0);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	assert_int_equal(START(graph, .nb_objs = 2), -EBUSY);
	assert_non_null(strstr(unit_log(), "stop it first"));
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 1, .recorded = 3);
	assert_int_equal(START(graph, .nb_objs = 2), 0);
	STATUS(graph, .running = true);
}

static void
no_memory_is_no_trace_and_the_old_records_stay(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = chain_add(&src);
	unsigned int heap;

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	heap = unit_heap_live();
	unit_alloc_fail(1);
	assert_int_equal(START(graph, .nb_objs = 1), -ENOMEM);
	assert_int_equal(unit_alloc_count(), 1);
	unit_alloc_fail(0);
	assert_non_null(strstr(unit_log(), "no memory for 16 records"));
	assert_int_equal(unit_heap_live(), heap);
	hy_graph_walk(graph);
	expect_records(graph, "1 src 0/1\n1 pass 0/1\n1 sink 0/1.\n");
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	assert_int_equal(unit_alloc_count(), 1);
	assert_int_equal(unit_heap_live(), heap);
}

static void
what_finds_no_room_is_counted_as_lost(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = chain_add(&src);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 8, .nb_records = 3), 0); /* in fact 4 */
	hy_graph_walk(graph);
	STATUS(graph, .running = true, .marked = 3, .recorded = 4, .lost = 5);
	expect_records(graph, "1 src 0/3\n2 src 1/3\n3 src 2/3\n1 pass 0/3\n");
	hy_graph_walk(graph);
	STATUS(graph, .running = true, .marked = 6, .recorded = 8, .lost = 10);
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 8, .recorded = 8, .lost = 16);
	expect_records(graph, "4 src 0/3\n5 src 1/3\n6 src 2/3\n4 pass 0/3\n");
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

/* Sends an object back so many times, then on. */
static uint32_t laps;

static uint16_t
turn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = ((struct obj *)objs[i])->hops++ < laps ? 0 : 1;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static struct hy_graph *
cycle_add(struct probe *src, uint16_t burst)
{
	source_add(src, "src", "in");
	pass_add(NULL, "in", "turn");
	NODE(NULL, .name = "turn", .impl.process = turn, .edges = { "in", "sink" });
	sink_add(NULL, "sink");
	laps = 3;
	return GRAPH("g", .burst = burst, .max_sweeps = 2, .patterns = (const char *[]){ "s*" },
		.nb_patterns = 1);
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

static void
no_more_than_can_be_followed_are_marked_and_the_rest_is_counted(void **state)
{
	struct probe src = { .budget = 384, .per_call = 128 }, idle = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	/* Three sources' bursts may be under way. */
	source_add(&idle, "second", "in");
	source_add(&idle, "spare", "in");
	graph = cycle_add(&src, 128);
	laps = 6;
	assert_int_equal(START(graph, .nb_objs = 1000, .nb_records = 1), 0);
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	STATUS(graph, .running = true, .marked = 256, .recorded = 1, .lost = (5 + 9) * 128 - 1);
	hy_graph_walk(graph);
	STATUS(graph, .running = true, .marked = 256, .unmarked = 128, .recorded = 1,
		.lost = (9 + 13) * 128 - 1);
	while (waiting(graph) > 0)
		hy_graph_walk(graph);
	/* A source, seven rounds of two nodes, the sink. */
	STATUS(graph, .running = true, .marked = 256, .unmarked = 128, .recorded = 1,
		.lost = 16 * 256 - 1);
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

static void
a_record_outlives_the_node_that_it_names(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph = cycle_add(&src, 4);
	struct hy_trace_record records[5];
	hy_node_id id;
	char text[8];

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	assert_int_equal(hy_node_lookup("src", &id), 0);
	assert_int_equal(hy_node_edge_set(id, 0, "sink"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	assert_int_equal(hy_node_lookup("turn", &id), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	assert_int_equal(hy_trace_read(graph, records, 5), 5);
	assert_string_equal(records[2].name, "turn");
	hy_trace_format(graph, &records[2], text, sizeof(text));
	assert_string_equal(text, "");
}

/* What nodes and objects say of themselves. */

static size_t
snapshot_lane(const struct hy_node *node, const void *obj, const uint32_t *lanes, void *data,
	size_t size)
{
	const uint32_t both[] = { ((const struct obj *)obj)->id, lanes[0] };

	obj_faults += size != HY_TRACE_DATA || node->ctx != NULL;
	memcpy(data, both, sizeof(both));
	return sizeof(both);
}

static int
format_lane(const struct hy_trace_record *record, char *text, size_t size)
{
	uint32_t both[2];

	memcpy(both, record->data, sizeof(both));
	return snprintf(text, size, "id %u lane %u of %u, %u bytes", both[0], record->lanes[0],
		record->nb_lanes, record->size);
}

static size_t
ops_snapshot(const void *obj, void *data, size_t size)
{
	obj_faults += size != HY_TRACE_DATA;
	memcpy(data, &((const struct obj *)obj)->id, 1);
	return 1;
}

static int
ops_format(const struct hy_trace_record *record, char *text, size_t size)
{
	return snprintf(text, size, "object %u", record->data[0]);
}

static uint16_t
lane_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = probe_make(probe_of(node), objs, n);
	for (uint16_t i = 0; i < n; i++)
		hy_lane(graph, node, 0)[i] = 70u + i;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static void
nodes_and_objects_say_what_is_to_be_seen(void **state)
{
	const struct hy_object_ops ops = {
		.release = obj_release, .snapshot = ops_snapshot, .format = ops_format
	};
	static const char *const expected[] = { "object 1", "id 1 lane 71 of 1, 8 bytes",
		"00000047 0100000047000000", "object 1" };
	struct hy_trace_record records[8];
	struct probe src = { .budget = 2 };
	struct hy_graph *graph;
	char text[64];

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = lane_source,
		.edges = { "both" }, .lanes = { "l" });
	NODE(NULL, .name = "both", .impl.process = probe_pass, .edges = { "hex" }, .lanes = { "l" },
		.trace = { .snapshot = snapshot_lane, .format = format_lane });
	NODE(NULL, .name = "hex", .impl.process = probe_pass, .edges = { "none" }, .lanes = { "l" },
		.trace.snapshot = snapshot_lane);
	NODE(NULL, .name = "none", .impl.process = probe_sink, .lanes = { "l" });
	graph = GRAPH("g", .ops = &ops, .lanes = { "x", "l" });
	assert_int_equal(START(graph, .nb_objs = 2), 0);
	hy_graph_walk(graph);
	assert_int_equal(hy_trace_read(graph, records, 8), 8);
	for (unsigned int i = 0; i < 4; i++) {
		const struct hy_trace_record *record = &records[2 * i + 1];

		assert_int_equal(record->serial, 2);
		assert_int_equal(record->lanes[0], 71);
		hy_trace_format(graph, record, text, sizeof(text));
		assert_string_equal(text, expected[i]);
	}
	assert_true(records[7].tsc >= records[1].tsc);
	hy_trace_format(graph, &records[3], text, 5);
	assert_string_equal(text, "id 1");
	hy_trace_format(graph, &records[5], text, 12);
	assert_string_equal(text, "00000047 01");
}

static void
walks_that_are_traced_are_not_timed_and_count_like_others(void **state)
{
	struct probe src = { .budget = 100, .per_call = 2 };
	struct hy_stats *stats;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .sample_every = 1);
	assert_int_equal(START(graph, .nb_objs = 5), 0);
	for (int i = 0; i < 4; i++)
		hy_graph_walk(graph);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_int_equal(stats->nodes[0].calls, 4);
	assert_int_equal(stats->nodes[0].objs, 8);
	assert_int_equal(stats->nodes[1].objs, 8);
	assert_int_equal(stats->nodes[1].sampled_calls, 1);
	hy_stats_free(stats);
}

static void
a_graph_is_destroyed_with_its_trace(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph = cycle_add(&src, 4);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 2), 0);
	hy_graph_walk(graph);
	STATUS(graph, .running = true, .marked = 1, .recorded = 5);
	hy_graph_destroy(graph); /* the fixture looks after the memory */
}

/* A worker that walks while traces come and go. */
struct walker {
	struct hy_graph *graph;
	atomic_bool stop;
};

static void *
walk_on(void *arg)
{
	struct walker *walker = arg;

	while (!walker->stop) {
		obj_made = 0;
		hy_graph_walk(walker->graph);
	}
	return NULL;
}

static bool
seldom(const void *obj, void *arg)
{
	RTE_SET_USED(arg);
	return ((const struct obj *)obj)->id % 4 == 3;
}

/* Reads what there is, and checks that each object goes its way: node by node, without a gap. */
static unsigned int
read_ways(struct hy_graph *graph, uint8_t at[], uint32_t nb_objs)
{
	static const char *const way[] = { "src", "pass", "sink" };
	struct hy_trace_record records[64];
	const unsigned int n = hy_trace_read(graph, records, RTE_DIM(records));

	for (unsigned int i = 0; i < n; i++) {
		const struct hy_trace_record *r = &records[i];

		assert_in_range(r->serial, 1, nb_objs);
		assert_in_range(at[r->serial], 0, 2);
		assert_string_equal(r->name, way[at[r->serial]]);
		at[r->serial]++;
		assert_int_equal(r->last, at[r->serial] == 3);
	}
	return n;
}

static void
traces_come_and_go_while_a_worker_walks(void **state)
{
	enum { ROUNDS = 200, OBJS = 40 };
	struct probe src = { .budget = UINT32_MAX };
	struct walker walker = { 0 };
	unsigned int complete = 0;
	pthread_t thread;

	RTE_SET_USED(state);
	walker.graph = chain_add(&src);
	assert_int_equal(pthread_create(&thread, NULL, walk_on, &walker), 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t at[OBJS + 1] = { 0 };
		struct hy_trace_state status;
		uint64_t read = 0;

		assert_int_equal(START(walker.graph, .nb_objs = OBJS, .match = seldom), 0);
		do {
			read += read_ways(walker.graph, at, OBJS);
			assert_int_equal(hy_trace_status(walker.graph, &status), 0);
		} while (status.running && round % 2 == 0);
		if (round % 5 == 0)
			assert_int_equal(hy_graph_update(walker.graph, NULL), 0);
		hy_trace_stop(walker.graph);
		for (unsigned int n = 1; n > 0; read += n)
			n = read_ways(walker.graph, at, OBJS);
		assert_int_equal(hy_trace_status(walker.graph, &status), 0);
		assert_int_equal(status.recorded, read);
		assert_int_equal(status.lost, 0);
		assert_int_equal(read, 3 * status.marked);
		complete += status.marked == OBJS;
	}
	walker.stop = true;
	pthread_join(thread, NULL);
	assert_in_range(complete, ROUNDS / 2, ROUNDS);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(objects_leave_a_record_at_each_node_until_all_have_left),
	GRAPH_TEST(a_graph_is_asked_for_attention_only_while_its_trace_runs),
	GRAPH_TEST(what_was_recorded_can_be_read_after_the_stop),
	GRAPH_TEST(the_predicate_chooses_and_is_asked_no_more_when_there_are_enough),
	GRAPH_TEST(a_node_that_is_named_marks_what_comes_to_it),
	GRAPH_TEST(what_is_wrong_is_refused_and_changes_nothing),
	GRAPH_TEST(no_memory_is_no_trace_and_the_old_records_stay),
	GRAPH_TEST(what_finds_no_room_is_counted_as_lost),
	GRAPH_TEST(a_dropped_object_has_its_reason_in_the_record_of_the_node_that_dropped_it),
	GRAPH_TEST(a_reason_that_cannot_be_told_is_not_guessed),
	GRAPH_TEST(an_edge_to_the_drop_node_is_no_drop),
	GRAPH_TEST(an_object_that_finds_no_room_ends_as_stream_full),
	GRAPH_TEST(what_a_source_drops_has_its_reason),
	GRAPH_TEST(objects_are_followed_where_they_part),
	GRAPH_TEST(copies_share_a_number_and_the_last_one_to_leave_ends_it),
	GRAPH_TEST(an_object_that_goes_in_a_circle_is_followed_from_walk_to_walk),
	GRAPH_TEST(no_more_than_can_be_followed_are_marked_and_the_rest_is_counted),
	GRAPH_TEST(memory_that_is_used_again_is_another_object),
	GRAPH_TEST(objects_are_followed_through_a_live_change),
	GRAPH_TEST(what_a_live_change_releases_is_followed_no_more),
	GRAPH_TEST(a_record_outlives_the_node_that_it_names),
	GRAPH_TEST(nodes_and_objects_say_what_is_to_be_seen),
	GRAPH_TEST(walks_that_are_traced_are_not_timed_and_count_like_others),
	GRAPH_TEST(a_graph_is_destroyed_with_its_trace),
	GRAPH_TEST(traces_come_and_go_while_a_worker_walks),
};

UNIT_SUITE(tests)
