/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures: starting, stopping, the ring, and what is counted instead of captured. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture_fixture.h"
#include "lib/graph/update/control.h"

static void
a_graph_is_asked_for_attention_only_while_it_is_captured(void **state)
{
	struct probe src = { .budget = 100, .per_call = 3 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	struct hy_node *pass = graph_node(graph, "pass");
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];
	struct hy_capture_state status;

	RTE_SET_USED(state);
	assert_int_equal(hy_capture_status(graph, &status), -ENOENT);
	assert_int_equal(hy_capture_read(graph, buffer, sizeof(buffer)), 0);
	hy_capture_stop(graph);
	assert_int_equal(graph->attention & HY_ATTEND_CAPTURE, 0);
	CAPTURE(graph, POINTS({ "pass" }));
	hy_graph_walk(graph);
	assert_int_equal(graph->attention, HY_ATTEND_CAPTURE);
	assert_ptr_equal(pass->process, probe_pass);
	hy_capture_stop(graph);
	assert_int_equal(graph->attention, 0);
	hy_graph_walk(graph);
	expect_capture(graph, (struct hy_capture_state){ .captured = 3 });
	expect_taken(graph, "0:0 0:1 0:2 ");
	CAPTURE(graph, POINTS({ "pass" }), .max_objs = 1);
	hy_graph_walk(graph);
	assert_int_equal(graph->attention, 0);
	hy_graph_walk(graph);
	expect_taken(graph, "0:6 ");
}

static void
what_cannot_be_captured_is_refused_and_changes_nothing(void **state)
{
	static const struct hy_capture_point many[HY_CAPTURE_POINTS + 1];
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	const struct {
		struct hy_capture_point point;
		int rc;
		const char *words;
	} points[] = {
		{ { NULL }, -EINVAL, "a point is a node" },
		{ { "src", "pass", "stream_full" }, -EINVAL, "a point is a node" },
		{ { "not a name" }, -EINVAL, "'not a name' is not a name" },
		{ { "elsewhere" }, -ENOENT, "no node 'elsewhere'" },
		{ { "src", .edge = "sink" }, -ENOENT, "node 'src' has no edge to 'sink'" },
		{ { "src", .drop = "one" }, -ENOENT, "node 'src' has no drop reason 'one'" },
		{ { "src", .drop = "stream_full" }, -EINVAL, "gone when they count" },
		{ { "src", .drop = "node_removed" }, -EINVAL, "gone when they count" },
	};

	RTE_SET_USED(state);
	sink_add(NULL, "elsewhere");
	for (unsigned int i = 0; i < RTE_DIM(points); i++) {
		const struct hy_capture_point at[] = { { "pass" }, points[i].point };

		unit_log_clear();
		assert_int_equal(CAPTURE_TRY(graph, at), points[i].rc);
		assert_non_null(strstr(unit_log(), points[i].words));
		assert_int_equal(unit_log_lines(), 1);
	}
	assert_int_equal(hy_capture_start(graph, &(const struct hy_capture_params){ 0 }), -EINVAL);
	assert_non_null(strstr(unit_log(), "0 points; 1 to 16"));
	unit_log_clear();
	assert_int_equal(hy_capture_start(graph, NULL), -EINVAL);
	assert_non_null(strstr(unit_log(), "0 points; 1 to 16"));
	assert_int_equal(CAPTURE_TRY(graph, many), -EINVAL);
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "pass" }), .snap = 65536), -EINVAL);
	assert_non_null(strstr(unit_log(), "at most 65535"));
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "pass" }), .nb_bytes = 4095), -EINVAL);
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "pass" }), .nb_bytes = (1u << 30) + 1),
		-EINVAL);
	assert_non_null(strstr(unit_log(), "4096 to 1073741824"));
	assert_int_equal(graph->attention, HY_ATTEND_OFFLINE);
	assert_null(graph->control->capture);
	CAPTURE(graph, POINTS({ "pass" }), .max_objs = 1);
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "sink" })), -EBUSY);
	assert_non_null(strstr(unit_log(), "stop it first"));
	hy_graph_walk(graph);
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "sink" })), 0);
	expect_capture(graph, (struct hy_capture_state){ .running = true });
	registry_clear();
	src = (struct probe){ .budget = 1 };
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g");
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "sink" })), -ENOTSUP);
	assert_non_null(strstr(unit_log(), "copy nothing"));
}

