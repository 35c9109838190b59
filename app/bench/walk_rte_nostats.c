/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_graph_walk() is inline, and counts by RTE_LIBRTE_GRAPH_STATS. Undefined here, it is what a
 * user gets who builds a program without statistics.
 */

#include <rte_config.h>
#undef RTE_LIBRTE_GRAPH_STATS

#include "walk_rte.h"

void
walk_rte_nostats(struct rte_graph *graph)
{
	for (unsigned int i = 0; i < WALKS; i++)
		rte_graph_walk(graph);
}
