/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of a graph over several workers get on wherever there is room, and all that is under way
 * can be waited for. */

#include <errno.h>
#include <pthread.h>

#include <hy_arc.h>

#include "dispatch_fixture.h"

#define OBJS 4000

static uint16_t
first_edge(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	probe_hit(node, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static void
walk_by_turns(void)
{
	for (uint16_t i = 0; i < 20000; i++)
		walk(i % 2);
}

static void
a_node_that_replicates_less_than_it_may_holds_no_source_back(void **state)
{
	struct probe src = { .budget = OBJS }, a = { 0 }, sink = { 0 };

	RTE_SET_USED(state);
	source_add(&src, "src", "a");
	NODE(&a, .name = "a", .impl.process = first_edge, .edges = { "sink" }, .replicates = 12);
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .ring_bursts = 2,
		PINS({ "sink", WORKERS(1) }));
	walk_by_turns();
	assert_int_equal(sink.objs, OBJS);
}

/* Sends all along the edge that its probe's arg points to. */
static uint16_t
chosen_edge(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t *edge = probe_hit(node, n)->arg;

	RTE_SET_USED(objs);
	hy_stream_move(graph, node, *edge, n);
	return n;
}

static void
objects_in_a_cycle_have_room_kept_in_half_of_a_ring(void **state)
{
	uint16_t edge = 0;
	struct probe src1 = { .budget = BURST }, src2 = { 0 }, fork = { .arg = &edge };
	struct probe sink = { 0 };

	RTE_SET_USED(state);
	source_add(&src1, "src1", "fork");
	source_add(&src2, "src2", "sink");
	NODE(&fork, .name = "fork", .impl.process = chosen_edge, .edges = { "back", "sink" });
	pass_add(NULL, "back", "fork");
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .ring_bursts = 1,
		PINS({ "sink", WORKERS(1) }));
	assert_int_equal(walk(0), BURST); /* which go round from now on */
	src2.budget = BURST;
	assert_int_equal(walk(0), BURST / 2);
	edge = 1;
	walk(0);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(counted("d-out-sink", "ring_full"), BURST / 2);
	assert_int_equal(sink.objs, BURST);
}

/* Together 2^42 times; more than a ring holds counts as just that, 2^18 here. */
static void
objects_that_may_become_more_than_a_ring_holds_are_given_an_empty_one(void **state)
{
	static const char *const names[] = { "a", "b", "c", "sink" };
	struct probe src = { .budget = UINT32_MAX };
	const struct hy_graph_params params = { .patterns = src_only,
		.nb_patterns = 1,
		.ops = &flow_ops,
		.drop_node = "gone",
		.burst = HY_BURST_MAX };

	RTE_SET_USED(state);
	source_add(&src, "src", "a");
	for (unsigned int i = 0; i < 3; i++)
		NODE(NULL, .name = names[i], .impl.process = probe_pass, .edges = { names[i + 1] },
			.replicates = 16384);
	sink_add(NULL, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = &params, .nb_workers = 2, .ring_bursts = 1024,
		PINS({ "sink", WORKERS(1) }));
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(walk(0), 1);
		assert_int_equal(walk(0), 0);
		assert_int_equal(walk(1), 1);
	}
}

static void
what_waiting_objects_become_has_room_kept(void **state)
{
	uint16_t edge = 0;
	struct probe src1 = { .budget = BURST }, src2 = { 0 }, fork = { .arg = &edge };
	struct probe many = { .copies = 4, .nb_edges = 1 }, sink = { 0 };

	RTE_SET_USED(state);
	source_add(&src1, "src1", "fork");
	source_add(&src2, "src2", "sink");
	NODE(&fork, .name = "fork", .impl.process = chosen_edge, .edges = { "back", "many" });
	pass_add(NULL, "back", "fork");
	NODE(&many, .name = "many", .impl.process = probe_replicate, .edges = { "sink" },
		.replicates = 4);
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .ring_bursts = 8,
		PINS({ "sink", WORKERS(1) }));
	assert_int_equal(walk(0), BURST); /* which go round from now on */
	src2.budget = UINT32_MAX;
	for (unsigned int i = 0; i < 20; i++)
		walk(0);
	assert_int_equal(src2.objs, 4 * BURST);
	edge = 1;
	walk(0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(walk(1), BURST);
	assert_int_equal(sink.objs, 8 * BURST);
	assert_int_equal(counted("d-out-sink", "ring_full"), 0);
}