static void
a_source_with_too_many_edges_is_captured_at_one_of_them(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph;
	char name[16];
	hy_node_id id;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	for (unsigned int i = 1; i < HY_CAPTURE_EDGES; i++) {
		snprintf(name, sizeof(name), "sink-%u", i);
		sink_add(NULL, name);
		assert_int_equal(hy_node_edge_add(id, name, NULL), 0);
	}
	graph = GRAPH("g", .ops = &capture_ops);
	CAPTURE(graph, POINTS({ "src" }));
	hy_graph_walk(graph);
	expect_taken(graph, "0:0 ");
	hy_capture_stop(graph);
	sink_add(NULL, "more");
	assert_int_equal(hy_node_edge_add(id, "more", NULL), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	src.budget = 1;
	hy_graph_walk(graph);
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "src" })), -EINVAL);
	assert_non_null(strstr(unit_log(), "more than 64 edges"));
	CAPTURE(graph, POINTS({ "src", .edge = "sink" }));
	src.budget = 1;
	hy_graph_walk(graph);
	expect_taken(graph, "0:2 ");
}

static void
no_memory_is_no_capture_and_the_old_records_stay(void **state)
{
	struct probe src = { .budget = 100, .per_call = 1 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	unsigned int heap;

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "pass" }), .max_objs = 1);
	hy_graph_walk(graph);
	heap = unit_heap_live();
	unit_alloc_fail(1);
	assert_int_equal(CAPTURE_TRY(graph, POINTS({ "pass" }), .nb_bytes = 5000), -ENOMEM);
	unit_alloc_fail(0);
	assert_non_null(strstr(unit_log(), "no memory for 8192 bytes"));
	assert_int_equal(unit_heap_live(), heap);
	expect_taken(graph, "0:0 ");
	CAPTURE(graph, POINTS({ "pass" }));
	assert_int_equal(unit_heap_live(), heap);
}

/* A record of OBJ_BYTES takes 72 bytes: 56 are in the smallest ring, and 64 bytes are left over. */
static void
what_finds_no_room_is_counted_as_lost_and_said_in_the_next_record(void **state)
{
	struct probe src = { .budget = 60, .per_call = 60 };
	static uint64_t buffer[2 * HY_CAPTURE_RECORD_MAX / 8];
	const struct hy_capture_record *r = (const void *)buffer;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .ops = &capture_ops);
	CAPTURE(graph, POINTS({ "sink" }), .nb_bytes = HY_CAPTURE_BYTES_MIN);
	hy_graph_walk(graph);
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 56, .lost = 4 });
	assert_int_equal(hy_capture_read(graph, buffer, sizeof(buffer)), 56 * 72);
	src.budget = 2;
	hy_graph_walk(graph);
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 58, .lost = 4 });
	assert_int_equal(hy_capture_read(graph, buffer, sizeof(buffer)), 2 * 72);
	assert_int_equal(r->origin, 160);
	assert_int_equal(r->lost, 4);
	r = hy_capture_next(r);
	assert_int_equal(r->origin, 161);
	assert_int_equal(r->lost, 0);
}

static uint32_t sized_bytes;         /* that objects are long */
static struct hy_graph *sized_drain; /* read out while an object is copied, once; or NULL */

static size_t
sized_copy(const void *obj, struct hy_capture_record *record, size_t size)
{
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];

	RTE_SET_USED(obj);
	if (sized_drain != NULL)
		hy_capture_read(sized_drain, buffer, sizeof(buffer));
	sized_drain = NULL;
	size = RTE_MIN(size, (size_t)sized_bytes);
	memset(record->data, 7, size);
	record->length = sized_bytes;
	record->origin = 0;
	return size;
}

/* The one record that is there to be read, of an object that long. */
static void
expect_sized(struct hy_graph *graph, uint32_t bytes, uint32_t lost)
{
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];
	const struct hy_capture_record *r = (const void *)buffer;
	const size_t size = hy_capture_read(graph, buffer, sizeof(buffer));

	assert_int_equal(size, RTE_ALIGN(sizeof(*r) + bytes, 8));
	assert_int_equal(r->size, bytes);
	assert_int_equal(r->lost, lost);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(r->data[i], 7);
}

