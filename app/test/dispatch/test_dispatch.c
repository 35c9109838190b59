/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph over several workers, whose walks one thread makes by turns. */

#include <errno.h>
#include <string.h>

#include <hy_capture.h>

#include "dispatch_fixture.h"

#define WIDE \
	{ "ip6", 16 }, \
	{ \
		"key", 64 \
	}
#define WIDE_PARAMS .wide = (const struct hy_wide_lane[]){ WIDE }, .nb_wide = 2

/* A value of a wide lane: words that all tell the object and their place. */
static void
wide_write(const struct hy_graph *graph, const struct hy_node *node, unsigned int l, unsigned int i,
	uint32_t id)
{
	const unsigned int words = l == 0 ? 4 : 16;
	uint32_t *value = (uint32_t *)hy_lane_wide(graph, node, l) + (size_t)i * words;

	for (unsigned int w = 0; w < words; w++)
		value[w] = id * 1000 + 100 * l + w;
}

static bool
wide_is(const struct hy_graph *graph, const struct hy_node *node, unsigned int l, unsigned int i,
	uint32_t id)
{
	const unsigned int words = l == 0 ? 4 : 16;
	const uint32_t *value = (const uint32_t *)hy_lane_wide(graph, node, l) + (size_t)i * words;
	bool same = true;

	for (unsigned int w = 0; w < words; w++)
		same = same && value[w] == id * 1000 + 100 * l + w;
	return same;
}

static uint16_t
lane_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = probe_make(probe_of(node), objs, n);

	for (uint16_t i = 0; i < made; i++) {
		const uint32_t id = ((struct obj *)objs[i])->id;

		hy_lane(graph, node, 0)[i] = ~id;
		hy_lane(graph, node, 1)[i] = 3 * id;
		wide_write(graph, node, 0, i, id);
		wide_write(graph, node, 1, i, id);
	}
	hy_stream_move(graph, node, 0, made);
	return made;
}

static uint32_t lane_next; /* the id that comes next */

static uint16_t
lane_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t id = ((struct obj *)objs[i])->id;

		obj_faults += id != lane_next++ || hy_lane(graph, node, 0)[i] != 3 * id ||
			hy_lane(graph, node, 1)[i] != ~id || !wide_is(graph, node, 0, i, id) ||
			!wide_is(graph, node, 1, i, id);
	}
	return probe_sink(graph, node, objs, n);
}

/* Over the end of the ring too: rte_graph does not mask the index behind a hand-over. */
static void
bursts_go_over_in_order_with_their_lanes(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 };

	RTE_SET_USED(state);
	lane_next = 0;
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = lane_source,
		.edges = { "sink" }, .lanes = { "a", "b" }, .wide = { WIDE });
	NODE(&sink, .name = "sink", .impl.process = lane_sink, .lanes = { "b", "a" },
		.wide = { WIDE });
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .lanes = { "a", "b" }, WIDE_PARAMS),
		.nb_workers = 2, .ring_bursts = 3, PINS({ "sink", WORKERS(1) }));
	/* Parts of bursts, so that they lie across the ring's end. */
	for (unsigned int i = 0; i < 100; i++) {
		src.per_call = (uint16_t)(1 + i % BURST);
		assert_int_equal(walk(0), src.per_call);
		walk(1);
	}
	while (walk(1) > 0)
		;
	assert_int_equal(sink.objs, obj_made);
	assert_int_equal(lane_next, obj_made);
	assert_true(obj_made > 400);
}

