/* SPDX-License-Identifier: BSD-3-Clause */
/* Side-data lanes: 32-bit values that travel beside each object, by whatever call it is sent. */

#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/walk/enqueue.h"

/* What lane l (by the graph's number) holds for an object. */
static uint32_t
value(const struct obj *obj, unsigned int l)
{
	return 0x10000000u * (l + 1) + obj->id;
}

/* Counts values that differ from what the object should have beside it. */
static void
check(const struct hy_graph *graph, const struct hy_node *node, void **objs, uint16_t n)
{
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++)
		for (uint16_t i = 0; i < n; i++)
			obj_faults += hy_lane(graph, node, l)[i] != value(objs[i], l);
	probe_hit(node, n);
}

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = probe_make(probe_of(node), objs, n);

	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++)
		for (uint16_t i = 0; i < made; i++)
			hy_lane(graph, node, l)[i] = value(objs[i], l);
	probe_hit(node, made);
	if (probe_of(node)->nb_edges == 0) {
		hy_stream_move(graph, node, 0, made);
	} else {
		hy_enqueue(graph, node, 0, objs + made / 2, made - made / 2);
		hy_enqueue(graph, node, 0, objs, made / 2);
	}
	return made;
}

static uint16_t
by_next(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	check(graph, node, objs, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = (uint16_t)(((struct obj *)objs[i])->id * 2654435761u >> 16) % 3;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
by_width(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t i = 0;

	check(graph, node, objs, n);
	for (; i + 7 <= n; i += 7) {
		hy_enqueue_x4(graph, node, 0, objs + i);
		hy_enqueue_x2(graph, node, 0, objs + i + 4);
		hy_enqueue_x1(graph, node, 0, objs + i + 6);
	}
	hy_enqueue(graph, node, 0, objs + i, n - i);
	return n;
}

static uint16_t
by_move(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	check(graph, node, objs, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

/*
 * Through a reservation of one more than is needed, during which the other objects go to the same
 * target: they move up when that one is given back.
 */
static uint16_t
by_reservation(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t late = n / 3;
	const uint16_t wanted = n - late + (graph->plan.burst > 1); /* there is room for one */
	uint16_t room = wanted;
	void **to = hy_stream_get(graph, node, 0, &room);

	check(graph, node, objs, n);
	obj_faults += room != wanted;
	hy_enqueue(graph, node, HY_DROP(0), objs, late);
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++) {
		uint32_t *lane = hy_stream_get_lane(graph, node, 0, l);

		for (uint16_t i = 0; i < room; i++)
			obj_faults += lane[i] != 0;
		memcpy(lane, hy_lane(graph, node, l) + late, (n - late) * sizeof(*lane));
	}
	memcpy(to, objs + late, (n - late) * sizeof(*to));
	hy_stream_put(graph, node, 0, n - late);
	return n;
}

static uint16_t
sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	check(graph, node, objs, n);
	hy_release(graph, objs, n);
	return n;
}

#define ALL_LANES .lanes = { "l0", "l1", "l2", "l3" }

static void
lanes_move_with_their_objects_by_every_call(void **state)
{
	static const uint16_t bursts[] = { 1, 3, 16, 63, 256 };
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (unsigned int run = 0; run < 2 * RTE_DIM(bursts); run++) {
		struct probe src[3] = { 0 }, p[5] = { 0 };
		struct hy_graph *graph;

		obj_made = 0;
		src[2].nb_edges = 1; /* sends in two parts */
		for (unsigned int s = 0; s < 3; s++) {
			char name[8];

			src[s].budget = 2000;
			src[s].per_call = s == 1 ? 1 : 0;
			snprintf(name, sizeof(name), "src-%u", s);
			NODE(&src[s], .name = name, .flags = HY_NODE_SOURCE, .impl.process = source,
				.edges = { "next" }, ALL_LANES);
		}
		NODE(&p[0], .name = "next", .impl.process = by_next,
			.edges = { "width", "move", "reserve" }, ALL_LANES);
		NODE(&p[1], .name = "width", .impl.process = by_width, .edges = { "move" },
			ALL_LANES);
		NODE(&p[2], .name = "move", .impl.process = by_move, .edges = { "reserve" },
			ALL_LANES);
		NODE(&p[3], .name = "reserve", .impl.process = by_reservation, .edges = { "sink" },
			.drops = { { "d" } }, ALL_LANES);
		NODE(&p[4], .name = "sink", .impl.process = sink, ALL_LANES);
		graph = GRAPH("g", .burst = bursts[run / 2], .drop_node = "sink", ALL_LANES);
		if (run % 2 != 0)
			graph->plan.scatter = hy_scatter_scalar;
		while (p[4].objs < 6000 && graph->walks < 10000)
			hy_graph_walk(graph);
		assert_int_equal(p[0].objs, 6000);
		assert_int_equal(p[3].objs, 6000);
		assert_int_equal(p[4].objs, 6000);
		assert_int_equal(obj_faults, 0);
		assert_int_equal(obj_under_way, 0);
		assert_int_equal(stream_full(graph), 0);
		registry_clear();
		compared++;
	}
	assert_int_equal(compared, 10);
}

static uint16_t
replace_all(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	void *made[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	hy_release(graph, objs, n);
	for (uint16_t i = 0; i < n; i++) {
		made[i] = obj_new();
		next[i] = i % 2;
	}
	hy_enqueue_next(graph, node, next, made, n / 2);
	hy_enqueue(graph, node, 0, made + n / 2, n - n / 2);
	return n;
}

static uint16_t
zero_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (unsigned int l = 0; l < graph->plan.nb_lanes; l++)
		for (uint16_t i = 0; i < n; i++)
			obj_faults += hy_lane(graph, node, l)[i] != 0;
	probe_hit(node, n);
	hy_release(graph, objs, n);
	return n;
}

static void
lanes_of_new_objects_are_zero(void **state)
{
	hy_scatter_t *const bodies[] = { hy_scatter_scalar, hy_scatter_best() };
	struct probe src = { .budget = 4000 }, replace = { 0 }, one = { 0 }, two = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "replace" }, ALL_LANES);
	NODE(&replace, .name = "replace", .impl.process = replace_all, .edges = { "one", "two" });
	NODE(&one, .name = "one", .impl.process = zero_sink, ALL_LANES);
	NODE(&two, .name = "two", .impl.process = zero_sink, ALL_LANES);
	graph = GRAPH("g", .burst = 100, ALL_LANES);
	for (unsigned int walk = 0; walk < 40; walk++) {
		graph->plan.scatter = bodies[walk / 20];
		hy_graph_walk(graph);
	}
	assert_int_equal(one.objs, 3000);
	assert_int_equal(two.objs, 1000);
	assert_int_equal(obj_faults, 0);
}

