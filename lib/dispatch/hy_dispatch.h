/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * One graph over several workers: nodes pinned to workers by name or pattern, and bursts handed
 * from one worker to another where an edge leads to a node that runs elsewhere.
 *
 * Every worker has a graph of its own, hy_dispatch_graph(), with the nodes that run there, and
 * walks it like any other: hy_graph_walk(), hy_idle_step(), hy_graph_rest(). Where an edge leads to
 * a node on another worker, the graph has a node "DISPATCH-out-NODE" instead, which writes whole
 * bursts with their lanes to rings, one for each pair of workers. On the other side, a source
 * "DISPATCH-in-NODE" reads them. If some of the objects stay on the worker, the node is called
 * "DISPATCH-split-NODE". A worker without any source has "DISPATCH-idle", which makes nothing. A
 * ring has one producer and one consumer and takes no lock, so graphs other than the dispatch's own
 * that have one of these nodes are refused.
 *
 * **Placement.** The first pin that matches a node applies. A node without a pin runs where its
 * parents run, in several graphs if necessary. A source without a pin runs on worker 0. The graph's
 * drop_node is never pinned: each worker drops its own objects. Features of arcs (hy_arc.h) are not
 * pinned either, but run where the arc's end runs. Their own edges are handled, enabled or not, if
 * the arc and the feature's node exist when nodes are pinned.
 *
 * **Order.** Objects that take one edge from one worker to another stay in order. A node pinned to
 * several workers receives objects of the same flow_hash (struct hy_object_ops) on the same worker.
 *
 * **Backpressure.** No object is lost between workers. Before each call of a source, of the program
 * or of a ring, its room is limited to that of the rings that its objects can reach. Other objects
 * wait where they are, in a ring or in a NIC's queue. The counter "held_back" of the node before a
 * full ring counts walks in which a source was not called for lack of room. There are two
 * exceptions, both counted at that node as drop "ring_full":
 * - Nodes that turn one object into more than a ring holds, or replicate in a cycle.
 * - Objects that wait in one worker's graph, in a cycle or where nodes replicate; at most a burst
 *   for each of its sources. Up to half of a ring is reserved for what becomes of them, never all
 *   of it. If more objects reach a ring at once, it may be full.
 *
 * Full rings in a circle would wait for one another. So pins that make a cycle of the graph cross
 * workers are refused: pin the nodes of a cycle to one worker.
 *
 * No worker spins or waits. If it can do nothing, its walk returns 0.
 */
#pragma once

#include <hy_graph.h>

HY_API_BEGIN

#define HY_DISPATCH_WORKERS_MAX 64 /**< Most workers of a dispatch. */
#define HY_DISPATCH_NAME_SIZE 16   /**< Room for a dispatch's name, its final NUL included. */

struct hy_dispatch;

/** Pins nodes to workers. */
struct hy_dispatch_pin {
	const char *pattern;     /**< fnmatch(3) pattern of node names. Must match at least one. */
	const uint16_t *workers; /**< Numbers of workers, each once. */
	unsigned int nb_workers; /**< At least 1; for sources 1. More require ops->flow_hash. */
};

/** Parameters of a dispatch. hy_dispatch_create() copies them, except where a field says otherwise. */
struct hy_dispatch_params {
	/**
	 * The graph to spread over workers. Its worker, socket, detours and walk are not used: each
	 * worker's graph has its own. It must name a drop_node, which must have no edges. What must
	 * outlive a graph must outlive the dispatch.
	 */
	const struct hy_graph_params *graph;
	uint16_t nb_workers; /**< 1 to HY_DISPATCH_WORKERS_MAX. Numbers start at 0. */
	const int *sockets;  /**< NUMA node of each worker; NULL: SOCKET_ID_ANY for all. */
	const struct hy_dispatch_pin *pins; /**< The first that matches a node applies. */
	unsigned int nb_pins;               /**< Entries of pins. */
	/** Least bursts of objects that a ring holds, 1 to 1024; 0 means 16. */
	uint32_t ring_bursts;
	/**
	 * Wakes a worker that sleeps in ops->wait(). Called after its arm(true), by another worker
	 * that left objects for it, or by the thread in hy_dispatch_pin() or hy_dispatch_drain(). It
	 * may be called needlessly, and after arm(false). It must end the wait, or one that is about
	 * to begin. NULL: no worker sleeps.
	 */
	void (*notify)(uint16_t worker, void *arg);
	void *arg; /**< For notify. */
	/** Most milliseconds that hy_dispatch_pin() and _drain() wait; 0 means 1000. */
	uint32_t patience_ms;
};