static void
nodes_run_where_pins_and_parents_say(void **state)
{
	struct hy_node *node;

	RTE_SET_USED(state);
	chain_add();
	source_add(NULL, "src2", "sink");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 99), .nb_workers = 3,
		PINS({ "work", WORKERS(1) }, { "w*", WORKERS(2) }, { "src2", WORKERS(2) }));
	/* Worker 0: src; the handoff; what that may drop to. */
	assert_int_equal(hy_graph_node_count(hy_dispatch_graph(dispatch, 0)), 3);
	graph_node(hy_dispatch_graph(dispatch, 0), "d-out-work");
	assert_int_equal(hy_graph_node_count(hy_dispatch_graph(dispatch, 1)), 3);
	graph_node(hy_dispatch_graph(dispatch, 1), "d-in-work");
	graph_node(hy_dispatch_graph(dispatch, 1), "sink");
	assert_int_equal(hy_graph_node_count(hy_dispatch_graph(dispatch, 2)), 2);
	graph_node(hy_dispatch_graph(dispatch, 2), "sink");
	assert_int_equal(hy_graph_node(hy_dispatch_graph(dispatch, 2), "work", &node), -ENOENT);
	assert_int_equal(hy_graph_worker(hy_dispatch_graph(dispatch, 2)), 2);
	assert_null(hy_dispatch_graph(dispatch, 3));
}

static void
a_worker_without_a_node_walks_in_vain(void **state)
{
	RTE_SET_USED(state);
	chain_add();
	rig.src.budget = 5;
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2);
	assert_int_equal(walk(1), 0);
	assert_int_equal(walk(0), 5);
	assert_int_equal(rig.sink.objs, 5);
}

/* rte_graph spins until a full ring has room, for ever if need be. */
static void
a_full_ring_holds_the_source_back_and_is_counted(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t bursts = 1; bursts <= 4; bursts *= 2) {
		const uint32_t room = bursts * BURST;

		chain_add();
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2,
			.ring_bursts = bursts, PINS({ "work", WORKERS(1) }));
		/* Ten times as much as the ring takes, and none lost. */
		for (unsigned int i = 0; i < 10 * bursts; i++)
			assert_int_equal(walk(0), i < bursts ? BURST : 0);
		assert_int_equal(rig.src.calls, bursts);
		assert_int_equal(counted("d-out-work", "held_back"), 9 * bursts);
		assert_int_equal(rig.work.objs, 0);
		assert_int_equal(walk(1), BURST);
		assert_int_equal(rig.sink.objs, BURST);
		assert_int_equal(walk(0), BURST);
		assert_int_equal(walk(0), 0);
		assert_int_equal(counted("d-out-work", "ring_full"), 0);
		assert_int_equal(hy_dispatch_destroy(dispatch), room);
		dispatch = NULL;
		assert_int_equal(obj_under_way, 0);
		assert_int_equal(rig.gone.objs, 0);
		registry_clear();
	}
}

static size_t
copy_nothing(const void *obj, struct hy_capture_record *record, size_t size)
{
	RTE_SET_USED(obj);
	RTE_SET_USED(size);
	record->length = 0;
	record->origin = 0;
	return 0;
}

static void
walks_held_back_are_counted_while_their_node_is_captured(void **state)
{
	static const struct hy_object_ops ops = { .release = obj_release, .copy = copy_nothing };
	const struct hy_capture_point at = { .node = "d-out-work" };
	const struct hy_capture_params capture = { .points = &at, .nb_points = 1 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops, .worker = 0), .nb_workers = 2, .ring_bursts = 1,
		PINS({ "work", WORKERS(1) }));
	graph = hy_dispatch_graph(dispatch, 0);
	assert_int_equal(walk(0), BURST);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(walk(0), 0);
	assert_int_equal(counted("d-out-work", "held_back"), 4);
	assert_int_equal(hy_capture_start(graph, &capture), 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(walk(0), 0);
	assert_int_equal(counted("d-out-work", "held_back"), 9);
	hy_capture_stop(graph);
	assert_int_equal(walk(0), 0);
	assert_int_equal(counted("d-out-work", "held_back"), 10);
}

static void
a_source_makes_no_more_than_what_the_ring_still_takes(void **state)
{
	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2,
		.ring_bursts = 1, PINS({ "work", WORKERS(1) }));
	rig.src.per_call = 5;
	assert_int_equal(walk(0), 5);
	assert_int_equal(walk(0), 3);
	assert_int_equal(rig.src.most, 5);
	assert_int_equal(walk(0), 0);
	assert_int_equal(walk(1), BURST);
}

