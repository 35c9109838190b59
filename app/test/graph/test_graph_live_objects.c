/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits in a graph that is changed: objects, their order, their lanes, room for them. */

#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/update/control.h"

#define ALL ((const char *[]){ "src" })

/* A cycle: src -> turn -> again -> turn ..., out to sink after so many turns. */
static uint32_t turns;
static uint32_t last_id; /* at the sink */

static uint16_t
turn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = ((struct obj *)objs[i])->hops++ < turns ? 0 : 1;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
ordered(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct obj *obj = objs[i];

		obj_faults += obj->id + 1 <= last_id; /* ids come in order */
		last_id = obj->id + 1;
	}
	return probe_sink(graph, node, objs, n);
}

static hy_node_id
cycle_add(struct probe *src, struct probe *sink)
{
	hy_node_id id;

	last_id = 0;
	source_add(src, "src", "turn");
	id = NODE(NULL, .name = "turn", .impl.process = turn, .edges = { "again", "sink" });
	pass_add(NULL, "again", "turn");
	NODE(sink, .name = "sink", .impl.process = ordered);
	return id;
}

static void
update(struct hy_graph *graph, const struct hy_graph_params *params)
{
	unit_log_clear();
	if (hy_graph_update(graph, params) != 0)
		fail_msg("the update is refused: %s", unit_log());
}

static uint64_t
node_removed(const char *name)
{
	struct hy_stats *stats;
	uint64_t n = UINT64_MAX;

	assert_int_equal(hy_stats_read("*", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			n = stats->nodes[i].drops[HY_CORE_DROP_NODE_REMOVED].objs;
	hy_stats_free(stats);
	return n;
}

static void
what_waits_in_a_cycle_goes_on_in_order_after_a_change(void **state)
{
	struct probe src = { .budget = 100 }, sink = { 0 }, new = { 0 };
	const hy_node_id id = cycle_add(&src, &sink);
	struct hy_graph *graph;

	RTE_SET_USED(state);
	turns = 5;
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 100, .max_sweeps = 1);
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 100);
	pass_add(&new, "new", "sink");
	assert_int_equal(hy_node_edge_set(id, 1, "new"), 0);
	update(graph, NULL);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 100);
	for (unsigned int i = 0; i < 20; i++)
		hy_graph_walk(graph);
	assert_int_equal(new.objs, 100);
	assert_int_equal(sink.objs, 100);
	assert_int_equal(last_id, 100);
	assert_int_equal(obj_under_way, 0);
}

static void
what_waits_on_a_node_that_goes_is_released_once_and_counted_there(void **state)
{
	struct probe src = { .budget = 60 }, sink = { 0 };
	struct hy_graph *graph;
	hy_node_id id, again;

	RTE_SET_USED(state);
	id = cycle_add(&src, &sink);
	assert_int_equal(hy_node_lookup("again", &again), 0);
	turns = 1000;
	/* A burst of 10, and room for no more: what waits, waits on "turn". */
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 60, .max_sweeps = 1);
	hy_graph_walk(graph);
	assert_int_equal(graph_node(graph, "turn")->waiting, 60);
	/* src goes straight to the sink now; nothing else is left. */
	assert_int_equal(hy_node_lookup("src", &id), 0);
	assert_int_equal(hy_node_edge_set(id, 0, "sink"), 0);
	update(graph, NULL);
	assert_int_equal(obj_under_way, 60);
	src.budget = 7;
	hy_graph_walk(graph);
	assert_int_equal(obj_under_way, 0);
	assert_int_equal(sink.objs, 7);
	assert_int_equal(node_removed("turn"), 60);
	assert_int_equal(node_removed("again"), 0);
	assert_int_equal(node_removed("src"), 0);
	assert_int_equal(hy_node_unregister(again), 0);
	hy_graph_walk(graph);
	assert_int_equal(node_removed("turn"), 60);
}

/* src writes 3 values beside each object; each sink checks those that it knows. */
static uint16_t
lanes_make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = probe_make(probe_of(node), objs, n);

	for (uint16_t i = 0; i < made; i++) {
		const struct obj *obj = objs[i];

		for (unsigned int l = 0; l < 3; l++)
			hy_lane(graph, node, l)[i] = 1000 * (l + 1) + obj->id;
	}
	hy_stream_move(graph, node, 0, made);
	return made;
}

static const uint32_t *lanes_wanted; /* base of each of the reader's lanes; 0: the value is 0 */
static unsigned int lanes_read;

static uint16_t
lanes_check(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct obj *obj = objs[i];

		for (unsigned int l = 0; l < 3; l++) {
			const uint32_t base = lanes_wanted[l], got = hy_lane(graph, node, l)[i];

			obj_faults += got != (base == 0 ? 0 : base + obj->id);
			lanes_read++;
		}
	}
	return probe_sink(graph, node, objs, n);
}

