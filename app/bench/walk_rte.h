/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the walk benchmark's librte_graph contender. */
#ifndef HY_BENCH_WALK_RTE_H
#define HY_BENCH_WALK_RTE_H

#include <rte_graph.h>
#include <rte_graph_worker.h>

#include "walk.h"

/* The function of a node of that topology. */
rte_node_process_t walk_rte_process(const struct topology *topology, const struct topo_node *node,
	enum rte_way way);

/* WALKS walks, by an rte_graph_walk() that counts nothing. */
void walk_rte_nostats(struct rte_graph *graph);

#endif
