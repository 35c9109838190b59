/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces: starting, stopping, reading, and what is counted instead of recorded. */

#include <errno.h>
#include <string.h>

#include "lib/graph/update/control.h"
#include "trace_fixture.h"

static void
a_graph_is_asked_for_attention_only_while_its_trace_runs(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = graph_chain(&src, NULL);
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
	struct hy_graph *graph = graph_chain(&src, NULL);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 9), 0);
	hy_graph_walk(graph);
	hy_trace_stop(graph);
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 1, .recorded = 3);
	expect_records(graph, "1 src 0/1\n1 pass 0/1\n1 sink 0/1.\n");
}

static void
what_is_wrong_is_refused_and_changes_nothing(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = graph_chain(&src, NULL);

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
	assert_int_equal(graph->attention, HY_ATTEND_OFFLINE); /* a new graph rests */
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
	struct hy_graph *graph = graph_chain(&src, NULL);
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
	struct hy_graph *graph = graph_chain(&src, NULL);

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

/* The first walk of an image is timed, so that no figure is a guess; a traced walk is not. */
static void
a_trace_that_has_ended_leaves_later_changes_their_timed_walk(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = graph_chain(&src, NULL);

	RTE_SET_USED(state);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	STATUS(graph, .running = false, .marked = 1, .recorded = 3);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(graph->attention, HY_ATTEND_IMAGE);
	hy_graph_walk(graph);
	assert_int_equal(graph->image->nodes[0].sampled_objs, 1);
	expect_records(graph, "1 src 0/1\n1 pass 0/1\n1 sink 0/1.\n");
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
	struct hy_graph *graph = graph_chain(&src, NULL);
	unsigned int complete = 0;

	RTE_SET_USED(state);
	walker_start(graph);
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t at[OBJS + 1] = { 0 };
		struct hy_trace_state status;
		uint64_t read = 0;

		assert_int_equal(START(graph, .nb_objs = OBJS, .match = seldom), 0);
		do {
			read += read_ways(graph, at, OBJS);
			assert_int_equal(hy_trace_status(graph, &status), 0);
		} while (status.running && round % 2 == 0);
		if (round % 5 == 0)
			assert_int_equal(hy_graph_update(graph, NULL), 0);
		hy_trace_stop(graph);
		for (unsigned int n = 1; n > 0; read += n)
			n = read_ways(graph, at, OBJS);
		assert_int_equal(hy_trace_status(graph, &status), 0);
		assert_int_equal(status.recorded, read);
		assert_int_equal(status.lost, 0);
		assert_int_equal(read, 3 * status.marked);
		complete += status.marked == OBJS;
	}
	walker_stop();
	assert_in_range(complete, ROUNDS / 2, ROUNDS);
}

/* The trace is lent to the walk that such a node is in: to wait for its end would take for ever. */
static int start_rc;

static uint16_t
stops_its_trace(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_trace_params params = { .nb_objs = 1 };

	hy_trace_stop(graph);
	start_rc = hy_trace_start(graph, &params);
	return probe_sink(graph, node, objs, n);
}

static void
a_trace_is_not_stopped_by_what_it_traces(void **state)
{
	const struct hy_trace_params params = { .nb_objs = 1000 };
	struct probe src = { .budget = 9 };
	struct hy_trace_state status;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	NODE(NULL, .name = "sink", .impl.process = stops_its_trace);
	graph = GRAPH("g", .burst = 8);
	assert_int_equal(hy_trace_start(graph, &params), 0);
	unit_log_clear();
	assert_int_equal(hy_graph_walk(graph), 8);
	assert_int_equal(start_rc, -EDEADLK);
	assert_int_equal(unit_log_lines(), 2);
	assert_non_null(strstr(unit_log(), "hy_trace_stop() refused: called by code of graph 'g'"));
	assert_int_equal(hy_trace_status(graph, &status), 0);
	assert_true(status.running);
	assert_int_equal(status.marked, 8);
	hy_trace_stop(graph);
	/* Of a walk that is not looked at, nothing is lent. */
	assert_int_equal(hy_graph_walk(graph), 1);
	assert_int_equal(start_rc, 0);
	assert_int_equal(hy_trace_status(graph, &status), 0);
	assert_int_equal(status.marked, 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_graph_is_asked_for_attention_only_while_its_trace_runs),
	GRAPH_TEST(what_was_recorded_can_be_read_after_the_stop),
	GRAPH_TEST(what_is_wrong_is_refused_and_changes_nothing),
	GRAPH_TEST(no_memory_is_no_trace_and_the_old_records_stay),
	GRAPH_TEST(what_finds_no_room_is_counted_as_lost),
	GRAPH_TEST(no_more_than_can_be_followed_are_marked_and_the_rest_is_counted),
	GRAPH_TEST(a_record_outlives_the_node_that_it_names),
	GRAPH_TEST(nodes_and_objects_say_what_is_to_be_seen),
	GRAPH_TEST(walks_that_are_traced_are_not_timed_and_count_like_others),
	GRAPH_TEST(a_trace_that_has_ended_leaves_later_changes_their_timed_walk),
	GRAPH_TEST(a_graph_is_destroyed_with_its_trace),
	GRAPH_TEST(traces_come_and_go_while_a_worker_walks),
	GRAPH_TEST(a_trace_is_not_stopped_by_what_it_traces),
};

UNIT_SUITE(tests)
