/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the adapter: nodes as registered, and graphs behind the structures that node code
 * sees. One mutex covers both. It is recursive, since a node's init() may look nodes up, and is
 * taken before the core's.
 */
#pragma once

#include "lib/graph/internal/guard.h"

#include "rte_graph_worker.h"

/* Owner of the core's nodes behind the adapter's: only the adapter may change them. */
extern const struct hy_reg_owner hy_compat_owner;

struct compat_node {
	char name[RTE_NODE_NAMESIZE];
	rte_node_t id;
	rte_node_t parent_id;
	uint64_t flags;
	rte_node_process_t process;
	rte_node_init_t init;
	rte_node_fini_t fini;
	unsigned int lcore_id; /* where it runs; RTE_MAX_LCORE: anywhere */
	uint16_t nb_xstats;
	char (*xstat_desc)[RTE_NODE_XSTAT_DESC_SIZE];
	rte_edge_t nb_edges;
	char (*edges)[RTE_NODE_NAMESIZE];
	uint16_t *core_edges; /* the core's edge behind each */
	bool resolved;        /* the core has these edges, and core_edges says which */
	hy_node_id core;
	unsigned int arcs;              /* feature arcs that it is part of */
	rte_node_process_t arc_process; /* replaces process on an arc */
	bool taken;                     /* is in the graph that is being compiled */
	struct shadow *shadow;          /* in the graph that is being compiled */
};

/* The edges of a node in one image of its graph. */
struct table {
	unsigned int refs; /* atomic, without a lock */
	rte_edge_t nb_edges;
	struct hy_compat_edge *edges;
	struct rte_node **nodes;
};

/* A node of a graph. It lives as long as the graph, even if a live change removes the node. */
struct shadow {
	struct rte_node pub; /* first: the API's view */
	const struct compat_node *from;
	void **late;           /* pub.nb_late objects for which the core's stream had no room */
	struct table *current; /* of the current graph; NULL: the node is not in it */
	struct table *staged;  /* of the graph that is being compiled */
	unsigned int bound;    /* contexts of the core that point here; under the core's lock */
	struct shadow *next;
};

/* A node's context in the core. It is replaced when the node's edges change. */
struct binding {
	struct shadow *shadow;
	struct table *table;
};

struct compat_graph {
	struct rte_graph pub;      /* first: the API's view */
	struct compat_graph *next; /* in order of id */
	struct hy_object_ops ops;
	struct shadow *shadows;
	bool clone;
};

/* Nodes of a graph that is being compiled. */
struct node_set {
	struct compat_node **nodes;
	rte_node_t n;
};

void hy_compat_lock(void);
void hy_compat_unlock(void);
/* Unlocks; an error goes into rte_errno. Returns rc. */
int hy_compat_end(int rc);

/* The core's name of something: "rte.<name>", or "rte-<id>" if that is not a valid name. */
void hy_compat_core_name(char core[HY_NAME_SIZE], const char *name, unsigned int id);

/* Copies a name. Returns 0, -EINVAL or -E2BIG (logged). */
int hy_compat_name_copy(char to[RTE_NODE_NAMESIZE], const char *from, const char *what);

/* The functions below require the lock. */

/* A node by id or by name, or NULL. */
struct compat_node *hy_compat_node(rte_node_t id);
struct compat_node *hy_compat_node_find(const char *name);
rte_node_t hy_compat_nodes_count(void);

/* Sets edges of a node from the given first one on. Returns 0 or a negative errno (logged). */
int hy_compat_edges_set(struct compat_node *node, uint32_t from, const char *const *targets,
	uint32_t n);
/* Copies a node's edges, whose targets are registered, to the core. Returns 0 or a negative
 * errno. */
int hy_compat_edges_resolve(struct compat_node *node);

/* Whether the words of an arc name a node's edge, which then must stay as it is. */
bool hy_compat_arc_names(const struct compat_node *node, rte_edge_t edge);

/* The implementation that runs a node and binds it to its shadow in a graph under construction. */
hy_node_process_t hy_compat_process, hy_compat_process_source;
hy_node_init_t hy_compat_bind;
hy_node_fini_t hy_compat_unbind;

static inline void
hy_compat_table_use(struct rte_node *node, const struct table *table)
{
	node->nb_edges = table->nb_edges;
	node->edges = table->edges;
	node->nodes = table->nodes;
}

/* Creates shadows and tables for a set of nodes. Returns 0 or -ENOMEM. After that, or if the graph is
 * refused, withdraw them; otherwise commit them. */
int hy_compat_shadows_stage(struct compat_graph *graph, const struct node_set *set);
void hy_compat_shadows_withdraw(struct compat_graph *graph);
void hy_compat_shadows_commit(struct compat_graph *graph);
/* Objects that nodes of a graph hold because streams were full, until they are unbound. */
uint64_t hy_compat_shadows_late(const struct compat_graph *graph);
void hy_compat_shadows_free(struct compat_graph *graph);
/* The graph that this thread is compiling, whose nodes may be bound to staged shadows, or NULL. */
extern _Thread_local const struct compat_graph *hy_compat_compiling;

/* Writes the name of a clone. Returns 0 or a negative errno (logged). */
int hy_compat_clone_name(const char *original, const char *suffix, char name[RTE_NODE_NAMESIZE]);

/* Compiles a graph, or recompiles it, from the nodes that patterns match or another graph has, and
 * the targets of their edges. Returns 0 or a negative errno (logged). */
int hy_compat_graph_compile(struct compat_graph *graph, const struct rte_graph_param *prm,
	const struct compat_graph *like);
struct compat_graph *hy_compat_graph_of_id(rte_graph_t id);
/* Whether a graph has the node, or had it; one that is being created counts. */
bool hy_compat_node_used(const struct compat_node *node);

/* The graph after another in order of id; for NULL the first. */
struct compat_graph *hy_compat_graph_next(const struct compat_graph *graph);
struct compat_graph *hy_compat_graph_find(const char *name);
/* A node of a graph, or NULL. */
struct shadow *hy_compat_shadow(const struct compat_graph *graph, rte_node_t id);
