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
 * hy_graph.h says what a process function must do and what else a descriptor has. A node keeps what
 * is its own in node->ctx, which its init() fills; hy_graph_worker() and the other properties of a
 * graph are there, too.
 *
 * Everything here belongs to the one thread that walks the graph, and nothing takes a lock,
 * allocates or fails: hy_graph_create() sizes streams for all that the sources can have under way,
 * and what a misdeclared node makes beyond that is released and counted under the drop reason
 * "stream_full".
 *
 * A stream is the array of objects that wait on one node, with the graph's side-data lanes beside
 * it. While a node runs, its stream holds the burst that it was handed. Every function that moves
 * objs[i] of that burst moves the i-th value of every lane with it, so a node addresses lanes with
 * the same index as its objects.
 */
#ifndef HY_GRAPH_WORKER_H
#define HY_GRAPH_WORKER_H

#include <hy_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * @name What nodes call
 * @{
 */

/**
 * Sends objs[i] along next[i], for all i. Order is kept on every edge. If all take one edge, the
 * node's whole input is sent and nothing waits at the target, the two streams are exchanged and no
 * pointer is copied.
 *
 * @param next Index of an edge, or HY_DROP(), for each object.
 * @param objs A part of the node's burst, whose lane values go along; or pointers held anywhere
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

/** hy_enqueue() of exactly one object. */
static inline void hy_enqueue_x1(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs);

/** hy_enqueue() of exactly two objects. */
static inline void hy_enqueue_x2(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs);

/** hy_enqueue() of exactly four objects. */
static inline void hy_enqueue_x4(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	void **objs);

/**
 * Sends the first @p n objects of the node's burst along one edge, in O(1) when the burst is the
 * node's whole input and nothing waits at the target. The node does not touch objs or lanes after.
 *
 * @param n At most what the process function was handed; the rest, if any, must have been sent.
 */
static inline void hy_stream_move(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	uint16_t n);

/**
 * The edge index that drops an object for reason @p r, an index into the descriptor's drops: what
 * to write to next[i], or to pass as an edge.
 */
#define HY_DROP(r) ((uint16_t)(-1 - HY_CORE_DROPS - (r)))

/**
 * The side data of the burst that a node was handed.
 *
 * @param lane Index into the lanes of the node's descriptor.
 * @return One value an object, in the order of the objects; for a source, room for the values of
 * what it makes, undefined until written. Not valid after the burst was sent on.
 */
static inline uint32_t *hy_lane(const struct hy_graph *graph, const struct hy_node *node,
	unsigned int lane);

/**
 * Adds to a counter of the node. Exact, and read by other threads without disturbing this one.
 *
 * @param counter Index into the counters of the node's descriptor, which must be there.
 */
static inline void hy_counter_add(struct hy_node *node, unsigned int counter, uint64_t n);

/** Frees objects at the end of their way, through the graph's struct hy_object_ops. */
static inline void hy_release(struct hy_graph *graph, void **objs, uint16_t n);

/**
 * Reserves room at the end of a target's stream, to write objects in place: how a node sends
 * objects of its own making with values in their lanes, such as the fragments of a packet. What
 * other calls send to that target before hy_stream_put() goes behind the reserved room, which
 * counts as sent until then: reserve what will be put. At most one reservation a target, and none
 * when process returns.
 *
 * @param[in,out] n Objects wanted; then as many as fit.
 * @return Where to write the objects.
 */
void **hy_stream_get(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t *n);

/** The lane beside the room that hy_stream_get() reserved; its values start as 0. */
uint32_t *hy_stream_get_lane(struct hy_graph *graph, struct hy_node *node, uint16_t edge,
	unsigned int lane);

/**
 * Ends a reservation: the first @p n objects written there are sent, the rest of it is given back.
 *
 * @param n At most what hy_stream_get() granted.
 */
void hy_stream_put(struct hy_graph *graph, struct hy_node *node, uint16_t edge, uint16_t n);

/** Drop reasons that every node has, before its own; statistics show them. */
enum hy_core_drop {
	HY_CORE_DROP_STREAM_FULL,  /**< More objects were sent to a node than were declared. */
	HY_CORE_DROP_NODE_REMOVED, /**< Waited on a node that hy_graph_update() took away. */
	HY_CORE_DROPS,
};

/** @} */

/**
 * @name What workers call
 * @{
 */

/**
 * Walks a graph once: runs every source, then every node that has objects, in rank order, so that
 * in a graph without cycles each node runs at most once, with all that its parents made, and
 * nothing stays behind. In a graph with cycles, or with streams that cannot be as long as declared
 * replication wants them, what max_sweeps passes leave stays for the next walk, and sources make
 * that much less. Before all that, takes up what hy_graph_update() has left for it.
 *
 * Last of all, if nothing stays behind, the graph reports to its QSBR variable that it holds
 * nothing (struct hy_graph_params.qsbr).
 *
 * @return Objects that the sources made: 0 means that there was nothing to do.
 */
uint32_t hy_graph_walk(struct hy_graph *graph);

/**
 * Says that the calling thread, which walks the graph, does not do so again for a while: writers
 * that wait for the graph at its QSBR variable wait no longer, until its next walk. For workers
 * that leave their loop, or sleep by other means than hy_idle_step(), which calls it, or create,
 * change or destroy graphs themselves: init() and fini() may want a lock, such as a table's mutex,
 * of a writer who waits for this very graph. A new graph rests.
 *
 * Objects that stay in a graph with cycles hold what they have looked up: then it does nothing.
 */
void hy_graph_rest(struct hy_graph *graph);

/**
 * Whether a graph rests: no walk is under way, and the next one comes after what the caller did
 * before, such as setting a flag with sequential consistency that the walk reads likewise. May be
 * called by any thread.
 */
bool hy_graph_resting(const struct hy_graph *graph);

/** @} */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

/* The inlined functions, and the structures that they look into. */
#include <hy_graph_inline.h>

#endif
