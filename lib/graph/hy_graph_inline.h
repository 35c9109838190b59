/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, fast path: the insides of hy_graph_worker.h, which includes this. They are public
 * only to be inlined: a node's code uses node->ctx and the functions of hy_graph_worker.h.
 */
#ifndef HY_GRAPH_INLINE_H
#define HY_GRAPH_INLINE_H

#include <stdalign.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include <hy_graph_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * The index in struct hy_node.edges at which the counter @p c of a node stands: before room for all
 * the drop reasons that a node can have, so that it is a constant. Nodes use hy_counter_add().
 */
#define HY_COUNTER_SLOT(c) (-1 - HY_CORE_DROPS - HY_DESC_DROPS - (int)(c))

/** An edge in a compiled graph, or a drop reason: those are edges with negative indexes. */
struct hy_edge {
	struct hy_node *to; /**< NULL only for the core's own drop reasons. */
	uint64_t objs;      /**< Objects that took the edge since the plan was taken up. */
};

/**
 * What a walk touches of a node: one cache line, written by its graph's worker alone. A node's code
 * uses ctx; the rest is the core's, shown so that the functions below can be inlined.
 */
struct hy_node {
	alignas(RTE_CACHE_LINE_SIZE) hy_node_process_t *process; /**< Of its implementation. */
	void *ctx;                  /**< The node's private context, ctx_size bytes. */
	void **stream;              /**< Waiting objects, then the lanes. */
	struct hy_edge *edges;      /**< [-drops, edges); before the drops, the node's counters. */
	uint64_t calls;             /**< Calls of process since the plan was taken up. */
	uint64_t objs;              /**< Objects taken (made, by a source) since then. */
	uint32_t waiting;           /**< Objects in the stream. */
	uint16_t rank;              /**< Place in walk order. */
	uint16_t replicates;        /**< Most objects out for one in; at least 1. */
	uint8_t lane[HY_LANES_MAX]; /**< Graph lane of each of the node's lanes. */
	uint8_t lanes_in;  /**< Bit l: it, or a node behind it, uses lane l of the graph. */
	uint8_t lanes_out; /**< Bit l: its objects may have a value in lane l. */
};

/** Sends each object of a burst along its own edge; n is at least 1. See hy_enqueue_next(). */
typedef void(hy_scatter_t)(struct hy_graph *graph, struct hy_node *node, const uint16_t *next,
	void **objs, uint32_t n);

/**
 * What a walk is to do: compiled by hy_graph_create(), and replaced as a whole between two walks
 * when hy_graph_update() has compiled another.
 */
struct hy_plan {
	struct hy_node
		*nodes; /**< By rank; sources first; behind the last, one that never has objects. */
	uint64_t *pending;     /**< Bit r: the node of rank r has objects waiting. */
	uint16_t *budgets;     /**< Of each source, most objects a walk; see hy_graph.h. */
	hy_scatter_t *scatter; /**< The body of hy_enqueue_next() for this CPU. */
	const struct hy_object_ops *ops; /**< What may be done to the objects. */
	uint32_t stream_cap;             /**< Objects that a stream holds. */
	uint16_t nb_nodes;               /**< Entries of nodes. */
	uint16_t nb_sources;             /**< The first nodes, which make objects. */
	uint16_t nb_words;               /**< 64-bit words in the bitmap of pending nodes. */
	uint16_t burst;                  /**< Most objects a call. */
	uint16_t source_budget;          /**< What budgets are at first. */
	uint16_t max_sweeps;             /**< Most passes a walk. */
	uint16_t sample_every;           /**< One walk in so many is timed. */
	uint8_t nb_lanes;                /**< Lanes of every stream. */
	bool cyclic;    /**< Has a back edge: objects may stay over from walk to walk. */
	bool throttled; /**< Streams could overflow; nodes take input as targets have room. */
	bool modelled;  /**< Is walked by a model of struct hy_graph_params, not by the core. */
	uint32_t lane_offset[HY_LANES_MAX]; /**< From a stream's start, in bytes. */
};

