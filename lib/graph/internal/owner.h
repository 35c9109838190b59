/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that belong to a part of the library, not to the program. */
#ifndef HY_GRAPH_OWNER_H
#define HY_GRAPH_OWNER_H

#include <hy_graph.h>

/* Whose a node is that no program has registered: what uses it counts on how it has left it. */
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

/* The next image of each graph makes the node's context anew, though it is implemented as before. Takes
 * the lock; nothing if there is no such node. */
void hy_registry_renew(hy_node_id id);

#endif
