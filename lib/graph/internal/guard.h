/* SPDX-License-Identifier: BSD-3-Clause */
/* What control functions refuse: to change what belongs to a part of the library, and to change or
 * wait for a graph from within that graph. */
#pragma once

#include <hy_graph.h>

/* The owner of nodes and graphs that a part of the library has made, not the program. */
struct hy_reg_owner {
	const char *name; /* "an arc" */
	bool lends;       /* others may do all but unregister it */
};

/*
 * Gives a node to an owner: the calls of hy_graph.h that would change it fail with -EPERM from then
 * on. The owner takes it back, by NULL, before it calls them itself; under the lock, if it gives it
 * again after. Takes the lock; nothing if there is no such node.
 */
void hy_registry_own(hy_node_id id, const struct hy_reg_owner *owner);
/* hy_node_unregister() by a node's owner, whose it stays if that fails. */
int hy_registry_unregister(hy_node_id id, const struct hy_reg_owner *owner);

/*
 * Likewise a graph: hy_graph_clone(), hy_graph_destroy(), and an update with parameters. It is its
 * owner's from before the first init() until after the last fini().
 */
int hy_graph_create_as(const struct hy_reg_owner *owner, const char *name,
	const struct hy_graph_params *params, struct hy_graph **graph);
int hy_graph_destroy_as(const struct hy_reg_owner *owner, struct hy_graph *graph);
/* hy_graph_update_each() by the owner of the graphs. They stay its own meanwhile. */
int hy_graph_update_as(const struct hy_reg_owner *owner, struct hy_graph *const *graphs,
	const struct hy_graph_params *params, unsigned int n);

/* The next image of each graph makes the node's context anew, though it is implemented as before. Takes
 * the lock; nothing if there is no such node. */
void hy_registry_renew(hy_node_id id);

/*
 * The graph whose code the calling thread, its worker, runs: in a walk that is traced or captured,
 * where it takes up a change, and in arm(), wait() and notify(). NULL: none, or another walk, which
 * does not pay for this.
 */
extern _Thread_local const struct hy_graph *hy_graph_inside;

/* Enters a graph's code. Returns what to restore afterwards. */
static inline const struct hy_graph *
hy_graph_enter(const struct hy_graph *graph)
{
	const struct hy_graph *outer = hy_graph_inside;

	hy_graph_inside = graph;
	return outer;
}

/* These return 0, or log why they refuse the call named what, and return the error. */

/* -EDEADLK inside a graph: the call waits for the end of a walk. */
int hy_graph_inside_check(const char *what);
/* Likewise, and -EDEADLK while the thread holds the registry's lock: the call waits for others. */
int hy_graph_wait_check(const char *what);
/* -EBUSY in the middle of a change of the graph, or while it is created or destroyed. */
int hy_graph_busy_check(const struct hy_graph *graph, const char *what);
/* Whether a graph may be destroyed, but for its owner: -EBUSY or -EDEADLK from within it. */
int hy_graph_destroy_check(const struct hy_graph *graph);
