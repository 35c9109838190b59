/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, control plane: what a program calls to register nodes, join them by edges, and
 * compile a set of them into a graph. What the graph does is read with hy_stats.h.
 *
 * There are two planes. The *registry* knows every node of the process by name. Any thread may
 * change it, under one mutex. A *graph* is an immutable image compiled from the registry for one
 * worker, which walks it with hy_graph_walk() (hy_graph_worker.h) and takes no lock. A change of
 * the registry does not affect existing graphs until hy_graph_update() recompiles them. The worker
 * then switches to the new image between two walks, without losing objects.
 *
 * Nodes that an arc (hy_arc.h), a dispatch (hy_dispatch.h) or the adapter for rte_graph registers
 * belong to it: calls that would unregister, clone, configure or redirect them return -EPERM.
 * Clones that a HAL makes are the program's to configure, and the HAL's to unregister.
 *
 * Objects are opaque: the core moves pointers, and frees them only through struct hy_object_ops.
 *
 * **Calls from code that a graph runs.** A node's init() and fini(), and release() in
 * hy_graph_destroy(), run in the middle of a change of their graph, on the thread that makes it,
 * with the registry's lock held. They may look everything up, change the registry, and create,
 * change and destroy other graphs. Of their own graph, hy_graph_update*(), hy_graph_destroy(),
 * hy_graph_source_budget(), hy_trace_start() and hy_capture_start() return -EBUSY. Functions that
 * wait for workers return -EDEADLK: hy_arc_set(), hy_arc_enable(), hy_arc_disable(), hy_arc_get(),
 * hy_arc_destroy(), hy_dispatch_pin() and hy_dispatch_drain(). So do hy_plugin_load() and
 * hy_plugin_unload().
 *
 * What runs on a graph's worker (process(), the other functions of struct hy_object_ops, a
 * dispatch's notify()) must call no control function. arm(), wait(), notify(), release() in a live
 * change, and all code in a walk that is traced or captured get -EDEADLK from the functions that
 * wait for workers, from those that start or stop a trace or a capture, and from hy_graph_destroy()
 * of their graph. Other walks do not check, so that none pays for it.
 *
 * Unless a function says otherwise: it may be called from any thread after rte_eal_init()
 * (hy_node_register() also before), it returns 0 or a negative errno, and on an error it logs one
 * line that names what was wrong, and has changed nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_memory.h>

#include <hy_lane.h>

HY_API_BEGIN

#define HY_BURST_MAX 256    /**< Most objects that a node is ever handed in one call. */
#define HY_BURST_DEFAULT 64 /**< Burst of a graph that asks for none. */
#define HY_DESC_EDGES 16    /**< Edges that a descriptor holds; hy_node_edge_add() has no bound. */
#define HY_DESC_DROPS 16    /**< Drop reasons that a node can declare. */
#define HY_DESC_COUNTERS 16 /**< Counters that a node can declare. */
#define HY_EDGES_MAX 0x7f00 /**< Most edges of a node. */
#define HY_STREAM_MAX (1 << 16) /**< Most objects that can wait on one node. */

struct hy_graph;
struct hy_node;
struct rte_rcu_qsbr;

typedef uint32_t hy_node_id; /**< Names a node in the registry. Never reused in a process. */

/**
 * The work of a node, called by a walk.
 *
 * A node that is no source is handed @p n objects (1 to the graph's burst) and must send each one
 * on exactly once: enqueue it, drop it, or release it. It returns @p n.
 *
 * A source is given room for @p n objects at @p objs, its own stream. It writes at most @p n
 * objects there, sends them on (hy_stream_move() copies nothing), and returns how many it wrote.
 *
 * Runs on the thread that walks the graph. Must not block. struct hy_object_ops says what it may
 * call.
 */
typedef uint16_t(hy_node_process_t)(struct hy_graph *graph, struct hy_node *node, void **objs,
	uint16_t n);

