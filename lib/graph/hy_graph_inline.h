/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, fast path: the internals of hy_graph_worker.h, which includes this file. They are
 * public only to be inlined. Node code uses node->ctx and the functions of hy_graph_worker.h.
 */
#pragma once

#include <stdalign.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include <hy_graph_worker.h>

HY_API_BEGIN

/**
 * The index of counter @p c in struct hy_node.edges. Counters precede room for all the drop reasons
 * that a node can have, so the index is a constant. Nodes use hy_counter_add().
 */
#define HY_COUNTER_SLOT(c) (-1 - HY_CORE_DROPS - HY_DESC_DROPS - (int)(c))

/** An edge in a compiled graph. Drop reasons are edges with negative indexes. */
struct hy_edge {
	struct hy_node *to; /**< NULL only for the core's own drop reasons. */
	uint64_t objs; /**< Objects that took the edge since the worker switched to the plan. */
};

/**
 * The part of a node that a walk uses: one cache line, written only by the graph's worker. Node
 * code uses ctx; the other members belong to the core, and are public for the inlined functions
 * below.
 */
struct hy_node {
	alignas(RTE_CACHE_LINE_SIZE) hy_node_process_t *process; /**< Of its implementation. */
	void *ctx;                  /**< The node's private context, ctx_size bytes. */
	void **stream;              /**< Waiting objects, then the lanes. */
	struct hy_edge *edges;      /**< [-drops, edges); before the drops, the node's counters. */
	uint64_t calls;             /**< Calls of process since the worker switched to the plan. */
	uint64_t objs;              /**< Objects handled (or made by a source) since then. */
	uint32_t waiting;           /**< Objects in the stream. */
	uint16_t rank;              /**< Place in walk order. */
	uint16_t replicates;        /**< Most objects out for one in; at least 1. */
	uint8_t lane[HY_LANES_MAX]; /**< Graph lane of each of the node's lanes. */
	uint8_t lanes_in;  /**< Bit l: values of lane l of the graph must be brought to it. */
	uint8_t lanes_out; /**< Bit l: its objects may have a value in lane l. */
};

/** Sends each object of a burst along its own edge; n is at least 1. See hy_enqueue_next(). */
typedef void(hy_scatter_t)(struct hy_graph *graph, struct hy_node *node, const uint16_t *next,
	void **objs, uint32_t n);

/**
 * The data that a walk follows. Compiled by hy_graph_create(), and replaced as a whole between two
 * walks after hy_graph_update() compiled another.
 */
struct hy_plan {
	struct hy_node
		*nodes; /**< By rank; sources first; after the last, one that never has objects. */
	uint64_t *pending;     /**< Bit r: the node of rank r has objects waiting. */
	uint16_t *budgets;     /**< Of each source, most objects a walk; see hy_graph.h. */
	hy_scatter_t *scatter; /**< The body of hy_enqueue_next() for this CPU. */
	const struct hy_object_ops *ops; /**< Operations on the objects. */
	uint32_t stream_cap;             /**< Objects that a stream holds. */
	uint16_t nb_nodes;               /**< Entries of nodes. */
	uint16_t nb_sources;             /**< The first nodes, which make objects. */
	uint16_t nb_words;               /**< 64-bit words in the bitmap of pending nodes. */
	uint16_t burst;                  /**< Most objects a call. */
	uint16_t source_budget;          /**< Initial budget of each source. */
	uint16_t max_sweeps;             /**< Most passes a walk. */
	uint16_t sample_every;           /**< Every so many walks, one is timed. */
	uint8_t nb_lanes;                /**< Lanes of every stream. */
	bool cyclic;    /**< Has a back edge: objects may stay from walk to walk. */
	bool throttled; /**< Streams could overflow; nodes take as much as targets have room for. */
	bool modelled;  /**< A model of struct hy_graph_params walks it, not the core. */
	uint32_t lane_offset[HY_LANES_MAX]; /**< From a stream's start, in bytes. */
};