static void
a_source_that_reaches_no_ring_is_never_held_back(void **state)
{
	struct probe other = { .budget = UINT32_MAX };

	RTE_SET_USED(state);
	chain_add();
	source_add(&other, "src2", "sink");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2,
		.ring_bursts = 1, PINS({ "work", WORKERS(1) }));
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(walk(0), i == 0 ? 2 * BURST : BURST);
	assert_int_equal(other.objs, 20 * BURST);
}

static void
replicas_are_given_room_for(void **state)
{
	RTE_SET_USED(state);
	memset(&rig, 0, sizeof(rig));
	rig.src.budget = UINT32_MAX;
	rig.work.copies = 3;
	rig.work.nb_edges = 1;
	source_add(&rig.src, "src", "work");
	NODE(&rig.work, .name = "work", .impl.process = probe_replicate, .edges = { "sink" },
		.replicates = 3);
	sink_add(&rig.sink, "sink");
	sink_add(&rig.gone, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2,
		.ring_bursts = 2, PINS({ "sink", WORKERS(1) }));
	/* 16 objects: five of one source, of three each. */
	assert_int_equal(walk(0), 5);
	assert_int_equal(walk(0), 0);
	for (unsigned int i = 0; i < 100; i++) {
		walk(1);
		walk(0);
	}
	while (walk(1) > 0)
		;
	assert_int_equal(rig.sink.objs, 3 * rig.src.objs);
	assert_true(rig.src.objs > 200);
	assert_int_equal(rig.gone.objs, 0);
}

/* Where each flow was seen, and whether it is in order there. */
static struct {
	struct hy_graph *graph;
	uint32_t last;
} flows[13];

static uint16_t
flow_sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t id = ((struct obj *)objs[i])->id, f = id % 13;

		obj_faults += flows[f].graph != NULL &&
			(flows[f].graph != graph || flows[f].last >= id);
		obj_faults += hy_lane(graph, node, 0)[i] != 3 * id ||
			!wide_is(graph, node, 1, i, id);
		flows[f].graph = graph;
		flows[f].last = id;
	}
	return probe_sink(graph, node, objs, n);
}

static void
a_flow_stays_on_one_of_several_workers_in_order(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int inside = 0; inside < 2; inside++) {
		struct probe src = { .budget = 5000 }, sink = { 0 };
		static const uint16_t workers[2][2] = { { 1, 2 }, { 0, 1 } };
		const struct hy_dispatch_pin pin = { "sink", workers[inside], 2 };
		unsigned int at[3] = { 0 };

		memset(flows, 0, sizeof(flows));
		NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = lane_source,
			.edges = { "sink" }, .lanes = { "x", "y" }, .wide = { WIDE });
		NODE(&sink, .name = "sink", .impl.process = flow_sink, .lanes = { "y" },
			.wide = { WIDE });
		sink_add(NULL, "gone");
		DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .lanes = { "x", "y" },
				 WIDE_PARAMS),
			.nb_workers = 3, .pins = &pin, .nb_pins = 1, .ring_bursts = 2);
		for (unsigned int i = 0; sink.objs < 5000 && i < 20000; i++)
			walk((uint16_t)(i % 3));
		assert_int_equal(sink.objs, 5000);
		for (unsigned int f = 0; f < 13; f++)
			at[hy_graph_worker(flows[f].graph)]++;
		/* 13 flows over two workers, none of them on the third. */
		assert_int_equal(at[inside == 1 ? 2 : 0], 0);
		assert_true(at[1] > 0 && at[1] < 13);
		hy_dispatch_destroy(dispatch);
		dispatch = NULL;
		registry_clear();
		obj_made = 0;
	}
}

static uint64_t hashed;

/* As a hash of what nodes write: it has another value each time. */
static void
fickle_flow(void *const *objs, uint32_t *hash, unsigned int n)
{
	RTE_SET_USED(objs);
	for (unsigned int i = 0; i < n; i++)
		hash[i] = (uint32_t)hashed++;
}

