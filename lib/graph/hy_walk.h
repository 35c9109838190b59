/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Walk models from outside: a program that wants nodes run in another order than the core's, or
 * sources held back, gives its graphs a function (struct hy_graph_params.walk) that says in each
 * walk what runs next. It runs nodes by the functions below alone, so that statistics, samples of
 * cycles, traces, live changes, sleep and QSBR go on as with the core's own walk.
 *
 * A model decides the order, not what is right: a source never gets more than its budget and than
 * streams have room for, and what a model leaves waiting in a graph without cycles the core runs
 * after it, in rank order. In a graph with cycles it may stay for the next walk.
 *
 * Nodes that have objects are in a set, ordered by rank: hy_walk_next() looks, hy_walk_node() takes
 * one out and runs it. `graph->plan` (hy_graph_worker.h) tells how many sources and nodes there are;
 * it changes only between walks, together with what the model is handed as its context.
 */
#ifndef HY_WALK_H
#define HY_WALK_H

#include <hy_graph_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * Runs a source.
 *
 * @param source Its rank, below graph->plan.nb_sources. Once a walk.
 * @param most Objects that it may make; none: it is not called.
 * @return Objects that it made.
 */
uint32_t hy_walk_source(struct hy_graph *graph, struct hy_walk *walk, unsigned int source,
	uint32_t most);

/**
 * The most objects that a source would make now if hy_walk_source() set no other limit: its budget,
 * as hy_graph_source_budget() has it.
 */
uint32_t hy_walk_budget(const struct hy_graph *graph, unsigned int source);

/** The first node of at least a rank that has objects, or NULL. */
struct hy_node *hy_walk_next(const struct hy_graph *graph, unsigned int rank);

/**
 * Runs a node that has objects, in bursts, on all of them; where streams could overflow, on as many
 * as its targets have room for. What is left makes it one of those that have objects again.
 *
 * @return Objects that it took.
 */
uint32_t hy_walk_node(struct hy_graph *graph, struct hy_walk *walk, struct hy_node *node);

/** Runs the nodes that have objects, and those that get some, as a walk without a model does. */
void hy_walk_nodes(struct hy_graph *graph, struct hy_walk *walk);

/** @return A node's own function, also while the core calls another in its place, as for a capture. */
hy_node_process_t *hy_walk_process(const struct hy_node *node);

/** @return Objects that wait in the graph. */
uint32_t hy_walk_waiting(const struct hy_graph *graph);

/**
 * @return struct hy_graph_params.walk_ctx, as walks have it now: for object operations, which run on
 * the same thread.
 */
void *hy_walk_context(const struct hy_graph *graph);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
