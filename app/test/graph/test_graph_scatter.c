/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bodies of hy_enqueue_next() against a plain model: what waits at each target, in which order
 * and with which lane values, what is counted, what is released, when streams are exchanged, and
 * that memory beyond the streams' ends is as it was.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_vect.h>

#include "graph_fixture.h"
#include "lib/graph/compile/image.h"
#include "lib/graph/walk/enqueue.h"

#define EDGES_MAX 130
#define DROPS 3
#define POISON 0x5a
#define BURST 256
#define CAP (2 * BURST) /* two sources */

/* One node with all its targets, and what the model thinks of each of them. */
struct bench {
	struct hy_graph *graph;
	struct hy_node *node;
	uint8_t *memory; /* of all streams */
	size_t size, stride;
	uint64_t seed;
	unsigned int nb_lanes;
	/* The model, by target: the edges', then the drop node. */
	uint32_t waiting[EDGES_MAX + 1];
	void *objs[EDGES_MAX + 1][CAP];
	uint32_t lanes[EDGES_MAX + 1][HY_LANES_MAX][CAP];
	uint64_t counted[EDGES_MAX + DROPS];
	uint64_t overflown;
	unsigned int exchanged;
};

static unsigned int edges; /* of the node */
static uint64_t released;  /* by the graph's release(): how many, and which */
static uint64_t released_sum;

static void
release(void **objs, unsigned int n)
{
	released += n;
	for (unsigned int i = 0; i < n; i++)
		released_sum += (uintptr_t)objs[i];
}

static const struct hy_object_ops ops = { release };

/* Targets and counters of an edge or a drop reason. */
static unsigned int
target_of(uint16_t next)
{
	return next < edges ? next : edges;
}

static unsigned int
counter_of(uint16_t next)
{
	return next < edges ? next : edges + (uint16_t)(HY_DROP(0) - next);
}

static struct hy_node *
target(struct bench *b, unsigned int t)
{
	return t < edges ? b->node->edges[t].to : b->node->edges[(int16_t)HY_DROP(0)].to;
}

static void
bench_open(struct bench *b, unsigned int nb_edges, unsigned int nb_lanes, hy_scatter_t *scatter)
{
	static const char *const lanes[HY_LANES_MAX] = { "a", "b", "c", "d" };
	struct hy_graph_params params = { .ops = &ops, .burst = BURST, .drop_node = "drop" };
	const hy_node_id x = NODE(NULL, .name = "x", .impl.process = probe_sink,
		.drops = { { "d0" }, { "d1" }, { "d2" } });

	memset(b, 0, sizeof(*b));
	edges = nb_edges;
	released = 0;
	released_sum = 0;
	source_add(NULL, "src0", "x");
	source_add(NULL, "src1", "x");
	sink_add(NULL, "drop");
	for (unsigned int e = 0; e < edges; e++) {
		char name[16];

		snprintf(name, sizeof(name), "to-%u", e);
		sink_add(NULL, name);
		assert_int_equal(hy_node_edge_add(x, name, NULL), 0);
	}
	b->nb_lanes = nb_lanes;
	memcpy(params.lanes, lanes, nb_lanes * sizeof(*lanes));
	b->graph = graph_add("g", &params);
	b->graph->plan.scatter = scatter;
	assert_int_equal(b->graph->plan.stream_cap, CAP);
	b->node = graph_node(b->graph, "x");
	/* As if somebody behind used every lane. */
	for (unsigned int r = 0; r < b->graph->plan.nb_nodes; r++) {
		b->graph->plan.nodes[r].lanes_in = (uint8_t)((1u << nb_lanes) - 1);
		b->graph->plan.nodes[r].lanes_out = (uint8_t)((1u << nb_lanes) - 1);
	}
	b->memory = b->graph->image->streams;
	b->stride = RTE_PTR_DIFF(b->graph->plan.nodes[1].stream, b->graph->plan.nodes[0].stream);
	b->size = b->stride * b->graph->plan.nb_nodes;
	memset(b->memory, POISON, b->size);
}

/* The model of sending one object. */
static void
model_send(struct bench *b, uint16_t next, void *obj, const uint32_t lanes[])
{
	const unsigned int t = target_of(next);
	const uint32_t at = b->waiting[t];

	if (at == CAP) {
		b->overflown++;
		return;
	}
	b->objs[t][at] = obj;
	for (unsigned int l = 0; l < b->nb_lanes; l++)
		b->lanes[t][l][at] = lanes[l];
	b->waiting[t]++;
	b->counted[counter_of(next)]++;
}

