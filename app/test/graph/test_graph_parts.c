/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams longer than a burst, which a node handles in parts: what takes one edge whole changes place
 * with the target's stream, and anything else is copied, in order and with its lanes.
 */

#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/compile/image.h"
#include "lib/graph/walk/enqueue.h"

#define BURST 40 /* enough for vectors */
#define SOURCES 4
#define REST 19 /* objects of the last source: the last part is not full */
#define PARTS SOURCES
#define BESIDE 2 /* objects that wait at a target already, in some walks */
#define WALKS 1500
#define EDGES 3 /* the third for drops */

static const struct hy_wide_lane key_lane = { .name = "key", .bytes = 16 };

enum way { MOVE_0, MOVE_1, DROP_ALL, NEXT_0, MIXED, HALVES, HEAD, RESERVE, WAYS };

static enum way ways[PARTS];
static void **stream;        /* of the node in question, before its first part */
static uint32_t sent;        /* objects it was given so far */
static uint32_t last[EDGES]; /* the last one that a target got */
static uint64_t exchanged, copied;
static uint64_t used[WAYS];
static bool wide;

static uint64_t *
key(struct hy_graph *graph, const struct hy_node *node, unsigned int i)
{
	return (uint64_t *)hy_lane_wide(graph, node, 0) + (size_t)2 * i;
}

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = probe_make(probe_of(node), objs, n);
	for (uint16_t i = 0; i < n; i++) {
		hy_lane(graph, node, 0)[i] = ~((struct obj *)objs[i])->id;
		if (wide)
			*key(graph, node, i) = ((struct obj *)objs[i])->id;
	}
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* Objects that wait at "left" before "mid" sends any; in some walks. */
static uint16_t
beside(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = source(graph, node, objs, n);
	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++)
		((struct obj *)objs[i])->mark = i + 1u;
	return n;
}

static void
look(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		obj_faults += hy_lane(graph, node, 0)[i] != ~((struct obj *)objs[i])->id;
		if (wide)
			obj_faults += *key(graph, node, i) != ((struct obj *)objs[i])->id;
	}
	probe_hit(node, n);
}

static void
reserve(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t room = n;
	void **to = hy_stream_get(graph, node, 0, &room);

	obj_faults += room != n;
	memcpy(to, objs, n * sizeof(*to));
	memcpy(hy_stream_get_lane(graph, node, 0, 0), hy_lane(graph, node, 0),
		n * sizeof(uint32_t));
	if (wide)
		memcpy(hy_stream_get_wide(graph, node, 0, 0), key(graph, node, 0), n * (size_t)16);
	hy_stream_put(graph, node, 0, n);
}

static uint16_t
part(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const enum way way = ways[sent / BURST];
	uint16_t next[BURST] = { 0 };

	if (sent == 0)
		stream = node->stream;
	obj_faults += node->stream != stream;
	look(graph, node, objs, n);
	for (uint16_t i = 0; i < n; i++)
		((struct obj *)objs[i])->mark = BESIDE + ++sent;
	used[way]++;
	switch (way) {
	case MOVE_0:
	case MOVE_1:
		hy_stream_move(graph, node, way == MOVE_1, n);
		break;
	case DROP_ALL:
		hy_stream_move(graph, node, HY_DROP(0), n);
		break;
	case MIXED:
		for (uint16_t i = 0; i < n; i++)
			next[i] = i % 3 == 2 ? HY_DROP(0) : i % 3;
		/* fallthrough */
	case NEXT_0:
		hy_enqueue_next(graph, node, next, objs, n);
		break;
	case HALVES:
		hy_enqueue(graph, node, 0, objs, n / 2);
		hy_enqueue(graph, node, 0, objs + n / 2, n - n / 2);
		break;
	case HEAD:
		hy_enqueue(graph, node, 1, objs + n / 2, n - n / 2);
		hy_stream_move(graph, node, 0, n / 2);
		break;
	default:
		reserve(graph, node, objs, n);
	}
	return n;
}

static uint16_t
target(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint32_t *before = probe_of(node)->arg;

	look(graph, node, objs, n);
	if (graph->cursor == 0 && node->stream == stream)
		exchanged++;
	else if (graph->cursor == 0)
		copied++;
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t mark = ((struct obj *)objs[i])->mark;

		obj_faults += mark <= *before;
		*before = mark;
	}
	hy_release(graph, objs, n);
	return n;
}

static bool
leads_left(enum way way)
{
	return way == MOVE_0 || way == NEXT_0;
}

/* Whether all parts of a walk take one edge whole. */
static bool
one_way(void)
{
	for (unsigned int p = 0; p < PARTS; p++)
		if (ways[p] > NEXT_0 ||
			(ways[p] != ways[0] && !(leads_left(ways[p]) && leads_left(ways[0]))))
			return false;
	return true;
}

