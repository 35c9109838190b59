/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * One graph over several workers: nodes pinned to workers by name or pattern, and bursts handed
 * from one worker to another where an edge leads to a node that runs elsewhere.
 *
 * Every worker has a graph of its own, hy_dispatch_graph(), with the nodes that run there, and
 * walks it as any other: hy_graph_walk(), hy_idle_step(), hy_graph_rest(). Where an edge leads to a
 * node that runs elsewhere, the worker's graph has a node "DISPATCH-out-NODE" in its place, which
 * writes whole bursts with their lanes to rings, one for each pair of workers; on the other side a
 * source "DISPATCH-in-NODE" takes them out. Where a part of the objects stays, it is called
 * "DISPATCH-split-NODE". A ring has one producer and one consumer, and takes no lock. So graphs
 * other than the dispatch's own that have one of these nodes are refused.
 *
 * **Which nodes run where.** The first pin that matches a node holds. A node that no pin matches
 * runs where its parents run: in several graphs, if need be. A source that no pin matches runs on
 * worker 0. The graph's drop_node is never pinned: objects are dropped on the worker that drops
 * them. Nor are features of arcs (hy_arc.h): they run where the arc's end runs. Their own edges are
 * seen to, enabled or not, if the arc and the feature's node are there when nodes are pinned.
 *
 * **Order.** Objects that take one edge from one worker to another stay in order. A node pinned to
 * several workers gets objects of the same flow_hash (struct hy_object_ops) on the same worker.
 *
 * **Backpressure.** Nothing is lost between workers: before each call a source, be it the program's
 * or one of a ring, is given no more room than the rings have that its objects can reach. What it
 * leaves waits where it came from, in a ring or in a NIC's queue. A walk in which a source was not
 * called for want of room is counted: counter "held_back" of the node before the full ring. Two
 * exceptions, both counted there as drop "ring_full":
 * - Nodes that make of one object more than a ring holds, or replicate in a cycle.
 * - Objects that wait in one worker's graph, in a cycle or where nodes replicate, a burst for each of
 *   its sources at most: room is kept for as much of what becomes of them as half of a ring holds,
 *   and never all that there is. Should more come to a ring at once, it may be full.
 *
 * Rings in a circle, all full, would wait for one another. So pins that make a cycle of the graph
 * cross workers are refused: pin the nodes of a cycle to one worker.
 *
 * Nobody ever spins or waits: a worker that may do nothing returns 0 from its walk.
 */
#ifndef HY_DISPATCH_H
#define HY_DISPATCH_H

#include <hy_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_DISPATCH_WORKERS_MAX 64 /**< Most workers of a dispatch. */
#define HY_DISPATCH_NAME_SIZE 16   /**< Room for a dispatch's name, its final NUL included. */

struct hy_dispatch;

/** Where nodes run. */
struct hy_dispatch_pin {
	const char *pattern;     /**< fnmatch(3) pattern of nodes' names. Must match one. */
	const uint16_t *workers; /**< Numbers of workers, each once. */
	unsigned int nb_workers; /**< At least 1; for sources just 1. More want ops->flow_hash. */
};

/** What a dispatch is made of. Copied by hy_dispatch_create(), but for what the fields say. */
struct hy_dispatch_params {
	/**
	 * The graph that is spread over workers. Its worker, socket, detours and walk are not used:
	 * each worker's graph has its own. It must name a drop_node, which leads nowhere. What must
	 * outlive a graph must outlive the dispatch.
	 */
	const struct hy_graph_params *graph;
	uint16_t nb_workers; /**< 1 to HY_DISPATCH_WORKERS_MAX. Numbers start at 0. */
	const int *sockets;  /**< NUMA node of each worker; NULL: SOCKET_ID_ANY for all. */
	const struct hy_dispatch_pin *pins; /**< Where nodes run; the first that matches holds. */
	unsigned int nb_pins;               /**< Entries of pins. */
	/** Bursts of objects that a ring holds at least, 1 to 1024; 0 means 16. */
	uint32_t ring_bursts;
	/**
	 * Wakes a worker that sleeps in ops->wait(): called after its arm(true), by another worker
	 * that has left objects for it, or by the thread in hy_dispatch_pin() or hy_dispatch_drain().
	 * May come for nothing, and may still come after arm(false). Must make the wait end, also one
	 * that is only about to begin. NULL: no worker sleeps.
	 */
	void (*notify)(uint16_t worker, void *arg);
	void *arg; /**< For notify. */
	/** Milliseconds that hy_dispatch_pin() and _drain() wait at most; 0 means 1000. */
	uint32_t patience_ms;
};

/**
 * Makes the graphs of all workers, named "DISPATCH-WORKER", and registers the nodes that join them.
 *
 * @param name A name of fewer than HY_DISPATCH_NAME_SIZE bytes.
 * @param[out] dispatch Belongs to the caller, until hy_dispatch_destroy().
 * @return 0; -EINVAL (logged) a worker that does not exist, a pattern that matches no node of the
 * graph, a cycle of the graph that would cross workers, a source pinned to several workers, several
 * workers without ops->flow_hash, a drop_node with edges, a node's name too long for that of the nodes
 * that join; -ENOMEM; what hy_graph_create() returns.
 */
int hy_dispatch_create(const char *name, const struct hy_dispatch_params *params,
	struct hy_dispatch **dispatch);

/**
 * The graph that a worker walks. It may be read as any graph, but must not be cloned; it is changed
 * by hy_dispatch_pin() alone, though hy_graph_update() with NULL and hy_graph_update_all() are
 * allowed, but not during that call: edges that are new then take no detour, and lead to pinned nodes in the worker's own
 * graph, until the next hy_dispatch_pin().
 *
 * @return NULL if there is no such worker. Valid until hy_dispatch_destroy().
 */
struct hy_graph *hy_dispatch_graph(const struct hy_dispatch *dispatch, uint16_t worker);

/**
 * Pins nodes anew, and takes up what has changed in the registry since, while workers walk. Order
 * is kept across the change: the program's sources stop, what is under way runs to its end, all
 * graphs change, sources go on. Objects lost: none.
 *
 * Workers must go on walking, or rest (hy_graph_rest()), as one does that has left its loop or
 * sleeps. One that has not taken up its new graph when patience_ms are over is warned of: until it
 * does, its sources make nothing. Called by one thread at a time, not a worker of the dispatch.
 *
 * @param pins All pins from now on; those before no longer hold.
 * @return 0; what hy_dispatch_create() returns; -ETIMEDOUT objects were still under way when
 * patience_ms were over, or a worker neither walked nor rested. Upon an error all goes on as
 * before.
 */
int hy_dispatch_pin(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins);

/**
 * Waits until nothing is under way that the program's sources have made before: they stop, what is
 * in graphs and rings runs to its end, they go on. Workers as for hy_dispatch_pin(); never called
 * beside that, or by two threads at once.
 *
 * For who changes what objects refer to: a worker reports to its graph's QSBR variable though what
 * it has sent on lies in a ring. So what an object's lanes name may be used for something else only
 * after the change, this call, and then the grace period.
 *
 * @return 0; -ETIMEDOUT as hy_dispatch_pin().
 */
int hy_dispatch_drain(struct hy_dispatch *dispatch);

/**
 * Destroys a dispatch with its graphs and nodes. No thread may be walking one. Objects in graphs
 * and rings are released. NULL is allowed.
 *
 * @return How many objects were in rings.
 */
uint64_t hy_dispatch_destroy(struct hy_dispatch *dispatch);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