/* Writes poison again over all that a stream of this length can have been written to. */
static void
poison(struct bench *b, void **stream, uint32_t n)
{
	memset(stream, POISON, (n + HY_STREAM_SLACK) * sizeof(*stream));
	for (unsigned int l = 0; l < b->nb_lanes; l++)
		memset(hy_stream_lane(b->graph, stream, l), POISON,
			(n + HY_STREAM_SLACK) * sizeof(uint32_t));
}

/*
 * Whether the drop node has what it should. Order is kept for each reason, which an object's last
 * bits tell, and not between them.
 */
static bool
drops_match(const struct bench *b, void *const *stream)
{
	uint32_t at[DROPS] = { 0 };

	for (uint32_t i = 0; i < b->waiting[edges]; i++) {
		const unsigned int reason = (uintptr_t)stream[i] % 8;

		while (at[reason] < b->waiting[edges] &&
			(uintptr_t)b->objs[edges][at[reason]] % 8 != reason)
			at[reason]++;
		if (at[reason] == b->waiting[edges] || b->objs[edges][at[reason]] != stream[i])
			return false;
		for (unsigned int l = 0; l < b->nb_lanes; l++)
			if (hy_stream_lane(b->graph, (void **)(uintptr_t)stream, l)[i] !=
				b->lanes[edges][l][at[reason]])
				return false;
		at[reason]++;
	}
	return true;
}

/* Compares targets and counters with the model, and empties both. */
static void
settle(struct bench *b, const char *what, uint32_t n)
{
	for (unsigned int t = 0; t <= edges; t++) {
		struct hy_node *to = target(b, t);
		const bool ordered = t < edges;
		const bool is_pending = (b->graph->plan.pending[to->rank / 64] >> (to->rank % 64) &
						1) != 0;

		if (to->waiting != b->waiting[t] || is_pending != (b->waiting[t] > 0))
			fail_msg("%s, n %u: %u objects at target %u, expected %u", what, n,
				to->waiting, t, b->waiting[t]);
		if (!ordered && !drops_match(b, to->stream))
			fail_msg("%s, n %u: drops differ", what, n);
		if (ordered && memcmp(to->stream, b->objs[t], to->waiting * sizeof(void *)) != 0)
			fail_msg("%s, n %u: objects at target %u differ", what, n, t);
		for (unsigned int l = 0; l < b->nb_lanes && ordered; l++)
			if (memcmp(hy_stream_lane(b->graph, to->stream, l), b->lanes[t][l],
				    to->waiting * sizeof(uint32_t)) != 0)
				fail_msg("%s, n %u: lane %u at target %u differs", what, n, l, t);
		poison(b, to->stream, to->waiting);
		to->waiting = 0;
		b->waiting[t] = 0;
	}
	for (unsigned int e = 0; e < edges; e++)
		assert_int_equal(b->node->edges[e].objs, b->counted[e]);
	for (int d = 0; d < DROPS; d++)
		assert_int_equal(b->node->edges[(int16_t)HY_DROP(d)].objs, b->counted[edges + d]);
	assert_int_equal(b->node->edges[-1 - HY_CORE_DROP_STREAM_FULL].objs, b->overflown);
	assert_int_equal(released, b->overflown);
	memset(b->graph->plan.pending, 0, b->graph->plan.nb_words * sizeof(uint64_t));
}

/* All memory of streams is poison again, if nothing was written where nothing belongs. */
static void
assert_untouched(const struct bench *b)
{
	for (size_t i = 0; i < b->size; i++)
		if (b->memory[i] != POISON)
			fail_msg("byte %zu of stream %zu was written to", i % b->stride,
				i / b->stride);
}

/* How a case is handed over. */
enum where { WHOLE, PART, TAIL, ELSEWHERE };