/**
 * Prepares a node of one graph, in hy_graph_create() or hy_graph_update(). node->ctx holds ctx_size
 * zeroed bytes on the graph's socket. Runs under the registry's lock; the top of this file says
 * what it may call. Its changes of the registry affect graphs compiled later. In hy_graph_create()
 * its graph has no nodes yet.
 *
 * @param config What hy_node_config() set, or NULL. Valid until the node is configured again.
 * @return 0, or a negative errno: the graph is then not created, or not changed.
 */
typedef int(hy_node_init_t)(const struct hy_graph *graph, struct hy_node *node, const void *config);

/**
 * Undoes hy_node_init_t, in hy_graph_destroy(), or after a live change removed the node and the
 * worker left it. Called only for nodes whose init succeeded.
 */
typedef void(hy_node_fini_t)(const struct hy_graph *graph, struct hy_node *node);

/** The severity of a count, for readers of the counters. */
enum hy_severity {
	HY_SEV_INFO,  /**< Part of normal operation: an expired TTL, a filter's verdict. */
	HY_SEV_WARN,  /**< Traffic or configuration is wrong: a bad checksum, no route. */
	HY_SEV_ERROR, /**< Objects lost because resources ran out: a full ring. */
};

/** A reason for dropping objects. Each dropped object counts under exactly one. */
struct hy_drop {
	const char *name;          /**< As statistics show it; a name, unique within the node. */
	enum hy_severity severity; /**< Of a drop for this reason. */
	/** One sentence for a human, shorter than HY_TEXT_SIZE bytes, with its source if any. */
	const char *text;
};

/** A counter of a node's own, besides objects, edges and drops; see hy_counter_add(). */
struct hy_counter {
	const char *name;          /**< As statistics show it; a name, unique within the node. */
	const char *unit;          /**< What is counted, a name: "bytes". NULL: just a number. */
	enum hy_severity severity; /**< Of a count other than 0. */
	const char *text;          /**< One sentence, as in struct hy_drop; may be NULL. */
};

/**
 * One implementation of a node. All implementations of a node have its edges, drop reasons,
 * counters and lanes, so that one can replace another.
 */
struct hy_node_impl {
	const char *variant;        /**< As statistics show it ("scalar", "avx2"); may be NULL. */
	hy_node_process_t *process; /**< Required. */
	hy_node_init_t *init;       /**< May be NULL. */
	hy_node_fini_t *fini;       /**< May be NULL. */
	size_t ctx_size;            /**< Bytes of node->ctx, the node's private context. */
};

struct hy_trace_record;
struct hy_capture_record;

/** What a trace (hy_trace.h) records at a node. A node that sets neither can be traced too. */
struct hy_node_trace {
	/**
	 * Copies what a trace shows of an object that the node is about to be called with, or that a
	 * source has just made. Runs on the thread that walks, so leave text to format. NULL: the
	 * snapshot of the graph's struct hy_object_ops.
	 *
	 * @param lanes The object's values of the node's lanes, by the descriptor's index.
	 * @param data Room for @p size bytes.
	 * @return Bytes written, at most @p size.
	 */
	size_t (*snapshot)(const struct hy_node *node, const void *obj, const uint32_t *lanes,
		void *data, size_t size);
	/**
	 * Formats a record's lanes and data as one line of text, as snprintf(3) does. Runs on the
	 * thread that calls hy_trace_format(). NULL: the format of the graph's object operations if
	 * they took the data, or else hexadecimal.
	 */
	int (*format)(const struct hy_trace_record *record, char *text, size_t size);
};

#define HY_NODE_SOURCE 0x1u /**< Makes objects; run at the start of every walk; has no parents. */
/** A source that wakes its worker itself: ops->arm() need not arrange it. */
#define HY_NODE_WAKES 0x2u