/* Leaves 50 objects waiting at "turn", changes the graph's lanes, and reads three of them. */
static void
lanes_are_carried(const char *const before[HY_LANES_MAX], const char *const after[HY_LANES_MAX],
	const char *const reads[3], const uint32_t wanted[3])
{
	struct hy_graph_params params;
	struct hy_graph *graph;
	hy_node_id src, id;

	lanes_read = 0;
	lanes_wanted = wanted;
	src = NODE(&(struct probe){ .budget = 50 }, .name = "src", .flags = HY_NODE_SOURCE,
		.impl.process = lanes_make, .edges = { "turn" }, .lanes = { "a", "b", "c" });
	id = NODE(NULL, .name = "turn", .impl.process = turn, .edges = { "again", "out" });
	pass_add(NULL, "again", "turn");
	sink_add(NULL, "out");
	turns = 3;
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 50, .max_sweeps = 1,
		.lanes = { before[0], before[1], before[2], before[3] });
	hy_graph_walk(graph);
	assert_int_equal(graph_node(graph, "turn")->waiting, 50);
	/* Another source, which uses no lane, and a reader of those that are there now. */
	source_add(NULL, "src2", "turn");
	NODE(NULL, .name = "reader", .impl.process = lanes_check,
		.lanes = { reads[0], reads[1], reads[2] });
	assert_int_equal(hy_node_edge_set(id, 1, "reader"), 0);
	hy_graph_params_get(graph, &params);
	params.patterns = (const char *[]){ "src2" };
	for (unsigned int l = 0; l < HY_LANES_MAX; l++)
		params.lanes[l] = after[l];
	update(graph, &params);
	for (unsigned int i = 0; i < 8; i++)
		hy_graph_walk(graph);
	assert_int_equal(lanes_read, 150);
	assert_int_equal(obj_faults, 0);
	assert_int_equal(hy_node_unregister(src), 0);
	registry_clear();
}

static void
lanes_follow_their_names_when_others_come_go_or_change_places(void **state)
{
	RTE_SET_USED(state);
	/* All stay, in another order. */
	lanes_are_carried((const char *[]){ "a", "b", "c", NULL },
		(const char *[]){ "c", "a", "b", NULL }, (const char *[]){ "a", "b", "c" },
		(const uint32_t[]){ 1000, 2000, 3000 });
	/* Two go, two others come, whose values are 0. */
	lanes_are_carried((const char *[]){ "a", "b", "c", NULL },
		(const char *[]){ "new", "c", NULL, "other" },
		(const char *[]){ "other", "c", "new" }, (const uint32_t[]){ 0, 3000, 0 });
	/* Holes in the list mean nothing. */
	lanes_are_carried((const char *[]){ NULL, "c", "b", "a" },
		(const char *[]){ "a", NULL, "z", "b" }, (const char *[]){ "b", "z", "a" },
		(const uint32_t[]){ 2000, 0, 1000 });
}

/* A node that no reader was behind left values behind, when what it sent had to wait. */
static void
lanes_are_kept_for_readers_of_a_second_change(void **state)
{
	struct probe src = { .budget = 50 }, copies = { .copies = 2, .nb_edges = 1 };
	const uint32_t wanted[3] = { 1000, 2000, 3000 };
	const char *const lanes[] = { "a", "b", "c" };
	struct hy_graph_params params;
	struct hy_graph *graph;
	hy_node_id id, twice;

	RTE_SET_USED(state);
	lanes_read = 0;
	lanes_wanted = wanted;
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = lanes_make,
		.edges = { "turn" }, .lanes = { lanes[0], lanes[1], lanes[2] });
	id = NODE(NULL, .name = "turn", .impl.process = turn, .edges = { "again", "out" });
	pass_add(NULL, "again", "turn");
	sink_add(NULL, "out");
	turns = 3;
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 50, .max_sweeps = 1,
		.lanes = { lanes[0], lanes[1], lanes[2] });
	hy_graph_walk(graph);
	assert_int_equal(graph_node(graph, "turn")->waiting, 50);
	/* No cycle any more, and no reader; streams are too short for all copies at once. */
	twice = NODE(&copies, .name = "twice", .impl.process = probe_replicate, .replicates = 2,
		.edges = { "out" });
	assert_int_equal(hy_node_edge_set(id, 1, "twice"), 0);
	assert_int_equal(hy_node_edge_set(id, 0, "out"), 0);
	hy_graph_params_get(graph, &params);
	params.burst = 1;
	turns = 0;
	update(graph, &params);
	hy_graph_walk(graph);
	assert_int_equal(graph_node(graph, "twice")->waiting, 25);
	NODE(NULL, .name = "reader", .impl.process = lanes_check,
		.lanes = { lanes[0], lanes[1], lanes[2] });
	assert_int_equal(hy_node_edge_set(twice, 0, "reader"), 0);
	update(graph, NULL);
	for (unsigned int i = 0; i < 8; i++)
		hy_graph_walk(graph);
	assert_int_equal(lanes_read, 150);
	assert_int_equal(obj_faults, 0);
}