static uint64_t featured;

static int
feature_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	return hy_arc_join(graph, node, 0, node->ctx);
}

static uint16_t
feature(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	featured += n;
	hy_arc_next(graph, node, node->ctx, objs, n);
	return n;
}

static void
index_of(void *const objs[], uint32_t index[], uint16_t n)
{
	RTE_SET_USED(objs);
	for (uint16_t i = 0; i < n; i++)
		index[i] = 0;
}

/* A feature that sends all along its own edge. */
static uint16_t
feature_away(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	featured += n;
	hy_enqueue(graph, node, 0, objs, n);
	return n;
}

/* An arc that ends at "sink", with one feature; edge may be NULL. */
static struct hy_arc *
arc_add(hy_node_process_t *process, const char *edge)
{
	const struct hy_arc_feature desc = { .arc = "arc", .node = "feature" };
	const struct hy_arc_params params = {
		.end = "sink", .index = index_of, .socket = SOCKET_ID_ANY
	};
	struct hy_arc *arc;

	featured = 0;
	NODE(NULL, .name = "feature",
		.impl = { .process = process,
			.init = feature_init,
			.ctx_size = sizeof(struct hy_arc_place) },
		.edges = { edge }, .lanes = { HY_ARC_LANE });
	assert_int_equal(hy_arc_feature_register(&desc), 0);
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	return arc;
}

static void
arc_remove(struct hy_arc *arc)
{
	hy_dispatch_destroy(dispatch);
	dispatch = NULL;
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister("feature"), 0);
}

static void
an_arc_to_a_node_of_several_workers_is_taken_once(void **state)
{
	struct probe src = { .budget = OBJS }, sink = { 0 };
	struct hy_arc *arc;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	arc = arc_add(feature, NULL);
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .lanes = { HY_ARC_LANE }), .nb_workers = 2,
		.ring_bursts = 2, PINS({ "sink", WORKERS(0, 1) }));
	assert_int_equal(hy_arc_enable(arc, "feature", 0, 7), 0);
	walk_by_turns();
	assert_int_equal(sink.objs, OBJS);
	assert_int_equal(featured, OBJS);
	arc_remove(arc);
}

static void
a_pinned_node_stays_pinned_where_a_feature_leads_to_it(void **state)
{
	struct probe src = { .budget = OBJS }, spread = { .nb_edges = 2 };
	struct probe sink = { 0 }, other = { 0 };
	const struct hy_dispatch_pin pins[] = { { "sink", WORKERS(1) }, { "other", WORKERS(0) } };
	struct hy_node *node;
	struct hy_arc *arc;

	RTE_SET_USED(state);
	source_add(&src, "src", "spread");
	NODE(&spread, .name = "spread", .impl.process = probe_spread, .edges = { "sink", "other" });
	sink_add(&sink, "sink");
	sink_add(&other, "other");
	sink_add(NULL, "gone");
	arc = arc_add(feature_away, "other");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .lanes = { HY_ARC_LANE }), .nb_workers = 2,
		.ring_bursts = 2, .pins = pins, .nb_pins = RTE_DIM(pins));
	assert_int_equal(hy_arc_enable(arc, "feature", 0, 7), 0);
	/* Once with the feature enabled since, and once pinned with it. */
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(hy_graph_node(hy_dispatch_graph(dispatch, 0), "other", &node), 0);
		assert_int_equal(hy_graph_node(hy_dispatch_graph(dispatch, 1), "other", &node),
			-ENOENT);
		src.budget = OBJS;
		walk_by_turns();
		assert_int_equal(featured, (i + 1) * OBJS / 2);
		assert_int_equal(other.objs, (i + 1) * OBJS);
		for (uint16_t w = 0; w < 2; w++)
			hy_graph_rest(hy_dispatch_graph(dispatch, w));
		assert_int_equal(hy_dispatch_pin(dispatch, pins, RTE_DIM(pins)), 0);
	}
	assert_int_equal(sink.objs, 0);
	arc_remove(arc);
}

