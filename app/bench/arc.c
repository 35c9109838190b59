/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a feature arc between two nodes: with nothing enabled, with a feature for an index
 * that no object has, for half of the objects in random order, and for all. For comparison, the
 * alternative while nothing is enabled: the node before the arc checks a flag once a burst.
 */

#include <stdio.h>
#include <string.h>

#include <hy_arc.h>

#include "bench.h"
#include "graphs.h"

#define WALKS 256    /* per run */
#define OBJECTS 8192 /* cycled through; more than a branch predictor learns */
#define COOKIE 3
#define INDEX_NONE 2 /* objects have 0 and 1 */

struct object {
	uint32_t index;
};

static struct object objects[2]; /* by index */
static void *turn[OBJECTS + HY_BURST_MAX];
static uint32_t ones; /* objects of index 1 among OBJECTS */
static uint16_t per_walk;

enum { SOURCE, PASS, SINK, FEATURE, NODES };

/* One contender: source → pass → sink, with an arc before the sink or without. */
struct way {
	const char *name;
	bool arc;
	bool asks;             /* its pass node checks whether something is enabled */
	unsigned int features; /* bit i: enabled for index i */
	struct hy_graph *graph;
	uint32_t at;
	uint32_t enabled; /* what the pass node checks */
	uint64_t objs;    /* seen by the sink; these count from the last check */
	uint64_t cookies; /* sum of the cookies that the feature got */
	uint64_t walks;
};

struct feature_ctx {
	struct hy_arc_place place;
	struct way *way;
};

static int
way_init(const struct hy_graph *graph __rte_unused, struct hy_node *node, const void *config)
{
	*(struct way **)node->ctx = *(struct way *const *)config;
	return 0;
}

static struct way *
way_of(const struct hy_node *node)
{
	return *(struct way **)node->ctx;
}

static int
feature_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct feature_ctx *ctx = node->ctx;

	ctx->way = *(struct way *const *)config;
	return hy_arc_join(graph, node, 0, &ctx->place);
}

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct way *way = way_of(node);

	n = RTE_MIN(n, per_walk);
	memcpy(objs, &turn[way->at], n * sizeof(*objs));
	way->at = (way->at + n) % OBJECTS;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
ask_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct way *way = way_of(node);

	if (unlikely(__atomic_load_n(&way->enabled, __ATOMIC_ACQUIRE) != 0))
		hy_release(graph, objs, n); /* never taken: the check is what is measured */
	else
		hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