static void
what_was_handed_over_is_not_hashed_and_sent_on_again(void **state)
{
	static const struct hy_object_ops ops = { .release = obj_release,
		.flow_hash = fickle_flow };
	struct probe src0 = { .budget = 1000 }, src1 = { .budget = 1000 }, sink = { 0 };

	RTE_SET_USED(state);
	hashed = 0;
	source_add(&src0, "src0", "sink");
	source_add(&src1, "src1", "sink");
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &ops), .nb_workers = 2, .ring_bursts = 1,
		PINS({ "src1", WORKERS(1) }, { "sink", WORKERS(0, 1) }));
	for (unsigned int i = 0; i < 4000; i++)
		walk(i % 2);
	assert_int_equal(src0.objs + src1.objs, 2000);
	assert_int_equal(sink.objs, 2000);
	assert_int_equal(hashed, 2000);
	assert_int_equal(counted("d-split-sink", "ring_full"), 0);
}

static void
a_chain_to_and_fro_loses_nothing_however_short_the_rings(void **state)
{
	static const uint16_t starve[] = { 0, 0, 0, 1, 0, 1, 1, 0 };
	struct probe sink = { 0 }, src = { .budget = 3000 };

	RTE_SET_USED(state);
	source_add(&src, "src", "n1");
	pass_add(NULL, "n1", "n2");
	pass_add(NULL, "n2", "n3");
	pass_add(NULL, "n3", "n4");
	pass_add(NULL, "n4", "sink");
	sink_add(&sink, "sink");
	sink_add(&rig.gone, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2,
		.ring_bursts = 1, PINS({ "n[24]", WORKERS(1) }, { "n[13]", WORKERS(0) }));
	for (unsigned int i = 0; sink.objs < 3000 && i < 20000; i++)
		walk(starve[i % RTE_DIM(starve)]);
	assert_int_equal(sink.objs, 3000);
	assert_int_equal(counted("d-out-n2", "ring_full"), 0);
	assert_int_equal(counted("d-out-n3", "ring_full"), 0);
	assert_int_equal(counted("d-out-n4", "ring_full"), 0);
}

/* To edge 1 after so many hops. */
static uint16_t
hop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++)
		next[i] = ++((struct obj *)objs[i])->hops >= 20;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* Rings in a circle could all be full, and wait for one another. */
static void
pins_that_make_a_cycle_cross_workers_are_refused_by_name(void **state)
{
	static const uint16_t zero[] = { 0 }, one[] = { 1 };
	const struct hy_dispatch_pin across[] = { { "a", zero, 1 }, { "b", one, 1 } };
	const struct hy_dispatch_pin together[] = { { "a", one, 1 }, { "b", one, 1 } };
	struct probe src = { .budget = 4000 }, a = { 0 }, b = { 0 }, sink = { 0 }, gone = { 0 };
	const struct hy_dispatch_params params = { .graph = CHAIN_PARAMS(.ops = &flow_ops),
		.nb_workers = 2,
		.pins = across,
		.nb_pins = 2 };
	struct hy_dispatch *none = NULL;

	RTE_SET_USED(state);
	source_add(&src, "src", "a");
	NODE(&a, .name = "a", .impl.process = hop, .edges = { "b", "sink" });
	NODE(&b, .name = "b", .impl.process = hop, .edges = { "a", "sink" });
	sink_add(&sink, "sink");
	sink_add(&gone, "gone");
	unit_log_clear();
	assert_int_equal(hy_dispatch_create("d", &params, &none), -EINVAL);
	assert_null(none);
	assert_int_equal(unit_log_lines(), 1);
	assert_non_null(strstr(unit_log(), "a cycle by 'b' that crosses workers"));

	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .pins = together,
		.nb_pins = 2);
	unit_log_clear();
	assert_int_equal(hy_dispatch_pin(dispatch, across, 2), -EINVAL);
	assert_int_equal(unit_log_lines(), 1);
	for (unsigned int i = 0; i < 10000 && sink.objs < 4000; i++)
		walk(i % 2);
	assert_int_equal(sink.objs, 4000); /* all goes on as before */
	assert_int_equal(a.objs + b.objs, 20 * 4000);
	assert_int_equal(gone.objs, 0);
}