/**
 * A graph as its worker uses it. Node code uses the functions below and hy_graph.h.
 *
 * Every cache line that a walk touches has one writer. The graph's first lines, its nodes, streams,
 * edges and bitmap are the worker's; nobody else writes there, and who reads statistics reads only.
 * The line of the attention word is the control plane's: the worker reads it in each walk, and
 * writes to it only when it was asked for attention, or rests. So are the budgets, in lines of
 * their own.
 */
struct hy_graph {
	alignas(RTE_CACHE_LINE_SIZE) struct hy_plan plan; /**< The plan to walk. */
	uint16_t sample_left;   /**< Walks until the next one that is timed. */
	bool armed;             /**< The sources' devices were asked to wake the worker. */
	uint8_t part;           /**< The running node's burst is a part of its stream: HY_PART_. */
	uint32_t cursor;        /**< The start of that part. */
	uint64_t walks;         /**< Walks completed. */
	struct hy_image *image; /**< The memory of the plan. */
	struct hy_control *control; /**< The control plane's part. */
	struct rte_rcu_qsbr *qsbr;  /**< params.qsbr, to which walks report, or NULL. */
	uint32_t reader;            /**< Id of these reports: params.worker. */
	/** plan.stream_cap; 0 if wide lanes must be copied too, or handed objects before any others:
	 * hy_append() then calls hy_append_apart(). */
	uint32_t append_cap;
	/** Tasks before the next walk, HY_ATTEND_ bits; mostly 0. The control plane's cache line
	 * starts here. */
	alignas(RTE_CACHE_LINE_SIZE) uint32_t attention;
	struct hy_image
		*next; /**< Published image to which the worker has not switched, or NULL. */
	struct hy_trace *trace;     /**< Lent to the worker during each walk, or NULL. */
	struct hy_capture *capture; /**< Likewise. */
	struct hy_moment *moment; /**< Copy of counters to fill in before the next walk, or NULL. */
};

#define HY_PART_COPIED 1 /**< What it sends is copied. */
#define HY_PART_KEPT 2   /**< It may stay in its place until the last part was handled. */

#define HY_ATTEND_IMAGE 0x1u   /**< There may be a next image. */
#define HY_ATTEND_TRACE 0x2u   /**< There is a trace (hy_trace.h). */
#define HY_ATTEND_CAPTURE 0x8u /**< There is a capture (hy_capture.h). */
#define HY_ATTEND_MOMENT 0x10u /**< A reader wants counters (hy_stats_read_between_walks()). */
#define HY_ATTEND_OFFLINE 0x4u /**< It rests, see hy_graph_rest(). Only the worker's. */

/** @cond core Not for node code. */

/* Counters have one writer, the worker. The relaxed store keeps them from tearing. */
static inline void
hy_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void
hy_pending_set(struct hy_graph *graph, const struct hy_node *node)
{
	graph->plan.pending[node->rank / 64] |= UINT64_C(1) << (node->rank % 64);
}

static inline uint32_t *
hy_stream_lane(const struct hy_graph *graph, void **stream, unsigned int lane)
{
	return (uint32_t *)((uintptr_t)stream + graph->plan.lane_offset[lane]);
}

/* Whether objs points into the node's stream, which has lane values, and at which index. */
static inline bool
hy_in_stream(const struct hy_graph *graph, const struct hy_node *node, void **objs, size_t *index)
{
	*index = ((uintptr_t)objs - (uintptr_t)node->stream) / sizeof(*objs);
	return *index < graph->plan.stream_cap;
}

/* The lanes of a node's objects that a target needs; for new objects, all that it uses. */
static inline unsigned int
hy_lanes_of_use(const struct hy_node *node, unsigned int lanes_in, bool beside)
{
	return beside ? lanes_in & node->lanes_out : lanes_in;
}

