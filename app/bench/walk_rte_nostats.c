/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_graph_walk() is inline, and counts if RTE_LIBRTE_GRAPH_STATS is defined. Here it is
 * undefined, as in programs built without statistics.
 */

#include <rte_config.h>
#undef RTE_LIBRTE_GRAPH_STATS

#include <rte_graph_worker.h>

#include "walk.h"

void
walk_rte_nostats(struct rte_graph *graph)
{
	for (unsigned int i = 0; i < WALKS; i++)
		rte_graph_walk(graph);
}