static void
a_lane_is_found_by_name_wherever_nodes_and_graph_list_it(void **state)
{
	struct hy_graph *graph;
	struct hy_node *a, *b;
	uint32_t *own[2], *other[2];

	RTE_SET_USED(state);
	NODE(NULL, .name = "a", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "b" }, .lanes = { "red", "green" });
	NODE(NULL, .name = "b", .impl.process = probe_sink, .lanes = { "blue", "red" });
	graph = GRAPH("g", .burst = 8, .lanes = { "blue", NULL, "green", "red" });
	assert_int_equal(graph->plan.nb_lanes, 3);
	a = graph_node(graph, "a");
	b = graph_node(graph, "b");
	assert_int_equal(a->lane[0], 2);
	assert_int_equal(a->lane[1], 1);
	assert_int_equal(b->lane[0], 0);
	assert_int_equal(b->lane[1], 2);
	/* Lanes lie behind the pointers, and do not overlap each other or the next stream. */
	own[0] = hy_lane(graph, a, 1);
	own[1] = hy_lane(graph, a, 0);
	other[0] = hy_lane(graph, b, 0);
	other[1] = hy_lane(graph, b, 1);
	assert_true((void *)own[0] >= (void *)(a->stream + graph->plan.stream_cap));
	assert_true(own[1] >= own[0] + graph->plan.stream_cap);
	assert_true((void *)(own[1] + graph->plan.stream_cap) <= (void *)b->stream);
	assert_true((void *)other[0] >= (void *)(b->stream + graph->plan.stream_cap));
	assert_true(other[1] >= other[0] + 2 * graph->plan.stream_cap);
}

static uint16_t
twice(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static const uint16_t next[HY_BURST_MAX] = { 0 };

	check(graph, node, objs, n);
	obj_ref(objs, n);
	hy_enqueue_next(graph, node, next, objs, n);
	hy_enqueue(graph, node, 1, objs, n);
	return n;
}

/* The first copy must not take the stream, and the lanes with it, away from the second. */
static void
both_copies_of_a_replicating_node_have_their_lanes(void **state)
{
	struct probe src = { .budget = 300 }, both = { 0 }, one = { 0 }, two = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "both" }, ALL_LANES);
	NODE(&both, .name = "both", .replicates = 2, .impl.process = twice,
		.edges = { "one", "two" }, ALL_LANES);
	NODE(&one, .name = "one", .impl.process = sink, ALL_LANES);
	NODE(&two, .name = "two", .impl.process = sink, ALL_LANES);
	graph = GRAPH("g", .burst = 30, ALL_LANES);
	for (unsigned int walk = 0; walk < 10; walk++)
		hy_graph_walk(graph);
	assert_int_equal(one.objs, 300);
	assert_int_equal(two.objs, 300);
	assert_int_equal(obj_faults, 0);
}

