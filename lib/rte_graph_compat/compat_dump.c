/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes and graphs as text. A graph is shown as compiled, without later changes of the registry. */

#include <errno.h>
#include <inttypes.h>

#include <hy_stats.h>

#include "compat.h"

static void
node_print(FILE *f, const struct compat_node *node)
{
	fprintf(f, "node <%s>\n  id=%" PRIu32 "\n", node->name, node->id);
	if (node->parent_id != RTE_NODE_ID_INVALID)
		fprintf(f, "  parent_id=%" PRIu32 "\n", node->parent_id);
	if (node->lcore_id != RTE_MAX_LCORE)
		fprintf(f, "  lcore_id=%u\n", node->lcore_id);
	fprintf(f, "  flags=0x%" PRIx64 "\n  nb_edges=%u\n", node->flags, node->nb_edges);
	for (rte_edge_t e = 0; e < node->nb_edges; e++)
		fprintf(f, "    edge[%u] <%s>\n", e, node->edges[e]);
}

void
rte_node_dump(FILE *f, rte_node_t id)
{
	hy_compat_lock();
	if (hy_compat_node(id) != NULL)
		node_print(f, hy_compat_node(id));
	hy_compat_unlock();
}

void
rte_node_list_dump(FILE *f)
{
	hy_compat_lock();
	for (rte_node_t id = 0; id < hy_compat_nodes_count(); id++)
		if (hy_compat_node(id) != NULL)
			node_print(f, hy_compat_node(id));
	hy_compat_unlock();
}

static void
graph_print(FILE *f, const struct rte_graph *graph)
{
	fprintf(f, "graph <%s>\n  id=%u\n  socket=%d\n  nb_nodes=%" PRIu32 "\n", graph->name,
		graph->id, graph->socket, graph->nb_nodes);
	if (graph->core == NULL) /* an init() of its creation runs */
		return;
	fprintf(f, "  core=<%s>\n  stream_capacity=%" PRIu32 "\n", hy_graph_name(graph->core),
		hy_graph_stream_capacity(graph->core));
}

static void
graphs_print(FILE *f, rte_graph_t id, bool all)
{
	const struct compat_graph *graph = NULL;

	hy_compat_lock();
	while ((graph = hy_compat_graph_next(graph)) != NULL) {
		if (!all && graph->pub.id != id)
			continue;
		graph_print(f, &graph->pub);
		for (rte_node_t i = 0; i < graph->pub.nb_nodes; i++)
			fprintf(f, "    node[%" PRIu32 "] <%s>\n", i, graph->pub.nodes[i]->name);
	}
	hy_compat_unlock();
}

void
rte_graph_dump(FILE *f, rte_graph_t id)
{
	graphs_print(f, id, false);
}

void
rte_graph_list_dump(FILE *f)
{
	graphs_print(f, 0, true);
}

void
rte_graph_obj_dump(FILE *f, struct rte_graph *graph, bool all)
{
	hy_compat_lock();
	graph_print(f, graph);
	for (rte_node_t i = 0; i < graph->nb_nodes && graph->core != NULL; i++) {
		const struct rte_node *node = graph->nodes[i];
		const struct table *edges = ((const struct shadow *)node)->current;
		char name[HY_NAME_SIZE];
		struct hy_node *core;

		hy_compat_core_name(name, node->name, node->id);
		if (hy_graph_node(graph->core, name, &core) != 0 || (!all && core->waiting == 0))
			continue;
		fprintf(f,
			"    node[%" PRIu32 "] <%s>\n      id=%" PRIu32 "\n      waiting=%" PRIu32
			"\n",
			i, node->name, node->id, core->waiting + node->nb_late);
		fprintf(f, "      total_calls=%" PRIu64 "\n      total_objs=%" PRIu64 "\n",
			node->total_calls, node->total_objs);
		for (rte_edge_t e = 0; e < edges->nb_edges; e++)
			fprintf(f, "        edge[%u] <%s>\n", e, edges->nodes[e]->name);
	}
	hy_compat_unlock();
}

int
rte_graph_export(const char *name, FILE *f)
{
	const struct compat_graph *graph;
	int rc;

	hy_compat_lock();
	graph = hy_compat_graph_find(name);
	rc = graph == NULL ? -ENOENT : hy_graph_export_dot(graph->pub.core, f);
	return hy_compat_end(rc);
}
