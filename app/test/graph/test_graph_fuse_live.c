/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusions that come and go, changes that part a chain, and what looks at one. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "arc_fixture.h"
#include "capture_fixture.h"
#include "fuse_fixture.h"
#include "lib/graph/registry/registry.h"
#include "trace_fixture.h"

static struct hy_graph *
graph_start(struct fuse_rig with)
{
	rig = with;
	rig.targets = 3;
	fuse_nodes_add();
	return FUSE_GRAPH(.burst = 16, .ops = &capture_ops);
}

static void
expect_all_arrived(void)
{
	uint64_t arrived = 0;

	for (unsigned int e = 0; e < FUSE_ENDS; e++)
		arrived += rig.end[e].objs;
	assert_int_equal(arrived, obj_made);
	assert_int_equal(obj_faults + obj_under_way, 0);
}

/* Updates, walks, and tells whether the chain is fused then; all objects arrive, in order. */
static bool
fused_after_update(struct hy_graph *graph, const struct hy_graph_params *params)
{
	uint64_t seed = obj_made;
	bool runs;

	if (hy_graph_update(graph, params) != 0)
		fail_msg("the update is refused: %s", unit_log());
	for (unsigned int i = 0; i < 20; i++)
		fuse_walk(graph, &seed);
	runs = fuse_runs(graph);
	for (unsigned int i = 0; i < 20; i++)
		fuse_walk(graph, &seed);
	expect_all_arrived();
	return runs;
}

static void
an_offer_and_a_withdrawal_take_effect_at_an_update(void **state)
{
	struct hy_graph *graph = graph_start((struct fuse_rig){ .lanes = true, .rare = 9 });
	struct hy_node *node;

	RTE_SET_USED(state);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_false(fuse_runs(graph));
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "a"), 0)); /* the worker's image */
	assert_true(fuse_runs(graph));
	hy_graph_rest(graph);
	assert_string_equal(hy_graph_node_fused(graph, graph_node(graph, "a"), 0), "abc");
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "b"), 0));
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "s0"), 0));
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
	assert_true(fuse_runs(graph));
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_graph_node(graph, "a", &node), 0);
	assert_string_equal(hy_graph_node_fused(graph, node, 0), "abc");
	assert_false(fuse_runs(graph));
	expect_all_arrived();
}

/* Two updates without a walk in between: the first one's image is never walked. */
static void
what_is_offered_while_an_image_waits_comes_with_the_next(void **state)
{
	struct hy_graph *graph = graph_start((struct fuse_rig){ .rare = 9 });

	RTE_SET_USED(state);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_true(fuse_runs(graph));
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_false(fuse_runs(graph));
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
	assert_true(fuse_runs(graph)); /* the image that waited had it */
	expect_all_arrived();
}

static void
detours_and_edges_part_a_chain_and_join_it_again(void **state)
{
	struct hy_graph *graph = graph_start((struct fuse_rig){ .lanes = true, .rare = 9 });
	struct hy_detour detours[] = { { "b", "like-b" }, { "c", "like-c" } };
	const uint16_t edge[] = { 0, 1 };
	struct hy_graph_params params;

	RTE_SET_USED(state);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	NODE(&rig.stage[1], .name = "like-b", .impl.process = fuse_other_b, .lanes = { "word" },
		.edges = { "aside", "c" }, .drops = { { "d0" }, { "d1" } },
		.counters = { { "seen" } });
	NODE(&rig.stage[2], .name = "like-c", .impl.process = fuse_process[2], .lanes = { "word" },
		.edges = { "t0", "t1", "t2" }, .drops = { { "d0" }, { "d1" } },
		.counters = { { "seen" } });
	for (unsigned int s = 0; s < 2; s++) {
		assert_true(fused_after_update(graph, NULL));
		hy_graph_params_get(graph, &params);
		params.detours = &detours[s];
		params.nb_detours = 1;
		/* "like-c" runs what "c" does, and is as good. */
		assert_int_equal(fused_after_update(graph, &params), s == 1);
		hy_graph_params_get(graph, &params);
		params.nb_detours = 0;
		assert_true(fused_after_update(graph, &params));
		assert_int_equal(hy_node_edge_set(rig.id[s], edge[s], detours[s].instead), 0);
		assert_int_equal(fused_after_update(graph, NULL), s == 1);
		assert_int_equal(hy_node_edge_set(rig.id[s], edge[s], detours[s].target), 0);
		assert_true(fused_after_update(graph, NULL));
	}
}

