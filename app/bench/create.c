/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long it takes to create and destroy a graph: a source, and nodes of two edges each to random
 * ones further on, so that all are reached.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_graph.h>
#include <hy_graph_worker.h>

#include "walk.h"

#define EDGES 2

struct rig {
	char prefix[8], pattern[16];
	unsigned int nodes;
	uint64_t made; /* graphs */
	bool failed;
	hy_node_id *ids;
	unsigned int registered;      /* of them */
	unsigned int (*edges)[EDGES]; /* nodes above their own; as many as there are */
};

static uint16_t
ours_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph), RTE_SET_USED(node), RTE_SET_USED(objs), RTE_SET_USED(n);
	return 0;
}

static uint16_t
rte_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph), RTE_SET_USED(node), RTE_SET_USED(objs), RTE_SET_USED(n);
	return 0;
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static const struct hy_object_ops ops = { .release = release };

/* Of a node's two edges one leads to the next node, so that all are reached. */
static unsigned int
edges_of(const struct rig *rig, unsigned int i, char names[EDGES][16])
{
	const unsigned int n = RTE_MIN(EDGES, rig->nodes - 1 - i);

	for (unsigned int e = 0; e < n; e++)
		snprintf(names[e], sizeof(names[e]), "%s_%u", rig->prefix, rig->edges[i][e]);
	return n;
}

static bool
register_ours(struct rig *rig, unsigned int i)
{
	struct hy_node_desc desc = { .flags = i == 0 ? HY_NODE_SOURCE : 0,
		.impl.process = ours_process };
	char name[32], names[EDGES][16];
	const unsigned int n = edges_of(rig, i, names);

	snprintf(name, sizeof(name), "%s_%u", rig->prefix, i);
	desc.name = name;
	for (unsigned int e = 0; e < n; e++)
		desc.edges[e] = names[e];
	return hy_node_register(&desc, &rig->ids[i]) == 0;
}

static bool
register_rte(const struct rig *rig, unsigned int i)
{
	const size_t size = sizeof(struct rte_node_register) + EDGES * sizeof(char *);
	struct rte_node_register *reg = calloc(1, size);
	char names[EDGES][16];
	bool done;

	if (reg == NULL)
		return false;
	snprintf(reg->name, sizeof(reg->name), "%s_%u", rig->prefix, i);
	reg->flags = i == 0 ? RTE_NODE_SOURCE_F : 0;
	reg->process = rte_process;
	reg->nb_edges = (rte_edge_t)edges_of(rig, i, names);
	for (unsigned int e = 0; e < reg->nb_edges; e++)
		reg->next_nodes[e] = names[e];
	done = __rte_node_register(reg) != RTE_NODE_ID_INVALID;
	free(reg);
	return done;
}

static uint64_t
ours_once(struct rig *rig, const char *pattern)
{
	const struct hy_graph_params params = {
		.patterns = &pattern, .nb_patterns = 1, .ops = &ops, .socket = SOCKET_ID_ANY
	};
	struct hy_graph *graph;

	rig->failed |= hy_graph_create("create", &params, &graph) < 0;
	if (!rig->failed)
		hy_graph_destroy(graph);
	return 1;
}

static uint64_t
ours_by_pattern(void *arg)
{
	struct rig *rig = arg;

	return ours_once(rig, rig->pattern);
}

static uint64_t
ours_by_source(void *arg)
{
	struct rig *rig = arg;
	char source[16];

	snprintf(source, sizeof(source), "%s_0", rig->prefix);
	return ours_once(rig, source);
}

static uint64_t
rte_by_pattern(void *arg)
{
	struct rig *rig = arg;
	const char *pattern = rig->pattern;
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern
	};
	const rte_graph_t id = rte_graph_create("create", &params);

	rig->failed |= id == RTE_GRAPH_ID_INVALID;
	if (!rig->failed)
		rig->failed |= rte_graph_destroy(id) < 0;
	return 1;
}

static bool
check(void *arg)
{
	return !((struct rig *)arg)->failed;
}

static bool
prepare(struct rig *rig, unsigned int nodes, bool rte)
{
	bool right = true;

	*rig = (struct rig){ .nodes = nodes };
	snprintf(rig->prefix, sizeof(rig->prefix), "c%u", nodes);
	snprintf(rig->pattern, sizeof(rig->pattern), "%s_*", rig->prefix);
	rig->ids = calloc(nodes, sizeof(*rig->ids));
	rig->edges = calloc(nodes, sizeof(*rig->edges));
	if (rig->ids == NULL || rig->edges == NULL)
		return false;
	for (unsigned int i = 0; i + 2 < nodes; i++) {
		rig->edges[i][0] = i + 1;
		rig->edges[i][1] = i + 2 + bench_random() % (nodes - i - 2);
	}
	rig->edges[nodes - 2][0] = nodes - 1;
	for (unsigned int i = 0; i < nodes && right; i++) {
		right = register_ours(rig, i);
		rig->registered += right;
		right = right && (!rte || register_rte(rig, i));
	}
	return right;
}

static void
strike(struct rig *rig)
{
	for (unsigned int i = 0; i < rig->registered; i++)
		hy_node_unregister(rig->ids[i]);
	free(rig->ids);
	free(rig->edges);
}

static void
work(unsigned int nodes, bool rte)
{
	struct rig rig;
	const struct contender all[] = {
		{ .name = "halyard", .run = ours_by_pattern, .subject = true },
		{ .name = "halyard_by_source", .run = ours_by_source },
		{ .name = "librte_graph", .run = rte_by_pattern, .against = "librte_graph" },
	};
	struct contender contenders[RTE_DIM(all)];
	char name[32];

	snprintf(name, sizeof(name), "create_destroy_%u", nodes);
	if (!bench_wanted(name))
		return;
	if (!prepare(&rig, nodes, rte)) {
		bench_cannot("nodes could not be registered");
		bench_skip(name, NULL);
		strike(&rig);
		return;
	}
	for (unsigned int c = 0; c < RTE_DIM(all); c++) {
		contenders[c] = all[c];
		contenders[c].arg = &rig;
		contenders[c].check = check;
	}
	bench_work(name, MICROSECONDS, contenders, RTE_DIM(all) - !rte);
	strike(&rig);
}

/* How much longer n log n says that it takes for so many nodes than for so many. */
static double
n_log_n(double nodes, double than)
{
	return nodes * log(nodes) / (than * log(than));
}

void
bench_create(void)
{
	work(10, true);
	work(100, true);
	work(1000, true);
	work(10000, false);
	bench_growth("create_destroy_10000", "create_destroy_1000", "halyard", n_log_n(10000, 1000),
		"n_log_n");
	bench_growth("create_destroy_1000", "create_destroy_100", "halyard", n_log_n(1000, 100),
		"n_log_n");
}
