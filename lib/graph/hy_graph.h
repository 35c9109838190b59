/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Graph core, control plane: what a program calls to register nodes, join them by edges, and
 * compile a set of them into a graph. What the graph does is read with hy_stats.h.
 *
 * Two planes. The *registry* knows every node of the process by name; it is changed here, under
 * one mutex, by any thread. A *graph* is an immutable image compiled from the registry for one
 * worker, which walks it with hy_graph_walk() (hy_graph_worker.h) and takes no lock. Changing the
 * registry never changes a graph that exists, until hy_graph_update() compiles it again: then its
 * worker takes up the new image between two walks, and loses nothing.
 *
 * The nodes that an arc (hy_arc.h), a dispatch (hy_dispatch.h) or the adapter for rte_graph
 * registers belong to it. A program's calls that would unregister, clone, configure or lead
 * them elsewhere return -EPERM. The clones that a HAL makes are a program's to configure, and the
 * HAL's to unregister.
 *
 * Objects are opaque: the core moves pointers, and frees them only through struct hy_object_ops.
 *
 * Unless a function says otherwise: it may be called from any thread after rte_eal_init()
 * (hy_node_register() also before), it returns 0 or a negative errno, and on an error it logs one
 * line that names what was wrong, and has changed nothing.
 */
#ifndef HY_GRAPH_H
#define HY_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define HY_NAME_SIZE 64     /**< Room for a name, its final NUL included. */
#define HY_TEXT_SIZE 128    /**< Room for a sentence of explanation, likewise. */
#define HY_BURST_MAX 256    /**< Most objects that a node is ever handed in one call. */
#define HY_BURST_DEFAULT 64 /**< Burst of a graph that asks for none. */
#define HY_LANES_MAX 4      /**< Most side-data lanes of a graph. */
#define HY_DESC_EDGES 16    /**< Edges that a descriptor holds; hy_node_edge_add() has no bound. */
#define HY_DESC_DROPS 16    /**< Drop reasons that a node can declare. */
#define HY_DESC_COUNTERS 16 /**< Counters that a node can declare. */
#define HY_EDGES_MAX 0x7f00 /**< Most edges of a node. */
#define HY_STREAM_MAX (1 << 16) /**< Most objects that can wait on one node. */

/** Whether @p name, which may be NULL, is a name: [A-Za-z0-9_.-]{1,63}. */
bool hy_name_valid(const char *name);

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
 * A source is handed room for @p n objects at @p objs, its own stream. It makes at most @p n
 * there, sends them on (hy_stream_move() costs nothing), and returns how many it made.
 *
 * Runs on the thread that walks the graph. Must not block; what it may call is said at struct
 * hy_object_ops.
 */
typedef uint16_t(hy_node_process_t)(struct hy_graph *graph, struct hy_node *node, void **objs,
	uint16_t n);

/**
 * Prepares a node of one graph, in hy_graph_create() or hy_graph_update(). node->ctx holds ctx_size
 * zeroed bytes on the graph's socket. Runs under the registry's lock: it may look nodes of the
 * registry up, not change them. Of its graph it may ask what "Properties of a graph" below are; in
 * hy_graph_create() the graph has no nodes yet.
 *
 * @param config What hy_node_config() left, or NULL. Valid until the node's next configuration.
 * @return 0, or a negative errno, upon which the graph is not created, or not changed.
 */
typedef int(hy_node_init_t)(const struct hy_graph *graph, struct hy_node *node, const void *config);

/**
 * Undoes hy_node_init_t, in hy_graph_destroy(), or when a live change has taken the node away and
 * the worker has left it. Called only for nodes whose init succeeded.
 */
typedef void(hy_node_fini_t)(const struct hy_graph *graph, struct hy_node *node);

/** How bad it is that something was counted, for whoever reads the counters. */
enum hy_severity {
	HY_SEV_INFO,  /**< Part of normal operation: an expired TTL, a filter's verdict. */
	HY_SEV_WARN,  /**< Traffic or configuration is wrong: a bad checksum, no route. */
	HY_SEV_ERROR, /**< Objects lost for want of resources here: a full ring. */
};

/** A reason for which a node drops objects. Each object dropped counts under exactly one. */
struct hy_drop {
	const char *name;          /**< As statistics show it; a name, unique within the node. */
	enum hy_severity severity; /**< How bad it is. */
	/** One sentence for a human, of fewer than HY_TEXT_SIZE bytes, with its source if any. */
	const char *text;
};