static void
pins_change_between_walks(void **state)
{
	static const uint16_t one[] = { 1 }, two[] = { 2 };
	const struct hy_dispatch_pin second = { "work", two, 1 }, first = { "work", one, 1 };

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 3,
		.pins = &first, .nb_pins = 1);
	for (unsigned int round = 0; round < 6; round++) {
		const struct hy_dispatch_pin *pin = round % 3 == 0 ? &second : &first;
		const uint64_t before = rig.work.objs;

		assert_int_equal(walk(0), BURST);
		walk(1);
		walk(2);
		assert_int_equal(rig.sink.objs, (2 * round + 1) * BURST);
		for (uint16_t w = 0; w < 3; w++)
			hy_graph_rest(hy_dispatch_graph(dispatch, w));
		assert_int_equal(hy_dispatch_pin(dispatch, pin, round % 3 == 2 ? 0 : 1), 0);
		assert_int_equal(walk(0), BURST);
		assert_int_equal(rig.work.objs, before + BURST + (round % 3 == 2 ? BURST : 0));
		assert_int_equal(walk(1), round % 3 == 1 ? BURST : 0);
		assert_int_equal(walk(2), round % 3 == 0 ? BURST : 0);
		assert_int_equal(rig.sink.objs, (2 * round + 2) * BURST);
	}
	for (uint16_t w = 0; w < 3; w++)
		assert_false(hy_graph_updating(hy_dispatch_graph(dispatch, w)));
	assert_int_equal(rig.work.inits - rig.work.finis, 1);
}

static void
pins_stay_where_objects_do_not_come_through(void **state)
{
	static const uint16_t zero[] = { 0 };
	const struct hy_dispatch_pin pin = { "work", zero, 1 };

	RTE_SET_USED(state);
	chain_add();
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .worker = 0), .nb_workers = 2,
		.patience_ms = 5, PINS({ "work", WORKERS(1) }));
	walk(0);
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	/* Worker 1 rests, and objects wait for it. */
	unit_log_clear();
	assert_int_equal(hy_dispatch_pin(dispatch, &pin, 1), -ETIMEDOUT);
	assert_non_null(strstr(unit_log(), "within 5 ms"));
	assert_int_equal(walk(1), BURST);
	assert_int_equal(rig.sink.objs, BURST);
	assert_int_equal(walk(0), BURST); /* nobody is on hold */
	assert_int_equal(rig.work.objs, BURST);
	walk(1);
	/* Worker 1 neither walks nor rests. */
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	assert_int_equal(hy_dispatch_pin(dispatch, &pin, 1), -ETIMEDOUT);
	hy_graph_rest(hy_dispatch_graph(dispatch, 1));
	assert_int_equal(hy_dispatch_pin(dispatch, &pin, 1), 0);
	walk(0);
	assert_int_equal(rig.sink.objs, 3 * BURST);
}

static const struct CMUnitTest tests[] = {
	DISPATCH_TEST(bursts_go_over_in_order_with_their_lanes),
	DISPATCH_TEST(nodes_run_where_pins_and_parents_say),
	DISPATCH_TEST(a_worker_without_a_node_walks_in_vain),
	DISPATCH_TEST(a_full_ring_holds_the_source_back_and_is_counted),
	DISPATCH_TEST(walks_held_back_are_counted_while_their_node_is_captured),
	DISPATCH_TEST(a_source_makes_no_more_than_what_the_ring_still_takes),
	DISPATCH_TEST(a_source_that_reaches_no_ring_is_never_held_back),
	DISPATCH_TEST(replicas_are_given_room_for),
	DISPATCH_TEST(a_flow_stays_on_one_of_several_workers_in_order),
	DISPATCH_TEST(what_was_handed_over_is_not_hashed_and_sent_on_again),
	DISPATCH_TEST(a_chain_to_and_fro_loses_nothing_however_short_the_rings),
	DISPATCH_TEST(pins_that_make_a_cycle_cross_workers_are_refused_by_name),
	DISPATCH_TEST(pins_change_between_walks),
	DISPATCH_TEST(pins_stay_where_objects_do_not_come_through),
};

UNIT_SUITE(tests)