static void
draw(uint64_t *seed)
{
	const bool same = rnd(seed) % 2 != 0;
	const uint32_t way = rnd(seed) % (same ? 3 : WAYS);

	for (unsigned int p = 0; p < PARTS; p++) {
		ways[p] = same ? way : rnd(seed) % WAYS;
		if (same && way == MOVE_0 && rnd(seed) % 2 != 0)
			ways[p] = NEXT_0;
		if (same && rnd(seed) % 16 == 0)
			ways[p] = rnd(seed) % WAYS;
	}
}

static void
add(struct probe *probe, struct hy_node_desc desc)
{
	desc.lanes[0] = "word";
	if (wide)
		desc.wide[0] = key_lane;
	node_add(probe, &desc);
}

static struct hy_graph *
parts_graph(struct probe src[SOURCES], struct probe *side, struct probe *mid,
	struct probe to[EDGES])
{
	static const char *const names[] = { "src-0", "src-1", "src-2", "src-3" };
	static const char *const targets[EDGES] = { "left", "right", "drop" };

	for (unsigned int s = 0; s < SOURCES; s++) {
		src[s] = (struct probe){ .budget = UINT32_MAX };
		src[s].per_call = s == SOURCES - 1 ? REST : 0;
		add(&src[s],
			(struct hy_node_desc){ .name = names[s],
				.flags = HY_NODE_SOURCE,
				.impl.process = source,
				.edges = { "mid" } });
	}
	add(side,
		(struct hy_node_desc){ .name = "beside",
			.flags = HY_NODE_SOURCE,
			.impl.process = beside,
			.edges = { "left" } });
	add(mid,
		(struct hy_node_desc){ .name = "mid",
			.impl.process = part,
			.edges = { "left", "right" },
			.drops = { { "d" } } });
	for (unsigned int e = 0; e < EDGES; e++) {
		to[e] = (struct probe){ .arg = &last[e] };
		add(&to[e], (struct hy_node_desc){ .name = targets[e], .impl.process = target });
	}
	return GRAPH("g", .burst = BURST, .drop_node = "drop", .lanes = { "word" },
		.wide = &key_lane, .nb_wide = wide);
}

static void
go_in_any_way(hy_scatter_t *scatter)
{
	struct probe src[SOURCES], side = { .per_call = BESIDE }, mid = { 0 }, to[EDGES];
	struct hy_graph *graph = parts_graph(src, &side, &mid, to);
	uint64_t seed = 1, expected = 0, waited = 0;

	exchanged = copied = 0;
	memset(used, 0, sizeof(used));
	obj_made = 0;
	if (wide)
		graph->image->wide->scatter = scatter;
	else
		graph->plan.scatter = scatter;
	for (unsigned int walk = 0; walk < WALKS; walk++) {
		sent = 0;
		memset(last, 0, sizeof(last));
		draw(&seed);
		side.budget = rnd(&seed) % 4 == 0 ? BESIDE : 0;
		waited += side.budget > 0 && one_way() && leads_left(ways[0]);
		expected += one_way() && (side.budget == 0 || !leads_left(ways[0]));
		hy_graph_walk(graph);
		assert_int_equal(graph->append_cap, wide ? 0 : graph->plan.stream_cap);
	}
	assert_int_equal(mid.objs, WALKS * (BURST * (SOURCES - 1) + REST));
	assert_int_equal(to[0].objs + to[1].objs + to[2].objs, mid.objs + side.objs);
	assert_int_equal(edge_objs(graph, "mid", 0), to[0].objs - side.objs);
	assert_int_equal(edge_objs(graph, "mid", 1), to[1].objs);
	assert_int_equal(edge_objs(graph, "mid", HY_DROP(0)), to[2].objs);
	assert_int_equal(exchanged, expected);
	assert_true(waited > WALKS / 64);
	assert_true(exchanged > WALKS / 8 && copied > WALKS / 4);
	for (unsigned int way = 0; way < WAYS; way++)
		assert_true(used[way] > WALKS / 8);
	assert_int_equal(obj_faults, 0);
	assert_int_equal(obj_under_way, 0);
	assert_int_equal(stream_full(graph), 0);
	registry_clear();
}

static void
parts_of_a_stream_keep_order_and_lanes_in_any_way(void **state)
{
	unsigned int bodies = 0;

	RTE_SET_USED(state);
	for (unsigned int b = 0; b < hy_scatter_nb_bodies; b++) {
		const struct hy_scatter_body *body = &hy_scatter_bodies[b];

		if (!body->cpu_can())
			continue;
		for (unsigned int with = 0; with < 2; with++) {
			wide = with != 0;
			go_in_any_way(body->scatter);
		}
		bodies++;
	}
	assert_true(bodies > 0);
}

static const struct CMUnitTest parts_tests[] = {
	GRAPH_TEST(parts_of_a_stream_keep_order_and_lanes_in_any_way),
};

UNIT_SUITE(parts_tests)
