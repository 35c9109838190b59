/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node of the registry, by itself: what is checked of it and copied into it. Functions return 0
 * or a negative errno with the reason logged, but for -ENOMEM.
 */
#pragma once

#include "registry.h"

/* Fills a zeroed node from a descriptor; after a failure too it is to be freed. */
int hy_reg_node_fill(struct hy_reg_node *node, const struct hy_node_desc *desc);
void hy_reg_node_free(struct hy_reg_node *node);

int hy_reg_node_impl_copy(struct hy_reg_node *node, const struct hy_node_impl *impl);
/* Copies drop reasons or counters; what is copied before a failure is the node's all the same. */
int hy_reg_node_entries_copy(struct hy_counter **copies, unsigned int *nb_copies,
	const struct hy_counter *entries, unsigned int n);

/* Whether an edge of the node may lead to target: a name, and not its own. */
int hy_reg_node_target_check(const struct hy_reg_node *node, const char *target);
/* The index of the edge to target, or -1. */
int hy_reg_node_edge_find(const struct hy_reg_node *node, const char *target);
/* The same, created if missing; or a negative errno. */
int hy_reg_node_edge_get(struct hy_reg_node *node, const char *target);
int hy_reg_node_edge_append(struct hy_reg_node *node, const char *target);
/* Leads an edge to another target, to which the node has no edge yet. */
void hy_reg_node_edge_set(struct hy_reg_node *node, unsigned int edge, const char *target);
void hy_reg_node_edges_shrink(struct hy_reg_node *node, unsigned int n);