static void
the_burst_follows_at_run_time(void **state)
{
	static const uint16_t bursts[] = { 1, 256, 3, 255, 64, 2, 1, 17, 256 };
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;
	uint64_t objs = 0;

	RTE_SET_USED(state);
	turns = 4;
	cycle_add(&src, &sink);
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 32, .max_sweeps = 2);
	for (unsigned int i = 0; i < RTE_DIM(bursts); i++) {
		hy_graph_walk(graph);
		hy_graph_params_get(graph, &params);
		params.burst = bursts[i];
		update(graph, &params);
		assert_int_equal(hy_graph_burst(graph), bursts[i]);
		turns = 0; /* all that waits gets through, and walks are full */
		for (unsigned int walk = 0; walk < 300; walk++)
			hy_graph_walk(graph);
		src.most = sink.most = 0;
		hy_graph_walk(graph);
		assert_int_equal(src.most, bursts[i]);
		assert_int_equal(sink.most, bursts[i]);
		turns = 4;
		for (unsigned int walk = 0; walk < 5; walk++)
			hy_graph_walk(graph);
		assert_true(sink.objs > objs);
		objs = sink.objs;
	}
	src.budget = 0;
	for (unsigned int walk = 0; walk < 2000; walk++)
		hy_graph_walk(graph);
	assert_int_equal(sink.objs, obj_made);
	assert_int_equal(stream_full(graph), 0);
}

/* Every change of a graph with cycles took over the streams' length of the one before, for ever. */
static void
streams_are_as_short_as_can_be_once_what_was_carried_is_through(void **state)
{
	struct probe src = { .budget = 256 }, sink = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	turns = 2;
	cycle_add(&src, &sink);
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 256, .max_sweeps = 1);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 256);
	hy_graph_params_get(graph, &params);
	params.burst = 4;
	update(graph, &params);
	hy_graph_walk(graph);
	/* All 256 wait in the new graph. */
	update(graph, NULL);
	assert_int_equal(hy_graph_stream_capacity(graph), 256);
	for (unsigned int i = 0; i < 10; i++)
		hy_graph_walk(graph);
	assert_int_equal(sink.objs, 256);
	update(graph, NULL);
	assert_int_equal(hy_graph_stream_capacity(graph), 4);
	hy_graph_walk(graph);
	assert_int_equal(graph->plan.stream_cap, 4);
}

/* A cycle that always has objects stayed at the careful way of walking that a change begins with.
 */
static void
a_cycle_that_is_never_empty_walks_without_care_again(void **state)
{
	struct probe src = { .budget = UINT32_MAX, .per_call = 5 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	turns = 20;
	cycle_add(&src, &sink);
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 16, .max_sweeps = 1);
	for (unsigned int i = 0; i < 10; i++)
		hy_graph_walk(graph);
	update(graph, NULL);
	for (unsigned int i = 0; i < 100; i++) {
		hy_graph_walk(graph);
		assert_true(waiting(graph) > 0);
	}
	assert_true(graph->plan.cyclic);
	assert_false(graph->plan.throttled);
	assert_int_equal(stream_full(graph), 0);
}

static void
a_graph_that_loses_its_cycle_walks_in_one_pass_again(void **state)
{
	struct probe src = { .budget = 64 }, sink = { 0 };
	const hy_node_id id = cycle_add(&src, &sink);
	struct hy_graph *graph;

	RTE_SET_USED(state);
	turns = UINT32_MAX;
	graph = GRAPH("g", .patterns = ALL, .nb_patterns = 1, .burst = 64, .max_sweeps = 1);
	hy_graph_walk(graph);
	assert_true(graph->plan.cyclic);
	assert_int_equal(hy_node_edge_set(id, 0, "out"), 0);
	sink_add(NULL, "out");
	update(graph, NULL);
	hy_graph_walk(graph);
	assert_int_equal(waiting(graph), 0);
	assert_false(graph->plan.cyclic);
	assert_false(graph->plan.throttled);
	assert_int_equal(edge_objs(graph, "turn", 0), 64);
	hy_graph_walk(graph);
	assert_int_equal(obj_under_way, 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(what_waits_in_a_cycle_goes_on_in_order_after_a_change),
	GRAPH_TEST(what_waits_on_a_node_that_goes_is_released_once_and_counted_there),
	GRAPH_TEST(lanes_follow_their_names_when_others_come_go_or_change_places),
	GRAPH_TEST(lanes_are_kept_for_readers_of_a_second_change),
	GRAPH_TEST(the_burst_follows_at_run_time),
	GRAPH_TEST(streams_are_as_short_as_can_be_once_what_was_carried_is_through),
	GRAPH_TEST(a_cycle_that_is_never_empty_walks_without_care_again),
	GRAPH_TEST(a_graph_that_loses_its_cycle_walks_in_one_pass_again),
};

UNIT_SUITE(tests)