/* A graph with the smallest ring, that sends one such object a walk. */
static struct hy_graph *
sized_graph(struct probe *src)
{
	static const struct hy_object_ops ops = { .release = obj_release, .copy = sized_copy };
	struct hy_graph *graph;

	src->budget = 100;
	src->per_call = 1;
	source_add(src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .ops = &ops);
	CAPTURE(graph, POINTS({ "sink" }), .nb_bytes = HY_CAPTURE_BYTES_MIN);
	return graph;
}

static void
an_object_of_more_than_half_the_ring_finds_room_again(void **state)
{
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];
	struct probe src = { 0 };
	struct hy_graph *graph = sized_graph(&src);

	RTE_SET_USED(state);
	sized_bytes = 2000;
	hy_graph_walk(graph);
	expect_sized(graph, 2000, 0);
	sized_bytes = 2100; /* in neither piece of the ring, which is empty */
	hy_graph_walk(graph);
	assert_int_equal(hy_capture_read(graph, buffer, sizeof(buffer)), 0);
	for (unsigned int i = 0; i < 5; i++) {
		hy_graph_walk(graph);
		expect_sized(graph, 2100, i == 0 ? 1 : 0);
	}
	sized_bytes = HY_CAPTURE_BYTES_MIN; /* a record is longer than the ring */
	for (unsigned int i = 0; i < 3; i++) {
		hy_graph_walk(graph);
		assert_int_equal(hy_capture_read(graph, buffer, sizeof(buffer)), 0);
	}
	sized_bytes = 4000;
	hy_graph_walk(graph);
	expect_sized(graph, 4000, 3);
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 7, .lost = 4 });
}

/* Its writer goes by what the ring was before it looked at the object. */
static void
a_ring_that_is_read_out_meanwhile_stays_whole(void **state)
{
	struct probe src = { 0 };
	struct hy_graph *graph = sized_graph(&src);

	RTE_SET_USED(state);
	sized_bytes = 2000;
	hy_graph_walk(graph);
	expect_sized(graph, 2000, 0);
	sized_bytes = 1500;
	hy_graph_walk(graph);
	sized_bytes = 1000; /* at the start of the ring: 1000 bytes are left behind it */
	hy_graph_walk(graph);
	sized_bytes = 3500;
	sized_drain = graph;
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	assert_int_equal(hy_capture_read(graph, NULL, 0), 0); /* leads to the start */
	hy_graph_walk(graph);
	expect_sized(graph, 3500, 2);
	sized_bytes = 100;
	hy_graph_walk(graph);
	expect_sized(graph, 100, 0);
	expect_capture(graph,
		(struct hy_capture_state){ .running = true, .captured = 5, .lost = 2 });
}

/* With every snap length, records lie otherwise at the end of the ring. */
static void
records_are_whole_wherever_the_ring_ends(void **state)
{
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];
	struct probe src = { .budget = 100, .per_call = 7 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (uint32_t snap = 1; snap <= OBJ_BYTES + 1; snap++) {
		uint16_t id = 0;

		obj_made = 0;
		CAPTURE(graph, POINTS({ "pass" }), .nb_bytes = HY_CAPTURE_BYTES_MIN, .snap = snap);
		for (unsigned int walk = 0; walk < 60; walk++) {
			const struct hy_capture_record *r = (const void *)buffer;
			size_t size;

			src.budget = 7;
			hy_graph_walk(graph);
			size = hy_capture_read(graph, buffer, sizeof(buffer));
			for (; (const uint8_t *)r < (const uint8_t *)buffer + size; id++) {
				assert_int_equal(r->origin, id + 100);
				assert_int_equal(r->size, RTE_MIN(snap, OBJ_BYTES));
				assert_int_equal(r->length, OBJ_BYTES);
				for (uint32_t i = 0; i < r->size; i++)
					assert_int_equal(r->data[i], (uint8_t)id);
				r = hy_capture_next(r);
				compared++;
			}
		}
		hy_capture_stop(graph);
		expect_capture(graph, (struct hy_capture_state){ .captured = 420 });
	}
	assert_int_equal(compared, 45 * 420);
}

static void
a_reader_with_little_room_gets_whole_records(void **state)
{
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];
	struct probe src = { .budget = 5 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "pass" }));
	hy_graph_walk(graph);
	assert_int_equal(hy_capture_read(graph, buffer, 71), 0);
	assert_int_equal(hy_capture_read(graph, buffer, 215), 144);
	expect_taken(graph, "0:2 0:3 0:4 ");
}

