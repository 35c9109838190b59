/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes between workers: "out" hands all objects over, "split" those whose flow runs elsewhere,
 * and "in" is the source on the other side. Objects are copied into the ring and out of it, so that
 * the producer's stream never leaves its worker's cache.
 */

#include "dispatch.h"

enum { DROP_RING_FULL };
enum { COUNT_HELD_BACK };
enum { NEXT_TARGET };

struct out_ctx {
	const struct hy_stage *stage;
	unsigned int nb_to;
	struct hy_ring *to[HY_DISPATCH_WORKERS_MAX]; /* NULL: this worker itself */
};

struct in_ctx {
	unsigned int first, nb_from; /* the ring to be looked at first, by turns */
	struct hy_ring *from[HY_DISPATCH_WORKERS_MAX];
};

/* Hands a burst to one other worker. */
static void
hand_over(struct hy_graph *graph, struct hy_node *node, struct hy_ring *ring, void **objs,
	uint16_t n)
{
	const uint16_t sent = (uint16_t)RTE_MIN(n, hy_ring_room(ring, n));

	if (sent > 0)
		hy_ring_put(ring, graph, node, objs, sent);
	hy_enqueue(graph, node, HY_DROP(DROP_RING_FULL), objs + sent, n - sent);
}

/* Where each object goes, by its flow: an index into ctx->to. */
static void
ways(struct hy_graph *graph, const struct out_ctx *ctx, void **objs, uint32_t *to, uint16_t n)
{
	graph->plan.ops->flow_hash(objs, to, n);
	/* Multiplied: RSS used up a NIC hash's low bits, and other hashes have weak high bits. */
	for (uint16_t i = 0; i < n; i++)
		to[i] = (uint32_t)(((uint64_t)(to[i] * UINT32_C(0x9e3779b1)) * ctx->nb_to) >> 32);
}

/* Copies the values of a wide lane of those objects that go one way, the first n, to a place each. */
static void
wide_select(uint8_t *places, uint32_t at, uint32_t mask, const uint8_t *values, uint16_t bytes,
	uint32_t way, const uint32_t *to, uint32_t n)
{
	for (uint32_t i = 0, done = 0; done < n; i++)
		if (to[i] == way)
			memmove(places + (size_t)((at + done++) & mask) * bytes,
				values + (size_t)i * bytes, bytes);
}

/* Puts those objects of a burst that go one way into its ring. */
static void
pick(struct hy_graph *graph, struct hy_node *node, struct hy_ring *ring, uint32_t way,
	const uint32_t *to, void **objs, uint16_t n)
{
	const uint32_t room = hy_ring_room(ring, n), tail = ring->put;
	uint32_t sent = 0;

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t at = (tail + sent) & (ring->size - 1);

		if (to[i] != way)
			continue;
		if (sent == room) {
			hy_enqueue_x1(graph, node, HY_DROP(DROP_RING_FULL), &objs[i]);
			continue;
		}
		if (sent == 0)
			hy_ring_aim(ring, objs[i]);
		hy_ring_write(ring, sent, objs[i]);
		for (unsigned int l = 0; l < ring->nb_lanes; l++)
			hy_ring_lane(ring, l)[at] = hy_lane(graph, node, l)[i];
		sent++;
	}
	for (unsigned int l = ring->nb_lanes; l < ring->nb_all; l++)
		wide_select(ring->lanes[l], tail, ring->size - 1,
			hy_lane_wide(graph, node, l - ring->nb_lanes), ring->bytes[l], way, to,
			sent);
	if (sent > 0)
		hy_ring_publish(ring, sent);
}

/* Sends on those objects that stay: after all others, as their places are used. */
static void
keep(struct hy_graph *graph, struct hy_node *node, uint32_t way, const uint32_t *to, void **objs,
	uint16_t n)
{
	const struct hy_dispatch *dispatch = ((const struct out_ctx *)node->ctx)->stage->dispatch;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (to[i] != way)
			continue;
		objs[kept] = objs[i];
		for (unsigned int l = 0; l < graph->plan.nb_lanes; l++)
			hy_lane(graph, node, l)[kept] = hy_lane(graph, node, l)[i];
		kept++;
	}
	for (unsigned int l = 0; l < dispatch->nb_wide; l++) {
		uint8_t *values = hy_lane_wide(graph, node, l);

		wide_select(values, 0, UINT32_MAX, values, dispatch->wide[l].bytes, way, to, kept);
	}
	hy_enqueue(graph, node, NEXT_TARGET, objs, kept);
}

