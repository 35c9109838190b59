/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk benchmark's contender from the system DPDK: librte_graph. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "walk_rte.h"

struct walker {
	struct walked walked; /* the first member */
	rte_graph_t id;
	struct rte_graph *graph;
	const struct rte_node *join;
	bool stats;
};

/* rte_graph hands init() nothing: one graph is made at a time, and its nodes find it by this. */
static struct walked *creating;

static int
init(const struct rte_graph *graph, struct rte_node *node)
{
	const unsigned int index = (unsigned int)strtoul(strchr(node->name, '_') + 1, NULL, 10);
	const struct walk_ctx ctx = { creating->topology, &creating->nodes[index] };

	RTE_SET_USED(graph);
	static_assert(sizeof(ctx) <= sizeof(node->ctx), "rte_graph's context has 16 bytes");
	memcpy(node->ctx, &ctx, sizeof(ctx));
	return 0;
}

static int
node_register(const struct topology *t, unsigned int index, enum rte_way way, const char *prefix)
{
	const struct topo_node *node = &t->nodes[index];
	const size_t size = sizeof(struct rte_node_register) + TOPO_EDGES_MAX * sizeof(char *);
	struct rte_node_register *reg = calloc(1, size);
	char names[TOPO_EDGES_MAX][RTE_NODE_NAMESIZE];
	rte_node_t id;

	if (reg == NULL)
		return -1;
	snprintf(reg->name, sizeof(reg->name), "%s_%u", prefix, index);
	reg->flags = node->role == SOURCE ? RTE_NODE_SOURCE_F : 0;
	reg->process = walk_rte_process(t, node, way);
	reg->init = init;
	reg->nb_edges = (rte_edge_t)node->nb_edges;
	for (unsigned int e = 0; e < node->nb_edges; e++) {
		snprintf(names[e], sizeof(names[e]), "%s_%u", prefix, node->edges[e]);
		reg->next_nodes[e] = names[e];
	}
	id = __rte_node_register(reg);
	free(reg);
	return id == RTE_NODE_ID_INVALID ? -1 : 0;
}

/* Nodes of rte_graph 22.11 cannot be removed, so every graph has names of its own. */
void *
walk_rte_create(const struct topology *topology, enum rte_way way, bool stats)
{
	static unsigned int count;
	char prefix[16], pattern[24], join[RTE_NODE_NAMESIZE];
	const char *patterns[] = { pattern };
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = patterns
	};
	struct walker *w = calloc(1, sizeof(*w));
	int rc = 0;

	if (w == NULL)
		return NULL;
	walked_init(&w->walked, topology);
	w->stats = stats;
	snprintf(prefix, sizeof(prefix), "w%u", count++);
	for (unsigned int i = 0; i < topology->nb_nodes && rc == 0; i++)
		rc = node_register(topology, i, way, prefix);
	creating = &w->walked;
	snprintf(pattern, sizeof(pattern), "%s_*", prefix);
	w->id = rc == 0 ? rte_graph_create(prefix, &params) : RTE_GRAPH_ID_INVALID;
	if (w->id == RTE_GRAPH_ID_INVALID) {
		bench_cannot("librte_graph: %s", rte_strerror(abs(rte_errno)));
		free(w);
		return NULL;
	}
	w->graph = rte_graph_lookup(prefix);
	snprintf(join, sizeof(join), "%s_%u", prefix, topology->join);
	w->join = rte_graph_node_get_by_name(prefix, join);
	return w;
}

uint64_t
walk_rte_run(void *arg)
{
	struct walker *w = arg;

	if (w->stats)
		for (unsigned int i = 0; i < WALKS; i++)
			rte_graph_walk(w->graph);
	else
		walk_rte_nostats(w->graph);
	return walked_done(&w->walked, WALKS);
}

double
walk_rte_calls(void *arg)
{
	struct walker *w = arg;
	const uint64_t before = w->join->total_calls;

	walk_rte_run(w);
	return (double)(w->join->total_calls - before) / WALKS;
}

void
walk_rte_destroy(void *arg)
{
	struct walker *w = arg;

	rte_graph_destroy(w->id);
	free(w);
}