/** Describes a node. Strings are copied; the descriptor need not outlive the registration. */
struct hy_node_desc {
	const char *name;         /**< [A-Za-z0-9_.-]{1,63}, unique in the process. */
	struct hy_node_impl impl; /**< The implementation, until hy_node_impl_set(). */
	uint32_t flags;           /**< HY_NODE_SOURCE, with or without HY_NODE_WAKES, or 0. */
	/** Most objects sent on for one object received; 0 means 1. Sizes the streams. */
	uint16_t replicates;
	/**
	 * Bits, by index, of those of its lanes that the node writes for every object before it reads
	 * them. Their values are not brought to it, so that a chain that leads to it can be fused.
	 */
	uint8_t lanes_set;
	/** Name of each edge's target, without gaps. Targets may be registered later. */
	const char *edges[HY_DESC_EDGES];
	struct hy_drop drops[HY_DESC_DROPS]; /**< Reasons, without gaps; see HY_DROP(). */
	/** Counters, without gaps; hy_counter_add() takes an index into this array. */
	struct hy_counter counters[HY_DESC_COUNTERS];
	/** Names of the lanes that the node uses; hy_lane() takes an index into this array. */
	const char *lanes[HY_LANES_MAX];
	struct hy_wide_lane wide[HY_WIDE_MAX]; /**< Wide lanes likewise, for hy_lane_wide(). */
	struct hy_node_trace trace;            /**< What a trace shows of objects here. */
};

/**
 * Registers a node.
 *
 * @param[out] id The node's id; may be NULL.
 * @return 0; -EINVAL a field is missing or malformed; -EEXIST the name is taken; -ENOMEM.
 */
int hy_node_register(const struct hy_node_desc *desc, hy_node_id *id);

/**
 * Registers a node when the program or its shared object is loaded. A refused node is reported on
 * stderr at once, and every later hy_graph_create() of the process fails with -ENOEXEC and names
 * it, so that a missing node is never silent. In a plugin, hy_plugin_load() fails instead, and the
 * process continues without the plugin.
 */