/* Runs one burst through the body and the model. */
static void
one_burst(struct bench *b, const char *what, const uint16_t *next, uint32_t n, enum where where)
{
	static void *elsewhere[UINT16_MAX];
	struct hy_node *node = b->node;
	void **const stream = node->stream;
	const bool empty = b->waiting[target_of(next[0])] == 0;
	const uint32_t first = where == TAIL ? 100 : 0;
	void **objs = where == ELSEWHERE ? elsewhere : stream + first;
	bool uniform = true;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t lanes[HY_LANES_MAX] = { 0 };

		const unsigned int reason = next[i] < edges ? 0 : counter_of(next[i]) - edges;

		objs[i] = (void *)(uintptr_t)(8 * (rnd(&b->seed) | UINT64_C(1) << 33) + reason);
		for (unsigned int l = 0; l < b->nb_lanes && where != ELSEWHERE; l++) {
			lanes[l] = rnd(&b->seed);
			hy_stream_lane(b->graph, stream, l)[first + i] = lanes[l];
		}
		model_send(b, next[i], objs[i], lanes);
		uniform = uniform && next[i] == next[0];
	}
	b->graph->cursor = first;
	b->graph->part = where != WHOLE;
	node->waiting = first + n;
	b->graph->plan.scatter(b->graph, node, next, objs, n);
	node->waiting = 0;
	b->graph->cursor = 0;
	b->graph->part = false;
	if (where == WHOLE && uniform && empty) {
		if (node->stream == stream || target(b, target_of(next[0]))->stream != stream)
			fail_msg("%s, n %u: streams were not exchanged", what, n);
		b->exchanged++;
	} else {
		if (node->stream != stream)
			fail_msg("%s, n %u: streams were exchanged", what, n);
		if (where != ELSEWHERE)
			poison(b, stream, first + n);
	}
}

/* Distinct edges in a burst, and how they follow each other. */
enum shape { ALL_ONE, ALTERNATE, RUNS, RANDOM, LAST_DIFFERS, FIRST_DIFFERS, DROPS_TOO, SHAPES };

static const char *const shape_names[SHAPES] = { "all one", "alternating", "runs", "random",
	"last differs", "first differs", "with drops" };

static void
fill(uint16_t next[], uint32_t n, enum shape shape, unsigned int distinct, uint64_t *seed)
{
	/* Few edges are always the same ones, so that they can be filled up. */
	const uint16_t base = (uint16_t)(shape == RUNS ? 0 : rnd(seed) % edges);

	for (uint32_t i = 0; i < n; i++) {
		unsigned int pick = 0;

		switch (shape) {
		case ALTERNATE:
			pick = i % distinct;
			break;
		case RUNS:
			pick = i / (1 + n / 10) % distinct;
			break;
		case RANDOM:
			pick = rnd(seed) % distinct;
			break;
		case LAST_DIFFERS:
			pick = i == n - 1;
			break;
		case FIRST_DIFFERS:
			pick = i == 0;
			break;
		case DROPS_TOO:
			pick = rnd(seed) % distinct;
			break;
		default:
			break;
		}
		next[i] = (uint16_t)((base + pick) % edges);
		if (shape == DROPS_TOO && rnd(seed) % 3 == 0)
			next[i] = HY_DROP(rnd(seed) % DROPS);
	}
}

static struct bench bench;

/* Every n from 1 to a full burst, in every shape, with and without objects that wait already. */
static void
compare_with_model(hy_scatter_t *scatter, unsigned int nb_edges, unsigned int nb_lanes)
{
	static const unsigned int distinct[] = { 1, 2, 4, 8, 9, 16, 64, 126, 127, 128, 130 };
	struct bench *b = &bench;
	unsigned int compared = 0;
	uint16_t next[HY_BURST_MAX];

	bench_open(b, nb_edges, nb_lanes, scatter);
	assert_int_equal(b->graph->plan.nb_words, nb_edges < 60 ? 1 : nb_edges / 64 + 1);
	for (uint32_t n = 1; n <= HY_BURST_MAX; n++) {
		for (enum shape shape = 0; shape < SHAPES; shape++) {
			const unsigned int d = distinct[(n + shape) % RTE_DIM(distinct)];
			const enum where where = (enum where)((n / 7 + shape) % 4);

			if ((n + shape) % 3 == 0) {
				fill(next, n, RANDOM, 16, &b->seed);
				one_burst(b, "before", next, n, ELSEWHERE);
			}
			fill(next, n, shape, d, &b->seed);
			one_burst(b, shape_names[shape], next, n, where);
			settle(b, shape_names[shape], n);
			compared++;
		}
		for (unsigned int i = 0; i < RTE_DIM(distinct); i++) {
			fill(next, n, RANDOM, distinct[i], &b->seed);
			one_burst(b, "random", next, n, WHOLE);
			settle(b, "random", n);
			compared++;
		}
		if (n % 32 == 0)
			assert_untouched(b);
	}
	assert_untouched(b);
	assert_int_equal(compared, 256 * (SHAPES + RTE_DIM(distinct)));
	assert_true(b->exchanged > 256);
	registry_clear();
}