/* A node that is held back keeps what is left in its stream: the lanes move up with it. */
static void
lanes_stay_beside_objects_that_wait_for_room(void **state)
{
	struct probe src = { .budget = 500 }, many = { .copies = 600, .nb_edges = 1 };
	struct probe last = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "many" }, ALL_LANES);
	NODE(&many, .name = "many", .replicates = 600, .impl.process = probe_replicate,
		.edges = { "sink" });
	NODE(&last, .name = "sink", .impl.process = sink, ALL_LANES);
	graph = GRAPH("g", .burst = 250, .max_sweeps = 1, ALL_LANES);
	for (unsigned int walk = 0; walk < 40 && last.objs < 300000; walk++)
		hy_graph_walk(graph);
	assert_int_equal(last.objs, 300000);
	assert_int_equal(obj_faults, 0);
}

static void
assert_lanes(const struct hy_graph *graph, const char *name, uint8_t in, uint8_t out)
{
	const struct hy_node *node = graph_node((struct hy_graph *)(uintptr_t)graph, name);

	if (node->lanes_in != in || node->lanes_out != out)
		fail_msg("%s: in %x, out %x, not %x and %x", name, node->lanes_in, node->lanes_out,
			in, out);
}

/* Objects come by two sources, one of which knows the lane, and go to two sinks likewise. */
static void
nodes_for_lanes(void)
{
	static struct probe src, quiet, fork, reads, blind;

	src = quiet = (struct probe){ .budget = 10000 };
	fork = (struct probe){ .nb_edges = 2 };
	reads = blind = (struct probe){ 0 };
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "fork" }, .lanes = { "l0" });
	NODE(&quiet, .name = "quiet", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "blind" });
	NODE(&fork, .name = "fork", .impl.process = probe_spread, .edges = { "reads", "blind" });
	NODE(&reads, .name = "reads", .impl.process = sink, .lanes = { "l0" });
	NODE(&blind, .name = "blind", .impl.process = probe_sink);
}

static void
lanes_that_nobody_behind_uses_are_not_copied(void **state)
{
	struct hy_graph *graph;
	struct hy_node *blind;
	uint32_t *lane;

	RTE_SET_USED(state);
	nodes_for_lanes();
	graph = GRAPH("g", .burst = 64, .lanes = { "l0" });
	assert_lanes(graph, "src", 1, 1);
	assert_lanes(graph, "quiet", 0, 0);
	assert_lanes(graph, "fork", 1, UINT8_MAX);
	assert_lanes(graph, "reads", 1, UINT8_MAX);
	assert_lanes(graph, "blind", 0, UINT8_MAX);
	blind = graph_node(graph, "blind");
	lane = hy_stream_lane(graph, blind->stream, 0);
	memset(lane, 0xa5, graph->plan.stream_cap * sizeof(*lane));
	for (unsigned int walk = 0; walk < 3; walk++)
		hy_graph_walk(graph);
	assert_int_equal(probe_of(graph_node(graph, "reads"))->objs, 3 * 32);
	assert_int_equal(probe_of(blind)->objs, 3 * (32 + 64));
	for (uint32_t i = 0; i < graph->plan.stream_cap; i++)
		assert_int_equal(hy_stream_lane(graph, blind->stream, 0)[i], 0xa5a5a5a5);
	assert_int_equal(obj_faults, 0);
}

/* Objects that wait may find other readers, after a live change. */
static void
graphs_that_hold_objects_keep_all_lanes(void **state)
{
	struct hy_graph *graph;
	hy_node_id blind;

	RTE_SET_USED(state);
	nodes_for_lanes();
	assert_int_equal(hy_node_lookup("blind", &blind), 0);
	assert_int_equal(hy_node_edge_add(blind, "fork", NULL), 0);
	graph = GRAPH("g", .burst = 64, .lanes = { "l0", "l1" });
	assert_lanes(graph, "src", 3, 1);
	assert_lanes(graph, "quiet", 3, 0);
	assert_lanes(graph, "fork", 3, UINT8_MAX);
	assert_lanes(graph, "blind", 3, UINT8_MAX);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(lanes_that_nobody_behind_uses_are_not_copied),
	GRAPH_TEST(graphs_that_hold_objects_keep_all_lanes),
	GRAPH_TEST(lanes_move_with_their_objects_by_every_call),
	GRAPH_TEST(lanes_of_new_objects_are_zero),
	GRAPH_TEST(a_lane_is_found_by_name_wherever_nodes_and_graph_list_it),
	GRAPH_TEST(both_copies_of_a_replicating_node_have_their_lanes),
	GRAPH_TEST(lanes_stay_beside_objects_that_wait_for_room),
};

UNIT_SUITE(tests)