#define HY_NODE_REGISTER(desc) \
	RTE_INIT(hy_node_register_##desc) \
	{ \
		hy_registration_check((desc).name, hy_node_register(&(desc), NULL)); \
	}

/**
 * Records that a constructor could not register @p what. For registration macros.
 *
 * @param rc What the registration returned; 0 is ignored.
 */
void hy_registration_check(const char *what, int rc);

/**
 * Removes a node from the registry.
 *
 * @return 0; -ENOENT no such node; -EPERM it belongs to an arc, a dispatch, a HAL or the adapter
 * for rte_graph; -EBUSY a graph has it, or it is a live feature of an arc (hy_arc.h). Edges of
 * other nodes that name it stay, and must resolve again before a graph is created with them.
 */
int hy_node_unregister(hy_node_id id);

/**
 * Registers a copy of a node under the name "<original>-<suffix>", with the same implementation,
 * drop reasons, counters and lanes. Its edges are a copy that may be changed freely, without edges
 * that an arc added to the original. It has no configuration yet.
 *
 * @param[out] clone The copy's id; may be NULL.
 * @return 0; -ENOENT no such node; -EPERM it belongs to an arc, a dispatch or the adapter for
 * rte_graph; -EINVAL bad suffix, name too long, or the copy would have an edge to itself; -EEXIST;
 * -ENOMEM.
 */
int hy_node_clone(hy_node_id id, const char *suffix, hy_node_id *clone);

/**
 * Sets the configuration that a node's init() receives in graphs created or updated from now on.
 *
 * @param config Copied. What it points to must outlive the graphs that use it. NULL removes it.
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -ENOMEM.
 */
int hy_node_config(hy_node_id id, const void *config, size_t size);

/**
 * Sets a node's implementation for graphs created or updated from now on. Strings are copied.
 *
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -EINVAL no process function, or a malformed
 * variant name.
 */
int hy_node_impl_set(hy_node_id id, const struct hy_node_impl *impl);

/** Finds a node by name. @return 0; -ENOENT (not logged: this may be a question). */
int hy_node_lookup(const char *name, hy_node_id *id);

/**
 * Iterates over the registry in order of registration: start at 0, continue at the id found plus 1.
 *
 * @param[out] id The first node whose id is at least @p from.
 * @return 0; -ENOENT no more nodes (not logged).
 */
int hy_node_next(hy_node_id from, hy_node_id *id);

/** Copies a node's name. @return 0; -ENOENT; -ENAMETOOLONG @p size is less than needed. */
int hy_node_name(hy_node_id id, char *name, size_t size);

/**
 * Reads a node's HY_NODE_ bits, and the most objects that it sends on for one object received. Both
 * @p flags and @p replicates may be NULL.
 *
 * @return 0; -ENOENT.
 */
int hy_node_flags(hy_node_id id, uint32_t *flags, uint16_t *replicates);

/**
 * Adds an edge, or finds the one that leads to @p target: a node never has two edges to one
 * target.
 *
 * @param[out] edge Its index, which hy_enqueue() takes; may be NULL.
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -EINVAL malformed target, or @p target is the node
 * itself; -EBUSY the node is a live feature of an arc (hy_arc.h); -ENOSPC; -ENOMEM.
 */
int hy_node_edge_add(hy_node_id id, const char *target, uint16_t *edge);

/**
 * Redirects an existing edge, for graphs created or updated from now on.
 *
 * @return 0; -ENOENT no such node or edge; -EPERM as hy_node_clone(); -EINVAL malformed target or
 * the node itself; -EEXIST another edge of the node already leads there; -EBUSY the node is a live
 * feature of an arc, and the edge leads to the arc's end or to another of its features, or would.
 */
int hy_node_edge_set(hy_node_id id, uint16_t edge, const char *target);

/** Reads how many edges a node has. @return 0; -ENOENT. */
int hy_node_edge_count(hy_node_id id, uint16_t *n);

/**
 * Removes all edges but the first @p n, for graphs created or updated from now on.
 *
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -EINVAL the node has fewer; -EBUSY as
 * hy_node_edge_add().
 */
int hy_node_edge_shrink(hy_node_id id, uint16_t n);

/** Copies the name of an edge's target. @return 0; -ENOENT no such node or edge; -ENAMETOOLONG. */
int hy_node_edge_target(hy_node_id id, uint16_t edge, char *target, size_t size);

/**
 * Keeps other threads from changing the registry and graphs until hy_registry_unlock(). For callers
 * that derive graph parameters from the registry and must compile from the same state. Workers
 * never wait for this recursive lock, but every other function of these headers may: hold it for a
 * few calls. A thread that holds it may call all functions but those that wait for workers, which
 * return -EDEADLK (see the top of this file). It must not wait for workers itself, such as until
 * hy_graph_updating() is false. Never call it from node code.
 */
void hy_registry_lock(void);
void hy_registry_unlock(void); /**< Undoes one hy_registry_lock() of the same thread. */

/**
 * Operations on the objects of a graph. Must outlive the graph.
 *
 * All but format run on the thread that walks the graph, most of them during a walk. Like a node's
 * process function they must not block and must not call control functions, as the top of this file
 * says: hy_trace_stop() and hy_capture_stop() hold the registry's lock until the current walk ends.
 * They may call the functions for properties of a graph below, and those that the headers offer to
 * node code.
 */
struct hy_object_ops {
	/** Frees @p n objects. Called by the thread that walks, and by hy_graph_destroy(). */
	void (*release)(void **objs, unsigned int n);
	/**
	 * Asks the devices behind the sources of @p graph to wake the calling thread, which walks
	 * the graph, or to stop doing so. If this or wait is NULL, workers of the graph never sleep.
	 *
	 * @return 0; a negative errno, such as -ENOTSUP for a source whose device cannot wake a
	 * thread: nothing has changed then, and the thread must keep polling.
	 */
	int (*arm)(struct hy_graph *graph, bool on);
	/**
	 * Sleeps until an object may have arrived after arm(), for at most @p usec. Objects that
	 * arrived earlier need not wake it: the caller has walked the graph since. Called between
	 * arm(true) and arm(false), by the same thread; see hy_idle.h.
	 *
	 * @return 1 woken; 0 timed out.
	 */
	int (*wait)(struct hy_graph *graph, unsigned int usec);
	/**
	 * Copies what a trace shows of an object at nodes without a snapshot of their own. Writes at
	 * most @p size bytes and returns how many. Called by the thread that walks. May be NULL.
	 */
	size_t (*snapshot)(const void *obj, void *data, size_t size);
	/** Formats what snapshot copied; see struct hy_node_trace. May be NULL. */
	int (*format)(const struct hy_trace_record *record, char *text, size_t size);
	/**
	 * Hashes each object so that all objects of one flow, whose order matters, have the same
	 * value. Called by the thread that walks. May be NULL; see hy_dispatch.h.
	 */
	void (*flow_hash)(void *const *objs, uint32_t *hash, unsigned int n);
	/**
	 * Copies at most the first @p size bytes of an object to the data of a capture record
	 * (hy_capture.h), and sets its length and origin. Returns how many bytes it copied. Called
	 * by the thread that walks. NULL: the objects cannot be captured.
	 */
	size_t (*copy)(const void *obj, struct hy_capture_record *record, size_t size);
};

/**
 * Redirects edges of one graph from @p target to @p instead, except those that an arc added
 * (hy_arc.h).
 */
struct hy_detour {
	const char *target;  /**< Name of a registered node. */
	const char *instead; /**< Likewise; its own edges are not redirected. */
};

struct hy_walk;

/** Orders a walk from outside the core; see hy_walk.h. */
typedef void(hy_walk_model_t)(struct hy_graph *graph, struct hy_walk *walk, void *ctx);

/** Parameters of a graph. hy_graph_create() copies them, except where a field says otherwise. */
struct hy_graph_params {
	/**
	 * Nodes to include, as fnmatch(3) patterns. Targets of their edges are included too. Sources
	 * rank in the order in which patterns match them.
	 */
	const char *const *patterns;
	unsigned int nb_patterns;        /**< At least 1. */
	const struct hy_object_ops *ops; /**< Required; must outlive the graph. */
	/** Name of the node that receives dropped objects. Required if any node can drop. */
	const char *drop_node;
	/** Side-data lanes: names of 32-bit values that travel with each object. */
	const char *lanes[HY_LANES_MAX];
	const struct hy_wide_lane *wide; /**< Wide lanes. */
	uint16_t burst; /**< Most objects a call, 1 to HY_BURST_MAX; 0 means HY_BURST_DEFAULT. */
	/**
	 * Most objects that a source makes in a walk, 1 to the burst, until hy_graph_source_budget()
	 * changes it; 0 means the burst. With a smaller budget, nodes handle the objects of several
	 * sources in one call, without copying a part of them.
	 */
	uint16_t source_budget;
	/** Measures cycles in every k-th walk; 1 is every walk, 0 means 16. */
	uint16_t sample_every;
	/** Most passes of one walk over the graph while back edges bring objects; 0 means 8. */
	uint16_t max_sweeps;
	/** Index of the worker among the program's workers; nodes select queues by it. */
	uint16_t worker;
	int socket; /**< NUMA node of the worker, or SOCKET_ID_ANY. */
	/**
	 * The QSBR variable (rte_rcu_qsbr.h) that protects tables which the graph's nodes read while
	 * other threads change them, or NULL. Must outlive the graph. The graph is its reader number
	 * `worker` from creation to destruction, and must be the only one. It reports at the end of
	 * each walk that leaves no objects in the graph, and holds up no writer while nobody walks it
	 * (hy_graph_rest()). A cyclic graph in which objects circulate for ever never reports.
	 */
	struct rte_rcu_qsbr *qsbr;
	/** Edges redirected in this graph alone, except drops. Each target once. */
	const struct hy_detour *detours;
	unsigned int nb_detours; /**< Entries of detours. */
	unsigned int nb_wide;    /**< Entries of wide, HY_WIDE_MAX at most. */
	/** Runs the nodes of a walk; NULL: the core does, as hy_graph_walk() says. */
	hy_walk_model_t *walk;
	/** Passed to walk. Must live until the worker has another one, or the graph is destroyed. */
	void *walk_ctx;
	bool apart; /**< No chain of nodes is fused: see hy_fuse.h. */
};

/**
 * Compiles a graph. Refuses, with the reason in the log: a pattern that matches no node; a graph
 * without a source; an edge into a source; an edge whose target is not registered; a node that no
 * source reaches; a node that can drop without a drop_node; a lane used but not declared, or declared
 * with another width; a worker beyond the readers of the QSBR variable; a detour from or to an
 * unregistered node; two edges of a node that lead to one node, by a detour or an arc (hy_arc.h); an
 * edge into an arc's feature.
 *
 * @param name [A-Za-z0-9_.-]{1,63}, unique among the process's graphs.
 * @param[out] graph Belongs to the caller, until hy_graph_destroy().
 * @return 0; -EINVAL refused; -EEXIST; -ENOENT no node has a pattern or name; -EBUSY another graph
 * reports to the QSBR variable as this worker; -ENOMEM; -E2BIG more than 65,535 nodes; -ENOEXEC a
 * node failed to register at load; -EPERM this is an EAL secondary process, which may only read its
 * primary's graphs (hy_share.h); or what a node's init() returned.
 */
int hy_graph_create(const char *name, const struct hy_graph_params *params,
	struct hy_graph **graph);

/**
 * Creates a graph with the current parameters of another, for another worker.
 *
 * @param[out] clone Belongs to the caller, until hy_graph_destroy().
 * @return What hy_graph_create() returns; -EPERM also if the graph belongs to a dispatch.
 */
int hy_graph_clone(const struct hy_graph *graph, const char *name, uint16_t worker, int socket,
	struct hy_graph **clone);

/** Copies a graph's parameters. Their strings are valid until it is updated or destroyed. */
void hy_graph_params_get(const struct hy_graph *graph, struct hy_graph_params *params);

/**
 * Recompiles a graph from the current registry, and publishes the new image for the worker, which
 * switches to it before its next walk. Traffic does not stop, and every lost object is counted:
 * - A node that stays keeps its objects, with the lanes that stay. It also keeps its context,
 *   unless hy_node_config() was called for it, or hy_node_impl_set() set another function or size:
 *   then init() runs on a new context. A change of edges gives no node a new context.
 * - Objects waiting on a removed node are released and counted as its core drop "node_removed".
 * - Statistics continue. Removed nodes and edges are still reported, marked as gone.
 *
 * A later call replaces an image that the worker has not switched to yet. Contexts pass from change
 * to change, whether or not the worker switches to each. A published image is never withdrawn:
 * every walk that begins after the call returned uses the new image or a later one, even if the
 * worker rested meanwhile. The call waits for no worker. Pointers to struct hy_node are invalid
 * once the worker has switched.
 *
 * @param params NULL for the graph's current ones. Otherwise all may change (nodes, burst, lanes,
 * sampling) except ops, worker, socket and qsbr.
 * @return 0; -EINVAL also for another ops, worker, socket or qsbr; -EPERM params are given, and the
 * graph belongs to a dispatch; -EBUSY called in the middle of a change of the graph, as by a node's
 * init() or fini(); what hy_graph_create() returns, but for -EEXIST. Upon an error the graph goes
 * on as it was.
 */
int hy_graph_update(struct hy_graph *graph, const struct hy_graph_params *params);

/**
 * hy_graph_update() of several graphs, all or none: no image is published before all are compiled.
 * Each worker switches before its own next walk.
 *
 * @param graphs Each once; -EINVAL (logged) if not.
 * @param params New parameters, as many; NULL: the graphs' current ones.
 * @return As hy_graph_update(); upon an error no graph has changed.
 */
int hy_graph_update_each(struct hy_graph *const *graphs, const struct hy_graph_params *params,
	unsigned int n);

/** hy_graph_update_each() with the graphs' current parameters. */
int hy_graph_update_all(struct hy_graph *const *graphs, unsigned int n);

/**
 * Whether the worker has yet to switch to the image that hy_graph_update() published. Once it has,
 * this call, or any later one that reads the graph, runs fini() of the nodes that only earlier
 * images had, and frees those images.
 */
bool hy_graph_updating(const struct hy_graph *graph);

/**
 * Destroys a graph: releases the objects waiting in it, calls each node's fini(), and frees it. No
 * thread may be walking it or use it afterwards. NULL is allowed.
 *
 * @return 0; or, with the graph unchanged: -EPERM it belongs to a dispatch; -EBUSY called in the
 * middle of a change of the graph, as by a node's init() or fini(); -EDEADLK called by arm(),
 * wait() or other code of the graph, as the top of this file says.
 */
int hy_graph_destroy(struct hy_graph *graph);

/**
 * Logs one line that names a node and says why it cannot be initialised. For init functions.
 *
 * @return -EINVAL.
 */
int hy_node_refuse(const struct hy_graph *graph, const struct hy_node *node, const char *format,
	...) __rte_format_printf(3, 4);

/** Finds a graph by its whole name. @return 0; -ENOENT (not logged). */
int hy_graph_lookup(const char *name, struct hy_graph **graph);

/**
 * @name Properties of a graph, callable from node code too.
 *
 * hy_graph_update() may change burst and capacity. The new values are returned as soon as it
 * returns, though the worker may not have switched yet, so size a node's arrays by HY_BURST_MAX.
 * The init() functions that it calls see the new values. An update that fails changes neither.
 * @{
 */
const char *hy_graph_name(const struct hy_graph *graph);          /**< Its name. */
uint16_t hy_graph_worker(const struct hy_graph *graph);           /**< params.worker. */
int hy_graph_socket(const struct hy_graph *graph);                /**< params.socket. */
struct rte_rcu_qsbr *hy_graph_qsbr(const struct hy_graph *graph); /**< params.qsbr. */
uint16_t hy_graph_burst(const struct hy_graph *graph);            /**< Most objects a call. */
uint32_t hy_graph_stream_capacity(
	const struct hy_graph *graph); /**< Most objects a node can hold. */
/** @} */

/** @return Nodes of a graph. */
unsigned int hy_graph_node_count(const struct hy_graph *graph);

/** Finds a node of a graph by its rank in walk order, from 0. @return As hy_graph_node(). */
int hy_graph_node_at(struct hy_graph *graph, unsigned int rank, struct hy_node **node);

/**
 * Finds a node of a graph by name; it is valid until the graph's next update, or its destruction.
 *
 * @return 0; -ENOENT (not logged).
 */
int hy_graph_node(struct hy_graph *graph, const char *name, struct hy_node **node);

/**
 * Limits how many objects a source of a graph makes in one walk, so that a busy source does not
 * starve the others. While sources have more objects than their budgets allow, they share the
 * worker in proportion to their budgets. May be called while the graph is walked, and applies from
 * the source's next call. Sources of a new graph have the budget of struct hy_graph_params. A live
 * change keeps a budget set here, cut to the new burst if that is smaller.
 *
 * @param source Name of a source of @p graph.
 * @param objs 1 to hy_graph_burst().
 * @return 0; -ENOENT the graph has no such node; -EINVAL it is no source, or @p objs is not
 * accepted; -EBUSY called in the middle of a change of the graph.
 */
int hy_graph_source_budget(struct hy_graph *graph, const char *source, uint16_t objs);

/** @return The name of a node of @p graph; valid as long as the node. */
const char *hy_graph_node_name(const struct hy_graph *graph, const struct hy_node *node);

/**
 * @return The variant that a node of @p graph runs (struct hy_node_impl), also while its init()
 * runs; NULL: it was registered without one. Valid as long as the node.
 */
const char *hy_graph_node_variant(const struct hy_graph *graph, const struct hy_node *node);

/** @return HY_NODE_ bits of a node of @p graph. */
uint32_t hy_graph_node_flags(const struct hy_graph *graph, const struct hy_node *node);

/**
 * @return How many edges a node of @p graph has; hy_enqueue() takes less than that. Enqueuing does
 * not check, so init() must check edge numbers that it takes from a configuration. The registry's
 * node may have others by now; see hy_node_edge_count().
 */
uint16_t hy_graph_edge_count(const struct hy_graph *graph, const struct hy_node *node);

HY_API_END