/* Streams that cannot take all: the first that fit are taken on each edge, the rest is released. */
static void
compare_overflow(hy_scatter_t *scatter)
{
	struct bench *b = &bench;
	uint16_t next[HY_BURST_MAX];
	uint64_t full = 0;

	bench_open(b, 64, 2, scatter);
	for (unsigned int round = 0; round < 400; round++) {
		const uint32_t n = 1 + rnd(&b->seed) % HY_BURST_MAX;
		const unsigned int distinct = 1 + round % 12;

		/* Until streams are full, and on. */
		for (unsigned int i = 0; i < 24; i++) {
			fill(next, n, i % 4 == 0 ? RANDOM : RUNS, distinct, &b->seed);
			one_burst(b, "overflow", next, n, i % 2 == 0 ? PART : ELSEWHERE);
		}
		settle(b, "overflow", n);
		full += b->overflown > 0;
	}
	assert_untouched(b);
	assert_true(b->overflown > 50000);
	assert_true(full > 300);
	registry_clear();
}

/* Objects of a node's own making can be more than a burst. */
static void
compare_more_than_a_burst(hy_scatter_t *scatter)
{
	static const uint32_t sizes[] = { 257, 288, 300, 511, 512, 513, 1000, 4096, 65535 };
	static uint16_t next[UINT16_MAX];
	struct bench *b = &bench;
	unsigned int compared = 0;

	bench_open(b, 64, 1, scatter);
	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		for (enum shape shape = 0; shape < SHAPES; shape++) {
			/* The drop node can overflow in another order: each edge in its own. */
			if (shape == DROPS_TOO && sizes[i] > CAP)
				continue;
			fill(next, sizes[i], shape, 64, &b->seed);
			one_burst(b, shape_names[shape], next, sizes[i], ELSEWHERE);
			settle(b, shape_names[shape], sizes[i]);
			compared++;
		}
	}
	assert_untouched(b);
	assert_int_equal(compared, 9 * SHAPES - 4);
	registry_clear();
}

/* Runs a comparison on every body that this CPU can run, the scalar one among them. */
static void
for_all_bodies(void (*compare)(hy_scatter_t *scatter))
{
	unsigned int compared = 0;

	for (unsigned int i = 0; i < hy_scatter_nb_bodies; i++) {
		const struct hy_scatter_body *body = &hy_scatter_bodies[i];

		if (!body->cpu_can()) {
			print_message("# not compared: this CPU cannot run %s\n", body->name);
			continue;
		}
		compare(body->scatter);
		compared++;
	}
	assert_in_range(compared, 1, hy_scatter_nb_bodies);
	assert_ptr_equal(hy_scatter_bodies[hy_scatter_nb_bodies - 1].scatter, hy_scatter_scalar);
	assert_true(hy_scatter_bodies[hy_scatter_nb_bodies - 1].cpu_can());
}

static void
compare_with_all_lanes(hy_scatter_t *scatter)
{
	for (unsigned int lanes = 0; lanes <= HY_LANES_MAX; lanes++)
		compare_with_model(scatter, 64, lanes);
	/* Pending bits in a single word; and more edges than are dealt out to at once. */
	compare_with_model(scatter, 16, 1);
	compare_with_model(scatter, EDGES_MAX, 1);
}

static void
every_scatter_does_what_the_model_does(void **state)
{
	RTE_SET_USED(state);
	for_all_bodies(compare_with_all_lanes);
}

static void
every_scatter_releases_what_does_not_fit(void **state)
{
	RTE_SET_USED(state);
	for_all_bodies(compare_overflow);
}

static void
every_scatter_takes_more_than_a_burst(void **state)
{
	RTE_SET_USED(state);
	for_all_bodies(compare_more_than_a_burst);
}

static void
the_best_scatter_is_the_first_that_cpu_and_simd_width_allow(void **state)
{
	const uint16_t width = rte_vect_get_max_simd_bitwidth();
	unsigned int i = 0;

	RTE_SET_USED(state);
	while (hy_scatter_bodies[i].simd_bits > width || !hy_scatter_bodies[i].cpu_can())
		i++;
	assert_ptr_equal(hy_scatter_best(), hy_scatter_bodies[i].scatter);
	for (i = 1; i < hy_scatter_nb_bodies; i++)
		assert_true(hy_scatter_bodies[i].simd_bits < hy_scatter_bodies[i - 1].simd_bits);
	/* Who only looks at another process's graphs has no EAL, and no width. */
	assert_int_equal(hy_scatter_bodies[hy_scatter_nb_bodies - 1].simd_bits, 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(every_scatter_does_what_the_model_does),
	GRAPH_TEST(every_scatter_releases_what_does_not_fit),
	GRAPH_TEST(every_scatter_takes_more_than_a_burst),
	GRAPH_TEST(the_best_scatter_is_the_first_that_cpu_and_simd_width_allow),
};

UNIT_SUITE(tests)