static void
a_feature_is_given_no_more_than_its_own_edges_have_room_for(void **state)
{
	struct probe src = { .budget = OBJS }, src2 = { 0 }, sink = { 0 }, other = { 0 };
	const uint32_t in_rings = 2 * 2 * BURST;
	struct hy_arc *arc;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	source_add(&src2, "src2", "other");
	sink_add(&sink, "sink");
	sink_add(&other, "other");
	sink_add(NULL, "gone");
	arc = arc_add(feature_away, "other");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .lanes = { HY_ARC_LANE }), .nb_workers = 3,
		.ring_bursts = 2,
		PINS({ "sink", WORKERS(1) }, { "src2", WORKERS(1) }, { "other", WORKERS(2) }));
	assert_int_equal(hy_arc_enable(arc, "feature", 0, 7), 0);
	walk_by_turns();
	assert_int_equal(OBJS - src.budget, in_rings); /* worker 2 takes none */
	assert_int_equal(featured, in_rings / 2);
	while (walk(0) + walk(1) + walk(2) > 0)
		;
	assert_int_equal(other.objs, OBJS);
	assert_int_equal(counted("d-out-other", "ring_full"), 0);
	arc_remove(arc);
}

static void
a_pin_of_a_feature_is_refused(void **state)
{
	const struct hy_dispatch_pin pins[] = { { "feature", WORKERS(0) } };
	struct probe src = { .budget = OBJS };
	struct hy_arc *arc;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	sink_add(NULL, "gone");
	arc = arc_add(feature, NULL);
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops, .lanes = { HY_ARC_LANE }),
		.nb_workers = 2);
	for (uint16_t w = 0; w < 2; w++)
		hy_graph_rest(hy_dispatch_graph(dispatch, w));
	assert_int_equal(hy_dispatch_pin(dispatch, pins, 1), -EINVAL);
	assert_non_null(strstr(unit_log(), "no node that can be pinned matches"));
	arc_remove(arc);
}

static void
what_is_under_way_can_be_waited_for(void **state)
{
	struct probe src = { .budget = BURST }, sink = { 0 };

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .patience_ms = 1,
		PINS({ "sink", WORKERS(1) }));
	assert_int_equal(hy_dispatch_drain(dispatch), 0);
	assert_int_equal(walk(0), BURST);
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	unit_log_clear();
	assert_int_equal(hy_dispatch_drain(dispatch), -ETIMEDOUT);
	assert_non_null(strstr(unit_log(), "workers were not through within 1 ms"));
	assert_int_equal(walk(1), BURST);
	hy_graph_rest(hy_dispatch_graph(dispatch, 1));
	assert_int_equal(hy_dispatch_drain(dispatch), 0);
	assert_int_equal(sink.objs, BURST);
	/* And the source may go on. */
	src.budget += BURST;
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), BURST);
}

static void
a_worker_takes_what_it_knows_of_before_it_looks_again(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 };

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .ring_bursts = 4,
		PINS({ "sink", WORKERS(1) }));
	assert_int_equal(walk(0), BURST);
	src.per_call = 3;
	assert_int_equal(walk(0), 3);
	assert_int_equal(walk(1), BURST); /* and has seen three more */
	src.per_call = BURST;
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(1), 3);
	assert_int_equal(walk(1), BURST);
	assert_int_equal(walk(1), 0);
	assert_int_equal(sink.objs, 2 * BURST + 3);
}

static bool stop;

static int drained; /* 1: not yet */

static void *
drain(void *arg)
{
	RTE_SET_USED(arg);
	__atomic_store_n(&drained, hy_dispatch_drain(dispatch), __ATOMIC_RELEASE);
	return NULL;
}

/* Has its burst in hand until the thread that its probe's arg points to is over. */
static uint16_t
sink_late(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const pthread_t *thread = probe_of(node)->arg;

	if (thread != NULL)
		pthread_join(*thread, NULL);
	return probe_sink(graph, node, objs, n);
}

