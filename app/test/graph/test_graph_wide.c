/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide lanes: an IPv6 address and a flow key beside each object, by whatever call it is sent. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/update/control.h"
#include "lib/graph/walk/enqueue.h"

enum { IP6, KEY, NB_WIDE };

#define WIDE \
	{ "ip6", 16 }, \
	{ \
		"key", 64 \
	}
#define WIDE_NODE .lanes = { "l0" }, .wide = { WIDE }
#define WIDE_GRAPH .lanes = { "l0" }, .wide = (const struct hy_wide_lane[]){ WIDE }, .nb_wide = 2

static const uint16_t bytes_of[NB_WIDE] = { 16, 64 };

static uint8_t *
value_at(const struct hy_graph *graph, const struct hy_node *node, unsigned int l, unsigned int i)
{
	return (uint8_t *)hy_lane_wide(graph, node, l) + (size_t)i * bytes_of[l];
}

/* What lane l holds for an object: every byte is of use. */
static const uint8_t *
value(const struct obj *obj, unsigned int l)
{
	static uint32_t words[HY_WIDE_BYTES / 4];

	for (uint32_t w = 0; w < RTE_DIM(words); w++)
		words[w] = (obj->id + 1) * 2654435761u + 16 * w + l;
	return (const uint8_t *)words;
}

static unsigned int compared;

static void
check(const struct hy_graph *graph, const struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		obj_faults += hy_lane(graph, node, 0)[i] != ~((const struct obj *)objs[i])->id;
		for (unsigned int l = 0; l < NB_WIDE; l++) {
			const uint8_t *at = value_at(graph, node, l, i);

			obj_faults += memcmp(at, value(objs[i], l), bytes_of[l]) != 0;
			obj_faults += (uintptr_t)at % bytes_of[l] != 0;
			compared++;
		}
	}
	probe_hit(node, n);
}

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t made = probe_make(probe_of(node), objs, n);

	for (uint16_t i = 0; i < made; i++) {
		hy_lane(graph, node, 0)[i] = ~((const struct obj *)objs[i])->id;
		for (unsigned int l = 0; l < NB_WIDE; l++)
			memcpy(value_at(graph, node, l, i), value(objs[i], l), bytes_of[l]);
	}
	probe_hit(node, made);
	hy_stream_move(graph, node, 0, made);
	return made;
}