/**
 * A graph, as its worker sees it. Node code uses the functions below and hy_graph.h.
 *
 * Every cache line that a walk touches has one writer. The graph's first lines, its nodes, streams,
 * edges and bitmap are the worker's; nobody else writes there, and who reads statistics reads only.
 * The line of the attention word is the control plane's: the worker reads it in each walk, and
 * writes to it only when it was asked for attention, or rests. So are the budgets, in lines of
 * their own.
 */
struct hy_graph {
	alignas(RTE_CACHE_LINE_SIZE) struct hy_plan plan; /**< What is walked. */
	uint16_t sample_left;       /**< Walks until the next one that is timed. */
	bool armed;                 /**< The sources' devices have been asked to wake the worker. */
	bool part;                  /**< The node that runs was given only a part of its stream, */
	uint32_t cursor;            /**< which starts here. */
	uint64_t walks;             /**< Walks completed. */
	struct hy_image *image;     /**< The memory of the plan. */
	struct hy_control *control; /**< The control plane's part. */
	struct rte_rcu_qsbr *qsbr;  /**< params.qsbr, or NULL, to which walks report */
	uint32_t reader;            /**< under this id, params.worker. */
	/** What the next walk has to see to before it begins, HY_ATTEND_ bits; mostly 0. Here the
	 * control plane's line starts. */
	alignas(RTE_CACHE_LINE_SIZE) uint32_t attention;
	struct hy_image
		*next; /**< Left by the control plane, for the worker to take up; or NULL. */
	struct hy_trace *trace;     /**< Likewise, for the length of each walk. */
	struct hy_capture *capture; /**< Likewise. */
	struct hy_moment *moment;   /**< To be filled in before the next walk; or NULL. */
};

#define HY_ATTEND_IMAGE 0x1u   /**< There may be a next image. */
#define HY_ATTEND_TRACE 0x2u   /**< There is a trace (hy_trace.h). */
#define HY_ATTEND_CAPTURE 0x8u /**< There is a capture (hy_capture.h). */
#define HY_ATTEND_MOMENT 0x10u /**< Counters are to be copied (hy_stats_read_between_walks()). */
#define HY_ATTEND_OFFLINE 0x4u /**< It rests: see hy_graph_rest(). The worker's own bit. */

/** @cond core Not for node code. */

/* Counters have one writer, the worker; a relaxed store keeps readers from seeing half of one. */
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

/* Whether objs lies in the node's stream, so that lane values stand beside it; and where. */
static inline bool
hy_in_stream(const struct hy_graph *graph, const struct hy_node *node, void **objs, size_t *index)
{
	*index = ((uintptr_t)objs - (uintptr_t)node->stream) / sizeof(*objs);
	return *index < graph->plan.stream_cap;
}

/* Which lanes of a node's objects are of use to a target; all that it uses, if objects are new. */
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

/* Appends as many as fit; releases and counts the rest. */
void hy_stream_overflow(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs,
	uint32_t n);

/* Appends to a stream; the body of every enqueue of known width. */
static __rte_always_inline void
hy_append(struct hy_graph *graph, struct hy_node *node, uint16_t edge, void **objs, uint32_t n)
{
	struct hy_edge *e = &node->edges[(int16_t)edge];
	struct hy_node *to = e->to;
	const uint32_t at = to->waiting;

	/* Apart, so that n stays a constant where it is one: else memcpy() is called for one object. */
	if (unlikely(n > graph->plan.stream_cap - at)) {
		hy_stream_overflow(graph, node, edge, objs, n);
		return;
	}
	memcpy(&to->stream[at], objs, n * sizeof(*objs));
	if (to->lanes_in != 0)
		hy_lanes_append(graph, node, to, objs, n);
	/* What has objects waiting is pending already: no load of the word that was just stored. */
	if (at == 0)
		hy_pending_set(graph, to);
	to->waiting = at + n;
	hy_count(&e->objs, n);
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
	struct hy_node *to = e->to;
	void **stream = node->stream;

	if (n == 0)
		return;
	if (likely((to->waiting | graph->part) == 0)) {
		node->stream = to->stream;
		to->stream = stream;
		to->waiting = n;
		hy_count(&e->objs, n);
		hy_pending_set(graph, to);
	} else {
		hy_stream_append(graph, node, edge, n);
	}
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

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