/* Copies lanes of n objects that were copied from objs to the tail of a stream. */
static __rte_always_inline void
hy_lanes_append(const struct hy_graph *graph, const struct hy_node *node, const struct hy_node *to,
	void **objs, uint32_t n)
{
	size_t from;
	const bool beside = hy_in_stream(graph, node, objs, &from);

	unsigned int lanes = hy_lanes_of_use(node, to->lanes_in, beside);

	for (; lanes != 0; lanes &= lanes - 1) {
		const unsigned int l = (unsigned int)__builtin_ctz(lanes);
		uint32_t *tail = hy_stream_lane(graph, to->stream, l) + to->waiting;

		if (likely(beside))
			memcpy(tail, hy_stream_lane(graph, node->stream, l) + from,
				n * sizeof(*tail));
		else
			memset(tail, 0, n * sizeof(*tail));
	}
}

/* Appends as many as fit, with their wide lanes; releases and counts the rest. */
void hy_append_apart(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs,
	uint32_t n);

/* Appends to a stream that has room, but for wide lanes. The caller makes the target pending. */
static __rte_always_inline void
hy_append_copy(const struct hy_graph *graph, const struct hy_node *node, struct hy_edge *e,
	void **objs, uint32_t n)
{
	struct hy_node *to = e->to;
	const uint32_t at = to->waiting;

	memcpy(&to->stream[at], objs, n * sizeof(*objs));
	if (to->lanes_in != 0)
		hy_lanes_append(graph, node, to, objs, n);
	to->waiting = at + n;
	hy_count(&e->objs, n);
}

static __rte_always_inline void
hy_append_fitting(struct hy_graph *graph, struct hy_node *node, struct hy_edge *e, void **objs,
	uint32_t n)
{
	/* What has objects waiting is pending already: no load of the word that was just stored. */
	if (e->to->waiting == 0)
		hy_pending_set(graph, e->to);
	hy_append_copy(graph, node, e, objs, n);
}

/* Appends to a stream; the body of every enqueue of known width. */
static __rte_always_inline void
hy_append(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint32_t n)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];

	/* Apart, so that n stays a constant where it is one: else memcpy() is called for one object. */
	if (unlikely(e->to->waiting + n > graph->append_cap))
		hy_append_apart(graph, node, edge, objs, n);
	else
		hy_append_fitting(graph, node, e, objs, n);
}

/* Exchanges the streams of a node, whose n objects all take one edge, and of an empty target. */
static inline void
hy_stream_exchange(struct hy_graph *graph, struct hy_node *node, struct hy_edge *e, uint32_t n)
{
	struct hy_node *to = e->to;
	void **stream = node->stream;

	node->stream = to->stream;
	to->stream = stream;
	to->waiting = n;
	hy_count(&e->objs, n);
	hy_pending_set(graph, to);
}

/* hy_stream_move() where something waits at the target, or the node has more to come. */
void hy_stream_append(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n);

static inline uint32_t *
hy_lane(const struct hy_graph *graph, const struct hy_node *node, unsigned int lane)
{
	return hy_stream_lane(graph, node->stream, node->lane[lane]) + graph->cursor;
}

static inline void
hy_enqueue(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint16_t n)
{
	if (n > 0)
		hy_append(graph, node, edge, objs, n);
}

static inline void
hy_enqueue_x1(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs)
{
	hy_append(graph, node, edge, objs, 1);
}

static inline void
hy_enqueue_x2(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs)
{
	hy_append(graph, node, edge, objs, 2);
}

static inline void
hy_enqueue_x4(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs)
{
	hy_append(graph, node, edge, objs, 4);
}

static inline void
hy_enqueue_next(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint16_t n)
{
	if (n > 0)
		graph->plan.scatter(graph, node, next, objs, n);
}

static inline void
hy_stream_move(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];

	if (n == 0)
		return;
	if (likely((e->to->waiting | graph->part) == 0))
		hy_stream_exchange(graph, node, e, n);
	else
		hy_stream_append(graph, node, edge, n);
}

static inline void
hy_counter_add(struct hy_node *node, unsigned int counter, uint64_t n)
{
	hy_count(&node->edges[HY_COUNTER_SLOT(counter)].objs, n);
}

static inline void
hy_release(struct hy_graph *graph, void **objs, uint16_t n)
{
	if (n > 0)
		graph->plan.ops->release(objs, n);
}

/** @endcond */

HY_API_END