/** Something that a node counts besides objects, edges and drops; see hy_counter_add(). */
struct hy_counter {
	const char *name;          /**< As statistics show it; a name, unique within the node. */
	const char *unit;          /**< What is counted, a name: "bytes". NULL: just a number. */
	enum hy_severity severity; /**< How bad a count other than 0 is. */
	const char *text;          /**< One sentence, as in struct hy_drop; may be NULL. */
};

/**
 * One implementation of a node. A node's edges, drop reasons, counters and lanes are the same
 * whichever implementation runs; that is what makes implementations exchangeable.
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

/** What a node tells a trace (hy_trace.h). A node that sets neither is traced all the same. */
struct hy_node_trace {
	/**
	 * Takes what is to be seen of an object that the node is about to be called with (or, a
	 * source, has just made). Runs on the thread that walks: copies, and leaves words to format.
	 * NULL: what the snapshot of the graph's struct hy_object_ops takes.
	 *
	 * @param lanes The object's values of the node's lanes, by the descriptor's index.
	 * @param data Room for @p size bytes.
	 * @return Bytes written, at most @p size.
	 */
	size_t (*snapshot)(const struct hy_node *node, const void *obj, const uint32_t *lanes,
		void *data, size_t size);
	/**
	 * Puts a record's lanes and data in words, as snprintf(3) does, on one line. Runs on the
	 * thread that calls hy_trace_format(). NULL: the format of the graph's object operations,
	 * if the data are theirs; else hexadecimal.
	 */
	int (*format)(const struct hy_trace_record *record, char *text, size_t size);
};

#define HY_NODE_SOURCE 0x1u /**< Makes objects; run at the start of every walk; has no parents. */
/** A source that sees to it itself that a worker is woken for it: ops->arm() need not. */
#define HY_NODE_WAKES 0x2u

/** What a node is. Strings are copied; the descriptor need not outlive the registration. */
struct hy_node_desc {
	const char *name;         /**< [A-Za-z0-9_.-]{1,63}, unique in the process. */
	struct hy_node_impl impl; /**< What runs, until hy_node_impl_set() changes it. */
	uint32_t flags;           /**< HY_NODE_SOURCE, with or without HY_NODE_WAKES, or 0. */
	/** Objects sent on for one object taken, at most; 0 means 1. Sizes the streams. */
	uint16_t replicates;
	/** Target of each edge by name, without holes. Targets may be registered later. */
	const char *edges[HY_DESC_EDGES];
	struct hy_drop drops[HY_DESC_DROPS]; /**< Reasons, without holes; see HY_DROP(). */
	/** Counters, without holes; an index here is what hy_counter_add() takes. */
	struct hy_counter counters[HY_DESC_COUNTERS];
	/** Lanes that the node uses, by name; its index here is what hy_lane() takes. */
	const char *lanes[HY_LANES_MAX];
	struct hy_node_trace trace; /**< What a trace shows of objects here. */
};

/**
 * Registers a node.
 *
 * @param[out] id The node's id; may be NULL.
 * @return 0; -EINVAL a field is missing or malformed; -EEXIST the name is taken; -ENOMEM.
 */
int hy_node_register(const struct hy_node_desc *desc, hy_node_id *id);

/**
 * Registers a node when the program or its shared object is loaded. A node that is refused is
 * reported on stderr at once, and from then on every hy_graph_create() of the process fails with
 * -ENOEXEC and names it: a missing node is never silent. In a plugin, hy_plugin_load() fails
 * instead, and the process goes on without it.
 */