static void
another_implementation_parts_a_chain_and_the_first_joins_it(void **state)
{
	struct hy_graph *graph = graph_start((struct fuse_rig){ .lanes = true, .rare = 9 });
	const struct hy_reg_node *reg = hy_registry_get(rig.id[1]);
	struct hy_node_impl first = reg->impl, other = reg->impl;

	RTE_SET_USED(state);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_true(fused_after_update(graph, NULL));
	first.variant = "one";
	other.variant = "other";
	other.process = fuse_other_b;
	assert_int_equal(hy_node_impl_set(rig.id[1], &other), 0);
	assert_true(fuse_runs(graph));
	assert_false(fused_after_update(graph, NULL));
	assert_int_equal(hy_node_impl_set(rig.id[1], &first), 0);
	assert_true(fused_after_update(graph, NULL));
}

static unsigned int visits; /* calls of the feature */

static void
visit(unsigned int id)
{
	visits++;
	obj_faults += id != 0;
}

/* The feature "f" leaves its mark on objects, so that nothing but the order is looked at. */
static void
a_feature_between_two_nodes_parts_a_chain(void **state)
{
	const struct hy_arc_params params = { .end = "b", .index = index_from };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	rig.targets = 3;
	fuse_nodes_add();
	feature_add("f", 0, NULL, NULL);
	feature_hook = visit;
	visits = 0;
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	graph = GRAPH("g", .patterns = fuse_patterns, .nb_patterns = RTE_DIM(fuse_patterns),
		.drop_node = "bin", .lanes = { "word", HY_ARC_LANE }, .burst = 16);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(fuse_runs(graph));
		assert_int_equal(hy_arc_enable(arc, "f", 1, 0), 0); /* no object has that index */
		assert_false(fuse_runs(graph));
		assert_int_equal(visits, 0);
		assert_int_equal(hy_arc_disable(arc, "f", 1), 0);
	}
	assert_true(fuse_runs(graph));
	rig.to_b.budget = 4; /* these have index 1 */
	assert_int_equal(hy_arc_enable(arc, "f", 1, 0), 0);
	hy_graph_walk(graph);
	assert_int_equal(visits, 1);
	assert_int_equal(hy_arc_disable(arc, "f", 1), 0);
	assert_true(fuse_runs(graph));
	assert_int_equal(obj_faults + obj_under_way, 0);
}

#define TAKEN_MOST 8192

/* What a capture or a trace said, as text or numbers to compare. */
static struct taken {
	unsigned int n;
	uint32_t what[TAKEN_MOST];
} taken[2];

static void
take_records(struct hy_graph *graph, struct taken *to)
{
	static alignas(8) uint8_t buffer[2 * HY_CAPTURE_RECORD_MAX];
	size_t size;

	while ((size = hy_capture_read(graph, buffer, sizeof(buffer))) > 0) {
		const struct hy_capture_record *r = (const void *)buffer;

		for (; (const uint8_t *)r < buffer + size; r = hy_capture_next(r)) {
			assert_true(to->n < TAKEN_MOST && r->lost == 0);
			to->what[to->n++] = r->point << 16 | r->origin;
		}
	}
}

/* Walks, some of them captured, and takes what the capture has seen. */
static void
captured(struct hy_graph *graph, struct taken *to)
{
	uint64_t seed = 7, before;

	to->n = 0;
	for (unsigned int i = 0; i < 3; i++) {
		fuse_walk(graph, &seed);
		CAPTURE(graph,
			POINTS({ "a" }, { "a", .edge = "b" }, { "a", .drop = "d0" }, { "b" },
				{ "b", .edge = "aside" }, { "b", .drop = "d1" }, { "c" },
				{ "c", .edge = "t1" }, { "c", .drop = "d0" }, { "s0" }, { "t2" },
				{ "bin" }));
		before = rig.whole + rig.parted + rig.none;
		for (unsigned int w = 0; w < 20; w++)
			fuse_walk(graph, &seed);
		assert_int_equal(rig.whole + rig.parted + rig.none, before);
		take_records(graph, to);
		hy_capture_stop(graph);
		fuse_runs(graph);
	}
}