static void
what_a_walk_has_in_hand_is_under_way(void **state)
{
	struct probe src1 = { .budget = 2 * BURST }, src2 = { 0 }, late = { 0 }, near = { 0 };
	pthread_t thread;
	uint64_t calls;

	RTE_SET_USED(state);
	source_add(&src1, "src1", "late");
	source_add(&src2, "src2", "near");
	NODE(&late, .name = "late", .impl.process = sink_late);
	sink_add(&near, "near");
	sink_add(NULL, "gone");
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .patience_ms = 200,
		PINS({ "late", WORKERS(1) }));
	assert_int_equal(walk(0), BURST);
	assert_int_equal(walk(0), BURST);
	drained = 1;
	assert_int_equal(pthread_create(&thread, NULL, drain, NULL), 0);
	do {
		calls = src2.calls;
		walk(0);
	} while (src2.calls > calls && __atomic_load_n(&drained, __ATOMIC_ACQUIRE) == 1);
	/* Sources are held. */
	hy_graph_rest(hy_dispatch_graph(dispatch, 0));
	assert_int_equal(walk(1), BURST); /* follows the order */
	late.arg = &thread;
	assert_int_equal(walk(1), BURST); /* has seen it before, and has what was in the ring */
	assert_int_equal(drained, -ETIMEDOUT);
	assert_int_equal(late.objs, 2 * BURST);
}

#define SPOKES 32

static void
spoke_name(char *name, unsigned int i)
{
	snprintf(name, HY_NAME_SIZE, "spoke%u", i);
}

/* Adds edges to a node, and takes them away again. */
static void *
edges_flicker(void *id)
{
	char name[HY_NAME_SIZE];

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < SPOKES; i++) {
			spoke_name(name, i);
			hy_node_edge_add(*(hy_node_id *)id, name, NULL);
		}
		hy_node_edge_shrink(*(hy_node_id *)id, 1);
	}
	return NULL;
}

static void
edges_that_come_and_go_have_no_pin_refused(void **state)
{
	const struct hy_dispatch_pin pins[] = { { "sink", WORKERS(1) } };
	struct probe src = { 0 };
	unsigned int pinned = 0;
	char name[HY_NAME_SIZE];
	pthread_t thread;
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	sink_add(NULL, "gone");
	for (unsigned int i = 0; i < SPOKES; i++) {
		spoke_name(name, i);
		sink_add(NULL, name);
	}
	assert_int_equal(hy_node_lookup("src", &id), 0);
	DISPATCH(.graph = CHAIN_PARAMS(.ops = &flow_ops), .nb_workers = 2, .pins = pins,
		.nb_pins = 1);
	for (uint16_t w = 0; w < 2; w++)
		hy_graph_rest(hy_dispatch_graph(dispatch, w));
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, edges_flicker, &id), 0);
	for (unsigned int i = 0; i < 5000; i++)
		pinned += hy_dispatch_pin(dispatch, pins, 1) == 0;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pinned, 5000);
}

static const struct CMUnitTest tests[] = {
	DISPATCH_TEST(a_node_that_replicates_less_than_it_may_holds_no_source_back),
	DISPATCH_TEST(objects_in_a_cycle_have_room_kept_in_half_of_a_ring),
	DISPATCH_TEST(objects_that_may_become_more_than_a_ring_holds_are_given_an_empty_one),
	DISPATCH_TEST(what_waiting_objects_become_has_room_kept),
	DISPATCH_TEST(an_arc_to_a_node_of_several_workers_is_taken_once),
	DISPATCH_TEST(a_pinned_node_stays_pinned_where_a_feature_leads_to_it),
	DISPATCH_TEST(a_feature_is_given_no_more_than_its_own_edges_have_room_for),
	DISPATCH_TEST(a_pin_of_a_feature_is_refused),
	DISPATCH_TEST(what_is_under_way_can_be_waited_for),
	DISPATCH_TEST(a_worker_takes_what_it_knows_of_before_it_looks_again),
	DISPATCH_TEST(what_a_walk_has_in_hand_is_under_way),
	DISPATCH_TEST(edges_that_come_and_go_have_no_pin_refused),
};

UNIT_SUITE(tests)
