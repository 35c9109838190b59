/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the statistics of workers' graphs. Nodes that a dispatch made have names by hy_dispatch.h. */

#include <string.h>

#include <hy_flow_lookup.h>

#include "workers.h"

/* Skips what nodes of one side of rings have before the name of the node that they are for. */
static const char *
behind(const char *prefix, const char *name)
{
	const size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static bool
has_node(struct hy_graph *graph, const char *prefix)
{
	struct hy_node *node;

	for (unsigned int i = 0; hy_graph_node_at(graph, i, &node) == 0; i++)
		if (behind(prefix, hy_graph_node_name(graph, node)) != NULL)
			return true;
	return false;
}

bool
hy_worker_takes(struct hy_graph *graph)
{
	return has_node(graph, HY_WORKERS_NAME "-in-");
}

bool
hy_worker_has_events(struct hy_graph *graph)
{
	return has_node(graph, "event_rx");
}

/* The node that a node hands all packets over to, or those of some flows; NULL for other nodes. */
static const char *
target(const struct hy_node_stats *node)
{
	const char *to = behind(HY_WORKERS_NAME "-out-", node->name);

	return to != NULL ? to : behind(HY_WORKERS_NAME "-split-", node->name);
}

static uint64_t
held_back(const struct hy_node_stats *node)
{
	for (unsigned int c = 0; c < node->nb_counters; c++)
		if (strcmp(node->counters[c].name, "held_back") == 0)
			return node->counters[c].value;
	return 0;
}

/* What did not stay with the worker, nor was dropped. */
static uint64_t
handed_over(const struct hy_node_stats *node)
{
	uint64_t away = hy_stats_dropped(node);

	for (unsigned int e = 0; e < node->nb_edges; e++)
		away += node->edges[e].objs;
	/* While it runs, a burst may have left that does not count as taken yet. */
	return node->objs > away ? node->objs - away : 0;
}

bool
hy_handover_read(const struct hy_stats *stats, unsigned int i, struct hy_handover *handover)
{
	*handover = (struct hy_handover){ .node = target(&stats->nodes[i]) };
	for (unsigned int j = 0; handover->node != NULL && j < stats->nb_nodes; j++) {
		const struct hy_node_stats *node = &stats->nodes[j];
		const char *to = target(node);

		if (to == NULL || strcmp(to, handover->node) != 0)
			continue;
		if (j < i)
			return false;
		handover->packets += handed_over(node);
		handover->held_back += held_back(node);
	}
	return handover->node != NULL;
}

/* What a node that replicates sent on and dropped beyond what it received. */
static uint64_t
copied(const struct hy_node_stats *node, uint64_t dropped)
{
	uint64_t away = dropped;

	for (unsigned int e = 0; node->replicates && e < node->nb_edges; e++)
		away += node->edges[e].objs;
	/* While it runs, a burst may have been taken whose packets do not count as sent yet. */
	return node->replicates && away > node->objs ? away - node->objs : 0;
}

/* Whether what a source makes was not in a graph before. */
static bool
receives(const struct hy_node_stats *node)
{
	return node->is_source && behind(HY_WORKERS_NAME "-in-", node->name) == NULL &&
		strcmp(node->name, HY_FLOW_REINJECT_NODE) != 0;
}

void
hy_totals_read(const struct hy_stats *stats, uint64_t under_way, struct hy_totals *totals)
{
	*totals = (struct hy_totals){ .dropped = under_way };
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];
		const uint64_t dropped = hy_stats_dropped(node);

		totals->dropped += dropped;
		totals->copied += copied(node, dropped);
		if (receives(node))
			totals->rx += node->objs;
		if (behind("ethdev_tx-", node->name) != NULL)
			totals->tx += node->objs - dropped;
	}
}