/* Does not know the wide lanes: they go along past it. */
static uint16_t
branch(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++) {
		next[i] = (uint16_t)(((struct obj *)objs[i])->id * 2654435761u >> 16) % 4;
		if (next[i] == 3)
			next[i] = HY_DROP(0);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/* Segments of the burst, each by another call, the last part first. */
static uint16_t
segments(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t last = n / 2;
	uint16_t i = 0;

	check(graph, node, objs, n);
	hy_enqueue(graph, node, 0, objs + last, n - last);
	for (; i + 7 <= last; i += 7) {
		hy_enqueue_x4(graph, node, 0, objs + i);
		hy_enqueue_x2(graph, node, 0, objs + i + 4);
		hy_enqueue_x1(graph, node, 0, objs + i + 6);
	}
	hy_enqueue(graph, node, 0, objs + i, last - i);
	return n;
}

static uint16_t
move(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	check(graph, node, objs, n);
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
sink(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	check(graph, node, objs, n);
	hy_release(graph, objs, n);
	return n;
}

static void
wide_lanes_go_along_through_branches_merges_and_segments(void **state)
{
	static const uint16_t bursts[] = { 1, 3, 16, 63, 256 };
	unsigned int runs = 0;

	RTE_SET_USED(state);
	compared = 0;
	for (unsigned int run = 0; run < 2 * RTE_DIM(bursts); run++) {
		struct probe src[2] = { { .budget = 3000 }, { .budget = 3000, .per_call = 1 } };
		struct probe fork = { 0 }, seg = { 0 }, whole = { 0 }, last = { 0 }, drop = { 0 };
		struct hy_graph *graph;

		obj_made = 0;
		NODE(&src[0], .name = "src-0", .flags = HY_NODE_SOURCE, .impl.process = source,
			.edges = { "fork" }, WIDE_NODE);
		NODE(&src[1], .name = "src-1", .flags = HY_NODE_SOURCE, .impl.process = source,
			.edges = { "fork" }, WIDE_NODE);
		NODE(&fork, .name = "fork", .impl.process = branch,
			.edges = { "segments", "move", "sink" }, .drops = { { "d" } });
		NODE(&seg, .name = "segments", .impl.process = segments, .edges = { "move" },
			WIDE_NODE);
		NODE(&whole, .name = "move", .impl.process = move, .edges = { "sink" }, WIDE_NODE);
		NODE(&last, .name = "sink", .impl.process = sink, WIDE_NODE);
		NODE(&drop, .name = "drop", .impl.process = sink, WIDE_NODE);
		graph = GRAPH("g", .burst = bursts[run / 2], .drop_node = "drop", WIDE_GRAPH);
		if (run % 2 != 0)
			graph->image->wide->scatter = hy_scatter_scalar;
		while (last.objs + drop.objs < 6000 && graph->walks < 10000)
			hy_graph_walk(graph);
		assert_int_equal(fork.objs, 6000);
		assert_int_equal(last.objs + drop.objs, 6000);
		assert_true(seg.objs > 1000 && whole.objs > 2000 && drop.objs > 1000);
		assert_int_equal(obj_faults, 0);
		assert_int_equal(obj_under_way, 0);
		assert_int_equal(stream_full(graph), 0);
		registry_clear();
		runs++;
	}
	assert_int_equal(runs, 10);
	assert_true(compared > 10 * 2 * 10000);
}

/* With replication and a cycle, nodes are given parts of their streams, and keep the rest. */
static void
wide_lanes_stay_beside_objects_that_wait_for_room(void **state)
{
	struct probe src = { .budget = 500 }, many = { .copies = 600, .nb_edges = 1 };
	struct probe last = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "many" }, WIDE_NODE);
	NODE(&many, .name = "many", .replicates = 600, .impl.process = probe_replicate,
		.edges = { "sink" });
	NODE(&last, .name = "sink", .impl.process = sink, WIDE_NODE);
	graph = GRAPH("g", .burst = 250, .max_sweeps = 1, WIDE_GRAPH);
	assert_true(graph->plan.throttled);
	for (unsigned int walk = 0; walk < 40 && last.objs < 300000; walk++)
		hy_graph_walk(graph);
	assert_int_equal(last.objs, 300000);
	assert_int_equal(obj_faults, 0);
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
	static const uint8_t zero[HY_WIDE_BYTES];

	for (uint16_t i = 0; i < n; i++)
		for (unsigned int l = 0; l < NB_WIDE; l++)
			obj_faults += memcmp(value_at(graph, node, l, i), zero, bytes_of[l]) != 0;
	probe_hit(node, n);
	hy_release(graph, objs, n);
	return n;
}

static void
wide_lanes_of_new_objects_are_zero(void **state)
{
	struct probe src = { .budget = 4000 }, replace = { 0 }, one = { 0 }, two = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "replace" }, WIDE_NODE);
	NODE(&replace, .name = "replace", .impl.process = replace_all, .edges = { "one", "two" });
	NODE(&one, .name = "one", .impl.process = zero_sink, WIDE_NODE);
	NODE(&two, .name = "two", .impl.process = zero_sink, WIDE_NODE);
	graph = GRAPH("g", .burst = 100, WIDE_GRAPH);
	memset(graph->image->wide->offset[0] + (uint8_t *)graph_node(graph, "one")->stream, 0xa5,
		graph->plan.stream_cap * 80);
	memset(graph->image->wide->offset[0] + (uint8_t *)graph_node(graph, "two")->stream, 0xa5,
		graph->plan.stream_cap * 80);
	for (unsigned int walk = 0; walk < 40; walk++)
		hy_graph_walk(graph);
	assert_int_equal(one.objs, 3000);
	assert_int_equal(two.objs, 1000);
	assert_int_equal(obj_faults, 0);
}

