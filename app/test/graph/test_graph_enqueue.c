/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending objects on: each function, what it counts, and when streams are exchanged. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/walk/enqueue.h"

/*
 * A graph in which nothing is walked: the tests put objects into the stream of node x and call
 * what its process function would. x leads to a, b and c, and drops for two reasons to "drop".
 */
static struct hy_graph *graph;
static struct hy_node *x, *a, *b, *c, *drop;

static void
bench_add(uint16_t burst)
{
	source_add(NULL, "src", "x");
	source_add(NULL, "src2", "x");
	NODE(NULL, .name = "x", .impl.process = probe_sink, .edges = { "a", "b", "c" },
		.drops = { { "d0" }, { "d1" } });
	sink_add(NULL, "a");
	sink_add(NULL, "b");
	sink_add(NULL, "c");
	sink_add(NULL, "drop");
	graph = GRAPH("g", .burst = burst, .drop_node = "drop");
	x = graph_node(graph, "x");
	a = graph_node(graph, "a");
	b = graph_node(graph, "b");
	c = graph_node(graph, "c");
	drop = graph_node(graph, "drop");
}

/* Puts n new objects into the stream of x, as if the walk ran it on all of them. */
static void **
hand_over(uint16_t n)
{
	graph->cursor = 0;
	graph->part = false;
	x->waiting = n;
	for (uint16_t i = 0; i < n; i++)
		x->stream[i] = obj_new();
	return x->stream;
}

/* After process: what was handed over is gone from x. */
static void
process_ends(void)
{
	x->waiting = 0;
	graph->cursor = 0;
	graph->part = false;
}

static bool
pending(const struct hy_node *node)
{
	return (graph->plan.pending[node->rank / 64] >> (node->rank % 64) & 1) != 0;
}

