/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, fast path: what a node's process function calls to send objects on, and what a worker
 * calls to walk its graph. A whole node:
 *
 * @code
 * static uint16_t
 * count_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
 * {
 *         RTE_SET_USED(objs);
 *         hy_counter_add(node, 0, n);
 *         hy_stream_move(graph, node, 0, n);
 *         return n;
 * }
 *
 * static const struct hy_node_desc count = {
 *         .name = "count",
 *         .impl = { .process = count_process },
 *         .edges = { "sink" },
 *         .counters = { { "seen", "objects", HY_SEV_INFO, "Objects that passed" } },
 * };
 * HY_NODE_REGISTER(count)
 * @endcode
 *
 * It sends all of its objects along edge 0, to the node "sink". A process function must send, drop
 * or release each of the n objects exactly once, and return n; hy_graph.h says more, and describes
 * the other fields of a descriptor and the properties of a graph, such as hy_graph_worker(). A node
 * keeps its own data in node->ctx, which its init() fills.
 *
 * Only the thread that walks the graph may use these functions. None takes a lock, allocates or
 * fails: hy_graph_create() sizes streams for all objects that the sources can have in the graph. If
 * a node sends more than it declares, the excess is released and counted under the drop reason
 * "stream_full".
 *
 * A stream is the array of objects that wait on one node, with the graph's side-data lanes beside
 * it. While a node runs, its stream holds its burst. Every function that moves objs[i] of that
 * burst also moves the i-th value of every lane, so a node uses the same index for objects and
 * lanes.
 */
#pragma once

#include <hy_graph.h>

HY_API_BEGIN

/**
 * @name What nodes call
 * @{
 */

/**
 * Sends objs[i] along next[i], for all i. Order is kept on every edge. If the node sends its whole
 * input along one edge, and nothing waits at the target, the two streams are swapped and no pointer
 * is copied.
 *
 * @param next Index of an edge, or HY_DROP(), for each object.
 * @param objs Part of the node's burst, sent with its lane values; or pointers stored anywhere
 * else, to new objects, whose lane values are 0.
 */
static inline void hy_enqueue_next(struct hy_graph *graph, struct hy_node *node,
	const uint16_t *next, void **objs, uint16_t n);

/**
 * Sends objects along one edge, in order.
 *
 * @param edge Index of an edge, or HY_DROP().
 * @param objs As for hy_enqueue_next().
 */
static inline void hy_enqueue(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs, uint16_t n);

/** hy_enqueue() of one object, with the number known to the compiler. */
static inline void hy_enqueue_x1(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs);

/** Likewise, of two objects. */
static inline void hy_enqueue_x2(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs);

/** Likewise, of four objects. */
static inline void hy_enqueue_x4(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs);

/**
 * Sends the first @p n objects of the node's burst along one edge, in O(1) when the burst is the
 * node's whole input and nothing waits at the target. The node must not use objs or lanes
 * afterwards.
 *
 * @param n At most the size of the burst; the node must have sent the other objects already.
 */
static inline void hy_stream_move(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	uint16_t n);

/**
 * The edge index that drops an object for reason @p r, an index into the descriptor's drops. Used
 * in next[i] or as an edge.
 */
#define HY_DROP(r) ((uint16_t)(-1 - HY_CORE_DROPS - (r)))

/**
 * The side data of a node's burst.
 *
 * @param lane Index into the lanes of the node's descriptor.
 * @return One value for each object, in their order; for a source, room for the values of the
 * objects that it makes, undefined until written. Not valid after the burst was sent on.
 */
static inline uint32_t *hy_lane(const struct hy_graph *graph, const struct hy_node *node,
	unsigned int lane);

/**
 * A wide lane of the node's burst: like hy_lane(), for an array of larger values (struct
 * hy_wide_lane), each aligned to its size. Call it once a burst.
 *
 * @param lane Index into the wide lanes of the node's descriptor.
 */
void *hy_lane_wide(const struct hy_graph *graph, const struct hy_node *node, unsigned int lane);

/**
 * Adds to a counter of the node. Counts are exact; readers do not disturb this thread.
 *
 * @param counter Index into the counters of the node's descriptor, which must have it.
 */
static inline void hy_counter_add(struct hy_node *node, unsigned int counter, uint64_t n);

/** Frees objects at the end of their path, through the graph's struct hy_object_ops. */
static inline void hy_release(struct hy_graph *graph, void **objs, uint16_t n);

/**
 * Reserves room at the end of a target's stream, to write objects in place. A node uses it to send
 * new objects with lane values, such as the fragments of a packet. Other calls before
 * hy_stream_put() append after the reserved room, which counts as sent until then: reserve no more
 * than will be put. At most one reservation for each target at a time, and none when process
 * returns.
 *
 * @param[in,out] n Objects wanted; on return, those that fit.
 * @return Where to write the objects.
 */
void **hy_stream_get(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t *n);

/** The lane beside the room that hy_stream_get() reserved; its values start as 0. */
uint32_t *hy_stream_get_lane(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	unsigned int lane);

/** hy_stream_get_lane() of a wide lane. */
void *hy_stream_get_wide(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	unsigned int lane);

/**
 * Ends a reservation: sends the first @p n objects written there, and returns the rest of the room.
 *
 * @param n At most what hy_stream_get() granted.
 */
void hy_stream_put(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n);

/** Drop reasons that every node has, before its own; statistics show them. */
enum hy_core_drop {
	HY_CORE_DROP_STREAM_FULL, /**< More objects were sent to a node than its parents declared. */
	HY_CORE_DROP_NODE_REMOVED, /**< Waited on a node that hy_graph_update() removed. */
	HY_CORE_DROPS,
};

/** @} */

/**
 * @name What workers call
 * @{
 */

/**
 * Walks a graph once. First switches to the image that hy_graph_update() published, if any. Then
 * runs every source, and every node that has objects, in rank order. In a graph without cycles,
 * each node runs at most once, on all objects of its parents, and no object stays in the graph. In
 * a cyclic graph, or where nodes declare that they make more objects than streams can hold
 * (HY_STREAM_MAX), objects left after max_sweeps passes wait for the next walk, in which the
 * sources make so many fewer.
 *
 * If no object stays in the graph, the walk ends with a report to the QSBR variable that the graph
 * holds no references (struct hy_graph_params.qsbr).
 *
 * @return Objects that the sources made; 0: there was nothing to do.
 */
uint32_t hy_graph_walk(struct hy_graph *graph);

/**
 * Declares that the calling thread, which walks the graph, will not do so for a while. Until the
 * next walk, writers at the QSBR variable do not wait for the graph. For workers that leave their
 * loop, that sleep without hy_idle_step(), which calls this itself, or that create, change or
 * destroy graphs: init() and fini() may take a lock, such as a table's mutex, that a writer holds
 * while it waits for this graph. A new graph rests.
 *
 * Does nothing while objects stay in a cyclic graph, since they hold references.
 */
void hy_graph_rest(struct hy_graph *graph);

/**
 * Whether a graph rests: no walk is running, and the next one sees what the caller wrote before
 * this call, if both access it with sequential consistency. Any thread may call this.
 */
bool hy_graph_resting(const struct hy_graph *graph);

/** @} */

HY_API_END

/* The inlined functions and their structures. */
#include <hy_graph_inline.h>
