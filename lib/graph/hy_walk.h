/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * External walk models. To run nodes in another order than the core's, or to hold sources back, a
 * program gives its graphs a function (struct hy_graph_params.walk) that selects what runs next in
 * each walk. It runs nodes only by the functions below, so that statistics, cycle samples, traces,
 * live changes, sleep and QSBR work as with the core's own walk.
 *
 * A model decides the order and nothing else. A source never gets more room than its budget and the
 * streams allow. In a graph without cycles, the core runs the nodes that a model leaves with
 * objects afterwards, in rank order. In a cyclic graph, they may keep them for the next walk.
 *
 * Nodes that have objects form a set ordered by rank: hy_walk_next() finds one, hy_walk_node()
 * removes it from the set and runs it. `graph->plan` (hy_graph_worker.h) has the numbers of sources
 * and nodes. It changes only between walks, together with the model's context.
 */
#pragma once

#include <hy_graph_worker.h>

HY_API_BEGIN

/**
 * Runs a source.
 *
 * @param source Its rank, below graph->plan.nb_sources. Each source at most once in a walk.
 * @param most Most objects to make; 0: the source is not called.
 * @return Objects made.
 */
uint32_t hy_walk_source(struct hy_graph *graph, struct hy_walk *walk, unsigned int source,
	uint32_t most);

/**
 * The most objects that a source would make now without a limit by hy_walk_source(): its budget,
 * see hy_graph_source_budget().
 */
uint32_t hy_walk_budget(const struct hy_graph *graph, unsigned int source);

/** The first node from a rank on that has objects, or NULL. */
struct hy_node *hy_walk_next(const struct hy_graph *graph, unsigned int rank);

/**
 * Runs a node on all of its objects, in bursts. Where streams could overflow, it runs on as many as
 * its targets have room for, and returns to the set with the rest.
 *
 * @return Objects that the node handled.
 */
uint32_t hy_walk_node(struct hy_graph *graph, struct hy_walk *walk, struct hy_node *node);

/** Runs the nodes that have or receive objects, as a walk without a model does. */
void hy_walk_nodes(struct hy_graph *graph, struct hy_walk *walk);

/** @return A node's own function, even while the core has replaced it, as for a capture. */
hy_node_process_t *hy_walk_process(const struct hy_node *node);

/** @return Objects that wait in the graph. */
uint32_t hy_walk_waiting(const struct hy_graph *graph);

/**
 * @return struct hy_graph_params.walk_ctx of the current image. For object operations, which run on
 * the same thread.
 */
void *hy_walk_context(const struct hy_graph *graph);

HY_API_END
