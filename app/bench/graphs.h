/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs for benchmarks, of Halyard and of librte_graph, with nodes named PREFIX_0, PREFIX_1 and so
 * on.
 */
#pragma once

#include <rte_graph.h>
#include <rte_graph_worker.h>

#include <hy_graph_worker.h>

#define GRAPH_PREFIX_SIZE 16
#define GRAPH_EDGES_MAX 64

struct graph_node {
	const char *prefix;
	unsigned int index;
	bool source;
	unsigned int nb_edges;
	const unsigned int *edges; /* indexes of nodes */
	const char *lane;          /* that it declares; NULL: none */
};

/* Registers a node of Halyard; config may be NULL. Returns 0 or a negative errno. */
int graph_node_ours(const struct graph_node *node, const struct hy_node_impl *impl,
	const void *config, size_t config_size);
/* Unregisters the nodes of Halyard PREFIX_0, PREFIX_1 and so on. */
void graph_nodes_strike(const char *prefix);
/* Registers a node of librte_graph. Returns 0, or -1 after bench_cannot(). */
int graph_node_rte(const struct graph_node *node, rte_node_process_t process, rte_node_init_t init);

/* For objects that need not be freed. */
extern const struct hy_object_ops graph_ops;
/* Creates a graph of Halyard. Sets patterns, ops and socket in params. */
int graph_ours(const char *name, const char *pattern, struct hy_graph_params params,
	struct hy_graph **graph);
/* Creates a graph of librte_graph. Returns RTE_GRAPH_ID_INVALID after bench_cannot() on failure. */
rte_graph_t graph_rte(const char *name, const char *pattern);

/* Node functions: one that does nothing, and one that sends all objects along the first edge. */
uint16_t graph_nothing(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);
uint16_t graph_pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n);