/* "fork" leads to one node that reads the wide lanes, and to one that does not. */
static void
wide_lanes_that_nobody_behind_uses_are_not_copied(void **state)
{
	struct probe src = { .budget = 10000 }, fork = { .nb_edges = 2 };
	struct probe reads = { 0 }, blind = { 0 };
	const struct hy_wide *wide;
	struct hy_graph *graph;
	struct hy_node *node;
	const uint8_t *key;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "fork" }, WIDE_NODE);
	NODE(&fork, .name = "fork", .impl.process = probe_spread, .edges = { "reads", "blind" });
	NODE(&reads, .name = "reads", .impl.process = sink, WIDE_NODE);
	NODE(&blind, .name = "blind", .impl.process = probe_sink);
	graph = GRAPH("g", .burst = 64, WIDE_GRAPH);
	wide = graph->image->wide;
	node = graph_node(graph, "blind");
	assert_int_equal(wide->nodes[node->rank].in, 0);
	assert_int_equal(wide->nodes[graph_node(graph, "fork")->rank].next, 3);
	assert_int_equal(wide->nodes[graph_node(graph, "reads")->rank].next, 0);
	key = RTE_PTR_ADD(node->stream, wide->offset[KEY]);
	memset(RTE_PTR_ADD(node->stream, wide->offset[KEY]), 0xa5, 64 * graph->plan.stream_cap);
	hy_graph_walk(graph);
	assert_int_equal(reads.objs, 32);
	assert_int_equal(blind.objs, 32);
	for (uint32_t i = 0; i < 64 * graph->plan.stream_cap; i++)
		assert_int_equal(key[i], 0xa5);
	assert_int_equal(obj_faults, 0);
}

/* Neither room nor another body of hy_enqueue_next(), and hy_append() stays inlined. */
static void
a_graph_without_wide_lanes_is_as_it_would_be_without_them(void **state)
{
	size_t stream[2], image[2];

	RTE_SET_USED(state);
	assert_int_equal(sizeof(struct hy_node), RTE_CACHE_LINE_SIZE);
	for (unsigned int with = 0; with < 2; with++) {
		struct probe src = { 0 }, last = { 0 };
		struct hy_graph *graph;

		NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
			.edges = { "sink" });
		NODE(&last, .name = "sink", .impl.process = probe_sink);
		graph = GRAPH("g", .burst = 64, .wide = (const struct hy_wide_lane[]){ WIDE },
			.nb_wide = with == 0 ? 0 : 2);
		assert_true((graph->image->wide == NULL) == (with == 0));
		assert_true((graph->plan.scatter == hy_scatter_best()) == (with == 0));
		assert_int_equal(graph->append_cap, with == 0 ? graph->plan.stream_cap : 0);
		stream[with] = (size_t)((uint8_t *)graph_node(graph, "sink")->stream -
			(uint8_t *)graph_node(graph, "src")->stream);
		image[with] = graph->image->size;
		registry_clear();
	}
	/* (64 + 32) pointers, which fill an even number of lines, and one more to be odd. */
	assert_int_equal(stream[0], (64 + 32) * sizeof(void *) + RTE_CACHE_LINE_SIZE);
	assert_true(stream[1] >= stream[0] + (16 + 64) * 96);
	assert_true(image[1] > image[0]);
}

static void
assert_refused(const struct hy_node_desc *desc, const char *why)
{
	hy_node_id id;

	unit_log_clear();
	assert_int_equal(hy_node_register(desc, NULL), -EINVAL);
	assert_int_equal(hy_node_lookup("n", &id), -ENOENT);
	if (strstr(unit_log(), why) == NULL)
		fail_msg("'%s' is not in: %s", why, unit_log());
}

#define REFUSED(why, ...) \
	assert_refused(&(const struct hy_node_desc){ .name = "n", \
			       .impl.process = probe_sink, \
			       __VA_ARGS__ }, \
		why)

static void
wide_lanes_of_a_node_are_checked(void **state)
{
	RTE_SET_USED(state);
	REFUSED("wide lane 'w' has 0 bytes; 8, 16, 32 and 64", .wide = { { "w", 0 } });
	REFUSED("wide lane 'w' has 4 bytes", .wide = { { "w", 4 } });
	REFUSED("wide lane 'w' has 24 bytes", .wide = { { "w", 24 } });
	REFUSED("wide lane 'w' has 128 bytes", .wide = { { "w", 128 } });
	REFUSED("wide lane 'a b'", .wide = { { "a b", 8 } });
	REFUSED("wide lane ''", .wide = { { "", 8 } });
	REFUSED("wide[0] is missing", .wide = { [1] = { "w", 8 } });
	REFUSED("lane 'w' twice", .wide = { { "w", 8 }, { "w", 16 } });
	REFUSED("lane 'w' twice", .lanes = { "w" }, .wide = { { "w", 8 } });
}