static uint16_t
out_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct out_ctx *ctx = node->ctx;
	uint32_t to[HY_BURST_MAX];
	unsigned int own = ctx->nb_to;

	if (ctx->nb_to == 1) {
		hand_over(graph, node, ctx->to[0], objs, n);
		return n;
	}
	ways(graph, ctx, objs, to, n);
	for (unsigned int way = 0; way < ctx->nb_to; way++) {
		if (ctx->to[way] != NULL)
			pick(graph, node, ctx->to[way], way, to, objs, n);
		else
			own = way;
	}
	if (own < ctx->nb_to)
		keep(graph, node, own, to, objs, n);
	return n;
}

int
hy_handoff_graph_check(const struct hy_graph *graph, const struct hy_node *node,
	const struct hy_dispatch *dispatch)
{
	const uint16_t worker = hy_graph_worker(graph);
	struct hy_graph_params params;
	const struct hy_view *view;
	char name[HY_NAME_SIZE];

	hy_dispatch_graph_name(dispatch, worker, name);
	hy_graph_params_get(graph, &params);
	view = params.walk_ctx;
	/* The name alone may be taken by another graph before the dispatch's is created. */
	if (params.walk == hy_credit_walk && view->dispatch == dispatch && view->worker == worker &&
		strcmp(name, hy_graph_name(graph)) == 0)
		return 0;
	return hy_node_refuse(graph, node, "is for the graphs of dispatch '%s' alone",
		dispatch->name);
}

static int
out_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_stage *stage = *(struct hy_stage *const *)config;
	const uint16_t worker = hy_graph_worker(graph);
	struct out_ctx *ctx = node->ctx;
	const int rc = hy_handoff_graph_check(graph, node, stage->dispatch);

	if (rc < 0)
		return rc;
	ctx->stage = stage;
	for (uint64_t left = stage->workers; left != 0; left &= left - 1) {
		const unsigned int to = (unsigned int)__builtin_ctzll(left);

		ctx->to[ctx->nb_to++] = to == worker
			? NULL
			: stage->rings[worker * stage->nb_workers + to];
	}
	return 0;
}

static uint16_t
in_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct in_ctx *ctx = node->ctx;
	uint32_t got = 0;

	for (unsigned int i = 0, r = ctx->first; i < ctx->nb_from && got < n; i++) {
		got += hy_ring_take(ctx->from[r], graph, node, objs, got, n - got);
		r = r + 1 < ctx->nb_from ? r + 1 : 0;
	}
	if (++ctx->first >= ctx->nb_from)
		ctx->first = 0;
	hy_stream_move(graph, node, NEXT_TARGET, (uint16_t)got);
	return (uint16_t)got;
}

static int
in_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_stage *stage = *(struct hy_stage *const *)config;
	struct in_ctx *ctx = node->ctx;
	const int rc = hy_handoff_graph_check(graph, node, stage->dispatch);

	if (rc < 0)
		return rc;
	for (unsigned int from = 0; from < stage->nb_workers; from++) {
		struct hy_ring *ring =
			stage->rings[from * stage->nb_workers + hy_graph_worker(graph)];

		if (ring != NULL)
			ctx->from[ctx->nb_from++] = ring;
	}
	return 0;
}

void
hy_handoff_held(struct hy_graph *graph, const struct hy_stage *stage)
{
	for (unsigned int r = graph->plan.nb_sources; r < graph->plan.nb_nodes; r++) {
		struct hy_node *node = &graph->plan.nodes[r];

		if (hy_walk_process(node) == out_process &&
			((const struct out_ctx *)node->ctx)->stage == stage)
			hy_counter_add(node, COUNT_HELD_BACK, 1);
	}
}

#define LEAVES(which) \
	{ \
		.name = (which), \
		.impl = { .process = out_process, \
			.init = out_init, \
			.ctx_size = sizeof(struct out_ctx) }, \
		.drops = { [DROP_RING_FULL] = { "ring_full", HY_SEV_ERROR, \
				   "The ring to another worker was full" } }, \
		.counters = { [COUNT_HELD_BACK] = { "held_back", "walks", HY_SEV_INFO, \
				      "Walks in which a source was not called, as this ring " \
				      "was full" } }, \
	}

const struct hy_node_desc hy_handoff_nodes[STAGE_NODES] = {
	[STAGE_OUT] = LEAVES("out"),
	[STAGE_SPLIT] = LEAVES("split"),
	[STAGE_IN] = { .name = "in",
		.flags = HY_NODE_SOURCE | HY_NODE_WAKES,
		.impl = { .process = in_process,
			.init = in_init,
			.ctx_size = sizeof(struct in_ctx) } },
};