static void
walks_that_are_captured_are_not_timed_and_count_like_others(void **state)
{
	struct probe src = { .budget = 100, .per_call = 2 };
	struct hy_stats *stats;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .ops = &capture_ops, .sample_every = 1);
	CAPTURE(graph, POINTS({ "sink" }), .max_objs = 5);
	for (int i = 0; i < 4; i++)
		hy_graph_walk(graph);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_int_equal(stats->nodes[1].calls, 4);
	assert_int_equal(stats->nodes[1].objs, 8);
	assert_int_equal(stats->nodes[1].sampled_calls, 1);
	hy_stats_free(stats);
}

static void
a_graph_is_destroyed_with_its_capture(void **state)
{
	struct probe src = { .budget = 1 };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "src" }));
	hy_graph_walk(graph);
	hy_graph_destroy(graph); /* the fixture looks after the memory */
}

/* Reads what there is; of each point, objects come in order, with gaps where records were lost. */
static uint64_t
read_some(struct hy_graph *graph, uint64_t *lost)
{
	static uint64_t buffer[HY_CAPTURE_RECORD_MAX / 8];
	const size_t size = hy_capture_read(graph, buffer, sizeof(buffer));
	const struct hy_capture_record *r = (const void *)buffer;
	uint64_t n = 0;

	for (; (const uint8_t *)r < (const uint8_t *)buffer + size; r = hy_capture_next(r)) {
		assert_in_range(r->point, 0, 1);
		assert_in_range(r->origin, 100, 107);
		assert_int_equal(r->size, OBJ_BYTES);
		for (uint32_t i = 0; i < r->size; i++)
			assert_int_equal(r->data[i], r->origin - 100);
		*lost += r->lost;
		n++;
	}
	return n;
}

static void
captures_come_and_go_while_a_worker_walks(void **state)
{
	enum { ROUNDS = 200, OBJS = 300 };
	struct probe src = { .budget = UINT32_MAX };
	struct hy_graph *graph = graph_chain(&src, &capture_ops);
	uint64_t all = 0;

	RTE_SET_USED(state);
	walker_start(graph);
	for (int round = 0; round < ROUNDS; round++) {
		struct hy_capture_state status;
		uint64_t read = 0, lost = 0;

		CAPTURE(graph, POINTS({ "pass" }, { "src", .edge = "pass" }),
			.nb_bytes = HY_CAPTURE_BYTES_MIN, .max_objs = OBJS);
		do {
			read += read_some(graph, &lost);
			assert_int_equal(hy_capture_status(graph, &status), 0);
		} while (status.running && (round % 2 == 0 || read == 0));
		if (round % 5 == 0)
			assert_int_equal(hy_graph_update(graph, NULL), 0);
		hy_capture_stop(graph);
		for (uint64_t n = 1; n > 0; read += n)
			n = read_some(graph, &lost);
		assert_int_equal(hy_capture_status(graph, &status), 0);
		assert_int_equal(status.captured, read);
		assert_in_range(lost, 0, status.lost);
		if (round % 2 == 0)
			assert_int_equal(read, OBJS);
		all += read;
	}
	walker_stop();
	assert_in_range(all, ROUNDS / 2 * (OBJS + 1), ROUNDS * OBJS);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_graph_is_asked_for_attention_only_while_it_is_captured),
	GRAPH_TEST(what_cannot_be_captured_is_refused_and_changes_nothing),
	GRAPH_TEST(a_source_with_too_many_edges_is_captured_at_one_of_them),
	GRAPH_TEST(no_memory_is_no_capture_and_the_old_records_stay),
	GRAPH_TEST(what_finds_no_room_is_counted_as_lost_and_said_in_the_next_record),
	GRAPH_TEST(an_object_of_more_than_half_the_ring_finds_room_again),
	GRAPH_TEST(a_ring_that_is_read_out_meanwhile_stays_whole),
	GRAPH_TEST(records_are_whole_wherever_the_ring_ends),
	GRAPH_TEST(a_reader_with_little_room_gets_whole_records),
	GRAPH_TEST(walks_that_are_captured_are_not_timed_and_count_like_others),
	GRAPH_TEST(a_graph_is_destroyed_with_its_capture),
	GRAPH_TEST(captures_come_and_go_while_a_worker_walks),
};

UNIT_SUITE(tests)