#define GRAPH_REFUSED(why, ...) \
	do { \
		struct hy_graph *none = NULL; \
		unit_log_clear(); \
		assert_int_equal(GRAPH_TRY("g", &none, .burst = 8, __VA_ARGS__), -EINVAL); \
		assert_null(none); \
		if (strstr(unit_log(), why) == NULL) \
			fail_msg("'%s' is not in: %s", why, unit_log()); \
	} while (0)
#define DECLARED(n, ...) .wide = (const struct hy_wide_lane[]){ __VA_ARGS__ }, .nb_wide = n

static void
wide_lanes_of_a_graph_are_checked(void **state)
{
	struct probe src = { 0 }, last = { 0 };

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "sink" });
	NODE(&last, .name = "sink", .impl.process = probe_sink, .wide = { { "ip6", 16 } });
	GRAPH_REFUSED("uses wide lane 'ip6' of 16 bytes, declared are 0", .nb_wide = 0);
	GRAPH_REFUSED("uses wide lane 'ip6' of 16 bytes, declared are 0", .lanes = { "ip6" });
	GRAPH_REFUSED("uses wide lane 'ip6' of 16 bytes, declared are 32",
		DECLARED(1, { "ip6", 32 }));
	GRAPH_REFUSED("wide lane 'ip6' has 12 bytes", DECLARED(1, { "ip6", 12 }));
	GRAPH_REFUSED("lane 'ip6' twice", DECLARED(2, { "ip6", 16 }, { "ip6", 16 }));
	GRAPH_REFUSED("lane 'ip6' twice", .lanes = { NULL, "ip6" }, DECLARED(1, { "ip6", 16 }));
	GRAPH_REFUSED("5 wide lanes; 4 are accepted",
		DECLARED(5, { "a", 8 }, { "b", 8 }, { "c", 8 }, { "d", 8 }, { "ip6", 16 }));
	GRAPH_REFUSED("1 wide lanes, but no table of them", .nb_wide = 1);
	GRAPH("g", .burst = 8, DECLARED(4, { "a", 8 }, { "b", 64 }, { "c", 8 }, { "ip6", 16 }));
}

/* Its reason read on behind the name, up to 14 bytes behind the table. */
static void
a_wide_lane_whose_name_has_no_end_is_refused_by_what_is_there(void **state)
{
	struct hy_wide_lane *endless = malloc(sizeof(*endless));
	struct hy_graph *none = NULL;
	const char *quoted;

	RTE_SET_USED(state);
	assert_non_null(endless);
	memset(endless, 'n', sizeof(*endless));
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &none, .wide = endless, .nb_wide = 1), -EINVAL);
	assert_null(none);
	quoted = strstr(unit_log(), "wide lane '");
	assert_non_null(quoted);
	quoted += strlen("wide lane '");
	assert_int_equal(strspn(quoted, "n"), HY_NAME_SIZE);
	assert_int_equal(quoted[HY_NAME_SIZE], '\'');
	free(endless);
}

static uint16_t
turn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const uint16_t on = n / 2;

	probe_hit(node, n);
	hy_enqueue(graph, node, 0, objs, on); /* the others go round */
	hy_enqueue(graph, node, 1, objs + on, n - on);
	return n;
}

/*
 * Objects go round in a graph that is changed every few walks: to other lanes beside the two, in
 * another order, and with room for other bursts. "key" goes and comes, which leaves 0 to read.
 */