static void
traced(struct hy_graph *graph, struct taken *to)
{
	static struct hy_trace_record records[512];
	uint64_t seed = 11, before;
	unsigned int n;

	to->n = 0;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(START(graph, .nb_objs = 50, .at = i == 2 ? "c" : "a"), 0);
		before = rig.whole + rig.parted + rig.none;
		do {
			fuse_walk(graph, &seed);
		} while (graph->attention != 0);
		assert_int_equal(rig.whole + rig.parted + rig.none, before);
		n = hy_trace_read(graph, records, RTE_DIM(records));
		assert_in_range(n, 100, RTE_DIM(records));
		for (unsigned int r = 0; r < n; r++) {
			const struct hy_trace_record *rec = &records[r];

			assert_true(to->n < TAKEN_MOST);
			to->what[to->n++] = rec->serial << 24 | rec->index << 16 | rec->burst << 8 |
				rec->last << 7 | (rec->drop[0] != 0) << 6 |
				(rec->name[0] & 31) << 1 | (rec->name[1] & 1);
		}
		fuse_runs(graph);
	}
}

/* Compares what is seen of the same traffic without and with the fusion; as many as told. */
static unsigned int
compare_seen(void (*look)(struct hy_graph *graph, struct taken *to))
{
	for (unsigned int with = 0; with < 2; with++) {
		struct hy_graph *graph;

		if (with != 0)
			assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
		graph = graph_start((struct fuse_rig){ .lanes = true, .rare = 5 });
		look(graph, &taken[with]);
		assert_int_equal(fuse_runs(graph), with != 0);
		assert_int_equal(rig.whole + rig.parted + rig.none >= 12, with != 0);
		expect_all_arrived();
		registry_clear();
	}
	assert_int_equal(taken[0].n, taken[1].n);
	assert_memory_equal(taken[0].what, taken[1].what, taken[0].n * sizeof(*taken[0].what));
	return taken[0].n;
}

static void
captures_see_every_object_of_a_fused_chain(void **state)
{
	unsigned int at[12] = { 0 };

	RTE_SET_USED(state);
	assert_true(compare_seen(captured) > 3000);
	for (unsigned int i = 0; i < taken[1].n; i++)
		at[taken[1].what[i] >> 16]++;
	for (unsigned int p = 0; p < RTE_DIM(at); p++)
		assert_true(at[p] > 20);
}

static void
traces_see_every_object_of_a_fused_chain(void **state)
{
	RTE_SET_USED(state);
	assert_true(compare_seen(traced) > 450);
}

/* Both at once, across an update that brings a fusion, and one that takes it away. */
static void
a_capture_and_a_trace_go_on_while_fusions_come_and_go(void **state)
{
	struct hy_graph *graph = graph_start((struct fuse_rig){ .rare = 5 });
	struct hy_capture_state captured_so_far;
	uint64_t seed = 3, calls = 0;

	RTE_SET_USED(state);
	CAPTURE(graph, POINTS({ "b" }, { "c" }, { "a" }));
	assert_int_equal(START(graph, .nb_objs = 100000), 0);
	for (unsigned int i = 0; i < 40; i++) {
		if (i % 4 == 1)
			assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
		else if (i % 4 == 3)
			assert_int_equal(hy_fuse_withdraw(&fuse_abc), 0);
		if (i % 2 == 1)
			assert_int_equal(hy_graph_update(graph, NULL), 0);
		if (i == 20)
			hy_trace_stop(graph);
		fuse_walk(graph, &seed);
		assert_int_equal(rig.whole + rig.parted + rig.none, 0);
		assert_int_equal(hy_graph_node_fused(graph, graph_node(graph, "a"), 0) != NULL,
			i % 4 == 1 || i % 4 == 2);
	}
	assert_int_equal(hy_capture_status(graph, &captured_so_far), 0);
	for (unsigned int s = 0; s < FUSE_STAGES; s++)
		calls += rig.stage[s].objs;
	assert_int_equal(captured_so_far.captured + captured_so_far.lost, calls);
	hy_capture_stop(graph);
	assert_int_equal(hy_fuse_offer(&fuse_abc), 0);
	assert_true(fused_after_update(graph, NULL));
}