feature_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct feature_ctx *ctx = node->ctx;
	struct hy_arc_hop hop[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	uint64_t cookies = 0;

	hy_arc_hops(graph, node, &ctx->place, hop, n);
	for (uint16_t i = 0; i < n; i++) {
		cookies += hop[i].cookie;
		next[i] = hop[i].edge;
	}
	ctx->way->cookies += cookies;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
sink_process(struct hy_graph *graph __rte_unused, struct hy_node *node, void **objs __rte_unused,
	uint16_t n)
{
	way_of(node)->objs += n;
	return n;
}

static void
index_of(void *const objs[], uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = ((const struct object *)objs[i])->index;
}

static uint64_t
way_run(void *arg)
{
	struct way *way = arg;
	uint64_t made = 0;

	for (unsigned int i = 0; i < WALKS; i++)
		made += hy_graph_walk(way->graph);
	way->walks += WALKS;
	return made;
}

/* The objects of a run are a divisor or a multiple of OBJECTS. */
static bool
way_check(void *arg)
{
	struct way *way = arg;
	const uint64_t n = way->walks * per_walk, rounds = n / OBJECTS;
	uint64_t told = 0;

	if ((way->features & 1) != 0)
		told += rounds * (OBJECTS - ones);
	if ((way->features & 2) != 0)
		told += rounds * ones;
	const bool good = n % OBJECTS == 0 && way->objs == n && way->cookies == told * COOKIE;

	way->objs = way->cookies = way->walks = 0;
	return good;
}

static int
arc_add(const struct way *way)
{
	char name[HY_NAME_SIZE], end[HY_NAME_SIZE], node[HY_NAME_SIZE];
	const struct hy_arc_params params = {
		.end = end, .index = index_of, .socket = SOCKET_ID_ANY
	};
	const struct hy_arc_feature feature = { .arc = name, .node = node };
	struct hy_arc *arc;
	int rc;

	snprintf(name, sizeof(name), "%s_arc", way->name);
	snprintf(end, sizeof(end), "%s_%d", way->name, SINK);
	snprintf(node, sizeof(node), "%s_%d", way->name, FEATURE);
	rc = hy_arc_feature_register(&feature);
	if (rc == 0)
		rc = hy_arc_create(name, &params, &arc);
	for (uint32_t i = 0; i <= INDEX_NONE && rc == 0; i++)
		if ((way->features >> i & 1) != 0)
			rc = hy_arc_enable(arc, node, i, COOKIE);
	return rc;
}

static int
way_create(struct way *way)
{
	hy_node_process_t *const processes[] = { [SOURCE] = source_process,
		[PASS] = way->asks ? ask_process : graph_pass,
		[SINK] = sink_process,
		[FEATURE] = feature_process };
	const struct hy_graph_params params = { .lanes = { HY_ARC_LANE }, .burst = HY_BURST_MAX };
	char pattern[HY_NAME_SIZE];
	int rc = 0;

	for (unsigned int i = 0; i < (way->arc ? NODES : FEATURE) && rc == 0; i++) {
		const bool feature = i == FEATURE;
		const struct graph_node node = { way->name, i, i == SOURCE, i < SINK,
			&(unsigned int){ i + 1 }, feature ? HY_ARC_LANE : NULL };
		const struct hy_node_impl impl = { .process = processes[i],
			.init = feature ? feature_init : way_init,
			.ctx_size = sizeof(struct feature_ctx) };

		rc = graph_node_ours(&node, &impl, &way, sizeof(way));
	}
	if (rc == 0 && way->arc)
		rc = arc_add(way);
	snprintf(pattern, sizeof(pattern), "%s_%d", way->name, SOURCE);
	return rc == 0 ? graph_ours(way->name, pattern, params, &way->graph) : rc;
}

void
bench_arc(void)
{
	static struct way ways[] = {
		{ .name = "disabled", .arc = true },
		{ .name = "none" },
		{ .name = "question", .asks = true },
		{ .name = "others", .arc = true, .features = 1u << INDEX_NONE },
		{ .name = "half", .arc = true, .features = 2 },
		{ .name = "all", .arc = true, .features = 3 },
	};
	static const uint16_t bursts[] = { 64, 256 };
	int failed[RTE_DIM(ways)];

	for (uint32_t i = 0; i < OBJECTS; i++) {
		const uint32_t index = bench_random() % 2;

		turn[i] = &objects[index];
		ones += index;
	}
	objects[1].index = 1;
	memcpy(&turn[OBJECTS], turn, HY_BURST_MAX * sizeof(*turn));
	for (unsigned int w = 0; w < RTE_DIM(ways); w++)
		failed[w] = way_create(&ways[w]);
	for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
		char work[32];
		struct field f = { .work = work };

		per_walk = bursts[b];
		snprintf(work, sizeof(work), "arc_%u", per_walk);
		for (unsigned int w = 0; w < RTE_DIM(ways) && bench_wanted(work); w++) {
			const struct contender c = { .name = ways[w].name,
				.arg = failed[w] == 0 ? &ways[w] : NULL,
				.run = way_run,
				.check = way_check,
				.against = w == 0 ? NULL : ways[w].name,
				.subject = w == 0 };

			if (failed[w] < 0)
				bench_cannot("%s", strerror(-failed[w]));
			field_enter(&f, &c, field_keep);
		}
		field_measure(&f, CYCLES_OBJECT);
	}
	for (unsigned int w = 0; w < RTE_DIM(ways); w++)
		hy_graph_destroy(ways[w].graph);
}