static void
wide_lanes_stay_with_their_objects_in_live_changes(void **state)
{
	static const struct hy_wide_lane tables[][3] = { { WIDE }, { { "key", 64 }, { "ip6", 16 } },
		{ { "new", 8 }, { "ip6", 16 }, { "key", 64 } } };
	struct probe src = { .budget = 40000, .per_call = 40 }, loop = { 0 }, back = { 0 };
	struct probe last = { 0 };
	struct hy_graph *graph;
	uint64_t waited = 0;

	RTE_SET_USED(state);
	compared = 0;
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "turn" }, WIDE_NODE);
	NODE(&loop, .name = "turn", .impl.process = turn, .edges = { "sink", "back" });
	NODE(&back, .name = "back", .impl.process = move, .edges = { "turn" }, WIDE_NODE);
	NODE(&last, .name = "sink", .impl.process = sink, WIDE_NODE);
	graph = GRAPH("g", .burst = 64, .max_sweeps = 2, WIDE_GRAPH);
	for (unsigned int change = 1; last.objs < 39000 && change < 2000; change++) {
		struct hy_graph_params params;

		hy_graph_params_get(graph, &params);
		params.burst = (uint16_t)(40 + change % 50);
		params.wide = tables[change % RTE_DIM(tables)];
		params.nb_wide = params.wide[2].bytes != 0 ? 3 : 2;
		waited += waiting(graph);
		assert_int_equal(hy_graph_update(graph, &params), 0);
		for (unsigned int walk = 0; walk < 3; walk++)
			hy_graph_walk(graph);
	}
	assert_true(last.objs >= 39000);
	assert_true(waited > 1000);
	assert_int_equal(obj_faults, 0);
	assert_true(compared > 2 * 2 * 39000);
}

/* Same name, other width: another lane. What waited reads 0 there. */
static void
a_wide_lane_of_another_width_is_another_lane(void **state)
{
	static const struct hy_wide_lane wider[] = { { "ip6", 16 }, { "key", 32 } };
	struct probe src = { .budget = 40 }, loop = { 0 }, last = { 0 }, quiet = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;
	const uint8_t *values;
	struct hy_node *node;
	uint32_t n;

	RTE_SET_USED(state);
	NODE(&src, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "turn" }, WIDE_NODE);
	NODE(&loop, .name = "turn", .impl.process = turn, .edges = { "sink", "back" });
	NODE(NULL, .name = "back", .impl.process = probe_pass, .edges = { "turn" });
	NODE(&last, .name = "sink", .impl.process = probe_sink);
	graph = GRAPH("g", .burst = 64, .max_sweeps = 1, WIDE_GRAPH);
	hy_graph_walk(graph);
	NODE(&quiet, .name = "quiet", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "turn" });
	hy_graph_params_get(graph, &params);
	params.patterns = (const char *const[]){ "quiet" };
	params.nb_patterns = 1;
	params.wide = wider;
	params.max_sweeps = 1;
	assert_true(waiting(graph) > 0);
	assert_int_equal(hy_graph_update(graph, &params), 0);
	hy_graph_take_up(graph);
	for (unsigned int r = 0; r < graph->plan.nb_nodes; r++) {
		node = &graph->plan.nodes[r];
		n = node->waiting;
		if (n == 0)
			continue;
		values = RTE_PTR_ADD(node->stream, graph->image->wide->offset[IP6]);
		for (uint32_t i = 0; i < n; i++)
			assert_memory_equal(values + 16 * (size_t)i, value(node->stream[i], IP6),
				16);
		values = RTE_PTR_ADD(node->stream, graph->image->wide->offset[KEY]);
		for (uint32_t i = 0; i < 32 * n; i++)
			assert_int_equal(values[i], 0);
	}
	assert_true(waiting(graph) > 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(wide_lanes_go_along_through_branches_merges_and_segments),
	GRAPH_TEST(wide_lanes_stay_beside_objects_that_wait_for_room),
	GRAPH_TEST(wide_lanes_of_new_objects_are_zero),
	GRAPH_TEST(wide_lanes_that_nobody_behind_uses_are_not_copied),
	GRAPH_TEST(a_graph_without_wide_lanes_is_as_it_would_be_without_them),
	GRAPH_TEST(wide_lanes_of_a_node_are_checked),
	GRAPH_TEST(wide_lanes_of_a_graph_are_checked),
	GRAPH_TEST(a_wide_lane_whose_name_has_no_end_is_refused_by_what_is_there),
	GRAPH_TEST(wide_lanes_stay_with_their_objects_in_live_changes),
	GRAPH_TEST(a_wide_lane_of_another_width_is_another_lane),
};

UNIT_SUITE(tests)