/**
 * Creates the graphs of all workers, named "DISPATCH-WORKER", and registers the nodes that join
 * them.
 *
 * @param name A name of fewer than HY_DISPATCH_NAME_SIZE bytes.
 * @param[out] dispatch Belongs to the caller, until hy_dispatch_destroy().
 * @return 0; -EINVAL (logged) a worker that does not exist, a pattern that matches no node of the
 * graph, a cycle of the graph that would cross workers, a source pinned to several workers, several
 * workers without ops->flow_hash, a drop_node with edges, a node whose name is too long for those
 * of the joining nodes; -ENOMEM; what hy_graph_create() returns.
 */
int hy_dispatch_create(const char *name, const struct hy_dispatch_params *params,
	struct hy_dispatch **dispatch);

/**
 * The graph that a worker walks. It may be read like any graph. Only the dispatch changes and
 * destroys it: hy_graph_clone(), hy_graph_destroy() and hy_graph_update() with parameters return
 * -EPERM. hy_graph_update() with NULL and hy_graph_update_all() are allowed, except during
 * hy_dispatch_pin(): new edges then take no detour, and lead to pinned nodes in the worker's own
 * graph, until the next hy_dispatch_pin(). The parameters that hy_graph_params_get() copies are of
 * no use to another graph.
 *
 * @return NULL: no such worker. Valid until hy_dispatch_destroy().
 */
struct hy_graph *hy_dispatch_graph(const struct hy_dispatch *dispatch, uint16_t worker);

/**
 * Pins nodes again while workers walk, and compiles the registry's changes since. Order is kept
 * across the change: the program's sources stop, objects in graphs and rings reach their ends, all
 * graphs change, and sources resume. No object is lost.
 *
 * Workers must keep walking or rest (hy_graph_rest()), as a worker does that left its loop or
 * sleeps. After patience_ms, a warning names the dispatch if a worker has not switched to its new
 * graph: until it does, its sources make nothing. Called by one thread at a time, not by a worker
 * of the dispatch.
 *
 * @param pins All pins from now on. Earlier ones no longer apply.
 * @return 0; what hy_dispatch_create() returns; -ETIMEDOUT objects were still under way when
 * patience_ms were over, or a worker neither walked nor rested; -EDEADLK called by code of a graph,
 * or with the registry's lock held (hy_graph.h). Upon an error nothing has changed.
 */
int hy_dispatch_pin(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins);

/**
 * Waits until all objects that the program's sources made so far have left graphs and rings. The
 * sources stop meanwhile. Workers as for hy_dispatch_pin(). Never called at the same time as that,
 * or by two threads at once.
 *
 * For callers that change what objects refer to: a worker reports to its graph's QSBR variable
 * while objects that it sent on are still in a ring. So reuse what an object's lanes name only
 * after the change, this call, and then a grace period.
 *
 * @return 0; -ETIMEDOUT and -EDEADLK as hy_dispatch_pin().
 */
int hy_dispatch_drain(struct hy_dispatch *dispatch);

/**
 * Destroys a dispatch with its graphs and nodes. No thread may be walking one. Objects in graphs
 * and rings are released. NULL is allowed. Called by code of one of its graphs, where
 * hy_graph_destroy() of that graph would return -EBUSY or -EDEADLK, it logs so and does nothing.
 *
 * @return How many objects were in rings.
 */
uint64_t hy_dispatch_destroy(struct hy_dispatch *dispatch);

HY_API_END