/* Whether objects of these ids, and no others, wait on a node in this order. */
static void
assert_waiting(const struct hy_node *node, const uint32_t *ids, uint32_t n)
{
	assert_int_equal(node->waiting, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(((struct obj *)node->stream[i])->id, ids[i]);
	assert_int_equal(pending(node), n > 0);
}
#define ASSERT_WAITING(node, ...) \
	assert_waiting(node, (const uint32_t[]){ __VA_ARGS__ }, \
		RTE_DIM(((const uint32_t[]){ __VA_ARGS__ })))

static void
enqueue_of_each_width_appends_and_counts(void **state)
{
	void **objs;

	RTE_SET_USED(state);
	bench_add(32);
	objs = hand_over(12);
	hy_enqueue_x1(graph, x, 0, objs);
	hy_enqueue_x2(graph, x, 1, objs + 1);
	hy_enqueue_x4(graph, x, 0, objs + 3);
	hy_enqueue(graph, x, 2, objs + 7, 3);
	hy_enqueue_x1(graph, x, 1, objs + 10);
	hy_enqueue(graph, x, HY_DROP(1), objs + 11, 1);
	process_ends();
	ASSERT_WAITING(a, 0, 3, 4, 5, 6);
	ASSERT_WAITING(b, 1, 2, 10);
	ASSERT_WAITING(c, 7, 8, 9);
	ASSERT_WAITING(drop, 11);
	assert_int_equal(edge_objs(graph, "x", 0), 5);
	assert_int_equal(edge_objs(graph, "x", 1), 3);
	assert_int_equal(edge_objs(graph, "x", 2), 3);
	assert_int_equal(edge_objs(graph, "x", HY_DROP(0)), 0);
	assert_int_equal(edge_objs(graph, "x", HY_DROP(1)), 1);
	assert_int_equal(stream_full(graph), 0);
}

static void
enqueue_of_nothing_does_nothing(void **state)
{
	uint16_t next[1] = { 0 }, n = 0;
	void **objs;

	RTE_SET_USED(state);
	bench_add(32);
	objs = hand_over(0);
	hy_enqueue(graph, x, 0, objs, 0);
	hy_enqueue_next(graph, x, next, objs, 0);
	hy_stream_move(graph, x, 0, 0);
	hy_release(graph, objs, 0);
	hy_stream_get(graph, x, 0, &n);
	hy_stream_put(graph, x, 0, 0);
	process_ends();
	assert_int_equal(a->waiting, 0);
	assert_false(pending(a));
	assert_int_equal(edge_objs(graph, "x", 0), 0);
}

static void
objects_from_anywhere_can_be_sent(void **state)
{
	void *made[4] = { obj_new(), obj_new(), obj_new(), obj_new() };
	const uint16_t next[4] = { 2, 0, 2, 0 };

	RTE_SET_USED(state);
	bench_add(32);
	hand_over(1);
	hy_enqueue_next(graph, x, next, made, 4);
	hy_enqueue_x1(graph, x, 1, x->stream);
	process_ends();
	ASSERT_WAITING(a, 1, 3);
	ASSERT_WAITING(b, 4);
	ASSERT_WAITING(c, 0, 2);
}

static void
a_whole_input_for_one_edge_exchanges_the_streams(void **state)
{
	hy_scatter_t *const best = hy_scatter_best();
	hy_scatter_t *const bodies[] = { hy_scatter_scalar, best };
	uint16_t next[32] = { 0 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	bench_add(32);
	for (size_t i = 0; i < RTE_DIM(bodies); i++) {
		for (uint16_t n = 1; n <= 32; n++) {
			void **objs = hand_over(n), **theirs = a->stream;

			bodies[i](graph, x, next, objs, n);
			process_ends();
			assert_ptr_equal(a->stream, objs);
			assert_ptr_equal(x->stream, theirs);
			assert_int_equal(a->waiting, n);
			assert_true(pending(a));
			obj_release(a->stream, n);
			a->waiting = 0;
			compared++;
		}
	}
	assert_int_equal(compared, 64);
	assert_int_equal(edge_objs(graph, "x", 0), 2 * 32 * 33 / 2);
}

/* What stands against an exchange: a part of the input, other objects, a target that has some. */
static void
streams_are_not_exchanged_unless_the_whole_input_moves(void **state)
{
	static const uint16_t next[8] = { 0 };
	void *made[4] = { obj_new(), obj_new(), obj_new(), obj_new() };
	void **own, **theirs, **objs;

	RTE_SET_USED(state);
	bench_add(8);
	own = x->stream;
	theirs = a->stream;

	objs = hand_over(6);
	hy_enqueue_next(graph, x, next, objs, 5);
	ASSERT_WAITING(a, 4, 5, 6, 7, 8);
	hy_enqueue_next(graph, x, next, objs + 5, 1);
	ASSERT_WAITING(a, 4, 5, 6, 7, 8, 9);
	process_ends();
	assert_ptr_equal(x->stream, own);

	hand_over(0);
	a->waiting = 0;
	obj_release(a->stream, 6);
	hy_enqueue_next(graph, x, next, made, 4);
	ASSERT_WAITING(a, 0, 1, 2, 3);
	process_ends();
	assert_ptr_equal(x->stream, own);

	objs = hand_over(4);
	hy_enqueue_next(graph, x, next, objs, 4);
	ASSERT_WAITING(a, 0, 1, 2, 3, 10, 11, 12, 13);
	process_ends();
	assert_ptr_equal(x->stream, own);
	assert_ptr_equal(a->stream, theirs);
}

static void
move_of_the_whole_input_exchanges_the_streams(void **state)
{
	void **own, **theirs;

	RTE_SET_USED(state);
	bench_add(8);
	own = hand_over(8);
	theirs = b->stream;
	hy_stream_move(graph, x, 1, 8);
	process_ends();
	assert_ptr_equal(b->stream, own);
	assert_ptr_equal(x->stream, theirs);
	ASSERT_WAITING(b, 0, 1, 2, 3, 4, 5, 6, 7);
	assert_int_equal(edge_objs(graph, "x", 1), 8);
	hand_over(3);
	hy_stream_move(graph, x, 1, 3);
	process_ends();
	ASSERT_WAITING(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	assert_ptr_equal(b->stream, own);
	assert_int_equal(edge_objs(graph, "x", 1), 11);
}

static void
move_of_the_first_objects_leaves_the_rest_where_it_was_sent(void **state)
{
	void **objs;

	RTE_SET_USED(state);
	bench_add(8);
	objs = hand_over(8);
	hy_enqueue(graph, x, 2, objs + 5, 3);
	hy_stream_move(graph, x, 1, 5);
	process_ends();
	ASSERT_WAITING(b, 0, 1, 2, 3, 4);
	ASSERT_WAITING(c, 5, 6, 7);
}

/* While a node runs on a part of its stream, the rest of it must stay. */
static void
nothing_is_exchanged_while_a_node_runs_on_a_part(void **state)
{
	static const uint16_t next[8] = { 0 };
	void **own;

	RTE_SET_USED(state);
	bench_add(8);
	own = hand_over(16);
	graph->part = true; /* as the walk does */
	hy_stream_move(graph, x, 0, 8);
	ASSERT_WAITING(a, 0, 1, 2, 3, 4, 5, 6, 7);
	graph->cursor = 8;
	hy_stream_move(graph, x, 1, 8);
	ASSERT_WAITING(b, 8, 9, 10, 11, 12, 13, 14, 15);
	hy_enqueue_next(graph, x, next, own + 8, 0);
	process_ends();
	assert_ptr_equal(x->stream, own);
	assert_int_equal(((struct obj *)own[15])->id, 15);
}

static void
what_a_full_stream_cannot_take_is_released_in_order(void **state)
{
	uint32_t ids[16];
	void **objs;

	RTE_SET_USED(state);
	bench_add(8); /* two sources: streams hold 16 */
	objs = hand_over(8);
	hy_enqueue(graph, x, 0, objs, 8);
	objs = hand_over(8);
	hy_enqueue(graph, x, 0, objs, 6);
	hy_enqueue_x4(graph, x, 0, (void *[]){ obj_new(), obj_new(), obj_new(), obj_new() });
	hy_enqueue_x2(graph, x, 0, objs + 6);
	process_ends();
	for (uint32_t i = 0; i < 14; i++)
		ids[i] = i;
	ids[14] = 16;
	ids[15] = 17;
	assert_waiting(a, ids, 16);
	assert_int_equal(edge_objs(graph, "x", 0), 16);
	assert_int_equal(edge_objs(graph, "x", (uint16_t)-1), 4);
	assert_int_equal(obj_under_way, 16);
	assert_int_equal(obj_all[18].refs + obj_all[19].refs + obj_all[14].refs + obj_all[15].refs,
		0);
}

static void
a_reservation_is_written_in_place_and_put_whole_or_in_part(void **state)
{
	uint16_t n = 5;
	void **room;

	RTE_SET_USED(state);
	bench_add(32);
	hand_over(0);
	room = hy_stream_get(graph, x, 0, &n);
	assert_int_equal(n, 5);
	for (unsigned int i = 0; i < 5; i++)
		room[i] = obj_new();
	hy_stream_put(graph, x, 0, 5);
	ASSERT_WAITING(a, 0, 1, 2, 3, 4);

	n = 10;
	room = hy_stream_get(graph, x, 0, &n);
	assert_int_equal(n, 10);
	room[0] = obj_new();
	room[1] = obj_new();
	hy_stream_put(graph, x, 0, 2);
	ASSERT_WAITING(a, 0, 1, 2, 3, 4, 5, 6);

	n = 10;
	hy_stream_get(graph, x, 0, &n);
	hy_stream_put(graph, x, 0, 0);
	process_ends();
	ASSERT_WAITING(a, 0, 1, 2, 3, 4, 5, 6);
	assert_int_equal(edge_objs(graph, "x", 0), 7);
}

static void
a_reservation_put_empty_leaves_the_target_idle(void **state)
{
	uint16_t n = 32;

	RTE_SET_USED(state);
	bench_add(32);
	hy_stream_get(graph, x, 2, &n);
	assert_int_equal(n, 32);
	hy_stream_put(graph, x, 2, 0);
	assert_int_equal(c->waiting, 0);
	assert_false(pending(c));
	assert_int_equal(edge_objs(graph, "x", 2), 0);
}

static void
a_reservation_is_cut_to_the_room_there_is(void **state)
{
	uint16_t n = 100;
	void **objs, **room;

	RTE_SET_USED(state);
	bench_add(8); /* streams hold 16 */
	objs = hand_over(8);
	hy_enqueue(graph, x, 1, objs, 5);
	room = hy_stream_get(graph, x, 1, &n);
	assert_int_equal(n, 11);
	memcpy(room, objs + 5, 3 * sizeof(*room));
	hy_stream_put(graph, x, 1, 3);
	ASSERT_WAITING(b, 0, 1, 2, 3, 4, 5, 6, 7);

	objs = hand_over(8);
	hy_enqueue(graph, x, 1, objs, 8);
	process_ends();
	n = 1;
	hy_stream_get(graph, x, 1, &n);
	assert_int_equal(n, 0);
	hy_stream_put(graph, x, 1, 0);
	assert_int_equal(b->waiting, 16);
}

/* What others send during a reservation goes behind it, and moves up when a part is given back. */
static void
what_is_sent_during_a_reservation_goes_behind_it(void **state)
{
	static const uint16_t next[6] = { 0, 1, 0, 1, 0, 0 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (uint16_t put = 0; put <= 8; put++) {
		void **objs, **room;
		uint32_t expected[20], n_expected = 0;
		uint16_t n = 8;

		obj_made = 0;
		bench_add(32);
		objs = hand_over(9);
		hy_enqueue_x2(graph, x, 0, objs);
		room = hy_stream_get(graph, x, 0, &n);
		assert_int_equal(n, 8);
		hy_enqueue_next(graph, x, next, objs + 2, 6);
		hy_enqueue_x1(graph, x, 0, objs + 8);
		for (uint16_t i = 0; i < put; i++)
			room[i] = obj_new();
		hy_stream_put(graph, x, 0, put);
		process_ends();

		expected[n_expected++] = 0;
		expected[n_expected++] = 1;
		for (uint16_t i = 0; i < put; i++)
			expected[n_expected++] = 9u + i;
		for (unsigned int i = 0; i < 6; i++)
			if (next[i] == 0)
				expected[n_expected++] = 2 + i;
		expected[n_expected++] = 8;
		assert_waiting(a, expected, n_expected);
		ASSERT_WAITING(b, 3, 5);
		assert_int_equal(edge_objs(graph, "x", 0), n_expected);
		registry_clear();
		compared++;
	}
	assert_int_equal(compared, 9);
}

static void
two_reservations_at_two_targets_do_not_meet(void **state)
{
	uint16_t na = 4, nb = 6;
	void **to_a, **to_b;

	RTE_SET_USED(state);
	bench_add(32);
	to_a = hy_stream_get(graph, x, 0, &na);
	to_b = hy_stream_get(graph, x, 1, &nb);
	for (unsigned int i = 0; i < 3; i++) {
		to_b[i] = obj_new();
		to_a[i] = obj_new();
	}
	hy_stream_put(graph, x, 0, 3);
	hy_stream_put(graph, x, 1, 2);
	obj_release(&to_b[2], 1);
	ASSERT_WAITING(a, 1, 3, 5);
	ASSERT_WAITING(b, 0, 2);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(enqueue_of_each_width_appends_and_counts),
	GRAPH_TEST(enqueue_of_nothing_does_nothing),
	GRAPH_TEST(objects_from_anywhere_can_be_sent),
	GRAPH_TEST(a_whole_input_for_one_edge_exchanges_the_streams),
	GRAPH_TEST(streams_are_not_exchanged_unless_the_whole_input_moves),
	GRAPH_TEST(move_of_the_whole_input_exchanges_the_streams),
	GRAPH_TEST(move_of_the_first_objects_leaves_the_rest_where_it_was_sent),
	GRAPH_TEST(nothing_is_exchanged_while_a_node_runs_on_a_part),
	GRAPH_TEST(what_a_full_stream_cannot_take_is_released_in_order),
	GRAPH_TEST(a_reservation_is_written_in_place_and_put_whole_or_in_part),
	GRAPH_TEST(a_reservation_put_empty_leaves_the_target_idle),
	GRAPH_TEST(a_reservation_is_cut_to_the_room_there_is),
	GRAPH_TEST(what_is_sent_during_a_reservation_goes_behind_it),
	GRAPH_TEST(two_reservations_at_two_targets_do_not_meet),
};

UNIT_SUITE(tests)
