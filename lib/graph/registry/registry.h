/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry as the control plane sees it: every node of the process by name and by id. One
 * mutex covers it and the list of graphs. It is recursive, since a node's init() may look up.
 */
#pragma once

#include "lib/graph/internal/guard.h"

#define HY_NO_NODE UINT32_MAX /* never an id */

/* Targets are names, since they may come and go. An id is never used again, and names do not change:
 * while the node that it was last is registered, it is the target. */
struct hy_reg_edge {
	char target[HY_NAME_SIZE];
	hy_node_id last;
};

struct hy_reg_node {
	/* First, in one cache line: the members that compiling a graph reads of every node. */
	uint32_t flags;
	uint16_t replicates;
	unsigned int mark; /* scratch for the topology that is being compiled */
	unsigned int refs; /* images of graphs that have it */
	unsigned int nb_edges;
	unsigned int nb_drops;
	uint8_t nb_lanes;
	uint8_t lanes_set;
	struct hy_reg_edge *edges; /* room for nb_edges, up to the next power of two */
	hy_node_id id;
	const struct hy_reg_owner *owner; /* or NULL: anybody may change it */
	char name[HY_NAME_SIZE];
	char variant[HY_NAME_SIZE]; /* "" for none */
	struct hy_node_impl impl;   /* impl.variant is not used: the name is above */
	uint16_t *sorted;           /* indexes of edges in order of their targets' names */
	struct hy_counter *drops;   /* drop reasons, whose unit is ""; no string is NULL */
	unsigned int nb_counters;
	struct hy_counter *counters; /* likewise */
	char lanes[HY_LANES_MAX][HY_NAME_SIZE];
	unsigned int nb_wide;
	struct hy_wide_lane wide[HY_WIDE_MAX];
	struct hy_node_trace trace; /* never changes, like name, drops and lanes */
	void *config;
	unsigned int revision; /* counts changes of impl and config */
};

/* The functions below require hy_registry_lock(). */

struct hy_reg_node *hy_registry_find(const char *name);
struct hy_reg_node *hy_registry_get(hy_node_id id);
/* The target of an edge, or NULL. Mostly without a search. */
struct hy_reg_node *hy_registry_target(struct hy_reg_edge *edge);

/* The first node with an id of at least id, or NULL: walks the registry in order of registration.
 */
struct hy_reg_node *hy_registry_next(hy_node_id id);

/* The name of the node whose constructor failed, or NULL. */
const char *hy_registry_failed(void);

/* Drop reasons that every node has, by enum hy_core_drop; HY_CORE_DROPS of them. */
extern const struct hy_counter hy_core_drops[];

/* Puts a complete node under its name and a new id. Returns 0, -EEXIST (logged) or -ENOMEM. */
int hy_registry_insert(struct hy_reg_node *node, hy_node_id *id);
/* Takes a node out of the registry, without freeing it. */
void hy_registry_remove(struct hy_reg_node *node);

/*
 * node.c: why a node cannot be taken out of the registry, behind its name, in HY_TEXT_SIZE bytes.
 * Returns 0: it can; -EPERM it belongs to an owner; -EBUSY a graph or a live arc has it.
 */
int hy_registry_held(const struct hy_reg_node *node, char *why);

/* Logs what is wrong with a name of something; returns -EINVAL. */
int hy_name_refused(const char *what, const char *name);