#define HY_NODE_REGISTER(desc) \
	RTE_INIT(hy_node_register_##desc) \
	{ \
		hy_registration_check((desc).name, hy_node_register(&(desc), NULL)); \
	}

/**
 * Remembers that a constructor could not register @p what. For registration macros.
 *
 * @param rc What the registration returned; 0 is ignored.
 */
void hy_registration_check(const char *what, int rc);

/**
 * Removes a node from the registry.
 *
 * @return 0; -ENOENT no such node; -EPERM it belongs to an arc, a dispatch, a HAL or the adapter
 * for rte_graph; -EBUSY a graph has it, or an arc of which it is a feature has it in graphs
 * (hy_arc.h), or would have it in those to come. Edges of other nodes that name it stay, and must
 * resolve again before a graph is created with them.
 */
int hy_node_unregister(hy_node_id id);

/**
 * Registers a copy of a node under the name "<original>-<suffix>": same implementation, drop
 * reasons, counters and lanes, its own edges (a copy, to be changed freely, without those that an
 * arc gave the original) and configuration (none yet).
 *
 * @param[out] clone The copy's id; may be NULL.
 * @return 0; -ENOENT no such node; -EPERM it belongs to an arc, a dispatch or the adapter for
 * rte_graph; -EINVAL bad suffix, name too long, or the copy would have an edge to itself; -EEXIST;
 * -ENOMEM.
 */
int hy_node_clone(hy_node_id id, const char *suffix, hy_node_id *clone);

/**
 * Gives a node the configuration that its init() is handed in graphs created or updated from now
 * on.
 *
 * @param config Copied. What it points to must outlive the graphs that use it. NULL removes it.
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -ENOMEM.
 */
int hy_node_config(hy_node_id id, const void *config, size_t size);

/**
 * Sets the implementation that graphs created or updated from now on use for a node. Strings are
 * copied.
 *
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -EINVAL no process function, or a malformed
 * variant name.
 */
int hy_node_impl_set(hy_node_id id, const struct hy_node_impl *impl);

/** Finds a node by name. @return 0; -ENOENT (not logged: asking is no fault). */
int hy_node_lookup(const char *name, hy_node_id *id);

/**
 * Walks through the registry in order of registration: start at 0, go on at the id found plus 1.
 *
 * @param[out] id The first node whose id is at least @p from.
 * @return 0; -ENOENT there is none (not logged).
 */
int hy_node_next(hy_node_id from, hy_node_id *id);

/** Copies a node's name. @return 0; -ENOENT; -ENAMETOOLONG @p size is less than needed. */
int hy_node_name(hy_node_id id, char *name, size_t size);

/**
 * Tells what kind of node a descriptor has made.
 *
 * @param[out] flags HY_NODE_ bits; may be NULL.
 * @param[out] replicates Objects sent on for one object taken, at most; may be NULL.
 * @return 0; -ENOENT.
 */
int hy_node_flags(hy_node_id id, uint32_t *flags, uint16_t *replicates);

/**
 * Adds an edge, or finds the one that leads to @p target: a node never has two edges to one
 * target.
 *
 * @param[out] edge Its index, what hy_enqueue() takes; may be NULL.
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -EINVAL malformed target, or @p target is the node
 * itself; -EBUSY an arc has the node in graphs, or would have it in those to come; -ENOSPC;
 * -ENOMEM.
 */
int hy_node_edge_add(hy_node_id id, const char *target, uint16_t *edge);

/**
 * Leads an existing edge elsewhere, for graphs created or updated from now on.
 *
 * @return 0; -ENOENT no such node or edge; -EPERM as hy_node_clone(); -EINVAL malformed target or
 * the node itself; -EEXIST another edge of the node leads there already; -EBUSY an arc that has the
 * node in graphs sends objects along this edge: it leads to the arc's end, or to another feature of
 * it.
 */
int hy_node_edge_set(hy_node_id id, uint16_t edge, const char *target);

/** Counts a node's edges. @return 0; -ENOENT. */
int hy_node_edge_count(hy_node_id id, uint16_t *n);

/**
 * Takes away all edges but the first @p n, for graphs created or updated from now on.
 *
 * @return 0; -ENOENT; -EPERM as hy_node_clone(); -EINVAL the node has fewer; -EBUSY as
 * hy_node_edge_add().
 */
int hy_node_edge_shrink(hy_node_id id, uint16_t n);

/** Copies the name of an edge's target. @return 0; -ENOENT no such node or edge; -ENAMETOOLONG. */
int hy_node_edge_target(hy_node_id id, uint16_t edge, char *target, size_t size);

/**
 * Keeps the registry and all graphs as they are for other threads, until hy_registry_unlock(): for
 * who derives graphs' parameters from what is registered, and must compile them from the same. No
 * worker waits for it, but every other call of these headers may: hold it for a few calls. A thread
 * that holds it may call this again, which then wants as many unlocks, and all other calls but those
 * that wait for workers or for who does:
 * - hy_arc_set(), hy_arc_enable(), hy_arc_disable(), hy_arc_get() and hy_arc_destroy(): they take
 *   the lock of arcs first, which others hold while they wait for this one;
 * - hy_dispatch_pin() and hy_dispatch_drain();
 * - whatever else waits for a worker, such as for a graph to be no longer hy_graph_updating().
 *
 * Never call it from node code.
 */
void hy_registry_lock(void);
void hy_registry_unlock(void); /**< Ends what hy_registry_lock() began, on the same thread. */

/**
 * What the core may do to the objects of a graph. Must outlive the graph.
 *
 * All but format run on the thread that walks the graph, most of them in the middle of a walk. Like
 * a node's process function they must not block, and must not call what changes or looks at graphs,
 * the registry, arcs, traces or captures: hy_trace_stop() and hy_capture_stop() hold the registry's
 * lock until the walk under way has ended. The properties of a graph below, and what the headers
 * give to node code, may be called.
 */
struct hy_object_ops {
	/** Frees @p n objects. Called by the thread that walks, and by hy_graph_destroy(). */
	void (*release)(void **objs, unsigned int n);
	/**
	 * Asks what brings objects to the sources of @p graph to wake the calling thread, which
	 * walks the graph, or no longer to. NULL, as wait: workers of the graph never sleep.
	 *
	 * @return 0; a negative errno, such as -ENOTSUP for a source that nobody could wake the
	 * thread for: then nothing has changed, and the thread must go on polling.
	 */
	int (*arm)(struct hy_graph *graph, bool on);
	/**
	 * Sleeps until there may be an object that came after arm(), @p usec at most. What came
	 * before need not wake: the caller has walked the graph since. Called between arm(true) and
	 * arm(false), by the same thread; see hy_idle.h.
	 *
	 * @return 1 woken; 0 time is up.
	 */
	int (*wait)(struct hy_graph *graph, unsigned int usec);
	/**
	 * Takes what a trace shows of an object where the node has no snapshot of its own: writes
	 * at most @p size bytes, and returns how many. Called by the thread that walks. May be NULL.
	 */
	size_t (*snapshot)(const void *obj, void *data, size_t size);
	/** Puts what snapshot took in words; see struct hy_node_trace. May be NULL. */
	int (*format)(const struct hy_trace_record *record, char *text, size_t size);
	/**
	 * Gives each object a number that is the same for all objects whose order matters to one
	 * another. Called by the thread that walks. May be NULL; see hy_dispatch.h.
	 */
	void (*flow_hash)(void *const *objs, uint32_t *hash, unsigned int n);
	/**
	 * Copies at most the first @p size bytes of an object to the data of a record of a capture
	 * (hy_capture.h), and says there how long the object is, and where it came from. Returns
	 * how many it has copied. Called by the thread that walks. NULL: cannot be captured.
	 */
	size_t (*copy)(const void *obj, struct hy_capture_record *record, size_t size);
};

/** In one graph, an edge that leads to @p target leads to @p instead. */
struct hy_detour {
	const char *target;  /**< Name of a registered node. */
	const char *instead; /**< Likewise; its own edges make no detour. */
};

struct hy_walk;

/** The order of a walk, from outside of the core; see hy_walk.h. */
typedef void(hy_walk_model_t)(struct hy_graph *graph, struct hy_walk *walk, void *ctx);

/** What a graph is made of. Copied by hy_graph_create(), but for what the fields say. */
struct hy_graph_params {
	/**
	 * Nodes to take, by fnmatch(3) pattern. Targets of their edges come by themselves. Sources
	 * rank in the order in which patterns take them.
	 */
	const char *const *patterns;
	unsigned int nb_patterns;        /**< At least 1. */
	const struct hy_object_ops *ops; /**< Required; must outlive the graph. */
	/** The node that dropped objects are handed to, by name. Required if any node can drop. */
	const char *drop_node;
	/** Side-data lanes: names of 32-bit values that travel beside each object. */
	const char *lanes[HY_LANES_MAX];
	uint16_t burst; /**< Most objects a call, 1 to HY_BURST_MAX; 0 means HY_BURST_DEFAULT. */
	/**
	 * Most objects that a source makes in a walk, 1 to the burst, until hy_graph_source_budget()
	 * says otherwise; 0 means the burst. With less, nodes take what several sources bring in one
	 * call, and need not copy a part of it.
	 */
	uint16_t source_budget;
	/** Cycles are measured in every k-th walk; 1 is every walk, 0 means 16. */
	uint16_t sample_every;
	/** Passes over the graph that a walk makes at most while back edges bring objects; 0: 8. */
	uint16_t max_sweeps;
	/** Index of the worker among its program's workers: nodes pick queues by it. */
	uint16_t worker;
	int socket; /**< NUMA node of the worker, or SOCKET_ID_ANY. */
	/**
	 * The QSBR variable (rte_rcu_qsbr.h) of what the graph's nodes look things up in while others
	 * change it, or NULL. Must outlive the graph. The graph is its reader number `worker`, from
	 * creation to destruction; nobody else may be. It reports at the end of each walk that leaves
	 * no objects behind, and holds up no writer while it is not walked (hy_graph_rest()). A graph
	 * with cycles in which objects go round for ever never reports.
	 */
	struct rte_rcu_qsbr *qsbr;
	/** Other ends of edges, in this graph alone; drops are not concerned. Each name once. */
	const struct hy_detour *detours;
	unsigned int nb_detours; /**< Entries of detours. */
	/** Who runs the nodes in a walk; NULL: the core, as hy_graph_walk() says. */
	hy_walk_model_t *walk;
	/** What walk is handed. Must live until the worker has taken up another, or the graph's end. */
	void *walk_ctx;
};

/**
 * Compiles a graph. Refused, each with its reason in the log: a pattern that matches no node; no
 * source; an edge into a source; an edge whose target is not registered; a node that no source
 * reaches; a node that can drop when there is no drop_node; a lane used but not declared; a worker
 * beyond the readers of the QSBR variable; a detour from or to a node that is not registered; two
 * edges of a node that lead to one node, by a detour or an arc (hy_arc.h).
 *
 * @param name [A-Za-z0-9_.-]{1,63}, unique among the process's graphs.
 * @param[out] graph Belongs to the caller, until hy_graph_destroy().
 * @return 0; -EINVAL refused; -EEXIST; -ENOENT a pattern or a name has no node; -EBUSY another
 * graph reports to the QSBR variable as this worker; -ENOMEM; -E2BIG more than 65,535 nodes;
 * -ENOEXEC the registration of some node failed at load; -EPERM this is a secondary process of EAL,
 * which may only look at its primary's graphs (hy_share.h); or what a node's init() returned.
 */
int hy_graph_create(const char *name, const struct hy_graph_params *params,
	struct hy_graph **graph);

/**
 * Creates a graph with the parameters of another, as those are now, for another worker.
 *
 * @param[out] clone Belongs to the caller, until hy_graph_destroy().
 * @return What hy_graph_create() returns.
 */
int hy_graph_clone(const struct hy_graph *graph, const char *name, uint16_t worker, int socket,
	struct hy_graph **clone);

/** Copies a graph's parameters. Their strings are valid until it is updated or destroyed. */
void hy_graph_params_get(const struct hy_graph *graph, struct hy_graph_params *params);

/**
 * Compiles a graph again, from the registry as it is now, and leaves the result for the worker,
 * which takes it up before its next walk. Nothing stops, and nothing is lost uncounted:
 * - A node that stays keeps its objects, with those lanes that stay; its context too, unless
 *   hy_node_config() has been called for it, or hy_node_impl_set() has set another function or
 *   size: then init() is run on a new one. That edges have changed gives no node a new context.
 * - What waits on a node that goes is released, counted as its core drop "node_removed".
 * - Statistics go on: what nodes and edges did that are gone is still reported, marked as gone.
 *
 * A later call replaces what an earlier one left, if the worker has not come to it; contexts pass from
 * change to change, whether the worker takes each of them up or not. The call never takes anything
 * back: a walk that begins after it returned is a walk of the new image, or of a later one, even if the
 * worker rested meanwhile. It waits for no worker. Pointers to struct hy_node are invalid once the
 * worker has taken the change up.
 *
 * @param params NULL for those that the graph has. Else everything may change (nodes, burst, lanes,
 * sampling) but ops, worker, socket and qsbr.
 * @return 0; -EINVAL also for another ops, worker, socket or qsbr; -EBUSY a change of the graph is
 * under way, and a node's init() or fini() that it runs has called this; what hy_graph_create()
 * returns, but for -EEXIST. Upon an error the graph goes on as it was.
 */
int hy_graph_update(struct hy_graph *graph, const struct hy_graph_params *params);

/**
 * hy_graph_update() of several graphs with the parameters that they have, all or none: nothing is
 * left for any worker before all have been compiled. Each worker takes its own up when it comes to
 * it.
 *
 * @param graphs Each once; -EINVAL (logged) if not.
 * @return As hy_graph_update(); upon an error all go on as they were.
 */
int hy_graph_update_all(struct hy_graph *const *graphs, unsigned int n);

/**
 * hy_graph_update() of several graphs, each with new parameters, all or none.
 *
 * @param graphs Each once; -EINVAL (logged) if not.
 * @param params As many; NULL: those that the graphs have.
 * @return As hy_graph_update(); upon an error all go on as they were.
 */
int hy_graph_update_each(struct hy_graph *const *graphs, const struct hy_graph_params *params,
	unsigned int n);

/**
 * Whether the worker has still to take up what hy_graph_update() left. When it has done so, this
 * call, or any later one that looks at the graph, runs fini() of what the worker has left behind,
 * and frees it.
 */
bool hy_graph_updating(const struct hy_graph *graph);

/**
 * Destroys a graph: releases the objects still waiting in it, calls each node's fini(), frees it.
 * No thread may be walking it, and none may use it after. NULL is allowed.
 */
void hy_graph_destroy(struct hy_graph *graph);

/**
 * Says why a node cannot be initialised, in one log line that names it: for init functions.
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
 * Burst and capacity may change in hy_graph_update(), and are the new ones from its return on, though
 * the worker may not have come to them yet: a node that keeps arrays sizes them by HY_BURST_MAX. The
 * init() functions that it calls are told the new ones. An update that fails changes neither.
 * @{
 */
const char *hy_graph_name(const struct hy_graph *graph);          /**< Its name. */
uint16_t hy_graph_worker(const struct hy_graph *graph);           /**< params.worker. */
int hy_graph_socket(const struct hy_graph *graph);                /**< params.socket. */
struct rte_rcu_qsbr *hy_graph_qsbr(const struct hy_graph *graph); /**< params.qsbr. */
uint16_t hy_graph_burst(const struct hy_graph *graph);            /**< Most objects a call. */
uint32_t hy_graph_stream_capacity(const struct hy_graph *graph);  /**< Objects a node can hold. */
/** @} */

/** @return Nodes of a graph. */
unsigned int hy_graph_node_count(const struct hy_graph *graph);

/**
 * Gives a node of a graph by its place in walk order, from 0 on; valid as for hy_graph_node().
 *
 * @return 0; -ENOENT no more nodes (not logged).
 */
int hy_graph_node_at(struct hy_graph *graph, unsigned int rank, struct hy_node **node);

/**
 * Finds a node of a graph by name; it is valid until the graph's next update, or its destruction.
 *
 * @return 0; -ENOENT (not logged).
 */
int hy_graph_node(struct hy_graph *graph, const char *name, struct hy_node **node);

/**
 * Limits how many objects a source of a graph makes in one walk, so that one with much to bring
 * does not keep the others waiting. While sources have more than they may bring, they share the
 * worker in proportion to their budgets. May be called while the graph is walked, and holds from
 * the source's next call on. A new graph's sources have the budget of struct hy_graph_params; a
 * live change leaves a source another one, but for what exceeds a smaller burst.
 *
 * @param source Name of a source of @p graph.
 * @param objs 1 to hy_graph_burst().
 * @return 0; -ENOENT the graph has no such node; -EINVAL it is no source, or @p objs is not
 * accepted.
 */
int hy_graph_source_budget(struct hy_graph *graph, const char *source, uint16_t objs);

/** @return The name of a node of @p graph; valid as long as the node. */
const char *hy_graph_node_name(const struct hy_graph *graph, const struct hy_node *node);

/**
 * @return The variant that a node of @p graph runs (struct hy_node_impl), also while its init() runs;
 * NULL: it was registered without one. Valid as long as the node.
 */
const char *hy_graph_node_variant(const struct hy_graph *graph, const struct hy_node *node);

/** @return HY_NODE_ bits of a node of @p graph. */
uint32_t hy_graph_node_flags(const struct hy_graph *graph, const struct hy_node *node);

/**
 * @return How many edges a node of @p graph has: 0 to that less one may be enqueued to. What init()
 * takes from a configuration is to be held to this, since enqueuing does not check. The registry's
 * node may have others by now; see hy_node_edge_count().
 */
uint16_t hy_graph_edge_count(const struct hy_graph *graph, const struct hy_node *node);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