/* Objects that wait in a cycle, which then is none any more: the chain runs apart until they left. */
static uint16_t
turn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = ((struct obj *)objs[i])->hops++ < laps ? 1 : 0;
	probe_hit(node, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
go_straight(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	RTE_SET_USED(graph);
	RTE_SET_USED(nodes);
	for (uint16_t i = 0; i < n; i++)
		next[i] = ((struct obj *)objs[i])->hops++ < laps ? 1 : 0;
	rig.whole++;
	return n;
}

static const struct hy_fuse turn_fuse = { .name = "turns",
	.nb_nodes = 2,
	.process = { probe_pass, turn },
	.edge = { 0 },
	.run = go_straight };

static void
a_chain_runs_apart_while_objects_of_a_cycle_are_carried(void **state)
{
	struct probe src = { .budget = 1000, .per_call = 4 }, pass = { 0 }, turns = { 0 },
		     out = { 0 };
	struct hy_graph *graph;
	uint64_t waited;
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(&src, "src", "pass");
	pass_add(&pass, "pass", "turn");
	id = NODE(&turns, .name = "turn", .impl.process = turn, .edges = { "end", "pass" });
	sink_add(&out, "end");
	sink_add(&out, "out");
	laps = UINT32_MAX;
	rig.whole = 0;
	assert_int_equal(hy_fuse_offer(&turn_fuse), 0);
	graph = GRAPH("g", .burst = 8, .max_sweeps = 2, .patterns = (const char *[]){ "src" },
		.nb_patterns = 1);
	for (unsigned int i = 0; i < 4; i++)
		hy_graph_walk(graph);
	assert_null(hy_graph_node_fused(graph, graph_node(graph, "pass"), 0));
	waited = waiting(graph);
	assert_true(waited > 0);
	assert_int_equal(hy_node_edge_set(id, 1, "out"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	assert_string_equal(hy_graph_node_fused(graph, graph_node(graph, "pass"), 0), "turns");
	assert_int_equal(rig.whole, 0);
	assert_int_equal(waiting(graph), 0);
	assert_int_equal(out.objs, obj_made);
	hy_graph_walk(graph);
	assert_int_equal(rig.whole, 1);
	assert_int_equal(out.objs, obj_made);
	registry_clear();
	assert_int_equal(hy_fuse_withdraw(&turn_fuse), 0);
}

static struct {
	pthread_t thread;
	bool runs, stop;
	uint64_t walks;
} worker;

static void *
work(void *graph)
{
	uint64_t seed = 5;

	while (!__atomic_load_n(&worker.stop, __ATOMIC_ACQUIRE)) {
		fuse_objs_anew();
		fuse_walk(graph, &seed);
		__atomic_fetch_add(&worker.walks, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void
worker_stop(void)
{
	__atomic_store_n(&worker.stop, true, __ATOMIC_RELEASE);
	if (worker.runs)
		pthread_join(worker.thread, NULL);
	worker.runs = false;
}

static uint64_t
fused_calls(void)
{
	return __atomic_load_n(&rig.whole, __ATOMIC_RELAXED) +
		__atomic_load_n(&rig.parted, __ATOMIC_RELAXED) +
		__atomic_load_n(&rig.forked, __ATOMIC_RELAXED);
}

static uint64_t
walks_done(void)
{
	return __atomic_load_n(&worker.walks, __ATOMIC_ACQUIRE);
}

/* Waits until a number of the worker's has grown by so much. */
static void
wait_for(uint64_t (*number)(void), uint64_t more)
{
	const uint64_t before = number(), start = rte_rdtsc(), most = 60 * rte_get_tsc_hz();

	while (number() < before + more) {
		if (rte_rdtsc() - start > most)
			fail_msg("the worker does not get on");
		sched_yield();
	}
}

static const struct hy_node_stats *
stats_of(const struct hy_stats *stats, const char *name)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	fail_msg("no statistics of '%s'", name);
	return NULL;
}

/* Between walks nothing waits: what took the edges to a node is what it handled. */
static void
moment_check(void)
{
	struct hy_stats *stats = NULL;

	assert_int_equal(hy_stats_read_between_walks("g", 10000000, &stats), 0);
	assert_int_equal(stats_of(stats, "b")->objs,
		stats_of(stats, "a")->edges[0].objs + stats_of(stats, "sb")->objs);
	assert_int_equal(stats_of(stats, "c")->objs,
		stats_of(stats, "b")->edges[1].objs + stats_of(stats, "sc")->objs);
	assert_int_equal(stats_of(stats, "d")->objs, stats_of(stats, "a")->edges[1].objs);
	hy_stats_free(stats);
}

static unsigned int
one_round(struct hy_graph *graph, unsigned int round)
{
	static struct hy_trace_record records[512];
	static struct taken seen;
	uint64_t before;

	assert_int_equal(hy_fuse_offer(&fuse_abc) + hy_fuse_offer(&fuse_ad), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	wait_for(fused_calls, 2);
	CAPTURE(graph, POINTS({ "a" }, { "c" }), .max_objs = round % 2 == 0 ? 50 : 5000);
	wait_for(walks_done, 3);
	hy_capture_stop(graph);
	seen.n = 0;
	take_records(graph, &seen);
	wait_for(fused_calls, 2);
	assert_int_equal(START(graph, .nb_objs = 20, .at = "a"), 0);
	wait_for(walks_done, 3);
	hy_trace_stop(graph);
	wait_for(fused_calls, 2);
	moment_check();
	assert_int_equal(hy_fuse_withdraw(&fuse_abc) + hy_fuse_withdraw(&fuse_ad), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	wait_for(walks_done, 2);
	assert_false(hy_graph_updating(graph));
	before = fused_calls();
	wait_for(walks_done, 3);
	assert_int_equal(fused_calls(), before);
	moment_check();
	return seen.n + hy_trace_read(graph, records, RTE_DIM(records));
}

static void
a_worker_walks_while_another_thread_fuses_captures_and_traces(void **state)
{
	struct hy_graph *graph = graph_start((struct fuse_rig){
		.lanes = true, .rare = 40, .fork = true });
	unsigned int rounds = 0, seen = 0;

	RTE_SET_USED(state);
	worker.stop = false;
	worker.walks = 0;
	worker.runs = pthread_create(&worker.thread, NULL, work, graph) == 0;
	assert_true(worker.runs);
	for (; rounds < 30; rounds++)
		seen += one_round(graph, rounds);
	worker_stop();
	print_message("# %ju walks, %ju fused calls, %u records\n", (uintmax_t)worker.walks,
		(uintmax_t)fused_calls(), seen);
	assert_true(rig.whole > rounds && seen > 20 * rounds);
	assert_true(worker.walks > 10 * rounds && fused_calls() >= 6 * rounds);
	assert_int_equal(obj_faults + obj_under_way, 0);
}

static int
teardown(void **state)
{
	worker_stop();
	return fuse_teardown(state);
}

static int
features_teardown(void **state)
{
	hy_fuse_withdraw(&fuse_abc);
	return arc_teardown(state);
}

#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, graph_setup, teardown)

static const struct CMUnitTest tests[] = {
	LIVE_TEST(an_offer_and_a_withdrawal_take_effect_at_an_update),
	LIVE_TEST(what_is_offered_while_an_image_waits_comes_with_the_next),
	LIVE_TEST(detours_and_edges_part_a_chain_and_join_it_again),
	LIVE_TEST(another_implementation_parts_a_chain_and_the_first_joins_it),
	cmocka_unit_test_setup_teardown(a_feature_between_two_nodes_parts_a_chain, arc_setup,
		features_teardown),
	LIVE_TEST(captures_see_every_object_of_a_fused_chain),
	LIVE_TEST(traces_see_every_object_of_a_fused_chain),
	LIVE_TEST(a_capture_and_a_trace_go_on_while_fusions_come_and_go),
	LIVE_TEST(a_chain_runs_apart_while_objects_of_a_cycle_are_carried),
	LIVE_TEST(a_worker_walks_while_another_thread_fuses_captures_and_traces),
};

UNIT_SUITE(tests)
